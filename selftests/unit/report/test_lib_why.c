// SPDX-License-Identifier: GPL-2.0-only
/*
 * `why` explains the time of one thread (userspace/analysis/why.c): when the kernel gives a TID to
 * another thread, a new one begins, and no unknown time is added. If this fails, `why` adds the
 * waits of one program to those of another.  The tree has a limit: without it, threads that wake
 * each other at random take all memory.
 */
#define WHY_NODES 12
#include "analysis/why.c"
#include "test_lib_fixture.h"

#define SLEEPS 1
#define ZOMBIE 0x20

static struct fx fx;
static struct why *why;
static struct tb_trace *trace;

static void begin(void)
{
	fx_init(&fx, 14, 100);
	fx_sync(&fx, 0, 0);
}

static void switch_to(uint64_t time, int from, int64_t state, int to)
{
	/* the thread records have the names */
	struct fx_switch event = fx_switch("", from, state, "", to);

	assert(fx_composite(&fx, 0, FX_SWITCH, time, (uint32_t)from, &event, sizeof(event)));
}

static void wake(uint64_t time, uint32_t waker, int tid)
{
	struct { char comm[16]; int32_t pid; } event = { "", tid };

	assert(fx_composite(&fx, 0, FX_WAKEUP, time, waker, &event, sizeof(event)));
}

static void record(uint64_t time, uint32_t tid, unsigned int flags, const char *comm)
{
	fx.start = time;
	fx_thread(&fx, tid, tid, 1, flags, comm);
}

static void read_it(void)
{
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	CHECK(!why_open(trace, TB_TIME_MONOTONIC, NULL, &why, NULL));
}

static void end(void)
{
	why_close(why);
	tb_trace_close(trace);
	fx_free(&fx);
}

static void check_thread(size_t index, uint32_t tid, const char *comm, uint64_t ran,
			 uint64_t waited, uint64_t off)
{
	uint32_t thread = why_thread(why, index);
	uint64_t times[3];

	CHECK_NUMBER(why_tid(why, thread), tid);
	CHECK_TEXT(why_comm(why, thread), comm);
	why_times(why, thread, 0, UINT64_MAX, &times[0], &times[1], &times[2]);
	CHECK_NUMBER(times[0], ran);
	CHECK_NUMBER(times[1], waited);
	CHECK_NUMBER(times[2], off);
}

/* The first thread 100 ends in @state; @told: the trace has records of threads */
static void two_lives(int64_t state, bool told)
{
	begin();
	record(200, 100, TB_THREAD_DUMP, "old");
	fx_open(&fx, 0, 1000, 0, NULL);
	switch_to(1000, 0, 0, 100);
	wake(1500, 100, 200);
	if (told)
		record(1900, 100, TB_THREAD_EXIT, "old");
	switch_to(2000, 100, state, 200);
	switch_to(2500, 200, SLEEPS, 0);
	if (told) {
		record(3000, 100, TB_THREAD_FORK, "shell");
		record(3100, 100, TB_THREAD_NAME, "new");
	}
	switch_to(4000, 0, 0, 100);
	switch_to(5000, 100, SLEEPS, 0);
	wake(6000, 0, 100);
	switch_to(7000, 0, 0, 100);
	switch_to(8000, 100, SLEEPS, 0);
	read_it();
}

static void check_two(uint64_t ended, uint64_t born)
{
	uint64_t from = 0, to = 10000;

	CHECK_NUMBER(why_threads(why), 3);
	CHECK(why_cut(why, why_thread(why, 0), &from, &to) && !from && to == ended);
	to = 10000;
	CHECK(why_cut(why, why_thread(why, 1), &from, &to) && from == born && to == 10000);
	CHECK(!why_cut(why, why_thread(why, 0), &from, &to));
	CHECK_NUMBER(why_index(why, 100), 0);
	CHECK_NUMBER(why_index(why, 101), 2);
	CHECK_NUMBER(why_index(why, 201), 3);
}

static void ends_and_begins(void)
{
	two_lives(ZOMBIE, true);
	check_two(2000, 3000);
	check_thread(0, 100, "old", 1000, 0, 0);
	check_thread(1, 100, "new", 2000, 1000, 1000);
	end();
}

