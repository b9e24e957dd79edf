// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved memory: a range that the kernel leaves alone, also across a warm reboot.  It has the
 * buffers of the provider "kernel", so that the next boot finds them (crash/previous_boot.c).
 *
 * The user gives the name of the range (reserve_mem=), or the addresses of memory that the kernel
 * does not use (memmap=nn$ss).  The module claims an address range as a driver claims the memory of
 * its device.  Each page has a struct page, which only the module uses: programs map page frame
 * numbers (provider/mmap.c).
 *
 * Callers: main.c, machine/, provider/, recording/, crash/, in process context.  tb_region_lock
 * protects the bitmap of used pages.
 */
#include <linux/bitmap.h>
#include <linux/ctype.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#ifdef TB_HAVE_FIRMWARE_MAP
#include <asm/e820/api.h>
#endif

#include "compat.h"
#include "reserved.h"

struct tb_region tb_region;

static DEFINE_MUTEX(tb_region_lock);	/* which pages are in use */

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

/* Return true if all of the range is RAM in the firmware's map, or modules cannot read that map. */
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
 * Return true if part of the range belongs to the firmware, as far as modules can find out.  The
 * kernel's own map shows memory of memmap= as reserved, like memory of the firmware; the firmware's
 * map shows it as RAM.
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

/* Claims a range that neither the kernel nor the firmware nor a driver uses. */
static int tb_region_claim(const char *what, phys_addr_t start, phys_addr_t bytes)
{
	if (region_intersects(start, bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
	    REGION_DISJOINT) {
		pr_err("tracebuf: memory=%s: the kernel uses it as RAM; boot with memmap=SIZE$ADDRESS\n",
		       what);
		return -EINVAL;
	}
	if (tb_region_firmware(start, bytes)) {
		pr_err("tracebuf: memory=%s: the firmware keeps part of it; boot with memmap=SIZE$ADDRESS for a range of RAM\n",
		       what);
		return -EINVAL;
	}
	/* exclusive: /dev/mem cannot map it either */
	if (!request_mem_region_exclusive(start, bytes, "tracebuf")) {
		pr_err("tracebuf: memory=%s: another driver has claimed it\n", what);
		return -EBUSY;
	}
	tb_region.claimed = true;
	return 0;
}

static int tb_region_map(const char *what, phys_addr_t start, phys_addr_t bytes)
{
	unsigned long i;

	for (i = 0; i < tb_region.pages; i++) {
		if (pfn_valid(tb_region.pfn + i))
			continue;
		pr_err("tracebuf: memory=%s: part of it has no struct page; choose a range between memory that the kernel uses\n",
		       what);
		return -EINVAL;
	}
	tb_region.used = bitmap_zalloc(tb_region.pages, GFP_KERNEL);
	if (!tb_region.used)
		return -ENOMEM;
	tb_region.address = memremap(start, bytes, MEMREMAP_WB);
	if (!tb_region.address) {
		pr_err("tracebuf: memory=%s: it cannot be mapped\n", what);
		return -ENOMEM;
	}
	return 0;
}

/* Claim and map the range @what: NAME or ADDRESS:SIZE.  The log says why if that fails. */
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
	tb_region.pfn = PHYS_PFN(start);
	tb_region.pages = bytes >> PAGE_SHIFT;
	/* a named range is the kernel's RAM, which modules cannot claim: docs/recover.md warns */
	if (isdigit(*what))
		err = tb_region_claim(what, start, bytes);
	if (!err)
		err = tb_region_map(what, start, bytes);
	if (err)
		tb_region_exit();
	return err;
}

/* Release the range, of which no page is in use; its contents stay. */
void tb_region_exit(void)
{
	if (tb_region.address)
		memunmap(tb_region.address);
	if (tb_region.claimed)
		release_mem_region(PFN_PHYS(tb_region.pfn), PFN_PHYS(tb_region.pages));
	bitmap_free(tb_region.used);
	memset(&tb_region, 0, sizeof(tb_region));
}

/* Return false without a range, or before tb_region_drop() if a recording was found there. */
bool tb_region_usable(void)
{
	/* the flag before use of the cleared memory: pairs with the release in tb_region_drop() */
	return tb_region.address && !smp_load_acquire(&tb_region.held);
}

/* Discard the recording that was found, and allow use of the range.  No page of it is in use. */
void tb_region_drop(void)
{
	if (!tb_region.address)
		return;
	tb_pages_clear(tb_region.address, tb_region.pages);
	/* the cleared memory before the flag: pairs with the acquire in tb_region_usable() */
	smp_store_release(&tb_region.held, false);
}

/* Return 1 << @order pages, aligned to their size, not cleared; NULL if no such run is free. */
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
	return pfn_to_page(tb_region.pfn + at);
}

/*
 * Free 1 << @order pages of the range, or of the page allocator.  Clears pages of the range, so
 * that the next boot finds no recording in freed memory.  No program holds such a page: programs
 * map page frame numbers (provider/mmap.c), and mapped memory is not freed.
 */
void tb_pages_free(struct page *page, unsigned int order)
{
	unsigned long at;

	if (!tb_region_has(page)) {
		__free_pages(page, order);
		return;
	}
	at = page_to_pfn(page) - tb_region.pfn;
	tb_pages_clear(tb_page_address(page), 1ul << order);
	mutex_lock(&tb_region_lock);
	bitmap_clear(tb_region.used, at, 1ul << order);
	mutex_unlock(&tb_region_lock);
}
