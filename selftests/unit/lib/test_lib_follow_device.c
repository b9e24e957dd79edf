// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that reads a device while it records gets all events in order, also those in incomplete
 * buffers, and returns each block once. If this fails, a live view lacks the events of a quiet CPU
 * or shows them late, or the rings run out of buffers. The test itself is the device: it answers
 * what the library asks of the kernel (--wrap).
 */
#include "test_lib_follow.h"

#define DEVICE ((struct tb_device *)&device)

/*
 * Complete blocks can be acquired; a flush completes the open ones. As in the kernel, the blocks of
 * each ring come in their order.
 */
static struct {
	struct fx fx;
	struct { size_t at; bool taken, held; } blocks[512];
	unsigned int nr, flushes, held;
	bool     stopped;
	bool     withheld;		/* complete blocks cannot be acquired yet */
	int      fail;
	int      ends[2];
	struct { unsigned int cpu; uint64_t time; unsigned int count; } open[8];
	unsigned int nr_open;
} device;

int __wrap_tb_device_map(struct tb_device *of, const void **data, size_t *size);
int __wrap_tb_device_fd(const struct tb_device *of);
int __wrap_tb_device_stats_sized(struct tb_device *of, unsigned int cpu,
				 struct tb_stats *stats, size_t size);
int __wrap_tb_device_flush(struct tb_device *of, int cpu);
int __wrap_tb_device_acquire(struct tb_device *of, struct tb_ref *refs,
			     unsigned int room, uint32_t flags);
int __wrap_tb_device_release(struct tb_device *of, const struct tb_ref *refs,
			     unsigned int count);
const struct tb_block *__wrap_tb_device_block(const struct tb_device *of,
					      const struct tb_ref *ref);

int __wrap_tb_device_map(struct tb_device *of, const void **data, size_t *size)
{
	(void)data, (void)size;
	CHECK(of == DEVICE);
	return 0;
}

int __wrap_tb_device_fd(const struct tb_device *of)
{
	(void)of;
	return device.ends[0];
}

int __wrap_tb_device_stats_sized(struct tb_device *of, unsigned int cpu,
				 struct tb_stats *stats, size_t size)
{
	unsigned int i;

	(void)of;
	assert(size == sizeof(*stats));
	if (cpu >= 4)		/* not recorded */
		return -EINVAL;
	memset(stats, 0, sizeof(*stats));
	for (i = 0; i < device.nr; i++)
		stats->ready += !device.blocks[i].taken && cpu ==
			((struct tb_block *)(device.fx.data + device.blocks[i].at))->cpu;
	return 0;
}

static void device_add(void)
{
	size_t at = device.nr ? device.blocks[device.nr - 1].at : 0;

	if (device.nr)
		at += 1u << ((struct tb_block *)(device.fx.data + at))->size_log2;
	for (; at < device.fx.size;
	     at += 1u << ((struct tb_block *)(device.fx.data + at))->size_log2)
		device.blocks[device.nr++].at = at;
}

int __wrap_tb_device_flush(struct tb_device *of, int cpu)
{
	unsigned int i;

	(void)of;
	CHECK(cpu == -1);
	device.flushes++;
	for (i = 0; i < device.nr_open; i++)
		block(&device.fx, device.open[i].cpu, device.open[i].time,
		      device.open[i].count);
	device.nr_open = 0;
	device_add();
	/* now and then a program does not answer: the kernel has flushed all else */
	return device.flushes % 2 ? -ETIMEDOUT : 0;
}

int __wrap_tb_device_acquire(struct tb_device *of, struct tb_ref *refs,
			     unsigned int room, uint32_t flags)
{
	unsigned int i, count = 0;

	(void)of;
	CHECK(!flags);
	if (device.fail)
		return device.fail;
	if (device.withheld)
		return 0;
	for (i = 0; i < device.nr && count < room && count < 3; i++) {
		if (device.blocks[i].taken)
			continue;
		device.blocks[i].taken = device.blocks[i].held = true;
		refs[count].offset = device.blocks[i].at;
		refs[count++].bytes = 1u << ((struct tb_block *)
			(device.fx.data + device.blocks[i].at))->size_log2;
		device.held++;
	}
	return count ? (int)count : device.stopped ? -ENODATA : 0;
}

int __wrap_tb_device_release(struct tb_device *of, const struct tb_ref *refs,
			     unsigned int count)
{
	unsigned int i, j;

	(void)of;
	for (i = 0; i < count; i++)
		for (j = 0; j < device.nr; j++)
			if (device.blocks[j].at == refs[i].offset) {
				CHECK(device.blocks[j].held);
				device.blocks[j].held = false;
				device.held--;
				/* the reader must not use a block that it has released */
				memset(device.fx.data + refs[i].offset + 64, 0xee, 256);
			}
	return (int)count;
}

