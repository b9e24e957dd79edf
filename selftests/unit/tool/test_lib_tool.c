// SPDX-License-Identifier: GPL-2.0-only
/*
 * "tracebuf print" shows exactly what a file has, and verify finds every violation of the format's
 * promises, with its place. If this fails, a user trusts a damaged recording, or gets no reason
 * when a file, an output or a command line is wrong.
 */
#include <errno.h>
#include <stddef.h>
#include "test_lib_chunk.h"
#include "test_lib_run.h"

/* Two CPUs; CPU 0 with a gap; wide and compact events; the offsets of blocks in the file */
enum { BLOCK_A = 16384, BLOCK_B = 17408, BLOCK_C = 18432, DURABLE_2 = 19456 };

static void make(struct fx *fx)
{
	struct tb_gap gap = { 30, 4, 1, 2200, 2900, 0 };
	struct fx_switch event = fx_switch("bash", 100, 1, "cat", 200);

	fx_init(fx, 10, 1000);
	fx_thread(fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	fx_sync(fx, 0, 5000000000);
	fx_durable_end(fx);
	fx_open(fx, 0, 2000, 100, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_composite(fx, 0, FX_SWITCH, 2100, 100, &event, sizeof(event));
	fx_simple(fx, 0, FX_SOFTIRQ, 2150, 3);
	fx_close(fx, 0);
	fx_open(fx, 1, 2000, 0, NULL);
	fx_simple(fx, 1, FX_SOFTIRQ, 2050, 9);
	fx_simple(fx, 1, FX_SOFTIRQ, 2060, 9);
	fx_close(fx, 1);
	fx->rings[0].sequence += 2;
	fx_open(fx, 0, 3000, 200, &gap);
	fx_simple(fx, 0, FX_SOFTIRQ, 3001, 2);
	fx_put_composite(fx, &fx->rings[0], TB_EV_MARK, 3002, 200,
			 TB_CONTEXT_HARDIRQ | 3, "here", 4);
	fx_close(fx, 0);
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
	assert(fx->size == DURABLE_2 + 16384);
}

static void print_all(void)
{
	struct fx fx;

	make(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK_TEXT(output,
"               bash-100 [000] .. 5.000002001: irq:softirq_entry: vec=1(TIMER)\n"
"               <idle>-0 [001] .. 5.000002050: irq:softirq_entry: vec=9(RCU)\n"
"               <idle>-0 [001] .. 5.000002060: irq:softirq_entry: vec=9(RCU)\n"
"               bash-100 [000] .1 5.000002100: sched:sched_switch: prev_comm=bash prev_pid=100 prev_prio=120 prev_state=S next_comm=cat next_pid=200 next_prio=120\n"
"                cat-200 [000] .. 5.000002150: irq:softirq_entry: vec=3(NET_RX)\n"
"-- CPU 0: LOST 34 events (30 overwritten, 4 dropped, 1 of these too large) between 5.000002200 and 5.000002900 --\n"
"                cat-200 [000] .. 5.000003001: irq:softirq_entry: vec=2(NET_TX)\n"
"                cat-200 [000] h3 5.000003002: tracebuf:mark: here\n");
	fx_free(&fx);
}

static void print_options(void)
{
	struct fx fx;

	make(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("print", "--cpu 1"), 0);
	CHECK_NUMBER(lines(), 2);
	CHECK_NUMBER(run_on("print", "-e sched"), 0);
	CHECK_NUMBER(lines(), 3);	/* switch, loss, mark */
	CHECK_NUMBER(run_on("print", "-e 'sched:*,soft*'"), 0);
	CHECK_NUMBER(lines(), 8);
	CHECK_NUMBER(run_on("print", "-n 2"), 0);
	CHECK_NUMBER(lines(), 2);
	CHECK_NUMBER(run_on("print", "-t 100"), 0);
	CHECK_NUMBER(lines(), 3);
	CHECK_NUMBER(run_on("print", "--raw-ticks -n 1"), 0);
	CHECK_HAS(" 2001: irq:");
	CHECK_NUMBER(run_on("print", "--time real -n 1"), 0);
	CHECK_HAS(" 1700000005.000002001: ");
	CHECK_NUMBER(run_on("print", "-v"), 0);
	CHECK_HAS("tracebuf:clock: clock=0 monotonic=5000000000");
	CHECK_NUMBER(run_on("print", "-e sched_swich"), 1);
	CHECK_HAS("'sched_swich'; did you mean sched:sched_switch?");
	CHECK_NUMBER(run_on("print", "--raw-ticks --time boot"), 2);
	CHECK_HAS("exclude each other");
	CHECK_NUMBER(run_on("print", "--cpu x"), 2);
	CHECK_NUMBER(run_on("print", "--nonsense"), 2);
	CHECK_NUMBER(run_on("list", "-i"), 0);
	CHECK_HAS("  sched:sched_switch\nC sched:sched_switch\n");
	fx_free(&fx);
}

static void print_broken_files(void)
{
	static const char text[] = "int main(void) { return 0; }\n";
	struct fx fx;

	CHECK_NUMBER(run("print /nonexistent.tbuf"), 1);
	CHECK_HAS("/nonexistent.tbuf: cannot be opened: No such file");
	save(text, sizeof(text));
	CHECK_NUMBER(run_on("print", ""), 1);
	CHECK_HAS("at byte 0: not a tracebuf trace");
	save(text, 0);
	CHECK_NUMBER(run_on("print", ""), 1);
	CHECK_HAS("empty");

	make(&fx);
	save(fx.data, BLOCK_C + 100);	/* print shows the blocks before the cut */
	CHECK_NUMBER(run_on("print", ""), 1);
	CHECK_HAS("at byte 18532: cut off: 100 of the 1024 bytes of a block");
	CHECK_HAS("3 blocks could be read, 5 lines were printed");
	CHECK_NUMBER(lines(), 7);
	((struct tb_element *)(fx.data + BLOCK_A + 128))->head = 0x41414141;
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("print", ""), 1);
	CHECK_HAS("at byte 16512: CPU 0, block 0: ");
	CHECK_HAS("vec=9(RCU)");
	CHECK_HAS("mark: here");
	fx_free(&fx);
}

static void verify_fine(void)
{
	char command[256];
	struct fx fx;

	make(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("    0        2            5           30          4           39      1  exact");
	CHECK_HAS("    1        1            2            0          0            2      0  exact");
	CHECK_HAS(": fine\n");
	CHECK_NUMBER(run_on("verify", "-q"), 0);
	CHECK_TEXT(output, "");
	snprintf(command, sizeof(command), "verify - <%s", file);
	CHECK_NUMBER(run(command), 0);
	/* the first durable block twice, as a second reader gets it */
	memcpy(fx.data + fx_extend(&fx, 16384), fx.data, 16384);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", "-q"), 0);
	/* without its end: still good, but verify cannot close the counts */
	save(fx.data, DURABLE_2);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("open: no totals");
	fx_free(&fx);
}

/* Two CPUs with rings that take no more events, then the totals of a snapshot; @flags: of CPU 1 */
static void make_snapshot(struct fx *fx, unsigned int flags, int more)
{
	unsigned int cpu;

	fx_init(fx, 10, 1000);
	fx_sync(fx, 0, 5000000000);
	fx_durable_end(fx);
	for (cpu = 0; cpu < 2; cpu++) {
		fx_open(fx, cpu, 2000, 100, NULL);
		fx_simple(fx, cpu, FX_SOFTIRQ, 2001, 1);
		fx_simple(fx, cpu, FX_SOFTIRQ, 2150, 3);
		fx_close(fx, cpu);
		fx->rings[cpu].dropped += 6;
	}
	fx_totals_at(fx, 0, TB_TOTALS_SNAPSHOT, 900000, 3000, 4000);
	fx->rings[1].events += (uint64_t)more;
	fx_totals_at(fx, 1, TB_TOTALS_SNAPSHOT | flags, 900000, flags & TB_TOTALS_OPEN ? 0 : 3000,
		     900000);
	fx_durable_end(fx);
}

/* verify says what it knows of a snapshot's end, and why it does not know the rest */
static void verify_snapshots(void)
{
	struct tb_gap gap = { 0, 6, 0, 3000, 900000, 0 };
	struct fx fx;
	size_t at;

	make_snapshot(&fx, TB_TOTALS_OPEN, 0);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("    0        1            2            0          6            8      0  exact when the snapshot began\n"
		  "      of these, after its last block: 0 overwritten, 6 dropped; nothing is known of it from 5.000003000 to 5.000900000\n");
	CHECK_HAS("    1        1            2            0          0            2      0  exact up to its last block: a snapshot, recording went on\n");
	CHECK_HAS(": fine\n");
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK_HAS("-- CPU 0: LOST 6 events (0 overwritten, 6 dropped) between 5.000003000 and 5.000900000 --\n");
	CHECK_NUMBER(lines(), 5);
	fx_free(&fx);

	make_snapshot(&fx, TB_TOTALS_UNCOUNTED, 3);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("    1        1            2            0          6            8      0  by its blocks: an event was being recorded");
	fx_free(&fx);

	make_snapshot(&fx, 0, 3);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", ""), 1);
	CHECK_HAS("CPU 1: 11 events attempted when the snapshot began, but 2 in the file + 0 overwritten + 6 dropped = 8");
	fx_free(&fx);

	/* the last block is marked as counting too few: the totals have the rest */
	make_snapshot(&fx, 0, 3);
	for (at = 0; at < fx.size; at += 1ull << ((struct tb_block *)(fx.data + at))->size_log2) {
		struct tb_block *block = (struct tb_block *)(fx.data + at);

		if (block->kind == TB_BLOCK_ROLLING && block->cpu == 1)
			block->flags |= TB_BLOCK_UNSETTLED;
	}
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("    1        1            2            3          6           11      0  exact when");
	fx_free(&fx);

	/* the totals of CPU 1 are those of another snapshot */
	make_snapshot(&fx, 0, 0);
	fx.rings[1].dropped = 0;	/* the gap slot counts these */
	fx_open(&fx, 1, 950000, 100, &gap);
	fx_close(&fx, 1);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("         >=8      1  open: no totals (not stopped, or cut): nothing tells what came after its last block\n");
	CHECK_HAS(": fine as far as it goes: of 1 CPU the end is not known\n");
	fx_free(&fx);
}

/* One field is damaged at a time; verify must say what is wrong, and where */
struct spoil {
	const char *name;
	size_t offset;
	unsigned int size;
	uint64_t value;
	const char *where, *what;
};

#define HEADER(block, field) \
	(block) + offsetof(struct tb_block, field), \
	sizeof(((struct tb_block *)0)->field)
#define GAP(block, field) \
	(block) + 80 + offsetof(struct tb_gap, field), 8

static const struct spoil spoils[] = {
	{ "block's magic", HEADER(BLOCK_B, magic), 1, "17408", "no block starts here" },
	{ "events counted", HEADER(BLOCK_A, events), 4, "16384", "counts 4 events, there are 3" },
	{ "sequence number", HEADER(BLOCK_C, sequence), 67, "", "CPU 0: 4 blocks opened, but the last is number 67" },
	{ "sequence twice", HEADER(BLOCK_C, sequence), 0, "18432", "comes after block 0" },
	{ "block missing", HEADER(BLOCK_B, sequence), 64, "17408", "is missing, and nothing says" },
	{ "opened after its events", HEADER(BLOCK_B, time_start), 2055, "17536", "before its block was opened" },
	{ "complete before its events", HEADER(BLOCK_B, time_end), 2055, "17552", "after its block was complete" },
	{ "time backwards", BLOCK_B + 144 + 4, 4, 2040, "17552", "time goes backwards" },
	{ "data used", HEADER(BLOCK_B, data), 1025, "17448", "bytes says" },
	{ "overwritten in the header", HEADER(BLOCK_C, overwritten), 31, "18496", "header totals" },
	{ "overwritten in the gap slot", GAP(BLOCK_C, overwritten), 29, "18496", "header totals" },
	{ "dropped in the gap slot", GAP(BLOCK_C, dropped), 5, "18496", "header totals" },
	{ "oversize in the gap slot", GAP(BLOCK_C, oversize), 9, "18496", "too large" },
	{ "gap's span", GAP(BLOCK_C, last), 2100, "18496", "impossible span" },
	{ "gap's flag", HEADER(BLOCK_C, flags), 3, "18496", "disagree" },
	{ "gap slot gone", BLOCK_A + 64, 4, TB_HEAD(TB_STRUCT_COMPOSITE, 70, 4, 0), "16448", "gap slot" },
	{ "length zero", BLOCK_A + 128, 4, TB_HEAD(TB_STRUCT_SIMPLE, 71, 0, 0), "16512", "length zero" },
	{ "length too large", BLOCK_A + 144, 4, TB_HEAD(TB_STRUCT_COMPOSITE, 64, 99, 0), "16528", "beyond" },
	{ "another block's event", BLOCK_A + 128, 4, TB_HEAD(TB_STRUCT_SIMPLE, 71, 1, 5), "16512", "sequence" },
	{ "not committed", BLOCK_A + 128, 4, TB_HEAD(TB_STRUCT_RESERVED, 71, 1, 0), "16512", "never committed" },
	{ "unknown event", BLOCK_A + 128, 4, TB_HEAD(TB_STRUCT_SIMPLE, 999, 1, 0), "16512", "999 is not described" },
	{ "wrong form", BLOCK_A + 128, 4, TB_HEAD(TB_STRUCT_SIMPLE, 64, 1, 0), "16512", "described as composite" },
	{ "payload too short", BLOCK_A + 144 + 12, 2, 40, "16528", "lies outside" },
	{ "control event", BLOCK_A + 128, 4, TB_HEAD(TB_STRUCT_SIMPLE, 18, 1, 0), "16512", "does not belong" },
	{ "CPU number", HEADER(BLOCK_B, cpu), 9, "17408", "CPU 9 of 8" },
	{ "not complete", HEADER(BLOCK_A, flags), 0, "16384", "not complete" },
	{ "unknown flag", HEADER(BLOCK_A, flags), 0x43, "16384", "unknown flags" },
	{ "attempted in the totals", DURABLE_2 + 64 + 16 + 8, 8, 40, "", "CPU 0: 40 events attempted, but 5 in the file + 30 overwritten + 4 dropped = 39" },
	{ "overwritten in the totals", DURABLE_2 + 64 + 16 + 24, 8, 31, "", "CPU 0: 39 events attempted" },
	{ "recorded in the totals", DURABLE_2 + 64 + 16 + 16, 8, 34, "", "recorded 34 is not" },
	{ "blocks in the totals", DURABLE_2 + 64 + 16 + 48, 8, 3, "", "3 blocks opened, but the last is number 3" },
	{ "durable order", HEADER(DURABLE_2, sequence), 64, "19456", "comes after durable block 0" },
};

static void verify_spoilt(void)
{
	char where[64];
	struct fx fx;
	size_t i;

	for (i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
		const struct spoil *spoil = &spoils[i];
		int before = test_failures;

		make(&fx);
		memcpy(fx.data + spoil->offset, &spoil->value, spoil->size);
		save(fx.data, fx.size);
		CHECK_NUMBER(run_on("verify", "-q"), 1);
		if (*spoil->where) {
			snprintf(where, sizeof(where), "at byte %s", spoil->where);
			CHECK_HAS(where);
		}
		CHECK_HAS(spoil->what);
		if (test_failures != before)
			printf("# spoilt: %s\n", spoil->name);
		fx_free(&fx);
	}
}

static void open_and_close(struct fx *fx, uint64_t time, const struct tb_gap *gap, uint8_t flags)
{
	fx_open(fx, 0, time, 100, gap);
	fx_simple(fx, 0, FX_SOFTIRQ, time, 3);
	fx_close(fx, 0);
	fx_block(fx, &fx->rings[0])->flags |= flags;
}

/*
 * Verify a trace in which a block is missing and the next @unsettled blocks were read while the
 * kernel overwrote the missing one. A later block reports @told lost events, the totals @totals;
 * -1: there is no such block, or no totals.
 */
static int verify_later(unsigned int unsettled, int told, int totals)
{
	struct tb_gap gap = { (uint64_t)told, 0, 0, 2000, 3000, 0 };
	uint64_t time = 2000;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	open_and_close(&fx, time, NULL, 0);
	fx.rings[0].sequence++;
	while (unsettled--)
		open_and_close(&fx, ++time, NULL, TB_BLOCK_UNSETTLED);
	if (told >= 0)
		open_and_close(&fx, 3000, told ? &gap : NULL, 0);
	if (totals >= 0) {
		fx.rings[0].overwritten = (uint64_t)totals;
		fx_totals(&fx, 0);
	}
	fx_durable_end(&fx);
	save(fx.data, fx.size);
	fx_free(&fx);
	return run_on("verify", "");
}

static void verify_unsettled(void)
{
	CHECK_NUMBER(verify_later(1, 30, 30), 0);
	CHECK_NUMBER(verify_later(3, 30, 30), 0);
	CHECK(!strstr(output, "more were overwritten"));
	CHECK_NUMBER(verify_later(1, 0, 0), 1);
	CHECK_HAS("is missing, and nothing says");
	CHECK_NUMBER(verify_later(0, 0, 0), 1);
	CHECK_HAS("is missing, and nothing says");
	/* the file ends before any block reports the loss */
	CHECK_NUMBER(verify_later(1, -1, -1), 0);
	CHECK_HAS("more were overwritten than that");
	CHECK_NUMBER(verify_later(1, -1, 30), 0);
	CHECK(!strstr(output, "more were overwritten"));
	CHECK_NUMBER(verify_later(1, -1, 0), 1);
	CHECK_HAS("not even the totals say");
}

/* Two writers among kernel events; one of them has lost records */
static void make_users(struct fx *fx, struct fx_chunk *last)
{
	fx_init(fx, 12, 1000);
	fx_thread(fx, 101, 100, 1, TB_THREAD_DUMP, "worker");
	fx_durable_end(fx);
	fx_open(fx, 0, 2000, 1, NULL);
	fx_chunk(last, 7, 1, 0, 0);
	fx_name(last, 1, TB_NAME_CATEGORY, 0, "net");
	fx_name(last, 2, TB_NAME_EVENT, 1, "request");
	fx_name(last, 3, TB_NAME_CATEGORY, 0, "db\033[31m");
	fx_name(last, 4, TB_NAME_EVENT, 3, "query");
	fx_record(last, TB_REC_BEGIN, 0, 2, 2001, FX_NO_WORDS);
	fx_record(last, TB_REC_COUNTER, 0, 4, 2002, FX_WORDS(5));
	fx_take(fx, 0, 2100, last);
	fx_simple(fx, 0, FX_SOFTIRQ, 2110, 1);
	fx_patch(fx, 0, 2120, last, 4000, 1);
	fx_chunk(last, 7, 2, 0, 0);
	fx_mark(last, 2090, "hello");
	fx_take(fx, 0, 2130, last);
	fx_chunk(last, 7, 1, 1, 9);
	last->head.cause = TB_LOST_NO_CHUNK;
	fx_record(last, TB_REC_END, 0, 0, 2140, FX_NO_WORDS);
}

static void finish_users(struct fx *fx, const struct fx_chunk *last)
{
	fx_take(fx, 0, 2150, last);
	fx_close(fx, 0);
	fx_totals(fx, 0);
	fx_durable_end(fx);
	save(fx->data, fx->size);
	fx_free(fx);
}

static void print_users(void)
{
	struct fx_chunk last;
	struct fx fx;

	make_users(&fx, &last);
	finish_users(&fx, &last);
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK_TEXT(output,
"             worker-101 [...] .. 0.000002001: user:net: begin request\n"
"             worker-101 [...] .. 0.000002002: user:db?[31m: counter query=5\n"
"              <...>-102 [...] .. 0.000002090: user:-: mark hello\n"
"             worker-101 [000] .. 0.000002110: irq:softirq_entry: vec=1(TIMER)\n"
"-- writer 7/1 of thread 101: LOST 3 records (no chunk was free) between 0.000002002 and 0.000002140 --\n"
"             worker-101 [...] .. 0.000002140: user:-: end <without a beginning>\n");
	CHECK_NUMBER(run_on("print", "-e 'user:n*'"), 0);
	CHECK_NUMBER(lines(), 2);	/* and what is missing */
	CHECK_HAS("begin request");
	CHECK_HAS("-- writer 7/1 of thread 101: LOST 3 records (no chunk was free) between 0.000002002 and 0.000002140 --");
	CHECK_NUMBER(run_on("print", "-e irq"), 0);
	CHECK_NUMBER(lines(), 1);
	CHECK_NUMBER(run_on("print", "-e irq,user"), 0);
	CHECK_NUMBER(lines(), 6);
	CHECK_NUMBER(run_on("print", "-t 102"), 0);
	CHECK_NUMBER(lines(), 1);
	CHECK_NUMBER(run_on("print", "-C 0"), 0);
	CHECK_NUMBER(lines(), 1);
	CHECK_NUMBER(run_on("print", "-e user:nte"), 1);
	CHECK_HAS("did you mean user:net?");
	CHECK_NUMBER(run_on("print", "-v"), 0);
	CHECK_HAS("tracebuf:chunk: producer=7 pid=100 tid=101 uid=1000 writer=1 chunk=1 offset=0 bytes=16 records=1 first=9 flags=0x101 cause=0x1\n");
	CHECK_HAS("tracebuf:patch: producer=7 writer=1 chunk=0 offset=4000 value=1\n");
	CHECK_NUMBER(run_on("list", "-i"), 0);
	CHECK_HAS("C irq:softirq_entry\n");
	CHECK_HAS("U user:db?[31m query\nU user:net request\n");
	CHECK_NUMBER(run_on("list", "'user:*' -i"), 0);
	CHECK_NUMBER(lines(), 2);
}

static void verify_users(void)
{
	struct fx_chunk last;
	struct fx fx;

	make_users(&fx, &last);
	finish_users(&fx, &last);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("7/1      100      101        2            7           10          3  3 no chunk was free\n");
	CHECK_HAS("7/2      100      102        1            1            1          0  -\n");
	CHECK_HAS(": fine\n");

	/* the piece claims more records than it has */
	make_users(&fx, &last);
	last.head.records = 2;
	finish_users(&fx, &last);
	CHECK_NUMBER(run_on("verify", "-q"), 1);
	CHECK_HAS("writer 7/1 of thread 101: 1 of 2 pieces have not the records that they say");
	/* numbers of records that have been used before */
	make_users(&fx, &last);
	last.head.first = 5;
	finish_users(&fx, &last);
	CHECK_NUMBER(run_on("verify", "-q"), 1);
	CHECK_HAS("or numbers that were there before");
	make_users(&fx, &last);
	fx_composite(&fx, 0, TB_EV_CHUNK, 2145, 1, &last, 40);
	finish_users(&fx, &last);
	CHECK_NUMBER(run_on("verify", "-q"), 1);
	CHECK_HAS("1 chunks or patches of programs are too short");
	/* more records missing than a counter can hold */
	make_users(&fx, &last);
	last.head.first = UINT64_MAX;
	finish_users(&fx, &last);
	CHECK_NUMBER(run_on("verify", "-q"), 1);
	CHECK_HAS("writer 7/1 of thread 101: 1 of 2 pieces have not");
	/* both errors in one piece: it counts once, and no more is missing than was attempted */
	make_users(&fx, &last);
	last.head.first = 0;
	last.head.records = 9;
	finish_users(&fx, &last);
	CHECK_NUMBER(run_on("verify", ""), 1);
	CHECK_HAS("writer 7/1 of thread 101: 1 of 2 pieces have not");
}

/* All blocks must name the same recording */
static void verify_number(void)
{
	static const size_t blocks[] = { BLOCK_A, BLOCK_B, BLOCK_C };
	struct tb_gap *gap;
	struct fx fx;
	size_t i;

	make(&fx);
	((struct tb_block *)fx.data)->overwritten = 7;
	((struct tb_block *)(fx.data + DURABLE_2))->overwritten = 7;
	for (i = 0; i < 3; i++) {
		gap = (struct tb_gap *)(fx.data + blocks[i] + 80);
		gap->recording = 7;
	}
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", "-q"), 0);
	gap->recording = 8;
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", "-q"), 1);
	CHECK_HAS("at byte 18496 (CPU 0, block 3): it is of recording 0x8, blocks before it are of 0x7");
	gap->recording = 7;
	((struct tb_block *)(fx.data + DURABLE_2))->overwritten = 9;
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("verify", "-q"), 1);
	CHECK_HAS("it is of recording 0x9");
	fx_free(&fx);
}

static void several_recordings(void)
{
	struct fx fx;

	make(&fx);
	fx_start_recording(&fx, 2);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 9000, 0, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 9001, 5);
	fx_close(&fx, 0);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK_HAS("# recording 2 of 2\n");
	CHECK_NUMBER(lines(), 11);
	/* after the last line that is wanted there is no other heading */
	CHECK_NUMBER(run_on("print", "-n 3"), 0);
	CHECK_NUMBER(lines(), 4);
	CHECK_NUMBER(run_on("print", "-n 9"), 0);
	CHECK_NUMBER(lines(), 11);
	CHECK_NUMBER(run_on("print", "-r 2"), 0);
	CHECK_NUMBER(lines(), 1);
	CHECK_HAS("vec=5");
	CHECK_NUMBER(run_on("print", "-r 1"), 0);
	CHECK_NUMBER(lines(), 8);
	CHECK_NUMBER(run_on("print", "-r 3"), 1);
	CHECK_HAS("holds 2 recordings, there is no number 3");
	CHECK_NUMBER(run_on("print", "--jsonl"), 0);
	CHECK_HAS("{\"type\":\"recording\",\"number\":2,\"of\":2}\n{\"time\":");
	CHECK_NUMBER(run_on("list", "softirq_entry -i"), 0);
	CHECK_TEXT(output, "# recording 1 of 2\nC irq:softirq_entry\n"
		   "# recording 2 of 2\nC irq:softirq_entry\n");
	/* -r 2 has no events that only the first recording has */
	CHECK_NUMBER(run_on("export", "--jsonl -o - -r 2 -e sched_switch"), 1);
	CHECK_HAS("holds no such event as -e asks for");
	CHECK_NUMBER(lines(), 1);
	CHECK_NUMBER(run_on("export", "--jsonl -o - -r 2"), 0);
	CHECK_NUMBER(lines(), 1);
	CHECK_HAS("\"vec\":5");
	CHECK_NUMBER(run_on("export", "--format text -o -"), 0);
	CHECK_HAS("holds 2 recordings; the first is exported (choose with -r)");
	CHECK_NUMBER(lines(), 9);
	CHECK_NUMBER(run_on("top", "--batch -i"), 0);
	CHECK_HAS("holds 2 recordings; top shows the first ('tracebuf report -r N'");
	CHECK_NUMBER(run_on("export", "--jsonl -o - -r 1 --from +0.000000050 --to +0.000000100"), 0);
	CHECK_NUMBER(lines(), 2);
	CHECK_NUMBER(run_on("export", "--jsonl -o - -r 1 --from 5.0000021 --to 5.000002150"), 0);
	CHECK_NUMBER(lines(), 1);
	CHECK_NUMBER(run_on("export", "--jsonl -o - --from 1.2.3"), 2);
	fx_free(&fx);
}

/* -f shows the events for which the expression is true, and the losses, but nothing else */
static void filtered(void)
{
	struct fx fx;

	make(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("print", "-f 'vec == 9'"), 0);
	CHECK_NUMBER(lines(), 3);
	CHECK_HAS("5.000002050: irq:softirq_entry: vec=9(RCU)\n");
	CHECK_HAS("LOST 34 events");
	CHECK_NUMBER(run_on("print", "-f 'next_comm ~ \"c*\" && cpu == 0'"), 0);
	CHECK_NUMBER(lines(), 2);
	CHECK_HAS("sched:sched_switch");
	CHECK_NUMBER(run_on("export", "--jsonl -o - -C 0 -f 'comm == \"cat\" && tid == 200'"), 0);
	CHECK_NUMBER(lines(), 3);
	CHECK_NUMBER(run_on("print", "-f 'vec > 100'"), 1);
	CHECK_HAS("holds no such event as -f asks for");
	CHECK_NUMBER(run_on("print", "-f 'nothing == 1'"), 1);
	CHECK_HAS(": -f: no event has these fields: ");
	CHECK_NUMBER(run_on("print", "-e softirq_entry -f 'next_comm == \"cat\"'"), 1);
	CHECK_HAS("irq:softirq_entry has no field 'next_comm'");
	CHECK_NUMBER(run_on("print", "-f 'vec == 9' -f 'cpu == 1'"), 2);
	CHECK_HAS("-f is given twice");
	CHECK_NUMBER(run_on("print", "-f 'comm ~ \"swapper/1\"'"), 0);
	CHECK_NUMBER(lines(), 3);
	/* no one knows the user of a thread that is not listed, so it is not another one either */
	CHECK_NUMBER(run_on("print", "-f 'uid != 77 && tid == 200'"), 1);
	CHECK_NUMBER(run_on("print", "-f 'vec << 1'"), 1);
	CHECK_HAS("-f: column 6: a value is missing");
	CHECK_NUMBER(run_on("export", "-f 'vec == 9'"), 2);
	CHECK_HAS("-f is a condition for text, jsonl and csv, not for perfetto; --format");
	fx_free(&fx);
}

/* SQLite asks for the text of an earlier row after the scan has gone on */
static void query_longest(void)
{
	static const struct fx_field entry[] = {
		{ "irq", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "name", "char[12]", 4, 12, 12, TB_FIELD_STRING, 0, 0 },
	}, exit[] = {
		{ "irq", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	static const struct {
		uint64_t from, to;
		struct { int32_t irq; char name[12]; } event;
	} irqs[] = {
		{ 2000, 2010, { 1, "first" } }, { 3000, 3900, { 2, "longest" } },
		{ 4000, 4020, { 3, "thelast" } },
	};
	char arguments[160];
	struct fx fx;
	size_t i;

	/* a build without SQLite has no query */
	if (run("query -h"))
		return;
	fx_init(&fx, 12, 1000);
	fx_describe(&fx, 90, 0, "irq", "irq_handler_entry", entry, 2);
	fx_describe(&fx, 91, 0, "irq", "irq_handler_exit", exit, 1);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	for (i = 0; i < sizeof(irqs) / sizeof(irqs[0]); i++) {
		fx_composite(&fx, 0, 90, irqs[i].from, 100, &irqs[i].event, sizeof(irqs[i].event));
		fx_composite(&fx, 0, 91, irqs[i].to, 100, &irqs[i].event.irq, 4);
	}
	fx_close(&fx, 0);
	fx_durable_end(&fx);
	save(fx.data, fx.size);
	snprintf(arguments, sizeof(arguments),
		 "query --csv --no-header %s \"SELECT max(duration), name FROM slices WHERE kind = 'irq'\"", file);
	CHECK_NUMBER(run(arguments), 0);
	CHECK_TEXT(output, "900,longest\n");
	fx_free(&fx);
}

static void help_and_usage(void)
{
	static const char *const commands[] = {
		"record", "print", "export", "verify", "list", "status",
		"start", "stop", "flush", "enable", "disable", "save",
		"mark", "report", "diff",
	};
	char arguments[64];
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(arguments, sizeof(arguments), "%s -h", commands[i]);
		CHECK_NUMBER(run(arguments), 0);
		snprintf(arguments, sizeof(arguments), "usage: tracebuf %s",
			 commands[i]);
		CHECK_HAS(arguments);
		snprintf(arguments, sizeof(arguments), "help %s", commands[i]);
		CHECK_NUMBER(run(arguments), 0);
		snprintf(arguments, sizeof(arguments), "%s -Z", commands[i]);
		CHECK_NUMBER(run(arguments), 2);
	}
	CHECK_NUMBER(run("-h"), 0);
	CHECK_NUMBER(run("--version"), 0);
	CHECK_NUMBER(run(""), 2);
	CHECK_NUMBER(run("recrod"), 2);
	CHECK_HAS("there is no command 'recrod'; did you mean record or report?");
	CHECK_NUMBER(run("record -b 1"), 2);
	CHECK_HAS("one buffer per CPU is for -m oneshot");
	CHECK_NUMBER(run("record -b 5000"), 2);
	CHECK_HAS("'5000' is not a number from 2 to 4096");
	CHECK_NUMBER(run("record -B 1000"), 2);
	CHECK_HAS("power of two");
	CHECK_NUMBER(run("record -m ring"), 2);
	CHECK_NUMBER(run("record --policy both"), 2);
	CHECK_NUMBER(run("record -w 0"), 2);
	CHECK_NUMBER(run("record -d -3"), 2);
	/* more nanoseconds than 64 bits hold */
	CHECK_NUMBER(run("record -d 9999999h"), 2);
	CHECK_HAS("9999999h");
	CHECK_NUMBER(run("record --rotate 9999999h"), 2);
	CHECK_NUMBER(run("record -e ''"), 2);
	CHECK_NUMBER(run("enable -F -W sched"), 2);
	CHECK_NUMBER(run("export --format vcd x"), 2);
	CHECK_NUMBER(run("print --raw-tiks x"), 2);
	CHECK_HAS("did you mean --raw-ticks?");
	CHECK_NUMBER(run("print --maks=3 x"), 2);
	CHECK_HAS("did you mean --max?");
	CHECK_NUMBER(run("stream --rotate 1M"), 2);
	CHECK_NUMBER(run("print a b"), 2);
	CHECK_NUMBER(run("mark"), 2);
	CHECK_HAS("what is the text?");
}

static void no_module(void)
{
	if (access(TB_DEVICE_PATH, F_OK) == 0)
		return;			/* it is loaded here */
	CHECK_NUMBER(run("status"), 1);
	CHECK_HAS("the module is not loaded; load it with 'modprobe tracebuf'");
	CHECK_NUMBER(run("record"), 1);
	CHECK_HAS("the module is not loaded");
	CHECK_NUMBER(run("mark hello"), 1);
	CHECK_HAS("the module is not loaded");
}

/* Unwritable output is an error for any amount of it, in the buffer or written already */
static void not_written(void)
{
	static const char *const commands[] = {
		"verify", "list", "print", "report", "report --json",
	};
	char arguments[256];
	unsigned int rows;
	struct fx fx;
	size_t i;

	make(&fx);
	save(fx.data, fx.size);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(arguments, sizeof(arguments), "%s %s >/dev/full", commands[i], file);
		CHECK_NUMBER(run(arguments), 1);
	}
	/* a build without SQLite has no query */
	for (rows = 1; rows < 100000 && !run("query -h"); rows *= 3) {
		snprintf(arguments, sizeof(arguments),
			 "query --csv %s 'with recursive n(i) as (select 1 union all select i + 1 from n where i < %u) select i from n' >/dev/full",
			 file, rows);
		CHECK_NUMBER(run(arguments), 1);
	}
	CHECK_NUMBER(run("help >/dev/full"), 1);
	CHECK_NUMBER(run("help >/dev/null"), 0);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "print: a whole trace", print_all },
	{ "print: options", print_options },
	{ "print: truncated, foreign and damaged files", print_broken_files },
	{ "verify: a good trace", verify_fine },
	{ "verify: snapshots, and how rings end", verify_snapshots },
	{ "verify: every promise broken in turn", verify_spoilt },
	{ "verify: a later block reports what is missing", verify_unsettled },
	{ "print, list: records of programs", print_users },
	{ "verify: the counts of writers", verify_users },
	{ "verify: all blocks belong to one recording", verify_number },
	{ "print, export: one of several recordings, a span of time", several_recordings },
	{ "query: texts of an earlier row", query_longest },
	{ "tool: events that an expression selects", filtered },
	{ "tool: help and wrong command lines", help_and_usage },
	{ "tool: standard output that cannot be written", not_written },
	{ "tool: no module", no_module },
};

RUN_MAIN(tests)
