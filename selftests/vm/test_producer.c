// SPDX-License-Identifier: GPL-2.0-only
/*
 * User-space writers, call by call: what a channel allows, what of its chunks gets into the
 * trace when they are committed and when nobody commits them, what readers and
 * administrators can do about it.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "producer.h"
#include "tbtest.h"

#define CHUNK	1024
#define CHUNKS	8
#define FULL	((CHUNK - sizeof(struct tb_chunk)) / RECORD_BYTES)	/* records of a chunk */

FIXTURE(channel) {
	int fd;			/* on "kernel" */
	struct stream s;
	struct pieces got;
	struct producer p;
};

FIXTURE_SETUP(channel)
{
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_destroy_all(self->fd));
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, pin(0));
	stream_init(&self->s);
	pieces_collect(&self->got, &self->s);
	ASSERT_EQ(0, producer_open(&self->p, "kernel", CHUNK, CHUNKS));
}

FIXTURE_TEARDOWN(channel)
{
	struct tb_categories clear = { .op = TB_CATEGORY_CLEAR };
	struct tb_quota none = { 0 };

	producer_close(&self->p);
	tb_stop(self->fd);
	ioctl(self->fd, TB_IOC_CATEGORIES, &clear);
	ioctl(self->fd, TB_IOC_QUOTA, &none);
	tb_destroy_all(self->fd);
	close(self->fd);
	stream_free(&self->s);
	pieces_free(&self->got);
}

/* Recording, and writers 1 and 2. */
#define BEGIN()								\
	do {								\
		ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));	\
		ASSERT_EQ(0, producer_writer(self->p.fd, 1, 0, 0, 0));	\
		ASSERT_EQ(0, producer_writer(self->p.fd, 2, 0, 0, 0));	\
	} while (0)

/* To its end: what arrived is in self->got. */
#define END()								\
	do {								\
		ASSERT_EQ(0, tb_stop(self->fd));			\
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);	\
		ASSERT_STREAM(stream_finish(&self->s), &self->s);	\
	} while (0)

/* All of the @count records of that writer, and nothing else of it. */
#define EXPECT_WHOLE(writer, count)					\
	do {								\
		uint64_t next_;						\
		uint32_t causes_;					\
		EXPECT_EQ((int64_t)(count), pieces_of(&self->got,	\
			  self->p.setup.producer, writer, &next_, &causes_)); \
		EXPECT_EQ((uint64_t)(count), next_);			\
		EXPECT_EQ(0, causes_);					\
	} while (0)

static uint32_t state_of(const struct producer *p, uint32_t n)
{
	return __atomic_load_n(&chunk_at(p, n)->state, __ATOMIC_ACQUIRE);
}

static int info_at(int fd, uint32_t index, struct tb_producer_info *info)
{
	*info = (struct tb_producer_info){ .index = index };
	return ioctl(fd, TB_IOC_PRODUCERS, info) ? -errno : 0;
}

/* ---- setting up ------------------------------------------------------- */

TEST_DEV(channel, setup_says_what_there_is)
{
	const volatile struct tb_producer_page *page = self->p.page;
	struct tb_producer_setup s = { 0 };
	int fd = producer_open_node();

	EXPECT_EQ(TB_PRODUCER_DIRECT_PATCH, self->p.setup.features);
	EXPECT_EQ(TB_PRODUCER_PAGE_BYTES, self->p.setup.chunks_offset);
	EXPECT_EQ(TB_PRODUCER_PAGE_BYTES + CHUNK * CHUNKS, self->p.setup.map_bytes);
	EXPECT_EQ(TB_PRODUCER_ABI, page->abi);
	EXPECT_EQ(self->p.setup.producer, page->producer);
	EXPECT_EQ(0, page->recording);
	EXPECT_EQ(1, page->overwrites);
	ASSERT_EQ(0, producer_setup(fd, &s));
	EXPECT_EQ(4096, s.chunk_bytes);
	EXPECT_EQ(64, s.chunks);
	EXPECT_LT(self->p.setup.producer, s.producer);
	EXPECT_EQ(-EBUSY, producer_setup(fd, &s));
	close(fd);
}

TEST_DEV(channel, setup_refuses)
{
	static const struct tb_producer_setup bad[] = {
		{ .flags = 2 }, { .flags = 1u << 31 }, { .chunk_bytes = 255 },
		{ .chunk_bytes = 128 }, { .chunk_bytes = 16384 }, { .chunk_bytes = 1000 },
		{ .chunks = 1 }, { .chunks = TB_CHUNKS_MAX + 1 }, { .chunks = ~0u },
		{ .chunk_bytes = 8192, .chunks = 16384 }, { .reserved32 = 1 },
		{ .reserved = { 1 } }, { .reserved = { 0, 1 } },
	};
	struct tb_producer_setup s;
	int fd = producer_open_node();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		s = bad[i];
		ASSERT_EQ(-EINVAL, producer_setup(fd, &s)) {
			TH_LOG("%zu", i);
		}
	}
	EXPECT_EQ(-1, ioctl(fd, TB_PIOC_SETUP, NULL));
	EXPECT_EQ(EFAULT, errno);
	/* nothing of that has set it up, nor is it used up */
	EXPECT_EQ(-ENXIO, producer_target(fd, "kernel"));
	EXPECT_EQ(-ENXIO, producer_writer(fd, 1, 0, 0, 0));
	EXPECT_EQ(-ENXIO, producer_category(fd, "a"));
	EXPECT_EQ(-ENXIO, producer_answer(fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0));
	EXPECT_EQ(ENXIO, errno);
	EXPECT_EQ(-1, ioctl(fd, TB_IOC_STOP));
	EXPECT_NE(0, tb_poll(fd) & POLLERR);
	s = (struct tb_producer_setup){ .chunk_bytes = 256, .chunks = 2 };
	EXPECT_EQ(0, producer_setup(fd, &s));
	EXPECT_EQ(2 * 4096, s.map_bytes);
	EXPECT_EQ(-1, ioctl(fd, TB_IOC_STOP));
	EXPECT_EQ(ENOTTY, errno);
	close(fd);
}

/* Memory that cannot be written to: nobody is told of the channel, so there is none. */
TEST_DEV(channel, setup_that_cannot_be_told_of)
{
	struct tb_producer_setup *s = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
					   -1, 0), mine = { 0 };
	struct tb_producer_info info;
	int fd = producer_open_node();

	EXPECT_EQ(-EFAULT, producer_setup(fd, s));
	EXPECT_EQ(-ENXIO, producer_target(fd, "kernel"));
	EXPECT_EQ(0, producer_setup(fd, &mine));
	EXPECT_EQ(0, producer_target(fd, "kernel"));
	EXPECT_EQ(0, info_at(self->fd, 1, &info));
	EXPECT_EQ(-ENOENT, info_at(self->fd, 2, &info));
	close(fd);
}

