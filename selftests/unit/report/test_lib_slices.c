// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a user enables and disables events during a recording, each slice ends where the trace
 * proves its end, and a slice without an end is marked. If this fails, a timeline or report shows
 * an interrupt or system call that lasts far too long.
 */
#include "test_lib_fixture.h"
#include "analysis/slices.h"
#include "analysis/spans.h"

enum {
	IRQ_ENTRY = 100, IRQ_EXIT = 102, TIMER_ENTRY = 104, TIMER_EXIT = 106, SYS_EXIT = 108,
	SOFTIRQ_EXIT = 110, WAKING = 112, WAKEUP_NEW = 114,
};

#define SLICES_MAX 32

static struct slice slices[SLICES_MAX];
static unsigned int nr_slices;

static void take(void *context, const struct slice *slice)
{
	(void)context;
	if (nr_slices < SLICES_MAX)
		slices[nr_slices++] = *slice;
}

/* CPUs of the next recording */
static unsigned int cpus = 1;

static void begin(struct fx *fx)
{
	static const struct fx_field vector[] = {
		{ "vector", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};
	static const struct fx_field softirq[] = { { "vec", "unsigned int", 0, 4, 0, 0, 0, 0 } };
	static const struct fx_field waking[] = {
		{ "pid", "pid_t", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
	};

	*fx = (struct fx){ .log2 = 14, .start = 1000, .cpus = cpus, .init_flags = TB_INIT_ALL_CPUS };
	fx_start_recording(fx, 1);
	fx_describe(fx, IRQ_ENTRY, 0, "irq", "irq_handler_entry", fx_irq_exit_fields, 1);
	fx_describe(fx, IRQ_EXIT, 0, "irq", "irq_handler_exit", fx_irq_exit_fields, 2);
	fx_describe(fx, TIMER_ENTRY, 0, "irq_vectors", "local_timer_entry", vector, 1);
	fx_describe(fx, TIMER_EXIT, 0, "irq_vectors", "local_timer_exit", vector, 1);
	fx_describe(fx, SYS_EXIT, 0, "raw_syscalls", "sys_exit", fx_exit_fields, 2);
	fx_describe(fx, SOFTIRQ_EXIT, 0, "irq", "softirq_exit", softirq, 1);
	fx_describe(fx, WAKING, 0, "sched", "sched_waking", waking, 1);
	fx_describe(fx, WAKEUP_NEW, 0, "sched", "sched_wakeup_new", waking, 1);
	fx_sync(fx, 0, 0);
}

#define SELECT(fx, time, ...) \
	fx_select(fx, time, (const unsigned int []){ __VA_ARGS__, 0 })

static void put(struct fx *fx, unsigned int id, uint64_t time, int64_t number)
{
	int64_t payload[8] = { number };

	fx_composite(fx, 0, id, time, 7, payload, sizeof(payload));
}

static void put_switch(struct fx *fx, uint64_t time, int from, int to)
{
	struct fx_switch event = fx_switch("one", from, 1, "other", to);

	fx_composite(fx, 0, FX_SWITCH, time, (uint32_t)from, &event, sizeof(event));
}

/* What the caller of the slices wants; KILLED: the recording was not stopped, too */
enum { SLEEPS, FIRST_RUNS, BEFORE, KILLED };

/* Compute the slices, in the order of their ends */
static void run_for(struct fx *fx, int wanted)
{
	struct spans missing = { 0 };
	struct tb_view view;
	struct tb_cursor *cursor;
	struct slices *job;
	struct tb_trace *trace;

	fx_close(fx, 0);
	if (wanted != KILLED)
		fx_totals(fx, 0);
	fx_durable_end(fx);
	nr_slices = 0;
	CHECK(!tb_trace_open_memory(fx->data, fx->size, &trace, NULL));
	CHECK(!tb_trace_fault(trace));
	job = slices_open(trace, TB_TIME_MONOTONIC, take, NULL);
	if (wanted != SLEEPS) {
		CHECK(!spans_of_trace(&missing, trace, TB_TIME_MONOTONIC));
		slices_missing(job, &missing);
		slices_switches_from(job, 0);
	}
	if (wanted != FIRST_RUNS)
		slices_off(job);
	if (wanted == BEFORE || wanted == KILLED)
		slices_before(job);
	CHECK(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) == 1)
		CHECK(slices_take(job, &view, view.ticks) >= 0);
	slices_finish(job);
	slices_close(job);
	spans_free(&missing);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(fx);
}

static void run(struct fx *fx)
{
	run_for(fx, SLEEPS);
}

static void is(unsigned int at, enum slice_kind kind, uint64_t from, uint64_t to,
	       enum slice_doubt doubt, unsigned int depth)
{
	CHECK(at < nr_slices);
	if (at >= nr_slices)
		return;
	CHECK_NUMBER(slices[at].kind, kind);
	CHECK_NUMBER(slices[at].begin, from);
	CHECK_NUMBER(slices[at].end, to);
	CHECK_NUMBER(slices[at].doubt, doubt);
	CHECK_NUMBER(slices[at].depth, depth);
}

/* Ends are not recorded for a while: beginnings are single points, and nothing nests in them */
static void test_ends_come_later(void)
{
	struct fx fx;

	begin(&fx);
	SELECT(&fx, 2000, IRQ_ENTRY, TIMER_ENTRY, FX_SYS_ENTER);
	SELECT(&fx, 3000, IRQ_ENTRY, IRQ_EXIT, TIMER_ENTRY, TIMER_EXIT, FX_SYS_ENTER, SYS_EXIT);
	fx_open(&fx, 0, 2000, 7, NULL);
	put(&fx, IRQ_ENTRY, 2100, 1);
	put(&fx, TIMER_ENTRY, 2200, 236);
	put(&fx, FX_SYS_ENTER, 2300, 5);
	put(&fx, IRQ_ENTRY, 2400, 2);
	/* the end of the call that began before the change */
	put(&fx, SYS_EXIT, 3100, 5);
	put(&fx, IRQ_ENTRY, 3200, 3);
	put(&fx, TIMER_ENTRY, 3300, 236);
	put(&fx, TIMER_EXIT, 3400, 236);
	put(&fx, IRQ_EXIT, 3500, 3);
	run(&fx);
	CHECK_NUMBER(nr_slices, 6);
	is(0, SLICE_IRQ, 2100, 2100, SLICE_UNENDED, 0);
	is(1, SLICE_IRQ, 2200, 2200, SLICE_UNENDED, 0);
	is(2, SLICE_SYSCALL, 2300, 2300, SLICE_UNENDED, 0);
	is(3, SLICE_IRQ, 2400, 2400, SLICE_UNENDED, 0);
	is(4, SLICE_IRQ, 3300, 3400, SLICE_WHOLE, 1);
	is(5, SLICE_IRQ, 3200, 3500, SLICE_WHOLE, 0);
}

/* The end of one kind of interrupt is recorded, that of the other is not */
static void test_each_kind(void)
{
	struct fx fx;

	begin(&fx);
	SELECT(&fx, 2000, IRQ_ENTRY, TIMER_ENTRY, TIMER_EXIT);
	fx_open(&fx, 0, 2000, 7, NULL);
	put(&fx, IRQ_ENTRY, 2100, 1);
	put(&fx, TIMER_ENTRY, 2200, 236);
	put(&fx, TIMER_EXIT, 2300, 236);
	run(&fx);
	CHECK_NUMBER(nr_slices, 2);
	is(0, SLICE_IRQ, 2100, 2100, SLICE_UNENDED, 0);
	is(1, SLICE_IRQ, 2200, 2300, SLICE_WHOLE, 0);
}

/* Ends are disabled while slices are open: the system call is known to last until then */
static void test_ends_go(void)
{
	struct fx fx;

	begin(&fx);
	SELECT(&fx, 2000, IRQ_ENTRY, IRQ_EXIT, FX_SYS_ENTER, SYS_EXIT, FX_SWITCH);
	SELECT(&fx, 3000, FX_SWITCH);
	SELECT(&fx, 4000, FX_WAKEUP);
	fx_open(&fx, 0, 2000, 7, NULL);
	put_switch(&fx, 2050, 3, 7);
	put(&fx, FX_SYS_ENTER, 2100, 5);
	put(&fx, IRQ_ENTRY, 2200, 1);
	put_switch(&fx, 3100, 7, 8);
	put(&fx, FX_RENAME, 5000, 0);
	run(&fx);
	CHECK_NUMBER(nr_slices, 6);
	is(0, SLICE_SYSCALL, 2100, 3000, SLICE_UNENDED, 0);
	is(1, SLICE_IRQ, 2200, 2200, SLICE_UNENDED, 0);
	is(2, SLICE_RUN, 2050, 3100, SLICE_WHOLE, 0);
	/* switches are not recorded any more */
	is(3, SLICE_RUN, 3100, 4000, SLICE_UNENDED, 0);
	CHECK_NUMBER(slices[4].kind, SLICE_OFF);
	CHECK_NUMBER(slices[5].kind, SLICE_OFF);
	CHECK_NUMBER(slices[4].doubt, SLICE_UNENDED);
	CHECK_NUMBER(slices[4].end, 4000);
}

/* The kernel writes the record of a change just before the change takes effect */
static void test_change_comes_late(void)
{
	struct fx fx;

	begin(&fx);
	SELECT(&fx, 2000, IRQ_ENTRY, IRQ_EXIT, TIMER_ENTRY, TIMER_EXIT);
	SELECT(&fx, 3000, FX_SWITCH);
	SELECT(&fx, 4000, IRQ_ENTRY, IRQ_EXIT, TIMER_ENTRY, TIMER_EXIT);
	fx_open(&fx, 0, 2000, 7, NULL);
	put(&fx, TIMER_ENTRY, 2900, 236);
	put(&fx, TIMER_EXIT, 3010, 236);
	put(&fx, TIMER_ENTRY, 3020, 236);
	put(&fx, TIMER_EXIT, 3030, 236);
	/* the end is recorded again only after the next change */
	put(&fx, IRQ_ENTRY, 3040, 1);
	put(&fx, IRQ_EXIT, 4100, 1);
	run(&fx);
	CHECK_NUMBER(nr_slices, 3);
	is(0, SLICE_IRQ, 2900, 3010, SLICE_WHOLE, 0);
	is(1, SLICE_IRQ, 3020, 3030, SLICE_WHOLE, 0);
	is(2, SLICE_IRQ, 3040, 3040, SLICE_UNENDED, 0);
}

/* A recording without records of selections: all events count as selected */
static void test_not_told(void)
{
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 2000, 7, NULL);
	put(&fx, FX_SYS_ENTER, 2100, 5);
	put(&fx, IRQ_ENTRY, 2200, 1);
	put(&fx, IRQ_EXIT, 2300, 1);
	put(&fx, SYS_EXIT, 2400, 5);
	put(&fx, FX_SYS_ENTER, 2500, 5);
	put(&fx, FX_RENAME, 2600, 0);
	run(&fx);
	CHECK_NUMBER(nr_slices, 3);
	is(0, SLICE_IRQ, 2200, 2300, SLICE_WHOLE, 0);
	is(1, SLICE_SYSCALL, 2100, 2400, SLICE_WHOLE, 0);
	is(2, SLICE_SYSCALL, 2500, 2600, SLICE_UNENDED, 0);
}

