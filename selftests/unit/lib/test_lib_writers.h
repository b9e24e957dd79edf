/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests of the arbiter: an arbiter on a fake kernel, and checks of the records that arrived. */
#ifndef TEST_LIB_WRITERS_H
#define TEST_LIB_WRITERS_H

#include "fake_producer.h"
#include "test_lib_fixture.h"

static struct fake fake;
static struct tb_arbiter *arbiter;
static struct tb_name ping = TB_NAME_INIT("ping", NULL);
static uint64_t next_value;

enum { CHUNK = 256, ROOM = CHUNK - sizeof(struct tb_chunk), SIMPLE = 24 };
/* a chunk with the name, 24 bytes, has room for 7 simple records, others for 8 */
enum { PER_CHUNK = (ROOM - 24) / SIMPLE };

static const struct tb_arbiter_options small = {
	.chunk_bytes = CHUNK, .chunks = 4, .period_ms = 1000,
};

static inline void open_with(struct tb_arbiter_options options)
{
	fake_init(&fake);
	next_value = 0;
	CHECK(!tb_arbiter_create_on(&options, &fake.endpoint, &arbiter));
	CHECK_NUMBER(tb_arbiter_target(arbiter, "kernel"), 0);
}

static inline void open_small(void)
{
	open_with(small);
}

static inline void open_unbound(void)
{
	fake_init(&fake);
	next_value = 0;
	CHECK(!tb_arbiter_create_unbound(&small, &arbiter));
}

static inline void close_all(void)
{
	tb_arbiter_destroy(arbiter);
	arbiter = NULL;
	CHECK_NUMBER(fake.closed, 1);
	if (fake.error)
		printf("# %s\n", fake.error);
	CHECK(!fake.error);
	fake_free(&fake);
}

static inline struct tb_writer *writer(enum tb_full full)
{
	struct tb_writer *w = tb_writer_create(arbiter, 0, full);

	CHECK(!tb_writer_is_null(w));
	return w;
}

static inline void put(struct tb_writer *w, unsigned int count)
{
	while (count--)
		tb_put_simple(w, &ping, next_value++);
}

/* Every record of the writer was received, or is known to be missing */
static inline void check_accounting(unsigned int id, uint64_t attempted)
{
	const struct fake_writer *w = &fake.writers[id];

	CHECK_NUMBER(w->received + w->missing, attempted);
}

/* The values that have arrived are @count consecutive ones from @from */
static inline void check_values(uint64_t from, size_t count)
{
	size_t i;

	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE), count);
	for (i = 0; i < count; i++) {
		const struct got *got = fake_got(&fake, TB_REC_SIMPLE, i);

		if (!got || got->words[0] != from + i) {
			CHECK_NUMBER(got ? got->words[0] : UINT64_MAX, from + i);
			return;
		}
	}
}

/* A callback that counts its calls */
static inline void count_up(void *data)
{
	++*(int *)data;
}

#endif /* TEST_LIB_WRITERS_H */
