// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring is exact at the limits of its sizes and numbers, and its counts add up at every step of
 * long random runs. If this fails, a recording of many hours, or with the smallest or largest
 * buffers, loses or repeats blocks.
 */
#include "ring_test.h"

/* ---- sizes at the limits ---------------------------------------------- */

/* more blocks than the 14 bits of the sequence number in head can count */
static struct model *test_sequence_wrap(void)
{
	struct model *m = model_new(3, 16, true);
	u64 blocks = 3 * (TB_HEAD_SEQ_MASK + 1) + 100;
	u64 i;

	for (i = 0; i < blocks; i++) {
		EXPECT(m, model_write(m, 8));
		EXPECT_EQ(m, stats(m).blocks, i + 1);
		if (i % 7 == 0 && model_acquire(m))
			model_release(m, 0);
		m->nr_events -= m->nr_events > 1000000;
	}
	return m;
}

static struct model *extreme(u32 nr, u32 capacity, bool overwrite)
{
	struct model *m = model_new(nr, capacity, overwrite);
	u64 elements = (u64)nr * capacity * 5 / 2;
	u32 seed = nr ^ capacity, n;

	if (elements > 400000)
		elements = 400000;
	while (elements > m->r.max) {
		seed = seed * 1103515245 + 12345;
		n = seed >> 30 ? 1 + (seed >> 16) % 16 : 1 + (seed >> 8) % m->r.max;
		model_write(m, n);
		elements -= n;
		if (!(seed >> 20 & 0x1ff) && model_acquire(m))
			model_release(m, 0);
	}
	model_check_accounting(m, false);
	EXPECT(m, overwrite || !stats(m).overwritten);
	EXPECT(m, !overwrite || !stats(m).dropped);
	return m;
}

static struct model *test_extremes(void)
{
	static const struct {
		u32 nr, capacity;
	} size[] = {
		{ 2, 64 }, { 2, 65536 }, { 3, 64 }, { 64, 64 }, { 4096, 64 }, { 5, 16384 },
		{ 8, 65536 },
	};
	struct model *m = NULL;
	u32 i;

	for (i = 0; i < 2 * sizeof(size) / sizeof(size[0]); i++) {
		if (m) {
			model_drain(m);
			model_check_accounting(m, true);
			if (m->error)
				return m;
			model_free(m);
		}
		m = extreme(size[i / 2].nr, size[i / 2].capacity, i & 1);
	}
	return m;
}

/* the highest buffer and element numbers fit in head, with every bit set around them */
static struct model *test_head_fields(void)
{
	struct model *m = model_new(4096, 64, true);
	u32 i;

	m->clock = ~0ull - (1ull << 36);
	for (i = 0; i < 4096 * 2 + 10; i++)
		EXPECT(m, model_write(m, 56));
	EXPECT_EQ(m, m->r.head >> TB_HEAD_BUFFER_SHIFT & TB_HEAD_BUFFER_MASK, 9);
	return m;
}

/* attempted = delivered + overwritten + dropped + pending, after every step */
static struct model *identity(bool overwrite)
{
	struct model *m = model_new(4, 64, overwrite);
	struct tb_ring_stats st;
	u32 i, seed = 7;

	for (i = 0; i < 3000; i++) {
		seed = seed * 1103515245 + 12345;
		switch (seed >> 28) {
		case 0:
			if (m->nr_held < 4)
				model_acquire(m);
			break;
		case 1:
			if (m->nr_held)
				model_release(m, (seed >> 16 & 0xff) % m->nr_held);
			break;
		case 2:
			if (!(seed >> 16 & 7))
				tb_ring_flush(&m->r);
			break;
		case 3:
			m->clock += seed & 0xffffffff;
			break;
		default:
			model_write(m, 1 + (seed >> 16 & 0xff) % 58);
		}
		model_check_accounting(m, false);
		st = stats(m);
		EXPECT_EQ(m, st.recorded + st.dropped, m->nr_events);
	}
	return m;
}

static struct model *test_identity_overwrite(void)
{
	return identity(true);
}

static struct model *test_identity_drop(void)
{
	return identity(false);
}

static const struct ring_test tests[] = {
	{ "sequence numbers beyond 14 bits", test_sequence_wrap },
	{ "smallest and largest rings", test_extremes },
	{ "fields of head at their limits", test_head_fields },
	{ "identity at every step, overwrite", test_identity_overwrite },
	{ "identity at every step, drop", test_identity_drop },
};

int main(void)
{
	return ring_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
