// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program's records are shown in its order, between the kernel's events, with names, durations
 * and times; missing records are counted, with the cause. If this fails, a user sees records that
 * the program did not write, in another order, or does not see that some are missing.
 */
#include "test_lib_sequence.h"

/* ---- order ---- */

static void kinds(void)
{
	struct fx_chunk chunk;
	struct tb_view view;
	double pi = 3.25;
	uint64_t bits;
	struct fx fx;

	memcpy(&bits, &pi, sizeof(bits));
	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_name(&chunk, 1, TB_NAME_CATEGORY, 0, "net");
	fx_name(&chunk, 2, TB_NAME_EVENT, 1, "request");
	fx_name(&chunk, 3, TB_NAME_EVENT, 1, "bytes");
	fx_name(&chunk, 4, TB_NAME_EVENT, 0, "size");
	fx_name(&chunk, 5, TB_NAME_TEXT, 0, "a file");
	fx_record(&chunk, TB_REC_BEGIN, TB_REC_FLOW | TB_REC_ARGS, 2, 1001,
		  FX_WORDS(77, fx_arg(4, TB_ARG_S64), (uint64_t)-5,
			   fx_arg(4, TB_ARG_TEXT), 5, fx_arg(4, TB_ARG_POINTER),
			   0xabcd, fx_arg(4, TB_ARG_DOUBLE), bits,
			   fx_arg(4, TB_ARG_U64), UINT64_MAX));
	fx_record(&chunk, TB_REC_INSTANT, 0, 2, 1002, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_COUNTER, 0, 3, 1003, FX_WORDS((uint64_t)-9));
	fx_record(&chunk, TB_REC_COUNTER, TB_REC_DOUBLE, 3, 1004, FX_WORDS(bits));
	fx_record(&chunk, TB_REC_SLICE, TB_REC_FLOW | TB_REC_FLOW_END, 2, 1005,
		  FX_WORDS(77, 15));
	fx_record(&chunk, TB_REC_SIMPLE, 0, 4, 1006, FX_WORDS(42));
	fx_record(&chunk, TB_REC_EVENT, 0, 4, 1007, FX_WORDS(3, 0xccbbaa));
	fx_mark(&chunk, 1008, "here \033[1m");
	fx_record(&chunk, TB_REC_END, 0, 0, 1009, FX_NO_WORDS);
	fx_take(&fx, 0, 1100, &chunk);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(),
		"1001 101 begin request flow=77 size=-5 size=a file size=0xabcd size=3.25 size=18446744073709551615\n"
		"1002 101 instant request\n"
		"1003 101 counter bytes=-9\n"
		"1004 101 counter bytes=3.25\n"
		"1005 101 slice request duration=0.000000015 flow_end=77\n"
		"1006 101 simple size value=42\n"
		"1007 101 event size data=aabbcc\n"
		"1008 101 mark here \\x1b[1m\n"
		"1009 101 end request\n");
	CHECK_NUMBER(accounting(0)->delivered, 14);
	CHECK_NUMBER(accounting(0)->attempted, 14);
	CHECK_NUMBER(accounting(0)->names, 5);
	CHECK_NUMBER(accounting(0)->wrong, 0);
	CHECK(!tb_trace_user_writer(trace, 1));
	tb_cursor_close(cursor);

	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	while (tb_cursor_next(cursor, &view) > 0 && !view.user)
		;
	CHECK_TEXT(view.user->category, "net");
	CHECK_NUMBER(view.user->pid, 100);
	CHECK_NUMBER(view.user->tid, 101);
	CHECK_NUMBER(view.user->uid, 1000);
	CHECK_NUMBER(view.user->writer_id, 1);
	CHECK_NUMBER(view.sequence, 5);
	CHECK_NUMBER(view.cpu, TB_RING_USER);
	close_all(&fx);
}