/* When the thread had a name like @pattern; @from 0, @to 0: never */
static void check_named(size_t index, const char *pattern, uint64_t from, uint64_t to)
{
	uint64_t first = 0, last = 10000;

	if (why_named(why, why_thread(why, index), pattern, &first, &last)) {
		CHECK_NUMBER(first, from);
		CHECK_NUMBER(last, to);
	} else {
		CHECK(!from && !to);
	}
}

/* A child has its parent's name until exec; then a thread may change its name. */
static void names(void)
{
	uint64_t from = 0, to = 10000;

	begin();
	record(200, 100, TB_THREAD_DUMP, "shell");
	record(200, 500, TB_THREAD_DUMP, "early");
	fx_open(&fx, 0, 1000, 0, NULL);
	switch_to(1000, 0, 0, 100);
	record(1500, 200, TB_THREAD_FORK, "shell");
	record(1600, 300, TB_THREAD_FORK, "shell");
	record(1650, 400, TB_THREAD_FORK, "shell");
	/* exec of a program with the same name */
	record(1700, 400, TB_THREAD_NAME, "shell");
	record(1800, 400, TB_THREAD_NAME, "python3");
	switch_to(2000, 100, SLEEPS, 200);
	record(2500, 200, TB_THREAD_NAME, "server");
	record(3000, 200, TB_THREAD_NAME, "worker");
	record(3500, 200, TB_THREAD_NAME, "waiter");
	record(4000, 100, TB_THREAD_NAME, "daemon");
	switch_to(4500, 200, ZOMBIE, 300);
	switch_to(6000, 300, SLEEPS, 500);
	/* before its first run has ended */
	record(6500, 500, TB_THREAD_NAME, "late");
	switch_to(7000, 500, SLEEPS, 400);
	switch_to(8000, 400, SLEEPS, 0);
	read_it();
	CHECK_NUMBER(why_threads(why), 5);
	check_named(0, "shell", 0, 4000);
	check_named(0, "daemon", 4000, 10000);
	check_named(0, "*", 0, 10000);
	check_named(1, "shell", 0, 0);
	check_named(1, "server", 0, 3000);
	check_named(1, "w*", 3000, 10000);
	check_named(1, "worker", 3000, 3500);
	check_named(1, "[sw]*er", 0, 10000);
	check_named(1, "nothing", 0, 0);
	check_named(2, "shell", 0, 10000);
	check_named(3, "shell", 0, 1800);
	check_named(3, "python3", 1800, 10000);
	check_named(4, "early", 0, 6500);
	check_named(4, "late", 6500, 10000);
	check_thread(1, 200, "waiter", 2500, 0, 0);
	/* it is not unknown what it did before it began and after it had ended */
	CHECK(why_cut(why, why_thread(why, 1), &from, &to) && from == 1500 && to == 4500);
	end();
}

/* The switch with which it ended is missing: as far as the trace tells, it sleeps */
static void only_begins(void)
{
	two_lives(SLEEPS, true);
	check_two(3000, 3000);
	check_thread(0, 100, "old", 1000, 0, 0);
	check_thread(1, 100, "new", 2000, 1000, 1000);
	end();
}

/* The trace has no records of threads */
static void only_ends(void)
{
	two_lives(ZOMBIE, false);
	check_two(2000, 2000);
	check_thread(0, 100, "old", 1000, 0, 0);
	check_thread(1, 100, "old", 2000, 1000, 1000);
	end();
}

/* The waker is the thread that had the TID at that time */
static void waker(void)
{
	const struct why_node *nodes;
	size_t count, i, found = 0;

	begin();
	record(200, 100, TB_THREAD_DUMP, "old");
	record(201, 200, TB_THREAD_DUMP, "waits");
	fx_open(&fx, 0, 1000, 0, NULL);
	switch_to(1000, 0, 0, 200);
	switch_to(1100, 200, SLEEPS, 100);
	wake(1500, 100, 200);
	record(1900, 100, TB_THREAD_EXIT, "old");
	switch_to(2000, 100, ZOMBIE, 200);
	switch_to(2500, 200, SLEEPS, 0);
	record(3000, 100, TB_THREAD_FORK, "new");
	switch_to(4000, 0, 0, 100);
	read_it();
	CHECK_NUMBER(why_threads(why), 3);
	CHECK_NUMBER(why_tid(why, why_thread(why, 2)), 200);
	CHECK(!why_add(why, why_thread(why, 2), 1000, 2500));
	nodes = why_nodes(why, &count);
	for (i = 0; i < count; i++) {
		if (nodes[i].cause != WHY_WOKEN)
			continue;
		found++;
		CHECK_TEXT(why_comm(why, (uint32_t)nodes[i].who), "old");
		CHECK_NUMBER(nodes[i].ns, 400);
	}
	CHECK_NUMBER(found, 1);
	end();
}

