// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the small traces of test_report.sh and of other tests. Each has something that an analysis
 * could easily get wrong.
 *
 *   report_trace late FILE        the second of two CPUs' blocks has the latest possible time
 *   report_trace clock FILE       clock records that go back
 *   report_trace gap FILE         spans on one CPU while events of another CPU are missing
 *   report_trace frozen FILE      a ring that takes no more events long before the end
 *   report_trace cut FILE         a file that breaks off; one CPU has been idle for long
 *   report_trace killed FILE      a recorder that was killed; one CPU has no events for long
 *   report_trace quiet FILE       a snapshot instead; the CPU had no more events
 *   report_trace open FILE        the same, but the CPU had more events
 *   report_trace staggered FILE   a snapshot: CPU 0 has 0.1-0.5 s, CPU 1 0.3-0.8 s; a task each
 *   report_trace staggered2 FILE  another snapshot of the same load
 *   report_trace apart FILE       CPU 0 until 0.2 s, CPU 1 from 0.3 s on
 *   report_trace renamed FILE     thread 300 is called "wrapper", then "server"
 *   report_trace half FILE        two tasks take turns, 60 to 40; half of the events is lost
 *   report_trace unselected FILE  the same; switches are not recorded for a third of the time
 *   report_trace deselected FILE  a CPU has no events for long when the selection changes
 *   report_trace silent FILE      of the selected events only switches occur
 *   report_trace held FILE        an interrupt holds the CPU of a task that was woken
 *   report_trace chosen FILE      chosen threads only: 100 runs for 300 of 500 ms, others unseen
 *   report_trace moved FILE       both CPUs have a gap; the gap that begins first ends last
 *   report_trace fences FILE      waits that Perfetto draws, with and without an end
 *   report_trace behind FILE      a snapshot without the beginning of CPU 1, with a gap before it
 *   report_trace waiting FILE     a CPU whose first event is late, beside one with a gap first
 *   report_trace subset FILE      a thread that was on an unrecorded CPU for a while
 *   report_trace crowd FILE       20 threads, one after the other
 *   report_trace quota FILE       thread 300 is woken and waits 40 ms for its CPU, which is idle:
 *                                 its cgroup has a CPU quota; then so does 400, of another cgroup
 *                                 with this quota, and waits 11 ms while the CPU is idle, but never
 *                                 for long
 *   report_trace moves FILE       thread 300 is in a container, and from 100 ms on in a service
 *   report_trace gaps FILE N      N gaps on each of 4 CPUs, many of them at equal times
 *   report_trace ended FILE N     N threads of a service, a container and an unknown cgroup, one
 *                                 after the other; most of them end
 */
#include "test_lib_chunk.h"

enum { EV_WAKEUP = 80, EV_WAKING = 82, EV_EXIT = 84, EV_IRQ = 86, EV_IRQ_EXIT = 88,
       EV_SOFTIRQ = 90, EV_SOFTIRQ_EXIT = 92, EV_FENCE = 94, EV_FENCE_END = 96, EV_I2C = 98,
       EV_CMA = 100, EV_ISSUE = 102, EV_COMPLETE = 104 };

#define MS 1000000ull
#define NAME 13			/* bytes of a name: 32 bits with a letter */

struct irq {
	int32_t irq;
	char name[12];
};

struct wake {
	char comm[16];
	int32_t pid, prio, cpu;
};

static struct fx fx;

static void describe(void)
{
	fx_describe(&fx, EV_IRQ, 0, "irq", "irq_handler_entry", fx_irq_fields, 2);
	fx_describe(&fx, EV_IRQ_EXIT, 0, "irq", "irq_handler_exit", fx_irq_fields, 1);
	fx_describe(&fx, EV_SOFTIRQ, 0, "irq", "softirq_entry", fx_softirq_fields, 1);
	fx_describe(&fx, EV_SOFTIRQ_EXIT, 0, "irq", "softirq_exit", fx_softirq_fields, 1);
	fx_describe(&fx, EV_WAKEUP, 0, "sched", "sched_wakeup", fx_wake_fields, 4);
	fx_describe(&fx, EV_WAKING, 0, "sched", "sched_waking", fx_wake_fields, 4);
}

static const char *name_of(int tid, char *name)
{
	snprintf(name, NAME, tid ? "t%d" : "swapper", tid);
	return name;
}

