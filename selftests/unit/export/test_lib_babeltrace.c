// SPDX-License-Identifier: GPL-2.0-only
/*
 * Babeltrace 2 shows the same events, fields, times and losses as "tracebuf print": through our
 * plugin (source.tracebuf.input), and in the CTF that "tracebuf export" writes. If this fails,
 * Babeltrace shows other events than were recorded, or hides that some are missing.
 *
 * With names of traces as arguments it compares these in the same way, and runs no tests.
 */
#include <errno.h>
#include <sys/stat.h>
#include "test_lib_chunk.h"
#include "test_bt_read.h"

static char directory[64];

/* Read @path through the plugin and through CTF; compare both with libtracebuf and each other */
static void both(const char *path, struct reading *direct)
{
	struct reading *ctf = calloc(1, sizeof(*ctf));
	char arguments[512], target[128];

	assert(ctf);
	read_with(direct, "tracebuf", "input", path, path);
	CHECK_TEXT(direct->error, "");
	snprintf(target, sizeof(target), "%s/ctf", directory);
	snprintf(arguments, sizeof(arguments), "export --format ctf -o %s %s",
		 target, path);
	CHECK_NUMBER((unsigned int)run(arguments), 0);
	CHECK_HAS(target);
	read_with(ctf, "ctf", "fs", target, path);
	CHECK_TEXT(ctf->error, "");
	CHECK_NUMBER(ctf->events, direct->events);
	CHECK_NUMBER(ctf->lost, direct->lost);
	if (direct->used != ctf->used ||
	    memcmp(direct->text, ctf->text, direct->used)) {
		printf("# CTF differs from the source\n");
		if (direct->used < 20000)
			printf("# source:\n%s# CTF:\n%s", direct->text, ctf->text);
		test_failures++;
	}
	snprintf(arguments, sizeof(arguments), "rm -r %s", target);
	assert(!system(arguments));
	forget(ctf);
	free(ctf);
}

static void save_fx(struct fx *fx)
{
	fx_durable_end(fx);
	save(fx->data, fx->size);
	fx_free(fx);
}

/* ---- events of the kernel ---- */

static void put_odd(struct fx *fx, unsigned int cpu, uint64_t time)
{
	struct fx_odd odd = {
		.loc = 4u << 16 | (8 + offsetof(struct fx_odd, text)),
		.rel = 4u << 16 | (offsetof(struct fx_odd, text) + 4 - 8),
		.array_loc = 12u << 16 | (8 + offsetof(struct fx_odd, text) + 8),
		.small = { -1, 2, -3 },
		.bits = 0x2a5 << 2,
		.pointer = 0xffff888012345678,
		.mask = { 0x8f, 1 },
		.tiny = -7,
		.blob = { 1, 2, 3, 0xfe, 5, 6, 7 },
	};
	const uint32_t list[] = { 1, 2, 3 };

	memcpy(odd.text, "loc", 4);
	memcpy(odd.text + 4, "r\xff" "l", 4);
	memcpy(odd.text + 8, list, sizeof(list));
	fx_composite(fx, cpu, FX_ODD, time, 102, &odd, sizeof(odd));
}

static void some_events(struct fx *fx)
{
	struct fx_switch to = fx_switch("one", 101, 1, "two", 102);
	struct { int64_t id; uint64_t args[6]; } enter = {
		.id = 1, .args = { 3, 0x7fff12345678, 42 },
	};

	fx_sync(fx, 0, 5000000000);
	fx_sync(fx, 1000000, 5001000000);
	fx_thread(fx, 101, 100, 1, TB_THREAD_DUMP, "one");
	fx_thread(fx, 102, 100, 1, TB_THREAD_DUMP, "two");
	fx_open(fx, 0, 1000, 101, NULL);
	fx_open(fx, 3, 1010, 0, NULL);
	fx_composite(fx, 0, FX_SWITCH, 1020, 101, &to, sizeof(to));
	fx_simple(fx, 3, FX_SOFTIRQ, 1030, 3);
	fx_composite(fx, 0, FX_SYS_ENTER, 1040, 102, &enter, sizeof(enter));
	put_odd(fx, 0, 1050);
	fx_simple(fx, 3, FX_SWITCH_COMPACT, 1060, fx_switch_compact(0, 102, 2, 120, 120));
	/* a payload too short for its fields; an event without a description; a mark */
	fx_composite(fx, 0, FX_WAKEUP, 1070, 102, "short", 5);
	fx_simple(fx, 3, 500, 1080, 0x1122334455667788);
	fx_composite(fx, 3, TB_EV_MARK, 1090, 7, "he\0re", 5);
	fx_close(fx, 0);
	fx_close(fx, 3);
}

