/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accesses to memory that two CPUs share, weakly ordered: ring_user.h includes this instead of the
 * compiler's atomics if TB_RING_WEAK is defined. ring_weak.c describes the order.
 */
#ifndef RING_WEAK_H
#define RING_WEAK_H

/* declare shared memory, before any access to it */
void weak_share(const volatile void *p, size_t bytes);
void weak_forget_shared(void);
/* from now on both CPUs know all accesses */
void weak_sync(void);

/* the test defines these: the CPU of an access; which of @of values a load sees, 0: the latest */
int weak_cpu(void);
int weak_choose(int of);
/* two conflicting accesses are unordered, and one is plain or both are stores */
void weak_race(const char *what, const volatile void *p);

u64 weak_load(const volatile void *p, size_t bytes, bool acquire);
void weak_store(volatile void *p, size_t bytes, u64 value, bool release);
bool weak_exchange(u64 *p, u64 old, u64 new, bool full);
u64 weak_add(u64 *p, u64 value);
void weak_rmb(void);
void weak_wmb(void);
/* plain accesses by code that is compiled without calls at each */
void weak_reads(const volatile void *p, size_t bytes);
void weak_writes(const volatile void *p, size_t bytes);

#define TB_READS(p, bytes)	weak_reads(p, bytes)
#define TB_WRITES(p, bytes)	weak_writes(p, bytes)

#define tb_read(p)							\
({									\
	TB_POINT(p);							\
	(__typeof__(*(p)))weak_load(p, sizeof(*(p)), false);		\
})
#define tb_write(p, v)							\
({									\
	TB_POINT(p);							\
	weak_store(p, sizeof(*(p)), v, false);				\
})
#define tb_load_acquire(p)						\
({									\
	TB_POINT(p);							\
	(__typeof__(*(p)))weak_load(p, sizeof(*(p)), true);		\
})
#define tb_store_release(p, v)						\
({									\
	TB_POINT(p);							\
	weak_store(p, sizeof(*(p)), v, true);				\
})
#define tb_rmb()		weak_rmb()
#define tb_wmb()		weak_wmb()

static inline bool tb_cmpxchg_local(u64 *p, u64 old, u64 new)
{
	bool won;

	TB_POINT(p);
	won = weak_exchange(p, old, new, false);
	if (won)
		TB_CHANGED(p, old, new);
	return won;
}

static inline bool tb_cmpxchg(u64 *p, u64 old, u64 new)
{
	bool won;

	TB_POINT(p);
	won = weak_exchange(p, old, new, true);
	if (won)
		TB_CHANGED(p, old, new);
	return won;
}

static inline u64 tb_local_read(const tb_local_t *l)
{
	TB_POINT(l);
	return weak_load(l, sizeof(*l), false);
}

static inline void tb_local_set(tb_local_t *l, u64 v)
{
	TB_POINT(l);
	weak_store(l, sizeof(*l), v, false);
}

static inline u64 tb_local_add_return(tb_local_t *l, u64 v)
{
	u64 sum;

	TB_POINT(l);
	sum = weak_add((u64 *)&l->v, v);
	TB_CHANGED(l, sum - v, sum);
	return sum;
}

#endif /* RING_WEAK_H */