static void change(unsigned int cpu, uint64_t time, int prev, int64_t state, int next)
{
	char from[NAME], to[NAME];
	struct fx_switch event = fx_switch(name_of(prev, from), prev, state,
					   name_of(next, to), next);

	assert(fx_composite(&fx, cpu, FX_SWITCH, time, (uint32_t)prev, &event, sizeof(event)));
}

/* Two events as in the kernel: waking, then wakeup */
static void wake(unsigned int cpu, uint64_t time, int by, int who, int target)
{
	struct wake event = { .pid = who, .prio = 120, .cpu = target };

	snprintf(event.comm, sizeof(event.comm), "t%d", who);
	assert(fx_composite(&fx, cpu, EV_WAKING, time, (uint32_t)by, &event, sizeof(event)));
	assert(fx_composite(&fx, cpu, EV_WAKEUP, time, (uint32_t)by, &event, sizeof(event)));
}

static void late(void)
{
	fx_open(&fx, 0, 4096, 0, NULL);
	change(0, 4096, 0, 0, 100);
	fx_close(&fx, 0);
	fx_open(&fx, 0, UINT64_MAX - 4095, 100, NULL);
	change(0, UINT64_MAX - 4095, 100, 1, 0);
}

static void clocks(void)
{
	fx_sync(&fx, 0, 1000 * MS);
	fx_sync(&fx, 20 * MS, 500 * MS);
	fx_sync(&fx, 100 * MS, 900 * MS);
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 0, 0, 100);
	change(0, 12 * MS, 100, 1, 200);
	wake(0, 15 * MS, 200, 100, 0);
	change(0, 31 * MS, 200, 0, 100);
	change(0, 40 * MS, 100, 1, 0);
}

static void gap(void)
{
	const struct tb_gap lost = { .overwritten = 5000, .first = 600 * MS, .last = 3800 * MS };

	fx_open(&fx, 1, 10 * MS, 0, NULL);
	change(1, 10 * MS, 0, 0, 100);
	/* before the gap */
	wake(1, 100 * MS, 100, 200, 1);
	change(1, 200 * MS, 100, 0, 200);
	change(1, 400 * MS, 200, 0, 100);
	/* within the gap, or across its border */
	change(1, 500 * MS, 100, 0, 200);
	wake(1, 1100 * MS, 200, 300, 0);
	change(1, 3000 * MS, 200, 1, 100);
	change(1, 3500 * MS, 100, 1, 300);
	wake(1, 3850 * MS, 300, 100, 1);
	change(1, 3900 * MS, 300, 1, 100);
	fx_open(&fx, 0, 3800 * MS, 0, &lost);
	change(0, 3810 * MS, 0, 0, 400);
	change(0, 4000 * MS, 400, 1, 0);
}

/* CPU 0 drops from 20 ms on: whether 100 runs, and how long 200 waits there, is unknown */
static void frozen(void)
{
	fx_open(&fx, 1, 10 * MS, 0, NULL);
	change(1, 10 * MS, 0, 0, 300);
	change(1, 500 * MS, 300, 1, 0);
	change(1, 900 * MS, 0, 0, 300);
	change(1, 1000 * MS, 300, 1, 0);
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 0, 0, 100);
	wake(0, 15 * MS, 100, 200, 0);
	fx_close(&fx, 0);
	fx.rings[0].dropped += 1000;
	fx_totals_at(&fx, 0, 0, 1010 * MS, 20 * MS, 950 * MS);
}

static void cut(void)
{
	unsigned int i;

	fx_open(&fx, 1, 10 * MS, 0, NULL);
	change(1, 10 * MS, 0, 0, 50);
	change(1, 100 * MS, 50, 1, 0);
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 0, 0, 100);
	wake(0, 11 * MS, 100, 101, 0);
	for (i = 1; i < 40; i++)
		change(0, i * 100 * MS, 100 + !(i & 1), 0, 100 + (int)(i & 1));
}

/* The recorder was killed: 50 may have run on CPU 1 for long, no event tells */
static void killed(void)
{
	fx_open(&fx, 1, 10 * MS, 0, NULL);
	change(1, 10 * MS, 0, 0, 50);
	wake(1, 30 * MS, 50, 100, 0);
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 20 * MS, 0, 0, 200);
	change(0, 2000 * MS, 200, 1, 0);
	change(0, 4010 * MS, 0, 0, 200);
}

