/* SPDX-License-Identifier: GPL-2.0-only */
/* Types of fs/f2fs/f2fs.h that prototypes in <trace/events/f2fs.h> use. */
typedef u32 block_t;
typedef u32 nid_t;

/* probes only copy the values, so one enumerator suffices */
enum extent_type { TB_EXTENT_TYPE };
