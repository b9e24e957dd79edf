/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An array that grows, of things by their number.
 */
#ifndef TRACEBUF_SLOTS_H
#define TRACEBUF_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct slots {
	void **list;
	size_t count;
};

/** slots_get - number @index of them, @size bytes, zero at first; NULL: ENOMEM */
void *slots_get(struct slots *slots, uint32_t index, size_t size);

/** slots_free - all of them, each by @free_one */
void slots_free(struct slots *slots, void (*free_one)(void *));

#endif /* TRACEBUF_SLOTS_H */
