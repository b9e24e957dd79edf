/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that the ring uses of the kernel: types, accesses to shared memory, the clock.  So the same
 * files run in the kernel, in a user-space test, and under an explorer that runs other contexts
 * between any two accesses.  tb_*_local operations are atomic against interrupts and NMIs of this
 * CPU, but not against other CPUs.
 */
#ifndef TB_RING_ARCH_H
#define TB_RING_ARCH_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include <asm/local.h>
#include <linux/tracebuf.h>
#include "machine/clock.h"

#ifndef CONFIG_64BIT
#error "tracebuf needs a 64-bit kernel: the ring's head is one 64-bit word"
#endif
#ifdef __BIG_ENDIAN
#error "tracebuf needs a little-endian kernel: blocks are little-endian, and are memory as it is"
#endif

#define tb_local_t			local_t

#define tb_read(p)			READ_ONCE(*(p))
#define tb_write(p, v)			WRITE_ONCE(*(p), v)
/* each use names the barrier that it pairs with */
#define tb_load_acquire(p)		smp_load_acquire(p)	/* see there */
#define tb_store_release(p, v)		smp_store_release(p, v)	/* see there */
#define tb_rmb()			smp_rmb()		/* see there */
#define tb_wmb()			smp_wmb()		/* see there */

/* Atomic on this CPU only: no lock prefix.  Return true if *@p was @old and is now @new. */
static __always_inline bool tb_cmpxchg_local(u64 *p, u64 old, u64 new)
{
#ifdef try_cmpxchg_local
	return try_cmpxchg_local(p, &old, new);
#else
	return cmpxchg_local(p, old, new) == old;
#endif
}

/* Atomic on all CPUs, fully ordered. */
static __always_inline bool tb_cmpxchg(u64 *p, u64 old, u64 new)
{
	return cmpxchg(p, old, new) == old;
}

#define tb_local_read(l)		((u64)local_read(l))
#define tb_local_set(l, v)		local_set(l, (long)(v))
#define tb_local_add(l, v)		local_add((long)(v), l)
#define tb_local_add_negative(l, v)	local_add_negative((long)(v), l)
#define tb_local_add_return(l, v)	((u64)local_add_return((long)(v), l))
#define tb_current_tid()		((u32)current->pid)

/* for the probes of tracebuf_events.ko, which inline the hot path */
#define TB_EXPORT(function)		EXPORT_SYMBOL_GPL(function)

#else
#include "ring_user.h"
#endif

#endif /* TB_RING_ARCH_H */
