// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thousands of senseless calls do no harm. If this fails, a faulty or hostile program with access
 * to the device crashes the kernel, or spoils the recordings of others.
 *
 * Threads that share their files fill the structures of all ioctls of both devices nearly legally,
 * change some bytes, the size or the address, and also open, close, read, map and fork. Only errors
 * of the ABI may occur, counts must always add up, and the device must record afterwards. KASAN and
 * lockdep find other faults.
 *
 * TRACEBUF_CALLS: calls of each thread. TRACEBUF_FUZZ_SECONDS: limit. TRACEBUF_SEED: begins the
 * random numbers. TRACEBUF_RARE: makes calls that wait for all CPUs so many times rarer (1).
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "fuzz_ioctl.h"

#define THREADS		3

static uint32_t accepted[ARRAY_SIZE(commands)], refused[ARRAY_SIZE(commands)];
static uint64_t took_us[ARRAY_SIZE(commands)];	/* sum over all calls */

/* ---- calls ---------------------------------------------------------------- */

static void put_fd(int *at, int fd)
{
	int old = __atomic_exchange_n(at, fd, __ATOMIC_ACQ_REL);

	if (old >= 0)
		close(old);
}

static void open_one(struct fuzzer *f)
{
	enum kind kind = ONE_IN(f, 3) ? PRODUCER : DEVICE;
	int fd = kind == DEVICE ? open("/dev/tracebuf", O_RDWR | O_CLOEXEC | O_NONBLOCK) :
				  open("/dev/tracebuf_producer", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		put_fd(slot(f, kind), fd);
}

/* Errors of the headers, and of the kernel for files and memory. */
static bool known(int err)
{
	static const int errors[] = {
		EPERM, ENOENT, ESRCH, EINTR, ENXIO, E2BIG, EBADF, EAGAIN, ENOMEM, EACCES, EFAULT,
		EBUSY, EEXIST, ENODEV, EINVAL, ENFILE, EMFILE, ENOTTY, ENOSPC, EPIPE, ENODATA,
		EPROTO, EMSGSIZE, EOPNOTSUPP, ETIMEDOUT, EPROTONOSUPPORT, ECANCELED, ESTALE,
		EOVERFLOW, EDQUOT, ENOLCK,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i] == err)
			return true;
	return false;
}

static void judge(struct fuzzer *f, const char *what, long ret)
{
	f->done++;
	if (ret >= 0)
		f->accepted++;
	else if (!known(errno))
		snprintf(f->wrong, sizeof(f->wrong), "%s, call %llu of thread %d: errno %d", what,
			 (unsigned long long)f->done, f->number, errno);
}

/* Changes some bytes. */
static void mutate(struct fuzzer *f, char *arg, size_t size)
{
	uint32_t n = 1 + dice(f) % 3;
	uint64_t value;

	while (n--) {
		value = nasty(f);
		if (ONE_IN(f, 2) && size >= 4)
			memcpy(arg + (dice(f) % (size - 3) & ~3u), &value, 4);
		else if (size)
			arg[dice(f) % size] = value;
	}
}

/* The counts must add up at any time. */
static void look_at_stats(struct fuzzer *f, const struct tb_stats *st)
{
	if (st->attempted != st->delivered + st->overwritten + st->dropped + st->pending)
		snprintf(f->wrong, sizeof(f->wrong),
			 "attempted %llu, delivered %llu, overwritten %llu, dropped %llu, pending %llu",
			 (unsigned long long)st->attempted, (unsigned long long)st->delivered,
			 (unsigned long long)st->overwritten, (unsigned long long)st->dropped,
			 (unsigned long long)st->pending);
}

static void result_of(struct fuzzer *f, const struct command *c, int fd, const void *arg, int ret)
{
	const struct tb_batch *b = arg;

	/* a read of a channel must not wait: the recording may be over */
	if (c->cmd == TB_IOC_FIFO) {
		fcntl(ret, F_SETFL, O_NONBLOCK);
		put_fd(slot(f, CHANNEL), ret);
	} else if (c->cmd == TB_IOC_STATS && mine(f, arg, sizeof(struct tb_stats))) {
		look_at_stats(f, arg);
	} else if (c->cmd == TB_IOC_ACQUIRE && mine(f, arg, sizeof(*b)) &&
		 b->count <= ARRAY_SIZE(f->refs) &&
		 mine(f, (void *)(uintptr_t)b->refs, b->count * sizeof(struct tb_ref))) {
		f->nr_refs = b->count;
		f->holder = fd;
		memcpy(f->refs, (void *)(uintptr_t)b->refs, b->count * sizeof(struct tb_ref));
	}
}

