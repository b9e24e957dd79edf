/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enumerators that print formats of <trace/events/power.h> use, and that it does not define with
 * TRACE_DEFINE_ENUM().
 */
TRACE_DEFINE_ENUM(PM_QOS_ADD_REQ);
TRACE_DEFINE_ENUM(PM_QOS_UPDATE_REQ);
TRACE_DEFINE_ENUM(PM_QOS_REMOVE_REQ);
TRACE_DEFINE_ENUM(DEV_PM_QOS_RESUME_LATENCY);
TRACE_DEFINE_ENUM(DEV_PM_QOS_FLAGS);
