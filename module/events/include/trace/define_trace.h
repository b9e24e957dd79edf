/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An empty replacement of the kernel's <trace/define_trace.h>, for ../../macros/passes.h; events.mk
 * puts it first in the include path.
 *
 * Every trace/events header includes the kernel's file at its end, which defines the tracepoints if
 * CREATE_TRACE_POINTS is set.  They exist already; but some headers have helpers for their
 * TP_fast_assign() under the same symbol, and with this file it can be set for the helpers alone.
 */
