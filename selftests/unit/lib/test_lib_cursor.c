// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that reads a trace gets all events in the order of their times, the losses at their
 * places, and for each event its full time, thread and name. If this fails, every tool shows
 * events in a wrong order, of a wrong thread, or hides losses.
 */
#include <errno.h>
#include "test_lib_chunk.h"

static struct tb_trace *trace;
static struct tb_cursor *cursor;

static void open_all(struct fx *fx)
{
	struct tb_error error = { 0 };

	fx_durable_end(fx);
	trace = NULL;
	cursor = NULL;
	if (tb_trace_open_memory(fx->data, fx->size, &trace, &error) ||
	    tb_cursor_open(trace, &cursor)) {
		printf("Bail out! %s\n", error.text);
		exit(1);
	}
	CHECK(!tb_trace_fault(trace));
}

static void close_all(struct fx *fx)
{
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(fx);
}

static void merge_order(void)
{
	struct tb_view view;
	uint64_t last = 0, count = 0, i;
	unsigned int cpu, last_cpu = 0;
	uint64_t time[FX_CPUS];
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_durable_end(&fx);
	srandom(1);
	for (cpu = 0; cpu < FX_CPUS; cpu++) {
		time[cpu] = 100;
		fx_open(&fx, cpu, time[cpu], 1, NULL);
	}
	for (i = 0; i < 5000; i++) {
		cpu = (unsigned int)random() % FX_CPUS;
		time[cpu] += (uint64_t)random() % 8;
		while (!fx_simple(&fx, cpu, FX_SOFTIRQ, time[cpu], i)) {
			fx_close(&fx, cpu);
			fx_open(&fx, cpu, time[cpu], 1, NULL);
		}
	}
	for (cpu = 0; cpu < FX_CPUS; cpu++)
		fx_close(&fx, cpu);
	open_all(&fx);
	while (tb_cursor_next(cursor, &view) > 0) {
		CHECK(view.ticks > last ||
		      (view.ticks == last && view.cpu >= last_cpu) || !count);
		last = view.ticks;
		last_cpu = view.cpu;
		count++;
	}
	CHECK_NUMBER(count, 5000);
	close_all(&fx);
}

/* A reader takes the upper half of a time from the block's header, then from TIME elements */
static void full_times(void)
{
	static const uint64_t times[] = {
		0x1fffffff0ull, 0x1fffffff5ull, 0x200000003ull, 0x500000001ull,
		0x500000001ull,
	};
	struct tb_view view;
	struct fx fx;
	size_t i;

	fx_init(&fx, 10, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 0x1ffffffe0ull, 1, NULL);
	for (i = 0; i < 5; i++) {
		if (i && times[i] >> 32 != times[i - 1] >> 32)
			fx_time(&fx, 0, times[i]);
		fx_simple(&fx, 0, FX_SOFTIRQ, times[i], i);
	}
	fx_close(&fx, 0);
	open_all(&fx);
	for (i = 0; i < 5; i++) {
		CHECK(tb_cursor_next(cursor, &view) == 1);
		CHECK_NUMBER(view.ticks, times[i]);
	}
	CHECK(tb_cursor_next(cursor, &view) == 0);
	CHECK(tb_cursor_next(cursor, &view) == 0);
	close_all(&fx);
}

/* A loss is shown between the events before and after it, on its CPU */
static void losses(void)
{
	struct tb_gap gap = { 1200, 34, 4, 2100, 2900, 0 };
	struct tb_view view;
	char text[256];
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 1001, 0);
	fx_close(&fx, 0);
	fx_open(&fx, 1, 2000, 1, NULL);
	fx_simple(&fx, 1, FX_SOFTIRQ, 2500, 0);
	fx_close(&fx, 1);
	fx.rings[0].sequence += 7;	/* overwritten blocks */
	fx_open(&fx, 0, 3000, 1, &gap);
	fx_simple(&fx, 0, FX_SOFTIRQ, 3001, 0);
	fx_close(&fx, 0);
	fx.rings[0].dropped += 5;	/* after the last block */
	fx_totals(&fx, 0);
	open_all(&fx);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 1001);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 2500);
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_NUMBER(view.kind, TB_VIEW_LOST);
	CHECK_NUMBER(view.cpu, 0);
	CHECK_NUMBER(view.ticks, 3000);
	CHECK_NUMBER(view.lost.overwritten, 1200);
	CHECK_NUMBER(view.lost.dropped, 34);
	CHECK_NUMBER(view.lost.oversize, 4);
	tb_view_print(trace, &view, text, sizeof(text));
	CHECK_TEXT(text, "LOST 1234 events (1200 overwritten, 34 dropped, 4 of these too large) between 0.000002100 and 0.000002900");
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 3001);
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_NUMBER(view.kind, TB_VIEW_LOST);
	CHECK_NUMBER(view.lost.dropped, 5);
	CHECK_NUMBER(view.lost.overwritten, 0);
	CHECK(tb_cursor_next(cursor, &view) == 0);
	close_all(&fx);
}

