// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the kernel leaves alone, also across a warm reboot: a range that was reserved when
 * it booted.  Buffers of the provider "kernel" are in it, so that they can be found again
 * (crash/previous_boot.c).
 *
 * The range is either one that the kernel knows by name (reserve_mem=), or one that it was told
 * not to use (memmap=nn$ss), by its address.  The latter is claimed as a device's memory would
 * be; what the kernel uses as its RAM is refused, and so is what the firmware keeps for itself,
 * as far as this kernel tells modules what that is.  Each page must have a
 * struct page, which only the module uses: programs map page frame numbers (provider/mmap.c).
 *
 * As long as something that was found there has not been dropped, nothing in it is changed.
 */
#include <linux/bitmap.h>
#include <linux/ctype.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#ifdef TB_HAVE_FIRMWARE_MAP
#include <asm/e820/api.h>
#endif

#include "compat.h"
#include "reserved.h"

struct tb_region tb_region;

static DEFINE_MUTEX(tb_region_lock);	/* which pages are in use */
static bool tb_region_claimed;

static int tb_region_range(const char *what, phys_addr_t *start, phys_addr_t *bytes)
{
	char *end;

	if (!isdigit(*what)) {
		if (tb_reserve_mem_find(what, start, bytes))
			return 0;
		pr_err("tracebuf: memory=%s: no memory was reserved by that name (reserve_mem=SIZE:ALIGN:%s, from 6.12 on)\n",
		       what, what);
		return -EINVAL;
	}
	*start = memparse(what, &end);
	if (*end != ':' || !isdigit(end[1]))
		goto wrong;
	*bytes = memparse(end + 1, &end);
	if (!*end)
		return 0;
wrong:
	pr_err("tracebuf: memory=%s: neither ADDRESS:SIZE nor a name\n", what);
	return -EINVAL;
}

/*
 * Did the firmware tell of all of it as RAM?  Where the kernel does not let modules ask that, it
 * may have.
 */
