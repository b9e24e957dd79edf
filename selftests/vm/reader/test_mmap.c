// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs can only read the mapping of the buffers, and acquire and release each block once, in
 * order. If a test fails, programs can write into the kernel's buffers, or blocks are lost or given
 * out twice.
 */
#include "tbtest.h"

#define BUFFERS		8
#define ELEMENTS	64
#define BLOCK		(ELEMENTS * TB_ELEMENT_SIZE)
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)

DEVICE_FIXTURE(map)

static int record(int fd, uint32_t elements)
{
	int ret = tb_configure(fd, TB_MODE_STREAMING, TB_POLICY_OVERWRITE, BUFFERS, elements);

	if (!ret)
		ret = tb_enable(fd, FIRE_EVENT) == 1 ? 0 : -ENOENT;
	return ret ?: tb_start(fd, TB_START_NO_STATE);
}

/* ---- mmap() itself ---------------------------------------------------- */

/* Each page of the mapping can be read, except where the durable buffer has not grown yet. */
TEST_DEV(map, every_size_of_block)
{
	size_t bytes, i, elements;
	struct tb_query q;
	const char *at;

	for (elements = 64; elements <= 16384; elements *= 4) {
		ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 3, elements));
		ASSERT_EQ(0, tb_query(self->fd, &q));
		EXPECT_EQ(elements * 16, q.buffer_bytes);
		EXPECT_LE(q.ring_header + 3 * q.buffer_bytes, q.ring_stride);
		EXPECT_EQ(q.nr_cpus * q.ring_stride, q.durable_offset);
		EXPECT_EQ(q.durable_offset + q.durable_bytes, q.map_bytes);
		at = tb_map(self->fd, &bytes);
		ASSERT_NE(MAP_FAILED, at);
		for (i = 0; i < q.durable_offset + q.durable_size; i += 4096)
			(void)*(volatile const char *)&at[i];
		ASSERT_EQ(0, munmap((void *)at, bytes));
	}
}

TEST_DEV(map, writable_is_refused)
{
	size_t bytes;
	void *at = tb_map(self->fd, &bytes);
	int fd;

	ASSERT_NE(MAP_FAILED, at);
	EXPECT_EQ(-1, mprotect(at, bytes, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EACCES, errno);
	/* a file that is opened for writing allows no more */
	fd = open("/dev/tracebuf", O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes, PROT_WRITE, MAP_SHARED, fd, 0));
	EXPECT_EQ(EPERM, errno);
	at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, at);
	EXPECT_EQ(-1, mprotect(at, bytes, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	/* for a part, because it would split the mapping */
	EXPECT_EQ(-1, mprotect(at, 4096, PROT_NONE));
	close(fd);
}

TEST_DEV(map, private_writable_is_refused)
{
	struct tb_query q;

	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, q.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE,
				   self->fd, 0));
	EXPECT_EQ(EPERM, errno);
}

TEST_DEV(map, other_size_or_offset_is_refused)
{
	struct tb_query q;

	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, q.map_bytes - 4096, PROT_READ, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, q.map_bytes + 4096, PROT_READ, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, q.map_bytes, PROT_READ, MAP_SHARED, self->fd, 4096));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, q.map_bytes - 4096, PROT_READ, MAP_SHARED, self->fd, 4096));
	EXPECT_EQ(EINVAL, errno);
}

TEST_DEV(map, partial_munmap_is_refused)
{
	size_t bytes;
	char *at = tb_map(self->fd, &bytes);

	ASSERT_NE(MAP_FAILED, at);
	EXPECT_EQ(-1, munmap(at, 4096));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, munmap(at + bytes - 4096, 4096));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, munmap(at + 4096, 4096));
	EXPECT_EQ(EINVAL, errno);
	/* nor may it grow */
	EXPECT_EQ(MAP_FAILED, mremap(at, bytes, bytes + 4096, MREMAP_MAYMOVE));
	EXPECT_EQ(0, munmap(at, bytes));
}

TEST_DEV(map, configure_while_mapped_is_EBUSY)
{
	size_t bytes;
	void *at = tb_map(self->fd, &bytes);

	ASSERT_NE(MAP_FAILED, at);
	EXPECT_EQ(-EBUSY, tb_configure(self->fd, 0, 0, 4, 64));
	EXPECT_EQ(0, munmap(at, bytes));
	EXPECT_EQ(0, tb_configure(self->fd, 0, 0, 4, 64));
}

