// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last events of each CPU in the kernel's log: of all CPUs when the machine panics
 * (panic_events=N), of the CPU that an oops happens on (oops_events=N).  From there they get
 * to consoles, and to pstore if there is one.  It is for those who have nothing but the log;
 * who has an image of the memory gets everything out of that ("tracebuf recover").
 *
 * It runs in any context, NMI included, on a machine in which something is broken.  So it takes no
 * lock, allocates nothing and changes nothing of the rings: it reads them beside their
 * writers.  On a panic these have been stopped, wherever they were, but for this CPU, which records
 * what the printing itself makes happen; on an oops there are only those that interrupt us.  That
 * is why what is printed was fixed at the beginning, and why each event's block is looked at
 * once more when its line is ready, before it is printed.
 *
 * The rings are those of all providers that record, one provider after another: while they do
 * the rings stay as long as preemption is off (tb_recording_detach()).
 *
 * Finding the last N: from the block that is written to backwards until there are enough, counting
 * them; then forward from there, of all CPUs in the order of their times.
 */
#include <linux/kdebug.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "block_walk.h"
#include "panic.h"
#include "provider/list.h"
#include "provider/provider.h"

#define TB_LAST_MAX	10000	/* events of a CPU */
/* before those that tell a hypervisor, which may stop the machine at once */
#define TB_LAST_PRIORITY	100

static int tb_panic_set(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 0, TB_LAST_MAX);
}

static const struct kernel_param_ops tb_panic_ops = {
	.set = tb_panic_set,
	.get = param_get_uint,
};

static uint panic_events;
module_param_cb(panic_events, &tb_panic_ops, &panic_events, 0644);
MODULE_PARM_DESC(panic_events, "the last events of each CPU that go to the kernel's log when it panics, up to 10000 (default 0)");

static uint oops_events;
module_param_cb(oops_events, &tb_panic_ops, &oops_events, 0644);
MODULE_PARM_DESC(oops_events, "the last events of a CPU that go to the kernel's log when an oops happens on it, up to 10000 (default 0)");

/**
 * struct tb_panic_log - how far the ring of a CPU has been printed
 * @ring: it
 * @buf: with the block that @walk is in
 * @walk: behind the event that comes next
 * @event: that; NULL: there is none
 * @last: number of the last block
 * @used: of that one, in elements
 */
struct tb_panic_log {
	struct tb_cpu_ring *ring;
	struct tb_buf *buf;
	struct tb_block_walk walk;
	const struct tb_element *event;
	u64 last;
	u32 used;
};

static DEFINE_PER_CPU(struct tb_panic_log, tb_panic_logs);
static char tb_panic_line[512];
/* the CPU that prints, plus one: there is one tb_panic_line */
static atomic_t tb_panic_busy = ATOMIC_INIT(0);

/* ---- where they are ---------------------------------------------------- */

/* The buffer with block @sequence, or what has not been overwritten of it. */
static struct tb_buf *tb_panic_find(const struct tb_cpu_ring *r, u64 sequence)
{
	u32 i;

	for (i = 0; i < r->nr; i++) {
		/* the header: pairs with the release in tb_ring_complete() */
		u64 s = smp_load_acquire(&r->bufs[i].state);

		if (TB_BUF_SEQ(s) == sequence && TB_BUF_STATE(s) != TB_BUF_CLAIMED &&
		    /* the rest of the header: pairs with the release in tb_ring_open() */
		    smp_load_acquire(&r->bufs[i].block->sequence) == sequence)
			return &r->bufs[i];
	}
	return NULL;
}

static void tb_panic_enter(struct tb_panic_log *l, struct tb_buf *buf, u64 sequence)
{
	l->buf = buf;
	l->walk = (struct tb_block_walk) {
		.block = buf->block,
		.sequence = sequence,
		.at = TB_BLOCK_FIRST_ELEMENT,
		.end = sequence == l->last ? l->used : l->ring->capacity,
		.time = READ_ONCE(buf->block->time_start),
	};
}

/* To the next event of this block, if there is one. */
static bool tb_panic_step(struct tb_panic_log *l)
{
	do {
		l->event = tb_block_walk_next(&l->walk);
	} while (l->event && TB_HEAD_ID(l->walk.head) <= TB_EV_STRUCTURAL_LAST);
	return l->event;
}