/* Three blocks on two CPUs; CPU 0 drops 7 events after its last block */
static void make_end(struct fx *fx)
{
	unsigned int i;

	fx_init(fx, 10, 0);
	fx_durable_end(fx);
	for (i = 0; i < 2; i++) {
		fx_open(fx, 0, 1000 + i * 1000, 1, NULL);
		fx_simple(fx, 0, FX_SOFTIRQ, 1001 + i * 1000, 0);
		fx_close(fx, 0);
	}
	fx_open(fx, 1, 1000, 1, NULL);
	fx_simple(fx, 1, FX_SOFTIRQ, 1500, 0);
	fx_simple(fx, 1, FX_SOFTIRQ, 8000, 0);
	fx_close(fx, 1);
	fx->rings[0].dropped += 7;
}

/* CPU 0 is unknown from its first drop to the end, even if other CPUs have events meanwhile */
static void end_of_a_ring(void)
{
	struct tb_view view;
	struct fx fx;

	make_end(&fx);
	fx_totals_at(&fx, 0, 0, 9000, 2100, 2500);
	fx_totals_at(&fx, 1, 0, 9000, 0, 0);
	open_all(&fx);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 1001);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 1500);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 2001);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 8000);
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_NUMBER(view.kind, TB_VIEW_LOST);
	CHECK_NUMBER(view.cpu, 0);
	CHECK_NUMBER(view.ticks, 9000);
	CHECK_NUMBER(view.lost.dropped, 7);
	CHECK_NUMBER(view.lost.first, 2100);
	CHECK_NUMBER(view.lost.last, 9000);
	CHECK(tb_cursor_next(cursor, &view) == 0);
	/* a reader that seeks behind the drop sees the loss, too */
	CHECK(!tb_cursor_seek(cursor, 8500));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.kind == TB_VIEW_LOST);
	CHECK(view.ticks == 9000 && view.lost.first == 2100 && view.lost.dropped == 7);
	close_all(&fx);
}

/* The number of losses that a cursor shows for CPU 0 with these totals of a snapshot */
static unsigned int losses_with(unsigned int flags, int blocks, unsigned int again)
{
	unsigned int losses = 0;
	struct tb_view view;
	struct fx fx;

	make_end(&fx);
	/* totals of an earlier snapshot */
	fx.rings[0].sequence--;
	fx_totals_at(&fx, 0, TB_TOTALS_SNAPSHOT, 1500, 1200, 1300);
	fx.rings[0].sequence = (uint64_t)(2 + blocks);
	if (again)
		fx_totals_at(&fx, 0, TB_TOTALS_SNAPSHOT | flags, 7000, 2100, 2500);
	fx.rings[0].sequence = 2;
	open_all(&fx);
	while (tb_cursor_next(cursor, &view) == 1) {
		if (view.kind != TB_VIEW_LOST)
			continue;
		losses++;
		CHECK_NUMBER(view.ticks, 7000);
		CHECK_NUMBER(view.lost.first, 2100);
		CHECK_NUMBER(view.lost.dropped, 7);
	}
	CHECK(!tb_trace_totals(trace, 0) && tb_trace_snapshot(trace, 0));
	close_all(&fx);
	return losses;
}

/* Totals of this snapshot show a loss at its end; others, or those of a continued ring, do not */
static void end_of_a_snapshot(void)
{
	CHECK_NUMBER(losses_with(0, 0, 1), 1);
	CHECK_NUMBER(losses_with(TB_TOTALS_UNCOUNTED, 0, 1), 1);
	CHECK_NUMBER(losses_with(TB_TOTALS_OPEN, 0, 1), 0);
	CHECK_NUMBER(losses_with(0, 1, 1), 0);
	CHECK_NUMBER(losses_with(0, 0, 0), 0);
}