/* As killed, without the interrupt; switches are deselected at 3 s, long after the end of CPU 1 */
static void deselected(void)
{
	static const unsigned int all[] = { FX_SWITCH, EV_WAKING, EV_WAKEUP, EV_IRQ, 0 };
	static const unsigned int wakes[] = { EV_WAKING, EV_WAKEUP, 0 };

	fx_select(&fx, 2 * MS, all);
	fx_select(&fx, 3000 * MS, wakes);
	fx_open(&fx, 1, 10 * MS, 0, NULL);
	change(1, 10 * MS, 0, 0, 50);
	wake(1, 30 * MS, 50, 100, 0);
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 20 * MS, 0, 0, 200);
	change(0, 2000 * MS, 200, 1, 400);
	wake(0, 4010 * MS, 400, 300, 1);
}

static void silent(void)
{
	static const unsigned int all[] = { FX_SWITCH, EV_WAKING, EV_IRQ, EV_IRQ_EXIT, 0 };

	fx_select(&fx, 2 * MS, all);
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 20 * MS, 0, 0, 200);
	change(0, 2000 * MS, 200, 0, 0);
}

/* A snapshot at 4 s: CPU 1 has recorded nothing after its block, unless @flags say that it has */
static void snapshot(unsigned int flags)
{
	killed();
	fx_close(&fx, 1);
	fx_totals_at(&fx, 1, TB_TOTALS_SNAPSHOT | flags, 4000 * MS, 0, 0);
}

static void quiet_snapshot(void)
{
	snapshot(0);
}

static void open_snapshot(void)
{
	snapshot(TB_TOTALS_OPEN);
}

/* @task is alone on @cpu from @from to @to (ms); the file lacks the first block and the end */
static void alone(unsigned int cpu, int task, uint64_t from, uint64_t to)
{
	fx.rings[cpu].sequence = 7;
	fx_open(&fx, cpu, from * MS, 0, NULL);
	change(cpu, from * MS, 0, 0, task);
	change(cpu, to * MS, task, 0, task + 1);
}

static void staggered(void)
{
	alone(0, 100, 100, 500);
	alone(1, 200, 300, 800);
}

static void staggered2(void)
{
	alone(0, 100, 400, 900);
	alone(1, 200, 100, 450);
}

static void apart(void)
{
	alone(0, 100, 100, 200);
	alone(1, 200, 300, 400);
}

/* 300 runs as @name from @ms on */
static void come_as(const char *name, uint64_t ms)
{
	struct fx_switch in = fx_switch("swapper", 0, 0, name, 300);

	assert(fx_composite(&fx, 0, FX_SWITCH, ms * MS, 0, &in, sizeof(in)));
}

/* 300 runs as @name for 10 ms from @ms on, and leaves the CPU in @state */
static void run_as(const char *name, uint64_t ms, int64_t state)
{
	struct fx_switch out = fx_switch(name, 300, state, "swapper", 0);

	come_as(name, ms);
	assert(fx_composite(&fx, 0, FX_SWITCH, (ms + 10) * MS, 300, &out, sizeof(out)));
}

static void renamed(void)
{
	fx_open(&fx, 0, 100 * MS, 0, NULL);
	run_as("wrapper", 100, 1);
	fx.start = 150 * MS;
	fx_thread(&fx, 300, 300, 1, TB_THREAD_NAME, "server");
	wake(0, 200 * MS, 100, 300, 0);
	run_as("server", 210, 1);
}

/* 300 issues a request to the disk 8:0, or completes it */
static void put_request(uint64_t ms, unsigned int event)
{
	const struct {
		uint32_t dev, nr_sector;
		uint64_t sector;
		uint32_t bytes;
		int32_t error;
		char rwbs[8];
	} payload = { 8 << 20, 8, 4096, 4096, 0, "R" };

	assert(fx_composite(&fx, 0, event, ms * MS, 300, &payload, sizeof(payload)));
}

static void describe_requests(void)
{
	static const struct fx_field fields[] = {
		{ "dev", "dev_t", 0, 4, 0, 0, 0, 0 },
		{ "sector", "sector_t", 8, 8, 0, 0, 0, 0 },
		{ "nr_sector", "unsigned int", 4, 4, 0, 0, 0, 0 },
		{ "bytes", "unsigned int", 16, 4, 0, 0, 0, 0 },
		{ "error", "int", 20, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "rwbs", "char[8]", 24, 8, 8, TB_FIELD_STRING, 0, 0 },
	};

	fx_describe(&fx, EV_ISSUE, 0, "block", "block_rq_issue", fields, 6);
	fx_describe(&fx, EV_COMPLETE, 0, "block", "block_rq_complete", fields, 6);
}

