/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A growing array of objects by number.
 */
#ifndef TRACEBUF_SLOTS_H
#define TRACEBUF_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct slots {
	void **list;
	size_t count;
};

/** slots_get - return object @index; allocate it with @size zero bytes if needed; NULL: ENOMEM */
void *slots_get(struct slots *slots, uint32_t index, size_t size);

/** slots_free - free each object by @free_one, and the array */
void slots_free(struct slots *slots, void (*free_one)(void *));

#endif /* TRACEBUF_SLOTS_H */
