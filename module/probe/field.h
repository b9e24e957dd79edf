/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of events as tables: what describes an event and what filters are checked
 * against.  By itself, because filters run in user space too, in their tests.
 */
#ifndef TB_CAPTURE_FIELD_H
#define TB_CAPTURE_FIELD_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "filter_user.h"
#endif

/**
 * struct tb_field_def - one field of an event
 * @name: its name
 * @type: its C type; of arrays, dynamic ones included, that of an element
 * @offset: from the start of the payload
 * @size: bytes in all, 4 if the data are elsewhere (TB_FIELD_DATA_LOC)
 * @count: elements, if it is a fixed array
 * @flags: TB_FIELD_*
 * @bit: first bit, TB_FIELD_BITS
 * @bits: how many
 *
 * A table of them ends with one that has no name.
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

#endif /* TB_CAPTURE_FIELD_H */