static bool seldom(struct fuzzer *f)
{
	return f->rare > 1 && !ONE_IN(f, f->rare);
}

static const struct command *pick_command(struct fuzzer *f)
{
	const struct command *c;

	do
		c = &PICK(f, commands);
	while (c->waits && seldom(f));
	return c;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static time_t now(void)
{
	return now_us() / 1000000;
}

static void call(struct fuzzer *f)
{
	const struct command *c = pick_command(f);
	size_t size = _IOC_SIZE(c->cmd);
	char filled[1024] = "";
	unsigned int cmd = c->cmd;
	char *arg;
	uint64_t began;
	int ret, fd, err;

	c->fill(f, filled);
	if (ONE_IN(f, 4))
		mutate(f, filled, size);
	if (ONE_IN(f, 25)) {
		size = dice(f) % 600;
		cmd = _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), size);
	}
	/* a flush that asks programs must not wait long: they do not answer */
	if (c->cmd == TB_IOC_FLUSH)
		((struct tb_flush *)filled)->timeout_ms = !!((struct tb_flush *)filled)->flags;
	if (ONE_IN(f, 200))
		cmd = _IOC(dice(f) % 4, ONE_IN(f, 2) ? TB_IOC_MAGIC : dice(f), dice(f), size);
	arg = place(f, size);
	if (mine(f, arg, size))
		memcpy(arg, filled, size);
	fd = __atomic_load_n(slot(f, ONE_IN(f, 50) ? dice(f) % 3 : c->kind), __ATOMIC_ACQUIRE);
	if (c->cmd == TB_IOC_RELEASE && f->nr_refs && !ONE_IN(f, 8))
		fd = f->holder;
	if (fd < 0) {
		open_one(f);
		return;
	}
	began = now_us();
	ret = ioctl(fd, cmd, arg);
	err = errno;
	__atomic_fetch_add(&took_us[c - commands], now_us() - began, __ATOMIC_RELAXED);
	errno = err;
	judge(f, c->name, ret);
	if (cmd != c->cmd)
		return;
	__atomic_fetch_add(ret < 0 ? &refused[c - commands] : &accepted[c - commands], 1,
			   __ATOMIC_RELAXED);
	if (ret >= 0)
		result_of(f, c, fd, arg, ret);
}

/* Configures, enables and starts: random calls hardly ever come in this order. */
static void begin_well(struct fuzzer *f)
{
	int fd = some_device(f);

	if (fd < 0 || seldom(f))
		return;
	tb_stop(fd);
	judge(f, "configure", tb_configure(fd, TB_MODE_CIRCULAR, 0, 4, 64 << dice(f) % 4) ? -1 : 0);
	judge(f, "select", tb_enable(fd, FIRE_EVENT) < 0 ? -1 : 0);
	judge(f, "start", tb_start(fd, TB_START_NO_STATE) ? -1 : 0);
}

static void unmap(struct fuzzer *f, int i)
{
	if (f->maps[i].at && !munmap(f->maps[i].at, f->maps[i].bytes))
		f->maps[i].at = NULL;
}

