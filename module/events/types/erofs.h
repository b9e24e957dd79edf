/* SPDX-License-Identifier: GPL-2.0-only */
/* Types of fs/erofs/internal.h that prototypes in <trace/events/erofs.h> use. */
typedef u64 erofs_off_t;
typedef u64 erofs_nid_t;
typedef u32 erofs_blk_t;