/* To the next event, or none. */
static void tb_panic_next(struct tb_panic_log *l)
{
	while (!tb_panic_step(l) && l->walk.sequence < l->last) {
		struct tb_buf *buf = tb_panic_find(l->ring, l->walk.sequence + 1);

		if (!buf)
			break;
		tb_panic_enter(l, buf, l->walk.sequence + 1);
	}
}

/* To the first of the last @wanted events of a ring. */
static void tb_panic_begin(struct tb_panic_log *l, struct tb_cpu_ring *r, u32 wanted)
{
	u64 head = tb_read(&r->head), sequence;
	struct tb_buf *buf, *earlier;
	u32 count;

	*l = (struct tb_panic_log) { .ring = r };
	if (!r->nr)
		return;
	sequence = tb_ring_current(r, head);
	l->used = min(tb_head_index(head), r->capacity);
	buf = tb_panic_find(r, sequence);
	if (!buf && sequence) {
		/* whoever opens it was interrupted */
		buf = tb_panic_find(r, --sequence);
		l->used = r->capacity;
	}
	l->last = sequence;
	if (!buf)
		return;
	for (;; buf = earlier, sequence--) {
		tb_panic_enter(l, buf, sequence);
		for (count = 0; tb_panic_step(l); count++)
			;
		earlier = count < wanted && sequence ? tb_panic_find(r, sequence - 1) : NULL;
		if (!earlier)
			break;
		wanted -= count;
	}
	tb_panic_enter(l, buf, sequence);
	for (; count > wanted; count--)
		tb_panic_step(l);
	tb_panic_next(l);
}

/* ---- the log ----------------------------------------------------------- */

/**
 * struct tb_panic_clock - the log's clock and the recording's, at the same moment
 * @log: nanoseconds
 * @trace: ticks
 * @frequency: of these, a second
 */
struct tb_panic_clock {
	u64 log;
	u64 trace;
	u64 frequency;
};

/* What the log's clock said at @time, in microseconds. */
static u64 tb_panic_time(const struct tb_panic_clock *c, u64 time)
{
	u64 ago = c->trace > time ? c->trace - time : 0, rest;
	u64 ns = div64_u64_rem(ago, c->frequency, &rest) * NSEC_PER_SEC;

	/* ticks of less than a second: no overflow up to 18 GHz */
	ns += div64_u64(rest * NSEC_PER_SEC, c->frequency);
	return div_u64(c->log > ns ? c->log - ns : 0, NSEC_PER_USEC);
}

/* Prints an event of the block that @l is in.  Returns whether it was still there by then. */
static bool tb_panic_print_one(const struct tb_panic_log *l, const struct tb_panic_clock *clock,
			       const struct tb_block_walk *w, const struct tb_element *e)
{
	u32 us, at;
	u64 time = div_u64_rem(tb_panic_time(clock, w->time), USEC_PER_SEC, &us);

	at = scnprintf(tb_panic_line, sizeof(tb_panic_line), "[%5llu.%06u] CPU %u", time, us,
		       l->ring->cpu);
	tb_panic_text(tb_panic_line + at, sizeof(tb_panic_line) - at, w, e);
	/* what was read before the state: pairs with the exchanges in tb_buf_claim() */
	smp_rmb();
	if (TB_BUF_SEQ(READ_ONCE(l->buf->state)) != l->walk.sequence)
		return false;
	pr_crit("tracebuf: %s\n", tb_panic_line);
	return true;
}

/* The event that @l is at, and the stacks that belong to it. */
static bool tb_panic_print(const struct tb_panic_log *l, const struct tb_panic_clock *clock)
{
	struct tb_block_walk w = l->walk;
	const struct tb_element *e = l->event;

	do {
		if (!tb_panic_print_one(l, clock, &w, e))
			return false;
		e = tb_block_walk_next(&w);
	} while (e && TB_HEAD_ID(w.head) == TB_EV_STACK);
	return true;
}

/* The one that comes next of all. */
static struct tb_panic_log *tb_panic_first(const struct cpumask *cpus)
{
	struct tb_panic_log *first = NULL;
	unsigned int cpu;

	for_each_cpu(cpu, cpus) {
		struct tb_panic_log *l = per_cpu_ptr(&tb_panic_logs, cpu);

		if (l->event && (!first || l->walk.time < first->walk.time))
			first = l;
	}
	return first;
}

