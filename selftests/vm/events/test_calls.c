// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event of a system call has as many arguments as the call, and the text that they point to, as
 * far as that can be read without waiting. If a test fails, a trace names files that the program
 * did not, or the recorder reads memory that it must not.
 */
#include <limits.h>
#include <linux/memfd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tbtest.h"

#define FIELDS	64		/* bytes before the texts */
#define TEXT	256		/* of a text, at most */

DEVICE_FIXTURE(calls)

/* The last call of one number by this thread. */
struct call {
	struct stream *s;
	int64_t number;
	pid_t tid;
	unsigned int count, returns, simple;
	uint32_t length;
	uint64_t args[6];
	uint32_t bytes[2];
	char text[2][TEXT];
	bool wrong;
};

static void see(void *ctx, const struct stream_event *e)
{
	struct call *c = ctx;
	uint32_t word, at, i;

	/* simple events have no thread: only this one makes calls of 32 bits */
	if (e->id <= TB_EV_CONTROL_LAST || (!e->simple && e->tid != (uint32_t)c->tid))
		return;
	if ((!stream_is(c->s, e, "sys_enter") && !stream_is(c->s, e, "sys_exit")) ||
	    stream_value(c->s, e, "id") != c->number)
		return;
	c->simple += e->simple;
	c->returns += stream_is(c->s, e, "sys_exit");
	if (stream_is(c->s, e, "sys_exit"))
		return;
	c->count++;
	if (e->simple)
		return;
	c->length = e->length;
	memset(c->args, 0, sizeof(c->args));
	memcpy(c->args, e->payload + 8, e->length < FIELDS - 8 ? e->length - 8u : sizeof(c->args));
	for (i = 0; i < 2; i++) {
		c->bytes[i] = 0;
		if (e->length < FIELDS)
			continue;
		memcpy(&word, e->payload + 56 + 4 * i, sizeof(word));
		c->bytes[i] = word >> 16;
		at = (word & 0xffff) - 8;
		c->wrong |= word && (at < FIELDS || at + c->bytes[i] > e->length ||
				     c->bytes[i] > TEXT);
		if (word && !c->wrong)
			memcpy(c->text[i], e->payload + at, c->bytes[i]);
	}
	/* no bytes besides */
	if (e->length >= FIELDS)
		c->wrong |= e->length != FIELDS + c->bytes[0] + c->bytes[1];
}

/* Records while @make makes call @nr; @c has the recorded call then. */
#define RECORD(c, nr, make)						\
	do {								\
		*(c) = (struct call){ .s = &self->s, .number = (nr), .tid = gettid() }; \
		self->s.event = see;					\
		self->s.ctx = (c);					\
		ASSERT_EQ(0, tb_start(self->fd, 0));			\
		make;							\
		ASSERT_EQ(0, tb_stop(self->fd));			\
		ASSERT_STREAM(tb_drain(self->fd, &self->s), &self->s);	\
		ASSERT_STREAM(stream_finish(&self->s), &self->s);	\
		EXPECT_EQ(1, (c)->count);				\
		EXPECT_EQ(1, (c)->returns);				\
		EXPECT_FALSE((c)->wrong);				\
		stream_free(&self->s);					\
		stream_init(&self->s);					\
	} while (0)

#define CALL(c, name, ...) RECORD(c, SYS_##name, syscall(SYS_##name, ##__VA_ARGS__))

static int prepare(int fd)
{
	int err = tb_configure(fd, TB_MODE_STREAMING, TB_POLICY_DROP, 64, 1024);

	return err ? err : tb_enable(fd, "raw_syscalls") != 2;
}

TEST_DEV(calls, as_many_arguments_as_the_call_has)
{
	struct call c;

	ASSERT_EQ(0, prepare(self->fd));
	CALL(&c, getppid);
	EXPECT_EQ(8, c.length);
	CALL(&c, close, 12345);
	EXPECT_EQ(16, c.length);
	EXPECT_EQ(12345, c.args[0]);
	CALL(&c, read, 12345, 0x678, 9);
	EXPECT_EQ(32, c.length);
	EXPECT_EQ(12345, c.args[0]);
	EXPECT_EQ(0x678, c.args[1]);
	EXPECT_EQ(9, c.args[2]);
	CALL(&c, mmap, 0x10000, 1, 2, 3, 12345, 1ul << 63 | 0x1000);
	EXPECT_EQ(56, c.length);
	EXPECT_EQ(0x10000, c.args[0]);
	EXPECT_EQ(12345, c.args[4]);
	EXPECT_EQ(1ul << 63 | 0x1000, c.args[5]);
	/* for an unknown call: as many as a call can have */
	RECORD(&c, 1000, syscall(1000, 1, 2, 3, 4, 5, 6));
	EXPECT_EQ(56, c.length);
	EXPECT_EQ(6, c.args[5]);
}

