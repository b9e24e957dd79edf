/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_tracebuf.h - record_simple(), and the functions of record.c that tracebuf.c measures.
 */
#ifndef BENCH_TRACEBUF_H
#define BENCH_TRACEBUF_H

#include "probe/probe.h"

/* Record a simple event on this CPU. */
static __always_inline void record_simple(struct tb_provider *p, u32 id, u64 payload)
{
	preempt_disable_notrace();
	tb_ring_simple(this_cpu_ptr(p->rings), id, payload);
	preempt_enable_notrace();
}

void bench_record(struct tb_provider *p, u32 id, u64 payload);
void bench_record_2(struct tb_provider *p, u32 id, u64 payload);
void bench_record_4(struct tb_provider *p, u32 id, u64 payload);
void bench_record_16(struct tb_provider *p, u32 id, u64 payload);
void bench_record_hollow(struct tb_provider *p, u32 id, u32 bytes);
void bench_probe(void *data, u64 value);
void bench_record_still(struct tb_provider *p, u32 id, u64 payload);
void bench_record_4_still(struct tb_provider *p, u32 id, u64 payload);

#endif /* BENCH_TRACEBUF_H */
