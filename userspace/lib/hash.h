/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hashes for tables whose keys come from a file or from programs.  They depend on a secret of the
 * process, so that a hostile file cannot choose keys that make look-ups slow.
 */
#ifndef TRACEBUF_HASH_H
#define TRACEBUF_HASH_H

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

/* The secret of this process: the random bytes that the kernel gives it */
static inline struct tb_secret tb_secret(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	struct tb_secret secret = { 0 };

	if (random)
		memcpy(&secret, random, sizeof(secret));
	secret.times |= 1;
	return secret;
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

#endif /* TRACEBUF_HASH_H */
