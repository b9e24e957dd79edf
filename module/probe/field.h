/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of the fields of events, for descriptions of events and checks of filters.  Tests include
 * this file in user space.
 */
#ifndef TB_PROBE_FIELD_H
#define TB_PROBE_FIELD_H

#ifdef __KERNEL__
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

#endif /* TB_PROBE_FIELD_H */
