// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of threads, so that every thread id in a trace has a name.  The dump has the threads that
 * exist when a recording starts; probes record threads that start, change and exit later.  Also the
 * names of interrupts and softirqs.
 *
 * Callers: recording/, in process context.  It attaches the probes before the dump, so it records
 * a thread that starts in between twice, and misses none.  Tracepoints call the probes, which put
 * records into the thread queue, without locks.
 */
#include <linux/cgroup.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#ifdef CONFIG_CGROUPS
#include <trace/events/cgroup.h>
#endif
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "probe/probe.h"
#include "catalog.h"

/* threads dumped in one RCU read-side critical section */
#define TB_DUMP_BATCH	64
/* limit of the records when a process moves to another cgroup, one for each thread */
#define TB_MOVED_MAX	256

/* Runs where tb_thread_fill() does: RCU frees a thread's css_set, and a cgroup after its sets. */
static notrace u32 tb_thread_cgroup(struct task_struct *p)
{
#ifdef CONFIG_CGROUPS
	return (u32)cgroup_id(rcu_dereference_raw(p->cgroups)->dfl_cgrp);
#else
	return 0;
#endif
}

/*
 * Fill in the record of a thread.  Runs under rcu_read_lock(), or in a probe after
 * tb_tracepoint_enter(), which protects as well, but rcu_dereference() does not know that.
 */
static notrace void tb_thread_fill(struct tb_thread *t, struct task_struct *p,
				   const char *comm, u16 flags)
{
	memset(t, 0, sizeof(*t));
	t->tid = p->pid;
	t->tgid = p->tgid;
	t->parent = rcu_dereference_raw(p->real_parent)->tgid;
	t->flags = flags | (p->flags & PF_KTHREAD ? TB_THREAD_KERNEL : 0);
	/* deadline threads have -1, which does not fit */
	t->prio = p->prio < 0 ? 0 : p->prio;
	t->uid = __kuid_val(rcu_dereference_raw(p->real_cred)->uid);
	t->cgroup = tb_thread_cgroup(p);
	/* if another thread changes the name now, the copy is a mixture, but ends with a NUL */
	strscpy(t->comm, comm, sizeof(t->comm));
}

/* RCU protects threads here, so a full buffer ends the writing: making room may sleep. */
static int tb_thread_write(struct tb_provider *provider, const struct tb_thread *t)
{
	return tb_durable_append(&provider->durable, TB_EV_THREAD, t, sizeof(*t), false);
}

/*
 * Write a record of each existing thread into the durable buffer, in the order of their ids in the
 * initial namespace.  The idle threads have one record, because all have the id 0.  Return 0,
 * -ENOSPC.
 */
int tb_threads_write(struct tb_provider *provider)
{
	struct tb_thread t = {
		.flags = TB_THREAD_KERNEL | TB_THREAD_DUMP,
		.prio = DEFAULT_PRIO,
		.comm = "swapper",
	};
	int nr = 1, batch = 0, ret;
	struct task_struct *p;
	struct pid *pid;

	lockdep_assert_held(&provider->read_lock);
	ret = tb_thread_write(provider, &t);
	if (ret)
		return ret;

	rcu_read_lock();
	while ((pid = find_ge_pid(nr, &init_pid_ns))) {
		nr = pid_nr(pid) + 1;
		p = pid_task(pid, PIDTYPE_PID);
		if (p) {
			/* see tb_thread_describe() */
			task_lock(p);
			tb_thread_fill(&t, p, p->comm, TB_THREAD_DUMP);
			task_unlock(p);
			ret = tb_thread_write(provider, &t);
			if (ret)
				break;
		}
		if (++batch == TB_DUMP_BATCH) {
			batch = 0;
			rcu_read_unlock();
			cond_resched();
			rcu_read_lock();
		}
	}
	rcu_read_unlock();
	return ret;
}

/*
 * Make a record of a thread, by its id in the initial namespace, with its current name and
 * TB_THREAD_* @flags.  Return false if there is no such thread.
 */