TEST_DEV(calls, text_of_arguments)
{
	char path[] = "/nowhere/first", second[] = "second", empty[] = "";
	char longer[2 * TEXT];
	struct call c;

	ASSERT_EQ(0, prepare(self->fd));
	CALL(&c, openat, AT_FDCWD, path, O_RDONLY);
	EXPECT_EQ(sizeof(path), c.bytes[0]);
	EXPECT_STREQ(path, c.text[0]);
	EXPECT_EQ(0, c.bytes[1]);
	EXPECT_EQ((uintptr_t)path, c.args[1]);
	CALL(&c, renameat, -1, path, -1, second);
	EXPECT_STREQ(path, c.text[0]);
	EXPECT_EQ(sizeof(second), c.bytes[1]);
	EXPECT_STREQ(second, c.text[1]);
	CALL(&c, memfd_create, second, ~0u);
	EXPECT_STREQ(second, c.text[0]);
	CALL(&c, openat, -1, empty, 0);
	EXPECT_EQ(1, c.bytes[0]);
	/* cut, and so without its end */
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CALL(&c, openat, -1, longer, 0);
	EXPECT_EQ(TEXT, c.bytes[0]);
	EXPECT_EQ(0, memcmp(c.text[0], longer, TEXT));
	longer[TEXT - 1] = 0;
	CALL(&c, openat, -1, longer, 0);
	EXPECT_EQ(TEXT, c.bytes[0]);
	EXPECT_STREQ(longer, c.text[0]);
}

TEST_DEV(calls, addresses_of_sockets)
{
	struct sockaddr_in four = {
		.sin_family = AF_INET, .sin_port = htons(5432),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct sockaddr_in6 six = {
		.sin6_family = AF_INET6, .sin6_port = htons(80), .sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/socket" };
	char raw[sizeof(un) + 8] = { 0 };
	struct call c;

	ASSERT_EQ(0, prepare(self->fd));
	CALL(&c, connect, -1, &four, sizeof(four));
	EXPECT_STREQ("127.0.0.1:5432", c.text[0]);
	EXPECT_EQ(sizeof("127.0.0.1:5432"), c.bytes[0]);
	EXPECT_EQ(0, c.bytes[1]);
	EXPECT_EQ((uintptr_t)&four, c.args[1]);
	CALL(&c, bind, -1, &six, sizeof(six));
	EXPECT_STREQ("[::1]:80", c.text[0]);
	/* the kernel takes it without the scope */
	CALL(&c, bind, -1, &six, sizeof(six) - sizeof(six.sin6_scope_id));
	EXPECT_STREQ("[::1]:80", c.text[0]);
	CALL(&c, connect, -1, &un, sizeof(un));
	EXPECT_STREQ("/run/socket", c.text[0]);
	/* without a NUL, the length ends the path */
	CALL(&c, connect, -1, &un, offsetof(struct sockaddr_un, sun_path) + 4);
	EXPECT_STREQ("/run", c.text[0]);
	memset(un.sun_path, 'x', sizeof(un.sun_path));
	CALL(&c, connect, -1, &un, sizeof(un));
	EXPECT_EQ(sizeof(un.sun_path) + 1, c.bytes[0]);
	/* longer than an address can be */
	memcpy(raw, &un, sizeof(un));
	memset(raw + sizeof(un), 'y', sizeof(raw) - sizeof(un));
	CALL(&c, connect, -1, raw, sizeof(raw));
	EXPECT_EQ(sizeof(un.sun_path) + 1, c.bytes[0]);
	/* an abstract name may have a NUL anywhere */
	memcpy(un.sun_path, "\0a\0b", 4);
	CALL(&c, connect, -1, &un, offsetof(struct sockaddr_un, sun_path) + 4);
	EXPECT_STREQ("@a@b", c.text[0]);
	/* no address, or not a whole one */
	CALL(&c, bind, -1, &un, offsetof(struct sockaddr_un, sun_path));
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, connect, -1, &four, sizeof(four) - 1);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, connect, -1, &six, sizeof(six) - sizeof(six.sin6_scope_id) - 1);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, connect, -1, &four, 1);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, connect, -1, &four, -1);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, connect, -1, NULL, sizeof(four));
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, connect, -1, ~0ul << 47, sizeof(four));
	EXPECT_EQ(0, c.bytes[0]);
	four.sin_family = AF_UNSPEC;
	CALL(&c, connect, -1, &four, sizeof(four));
	EXPECT_EQ(0, c.bytes[0]);
	EXPECT_EQ(FIELDS, c.length);
}