/* A CPU without any block left: the reader knows nothing but its loss */
static void nothing_but_an_end(void)
{
	struct tb_view view;
	struct fx fx;

	make_end(&fx);
	fx.rings[2].dropped = 3;
	fx_totals_at(&fx, 2, 0, 9000, 3000, 3100);
	open_all(&fx);
	CHECK_NUMBER(tb_trace_nr_cpus(trace), 3);
	do
		CHECK(tb_cursor_next(cursor, &view) == 1);
	while (!test_failures && view.kind == TB_VIEW_EVENT);
	CHECK_NUMBER(view.cpu, 2);
	CHECK_NUMBER(view.ticks, 9000);
	CHECK_NUMBER(view.lost.first, 3000);
	CHECK_NUMBER(view.lost.dropped, 3);
	CHECK(tb_cursor_next(cursor, &view) == 0);
	close_all(&fx);
}

static uint32_t next_tid(void)
{
	struct tb_view view = { .tid = 9999 };

	if (tb_cursor_next(cursor, &view) != 1)
		return 9999;
	return view.tid;
}

/* The thread of a simple event: from the header, then from switches, then from composite events */
static void whose_event(void)
{
	struct fx_switch event = fx_switch("a", 10, 1, "b", 20);
	struct tb_gap gap = { 10, 0, 0, 1, 2, 0 };
	char wakeup[20] = "x";
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 100, 10, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 101, 0);			/* 10 */
	fx_composite(&fx, 0, FX_SWITCH, 102, 10, &event, sizeof(event)); /* 10 */
	fx_simple(&fx, 0, FX_SOFTIRQ, 103, 0);			/* 20 */
	/* the old thread, after its switch: it does not become the current one */
	fx_composite(&fx, 0, FX_WAKEUP, 104, 10, wakeup, sizeof(wakeup)); /* 10 */
	fx_simple(&fx, 0, FX_SOFTIRQ, 105, 0);			/* 20 */
	fx_simple(&fx, 0, FX_SWITCH_COMPACT, 106,			/* 20 */
		  fx_switch_compact(20, 30, 1, 120, 120));
	fx_simple(&fx, 0, FX_SOFTIRQ, 107, 0);			/* 30 */
	fx_close(&fx, 0);
	fx_open(&fx, 0, 200, 20, NULL);	/* opened before the switch was done */
	fx_simple(&fx, 0, FX_SOFTIRQ, 201, 0);			/* 30 */
	fx_composite(&fx, 0, FX_WAKEUP, 202, 40, wakeup, sizeof(wakeup)); /* 40 */
	fx_simple(&fx, 0, FX_SOFTIRQ, 203, 0);			/* 40 */
	fx_close(&fx, 0);
	fx_open(&fx, 0, 300, 20, &gap);	/* anything happened in between */
	fx_simple(&fx, 0, FX_SOFTIRQ, 301, 0);			/* gap, 20 */
	/* the gap makes earlier switches void */
	fx_composite(&fx, 0, FX_WAKEUP, 302, 50, wakeup, sizeof(wakeup)); /* 50 */
	fx_composite(&fx, 0, FX_WAKEUP, 303, 20, wakeup, sizeof(wakeup)); /* 20 */
	fx_simple(&fx, 0, FX_SOFTIRQ, 304, 0);			/* 20 */
	/* a switch names the thread that it leaves */
	fx_simple(&fx, 0, FX_SWITCH_COMPACT, 305,			/* 55 */
		  fx_switch_compact(55, 60, 1, 120, 120));
	fx_simple(&fx, 0, FX_SOFTIRQ, 306, 0);			/* 60 */
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_NUMBER(next_tid(), 10);
	CHECK_NUMBER(next_tid(), 10);
	CHECK_NUMBER(next_tid(), 20);
	CHECK_NUMBER(next_tid(), 10);
	CHECK_NUMBER(next_tid(), 20);
	CHECK_NUMBER(next_tid(), 20);
	CHECK_NUMBER(next_tid(), 30);
	CHECK_NUMBER(next_tid(), 30);
	CHECK_NUMBER(next_tid(), 40);
	CHECK_NUMBER(next_tid(), 40);
	CHECK_NUMBER(next_tid(), 20);
	CHECK_NUMBER(next_tid(), 20);
	CHECK_NUMBER(next_tid(), 50);
	CHECK_NUMBER(next_tid(), 20);
	CHECK_NUMBER(next_tid(), 20);
	CHECK_NUMBER(next_tid(), 55);
	CHECK_NUMBER(next_tid(), 60);
	close_all(&fx);
}

