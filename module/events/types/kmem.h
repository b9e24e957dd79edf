/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces functions that <trace/events/kmem.h> calls and modules cannot. */
#include <linux/hash.h>
#include <linux/mmzone.h>

/* mm_id only has to differ between memory maps: it need not be the number that %p prints */
#define __PTR_TO_HASHVAL
static inline unsigned int mm_ptr_to_hash(const void *ptr)
{
	return hash_ptr(ptr, 32);
}

/* -1: unknown, because modules cannot get the migrate type */
#undef get_pageblock_migratetype
#define get_pageblock_migratetype(page)	(-1)
