/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces for the tests of exporters: events of each kind that an exporter handles itself, and
 * records of programs.
 */
#ifndef EXPORT_TRACES_H
#define EXPORT_TRACES_H

#include "test_lib_chunk.h"

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
	fx_record(&chunk, TB_REC_INSTANT, TB_REC_FLOW | TB_REC_FLOW_END, 98, START + 140,
		  FX_WORDS(78));
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

#endif /* EXPORT_TRACES_H */
