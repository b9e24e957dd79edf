// SPDX-License-Identifier: GPL-2.0-only
/*
 * An export has every event of its trace, and no trace makes an exporter crash. If this fails, a
 * timeline hides events, or a user loses the export of a damaged recording. The program writes
 * traces for the tests of exporters, and runs the exporters under the sanitizers.
 *
 *   test_export make FILE           at least one event of each kind that an exporter handles itself
 *   test_export user FILE           records of programs
 *   test_export golden-kernel FILE  as make, in smaller blocks, with stacks, counters and a name
 *                                   with special characters: makes selftests/golden/kernel.tbuf
 *   test_export golden-user FILE    as user, in smaller blocks: selftests/golden/user.tbuf
 *   test_export named FILE          a field that is called like the name of another one's number
 *   test_export extras FILE         stacks, counters, requests to a block device, many fields
 *   test_export overlap FILE        overlapping slices of programs, a flow id used for two flows,
 *                                   system calls and interrupts that are open at a gap
 *   test_export edges FILE          beginnings without ends, ends without beginnings, task states
 *   test_export stacks FILE N       N events, each with another stack
 *   test_export threads FILE N      N threads; each makes two system calls
 *   test_export waits FILE N        N switches and wake-ups at random times on 2 CPUs, with gaps
 *   test_export flush FILE          a flush beside a request for the same sector
 *   test_export requests FILE N M   N random events of block requests at M places, with gaps
 *   test_export big FILE N          N events of the common kinds on 4 CPUs
 *   test_export export FILE OUT     what "tracebuf export" does
 *   test_export damage FILE N       N times: damage a copy of FILE, export it
 *   test_export full FILE           export to a full disk
 *
 * The last three export to Perfetto's format; with a last argument "fxt" to FXT.
 */
#include <errno.h>
#include "test_lib_chunk.h"
#include "tool/export/export.h"

/* Event ids beyond those of the fixture */
enum {
	EV_SOFTIRQ_WIDE = FX_SOFTIRQ - 1,	/* FX_SOFTIRQ is its compact form */
	EV_WAKING_WIDE = 82, EV_WAKING, EV_EXIT_WIDE = 86, EV_EXIT, EV_IRQ = 88,
	EV_IRQ_EXIT_WIDE = 90, EV_IRQ_EXIT, EV_SOFTIRQ_EXIT_WIDE = 92, EV_SOFTIRQ_EXIT,
	EV_FREQUENCY = 94, EV_SAME_NAME = 96,
	EV_TIMER = 98, EV_TIMER_EXIT = 100,
	EV_ISSUE = 102, EV_COMPLETE = 104, EV_WIDE = 106, EV_HRTIMER = 108, EV_FREED = 118,
	EV_NAMED = 120,
	EV_INSERT = 112, EV_REQUEUE = 114,
	EV_UNDESCRIBED = 500,
};

#define START 1000000000ull

