/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user-space replacement for module/probe/filter_arch.h: what filter.c needs of its
 * surroundings when it runs in a test.
 */
#ifndef FILTER_USER_H
#define FILTER_USER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/tracebuf.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define notrace
#ifndef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#endif
#define noinline		__attribute__((__noinline__))
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define fallthrough		__attribute__((__fallthrough__))
/* a test has no secrets that speculation could leak */
#define array_index_nospec(index, size)	(index)
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))

/* The thread and place of the event; the test sets them */
struct filter_task {
	u32 tid;
	u32 tgid;
	u32 uid;
	u32 cpu;
	u32 context;
	char comm[TB_COMM_LEN];
};

extern struct filter_task filter_task;
/* The number of allocations that succeed before one fails; negative: none fails */
extern int filter_fail;

static inline void *tb_filter_alloc(size_t bytes)
{
	return filter_fail >= 0 && !filter_fail-- ? NULL : malloc(bytes);
}

#define kvfree(p)		free(p)

static inline u32 tb_filter_tid(void)
{
	return filter_task.tid;
}

static inline u32 tb_filter_tgid(void)
{
	return filter_task.tgid;
}

static inline u32 tb_filter_uid(void)
{
	return filter_task.uid;
}

static inline u32 tb_filter_cpu(void)
{
	return filter_task.cpu;
}

static inline u32 tb_filter_context(void)
{
	return filter_task.context;
}

static inline void tb_filter_comm(char comm[TB_COMM_LEN])
{
	memcpy(comm, filter_task.comm, TB_COMM_LEN);
}

#endif /* FILTER_USER_H */