/* Pieces of three CPUs come in any order in the file, with kernel events between them */
static void merge_order(void)
{
	static const uint32_t order[] = { 1, 4, 2, 0, 5, 3 };
	struct fx_chunk chunk, other;
	uint64_t last = 0;
	struct tb_view view;
	char wanted[1024] = "", name[16];
	unsigned int i, cpu;
	struct fx fx;

	begin(&fx);
	for (i = 0; i < 6; i++) {
		cpu = order[i] % 3;
		fx_open(&fx, cpu, 900 + order[i], 1, NULL);
		sprintf(name, "m%u", order[i]);
		one_mark(&chunk, order[i], order[i], 1000 + order[i] * 10, name);
		fx_chunk(&other, 7, 2, order[i], order[i]);
		fx_mark(&other, 1005 + order[i] * 10, "other");
		fx_take(&fx, cpu, 1000 + order[i] * 10 + 3, &other);
		fx_simple(&fx, cpu, FX_SOFTIRQ, 1000 + order[i] * 10 + 3, 0);
		fx_take(&fx, cpu, 1000 + order[i] * 10 + 4, &chunk);
		fx_close(&fx, cpu);
		sprintf(wanted + strlen(wanted), "%u 101 mark m%u\n%u 102 mark other\n",
			1000 + i * 10, i, 1005 + i * 10);
	}
	open_all(&fx);
	CHECK_TEXT(read_users(), wanted);
	CHECK_NUMBER(accounting(0)->chunks, 6);
	CHECK_NUMBER(accounting(1)->delivered, 6);
	CHECK_NUMBER(accounting(1)->missing, 0);
	tb_cursor_close(cursor);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	for (i = 0; tb_cursor_next(cursor, &view) > 0; i++) {
		CHECK(view.ticks >= last);
		last = view.ticks;
	}
	CHECK_NUMBER(i, 6 * 5);		/* both marks, both chunks, softirq */
	close_all(&fx);
}

/* The file has the second piece of a chunk before the first */
static void pieces(void)
{
	struct fx_chunk first, second;
	struct fx fx;

	begin(&fx);
	one_mark(&first, 0, 0, 1000, "a");
	fx_mark(&first, 1001, "b");
	second = first;
	fx_continue(&second);
	fx_mark(&second, 1002, "c");
	fx_open(&fx, 0, 1010, 1, NULL);
	fx_take(&fx, 0, 1020, &second);
	fx_close(&fx, 0);
	fx_open(&fx, 1, 1000, 1, NULL);
	fx_take(&fx, 1, 1010, &first);
	fx_close(&fx, 1);
	open_all(&fx);
	CHECK_TEXT(read_users(), "1000 101 mark a\n1001 101 mark b\n1002 101 mark c\n");
	CHECK_NUMBER(accounting(0)->chunks, 1);
	CHECK_NUMBER(accounting(0)->pieces, 2);
	CHECK_NUMBER(accounting(0)->attempted, 3);
	close_all(&fx);
}

static void wrapping(void)
{
	static const uint32_t ids[] = {
		UINT32_MAX - 1, 0, UINT32_MAX, 1,
	};
	static const unsigned int places[] = { 0, 2, 1, 3 };
	struct fx_chunk chunk;
	char text[16];
	unsigned int i;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	for (i = 0; i < 4; i++) {
		sprintf(text, "m%u", places[i]);
		one_mark(&chunk, ids[i], 900 + places[i], 1001 + places[i], text);
		fx_take(&fx, 0, 1010 + i, &chunk);
	}
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(), "1001 101 mark m0\n1002 101 mark m1\n1003 101 mark m2\n1004 101 mark m3\n");
	CHECK_NUMBER(accounting(0)->before, 900);
	CHECK_NUMBER(accounting(0)->attempted, 4);
	CHECK_NUMBER(accounting(0)->missing, 0);
	CHECK(!tb_trace_user_writer(trace, 1));
	close_all(&fx);
}

/* A new writer with the id of a destroyed one: its numbers begin at 0 again */
static void ids_again(void)
{
	struct fx_chunk chunk;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	one_mark(&chunk, 0, 0, 1001, "a");
	fx_take(&fx, 0, 1002, &chunk);
	one_mark(&chunk, 1, 1, 1003, "b");
	fx_take(&fx, 0, 1004, &chunk);
	one_mark(&chunk, 0, 0, 1005, "c");
	fx_take(&fx, 0, 1006, &chunk);
	one_mark(&chunk, 1, 1, 1007, "d");
	fx_take(&fx, 0, 1008, &chunk);
	/* the beginning of the earlier writer is missing; the thread distinguishes the two */
	fx_chunk(&chunk, 7, 2, 5, 50);
	fx_mark(&chunk, 1009, "e");
	fx_take(&fx, 0, 1010, &chunk);
	fx_chunk(&chunk, 7, 2, 0, 0);
	chunk.head.tid = 500;
	fx_mark(&chunk, 1011, "f");
	fx_take(&fx, 0, 1012, &chunk);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(), "1001 101 mark a\n1003 101 mark b\n1005 101 mark c\n1007 101 mark d\n1009 102 mark e\n1011 500 mark f\n");
	CHECK_NUMBER(accounting(0)->attempted, 2);
	CHECK_NUMBER(accounting(1)->attempted, 2);
	CHECK_NUMBER(accounting(2)->attempted, 1);
	CHECK_NUMBER(accounting(3)->attempted, 1);
	CHECK_NUMBER(accounting(3)->tid, 500);
	CHECK(!tb_trace_user_writer(trace, 4));
	close_all(&fx);
}

