/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A map from numbers, such as thread ids, to pointers.
 */
#ifndef TRACEBUF_MAP_H
#define TRACEBUF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include "lib/hash.h"

/* @value: NULL: the key is not in the map */
struct map_entry {
	uint64_t key;
	void *value;
};

/**
 * struct map - all zero: empty
 * @entries, @count: in the order in which they were added
 * @slots: 1 + index of an entry, by hash; 0: free
 */
struct map {
	struct map_entry *entries;
	size_t count, room;
	uint32_t *slots;
	size_t nr_slots;
	struct tb_secret secret;
};

/* The place of @key's value, which is NULL at first; valid until the next call.  NULL: no memory */
void **map_at(struct map *map, uint64_t key);

/* The value of @key, or NULL */
void *map_get(const struct map *map, uint64_t key);

/* Remove @key; return its value, or NULL */
void *map_remove(struct map *map, uint64_t key);

/* A key of @map for @length bytes.  Others may have the same key, but no file can choose them */
uint64_t map_key(struct map *map, const void *data, size_t length);

/* Empty the map; calls @free_value, if not NULL, for each value */
void map_free(struct map *map, void (*free_value)(void *value));

#endif /* TRACEBUF_MAP_H */