static void describe(struct fx *fx)
{
	static const struct fx_field irq[] = {
		{ "irq", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "name", "__data_loc char[]", 4, 4, 0, TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
	};
	static const struct fx_field irq_exit[] = {
		{ "irq", "int", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_SIGNED, 0, 32 },
		{ "ret", "int", 0, 8, 0, TB_FIELD_BITS, 32, 16 },
		{ "context", "u16", 0, 8, 0, TB_FIELD_BITS | TB_FIELD_CONTEXT, 48, 16 },
	};
	static const struct fx_field frequency[] = {
		{ "state", "u32", 0, 4, 0, 0, 0, 0 },
		{ "cpu_id", "u32", 4, 4, 0, 0, 0, 0 },
	};
	static const struct fx_field vector[] = {
		{ "vector", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	static const struct fx_field same_name[] = {
		{ "answer", "u32", 0, 4, 0, 0, 0, 0 },
	};

#define DESCRIBE(id, flags, system, name, fields) \
	fx_describe(fx, id, flags, system, name, fields, \
		    sizeof(fields) / sizeof(fields[0]))
	DESCRIBE(EV_WAKING_WIDE, 0, "sched", "sched_waking", fx_wake_fields);
	DESCRIBE(EV_WAKING, TB_EVENT_SIMPLE, "sched", "sched_waking", fx_wake_compact);
	DESCRIBE(EV_EXIT_WIDE, 0, "raw_syscalls", "sys_exit", fx_exit_fields);
	DESCRIBE(EV_EXIT, TB_EVENT_SIMPLE, "raw_syscalls", "sys_exit", fx_exit_compact);
	DESCRIBE(EV_IRQ, 0, "irq", "irq_handler_entry", irq);
	DESCRIBE(EV_IRQ_EXIT_WIDE, 0, "irq", "irq_handler_exit", fx_irq_exit_fields);
	DESCRIBE(EV_IRQ_EXIT, TB_EVENT_SIMPLE, "irq", "irq_handler_exit", irq_exit);
	DESCRIBE(EV_SOFTIRQ_WIDE, 0, "irq", "softirq_entry", fx_softirq_fields);
	DESCRIBE(EV_SOFTIRQ_EXIT_WIDE, 0, "irq", "softirq_exit", fx_softirq_fields);
	DESCRIBE(EV_SOFTIRQ_EXIT, TB_EVENT_SIMPLE, "irq", "softirq_exit", fx_softirq_compact);
	DESCRIBE(EV_FREQUENCY, 0, "power", "cpu_frequency", frequency);
	DESCRIBE(EV_TIMER, 0, "irq_vectors", "local_timer_entry", vector);
	DESCRIBE(EV_TIMER_EXIT, 0, "irq_vectors", "local_timer_exit", vector);
	DESCRIBE(EV_SAME_NAME, 0, "other", "signal_deliver", same_name);
#undef DESCRIBE
}

static bool put_irq(struct fx *fx, unsigned int cpu, uint64_t time, uint32_t tid, int32_t irq)
{
	struct { int32_t irq; uint32_t loc; char name[8]; } event = { irq, 5u << 16 | 16, "eth0" };

	return fx_composite(fx, cpu, EV_IRQ, time, tid, &event, sizeof(event));
}

static void sync_at(struct fx *fx, uint64_t clock, uint64_t boot_ahead)
{
	struct tb_clock_sync sync = {
		.clock = clock, .monotonic = clock + 500,
		.boottime = clock + 500 + boot_ahead,
		.realtime = clock + 1700000000000000000ull,
	};

	fx_durable(fx, TB_EV_CLOCK, &sync, sizeof(sync));
}

static void string(struct fx *fx, uint32_t kind, uint32_t key, const char *text)
{
	unsigned char payload[64];
	struct tb_string head = { .kind = kind, .key = key };

	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), text, strlen(text));
	fx_durable(fx, TB_EV_STRING, payload, sizeof(head) + strlen(text));
}

static void thread(struct fx *fx, unsigned int cpu, uint64_t time, uint32_t tid,
		   uint32_t tgid, unsigned int flags, const char *comm)
{
	struct tb_thread record = {
		.tid = tid, .tgid = tgid, .parent = 1,
		.flags = (uint16_t)flags, .prio = 120, .uid = 1000,
	};

	strncpy(record.comm, comm, sizeof(record.comm));
	fx_composite(fx, cpu, TB_EV_THREAD, time, tid, &record, sizeof(record));
}

static void start(struct fx *fx, unsigned int log2)
{
	fx_init(fx, log2, START);
	describe(fx);
	string(fx, TB_STRING_IRQ, 11, "eth0");
	sync_at(fx, START, 2000000);
	fx_thread(fx, 0, 0, 0, TB_THREAD_KERNEL | TB_THREAD_DUMP, "swapper");
	fx_thread(fx, 1, 1, 0, TB_THREAD_DUMP, "init");
	fx_thread(fx, 2, 2, 0, TB_THREAD_DUMP | TB_THREAD_KERNEL, "kthreadd");
	fx_thread(fx, 100, 100, 1, TB_THREAD_DUMP, "server");
	fx_thread(fx, 101, 100, 1, TB_THREAD_DUMP, "worker");
}

/* The time at which CPU 2 dropped its last events, for its totals; 0: the totals have no time */
static uint64_t frozen;

static void finish(struct fx *fx, unsigned int cpus)
{
	unsigned int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		if (cpu == 2 && frozen)
			fx_totals_at(fx, cpu, 0, START + 1950000000, frozen, frozen);
		else
			fx_totals(fx, cpu);
	fx_durable_end(fx);
}

static void make_odd(struct fx *fx, unsigned int cpu, uint64_t time)
{
	struct fx_odd odd = {
		.small = { -1, 2, -3 }, .bits = 0x2a << 4,
		.pointer = 0xffff888012345678ull, .mask = { 0x0f, 0x80 },
		.tiny = -5, .blob = { 0xde, 0xad },
	};
	uint32_t list[3] = { 1, 2, 3 };
	size_t text = offsetof(struct fx_odd, text);

	memcpy(odd.text, "loc", 4);
	memcpy(odd.text + 4, "rel", 4);
	memcpy(odd.text + 8, list, sizeof(list));
	odd.loc = 4u << 16 | (uint32_t)(text + 8);
	odd.rel = 4u << 16 | (uint32_t)(text + 4 -
					(offsetof(struct fx_odd, rel) + 4));
	odd.array_loc = 12u << 16 | (uint32_t)(text + 8 + 8);
	fx_composite(fx, cpu, FX_ODD, time, 100, &odd, sizeof(odd));
}

static void add_stack(struct fx *fx, unsigned int cpu, uint32_t kind,
		      const uint64_t *addresses, uint32_t count)
{
	struct { uint32_t kind, count; uint64_t ip[8]; } stack = { kind, count, { 0 } };

	memcpy(stack.ip, addresses, count * sizeof(*addresses));
	assert(fx_composite(fx, cpu, TB_EV_STACK, fx->rings[cpu].last, 0, &stack,
			    8 + 8ul * count));
}

static void add_counters(struct fx *fx, unsigned int cpu, uint32_t mask, uint64_t first,
			 uint64_t second)
{
	struct { uint32_t mask, reserved; uint64_t value[2]; } counters = {
		mask, 0, { first, second },
	};

	assert(fx_composite(fx, cpu, TB_EV_COUNTERS, fx->rings[cpu].last, 0, &counters,
			    8 + 8ul * (unsigned int)__builtin_popcount(mask)));
}

static void add_extras(struct fx *fx, unsigned int cpu)
{
	static const uint64_t kernel[] = {
		0xffffffff81000010, 0xffffffff81000110, 0xffffffff81000210,
	}, user[] = { 0x7f0000001000, 0x7f0000001100 };

	add_stack(fx, cpu, TB_STACK_KERNEL, kernel, 3);
	add_stack(fx, cpu, TB_STACK_USER, user, 2);
	add_counters(fx, cpu, 1 << 0 | 1 << 3, 1000, 2000);
}

/*
 * Slices at their limits: nested interrupts, one without its end; a wake-up before its thread has
 * left the CPU, one of a thread that then does not leave; preemption; calls that do not return
 */
static void make_lasting(struct fx *fx, unsigned int cpu, uint64_t time)
{
	struct { char comm[16]; int32_t pid; } woken = { "worker", 101 };
	uint32_t vector = 236;

#define NEXT (time += 10)
#define SWITCH(prev, next, state) \
	fx_simple(fx, cpu, FX_SWITCH_COMPACT, NEXT, \
		  fx_switch_compact(prev, next, state, 120, 120))
#define WAKING(tid) fx_simple(fx, cpu, EV_WAKING, NEXT, (tid) | 120ull << 22)
#define WAKEUP() \
	fx_composite(fx, cpu, FX_WAKEUP, NEXT, 0, &woken, sizeof(woken))
	put_irq(fx, cpu, NEXT, 0, 11);
	put_irq(fx, cpu, NEXT, 0, 12);
	put_irq(fx, cpu, NEXT, 0, 13);
	fx_simple(fx, cpu, EV_IRQ_EXIT, NEXT, 13 | 1ull << 32);
	fx_simple(fx, cpu, EV_IRQ_EXIT, NEXT, 11 | 1ull << 32);
	fx_simple(fx, cpu, EV_IRQ_EXIT, NEXT, 12);
	fx_composite(fx, cpu, EV_TIMER, NEXT, 0, &vector, sizeof(vector));
	fx_composite(fx, cpu, EV_TIMER_EXIT, NEXT, 0, &vector, sizeof(vector));
	fx_simple(fx, cpu, FX_SOFTIRQ, NEXT, 1);
	fx_simple(fx, cpu, FX_SOFTIRQ, NEXT, 3);
	fx_simple(fx, cpu, EV_SOFTIRQ_EXIT, NEXT, 3);
	WAKING(101);
	WAKEUP();
	SWITCH(0, 101, 0);
	WAKING(101);		/* the thread is about to sleep */
	SWITCH(101, 0, 1);
	WAKEUP();
	SWITCH(0, 101, 0);
	WAKING(101);		/* the thread does not sleep after all */
	WAKEUP();
	SWITCH(101, 0, 2);
	WAKING(101);
	WAKEUP();
	SWITCH(0, 101, 0);
	fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, NEXT, 5);
	fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, NEXT, 6);
	SWITCH(101, 100, 0);	/* preempted */
	SWITCH(100, 101, 1);
	fx_simple(fx, cpu, EV_EXIT, NEXT, 6);
	fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, NEXT, 60);
	SWITCH(101, 0, 0x20);	/* dead */
	SWITCH(0, 100, 0);
	fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, NEXT, 7);