/* "wrapper" wakes 60, issues a request, and ends; before these end, a thread gets its number */
static void successor(void)
{
	describe_requests();
	fx_open(&fx, 0, 80 * MS, 0, NULL);
	change(0, 80 * MS, 0, 0, 60);
	change(0, 90 * MS, 60, 1, 0);
	come_as("wrapper", 95);
	wake(0, 100 * MS, 300, 60, 0);
	put_request(100, EV_ISSUE);
	change(0, 110 * MS, 300, 0x20, 0);
	fx.start = 150 * MS;
	fx_thread(&fx, 300, 300, 1, TB_THREAD_EXIT, "wrapper");
	fx_thread(&fx, 300, 300, 1, TB_THREAD_FORK, "heir");
	come_as("heir", 160);
	put_request(170, EV_COMPLETE);
	change(0, 180 * MS, 300, 1, 0);
	change(0, 200 * MS, 0, 0, 60);
	change(0, 210 * MS, 60, 1, 0);
}

/* CPU 0 begins with a gap and has switches; then comes the first event of CPU 1, where 100 runs */
static void waiting(void)
{
	static const struct tb_gap lost = { .overwritten = 3, .first = 5 * MS, .last = 9 * MS };

	fx_open(&fx, 0, 10 * MS, 200, &lost);
	change(0, 10 * MS, 200, 0, 300);
	change(0, 20 * MS, 300, 0, 200);
	fx_open(&fx, 1, 30 * MS, 100, NULL);
	wake(1, 30 * MS, 100, 400, 1);
	change(1, 90 * MS, 100, 0, 400);
	change(1, 95 * MS, 400, 1, 100);
	change(0, 100 * MS, 200, 1, 0);
}

static void behind(void)
{
	static const struct tb_gap lost = { .overwritten = 5, .first = 12 * MS, .last = 48 * MS };

	fx_open(&fx, 0, 20 * MS, 100, NULL);
	change(0, 20 * MS, 100, 0, 200);
	fx.rings[1].sequence = 7;
	fx_open(&fx, 1, 50 * MS, 300, &lost);
	change(1, 60 * MS, 300, 0, 100);
	change(0, 90 * MS, 200, 1, 0);
	fx_totals_at(&fx, 0, TB_TOTALS_SNAPSHOT, 90 * MS, 0, 0);
	fx_totals_at(&fx, 1, TB_TOTALS_SNAPSHOT, 90 * MS, 0, 0);
}

static void half(void)
{
	static const struct tb_gap lost = {
		.overwritten = 10, .first = 1060 * MS, .last = 2060 * MS,
	};
	uint64_t ms;

	fx_open(&fx, 0, 60 * MS, 0, NULL);
	for (ms = 100; ms < 3100; ms += 100) {
		if (ms == 2100) {
			fx_close(&fx, 0);
			fx_open(&fx, 0, 2060 * MS, 0, &lost);
		}
		if (ms < 1100 || ms >= 2100) {
			change(0, (ms - 40) * MS, 100, 0, 200);
			change(0, ms * MS, 200, 0, 100);
		}
	}
	/* the last run of 100 lasts until the end of the trace */
	wake(0, 3060 * MS, 100, 300, 0);
}

/* Switches are not recorded from 1.06 s to 2.06 s; 100 runs for 60 % of the other time */
static void unselected(void)
{
	static const unsigned int all[] = { FX_SWITCH, EV_WAKING, EV_WAKEUP, 0 };
	static const unsigned int wakes[] = { EV_WAKING, EV_WAKEUP, 0 };
	uint64_t ms;

	fx_select(&fx, 2 * MS, all);
	fx_select(&fx, 1060 * MS, wakes);
	fx_select(&fx, 2060 * MS, all);
	fx_open(&fx, 0, 60 * MS, 0, NULL);
	fx_open(&fx, 1, 60 * MS, 0, NULL);
	change(1, 60 * MS, 0, 0, 300);
	for (ms = 100; ms < 3100; ms += 100) {
		if (ms < 1100 || ms >= 2100) {
			change(0, (ms - 40) * MS, 100, 0, 200);
			change(0, ms * MS, 200, 0, 100);
		} else {
			wake(0, ms * MS, 100, 50, 1);
		}
	}
	/* the last runs last until the end of the trace */
	change(1, 2060 * MS, 300, 0, 50);
	wake(0, 3060 * MS, 100, 400, 0);
}