TEST_DEV(channel, reserved_fields)
{
	struct tb_target_req t = { .provider = "kernel" };
	struct tb_category_req c = { .name = "a" };
	struct tb_writer_req w = { .writer = 7 };
	struct tb_commit m = { 0 };
	static const struct {
		size_t at;
		int of;
	} words[] = {
		{ offsetof(struct tb_target_req, reserved32), 0 },
		{ offsetof(struct tb_target_req, reserved[0]), 0 },
		{ offsetof(struct tb_target_req, reserved[1]), 0 },
		{ offsetof(struct tb_category_req, reserved32), 1 },
		{ offsetof(struct tb_category_req, reserved[1]), 1 },
		{ offsetof(struct tb_writer_req, reserved32), 2 },
		{ offsetof(struct tb_writer_req, reserved[0]), 2 },
		{ offsetof(struct tb_commit, flags), 3 },
		{ offsetof(struct tb_commit, reserved32), 3 },
		{ offsetof(struct tb_commit, reserved[1]), 3 },
	};
	static const unsigned int cmd[] = { TB_PIOC_TARGET, TB_PIOC_CATEGORY, TB_PIOC_WRITER,
					    TB_PIOC_COMMIT };
	char *arg[] = { (char *)&t, (char *)&c, (char *)&w, (char *)&m };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		char *byte = arg[words[i].of] + words[i].at;

		*byte = 1;
		EXPECT_EQ(-1, ioctl(self->p.fd, cmd[words[i].of], arg[words[i].of])) {
			TH_LOG("%zu", i);
		}
		EXPECT_EQ(EINVAL, errno);
		*byte = 0;
	}
	for (i = 0; i < ARRAY_SIZE(cmd); i++) {
		EXPECT_EQ(0, ioctl(self->p.fd, cmd[i], arg[i])) {
			TH_LOG("%zu: %d", i, errno);
		}
		/* of an earlier version, and nothing at all */
		EXPECT_EQ(-1, ioctl(self->p.fd, cmd[i] - (8 << 16), arg[i]));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(-1, ioctl(self->p.fd, cmd[i], NULL));
		EXPECT_EQ(EFAULT, errno);
	}
	memset(t.provider, 'a', sizeof(t.provider));
	EXPECT_EQ(-1, ioctl(self->p.fd, TB_PIOC_TARGET, &t));
	EXPECT_EQ(EINVAL, errno);
	m = (struct tb_commit){ .nr_refs = TB_COMMIT_MAX + 1 };
	EXPECT_EQ(-E2BIG, producer_commit(self->p.fd, &m));
	m = (struct tb_commit){ .nr_patches = TB_COMMIT_MAX + 1 };
	EXPECT_EQ(-E2BIG, producer_commit(self->p.fd, &m));
	m = (struct tb_commit){ .nr_refs = 1, .refs = 8 };
	EXPECT_EQ(-EFAULT, producer_commit(self->p.fd, &m));
	m = (struct tb_commit){ .nr_patches = 1, .patches = 8 };
	EXPECT_EQ(-EFAULT, producer_commit(self->p.fd, &m));
}

/* ---- memory ----------------------------------------------------------- */

static int map_error(int fd, size_t bytes, int prot, int flags, off_t offset)
{
	void *at = mmap(NULL, bytes, prot, flags, fd, offset);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, bytes);
	return 0;
}

TEST_DEV(channel, mapping)
{
	size_t page = self->p.setup.chunks_offset, all = self->p.setup.map_bytes;
	size_t chunks = all - page;
	int fd = self->p.fd, rw = PROT_READ | PROT_WRITE;

	EXPECT_EQ(0, map_error(fd, page, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(0, map_error(fd, chunks, rw, MAP_SHARED, page));
	EXPECT_EQ(0, map_error(fd, chunks, PROT_READ, MAP_SHARED, page));
	/* never the page for writing, nothing for executing, nothing that is not shared */
	EXPECT_EQ(EPERM, map_error(fd, page, rw, MAP_SHARED, 0));
	EXPECT_EQ(EPERM, map_error(fd, page, PROT_READ, MAP_PRIVATE, 0));
	EXPECT_EQ(EPERM, map_error(fd, chunks, rw, MAP_PRIVATE, page));
	EXPECT_EQ(EPERM, map_error(fd, chunks, rw | PROT_EXEC, MAP_SHARED, page));
	/* nor in parts, or more */
	EXPECT_EQ(EINVAL, map_error(fd, all, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(EINVAL, map_error(fd, chunks - page, rw, MAP_SHARED, page));
	EXPECT_EQ(EINVAL, map_error(fd, chunks + page, rw, MAP_SHARED, page));
	EXPECT_EQ(EINVAL, map_error(fd, chunks, rw, MAP_SHARED, 2 * page));
	EXPECT_EQ(EINVAL, map_error(fd, chunks, rw, MAP_SHARED, all));
	EXPECT_NE(0, map_error(fd, chunks, rw, MAP_SHARED, 1ul << 62));
	/* nor later */
	EXPECT_EQ(-1, mprotect((void *)self->p.page, page, rw));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(self->p.chunks, chunks, rw | PROT_EXEC));
	EXPECT_EQ(MAP_FAILED, mremap(self->p.chunks, chunks, 2 * chunks, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap((void *)self->p.page, page, 2 * page, MREMAP_MAYMOVE));
}

TEST_DEV(channel, memory_of_the_kernel_is_not_written_behind_its_back)
{
	size_t page = self->p.setup.chunks_offset;
	int fd = open("/proc/self/mem", O_RDWR), word = 77;

	/* what a debugger may do with read-only memory */
	EXPECT_EQ(-1, pwrite(fd, &word, sizeof(word), (uintptr_t)&self->p.page->producer));
	EXPECT_EQ(self->p.setup.producer, self->p.page->producer);
	/* given back, it is empty, not somebody else's */
	EXPECT_EQ(0, madvise((void *)self->p.page, page, MADV_DONTNEED));
	EXPECT_EQ(-1, pread(fd, &word, sizeof(word), (uintptr_t)&self->p.page->producer));
	close(fd);
}

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static sigjmp_buf fault;

static void on_fault(int sig)
{
	siglongjmp(fault, 1);
}

/* Can it be read? */
static bool readable(const volatile void *at)
{
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	if (sigsetjmp(fault, 1))
		return false;
	(void)*(const volatile char *)at;
	return true;
}

TEST_DEV(channel, a_child_has_nothing_of_it)
{
	pid_t pid;

	BEGIN();
	pid = fork();
	if (!pid) {
		struct tb_producer_setup s = { 0 };
		struct tb_chunk_ref ref = { 0 };
		struct tb_commit m = { .refs = (uintptr_t)&ref, .nr_refs = 1 };
		int fd = self->p.fd;

		if (readable(self->p.page) || readable(self->p.chunks))
			_exit(1);
		if (producer_target(fd, "kernel") != -EPERM || producer_commit(fd, &m) != -EPERM ||
		    producer_writer(fd, 3, 0, 0, 0) != -EPERM ||
		    producer_category(fd, "a") != -EPERM || producer_setup(fd, &s) != -EBUSY)
			_exit(2);
		if (map_error(fd, 4096, PROT_READ, MAP_SHARED, 0) != EPERM)
			_exit(3);
		if (!(tb_poll(fd) & POLLERR))
			_exit(4);
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	/* its end was not that of the channel */
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 5));
	END();
	EXPECT_WHOLE(1, 5);
}

/* In a process without privileges whose limit is @kib: the error of a channel with @chunks. */
static int setup_limited(int fd, uint32_t kib, uint32_t chunks)
{
	struct tb_producer_setup s = { .chunk_bytes = 4096, .chunks = chunks };
	struct rlimit limit = { kib * 1024, kib * 1024 };
	pid_t pid = fork();

	if (!pid) {
		if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(65534) || setuid(65534))
			_exit(255);
		_exit(-producer_setup(fd, &s));
	}
	return wait_for(pid);
}

TEST_DEV(channel, locked_memory_is_limited)
{
	int fd = producer_open_node();

	/* 15 chunks and the page */
	EXPECT_EQ(ENOMEM, setup_limited(fd, 60, 15));
	EXPECT_EQ(ENOMEM, setup_limited(fd, 0, 2));
	EXPECT_EQ(0, setup_limited(fd, 64, 15));
	close(fd);
}

static long locked_kib(void)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmLck: %ld kB", &kib);
	fclose(f);
	return kib;
}

TEST_DEV(channel, locked_memory_is_given_back)
{
	struct tb_producer_setup s = { .chunk_bytes = 4096, .chunks = 16 };
	long before = locked_kib();
	int fd = producer_open_node();

	ASSERT_EQ(0, producer_setup(fd, &s));
	EXPECT_EQ(before + 17 * 4, locked_kib());
	close(fd);
	EXPECT_EQ(before, locked_kib());
}

/* ---- committing ------------------------------------------------------- */

TEST_DEV(channel, complete_chunks)
{
	struct tb_chunk_ref refs[3] = { { .chunk = 5 }, { .chunk = 2 }, { .chunk = 0 } };
	struct tb_commit m = { .refs = (uintptr_t)refs, .nr_refs = 3 };
	struct tb_chunk *c;
	uint32_t i;

	BEGIN();
	for (i = 0; i < 3; i++) {
		c = chunk_begin(&self->p, refs[i].chunk, 1 + i / 2, i % 2, i % 2 * FULL);
		ASSERT_NE(NULL, c);
		c->flags = TB_CLOCK_TSC | TB_CHUNK_FRESH;
		ASSERT_EQ(i == 1 ? 3 : FULL, chunk_fill(&self->p, c, i == 1 ? 3 : 1000));
		chunk_complete(c);
	}
	ASSERT_EQ(0, producer_commit(self->p.fd, &m));
	EXPECT_EQ(3, m.taken);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, refs[i].result);
		EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 1), state_of(&self->p, refs[i].chunk));
		EXPECT_EQ(0, chunk_at(&self->p, refs[i].chunk)->published);
	}
	END();
	ASSERT_EQ(3, self->got.nr);
	for (i = 0; i < 3; i++) {
		struct tb_chunk_event *e = &self->got.piece[i].e;

		EXPECT_EQ(self->p.setup.producer, e->producer);
		EXPECT_EQ(getpid(), (pid_t)e->pid);
		EXPECT_EQ(getpid(), (pid_t)e->tid);
		EXPECT_EQ(0, e->uid);
		EXPECT_EQ(i % 2, e->chunk);
		EXPECT_EQ(TB_CLOCK_TSC | TB_CHUNK_FRESH | TB_CHUNK_LAST, e->flags);
		EXPECT_EQ(0, e->offset);
	}
	EXPECT_WHOLE(1, FULL + 3);
	EXPECT_WHOLE(2, FULL);
}

