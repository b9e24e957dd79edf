// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf.c - measures module/ring/, its headers (module/provider/ring_header.c) and
 * module/probe/probe.h, unchanged, with the few parts of a provider that they need: rings, memory,
 * and a tb_ring_notify() that finds no waiter.
 *
 * Some cases reset their rings before a chunk. The other rings run on and overwrite, so the cost of
 * a switch is spread over the events as in use.
 */
#include <linux/gfp.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "probe/probe.h"
#include "ring/hooks.h"
#include "bench.h"
#include "bench_trace.h"
#include "bench_tracebuf.h"
#include "sizes.h"

#define EVENT_ID	TB_EV_FIRST
#define ELEMENTS	(BUFFER_BYTES / TB_ELEMENT_SIZE)
#define SMALL		TB_BUFFER_ELEMENTS_MIN
#define MANY		512
/* with the first element, an event of this payload fills a buffer of SMALL elements */
#define WHOLE_BYTES	((SMALL - TB_BLOCK_FIRST_ELEMENT - 1) * TB_ELEMENT_SIZE)

/* rings that overwrite; that are full and drop; with few and with many tiny buffers */
static struct tb_provider over, full, few, many;
static struct tb_probe probe = { .provider = &over, .id_simple = EVENT_ID };
static bool attached;

unsigned long long bench_still_clock;

/* like that of module/machine/clock.c; these rings read the counter and never call it */
u64 tb_clock_slow(u8 ticks)
{
	return ktime_get_mono_fast_ns();
}

/* like that of module/probe/notify.c while no thread waits */
void tb_ring_notify(struct tb_cpu_ring *r)
{
	struct tb_provider *p = r->owner;

	if (READ_ONCE(p->want_wake))
		WRITE_ONCE(p->want_wake, 0);
}

void tb_ring_damaged(struct tb_cpu_ring *r)
{
}

/* like those of module/probe/pending.c without rules */
void tb_pending_commit(struct tb_cpu_ring *r, struct tb_buf *b)
{
}

bool tb_pending_commit_simple(struct tb_cpu_ring *r, u32 id, u64 payload)
{
	return false;
}

struct tb_place tb_pending_begin(struct tb_probe *p, struct tb_cpu_ring *r, u32 n)
{
	return (struct tb_place){ 0 };
}

static int set_up(struct tb_provider *p, u32 buffers, u32 elements, bool overwrite)
{
	u32 bytes = elements * TB_ELEMENT_SIZE, i;
	struct tb_cpu_ring *r;
	void *memory;

	p->rings = alloc_percpu(struct tb_cpu_ring);
	if (!p->rings)
		return -ENOMEM;
	r = this_cpu_ptr(p->rings);
	r->bufs = kvcalloc(buffers, sizeof(*r->bufs), GFP_KERNEL);
	r->header = alloc_pages_exact(tb_header_bytes(buffers), GFP_KERNEL | __GFP_ZERO);
	memory = alloc_pages_exact(buffers * bytes, GFP_KERNEL | __GFP_ZERO);
	if (!r->bufs || !r->header || !memory) {
		if (memory)
			free_pages_exact(memory, buffers * bytes);
		return -ENOMEM;
	}
	for (i = 0; i < buffers; i++)
		r->bufs[i].block = memory + i * bytes;
	r->nr = buffers;
	r->capacity = elements;
	r->watermark = elements * 3 / 4;
	r->owner = p;
	r->raw_clock = true;
	r->overwrite = overwrite;
	tb_ring_reset(r, bench_rdtsc());
	return 0;
}

static void tear_down(struct tb_provider *p, u32 buffers, u32 elements)
{
	struct tb_cpu_ring *r;

	if (!p->rings)
		return;
	r = this_cpu_ptr(p->rings);
	if (r->nr)
		free_pages_exact(r->bufs[0].block, buffers * elements * TB_ELEMENT_SIZE);
	if (r->header)
		free_pages_exact(r->header, tb_header_bytes(buffers));
	kvfree(r->bufs);
	free_percpu(p->rings);
}

static __always_inline void record_inline(u64 i)
{
	record_simple(&over, EVENT_ID, i);
}

static __always_inline void record_and_flush(u64 i)
{
	bench_record(&few, EVENT_ID, i);
	tb_ring_flush(this_cpu_ptr(few.rings));
}