/* The library returns each change once, and no damaged record */
static void test_changes(void)
{
	static const struct tb_selection damaged = { .first = 64, .count = 1000 };
	struct tb_trace *trace;
	uint64_t ticks;
	struct fx fx;

	begin(&fx);
	SELECT(&fx, 2000, IRQ_ENTRY, FX_SWITCH);
	SELECT(&fx, 2500, IRQ_ENTRY, FX_SWITCH);
	SELECT(&fx, 3000, IRQ_EXIT);
	CHECK(fx_put_composite(&fx, &fx.durable, TB_EV_SELECTION, 3500, 0, 0, &damaged,
			       sizeof(damaged)));
	CHECK(fx_put_composite(&fx, &fx.durable, TB_EV_SELECTION, 3600, 0, 0, &damaged, 4));
	fx_durable_end(&fx);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	CHECK(tb_trace_fault(trace));
	CHECK(!tb_trace_selection(trace, 0, &ticks) && ticks == 2000);
	CHECK(!tb_trace_selection(trace, 1, &ticks) && ticks == 3000);
	CHECK(tb_trace_selection(trace, 2, &ticks) == -2);
	CHECK(tb_trace_selects(trace, 0, IRQ_ENTRY) && !tb_trace_selects(trace, 0, IRQ_EXIT));
	CHECK(!tb_trace_selects(trace, 1, FX_SWITCH) && tb_trace_selects(trace, 1, IRQ_EXIT));
	CHECK(!tb_trace_selects(trace, 1, 63) && !tb_trace_selects(trace, 1, 16383));
	CHECK(tb_trace_selects(trace, 2, IRQ_ENTRY));
	tb_trace_close(trace);
	fx_free(&fx);
}