TEST_DEV(channel, every_size_and_many_laps)
{
	static const uint32_t sizes[] = { 256, 512, 1024, 2048, 4096, 8192 };
	struct producer p;
	uint64_t next;
	uint32_t i, id, causes, ids[ARRAY_SIZE(sizes)], full;

	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 128, 1024));
	BEGIN();
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		ASSERT_EQ(0, producer_open(&p, "kernel", sizes[i], 2 + i));
		ASSERT_EQ(0, producer_writer(p.fd, TB_WRITER_MAX, 0, 0, 0));
		full = (sizes[i] - sizeof(struct tb_chunk)) / RECORD_BYTES;
		ids[i] = p.setup.producer;
		for (id = 0; id < 30; id++)
			ASSERT_EQ(0, chunk_write(&p, id % (2 + i), TB_WRITER_MAX, id,
						 (uint64_t)id * full, full));
		producer_close(&p);
	}
	END();
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		full = (sizes[i] - sizeof(struct tb_chunk)) / RECORD_BYTES;
		EXPECT_EQ(30 * full, pieces_of(&self->got, ids[i], TB_WRITER_MAX, &next, &causes));
	}
}

/* The wrap count is 16 bits, and goes round. */
TEST_DEV(channel, laps_go_round)
{
	uint32_t id;

	BEGIN();
	for (id = 0; id < 0x10002; id++)
		ASSERT_EQ(0, chunk_write(&self->p, 0, 1, id, id, 1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 2), state_of(&self->p, 0));
}

TEST_DEV(channel, stale_references)
{
	struct tb_chunk *c;

	BEGIN();
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_put(&self->p, c);
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_WRITING, 0), state_of(&self->p, 0));
	chunk_complete(c);
	EXPECT_EQ(0, chunk_commit(&self->p, 0));
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	/* a writer that is late by a lap, and does not look */
	c->state = TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0);
	c->published = TB_PUBLISHED(RECORD_BYTES, 1);
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	c->state = TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 2);
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	c->state = TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 1) | 0x100;
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	c->state = TB_CHUNK_WORD(7, 1);
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 0));
	END();
	EXPECT_WHOLE(1, 1);
}

TEST_DEV(channel, illegal_chunks)
{
	struct tb_producer_info info;
	uint64_t next;
	uint32_t id, causes;
	struct tb_chunk *c;

	BEGIN();
	for (id = 0; id < 11; id++) {
		c = chunk_begin(&self->p, 3, 1, id, id);
		ASSERT_NE(NULL, c);
		chunk_put(&self->p, c);
		switch (id) {
		case 0:
			c->writer = 9;
			break;
		case 1:
			c->writer = 0;
			break;
		case 2:
			c->flags |= TB_CHUNK_LAST;
			break;
		case 3:
			c->cause = TB_LOST_RING;
			break;
		case 4:
			c->reserved16 = 1;
			break;
		case 5:
			c->reserved[1] = 1;
			break;
		case 6:
			c->published = TB_PUBLISHED(CHUNK - sizeof(*c) + 8, 1);
			break;
		case 7:
			c->published = TB_PUBLISHED(20, 1);
			break;
		case 8:
			c->published = TB_PUBLISHED(RECORD_BYTES, 2);
			break;
		case 9:
			c->hole = CHUNK;
			break;
		case 10:
			c->hole = 2;
			break;
		}
		chunk_complete(c);
		ASSERT_EQ(EINVAL, chunk_commit(&self->p, 3)) {
			TH_LOG("%u", id);
		}
		/* it can be used again */
		ASSERT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, id + 1), state_of(&self->p, 3));
		c->reserved16 = 0;
		c->reserved[1] = 0;
	}
	EXPECT_EQ(EINVAL, chunk_commit(&self->p, CHUNKS));
	EXPECT_EQ(EINVAL, chunk_commit(&self->p, ~0u));
	EXPECT_EQ(0, chunk_write(&self->p, 3, 1, id, id, 2));
	ASSERT_EQ(0, info_at(self->fd, 0, &info));
	EXPECT_EQ(13, info.refused);
	EXPECT_EQ(1, info.taken);
	END();
	EXPECT_EQ(2, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(13, next);
	EXPECT_EQ(TB_LOST_INVALID, causes);
}

/* Results of a batch, some good and some not; and those that nobody can be told. */
TEST_DEV(channel, results_of_a_batch)
{
	struct tb_chunk_ref refs[4] = { { 0 }, { .chunk = 1 }, { .chunk = 2 }, { .chunk = 3 } };
	struct tb_commit m = { .refs = (uintptr_t)refs, .nr_refs = 4 };
	struct tb_chunk_ref *none;
	struct tb_chunk *c;
	uint32_t i;

	BEGIN();
	for (i = 0; i < 4; i++) {
		c = chunk_begin(&self->p, i, 1, i, i);
		chunk_put(&self->p, c);
		if (i != 1)
			chunk_complete(c);
		refs[i].result = 99;
	}
	refs[2].data = 8;
	ASSERT_EQ(0, producer_commit(self->p.fd, &m));
	EXPECT_EQ(2, m.taken);
	EXPECT_EQ(0, refs[0].result);
	EXPECT_EQ(ESTALE, refs[1].result);
	EXPECT_EQ(EINVAL, refs[2].result);
	EXPECT_EQ(0, refs[3].result);
	none = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m = (struct tb_commit){ .refs = (uintptr_t)none, .nr_refs = 1 };
	EXPECT_EQ(-EFAULT, producer_commit(self->p.fd, &m));
	EXPECT_EQ(0, chunk_write(&self->p, 5, 2, 0, 0, 1));
}

