/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that records, and what the kernel, played by fake_producer.h, got of it.
 */
#ifndef TEST_LIB_RECORD_H
#define TEST_LIB_RECORD_H

#include "fake_producer.h"
#include "test_lib_fixture.h"

TB_CATEGORY(work, "work");

static struct fake fake;
static struct tb_arbiter *arbiter;
static struct tb_writer *w;

static inline void open_fake(uint32_t chunk_bytes)
{
	struct tb_arbiter_options options = { chunk_bytes, 8, 1u << 30, 0 };

	fake_init(&fake);
	CHECK(!tb_arbiter_create_on(&options, &fake.endpoint, &arbiter));
	CHECK_NUMBER(tb_arbiter_target(arbiter, "kernel"), 0);
	w = tb_writer_create(arbiter, 0, TB_FULL_DROP);
	CHECK(!tb_writer_is_null(w));
}

static inline void close_fake(void)
{
	tb_writer_destroy(w);
	tb_arbiter_destroy(arbiter);
	if (fake.error)
		printf("# %s\n", fake.error);
	CHECK(!fake.error);
	fake_free(&fake);
}

/* The id of a text announced with this kind; 0: it was not announced */
static inline uint32_t told(const char *text, uint32_t kind)
{
	size_t i;

	for (i = 0; i < fake.nr_got; i++) {
		const struct got *got = &fake.got[i];

		if (got->record.type == TB_REC_NAME &&
		    (got->record.time >> 16 & 0xffff) == kind &&
		    (got->record.time & 0xffff) == strlen(text) &&
		    !memcmp(got->words, text, strlen(text)))
			return got->record.id;
	}
	return 0;
}

static inline const struct got *only(uint32_t type)
{
	static const struct got none;

	CHECK_NUMBER(fake_count(&fake, type), 1);
	return fake_got(&fake, type, 0) ? fake_got(&fake, type, 0) : &none;
}

#endif /* TEST_LIB_RECORD_H */