bool tb_thread_describe(u32 tid, u16 flags, struct tb_thread *t)
{
	struct task_struct *p;

	rcu_read_lock();
	p = pid_task(find_pid_ns(tid, &init_pid_ns), PIDTYPE_PID);
	if (p) {
		/* __set_task_comm() holds this lock from its tracepoint to the new name */
		task_lock(p);
		tb_thread_fill(t, p, p->comm, flags);
		task_unlock(p);
	}
	rcu_read_unlock();
	return p;
}

/* Write the names of the handlers of interrupt @irq.  Return false if it has none. */
static bool tb_irq_name(unsigned int irq, char *name, size_t size)
{
	struct irqaction *action;
	struct irq_data *data;
	struct irq_desc *desc;
	unsigned long flags;
	size_t len = 0;

	*name = '\0';
	/* RCU frees descriptors; actions are removed under the lock */
	rcu_read_lock();
	data = irq_get_irq_data(irq);
	if (data) {
		desc = irq_data_to_desc(data);
		raw_spin_lock_irqsave(&desc->lock, flags);
		for (action = desc->action; action; action = action->next)
			len += scnprintf(name + len, size - len, "%s%s",
					 len ? ", " : "", action->name ?: "?");
		raw_spin_unlock_irqrestore(&desc->lock, flags);
	}
	rcu_read_unlock();
	return len;
}

/* Write the names of interrupts and softirqs into the durable buffer.  Return 0, -ENOSPC. */
int tb_names_write(struct tb_provider *provider)
{
	/* softirq_to_name[] is not exported to modules */
	static const char *const softirqs[] = {
		[HI_SOFTIRQ]		= "HI",
		[TIMER_SOFTIRQ]		= "TIMER",
		[NET_TX_SOFTIRQ]	= "NET_TX",
		[NET_RX_SOFTIRQ]	= "NET_RX",
		[BLOCK_SOFTIRQ]		= "BLOCK",
		[IRQ_POLL_SOFTIRQ]	= "IRQ_POLL",
		[TASKLET_SOFTIRQ]	= "TASKLET",
		[SCHED_SOFTIRQ]		= "SCHED",
		[HRTIMER_SOFTIRQ]	= "HRTIMER",
		[RCU_SOFTIRQ]		= "RCU",
	};
	unsigned int i, n = tb_nr_irqs();
	char name[64];
	int err = 0;

	lockdep_assert_held(&provider->read_lock);
	for (i = 0; i < ARRAY_SIZE(softirqs) && !err; i++)
		err = tb_retention_add_string(provider, TB_STRING_SOFTIRQ, i, softirqs[i]);
	for (i = 0; i < n && !err; i++) {
		cond_resched();
		if (tb_irq_name(i, name, sizeof(name)))
			err = tb_retention_add_string(provider, TB_STRING_IRQ, i, name);
	}
	return err;
}

static notrace void tb_thread_queue(struct tb_provider *provider, struct task_struct *p, u32 tid,
				    const char *comm, u16 flags)
{
	struct tb_thread t;

	tb_tracepoint_enter();
	tb_thread_fill(&t, p, comm, flags);
	t.tid = tid;
	tb_thread_queue_push(&provider->threads, provider->clock.raw, &t);
	if (tb_thread_queue_count(&provider->threads) > TB_THREAD_QUEUE_SLOTS / 2)
		irq_work_queue(&provider->kick);
	tb_tracepoint_leave();
}

/* A program may change a thread in a loop, so the number of these records has a limit. */
static notrace void tb_thread_queue_change(struct tb_provider *provider, struct task_struct *p,
					   const char *comm, u16 flags)
{
	if (tb_thread_queue_rename(&provider->threads, p->pid))
		tb_thread_queue(provider, p, p->pid, comm, flags);
}

/* Unlike sched_process_fork, this tracepoint fires for threads of io_uring and vhost, too. */
static notrace void tb_threads_newtask(void *data, struct task_struct *child,
				       TB_CLONE_FLAGS clone_flags)
{
	/* the idle thread of a CPU that comes online has the record of all idle threads */
	if (child->pid)
		tb_thread_queue(data, child, child->pid, child->comm, TB_THREAD_FORK);
}