TEST_DEV(channel, writers)
{
	int fd = self->p.fd;

	BEGIN();
	EXPECT_EQ(-EEXIST, producer_writer(fd, 1, 0, 0, 0));
	EXPECT_EQ(-EINVAL, producer_writer(fd, 0, 0, 0, 0));
	EXPECT_EQ(-EINVAL, producer_writer(fd, 3, 0, 0, 2));
	EXPECT_EQ(-ENOENT, producer_writer(fd, 3, 1, 0, 0));
	EXPECT_EQ(-ENOENT, producer_writer(fd, 3, TB_TARGETS_MAX, 0, 0));
	EXPECT_EQ(-ENOENT, producer_writer(fd, 3, 0xffff, 0, 0));
	EXPECT_EQ(-ESRCH, producer_writer(fd, 3, 0, 1, 0));
	EXPECT_EQ(-ESRCH, producer_writer(fd, 3, 0, 0x7fffffff, 0));
	EXPECT_EQ(-ESRCH, producer_writer(fd, 3, 0, ~0u, 0));
	EXPECT_EQ(-ENOENT, producer_writer(fd, 3, 0, 0, TB_WRITER_GONE));
	EXPECT_EQ(0, producer_writer(fd, TB_WRITER_MAX, 0, getpid(), 0));
	EXPECT_EQ(0, producer_writer(fd, 1, 0, 0, TB_WRITER_GONE));
	EXPECT_EQ(EINVAL, chunk_write(&self->p, 0, 1, 0, 0, 1));
	EXPECT_EQ(0, producer_writer(fd, 1, 0, 0, 0));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 1));
}

/* ---- what nobody commits ---------------------------------------------- */

TEST_DEV(channel, published_prefix_on_flush)
{
	struct tb_chunk *c;

	BEGIN();
	c = chunk_begin(&self->p, 4, 1, 0, 0);
	chunk_fill(&self->p, c, 3);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_WRITING, 0), state_of(&self->p, 4));
	/* nothing new */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_fill(&self->p, c, 2);
	/* this one's ring alone is none of the producers' business */
	ASSERT_EQ(0, tb_flush(self->fd, 0));
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_fill(&self->p, c, 1);
	chunk_complete(c);
	EXPECT_EQ(0, chunk_commit(&self->p, 4));
	/* one of which all is taken already */
	c = chunk_begin(&self->p, 4, 1, 1, 6);
	chunk_fill(&self->p, c, 1);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_complete(c);
	/* complete, nobody has committed it yet */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 2), state_of(&self->p, 4));
	EXPECT_EQ(ESTALE, chunk_commit(&self->p, 4));
	END();
	ASSERT_EQ(5, self->got.nr);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_SCRAPED, self->got.piece[0].e.flags);
	EXPECT_EQ(0, self->got.piece[0].e.offset);
	EXPECT_EQ(3, self->got.piece[0].e.records);
	EXPECT_EQ(3 * RECORD_BYTES, self->got.piece[1].e.offset);
	EXPECT_EQ(3, self->got.piece[1].e.first);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_LAST, self->got.piece[2].e.flags);
	EXPECT_EQ(5 * RECORD_BYTES, self->got.piece[2].e.offset);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_LAST | TB_CHUNK_SCRAPED, self->got.piece[4].e.flags);
	EXPECT_EQ(0, self->got.piece[4].e.records);
	EXPECT_WHOLE(1, 7);
}

TEST_DEV(channel, published_on_stop)
{
	struct tb_chunk *c;

	BEGIN();
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_fill(&self->p, c, 3);
	c = chunk_begin(&self->p, 1, 2, 0, 0);
	chunk_fill(&self->p, c, FULL);
	chunk_complete(c);
	/* begun, with a header of before or none */
	chunk_begin(&self->p, 2, 7, 0, 0);
	END();
	EXPECT_WHOLE(1, 3);
	EXPECT_WHOLE(2, FULL);
	EXPECT_EQ(0, self->p.page->recording);
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, 1), state_of(&self->p, 1));
}

/* All that is published, whatever the order of the chunks in memory. */
TEST_DEV(channel, scraped_in_order)
{
	struct tb_chunk *c;
	uint32_t i;

	BEGIN();
	for (i = 0; i < CHUNKS; i++) {
		c = chunk_begin(&self->p, CHUNKS - 1 - i, 1 + i % 2, i / 2, i / 2 * 5);
		chunk_fill(&self->p, c, 5);
		if (i < CHUNKS - 2)
			chunk_complete(c);
	}
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	END();
	EXPECT_EQ(CHUNKS, self->got.nr);
	EXPECT_WHOLE(1, CHUNKS / 2 * 5);
	EXPECT_WHOLE(2, CHUNKS / 2 * 5);
}

TEST_DEV(channel, acquire_flush_and_snapshot)
{
	struct tb_ref refs[64];
	struct tb_chunk *c;
	size_t bytes;
	char *map;
	int n, i;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_CIRCULAR, 0, 4, 1024));
	BEGIN();
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_fill(&self->p, c, 3);
	map = tb_map(self->fd, &bytes);
	ASSERT_NE(MAP_FAILED, map);
	while ((n = tb_acquire(self->fd, refs, 64, TB_ACQUIRE_SNAPSHOT)) >= 0) {
		for (i = 0; i < n; i++)
			ASSERT_STREAM(stream_block(&self->s, map + refs[i].offset, refs[i].bytes),
				      &self->s);
		ASSERT_EQ(n, n ? tb_release(self->fd, refs, n) : 0);
	}
	EXPECT_EQ(-ENODATA, n);
	EXPECT_WHOLE(1, 3);
	munmap(map, bytes);
	close(self->fd);
	self->fd = tb_open(0);
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	chunk_fill(&self->p, c, 2);
	ASSERT_LT(0, tb_acquire(self->fd, refs, 64, TB_ACQUIRE_FLUSH));
	EXPECT_EQ(1, self->got.nr);
	ASSERT_EQ(0, tb_stop(self->fd));
}

TEST_DEV(channel, holes)
{
	struct tb_chunk *c;

	BEGIN();
	c = chunk_begin(&self->p, 0, 1, 0, 0);
	chunk_fill(&self->p, c, 2);
	/* record 2 has one */
	c->hole = 2 * RECORD_BYTES + 1;
	chunk_fill(&self->p, c, 3);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	/* filled in; the next is in record 4 */
	__atomic_store_n(&c->hole, 4 * RECORD_BYTES + 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_complete(c);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 0));
	EXPECT_EQ(0, chunk_commit(&self->p, 0));
	EXPECT_EQ(0, c->hole);
	/* the recording's end is the last time */
	c = chunk_begin(&self->p, 0, 1, 1, 5);
	c->hole = 1;
	chunk_fill(&self->p, c, 2);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	END();
	ASSERT_EQ(4, self->got.nr);
	EXPECT_EQ(2, self->got.piece[0].e.records);
	EXPECT_EQ(2, self->got.piece[1].e.records);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_SCRAPED, self->got.piece[1].e.flags);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_LAST | TB_CHUNK_HOLES, self->got.piece[2].e.flags);
	EXPECT_EQ(1, self->got.piece[2].e.records);
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_SCRAPED | TB_CHUNK_HOLES, self->got.piece[3].e.flags);
	EXPECT_WHOLE(1, 7);
}

/* Before a hole it is the records that say how many they are: they may lie. */
TEST_DEV(channel, holes_behind_nonsense)
{
	struct tb_record *r;
	struct tb_chunk *c;
	uint16_t bytes[] = { 0, 8, 20, 1000, 0xfff8, 32 };
	uint32_t i;

	BEGIN();
	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		c = chunk_begin(&self->p, 0, 1, i, 0);
		chunk_fill(&self->p, c, 3);
		r = (void *)(c + 1);
		r->bytes = bytes[i];
		c->hole = 2 * RECORD_BYTES + 1;
		ASSERT_EQ(0, tb_flush(self->fd, -1));
		EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_WRITING, i), state_of(&self->p, 0));
		r->bytes = RECORD_BYTES;
		c->writer = 77;
		chunk_complete(c);
		EXPECT_EQ(EINVAL, chunk_commit(&self->p, 0));
	}
	END();
	EXPECT_WHOLE(1, 0);
}