static void interrupt(uint64_t time, unsigned int event, uint32_t tid, int32_t number)
{
	const struct irq irq = { .irq = number, .name = "disk" };

	assert(fx_composite(&fx, 0, event, time, tid, &irq,
			    event == EV_IRQ ? sizeof(irq) : sizeof(irq.irq)));
}

/* A task was woken, but an interrupt holds its idle CPU, for the most part in a softirq */
static void held(void)
{
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 100, 1, 0);
	wake(0, 20 * MS, 0, 100, 0);
	interrupt(21 * MS, EV_IRQ, 0, 11);
	interrupt(22 * MS, EV_IRQ_EXIT, 0, 11);
	interrupt(22 * MS, EV_SOFTIRQ, 0, 4);
	interrupt(23 * MS, EV_IRQ, 0, 11);
	interrupt(43 * MS, EV_IRQ_EXIT, 0, 11);
	interrupt(46 * MS, EV_SOFTIRQ_EXIT, 0, 4);
	change(0, 50 * MS, 0, 0, 100);
	change(0, 60 * MS, 100, 1, 0);
}

/* Only 100 was chosen; an interrupt shows that.  200 runs in between */
static void chosen(void)
{
	const struct tb_suppressed others = { .filtered = 3 };

	fx_durable(&fx, TB_EV_SUPPRESSED, &others, sizeof(others));
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 0, 0, 100);
	interrupt(20 * MS, EV_IRQ, 100, 11);
	interrupt(21 * MS, EV_IRQ_EXIT, 100, 11);
	change(0, 110 * MS, 100, 0, 200);
	change(0, 310 * MS, 200, 0, 100);
	change(0, 510 * MS, 100, 1, 0);
}

/*
 * 200 wakes 100, which was blocked, and lets 20 others run before it: the first six for most of the
 * time, so that there is no room for 200 among the causes at first.
 */
static void causes(void)
{
	uint64_t ms = 20 * MS;
	uint32_t other;

	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 100, 2, 200);
	for (other = 300; other < 320; other++, ms += 40 * MS) {
		wake(0, ms, 200, 100, 0);
		change(0, ms, 200, 0, other);
		change(0, ms + (other < 306 ? 19 : 3) * MS, other, 1, 200);
		change(0, ms + 20 * MS, 200, 0, 100);
		change(0, ms + 25 * MS, 100, 2, 200);
	}
}

/* 100 is in a system call on CPU 1 and moves to CPU 0, where the gap ends the call */
static void moved(void)
{
	const struct tb_gap first = { .overwritten = 5, .first = 13 * MS, .last = 40 * MS };
	const struct tb_gap second = { .overwritten = 5, .first = 20 * MS, .last = 30 * MS };
	const struct { int64_t id; uint64_t args[6]; } enter = { .id = 7 };

	fx_open(&fx, 1, 10 * MS, 0, NULL);
	change(1, 10 * MS, 0, 0, 100);
	assert(fx_composite(&fx, 1, FX_SYS_ENTER, 12 * MS, 100, &enter, sizeof(enter)));
	fx_open(&fx, 0, 11 * MS, 0, NULL);
	change(0, 11 * MS, 0, 0, 200);
	change(0, 15 * MS, 200, 1, 100);
	fx_close(&fx, 0);
	fx_open(&fx, 0, 30 * MS, 0, &second);
	change(0, 31 * MS, 100, 1, 0);
	fx_close(&fx, 1);
	fx_open(&fx, 1, 40 * MS, 0, &first);
	change(1, 41 * MS, 300, 1, 0);
}