/* Clock records after the last event do not make the time longer */
static void last_clock_record(void)
{
	uint64_t from, to;

	begin();
	fx_open(&fx, 0, 1000, 0, NULL);
	switch_to(1000, 0, 0, 100);
	wake(1500, 100, 200);
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx.start = 90000;
	fx_sync(&fx, 90000, 90000);
	fx_durable_end(&fx);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	CHECK(!why_open(trace, TB_TIME_MONOTONIC, NULL, &why, NULL));
	CHECK(why_limits(why, why_thread(why, why_index(why, 100)), &from, &to));
	CHECK_NUMBER(from, 1000);
	CHECK_NUMBER(to, 1500);
	end();
}

enum {
	SOFTIRQ = 200, SOFTIRQ_EXIT = 202, TIMER = 204, TIMER_EXIT = 206, RAISE = 208, IRQ = 210,
	IRQ_EXIT = 212,
};

static void put_in(unsigned int context, uint64_t time, unsigned int id, uint64_t first,
		   uint64_t second)
{
	const uint64_t payload[] = { first, second };

	assert(fx_put_composite(&fx, &fx.rings[0], id, time, 100, context, payload,
				sizeof(payload)));
}

static void put(uint64_t time, unsigned int id, uint64_t first, uint64_t second)
{
	put_in(TB_CONTEXT_SOFTIRQ, time, id, first, second);
}

static void check_softirq(int64_t who, const char *function, uint64_t ns)
{
	const struct why_node *nodes;
	size_t count, i, found = 0;
	int64_t number;

	nodes = why_nodes(why, &count);
	for (i = 0; i < count; i++) {
		if (nodes[i].cause != WHY_SOFTIRQ || nodes[i].who != who)
			continue;
		found++;
		CHECK_NUMBER(nodes[i].ns, ns);
		if (function)
			CHECK_TEXT(why_irq(why, (who >> 8) - 1, &number), function);
	}
	CHECK_NUMBER(found, 1);
}

/*
 * A softirq calls functions of timers, which are parts of it.  The ends of the first five and of
 * the last one are missing, and another one is in no softirq.  An interrupt without events calls
 * one, too: not the softirq.
 */
