/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * With CONFIG_TRACEPOINTS, <trace/events/ib_mad.h> declares a static function, which is an error
 * where macros/passes.h includes the header inside a function.
 */
#include <linux/trace_events.h>
#undef CONFIG_TRACEPOINTS