#undef NEXT
#undef SWITCH
#undef WAKING
#undef WAKEUP
}

static void make(struct fx *fx, unsigned int log2, bool extras)
{
	const struct tb_gap gap = {
		.overwritten = 7, .dropped = 5, .oversize = 1,
		.first = START + 100, .last = START + 4000,
	};
	struct {
		int32_t irq;
		uint32_t loc;
		char name[8];
	} irq = { 11, 6u << 16 | 16, "eth0!" };
	struct {
		int64_t id;
		uint64_t args[6];
	} enter = { 1, { 3, 0x7fff00001000ull, 12, 0, 0, UINT64_MAX } };
	struct {
		int32_t pid;
		char comm[16];
		int32_t hole;
	} renamed = { 200, "child", 0 };
	struct fx_newtask newtask = { .pid = 200, .comm = "server" };
	struct fx_switch wide;
	uint32_t frequency[2] = { 2400000, 1 }, answer = 42;
	char mark[] = "here I am";

	start(fx, log2);
	if (extras)
		string(fx, TB_STRING_COUNTER, 0, "cycles");
	/* CPU 0: wide forms */
	fx_open(fx, 0, START, 0, NULL);
	wide = fx_switch("swapper/0", 0, 0, "server", 100);
	fx_composite(fx, 0, FX_SWITCH, START + 1000, 0, &wide, sizeof(wide));
	fx_composite(fx, 0, FX_SYS_ENTER, START + 1100, 100, &enter, sizeof(enter));
	fx_composite(fx, 0, FX_NEWTASK, START + 1200, 100, &newtask, sizeof(newtask));
	thread(fx, 0, START + 1201, 200, 200, TB_THREAD_FORK, "server");
	fx_composite(fx, 0, FX_RENAME, START + 1300, 200, &renamed, sizeof(renamed));
	thread(fx, 0, START + 1301, 200, 200, TB_THREAD_NAME, "child");
	fx_composite(fx, 0, EV_IRQ, START + 1400, 100, &irq, sizeof(irq));
	make_odd(fx, 0, START + 1500);
	fx_composite(fx, 0, TB_EV_MARK, START + 1600, 101, mark, strlen(mark));
	fx_composite(fx, 0, EV_FREQUENCY, START + 1700, 100, frequency, sizeof(frequency));
	fx_composite(fx, 0, EV_SAME_NAME, START + 1800, 100, &answer, sizeof(answer));
	if (extras) {
		add_extras(fx, 0);
		memcpy(renamed.comm, "a,\"b\"\\\n\xff=\xc3\xa9", 12);
		fx_composite(fx, 0, FX_RENAME, START + 1850, 200, &renamed,
			     sizeof(renamed));
	}
	fx_composite(fx, 0, EV_UNDESCRIBED, START + 1900, 100, &answer, sizeof(answer));
	wide = fx_switch("server", 100, 0x100, "swapper/0", 0);
	fx_composite(fx, 0, FX_SWITCH, START + 2000, 100, &wide, sizeof(wide));
	fx_close(fx, 0);

	/* CPU 1: compact forms, then a gap, then more */
	fx_open(fx, 1, START, 0, NULL);
	fx_simple(fx, 1, EV_WAKING, START + 50, 101 | 98ull << 22 | 1ull << 32);
	fx_simple(fx, 1, FX_SWITCH_COMPACT, START + 60, fx_switch_compact(0, 101, 0, 120, 98));
	fx_simple(fx, 1, FX_SYS_ENTER_COMPACT, START + 70, 232 | 1 << 12 | 5 << 16);
	fx_close(fx, 1);
	fx_open(fx, 1, START + 5000, 101, &gap);
	fx_simple(fx, 1, EV_EXIT, START + 5010,
		  232 | (uint64_t)-4 << 16);
	put_irq(fx, 1, START + 5020, 101, 11);
	fx_simple(fx, 1, EV_IRQ_EXIT, START + 5030, 11 | 1ull << 32);
	fx_simple(fx, 1, FX_SOFTIRQ, START + 5040, 3);
	fx_simple(fx, 1, EV_SOFTIRQ_EXIT, START + 5050, 3);
	fx_simple(fx, 1, FX_SWITCH_COMPACT, START + 5060,
		  fx_switch_compact(101, 100, 2, 98, 120));
	fx_simple(fx, 1, FX_SWITCH_COMPACT, START + 5070,
		  fx_switch_compact(100, 0, 1, 120, 120));
	fx_close(fx, 1);

	/* CPU 2: starts with a gap, ends with a loss that only its totals count */
	fx_open(fx, 2, START + 6000, 0, &gap);
	fx_simple(fx, 2, FX_SOFTIRQ, START + 6010, 1);
	fx_close(fx, 2);
	fx->rings[2].dropped += 9;
	frozen = extras ? 0 : START + 7000;

	/* after two seconds boot time has run ahead of monotonic time: the machine slept */
	sync_at(fx, START + 2000000000, 1002000000);
	fx_open(fx, 3, START + 1000000000, 0, NULL);
	fx_simple(fx, 3, FX_SOFTIRQ, START + 1000000000, 6);
	if (extras)
		make_lasting(fx, 3, START + 1000000000);
	fx_simple(fx, 3, FX_SOFTIRQ, START + 1900000000, 7);
	fx_close(fx, 3);
	finish(fx, 4);
}

enum {
	NAME_NET = 1, NAME_REQUEST, NAME_PARSE, NAME_SIZE, NAME_PATH, NAME_BYTES,
	NAME_LOAD, NAME_WAIT,
};