TEST_DEV(calls, files_that_poll_waits_for)
{
	struct pollfd files[9] = { { .fd = 3 }, { .fd = -1 }, { .fd = INT32_MIN } };
	struct timespec none = { 0 };
	struct call c;

	ASSERT_EQ(0, prepare(self->fd));
	CALL(&c, poll, files, 1, 0);
	EXPECT_STREQ("3", c.text[0]);
	EXPECT_EQ(2, c.bytes[0]);
	EXPECT_EQ((uintptr_t)files, c.args[0]);
	CALL(&c, ppoll, files, 3, &none, NULL, 8);
	EXPECT_STREQ("3 -1 -2147483648", c.text[0]);
	CALL(&c, poll, files, 8, 0);
	EXPECT_STREQ("3 -1 -2147483648 0 0 0 0 0", c.text[0]);
	CALL(&c, poll, files, 9, 0);
	EXPECT_STREQ("3 -1 -2147483648 0 0 0 0 0 ...", c.text[0]);
	CALL(&c, poll, files, ~0u, 0);
	EXPECT_STREQ("3 -1 -2147483648 0 0 0 0 0 ...", c.text[0]);
	CALL(&c, poll, files, 0, 0);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, poll, NULL, 1, 0);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, poll, ~0ul << 47, 1, 0);
	EXPECT_EQ(0, c.bytes[0]);
	EXPECT_EQ(FIELDS, c.length);
}

TEST_DEV(calls, files_that_select_waits_for)
{
	unsigned long in[32] = { 0 }, out[32] = { 0 }, except[32] = { 0 };
	struct timespec none = { 0 };
	struct timeval now = { 0 };
	struct call c;

	ASSERT_EQ(0, prepare(self->fd));
	in[0] = 1 << 3 | 1ul << 63;
	CALL(&c, select, 4, in, NULL, NULL, &now);
	EXPECT_STREQ("3r", c.text[0]);
	EXPECT_EQ(3, c.bytes[0]);
	EXPECT_EQ(4, c.args[0]);
	EXPECT_EQ((uintptr_t)in, c.args[1]);
	in[0] = 1 << 3 | 1 << 5 | 1ul << 63;
	out[0] = 1 << 5;
	except[1] = 1;
	CALL(&c, pselect6, 65, in, out, except, &none, NULL);
	EXPECT_STREQ("3r 5rw 63r 64x", c.text[0]);
	/* a set may have more files than the call is to wait for */
	CALL(&c, select, 64, in, out, except, &now);
	EXPECT_STREQ("3r 5rw 63r", c.text[0]);
	CALL(&c, select, 3, in, out, except, &now);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, select, 2048, NULL, NULL, except, &now);
	EXPECT_STREQ("64x", c.text[0]);
	CALL(&c, select, INT_MAX, NULL, NULL, except, &now);
	EXPECT_STREQ("64x ...", c.text[0]);
	in[0] = 0xff00;
	CALL(&c, select, 64, in, NULL, NULL, &now);
	EXPECT_STREQ("8r 9r 10r 11r 12r 13r 14r 15r", c.text[0]);
	in[0] = 0x1ff00;
	CALL(&c, select, 64, in, NULL, NULL, &now);
	EXPECT_STREQ("8r 9r 10r 11r 12r 13r 14r 15r ...", c.text[0]);
	CALL(&c, select, 0, NULL, NULL, NULL, &now);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, select, 64, NULL, NULL, NULL, &now);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, select, -1, in, NULL, NULL, &now);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, select, 64, in, ~0ul << 47, NULL, &now);
	EXPECT_EQ(0, c.bytes[0]);
	EXPECT_EQ(FIELDS, c.length);
}

