/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enumerators that print formats of <trace/events/block.h> use, and that it does not define with
 * TRACE_DEFINE_ENUM(); for kernels with priorities in these events.
 */
TRACE_DEFINE_ENUM(IOPRIO_CLASS_NONE);
TRACE_DEFINE_ENUM(IOPRIO_CLASS_RT);
TRACE_DEFINE_ENUM(IOPRIO_CLASS_BE);
TRACE_DEFINE_ENUM(IOPRIO_CLASS_IDLE);
TRACE_DEFINE_ENUM(IOPRIO_CLASS_INVALID);
