/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of the ring's behaviour: expectations, helpers, and a main() that runs each test with
 * either clock and compares the counts at its end.
 */
#ifndef RING_TEST_H
#define RING_TEST_H

#include <stdlib.h>
#include "ring_ktap.h"
#include "ring_model.h"

#define FIRST		TB_BLOCK_FIRST_ELEMENT

#define EXPECT(m, cond)							\
	do {								\
		if (!(cond))						\
			model_fail(m, "%s:%d: %s", __func__, __LINE__, #cond);	\
	} while (0)

/* Show both numbers if they differ. */
#define EXPECT_EQ(m, a, b)						\
	do {								\
		unsigned long long a_ = (a), b_ = (b);			\
									\
		if (a_ != b_)						\
			model_fail(m, "%s:%d: %s is %llu, not %llu", __func__, __LINE__, #a, \
				   a_, b_);				\
	} while (0)

static inline struct tb_ring_stats stats(struct model *m)
{
	struct tb_ring_stats st;

	tb_ring_stats(&m->r, &st);
	return st;
}

static inline void write_many(struct model *m, u32 n, u32 count)
{
	while (count--)
		model_write(m, n);
}

/* Fill the current buffer, or a new one, exactly, with simple events */
static inline void fill(struct model *m)
{
	u32 index = m->r.head & TB_HEAD_INDEX_MASK;

	write_many(m, 1, index == m->r.capacity ? m->r.capacity - FIRST : m->r.capacity - index);
}

static inline u32 used(struct model *m)
{
	return m->r.head & TB_HEAD_INDEX_MASK;
}

/* A test returns its model, which main() drains and compares */
struct ring_test {
	const char *name;
	struct model *(*run)(void);
};

static inline int ring_tests(const struct ring_test *tests, int n)
{
	char name[128];
	int i;

	ktap_start(2 * n);
	for (i = 0; i < 2 * n; i++) {
		struct model *m;

		model_raw_clock = !(i & 1);
		m = tests[i / 2].run();
		model_check_accounting(m, false);
		model_drain(m);
		model_check_accounting(m, true);
		snprintf(name, sizeof(name), "%s%s", tests[i / 2].name,
			 model_raw_clock ? "" : ", kernel's clock");
		ktap_result(name, m->error);
		model_free(m);
	}
	return ktap_end();
}

#endif /* RING_TEST_H */