static void kernel_events(void)
{
	struct reading reading = { 0 };
	struct fx fx;

	fx_init(&fx, 12, 0);
	some_events(&fx);
	save_fx(&fx);
	read_with(&reading, "tracebuf", "input", file, NULL);
	CHECK_TEXT(reading.error, "");
	CHECK(strstr(reading.text, "5000001020 cpu0 sched:sched_switch tid=101 pid=100 comm=one interrupt=0(no) preempt_depth=1 | prev_comm=one prev_pid=101 prev_prio=120 prev_state=1(S) next_comm=two next_pid=102 next_prio=120\n"));
	CHECK(strstr(reading.text, "cpu3 irq:softirq_entry tid=0 pid=0 comm=<idle> interrupt=255(unknown) preempt_depth=0 | vec=3(NET_RX)\n"));
	CHECK(strstr(reading.text, "id=1(write) args=[0x3,0x7fff12345678,0x2a,0x0,0x0,0x0]\n"));
	CHECK(strstr(reading.text, "| loc=loc rel=r\\xffl _list_length=3 list=[1,2,3] small=[-1,2,-3] bits=41 pointer=0xffff888012345678 _mask_length=6 mask=[0,1,2,3,7,8] tiny=-7 _blob_length=7 blob=[0x1,0x2,0x3,0xfe,0x5,0x6,0x7]\n"));
	CHECK(strstr(reading.text, "sched:sched_wakeup tid=102 pid=100 comm=two interrupt=0(no) preempt_depth=1 | _payload_length=5 payload=[0x73,0x68,0x6f,0x72,0x74]\n"));
	CHECK(strstr(reading.text, "unknown:event_500"));
	CHECK(strstr(reading.text, "tracebuf:mark tid=7 pid=0 comm=<...> interrupt=0(no) preempt_depth=1 | text=he\\x00re\n"));
	CHECK_NUMBER((uint64_t)reading.last, 1700000005000001090);
	forget(&reading);
}

/* These events exclude those that Babeltrace and print show differently */
static void compared_events(void)
{
	struct fx_switch to = fx_switch("one", 101, 0x102, "two", 102);
	struct reading reading = { 0 };
	struct fx fx;
	int i;

	fx_init(&fx, 14, 0);
	fx_sync(&fx, 0, 5000000000);
	fx_sync(&fx, 1000000, 5001000300);
	fx_open(&fx, 0, 1000, 101, NULL);
	fx_open(&fx, 1, 1000, 0, NULL);
	for (i = 0; i < 100; i++) {
		to.prev_state = 1 << i % 9;
		fx_composite(&fx, 0, FX_SWITCH, 2000 + 33ull * i, 101, &to,
			     sizeof(to));
		fx_simple(&fx, 1, FX_SOFTIRQ, 2001 + 34ull * i,
			  (uint64_t)i % 12);
		put_odd(&fx, 1, 2002 + 34ull * i);
	}
	fx_thread(&fx, 103, 100, 1, TB_THREAD_FORK, "three");
	fx_close(&fx, 0);
	fx_close(&fx, 1);
	save_fx(&fx);
	/* both show texts that are no UTF-8 escaped */
	both(file, &reading);
	CHECK_NUMBER(reading.events, 303);
	forget(&reading);
}

/* Events of one kind with and without stacks and counters survive the way through CTF */
static void stacks_and_counters(void)
{
	const struct { uint32_t kind, count; uint64_t ip[3]; } kernel = {
		TB_STACK_KERNEL, 3, { 0xffffffff81000010, 0xffffffff81000110, 16 },
	}, user = { TB_STACK_USER, 2, { 0x7f0000001000, 0x7f0000001100, 0 } };
	const struct { struct tb_string head; char text[8]; } cycles = {
		{ .kind = TB_STRING_COUNTER, .key = 0 }, "cycles",
	}, misses = { { .kind = TB_STRING_COUNTER, .key = 3 }, "misses" };
	const struct { uint32_t mask, reserved; uint64_t values[2]; } counters = {
		1 << 0 | 1 << 3, 0, { 1000, 1ull << 63 },
	};
	struct reading reading = { 0 };
	struct fx fx;
	unsigned int i;

	fx_init(&fx, 14, 0);
	fx_sync(&fx, 0, 5000000000);
	fx_durable(&fx, TB_EV_STRING, &cycles, sizeof(cycles));
	fx_durable(&fx, TB_EV_STRING, &misses, sizeof(misses));
	fx_open(&fx, 0, 1000, 101, NULL);
	for (i = 0; i < 16; i++) {
		fx_simple(&fx, 0, FX_SOFTIRQ, 2000 + 10 * i, i % 10);
		if (i & 1)
			fx_composite(&fx, 0, TB_EV_STACK, 2000 + 10 * i, 0, &kernel, 8 + 3 * 8);
		if (i & 2)
			fx_composite(&fx, 0, TB_EV_STACK, 2000 + 10 * i, 0, &user, 8 + 2 * 8);
		if (i & 4)
			fx_composite(&fx, 0, TB_EV_COUNTERS, 2000 + 10 * i, 0, &counters,
				     sizeof(counters));
	}
	fx_close(&fx, 0);
	save_fx(&fx);
	both(file, &reading);
	CHECK_NUMBER(reading.events, 17);	/* 16 and a clock record */
	CHECK(strstr(reading.text, " cycles=1000 misses=9223372036854775808 | vec=7("));
	CHECK(strstr(reading.text, "_callstack_kernel_length=3 callstack_kernel=[0xffffffff81000010,0xffffffff81000110,0x10] _callstack_user_length=2 callstack_user=[0x7f0000001000,0x7f0000001100]\n"));
	forget(&reading);
}

