// SPDX-License-Identifier: GPL-2.0-only
/*
 * A map from numbers to pointers: open addressing, with a power of two of slots.
 */
#include <stdlib.h>
#include "map.h"

#define SLOTS_MIN 256

/* The slot of @key, or the empty slot for it */
static struct map_slot *find(const struct map *map, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(hash ^ hash >> 32) & (map->nr_slots - 1);

	while (map->slots[i].used && map->slots[i].key != key)
		i = (i + 1) & (map->nr_slots - 1);
	return &map->slots[i];
}

static int grow(struct map *map)
{
	struct map bigger = {
		.nr_slots = map->nr_slots ? map->nr_slots * 2 : SLOTS_MIN,
		.used = map->used,
	};
	size_t i;

	bigger.slots = calloc(bigger.nr_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (i = 0; i < map->nr_slots; i++)
		if (map->slots[i].used)
			*find(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return 0;
}

void **map_at(struct map *map, uint64_t key)
{
	struct map_slot *slot;

	if (map->used * 4 >= map->nr_slots * 3 && grow(map))
		return NULL;
	slot = find(map, key);
	if (!slot->used) {
		slot->used = 1;
		slot->key = key;
		map->used++;
	}
	return &slot->value;
}

void *map_get(const struct map *map, uint64_t key)
{
	return map->nr_slots ? find(map, key)->value : NULL;
}

void map_free(struct map *map, void (*free_value)(void *value))
{
	size_t i;

	for (i = 0; free_value && i < map->nr_slots; i++)
		if (map->slots[i].used)
			free_value(map->slots[i].value);
	free(map->slots);
	map->slots = NULL;
	map->nr_slots = map->used = 0;
}
