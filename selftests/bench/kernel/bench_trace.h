/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_trace.h - the tracepoints of the benchmark: one for each tracer.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tb_bench

#if !defined(BENCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define BENCH_TRACE_H

#include <linux/tracepoint.h>

/* tracebuf attaches a probe of its own */
DECLARE_TRACE(bench_tracebuf, TP_PROTO(u64 value), TP_ARGS(value));

/* no probe is attached */
DECLARE_TRACE(bench_nobody, TP_PROTO(u64 value), TP_ARGS(value));

TRACE_EVENT(bench_ftrace,
	TP_PROTO(u64 value),
	TP_ARGS(value),
	TP_STRUCT__entry(
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->value = value;
	),
	TP_printk("value=%llu", __entry->value)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE bench_trace
#include <trace/define_trace.h>