const struct tb_block *__wrap_tb_device_block(const struct tb_device *of,
					      const struct tb_ref *ref)
{
	(void)of;
	return (const struct tb_block *)(device.fx.data + ref->offset);
}

static void device_start(void)
{
	memset(&device, 0, sizeof(device));
	assert(!pipe(device.ends));
	fx_init(&device.fx, 10, 1000);
	fx_durable_end(&device.fx);
	device_add();
}

static void device_close(void)
{
	CHECK_NUMBER(device.held, 0);
	close(device.ends[0]);
	close(device.ends[1]);
	fx_free(&device.fx);
}

/* The descriptor of this device is always readable, so that waiting takes no time */
static void open_device(const struct tb_follow_options *options)
{
	struct tb_error error = { 0 };

	CHECK(!tb_trace_follow_device(DEVICE, options, &trace, &error));
	CHECK(!tb_cursor_open(trace, &cursor));
}

/* The reader flushes open buffers, and shows their events before later ones */
static void from_device(void)
{
	struct tb_view view;
	unsigned int i;

	device_start();
	block(&device.fx, 0, 2000, 5);
	device_add();
	device.open[0].cpu = 1;
	device.open[0].time = 1500;
	device.open[0].count = 5;
	device.nr_open = 1;
	open_device(&quick);
	for (i = 0; i < 10; i++)
		CHECK(next(&view) == 1 && view.cpu == (i < 5));
	CHECK(device.flushes > 0);
	CHECK_NUMBER(device.held, 0);
	CHECK_NUMBER(tb_cursor_late(cursor), 0);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	/* the recording has stopped: the rest, the totals, the end */
	block(&device.fx, 1, 3000, 1);
	device.fx.rings[1].dropped = 4;
	fx_totals(&device.fx, 1);
	fx_durable_end(&device.fx);
	device_add();
	device.stopped = true;
	CHECK(next(&view) == 1 && view.ticks == 3000);
	CHECK(next(&view) == 1 && view.kind == TB_VIEW_LOST && view.lost.dropped == 4);
	CHECK_NUMBER(next(&view), 0);
	unfollow();
	device_close();
}

/* The reader flushes at most once in a hold time, and never for events that it can show anyway */
static void device_flushes(void)
{
	struct tb_view view;
	unsigned int i;

	device_start();
	block(&device.fx, 0, 2000, 5);
	device_add();
	open_device(&holding);
	/* the first flush is immediate */
	for (i = 0; i < 5; i++)
		CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_NUMBER(device.flushes, 1);
	for (i = 0; i < 50; i++)
		CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	CHECK_NUMBER(device.flushes, 1);
	block(&device.fx, 0, 3000, 2);
	device_add();
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	CHECK_NUMBER(device.flushes, 1);
	tb_cursor_finish(cursor);
	CHECK(next(&view) == 1 && view.ticks == 3000);
	CHECK(next(&view) == 1 && view.ticks == 3010);
	CHECK_NUMBER(next(&view), 0);
	unfollow();
	device_close();
}

/* The kernel holds blocks back until it has described threads: until then a flush is not over */
static void device_withholds(void)
{
	struct tb_view view;
	unsigned int i;

	device_start();
	block(&device.fx, 0, 2000, 5);
	device_add();
	open_device(&holding);
	for (i = 0; i < 5; i++)
		CHECK(tb_cursor_next(cursor, &view) == 1);
	block(&device.fx, 0, 3000, 5);
	device_add();
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	/* a flush has completed the rest, but it cannot be acquired yet */
	device.open[0].cpu = 1;
	device.open[0].time = 2500;
	device.open[0].count = 2;
	device.nr_open = 1;
	device.withheld = true;
	tb_cursor_finish(cursor);
	for (i = 0; i < 20; i++)
		CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	CHECK_NUMBER(device.flushes, 2);
	device.withheld = false;
	for (i = 0; i < 7; i++)
		CHECK(next(&view) == 1 && view.cpu == (i < 2));
	CHECK_NUMBER(next(&view), 0);
	CHECK_NUMBER(tb_cursor_late(cursor), 0);
	unfollow();
	device_close();
}

static void device_fails(void)
{
	struct tb_view view;

	device_start();
	open_device(&quick);
	device.fail = -EBUSY;
	CHECK_NUMBER(next(&view), (unsigned long long)-EBUSY);
	device.fail = 0;
	block(&device.fx, 0, 2000, 1);
	device_add();
	CHECK(next(&view) == 1);
	unfollow();
	device_close();
}

static const struct test tests[] = {
	{ "device: blocks are flushed, acquired, released", from_device },
	{ "device: how often the reader flushes", device_flushes },
	{ "device: blocks that the kernel holds back", device_withholds },
	{ "device: an error", device_fails },
};

TEST_MAIN(tests)
