// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulates two CPUs and the memory between them, as weakly ordered as the kernel allows a machine
 * to be: test_ring_weak finds missing barriers with it.
 *
 * The simulation keeps each marked store and those before it. A load of the other CPU may see any
 * store that is not older than one it has seen there or knows to be replaced. So a delayed store
 * and an early load are the same: the load sees an old value. The test chooses which.
 *
 * A CPU numbers its accesses. What the other CPU knows of it is a number: all accesses up to that
 * one. There are four such numbers: for stores or loads, as known to later loads or later stores.
 *
 *   store release    a CPU that acquires it knows all accesses before it
 *   load acquire     all later accesses know what the store passes on
 *   write barrier    later stores pass on all stores before it, to a CPU that acquires them
 *   read barrier     later loads know what the stores seen before it pass on
 *   fully ordered    both, for all accesses before and after it; a later one on the other CPU knows
 *   exchange         all accesses before it
 *
 * The compiler calls a function for each plain access (-fsanitize=thread; the functions are here).
 * A plain access must be ordered with conflicting accesses of the other CPU; then it can only see
 * the latest value, which memory has. The same goes for two marked stores, so the order in which
 * they run is the order in which they are seen.
 *
 * Limits: a load never sees a store that comes later in the run, and dependencies do not order.
 */
#include <stdio.h>
#include <stdlib.h>
#include "ring_user.h"

#define RANGES		4
#define GRAIN	 4	/* bytes: the smallest marked access */
#define PLACES		4096
#define STORES	 16	/* the latest that a place remembers */

/* The last accesses of the other CPU that are known */
struct known {
	u32 stores;
	u32 loads;
};

static struct cpu {
	u32 now;			/* accesses done */
	struct known for_loads;
	struct known for_stores;
	struct known barrier;		/* known after the next read barrier */
	u32 tells;			/* its stores that a plain store passes on */
	u32 tells_loads;
	u32 full;			/* accesses before its last fully ordered exchange */
} cpus[2];

struct store {
	u64 value;
	u32 at;				/* which access of its CPU */
	struct known tells;
	int cpu;
};

/* The last access of each kind of one CPU, 0: none */
struct last {
	u32 plain_read;
	u32 plain_write;
	u32 read;
	u32 write;
};

static struct place {
	u32 run;			/* the execution that this describes */
	u32 nr;				/* of its stores */
	u32 seen[2];			/* the oldest store that each CPU can still see */
	struct last last[2];
} places[PLACES];
static struct store stores[PLACES][STORES];

static struct {
	uintptr_t from;
	size_t bytes;
	u32 first;
} ranges[RANGES];
static u32 nr_ranges, nr_places, run = 1;

void weak_forget_shared(void)
{
	nr_ranges = 0;
	nr_places = 0;
}

void weak_share(const volatile void *p, size_t bytes)
{
	if (nr_ranges == RANGES || nr_places + bytes / GRAIN > PLACES) {
		printf("Bail out! too much shared memory\n");
		exit(1);
	}
	ranges[nr_ranges].from = (uintptr_t)p;
	ranges[nr_ranges].bytes = bytes;
	ranges[nr_ranges++].first = nr_places;
	nr_places += (bytes + GRAIN - 1) / GRAIN;
}

void weak_sync(void)
{
	memset(cpus, 0, sizeof(cpus));
	run++;
}

static struct place *fresh(struct place *place)
{
	if (place->run != run) {
		memset(place, 0, sizeof(*place));
		place->run = run;
	}
	return place;
}

/* The place of an address; NULL: it is not shared */
static struct place *find(const volatile void *p)
{
	uintptr_t a = (uintptr_t)p;
	u32 i;

	for (i = 0; i < nr_ranges; i++) {
		if (a - ranges[i].from < ranges[i].bytes)
			return fresh(&places[ranges[i].first + (a - ranges[i].from) / GRAIN]);
	}
	return NULL;
}

