/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring_user.h - the user-space side of module/ring/arch.h, for measurements: on x86-64, each access
 * is the same instruction as in the kernel; elsewhere atomics replace what is missing. (The header
 * selftests/unit/ring/ring_user.h, for tests, has hooks and is slower.)
 */
#ifndef RING_USER_H
#define RING_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <linux/types.h>
#include <linux/tracebuf.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef __u64 u64;	/* as in the kernel */

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#ifndef fallthrough
#define fallthrough		__attribute__((__fallthrough__))
#endif
#define __aligned(x)		__attribute__((__aligned__(x)))

typedef struct {
	long v;
} tb_local_t;

#define tb_read(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define tb_write(p, v)		__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define tb_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define tb_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define tb_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define tb_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)

#ifdef __x86_64__
static __always_inline bool tb_cmpxchg_local(u64 *p, u64 old, u64 new)
{
	bool won;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(won), "+m"(*p), "+a"(old) : "r"(new) : "memory");
	return won;
}

static __always_inline u64 tb_local_add_return(tb_local_t *l, u64 v)
{
	u64 was = v;

	__asm__ volatile("xaddq %0, %1" : "+r"(was), "+m"(l->v) : : "memory");
	return was + v;
}

static __always_inline bool tb_local_add_negative(tb_local_t *l, u64 v)
{
	bool negative;

	__asm__ volatile("addq %2, %1" : "=@ccs"(negative), "+m"(l->v) : "r"(v) : "memory");
	return negative;
}

static __always_inline void tb_local_add(tb_local_t *l, u64 v)
{
	__asm__ volatile("addq %1, %0" : "+m"(l->v) : "er"(v) : "memory");
}

static __always_inline u64 tb_clock_raw(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (u64)high << 32 | low;
}
#else
static __always_inline bool tb_cmpxchg_local(u64 *p, u64 old, u64 new)
{
	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static __always_inline u64 tb_local_add_return(tb_local_t *l, u64 v)
{
	return (u64)__atomic_add_fetch(&l->v, (long)v, __ATOMIC_RELAXED);
}

static __always_inline bool tb_local_add_negative(tb_local_t *l, u64 v)
{
	return (int64_t)tb_local_add_return(l, v) < 0;
}

static __always_inline void tb_local_add(tb_local_t *l, u64 v)
{
	tb_local_add_return(l, v);
}

static __always_inline u64 tb_clock_raw(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
#endif

static __always_inline bool tb_cmpxchg(u64 *p, u64 old, u64 new)
{
	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static __always_inline u64 tb_local_read(const tb_local_t *l)
{
	return (u64)__atomic_load_n(&l->v, __ATOMIC_RELAXED);
}

static __always_inline void tb_local_set(tb_local_t *l, u64 v)
{
	__atomic_store_n(&l->v, (long)v, __ATOMIC_RELAXED);
}

/* as in module/machine/clock.h */
#define TB_TICKS_PLAIN	1

static __always_inline u64 tb_clock_read(bool raw)
{
	(void)raw;
	return tb_clock_raw();
}

static __always_inline u32 tb_current_tid(void)
{
	return 1;
}

/* one program has everything, so exports do nothing */
#define TB_EXPORT(function)	struct tb_exported

#endif /* RING_USER_H */