/* A field gets the names in its print format, or none if one of them cannot be parsed */
static void symbolic(void)
{
	static const struct fx_field fields[] = {
		{ "kind", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "half", "u32", 4, 4, 0, 0, 0, 0 },
	};
	struct reading reading = { 0 };
	const uint32_t values[2] = { (uint32_t)-2, 1 };
	struct fx fx;

	fx_init(&fx, 12, 0);
	fx_describe_print(&fx, 200, 0, "test", "named", fields, 2,
		"\"%s %s\", __print_symbolic(REC->kinds, { 1, \"another field\" }), __print_symbolic(REC->kind, { -2, \"minus two\" }, { 0x10UL, \"sixteen\" }, { -3000000000, \"too small\" }), __print_symbolic(REC->half, { 1, \"one\" }, { SOMETHING, \"other\" })");
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_composite(&fx, 0, 200, 1010, 1, values, sizeof(values));
	fx_close(&fx, 0);
	save_fx(&fx);
	both(file, &reading);
	CHECK(strstr(reading.text, "kind=-2(minus two) half=1\n"));
	forget(&reading);
}

/* Signals have names, and a number that is no signal has none */
static void signals(void)
{
	static const struct fx_field fields[] = {
		{ "sig", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "errno", "int", 4, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	static const int32_t values[][2] = { { 17, 17 }, { 64, 64 }, { 65, 65 }, { -1, -1 } };
	struct reading reading = { 0 };
	struct fx fx;
	size_t i;

	fx_init(&fx, 12, 0);
	fx_describe(&fx, 200, 0, "signal", "signal_generate", fields, 2);
	fx_open(&fx, 0, 1000, 1, NULL);
	for (i = 0; i < 4; i++)
		fx_composite(&fx, 0, 200, 1010 + i, 1, values[i], sizeof(values[i]));
	fx_close(&fx, 0);
	save_fx(&fx);
	both(file, &reading);
	CHECK(strstr(reading.text, "sig=17(SIGCHLD) errno=17\n"));
	CHECK(strstr(reading.text, "sig=64(SIGRTMIN+32) errno=64\n"));
	CHECK(strstr(reading.text, "sig=65() errno=65\n"));
	CHECK(strstr(reading.text, "sig=-1() errno=-1\n"));
	forget(&reading);
}

/* Bit fields of every width keep their values; Babeltrace itself cannot write some widths */
static void bit_fields(void)
{
	struct reading reading = { 0 };
	struct fx_field fields[128];
	static char names[128][8];
	uint64_t values[128];
	char want[32];
	unsigned int i;
	struct fx fx;

	for (i = 0; i < 128; i++) {
		sprintf(names[i], "%c%u", i < 64 ? 'u' : 's', i % 64 + 1);
		fields[i] = (struct fx_field){
			names[i], "long", (uint16_t)(8 * i), 8, 0,
			(uint16_t)(TB_FIELD_BITS | (i < 64 ? 0 : TB_FIELD_SIGNED)), 0,
			(uint8_t)(i % 64 + 1),
		};
		values[i] = 1ull << i % 64;
	}
	fx_init(&fx, 14, 0);
	fx_describe(&fx, 200, 0, "test", "bits", fields, 128);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_composite(&fx, 0, 200, 1010, 1, values, sizeof(values));
	fx_close(&fx, 0);
	save_fx(&fx);
	both(file, &reading);
	CHECK_NUMBER(reading.events, 1);
	for (i = 0; i < 64; i++) {
		sprintf(want, " u%u=%" PRIu64 " ", i + 1, values[i]);
		CHECK(strstr(reading.text, want));
		sprintf(want, " s%u=%" PRId64 "%c", i + 1, (int64_t)-values[i],
			i < 63 ? ' ' : '\n');
		CHECK(strstr(reading.text, want));
	}
	forget(&reading);
}

/* Names of fields that Babeltrace or CTF forbid are changed, and stay distinct */
static void hostile_names(void)
{
	static const struct fx_field fields[] = {
		{ "same", "u32", 0, 4, 0, 0, 0, 0 },
		{ "same", "u32", 4, 4, 0, 0, 0, 0 },
		{ "with space\"", "u32", 8, 4, 0, 0, 0, 0 },
		{ "struct", "u32", 12, 4, 0, 0, 0, 0 },
		{ "", "u32", 16, 4, 0, 0, 0, 0 },
		{ "1st", "u32", 20, 4, 0, 0, 0, 0 },
		{ "_hidden", "u32", 24, 4, 0, 0, 0, 0 },
	};
	const uint32_t values[7] = { 1, 2, 3, 4, 5, 6, 7 };
	struct reading direct = { 0 }, ctf = { 0 };
	char arguments[256], target[128];
	struct fx fx;

	fx_init(&fx, 12, 0);
	fx_describe(&fx, 200, 0, "te\"st", "na\\me\n", fields, 7);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_composite(&fx, 0, 200, 1010, 1, values, sizeof(values));
	fx_close(&fx, 0);
	save_fx(&fx);
	read_with(&direct, "tracebuf", "input", file, NULL);
	CHECK_TEXT(direct.error, "");
	CHECK(strstr(direct.text, "te_st:na_me? "));
	CHECK(strstr(direct.text, "same=1 same_2=2 with_space_=3 struct=4 _=5 _1st=6 _hidden=7\n"));
	snprintf(target, sizeof(target), "%s/ctf", directory);
	snprintf(arguments, sizeof(arguments), "export --format ctf -o %s %s", target,
		 file);
	CHECK_NUMBER((unsigned int)run(arguments), 0);
	read_with(&ctf, "ctf", "fs", target, NULL);
	CHECK_TEXT(ctf.error, "");
	CHECK_TEXT(ctf.text, direct.text);
	snprintf(arguments, sizeof(arguments), "rm -r %s", target);
	assert(!system(arguments));
	forget(&direct);
	forget(&ctf);
}

/* ---- losses ---- */

static void losses(void)
{
	struct tb_gap first = { .overwritten = 50, .first = 500, .last = 900 };
	struct tb_gap gap = { .overwritten = 7, .dropped = 3, .first = 1100,
			      .last = 1900 };
	struct tb_gap odd = { .dropped = 5, .first = 2005, .last = 9999 };
	struct reading reading = { 0 };
	struct fx fx;

	fx_init(&fx, 12, 0);
	fx_open(&fx, 0, 1000, 1, &first);
	fx_open(&fx, 1, 1000, 2, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 1050, 1);
	fx_simple(&fx, 1, FX_SOFTIRQ, 1500, 2);
	fx_close(&fx, 0);
	fx_open(&fx, 0, 2000, 1, &gap);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2010, 3);
	fx_close(&fx, 0);
	/* a span that is not between the events around it */
	fx_open(&fx, 0, 2100, 1, &odd);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2110, 4);
	fx_close(&fx, 0);
	fx_simple(&fx, 1, FX_SOFTIRQ, 2500, 5);
	fx_close(&fx, 1);
	/* a loss that only the totals count */
	fx.rings[1].dropped = 9;
	fx_totals(&fx, 0);
	fx_totals_at(&fx, 1, 0, 9000, 2600, 2700);
	save_fx(&fx);
	both(file, &reading);
	CHECK_NUMBER(reading.lost, 50 + 10 + 5 + 9);
	CHECK(strstr(reading.text, "LOST cpu0 500-900 50\n"));
	CHECK(strstr(reading.text, "LOST cpu0 1100-1900 10\n"));
	CHECK(strstr(reading.text, "LOST cpu0 2010-2100 5\n"));
	CHECK(strstr(reading.text, "LOST cpu1 2600-9000 9\n"));
	CHECK(strstr(reading.text, " tracebuf:lost tid=1 pid=0 comm=<...> interrupt=255(unknown) preempt_depth=0 | overwritten=7 dropped=3 oversize=0 first=1100 last=1900\n"));
	forget(&reading);
}

