/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes probes out of a header of the kernel's tracepoints.
 *
 * A unit (ev_*.c) includes what the header forgot to, then defines these and
 * includes this:
 *
 *	TB_UNIT_NAME	its name in units.h
 *	TB_HEADER	the header, "trace/events/...h"
 *	TB_SKIP_name 1	leave out the event or event class of that name
 *	TB_EXTRA	a header with TB_REPLACE_EVENT() and TB_REPLACE_CLASS()
 *			for what is left out, and TRACE_DEFINE_ENUM() for what
 *			print formats use and the header does not announce
 *
 * The header is read once as any user of it would, which declares the
 * tracepoints, and then once for each pass below, with TRACE_EVENT() and its
 * relatives meaning something else each time.  The kernel's ftrace, perf and
 * BPF glue come about in the same way, and where the meaning of the elements
 * of an event (__field(), __string(), __assign_str() ...) is the one the
 * kernel gives them, it is taken from the kernel's <trace/stages/>: so a
 * header and its stages always fit, whatever the version.
 *
 *	1  struct trace_event_raw_X, the fields in memory	(kernel's stage)
 *	2  struct trace_event_data_offsets_X			(kernel's stage)
 *	3  tb_fields_X(), the table of fields
 *	4  trace_event_get_offsets_X(), sizes of dynamic fields	(kernel's stage)
 *	5  tb_probe_X(), the probe				(kernel's stage)
 *	6  tb_print_X, tb_def_X: print format, definition	(kernel's stage)
 *	7  tb_unit_init_UNIT(), which collects the definitions
 *
 * X is the event class, in pass 6 also the event.
 */

#include <linux/trace_events.h>
#include <linux/kconfig.h>
#include <linux/string.h>

/* some headers keep functions for TP_fast_assign() under this symbol */
#define CREATE_TRACE_POINTS
#include TB_HEADER
#undef CREATE_TRACE_POINTS

#include "../record.h"
#include "capture.h"

#define __TB_CAT(a, b)		a ## b
#define TB_CAT(a, b)		__TB_CAT(a, b)
#define TB_PICK(macro, name)	TB_CAT(macro, __is_defined(TB_SKIP_##name))

static_assert(sizeof(struct trace_entry) == sizeof(struct tb_composite) -
	      offsetof(struct tb_composite, tid));

/*
 * Every kind of event comes down to TB_CLASS(), TB_EVENT() and
 * TB_EVENT_PRINT(), which each pass defines.  Left out ones end in the _1
 * variants.
 */
#define TB_CLASS_0(call, proto, args, tstruct, assign, print)		\
	TB_CLASS(call, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		 PARAMS(assign), PARAMS(print))
#define TB_CLASS_1(call, proto, args, tstruct, assign, print)
#define TB_EVENT_0(template, name)		TB_EVENT(template, name)
#define TB_EVENT_1(template, name)
#define TB_EVENT_PRINT_0(template, name, print)				\
	TB_EVENT_PRINT(template, name, PARAMS(print))
#define TB_EVENT_PRINT_1(template, name, print)

/* TB_EXTRA's, in place of what is left out of the header */
#define TB_REPLACE_CLASS(call, proto, args, tstruct, assign, print)	\
	TB_CLASS(call, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		 PARAMS(assign), PARAMS(print))
#define TB_REPLACE_EVENT(name, proto, args, tstruct, assign, print)	\
	TB_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		 PARAMS(assign), PARAMS(print))				\
	TB_EVENT(name, name)

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
	TB_PICK(TB_CLASS_, call)(call, PARAMS(proto), PARAMS(args),	\
				 PARAMS(tstruct), PARAMS(assign),	\
				 PARAMS(print))

#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name, proto, args)			\
	TB_PICK(TB_EVENT_, name)(template, name)

#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)		\
	TB_PICK(TB_EVENT_PRINT_, name)(template, name, PARAMS(print))

#undef TRACE_EVENT
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)		\
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args),		\
			    PARAMS(tstruct), PARAMS(assign),		\
			    PARAMS(print))				\
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))

/* Conditions are checked, and callbacks called, by the tracepoint itself. */
#undef DEFINE_EVENT_FN
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg)	\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))