/* What ran when the recording began, if a rule for event @rule has kept out some; 0: for threads */
static void run_first(int rule)
{
	const struct tb_suppressed suppressed = { .id = (uint32_t)rule, .filtered = 3 };
	struct fx fx;

	begin(&fx);
	if (rule >= 0)
		fx_durable(&fx, TB_EV_SUPPRESSED, &suppressed, sizeof(suppressed));
	fx_open(&fx, 0, 2000, 7, NULL);
	put(&fx, IRQ_ENTRY, 2100, 1);
	put(&fx, IRQ_EXIT, 2200, 1);
	put_switch(&fx, 2500, 7, 8);
	put_switch(&fx, 2600, 8, 9);
	run_for(&fx, FIRST_RUNS);
}

static void test_first_run(void)
{
	static const int rules[] = { -1, IRQ_ENTRY, FX_SWITCH, 0 };
	unsigned int i, first;

	for (i = 0; i < 4; i++) {
		run_first(rules[i]);
		first = i < 2;
		CHECK_NUMBER(nr_slices, 3 + first);
		is(0, SLICE_IRQ, 2100, 2200, SLICE_WHOLE, 0);
		if (first)
			is(1, SLICE_RUN, 2100, 2500, SLICE_UNBEGUN, 0);
		/* rule 0: it is not known that the thread is a chosen one */
		if (rules[i])
			is(1 + first, SLICE_RUN, 2500, 2600, SLICE_WHOLE, 0);
		else
			is(1 + first, SLICE_RUN, 2500, 2500, SLICE_UNENDED, 0);
	}
}