TEST_DEV(channel, patches)
{
	struct tb_patch good = { .writer = 1, .chunk = 7, .offset = 16, .value = 0x1122334455667788 };
	struct tb_patch bad[] = {
		{ .writer = 3 }, { .writer = 0 }, { .writer = 1, .offset = 4 },
		{ .writer = 1, .offset = CHUNK - sizeof(struct tb_chunk) }, { .writer = 1, .offset = 0xfff8 },
	};
	struct tb_patch two[3] = { good, bad[0], good };
	struct tb_commit m = { .patches = (uintptr_t)two, .nr_patches = 3 };
	size_t i;

	BEGIN();
	ASSERT_EQ(0, chunk_write(&self->p, 0, 1, 7, 0, 2));
	EXPECT_EQ(0, patch_commit(&self->p, good));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, patch_commit(&self->p, bad[i])) {
			TH_LOG("%zu", i);
		}
	/* the others are recorded nevertheless */
	EXPECT_EQ(-EINVAL, producer_commit(self->p.fd, &m));
	good.offset = CHUNK - sizeof(struct tb_chunk) - 8;
	EXPECT_EQ(0, patch_commit(&self->p, good));
	END();
	ASSERT_EQ(4, self->got.nr_patches);
	EXPECT_EQ(self->p.setup.producer, self->got.patch[0].producer);
	EXPECT_EQ(7, self->got.patch[0].chunk);
	EXPECT_EQ(1, self->got.patch[0].writer);
	EXPECT_EQ(16, self->got.patch[0].offset);
	EXPECT_EQ(0x1122334455667788, self->got.patch[0].value);
}

/* ---- losses ----------------------------------------------------------- */

TEST_DEV(channel, the_producers_own_causes)
{
	struct tb_chunk *c;
	uint64_t next;
	uint32_t causes;

	BEGIN();
	ASSERT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 2));
	c = chunk_begin(&self->p, 0, 1, 1, 7);
	c->cause = TB_LOST_STALL | TB_LOST_OVERSIZE;
	chunk_fill(&self->p, c, 1);
	/* told once, with the first piece */
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	chunk_fill(&self->p, c, 1);
	chunk_complete(c);
	EXPECT_EQ(0, chunk_commit(&self->p, 0));
	END();
	ASSERT_EQ(3, self->got.nr);
	EXPECT_EQ(TB_LOST_STALL | TB_LOST_OVERSIZE, self->got.piece[1].e.cause);
	EXPECT_EQ(0, self->got.piece[2].e.cause);
	EXPECT_EQ(4, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(9, next);
}

/* Until the ring is full, and after that.  The books of the ring count every attempt. */
TEST_DEV(channel, a_ring_without_room)
{
	uint32_t id, lost = 0, causes;
	struct tb_producer_info info;
	struct tb_stats st;
	uint64_t next;
	struct tb_chunk *c;
	int ret;

	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP, 2, 256));
	EXPECT_EQ(0, self->p.page->overwrites);
	BEGIN();
	for (id = 0; lost < 3; id++) {
		c = chunk_begin(&self->p, 0, 1, id, id * FULL);
		ASSERT_NE(NULL, c);
		/* what the writer has said itself is told later, too */
		c->cause = lost ? TB_LOST_NO_CHUNK : 0;
		chunk_fill(&self->p, c, FULL);
		chunk_complete(c);
		ret = chunk_commit(&self->p, 0);
		ASSERT_TRUE(ret == 0 || ret == ENOBUFS);
		lost += ret == ENOBUFS;
		ASSERT_LT(id, 100);
	}
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_FREE, id), state_of(&self->p, 0));
	/* not committed: it stays where it is, and is not lost */
	c = chunk_begin(&self->p, 1, 1, id, id * FULL);
	chunk_fill(&self->p, c, FULL);
	chunk_complete(c);
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 1));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(4, st.dropped);
	EXPECT_EQ(id - 3 + 4, st.attempted);
	ASSERT_EQ(0, info_at(self->fd, 0, &info));
	EXPECT_EQ(3, info.lost);
	EXPECT_EQ(id - 3, info.taken);
	/* a reader makes room */
	{
		size_t room = 1 << 20;
		char *buf = malloc(room);
		ssize_t n;

		fcntl(self->fd, F_SETFL, O_NONBLOCK);
		while ((n = read(self->fd, buf, room)) > 0)
			ASSERT_STREAM(stream_blocks(&self->s, buf, n), &self->s);
		free(buf);
		fcntl(self->fd, F_SETFL, 0);
	}
	EXPECT_EQ(0, chunk_commit(&self->p, 1));
	END();
	EXPECT_EQ((id - 3 + 1) * FULL, pieces_of(&self->got, self->p.setup.producer, 1, &next,
						 &causes));
	EXPECT_EQ((id + 1) * FULL, next);
	EXPECT_EQ(TB_LOST_RING | TB_LOST_NO_CHUNK, causes);
	/* a flush, which the reader did, and stop found no room for nothing else */
	EXPECT_EQ(4, self->s.ring[0].totals.dropped);
}

/* A chunk that is larger than the buffers of the ring never gets in. */
TEST_DEV(channel, larger_than_a_buffer)
{
	struct tb_stats st;

	ASSERT_EQ(0, tb_configure(self->fd, 0, 0, 4, 64));
	BEGIN();
	EXPECT_EQ(ENOBUFS, chunk_write(&self->p, 0, 1, 0, 0, FULL));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 1, FULL, 3));
	ASSERT_EQ(0, tb_stats(self->fd, 0, &st));
	EXPECT_EQ(1, st.oversize);
	END();
}

TEST_DEV(channel, stopped)
{
	uint32_t causes;
	uint64_t next;

	ASSERT_EQ(0, producer_writer(self->p.fd, 1, 0, 0, 0));
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 1, 0, 0, 2));
	EXPECT_EQ(0, patch_commit(&self->p, (struct tb_patch){ .writer = 1 }));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 1, 2, 2));
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 1, 2, 4, 2));
	ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);
	ASSERT_STREAM(stream_finish(&self->s), &self->s);
	EXPECT_EQ(2, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(4, next);
	EXPECT_EQ(TB_LOST_STOPPED, causes);
	EXPECT_EQ(0, self->got.nr_patches);
}

TEST_DEV(channel, quota)
{
	struct tb_quota q = { .bytes_per_second = 10000, .burst_bytes = 5000 };
	uint32_t id = 0, taken, causes;
	uint64_t next;
	struct tb_chunk *c;
	int ret;

	BEGIN();
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	for (taken = 0; !(ret = chunk_write(&self->p, 0, 1, id, id * FULL, FULL)); id++)
		ASSERT_GT(50, ++taken);
	EXPECT_EQ(EDQUOT, ret);
	/* 5000 bytes, and what was left over when the last one came; guests are slow */
	EXPECT_LE(5, taken);
	/* scraping does not get around it, and loses nothing */
	id++;
	c = chunk_begin(&self->p, 1, 1, id, id * FULL);
	chunk_fill(&self->p, c, FULL);
	chunk_complete(c);
	q.bytes_per_second = 1;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	while (!chunk_write(&self->p, 0, 2, 0, 0, FULL))
		;
	ASSERT_EQ(0, tb_flush(self->fd, -1));
	EXPECT_EQ(TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0), state_of(&self->p, 1));
	q = (struct tb_quota){ 0 };
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(0, chunk_commit(&self->p, 1));
	END();
	EXPECT_LT(0, pieces_of(&self->got, self->p.setup.producer, 1, &next, &causes));
	EXPECT_EQ(TB_LOST_QUOTA, causes);
}

TEST_DEV(channel, closed_to_producers)
{
	struct tb_quota q = { .flags = TB_QUOTA_CLOSED };
	struct producer other;

	BEGIN();
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(0, self->p.page->recording);
	EXPECT_EQ(EDQUOT, chunk_write(&self->p, 0, 1, 0, 0, 2));
	EXPECT_EQ(-EACCES, producer_open(&other, "kernel", 0, 0));
	/* one channel, and that is there */
	q = (struct tb_quota){ .producers = 1 };
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(1, self->p.page->recording);
	EXPECT_EQ(0, producer_target(self->p.fd, "kernel"));
	EXPECT_EQ(-ENOSPC, producer_open(&other, "kernel", 0, 0));
	q.producers = 2;
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_QUOTA, &q));
	ASSERT_EQ(0, producer_open(&other, "kernel", 0, 0));
	producer_close(&other);
	ASSERT_EQ(0, producer_open(&other, "kernel", 0, 0));
	producer_close(&other);
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 1, 2, 2));
	q = (struct tb_quota){ .flags = 2 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	q = (struct tb_quota){ .producers = TB_PRODUCERS_MAX + 1 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	q = (struct tb_quota){ .burst_bytes = 1 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	q = (struct tb_quota){ .reserved = { 1 } };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_QUOTA, &q));
	EXPECT_EQ(EINVAL, errno);
}