#undef DEFINE_EVENT_CONDITION
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond)	\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))

#undef TRACE_EVENT_CONDITION
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign,	\
			      print)					\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))

#undef TRACE_EVENT_FN
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg,	\
		       unreg)						\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))

#undef TRACE_EVENT_FN_COND
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign,	\
			    print, reg, unreg)				\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))

/* System calls of kernels that enter them preemptible: begin sees to it. */
#undef TRACE_EVENT_SYSCALL
#define TRACE_EVENT_SYSCALL(name, proto, args, tstruct, assign, print,	\
			    reg, unreg)					\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))

/* no tracepoint behind them */
#undef TRACE_EVENT_NOP
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print)
#undef DECLARE_EVENT_CLASS_NOP
#define DECLARE_EVENT_CLASS_NOP(name, proto, args, tstruct, assign, print)
#undef DEFINE_EVENT_NOP
#define DEFINE_EVENT_NOP(template, name, proto, args)
#undef DECLARE_EVENT_NOP
#define DECLARE_EVENT_NOP(name, proto, args)

/* tracepoints without an event: nothing says what to record */
#undef DECLARE_TRACE
#define DECLARE_TRACE(name, proto, args)
#undef DECLARE_TRACE_CONDITION
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)
#undef DECLARE_TRACE_SYSCALL
#define DECLARE_TRACE_SYSCALL(name, proto, args)
#undef DECLARE_TRACE_WRITABLE
#define DECLARE_TRACE_WRITABLE(name, proto, args, size)

/* ftrace's and perf's alone */
#undef TRACE_EVENT_FLAGS
#define TRACE_EVENT_FLAGS(name, value)
#undef TRACE_EVENT_PERF_PERM
#define TRACE_EVENT_PERF_PERM(name, expr...)

#define TRACE_HEADER_MULTI_READ

/* ---- 1: the fields in memory ------------------------------------------ */

#include <trace/stages/stage1_struct_define.h>

#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a)
#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(a)

#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
	struct trace_event_raw_##call {					\
		struct trace_entry ent;					\
		tstruct							\
		char __data[];						\
	};
#define TB_EVENT(template, name)
#define TB_EVENT_PRINT(template, name, print)

#ifdef TB_EXTRA
#include TB_EXTRA
#endif
#include TB_HEADER

/* ---- 2: where dynamic fields are -------------------------------------- */

#include <trace/stages/stage2_data_offsets.h>

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
	struct trace_event_data_offsets_##call {			\
		tstruct							\
	};

#ifdef TB_EXTRA
#include TB_EXTRA
#endif
#include TB_HEADER

/* ---- 3: the table of fields ------------------------------------------- */

#include "stage_fields.h"

/* In a function because the elements need a name for what they are in. */
#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
static const struct tb_field_def * __init __maybe_unused		\
tb_fields_##call(void)							\
{									\
	struct trace_event_raw_##call *tb_raw __maybe_unused = NULL;	\
	static const struct tb_field_def fields[] = {			\
		tstruct							\
		{}							\
	};								\
									\
	return fields;							\
}

#ifdef TB_EXTRA
#include TB_EXTRA
#endif
#include TB_HEADER

/* ---- 4: sizes of dynamic fields --------------------------------------- */

#include <trace/stages/stage5_get_offsets.h>

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
static inline notrace int trace_event_get_offsets_##call(		\
	struct trace_event_data_offsets_##call *__data_offsets, proto)	\
{									\
	int __data_size = 0;						\
	int __maybe_unused __item_length;				\
	struct trace_event_raw_##call __maybe_unused *entry;		\
									\
	tstruct								\
									\
	return __data_size;						\
}

#ifdef TB_EXTRA
#include TB_EXTRA
#endif
#include TB_HEADER

/* ---- 5: the probe ----------------------------------------------------- */

/* stage 3's access to dynamic fields is what stage 6 builds on */
#include <trace/stages/stage3_trace_output.h>
#include <trace/stages/stage6_event_callback.h>

/*
 * Up to 6.9 __assign_str() named its source again and used strcpy().  If the
 * string has grown since its size was taken that writes beyond the event, into
 * the next one of the ring; so copy no more than there is room for.
 */