static notrace void tb_threads_exec(void *data, struct task_struct *p, pid_t old_pid,
				    struct linux_binprm *bprm)
{
	/*
	 * In execve() a thread other than the leader takes the leader's id.  No other event reports
	 * that its old id is gone.
	 */
	if (old_pid != p->pid)
		tb_thread_queue(data, p, old_pid, p->comm, TB_THREAD_EXIT);
	tb_thread_queue(data, p, p->pid, p->comm, TB_THREAD_NAME);
}

/* the tracepoint fires before the name is changed */
static notrace void tb_threads_rename(void *data, struct task_struct *p, const char *comm)
{
	tb_thread_queue_change(data, p, comm, TB_THREAD_NAME);
}

static notrace void tb_threads_exit(void *data, TB_PROCESS_EXIT_ARGS)
{
	tb_thread_queue(data, p, p->pid, p->comm, TB_THREAD_EXIT);
}

#ifdef CONFIG_CGROUPS
/*
 * The tracepoint fires after the move.  In another hierarchy the record says nothing new.  The
 * kernel holds a spinlock with interrupts off here, so the loop has a bound.  Threads beyond it
 * count as a loss, after which the recorder writes all threads again.
 */
static notrace void tb_threads_cgroup(void *data, struct cgroup *cgroup, const char *path,
				      struct task_struct *p, bool all)
{
	struct tb_provider *provider = data;
	struct task_struct *thread;
	unsigned int n = 0;

	if (!all) {
		tb_thread_queue_change(provider, p, p->comm, TB_THREAD_CGROUP);
		return;
	}
	rcu_read_lock();
	for_each_thread(p, thread) {
		if (n++ == TB_MOVED_MAX) {
			atomic64_add(max(get_nr_threads(p) - TB_MOVED_MAX, 1),
				     &provider->threads.lost);
			break;
		}
		tb_thread_queue_change(provider, thread, thread->comm, TB_THREAD_CGROUP);
	}
	rcu_read_unlock();
}
#endif

static struct tb_threads_probe {
	const char *name;
	void *probe;
} const tb_threads_probes[] = {
#ifdef CONFIG_CGROUPS
	{ "cgroup_attach_task", tb_threads_cgroup },
#endif
	{ "task_newtask", tb_threads_newtask },
	{ "sched_process_exec", tb_threads_exec },
	{ "task_rename", tb_threads_rename },
	{ "sched_process_exit", tb_threads_exit },
};

/* Never called: the compiler checks the probes against the prototypes of their tracepoints. */
static void __maybe_unused tb_threads_check_probe(void)
{
#ifdef CONFIG_CGROUPS
	check_trace_callback_type_cgroup_attach_task(tb_threads_cgroup);
#endif
	check_trace_callback_type_task_newtask(tb_threads_newtask);
	check_trace_callback_type_sched_process_exec(tb_threads_exec);
	check_trace_callback_type_task_rename(tb_threads_rename);
	check_trace_callback_type_sched_process_exit(tb_threads_exit);
}

static void tb_threads_detach_first(struct tb_provider *provider, unsigned int n)
{
	struct tracepoint *tp;

	while (n--) {
		tp = tb_events_tracepoint(tb_threads_probes[n].name);
		tracepoint_probe_unregister(tp, tb_threads_probes[n].probe, provider);
	}
}

/*
 * Record threads that start, change and exit.  The provider must exist until
 * tb_tracepoint_synchronize() has returned after tb_threads_detach().  After an error no probe is
 * attached.
 */
int tb_threads_attach(struct tb_provider *provider)
{
	struct tracepoint *tp;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(tb_threads_probes); i++) {
		tp = tb_events_tracepoint(tb_threads_probes[i].name);
		ret = tp ? tracepoint_probe_register(tp, tb_threads_probes[i].probe, provider) :
			   -ENOENT;
		if (ret) {
			tb_threads_detach_first(provider, i);
			return ret;
		}
	}
	return 0;
}

void tb_threads_detach(struct tb_provider *provider)
{
	tb_threads_detach_first(provider, ARRAY_SIZE(tb_threads_probes));
}