/* ---- what producers are told ------------------------------------------- */

static int categories(int fd, uint32_t op, const char *pattern)
{
	struct tb_categories c = { .op = op, .length = strlen(pattern),
				   .pattern = (uintptr_t)pattern };

	if (!*pattern)
		c.pattern = 0;
	return ioctl(fd, TB_IOC_CATEGORIES, &c) ? -errno : 0;
}

TEST_DEV(channel, categories)
{
	const volatile uint32_t *word = self->p.page->categories;
	int ui, net, fd = self->p.fd;

	ui = producer_category(fd, "ui.paint");
	net = producer_category(fd, "net");
	EXPECT_EQ(0, ui);
	EXPECT_EQ(1, net);
	EXPECT_EQ(ui, producer_category(fd, "ui.paint"));
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, "ui.*"));
	EXPECT_EQ(0, word[ui]);
	BEGIN();
	EXPECT_EQ(1, word[ui]);
	EXPECT_EQ(0, word[net]);
	/* the last that matches */
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, "*"));
	EXPECT_EQ(1, word[net]);
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_DISABLE, "n?t"));
	EXPECT_EQ(0, word[net]);
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, "*"));
	EXPECT_EQ(1, word[net]);
	/* later ones */
	EXPECT_EQ(2, producer_category(fd, "later"));
	EXPECT_EQ(1, word[2]);
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(0, word[ui]);
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	EXPECT_EQ(1, word[ui]);
	ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_CLEAR, ""));
	EXPECT_EQ(0, word[ui] | word[net] | word[2]);
}

TEST_DEV(channel, categories_that_are_none)
{
	static const char *const bad[] = { "", "a:b", "a,b", "*", "a?", "!a", "a b", "a\tb", "a\n" };
	char name[TB_NAME_MAX + 1];
	struct tb_category_req r;
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, producer_category(self->p.fd, bad[i])) {
			TH_LOG("%d", i);
		}
	memset(&r, 0, sizeof(r));
	memset(r.name, 'a', sizeof(r.name));
	EXPECT_EQ(-1, ioctl(self->p.fd, TB_PIOC_CATEGORY, &r));
	EXPECT_EQ(0, producer_category(self->p.fd, "gr\xc3\xa0tz"));
	for (i = 1; i < TB_CATEGORIES_MAX; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		ASSERT_EQ(i, producer_category(self->p.fd, name));
	}
	EXPECT_EQ(-ENOSPC, producer_category(self->p.fd, "more"));
	EXPECT_EQ(7, producer_category(self->p.fd, "c7"));
	for (i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "c%d*", i);
		ASSERT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, name));
	}
	EXPECT_EQ(-ENOSPC, categories(self->fd, TB_CATEGORY_ENABLE, "d"));
	EXPECT_EQ(0, categories(self->fd, TB_CATEGORY_DISABLE, "c5*"));
	EXPECT_EQ(0, categories(self->fd, TB_CATEGORY_CLEAR, ""));
	EXPECT_EQ(-EINVAL, categories(self->fd, TB_CATEGORY_CLEAR, "a"));
	EXPECT_EQ(-EINVAL, categories(self->fd, TB_CATEGORY_ENABLE, ""));
	EXPECT_EQ(-EINVAL, categories(self->fd, 0, "a"));
	EXPECT_EQ(-EINVAL, categories(self->fd, 4, "a"));
	memset(name, 'a', sizeof(name));
	name[TB_NAME_MAX] = 0;
	EXPECT_EQ(-EINVAL, categories(self->fd, TB_CATEGORY_ENABLE, name));
	name[TB_NAME_MAX - 1] = 0;
	EXPECT_EQ(0, categories(self->fd, TB_CATEGORY_ENABLE, name));
}

TEST_DEV(channel, words_and_poll)
{
	struct pollfd pfd = { .fd = self->p.fd, .events = POLLIN | POLLPRI };
	const volatile struct tb_producer_page *page = self->p.page;
	uint32_t changes = page->changes;
	struct tb_query q;

	EXPECT_EQ(POLLIN, tb_poll(self->p.fd));
	EXPECT_EQ(0, tb_poll(self->p.fd));
	ASSERT_EQ(0, tb_start(self->fd, TB_START_NO_STATE));
	ASSERT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLIN, pfd.revents);
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	EXPECT_LT(changes, page->changes);
	ASSERT_EQ(0, tb_query(self->fd, &q));
	EXPECT_EQ(1, page->recording);
	EXPECT_EQ((uint32_t)q.generation, page->targets[0].generation);
	EXPECT_EQ(q.clock, page->targets[0].clock);
	EXPECT_EQ(q.frequency, page->targets[0].frequency);
	ASSERT_EQ(0, tb_stop(self->fd));
	EXPECT_EQ(0, page->recording);
	ASSERT_EQ(1, poll(&pfd, 1, 0));
}

/* ---- several providers ------------------------------------------------- */

TEST_DEV(channel, targets)
{
	struct pieces kernel = { 0 };
	struct stream s;
	int one, i;
	char name[16];

	one = tb_open_as("one", 0);
	ASSERT_LE(0, one);
	EXPECT_EQ(-ENOENT, producer_target(self->p.fd, "nowhere"));
	EXPECT_EQ(-ENOENT, producer_target(self->p.fd, ""));
	EXPECT_EQ(0, producer_target(self->p.fd, "kernel"));
	EXPECT_EQ(1, producer_target(self->p.fd, "one"));
	EXPECT_EQ(1, producer_target(self->p.fd, "one"));
	BEGIN();
	ASSERT_EQ(0, tb_start(one, TB_START_NO_STATE));
	EXPECT_EQ(3, self->p.page->recording);
	ASSERT_EQ(0, producer_writer(self->p.fd, 3, 1, 0, 0));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 2));
	EXPECT_EQ(0, chunk_write(&self->p, 1, 3, 0, 0, 3));
	chunk_fill(&self->p, chunk_begin(&self->p, 2, 1, 1, 2), 5);
	chunk_fill(&self->p, chunk_begin(&self->p, 3, 3, 1, 3), 7);
	/* what is the other's is not touched */
	ASSERT_EQ(0, tb_flush(one, -1));
	END();
	EXPECT_EQ(2, self->p.page->recording);
	EXPECT_EQ(2, self->got.nr);
	EXPECT_WHOLE(1, 7);
	EXPECT_WHOLE(3, 0);
	kernel = self->got;
	stream_init(&s);
	s.provider = self->s.provider;
	pieces_collect(&self->got, &s);
	{
		struct tb_query q;

		ASSERT_EQ(0, tb_query(one, &q));
		s.provider = q.provider;
	}
	ASSERT_EQ(0, tb_stop(one));
	ASSERT_STREAM(tb_drain(one, &s), &s);
	EXPECT_WHOLE(3, 10);
	EXPECT_WHOLE(1, 0);
	stream_free(&s);
	pieces_free(&kernel);
	close(one);
	for (i = 2; i < TB_TARGETS_MAX; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		close(tb_open_as(name, 0));
		ASSERT_EQ(i, producer_target(self->p.fd, name));
	}
	close(tb_open_as("more", 0));
	EXPECT_EQ(-ENOSPC, producer_target(self->p.fd, "more"));
}

