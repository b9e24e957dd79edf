/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a device, and what was chosen of them.
 */
#ifndef TRACEBUF_TARGETS_H
#define TRACEBUF_TARGETS_H

#include <stddef.h>
#include <stdint.h>
#include "choose.h"
#include "tracebuf.h"

/**
 * struct target - an event there is, and what is wanted of it
 * @item: the last that chose it, NULL: not chosen
 * @calls: those of its system calls, NULL: all
 */
struct target {
	struct tb_event_info info;
	uint32_t index;
	const struct item *item;
	struct calls *calls;
};

struct targets {
	struct target *list;
	size_t count;
};

/* All there are; complains, EXIT_*.  To be freed either way */
int targets_read(struct tb_device *device, struct targets *targets);
void targets_free(struct targets *targets);

/* Which of them @choice chooses; complains, EXIT_* */
int targets_choose(struct tb_device *device, struct targets *targets,
		   const struct choice *choice);

/* The bits that are for this event: of calls that begin, or return; NULL */
const unsigned char *call_bits(const struct calls *calls,
			       const struct tb_event_info *info);

#endif /* TRACEBUF_TARGETS_H */
