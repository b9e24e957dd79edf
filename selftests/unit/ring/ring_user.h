/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user-space replacement for module/ring/arch.h: what the ring needs of its surroundings.
 *
 * Every access to shared memory is an __atomic builtin (relaxed where the kernel's is local to a
 * CPU), so that threads and signal handlers can run the ring, and sanitizers can check it.  Before
 * each access the ring calls TB_POINT(p) with the address: a test may define it, before it includes
 * this file, to run nested writers or steps of a reader.  TB_CHANGED(p, old, new) follows every
 * successful exchange and every addition.
 *
 * With TB_RING_WEAK a simulated memory does the accesses (ring_weak.h); code that makes plain
 * accesses reports them with TB_READS() and TB_WRITES().
 */
#ifndef RING_USER_H
#define RING_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/tracebuf.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef __u64 u64;	/* as in the kernel */

#ifdef TB_RING_HOOKS
/* a test sets these to be called at every access */
extern void (*tb_point_hook)(const volatile void *p);
extern void (*tb_changed_hook)(const volatile void *p, u64 old, u64 new);

#define TB_POINT(p)							\
	do {								\
		if (tb_point_hook)					\
			tb_point_hook(p);				\
	} while (0)
#define TB_CHANGED(p, old, new)						\
	do {								\
		if (tb_changed_hook)					\
			tb_changed_hook(p, old, new);			\
	} while (0)
#endif

#ifndef TB_POINT
#define TB_POINT(p)		do { } while (0)
#endif
#ifndef TB_CHANGED
#define TB_CHANGED(p, o, n)	do { } while (0)
#endif

#ifndef likely
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#endif
#ifndef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#endif
#ifndef fallthrough
#define fallthrough		__attribute__((__fallthrough__))
#endif
#ifndef __aligned
#define __aligned(x)		__attribute__((__aligned__(x)))
#endif

/* the test defines these */
u64 tb_user_clock(bool raw);
u32 tb_user_tid(void);

typedef struct {
	long v;
} tb_local_t;

/* as the "memory" clobbers in the kernel: the compiler moves no access across */
#define tb_user_barrier()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

#ifdef TB_RING_WEAK
#include "ring_weak.h"
#else
#define TB_READS(p, bytes)	do { } while (0)
#define TB_WRITES(p, bytes)	do { } while (0)

#define tb_read(p)							\
({									\
	TB_POINT(p);							\
	__atomic_load_n(p, __ATOMIC_RELAXED);				\
})
#define tb_write(p, v)							\
({									\
	TB_POINT(p);							\
	__atomic_store_n(p, v, __ATOMIC_RELAXED);			\
})
#define tb_load_acquire(p)						\
({									\
	TB_POINT(p);							\
	__atomic_load_n(p, __ATOMIC_ACQUIRE);				\
})
#define tb_store_release(p, v)						\
({									\
	TB_POINT(p);							\
	__atomic_store_n(p, v, __ATOMIC_RELEASE);			\
})
#ifdef __SANITIZE_THREAD__
/* the sanitizer does not know fences, see test_ring_threads.c */
#define tb_rmb()		tb_user_barrier()
#define tb_wmb()		tb_user_barrier()
#else
#define tb_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define tb_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#endif

static inline bool tb_cmpxchg_local(u64 *p, u64 old, u64 new)
{
	u64 was = old;
	bool won;

	TB_POINT(p);
	tb_user_barrier();
	won = __atomic_compare_exchange_n(p, &was, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	tb_user_barrier();
	if (won)
		TB_CHANGED(p, old, new);
	return won;
}

static inline bool tb_cmpxchg(u64 *p, u64 old, u64 new)
{
	u64 was = old;
	bool won;

	TB_POINT(p);
	won = __atomic_compare_exchange_n(p, &was, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	if (won)
		TB_CHANGED(p, old, new);
	return won;
}

static inline u64 tb_local_read(const tb_local_t *l)
{
	TB_POINT(l);
	return (u64)__atomic_load_n(&l->v, __ATOMIC_RELAXED);
}

static inline void tb_local_set(tb_local_t *l, u64 v)
{
	TB_POINT(l);
	__atomic_store_n(&l->v, (long)v, __ATOMIC_RELAXED);
}

static inline u64 tb_local_add_return(tb_local_t *l, u64 v)
{
	u64 sum;

	TB_POINT(l);
	tb_user_barrier();
	sum = (u64)__atomic_add_fetch(&l->v, (long)v, __ATOMIC_RELAXED);
	tb_user_barrier();
	TB_CHANGED(l, sum - v, sum);
	return sum;
}
#endif /* TB_RING_WEAK */

static inline bool tb_local_add_negative(tb_local_t *l, u64 v)
{
	return (int64_t)tb_local_add_return(l, v) < 0;
}

static inline void tb_local_add(tb_local_t *l, u64 v)
{
	tb_local_add_return(l, v);
}

/* as in module/machine/clock.h */
#define TB_TICKS_PLAIN	1

static inline u64 tb_clock_read(bool raw)
{
	TB_POINT(NULL);
	return tb_user_clock(raw);
}

static inline u32 tb_current_tid(void)
{
	return tb_user_tid();
}

/* the ring's parts are linked into one program */
#define TB_EXPORT(function)	struct tb_exported

#endif /* RING_USER_H */