/* ---- programs ---- */

static void programs(void)
{
	struct reading reading = { 0 };
	struct fx_chunk chunk;
	struct fx fx;
	uint32_t i;

	fx_init(&fx, 14, 0);
	fx_thread(&fx, 101, 100, 1, TB_THREAD_DUMP, "worker");
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_chunk(&chunk, 7, 1, 1, 0);
	fx_name(&chunk, 1, TB_NAME_CATEGORY, 0, "net");
	fx_name(&chunk, 2, TB_NAME_EVENT, 1, "request");
	fx_name(&chunk, 3, TB_NAME_EVENT, 1, "size");
	fx_name(&chunk, 4, TB_NAME_TEXT, 0, "/index\xff");
	fx_record(&chunk, TB_REC_BEGIN, TB_REC_FLOW | TB_REC_ARGS, 2, 1100,
		  FX_WORDS(77, fx_arg(3, TB_ARG_U64), 512,
			   fx_arg(2, TB_ARG_TEXT), 4));
	fx_record(&chunk, TB_REC_COUNTER, 0, 3, 1110, FX_WORDS((uint64_t)-4096));
	fx_record(&chunk, TB_REC_COUNTER, TB_REC_DOUBLE, 3, 1111,
		  FX_WORDS(0x3ff8000000000000));
	fx_record(&chunk, TB_REC_SLICE, 0, 2, 1120, FX_WORDS(20));
	fx_record(&chunk, TB_REC_SLICE, 0, 2, 1121, FX_WORDS(0));
	fx_record(&chunk, TB_REC_INSTANT, TB_REC_ARGS, 2, 1130,
		  FX_WORDS(fx_arg(3, TB_ARG_S64), (uint64_t)-1,
			   fx_arg(1, TB_ARG_DOUBLE), 0x3ff8000000000000,
			   fx_arg(2, TB_ARG_POINTER), 0xdead));
	fx_record(&chunk, TB_REC_SIMPLE, 0, 2, 1140, FX_WORDS(99));
	fx_mark(&chunk, 1150, "phase two");
	fx_record(&chunk, TB_REC_END, 0, 0, 1200, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_END, 0, 0, 1210, FX_NO_WORDS);
	fx_take(&fx, 0, 1300, &chunk);
	/* records 14 to 19 of writer 1 are missing, and some of writer 2 at the same time */
	fx_chunk(&chunk, 7, 1, 2, 20);
	fx_mark(&chunk, 1900, "after");
	chunk.head.cause = TB_LOST_NO_CHUNK;
	fx_take(&fx, 0, 2000, &chunk);
	fx_chunk(&chunk, 7, 2, 3, 0);
	fx_mark(&chunk, 1500, "other");
	fx_take(&fx, 0, 2010, &chunk);
	fx_chunk(&chunk, 7, 2, 4, 4);
	fx_mark(&chunk, 1950, "other after");
	chunk.head.cause = TB_LOST_RING;
	fx_take(&fx, 0, 2020, &chunk);
	for (i = 0; i < 3; i++)
		fx_simple(&fx, 0, FX_SOFTIRQ, 2100 + i, i);
	fx_close(&fx, 0);
	save_fx(&fx);
	both(file, &reading);
	CHECK(strstr(reading.text, "1100 programs user:begin tid=101 pid=100 comm=worker uid=1000 producer=7 writer=1 | category=net name=request flow=77 flow_end=0 args={size=512 request=/index\\xff}\n"));
	CHECK(strstr(reading.text, "user:counter tid=101 pid=100 comm=worker uid=1000 producer=7 writer=1 | category=net name=size value=-4096\n"));
	CHECK(strstr(reading.text, "name=request ended=1 duration=20\n"));
	CHECK(strstr(reading.text, "name=request ended=0 duration=0\n"));
	CHECK(strstr(reading.text, "args={size=-1 net=1.5 request=0xdead}\n"));
	CHECK(strstr(reading.text, "user:lost"));
	CHECK(strstr(reading.text, "doubts=without a beginning"));
	CHECK(strstr(reading.text, "cause=no chunk was free"));
	CHECK(strstr(reading.text, "LOST programs 1210-1950 "));
	CHECK_NUMBER(reading.lost, 6 + 3);
	forget(&reading);
}

