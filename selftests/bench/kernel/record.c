// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - tracebuf's recording as functions in another file, as its callers see it.
 */
#include "probe/probe.h"
#include "bench_tracebuf.h"

noinline void bench_record(struct tb_provider *p, u32 id, u64 payload)
{
	record_simple(p, id, payload);
}

/* The compiler knows @bytes, as for most probes; the function writes the whole payload. */
static __always_inline void record_composite(struct tb_provider *p, u32 id, u32 bytes, u64 payload)
{
	struct tb_slot slot __uninitialized;
	struct tb_composite *c = tb_record_begin(p, &slot, id, bytes, 1);
	u64 *q = (u64 *)(c + 1);
	u32 i;

	if (!c)
		return;
#pragma GCC unroll 32
	for (i = 0; i < bytes / sizeof(u64); i++)
		q[i] = payload;
	tb_record_end(&slot);
}

noinline void bench_record_2(struct tb_provider *p, u32 id, u64 payload)
{
	record_composite(p, id, 1 * TB_ELEMENT_SIZE, payload);
}

noinline void bench_record_4(struct tb_provider *p, u32 id, u64 payload)
{
	record_composite(p, id, 3 * TB_ELEMENT_SIZE, payload);
}

noinline void bench_record_16(struct tb_provider *p, u32 id, u64 payload)
{
	record_composite(p, id, 15 * TB_ELEMENT_SIZE, payload);
}

/* An event without a written payload: the cost is that of the ring. */
noinline void bench_record_hollow(struct tb_provider *p, u32 id, u32 bytes)
{
	struct tb_slot slot __uninitialized;

	if (tb_record_begin(p, &slot, id, bytes, 1))
		tb_record_end(&slot);
}

/* like the probes of compact forms in module/events/compact.c */
void bench_probe(void *data, u64 value)
{
	tb_probe_compact(data, value);
}
