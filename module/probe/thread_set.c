// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of threads: a provider records the events of the threads in its set.
 *
 * A set has a bit for each possible thread id, 512 KiB in all, so a look-up is one load in any
 * context.  The kernel uses ids again, so a probe on task_newtask sets or clears the bit of each
 * new thread; the creator of the thread calls it before the thread runs.  So the bit of an ended
 * thread does not matter.
 *
 * Caller: select/rule.c, in process context.  The probes run in process context, too.  No lock.
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "machine/compat.h"
#include "machine/contiguous.h"
#include "thread_set.h"

/* ---- probes ----------------------------------------------------------- */

/*
 * The creator of the thread calls it.  @child is in the list of its process, and has not run yet.
 * The tracepoint is not sched_process_fork: the kernel does not call that for threads that it adds
 * to a process itself (io_uring).
 *
 * With TB_PIDS_PROCESS a new thread of the same process inherits the bit, with TB_PIDS_CHILDREN the
 * first thread of a new process.  Without TB_PIDS_PROCESS it inherits from its creator; with it,
 * from the leader of its creator, because no other thread gets the leader's id while the process
 * has threads.
 */
static notrace void tb_thread_set_newtask(void *data, struct task_struct *child,
					  TB_CLONE_FLAGS flags)
{
	bool process = child->tgid != current->tgid;
	struct tb_thread_set *s = data;
	pid_t from = s->flags & TB_PIDS_PROCESS ? current->tgid : current->pid;

	if ((s->flags & (process ? TB_PIDS_CHILDREN : TB_PIDS_PROCESS)) &&
	    test_bit(from, s->member))
		set_bit(child->pid, s->member);
	else
		clear_bit(child->pid, s->member);
}

/* A thread that calls execve() and is not the leader takes the leader's id. */
static notrace void tb_thread_set_exec(void *data, struct task_struct *p, pid_t old_pid,
				       struct linux_binprm *bprm)
{
	struct tb_thread_set *s = data;

	if (old_pid != p->pid && test_bit(old_pid, s->member))
		set_bit(p->pid, s->member);
}

/* Never called: makes the compiler compare the prototypes. */
static void __maybe_unused tb_thread_set_check_probe(void)
{
	check_trace_callback_type_task_newtask(tb_thread_set_newtask);
	check_trace_callback_type_sched_process_exec(tb_thread_set_exec);
}

/* ---- making ----------------------------------------------------------- */

static enum pid_type tb_thread_set_type(const struct tb_thread_set *s)
{
	return s->flags & TB_PIDS_PROCESS ? PIDTYPE_TGID : PIDTYPE_PID;
}

/* Finds the threads or processes with the ids @pids, and keeps references to them. */
static int tb_thread_set_find(struct tb_thread_set *s, const u32 *pids, u32 count, u32 *bad)
{
	struct pid *pid;

	for (; s->nr_given < count; s->nr_given++) {
		rcu_read_lock();
		pid = find_vpid(pids[s->nr_given]);
		if (pid && !pid_task(pid, tb_thread_set_type(s)))
			pid = NULL;
		get_pid(pid);
		rcu_read_unlock();
		if (!pid) {
			*bad = s->nr_given;
			return -ESRCH;
		}
		s->given[s->nr_given] = pid;
	}
	return 0;
}

static void tb_thread_set_forget(struct tb_thread_set *s)
{
	while (s->nr_given)
		put_pid(s->given[--s->nr_given]);
	kvfree(s->given);
	s->given = NULL;
}

/**
 * tb_thread_set_make() - make a set
 * @out: out: the set, to free with tb_thread_set_free(); empty until tb_thread_set_attach()
 * @pids: ids in the caller's namespace
 * @count: number of ids, 1 to TB_PIDS_MAX
 * @flags: TB_PIDS_*, legal
 * @bad: out: with -ESRCH, index of the wrong id in @pids
 *
 * Context: process; current has the namespace of @pids.
 * Return: 0; -ESRCH no such thread, or with TB_PIDS_PROCESS no such process; -ENOMEM.
 */
int tb_thread_set_make(struct tb_thread_set **out, const u32 *pids, u32 count, u32 flags, u32 *bad)
{
	struct tb_thread_set *s;
	int err = -ENOMEM;

	s = kzalloc(sizeof(*s), TB_GFP);
	if (!s)
		return -ENOMEM;
	s->flags = flags;
	s->member = kvcalloc(BITS_TO_LONGS(PID_MAX_LIMIT), sizeof(*s->member), TB_GFP);
	s->given = kvcalloc(count, sizeof(*s->given), TB_GFP);
	if (s->member && s->given)
		err = tb_thread_set_find(s, pids, count, bad);
	if (err)
		tb_thread_set_free(s);
	else
		*out = s;
	return err;
}