TEST_DEV(channel, a_target_that_is_removed)
{
	struct tb_producer_info info;
	int one = tb_open_as("one", 0);

	ASSERT_LE(0, one);
	ASSERT_EQ(1, producer_target(self->p.fd, "one"));
	ASSERT_EQ(0, producer_writer(self->p.fd, 3, 1, 0, 0));
	ASSERT_EQ(0, tb_start(one, TB_START_NO_STATE));
	EXPECT_EQ(2, self->p.page->recording);
	EXPECT_EQ(0, chunk_write(&self->p, 0, 3, 0, 0, 3));
	chunk_fill(&self->p, chunk_begin(&self->p, 1, 3, 1, 3), 2);
	/* a producer does not keep it */
	ASSERT_EQ(0, tb_provider(one, TB_PROVIDER_DESTROY, "one"));
	EXPECT_EQ(0, self->p.page->recording);
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 3, 1, 3, 3));
	EXPECT_EQ(-ENOENT, info_at(one, 0, &info));
	/* started once more by who has its file: it is nobody's target all the same */
	ASSERT_EQ(0, tb_start(one, TB_START_NO_STATE));
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 3, 1, 3, 3));
	ASSERT_EQ(0, tb_flush(one, -1));
	close(one);
	EXPECT_EQ(ENODATA, chunk_write(&self->p, 0, 3, 1, 3, 3));
	/* another one of that name is another target */
	one = tb_open_as("one", 0);
	EXPECT_EQ(2, producer_target(self->p.fd, "one"));
	close(one);
}

/* Only some processors' events are recorded: those of programs are, wherever they run. */
TEST_DEV(channel, on_a_processor_that_is_not_recorded)
{
	uint8_t mask = 2;
	struct tb_config c = { .cpus = (uintptr_t)&mask, .cpus_bytes = 1 };

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one processor");
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_CONFIGURE, &c));
	BEGIN();
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 2));
	chunk_fill(&self->p, chunk_begin(&self->p, 1, 1, 1, 2), 3);
	END();
	EXPECT_WHOLE(1, 5);
	EXPECT_EQ(0, self->s.ring[0].events);
}

/* ---- who it was ------------------------------------------------------- */

struct thread_tid {
	struct producer *p;
	pid_t tid;
	int ret;
	bool end;
};

static void *a_thread(void *arg)
{
	struct thread_tid *t = arg;

	t->ret = producer_writer(t->p->fd, 10, 0, 0, 0);
	__atomic_store_n(&t->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (WAIT(__atomic_load_n(&t->end, __ATOMIC_ACQUIRE)))
		;
	return NULL;
}

TEST_DEV(channel, identity)
{
	struct thread_tid t = { .p = &self->p };
	struct tb_producer_info info;
	pthread_t thread;
	pid_t other = crowd(1);
	uint32_t i;
	int ret = 0;

	BEGIN();
	ASSERT_EQ(0, pthread_create(&thread, NULL, a_thread, &t));
	for (WAIT(__atomic_load_n(&t.tid, __ATOMIC_ACQUIRE)))
		;
	EXPECT_EQ(0, t.ret);
	EXPECT_EQ(0, producer_writer(self->p.fd, 11, 0, t.tid, 0));
	EXPECT_EQ(-ESRCH, producer_writer(self->p.fd, 12, 0, other, 0));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	for (i = 10; i < 12; i++)
		EXPECT_EQ(0, chunk_write(&self->p, 0, i, 0, 0, 1));
	__atomic_store_n(&t.end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	/* it may be on its way still */
	for (WAIT(ret == -ESRCH)) {
		ret = producer_writer(self->p.fd, 12, 0, t.tid, 0);
		if (!ret)
			producer_writer(self->p.fd, 12, 0, 0, TB_WRITER_GONE);
	}
	EXPECT_EQ(-ESRCH, ret);
	EXPECT_EQ(0, producer_category(self->p.fd, "a"));
	chunk_begin(&self->p, 3, 1, 0, 0);
	ASSERT_EQ(0, info_at(self->fd, 0, &info));
	EXPECT_EQ(self->p.setup.producer, info.producer);
	EXPECT_EQ(getpid(), (pid_t)info.pid);
	EXPECT_EQ(0, info.uid);
	EXPECT_EQ(CHUNKS, info.chunks);
	EXPECT_EQ(CHUNK, info.chunk_bytes);
	EXPECT_EQ(1, info.busy);
	EXPECT_EQ(4, info.writers);
	EXPECT_EQ(1, info.categories);
	EXPECT_EQ(2, info.taken);
	EXPECT_EQ(2 * RECORD_BYTES, info.bytes);
	EXPECT_EQ(2, info.records);
	EXPECT_EQ(0, info.refused);
	EXPECT_EQ(0, info.lost);
	EXPECT_STREQ("test_producer", info.comm);
	EXPECT_EQ(-ENOENT, info_at(self->fd, 1, &info));
	END();
	ASSERT_EQ(2, self->got.nr);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(t.tid, (pid_t)self->got.piece[i].e.tid);
		EXPECT_EQ(getpid(), (pid_t)self->got.piece[i].e.pid);
	}
}

/* Another user, who gets the file from somebody who may open it. */
TEST_DEV(channel, identity_of_another_user)
{
	struct producer p;
	uint32_t i, found = 0;
	pid_t pid;

	BEGIN();
	pid = fork();
	if (!pid) {
		if (setresuid(4711, -1, -1) || producer_open(&p, "kernel", 0, 2) ||
		    producer_writer(p.fd, 1, 0, 0, 0) || chunk_write(&p, 0, 1, 0, 0, 3))
			_exit(1);
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	END();
	for (i = 0; i < self->got.nr; i++)
		if (self->got.piece[i].e.pid == (uint32_t)pid) {
			EXPECT_EQ(4711, self->got.piece[i].e.uid);
			found++;
		}
	EXPECT_EQ(1, found);
}

/* ---- the end ---------------------------------------------------------- */

/* Whose channel it is dies in the middle of a chunk; a child of it has the file still. */
TEST_DEV(channel, death_with_an_heir)
{
	struct tb_producer_info info;
	int pipes[2], heir[2];
	uint64_t next;
	uint32_t id, causes;
	struct producer p;
	char byte;
	pid_t pid;

	BEGIN();
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, pipe(heir));
	pid = fork();
	if (!pid) {
		struct tb_chunk *c;

		close(heir[1]);
		if (producer_open(&p, "kernel", 1024, 4) || producer_writer(p.fd, 1, 0, 0, 0))
			_exit(1);
		if (!fork()) {
			/* until the test closes its end */
			if (read(heir[0], &byte, 1) < 0)
				_exit(1);
			_exit(0);
		}
		if (chunk_write(&p, 0, 1, 0, 0, 3))
			_exit(1);
		c = chunk_begin(&p, 2, 1, 1, 3);
		c->hole = 1;
		chunk_fill(&p, c, 4);
		if (write(pipes[1], &p.setup.producer, 4) != 4)
			_exit(1);
		for (;;)
			pause();
	}
	ASSERT_EQ(4, read(pipes[0], &id, 4));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* the last of the process has closed its files before it can be waited for */
	EXPECT_EQ(-ENOENT, info_at(self->fd, 1, &info));
	END();
	EXPECT_EQ(7, pieces_of(&self->got, id, 1, &next, &causes));
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_SCRAPED | TB_CHUNK_HOLES,
		  self->got.piece[self->got.nr - 1].e.flags);
	close(heir[1]);
}

TEST_DEV(channel, close_takes_what_is_there)
{
	uint64_t next;
	uint32_t causes;
	struct producer p;

	BEGIN();
	ASSERT_EQ(0, producer_open(&p, "kernel", 1024, 4));
	ASSERT_EQ(0, producer_writer(p.fd, 1, 0, 0, 0));
	chunk_fill(&p, chunk_begin(&p, 2, 1, 0, 0), 4);
	producer_close(&p);
	END();
	EXPECT_EQ(4, pieces_of(&self->got, p.setup.producer, 1, &next, &causes));
}

/* ---- memory that is not shared ------------------------------------------- */

struct copied {
	struct tb_chunk head;
	char data[CHUNK - sizeof(struct tb_chunk)];
};

