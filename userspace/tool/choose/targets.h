/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a device, and which of them a choice means.
 */
#ifndef TRACEBUF_TARGETS_H
#define TRACEBUF_TARGETS_H

#include <stddef.h>
#include <stdint.h>
#include "choose.h"
#include "tracebuf.h"

/**
 * struct target - an existing event
 * @index: its index in the device
 * @item: the last part that chooses it; NULL: not chosen
 * @calls: the chosen system calls; NULL: all
 */
struct target {
	struct tb_event_info info;
	uint32_t index;
	const struct item *item;
	struct syscall_set *calls;
};

struct targets {
	struct target *list;
	size_t count;
};

/* Read all events of the device; complains, EXIT_*.  The caller frees @targets in any case */
int targets_read(struct tb_device *device, struct targets *targets);
void targets_free(struct targets *targets);

/* Set the item and calls of each target that @choice means; complains, EXIT_* */
int targets_choose(struct tb_device *device, struct targets *targets,
		   const struct choice *choice);

/* The bits for this event: raw_syscalls:sys_enter or sys_exit; NULL: another event */
const unsigned char *call_bits(const struct syscall_set *calls,
			       const struct tb_event_info *info);

#endif /* TRACEBUF_TARGETS_H */
