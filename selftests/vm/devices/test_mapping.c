// SPDX-License-Identifier: GPL-2.0-only
/*
 * No program changes a mapped recording, or keeps its pages after they were freed: programs try to
 * write to it by any means, hand it to a child, exec, keep its pages in a pipe, or let it outlive
 * its provider. After each attempt the recording is the same. If a test fails, a program changes
 * the kernel's memory, or sees memory that was freed.
 */
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "producer.h"
#include "tbtest.h"

#define BUFFERS		8
#define ELEMENTS	1024	/* 16 KiB: blocks of several pages */
#define PAGE		4096

FIXTURE(mapping) {
	int fd;
	struct tb_query q;
	char *at;
	char *copy;		/* the contents before the test */
	size_t bytes;		/* rings, without the durable buffer, which may have holes */
};

FIXTURE_SETUP(mapping)
{
	size_t bytes;

	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_destroy_all(self->fd));
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, pin(0));
	/* like "kernel", but it can be destroyed */
	close(self->fd);
	self->fd = tb_open_as("mapped", 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, BUFFERS, ELEMENTS));
	ASSERT_EQ(1, tb_enable(self->fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	fire(0, 500);
	ASSERT_EQ(0, tb_stop(self->fd));
	ASSERT_EQ(0, tb_query(self->fd, &self->q));
	self->at = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, (void *)self->at);
	self->bytes = self->q.durable_offset;
	self->copy = malloc(self->bytes);
	ASSERT_NE(NULL, self->copy);
	memcpy(self->copy, self->at, self->bytes);
	/* the first block of CPU 0 */
	ASSERT_EQ(TB_BLOCK_MAGIC, *(uint32_t *)(self->at + self->q.ring_header));
}

FIXTURE_TEARDOWN(mapping)
{
	int fd = tb_open(0);

	munmap(self->at, self->q.map_bytes);
	close(self->fd);
	EXPECT_EQ(0, tb_destroy_all(fd));
	close(fd);
	free(self->copy);
}

#define EXPECT_UNCHANGED()	EXPECT_EQ(0, memcmp(self->at, self->copy, self->bytes))

#define EXPECT_FAILS(error, call)		\
	do {					\
		errno = 0;			\
		EXPECT_EQ(-1, (long)(call));	\
		EXPECT_EQ(error, errno);	\
	} while (0)

/* ---- writing ------------------------------------------------------------- */

TEST_DEV(mapping, is_not_made_writable)
{
	size_t bytes = self->q.map_bytes;
	void *private;

	EXPECT_FAILS(EACCES, mprotect(self->at, bytes, PROT_READ | PROT_WRITE));
	EXPECT_FAILS(EACCES, mprotect(self->at, bytes, PROT_WRITE));
	EXPECT_FAILS(EACCES, mprotect(self->at, bytes, PROT_READ | PROT_WRITE | PROT_EXEC));
	/* nor a private mapping, where writes would make copies */
	private = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, self->fd, 0);
	ASSERT_NE(MAP_FAILED, private);
	EXPECT_FAILS(EACCES, mprotect(private, bytes, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, munmap(private, bytes));
	/* nor after it was inaccessible */
	EXPECT_EQ(0, mprotect(self->at, bytes, PROT_NONE));
	EXPECT_FAILS(EACCES, mprotect(self->at, bytes, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, mprotect(self->at, bytes, PROT_READ));
	EXPECT_UNCHANGED();
}

/* A write through /proc/PID/mem ignores the protection of pages where the kernel allows that. */
TEST_DEV(mapping, is_not_written_to_by_proc_mem)
{
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	size_t at;

	ASSERT_LE(0, mem);
	for (at = 0; at < self->bytes; at += PAGE)
		EXPECT_FAILS(EIO, pwrite(mem, "written", 7, (uintptr_t)self->at + at + 64));
	EXPECT_FAILS(EIO, pwrite(mem, "written", 7, (uintptr_t)self->at + self->q.durable_offset));
	close(mem);
	EXPECT_UNCHANGED();
}

/* The child's own mapping; its debugger reads the address here. */
static char *theirs;

TEST_DEV(mapping, is_not_written_to_by_a_debugger)
{
	struct iovec from = { self->copy, 64 }, to = { .iov_len = 64 };
	size_t at = self->q.ring_header + 64;
	pid_t pid = fork();
	int status;
	long own;

	if (!pid) {
		theirs = mmap(NULL, self->q.map_bytes, PROT_READ, MAP_SHARED, self->fd, 0);
		if (theirs == MAP_FAILED || ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(2);
		raise(SIGSTOP);
		_exit(memcmp(theirs, self->copy, self->bytes) ? 1 : 0);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	errno = 0;
	own = ptrace(PTRACE_PEEKDATA, pid, &theirs, NULL);
	ASSERT_EQ(0, errno);
	EXPECT_EQ(-1, ptrace(PTRACE_POKEDATA, pid, own + at, 0x6e657474697277));
	EXPECT_EQ(-1, ptrace(PTRACE_POKETEXT, pid, own + at, 0x6e657474697277));
	to.iov_base = (void *)(own + at);
	EXPECT_TRUE(process_vm_writev(pid, &from, 1, &to, 1, 0) == -1 &&
		    (errno == EFAULT || errno == ENOSYS));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, pid, 0, 0));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_UNCHANGED();
}

/* The kernel writes for a program only where the program may write. */
TEST_DEV(mapping, is_not_written_to_by_system_calls)
{
	struct iovec from = { "written", 7 }, to = { self->at + 4096 + 64, 7 };
	struct tb_stats *stats = (struct tb_stats *)(self->at + PAGE);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), ends[2];

	ASSERT_LE(0, zero);
	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(7, write(ends[1], "written", 7));
	EXPECT_FAILS(EFAULT, read(ends[0], self->at + PAGE, 7));
	/* /dev/zero returns how much it cleared: nothing */
	EXPECT_GE(0, read(zero, self->at + PAGE, PAGE));
	/* not every kernel has this call */
	EXPECT_TRUE(process_vm_writev(getpid(), &from, 1, &to, 1, 0) == -1 &&
		    (errno == EFAULT || errno == ENOSYS));
	EXPECT_FAILS(EFAULT, ioctl(self->fd, TB_IOC_QUERY, stats));
	close(zero);
	close(ends[0]);
	close(ends[1]);
	EXPECT_UNCHANGED();
}

