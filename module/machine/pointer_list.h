/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A list of pointers that any context reads, and that process context changes under a mutex of the
 * caller.
 */
#ifndef TB_MACHINE_POINTER_LIST_H
#define TB_MACHINE_POINTER_LIST_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

/**
 * struct tracebuf_list - the list; include/linux/tracebuf.h declares it
 * @rcu: for freeing it
 * @count: size of @at
 * @at: the pointers; NULL: a hole
 */
struct tracebuf_list {
	struct rcu_head rcu;
	u32 count;
	void *at[];
};

int tb_list_add(struct tracebuf_list __rcu **list, void *pointer, struct mutex *lock);
void tb_list_remove(struct tracebuf_list __rcu **list, const void *pointer, struct mutex *lock);

/*
 * Return the list or NULL.  Any context where RCU is watching, with preemption off as long as the
 * list is in use.  Not rcu_dereference_sched(): its checks can be traced.
 */
static __always_inline const struct tracebuf_list *
tb_list_read(struct tracebuf_list __rcu *const *list)
{
	return rcu_dereference_raw(*list);
}

#endif /* TB_MACHINE_POINTER_LIST_H */