#undef __assign_str
#define __assign_str(dst, ...)						\
	TB_ASSIGN_PICK(dst, ##__VA_ARGS__, TB_ASSIGN_SOURCE,		\
		       TB_ASSIGN_KEPT, -)(dst, ##__VA_ARGS__)
#define TB_ASSIGN_PICK(dst, src, macro, ...)	macro
#define TB_ASSIGN_SOURCE(dst, src)					\
	strscpy(__get_str(dst), (src) ? (const char *)(src) : "(null)",	\
		__get_dynamic_array_len(dst));
#define TB_ASSIGN_KEPT(dst)						\
	({								\
		char *__str__ = __get_str(dst);				\
		int __len__ = __get_dynamic_array_len(dst) - 1;		\
									\
		memcpy(__str__, __data_offsets.dst##_ptr_ ? :		\
		       EVENT_NULL_STR, __len__);			\
		__str__[__len__] = '\0';				\
	});

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
static notrace void tb_probe_##call(void *__data, proto)		\
{									\
	struct trace_event_data_offsets_##call __maybe_unused __data_offsets; \
	struct trace_event_raw_##call *entry;				\
	struct tb_slot __tb_slot __uninitialized;			\
	int __data_size;						\
									\
	__data_size = trace_event_get_offsets_##call(&__data_offsets, args); \
	entry = tb_probe_begin(__data, &__tb_slot,			\
			       sizeof(*entry) - sizeof(struct trace_entry) + \
			       __data_size);				\
	if (!entry)							\
		return;							\
									\
	tstruct								\
									\
	{ assign; }							\
									\
	tb_probe_end(&__tb_slot);					\
}

#ifdef TB_EXTRA
#include TB_EXTRA
#endif
#include TB_HEADER

/* ---- 6: print formats and definitions --------------------------------- */

#include <trace/stages/stage7_class_define.h>

#define TB_DEFINITION(template, call, format)				\
static struct tb_event_def tb_def_##call __ro_after_init = {		\
	.system = __stringify(TRACE_SYSTEM),				\
	.name = #call,							\
	.print = format,						\
	.probe = tb_probe_##template,					\
};									\
									\
/* never called: the compiler is to compare the prototypes */		\
static inline void tb_check_##call(void)				\
{									\
	check_trace_callback_type_##call(tb_probe_##template);		\
}

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
static const char tb_print_##call[] __maybe_unused = print;
#undef TB_EVENT
#define TB_EVENT(template, name)					\
	TB_DEFINITION(template, name, tb_print_##template)
#undef TB_EVENT_PRINT
#define TB_EVENT_PRINT(template, name, print)				\
	static const char tb_print_##name[] = print;			\
	TB_DEFINITION(template, name, tb_print_##name)

#ifdef TB_EXTRA
#include TB_EXTRA
#endif
#include TB_HEADER

/* ---- 7: the collection ------------------------------------------------ */

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)
#undef TB_EVENT
#define TB_EVENT(template, call)					\
	tb_def_##call.fields = tb_fields_##template();			\
	list_add_tail(&tb_def_##call.list, &unit->events);
#undef TB_EVENT_PRINT
#define TB_EVENT_PRINT(template, name, print)	TB_EVENT(template, name)

#define TB_EVAL(text, number)						\
	do {								\
		static struct tb_eval eval __ro_after_init = {		\
			.name = text,					\
			.value = (long)(number),			\
		};							\
									\
		list_add_tail(&eval.list, &unit->evals);		\
	} while (0)

#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a)	TB_EVAL(#a, a)
#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(a)	TB_EVAL("sizeof(" #a ")", sizeof(a))

/*
 * The header is read inside of a function: not a table, because what ends an
 * event there is a semicolon, and not a linker section, because those of
 * modules have no start and end symbols.
 */
#define __TB_UNIT_INIT(name)	TB_UNIT_INIT(name)
__init __TB_UNIT_INIT(TB_UNIT_NAME)
{
#ifdef TB_EXTRA
#include TB_EXTRA
#endif
#include TB_HEADER
}