static void tell_names(struct fx_chunk *chunk)
{
	fx_name(chunk, NAME_NET, TB_NAME_CATEGORY, 0, "net");
	fx_name(chunk, NAME_REQUEST, TB_NAME_EVENT, NAME_NET, "request");
	fx_name(chunk, NAME_PARSE, TB_NAME_EVENT, NAME_NET, "parse");
	fx_name(chunk, NAME_SIZE, TB_NAME_EVENT, 0, "size");
	fx_name(chunk, NAME_PATH, TB_NAME_TEXT, 0, "/index \xff\xc3\xa9\xc0\xaf");
	fx_name(chunk, NAME_BYTES, TB_NAME_EVENT, NAME_NET, "bytes");
	fx_name(chunk, NAME_LOAD, TB_NAME_EVENT, 0, "load");
	fx_name(chunk, NAME_WAIT, TB_NAME_EVENT, 0, "wait");
}

/* Begin chunk @id of @writer, for thread @tid of the server */
static void piece(struct fx_chunk *chunk, unsigned int writer, uint32_t tid,
		  uint32_t id, uint64_t first)
{
	fx_chunk(chunk, 7, writer, id, first);
	chunk->head.tid = tid;
}

static void make_user(struct fx *fx, unsigned int log2)
{
	struct fx_chunk chunk;
	double load = 0.5;
	uint64_t bits, first;

	memcpy(&bits, &load, sizeof(bits));
	start(fx, log2);
	fx_durable_end(fx);
	fx_open(fx, 0, START, 0, NULL);
	piece(&chunk, 1, 101, 0, 0);
	tell_names(&chunk);
	fx_record(&chunk, TB_REC_END, 0, 0, START + 50, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, TB_REC_FLOW | TB_REC_ARGS, NAME_REQUEST, START + 100,
		  FX_WORDS(77, fx_arg(NAME_SIZE, TB_ARG_S64), (uint64_t)-5,
			   fx_arg(NAME_SIZE, TB_ARG_TEXT), NAME_PATH,
			   fx_arg(99, TB_ARG_POINTER), 0xabc,
			   fx_arg(99, TB_ARG_DOUBLE), bits,
			   fx_arg(99, TB_ARG_U64), 9));
	fx_record(&chunk, TB_REC_SLICE, 0, NAME_PARSE, START + 110, FX_WORDS(20));
	fx_record(&chunk, TB_REC_COUNTER, 0, NAME_BYTES, START + 120, FX_WORDS((uint64_t)-3));
	fx_record(&chunk, TB_REC_COUNTER, TB_REC_DOUBLE, NAME_LOAD, START + 121, FX_WORDS(bits));
	fx_record(&chunk, TB_REC_INSTANT, TB_REC_FLOW | TB_REC_FLOW_END, 98, START + 140, FX_WORDS(78));
	fx_record(&chunk, TB_REC_SIMPLE, 0, NAME_SIZE, START + 141, FX_WORDS(42));
	fx_record(&chunk, TB_REC_EVENT, 0, NAME_SIZE, START + 142, FX_WORDS(3, 0xccbbaa));
	fx_mark(&chunk, START + 143, "mark\x80");
	/* it has no end of its own: the end of the request closes it, too */
	fx_record(&chunk, TB_REC_SLICE, 0, NAME_WAIT, START + 150, FX_WORDS(0));
	fx_record(&chunk, TB_REC_END, 0, 0, START + 200, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, 0, NAME_REQUEST, START + 210, FX_NO_WORDS);
	fx_take(fx, 0, START + 300, &chunk);
	first = chunk.head.first + chunk.head.records;

	/* writer 2 of the same thread, while writer 1 has an open request; writer 3: no thread */
	piece(&chunk, 2, 101, 0, 0);
	fx_record(&chunk, TB_REC_SLICE, 0, NAME_WAIT, START + 220, FX_WORDS(60));
	fx_record(&chunk, TB_REC_BEGIN, 0, NAME_PARSE, START + 290, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_INSTANT, 0, NAME_LOAD, START + 292, FX_NO_WORDS);
	fx_take(fx, 0, START + 300, &chunk);
	piece(&chunk, 3, 0, 0, 0);
	fx_record(&chunk, TB_REC_SLICE, 0, NAME_WAIT, START + 230, FX_WORDS(5));
	fx_take(fx, 0, START + 301, &chunk);

	/* records are missing: what was open is of unknown length */
	piece(&chunk, 1, 101, 1, first + 4);
	chunk.head.cause = TB_LOST_NO_CHUNK;
	fx_record(&chunk, TB_REC_END, 0, 0, START + 310, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, 0, NAME_REQUEST, START + 320, FX_NO_WORDS);
	fx_take(fx, 0, START + 400, &chunk);
	/* thread 101 draws writer 1 again; this slice of writer 2 began on another track */
	piece(&chunk, 2, 101, 1, 3);
	fx_record(&chunk, TB_REC_END, 0, 0, START + 315, FX_NO_WORDS);
	fx_take(fx, 0, START + 401, &chunk);
	fx_simple(fx, 0, FX_SOFTIRQ, START + 410, 1);
	fx_close(fx, 0);
	finish(fx, 1);
}

/*
 * Two slices in one record that overlap each other and end after the slice around them; two flows
 * with the same id. At a gap one thread is in a system call, another sleeps in one, and the CPU
 * is in an interrupt.
 */
