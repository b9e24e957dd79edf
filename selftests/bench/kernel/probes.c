// SPDX-License-Identifier: GPL-2.0-only
/*
 * probes.c - calls the probes that tracers attached to some of the kernel's tracepoints, as the
 * tracepoint calls them: so it measures an event from the tracepoint to its return.
 *
 * The call is that of __DO_TRACE() in <linux/tracepoint.h>: a single probe directly, several
 * through the tracepoint's own iterator.
 */
#include <linux/interrupt.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/unistd.h>

#include "bench.h"

struct point {
	const char *name;
	struct tracepoint *tp;
	void *call;
};

enum { SWITCH, SOFTIRQ, ENTER, NR_POINTS };

static struct point points[NR_POINTS] = {
	[SWITCH]	= { "sched_switch" },
	[SOFTIRQ]	= { "softirq_raise" },
	[ENTER]		= { "sys_enter" },
};

#define POINT_CALL(at, proto, ...)						\
	do {									\
		const struct point *__p = (at);				\
		void (*__call)(void *, proto) = __p->call;			\
		struct tracepoint_func *__f;					\
										\
		preempt_disable_notrace();					\
		__f = rcu_dereference_raw(__p->tp->funcs);			\
		if (__f)							\
			__call(__f->data, __VA_ARGS__);				\
		preempt_enable_notrace();					\
	} while (0)

#define PROTO(...) __VA_ARGS__

/* the thread that leaves is the running one; the next thread may be the same */
BENCH_RUN(run_switches,
	  POINT_CALL(&points[SWITCH],
		     PROTO(bool, struct task_struct *, struct task_struct *, unsigned int),
		     false, current, current, TASK_INTERRUPTIBLE))

/* as in the scheduler: preemption is off twice */
static void run_switch(u32 n)
{
	preempt_disable_notrace();
	preempt_disable_notrace();
	run_switches(n);
	preempt_enable_notrace();
	preempt_enable_notrace();
}

BENCH_RUN(run_softirq, POINT_CALL(&points[SOFTIRQ], unsigned int, RCU_SOFTIRQ))
BENCH_RUN(run_enter,
	  POINT_CALL(&points[ENTER], PROTO(struct pt_regs *, long),
		     task_pt_regs(current), __NR_getppid))

static const struct bench_case all[] = {
	[SWITCH]	= { NULL, "sched_switch", run_switch },
	[SOFTIRQ]	= { NULL, "softirq_raise", run_softirq },
	[ENTER]		= { NULL, "sys_enter", run_enter },
};

static struct bench_case cases[NR_POINTS + 1];

static void find(struct tracepoint *tp, void *unused)
{
	struct tracepoint_func *f = rcu_dereference_raw(tp->funcs);
	unsigned int i;

	if (!f)
		return;
	for (i = 0; i < NR_POINTS; i++) {
		if (strcmp(tp->name, points[i].name))
			continue;
		points[i].tp = tp;
		points[i].call = f[1].func ? tp->iterator : f->func;
		if (f[1].func)
			pr_info("BENCH-NOTE %s: several probes\n", tp->name);
	}
}

/* Return the cases whose tracepoints have a probe. */
const struct bench_case *bench_probes(void)
{
	unsigned int i, n = 0;

	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < NR_POINTS; i++)
		if (points[i].tp)
			cases[n++] = all[i];
	return cases;
}
