/* SPDX-License-Identifier: GPL-2.0-only */
/* Types of fs/ext4/ext4.h that prototypes in <trace/events/ext4.h> use. */
typedef u32 ext4_lblk_t;
typedef unsigned long long ext4_fsblk_t;
typedef int ext4_grpblk_t;
typedef unsigned int ext4_group_t;