static void make_overlap(struct fx *fx)
{
	struct { int64_t id; uint64_t args[6]; } enter = { 1, { 3, 4, 5 } };
	struct { int64_t id; int64_t ret; } leave = { 1, -11 };
	const struct tb_gap gap = { .dropped = 3, .first = START + 1000, .last = START + 2000 };
	struct fx_switch on;
	struct fx_chunk chunk;

	start(fx, 14);
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	piece(&chunk, 1, 101, 0, 0);
	tell_names(&chunk);
	fx_record(&chunk, TB_REC_BEGIN, TB_REC_FLOW, NAME_REQUEST, START + 100, FX_WORDS(77));
	fx_record(&chunk, TB_REC_SLICE, 0, NAME_PARSE, START + 110, FX_WORDS(100));
	fx_record(&chunk, TB_REC_SLICE, 0, NAME_WAIT, START + 120, FX_WORDS(200));
	fx_record(&chunk, TB_REC_END, 0, 0, START + 150, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_INSTANT, TB_REC_FLOW | TB_REC_FLOW_END, NAME_LOAD, START + 160,
		  FX_WORDS(77));
	fx_record(&chunk, TB_REC_BEGIN, TB_REC_FLOW, NAME_REQUEST, START + 170, FX_WORDS(77));
	fx_record(&chunk, TB_REC_END, 0, 0, START + 180, FX_NO_WORDS);
	fx_take(fx, 0, START + 400, &chunk);
	on = fx_switch("server", 100, 1, "worker", 101);
	fx_composite(fx, 0, FX_SYS_ENTER, START + 500, 100, &enter, sizeof(enter));
	fx_composite(fx, 0, FX_SWITCH, START + 510, 100, &on, sizeof(on));
	fx_composite(fx, 0, FX_SYS_ENTER, START + 520, 101, &enter, sizeof(enter));
	put_irq(fx, 0, START + 530, 101, 11);
	fx_close(fx, 0);
	fx_open(fx, 0, START + 3000, 101, &gap);
	fx_composite(fx, 0, EV_EXIT_WIDE, START + 3010, 101, &leave, sizeof(leave));
	on = fx_switch("worker", 101, 1, "server", 100);
	fx_composite(fx, 0, FX_SWITCH, START + 3020, 101, &on, sizeof(on));
	fx_composite(fx, 0, EV_EXIT_WIDE, START + 3030, 100, &leave, sizeof(leave));
	on = fx_switch("server", 100, 0x20, "worker", 101);
	fx_composite(fx, 0, FX_SYS_ENTER, START + 3040, 100, &enter, sizeof(enter));
	fx_composite(fx, 0, FX_SWITCH, START + 3050, 100, &on, sizeof(on));
	fx_close(fx, 0);
	finish(fx, 1);
}

/* ---- requests; many fields ---- */

struct request {
	uint32_t dev, nr_sector;
	uint64_t sector;
	uint32_t bytes, error;
	char rwbs[8];
};