/* 100 waits for a fence, and the end is lost; its i2c write and its allocation have no end event */
static void fences(void)
{
	static const struct fx_field wait[] = {
		{ "context", "unsigned int", 0, 4, 0, 0, 0, 0 },
		{ "seqno", "unsigned int", 4, 4, 0, 0, 0, 0 },
	};
	static const struct fx_field write[] = {
		{ "adapter_nr", "int", 0, 4, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "len", "u16", 4, 2, 0, 0, 0, 0 },
	};
	static const struct fx_field alloc[] = {
		{ "count", "unsigned long", 0, 8, 0, 0, 0, 0 },
	};
	static const unsigned int ids[] = { EV_FENCE, EV_FENCE_END, EV_I2C, EV_CMA };
	const struct tb_gap lost = { .overwritten = 5, .first = 25 * MS, .last = 30 * MS };
	const uint64_t body = 7;
	unsigned int i;

	fx_describe(&fx, EV_FENCE, 0, "dma_fence", "dma_fence_wait_start", wait, 2);
	fx_describe(&fx, EV_FENCE_END, 0, "dma_fence", "dma_fence_wait_end", wait, 2);
	fx_describe(&fx, EV_I2C, 0, "i2c", "i2c_write", write, 2);
	fx_describe(&fx, EV_CMA, 0, "cma", "cma_alloc_start", alloc, 1);
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 0, 0, 100);
	for (i = 0; i < 4; i++)
		assert(fx_composite(&fx, 0, ids[i], (11 + i) * MS, 100, &body, sizeof(body)));
	assert(fx_composite(&fx, 0, EV_FENCE, 20 * MS, 100, &body, sizeof(body)));
	fx_close(&fx, 0);
	fx_open(&fx, 0, 30 * MS, 0, &lost);
	change(0, 31 * MS, 100, 1, 0);
}

static void subset(void)
{
	fx_open(&fx, 1, 10 * MS, 0, NULL);
	change(1, 10 * MS, 0, 0, 300);
	change(1, 400 * MS, 300, 1, 100);
	change(1, 500 * MS, 100, 1, 200);
	/* 300 runs on CPU 5, sleeps, and is woken again */
	wake(1, 1100 * MS, 200, 300, 5);
	wake(1, 3499 * MS, 200, 300, 1);
	change(1, 3500 * MS, 200, 1, 300);
	change(1, 3900 * MS, 300, 1, 0);
}

static void gaps(unsigned int count)
{
	struct tb_gap lost = { .dropped = 1 };
	unsigned int i, cpu;

	for (i = 1; i <= count; i++)
		for (cpu = 0; cpu < 4; cpu++) {
			if (fx.rings[cpu].open)
				fx_close(&fx, cpu);
			lost.first = i * MS;
			lost.last = i * MS + (i * 7 + cpu / 2) % 13 * 1000;
			fx_open(&fx, cpu, lost.last, 0, i > 1 ? &lost : NULL);
			change(cpu, lost.last, 0, 0, 100 + (int)cpu);
			change(cpu, lost.last + 100000 + cpu, 100 + (int)cpu, 1, 0);
		}
}

static uint64_t up_to(uint64_t us)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (1 + (state >> 33) % us) * 1000;
}

static void add_string(uint32_t kind, uint32_t key, const char *text)
{
	struct {
		struct tb_string head;
		char text[128];
	} string = { .head = { kind, key } };

	strcpy(string.text, text);
	fx_durable(&fx, TB_EV_STRING, &string, sizeof(string.head) + strlen(text));
}

static void add_cgroup(uint32_t key, const char *path)
{
	add_string(TB_STRING_CGROUP, key, path);
}

static void add_cgroups(void)
{
	add_cgroup(7, "/system.slice/one.service");
	add_cgroup(8, "/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef"
		   "0123456789abcdef.scope");
}

static void quota(void)
{
	struct tb_thread thread = { .flags = TB_THREAD_DUMP };
	int i;

	add_cgroup(7, "/shop/till");
	add_cgroup(8, "/shop/door");
	for (i = 0; i < 2; i++) {
		thread.cgroup = 7 + (uint32_t)i;
		thread.tid = thread.tgid = 300 + 100 * (uint32_t)i;
		add_string(TB_STRING_QUOTA, thread.cgroup, "10000 50000 /shop");
		fx_durable(&fx, TB_EV_THREAD, &thread, sizeof(thread));
	}
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 0, 0, 300);
	change(0, 15 * MS, 300, 1, 0);
	wake(0, 20 * MS, 0, 300, 0);
	change(0, 60 * MS, 0, 0, 300);
	change(0, 70 * MS, 300, 1, 400);
	change(0, 71 * MS, 400, 1, 0);
	wake(0, 72 * MS, 0, 400, 0);
	change(0, 82 * MS, 0, 0, 400);
	change(0, 83 * MS, 400, 1, 0);
	wake(0, 84 * MS, 0, 400, 0);
	for (i = 0; i < 16; i++) {
		change(0, 84 * MS + (uint64_t)(2 * i + 1) * MS / 3, 0, 0, 300);
		change(0, 84 * MS + (uint64_t)(2 * i + 2) * MS / 3, 300, 1, 0);
	}
	change(0, 95400000, 0, 0, 400);
	change(0, 97 * MS, 400, 1, 0);
}