static void threads(void)
{
	struct fx_newtask task = { .pid = 300, .comm = "bash" };
	struct fx_newtask thread = { .pid = 301, .comm = "bash",
				     .clone_flags = 0x10000 };
	struct { int32_t pid; char name[16]; } rename = { 300, "ls" };
	struct fx_switch event = fx_switch("ls", 300, 1, "kworker/0:1", 77);
	const struct tb_task *known;
	struct tb_view view;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	fx_thread(&fx, 2, 2, 0, TB_THREAD_DUMP | TB_THREAD_KERNEL, "kthreadd");
	fx_durable_end(&fx);
	fx_open(&fx, 0, 100, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 101, 0);
	fx_composite(&fx, 0, FX_NEWTASK, 102, 100, &task, sizeof(task));
	fx_composite(&fx, 0, FX_RENAME, 103, 300, &rename, sizeof(rename));
	fx_composite(&fx, 0, FX_NEWTASK, 104, 300, &thread, sizeof(thread));
	fx_composite(&fx, 0, FX_SWITCH, 105, 300, &event, sizeof(event));
	fx_simple(&fx, 0, FX_SOFTIRQ, 106, 0);
	fx_simple(&fx, 0, FX_SWITCH_COMPACT, 107, fx_switch_compact(77, 0, 1, 120, 120));
	fx_simple(&fx, 0, FX_SWITCH_COMPACT, 108, fx_switch_compact(0, 4242, 0, 120, 120));
	fx_simple(&fx, 0, FX_SOFTIRQ, 109, 0);
	fx_close(&fx, 0);
	open_all(&fx);
	known = tb_cursor_task(cursor, 2);
	CHECK(known && known->flags & TB_THREAD_KERNEL);
	CHECK(!tb_cursor_task(cursor, 300));
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_TEXT(view.comm, "bash");
	CHECK(view.task && view.task->tgid == 100 && view.task->parent == 1);
	CHECK(tb_cursor_next(cursor, &view) == 1);
	known = tb_cursor_task(cursor, 300);
	CHECK(known && known->tgid == 300 && known->parent == 100);
	CHECK(known && !strcmp(known->comm, "bash"));
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_TEXT(tb_cursor_task(cursor, 300)->comm, "ls");
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_TEXT(view.comm, "ls");
	known = tb_cursor_task(cursor, 301);
	CHECK(known && known->tgid == 300 && known->parent == 100);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.tid == 300);
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_TEXT(view.comm, "kworker/0:1");
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.tid == 0);
	CHECK_TEXT(view.comm, "<idle>");
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.tid == 4242);
	CHECK_TEXT(view.comm, "<...>");
	CHECK(!view.task);
	close_all(&fx);
}

static int count_task(const struct tb_task *task, void *context)
{
	size_t *count = context;

	CHECK(task->tid >= 1000 && task->tid < 6000);
	return ++*count == 4999 ? 42 : 0;
}

static void many_threads(void)
{
	size_t count = 0;
	char name[16];
	uint32_t tid;
	struct fx fx;

	fx_init(&fx, 10, 0);
	for (tid = 1000; tid < 6000; tid++) {
		snprintf(name, sizeof(name), "t%u", tid);
		fx_thread(&fx, tid, tid, 1, TB_THREAD_DUMP, name);
	}
	open_all(&fx);
	for (tid = 1000; tid < 6000; tid++) {
		snprintf(name, sizeof(name), "t%u", tid);
		CHECK(tb_cursor_task(cursor, tid) &&
		      !strcmp(tb_cursor_task(cursor, tid)->comm, name));
	}
	CHECK(!tb_cursor_task(cursor, 999) && !tb_cursor_task(cursor, 6000));
	CHECK_NUMBER(tb_cursor_each_task(cursor, count_task, &count), 42);
	CHECK_NUMBER(count, 4999);
	close_all(&fx);
}

