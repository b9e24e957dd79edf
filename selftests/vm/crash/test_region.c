// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs can read buffers in reserved memory (memory=), but no call gives them one of the pages.
 * The kernel's own map has no place for such a page, so its last user would not free it. If a test
 * fails, a program can crash the kernel. region.sh runs this in a guest with such memory.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tbtest.h"

#define PAGE	4096

FIXTURE(region) {
	int fd;
	struct tb_query q;
	char *at;
	size_t bytes;
	size_t rings[2];	/* first block of a ring, durable buffer */
};

/* The parameter is "(null)" if there is none. */
static bool has_region(void)
{
	char text[64] = "";
	int fd = open("/sys/module/tracebuf/parameters/memory", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return text[0] && text[0] != '(' && text[0] != '\n';
}

FIXTURE_SETUP(region)
{
	if (!has_region())
		SKIP(return, "the module has no reserved memory: see region.sh");
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 8, 1024));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, 0));
	fire(0, 500);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_query(self->fd, &self->q));
	self->at = tb_map(self->fd, &self->bytes);
	ASSERT_NE(MAP_FAILED, (void *)self->at);
	self->rings[0] = self->q.ring_header;
	self->rings[1] = self->q.durable_offset;
}

FIXTURE_TEARDOWN(region)
{
	if (!has_region())
		return;
	if (self->at)
		munmap(self->at, self->bytes);
	EXPECT_EQ(0, tb_fresh(self->fd));
	close(self->fd);
}

#define EXPECT_FAILS(error, call)		\
	do {					\
		errno = 0;			\
		EXPECT_EQ(-1, (long)(call));	\
		EXPECT_EQ(error, errno);	\
	} while (0)

/* The mapping has the blocks, and the kernel can copy from it. */
TEST_DEV(region, is_read_by_programs)
{
	struct tb_ref refs[64];
	uint32_t events = 0;
	int i, n;

	for (i = 0; i < 2; i++)
		EXPECT_EQ(TB_BLOCK_MAGIC, *(uint32_t *)(self->at + self->rings[i]));
	while ((n = tb_acquire(self->fd, refs, 64, 0)) > 0) {
		for (i = 0; i < n; i++) {
			const struct tb_block *b = (void *)(self->at + refs[i].offset);

			ASSERT_EQ(TB_BLOCK_MAGIC, b->magic);
			events += b->kind == TB_BLOCK_ROLLING ? b->events : 0;
		}
		ASSERT_EQ(n, tb_release(self->fd, refs, n));
	}
	EXPECT_LE(500, events);
	/* the kernel reads it for the program, without a page */
	n = open("/dev/null", O_WRONLY | O_CLOEXEC);
	EXPECT_EQ(PAGE, write(n, self->at + self->rings[0], PAGE));
	close(n);
}

TEST_DEV(region, gives_nobody_a_page)
{
	char copy[PAGE];
	struct iovec to = { copy, PAGE }, from;
	int ends[2], mem, i;

	ASSERT_EQ(0, pipe(ends));
	mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, mem);
	for (i = 0; i < 2; i++) {
		char *at = self->at + self->rings[i];

		from = (struct iovec){ at, PAGE };
		EXPECT_FAILS(EFAULT, vmsplice(ends[1], &from, 1, 0));
		EXPECT_FAILS(EFAULT, vmsplice(ends[1], &from, 1, SPLICE_F_GIFT));
		EXPECT_FAILS(EIO, pread(mem, copy, PAGE, (uintptr_t)at));
		EXPECT_FAILS(EIO, pwrite(mem, copy, PAGE, (uintptr_t)at));
		EXPECT_FAILS(EFAULT, process_vm_readv(getpid(), &to, 1, &from, 1, 0));
		EXPECT_FAILS(EFAULT, process_vm_writev(getpid(), &to, 1, &from, 1, 0));
		/* the kernel finds a shared futex by its page, a private one by its address */
		EXPECT_FAILS(EFAULT, syscall(SYS_futex, at, FUTEX_WAIT, 0, NULL, NULL, 0));
		EXPECT_FAILS(EAGAIN, syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
		/* a pipe takes a copy */
		EXPECT_EQ(64, write(ends[1], at, 64));
		EXPECT_EQ(64, read(ends[0], copy, 64));
		EXPECT_EQ(0, memcmp(copy, at, 64));
	}
	close(mem);
	close(ends[0]);
	close(ends[1]);
}

