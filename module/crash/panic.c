// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the last events of each CPU into the kernel's log: of all CPUs when the machine panics
 * (panic_events=N), of one CPU when it oopses (oops_events=N).  "tracebuf recover" gets all events,
 * but needs an image of the memory.
 *
 * Callers: the kernel's notifiers of panics and oopses, in any context, NMI included.  This code
 * reads the rings beside their writers: it takes no lock, allocates nothing and changes no ring.
 * In a panic the other CPUs have stopped, at any instruction, and the printing causes events on
 * this CPU.  So the code fixes the range to print at the beginning, and checks the block of each
 * event again before it prints the line.
 */
#include <linux/kdebug.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "block_walk.h"
#include "panic.h"
#include "provider/provider.h"

#define TB_PANIC_MAX	10000	/* limit of the events to print of each CPU */
/* before the notifiers that report to a hypervisor: it may stop the machine at once */
#define TB_PANIC_PRIORITY	100

static int tb_panic_set(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 0, TB_PANIC_MAX);
}

static const struct kernel_param_ops tb_panic_ops = {
	.set = tb_panic_set,
	.get = param_get_uint,
};

static uint panic_events;
module_param_cb(panic_events, &tb_panic_ops, &panic_events, 0644);
MODULE_PARM_DESC(panic_events, "number of last events of each CPU to print into the kernel's log at a panic, up to 10000 (default 0)");

static uint oops_events;
module_param_cb(oops_events, &tb_panic_ops, &oops_events, 0644);
MODULE_PARM_DESC(oops_events, "number of last events of the oopsing CPU to print into the kernel's log at an oops, up to 10000 (default 0)");

/**
 * struct tb_panic_log - how far the ring of a CPU has been printed
 * @ring: the ring
 * @buf: the buffer with the block of @walk
 * @walk: position after @event, in the block of @event
 * @event: the next event to print; NULL: none
 * @last: sequence number of the last block to print
 * @used: elements of the last block to print
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
/* 1 + the number of the CPU that prints, and so owns tb_panic_line; 0: none */
static atomic_t tb_panic_busy = ATOMIC_INIT(0);

/* ---- find -------------------------------------------------------------- */

/* Return the buffer with block @sequence, or NULL if the block was overwritten. */
static struct tb_buf *tb_panic_find(const struct tb_cpu_ring *r, u64 sequence)
{
	u32 i;