/* Each event has other arguments: beyond a limit they become texts, to limit the event classes */
static void many_signatures(void)
{
	struct reading reading = { 0 };
	struct fx_chunk chunk;
	struct fx fx;
	uint32_t i, id;
	char name[32];

	fx_init(&fx, 14, 0);
	fx_open(&fx, 0, 1000, 1, NULL);
	for (i = 0; i < 1200; i++) {
		fx_chunk(&chunk, 7, 1, i + 1, 2ull * i);
		id = i + 1;
		snprintf(name, sizeof(name), "arg%u", i);
		fx_name(&chunk, id, TB_NAME_EVENT, 0, name);
		fx_record(&chunk, TB_REC_INSTANT, TB_REC_ARGS, id, 1100 + i,
			  FX_WORDS(fx_arg(id, TB_ARG_U64), i));
		if (!fx_take(&fx, 0, 3000, &chunk)) {
			fx_close(&fx, 0);
			fx_open(&fx, 0, 3000, 1, NULL);
			assert(fx_take(&fx, 0, 3000, &chunk));
		}
	}
	fx_close(&fx, 0);
	save_fx(&fx);
	read_with(&reading, "tracebuf", "input", file, NULL);
	CHECK_TEXT(reading.error, "");
	CHECK_NUMBER(reading.events, 1200);
	CHECK(strstr(reading.text, "args={arg0=0}\n"));
	CHECK(strstr(reading.text, "args=arg1199=1199\n"));
	forget(&reading);
}