/* ---- what is missing ---- */

static void causes(void)
{
	static const struct {
		unsigned int cause, bit;
		const char *text;
	} list[] = {
		{ TB_LOST_NO_CHUNK, 0, "no chunk was free" },
		{ TB_LOST_STALL, 1, "none became free in time" },
		{ TB_LOST_OVERSIZE, 2, "too large" },
		{ TB_LOST_UNBOUND, 3, "not bound yet" },
		{ TB_LOST_SIGNAL, 4, "in a signal handler" },
		{ TB_LOST_RING, 8, "no room in the ring" },
		{ TB_LOST_QUOTA, 9, "over quota" },
		{ TB_LOST_STOPPED, 10, "not recording" },
		{ TB_LOST_INVALID, 11, "refused as illegal" },
		{ 0, 17, "unknown cause" },
		{ TB_LOST_QUOTA | TB_LOST_RING, TB_LOST_BITS,
		  "no room in the ring, over quota" },
	};
	char wanted[128];
	struct fx_chunk chunk;
	struct fx fx;
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		begin(&fx);
		fx_open(&fx, 0, 1000, 1, NULL);
		one_mark(&chunk, 0, 0, 1001, "a");
		fx_take(&fx, 0, 1002, &chunk);
		one_mark(&chunk, 1, 4, 1003, "b");
		chunk.head.cause = (uint16_t)list[i].cause;
		fx_take(&fx, 0, 1004, &chunk);
		fx_close(&fx, 0);
		open_all(&fx);
		sprintf(wanted, "1001 101 mark a\n1003 101 LOST 3 records (%s)\n1003 101 mark b\n",
			list[i].text);
		CHECK_TEXT(read_users(), wanted);
		CHECK_NUMBER(accounting(0)->attempted, 5);
		CHECK_NUMBER(accounting(0)->delivered, 2);
		CHECK_NUMBER(accounting(0)->missing, 3);
		CHECK_NUMBER(accounting(0)->lost[list[i].bit], 3);
		CHECK_NUMBER(accounting(0)->wrong, 0);
		close_all(&fx);
	}
}

/* If pieces are missing and the rings have overwritten events, that is the cause */
static void overwritten(void)
{
	struct tb_gap gap = { .overwritten = 9, .first = 1003, .last = 1004 };
	struct fx_chunk chunk;
	struct tb_view view;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	one_mark(&chunk, 6, 60, 1001, "a");
	fx_take(&fx, 0, 1002, &chunk);
	fx_close(&fx, 0);
	fx_open(&fx, 0, 1005, 1, &gap);
	one_mark(&chunk, 9, 70, 1005, "b");
	fx_take(&fx, 0, 1006, &chunk);
	/* the program lost some itself, but more records are missing */
	one_mark(&chunk, 13, 80, 1007, "c");
	chunk.head.cause = TB_LOST_NO_CHUNK;
	fx_take(&fx, 0, 1008, &chunk);
	one_mark(&chunk, 14, 82, 1009, "d");
	chunk.head.cause = TB_LOST_NO_CHUNK;
	fx_take(&fx, 0, 1010, &chunk);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(),
		"1001 101 LOST up to 60 records (overwritten in the ring)\n"
		"1001 101 mark a\n"
		"1005 101 LOST 9 records (overwritten in the ring)\n"
		"1005 101 mark b\n"
		"1007 101 LOST 9 records (no chunk was free, overwritten in the ring)\n"
		"1007 101 mark c\n"
		"1009 101 LOST 1 records (no chunk was free)\n"
		"1009 101 mark d\n");
	CHECK_NUMBER(accounting(0)->before, 60);
	CHECK_NUMBER(accounting(0)->attempted, 23);
	CHECK_NUMBER(accounting(0)->missing, 19);
	CHECK_NUMBER(accounting(0)->lost[16], 9);
	CHECK_NUMBER(accounting(0)->lost[0], 1);
	CHECK_NUMBER(accounting(0)->lost[TB_LOST_BITS], 9);
	tb_cursor_close(cursor);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	while (tb_cursor_next(cursor, &view) > 0)
		if (view.kind == TB_VIEW_USER_LOST && view.user->lost == 1)
			break;
	CHECK_NUMBER(view.lost.first, 1007);
	CHECK_NUMBER(view.lost.last, 1009);
	CHECK_NUMBER(view.user->cause, TB_LOST_NO_CHUNK);
	close_all(&fx);
}

