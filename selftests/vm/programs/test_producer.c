// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each program that writes has a channel of its own: its memory counts as the program's, its
 * records have the owner's identity, and its end loses none of them. If a test fails, a program can
 * reach memory or use up limits of others, the trace names the wrong process, or a program's last
 * records are lost.
 */
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "channel.h"

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
	/* the refused calls neither set the channel up nor used it up */
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

/* If the kernel cannot return the result of a setup, there is no channel. */
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
		/* a shorter structure of an earlier version, and none */
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

TEST_DEV(channel, mapping)
{
	size_t page = self->p.setup.chunks_offset, all = self->p.setup.map_bytes;
	size_t chunks = all - page;
	int fd = self->p.fd, rw = PROT_READ | PROT_WRITE;

	EXPECT_EQ(0, map_error(fd, page, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(0, map_error(fd, chunks, rw, MAP_SHARED, page));
	EXPECT_EQ(0, map_error(fd, chunks, PROT_READ, MAP_SHARED, page));
	/* never the page for writing, chunks for executing, or private mappings */
	EXPECT_EQ(EPERM, map_error(fd, page, rw, MAP_SHARED, 0));
	EXPECT_EQ(EPERM, map_error(fd, page, PROT_READ, MAP_PRIVATE, 0));
	EXPECT_EQ(EPERM, map_error(fd, chunks, rw, MAP_PRIVATE, page));
	EXPECT_EQ(EPERM, map_error(fd, chunks, rw | PROT_EXEC, MAP_SHARED, page));
	/* nor a part, nor more than there is */
	EXPECT_EQ(EINVAL, map_error(fd, all, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(EINVAL, map_error(fd, chunks - page, rw, MAP_SHARED, page));
	EXPECT_EQ(EINVAL, map_error(fd, chunks + page, rw, MAP_SHARED, page));
	EXPECT_EQ(EINVAL, map_error(fd, chunks, rw, MAP_SHARED, 2 * page));
	EXPECT_EQ(EINVAL, map_error(fd, chunks, rw, MAP_SHARED, all));
	EXPECT_NE(0, map_error(fd, chunks, rw, MAP_SHARED, 1ul << 62));
	/* nor by a later change */
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

	/* debuggers write to read-only memory this way */
	EXPECT_EQ(-1, pwrite(fd, &word, sizeof(word), (uintptr_t)&self->p.page->producer));
	EXPECT_EQ(self->p.setup.producer, self->p.page->producer);
	/* a page that the program gives up is gone, and no other memory is there */
	EXPECT_EQ(0, madvise((void *)self->p.page, page, MADV_DONTNEED));
	EXPECT_EQ(-1, pread(fd, &word, sizeof(word), (uintptr_t)&self->p.page->producer));
	close(fd);
}

static sigjmp_buf fault;

static void on_fault(int sig)
{
	siglongjmp(fault, 1);
}

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
	/* the end of the child does not end the channel */
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 5));
	END();
	EXPECT_WHOLE(1, 5);
}

/*
 * Runs when this program is executed with the fd of a channel, see the test below: no call works.
 */
static __attribute__((constructor)) void executed(void)
{
	const char *number = getenv("TEST_PRODUCER_FD");
	struct tb_commit m = { 0 };
	int fd = number ? atoi(number) : -1;

	if (!number)
		return;
	if (producer_target(fd, "kernel") != -EPERM || producer_commit(fd, &m) != -EPERM)
		_exit(2);
	if (map_error(fd, 4096, PROT_READ, MAP_SHARED, 0) != EPERM || !(tb_poll(fd) & POLLERR))
		_exit(3);
	_exit(0);
}

TEST_DEV(channel, another_program_has_nothing_of_it)
{
	struct tb_producer_info info;
	uint64_t next;
	uint32_t id = 0, causes;
	char number[16];
	int pipes[2];
	pid_t pid;

	BEGIN();
	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		struct producer p;

		if (producer_open(&p, "kernel", 1024, 4) || producer_writer(p.fd, 1, 0, 0, 0))
			_exit(1);
		chunk_fill(&p, chunk_begin(&p, 2, 1, 0, 0), 4);
		if (write(pipes[1], &p.setup.producer, 4) != 4)
			_exit(1);
		snprintf(number, sizeof(number), "%d", p.fd);
		setenv("TEST_PRODUCER_FD", number, 1);
		fcntl(p.fd, F_SETFD, 0);
		execl("/proc/self/exe", "test_producer", NULL);
		_exit(4);
	}
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_EQ(4, read(pipes[0], &id, 4));
	/* the channel ended with the program, and its published records are there */
	EXPECT_EQ(-ENOENT, info_at(self->fd, 1, &info));
	END();
	EXPECT_EQ(4, pieces_of(&self->got, id, 1, &next, &causes));
}

