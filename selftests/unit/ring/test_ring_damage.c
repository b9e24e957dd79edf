// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flipped bit in the ring's state costs events, but the kernel stays within the ring's memory and
 * never loops, and the next recording is exact. If this fails, one stray write of a driver lets
 * tracebuf destroy other memory or hang the machine. The test flips each bit, but those of
 * addresses and sizes, in several situations, under the address and undefined behaviour sanitizers.
 *
 * selftests/torture/flips.c does the same in the kernel, and checks what was read.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "ring_hooks.h"
#include "ring_ktap.h"

#define BUFFERS		4
#define CAPACITY	64
#define EVENTS		(3 * BUFFERS * CAPACITY)

static u64 now = 1000;
static struct tb_cpu_ring *r;

void (*tb_point_hook)(const volatile void *p);
void (*tb_changed_hook)(const volatile void *p, u64 old, u64 new);

u64 tb_user_clock(bool raw)
{
	(void)raw;
	return now++;
}

u32 tb_user_tid(void)
{
	return 1;
}

void tb_ring_path(enum tb_ring_path path)
{
	(void)path;
}

/* Separate allocations, so that the sanitizer sees an access beyond one. */
static void set_up(bool overwrite)
{
	u32 i;

	r = aligned_alloc(TB_RING_IMAGE_ALIGN, sizeof(*r));
	memset(r, 0, sizeof(*r));
	r->bufs = aligned_alloc(64, BUFFERS * sizeof(*r->bufs));
	memset(r->bufs, 0, BUFFERS * sizeof(*r->bufs));
	r->nr = BUFFERS;
	r->capacity = CAPACITY;
	r->watermark = CAPACITY * 7 / 10;
	r->overwrite = overwrite;
	r->raw_clock = true;
	for (i = 0; i < BUFFERS; i++)
		r->bufs[i].block = aligned_alloc(64, CAPACITY * TB_ELEMENT_SIZE);
	tb_ring_reset(r, now);
}

static void tear_down(void)
{
	u32 i;

	for (i = 0; i < BUFFERS; i++)
		free(r->bufs[i].block);
	free(r->bufs);
	free(r);
}

static void record(u32 n)
{
	struct tb_slot s;

	if (n == 1) {
		tb_ring_simple(r, TB_EV_USER, now);
	} else if (tb_ring_reserve(r, n, &s)) {
		memset(s.element, 0, n * TB_ELEMENT_SIZE);
		tb_ring_commit(&s, TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_USER, n, s.seq));
	}
}

static void record_many(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		record(1 + i % 7);
}

static bool held[BUFFERS];	/* acquired, and not released */

/* Acquires a block.  Returns its buffer, or -1; sets @twice if it was held. */
static int take(bool *twice)
{
	int b = tb_ring_acquire(r);

	if (b >= 0) {
		*twice |= held[b];
		held[b] = true;
	}
	return b;
}

/* Reads all blocks.  Returns NULL, or an error. */
static const char *read_all(void)
{
	u32 tries = 4 * BUFFERS;
	bool twice = false;
	int b;

	while ((b = take(&twice)) >= 0 && tries--) {
		if (r->bufs[b].block->data > CAPACITY * TB_ELEMENT_SIZE)
			return "a block ends behind its buffer";
		tb_ring_release(r, b);
		held[b] = false;
	}
	if (b >= 0)
		return "reading goes on for ever";
	return twice ? "a block is taken that is held" : NULL;
}

/* Do the totals account for @attempted events? */
static bool accounted(u64 attempted)
{
	struct tb_ring_stats st;
	u64 events = 0;
	u32 b;

	for (b = 0; b < BUFFERS; b++)
		events += held[b] ? r->bufs[b].events : 0;
	tb_ring_stats(r, &st);
	return st.recorded + st.dropped == attempted && !st.ready &&
	       st.delivered + st.overwritten + events == st.recorded;
}

/* Starts a new recording. */
static void reset(void)
{
	ring_damaged = 0;
	memset(held, 0, sizeof(held));
	tb_ring_reset(r, now);
}

static bool next_is_exact(void)
{
	reset();
	record_many(EVENTS);
	tb_ring_flush(r);
	return tb_ring_repair(r, false) && !read_all() && accounted(EVENTS) && !ring_damaged;
}

/* A word of the state */
struct word {
	const char *name;
	size_t at;
	u32 bytes;
	bool of_buffer;
};

