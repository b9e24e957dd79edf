// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the number of a file stands for is known from the calls that open, copy and close files, and
 * is not known rather than wrong: after exec, after losses, when a number is used again.  If this
 * is broken, `why` names a file that the thread never waited for.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "analysis/files.h"
#include "test_lib_fixture.h"

#define EV_ENTER 100
#define EV_EXIT 102

static struct fx fx;
static uint64_t now;
static const char *expected[64];
static unsigned int nr_expected;

static void begin(uint32_t tid, int64_t call, uint64_t first, uint64_t second, uint64_t third,
		  const char *path)
{
	struct { int64_t id; uint64_t args[6]; uint32_t path[2]; char text[300]; } event = {
		.id = call, .args = { first, second, third },
	};
	size_t bytes = path ? strlen(path) + 1 : 0;

	if (path) {
		event.path[0] = (uint32_t)bytes << 16 | (64 + 8);
		memcpy(event.text, path, bytes);
	}
	assert(fx_composite(&fx, 0, EV_ENTER, now += 10, tid, &event, path ? 64 + bytes : 32));
}

static void end(uint32_t tid, int64_t result)
{
	int64_t event[] = { 0, result };

	assert(fx_composite(&fx, 0, EV_EXIT, now += 10, tid, event, sizeof(event)));
}

static void call(uint32_t tid, int64_t number, uint64_t first, uint64_t second, uint64_t third,
		 const char *path, int64_t result)
{
	begin(tid, number, first, second, third, path);
	end(tid, result);
}

/* A call of which this is to be known */
static void expect(uint32_t tid, int64_t number, uint64_t first, const char *name)
{
	assert(nr_expected < 64);
	expected[nr_expected++] = name;
	/* the mark of a call that is looked at */
	begin(tid, number, first, 4711, 0, NULL);
	end(tid, -11);
}

#define READS(tid, fd, name) expect(tid, SYS_read, fd, name)
#define OPEN(tid, path, flags, result) call(tid, SYS_openat, AT_FDCWD, 5, flags, path, result)

static void describe(void)
{
	static const struct fx_field enter[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "args", "unsigned long", 8, 48, 6, TB_FIELD_ARRAY, 0, 0 },
		{ "path", "char", 56, 4, 0, TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
	}, exit[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "ret", "long", 8, 8, 0, TB_FIELD_SIGNED, 0, 0 },
	};

	fx_init(&fx, 14, 1000);
	fx_describe(&fx, EV_ENTER, TB_EVENT_SYSCALL | TB_EVENT_SHORT, "raw_syscalls", "sys_enter",
		    enter, 3);
	fx_describe(&fx, EV_EXIT, TB_EVENT_SYSCALL, "raw_syscalls", "sys_exit", exit, 2);
	fx_sync(&fx, 1000, 1000);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "one");
	fx_thread(&fx, 101, 100, 1, TB_THREAD_DUMP, "other");
	nr_expected = 0;
	now = 2000;
}

static void fork_at(uint64_t time, uint32_t parent, uint32_t child)
{
	struct tb_thread thread = {
		.tid = child, .tgid = child, .parent = parent, .flags = TB_THREAD_FORK,
	};

	fx_durable_at(&fx, time, TB_EV_THREAD, &thread, sizeof(thread));
}

/* Go through the trace; each call with the mark has to be about what is expected */
static void judge(void)
{
	const struct tb_format_field *args;
	struct tb_trace *trace;
	struct files *files;
	struct tb_cursor *cursor;
	struct tb_view view;
	const char *name;
	unsigned int seen = 0;
	uint64_t mark;

	assert(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	files = files_open(trace);
	assert(files && !tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) == 1) {
		assert(!files_take(files, &view, view.ticks));
		args = view.kind == TB_VIEW_EVENT && view.id == EV_ENTER ?
		       tb_format_field(view.format, "args") : NULL;
		if (!args || tb_field_item(&view, args, 1, &mark) || mark != 4711)
			continue;
		name = files_name(files, files_of_call(files, view.tid, view.ticks));
		CHECK_TEXT(name ? name : "", expected[seen]);
		seen++;
	}
	CHECK_NUMBER(seen, nr_expected);
	tb_cursor_close(cursor);
	files_close(files);
	tb_trace_close(trace);
	fx_free(&fx);
}