/* Names of arguments that contain what separates them: two events must not share a class */
static void names_like_others(void)
{
	static const struct {
		unsigned int count;
		uint32_t names[2];
		const char *shown;
	} events[] = {
		{ 1, { 3 }, "args={a_ub=0}\n" },
		{ 2, { 1, 2 }, "args={a=1 b=1}\n" },
		{ 1, { 3 }, "args={a_ub=2}\n" },
		{ 2, { 1, 4 }, "args={a=3 b_u1_a=3}\n" },
		{ 2, { 4, 1 }, "args={b_u1_a=4 a=4}\n" },
	};
	struct reading reading = { 0 };
	struct fx_chunk chunk;
	struct fx fx;
	uint32_t i;

	fx_init(&fx, 14, 0);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_chunk(&chunk, 7, 1, 1, 0);
	fx_name(&chunk, 1, TB_NAME_EVENT, 0, "a");
	fx_name(&chunk, 2, TB_NAME_EVENT, 0, "b");
	fx_name(&chunk, 3, TB_NAME_EVENT, 0, "a ub");
	fx_name(&chunk, 4, TB_NAME_EVENT, 0, "b u1:a");
	for (i = 0; i < 5; i++)
		if (events[i].count == 1)
			fx_record(&chunk, TB_REC_INSTANT, TB_REC_ARGS, 1, 1100 + i,
				  FX_WORDS(fx_arg(events[i].names[0], TB_ARG_U64), i));
		else
			fx_record(&chunk, TB_REC_INSTANT, TB_REC_ARGS, 1, 1100 + i,
				  FX_WORDS(fx_arg(events[i].names[0], TB_ARG_U64), i,
					   fx_arg(events[i].names[1], TB_ARG_U64), i));
	fx_take(&fx, 0, 3000, &chunk);
	fx_close(&fx, 0);
	save_fx(&fx);
	read_with(&reading, "tracebuf", "input", file, NULL);
	CHECK_TEXT(reading.error, "");
	CHECK_NUMBER(reading.events, 5);
	for (i = 0; i < 5; i++)
		CHECK(strstr(reading.text, events[i].shown));
	forget(&reading);
}

/* ---- files ---- */

static void small_trace(struct fx *fx, uint64_t generation, uint64_t time)
{
	if (generation == 1)
		fx_init(fx, 12, 0);
	else
		fx_start_recording(fx, generation);
	fx_sync(fx, 0, 1000000);
	fx_open(fx, 0, time, 1, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, time + 10, 1);
	fx_close(fx, 0);
	fx_durable_end(fx);
	fx_open(fx, 0, time + 100, 1, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, time + 110, 2);
	fx_simple(fx, 0, FX_SOFTIRQ, time + 120, 3);
	fx_close(fx, 0);
}

/* All events before and after the damage are read; then an error says where the damage is */
static void cut_off(void)
{
	struct reading reading = { 0 };
	char want[64], arguments[256];
	struct fx fx;

	small_trace(&fx, 1, 1000);
	snprintf(want, sizeof(want), "%s: at byte %zu: ", file, fx.size - 100);
	save(fx.data, fx.size - 100);
	read_with(&reading, "tracebuf", "input", file, NULL);
	CHECK(strstr(reading.error, want));
	CHECK_NUMBER(reading.events, 2);
	CHECK(strstr(reading.text, "vec=1("));
	forget(&reading);

		/* the export has the events before the damage, and says so */
	snprintf(arguments, sizeof(arguments), "export --format ctf -o %s/ctf %s",
		 directory, file);
	CHECK_NUMBER((unsigned int)run(arguments), 1);
	CHECK_HAS("holds what comes before");
	snprintf(arguments, sizeof(arguments), "%s/ctf", directory);
	read_with(&reading, "ctf", "fs", arguments, NULL);
	CHECK_NUMBER(reading.events, 2);
	forget(&reading);
	snprintf(arguments, sizeof(arguments), "rm -r %s/ctf", directory);
	assert(!system(arguments));

	/* an element of the first block has an invalid length: the second block is still read */
	((struct tb_element *)(fx.data + fx.size - 2 * 4096 + 128))->head |=
		0x3ffu << 16;
	save(fx.data, fx.size);
	read_with(&reading, "tracebuf", "input", file, NULL);
	snprintf(want, sizeof(want), "%s: at byte %zu: ", file,
		 fx.size - 2 * 4096 + 128);
	CHECK(strstr(reading.error, want));
	CHECK(strstr(reading.text, "vec=3("));
	forget(&reading);
	fx_free(&fx);
}

/* No event before the error is lost, for any number of events in Babeltrace's last portion */
static void before_errors(void)
{
	struct reading reading = { 0 };
	unsigned int count, i;
	struct fx fx;

	for (count = 1; count < 40; count++) {
		fx_init(&fx, 12, 0);
		fx_durable_end(&fx);
		fx_open(&fx, 0, 1000, 1, NULL);
		for (i = 0; i < count; i++)
			fx_simple(&fx, 0, FX_SOFTIRQ, 1010 + i, 1);
		fx_close(&fx, 0);
		fx_extend(&fx, 10);
		save(fx.data, fx.size);
		read_with(&reading, "tracebuf", "input", file, NULL);
		CHECK(strstr(reading.error, "at byte"));
		CHECK_NUMBER(reading.events, count);
		forget(&reading);
		fx_free(&fx);
	}
}

static void no_trace(void)
{
	struct reading reading = { 0 };

	save("not one of them at all, and long enough to have a block's head in it", 68);
	read_with(&reading, "tracebuf", "input", file, NULL);
	CHECK(strstr(reading.error, "not a tracebuf trace"));
	forget(&reading);
	read_with(&reading, "tracebuf", "input", "/nowhere", NULL);
	CHECK(strstr(reading.error, "/nowhere: "));
	forget(&reading);
}