/* Returns the error of a setup with @chunks in an unprivileged process that may lock @kib. */
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

	/* the channel needs 15 chunks and the page */
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

/* Returns the error of a setup with @chunks of 8 KiB in a control group. */
static int setup_in_group(const char *group, uint32_t chunks)
{
	struct tb_producer_setup s = { .chunk_bytes = 8192, .chunks = chunks };
	char path[64], pid_text[16];
	pid_t pid = fork();

	if (!pid) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", group);
		snprintf(pid_text, sizeof(pid_text), "%d", getpid());
		if (!write_file(path, pid_text))
			_exit(255);
		_exit(-producer_setup(producer_open_node(), &s));
	}
	return wait_for(pid);
}

/* The memory counts for the control group, also for users that may lock any amount. */
TEST_DEV(channel, memory_counts_as_the_groups)
{
	char dir[] = "/tmp/cgroup.XXXXXX", group[64], path[96];

	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(group, sizeof(group), "%s/producer", dir);
	if (mount("none", dir, "cgroup2", 0, NULL)) {
		rmdir(dir);
		SKIP(return, "no control groups: %s", strerror(errno));
	}
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	if (!write_file(path, "+memory")) {
		umount(dir);
		rmdir(dir);
		SKIP(return, "no control groups for memory");
	}
	ASSERT_EQ(0, mkdir(group, 0700));
	snprintf(path, sizeof(path), "%s/memory.max", group);
	EXPECT_TRUE(write_file(path, "4M"));
	EXPECT_EQ(0, setup_in_group(group, 64));
	EXPECT_EQ(ENOMEM, setup_in_group(group, 1024));
	EXPECT_EQ(0, setup_in_group(group, 64));
	for (WAIT(!rmdir(group)))
		;
	EXPECT_EQ(0, umount(dir));
	rmdir(dir);
}

/* Sets up channels until one fails; returns how many, and the error in *@error. */
static int setup_all(int most, int *error)
{
	struct tb_producer_setup s;
	int i;

	for (i = 0; i < most; i++) {
		s = (struct tb_producer_setup){ .chunk_bytes = 256, .chunks = 2 };
		*error = producer_setup(producer_open_node(), &s);
		if (*error)
			return i;
	}
	return most;
}

/* The same in children that end. This process keeps their files, and so the memory. */
static int setup_by_others(int most, int *error)
{
	struct tb_producer_setup s = { .chunk_bytes = 256, .chunks = 2 };
	pid_t pid;
	int i, fd;

	for (i = 0; i < most; i++) {
		fd = producer_open_node();
		pid = fork();
		if (!pid)
			_exit(-producer_setup(fd, &s));
		*error = -wait_for(pid);
		if (*error)
			return i;
	}
	return most;
}

