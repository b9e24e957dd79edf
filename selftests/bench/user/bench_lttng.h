/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_lttng.h - LTTng-UST's events for bench_writers: one with a 64-bit field, one with 48 bytes.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tb_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench_lttng.h"

#if !defined(BENCH_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(tb_bench, simple,
	LTTNG_UST_TP_ARGS(uint64_t, value),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, value, value)))

LTTNG_UST_TRACEPOINT_EVENT(tb_bench, composite,
	LTTNG_UST_TP_ARGS(const uint64_t *, values),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint64_t, values, values, 6)))

/* no session enables it */
LTTNG_UST_TRACEPOINT_EVENT(tb_bench, off,
	LTTNG_UST_TP_ARGS(uint64_t, value),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, value, value)))

#endif

#include <lttng/tracepoint-event.h>
