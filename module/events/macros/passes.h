/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make probes from a header of the kernel's tracepoints, by reading it once in each of the passes
 * below.  The units, which scripts/build-module writes, include this file.
 */

#include <linux/trace_events.h>
#include <linux/kconfig.h>
#include <linux/string.h>

#include "probe/probe.h"
#include "events/unit.h"
#include "kinds.h"

/*
 * A unit includes the headers that its header misses, then defines these macros:
 *
 *	TB_UNIT_NAME	its name
 *	TB_HEADER	the header, "trace/events/...h"
 *	TB_SKIP_name 1	leave out the event, or the event class with its events
 *	TB_EXTRA	a header with TB_OWN_CLASS() in place of classes of TB_HEADER, and
 *			TB_OWN_name 1 for each of them; it has TRACE_DEFINE_ENUM() for names that
 *			print formats use and TB_HEADER does not announce; without a guard, because
 *			each pass reads it (read.h)
 *	TB_BARE_name 1	replace the class of TB_HEADER by the unit's TB_BARE_CLASS()
 *
 * Each pass gives TRACE_EVENT() and its relatives another meaning (kinds.h).  The kernel makes its
 * code for ftrace, perf and BPF in the same way.  Where elements of an event (__field(),
 * __string(), __assign_str() ...) keep the kernel's meaning, the pass uses the kernel's
 * <trace/stages/>, which fit the headers of the same version.
 *
 *	0  tb_callback_X, the type of a probe; what the header includes
 *	1  struct trace_event_raw_X, the fields in memory	(kernel's stage)
 *	2  struct trace_event_data_offsets_X			(kernel's stage)
 *	3  tb_fields_X(), the table of fields
 *	4  trace_event_get_offsets_X(), sizes of dynamic fields	(kernel's stage)
 *	5  tb_probe_X(), the probe				(kernel's stage)
 *	6  tb_print_X, tb_def_X: print format, definition	(kernel's stage)
 *	7  tb_unit_init_UNIT(), which collects the definitions
 *
 * X is the event class; in passes 0 and 6 it may be the event.
 */

static_assert(sizeof(struct trace_entry) == sizeof(struct tb_composite) -
	      offsetof(struct tb_composite, tid));

/* ---- 0: arguments of probes ------------------------------------------- */

/*
 * Do not use the kernel's own meaning, which declares trace_X() and more: no code here calls these,
 * and a prototype that does not compile must cost only its event, not the whole header.
 */
#define TB_CLASS(call, proto, args, tstruct, assign, print)
#define TB_EVENT(template, name, proto)					\
	typedef void tb_callback_##name(void *__data, proto);
#define TB_EVENT_PRINT(template, name, proto, print)			\
	TB_EVENT(template, name, PARAMS(proto))
#define TB_EVAL(text, a)

/* some headers define functions for TP_fast_assign() only with this symbol */
#define CREATE_TRACE_POINTS
#include TB_HEADER
#undef CREATE_TRACE_POINTS

#define TRACE_HEADER_MULTI_READ

/* ---- 1: the fields in memory ------------------------------------------ */

#include <trace/stages/stage1_struct_define.h>

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
	struct trace_event_raw_##call {					\
		struct trace_entry ent;					\
		tstruct							\
		char __data[];						\
	};
#undef TB_EVENT
#define TB_EVENT(template, name, proto)
#undef TB_EVENT_PRINT
#define TB_EVENT_PRINT(template, name, proto, print)

#include "read.h"

/* ---- 2: where dynamic fields are -------------------------------------- */

#include <trace/stages/stage2_data_offsets.h>

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
	struct trace_event_data_offsets_##call {			\
		tstruct							\
	};

#include "read.h"

/* ---- 3: the table of fields ------------------------------------------- */

#include "pass_fields.h"

/* in a function, because the elements need a name, tb_raw, for their structure */
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

#include "read.h"

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

#include "read.h"

/* ---- 5: the probe ----------------------------------------------------- */

/* stage 6 needs stage 3's access to dynamic fields */
#include <trace/stages/stage3_trace_output.h>
#include <trace/stages/stage6_event_callback.h>

#include "pass_assign.h"

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
static notrace void __maybe_unused tb_probe_##call(void *__data, proto)	\
{									\
	struct trace_event_data_offsets_##call __maybe_unused __data_offsets; \
	struct trace_event_raw_##call *entry;				\
	struct tb_slot __tb_slot __uninitialized;			\
	int __data_size;						\
									\
	tb_tracepoint_enter();						\
	__data_size = trace_event_get_offsets_##call(&__data_offsets, args); \
	entry = tb_probe_begin(__data, &__tb_slot,			\
			       sizeof(*entry) - sizeof(struct trace_entry) + \
			       __data_size);				\
	if (entry) {							\
		tstruct							\
									\
		{ assign; }						\
									\
		tb_probe_end(&__tb_slot);				\
	}								\
	tb_tracepoint_leave();						\
}

#include "read.h"

/* ---- 6: print formats and definitions --------------------------------- */

#include <trace/stages/stage7_class_define.h>

/* not const: the unit links the definitions and sets their fields */
#define TB_DEFINITION(template, call, format)				\
static struct tb_event_def tb_def_##call = {				\
	.system = __stringify(TRACE_SYSTEM),				\
	.name = #call,							\
	.print = format,						\
	.probe = tb_probe_##template,					\
};									\
									\
/* never called: the compiler compares the two prototypes */		\
static inline void tb_check_##call(void)				\
{									\
	typeof(tb_callback_##call) *probe __maybe_unused = tb_probe_##template;	\
}

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)		\
static const char tb_print_##call[] __maybe_unused = print;
#undef TB_EVENT
#define TB_EVENT(template, name, proto)					\
	TB_DEFINITION(template, name, tb_print_##template)
#undef TB_EVENT_PRINT
#define TB_EVENT_PRINT(template, name, proto, print)			\
	static const char tb_print_##name[] = print;			\
	TB_DEFINITION(template, name, tb_print_##name)

#include "read.h"

/* ---- 7: the collection ------------------------------------------------ */

#undef TB_CLASS
#define TB_CLASS(call, proto, args, tstruct, assign, print)
#undef TB_EVENT
#define TB_EVENT(template, call, proto)				\
	tb_def_##call.fields = tb_fields_##template();			\
	list_add_tail(&tb_def_##call.list, &unit->events);
#undef TB_EVENT_PRINT
#define TB_EVENT_PRINT(template, name, proto, print)			\
	TB_EVENT(template, name, PARAMS(proto))

#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a)	TB_PICK(TB_EVAL_, TB_SKIP_##a, TB_NEVER)(#a, a)
#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(a)	TB_EVAL("sizeof(" #a ")", sizeof(a))
#undef TB_EVAL
#define TB_EVAL(text, a)						\
	do {								\
		static struct tb_eval eval __ro_after_init = {		\
			.name = text,					\
			.value = (long)(a),				\
		};							\
									\
		list_add_tail(&eval.list, &unit->evals);		\
	} while (0)

/*
 * Read the header inside a function.  A table does not work, because a semicolon ends each event.
 * A linker section does not work, because in modules it has no start and end symbols.
 */
#define __TB_UNIT_INIT(name)	TB_UNIT_INIT(name)
__TB_UNIT_INIT(TB_UNIT_NAME);

__init __TB_UNIT_INIT(TB_UNIT_NAME)
{
#include "read.h"
}
