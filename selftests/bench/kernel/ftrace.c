// SPDX-License-Identifier: GPL-2.0-only
/*
 * ftrace.c - measures the kernel's own ring buffer, which overwrites and is as large as tracebuf's
 * ring here, and a TRACE_EVENT that records into it.
 */
#include <linux/module.h>
#include <linux/ring_buffer.h>
#include <linux/trace_events.h>

#include "bench.h"
#include "sizes.h"
#define CREATE_TRACE_POINTS
#include "bench_trace.h"

/* Stock kernels do not export it: icount.sh takes its address from /proc/kallsyms. */
#ifdef CONFIG_UML
#define set_clock	ring_buffer_set_clock
#else
static unsigned long set_clock_at;
module_param(set_clock_at, ulong, 0444);
MODULE_PARM_DESC(set_clock_at, "address of ring_buffer_set_clock()");

static void set_clock(struct trace_buffer *b, u64 (*clock)(void))
{
	typeof(ring_buffer_set_clock) *set = (void *)set_clock_at;

	if (set)
		set(b, clock);
}
#endif

struct payload {
	u64 a, b;
};

static struct trace_buffer *tsc_buffer, *own_buffer, *still_buffer;

static u64 tsc_clock(void)
{
	return bench_rdtsc();
}

static u64 still_clock(void)
{
	return 0;
}

static __always_inline void record(struct trace_buffer *b, u64 i)
{
	struct ring_buffer_event *e = ring_buffer_lock_reserve(b, sizeof(struct payload));
	struct payload *p;

	if (unlikely(!e))
		return;
	p = ring_buffer_event_data(e);
	p->a = i;
	p->b = ~i;
	ring_buffer_unlock_commit(b);
}

BENCH_RUN(run_tsc, record(tsc_buffer, i))
BENCH_RUN(run_tsc_alone, bench_fence(); record(tsc_buffer, i))
BENCH_RUN(run_event_alone, bench_fence(); trace_bench_ftrace(i))
BENCH_RUN(run_still, record(still_buffer, i))
BENCH_RUN(run_own, record(own_buffer, i))
BENCH_RUN(run_event, trace_bench_ftrace(i))

static const struct bench_case cases[] = {
	{ "ftrace", "ring buffer, 16 bytes", run_tsc },
	{ "ftrace", "ring buffer, 16 bytes" ALONE, run_tsc_alone },
	{ "ftrace", "ring buffer, 16 bytes" STILL, run_still },
	{ "ftrace", "ring buffer, 16 bytes, its own clock", run_own },
	{ "ftrace", "TRACE_EVENT of 8 bytes, its own clock", run_event },
	{ "ftrace", "TRACE_EVENT of 8 bytes, its own clock" ALONE, run_event_alone },
	{}
};

const struct bench_case *bench_ftrace(void)
{
	tsc_buffer = ring_buffer_alloc(RING_BYTES, RB_FL_OVERWRITE);
	own_buffer = ring_buffer_alloc(RING_BYTES, RB_FL_OVERWRITE);
	still_buffer = ring_buffer_alloc(RING_BYTES, RB_FL_OVERWRITE);
	if (!tsc_buffer || !own_buffer || !still_buffer)
		return NULL;
	set_clock(tsc_buffer, tsc_clock);
	ring_buffer_reset(tsc_buffer);
	set_clock(still_buffer, still_clock);
	ring_buffer_reset(still_buffer);
	/* the kernel's module notifier has run, so the kernel knows this event */
	if (trace_set_clr_event("tb_bench", "bench_ftrace", 1))
		pr_warn("BENCH-NOTE the trace event could not be enabled\n");
	return cases;
}

void bench_ftrace_end(void)
{
	if (own_buffer)
		trace_set_clr_event("tb_bench", "bench_ftrace", 0);
	if (tsc_buffer)
		ring_buffer_free(tsc_buffer);
	if (own_buffer)
		ring_buffer_free(own_buffer);
	if (still_buffer)
		ring_buffer_free(still_buffer);
}