/* The first records are missing, and the last: a piece without records reports these */
static void at_both_ends(void)
{
	struct fx_chunk chunk;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	one_mark(&chunk, 0, 2, 1001, "a");
	chunk.head.cause = TB_LOST_UNBOUND;
	fx_take(&fx, 0, 1002, &chunk);
	fx_chunk(&chunk, 7, 1, 1, 5);
	chunk.head.cause = TB_LOST_NO_CHUNK;
	fx_take(&fx, 0, 1003, &chunk);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(),
		"1001 101 LOST 2 records (not bound yet)\n"
		"1001 101 mark a\n"
		"1003 101 LOST 2 records (no chunk was free)\n");
	CHECK_NUMBER(accounting(0)->attempted, 5);
	CHECK_NUMBER(accounting(0)->missing, 4);
	CHECK_NUMBER(accounting(0)->before, 0);
	close_all(&fx);
}

/* ---- patches ---- */

static void patches(void)
{
	struct fx_chunk chunk, later;
	uint32_t holes[4], of_later;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_name(&chunk, 1, TB_NAME_EVENT, 0, "s");
	holes[0] = fx_record(&chunk, TB_REC_SLICE, 0, 1, 1001, FX_WORDS(0));
	holes[1] = fx_record(&chunk, TB_REC_SLICE, TB_REC_FLOW, 1, 1002, FX_WORDS(5, 0));
	later = chunk;
	fx_continue(&later);
	of_later = fx_record(&later, TB_REC_SLICE, 0, 1, 1004, FX_WORDS(0));
	holes[2] = fx_record(&later, TB_REC_SLICE, 0, 1, 1005, FX_WORDS(0));
	/* before its piece, after it, twice; of a head, of no record, of another writer's chunk */
	fx_patch(&fx, 0, 1006, &chunk, holes[0] + 16, 10);
	fx_take(&fx, 0, 1007, &chunk);
	fx_patch(&fx, 0, 1008, &chunk, holes[1] + 24, 99);
	fx_patch(&fx, 0, 1009, &chunk, holes[1] + 24, 20);
	fx_patch(&fx, 0, 1009, &chunk, holes[1], 1);
	fx_patch(&fx, 0, 1009, &chunk, 4000, 1);
	fx_patch(&fx, 0, 1009, &chunk, holes[1] + 27, 1);
	fx_take(&fx, 0, 1010, &later);
	fx_patch(&fx, 0, 1011, &chunk, of_later + 16, 5);
	chunk.head.chunk = 3;
	fx_patch(&fx, 0, 1011, &chunk, holes[2] + 16, 77);
	chunk.head.writer = 2;
	chunk.head.chunk = 0;
	fx_patch(&fx, 0, 1011, &chunk, holes[2] + 16, 77);
	fx_simple(&fx, 0, FX_SOFTIRQ, 1100, 1);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(),
		"1001 101 slice s duration=0.000000010\n"
		"1002 101 slice s duration=0.000000020 flow=5\n"
		"1004 101 slice s duration=0.000000005\n"
		"1005 101 slice s not ended\n");
	CHECK_NUMBER(accounting(0)->patches, 6);
	close_all(&fx);
}

/* ---- names ---- */