static void describe_extras(struct fx *fx)
{
	static const struct fx_field issue[] = {
		{ "dev", "dev_t", 0, 4, 0, 0, 0, 0 },
		{ "sector", "sector_t", 8, 8, 0, 0, 0, 0 },
		{ "nr_sector", "unsigned int", 4, 4, 0, 0, 0, 0 },
		{ "bytes", "unsigned int", 16, 4, 0, 0, 0, 0 },
		{ "rwbs", "char", 24, 8, 8, TB_FIELD_STRING | TB_FIELD_ARRAY, 0, 0 },
	};
	static const struct fx_field complete[] = {
		{ "dev", "dev_t", 0, 4, 0, 0, 0, 0 },
		{ "sector", "sector_t", 8, 8, 0, 0, 0, 0 },
		{ "nr_sector", "unsigned int", 4, 4, 0, 0, 0, 0 },
		{ "error", "int", 20, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "rwbs", "char", 24, 8, 8, TB_FIELD_STRING | TB_FIELD_ARRAY, 0, 0 },
	};
	static const struct fx_field timer[] = {
		{ "hrtimer", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "function", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "was_armed", "u32", 16, 4, 0, 0, 0, 0 },
	};
	static const struct fx_field freed[] = {
		{ "skbaddr", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "location", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "protocol", "unsigned short", 16, 2, 0, 0, 0, 0 },
		{ "reason", "int", 20, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	struct fx_field wide[18];
	static char names[18][4];
	unsigned int i;

	for (i = 0; i < 18; i++) {
		sprintf(names[i], "f%u", i);
		wide[i] = (struct fx_field){ names[i], "u64", (uint16_t)(8 * i), 8, 0, 0, 0, 0 };
	}
	fx_describe(fx, EV_ISSUE, 0, "block", "block_rq_issue", issue, 5);
	fx_describe(fx, EV_COMPLETE, 0, "block", "block_rq_complete", complete, 5);
	fx_describe(fx, EV_INSERT, 0, "block", "block_rq_insert", issue, 5);
	fx_describe(fx, EV_REQUEUE, 0, "block", "block_rq_requeue", complete, 3);
	fx_describe(fx, EV_WIDE, 0, "test", "wide", wide, 18);
	fx_describe(fx, EV_HRTIMER, 0, "timer", "hrtimer_start", timer, 3);
	fx_describe(fx, EV_FREED, 0, "skb", "kfree_skb", freed, 4);
}

static void request(struct fx *fx, unsigned int id, uint64_t time, uint64_t sector,
		    uint32_t sectors, uint32_t error)
{
	struct request request = {
		.dev = 8u << 20 | 3, .sector = sector, .nr_sector = sectors,
		.bytes = id == EV_ISSUE ? sectors * 512 : 0, .error = error, .rwbs = "WS",
	};

	assert(fx_composite(fx, 0, id, time, 100, &request, sizeof(request)));
}

static void make_extras(struct fx *fx)
{
	static const uint64_t kernel[] = {
		0xffffffff81000010, 0xffffffff81000110, 0xffffffffc0000010,
	}, user[] = { 0x5500001000, 0x5500002000 };
	struct { struct tb_symbol head; char name[16]; } symbol = {
		{ 0xffffffff81000000, 0x100 }, "schedule",
	};
	struct fx_switch wide = fx_switch("server", 100, 1, "worker", 101);
	struct { uint64_t timer, function; uint32_t armed, hole; } timer = {
		0xffff888000001000, 0xffffffff81000000, 1, 0,
	};
	struct { uint64_t skb, location; uint16_t protocol; int32_t reason; } freed = {
		0xffff888000002000, 0xffffffff81000010, 0x800, 7,
	};
	struct fx_ring notes = { 0 };
	uint64_t fields[18];
	unsigned int i;

	start(fx, 14);
	describe_extras(fx);
	string(fx, TB_STRING_COUNTER, 0, "cycles");
	string(fx, TB_STRING_COUNTER, 3, "page-faults");
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	fx_composite(fx, 0, FX_SWITCH, START + 100, 100, &wide, sizeof(wide));
	add_stack(fx, 0, TB_STACK_KERNEL, kernel, 3);
	add_stack(fx, 0, TB_STACK_USER, user, 2);
	add_counters(fx, 0, 1 << 0 | 1 << 3, 1ull << 40, 222);
	fx_simple(fx, 0, FX_SOFTIRQ, START + 200, 3);
	add_stack(fx, 0, TB_STACK_KERNEL, kernel, 3);
	fx_simple(fx, 0, EV_SOFTIRQ_EXIT, START + 210, 3);
	add_stack(fx, 0, TB_STACK_KERNEL, kernel + 1, 1);
	add_counters(fx, 0, 1 << 3, 223, 0);
	fx_composite(fx, 0, FX_SWITCH, START + 220, 100, &wide, sizeof(wide));
	add_stack(fx, 0, TB_STACK_KERNEL, kernel, 3);
	/* at most three in flight; one completes in two parts, one has no end */
	request(fx, EV_ISSUE, START + 300, 1000, 8, 0);
	request(fx, EV_ISSUE, START + 310, 2000, 16, 0);
	request(fx, EV_COMPLETE, START + 320, 1000, 8, 0);
	request(fx, EV_COMPLETE, START + 330, 2000, 8, 0);
	request(fx, EV_ISSUE, START + 340, 3000, 8, 0);
	request(fx, EV_COMPLETE, START + 350, 2008, 8, (uint32_t)-5);
	request(fx, EV_COMPLETE, START + 355, 9000, 8, 0);
	request(fx, EV_ISSUE, START + 360, 3000, 8, 0);
	for (i = 0; i < 18; i++)
		fields[i] = 1ull << (3 * i);
	fx_composite(fx, 0, EV_WIDE, START + 400, 100, fields, sizeof(fields));
	fx_composite(fx, 0, EV_HRTIMER, START + 410, 100, &timer, sizeof(timer));
	fx_composite(fx, 0, EV_FREED, START + 420, 100, &freed, sizeof(freed));
	fx_close(fx, 0);
	finish(fx, 1);
	fx_begin(fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	assert(fx_put_composite(fx, &notes, TB_EV_SYMBOL, 0, 0, 0, &symbol, 16 + 8));
	fx_end(fx, &notes);
}

/* An event with a field that is called like the name of the number in another one */
static void make_named(struct fx *fx)
{
	static const struct fx_field fields[] = {
		{ "function", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "Function_name", "u32", 8, 4, 0, 0, 0, 0 },
	};
	struct { uint64_t function; uint32_t name, hole; } event = { 0xffffffff81000000, 7, 0 };

	start(fx, 14);
	fx_describe(fx, EV_NAMED, 0, "test", "named", fields, 2);
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	fx_composite(fx, 0, EV_NAMED, START + 100, 100, &event, sizeof(event));
	fx_close(fx, 0);
	finish(fx, 1);
}

/*
 * Random requests that overlap requests in flight or their rest, complete in parts, are requeued
 * or never complete. Few places make one part end where another request begins.
 */
static void make_requests(struct fx *fx, uint64_t count, uint64_t places)
{
	static const unsigned int what[] = {
		EV_INSERT, EV_ISSUE, EV_ISSUE, EV_ISSUE, EV_COMPLETE, EV_COMPLETE, EV_COMPLETE, EV_REQUEUE,
	};
	struct tb_gap gap = { .overwritten = 3 };
	uint64_t random = 88172645463325252ull, time = START, i;
	struct request request;
	unsigned int id;

	start(fx, 16);
	describe_extras(fx);
	fx_durable_end(fx);
	fx_open(fx, 0, time, 100, NULL);
	for (i = 0; i < count; i++, time += 1000) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		id = what[random >> 3 & 7];
		request = (struct request){
			.dev = 8u << 20 | (random >> 6 & 1), .sector = (random >> 16) % places * 8,
			.nr_sector = 8 * (1 + (random >> 7 & 3)), .rwbs = "R",
			.error = id == EV_COMPLETE && !(random >> 9 & 15) ? (uint32_t)-5 : 0,
		};
		request.bytes = id == EV_ISSUE ? request.nr_sector * 512 : 0;
		if (!((i + 1) % 1000) || fx->rings[0].used + 256 > 1u << 16) {
			gap.first = time - 500;
			gap.last = time - 200;
			fx_close(fx, 0);
			fx_open(fx, 0, time, 100, (i + 1) % 1000 ? NULL : &gap);
		}
		assert(fx_composite(fx, 0, id, time, 100, &request, sizeof(request)));
	}
	fx_close(fx, 0);
	finish(fx, 1);
}

/* A flush, issued with sector 0 and completed with sector -1, beside a write of sector 0 */
static void make_flush(struct fx *fx)
{
	start(fx, 14);
	describe_extras(fx);
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	request(fx, EV_ISSUE, START + 1000, 0, 0, 0);
	request(fx, EV_ISSUE, START + 2000, 0, 8, 0);
	request(fx, EV_COMPLETE, START + 4000, 0, 8, 0);
	request(fx, EV_COMPLETE, START + 9000, UINT64_MAX, 0, 0);
	fx_close(fx, 0);
	finish(fx, 1);
}

/* Slices without an end or a beginning; all states in which a thread leaves a CPU */
static void make_edges(struct fx *fx)
{
	struct { int64_t id; uint64_t args[6]; } enter = { 1, { 3, 4, 5 } };
	struct { int64_t id; int64_t ret; } leave = { 1, -11 };
	static const int states[] = { 1, 2, 4, 8, 0x40, 0x80, 0x100, 0x20, 0x10 };
	const struct tb_gap gap = { .dropped = 3, .first = START + 1000, .last = START + 2000 };
	struct fx_switch left;
	unsigned int i;

	start(fx, 14);
	fx_durable_end(fx);
	fx_open(fx, 0, START, 100, NULL);
	/* thread 300 ends before the dump reaches it; the dump of thread 301 comes late */
	thread(fx, 0, START + 50, 300, 300, TB_THREAD_EXIT, "ended");
	thread(fx, 0, START + 60, 301, 300, TB_THREAD_DUMP, "found");
	/* the exit of the first call is missing */
	fx_composite(fx, 0, EV_EXIT_WIDE, START + 100, 100, &leave, sizeof(leave));
	fx_composite(fx, 0, FX_SYS_ENTER, START + 110, 100, &enter, sizeof(enter));
	fx_composite(fx, 0, FX_SYS_ENTER, START + 120, 100, &enter, sizeof(enter));
	fx_simple(fx, 0, EV_SOFTIRQ_EXIT, START + 130, 5);
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		left = fx_switch("server", 100, states[i], "worker", 101);
		fx_composite(fx, 0, FX_SWITCH, START + 200 + 20 * i, 100, &left, sizeof(left));
		left = fx_switch("worker", 101, 1, "server", 100);
		fx_composite(fx, 0, FX_SWITCH, START + 210 + 20 * i, 101, &left, sizeof(left));
	}
	/* an interrupt in a softirq, and only the softirq has its end */
	fx_simple(fx, 0, FX_SOFTIRQ, START + 500, 1);
	put_irq(fx, 0, START + 510, 100, 11);
	fx_simple(fx, 0, EV_SOFTIRQ_EXIT, START + 520, 1);
	fx_simple(fx, 0, FX_SOFTIRQ, START + 600, 1);
	fx_close(fx, 0);
	fx_open(fx, 0, START + 3000, 100, &gap);
	fx_simple(fx, 0, EV_SOFTIRQ_EXIT, START + 3010, 1);
	fx_close(fx, 0);
	finish(fx, 1);
}

static void make_threads(struct fx *fx, uint64_t count)
{
	struct { int64_t id; uint64_t args[6]; } enter = { 1, { 3, 4, 5 } };
	struct { int64_t id; int64_t ret; } leave = { 1, -11 };
	uint64_t i, time = START;

	start(fx, 16);
	fx_open(fx, 0, time, 100, NULL);
	for (i = 0; i < 4 * count; i++, time += 100) {
		uint32_t tid = 1000 + (uint32_t)(i % count);

		if (fx->rings[0].used + 256 > 1u << 16) {
			fx_close(fx, 0);
			fx_open(fx, 0, time, 100, NULL);
		}
		if (i < count)
			thread(fx, 0, time, tid, tid % 7 ? 1000 : tid, TB_THREAD_FORK, "one of many");
		if (i / count % 2)
			fx_composite(fx, 0, EV_EXIT_WIDE, time + 1, tid, &leave, sizeof(leave));
		else
			fx_composite(fx, 0, FX_SYS_ENTER, time + 1, tid, &enter, sizeof(enter));
	}
	fx_close(fx, 0);
	finish(fx, 1);
}

/* Random switches and wake-ups: no sensible history, but each event differs */
static void make_waits(struct fx *fx, uint64_t count)
{
		/* as TASK_REPORT has them */
	static const uint32_t states[] = { 0, 1, 2, 0x40, 0, 1, 4, 0x80 };
	uint64_t i, time = START, random = 1, last[2] = { START, START };
	uint32_t on[2] = { 0, 0 };

	start(fx, 14);
	fx_open(fx, 0, time, 0, NULL);
	fx_open(fx, 1, time, 0, NULL);
	for (i = 0; i < count; i++) {
		uint32_t cpu, tid, bits;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		bits = (uint32_t)(random >> 33);
		cpu = bits & 1;
		tid = 1000 + (bits >> 1) % 23;
		time += 1 + (random >> 20 & ((1u << (bits >> 10 & 15)) - 1));
		if (fx->rings[cpu].used + 256 > 1u << 14) {
			struct tb_gap gap = { .overwritten = i % 3, .first = last[cpu] + 1,
					      .last = time + 1 };

			time += 2;
			fx_close(fx, cpu);
			fx_open(fx, cpu, time, on[cpu], gap.overwritten ? &gap : NULL);
		}
		last[cpu] = time;
		if (bits >> 8 & 1 || tid == on[!cpu] || tid == on[cpu]) {
			fx_simple(fx, cpu, EV_WAKING, time,
				  tid | 120ull << 22 | (uint64_t)cpu << 32 |
				  (random >> 40 & 7) * TB_CONTEXT_SOFTIRQ << 48);
			continue;
		}
		tid = bits >> 9 & 1 ? tid : 0;
		if (tid == on[cpu])
			continue;
		fx_simple(fx, cpu, FX_SWITCH_COMPACT, time,
			  fx_switch_compact(on[cpu], tid, states[bits >> 14 & 7], 120, 120));
		on[cpu] = tid;
	}
	fx_close(fx, 0);
	fx_close(fx, 1);
	finish(fx, 2);
}

static void make_stacks(struct fx *fx, uint64_t count)
{
	uint64_t addresses[4] = { 0xffffffff81000000, 0, 0xffffffff81000100, 0xffffffff81000200 };
	uint64_t i, time = START;

	start(fx, 16);
	fx_open(fx, 0, time, 100, NULL);
	for (i = 0; i < count; i++, time += 100) {
		addresses[1] = 0xffffffff82000000 + i;
		/* room for the event and its stack in one block */
		if (fx->rings[0].used + 128 > 1u << 16) {
			fx_close(fx, 0);
			fx_open(fx, 0, time, 100, NULL);
		}
		put_irq(fx, 0, time, 100, 11);
		add_stack(fx, 0, TB_STACK_KERNEL, addresses, 4);
	}
	fx_close(fx, 0);
	finish(fx, 1);
}

/* A busy machine: half of the events are wide, half compact */
static void make_big(struct fx *fx, uint64_t count)
{
	struct { int64_t id; uint64_t args[6]; } enter = { 1, { 3, 4, 5 } };
	static const char trigger[] = "trigger: irq:irq_handler_entry";
	struct fx_switch wide;
	uint64_t i, time = START;
	unsigned int cpu;

	start(fx, 16);
	for (cpu = 0; cpu < 4; cpu++) {
		fx_open(fx, cpu, time, 0, NULL);
		/* in an interrupt of the idle thread, which has no thread record */
		fx_composite(fx, cpu, TB_EV_MARK, time, 0, trigger, sizeof(trigger) - 1);
	}
	for (i = 0; i < count; i++, time += 250) {
		cpu = (unsigned int)i & 3;
		for (;;) {
			bool done = false;
			bool back = (i >> 5) & 1;

			switch ((i >> 2) & 7) {
			case 0:
				wide = back ? fx_switch("server", 100, 1, "worker", 101) :
					      fx_switch("worker", 101, 2, "server", 100);
				done = fx_composite(fx, cpu, FX_SWITCH, time,
						    back ? 100 : 101, &wide,
						    sizeof(wide));
				break;
			case 1:
				done = fx_composite(fx, cpu, FX_SYS_ENTER, time,
						    100, &enter, sizeof(enter));
				break;
			case 2:
				done = fx_simple(fx, cpu, EV_EXIT, time,
						 1 | 4096u << 16);
				break;
			case 3:
				done = put_irq(fx, cpu, time, 100, 11);
				break;
			case 4:
				done = fx_simple(fx, cpu, EV_IRQ_EXIT, time,
						 11 | 1ull << 32);
				break;
			case 5:
				done = fx_simple(fx, cpu, EV_WAKING, time,
						 101 | 120ull << 22);
				break;
			case 6:
				done = fx_simple(fx, cpu, FX_SWITCH_COMPACT, time,
						 fx_switch_compact(100, 101, 1, 120, 120));
				break;
			case 7:
				done = fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, time, 7);
				break;
			}
			if (done)
				break;
			fx_close(fx, cpu);
			fx_open(fx, cpu, time, 100, NULL);
		}
		if (!((i + 1) & 0xffffff))
			sync_at(fx, time, 2000000);
		if (time >> 32 != (time + 1000) >> 32) {
			/* blocks carry the upper half of the clock */
			for (cpu = 0; cpu < 4; cpu++) {
				fx_close(fx, cpu);
				fx_open(fx, cpu, (time | 0xffffffff) + 1, 100, NULL);
			}
			time = (time | 0xffffffff) + 1;
		}
	}
	for (cpu = 0; cpu < 4; cpu++)
		fx_close(fx, cpu);
	finish(fx, 4);
}