/*
 * Thread 8 slept in call 61 when the recording began: its first event is its waking.  Thread 9 is
 * new: its first event is a wakeup, and then it returns from the call that made it.  Thread 10
 * waited for a CPU: it was not woken.  @rule: a rule has kept out this event; @wanted: BEFORE, or
 * KILLED: nothing says whether rules have kept out events
 */
static void asleep_before(unsigned int rule, int wanted)
{
	const struct tb_suppressed suppressed = { .id = rule, .filtered = 3 };
	struct fx fx;

	begin(&fx);
	if (rule)
		fx_durable(&fx, TB_EV_SUPPRESSED, &suppressed, sizeof(suppressed));
	fx_open(&fx, 0, 2000, 7, NULL);
	put(&fx, FX_SYS_ENTER, 2100, 5);
	put(&fx, WAKING, 2500, 8);
	put(&fx, WAKEUP_NEW, 2600, 9);
	put_switch(&fx, 2700, 7, 9);
	put(&fx, WAKING, 2750, 9);
	fx_composite(&fx, 0, SYS_EXIT, 2800, 9, (int64_t[]){ 56, 0 }, 16);
	put_switch(&fx, 2900, 9, 8);
	fx_composite(&fx, 0, SYS_EXIT, 3000, 8, (int64_t[]){ 61, 0 }, 16);
	put_switch(&fx, 3100, 8, 10);
	run_for(&fx, wanted);
	if (wanted == KILLED || rule == FX_SYS_ENTER)
		return;
	is(0, SLICE_RUN, 2100, 2700, SLICE_UNBEGUN, 0);
	is(1, SLICE_WAKEUP, 2600, 2700, SLICE_WHOLE, 0);
	is(2, SLICE_OFF, 2600, 2700, SLICE_WHOLE, 0);
	is(3, SLICE_RUN, 2700, 2900, SLICE_WHOLE, 0);
	is(4, SLICE_WAKEUP, 2500, 2900, SLICE_WHOLE, 0);
	is(5, SLICE_OFF, 2100, 2900, SLICE_WHOLE, 0);
	CHECK(!slices[5].has_result && slices[5].waited == 400);
	is(6, SLICE_SYSCALL, 2100, 3000, SLICE_UNBEGUN, 0);
	CHECK_NUMBER(slices[6].number, 61);
	is(7, SLICE_RUN, 2900, 3100, SLICE_WHOLE, 0);
}