	for (i = 0; i < r->nr; i++) {
		/* state before header: pairs with the release in tb_ring_complete() */
		u64 s = smp_load_acquire(&r->bufs[i].state);

		if (TB_BUF_SEQ(s) == sequence && TB_BUF_STATE(s) != TB_BUF_CLAIMED &&
		    /* before the rest of the header: pairs with the release in tb_ring_open() */
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

/* Step to the next event of this block.  Return false if there is none. */
static bool tb_panic_step(struct tb_panic_log *l)
{
	do {
		l->event = tb_block_walk_next(&l->walk);
	} while (l->event && TB_HEAD_ID(l->walk.head) <= TB_EV_STRUCTURAL_LAST);
	return l->event;
}

/* Step to the next event of the ring; l->event is NULL at the end. */
static void tb_panic_next(struct tb_panic_log *l)
{
	while (!tb_panic_step(l) && l->walk.sequence < l->last) {
		struct tb_buf *buf = tb_panic_find(l->ring, l->walk.sequence + 1);

		if (!buf)
			break;
		tb_panic_enter(l, buf, l->walk.sequence + 1);
	}
}

/*
 * Go to the first of the last @wanted events of a ring: from the current block backwards, until the
 * blocks have enough events.
 */
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
		/* an interrupted writer has not opened the block completely: use the one before */
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
 * struct tb_panic_clock - the clocks of the log and of the recording, read at one time
 * @log: clock of the log, nanoseconds
 * @trace: clock of the recording, ticks
 * @frequency: ticks per second
 */
struct tb_panic_clock {
	u64 log;
	u64 trace;
	u64 frequency;
};

/* Convert @time, in ticks of the recording, to the log's clock, in microseconds. */
static u64 tb_panic_time(const struct tb_panic_clock *c, u64 time)
{
	u64 ago = c->trace > time ? c->trace - time : 0, rest;
	u64 ns = div64_u64_rem(ago, c->frequency, &rest) * NSEC_PER_SEC;

	/* ticks of less than a second: no overflow up to 18 GHz */
	ns += div64_u64(rest * NSEC_PER_SEC, c->frequency);
	return div_u64(c->log > ns ? c->log - ns : 0, NSEC_PER_USEC);
}

/* Print an event of l->buf.  Return false if a writer has taken the buffer meanwhile. */
static bool tb_panic_print_one(const struct tb_panic_log *l, const struct tb_panic_clock *clock,
			       const struct tb_block_walk *w, const struct tb_element *e)
{
	u32 us, at;
	u64 time = div_u64_rem(tb_panic_time(clock, w->time), USEC_PER_SEC, &us);

	at = scnprintf(tb_panic_line, sizeof(tb_panic_line), "[%5llu.%06u] CPU %u", time, us,
		       l->ring->cpu);
	tb_panic_text(tb_panic_line + at, sizeof(tb_panic_line) - at, w, e);
	/* read the event before the state: pairs with the exchanges in tb_buf_claim() */
	smp_rmb();
	if (TB_BUF_SEQ(READ_ONCE(l->buf->state)) != l->walk.sequence)
		return false;
	pr_crit("tracebuf: %s\n", tb_panic_line);
	return true;
}

/* Print the current event and its stacks.  Return false if a writer has taken the buffer. */
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

/* Return the log with the earliest event of all CPUs, or NULL. */
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
 * struct tb_panic_wanted - the events to print
 * @cpus: print the rings of these CPUs
 * @count: number of events of each CPU
 */
struct tb_panic_wanted {
	const struct cpumask *cpus;
	u32 count;
};

/*
 * Print the last events of one provider, in the order of time.  Runs with preemption off, which
 * keeps the rings allocated (tb_recording_detach()).
 */
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
	pr_crit("tracebuf: %s: the last %u events of each CPU, or fewer\n", p->name,
		wanted->count);
	for_each_cpu(cpu, cpus) {
		struct tb_cpu_ring *r = per_cpu_ptr(rings, cpu);

		tb_panic_begin(per_cpu_ptr(&tb_panic_logs, cpu), r, wanted->count);
		if (tb_local_read(&r->dropped))
			pr_crit("tracebuf: CPU %u: %llu events were dropped and are missing\n",
				cpu, tb_local_read(&r->dropped));
	}
	while ((l = tb_panic_first(cpus))) {
		if (tb_panic_print(l, &clock)) {
			tb_panic_next(l);
		} else {
			pr_crit("tracebuf: CPU %u: a block was overwritten: later events of this CPU are missing\n",
				l->ring->cpu);
			l->event = NULL;
		}
		touch_nmi_watchdog();
	}
	pr_crit("tracebuf: %s: end of the last events\n", p->name);
}

/* ---- notifiers ---------------------------------------------------------- */

static int tb_panic_notify(struct notifier_block *block, unsigned long unused, void *why)
{
	struct tb_panic_wanted wanted = {
		.cpus = cpu_possible_mask,
		.count = READ_ONCE(panic_events),
	};
	int me = smp_processor_id() + 1, busy = atomic_read(&tb_panic_busy);

	/*
	 * If another CPU was printing, it has stopped: take over.  If this CPU was printing, the
	 * printing caused the panic: do not try again.
	 */
	if (wanted.count && busy != me) {
		atomic_set(&tb_panic_busy, me);
		tb_providers_look(tb_panic_last_of, &wanted);
		atomic_set(&tb_panic_busy, 0);
	}
	return NOTIFY_DONE;
}

static struct notifier_block tb_panic_notifier = {
	.notifier_call = tb_panic_notify,
	.priority = TB_PANIC_PRIORITY,
};

static int tb_panic_oops(struct notifier_block *block, unsigned long what, void *args)
{
	struct tb_panic_wanted wanted = { .count = READ_ONCE(oops_events) };
	int me;

	if (what != DIE_OOPS || !wanted.count)
		return NOTIFY_DONE;
	preempt_disable();
	me = smp_processor_id();
	wanted.cpus = cpumask_of(me);
	/* if two CPUs oops at the same time, only the first prints */
	if (!atomic_cmpxchg(&tb_panic_busy, 0, me + 1)) {
		tb_providers_look(tb_panic_last_of, &wanted);
		atomic_set(&tb_panic_busy, 0);
	}
	preempt_enable();
	return NOTIFY_DONE;
}

static struct notifier_block tb_panic_die_notifier = {
	.notifier_call = tb_panic_oops,
};

/* Register the notifiers of panics and oopses. */
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

/* Undo tb_panic_init(), before the providers are freed. */
void tb_panic_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &tb_panic_notifier);
	unregister_die_notifier(&tb_panic_die_notifier);
}
