/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers of the files that define compact forms, compact.c and calls.c.  Any context.
 */
#ifndef TB_EVENTS_COMPACT_H
#define TB_EVENTS_COMPACT_H

#include <linux/bits.h>
#include <linux/compat.h>

#include "unit.h"

/* @value as a field of @bits bits at bit @shift of the payload */
#define TB_PACK(value, bits, shift) \
	(((u64)(value) & GENMASK_ULL((bits) - 1, 0)) << (shift))

/* the description of a field that TB_PACK() fills in */
#define TB_BITS(_name, _type, _bit, _bits, _flags)			\
	{ .name = (_name), .type = (_type), .size = sizeof(u64),	\
	  .flags = TB_FIELD_BITS | (_flags), .bit = (_bit), .bits = (_bits) }

/* The context of the event, without the one level of preemption that the tracepoint adds. */
#define tb_event_context()	tb_context(1)

/* The number of system call @id that readers see: in a 32-bit program it is another call. */
static __always_inline long tb_call_number(long id)
{
	return unlikely(in_compat_syscall() && id >= 0) ? id + TB_CALL_COMPAT : id;
}

extern const struct tb_compact_def tb_call_compact_def;

#endif /* TB_EVENTS_COMPACT_H */