static void test_asleep_before(void)
{
	unsigned int i;

	asleep_before(FX_SYS_ENTER, BEFORE);
	for (i = 0; i < nr_slices; i++)
		CHECK(slices[i].kind != SLICE_SYSCALL || slices[i].doubt != SLICE_UNBEGUN);
	asleep_before(WAKING, BEFORE);
	CHECK(slices[8].kind != SLICE_OFF || slices[8].tid != 10);
	asleep_before(0, KILLED);
	for (i = 0; i < nr_slices; i++)
		CHECK(slices[i].kind != SLICE_OFF || slices[i].begin >= 2500);
	asleep_before(0, BEFORE);
	is(8, SLICE_OFF, 2100, 3100, SLICE_WHOLE, 0);
	CHECK(slices[8].tid == 10 && slices[8].has_result && !slices[8].result);
}

enum { PARTS_END_APART, RULE_FOR_WAKINGS, BLOCKS_ELSEWHERE, ALL_THERE };

/*
 * Thread 9 comes to CPU 0 at 5100, and no event says that it was woken; all events have their
 * compact form.  What was missing: the last events of CPU 1; wakings, by a rule; all blocks of CPU 1
 */
static void comes_unwoken(int lacks)
{
	struct fx fx;

	cpus = 2;
	begin(&fx);
	cpus = 1;
	fx_describe(&fx, WAKING + 1, TB_EVENT_SIMPLE, "sched", "sched_waking", fx_wake_compact, 4);
	fx_describe(&fx, WAKEUP_NEW + 1, TB_EVENT_SIMPLE, "sched", "sched_wakeup_new",
		    fx_wake_compact, 4);
	fx_open(&fx, 0, 2000, 7, NULL);
	fx_simple(&fx, 0, WAKEUP_NEW + 1, 2050, 51);
	if (lacks == RULE_FOR_WAKINGS)
		put(&fx, WAKING, 2100, 50);
	else
		fx_simple(&fx, 0, WAKING + 1, 2100, 50);
	fx_simple(&fx, 0, FX_SWITCH_COMPACT, 2200, fx_switch_compact(7, 50, 1, 0, 0));
	if (lacks == BLOCKS_ELSEWHERE) {
		fx.rings[1].sequence = 1;
	} else {
		fx_open(&fx, 1, 2000, 8, NULL);
		fx_simple(&fx, 1, FX_SWITCH_COMPACT, 2100, fx_switch_compact(8, 0, 1, 0, 0));
		fx_simple(&fx, 1, FX_SWITCH_COMPACT, lacks == PARTS_END_APART ? 3000 : 7000,
			  fx_switch_compact(0, 8, 0, 0, 0));
		fx_close(&fx, 1);
	}
	fx_simple(&fx, 0, FX_SWITCH_COMPACT, 5100, fx_switch_compact(50, 9, 1, 0, 0));
	fx_simple(&fx, 0, FX_SWITCH_COMPACT, 6000, fx_switch_compact(9, 0, 1, 0, 0));
	if (lacks == BLOCKS_ELSEWHERE)
		fx_totals(&fx, 1);
	run_for(&fx, lacks == BLOCKS_ELSEWHERE ? BEFORE : KILLED);
}

