// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of threads: whose events a provider records.
 *
 * A bit for each thread id there can be, so that asking is one load in any context.
 * Threads come and ids are used again: a probe on task_newtask, which the maker of a
 * thread runs before that can run itself, sets or clears the new one's bit.  So the bit of a
 * thread that is gone does not matter, and nothing need be done when it goes.  That tracepoint
 * rather than sched_process_fork, which the kernel leaves out for the threads it adds to a
 * process itself (io_uring's).
 *
 * Who inherits: with TB_PIDS_PROCESS a thread of the same process, with TB_PIDS_CHILDREN the
 * first thread of another.  From whom: with TB_PIDS_PROCESS from the leader, whose id is that of
 * the process and not used again while there is a thread of it; else from the thread that makes it.
 *
 * No thread of a process is missed while the set comes into being:
 *
 *	1. the probes are attached
 *	2. the bits of the ids given are set, with TB_PIDS_PROCESS those of leaders
 *	3. all probes that are running, or tracepoints that were passed without one, come to an end
 *	4. with TB_PIDS_PROCESS the bits of all threads in the processes' lists are set
 *
 * A thread is in the list before its maker gets to the tracepoint.  If that is over by 3 the
 * thread is found by 4; else its probe runs after 2 and sees the leader's bit.  And no such probe
 * clears a bit that 4 has set, for after 3 all of them see it.
 *
 * If a thread ends while its bit is being set (2, 4), and at once another one gets its id, the bit
 * may be set after that one's probe has cleared it: ids would have to go round meanwhile.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "machine/compat.h"
#include "machine/contiguous.h"
#include "thread_set.h"

/* ---- probes ----------------------------------------------------------- */

/* Run by who makes the thread; that one has not run yet, but is in the list of its process. */
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

/* When another thread than the leader calls execve() it takes the leader's id. */
static notrace void tb_thread_set_exec(void *data, struct task_struct *p, pid_t old_pid,
				       struct linux_binprm *bprm)
{
	struct tb_thread_set *s = data;

	if (old_pid != p->pid && test_bit(old_pid, s->member))
		set_bit(p->pid, s->member);
}

/* Never called: the compiler is to compare the prototypes. */
static void __maybe_unused tb_thread_set_check_probe(void)
{
	check_trace_callback_type_task_newtask(tb_thread_set_newtask);
	check_trace_callback_type_sched_process_exec(tb_thread_set_exec);
}

/* ---- making ----------------------------------------------------------- */

/* what an id must be of */
static enum pid_type tb_thread_set_type(const struct tb_thread_set *s)
{
	return s->flags & TB_PIDS_PROCESS ? PIDTYPE_TGID : PIDTYPE_PID;
}

/* Finds those with the ids @pids. */
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

/* It is known by its bits alone from now on. */
static void tb_thread_set_forget(struct tb_thread_set *s)
{
	while (s->nr_given)
		put_pid(s->given[--s->nr_given]);
	kvfree(s->given);
	s->given = NULL;
}

/**
 * tb_thread_set_make() - make a set
 * @out: the set, to be freed with tb_thread_set_free(); empty until tb_thread_set_attach()
 * @pids: ids as the caller's namespace has them
 * @count: how many, 1 to TB_PIDS_MAX
 * @flags: TB_PIDS_*
 * @bad: out: the place in @pids of the one there is not, with -ESRCH
 *
 * Context: process; the one whose namespace it is.
 * Return: 0; -EINVAL; -ESRCH no such thread, or with TB_PIDS_PROCESS process; -ENOMEM.
 */
int tb_thread_set_make(struct tb_thread_set **out, const u32 *pids, u32 count, u32 flags, u32 *bad)
{
	struct tb_thread_set *s;
	int err = -ENOMEM;

	if (!count || count > TB_PIDS_MAX ||
	    flags & ~(TB_PIDS_EXCLUDE | TB_PIDS_PROCESS | TB_PIDS_CHILDREN))
		return -EINVAL;
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

/* 2: those given that there still are. */
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

/* 4: all threads of the processes given. */
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
 * tb_thread_set_attach() - fill a set, and keep it up from now on
 * @s: the set, just made
 * @newtask: tracepoint task_newtask
 * @exec: tracepoint sched_process_exec
 *
 * Threads of the processes given that come while this runs are in it when it returns, so it
 * is to be used after that.
 *
 * Context: process, sleeps; the caller serialises it with tb_thread_set_detach().
 * Return: 0; errors of tracepoint_probe_register(), and nothing is attached.
 */
int tb_thread_set_attach(struct tb_thread_set *s, struct tracepoint *newtask,
			 struct tracepoint *exec)
{
	int err = tracepoint_probe_register(newtask, tb_thread_set_newtask, s);

	if (err)
		return err;
	s->newtask = newtask;
	err = tracepoint_probe_register(exec, tb_thread_set_exec, s);
	if (err) {
		tb_thread_set_detach(s);
		/* tb_thread_set_free() does not know of it any more */
		tracepoint_synchronize_unregister();
		return err;
	}
	s->exec = exec;
	tb_thread_set_add_given(s);
	/* 3: see above */
	tracepoint_synchronize_unregister();
	if (s->flags & TB_PIDS_PROCESS)
		tb_thread_set_add_threads(s);
	tb_thread_set_forget(s);
	return 0;
}

/**
 * tb_thread_set_detach() - do not keep a set up any more
 * @s: the set; not attached is fine
 *
 * Its probes may still be running: tb_events_synchronize() must come before tb_thread_set_free().
 *
 * Context: process; the caller serialises it with tb_thread_set_attach().
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

/**
 * tb_thread_set_free() - give a set back
 * @s: detached, with nobody using it any more: a tb_events_synchronize() after both; may be NULL
 *
 * Context: process.
 */
void tb_thread_set_free(struct tb_thread_set *s)
{
	if (!s)
		return;
	tb_thread_set_forget(s);
	kvfree(s->member);
	kfree(s);
}
