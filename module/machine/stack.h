/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call stacks of the kernel and of user space.
 */
#ifndef TB_MACHINE_STACK_H
#define TB_MACHINE_STACK_H

#include <linux/types.h>

struct module;
struct tracepoint;

/**
 * struct tb_stack_iterator - the function that a tracepoint with several probes calls
 * @start: its address
 * @bytes: its size; 0: not known
 */
struct tb_stack_iterator {
	unsigned long start;
	unsigned long bytes;
};

void tb_stack_iterator_find(struct tb_stack_iterator *it, const struct tracepoint *tp);
u32 tb_stack_kernel(u64 *ip, u32 max, const struct module *owner,
		    const struct tb_stack_iterator *it);
u32 tb_stack_user(u64 *ip, u32 max);

#endif /* TB_MACHINE_STACK_H */