TEST_DEV(region, is_not_changed_by_advice)
{
	int advice;

	for (advice = 0; advice < 110; advice++) {
		madvise(self->at, self->bytes, advice);
		ASSERT_EQ(TB_BLOCK_MAGIC, *(volatile uint32_t *)(self->at + self->rings[0]));
		ASSERT_EQ(TB_BLOCK_MAGIC, *(volatile uint32_t *)(self->at + self->rings[1]));
	}
	EXPECT_FAILS(EACCES, mprotect(self->at, self->bytes, PROT_READ | PROT_WRITE));
}

/* A child does not inherit the mapping; it can be moved as a whole. */
TEST_DEV(region, is_forked_and_moved)
{
	void *hole, *private;
	char *to;
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(*(volatile char *)(self->at + self->rings[0]) & 1);
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);

	EXPECT_FAILS(EINVAL, munmap(self->at, PAGE));
	EXPECT_FAILS(EFAULT, mremap(self->at, self->bytes, self->bytes + PAGE, MREMAP_MAYMOVE));
	hole = mmap(NULL, self->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, hole);
	to = mremap(self->at, self->bytes, self->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, hole);
	ASSERT_EQ(hole, (void *)to);
	self->at = to;
	EXPECT_EQ(TB_BLOCK_MAGIC, *(volatile uint32_t *)(to + self->rings[0]));
	EXPECT_EQ(TB_BLOCK_MAGIC, *(volatile uint32_t *)(to + self->rings[1]));
	/* a private mapping is read-only as well */
	private = mmap(NULL, self->bytes, PROT_READ, MAP_PRIVATE, self->fd, 0);
	ASSERT_NE(MAP_FAILED, private);
	EXPECT_EQ(0, memcmp(private + self->rings[0], to + self->rings[0], PAGE));
	EXPECT_FAILS(EACCES, mprotect(private, self->bytes, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, munmap(private, self->bytes));
}

/* The memory is in use while it is mapped; afterwards it can be used again. */
TEST_DEV(region, is_given_back_when_nobody_has_it)
{
	EXPECT_EQ(-EBUSY, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 16, 1024));
	EXPECT_EQ(TB_BLOCK_MAGIC, *(volatile uint32_t *)(self->at + self->rings[0]));
	ASSERT_EQ(0, munmap(self->at, self->bytes));
	self->at = NULL;
	EXPECT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 16, 1024));
}

/* The kernel's hibernation test: notifiers run, all processes are frozen for five seconds. */
static bool hibernate(void)
{
	bool ok;

	ok = write_file("/sys/power/pm_test", "freezer") && write_file("/sys/power/state", "disk");
	return write_file("/sys/power/pm_test", "none") && ok;
}

/* Hibernation does not save the memory, so the recording ends before. */
TEST_DEV(region, does_not_outlive_hibernation)
{
	char block[1 << 14];
	struct tb_query q;

	ASSERT_EQ(0, tb_start(self->fd, 0));
	fire(0, 500);
	ASSERT_TRUE(hibernate());
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_STATE_STOPPED, q.state);
	EXPECT_EQ(TB_REASON_HIBERNATION, q.reason);
	EXPECT_EQ(0, read(self->fd, block, sizeof(block)));
	EXPECT_EQ(0, tb_start(self->fd, 0));
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_STATE_RUNNING, q.state);
	EXPECT_EQ(TB_REASON_NONE, q.reason);
	EXPECT_EQ(0, tb_stop(self->fd));
}

/* Blocks that a reader holds stay until it releases them; the others are discarded. */
TEST_DEV(region, is_given_up_but_for_what_is_held)
{
	struct tb_query q;
	struct tb_ref ref;

	ASSERT_EQ(1, tb_acquire(self->fd, &ref, 1, 0));
	ASSERT_TRUE(hibernate());
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_STATE_STOPPED, q.state);
	EXPECT_EQ(TB_REASON_REQUEST, q.reason);
	EXPECT_EQ(TB_BLOCK_MAGIC, *(volatile uint32_t *)(self->at + self->rings[1]));
	/* the mapping keeps the session */
	munmap(self->at, self->bytes);
	self->at = NULL;
	close(self->fd);
	self->fd = tb_open(0);
	ASSERT_TRUE(hibernate());
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(TB_REASON_HIBERNATION, q.reason);
}

TEST_HARNESS_MAIN
