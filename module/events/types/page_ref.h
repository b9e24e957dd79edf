/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/mmzone.h>

/* -1: unknown, because modules cannot get the migrate type */
#undef get_pageblock_migratetype
#define get_pageblock_migratetype(page)	(-1)