TEST_DEV(mapping, is_not_changed_by_advice)
{
	int advice, wrong = 0;

	for (advice = 0; advice < 110; advice++) {
		/* this advice takes pages away from this program alone */
		if (advice == MADV_DONTNEED || advice == 24 /* DONTNEED_LOCKED */)
			continue;
		madvise(self->at, self->q.map_bytes, advice);
		wrong += !!memcmp(self->at, self->copy, self->bytes);
	}
	EXPECT_EQ(0, wrong);
	EXPECT_FAILS(EACCES, madvise(self->at, self->q.map_bytes, MADV_REMOVE));
	EXPECT_EQ(0, munmap(self->at, self->q.map_bytes));
	/* the recording is unchanged */
	self->at = mmap(NULL, self->q.map_bytes, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->at);
	EXPECT_UNCHANGED();
}

/* ---- lifetime -------------------------------------------------------------- */

/* A program may ask to share the mapping with children: then it is theirs, too, and counts. */
TEST_DEV(mapping, a_child_that_has_it)
{
	int status, ends[2];
	pid_t pid;
	char byte;

	/* newer kernels allow this for plain memory only: not for the vDSO either */
	if (madvise(self->at, self->q.map_bytes, MADV_DOFORK)) {
		ASSERT_EQ(EINVAL, errno);
		ASSERT_EQ(-1, madvise((void *)getauxval(AT_SYSINFO_EHDR), 4096, MADV_DOFORK));
		SKIP(return, "the kernel keeps such mappings from children for good");
	}
	ASSERT_EQ(0, pipe(ends));
	pid = fork();
	if (!pid) {
		char *at = self->at;

		close(ends[1]);
		/* until the parent has unmapped it */
		if (read(ends[0], &byte, 1))
			_exit(2);
		_exit(memcmp(at, self->copy, self->bytes) ? 1 :
		      !mprotect(at, self->q.map_bytes, PROT_READ | PROT_WRITE) ? 3 : 0);
	}
	ASSERT_LT(0, pid);
	close(ends[0]);
	ASSERT_EQ(0, munmap(self->at, self->q.map_bytes));
	/* the memory stays as long as the child has it */
	EXPECT_EQ(-EBUSY, tb_configure(self->fd, 0, 0, 4, 64));
	close(ends[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, tb_configure(self->fd, 0, 0, 4, 64));
}

/* A program that executes another one leaves it neither mapping nor file. */
TEST_DEV(mapping, ends_with_exec)
{
	int status, ends[2], to[2];
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, pipe(to));
	pid = fork();
	if (!pid) {
		int fd = open("/dev/tracebuf", O_RDONLY | O_CLOEXEC);
		struct tb_attach a = { .name = "mapped" };

		close(to[1]);
		close(ends[0]);
		if (fd < 0 || ioctl(fd, TB_IOC_ATTACH, &a) ||
		    mmap(NULL, self->q.map_bytes, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ||
		    ioctl(fd, TB_IOC_ACQUIRE, &(struct tb_batch){ .count = 1,
				.refs = (uintptr_t)&(struct tb_ref){ 0 } }))
			_exit(2);
		if (dup2(to[0], 0) < 0 || dup2(ends[1], 1) < 0)
			_exit(2);
		execl("/bin/sh", "sh", "-c", "echo; exec cat >/dev/null", NULL);
		_exit(3);
	}
	ASSERT_LT(0, pid);
	close(ends[1]);
	close(to[0]);
	ASSERT_EQ(1, read(ends[0], &byte, 1));
	/* the other program runs, and holds nothing */
	ASSERT_EQ(0, munmap(self->at, self->q.map_bytes));
	EXPECT_EQ(0, tb_configure(self->fd, 0, 0, 4, 64));
	close(to[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* A mapping keeps provider and module, even when its file is closed. */
TEST_DEV(mapping, keeps_provider_and_module)
{
	struct stat st;
	int fd = tb_open(0);

	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(-EBUSY, tb_provider(fd, TB_PROVIDER_DESTROY, "mapped"));
	close(fd);
	/* no file is open: only the mapping counts */
	EXPECT_FAILS(EWOULDBLOCK, syscall(SYS_delete_module, "tracebuf_events", O_NONBLOCK) &&
				  errno != ENOENT && errno != EWOULDBLOCK ? 0 :
				  syscall(SYS_delete_module, "tracebuf", O_NONBLOCK));
	ASSERT_EQ(0, stat("/sys/module/tracebuf", &st));
	EXPECT_UNCHANGED();
	ASSERT_EQ(0, munmap(self->at, self->q.map_bytes));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, tb_provider(fd, TB_PROVIDER_DESTROY, "mapped"));
	close(fd);
}

/*
 * Pages of the mapping in a pipe outlive mapping, file and provider.  The kernel does not use their
 * memory again before a reader has emptied the pipe.
 */
TEST_DEV(mapping, pages_in_a_pipe_outlive_it)
{
	size_t from = self->q.ring_header, bytes = 8 * PAGE, got = 0;
	struct iovec v = { self->at + from, bytes };
	char *back = malloc(bytes);
	int ends[2], fd, i;
	ssize_t n;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ((ssize_t)bytes, vmsplice(ends[1], &v, 1, SPLICE_F_GIFT));
	ASSERT_EQ(0, munmap(self->at, self->q.map_bytes));
	close(self->fd);
	self->fd = -1;
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tb_provider(fd, TB_PROVIDER_DESTROY, "mapped"));
	close(fd);
	/* new allocations must get other memory */
	for (i = 0; i < 32; i++) {
		char *m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		ASSERT_NE(MAP_FAILED, (void *)m);
		memset(m, 0x77, 1 << 20);
		if (i % 2)
			munmap(m, 1 << 20);
	}
	while (got < bytes && (n = read(ends[0], back + got, bytes - got)) > 0)
		got += n;
	ASSERT_EQ(bytes, got);
	EXPECT_EQ(0, memcmp(back, self->copy + from, bytes));
	close(ends[0]);
	close(ends[1]);
	free(back);
}

/* ---- the mapping of writers ------------------------------------------------- */

/* Only the kernel writes to its first page. */
TEST_DEV(mapping, page_of_a_producer_is_not_written_to)
{
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	struct producer p;
	char before[PAGE];

	ASSERT_LE(0, mem);
	ASSERT_EQ(0, producer_open(&p, "mapped", 1024, 8));
	memcpy(before, (void *)p.page, sizeof(before));
	EXPECT_FAILS(EIO, pwrite(mem, "written", 7, (uintptr_t)p.page));
	EXPECT_FAILS(EACCES, mprotect((void *)p.page, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_FAILS(EACCES, mprotect(p.chunks, PAGE * 2, PROT_READ | PROT_EXEC));
	EXPECT_EQ(0, memcmp(before, (void *)p.page, sizeof(before)));
	producer_close(&p);
	close(mem);
}

TEST_HARNESS_MAIN