static struct store *stores_of(const struct place *place)
{
	return stores[place - places];
}

static u32 max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static void learn(struct known *k, struct known what)
{
	k->stores = max(k->stores, what.stores);
	k->loads = max(k->loads, what.loads);
}

static u64 latest(const volatile void *p, size_t bytes)
{
	return bytes == 8 ? *(const volatile u64 *)p : *(const volatile u32 *)p;
}

/* ---- marked accesses -------------------------------------------------- */

static void saw(struct cpu *c, int cpu, const struct store *s, bool acquire)
{
	if (s->cpu == cpu)
		return;
	learn(&c->barrier, s->tells);
	if (acquire) {
		learn(&c->for_loads, s->tells);
		learn(&c->for_stores, s->tells);
	}
}

u64 weak_load(const volatile void *p, size_t bytes, bool acquire)
{
	struct place *place = find(p);
	int cpu = weak_cpu();
	struct cpu *c = &cpus[cpu];
	u32 oldest, i;

	if (!place)
		return latest(p, bytes);
	place->last[cpu].read = ++c->now;
	if (place->last[!cpu].plain_write > c->for_loads.stores)
		weak_race("a load and a plain store", p);
	if (!place->nr)
		return latest(p, bytes);
	oldest = place->seen[cpu];
	for (i = place->nr - 1; i > oldest; i--) {
		const struct store *s = &stores_of(place)[i];

		if (s->cpu == cpu || s->at <= c->for_loads.stores)
			oldest = i;
	}
	i = place->nr - 1;
	if (i > oldest)
		i -= weak_choose(i - oldest + 1);
	place->seen[cpu] = i;
	saw(c, cpu, &stores_of(place)[i], acquire);
	return stores_of(place)[i].value;
}

static void remember(struct place *place, int cpu, u64 was, u64 value, struct known tells)
{
	struct store *s = stores_of(place);

	/* the value before the first store belongs to no CPU */
	if (!place->nr)
		s[place->nr++] = (struct store){ .value = was, .cpu = cpu };
	if (place->nr == STORES) {
		memmove(s, s + 1, (STORES - 1) * sizeof(*s));
		place->nr--;
		place->seen[0] -= !!place->seen[0];
		place->seen[1] -= !!place->seen[1];
	}
	s[place->nr] = (struct store){ value, cpus[cpu].now, tells, cpu };
	place->seen[cpu] = place->nr++;
}

static void mark_store(struct place *place, const volatile void *p, int cpu)
{
	const struct cpu *c = &cpus[cpu];
	const struct last *other = &place->last[!cpu];

	if (other->plain_write > c->for_stores.stores || other->plain_read > c->for_stores.loads)
		weak_race("a store and a plain access", p);
	place->last[cpu].write = c->now;
}

void weak_store(volatile void *p, size_t bytes, u64 value, bool release)
{
	struct place *place = find(p);
	int cpu = weak_cpu();
	struct cpu *c = &cpus[cpu];
	u64 was = latest(p, bytes);

	if (bytes == 8)
		*(volatile u64 *)p = value;
	else
		*(volatile u32 *)p = value;
	if (!place)
		return;
	c->now++;
	mark_store(place, p, cpu);
	if (place->last[!cpu].write > c->for_stores.stores)
		weak_race("two stores", p);
	remember(place, cpu, was, bytes == 8 ? value : (u32)value,
		 release ? (struct known){ c->now, c->now } :
			   (struct known){ c->tells, c->tells_loads });
}

/* This CPU passes on all that it has done, and knows all before the other CPU's last exchange. */
static void full_barrier(int cpu)
{
	struct cpu *c = &cpus[cpu];
	struct known other = { cpus[!cpu].full, cpus[!cpu].full };

	learn(&c->barrier, other);
	learn(&c->for_loads, c->barrier);
	learn(&c->for_stores, c->barrier);
	c->tells = c->now;
	c->tells_loads = c->now;
	c->full = c->now;
}