/* Durable events that have a time of their own appear among the others */
static void durable_flow(void)
{
	struct tb_view view;
	struct fx fx;

	fx_init(&fx, 10, 50);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "dumped");
	fx_durable_end(&fx);
	fx_open(&fx, 0, 100, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 101, 0);
	fx_simple(&fx, 0, FX_SOFTIRQ, 300, 0);
	fx_close(&fx, 0);
	fx.start = 200;
	fx_durable(&fx, TB_EV_MARK, "hello", 5);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_NAME, "renamed");
	open_all(&fx);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 101);
	CHECK_TEXT(view.comm, "dumped");
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.id == TB_EV_MARK);
	CHECK_NUMBER(view.cpu, TB_RING_DURABLE);
	CHECK(view.length == 5 && !memcmp(view.payload, "hello", 5));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.id == TB_EV_THREAD);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 300);
	CHECK_TEXT(view.comm, "renamed");
	close_all(&fx);
}

/* A later dump names threads unknown so far from the start, and renames others from its time */
static void dumped_again(void)
{
	struct tb_threads_lost lost = { .records = 3, .first = 150, .last = 190 };
	struct tb_view view;
	struct fx fx;

	fx_init(&fx, 10, 50);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "before");
	fx_durable_end(&fx);
	fx_open(&fx, 0, 100, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 101, 0);
	fx_simple(&fx, 0, FX_SOFTIRQ, 300, 0);
	fx_close(&fx, 0);
	fx.start = 200;
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "after");
	fx_thread(&fx, 200, 200, 1, TB_THREAD_DUMP, "new");
	fx_durable(&fx, TB_EV_THREADS_LOST, &lost, sizeof(lost));
	open_all(&fx);
	CHECK(tb_cursor_task(cursor, 200) && !strcmp(tb_cursor_task(cursor, 200)->comm, "new"));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 101);
	CHECK_TEXT(view.comm, "before");
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 300);
	CHECK_TEXT(view.comm, "after");
	CHECK(tb_cursor_next(cursor, &view) == 0);
	lost = (struct tb_threads_lost){ };
	CHECK(tb_trace_threads_lost(trace, &lost));
	CHECK(lost.records == 3 && lost.first == 150 && lost.last == 190 && !lost.before);
	/* the same after a seek */
	CHECK(tb_cursor_seek(cursor, 250) == 0);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 300);
	CHECK_TEXT(view.comm, "after");
	close_all(&fx);
}

/* A choice changes nothing but what it leaves out, and the cursor looks into fewer blocks */
static void chosen(void)
{
	static const unsigned char cpus[FX_CPUS] = { 0, 1 };
	struct tb_choice choice = { .flags = TB_CHOICE_NO_CONTROL };
	struct tb_passed all, some;
	unsigned char formats[64] = { 0 };
	struct tb_cursor *full;
	struct tb_view view, want;
	uint64_t count = 0, i;
	unsigned int cpu;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_durable_end(&fx);
	for (cpu = 0; cpu < FX_CPUS; cpu++) {
		fx_open(&fx, cpu, 100, 1 + cpu, NULL);
		for (i = 0; i < 300; i++) {
			while (!fx_simple(&fx, cpu, i % 3 ? FX_SOFTIRQ : FX_SWITCH_COMPACT,
					  100 + 10 * i, i % 3 ? i % 7 :
					  fx_switch_compact(1 + cpu, i % 7, 0, 120, 120))) {
				fx_close(&fx, cpu);
				fx_open(&fx, cpu, 100 + 10 * i, 1, NULL);
			}
		}
		fx_close(&fx, cpu);
	}
	open_all(&fx);
	CHECK(tb_trace_formats(trace) <= sizeof(formats));
	formats[tb_trace_format(trace, FX_SOFTIRQ)->index] = 1;
	choice.formats = formats;
	choice.cpus = cpus;
	choice.nr_cpus = FX_CPUS;
	choice.until = 100 + 10 * 200;
	CHECK(!tb_cursor_choose(cursor, &choice));
	CHECK(!tb_cursor_open(trace, &full));
	while (tb_cursor_next(full, &want) > 0) {
		if (want.cpu != 1 || want.id != FX_SOFTIRQ ||
		    want.ticks >= choice.until)
			continue;
		CHECK(tb_cursor_next(cursor, &view) == 1);
		CHECK_NUMBER(view.ticks, want.ticks);
		CHECK_NUMBER(view.id, want.id);
		/* the thread is known from switches that are left out */
		CHECK_NUMBER(view.tid, want.tid);
		CHECK(view.payload == want.payload);
		count++;
	}
	CHECK_NUMBER(count, 133);
	CHECK(!tb_cursor_next(cursor, &view));
	tb_cursor_passed(full, &all);
	tb_cursor_passed(cursor, &some);
	CHECK(some.blocks * FX_CPUS <= all.blocks);
	CHECK(some.events * FX_CPUS <= all.events);
	CHECK_NUMBER(tb_cursor_choose(cursor, &choice), -EBUSY);
	tb_cursor_close(full);
	close_all(&fx);
}