static void opened_and_closed(void)
{
	char long_path[290];

	memset(long_path, 'a', sizeof(long_path));
	memcpy(long_path + sizeof(long_path) - 6, "/tail", 6);
	describe();
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	READS(100, 3, "");
	OPEN(100, "/etc/passwd", O_RDONLY, 3);
	READS(100, 3, "of /etc/passwd");
	/* the threads of a process have the same files */
	READS(101, 3, "of /etc/passwd");
	OPEN(100, "/nowhere", O_RDONLY, -2);
	OPEN(101, "re\x1b[m", O_RDONLY, 4);
	READS(100, 4, "of re?[m");
	call(100, SYS_dup2, 4, 3, 0, NULL, 3);
	READS(100, 3, "of re?[m");
	call(100, SYS_fcntl, 3, F_DUPFD, 10, NULL, 10);
	READS(100, 10, "of re?[m");
	call(100, SYS_close, 3, 0, 0, NULL, 0);
	READS(100, 3, "");
	/* somebody else gets the number while it is closed */
	begin(100, SYS_close, 4, 0, 0, NULL);
	OPEN(101, "/new", O_RDONLY, 4);
	end(100, 0);
	READS(100, 4, "of /new");
	call(100, SYS_socket, AF_INET, SOCK_STREAM, 0, NULL, 5);
	READS(100, 5, "of a socket (AF_INET)");
	call(100, SYS_accept4, 5, 0, 0, NULL, 6);
	READS(100, 6, "of a socket (AF_INET)");
	/* text that was not there when the call began */
	call(100, SYS_openat, AT_FDCWD, 5, 0, NULL, 6);
	READS(100, 6, "");
	call(100, SYS_close_range, 4, 5, 0, NULL, 0);
	READS(100, 4, "");
	OPEN(100, long_path, O_RDONLY, 7);
	fx_close(&fx, 0);
	judge();
}

static void other_processes(void)
{
	describe();
	fork_at(2105, 100, 200);
	fork_at(2505, 200, 300);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	OPEN(100, "/kept", O_RDONLY, 3);
	OPEN(100, "/gone", O_RDONLY | O_CLOEXEC, 4);
	OPEN(100, "/set", O_RDONLY, 5);
	call(100, SYS_fcntl, 5, F_SETFD, FD_CLOEXEC, NULL, 0);
	now = 2110;
	/* the child has what the parent had then */
	OPEN(100, "/later", O_RDONLY, 6);
	READS(200, 3, "of /kept");
	READS(200, 6, "");
	call(200, SYS_close, 3, 0, 0, NULL, 0);
	READS(100, 3, "of /kept");
	call(100, SYS_execve, 0, 0, 0, "/bin/sh", 0);
	READS(100, 3, "of /kept");
	READS(100, 4, "");
	READS(100, 5, "");
	READS(200, 4, "of /gone");
	/* a child that shares files: which it closes is not known */
	now = 2490;
	begin(200, SYS_clone, CLONE_FILES | CLONE_VM, 0, 0, NULL);
	now = 2510;
	READS(200, 4, "");
	OPEN(300, "/shared", O_RDONLY, 8);
	READS(300, 8, "");
	READS(300, 4, "");
	fx_close(&fx, 0);
	judge();
}

static void after_a_loss(void)
{
	struct tb_gap gap = { .overwritten = 5, .first = 2100, .last = 2150 };

	describe();
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	OPEN(100, "/before", O_RDONLY, 3);
	expect(100, SYS_futex, 0x7f00, "at 0x7f00");
	fx_close(&fx, 0);
	now = 2200;
	fx_open(&fx, 0, 2200, 100, &gap);
	READS(100, 3, "");
	OPEN(100, "/after", O_RDONLY, 3);
	READS(100, 3, "of /after");
	fx_close(&fx, 0);
	judge();
}

static const struct test tests[] = {
	{ "files: opened, copied, closed", opened_and_closed },
	{ "files: of children, after exec", other_processes },
	{ "files: not known after a loss", after_a_loss },
};

int main(void)
{
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
