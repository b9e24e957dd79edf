// SPDX-License-Identifier: GPL-2.0-only
/*
 * A map from numbers to pointers: open addressing, with a power of two of slots.
 */
#include <stdlib.h>
#include "map.h"

#define SLOTS_MIN 256

/* The slot where the search for @key begins */
static size_t home_of(const struct map *map, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15ull;

	return (size_t)(hash ^ hash >> 32) & (map->nr_slots - 1);
}

/* The slot of @key, or the empty slot for it */
static struct map_slot *find(const struct map *map, uint64_t key)
{
	size_t i = home_of(map, key);

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

/*
 * A slot in a search that passes the removed one moves there: one whose home is not between the
 * two.  Knuth, The Art of Computer Programming, volume 3, 6.4, algorithm R.
 */
void *map_remove(struct map *map, uint64_t key)
{
	size_t mask = map->nr_slots - 1, hole, i;
	struct map_slot *slot = map->nr_slots ? find(map, key) : NULL;
	void *value;

	if (!slot || !slot->used)
		return NULL;
	value = slot->value;
	hole = (size_t)(slot - map->slots);
	for (i = (hole + 1) & mask; map->slots[i].used; i = (i + 1) & mask) {
		if (((i - home_of(map, map->slots[i].key)) & mask) < ((i - hole) & mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole] = (struct map_slot){ 0 };
	map->used--;
	return value;
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
