/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Express all macros that define events in a header of tracepoints by three macros, which each pass
 * of passes.h defines:
 *
 *	TB_CLASS(class, proto, args, tstruct, assign, print)
 *	TB_EVENT(class, name, proto)
 *	TB_EVENT_PRINT(class, name, proto, print)	for an event with its own print format
 *
 * TB_PICK() chooses the variant _00 of a macro, or an empty one for what the unit leaves out.
 */
#define __TB_CAT(a, b, c)	a ## b ## c
#define TB_CAT(a, b, c)		__TB_CAT(a, b, c)
/* the variant of a macro for two conditions: macro_00 if neither is defined */
#define TB_PICK(macro, a, b)	TB_CAT(macro, __is_defined(a), __is_defined(b))

/* conditions: the class is left out; another class replaces it */
#define TB_CLASS_00(call, proto, args, tstruct, assign, print)		\
	TB_CLASS(call, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		 PARAMS(assign), PARAMS(print))
#define TB_CLASS_01(call, proto, args, tstruct, assign, print)
#define TB_CLASS_10(call, proto, args, tstruct, assign, print)
#define TB_CLASS_11(call, proto, args, tstruct, assign, print)

/* conditions: the class of the event is left out; the event itself is left out */
#define TB_EVENT_00(template, name, proto)				\
	TB_EVENT(template, name, PARAMS(proto))
#define TB_EVENT_01(template, name, proto)
#define TB_EVENT_10(template, name, proto)
#define TB_EVENT_11(template, name, proto)
#define TB_EVENT_PRINT_00(template, name, proto, print)			\
	TB_EVENT_PRINT(template, name, PARAMS(proto), PARAMS(print))
#define TB_EVENT_PRINT_01(template, name, proto, print)
#define TB_EVENT_PRINT_10(template, name, proto, print)
#define TB_EVENT_PRINT_11(template, name, proto, print)

/* replace a class of the header: OWN is written by hand, BARE records only the arguments */
#define TB_OWN_CLASS(call, proto, args, tstruct, assign, print)		\
	TB_PICK(TB_CLASS_, TB_SKIP_##call, TB_BARE_##call)(call,	\
		PARAMS(proto), PARAMS(args), PARAMS(tstruct),		\
		PARAMS(assign), PARAMS(print))
#define TB_BARE_CLASS(call, proto, args, tstruct, assign, print)	\
	TB_PICK(TB_CLASS_, TB_SKIP_##call, TB_NEVER)(call,		\
		PARAMS(proto), PARAMS(args), PARAMS(tstruct),		\
		PARAMS(assign), PARAMS(print))

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)	\
	TB_PICK(TB_CLASS_, TB_SKIP_##call, TB_OWN_##call)(call,		\
		PARAMS(proto), PARAMS(args), PARAMS(tstruct),		\
		PARAMS(assign), PARAMS(print))

#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name, proto, args)			\
	TB_PICK(TB_EVENT_, TB_SKIP_##template, TB_SKIP_##name)(		\
		template, name, PARAMS(proto))

#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)		\
	TB_PICK(TB_EVENT_PRINT_, TB_SKIP_##template, TB_SKIP_##name)(	\
		template, name, PARAMS(proto), PARAMS(print))

#undef TRACE_EVENT
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)		\
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args),		\
			    PARAMS(tstruct), PARAMS(assign),		\
			    PARAMS(print))				\
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))

/* the tracepoint itself checks conditions and calls @reg and @unreg */
#undef DEFINE_EVENT_FN
#define DEFINE_EVENT_FN(template, name, proto, args, ...)		\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#undef DEFINE_EVENT_CONDITION
#define DEFINE_EVENT_CONDITION	DEFINE_EVENT_FN

#undef TRACE_EVENT_FN
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, ...)	\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))
/* some kernels run these probes preemptible: tb_tracepoint_enter() disables preemption */
#undef TRACE_EVENT_SYSCALL
#define TRACE_EVENT_SYSCALL	TRACE_EVENT_FN

#undef TRACE_EVENT_FN_COND
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign,	\
			    print, ...)					\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))
#undef TRACE_EVENT_CONDITION
#define TRACE_EVENT_CONDITION	TRACE_EVENT_FN_COND

/* events without a tracepoint */
#undef TRACE_EVENT_NOP
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print)
#undef DECLARE_EVENT_CLASS_NOP
#define DECLARE_EVENT_CLASS_NOP(name, proto, args, tstruct, assign, print)
#undef DEFINE_EVENT_NOP
#define DEFINE_EVENT_NOP(template, name, proto, args)
#undef DECLARE_EVENT_NOP
#define DECLARE_EVENT_NOP(name, proto, args)

/* tracepoints that the kernel declares without fields: there is nothing to record */
#undef DECLARE_TRACE
#define DECLARE_TRACE(name, proto, args)
#undef DECLARE_TRACE_CONDITION
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)
#undef DECLARE_TRACE_SYSCALL
#define DECLARE_TRACE_SYSCALL(name, proto, args)
#undef DECLARE_TRACE_WRITABLE
#define DECLARE_TRACE_WRITABLE(name, proto, args, size)

/* for ftrace and perf alone */
#undef TRACE_EVENT_FLAGS
#define TRACE_EVENT_FLAGS(name, value)
#undef TRACE_EVENT_PERF_PERM
#define TRACE_EVENT_PERF_PERM(name, expr...)

/*
 * Names that print formats use: TB_EVAL("name", value).  A unit can leave out enumerators that its
 * kernel does not have.  The name may be a macro, which must not be expanded.  The kernel's stage 2
 * undefines these macros, so passes.h defines them again.
 */
#define TB_EVAL_00(text, a)	TB_EVAL(text, a)
#define TB_EVAL_10(text, a)
#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a)	TB_PICK(TB_EVAL_, TB_SKIP_##a, TB_NEVER)(#a, a)
#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(a)	TB_EVAL("sizeof(" #a ")", sizeof(a))