static void test_not_all_there(void)
{
	unsigned int lacks, i, found;

	for (lacks = PARTS_END_APART; lacks <= ALL_THERE; lacks++) {
		comes_unwoken((int)lacks);
		for (i = found = 0; i < nr_slices; i++)
			found += slices[i].kind == SLICE_OFF && slices[i].tid == 9 &&
				 slices[i].end == 5100;
		CHECK_NUMBER(found, lacks == ALL_THERE);
	}
}

/*
 * In a recording of chosen threads others may run unseen: only runs of the chosen ones are known.
 * Of idle CPUs, too, if all but a few threads were chosen: then events in idle CPUs are recorded.
 */
static void check_chosen(bool idle, unsigned int runs, unsigned int sleeps)
{
	static const struct { uint64_t time; int from, to; } switches[] = {
		{ 1100, 0, 100 }, { 1200, 100, 300 }, { 1300, 300, 100 }, { 1400, 100, 0 },
		{ 1500, 0, 200 }, { 1600, 200, 100 }, { 1700, 100, 0 },
		{ 1800, 0, 100 }, { 1850, 100, 300 }, { 1900, 300, 100 }, { 1950, 100, 300 },
	};
	const struct tb_suppressed others = { .filtered = 3 };
	const int64_t payload[8] = { 7 };
	unsigned int i, whole = 0, off = 0;
	struct fx fx;

	begin(&fx);
	fx_durable(&fx, TB_EV_SUPPRESSED, &others, sizeof(others));
	fx_open(&fx, 0, 1000, 0, NULL);
	if (idle)
		fx_composite(&fx, 0, IRQ_EXIT, 1050, 0, payload, sizeof(payload));
	/* a wake-up of a chosen thread is recorded anywhere */
	fx_composite(&fx, 0, WAKEUP_NEW, 1055, 0, payload, sizeof(payload));
	/* an event of the thread shows that it is chosen, and a switch from or to an idle CPU */
	fx_composite(&fx, 0, SYS_EXIT, 1060, 100, payload, sizeof(payload));
	for (i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		put_switch(&fx, switches[i].time, switches[i].from, switches[i].to);
	fx_composite(&fx, 0, WAKEUP_NEW, 2000, 0, payload, sizeof(payload));
	run_for(&fx, SLEEPS);
	for (i = 0; i < nr_slices; i++) {
		/* it may have left the CPU at once, also at the end of the trace */
		if (slices[i].kind == SLICE_RUN && slices[i].tid == 300)
			CHECK_NUMBER(slices[i].end, slices[i].begin);
		if (slices[i].doubt != SLICE_WHOLE)
			continue;
		CHECK(slices[i].tid != 300);
		if (slices[i].kind == SLICE_OFF)
			off++;
		if (slices[i].kind != SLICE_RUN)
			continue;
		whole++;
		CHECK(idle ? slices[i].tid != 200 : slices[i].tid != 0);
	}
	CHECK_NUMBER(whole, runs);
	CHECK_NUMBER(off, sleeps);
}

static void test_chosen(void)
{
	check_chosen(false, 6, 4);
	check_chosen(true, 7, 4);
}

static const struct test tests[] = {
	{ "ends that are recorded later", test_ends_come_later },
	{ "each kind of interrupt", test_each_kind },
	{ "ends that are disabled", test_ends_go },
	{ "a change that takes effect late", test_change_comes_late },
	{ "a recording without selections", test_not_told },
	{ "changes of the selection", test_changes },
	{ "what ran first, unless rules have kept out switches", test_first_run },
	{ "what slept or waited when the recording began", test_asleep_before },
	{ "chosen threads: others may run unseen", test_chosen },
	{ "nothing of before if the recording lacks events", test_not_all_there },
};

TEST_MAIN(tests)