static void map_one(struct fuzzer *f)
{
	int prot = ONE_IN(f, 4) ? dice(f) % 8 : PROT_READ;
	int flags = ONE_IN(f, 10) ? MAP_PRIVATE : MAP_SHARED, fd, i = dice(f) % MAPS;
	enum kind kind = ONE_IN(f, 3) ? PRODUCER : DEVICE;
	struct tb_query q;
	size_t bytes = PAGE * (1 + dice(f) % 64);
	off_t offset = ONE_IN(f, 3) ? PAGE * (dice(f) % 3) : 0;
	char *at;

	unmap(f, i);
	fd = __atomic_load_n(slot(f, kind), __ATOMIC_ACQUIRE);
	if (fd < 0)
		return;
	if (!ONE_IN(f, 4) && !ioctl(fd, TB_IOC_QUERY, &q)) {
		bytes = q.map_bytes;
		offset = 0;
	}
	at = mmap(FAR(f, 2 + i), bytes, prot, flags, fd, offset);
	judge(f, "mmap", at == MAP_FAILED ? -1 : 0);
	if (at == MAP_FAILED)
		return;
	f->maps[i].at = at;
	f->maps[i].bytes = bytes;
	f->maps[i].whole = kind == DEVICE;
}

/* Tries operations on a mapping, without asking for SIGBUS. */
static void handle_map(struct fuzzer *f)
{
	int i = dice(f) % MAPS;
	size_t bytes = f->maps[i].bytes;
	char *at = f->maps[i].at;

	if (!at)
		return;
	switch (dice(f) % 7) {
	case 0: judge(f, "mprotect", mprotect(at, bytes, dice(f) % 8)); break;
	case 1: judge(f, "mprotect in part", mprotect(at + PAGE, PAGE, PROT_NONE)); break;
	case 2:
		/* refused for the device; elsewhere other memory would take the place */
		if (f->maps[i].whole && bytes > PAGE)
			judge(f, "munmap in part", munmap(at + bytes - PAGE, PAGE));
		break;
	case 3: judge(f, "madvise", madvise(at, bytes, dice(f) % 26)); break;
	case 4: judge(f, "msync", msync(at, bytes, MS_ASYNC)); break;
	case 5: judge(f, "mlock", mlock(at, PAGE)); break;
	case 6: unmap(f, i); break;
	}
}

static void read_one(struct fuzzer *f)
{
	size_t bytes = dice(f) % 5 ? dice(f) % ARENA : dice(f) % 64;
	int fd = __atomic_load_n(slot(f, dice(f) % 3), __ATOMIC_ACQUIRE);
	struct pollfd p = { .fd = fd, .events = dice(f) };
	struct tb_packet packet = { .request = ONE_IN(f, 2) ? TB_FIFO_BUFFER_SAVED : dice(f) % 4,
				    .data32 = dice(f) % 4, .data64 = dice(f) % 10000 };

	if (fd < 0)
		return;
	switch (dice(f) % 3) {
	case 0: judge(f, "read", read(fd, place(f, bytes), bytes)); break;
	case 1: judge(f, "write", write(fd, &packet, ONE_IN(f, 9) ? 15 : 16)); break;
	case 2: judge(f, "poll", poll(&p, 1, 0)); break;
	}
}

static void *fuzz(void *arg)
{
	struct fuzzer *f = arg;
	uint32_t i;
	pid_t pid;

	for (i = 0; i < f->calls && !f->wrong[0] && (i % 64 || now() < f->until); i++) {
		switch (dice(f) % 64) {
		case 0 ... 1: open_one(f); break;
		case 2: put_fd(slot(f, dice(f) % 3), -1); break;
		case 3 ... 4: map_one(f); break;
		case 5 ... 6: handle_map(f); break;
		case 7 ... 10: read_one(f); break;
		case 11: fire(0, 1 + dice(f) % 64); break;
		case 12: pin(dice(f) % 2); break;
		case 14: begin_well(f); break;
		case 13:
			if (!ONE_IN(f, 20))
				break;
			pid = fork();
			if (!pid)
				_exit(0);
			waitpid(pid, NULL, 0);
			break;
		default: call(f);
		}
	}
	for (i = 0; i < MAPS; i++)
		unmap(f, i);
	return NULL;
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 0) : otherwise;
}