static __always_inline void read_one(u64 i)
{
	struct tb_cpu_ring *r = this_cpu_ptr(few.rings);
	int index;

	bench_record_hollow(&few, EVENT_ID, WHOLE_BYTES);
	index = tb_ring_acquire(r);
	if (index >= 0)
		tb_ring_release(r, index);
}

BENCH_RUN(run_simple, bench_record(&over, EVENT_ID, i))
BENCH_RUN(run_inline, record_inline(i))
BENCH_RUN(run_simple_alone, bench_fence(); bench_record(&over, EVENT_ID, i))
BENCH_RUN(run_tracepoint_alone, bench_fence(); trace_bench_tracebuf(i))
BENCH_RUN(run_simple_still, bench_record_still(&over, EVENT_ID, i))
BENCH_RUN(run_2, bench_record_2(&over, EVENT_ID, i))
BENCH_RUN(run_4, bench_record_4(&over, EVENT_ID, i))
BENCH_RUN(run_4_alone, bench_fence(); bench_record_4(&over, EVENT_ID, i))
BENCH_RUN(run_4_still, bench_record_4_still(&over, EVENT_ID, i))
BENCH_RUN(run_16, bench_record_16(&over, EVENT_ID, i))
BENCH_RUN(run_tracepoint, trace_bench_tracebuf(i))
BENCH_RUN(run_disabled, trace_bench_nobody(i))
BENCH_RUN(run_full, bench_record(&full, EVENT_ID, i))
BENCH_RUN(run_overwriting, bench_record_hollow(&few, EVENT_ID, WHOLE_BYTES))
BENCH_RUN(run_free, bench_record_hollow(&many, EVENT_ID, WHOLE_BYTES))
BENCH_RUN(run_flush, record_and_flush(i))
BENCH_RUN(run_read, read_one(i))

/* Stop the clock near the real time, which the slow path reads: so no TIME elements appear. */
static void stop_clock(void)
{
	bench_still_clock = bench_rdtsc();
}

static void empty_many(void)
{
	tb_ring_reset(this_cpu_ptr(many.rings), bench_rdtsc());
}

static const struct bench_case cases[] = {
	{ "tracebuf", "simple event", run_simple },
	{ "tracebuf", "simple event, inlined", run_inline },
	{ "tracebuf", "simple event, through a tracepoint", run_tracepoint },
	{ "tracebuf", "simple event" ALONE, run_simple_alone },
	{ "tracebuf", "simple event, through a tracepoint" ALONE, run_tracepoint_alone },
	{ "tracebuf", "simple event" STILL, run_simple_still, stop_clock },
	{ "tracebuf", "composite of 2 elements", run_2 },
	{ "tracebuf", "composite of 4 elements", run_4 },
	{ "tracebuf", "composite of 4 elements" ALONE, run_4_alone },
	{ "tracebuf", "composite of 4 elements" STILL, run_4_still, stop_clock },
	{ "tracebuf", "composite of 16 elements", run_16 },
	{ "tracebuf", "event into a full ring, dropped", run_full },
	{ "tracebuf", "disabled event, tested in memory", run_disabled },
	{ "tracebuf", "switch to a free buffer", run_free, empty_many, MANY },
	{ "tracebuf", "switch, overwriting", run_overwriting },
	{ "tracebuf", "event, flush, switch, overwriting", run_flush },
	{ "tracebuf", "switch, acquire and release", run_read },
	{}
};

const struct bench_case *bench_tracebuf(void)
{
	u32 i;

	if (set_up(&over, BUFFERS, ELEMENTS, true) || set_up(&full, BUFFERS, ELEMENTS, false) ||
	    set_up(&few, BUFFERS, SMALL, true) || set_up(&many, MANY, SMALL, false))
		return NULL;
	/* without rules: see struct tb_probe */
	probe.rings = over.rings;
	if (register_trace_bench_tracebuf(bench_probe, &probe))
		return NULL;
	attached = true;
	for (i = 0; i < RING_BYTES / TB_ELEMENT_SIZE; i++)
		bench_record(&full, EVENT_ID, i);
	return cases;
}

void bench_tracebuf_end(void)
{
	if (attached) {
		unregister_trace_bench_tracebuf(bench_probe, &probe);
		tracepoint_synchronize_unregister();
	}
	tear_down(&over, BUFFERS, ELEMENTS);
	tear_down(&full, BUFFERS, ELEMENTS);
	tear_down(&few, BUFFERS, SMALL);
	tear_down(&many, MANY, SMALL);
}
