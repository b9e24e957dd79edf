/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A map from numbers, such as thread ids, to pointers.
 */
#ifndef TRACEBUF_MAP_H
#define TRACEBUF_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value;
	uint32_t used;
};

/* All zero: empty */
struct map {
	struct map_slot *slots;
	size_t nr_slots, used;
};

/* The place of @key's value, which is NULL at first; valid until the next call.  NULL: no memory */
void **map_at(struct map *map, uint64_t key);

/* The value of @key, or NULL */
void *map_get(const struct map *map, uint64_t key);

/* Remove @key, if it is there; return its value or NULL */
void *map_remove(struct map *map, uint64_t key);

/* Empty the map; calls @free_value, if not NULL, for each value */
void map_free(struct map *map, void (*free_value)(void *value));

#endif /* TRACEBUF_MAP_H */
