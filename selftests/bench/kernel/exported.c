// SPDX-License-Identifier: GPL-2.0-only
/*
 * exported.c - measures the calls that tracebuf.ko exports, from another module.
 *
 * Their cost depends on the state of the provider: each part needs one state, and fails in another.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/tracebuf.h>

#include "bench.h"

static struct tb_provider *provider;

/* @n: elements */
static __always_inline void composite(u64 value, u32 n)
{
	struct tracebuf_slot slot;
	u64 *q = tracebuf_begin(provider, &slot, TB_EV_USER, (n - 1) * TB_ELEMENT_SIZE);
	u32 i;

	if (!q)
		return;
#pragma GCC unroll 32
	for (i = 0; i < (n - 1) * TB_ELEMENT_SIZE / sizeof(u64); i++)
		q[i] = value;
	tracebuf_end(&slot);
}

BENCH_RUN(run_simple, tracebuf_simple(provider, TB_EV_USER, i))
BENCH_RUN(run_refused, tracebuf_simple(provider, TB_EV_NONE, i))
BENCH_RUN(run_2, composite(i, 2))
BENCH_RUN(run_4, composite(i, 4))
BENCH_RUN(run_16, composite(i, 16))

static const struct bench_case recording[] = {
	{ "tracebuf", "tracebuf_simple()", run_simple },
	{ "tracebuf", "tracebuf_begin(), _end(), 2 elements", run_2 },
	{ "tracebuf", "tracebuf_begin(), _end(), 4 elements", run_4 },
	{ "tracebuf", "tracebuf_begin(), _end(), 16 elements", run_16 },
	{ "tracebuf", "tracebuf_simple(), not an id for modules", run_refused },
	{}
};

static const struct bench_case full[] = {
	{ "tracebuf", "tracebuf_simple(), ring full, dropped", run_simple },
	{ "tracebuf", "tracebuf_begin(), 4 elements, ring full, dropped", run_4 },
	{}
};

static const struct bench_case stopped[] = {
	{ "tracebuf", "tracebuf_simple(), not recording", run_simple },
	{ "tracebuf", "tracebuf_begin(), 4 elements, not recording", run_4 },
	{}
};

/* @tries: events after which the ring must be in the state; @recorded: it then records an event */
static const struct bench_case *in_state(const struct bench_case *all, u32 tries, bool recorded)
{
	bool was = !recorded;

	if (!provider)
		provider = tracebuf_get("kernel");
	if (IS_ERR(provider)) {
		provider = NULL;
		return NULL;
	}
	while (tries-- && was != recorded)
		was = tracebuf_simple(provider, TB_EV_USER, tries);
	return was == recorded ? all : NULL;
}

const struct bench_case *bench_recording(void)
{
	return in_state(recording, 1, true);
}

const struct bench_case *bench_full(void)
{
	return in_state(full, 1 << 20, false);
}

const struct bench_case *bench_stopped(void)
{
	return in_state(stopped, 1, false);
}

void bench_exported_end(void)
{
	if (provider)
		tracebuf_put(provider);
}
