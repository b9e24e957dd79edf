/* SPDX-License-Identifier: GPL-2.0-only */
/* What <trace/events/kmem.h> asks functions for that are not for modules. */
#include <linux/hash.h>
#include <linux/mmzone.h>

/* mm_id tells one memory map from another, and need not be what %p shows */
#define __PTR_TO_HASHVAL
static inline unsigned int mm_ptr_to_hash(const void *ptr)
{
	return hash_ptr(ptr, 32);
}

/* not known: no migrate type */
#undef get_pageblock_migratetype
#define get_pageblock_migratetype(page)	(-1)
