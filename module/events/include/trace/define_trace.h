/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An empty replacement of the kernel's <trace/define_trace.h>, for ../../macros/passes.h; events.mk
 * puts it first in the include path.
 *
 * Every trace/events header includes the kernel's file at its end.  If CREATE_TRACE_POINTS is set,
 * that file defines the tracepoints, which exist already.  But some headers define helpers of
 * TP_fast_assign() only if the symbol is set: with this file, passes.h can set it for them.
 */