static uint32_t per_user(void)
{
	FILE *f = fopen("/sys/module/tracebuf/parameters/producers_per_user", "r");
	uint32_t n = 0;

	if (!f || fscanf(f, "%u", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

#define NO_NAMESPACES	253

/* Returns 0 if user @uid can set up @most channels, and one more fails with @wanted. */
static int setup_as(uid_t uid, bool namespace, int most, int wanted,
		    int (*set_up)(int most, int *error))
{
	struct rlimit files = { 2048, 2048 }, locked = { 64 << 20, 64 << 20 };
	pid_t pid = fork();
	int error;

	if (!pid) {
		if (setrlimit(RLIMIT_NOFILE, &files) || setrlimit(RLIMIT_MEMLOCK, &locked))
			_exit(255);
		if (uid && setresuid(uid, uid, uid))
			_exit(254);
		if (namespace && unshare(CLONE_NEWUSER))
			_exit(NO_NAMESPACES);
		if (set_up(most + 1, &error) != most)
			_exit(1);
		_exit(error == -wanted ? 0 : 2);
	}
	return wait_for(pid);
}

TEST_DEV(channel, not_all_of_them_are_one_users)
{
	uint32_t most = per_user();
	int ret;

	ASSERT_LT(0, most);
	ASSERT_LT(most, TB_PRODUCERS_MAX);
	ASSERT_EQ(0, chmod("/dev/tracebuf_producer", 0666));
	EXPECT_EQ(0, setup_as(4711, false, most, EMFILE, setup_all));
	EXPECT_EQ(0, setup_as(4711, false, most, EMFILE, setup_by_others));
	/* in a user namespace a user has all capabilities and any user id */
	ret = setup_as(4711, true, most, EMFILE, setup_all);
	if (ret == NO_NAMESPACES)
		TH_LOG("this kernel has no user namespaces");
	else
		EXPECT_EQ(0, ret);
	/* the fixture has one */
	EXPECT_EQ(0, setup_as(0, false, TB_PRODUCERS_MAX - 1, ENFILE, setup_all));
	ASSERT_EQ(0, chmod("/dev/tracebuf_producer", 0600));
}

/* ---- identity --------------------------------------------------------- */

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
	for (i = 10; i < 12; i++) {
		EXPECT_EQ(0, chunk_write(&self->p, 0, i, 0, 0, 1));
	}
	__atomic_store_n(&t.end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	/* the thread may still be ending */
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

/* Pieces have the real user id, even if the effective one opened the device. */
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

/*
 * A process dies in the middle of a chunk, and a child still has the file: the channel ends all the
 * same, and its published records are in the trace.
 */
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
	/* waitpid() returns after the last thread has closed its files */
	EXPECT_EQ(-ENOENT, info_at(self->fd, 1, &info));
	END();
	EXPECT_EQ(7, pieces_of(&self->got, id, 1, &next, &causes));
	EXPECT_EQ(TB_CLOCK_MONO | TB_CHUNK_SCRAPED | TB_CHUNK_HOLES,
		  self->got.piece[self->got.nr - 1].e.flags);
	close(heir[1]);
}

struct own_files {
	pid_t tid;
	bool ok;
};

static void *with_files_of_its_own(void *arg)
{
	struct own_files *own = arg;

	own->tid = syscall(SYS_gettid);
	own->ok = !unshare(CLONE_FILES);
	return NULL;
}

/* A thread with files of its own closes them when it ends: the channel goes on. */
TEST_DEV(channel, a_thread_with_files_of_its_own)
{
	struct own_files own = { 0 };
	char path[64];
	pthread_t thread;

	BEGIN();
	ASSERT_EQ(0, pthread_create(&thread, NULL, with_files_of_its_own, &own));
	pthread_join(thread, NULL);
	EXPECT_TRUE(own.ok);
	/* pthread_join() returns before the thread has closed its files */
	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)own.tid);
	for (WAIT(access(path, F_OK)))
		;
	EXPECT_NE(0, access(path, F_OK));
	EXPECT_EQ(0, chunk_write(&self->p, 0, 1, 0, 0, 5));
	END();
	EXPECT_WHOLE(1, 5);
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

TEST_HARNESS_MAIN
