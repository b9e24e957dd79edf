// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stacks and performance counters, which follow the event that they belong to.  Their lengths are
 * checked against the record, and a stack's also against the longest that the kernel writes.
 */
#include "internal.h"

static void take_stack(const struct tb_walk *walk, struct tb_view *view)
{
	const struct tb_stack *stack = walk->payload;
	struct tb_stack head;

	if (walk->bytes < sizeof(*stack))
		return;
	memcpy(&head, stack, sizeof(head));
	tb_keep(&head);
	if (head.count > TB_STACK_MAX ||
	    head.count > (walk->bytes - sizeof(*stack)) / sizeof(stack->ip[0]))
		return;
	if (head.kind == TB_STACK_KERNEL) {
		view->stack = (const uint64_t *)stack->ip;
		view->nr_stack = head.count;
	} else if (head.kind == TB_STACK_USER) {
		view->user_stack = (const uint64_t *)stack->ip;
		view->nr_user_stack = head.count;
	}
}

static void take_counters(const struct tb_walk *walk, struct tb_view *view)
{
	const struct tb_counters *counters = walk->payload;

	uint32_t mask;

	if (walk->bytes < sizeof(*counters))
		return;
	mask = tb_once32(&counters->mask);
	if ((unsigned int)__builtin_popcount(mask) >
	    (walk->bytes - sizeof(*counters)) / sizeof(counters->value[0]))
		return;
	view->counters = (const uint64_t *)counters->value;
	view->counter_mask = mask;
}

/* @walk: at the event */
void tb_view_extras(const struct tb_walk *walk, struct tb_view *view)
{
	struct tb_walk ahead = *walk;

	while (tb_walk_has_extras(&ahead) && tb_walk_next(&ahead) == 1) {
		if (ahead.structure != TB_STRUCT_COMPOSITE)
			continue;
		if (ahead.id == TB_EV_STACK)
			take_stack(&ahead, view);
		else
			take_counters(&ahead, view);
	}
}

int tb_view_counter(const struct tb_view *view, unsigned int index,
		    uint32_t *number, uint64_t *value)
{
	uint32_t mask = view->counter_mask;
	unsigned int i;

	for (i = 0; mask && i < index; i++)
		mask &= mask - 1;
	if (!mask)
		return 0;
	*number = (uint32_t)__builtin_ctz(mask);
	*value = view->counters[index];
	return 1;
}