static bool prepare(struct fuzzer *f, int number, uint64_t seed, uint32_t calls,
		    uint64_t seconds)
{
	char *at;

	memset(f, 0, sizeof(*f));
	f->number = number;
	at = mmap(FAR(f, 1), ARENA + 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	f->seed = seed * 1000003 + number;
	f->calls = calls;
	f->rare = number_of("TRACEBUF_RARE", 1);
	f->until = now() + seconds;
	f->arena = at + PAGE;
	f->hole = at + PAGE + ARENA;
	f->readonly = f->hole + PAGE;
	return at != MAP_FAILED && !mprotect(f->arena, ARENA, PROT_READ | PROT_WRITE) &&
	       !mprotect(f->readonly, PAGE, PROT_READ);
}

/* Makes the device as new. */
static int cleaned(void)
{
	struct tb_categories clear = { .op = TB_CATEGORY_CLEAR };
	struct tb_rule rules = { .index = TB_RULE_ALL };
	struct tb_quota quota = { 0 };
	struct tb_pids pids = { 0 };
	int fd = tb_open(0), ret;

	if (fd < 0)
		return fd;
	ret = tb_destroy_all(fd);
	ret = ret ?: tb_fresh(fd);
	if (!ret && (ioctl(fd, TB_IOC_RULE, &rules) || ioctl(fd, TB_IOC_PIDS, &pids) ||
		     ioctl(fd, TB_IOC_CATEGORIES, &clear) || ioctl(fd, TB_IOC_QUOTA, &quota)))
		ret = -errno;
	close(fd);
	return ret;
}

static uint32_t seen;

static void see(void *ctx, const struct stream_event *e)
{
	uint32_t number;

	if (is_fired(ctx, e, &number))
		seen += number == seen;
}

FIXTURE(fuzz) {
	int fd;
};

FIXTURE_SETUP(fuzz)
{
	size_t i;

	ASSERT_EQ(0, cleaned());
	for (i = 0; i < FDS; i++)
		fds[i] = -1;
}

FIXTURE_TEARDOWN(fuzz)
{
	EXPECT_EQ(0, cleaned());
}

TEST_DEV(fuzz, calls)
{
	uint32_t calls = number_of("TRACEBUF_CALLS", getenv("TRACEBUF_FULL") ? 100000 : 3400);
	uint64_t seconds = number_of("TRACEBUF_FUZZ_SECONDS", 1000000);
	uint64_t seed = number_of("TRACEBUF_SEED", 1), done = 0, good = 0;
	static struct fuzzer fuzzers[THREADS];
	static struct stream s;
	size_t i, kinds = 0;
	int fd;

	for (i = 0; i < THREADS; i++) {
		ASSERT_TRUE(prepare(&fuzzers[i], i, seed, calls, seconds));
		ASSERT_EQ(0, pthread_create(&fuzzers[i].thread, NULL, fuzz, &fuzzers[i]));
	}
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(fuzzers[i].thread, NULL));
		done += fuzzers[i].done;
		good += fuzzers[i].accepted;
		EXPECT_EQ(0, fuzzers[i].wrong[0]) {
			TH_LOG("%s", fuzzers[i].wrong);
		}
	}
	for (i = 0; i < FDS; i++)
		put_fd(&fds[i], -1);
	TH_LOG("seed %llu: %llu calls, %llu of them accepted", (unsigned long long)seed,
	       (unsigned long long)done, (unsigned long long)good);
	/* the generator knows the structures: each command has succeeded, and failed */
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		TH_LOG("%-10s %7u accepted %7u refused %7llu ms", commands[i].name, accepted[i],
		       refused[i], (unsigned long long)took_us[i] / 1000);
		kinds += accepted[i] && refused[i];
	}
	if (done >= 10000)
		EXPECT_LE(ARRAY_SIZE(commands) - 2, kinds);
	/* the device still records */
	ASSERT_EQ(0, cleaned());
	ASSERT_EQ(0, pin(0));
	fd = tb_open(0);
	ASSERT_LE(0, fd);
	stream_init(&s);
	s.event = see;
	s.ctx = &s;
	ASSERT_EQ(1, tb_enable(fd, FIRE_EVENT));
	ASSERT_EQ(0, tb_start(fd, 0));
	fire(0, 500);
	ASSERT_EQ(0, tb_stop(fd));
	ASSERT_STREAM(tb_drain(fd, &s), &s);
	ASSERT_STREAM(stream_finish(&s), &s);
	EXPECT_EQ(500, seen);
	close(fd);
	stream_free(&s);
}

TEST_HARNESS_MAIN
