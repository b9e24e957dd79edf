/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <trace/events/ib_mad.h> declares a static function if this is set, which it
 * cannot where it is read inside of a function.
 */
#include <linux/trace_events.h>
#undef CONFIG_TRACEPOINTS
