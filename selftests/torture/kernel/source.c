// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sources of the torture module: a task, a tasklet, an hrtimer and an irq_work on each CPU, and
 * the recording part of the NMI handler (nmi.c makes NMIs).
 *
 * Each source records bursts of numbered events with a hash, so that the checker sees torn ones. A
 * burst can be longer than the smallest ring, and go round it while the interrupted writer is in
 * the middle of an event.
 */
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/tracebuf.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/smpboot.h>

#include "tb_torture.h"

DEFINE_PER_CPU(struct tt_cpu, tt_cpus);
struct tt_run tt_run;

struct tb_provider *tt_provider;
static DEFINE_PER_CPU(struct task_struct *, tt_tasks);
static int tt_cpuhp;
static bool tt_running;

/* ---- recording -------------------------------------------------------- */

static bool tt_simple(struct tt_cpu *c, enum tt_source source, u32 seq)
{
	return tracebuf_simple(tt_provider, TT_ID(source, false), tt_word(c->cpu, source, seq));
}

/**
 * tt_aim() - interrupt this CPU soon
 * @from_ns: the earliest time
 * @to_ns: the latest time
 * @more: by a source that records much
 *
 * Interrupts that come by themselves seldom meet the few instructions that matter; this is for a
 * caller that is about to go there.
 *
 * Context: task or interrupt, not NMI.
 */
void tt_aim(u32 from_ns, u32 to_ns, bool more)
{
	struct tt_cpu *c;
	u32 ns;

	preempt_disable();
	c = this_cpu_ptr(&tt_cpus);
	if (READ_ONCE(c->active)) {
		WRITE_ONCE(c->more, more);
		ns = from_ns + (u32)tt_random(&c->aims) % (to_ns - from_ns);
		if (!c->cpu)
			tt_nmi_arm(ns);
		else
			hrtimer_start(&c->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_HARD);
	}
	preempt_enable();
}

static bool tt_composite(struct tt_cpu *c, enum tt_source source, u32 seq, u32 bytes)
{
	u64 word = tt_word(c->cpu, source, seq), mix = tt_mix(word), last;
	struct tracebuf_slot slot;
	u64 *to = tracebuf_begin(tt_provider, &slot, TT_ID(source, true), bytes);
	u32 i;

	if (!to)
		return false;
	to[0] = word;
	for (i = 1; i < bytes / 8; i++)
		to[i] = tt_pattern(mix, i, bytes);
	if (bytes % 8) {
		last = tt_pattern(mix, i, bytes);
		memcpy(&to[i], &last, bytes % 8);
	}
	/* sources go all round the ring meanwhile, and a reader waits for this event */
	if (source == TT_TASK && !(mix & 0x7)) {
		tt_aim(100, 5000, true);
		udelay(tt_run.gap_ns / 1000);
	}
	tracebuf_end(&slot);
	return true;
}

/* Records one event. It takes its number before, so a lost event leaves a gap. */
static void tt_event(struct tt_cpu *c, enum tt_source source)
{
	struct tt_accounting *k = &c->accounting[source];
	u64 r = tt_random(&k->random);
	u32 bytes, seq = k->attempted;
	/* how seldom a buffer is closed: large buffers must get full, too */
	u32 closes = (source == TT_TASK ? 3 : 15) | (tt_run.max_event > PAGE_SIZE ? 0xf0 : 0);
	bool ok;

	WRITE_ONCE(k->attempted, k->attempted + 1);
	if (r & 3) {
		ok = tt_simple(c, source, seq);
	} else if (!(r & 0x3c)) {
		WRITE_ONCE(k->oversize, k->oversize + 1);
		ok = tt_composite(c, source, seq, tt_run.max_event + 1 + (r >> 10) % 32);
	} else {
		/* mostly small, up to the largest */
		bytes = tt_run.max_event >> (r >> 10 & 7);
		bytes = 8 + (u32)(r >> 16) % (max(bytes, 8u) - 7);
		ok = tt_composite(c, source, seq, bytes);
	}
	if (ok)
		WRITE_ONCE(k->recorded, k->recorded + 1);
	if (!(r >> 32 & closes) && tracebuf_flush(tt_provider))
		WRITE_ONCE(k->flushes, k->flushes + 1);
}

/**
 * tt_burst() - let a source record some events
 * @c: this CPU
 * @source: the source
 *
 * Context: that of the source.
 */
void tt_burst(struct tt_cpu *c, enum tt_source source)
{
	u64 r = tt_random(&c->accounting[source].random);
	unsigned int n = 1 + (r & 3);

	/* now and then, and on request, enough to go round a small ring */
	if (source != TT_TASK && (!(r & 0x1f0) || READ_ONCE(c->more))) {
		/* give other CPUs time to meet the interrupted state */
		if (READ_ONCE(c->more) && num_online_cpus() > 1)
			udelay(tt_run.gap_ns / 2000);
		WRITE_ONCE(c->more, false);
		n = 32 + (r >> 10 & 63);
	}
	while (n--)
		tt_event(c, source);
}

/* ---- sources ---------------------------------------------------------- */

static void tt_tasklet(struct tasklet_struct *t)
{
	struct tt_cpu *c = container_of(t, struct tt_cpu, tasklet);

	/* another CPU may run the tasklet of a CPU that goes offline */
	if (READ_ONCE(c->active) && c->cpu == smp_processor_id())
		tt_burst(c, TT_SOFTIRQ);
}

static void tt_work(struct irq_work *work)
{
	struct tt_cpu *c = container_of(work, struct tt_cpu, work);

	if (READ_ONCE(c->active))
		tt_burst(c, TT_IRQ_WORK);
}

