// SPDX-License-Identifier: GPL-2.0-only
/*
 * relay.c - measures the kernel's relay. It has no time stamps and no nesting, so its user turns
 * off interrupts and reads the clock.
 */
#include <linux/debugfs.h>
#include <linux/irqflags.h>
#include <linux/relay.h>

#include "bench.h"
#include "sizes.h"

static struct dentry *dir;
static struct rchan *chan;

static struct dentry *create_file(const char *name, struct dentry *parent, umode_t mode,
				  struct rchan_buf *buf, int *is_global)
{
	return debugfs_create_file(name, mode, parent, buf, &relay_file_operations);
}

static int remove_file(struct dentry *d)
{
	debugfs_remove(d);
	return 0;
}

/* 1: relay overwrites the oldest data */
static int subbuf_start(struct rchan_buf *buf, void *subbuf, void *prev, size_t padding)
{
	return 1;
}

static const struct rchan_callbacks callbacks = {
	.create_buf_file = create_file,
	.remove_buf_file = remove_file,
	.subbuf_start = subbuf_start,
};

static __always_inline void reserve_and_fill(u64 i)
{
	unsigned long flags;
	u64 *q;

	local_irq_save(flags);
	q = relay_reserve(chan, 3 * sizeof(u64));
	if (likely(q)) {
		q[0] = bench_rdtsc();
		q[1] = i;
		q[2] = ~i;
	}
	local_irq_restore(flags);
}

BENCH_RUN(run_irqsave, reserve_and_fill(i))
BENCH_RUN(run_irqsave_alone, bench_fence(); reserve_and_fill(i))
BENCH_RUN(run_write, u64 p[2] = { i, ~(u64)i }; relay_write(chan, p, sizeof(p)))

static const struct bench_case cases[] = {
	{ "relay", "clock and 16 bytes, interrupts off", run_irqsave },
	{ "relay", "clock and 16 bytes, interrupts off" ALONE, run_irqsave_alone },
	{ "relay", "relay_write() of 16 bytes, no clock", run_write },
	{}
};

const struct bench_case *bench_relay(void)
{
	dir = debugfs_create_dir("tb_bench", NULL);
	chan = relay_open("cpu", dir, BUFFER_BYTES, BUFFERS, &callbacks, NULL);
	return chan ? cases : NULL;
}

void bench_relay_end(void)
{
	if (chan)
		relay_close(chan);
	debugfs_remove_recursive(dir);
}