/* An exchange can only replace the latest value. */
bool weak_exchange(u64 *p, u64 old, u64 new, bool full)
{
	struct place *place = find(p);
	int cpu = weak_cpu();
	u64 was = *p;

	if (!place) {
		if (was == old)
			*p = new;
		return was == old;
	}
	cpus[cpu].now++;
	if (place->nr) {
		saw(&cpus[cpu], cpu, &stores_of(place)[place->nr - 1], false);
		place->seen[cpu] = place->nr - 1;
	}
	if (was != old)
		return false;
	if (full)
		full_barrier(cpu);
	cpus[cpu].now++;
	mark_store(place, p, cpu);
	*p = new;
	remember(place, cpu, was, new,
		 (struct known){ cpus[cpu].tells, cpus[cpu].tells_loads });
	if (full)
		full_barrier(cpu);
	return true;
}

/* Add to a word that only this CPU adds to */
u64 weak_add(u64 *p, u64 value)
{
	u64 was = *p;

	weak_store(p, sizeof(*p), was + value, false);
	return was + value;
}

void weak_rmb(void)
{
	struct cpu *c = &cpus[weak_cpu()];

	learn(&c->for_loads, c->barrier);
}

void weak_wmb(void)
{
	struct cpu *c = &cpus[weak_cpu()];

	c->tells = c->now;
}

/* ---- plain accesses --------------------------------------------------- */

void weak_reads(const volatile void *p, size_t bytes)
{
	struct place *place = find(p);
	int cpu = weak_cpu();
	struct cpu *c = &cpus[cpu];
	size_t i;

	c->now++;
	for (i = 0; place && i < bytes; i += GRAIN, place++) {
		fresh(place);
		if (place->last[!cpu].plain_write > c->for_loads.stores ||
		    place->last[!cpu].write > c->for_loads.stores)
			weak_race("a plain load and a store", (const volatile char *)p + i);
		place->last[cpu].plain_read = c->now;
	}
}

void weak_writes(const volatile void *p, size_t bytes)
{
	struct place *place = find(p);
	int cpu = weak_cpu();
	struct cpu *c = &cpus[cpu];
	size_t i;

	c->now++;
	for (i = 0; place && i < bytes; i += GRAIN, place++) {
		const struct last *other;

		fresh(place);
		other = &place->last[!cpu];
		if (other->plain_write > c->for_stores.stores ||
		    other->write > c->for_stores.stores ||
		    other->plain_read > c->for_stores.loads || other->read > c->for_stores.loads)
			weak_race("a plain store and another access",
				  (const volatile char *)p + i);
		place->last[cpu].plain_write = c->now;
		/* marked stores before a plain write can no longer be seen */
		place->nr = 0;
		memset(place->seen, 0, sizeof(place->seen));
	}
}

/* The compiler calls these at each plain access (gcc and clang, -fsanitize=thread). */
#define TSAN(bytes)							\
void __tsan_read##bytes(void *p);					\
void __tsan_read##bytes(void *p)					\
{									\
	weak_reads(p, bytes);						\
}									\
void __tsan_write##bytes(void *p);					\
void __tsan_write##bytes(void *p)					\
{									\
	weak_writes(p, bytes);						\
}									\
void __tsan_unaligned_read##bytes(void *p);				\
void __tsan_unaligned_read##bytes(void *p)				\
{									\
	weak_reads(p, bytes);						\
}									\
void __tsan_unaligned_write##bytes(void *p);				\
void __tsan_unaligned_write##bytes(void *p)				\
{									\
	weak_writes(p, bytes);						\
}

TSAN(1)
TSAN(2)
TSAN(4)
TSAN(8)
TSAN(16)

void __tsan_read_range(void *p, size_t bytes);
void __tsan_read_range(void *p, size_t bytes)
{
	weak_reads(p, bytes);
}

void __tsan_write_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes)
{
	weak_writes(p, bytes);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *p);
void __tsan_func_entry(void *p)
{
	(void)p;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
