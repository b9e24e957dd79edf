// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mapping of a provider, which shows all of its memory, read-only:
 *
 *	n * ring_stride			ring of CPU n: its header, then its buffers
 *	nr_cpu_ids * ring_stride	the durable buffer
 *
 * Callers: devices/tracebuf.c and the kernel's memory management, in process context, under the
 * mmap lock.  Takes tb_provider.map_lock.
 */
#include "machine/compat.h"
#include "provider.h"

static void tb_vma_open(struct vm_area_struct *vma)
{
	struct tb_provider *p = vma->vm_private_data;

	mutex_lock(&p->map_lock);
	p->mappings++;
	mutex_unlock(&p->map_lock);
}

static void tb_vma_close(struct vm_area_struct *vma)
{
	struct tb_provider *p = vma->vm_private_data;

	mutex_lock(&p->map_lock);
	p->mappings--;
	mutex_unlock(&p->map_lock);
}

/* Refuses to split the mapping: the layout begins at its start. */
static int tb_vma_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

/* Return the page at offset @at of the mapping; NULL if there is no memory. */
static struct page *tb_provider_page(const struct tb_provider *p, u64 at)
{
	u64 stride = tb_provider_ring_stride(p), header = tb_provider_ring_header(p);
	u64 cpu = at / stride;

	lockdep_assert_held(&p->map_lock);
	if (cpu >= nr_cpu_ids)
		return tb_durable_page(&p->durable, at - tb_provider_durable_offset(p));
	if (!cpumask_test_cpu(cpu, &p->cpus))
		return NULL;
	at %= stride;
	return at < header ? tb_mem_page(&p->memory[cpu].header, at) :
			     tb_mem_page(&p->memory[cpu].mem, at - header);
}

/* Maps pages of the durable buffer, and all of reserved memory; mmap() inserts the others. */
static vm_fault_t tb_vma_fault(struct vm_fault *vmf)
{
	struct tb_provider *p = vmf->vma->vm_private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;
	struct page *page;

	mutex_lock(&p->map_lock);
	page = tb_provider_page(p, (u64)vmf->pgoff << PAGE_SHIFT);
	if (page && vmf->vma->vm_flags & VM_PFNMAP) {
		result = vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK, page_to_pfn(page));
	} else if (page) {
		get_page(page);
		vmf->page = page;
		result = 0;
	}
	mutex_unlock(&p->map_lock);
	return result;
}

static const struct vm_operations_struct tb_vm_ops = {
	.fault = tb_vma_fault,
	.open = tb_vma_open,
	.close = tb_vma_close,
	.may_split = tb_vma_may_split,
};

/*
 * Map rings and durable buffer, read-only.  Return 0; -EPERM writable; -EINVAL another size or
 * offset; -ENXIO no memory yet.
 */
int tb_provider_mmap(struct tb_provider *p, struct vm_area_struct *vma)
{
	unsigned long bytes = vma->vm_end - vma->vm_start;
	unsigned int cpu;
	u64 stride;
	int err = 0;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	mutex_lock(&p->map_lock);
	if (!p->allocated) {
		err = -ENXIO;
		goto out;
	}
	stride = tb_provider_ring_stride(p);
	if (vma->vm_pgoff ||
	    bytes != tb_provider_durable_offset(p) + tb_durable_extent(&p->durable)) {
		err = -EINVAL;
		goto out;
	}
	/* not VM_IO: programs write from the mapping with O_DIRECT and io_uring */
	tb_vma_flags(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, VM_MAYWRITE);
	/*
	 * Map reserved memory by page frame number, so that pipes, disks and ptrace cannot take
	 * references to its pages.  The kernel's own map may lack these pages, and the last put
	 * of a page would not free it.  Map it by faults, so that no page is mapped before
	 * @mappings counts this mapping.  Without VM_MAYWRITE it is not copy-on-write.
	 */
	if (p->durable.region)
		tb_vma_flags(vma, VM_PFNMAP, 0);
	for_each_possible_cpu(cpu) {
		unsigned long addr = vma->vm_start + cpu * stride;

		if (!cpumask_test_cpu(cpu, &p->cpus) || p->durable.region)
			continue;
		err = tb_mem_map(&p->memory[cpu].header, vma, addr);
		if (!err)
			err = tb_mem_map(&p->memory[cpu].mem, vma,
					 addr + tb_provider_ring_header(p));
		if (err)
			goto out;
	}
	/* the durable buffer may grow: faults map its pages */
	vma->vm_private_data = p;
	vma->vm_ops = &tb_vm_ops;
	p->mappings++;
out:
	mutex_unlock(&p->map_lock);
	return err;
}