static enum hrtimer_restart tt_timer(struct hrtimer *timer)
{
	struct tt_cpu *c = container_of(timer, struct tt_cpu, timer);
	u64 r = tt_random(&c->accounting[TT_HARDIRQ].random);

	if (!READ_ONCE(c->active))
		return HRTIMER_NORESTART;
	tt_burst(c, TT_HARDIRQ);
	if (READ_ONCE(c->rests)) {
		WRITE_ONCE(c->rests, false);
		wake_up_process(per_cpu(tt_tasks, c->cpu));
	}
	if (!(r & 1))
		tasklet_schedule(&c->tasklet);
	if (!(r & 6))
		irq_work_queue(&c->work);
	if (!(r & 0x18))
		tt_nmi_kick(r >> 5);
	/* counted from now: otherwise a slow guest does nothing else */
	hrtimer_forward_now(timer, ns_to_ktime(tt_gap(r >> 8)));
	return HRTIMER_RESTART;
}

static int tt_task_wanted(unsigned int cpu)
{
	struct tt_cpu *c = per_cpu_ptr(&tt_cpus, cpu);

	return READ_ONCE(c->active) && !READ_ONCE(c->rests);
}

/* The kernel calls this over and over, on CPU @cpu. */
static void tt_task(unsigned int cpu)
{
	struct tt_cpu *c = per_cpu_ptr(&tt_cpus, cpu);
	u64 r = 0;

	/* it must not be in the middle of an event when @active is cleared */
	preempt_disable();
	if (READ_ONCE(c->active)) {
		r = tt_random(&c->accounting[TT_TASK].random);
		if (r >> 32 & 7)
			tt_aim(100, 5000, !(r & 0x1e00));
		tt_burst(c, TT_TASK);
		if (!(r & 7))
			irq_work_queue(&c->work);
		if (!(r & 0x38))
			tasklet_schedule(&c->tasklet);
		/*
		 * Let the reader run, too. Not by sleeping: on PREEMPT_RT the waker may be parked
		 * before this task.
		 */
		if (!(r & 0x1c0))
			WRITE_ONCE(c->rests, true);
	}
	preempt_enable();
	cond_resched();
}

static struct smp_hotplug_thread tt_threads = {
	.store = &tt_tasks,
	.thread_should_run = tt_task_wanted,
	.thread_fn = tt_task,
	.thread_comm = "tb_torture/%u",
};

/* ---- life ------------------------------------------------------------- */

/* Runs on CPU @cpu when it has come online. */
static int tt_online(unsigned int cpu)
{
	struct tt_cpu *c = per_cpu_ptr(&tt_cpus, cpu);

	WRITE_ONCE(c->rests, false);
	WRITE_ONCE(c->active, true);
	wake_up_process(per_cpu(tt_tasks, cpu));
	hrtimer_start(&c->timer, ns_to_ktime(tt_run.gap_ns), HRTIMER_MODE_REL_PINNED_HARD);
	if (!cpu)
		tt_nmi_arm(tt_gap(0));
	return 0;
}

/* Runs on CPU @cpu before it goes offline: afterwards no source records there. */
static int tt_offline(unsigned int cpu)
{
	struct tt_cpu *c = per_cpu_ptr(&tt_cpus, cpu);

	WRITE_ONCE(c->active, false);
	hrtimer_cancel(&c->timer);
	irq_work_sync(&c->work);
	tasklet_kill(&c->tasklet);
	return 0;
}

/**
 * tt_sources_stop() - stop all sources; on return none is active
 *
 * Context: process, one at a time with tt_sources_start().
 */
void tt_sources_stop(void)
{
	if (!tt_running)
		return;
	cpuhp_remove_state(tt_cpuhp);
	tt_running = false;
}

/**
 * tt_sources_start() - let all sources record, on each CPU while it is online
 * @run: seed, rates and sizes
 *
 * Context: process, one at a time with tt_sources_stop().
 * Return: 0, -EBUSY.
 */
int tt_sources_start(const struct tt_run *run)
{
	unsigned int cpu, source;
	int ret;

	if (tt_running)
		return -EBUSY;
	tt_run = *run;
	for_each_possible_cpu(cpu) {
		struct tt_cpu *c = per_cpu_ptr(&tt_cpus, cpu);

		for (source = 0; source < TT_SOURCES && !run->go_on; source++) {
			memset(&c->accounting[source], 0, sizeof(c->accounting[source]));
			c->accounting[source].random =
				tt_mix(run->seed ^ tt_word(cpu, source, 0)) | 1;
		}
		c->aims = tt_mix(run->seed ^ cpu) | 1;
	}
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "tb_torture:online", tt_online, tt_offline);
	if (ret < 0)
		return ret;
	tt_cpuhp = ret;
	tt_running = true;
	return 0;
}

/**
 * tt_sources_exit() - undo tt_sources_init()
 *
 * Context: process.
 */
void tt_sources_exit(void)
{
	tt_sources_stop();
	smpboot_unregister_percpu_thread(&tt_threads);
	tracebuf_put(tt_provider);
}

/**
 * tt_sources_init() - set up tasks and timers
 *
 * Tasks must exist before a recording, because new threads are events of it.
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int tt_sources_init(void)
{
	unsigned int cpu;
	int err;

	tt_provider = tracebuf_get("kernel");
	if (IS_ERR(tt_provider))
		return PTR_ERR(tt_provider);
	for_each_possible_cpu(cpu) {
		struct tt_cpu *c = per_cpu_ptr(&tt_cpus, cpu);

		c->cpu = cpu;
		tasklet_setup(&c->tasklet, tt_tasklet);
		c->work = IRQ_WORK_INIT_HARD(tt_work);
		tt_timer_init(&c->timer, tt_timer);
	}
	err = smpboot_register_percpu_thread(&tt_threads);
	if (err)
		tracebuf_put(tt_provider);
	return err;
}