static void timer_functions(void)
{
	static const struct fx_field vector[] = { { "vec", "unsigned int", 0, 4, 0, 0, 0, 0 } };
	static const struct fx_field timer[] = {
		{ "timer", "void *", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "function", "void *", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
	};
	struct {
		struct tb_symbol symbol;
		char name[8];
	} known = { { .start = 0xffffffff81000000, .size = 0x100 }, "wakes_up" };
	struct fx_ring notes = { 0 };
	unsigned int i;

	begin();
	fx_describe(&fx, SOFTIRQ, 0, "irq", "softirq_entry", vector, 1);
	fx_describe(&fx, SOFTIRQ_EXIT, 0, "irq", "softirq_exit", vector, 1);
	fx_describe(&fx, TIMER, 0, "timer", "timer_expire_entry", timer, 2);
	fx_describe(&fx, TIMER_EXIT, 0, "timer", "timer_expire_exit", timer, 1);
	fx_open(&fx, 0, 1000, 0, NULL);
	switch_to(1000, 0, 0, 100);
	put(1100, SOFTIRQ, 1, 0);
	for (i = 0; i < 5; i++)
		put(1110 + i, TIMER, i < 4 ? 70 + i : 10, known.symbol.start);
	put(1200, TIMER, 10, known.symbol.start);
	put(1250, TIMER_EXIT, 10, 0);
	put(1300, TIMER, 20, known.symbol.start);
	put(1350, TIMER_EXIT, 99, 0);
	put(1400, TIMER_EXIT, 20, 0);
	for (i = 0; i < 5; i++) {
		put(1402 + 3 * i, TIMER, 50 + i, known.symbol.start);
		put(1403 + 3 * i, TIMER_EXIT, 50 + i, 0);
	}
	put_in(TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ, 1417, TIMER, 60, known.symbol.start);
	put_in(TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ, 1419, TIMER_EXIT, 60, 0);
	put(1420, TIMER, 30, known.symbol.start);
	put(1500, SOFTIRQ_EXIT, 1, 0);
	put(1600, SOFTIRQ, 1, 0);
	put(1700, TIMER_EXIT, 30, 0);
	put(1800, SOFTIRQ_EXIT, 1, 0);
	put(1810, TIMER, 40, known.symbol.start);
	put(1820, TIMER_EXIT, 40, 0);
	switch_to(2000, 100, SLEEPS, 0);
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	assert(fx_put_composite(&fx, &notes, TB_EV_SYMBOL, 0, 0, 0, &known,
				sizeof(known.symbol) + 8));
	fx_end(&fx, &notes);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	CHECK(!why_open(trace, TB_TIME_MONOTONIC, NULL, &why, NULL));
	CHECK(!why_add(why, why_thread(why, why_index(why, 100)), 1000, 2000));
	check_softirq(1, NULL, 445);
	check_softirq(WHY_VECTOR(1, 0), "wakes_up", 155);
	end();
}

static unsigned int nodes_of(enum why_cause cause)
{
	const struct why_node *nodes;
	unsigned int found = 0;
	size_t count, i;

	nodes = why_nodes(why, &count);
	for (i = 0; i < count; i++)
		found += nodes[i].cause == cause;
	return found;
}

/*
 * Thread 200 sleeps ('s'), and NET_RX wakes it.  @events: a letter each; thread 100 runs, except
 * when the CPU is idle for a moment ('i').  Thread 100 has woken it if @sends.  @rule: kept out
 * events of this ID; 0: a choice of threads did.
 */
static void packet_with(const char *events, bool interrupts, bool sends, const uint32_t *rule)
{
	struct tb_suppressed suppressed = { .id = rule ? *rule : 0, .filtered = 3 };
	static const struct fx_field vector[] = { { "vec", "unsigned int", 0, 4, 0, 0, 0, 0 } };
	static const struct fx_field irq[] = { { "irq", "int", 0, 4, 0, 0, 0, 0 } };
	const struct tb_gap gap = { .overwritten = 5 };
	struct { char comm[16]; int32_t pid; } woken = { "", 200 };
	uint64_t time = 1000;

	begin();
	fx_describe(&fx, SOFTIRQ, 0, "irq", "softirq_entry", vector, 1);
	fx_describe(&fx, SOFTIRQ_EXIT, 0, "irq", "softirq_exit", vector, 1);
	fx_describe(&fx, RAISE, 0, "irq", "softirq_raise", vector, 1);
	if (interrupts) {
		fx_describe(&fx, IRQ, 0, "irq", "irq_handler_entry", irq, 1);
		fx_describe(&fx, IRQ_EXIT, 0, "irq", "irq_handler_exit", irq, 1);
	}
	if (rule)
		fx_durable(&fx, TB_EV_SUPPRESSED, &suppressed, sizeof(suppressed));
	fx_open(&fx, 0, time, 0, NULL);
	switch_to(time, 1, SLEEPS, 100);
	for (; *events; events++) {
		time += 10;
		switch (*events) {
		case 's':
			switch_to(time, 100, 0, 200);
			/* it is one of the chosen threads */
			assert(fx_composite(&fx, 0, FX_ODD, time, 200, &woken, sizeof(woken)));
			switch_to(time + 1, 200, SLEEPS, 100);
			break;
		case 'i':
			switch_to(time, 100, SLEEPS, 0);
			switch_to(time + 1, 0, 0, 100);
			break;
		case 'r':
			put_in(0, time, RAISE, 3, 0);
			break;
		case 'o':
			put_in(0, time, RAISE, 1, 0);
			break;
		case 'h':
			put_in(TB_CONTEXT_HARDIRQ, time, RAISE, 3, 0);
			break;
		case '(':
			put(time, SOFTIRQ, 3, 0);
			break;
		case '[':
			put(time, SOFTIRQ, 1, 0);
			break;
		case 'n':
			put_in(TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ, time, IRQ, 7, 0);
			put_in(TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ, time + 1, IRQ_EXIT, 7, 0);
			break;
		case '0':
			/* a clock record has turned the time back */
			put_in(TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ, time, IRQ, 7, 0);
			put_in(TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ, time, IRQ_EXIT, 7, 0);
			break;
		case 'w':
			assert(fx_put_composite(&fx, &fx.rings[0], FX_WAKEUP, time, 100,
						TB_CONTEXT_SOFTIRQ, &woken, sizeof(woken)));
			break;
		case ')':
			put(time, SOFTIRQ_EXIT, 3, 0);
			break;
		case ']':
			put(time, SOFTIRQ_EXIT, 1, 0);
			break;
		case 'L':
			fx_close(&fx, 0);
			fx_open(&fx, 0, time, 100, &gap);
			break;
		}
	}
	switch_to(2000, 100, SLEEPS, 200);
	switch_to(2500, 200, SLEEPS, 0);
	read_it();
	CHECK(!why_add(why, why_thread(why, why_index(why, 200)), 1000, 2500));
	CHECK_NUMBER(nodes_of(WHY_WOKEN), sends);
	CHECK_NUMBER(nodes_of(WHY_UNTIL), !sends);
	end();
}

static void packet(const char *events, bool interrupts, bool sends)
{
	packet_with(events, interrupts, sends, NULL);
}

static void packets(void)
{
	static const uint32_t rules[] = { 0, RAISE, IRQ, FX_SWITCH };
	unsigned int i;

	packet("isr(w)", true, true);
	packet("isrr(w)", true, true);
	packet("isr(wn)", true, true);
	packet("isror[](w)", true, true);
	packet("ish()r(w)", true, true);
	packet("s()r(w)", true, true);
	/* an interrupt brought a packet, too, or may have */
	packet("is(w)", true, false);
	packet("ish(w)", true, false);
	packet("ishr(w)", true, false);
	packet("isrh(w)", true, false);
	packet("isr(nw)", true, false);
	packet("isr(0w)", true, false);
	packet("isr(hw)", true, false);
	packet("isr(wh)", true, true);
	packet("iso(w)", true, false);
	packet("isr[w]", true, false);
	packet("sr(w)", true, false);
	packet("irLs(w)", true, false);
	packet("iLsr(w)", true, false);
	packet("isr(w)", false, false);
	/* another thread ran in between: its packet did not raise the softirq again */
	packet("irs(w)", true, false);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		packet_with("isr(w)", true, false, &rules[i]);
}

/* Three threads run for 100 ns each, in an order that is random; each wakes the next one */
static void full_tree(void)
{
	unsigned int state = 1, i, running = 100, next;
	uint64_t sum = 0, deep = 0, from, to;
	const struct why_node *nodes;
	size_t count, k;

	begin();
	fx_open(&fx, 0, 1000, 0, NULL);
	switch_to(1000, 0, 0, 100);
	for (i = 1; i <= 100; i++) {
		state = state * 1103515245 + 12345;
		next = 100 + (running - 100 + 1 + (state >> 16) % 2) % 3;
		wake(1000 + 100 * i - 50, running, (int)next);
		switch_to(1000 + 100 * i, (int)running, SLEEPS, (int)next);
		running = next;
	}
	read_it();
	CHECK(why_limits(why, why_thread(why, 0), &from, &to));
	CHECK(!why_add(why, why_thread(why, 0), from, to));
	nodes = why_nodes(why, &count);
	CHECK(count > WHY_NODES && count < 2 * WHY_NODES);
	for (k = 0; k < count; k++) {
		if (!why_divides(nodes[k].cause))
			sum += nodes[k].ns;
		if (nodes[k].cause == WHY_DEEP) {
			CHECK(!nodes[k].child);
			deep += nodes[k].ns;
		}
	}
	CHECK_NUMBER(sum, to - from);
	CHECK(deep);
	end();
}

static const struct test tests[] = {
	{ "a TID that another thread gets", ends_and_begins },
	{ "a TID that another thread gets, without the end of the first", only_begins },
	{ "a TID that another thread gets, without records of threads", only_ends },
	{ "a waker whose TID another thread gets", waker },
	{ "names of a thread", names },
	{ "nothing is known after the last event", last_clock_record },
	{ "functions of timers in a softirq", timer_functions },
	{ "packets that a thread sends, and those of interrupts", packets },
	{ "a tree with a limit", full_tree },
};

TEST_MAIN(tests)