static void move(uint64_t ms, uint8_t flags, uint32_t cgroup)
{
	const struct tb_thread thread = {
		.tid = 300, .tgid = 300, .flags = flags, .cgroup = cgroup, .comm = "t300",
	};

	fx_durable_at(&fx, ms * MS, TB_EV_THREAD, &thread, sizeof(thread));
}

/* A program writes a slice of 1 ms */
static void put_user_slice(uint64_t ms)
{
	struct fx_chunk chunk;

	fx_chunk(&chunk, 7, 1, (uint32_t)ms, ms);
	chunk.head.tid = chunk.head.pid = 300;
	fx_record(&chunk, TB_REC_SLICE, 0, 9, ms * MS, FX_WORDS(MS));
	fx_take(&fx, 0, (ms + 2) * MS, &chunk);
}

static void moves(void)
{
	describe_requests();
	add_cgroups();
	move(1, TB_THREAD_DUMP, 8);
	move(100, TB_THREAD_CGROUP, 7);
	fx_open(&fx, 0, 10 * MS, 0, NULL);
	change(0, 10 * MS, 0, 0, 300);
	put_request(20, EV_ISSUE);
	put_user_slice(30);
	change(0, 40 * MS, 300, 1, 0);
	wake(0, 60 * MS, 0, 300, 0);
	change(0, 70 * MS, 0, 0, 300);
	change(0, 80 * MS, 300, 1, 0);
	wake(0, 110 * MS, 0, 300, 0);
	change(0, 120 * MS, 0, 0, 300);
	put_user_slice(125);
	put_request(130, EV_COMPLETE);
	change(0, 140 * MS, 300, 1, 0);
}

/* Begin another block of @cpu; @gap: events are missing before it */
static void reopen(unsigned int cpu, uint64_t time, const struct tb_gap *gap)
{
	fx_close(&fx, cpu);
	fx_open(&fx, cpu, time, 0, gap);
}

static void reopen_full(unsigned int cpu, uint64_t time)
{
	if (fx.rings[cpu].used > (1u << fx.log2) - 1500)
		reopen(cpu, time, NULL);
}

/* Thread @tid, which runs on CPU 0 since @at, ends or sleeps.  Return the time of that */
static uint64_t live(int tid, unsigned int number, bool two_cpus, uint64_t at)
{
	at += up_to(1000);
	if (number % 3 == 0) {
		change(0, at, tid, 2, 0);
		wake(0, at += up_to(500), 0, tid, 0);
		change(0, at += up_to(50), 0, 0, tid);
		at += up_to(300);
	}
	if (number % 5 == 0) {
		change(0, at, tid, 0, 51);
		change(0, at += up_to(700), 51, 1, tid);
		at += up_to(100);
	}
	/* its last act is to wake 50, which runs only after it has ended */
	if (number % 7 == 0 && two_cpus) {
		reopen_full(1, at);
		wake(0, at, tid, 50, 1);
		change(1, at + 900, 0, 0, 50);
		change(1, at + 1500, 50, 1, 0);
	}
	change(0, at + 500, tid, number % 11 ? 0x20 : 1, 0);
	return at + 2000;
}

/* Each number is used about twice; CPU 1 appears later; there are two gaps */
static void ended(unsigned int count)
{
	unsigned int numbers = count / 2 + 1, i;
	struct tb_gap gap = { .dropped = 1 };
	uint64_t at = 10 * MS;
	int tid;

	add_cgroups();
	for (i = 0; i < numbers; i++) {
		struct tb_thread thread = {
			.tid = 1000 + i, .tgid = 1000 + i, .flags = TB_THREAD_DUMP,
			.cgroup = 7 + i % 3, .comm = "many",
		};

		fx_durable(&fx, TB_EV_THREAD, &thread, sizeof(thread));
	}
	fx_open(&fx, 0, at, 0, NULL);
	for (i = 0; i < count; i++) {
		if (i == count / 3) {
			fx_open(&fx, 1, at, 0, NULL);
			change(1, at, 0, 0, 50);
			change(1, at + 100, 50, 1, 0);
		}
		if (i == count / 2 || i == count / 2 + count / 5) {
			gap.first = at;
			gap.last = at += MS;
			reopen(0, at, &gap);
		}
		/* as in the kernel, a block has no times with other upper halves */
		if (at >> 32 != (at + 8 * MS) >> 32) {
			at = ((at >> 32) + 1) << 32;
			reopen(0, at, NULL);
			if (fx.rings[1].open)
				reopen(1, at, NULL);
		}
		reopen_full(0, at);
		tid = 1000 + (int)(i % numbers);
		wake(0, at, 0, tid, 0);
		change(0, at += up_to(100), 0, 0, tid);
		/* the worst wait begins in a thread that ends long before 60 runs */
		if (i == count / 8)
			wake(0, at, tid, 60, 0);
		at = live(tid, i, i > count / 3, at);
		if (i == count / 2 - 1) {
			change(0, at, 0, 0, 60);
			change(0, at += 500, 60, 1, 0);
		}
	}
}

