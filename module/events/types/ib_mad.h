/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * With CONFIG_TRACEPOINTS, <trace/events/ib_mad.h> declares a static function.  That is an error
 * where macros/passes.h includes the header inside of a function.
 */
#include <linux/trace_events.h>
#undef CONFIG_TRACEPOINTS
