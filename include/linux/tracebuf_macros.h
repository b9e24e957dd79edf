/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the macros of <linux/tracebuf_event.h> do it: a list of fields becomes a structure, a table
 * of its members, and functions that record it.  Nothing here is for drivers.
 */
#ifndef _LINUX_TRACEBUF_MACROS_H
#define _LINUX_TRACEBUF_MACROS_H

#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/string.h>

/* nothing of the stack goes into a trace */
#if defined(__has_builtin) && !defined(__CHECKER__)
#if __has_builtin(__builtin_clear_padding)
#define __tracebuf_clear(e)	__builtin_clear_padding(e)
#endif
#endif
#ifndef __tracebuf_clear
#define __tracebuf_clear(e)	do { } while (0)
#endif

#define __TRACEBUF_CAT2(a, b)	a ## b
#define __TRACEBUF_CAT(a, b)	__TRACEBUF_CAT2(a, b)

#define __TRACEBUF_16TH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, \
			n, ...)	n
#define __TRACEBUF_COUNT(...)						\
	__TRACEBUF_16TH(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)

/* f(s, i, x) for each x; i is another number each time */
#define __TRACEBUF_EACH(f, s, ...)					\
	__TRACEBUF_CAT(__TRACEBUF_EACH_, __TRACEBUF_COUNT(__VA_ARGS__))(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_1(f, s, x)	f(s, 1, x)
#define __TRACEBUF_EACH_2(f, s, x, ...)	f(s, 2, x) __TRACEBUF_EACH_1(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_3(f, s, x, ...)	f(s, 3, x) __TRACEBUF_EACH_2(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_4(f, s, x, ...)	f(s, 4, x) __TRACEBUF_EACH_3(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_5(f, s, x, ...)	f(s, 5, x) __TRACEBUF_EACH_4(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_6(f, s, x, ...)	f(s, 6, x) __TRACEBUF_EACH_5(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_7(f, s, x, ...)	f(s, 7, x) __TRACEBUF_EACH_6(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_8(f, s, x, ...)	f(s, 8, x) __TRACEBUF_EACH_7(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_9(f, s, x, ...)	f(s, 9, x) __TRACEBUF_EACH_8(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_10(f, s, x, ...) f(s, 10, x) __TRACEBUF_EACH_9(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_11(f, s, x, ...) f(s, 11, x) __TRACEBUF_EACH_10(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_12(f, s, x, ...) f(s, 12, x) __TRACEBUF_EACH_11(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_13(f, s, x, ...) f(s, 13, x) __TRACEBUF_EACH_12(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_14(f, s, x, ...) f(s, 14, x) __TRACEBUF_EACH_13(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_15(f, s, x, ...) f(s, 15, x) __TRACEBUF_EACH_14(f, s, __VA_ARGS__)
#define __TRACEBUF_EACH_16(f, s, x, ...) f(s, 16, x) __TRACEBUF_EACH_15(f, s, __VA_ARGS__)

/* a field has two parts, or three if it is dynamic: NAME_2 or NAME_3 of them */
#define __TRACEBUF_BY_KIND(name, x)	__TRACEBUF_CAT(name, __TRACEBUF_COUNT x) x

#define __TRACEBUF_REF(s, i, x)		&__TRACEBUF_REF_NAME x,
#define __TRACEBUF_REF_NAME(system, event)	__tracebuf_##system##_##event

#define __TRACEBUF_GROUP(group, ...)					\
	static struct tracebuf_def *const __tracebuf_defs_##group[] = {	\
		__TRACEBUF_EACH(__TRACEBUF_REF, group, __VA_ARGS__)	\
		NULL							\
	};								\
	static struct tracebuf_group group = {				\
		.defs = __tracebuf_defs_##group,			\
	}