/* Two recordings in one file are two traces; damage is reported once, after the events of both */
static void two_recordings(void)
{
	struct reading reading = { 0 };
	struct fx fx;

	small_trace(&fx, 1, 5000);
	small_trace(&fx, 2, 1000);
	save(fx.data, fx.size);
	read_with(&reading, "tracebuf", "input", file, NULL);
	CHECK_TEXT(reading.error, "");
	CHECK_NUMBER(reading.events, 2 * 4);
	forget(&reading);
	save(fx.data, fx.size - 10);
	read_with(&reading, "tracebuf", "input", file, NULL);
	CHECK(strstr(reading.error, "at byte"));
		/* the first recording is complete, although its events are later */
	CHECK_NUMBER(reading.events, 4 + 2);
	forget(&reading);

	/* a block of a provider without any other block: it has no clock, and is shown */
	((struct tb_block *)(fx.data + fx.size - 4096))->provider = 9;
	save(fx.data, fx.size);
	read_with(&reading, "tracebuf", "input", file, NULL);
	CHECK_TEXT(reading.error, "");
	CHECK_NUMBER(reading.events, 2 * 4);
	forget(&reading);
	fx_free(&fx);
}

static void seeking(void)
{
	struct reading once = { 0 }, twice = { .again = 1 };
	struct fx fx;
	char *again;

	fx_init(&fx, 12, 0);
	some_events(&fx);
	save_fx(&fx);
	read_with(&once, "tracebuf", "input", file, NULL);
	read_with(&twice, "tracebuf", "input", file, NULL);
	CHECK_TEXT(twice.error, "");
	CHECK_NUMBER(twice.events, 2 * once.events);
	again = strstr(twice.text, "again\n");
	CHECK(again);
	if (again)
		CHECK_TEXT(again + 6, once.text);
	forget(&once);
	forget(&twice);
}

/* ---- queries ---- */

static const bt_value *query(const char *object, const bt_value *params)
{
	const bt_plugin *plugin = find_plugin("tracebuf");
	bt_query_executor *executor;
	const bt_value *result;

	executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(
			bt_plugin_borrow_source_component_class_by_name_const(
				plugin, "input")), object, params);
	assert(executor);
	if (bt_query_executor_query(executor, &result)) {
		bt_current_thread_clear_error();
		result = NULL;
	}
	bt_query_executor_put_ref(executor);
	bt_plugin_put_ref(plugin);
	return result;
}

static double weight(const char *type, const char *input)
{
	bt_value *params = bt_value_map_create();
	const bt_value *result;
	double value = -1;

	assert(!bt_value_map_insert_string_entry(params, "type", type));
	assert(!bt_value_map_insert_string_entry(params, "input", input));
	result = query("babeltrace.support-info", params);
	if (result)
		value = bt_value_real_get(result);
	bt_value_put_ref(result);
	bt_value_put_ref(params);
	return value;
}

static const bt_value *entry(const bt_value *map, const char *key)
{
	return bt_value_map_borrow_entry_value_const(map, key);
}

static void queries(void)
{
	const bt_value *infos, *streams, *range;
	bt_value *params;
	struct fx fx;

	small_trace(&fx, 1, 1000);
	small_trace(&fx, 2, 5000);
	save(fx.data, fx.size);
	CHECK(weight("file", file) > 0.5);
	CHECK(weight("string", file) == 0);
	CHECK(weight("file", "/nowhere") == 0);
	CHECK(weight("directory", "/tmp") == 0);
	params = inputs_of(file);
	infos = query("babeltrace.trace-infos", params);
	CHECK(infos && bt_value_array_get_length(infos) == 2);
	if (infos) {
		streams = entry(bt_value_array_borrow_element_by_index_const(infos,
								1), "stream-infos");
		CHECK_NUMBER(bt_value_array_get_length(streams), 2);
		streams = bt_value_array_borrow_element_by_index_const(streams, 1);
		CHECK_TEXT(bt_value_string_get(entry(streams, "port-name")),
			   "recording1");
		range = entry(streams, "range-ns");
		CHECK_NUMBER((uint64_t)bt_value_integer_signed_get(
				entry(range, "begin")), 1700000000000000000 +
			     1000000 + 5010);
		CHECK_NUMBER((uint64_t)bt_value_integer_signed_get(
				entry(range, "end")), 1700000000000000000 +
			     1000000 + 5120);
	}
	bt_value_put_ref(infos);
	bt_value_put_ref(params);
	CHECK(!query("no-such-thing", NULL));
	save("text", 4);
	CHECK(weight("file", file) == 0);
	fx_free(&fx);
}

/* ---- export ---- */