TEST_DEV(map, is_not_inherited)
{
	size_t bytes;
	void *at = tb_map(self->fd, &bytes);
	unsigned char vec;
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, at);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(mincore(at, 4096, &vec) == -1 && errno == ENOMEM ? 0 : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_DEV(map, outlives_the_file)
{
	size_t bytes;
	const char *at;
	int fd;

	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	fire(0, 1);
	close(self->fd);
	/* the first buffer of ring 0 */
	EXPECT_EQ(TB_BLOCK_MAGIC, *(const uint32_t *)(at + 4096));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	self->fd = fd;
	ASSERT_EQ(0, tb_stop(fd));
	EXPECT_EQ(-EBUSY, tb_configure(fd, 0, 0, 4, 64));
	EXPECT_EQ(0, munmap((void *)at, bytes));
	EXPECT_EQ(0, tb_configure(fd, 0, 0, 4, 64));
}

/* ---- acquire and release ---------------------------------------------- */

TEST_DEV(map, acquire_in_batches)
{
	uint32_t blocks = 0;
	struct tb_ref refs[3];
	const char *at;
	size_t bytes;
	int n, i;

	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	fire(0, 7 * PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	while ((n = tb_acquire(self->fd, refs, 3, 0)) > 0) {
		ASSERT_LE(n, 3);
		for (i = 0; i < n; i++) {
			ASSERT_LE(refs[i].offset + refs[i].bytes, bytes);
			ASSERT_STREAM(stream_block(&self->s, at + refs[i].offset, refs[i].bytes),
				      &self->s);
			if (refs[i].ring != TB_RING_DURABLE) {
				EXPECT_EQ(BLOCK, refs[i].bytes);
				blocks++;
			}
		}
		ASSERT_EQ(n, tb_release(self->fd, refs, n));
	}
	EXPECT_EQ(-ENODATA, n);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(7, blocks);
	EXPECT_EQ(7 * PER_BLOCK, self->s.ring[0].events);
}

TEST_DEV(map, acquire_never_blocks)
{
	struct tb_ref refs[4];

	EXPECT_EQ(0, tb_acquire(self->fd, refs, 4, 0));
	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	EXPECT_EQ(0, tb_acquire(self->fd, refs, 4, 0));
	fire(0, 1);
	EXPECT_EQ(0, tb_acquire(self->fd, refs, 4, 0));
	EXPECT_EQ(1, tb_acquire(self->fd, refs, 4, TB_ACQUIRE_FLUSH));
	EXPECT_EQ(1, tb_release(self->fd, refs, 1));
	EXPECT_EQ(0, tb_acquire(self->fd, refs, 4, TB_ACQUIRE_FLUSH));
}

/* Acquires all blocks and copies them to @to. Returns their bytes. */
static size_t hold_all(int fd, const char *map, char *to, struct tb_ref *refs, int room)
{
	size_t at = 0;
	int n, i;

	n = tb_acquire(fd, refs, room, 0);
	for (i = 0; i < n; i++) {
		memcpy(to + at, map + refs[i].offset, refs[i].bytes);
		at += refs[i].bytes;
	}
	return at;
}

TEST_DEV(map, is_what_read_gives)
{
	static char mapped[1 << 20], given[1 << 20];
	struct tb_ref refs[64];
	size_t bytes, held, got = 0;
	const char *at;
	ssize_t n;
	int fd;

	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, at);
	/* more than the ring holds: there is a gap */
	fire(0, 20 * PER_BLOCK);
	ASSERT_EQ(0, tb_stop(self->fd));
	held = hold_all(self->fd, at, mapped, refs, 64);
	/* the first reader goes away with its mapping; the second gets the same bytes */
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, munmap((void *)at, bytes));
	close(self->fd);
	self->fd = fd;
	while ((n = read(fd, given + got, sizeof(given) - got)) > 0)
		got += n;
	ASSERT_EQ(0, n);
	ASSERT_EQ(held, got);
	EXPECT_EQ(0, memcmp(mapped, given, got));
	ASSERT_STREAM(stream_blocks(&self->s, given, got), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(BUFFERS * PER_BLOCK, self->s.ring[0].events);
	EXPECT_EQ(12 * PER_BLOCK, self->s.ring[0].gap_overwritten);
}

TEST_DEV(map, next_reader_starts_with_the_durable_blocks)
{
	struct tb_ref refs[64];
	int fd, n, durable = 0;

	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	fire(0, 3 * PER_BLOCK);
	/* the first reader releases the durable blocks and one other, and keeps two */
	n = tb_acquire(self->fd, refs, 64, 0);
	while (durable < n && refs[durable].ring == TB_RING_DURABLE)
		durable++;
	ASSERT_LE(1, durable);
	ASSERT_LE(durable + 3, n);
	ASSERT_EQ(durable + 1, tb_release(self->fd, refs, durable + 1));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	ASSERT_EQ(durable + 2, tb_acquire(fd, refs, 64, 0));
	EXPECT_EQ(TB_RING_DURABLE, refs[durable - 1].ring);
	EXPECT_EQ(0, refs[durable].ring);
	EXPECT_EQ(0, refs[durable + 1].ring);
	EXPECT_EQ(durable + 2, tb_release(fd, refs, durable + 2));
}

TEST_DEV(map, second_reader_is_EBUSY)
{
	struct tb_ref ref, other;
	char byte;
	int fd;

	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, 0));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBUSY, tb_acquire(fd, &other, 1, 0));
	EXPECT_EQ(-1, read(fd, &byte, 1));
	EXPECT_EQ(EBUSY, errno);
	/* it may not release a block that the other holds */
	EXPECT_EQ(-EBUSY, tb_release(fd, &ref, 1));
	close(fd);
	EXPECT_EQ(1, tb_release(self->fd, &ref, 1));
}

