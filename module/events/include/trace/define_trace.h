/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stands in for the kernel's <trace/define_trace.h> while a tracepoint header
 * is expanded by ../../macros/passes.h; events.mk puts it first in the include path.
 *
 * The kernel's file, at the end of every trace/events header, defines the
 * tracepoints if CREATE_TRACE_POINTS is set.  They exist already, but some
 * headers have helpers for their TP_fast_assign() under the same symbol.  With
 * nothing here the symbol can be set for the helpers alone.
 */