static void names(void)
{
	const struct tb_user_name *name;
	struct fx_chunk chunk;
	unsigned int i, count = 0;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	/* announced early, by a writer that the reader visits later */
	fx_chunk(&chunk, 7, 9, 0, 0);
	fx_name(&chunk, 4, TB_NAME_EVENT, 3, "oldest");
	fx_take(&fx, 0, 1001, &chunk);
	/* used before another writer announces it; id 1 of the other producer is its own */
	fx_chunk(&chunk, 7, 2, 0, 0);
	fx_record(&chunk, TB_REC_INSTANT, TB_REC_ARGS, 1, 1001,
		  FX_WORDS(fx_arg(17, TB_ARG_TEXT), 18));
	fx_record(&chunk, TB_REC_INSTANT, 0, 17, 1002, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_INSTANT, 0, 4, 1003, FX_NO_WORDS);
	fx_take(&fx, 0, 1010, &chunk);
	fx_chunk(&chunk, 8, 1, 0, 0);
	fx_name(&chunk, 1, TB_NAME_EVENT, 0, "theirs");
	fx_record(&chunk, TB_REC_INSTANT, 0, 1, 1004, FX_NO_WORDS);
	fx_take(&fx, 0, 1011, &chunk);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_name(&chunk, 1, TB_NAME_EVENT, 2, "ours");
	fx_name(&chunk, 4, TB_NAME_EVENT, 3, "old");
	fx_name(&chunk, 2, TB_NAME_CATEGORY, 0, "net");
	fx_name(&chunk, 4, TB_NAME_EVENT, 3, "new");
	fx_name(&chunk, 0, TB_NAME_EVENT, 0, "nothing");
	fx_take(&fx, 0, 1012, &chunk);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(),
		"1001 102 instant ours #17=#18\n"
		"1002 102 instant #17\n"
		"1003 102 instant new\n"
		"1004 101 instant theirs\n");
	for (i = 0; (name = tb_trace_user_name(trace, i)); i++) {
		if (name->producer == 7 && name->id == 1) {
			CHECK_TEXT(name->text, "ours");
			CHECK_TEXT(tb_trace_user_category(trace, name), "net");
			count++;
		}
		if (name->producer == 7 && name->id == 4)
			CHECK(!tb_trace_user_category(trace, name));
	}
	CHECK_NUMBER(i, 4);
	CHECK_NUMBER(count, 1);
	close_all(&fx);
}

/* ---- time ---- */

static void impossible_times(void)
{
	struct fx_chunk chunk;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_mark(&chunk, 2000, "a");
	fx_mark(&chunk, 1500, "back");
	fx_mark(&chunk, 2100, "b");
	/* up to a millisecond after the chunk is accepted */
	fx_mark(&chunk, 3000 + 900000, "soon");
	fx_mark(&chunk, UINT64_MAX, "never");
	fx_record(&chunk, TB_REC_SLICE, 0, 9, 2000, FX_WORDS(UINT64_MAX));
	fx_take(&fx, 0, 3000, &chunk);
	fx_chunk(&chunk, 7, 2, 0, 0);
	fx_mark(&chunk, 2050, "other");
	fx_record(&chunk, TB_REC_SLICE, 0, 9, 2060, FX_WORDS(UINT64_MAX / 2));
	fx_take(&fx, 0, 3100, &chunk);
	fx_simple(&fx, 0, FX_SOFTIRQ, 1003000, 1);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(),
		"2000 101 mark a\n"
		"2000 101 mark back <impossible time>\n"
		"2050 102 mark other\n"
		"2060 102 slice #9 duration=0.001000940 <impossible time>\n"
		"2100 101 mark b\n"
		"903000 101 mark soon\n"
		"903000 101 mark never <impossible time>\n"
		"903000 101 slice #9 duration=0.000100000 <impossible time>\n");
	close_all(&fx);
}

/* Chunks with times of CLOCK_MONOTONIC in a trace of the processor's counter */
static void other_clocks(void)
{
	struct fx_chunk chunk;
	struct fx fx;

	fx_init(&fx, 14, 0);
	/* 2 ticks are 1 ns at first, then 1 tick */
	fx_sync(&fx, 1000000, 5000000);
	fx_sync(&fx, 3000000, 6000000);
	fx_sync(&fx, 4000000, 7000000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_chunk(&chunk, 7, 1, 0, 0);
	chunk.head.flags = TB_CLOCK_MONO;
	fx_mark(&chunk, 4900000, "before");
	fx_mark(&chunk, 5500000, "a");
	fx_record(&chunk, TB_REC_SLICE, 0, 9, 5900000, FX_WORDS(200000));
	fx_mark(&chunk, 6000000, "b");
	fx_mark(&chunk, 6500000, "c");
	fx_mark(&chunk, 7500000, "after");
	fx_take(&fx, 0, 4600000, &chunk);
	fx_chunk(&chunk, 7, 2, 0, 0);
	chunk.head.flags = TB_CLOCK_ARCH;
	fx_mark(&chunk, 123, "whose?");
	fx_record(&chunk, TB_REC_SLICE, 0, 9, 5900000, FX_WORDS(200000));
	fx_take(&fx, 0, 4600001, &chunk);
	fx_chunk(&chunk, 7, 3, 0, 0);
	chunk.head.flags = TB_CLOCK_AUTO;
	fx_mark(&chunk, 4600000, "ours");
	fx_take(&fx, 0, 4600002, &chunk);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(),
		"800000 101 mark before\n"
		"2000000 101 mark a\n"
		"2800000 101 slice #9 duration=0.000200000\n"
		"3000000 101 mark b\n"
		"3500000 101 mark c\n"
		"4500000 101 mark after\n"
		"4600000 103 mark ours\n"
		"4600001 102 mark whose? <unknown clock>\n"
		"4600001 102 slice #9 not ended <unknown clock>\n");
	close_all(&fx);
}

