/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the kernel leaves alone, also across a warm reboot.
 */
#ifndef TB_REGION_H
#define TB_REGION_H

#include <linux/mm.h>
#include <linux/types.h>

/**
 * struct tb_region - the memory
 * @address: where it is mapped; NULL: there is none
 * @pfn: its first page
 * @pages: how many
 * @used: a bit for each page that is in use
 * @held: what was found there has not been dropped yet
 */
struct tb_region {
	void *address;
	unsigned long pfn;
	unsigned long pages;
	unsigned long *used;
	bool held;
};

extern struct tb_region tb_region;

int tb_region_init(const char *what);
void tb_region_exit(void);
bool tb_region_hibernates(void);
bool tb_region_usable(void);
void tb_region_hold(void);
void tb_region_drop(void);
struct page *tb_region_alloc(unsigned int order);
void tb_pages_free(struct page *page, unsigned int order);

static inline bool tb_region_has(const struct page *page)
{
	return page_to_pfn(page) - tb_region.pfn < tb_region.pages;
}

/* The address of memory of either kind; what is reserved need not be in the kernel's own map. */
static inline void *tb_page_address(const struct page *page)
{
	if (tb_region_has(page))
		return tb_region.address + ((page_to_pfn(page) - tb_region.pfn) << PAGE_SHIFT);
	return page_address(page);
}

#endif /* TB_REGION_H */
