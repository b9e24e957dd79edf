/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters: the tests of a rule (struct tb_test), checked once against the fields of the event, then
 * run on the payload of each event in any context.  Tests include this file in user space.
 */
#ifndef TB_PROBE_FILTER_H
#define TB_PROBE_FILTER_H

#ifdef __KERNEL__
#include <linux/tracebuf.h>
#include <linux/types.h>
#else
#include "filter_user.h"
#endif

/**
 * struct tb_field_def - one field of an event
 * @name: its name
 * @type: its C type; for arrays, dynamic ones included, the type of an element
 * @offset: bytes from the start of the payload
 * @size: size of the field, bytes; 4 if it only says where the data are (TB_FIELD_DATA_LOC)
 * @count: number of elements of a fixed array
 * @flags: TB_FIELD_*
 * @bit: first bit, with TB_FIELD_BITS
 * @bits: number of bits, with TB_FIELD_BITS
 *
 * The last entry of a table has no name.
 */
struct tb_field_def {
	const char *name;
	const char *type;
	u16 offset;
	u16 size;
	u16 count;
	u16 flags;
	u8 bit;
	u8 bits;
};

/**
 * struct tb_filter - the tests of a rule with their data, one allocation
 * @nr: number of tests
 * @data: data that the tests compare with, behind the last test
 * @tests: legal, see tb_filter_make()
 */
struct tb_filter {
	u32 nr;
	const u8 *data;
	struct tb_test tests[];
};

int tb_filter_make(struct tb_filter **out, const struct tb_test *tests, u32 nr, const void *data,
		   u32 data_bytes, const struct tb_field_def *fields, u32 *bad);
void tb_filter_free(struct tb_filter *f);
bool tb_filter_number(const struct tb_test *t, const void *payload, u32 bytes, u64 *number);
bool tb_filter_run(const struct tb_filter *f, const void *payload, u32 bytes);

#endif /* TB_PROBE_FILTER_H */
