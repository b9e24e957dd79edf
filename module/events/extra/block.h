/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that print formats of <trace/events/block.h> use, where it has priorities,
 * and the header does not announce.  Read by every pass of macros/passes.h; hence no guard.
 */
TRACE_DEFINE_ENUM(IOPRIO_CLASS_NONE);
TRACE_DEFINE_ENUM(IOPRIO_CLASS_RT);
TRACE_DEFINE_ENUM(IOPRIO_CLASS_BE);
TRACE_DEFINE_ENUM(IOPRIO_CLASS_IDLE);
TRACE_DEFINE_ENUM(IOPRIO_CLASS_INVALID);
