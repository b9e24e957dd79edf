// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map from numbers to pointers, compared with an array, and the number of its steps for keys
 * that a hostile file could choose.  If this breaks, reports and exports lose threads, or take
 * hours for a crafted file.
 */
#include "analysis/map.h"
#include "test_lib_fixture.h"

#define KEYS 3000
#define ROUNDS 200000
#define MANY 100000

static uint32_t up_to(uint32_t most)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % most;
}

/* The keys of the model that are in the map, and no others, have their values */
static void compare(const struct map *map, uintptr_t *model)
{
	size_t present = 0, found = 0, i;

	for (i = 0; i < KEYS; i++) {
		CHECK(map_get(map, i * 7) == (void *)model[i]);
		present += model[i] != 0;
	}
	for (i = 0; i < map->count; i++)
		found += map->entries[i].value ? 1 : 0;
	CHECK_NUMBER(found, present);
}

static void against_array(void)
{
	static uintptr_t model[KEYS];
	struct map map = { 0 };
	uint32_t round, key;
	void **at;

	CHECK(!map_get(&map, 1) && !map_remove(&map, 1));
	for (round = 1; round <= ROUNDS; round++) {
		/* first mostly new keys, later mostly removals */
		key = up_to(KEYS);
		if (up_to(ROUNDS) < round) {
			CHECK(map_remove(&map, key * 7) == (void *)model[key]);
			model[key] = 0;
		} else {
			at = map_at(&map, key * 7);
			assert(at);
			CHECK(*at == (void *)model[key]);
			model[key] = round;
			*at = (void *)(uintptr_t)round;
		}
		if (round % 10000 == 0)
			compare(&map, model);
	}
	/* removed entries give way to new ones */
	CHECK(map.room <= 4 * KEYS);
	map_free(&map, NULL);
	CHECK(!map.count && !map_get(&map, 7));
}

/* Entries stay in the order in which they came */
static void order(void)
{
	struct map map = { 0 };
	uint64_t last = 0;
	size_t i;

	for (i = 1; i <= MANY; i++)
		*map_at(&map, i) = &map;
	for (i = 1; i <= MANY; i += 3)
		map_remove(&map, i);
	*map_at(&map, 1) = *map_at(&map, 2 * MANY) = &map;
	for (i = 0; i < map.count; i++) {
		if (!map.entries[i].value || map.entries[i].key == 1)
			continue;
		CHECK(map.entries[i].key > last);
		last = map.entries[i].key;
	}
	map_free(&map, NULL);
}

/* If the secret were a constant, these keys would be in 16 of 16384 slots */
static void hostile_keys(void)
{
	const uint64_t zero[2] = { 0 };
	const struct tb_secret none = tb_secret_of(zero);
	struct map map = { 0 };
	uint64_t key, count = 0;

	tb_steps = 0;
	for (key = 0; count < KEYS; key++) {
		if (tb_hash_slot(&none, key, 16384) >= 16)
			continue;
		*map_at(&map, key) = &map;
		count++;
	}
	CHECK(tb_steps < 20ull * KEYS);
	map_free(&map, NULL);
}

/* Texts that differ have keys that differ, whatever their length */
static void texts(void)
{
	struct map map = { 0 };
	char text[40] = { 0 };
	uint32_t i;
	void **at;

	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "%u", i);
		at = map_at(&map, map_key(&map, text, i % (sizeof(text) - 7) + 7));
		assert(at);
		CHECK(!*at);
		*at = &map;
	}
	CHECK(map_key(&map, text, 8) == map_key(&map, text, 8));
	map_free(&map, NULL);
}

static const struct test tests[] = {
	{ "against an array", against_array },
	{ "order of entries", order },
	{ "hostile keys", hostile_keys },
	{ "keys of texts", texts },
};

TEST_MAIN(tests)