/* ---- attaching -------------------------------------------------------- */

/*
 * Attaching misses no thread of a process:
 *
 *	1. attach the probes
 *	2. set the bits of the given ids; with TB_PIDS_PROCESS these are leaders
 *	3. wait until running probes, and tracepoints passed without a probe, have ended
 *	4. with TB_PIDS_PROCESS set the bits of all threads in the processes' lists
 *
 * A new thread is in the list before its creator reaches the tracepoint.  If the creator has passed
 * the tracepoint by step 3, step 4 finds the thread.  Otherwise the probe runs after step 2, and
 * sees the leader's bit.  No probe clears a bit that step 4 has set: after step 3 all see the
 * leader's bit.
 *
 * One race remains: a thread ends while step 2 or 4 sets its bit, and a new thread gets its id.
 * Then the step may set the bit after the new thread's probe has cleared it.  That takes a kernel
 * that uses all other ids meanwhile.
 */

/* Step 2: sets the bits of given threads that still exist. */
static void tb_thread_set_add_given(struct tb_thread_set *s)
{
	u32 i;

	for (i = 0; i < s->nr_given; i++) {
		rcu_read_lock();
		if (pid_task(s->given[i], tb_thread_set_type(s)))
			set_bit(pid_nr(s->given[i]), s->member);
		rcu_read_unlock();
	}
}

/* Step 4: sets the bits of all threads of the given processes. */
static void tb_thread_set_add_threads(struct tb_thread_set *s)
{
	struct task_struct *leader, *t;
	u32 i;

	for (i = 0; i < s->nr_given; i++) {
		rcu_read_lock();
		leader = pid_task(s->given[i], PIDTYPE_TGID);
		if (leader)
			for_each_thread(leader, t)
				set_bit(t->pid, s->member);
		rcu_read_unlock();
		cond_resched();
	}
}

/**
 * tb_thread_set_attach() - fill a set, and keep it up to date from now on
 * @s: the set, just made
 * @newtask: tracepoint task_newtask, or NULL
 * @exec: tracepoint sched_process_exec, or NULL
 *
 * The caller uses the set only after this returns: then it has the threads that the given processes
 * created meanwhile.
 *
 * Context: process, sleeps; the caller serialises it with tb_thread_set_detach().
 * Return: 0; -ENOENT a tracepoint is missing; an error of tracepoint_probe_register().  After an
 * error nothing is attached.
 */
int tb_thread_set_attach(struct tb_thread_set *s, struct tracepoint *newtask,
			 struct tracepoint *exec)
{
	int err;

	if (!newtask || !exec)
		return -ENOENT;
	err = tracepoint_probe_register(newtask, tb_thread_set_newtask, s);
	if (err)
		return err;
	s->newtask = newtask;
	err = tracepoint_probe_register(exec, tb_thread_set_exec, s);
	if (err) {
		tb_thread_set_detach(s);
		/* the caller may free the set: a probe may still be running */
		tracepoint_synchronize_unregister();
		return err;
	}
	s->exec = exec;
	tb_thread_set_add_given(s);
	/* step 3 */
	tracepoint_synchronize_unregister();
	if (s->flags & TB_PIDS_PROCESS)
		tb_thread_set_add_threads(s);
	tb_thread_set_forget(s);
	return 0;
}

/*
 * Do not keep a set up to date any more; it need not be attached.  Its probes may still be running:
 * tb_tracepoint_synchronize() must come before tb_thread_set_free().  The caller serialises attach
 * and detach.
 */
void tb_thread_set_detach(struct tb_thread_set *s)
{
	if (s->exec)
		tracepoint_probe_unregister(s->exec, tb_thread_set_exec, s);
	if (s->newtask)
		tracepoint_probe_unregister(s->newtask, tb_thread_set_newtask, s);
	s->exec = NULL;
	s->newtask = NULL;
}

/*
 * Free a set, or NULL, that is detached and not in use, with a tb_tracepoint_synchronize() after
 * both.
 */
void tb_thread_set_free(struct tb_thread_set *s)
{
	if (!s)
		return;
	tb_thread_set_forget(s);
	kvfree(s->member);
	kfree(s);
}
