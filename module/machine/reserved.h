/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reserved memory: a range that the kernel leaves alone, also across a warm reboot.
 */
#ifndef TB_MACHINE_RESERVED_H
#define TB_MACHINE_RESERVED_H

#include <linux/mm.h>
#include <linux/types.h>

/**
 * struct tb_region - the range of reserved memory
 * @address: kernel address; NULL: no range
 * @pfn: page frame number of the first page
 * @pages: number of pages
 * @used: a bit for each page, set while it is in use
 * @claimed: given by address, so not part of the kernel's RAM.  Hibernation does not save it:
 *	afterwards it may have data of another boot
 * @held: a recording was found there, and nothing may change the range before tb_region_drop()
 */
struct tb_region {
	void *address;
	unsigned long pfn;
	unsigned long pages;
	unsigned long *used;
	bool claimed;
	bool held;
};

extern struct tb_region tb_region;

int tb_region_init(const char *what);
void tb_region_exit(void);
bool tb_region_usable(void);
void tb_region_drop(void);
struct page *tb_region_alloc(unsigned int order);
void tb_pages_free(struct page *page, unsigned int order);

static inline bool tb_region_has(const struct page *page)
{
	return page_to_pfn(page) - tb_region.pfn < tb_region.pages;
}

/* Return the address of any page; the kernel's own map may lack pages of the range. */
static inline void *tb_page_address(const struct page *page)
{
	if (tb_region_has(page))
		return tb_region.address + ((page_to_pfn(page) - tb_region.pfn) << PAGE_SHIFT);
	return page_address(page);
}

/* Clear page by page, and yield in between: a caller may ask for gigabytes. */
static inline void tb_pages_clear(void *address, unsigned long count)
{
	for (; count; count--, address += PAGE_SIZE) {
		clear_page(address);
		cond_resched();
	}
}

#endif /* TB_MACHINE_RESERVED_H */