TEST_DEV(calls, text_that_cannot_be_read)
{
	long page = sysconf(_SC_PAGESIZE);
	struct call c;
	char *memory;

	ASSERT_EQ(0, prepare(self->fd));
	memory = mmap(NULL, (size_t)(3 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	ASSERT_NE(MAP_FAILED, memory);
	ASSERT_EQ(0, munmap(memory + page, (size_t)page));
	/* never touched: reading it would have to wait for memory */
	CALL(&c, openat, -1, memory + 2 * page, 0);
	EXPECT_EQ(0, c.bytes[0]);
	EXPECT_EQ(FIELDS, c.length);
	/* the first call has touched it */
	CALL(&c, openat, -1, memory + 2 * page, 0);
	EXPECT_EQ(1, c.bytes[0]);
	/* a text that runs into missing memory, and one that ends just before */
	memcpy(memory + page - 4, "abcd", 4);
	CALL(&c, openat, -1, memory + page - 4, 0);
	EXPECT_EQ(0, c.bytes[0]);
	memory[page - 1] = 0;
	CALL(&c, openat, -1, memory + page - 4, 0);
	EXPECT_STREQ("abc", c.text[0]);
	CALL(&c, openat, -1, NULL, 0);
	EXPECT_EQ(0, c.bytes[0]);
	/* addresses of the kernel */
	CALL(&c, openat, -1, 0xffff888000001000ul, 0);
	EXPECT_EQ(0, c.bytes[0]);
	CALL(&c, openat, -1, ~0ul, 0);
	EXPECT_EQ(0, c.bytes[0]);
	/* of two texts only the first, only the second */
	CALL(&c, renameat, -1, "here", -1, NULL);
	EXPECT_STREQ("here", c.text[0]);
	EXPECT_EQ(0, c.bytes[1]);
	CALL(&c, renameat, -1, NULL, -1, "there");
	EXPECT_EQ(0, c.bytes[0]);
	EXPECT_STREQ("there", c.text[1]);
}

#ifdef __x86_64__
static void not_there(int signal)
{
	(void)signal;
	_exit(1);
}

/* Number 21 takes the name of a file in calls of 64 bits (access), but not in those of 32. */
static long call_of_32_bits(const char *low)
{
	long result;

	asm volatile("int $0x80" : "=a"(result) : "a"(21), "b"(low), "c"(0), "d"(0), "S"(0), "D"(0)
		     : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static bool has_calls_of_32_bits(void)
{
	int status;

	if (!fork()) {
		signal(SIGSEGV, not_there);
		call_of_32_bits(NULL);
		_exit(0);
	}
	wait(&status);
	return !status;
}

TEST_DEV(calls, calls_of_32_bits)
{
	struct call c;
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	ASSERT_NE(MAP_FAILED, low);
	strcpy(low, "low");
	if (!has_calls_of_32_bits())
		SKIP(return, "this kernel has no system calls of 32 bits");
	ASSERT_EQ(0, prepare(self->fd));
	RECORD(&c, 21 + TB_CALL_COMPAT, call_of_32_bits(low));
	EXPECT_EQ(56, c.length);
	EXPECT_EQ((uintptr_t)low, c.args[0]);
}

TEST_DEV(calls, compact_calls_of_32_bits)
{
	struct tb_event_info info = { 0 };
	struct tb_rule rule = { .rate = 1000000 };
	struct call c;

	if (!has_calls_of_32_bits())
		SKIP(return, "this kernel has no system calls of 32 bits");
	ASSERT_EQ(0, tb_configure(self->fd, TB_MODE_STREAMING, TB_POLICY_DROP, 64, 1024));
	ASSERT_EQ(2, tb_select(self->fd, TB_SELECT_ENABLE, "raw_syscalls", TB_FORM_COMPACT));
	/* without switches all events are recorded in the wide form */
	ASSERT_EQ(1, tb_select(self->fd, TB_SELECT_ENABLE, "sched_switch", TB_FORM_COMPACT));
	RECORD(&c, 21 + TB_CALL_COMPAT, call_of_32_bits(NULL));
	EXPECT_EQ(2, c.simple);
	/* with a rule the compact probe of sys_enter leaves the event to the wide one */
	for (; strcmp(info.name, "sys_enter"); rule.index = info.index++)
		ASSERT_EQ(0, ioctl(self->fd, TB_IOC_EVENT, &info));
	ASSERT_EQ(0, ioctl(self->fd, TB_IOC_RULE, &rule));
	RECORD(&c, 21 + TB_CALL_COMPAT, call_of_32_bits(NULL));
	EXPECT_EQ(1, c.simple);
}
#endif

TEST_HARNESS_MAIN