/* A limit of time applies to records of programs and to losses that began later, too */
static void limited(void)
{
	struct tb_choice choice = { .until = 4000 };
	struct fx_chunk chunk;
	struct tb_view view;
	struct fx fx;

	fx_init(&fx, 12, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 3000, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 3050, 1);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_mark(&chunk, 3100, "before");
	fx_mark(&chunk, 4100, "after");
	fx_take(&fx, 0, 5500, &chunk);
	fx_close(&fx, 0);
	fx.rings[0].dropped = 3;
	fx.rings[1].dropped = 4;
	fx.rings[2].dropped = 5;
	fx_totals_at(&fx, 0, 0, 9000, 6000, 7000);
	fx_totals_at(&fx, 1, 0, 9000, 4000, 7000);
	fx_totals_at(&fx, 2, 0, 9000, 3999, 7000);
	fx_durable_end(&fx);
	open_all(&fx);
	CHECK(!tb_cursor_choose(cursor, &choice));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 3050);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.user && view.ticks == 3100);
	/* began before the limit */
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.kind == TB_VIEW_LOST && view.cpu == 2);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 0);
	close_all(&fx);
}

static void clock_lines(void)
{
	uint64_t ticks, ns, last = 0;
	size_t count;
	struct fx fx;

	/* 2 ticks a ns, then 4 */
	fx_init(&fx, 10, 0);
	fx_sync(&fx, 1000000, 5000000);
	fx_sync(&fx, 3000000, 6000000);
	fx_sync(&fx, 7000001, 7000000);
	open_all(&fx);
	CHECK(tb_trace_syncs(trace, &count) && count == 3);
	CHECK_NUMBER(tb_trace_ns(trace, 1000000, TB_TIME_MONOTONIC), 5000000);
	CHECK_NUMBER(tb_trace_ns(trace, 2000000, TB_TIME_MONOTONIC), 5500000);
	CHECK_NUMBER(tb_trace_ns(trace, 3000000, TB_TIME_MONOTONIC), 6000000);
	CHECK_NUMBER(tb_trace_ns(trace, 5000000, TB_TIME_MONOTONIC), 6499999);
	CHECK_NUMBER(tb_trace_ns(trace, 7000001, TB_TIME_MONOTONIC), 7000000);
	CHECK_NUMBER(tb_trace_ns(trace, 0, TB_TIME_MONOTONIC), 4500000);
	CHECK_NUMBER(tb_trace_ns(trace, 11000002, TB_TIME_MONOTONIC), 8000000);
	CHECK_NUMBER(tb_trace_ns(trace, 2000000, TB_TIME_BOOTTIME), 5501000);
	CHECK_NUMBER(tb_trace_ns(trace, 2000000, TB_TIME_REALTIME),
		     1700000000005500000ull);
	for (ticks = 0; ticks < 12000000; ticks += 997) {
		ns = tb_trace_ns(trace, ticks, TB_TIME_MONOTONIC);
		CHECK(ns >= last);
		last = ns;
	}
	close_all(&fx);

	/* one record: the frequency of the initialisation record */
	fx_init(&fx, 10, 0);
	fx_sync(&fx, 1000, 7000);
	open_all(&fx);
	CHECK_NUMBER(tb_trace_ns(trace, 1500, TB_TIME_MONOTONIC), 7500);
	CHECK_NUMBER(tb_trace_ns(trace, 500, TB_TIME_MONOTONIC), 6500);
	/* a day later: exact to the ns */
	CHECK_NUMBER(tb_trace_ns(trace, 1000 + 86400000000000ull,
				 TB_TIME_MONOTONIC), 7000 + 86400000000000ull);
	close_all(&fx);
}