#define __TRACEBUF_MEMBER(s, i, x)	__TRACEBUF_BY_KIND(__TRACEBUF_MEMBER_, x);
#define __TRACEBUF_MEMBER_2(type, declarator)		type declarator
#define __TRACEBUF_MEMBER_3(type, declarator, dynamic)	u32 declarator

/*
 * The same structure again, with names that can be counted: of name[16] the preprocessor
 * cannot make the name of the member.
 */
#define __TRACEBUF_NUMBERED(s, i, x)					\
	struct {							\
		__TRACEBUF_BY_KIND(__TRACEBUF_MEMBER_, x);		\
	} f##i;

#define __TRACEBUF_ENTRY(s, i, x) {					\
	.offset = offsetof(struct __tracebuf_numbered_##s, f##i),	\
	.size = sizeof_field(struct __tracebuf_numbered_##s, f##i),	\
	__TRACEBUF_BY_KIND(__TRACEBUF_ENTRY_, x)			\
},
#define __TRACEBUF_ENTRY_2(_type, declarator)				\
	.name = #declarator, .type = #_type, .element = sizeof(_type),	\
	.flags = is_signed_type(_type) ? TB_FIELD_SIGNED : 0,
#define __TRACEBUF_ENTRY_3(_type, declarator, dynamic)			\
	.name = #declarator, .type = #_type, .element = sizeof(_type),	\
	.flags = TB_FIELD_DATA_LOC | (is_signed_type(_type) ? TB_FIELD_SIGNED : 0),

#define __TRACEBUF_DEF(_system, _event, s, _print, _simple, ...)	\
	struct tracebuf_##s {						\
		__TRACEBUF_EACH(__TRACEBUF_MEMBER, s, __VA_ARGS__)	\
	};								\
	struct __tracebuf_numbered_##s {				\
		__TRACEBUF_EACH(__TRACEBUF_NUMBERED, s, __VA_ARGS__)	\
	};								\
	static const struct tracebuf_field __tracebuf_fields_##s[] = {	\
		__TRACEBUF_EACH(__TRACEBUF_ENTRY, s, __VA_ARGS__)	\
	};								\
	static struct tracebuf_def __tracebuf_##s = {			\
		.source.wanted = STATIC_KEY_FALSE_INIT,			\
		.system = #_system,					\
		.name = #_event,					\
		.print = _print,					\
		.fields = __tracebuf_fields_##s,			\
		.nr_fields = ARRAY_SIZE(__tracebuf_fields_##s),		\
		.bytes = sizeof(struct tracebuf_##s),			\
		.simple = _simple,					\
	};								\
	static_assert(sizeof(struct tracebuf_##s) ==			\
		      sizeof(struct __tracebuf_numbered_##s))

#define __TRACEBUF_COMPOSITE(system, event, s, print, ...)		\
	__TRACEBUF_DEF(system, event, s, print, false, __VA_ARGS__);	\
	static __always_inline void					\
	__tracebuf_record_##s(const struct tracebuf_##s *e)		\
	{								\
		__tracebuf_record(&__tracebuf_##s, e);			\
	}								\
	static __always_inline struct tracebuf_##s *			\
	__tracebuf_reserve_##s(struct tracebuf_slot *slot, u32 extra)	\
	{								\
		return __tracebuf_reserve(&__tracebuf_##s, slot, extra);	\
	}								\
	static_assert(sizeof(struct tracebuf_##s) <= 2048)

#define __TRACEBUF_SIMPLE(system, event, s, ...)			\
	__TRACEBUF_DEF(system, event, s, NULL, true, __VA_ARGS__);	\
	static __always_inline void					\
	__tracebuf_record_##s(const struct tracebuf_##s *e)		\
	{								\
		u64 payload = 0;					\
									\
		memcpy(&payload, e, sizeof(*e));			\
		__tracebuf_record_simple(&__tracebuf_##s, payload);	\
	}								\
	static_assert(sizeof(struct tracebuf_##s) <= sizeof(u64))

#endif /* _LINUX_TRACEBUF_MACROS_H */
