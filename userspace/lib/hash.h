/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hashes for tables whose keys come from a file or from programs.  They depend on a secret of the
 * process, so that a hostile file cannot choose keys that make look-ups slow.
 */
#ifndef TRACEBUF_HASH_H
#define TRACEBUF_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Tests count steps, which must not grow faster than the file */
#ifdef TB_STEPS
extern uint64_t tb_steps;
#define TB_COUNT_STEP()	((void)__atomic_fetch_add(&tb_steps, 1, __ATOMIC_RELAXED))
#else
#define TB_COUNT_STEP()	((void)0)
#endif

/* @times is odd */
struct tb_secret {
	uint64_t mix, times;
};

/* Spread the bits of @seed: the finalizer of Stafford's Mix13, as in splitmix64 */
static inline uint64_t tb_spread(uint64_t seed)
{
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	return seed ^ seed >> 31;
}

/*
 * The C library makes the stack's canary and the guard of pointers from the same bytes, so the
 * secret must not tell them: their sum does not.
 */
static inline struct tb_secret tb_secret_of(const uint64_t random[2])
{
	uint64_t seed = random[0] * 0x9e3779b97f4a7c15ull + random[1] * 0xd1b54a32d192ed03ull;

	return (struct tb_secret){ tb_spread(seed), tb_spread(seed + 1) | 1 };
}

/* The secret of this process, from the random bytes of the kernel; without them a constant */
static inline struct tb_secret tb_secret(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	uint64_t random[2] = { 0 };

	if (bytes)
		memcpy(random, bytes, sizeof(random));
	return tb_secret_of(random);
}

/*
 * The upper bits are the hash.  A one-to-one mix spreads keys that are close together.  Then the
 * upper n bits of a product with a random odd number are equal for two keys with a probability of
 * 2^(1 - n) at most: Dietzfelbinger et al., A Reliable Randomized Algorithm for the Closest-Pair
 * Problem, 1997.
 */
static inline uint64_t tb_hash(const struct tb_secret *secret, uint64_t key)
{
	key = (key ^ secret->mix) * 0x9e3779b97f4a7c15ull;
	return (key ^ key >> 32) * secret->times;
}

/* The slot of @key in a table of @slots slots, 2^n and less than 2^32, by the upper n bits */
static inline size_t tb_hash_slot(const struct tb_secret *secret, uint64_t key, size_t slots)
{
	return (size_t)((tb_hash(secret, key) >> 32) * slots >> 32);
}

#endif /* TRACEBUF_HASH_H */
