// SPDX-License-Identifier: GPL-2.0-only
/*
 * A list of pointers that any context reads without a lock.
 *
 * When the list grows, a copy replaces it, and RCU frees the old one.  Removing a pointer leaves a
 * hole, because it must not fail; removing the last one frees the list.  Process context, under a
 * mutex of the caller.  Callers: events/module_event.c, select/handler.c.
 */
#include <linux/slab.h>

#include "contiguous.h"
#include "pointer_list.h"

/* Add a pointer, unless the list has it.  Return 0 or -ENOMEM. */
int tb_list_add(struct tracebuf_list __rcu **list, void *pointer, struct mutex *lock)
{
	struct tracebuf_list *old = rcu_dereference_protected(*list, lockdep_is_held(lock)), *new;
	u32 i, count = old ? old->count : 0, hole = count;

	lockdep_assert_held(lock);
	for (i = 0; i < count; i++) {
		if (old->at[i] == pointer)
			return 0;
		if (!old->at[i])
			hole = i;
	}
	if (hole < count) {
		/* the object before its pointer: pairs with the dependent load in probes */
		smp_store_release(&old->at[hole], pointer);
		return 0;
	}
	new = kzalloc(struct_size(new, at, count + 1), TB_GFP);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		new->at[i] = old->at[i];
	new->at[count] = pointer;
	new->count = count + 1;
	rcu_assign_pointer(*list, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/* Remove a pointer; probes may use it until a grace period has passed. */
void tb_list_remove(struct tracebuf_list __rcu **list, const void *pointer, struct mutex *lock)
{
	struct tracebuf_list *old = rcu_dereference_protected(*list, lockdep_is_held(lock));
	bool empty = true;
	u32 i;

	lockdep_assert_held(lock);
	if (!old)
		return;
	for (i = 0; i < old->count; i++) {
		if (old->at[i] == pointer)
			WRITE_ONCE(old->at[i], NULL);
		empty = empty && !old->at[i];
	}
	if (empty) {
		RCU_INIT_POINTER(*list, NULL);
		kfree_rcu(old, rcu);
	}
}