/**
 * struct tb_panic_wanted - what is to be printed
 * @cpus: events of these
 * @count: so many of each
 */
struct tb_panic_wanted {
	const struct cpumask *cpus;
	u32 count;
};

/* Those of one provider.  Preemption is off. */
static void tb_panic_last_of(struct tb_provider *p, void *data)
{
	struct tb_cpu_ring __percpu *rings = tb_provider_live(p);
	struct tb_panic_clock clock = { .frequency = p->clock.frequency };
	const struct tb_panic_wanted *wanted = data;
	const struct cpumask *cpus = wanted->cpus;
	struct tb_panic_log *l;
	unsigned int cpu;

	if (!rings || !clock.frequency)
		return;
	clock.log = local_clock();
	clock.trace = tb_clock_read(p->clock.raw);
	pr_crit("tracebuf: %s: the last %u events of each CPU that there are\n", p->name,
		wanted->count);
	for_each_cpu(cpu, cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(rings, cpu);

		tb_panic_begin(per_cpu_ptr(&tb_panic_logs, cpu), r, wanted->count);
		if (tb_local_read(&r->dropped))
			pr_crit("tracebuf: CPU %u: %llu events found no room and are missing\n",
				cpu, tb_local_read(&r->dropped));
	}
	while ((l = tb_panic_first(cpus))) {
		if (tb_panic_print(l, &clock)) {
			tb_panic_next(l);
		} else {
			pr_crit("tracebuf: CPU %u: overwritten while it was printed\n",
				l->ring->cpu);
			l->event = NULL;
		}
		touch_nmi_watchdog();
	}
	pr_crit("tracebuf: %s: end of the last events\n", p->name);
}

static void tb_panic_dump(const struct cpumask *cpus, u32 count)
{
	struct tb_panic_wanted wanted = { .cpus = cpus, .count = count };

	tb_providers_look(tb_panic_last_of, &wanted);
}

/* ---- when --------------------------------------------------------------- */

static int tb_panic_notify(struct notifier_block *block, unsigned long unused, void *why)
{
	int me = smp_processor_id() + 1, busy = atomic_read(&tb_panic_busy);
	u32 wanted = READ_ONCE(panic_events);

	/*
	 * Others have been stopped, also one that was printing; what this CPU itself fell over must
	 * not be tried again.
	 */
	if (wanted && busy != me) {
		atomic_set(&tb_panic_busy, me);
		tb_panic_dump(cpu_possible_mask, wanted);
		atomic_set(&tb_panic_busy, 0);
	}
	return NOTIFY_DONE;
}

static struct notifier_block tb_panic_notifier = {
	.notifier_call = tb_panic_notify,
	.priority = TB_LAST_PRIORITY,
};

static int tb_panic_oops(struct notifier_block *block, unsigned long what, void *args)
{
	u32 wanted = READ_ONCE(oops_events);
	int me;

	if (what != DIE_OOPS || !wanted)
		return NOTIFY_DONE;
	preempt_disable();
	me = smp_processor_id();
	/* two at the same time: one is enough to go by */
	if (!atomic_cmpxchg(&tb_panic_busy, 0, me + 1)) {
		tb_panic_dump(cpumask_of(me), wanted);
		atomic_set(&tb_panic_busy, 0);
	}
	preempt_enable();
	return NOTIFY_DONE;
}

static struct notifier_block tb_panic_die_notifier = {
	.notifier_call = tb_panic_oops,
};

/**
 * tb_panic_init() - be told of a panic and of oopses from now on
 *
 * Context: module init.
 * Return: 0, or what the kernel's lists of notifiers say.
 */
int tb_panic_init(void)
{
	int err = register_die_notifier(&tb_panic_die_notifier);

	if (err)
		return err;
	err = atomic_notifier_chain_register(&panic_notifier_list, &tb_panic_notifier);
	if (err)
		unregister_die_notifier(&tb_panic_die_notifier);
	return err;
}

/**
 * tb_panic_exit() - not any more
 *
 * Context: module exit, before what may be printed goes.
 */
void tb_panic_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &tb_panic_notifier);
	unregister_die_notifier(&tb_panic_die_notifier);
}
