// SPDX-License-Identifier: GPL-2.0-only
/*
 * A map from numbers to pointers: an array of entries, and a table with their indexes by hash (open
 * addressing, linear probing, half full at most).
 */
#include <stdlib.h>
#include "map.h"

#define ROOM_MIN 64

static void set_secret(struct map *map)
{
	if (!map->secret.times)
		map->secret = tb_secret();
}

/* The slot where the search for @key begins; there are 2^n slots */
static size_t home_of(const struct map *map, uint64_t key)
{
	return tb_hash_slot(&map->secret, key, map->nr_slots);
}

/* The slot of @key, or the free slot for it */
static uint32_t *find(const struct map *map, uint64_t key)
{
	size_t i = home_of(map, key);

	for (; map->slots[i]; i = (i + 1) & (map->nr_slots - 1)) {
		TB_COUNT_STEP();
		if (map->entries[map->slots[i] - 1].key == key)
			break;
	}
	return &map->slots[i];
}

/* Close the gaps between the entries; return the number of entries */
static size_t pack(struct map_entry *entries, size_t count)
{
	size_t kept = 0, i;

	for (i = 0; i < count; i++)
		if (entries[i].value)
			entries[kept++] = entries[i];
	return kept;
}

/* Pack the entries, and double their room if more than half remain */
static int make_room(struct map *map)
{
	size_t room = map->room ? map->room : ROOM_MIN, i;
	struct map_entry *entries;
	uint32_t *slots;

	set_secret(map);
	map->count = pack(map->entries, map->count);
	if (map->count > room / 2)
		room *= 2;
	slots = room > UINT32_MAX / 2 ? NULL : calloc(2 * room, sizeof(*slots));
	entries = slots ? realloc(map->entries, room * sizeof(*entries)) : NULL;
	if (entries) {
		free(map->slots);
		map->slots = slots;
		map->nr_slots = 2 * room;
		map->entries = entries;
		map->room = room;
	} else {
		free(slots);
		if (!map->nr_slots)
			return -1;
		memset(map->slots, 0, map->nr_slots * sizeof(*map->slots));
	}
	for (i = 0; i < map->count; i++)
		*find(map, map->entries[i].key) = (uint32_t)i + 1;
	return map->count < map->room ? 0 : -1;
}

void **map_at(struct map *map, uint64_t key)
{
	uint32_t *slot;

	if (map->count == map->room && make_room(map))
		return NULL;
	slot = find(map, key);
	if (!*slot) {
		map->entries[map->count] = (struct map_entry){ .key = key };
		map->count++;
		*slot = (uint32_t)map->count;
	}
	return &map->entries[*slot - 1].value;
}

void *map_get(const struct map *map, uint64_t key)
{
	uint32_t index = map->nr_slots ? *find(map, key) : 0;

	return index ? map->entries[index - 1].value : NULL;
}

/*
 * A search must not end at the slot that becomes free, so a later index moves there if its search
 * begins there or before: Knuth, The Art of Computer Programming, volume 3, 6.4, algorithm R.
 */
void *map_remove(struct map *map, uint64_t key)
{
	size_t mask = map->nr_slots - 1, hole, i;
	uint32_t *slot = map->nr_slots ? find(map, key) : NULL;
	void *value;

	if (!slot || !*slot)
		return NULL;
	value = map->entries[*slot - 1].value;
	map->entries[*slot - 1].value = NULL;
	hole = (size_t)(slot - map->slots);
	for (i = (hole + 1) & mask; map->slots[i]; i = (i + 1) & mask) {
		key = map->entries[map->slots[i] - 1].key;
		if (((i - home_of(map, key)) & mask) < ((i - hole) & mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole] = 0;
	return value;
}

uint64_t map_key(struct map *map, const void *data, size_t length)
{
	const unsigned char *at = data;
	uint64_t key, word;

	set_secret(map);
	key = tb_hash(&map->secret, length);
	for (; length >= sizeof(word); length -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		key = tb_hash(&map->secret, key ^ word);
	}
	word = 0;
	memcpy(&word, at, length);
	return tb_hash(&map->secret, key ^ word);
}

void map_free(struct map *map, void (*free_value)(void *value))
{
	size_t i;

	for (i = 0; free_value && i < map->count; i++)
		free_value(map->entries[i].value);
	free(map->entries);
	free(map->slots);
	memset(map, 0, sizeof(*map));
}