TEST_DEV(map, garbage_is_not_released)
{
	struct tb_ref refs[64], bad;
	struct tb_query q;
	struct tb_batch b;
	int n, i;

	EXPECT_EQ(-EINVAL, tb_release(self->fd, &(struct tb_ref){ 0 }, 1));
	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	fire(0, 3 * PER_BLOCK);
	n = tb_acquire(self->fd, refs, 64, 0);
	ASSERT_LE(4, n);
	for (i = 0; i < 14; i++) {
		bad = refs[n - 1];
		switch (i) {
		case 0: bad.offset += 16; break;
		case 1: bad.offset += BLOCK; break;		/* not held */
		case 2: bad.offset = ~0ull; break;
		case 3: bad.offset = 0; break;			/* the header page */
		case 4: bad.offset += q.ring_stride; break;	/* another ring's */
		case 5: bad.offset = q.durable_offset; break;
		case 6: bad.offset += BUFFERS * BLOCK; break;
		case 7: bad.bytes = 0; break;
		case 8: bad.bytes *= 2; break;
		case 9: bad.ring = 1; break;
		case 10: bad.ring = 1000; break;
		case 11: bad.ring = 0xfffffffe; break;
		case 12: bad.offset -= 4096ull << 40; break;
		case 13: bad.ring = TB_RING_DURABLE; break;	/* bytes are a ring's */
		}
		ASSERT_EQ(-EINVAL, tb_release(self->fd, &bad, 1)) {
			TH_LOG("garbage %d", i);
		}
	}
	/* the references before the bad one are released, and count says how many */
	bad = refs[n - 1];
	refs[n - 1].offset += 16;
	b = (struct tb_batch){ .refs = (uintptr_t)refs, .count = n };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_RELEASE, &b));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(n - 1, b.count);
	/* the last one is still held, and is released once */
	EXPECT_EQ(1, tb_release(self->fd, &bad, 1));
	EXPECT_EQ(-EINVAL, tb_release(self->fd, &bad, 1));
	EXPECT_EQ(-EINVAL, tb_release(self->fd, refs, 1));
}

TEST_DEV(map, acquire_to_a_bad_address_loses_nothing)
{
	struct tb_batch b = { .refs = 8, .count = 64 };

	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	fire(0, 3 * PER_BLOCK);
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_ACQUIRE, &b));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(3 * PER_BLOCK, self->s.ring[0].events);
	EXPECT_EQ(0, self->s.ring[0].gaps);
}

TEST_DEV(map, configure_and_start_while_held_are_EBUSY)
{
	struct tb_ref ref;

	ASSERT_EQ(0, record(self->fd, ELEMENTS));
	ASSERT_LT(0, tb_skip_durable(self->fd));
	fire(0, PER_BLOCK);
	ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, 0));
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(-EBUSY, tb_configure(self->fd, 0, 0, 4, 64));
	EXPECT_EQ(-EBUSY, tb_start(self->fd, 0));
	EXPECT_EQ(1, tb_release(self->fd, &ref, 1));
	EXPECT_EQ(0, tb_start(self->fd, 0));
}

TEST_HARNESS_MAIN
