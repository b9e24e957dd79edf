/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of the recorder's output: a device that has the blocks of a fixture, and the functions
 * of the tool that write blocks into files.
 */
#ifndef TEST_LIB_BLOCKS_H
#define TEST_LIB_BLOCKS_H

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "../../../userspace/include/tracebuf.h"

/* The device gives the blocks of a fixture in their order, on pages as in a ring */
static unsigned char *blocks_at;
static size_t ring_bytes, taken;
static unsigned int held, rolling_taken;
static bool again;		/* a new reader: give the first block once more */
static bool running;		/* more blocks may follow later */

/*
 * Rings are reused: each gives at most @ring_most blocks that are not released (0: any number), and
 * released blocks are overwritten.
 */
#define RINGS 2
static unsigned int ring_most, ring_held[RINGS];

static inline bool ring_full(const struct tb_block *block)
{
	return ring_most && block->kind == TB_BLOCK_ROLLING && ring_held[block->cpu] >= ring_most;
}

static inline int fake_acquire(struct tb_device *device, struct tb_ref *refs, unsigned int room,
			       uint32_t flags)
{
	const struct tb_block *block;
	unsigned int count = 0;

	(void)device;
	(void)flags;
	if (again) {
		again = false;
		refs[count].ring = TB_RING_DURABLE;
		refs[count].offset = 0;
		refs[count++].bytes = 1u << ((const struct tb_block *)blocks_at)->size_log2;
	}
	while (count < room && taken < ring_bytes) {
		block = (const void *)(blocks_at + taken);
		if (ring_full(block))
			break;
		if (ring_most && block->kind == TB_BLOCK_ROLLING)
			ring_held[block->cpu]++;
		refs[count].ring = block->kind == TB_BLOCK_ROLLING ? block->cpu : TB_RING_DURABLE;
		rolling_taken += block->kind == TB_BLOCK_ROLLING;
		refs[count].offset = taken;
		refs[count++].bytes = 1u << block->size_log2;
		taken += (size_t)1 << block->size_log2;
	}
	held += count;
	return count || running || taken < ring_bytes ? (int)count : -ENODATA;
}

static inline int fake_release(struct tb_device *device, const struct tb_ref *refs,
			       unsigned int count)
{
	unsigned int i;

	(void)device;
	for (i = 0; i < count && ring_most; i++) {
		if (refs[i].ring != TB_RING_DURABLE)
			ring_held[refs[i].ring]--;
		memset(blocks_at + refs[i].offset, 0xee, refs[i].bytes);
	}
	held -= count;
	return (int)count;
}

static inline const struct tb_block *fake_block(const struct tb_device *device,
						const struct tb_ref *ref)
{
	(void)device;
	return (const void *)(blocks_at + ref->offset);
}

static inline int fake_fd(const struct tb_device *device)
{
	(void)device;
	return -1;
}

/* Refuse waits; a write ends only after the recorder has peeked as often */
static unsigned int refuse_waits;

static inline int fake_wait(struct io_uring *ring, struct io_uring_cqe **cqe)
{
	return refuse_waits ? -EBADF : io_uring_wait_cqe(ring, cqe);
}

static inline int fake_peek(struct io_uring *ring, struct io_uring_cqe **cqe)
{
	if (refuse_waits > 1) {
		refuse_waits--;
		return -EAGAIN;
	}
	return io_uring_peek_cqe(ring, cqe);
}

#ifndef LATE_FILE		/* that test replaces all of io_uring */
#define io_uring_wait_cqe fake_wait
#define io_uring_peek_cqe fake_peek
#endif
#define tb_device_acquire fake_acquire
#define tb_device_release fake_release
#define tb_device_block fake_block
#define tb_device_fd fake_fd
#include "../../../userspace/tool/command/message.c"
#include "../../../userspace/tool/record/notes.c"
#include "../../../userspace/tool/record/continuation.c"
#define compare compare_functions
#define make_room symbols_room
#include "../../../userspace/tool/record/addresses.c"
#undef make_room
#include "../../../userspace/tool/record/pack.c"
#include "../../../userspace/tool/command/number.c"
#include "../../../userspace/tool/record/rotation.c"
#include "../../../userspace/tool/record/direct.c"
#include "../../../userspace/tool/record/plain.c"
#include "../../../userspace/tool/record/output_file.c"

#include "test_lib_run.h"

static struct tb_device *const device = (void *)&blocks_at;

/* Numbers that do not compress well */
static inline uint32_t scattered(uint32_t number)
{
	number = (number ^ number >> 15) * 2246822519u;
	number = (number ^ number >> 13) * 3266489917u;
	return number ^ number >> 16;
}

/* @count blocks of 4 KiB of two CPUs */
static inline void fill_ring(struct fx *fx, unsigned int count)
{
	unsigned int i, j;

	fx_init(fx, 12, 1000);
	fx_durable_end(fx);
	for (i = 0; i < count; i++) {
		fx_open(fx, i % 2, 2000 + 100 * i, 5, NULL);
		for (j = 0; j < 90; j++)
			fx_simple(fx, i % 2, FX_SOFTIRQ, 2001 + 100 * i + j,
				  scattered(i * 90 + j));
		fx_close(fx, i % 2);
	}
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
	blocks_at = aligned_alloc(4096, fx->size);
	assert(blocks_at && fx->size % 4096 == 0);
	memcpy(blocks_at, fx->data, fx->size);
	ring_bytes = fx->size;
	taken = 0;
	held = rolling_taken = 0;
	again = running = false;
}

static inline void empty_ring(struct fx *fx)
{
	free(blocks_at);
	fx_free(fx);
}

static size_t file_size(const char *name)
{
	struct stat status;

	return stat(name, &status) ? 0 : (size_t)status.st_size;
}

static inline bool same_file(const char *name, const void *data, size_t bytes)
{
	void *got = malloc(bytes + 1);
	FILE *in = fopen(name, "rb");
	bool same = in && fread(got, 1, bytes + 1, in) == bytes && !memcmp(got, data, bytes);

	if (in)
		fclose(in);
	free(got);
	return same;
}

/* Each file is a trace, and all together are one, with @events for each CPU */
static inline void check_files(char names[][64], unsigned int files, unsigned int events, uint64_t most)
{
	char command[512], wanted[96];
	unsigned int i;

	snprintf(command, sizeof(command), "rm -f %s; for i in $(seq 0 %u); do cat %s.$i; done >%s",
		 file, files, file, file);
	CHECK(!system(command));
	for (i = 0; i <= files; i++) {
		snprintf(command, sizeof(command), "verify %s", names[i]);
		CHECK_NUMBER(run(command), 0);
		/* if the last block filled the file before, this one has only the trace's start */
		if (i == files && strstr(output, "of 2 CPUs the end is not known")) {
			CHECK_HAS("     0        0            0 ");
			CHECK_HAS("     1        0            0 ");
			unlink(names[i]);
			continue;
		}
		CHECK_HAS("exact");
		CHECK(!strstr(output, "open"));
		CHECK(!strstr(output, "continued") == !i);
		CHECK(!strstr(output, "goes on") == (i == files));
		CHECK(!most || file_size(names[i]) < most + 3 * 16384);
		unlink(names[i]);
	}
	CHECK_NUMBER(run_on("verify", ""), 0);
	snprintf(wanted, sizeof(wanted), "%13u            0          0 %12u      0  exact\n", events,
		 events);
	CHECK_HAS(wanted);
}

#endif /* TEST_LIB_BLOCKS_H */
