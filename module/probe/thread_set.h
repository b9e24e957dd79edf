/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of threads: a provider records the events of the threads in its set.
 */
#ifndef TB_PROBE_THREAD_SET_H
#define TB_PROBE_THREAD_SET_H

#include <linux/bitops.h>
#include <linux/threads.h>
#include <linux/tracebuf.h>
#include <linux/types.h>

struct pid;
struct tracepoint;

/**
 * struct tb_thread_set - a set of threads, ids of the initial namespace
 * @flags: TB_PIDS_*
 * @member: a bit for each id
 * @given: the threads or processes that the user gave, until the set is attached
 * @nr_given: number of @given
 * @newtask: tracepoint task_newtask while the set is attached, else NULL
 * @exec: tracepoint sched_process_exec while the set is attached, else NULL
 */
struct tb_thread_set {
	u32 flags;
	unsigned long *member;
	struct pid **given;
	u32 nr_given;
	struct tracepoint *newtask;
	struct tracepoint *exec;
};

int tb_thread_set_make(struct tb_thread_set **out, const u32 *pids, u32 count, u32 flags, u32 *bad);
int tb_thread_set_attach(struct tb_thread_set *s, struct tracepoint *newtask,
			 struct tracepoint *exec);
void tb_thread_set_detach(struct tb_thread_set *s);
void tb_thread_set_free(struct tb_thread_set *s);

/*
 * Return true if the provider records events of thread @tid.  A number that is no id is not a
 * member.  Any context, preemption off.
 */
static __always_inline bool tb_thread_set_has(const struct tb_thread_set *s, pid_t tid)
{
	bool member = (u32)tid < PID_MAX_LIMIT && test_bit(tid, s->member);

	return member != !!(s->flags & TB_PIDS_EXCLUDE);
}

#endif /* TB_PROBE_THREAD_SET_H */