static void finish(const char *path, bool stopped, bool breaks_off)
{
	FILE *file = fopen(path, "wb");
	unsigned int cpu;

	for (cpu = 0; cpu < FX_CPUS; cpu++) {
		if (!fx.rings[cpu].open)
			continue;
		fx_close(&fx, cpu);
		if (stopped)
			fx_totals(&fx, cpu);
	}
	fx_durable_end(&fx);
	if (breaks_off)
		memset(fx.data + fx_extend(&fx, 4096), 0x55, 4096);
	if (!file || fwrite(fx.data, 1, fx.size, file) != fx.size || fclose(file)) {
		perror(path);
		exit(1);
	}
	fx_free(&fx);
}

/* 20 threads, one after the other; each is woken before it runs */
static void crowd(void)
{
	int tid;

	fx_open(&fx, 0, 10 * MS, 0, NULL);
	for (tid = 1000; tid < 1020; tid++) {
		wake(0, (uint64_t)(10 + 2 * (tid - 1000)) * MS, 0, tid, 0);
		change(0, (uint64_t)(11 + 2 * (tid - 1000)) * MS, tid > 1000 ? tid - 1 : 0,
		       tid > 1000, tid);
	}
	change(0, 60 * MS, tid - 1, 1, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(void);
		bool stopped;		/* the file has the totals of a stop */
	} kinds[] = {
		{ "late", late, true }, { "clock", clocks, true }, { "gap", gap, true },
		{ "frozen", frozen, true }, { "cut", cut, false }, { "killed", killed, false },
		{ "quiet", quiet_snapshot, false }, { "open", open_snapshot, false },
		{ "staggered", staggered, false }, { "staggered2", staggered2, false },
		{ "apart", apart, false }, { "half", half, true }, { "renamed", renamed, true },
		{ "subset", subset, true }, { "unselected", unselected, true },
		{ "held", held, true }, { "causes", causes, true }, { "moved", moved, true },
		{ "chosen", chosen, true },
		{ "deselected", deselected, false }, { "silent", silent, false },
		{ "fences", fences, true },
		{ "waiting", waiting, true }, { "behind", behind, false },
		{ "crowd", crowd, true }, { "successor", successor, true },
		{ "quota", quota, true }, { "moves", moves, true },
	};
	static const uint32_t threads[] = { 50, 100, 101, 102, 103, 200, 201, 300, 400 };
	char name[NAME];
	bool large;
	size_t i;

	large = argc > 1 && (!strcmp(argv[1], "cut") || !strcmp(argv[1], "unselected") ||
			     !strcmp(argv[1], "causes"));
	fx_init(&fx, large ? 14 : 12, 1000);
	describe();
	for (i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		fx_thread(&fx, threads[i], threads[i], 1, TB_THREAD_DUMP,
			  name_of((int)threads[i], name));
	if (argc == 3 && (!strcmp(argv[1], "renamed") || !strcmp(argv[1], "successor")))
		fx_thread(&fx, 300, 300, 1, TB_THREAD_DUMP, "wrapper");
	if (argc == 4 && !strcmp(argv[1], "gaps")) {
		gaps((unsigned int)atoi(argv[3]));
		finish(argv[2], true, false);
		return 0;
	}
	for (i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].make();
			finish(argv[2], kinds[i].stopped, !strcmp(argv[1], "cut"));
			return 0;
		}
	if (argc == 4 && !strcmp(argv[1], "ended")) {
		ended((unsigned int)atoi(argv[3]));
		finish(argv[2], true, false);
		return 0;
	}
	fprintf(stderr, "usage: report_trace KIND FILE [N]\n");
	return 2;
}