/* Times of clocks at the limits of their range do not overflow */
static void clock_extremes(void)
{
	static const uint64_t boottimes[] = {
		0, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX, (uint64_t)INT64_MIN + 1,
	};
	struct fx fx = { 0 };
	size_t i;

	fx_init(&fx, 10, 0);
	for (i = 0; i < sizeof(boottimes) / sizeof(boottimes[0]); i++) {
		struct tb_clock_sync sync = {
			.clock = 1000 * (i + 1), .monotonic = 0, .boottime = boottimes[i],
		};

		fx_durable(&fx, TB_EV_CLOCK, &sync, sizeof(sync));
	}
	open_all(&fx);
	CHECK_NUMBER(tb_trace_ns(trace, 2000, TB_TIME_MONOTONIC), 0);
	close_all(&fx);
}

/* Clock records in rolling blocks count; records that took long to read do not */
static void clock_records(void)
{
	struct tb_clock_sync sync = { .clock = 3000000, .monotonic = 6000000 };
	const struct tb_clock_sync *syncs;
	size_t count;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_sync(&fx, 1000000, 5000000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 100, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 101, 0);
	fx_composite(&fx, 0, TB_EV_CLOCK, 3000000, 1, &sync, sizeof(sync));
	sync.clock = 3500000;
	sync.monotonic = 9000000;
	sync.uncertainty = 400000;
	fx_composite(&fx, 0, TB_EV_CLOCK, 3500000, 1, &sync, sizeof(sync));
	fx_close(&fx, 0);
	fx_sync(&fx, 7000001, 7000000);
	open_all(&fx);
	syncs = tb_trace_syncs(trace, &count);
	CHECK_NUMBER(count, 3);
	CHECK(syncs && syncs[1].clock == 3000000);
	CHECK_NUMBER(tb_trace_ns(trace, 2000000, TB_TIME_MONOTONIC), 5500000);
	CHECK_NUMBER(tb_trace_ns(trace, 3000000, TB_TIME_MONOTONIC), 6000000);
	close_all(&fx);
}

/* The cursor computes the same ns as tb_trace_ns() on every segment */
static void clock_in_cursor(void)
{
	struct tb_view view;
	uint64_t time;
	struct fx fx;
	int count = 0;

	fx_init(&fx, 14, 0);
	fx_sync(&fx, 1000, 50000);
	fx_sync(&fx, 3000, 51000);
	fx_sync(&fx, 7000, 58000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1, 1, NULL);
	for (time = 100; time < 9000; time += 100)
		fx_simple(&fx, 0, FX_SOFTIRQ, time, 0);
	fx_close(&fx, 0);
	open_all(&fx);
	while (tb_cursor_next(cursor, &view) > 0) {
		if (view.cpu == TB_RING_DURABLE)
			continue;
		CHECK_NUMBER(view.ns, tb_trace_ns(trace, view.ticks,
						  TB_TIME_MONOTONIC));
		count++;
	}
	CHECK_NUMBER(count, 89);
	close_all(&fx);
}

static const struct test tests[] = {
	{ "cursor: order over CPUs", merge_order },
	{ "cursor: upper half of the time", full_times },
	{ "cursor: losses at their place and after the end", losses },
	{ "cursor: the end of a ring is a loss", end_of_a_ring },
	{ "cursor: the totals of a snapshot tell its end", end_of_a_snapshot },
	{ "cursor: a CPU without a block", nothing_but_an_end },
	{ "cursor: the thread of a simple event", whose_event },
	{ "cursor: threads as they are made and renamed", threads },
	{ "cursor: thousands of threads", many_threads },
	{ "cursor: durable events in the flow of time", durable_flow },
	{ "cursor: threads that are dumped again after a loss", dumped_again },
	{ "cursor: only the events that are chosen", chosen },
	{ "a limit of time", limited },
	{ "clock: lines between records and beyond", clock_lines },
	{ "clock: values at the limits of their range", clock_extremes },
	{ "clock: records in rolling blocks, and slow ones", clock_records },
	{ "clock: the cursor has the ns of the trace", clock_in_cursor },
};

TEST_MAIN(tests)