static bool tb_firmware_ram(phys_addr_t start, phys_addr_t end)
{
#ifdef TB_HAVE_FIRMWARE_MAP
	static const enum e820_type others[] = {
		E820_TYPE_RESERVED, E820_TYPE_ACPI, E820_TYPE_NVS, E820_TYPE_UNUSABLE,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (e820__mapped_raw_any(start, end, others[i]))
			return false;
	for (; start < end; start += PAGE_SIZE) {
		if (!e820__mapped_raw_any(start, start + PAGE_SIZE, E820_TYPE_RAM))
			return false;
		cond_resched();
	}
#endif
	return true;
}

/*
 * Is any of it the firmware's?  The kernel's own map of memory has what it was told to leave alone
 * as reserved, like what the firmware keeps for itself: so it is the firmware's map, which says RAM
 * of the former.
 */
static bool tb_region_firmware(phys_addr_t start, phys_addr_t bytes)
{
	if (region_intersects(start, bytes, IORESOURCE_MEM, IORES_DESC_ACPI_TABLES) !=
	    REGION_DISJOINT ||
	    region_intersects(start, bytes, IORESOURCE_MEM, IORES_DESC_ACPI_NV_STORAGE) !=
	    REGION_DISJOINT)
		return true;
	if (!IS_ENABLED(CONFIG_X86))
		return false;
	if (start < SZ_1M)
		return true;
	return !tb_firmware_ram(start, start + bytes);
}

/* One that the kernel does not use, and nobody else. */
static int tb_region_claim(const char *what, phys_addr_t start, phys_addr_t bytes)
{
	if (region_intersects(start, bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
	    REGION_DISJOINT) {
		pr_err("tracebuf: memory=%s: the kernel uses it as RAM; boot with memmap=SIZE$ADDRESS\n",
		       what);
		return -EINVAL;
	}
	if (tb_region_firmware(start, bytes)) {
		pr_err("tracebuf: memory=%s: the firmware keeps it for itself; boot with memmap=SIZE$ADDRESS of what is RAM\n",
		       what);
		return -EINVAL;
	}
	/* exclusive: not for /dev/mem either */
	if (!request_mem_region_exclusive(start, bytes, "tracebuf")) {
		pr_err("tracebuf: memory=%s: somebody else has it\n", what);
		return -EBUSY;
	}
	tb_region_claimed = true;
	return 0;
}

static int tb_region_map(const char *what, phys_addr_t start, phys_addr_t bytes)
{
	unsigned long i, pages = bytes >> PAGE_SHIFT;

	for (i = 0; i < pages; i++) {
		if (pfn_valid(PHYS_PFN(start) + i))
			continue;
		pr_err("tracebuf: memory=%s: not between memory that the kernel uses: it has no struct page\n",
		       what);
		return -EINVAL;
	}
	tb_region.used = bitmap_zalloc(pages, GFP_KERNEL);
	if (!tb_region.used)
		return -ENOMEM;
	tb_region.address = memremap(start, bytes, MEMREMAP_WB);
	if (!tb_region.address) {
		pr_err("tracebuf: memory=%s: it cannot be mapped\n", what);
		return -ENOMEM;
	}
	tb_region.pfn = PHYS_PFN(start);
	tb_region.pages = pages;
	return 0;
}

/**
 * tb_region_init() - get the memory
 * @what: NAME or ADDRESS:SIZE
 *
 * Context: module init.
 * Return: 0, -EINVAL, -EBUSY, -ENOMEM, and a line in the log that says why.
 */
int tb_region_init(const char *what)
{
	phys_addr_t start, bytes;
	int err = tb_region_range(what, &start, &bytes);

	if (err)
		return err;
	if (!bytes || !PAGE_ALIGNED(start) || !PAGE_ALIGNED(bytes) || start + bytes < start) {
		pr_err("tracebuf: memory=%s: not whole pages\n", what);
		return -EINVAL;
	}
	if (isdigit(*what))
		err = tb_region_claim(what, start, bytes);
	if (!err)
		err = tb_region_map(what, start, bytes);
	if (err) {
		tb_region.pfn = PHYS_PFN(start);
		tb_region.pages = bytes >> PAGE_SHIFT;
		tb_region_exit();
	}
	return err;
}

/**
 * tb_region_exit() - give it back; its contents stay
 *
 * Context: process; nobody uses any of it.
 */
void tb_region_exit(void)
{
	if (tb_region.address)
		memunmap(tb_region.address);
	if (tb_region_claimed)
		release_mem_region(PFN_PHYS(tb_region.pfn), PFN_PHYS(tb_region.pages));
	tb_region_claimed = false;
	bitmap_free(tb_region.used);
	memset(&tb_region, 0, sizeof(tb_region));
}

/**
 * tb_region_hibernates() - does hibernation save the range?
 *
 * A range that was given by name is part of the kernel's RAM, and saved.  One that was given by
 * address is not: after hibernation it may contain what another boot left there.
 *
 * Context: process.
 * Return: true if it is saved.
 */
bool tb_region_hibernates(void)
{
	return !tb_region_claimed;
}

/**
 * tb_region_usable() - may buffers be put there?
 *
 * Context: process.
 * Return: false if there is none, or something in it is still to be saved.
 */
bool tb_region_usable(void)
{
	/* pairs with the release in tb_region_drop(): cleared before it is used again */
	return tb_region.address && !smp_load_acquire(&tb_region.held);
}

/**
 * tb_region_hold() - something was found there: leave it alone
 *
 * Context: module init, before anybody can ask tb_region_usable().
 */
void tb_region_hold(void)
{
	tb_region.held = true;
}

static void tb_region_clear(unsigned long first, unsigned long count)
{
	for (; count; count--, first++) {
		clear_page(tb_region.address + (first << PAGE_SHIFT));
		cond_resched();
	}
}

/**
 * tb_region_drop() - what was found there is of no use any more
 *
 * Context: process; nothing there is in use.
 */
void tb_region_drop(void)
{
	if (!tb_region.address)
		return;
	tb_region_clear(0, tb_region.pages);
	/* pairs with the acquire in tb_region_usable() */
	smp_store_release(&tb_region.held, false);
}

/**
 * tb_region_alloc() - pages that lie one behind the other
 * @order: so many, as a power of two; they begin at a multiple of that
 *
 * Context: process.
 * Return: the first, zeroed; NULL if there is no room.
 */
struct page *tb_region_alloc(unsigned int order)
{
	unsigned long count = 1ul << order, at;

	mutex_lock(&tb_region_lock);
	at = bitmap_find_next_zero_area_off(tb_region.used, tb_region.pages, 0, count, count - 1,
					    tb_region.pfn & (count - 1));
	if (at + count <= tb_region.pages)
		bitmap_set(tb_region.used, at, count);
	mutex_unlock(&tb_region_lock);
	if (at + count > tb_region.pages)
		return NULL;
	tb_region_clear(at, count);
	return pfn_to_page(tb_region.pfn + at);
}

/**
 * tb_pages_free() - give pages back, wherever they are from
 * @page: the first
 * @order: how many
 *
 * Pages of reserved memory are cleared, so that the next boot finds nothing of a provider that has
 * freed them.  No program holds such a page: programs map page frame numbers (provider/mmap.c),
 * and memory that is mapped is not freed.
 *
 * Context: process.
 */
void tb_pages_free(struct page *page, unsigned int order)
{
	unsigned long at;

	if (!tb_region_has(page)) {
		__free_pages(page, order);
		return;
	}
	at = page_to_pfn(page) - tb_region.pfn;
	tb_region_clear(at, 1ul << order);
	mutex_lock(&tb_region_lock);
	bitmap_clear(tb_region.used, at, 1ul << order);
	mutex_unlock(&tb_region_lock);
}