static int save(const struct fx *fx, const char *path)
{
	FILE *out = fopen(path, "wb");
	size_t done = out ? fwrite(fx->data, 1, fx->size, out) : 0;

	return !out || fclose(out) || done != fx->size;
}

static bool fxt;

static int export_to(struct tb_trace *trace, FILE *out)
{
	char text[256] = "";
	struct tb_export_options options = {
		.error = text, .error_size = sizeof(text),
	};
	int result = (fxt ? tb_export_fxt : tb_export_perfetto)(trace, out, &options);

	if (result < 0)
		fprintf(stderr, "%s\n", text[0] ? text : "no text of the error");
	return result;
}

static int export_file(const char *path, const char *to)
{
	struct tb_trace *trace;
	struct tb_error error;
	int result = 1;
	FILE *out;

	if (tb_trace_open(path, &trace, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	out = fopen(to, "wb");
	if (out) {
		result = export_to(trace, out) < 0;
		if (fclose(out))
			result = 1;
	}
	tb_trace_close(trace);
	return result;
}

/* The exporter must neither crash nor fail, whatever bytes are damaged */
static int damage(const char *path, unsigned int times)
{
	uint64_t random = 88172645463325252ull;
	unsigned char *data, *copy;
	struct tb_trace *trace;
	unsigned int i, hits, opened = 0;
	FILE *in = fopen(path, "rb"), *out = fopen("/dev/null", "wb");
	size_t size;
	int result = 0;

	assert(in && out);
	data = malloc(1 << 20);
	copy = aligned_alloc(16, 1 << 20);
	assert(data && copy);
	size = fread(data, 1, 1 << 20, in);
	fclose(in);
	for (i = 0; i < times && !result; i++) {
		memcpy(copy, data, size);
		for (hits = 0; hits < 1 + i % 40; hits++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* damage bytes in use: most of a block is empty */
			copy[(random >> 16) % (size / 16384) * 16384 +
			     (random >> 8) % 2500] = (unsigned char)random;
		}
		if (tb_trace_open_memory(copy, size, &trace, NULL) < 0)
			continue;
		opened++;
		result = export_to(trace, out);
		tb_trace_close(trace);
	}
	printf("%u of %u damaged traces exported\n", opened, times);
	fclose(out);
	free(data);
	free(copy);
	return result || opened < times / 2;
}

static int full(const char *path)
{
	struct tb_trace *trace;
	FILE *out = fopen("/dev/full", "wb");
	int result;

	assert(out && !tb_trace_open(path, &trace, NULL));
	result = export_to(trace, out);
	tb_trace_close(trace);
	fclose(out);
	return result != -ENOSPC;
}

int main(int argc, char **argv)
{
	struct fx fx;

	fxt = argc > 3 && !strcmp(argv[argc - 1], "fxt");
	if (argc >= 3 && !strcmp(argv[1], "make")) {
		make(&fx, 14, false);
	} else if (argc >= 3 && !strcmp(argv[1], "golden-kernel")) {
		make(&fx, 12, true);
	} else if (argc >= 3 && !strcmp(argv[1], "user")) {
		make_user(&fx, 14);
	} else if (argc >= 3 && !strcmp(argv[1], "golden-user")) {
		make_user(&fx, 12);
	} else if (argc >= 3 && !strcmp(argv[1], "extras")) {
		make_extras(&fx);
	} else if (argc >= 3 && !strcmp(argv[1], "named")) {
		make_named(&fx);
	} else if (argc >= 4 && !strcmp(argv[1], "stacks")) {
		make_stacks(&fx, strtoull(argv[3], NULL, 0));
	} else if (argc >= 3 && !strcmp(argv[1], "overlap")) {
		make_overlap(&fx);
	} else if (argc >= 3 && !strcmp(argv[1], "edges")) {
		make_edges(&fx);
	} else if (argc >= 4 && !strcmp(argv[1], "threads")) {
		make_threads(&fx, strtoull(argv[3], NULL, 0));
	} else if (argc >= 4 && !strcmp(argv[1], "waits")) {
		make_waits(&fx, strtoull(argv[3], NULL, 0));
	} else if (argc >= 3 && !strcmp(argv[1], "flush")) {
		make_flush(&fx);
	} else if (argc >= 5 && !strcmp(argv[1], "requests")) {
		make_requests(&fx, strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0));
	} else if (argc >= 4 && !strcmp(argv[1], "big")) {
		make_big(&fx, strtoull(argv[3], NULL, 0));
	} else if (argc >= 4 && !strcmp(argv[1], "export")) {
		return export_file(argv[2], argv[3]);
	} else if (argc >= 4 && !strcmp(argv[1], "damage")) {
		return damage(argv[2], (unsigned int)strtoul(argv[3], NULL, 0));
	} else if (argc >= 3 && !strcmp(argv[1], "full")) {
		return full(argv[2]);
	} else {
		fprintf(stderr, "usage: see the top of %s\n", __FILE__);
		return 2;
	}
	if (save(&fx, argv[2]))
		return 1;
	fx_free(&fx);
	return 0;
}
