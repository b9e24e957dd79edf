/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that filter.c uses of the kernel, so that a test can run it in user space: memory, and the
 * current thread, CPU and context.  All but the allocation runs in any context, preemption off.
 */
#ifndef TB_PROBE_FILTER_ARCH_H
#define TB_PROBE_FILTER_ARCH_H

#ifdef __KERNEL__

#include <linux/compiler.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "machine/contiguous.h"
#include "probe.h"

/* as in probes: the tracepoint and the recorder have each raised the preemption depth by one */
#define TB_FILTER_DEPTH	2

static inline void *tb_filter_alloc(size_t bytes)
{
	return kvmalloc(bytes, TB_GFP);
}

static inline u32 tb_filter_tid(void)
{
	return current->pid;
}

static inline u32 tb_filter_tgid(void)
{
	return current->tgid;
}

/* Return the user id as in thread records.  RCU is watching, and only current changes the id. */
static inline u32 tb_filter_uid(void)
{
	return __kuid_val(current_real_cred()->uid);
}

static inline u32 tb_filter_cpu(void)
{
	return raw_smp_processor_id();
}

static inline u32 tb_filter_context(void)
{
	return tb_context(TB_FILTER_DEPTH);
}

static inline void tb_filter_comm(char comm[TB_COMM_LEN])
{
	/* another thread may change the name meanwhile: then the copy mixes both names */
	data_race(memcpy(comm, current->comm, TB_COMM_LEN));
}

#endif /* __KERNEL__ */

#endif /* TB_PROBE_FILTER_ARCH_H */
