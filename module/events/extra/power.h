/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that print formats of <trace/events/power.h> use and the header does
 * not announce.  Read by every pass of macros/passes.h; hence no guard.
 */
TRACE_DEFINE_ENUM(PM_QOS_ADD_REQ);
TRACE_DEFINE_ENUM(PM_QOS_UPDATE_REQ);
TRACE_DEFINE_ENUM(PM_QOS_REMOVE_REQ);
TRACE_DEFINE_ENUM(DEV_PM_QOS_RESUME_LATENCY);
TRACE_DEFINE_ENUM(DEV_PM_QOS_FLAGS);