/* ---- slices ---- */

static void nesting(void)
{
	const char *lines;
	struct fx_chunk chunk;
	struct tb_view view;
	uint32_t depth = 0;
	unsigned int i;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_name(&chunk, 1, TB_NAME_EVENT, 0, "outer");
	fx_name(&chunk, 2, TB_NAME_EVENT, 0, "inner");
	fx_record(&chunk, TB_REC_END, 0, 0, 1001, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, 0, 1, 1002, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, 0, 2, 1003, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_END, 0, 0, 1004, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_END, 0, 0, 1005, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, 0, 1, 1006, FX_NO_WORDS);
	fx_take(&fx, 0, 1010, &chunk);
	/* after a loss the reader does not know which slices are open */
	fx_chunk(&chunk, 7, 1, 1, 10);
	fx_record(&chunk, TB_REC_END, 0, 0, 1011, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, 0, 2, 1012, FX_NO_WORDS);
	fx_take(&fx, 0, 1020, &chunk);
	/* deeper than the reader tracks */
	fx_chunk(&chunk, 7, 2, 0, 0);
	for (i = 0; i < 80; i++)
		fx_record(&chunk, TB_REC_BEGIN, 0, 1 + i % 2, 1100, FX_NO_WORDS);
	for (i = 0; i < 80; i++)
		fx_record(&chunk, TB_REC_END, 0, 0, 1200, FX_NO_WORDS);
	fx_take(&fx, 0, 1300, &chunk);
	fx_close(&fx, 0);
	open_all(&fx);
	while (tb_cursor_next(cursor, &view) > 0) {
		if (view.kind != TB_VIEW_USER || view.user->writer_id != 2)
			continue;
		if (view.user->type == TB_REC_BEGIN) {
			CHECK_NUMBER(view.user->depth, depth++);
		} else {
			CHECK_NUMBER(view.user->depth, --depth);
			CHECK_TEXT(view.user->name, depth >= 64 ? "" :
				   depth % 2 ? "inner" : "outer");
			CHECK_NUMBER(view.user->flags, 0);
		}
	}
	tb_cursor_close(cursor);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	lines = read_users();
	CHECK(strstr(lines,
		"1001 101 end <without a beginning>\n"
		"1002 101 begin outer\n"
		"1003 101 begin inner\n"
		"1004 101 end inner\n"
		"1005 101 end outer\n"
		"1006 101 begin outer\n"
		"1011 101 LOST 2 records (unknown cause)\n"
		"1011 101 end <without a beginning>\n"
		"1012 101 begin inner\n") == lines);
	close_all(&fx);
}

static const struct test tests[] = {
	{ "sequence: records of every kind", kinds },
	{ "sequence: pieces of several CPUs among kernel events", merge_order },
	{ "sequence: a chunk in pieces", pieces },
	{ "sequence: numbers of chunks wrap around", wrapping },
	{ "sequence: an id that is used again", ids_again },
	{ "sequence: every cause of a loss", causes },
	{ "sequence: records that the rings have overwritten", overwritten },
	{ "sequence: losses at the beginning and the end", at_both_ends },
	{ "sequence: patches before and after their piece", patches },
	{ "sequence: names announced late, never, again", names },
	{ "sequence: impossible times", impossible_times },
	{ "sequence: other clocks than the trace's", other_clocks },
	{ "sequence: slices in slices", nesting },
};

TEST_MAIN(tests)