/* --format ctf has only the events that options choose, with names from the whole trace */
static void chosen(void)
{
	static const struct { const char *options; uint64_t events; } cases[] = {
		{ "-e softirq_entry", 4 },	/* and the trace's own: clocks, a mark */
		{ "-e nothing_here", 0 },
		{ "-C 0 --to 5.00000105", 2 },
		{ "-t 102 --from 5.00000104", 4 },
		{ "-e sched_switch --from +0.000000005 --to +0.000000065", 1 },
	};
	char arguments[256], target[128];
	struct reading reading = { 0 };
	struct fx fx;
	size_t i;

	fx_init(&fx, 12, 0);
	some_events(&fx);
	save_fx(&fx);
	snprintf(target, sizeof(target), "%s/ctf", directory);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(arguments, sizeof(arguments), "export --format ctf %s -o %s %s",
			 cases[i].options, target, file);
		CHECK_NUMBER((unsigned int)run(arguments), !cases[i].events);
		if (!cases[i].events)
			continue;
		read_with(&reading, "ctf", "fs", target, NULL);
		CHECK_TEXT(reading.error, "");
		CHECK_NUMBER(reading.events, cases[i].events);
		forget(&reading);
		snprintf(arguments, sizeof(arguments), "rm -r %s", target);
		assert(!system(arguments));
	}
}

static int entries(const char *pattern)
{
	char command[256];
	FILE *pipe;
	int count = -1;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", pattern);
	pipe = popen(command, "r");
	assert(pipe && fscanf(pipe, "%d", &count) == 1);
	pclose(pipe);
	return count;
}

static void targets(void)
{
	char arguments[256], path[128];
	struct fx fx;

	small_trace(&fx, 1, 1000);
	save(fx.data, fx.size);
	fx_free(&fx);

		/* an empty directory will do, with or without slashes at the end of its name */
	snprintf(path, sizeof(path), "%s/empty", directory);
	assert(!mkdir(path, 0755));
	snprintf(arguments, sizeof(arguments), "export --format ctf -o %s// %s", path,
		 file);
	CHECK_NUMBER((unsigned int)run(arguments), 0);
	CHECK(entries(path) >= 2);
	CHECK_NUMBER((unsigned int)entries(directory), 1);

	/* a directory that is not empty is refused, and stays as it is */
	CHECK_NUMBER((unsigned int)run(arguments), 1);
	CHECK_HAS("not empty");
	CHECK_NUMBER((unsigned int)entries(directory), 1);
	snprintf(arguments, sizeof(arguments), "export --format ctf -o %s %s", file,
		 file);
	CHECK_NUMBER((unsigned int)run(arguments), 1);
	CHECK_HAS("is a directory");
	snprintf(arguments, sizeof(arguments), "export --format ctf -o /nowhere/x %s",
		 file);
	CHECK_NUMBER((unsigned int)run(arguments), 1);
	CHECK_HAS("/nowhere/x: cannot be written");
	snprintf(arguments, sizeof(arguments), "export --format ctf -o - %s", file);
	CHECK_NUMBER((unsigned int)run(arguments), 1);
	CHECK_HAS("name a directory");
	snprintf(arguments, sizeof(arguments), "rm -r %s", path);
	assert(!system(arguments));

	/* an export that a signal kills leaves nothing */
	snprintf(arguments, sizeof(arguments),
		 "ulimit -f 8; $TRACEBUF export --format ctf -o %s/full %s 2>/dev/null",
		 directory, file);
	CHECK(system(arguments));
	CHECK_NUMBER((unsigned int)entries(directory), 0);
}

static const struct test tests[] = {
	{ "events of the kernel have their fields and contexts", kernel_events },
	{ "source and CTF agree with libtracebuf, event by event", compared_events },
	{ "stacks and counters, of some events of a kind", stacks_and_counters },
	{ "values with names in print formats", symbolic },
	{ "names of signals", signals },
	{ "bit fields of all sizes", bit_fields },
	{ "field names that CTF cannot have", hostile_names },
	{ "losses have their counts and their times", losses },
	{ "records of programs, and losses of them", programs },
	{ "more signatures of arguments than event classes", many_signatures },
	{ "arguments with names that look like those of others", names_like_others },
	{ "damage is an error that says where, after all readable events", cut_off },
	{ "an error takes no event before it along", before_errors },
	{ "a file that is no trace is refused", no_trace },
	{ "two recordings in a file are two traces", two_recordings },
	{ "seeking back to the beginning gives the same events", seeking },
	{ "queries: whether a file is a trace, and its time range", queries },
	{ "the CTF export has the chosen events alone", chosen },
	{ "the directory that the CTF export makes", targets },
};

static void remove_directory(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command))
		printf("# %s is left\n", directory);
}

int main(int argc, char **argv)
{
	struct reading reading = { 0 };
	int result = 0, i;

	strcpy(directory, "/tmp/test_lib_bt.XXXXXX");
	assert(mkdtemp(directory));
	if (argc < 2) {
		result = run_main(tests, sizeof(tests) / sizeof(tests[0]));
		remove_directory();
		return result;
	}
	for (i = 1; i < argc; i++) {
		test_failures = 0;
		both(argv[i], &reading);
		printf("%s %s: %" PRIu64 " events, %" PRIu64 " missing\n",
		       test_failures ? "not ok" : "ok", argv[i], reading.events,
		       reading.lost);
		result |= test_failures != 0;
		forget(&reading);
	}
	remove_directory();
	return result;
}