static void copied_fill(struct copied *c, uint32_t id, uint32_t records)
{
	struct producer p = { .chunks = (char *)c, .setup.chunk_bytes = CHUNK };

	memset(c, 0, sizeof(*c));
	chunk_fill(&p, chunk_begin(&p, 0, 1, id, 0), records);
	chunk_complete(&c->head);
}

static int open_copying(struct tb_producer_setup *s)
{
	int fd = producer_open_node();

	*s = (struct tb_producer_setup){ .flags = TB_SETUP_NO_SHARED, .chunk_bytes = CHUNK };
	if (producer_setup(fd, s) || producer_target(fd, "kernel") ||
	    producer_writer(fd, 1, 0, 0, 0))
		return -1;
	return fd;
}

TEST_DEV(channel, chunks_by_copy)
{
	static struct copied c[4];
	struct tb_chunk_ref refs[4];
	struct tb_commit m = { .refs = (uintptr_t)refs, .nr_refs = 4 };
	struct tb_producer_setup s;
	uint64_t next;
	uint32_t i, causes;
	char *edge;
	int fd;

	BEGIN();
	fd = open_copying(&s);
	ASSERT_LE(0, fd);
	EXPECT_EQ(s.chunks_offset, s.map_bytes);
	EXPECT_EQ(0, map_error(fd, s.chunks_offset, PROT_READ, MAP_SHARED, 0));
	for (i = 0; i < 4; i++) {
		copied_fill(&c[i], i, 3);
		c[i].head.first = i * 3;
		copied_fill(&c[i], i, 0);
		c[i].head.first = i * 3;
		c[i].head.state = 1;
		chunk_fill(&(struct producer){ .setup.chunk_bytes = CHUNK }, &c[i].head, 3);
		c[i].head.state = TB_CHUNK_COMPLETE;
		refs[i] = (struct tb_chunk_ref){ .data = (uintptr_t)&c[i] };
	}
	c[1].head.state = TB_CHUNK_WRITING;
	c[2].head.published = TB_PUBLISHED(CHUNK, 3);
	ASSERT_EQ(0, producer_commit(fd, &m));
	EXPECT_EQ(2, m.taken);
	EXPECT_EQ(0, refs[0].result);
	EXPECT_EQ(ESTALE, refs[1].result);
	EXPECT_EQ(EINVAL, refs[2].result);
	EXPECT_EQ(0, refs[3].result);
	/* a place in memory that is not there, or of a chunk that is none */
	refs[0].data = 0;
	refs[1] = (struct tb_chunk_ref){ .chunk = 1, .data = (uintptr_t)&c[0] };
	refs[2] = (struct tb_chunk_ref){ .data = 8 };
	EXPECT_EQ(-EFAULT, producer_commit(fd, &m));
	EXPECT_EQ(EINVAL, refs[0].result);
	EXPECT_EQ(EINVAL, refs[1].result);
	EXPECT_EQ(ECANCELED, refs[3].result);
	/* its data are not all there */
	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(edge + 4096, 4096);
	memcpy(edge + 4096 - 64, &c[0], 64);
	refs[0] = (struct tb_chunk_ref){ .data = (uintptr_t)edge + 4096 - 64 };
	m.nr_refs = 1;
	EXPECT_EQ(-EFAULT, producer_commit(fd, &m));
	close(fd);
	END();
	EXPECT_EQ(6, pieces_of(&self->got, s.producer, 1, &next, &causes));
	EXPECT_EQ(12, next);
	EXPECT_EQ(TB_LOST_INVALID, causes);
}

struct answerer {
	int fd;
	const volatile struct tb_producer_page *page;
	bool answers;
	int events;
	uint32_t flush;
};

/* Waits for a request, commits what it has, and says so. */
static void *answer_thread(void *arg)
{
	static struct copied c;
	struct answerer *a = arg;
	struct pollfd pfd = { .fd = a->fd, .events = POLLPRI };
	struct tb_chunk_ref ref = { .data = (uintptr_t)&c };
	struct tb_commit m = { .refs = (uintptr_t)&ref, .nr_refs = 1 };

	if (poll(&pfd, 1, PATIENCE * 1000) != 1)
		return NULL;
	a->events = pfd.revents;
	a->flush = a->page->flush;
	if (!a->answers)
		return NULL;
	copied_fill(&c, 0, 3);
	m.flush = a->flush;
	producer_commit(a->fd, &m);
	return NULL;
}

TEST_DEV(channel, flush_asks)
{
	struct tb_flush f = { .cpu = -1, .flags = TB_FLUSH_ASK, .timeout_ms = PATIENCE * 1000 };
	struct answerer a = { .answers = true };
	struct tb_producer_setup s;
	pthread_t thread;
	uint64_t next;
	uint32_t causes;

	BEGIN();
	/* nobody there who must be asked */
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(0, self->p.page->flush);
	a.fd = open_copying(&s);
	ASSERT_LE(0, a.fd);
	a.page = mmap(NULL, s.chunks_offset, PROT_READ, MAP_SHARED, a.fd, 0);
	ASSERT_NE(MAP_FAILED, a.page);
	ASSERT_EQ(0, pthread_create(&thread, NULL, answer_thread, &a));
	EXPECT_EQ(0, ioctl(self->fd, TB_IOC_FLUSH, &f));
	pthread_join(thread, NULL);
	EXPECT_EQ(POLLPRI, a.events);
	EXPECT_NE(0, a.flush);
	/* one that does not answer */
	a.answers = false;
	ASSERT_EQ(0, pthread_create(&thread, NULL, answer_thread, &a));
	f.timeout_ms = 200;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(ETIMEDOUT, errno);
	pthread_join(thread, NULL);
	/* nonsense is no answer, the last one's is none to this one */
	EXPECT_EQ(0, producer_answer(a.fd, a.page->flush + 1));
	EXPECT_EQ(0, producer_answer(a.fd, a.page->flush - 1));
	EXPECT_NE(0, tb_poll(a.fd) | POLLPRI);
	{
		struct pollfd pfd = { .fd = a.fd, .events = POLLPRI };

		EXPECT_EQ(1, poll(&pfd, 1, 0));
		EXPECT_EQ(0, producer_answer(a.fd, a.page->flush));
		EXPECT_EQ(0, poll(&pfd, 1, 0));
	}
	munmap((void *)a.page, s.chunks_offset);
	close(a.fd);
	END();
	EXPECT_EQ(3, pieces_of(&self->got, s.producer, 1, &next, &causes));
	f.cpu = 0;
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(EINVAL, errno);
	f = (struct tb_flush){ .cpu = -1, .timeout_ms = 1 };
	EXPECT_EQ(-1, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(EINVAL, errno);
}

/* Who goes need not answer. */
TEST_DEV(channel, flush_asks_one_that_goes)
{
	struct tb_flush f = { .cpu = -1, .flags = TB_FLUSH_ASK, .timeout_ms = PATIENCE * 1000 };
	struct tb_producer_setup s;
	struct answerer a = { 0 };
	int pipes[2];
	char byte;
	pid_t pid;

	BEGIN();
	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		struct pollfd pfd = { .events = POLLPRI };

		pfd.fd = open_copying(&s);
		if (pfd.fd < 0 || write(pipes[1], "x", 1) != 1)
			_exit(1);
		poll(&pfd, 1, PATIENCE * 1000);
		_exit(pfd.revents & POLLPRI ? 0 : 2);
	}
	ASSERT_EQ(1, read(pipes[0], &byte, 1));
	EXPECT_EQ(0, ioctl(self->fd, TB_IOC_FLUSH, &f));
	EXPECT_EQ(0, wait_for(pid));
	/* somebody who waits can be interrupted, or killed */
	a.fd = open_copying(&s);
	pid = fork();
	if (!pid) {
		ioctl(self->fd, TB_IOC_FLUSH, &f);
		_exit(0);
	}
	for (WAIT(tb_poll(a.fd) & POLLPRI)) {
		struct pollfd pfd = { .fd = a.fd, .events = POLLPRI };

		if (poll(&pfd, 1, 0) == 1)
			break;
	}
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	close(a.fd);
}

TEST_HARNESS_MAIN