#define WORD(type, field, of_buffer)	\
	{ #field, offsetof(struct type, field), sizeof(((struct type *)0)->field), of_buffer }
#define RING(field)	WORD(tb_cpu_ring, field, false)
#define BUF(field)	WORD(tb_buf, field, true)

static const struct word words[] = {
	RING(head), RING(start_time), RING(overwrite_last), RING(recorded), RING(overwritten),
	RING(dropped), RING(oversize), RING(refused), RING(marks), RING(retries), RING(ow_started),
	RING(ow_done), RING(drop_first), RING(drop_last), RING(full_seen), RING(passed),
	RING(paused), RING(releases), RING(held), RING(pinned), RING(rd), RING(delivered),
	RING(delivered_bytes), RING(from), RING(to), RING(left), RING(kept),
	BUF(committed), BUF(closed), BUF(events), BUF(later), BUF(later_open), BUF(lost_from),
	BUF(state), BUF(gap_filled), BUF(settled), BUF(copied_events), BUF(copied), BUF(rd),
};

static const char *flip(const struct word *w, u32 buffer, u32 bit, u32 before, bool holds)
{
	u8 *at = w->of_buffer ? (u8 *)&r->bufs[buffer] : (u8 *)r;
	struct tb_ring_stats st;
	const char *wrong, *again;
	bool twice = false, whole;

	reset();
	record_many(before);
	if (holds)
		take(&twice);
	at[w->at + bit / 8] ^= 1 << bit % 8;
	record_many(EVENTS);
	wrong = read_all();
	record_many(EVENTS);
	tb_ring_stuck(r);
	tb_ring_flush(r);
	whole = tb_ring_repair(r, false) && !ring_damaged;
	if (!tb_head_legal(r, r->head) || tb_head_index(r->head) != r->capacity)
		return "head is not mended";
	again = read_all();
	wrong = wrong ? wrong : again;
	tb_ring_stats(r, &st);
	if (st.ready)
		return "what is complete cannot be read";
	/* a flipped state word can make a held block look free */
	if (wrong && strcmp(w->name, "state"))
		return wrong;
	/* the count in the block's header is wrong then: `tracebuf verify` finds that */
	if (whole && strcmp(w->name, "committed") && !accounted(before + 2 * EVENTS))
		return "events are missing, and nothing says so";
	return next_is_exact() ? NULL : "the next recording is not exact";
}

/* Flip each bit of a word, after several numbers of events, with and without held blocks. */
static const char *flip_all(const struct word *w)
{
	static const u32 before[] = { 0, 5, 40, EVENTS };
	u32 bit, i, holds, b;

	for (bit = 0; bit < 8 * w->bytes; bit++)
		for (i = 0; i < sizeof(before) / sizeof(before[0]); i++)
			for (holds = 0; holds < 2; holds++)
				for (b = 0; b < (w->of_buffer ? BUFFERS : 1); b++) {
					const char *wrong = flip(w, b, bit, before[i], holds);

					if (wrong)
						return wrong;
				}
	return NULL;
}

/* tb_ring_stuck() finds a block that no writer will complete, and no other. */
static const char *find_stuck(void)
{
	const u32 bit = 32;		/* of the count of committed elements */

	reset();
	record_many(EVENTS + 3);
	if (tb_ring_stuck(r) || tb_ring_stuck(r))
		return "said of a ring in use";
	((u8 *)&r->bufs[tb_head_buffer(r->head)].committed)[bit / 8] ^= 1;
	record_many(EVENTS);
	return tb_ring_stuck(r) || !tb_ring_stuck(r) ? "not noticed when asked again" : NULL;
}

int main(void)
{
	const u32 count = sizeof(words) / sizeof(words[0]);
	char name[64];
	u32 i, policy;

	ktap_start(2 * count + 1);
	for (policy = 0; policy < 2; policy++) {
		set_up(policy);
		for (i = 0; i < count; i++) {
			snprintf(name, sizeof(name), "a bit of %s.%s, %s",
				 words[i].of_buffer ? "tb_buf" : "tb_cpu_ring", words[i].name,
				 policy ? "overwrite" : "drop");
			ktap_result(name, flip_all(&words[i]));
		}
		tear_down();
	}
	set_up(true);
	ktap_result("a block that nobody completes", find_stuck());
	tear_down();
	return ktap_end();
}
