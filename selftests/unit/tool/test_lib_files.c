// SPDX-License-Identifier: GPL-2.0-only
/*
 * The analysis names the file behind a file descriptor, or says nothing: after exec, after losses,
 * and when a number is used again it must not guess. It knows files from calls that open, copy and
 * close them, and from what the recorder found open at the start (TB_EV_OPEN_FILE). If this fails,
 * `why` names a file that the thread never waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "analysis/files.h"
#include "test_lib_fixture.h"

#define EV_ENTER 100
#define EV_EXIT 102
#define EV_MARK 103

/* Longer than the allowed inaccuracy between clocks */
#define PAUSE 100000

static struct fx fx;
static struct fx_ring notes;
static struct { struct tb_open_file file; const char *name; } found[16];
static unsigned int nr_found;
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

static void end_of(uint32_t tid, int64_t call, int64_t result)
{
	int64_t event[] = { call, result };

	assert(fx_composite(&fx, 0, EV_EXIT, now += 10, tid, event, sizeof(event)));
}

static void end(uint32_t tid, int64_t result)
{
	end_of(tid, 0, result);
}

static void call(uint32_t tid, int64_t number, uint64_t first, uint64_t second, uint64_t third,
		 const char *path, int64_t result)
{
	begin(tid, number, first, second, third, path);
	end(tid, result);
}

/* A call with file @first: judge() checks that it is named @name */
static void expect_path(uint32_t tid, int64_t number, uint64_t first, const char *path,
			const char *name)
{
	assert(nr_expected < 64);
	expected[nr_expected++] = name;
	/* the second argument marks calls that judge() checks */
	begin(tid, number, first, 4711, 0, path);
	end(tid, -11);
}

static void expect(uint32_t tid, int64_t number, uint64_t first, const char *name)
{
	expect_path(tid, number, first, NULL, name);
}

/* The recorder finds this file open at @time */
static void find_at(uint64_t time, uint32_t pid, uint32_t number, uint16_t flags, const char *name)
{
	assert(nr_found < 16);
	found[nr_found].file = (struct tb_open_file){
		.since = time, .span = 10, .pid = pid, .number = number, .flags = flags,
	};
	found[nr_found++].name = name;
}

/* The recorder finds it now, far from other calls */
static void find(uint32_t pid, uint32_t number, const char *name)
{
	now += PAUSE;
	find_at(now, pid, number, TB_OPEN_FILE_EXEC, name);
	now += PAUSE;
}

static void put_found(void)
{
	unsigned int i;

	memset(&notes, 0, sizeof(notes));
	fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	/* the last first: their order in the file has no meaning */
	for (i = nr_found; i; i--) {
		struct { struct tb_open_file file; char name[64]; } payload = {
			.file = found[i - 1].file,
		};
		size_t bytes = strlen(found[i - 1].name);

		memcpy(payload.name, found[i - 1].name, bytes);
		assert(fx_put_composite(&fx, &notes, TB_EV_OPEN_FILE, 0, 0, 0, &payload,
					sizeof(payload.file) + bytes));
	}
	fx_end(&fx, &notes);
	nr_found = 0;
}

/* judge() checks that the thread's call is named @name now */
static void expect_now(uint32_t tid, const char *name)
{
	static const int64_t nothing[2];

	assert(nr_expected < 64);
	expected[nr_expected++] = name;
	assert(fx_composite(&fx, 0, EV_MARK, now += 10, tid, nothing, sizeof(nothing)));
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
	fx_describe(&fx, EV_MARK, 0, "test", "mark", exit, 2);
	fx_sync(&fx, 1000, 1000);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "one");
	fx_thread(&fx, 101, 100, 1, TB_THREAD_DUMP, "other");
	fx_thread(&fx, 400, 400, 1, TB_THREAD_DUMP, "another");
	nr_expected = 0;
	now = 2000;
}

static void thread_at(uint64_t time, uint32_t parent, uint32_t child, uint16_t flags)
{
	struct tb_thread thread = {
		.tid = child, .tgid = child, .parent = parent, .flags = flags,
	};

	fx_durable_at(&fx, time, TB_EV_THREAD, &thread, sizeof(thread));
}

static void fork_at(uint64_t time, uint32_t parent, uint32_t child)
{
	thread_at(time, parent, child, TB_THREAD_FORK);
}

/* Read the trace; check the name of the file of each marked call */
static void judge(void)
{
	const struct tb_format_field *args;
	struct tb_trace *trace;
	struct files *files;
	struct tb_cursor *cursor;
	struct tb_view view;
	const char *name;
	uint64_t mark, begun[1024] = { 0 };
	unsigned int seen = 0;

	if (nr_found)
		put_found();
	assert(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	files = files_open(trace);
	assert(files && !tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) == 1) {
		assert(!files_take(files, &view, view.ticks));
		args = view.kind == TB_VIEW_EVENT && view.id == EV_ENTER ?
		       tb_format_field(view.format, "args") : NULL;
		if (args)
			begun[view.tid] = view.ticks;
		if (args ? tb_field_item(&view, args, 1, &mark) || mark != 4711 :
		    view.kind != TB_VIEW_EVENT || view.id != EV_MARK)
			continue;
		name = files_name(files, files_of_call(files, view.tid, begun[view.tid]));
		CHECK_TEXT(name ? name : "", expected[seen]);
		seen++;
	}
	CHECK_NUMBER(seen, nr_expected);
	tb_cursor_close(cursor);
	files_close(files);
	tb_trace_close(trace);
	fx_free(&fx);
}

static void start(void)
{
	describe();
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
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
	/* threads of a process share their files */
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
	/* another thread gets the number while the file is being closed */
	begin(100, SYS_close, 4, 0, 0, NULL);
	OPEN(101, "/new", O_RDONLY, 4);
	end(100, 0);
	READS(100, 4, "of /new");
	call(100, SYS_socket, AF_INET, SOCK_STREAM, 0, NULL, 5);
	READS(100, 5, "of a socket (tcp)");
	call(100, SYS_accept4, 5, 0, 0, NULL, 6);
	READS(100, 6, "of a socket (tcp), accepted");
	/* the text was not available when the call began */
	call(100, SYS_openat, AT_FDCWD, 5, 0, NULL, 6);
	READS(100, 6, "");
	call(100, SYS_close_range, 4, 5, 0, NULL, 0);
	READS(100, 4, "");
	OPEN(100, long_path, O_RDONLY, 7);
	fx_close(&fx, 0);
	judge();
}

/* Sockets have the addresses that bind() and connect() gave them */
static void addresses_of_sockets(void)
{
	static char path[108], bound[128], connected[128], accepted[128];

	start();
	call(100, SYS_socket, AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP, NULL, 3);
	call(100, SYS_bind, 3, 0, 28, "[::]:80", -EADDRINUSE);
	READS(100, 3, "of a socket (tcp)");
	call(100, SYS_bind, 3, 0, 28, "[::]:80", 0);
	READS(100, 3, "of tcp [::]:80");
	call(100, SYS_accept, 3, 0, 0, NULL, 4);
	READS(100, 4, "of tcp [::]:80, accepted");
	call(100, SYS_socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0, NULL, 5);
	call(100, SYS_bind, 5, 0, 16, "10.0.0.2:53", 0);
	call(100, SYS_connect, 5, 0, 16, "10.0.0.1:53", 0);
	READS(100, 5, "of udp 10.0.0.2:53 -> 10.0.0.1:53");
	/* another peer, none, and one whose address could not be read */
	call(100, SYS_connect, 5, 0, 16, "10.0.0.9:53", 0);
	READS(100, 5, "of udp 10.0.0.2:53 -> 10.0.0.9:53");
	call(100, SYS_connect, 5, 0, 16, NULL, 0);
	READS(100, 5, "of udp 10.0.0.2:53");
	/* in the call, with the address that it has, and later only if it connected */
	call(100, SYS_socket, AF_INET, SOCK_STREAM, 0, NULL, 6);
	expect_path(100, SYS_connect, 6, "127.0.0.1:5432", "of tcp -> 127.0.0.1:5432");
	call(100, SYS_connect, 6, 0, 16, "127.0.0.1:5432", -ECONNREFUSED);
	READS(100, 6, "of a socket (tcp)");
	call(100, SYS_connect, 6, 0, 16, "127.0.0.1:99", -EINPROGRESS);
	READS(100, 6, "of tcp -> 127.0.0.1:99");
	call(100, SYS_socket, AF_INET, SOCK_RAW, IPPROTO_TCP, NULL, 7);
	READS(100, 7, "of a socket (AF_INET)");
	call(100, SYS_socket, AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, 7);
	READS(100, 7, "of a socket (AF_INET)");
	call(100, SYS_socket, AF_VSOCK, SOCK_STREAM, 0, NULL, 7);
	call(100, SYS_connect, 7, 0, 16, NULL, 0);
	READS(100, 7, "of a socket (AF_VSOCK)");
	/* another file gets the number while one thread connects */
	call(100, SYS_socket, AF_UNIX, SOCK_STREAM, 0, NULL, 8);
	begin(100, SYS_connect, 8, 0, 110, "/run/a");
	call(101, SYS_close, 8, 0, 0, NULL, 0);
	OPEN(101, "/new", O_RDONLY, 8);
	end(100, 0);
	READS(100, 8, "of /new");
	/* another socket, which had the same name */
	call(100, SYS_socket, AF_INET, SOCK_STREAM, 0, NULL, 20);
	begin(100, SYS_connect, 20, 0, 16, "10.0.0.1:1");
	call(101, SYS_close, 20, 0, 0, NULL, 0);
	call(101, SYS_socket, AF_INET, SOCK_STREAM, 0, NULL, 20);
	end(100, 0);
	READS(100, 20, "of a socket (tcp)");
	/* another socket, while the first one accepts */
	call(100, SYS_bind, 20, 0, 16, "10.0.0.1:1", 0);
	begin(100, SYS_accept, 20, 0, 0, NULL);
	call(101, SYS_close, 20, 0, 0, NULL, 0);
	call(101, SYS_socket, AF_INET, SOCK_STREAM, 0, NULL, 20);
	call(101, SYS_bind, 20, 0, 16, "10.0.0.2:2", 0);
	end(100, 21);
	READS(100, 21, "of tcp 10.0.0.1:1, accepted");
	READS(100, 20, "of tcp 10.0.0.2:2");
	/* its file is not known */
	expect_path(100, SYS_connect, 99, "@a", "of a socket -> @a");
	READS(100, 99, "");
	/* texts that do not fit */
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	call(100, SYS_socket, AF_UNIX, SOCK_STREAM, 0, NULL, 9);
	call(100, SYS_bind, 9, 0, 110, path, 0);
	snprintf(bound, sizeof(bound), "of unix %s", path);
	READS(100, 9, bound);
	call(100, SYS_connect, 9, 0, 110, path, 0);
	snprintf(connected, sizeof(connected), "of unix %.49s... -> ...%.60s", path, path);
	READS(100, 9, connected);
	call(100, SYS_accept, 9, 0, 0, NULL, 10);
	snprintf(accepted, sizeof(accepted), "of unix %.49s... ..., accepted", path);
	READS(100, 10, accepted);
	fx_close(&fx, 0);
	judge();
}

/* poll() and select() have the numbers of their files as text */
static void polled_files(void)
{
	static char longer[128], name[64];

	start();
	memset(name, 'n', sizeof(name) - 1);
	OPEN(100, "/in", O_RDONLY, 3);
	OPEN(100, "/out", O_RDONLY, 4);
	OPEN(100, name, O_RDONLY, 5);
	expect_path(100, SYS_poll, 0, "3", "of /in");
	expect_path(100, SYS_ppoll, 0, "3 4", "of /in, /out");
	expect_path(100, SYS_poll, 0, "-1 4", "of /out");
	expect_path(100, SYS_poll, 0, "4 7", "of /out, 7");
	expect_path(100, SYS_poll, 0, "7 8", "");
	expect_path(100, SYS_poll, 0, "-1", "");
	expect_path(100, SYS_poll, 0, NULL, "");
	expect_path(100, SYS_select, 0, "3r 4w 7rwx", "of /in, /out, 7");
	expect_path(100, SYS_pselect6, 0, "4rw ...", "of /out, ...");
	expect_path(100, SYS_select, 0, "4y", "");
	OPEN(100, "/zero", O_RDONLY, 0);
	expect_path(100, SYS_poll, 0, "4 7 ...", "of /out, 7, ...");
	expect_path(100, SYS_poll, 0, "7 ...", "");
	snprintf(longer, sizeof(longer), "of %s, %.55s...", name, name);
	expect_path(100, SYS_poll, 0, "5 5 3", longer);
	/* a hostile recording */
	expect_path(100, SYS_poll, 0, "x 4294967299  %s 3y", "");
	fx_close(&fx, 0);
	judge();
}

/* Some calls wait for something that has no file, named by their arguments */
static void waits_without_a_file(void)
{
	start();
	expect(100, SYS_wait4, 17, "of process 17");
	expect(100, SYS_wait4, (uint64_t)-1, "of any child");
	expect(100, SYS_wait4, UINT32_MAX, "of any child");
	expect(100, SYS_wait4, 0, "of the caller's process group");
	expect(100, SYS_wait4, (uint64_t)-18, "of process group 18");
	expect(100, SYS_wait4, (uint64_t)INT32_MIN, "of process group 2147483648");
	/* expect() gives 4711 as the second argument, of waitid the number */
	expect(100, SYS_waitid, P_ALL, "of any child");
	expect(100, SYS_waitid, P_PID, "of process 4711");
	expect(100, SYS_waitid, P_PGID, "of process group 4711");
	expect(100, SYS_waitid, P_PIDFD, "");
	expect(100, SYS_waitid, 7, "");
	call(100, SYS_pidfd_open, 19, 0, 0, NULL, 3);
	READS(100, 3, "of process 19");
	call(100, SYS_fcntl, 3, F_DUPFD, 4711, NULL, 4711);
	expect(100, SYS_waitid, P_PIDFD, "of process 19");
	/* exec closes the first, not its copy */
	call(100, SYS_execve, 0, 0, 0, "/bin/sh", 0);
	READS(100, 3, "");
	expect(100, SYS_waitid, P_PIDFD, "of process 19");
	expect(100, SYS_semop, 5, "of semaphore set 5");
	expect(100, SYS_semtimedop, 5, "of semaphore set 5");
	expect(100, SYS_msgrcv, 6, "of message queue 6");
	expect(100, SYS_msgsnd, 6, "of message queue 6");
	/* no file gets a number */
	expect_path(100, SYS_execve, 0, "/bin/ls", "of /bin/ls");
	expect_path(100, SYS_unlink, 0, "/old", "of /old");
	expect_path(100, SYS_unlink, 0, NULL, "");
	/* a text that is no path */
	OPEN(100, "/file", O_RDONLY, 3);
	expect_path(100, SYS_fsetxattr, 3, "user.name", "of /file");
	expect_path(100, SYS_delete_module, 0, "ext4", "");
	fx_close(&fx, 0);
	judge();
}

/* A thread in vfork() waits for the process that it made, if no other thread can have made it */
static void waits_for_its_child(void)
{
	describe();
	fork_at(2105, 100, 200);
	fork_at(2205, 100, 201);
	fork_at(2305, 100, 202);
	fork_at(2405, 100, 203);
	fork_at(2505, 100, 204);
	fork_at(2605, 100, 205);
	fork_at(2705, 400, 206);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	now = 2080;
	begin(100, SYS_vfork, 0, 0, 0, NULL);
	expect_now(100, "");
	now = 2110;
	expect_now(100, "of process 200");
	end(100, 200);
	expect_now(100, "");
	now = 2190;
	begin(100, SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, NULL);
	now = 2210;
	expect_now(100, "of process 201");
	end(100, 201);
	now = 2290;
	begin(100, SYS_clone3, 0, 0, 0, NULL);
	now = 2310;
	expect_now(100, "of process 202");
	end(100, 202);
	/* these calls do not wait */
	now = 2390;
	begin(100, SYS_fork, 0, 0, 0, NULL);
	now = 2410;
	expect_now(100, "");
	end(100, 203);
	/* another thread may have made it */
	now = 2480;
	begin(101, SYS_clone, CLONE_VM, 0, 0, NULL);
	begin(100, SYS_vfork, 0, 0, 0, NULL);
	now = 2510;
	expect_now(100, "");
	expect_now(101, "");
	end(101, 204);
	now = 2610;
	expect_now(100, "");
	end(100, 205);
	/* another process made it */
	now = 2690;
	begin(100, SYS_vfork, 0, 0, 0, NULL);
	now = 2710;
	expect_now(100, "");
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
	/* the child has the files that the parent had at the fork */
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
	/* a child that shares files may close some unseen: nothing is known any more */
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
	/* another process may close its files, also after the loss */
	call(400, SYS_clone, CLONE_FILES, 0, 0, NULL, 500);
	fx_close(&fx, 0);
	now = 2200;
	fx_open(&fx, 0, 2200, 100, &gap);
	READS(100, 3, "");
	OPEN(100, "/after", O_RDONLY, 3);
	READS(100, 3, "of /after");
	OPEN(400, "/shared", O_RDONLY, 3);
	READS(400, 3, "");
	fx_close(&fx, 0);
	judge();
}

/* While calls are not recorded, other files may get the numbers */
static void calls_not_selected(void)
{
	static const unsigned int both[] = { EV_ENTER, EV_EXIT, 0 }, none[] = { 90, 0 },
				  ends[] = { EV_EXIT, 0 };

	describe();
	fx_select(&fx, 1500, both);
	fx_select(&fx, 2100, none);
	fx_select(&fx, 2200, both);
	fx_select(&fx, 2300, ends);
	fx_select(&fx, 2400, both);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	OPEN(100, "/before", O_RDONLY, 3);
	READS(100, 3, "of /before");
	now = 2200;
	READS(100, 3, "");
	expect(100, SYS_futex, 0x7f00, "at 0x7f00");
	OPEN(100, "/between", O_RDONLY, 3);
	READS(100, 3, "of /between");
	now = 2400;
	READS(100, 3, "");
	OPEN(100, "/after", O_RDONLY, 3);
	READS(100, 3, "of /after");
	fx_close(&fx, 0);
	judge();
}

/* The recorder looks at open files after the start; system calls may not be recorded yet */
static void selected_after_the_start(void)
{
	static const unsigned int both[] = { EV_ENTER, EV_EXIT, 0 }, none[] = { 90, 0 };

	describe();
	fx_select(&fx, 1500, none);
	fx_select(&fx, 1800, both);
	fx_select(&fx, 2000 + 4 * PAUSE, none);
	fx_select(&fx, 2000 + 5 * PAUSE, both);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1600, 100, NULL);
	now = 1600;
	fx_simple(&fx, 0, FX_SOFTIRQ, now, 100);
	now = 2000;
	READS(100, 3, "of /found");
	READS(100, 4, "");
	find(100, 3, "/found");
	READS(100, 3, "of /found");
	now = 2000 + 5 * PAUSE;
	READS(100, 3, "");
	find(100, 4, "/later");
	READS(100, 4, "of /later");
	READS(100, 3, "");
	fx_close(&fx, 0);
	judge();
}

/* A rule for event @rule has kept @count out; 0: the choice of threads */
static void with_rule(uint32_t rule, uint64_t count, const char *name)
{
	static const unsigned int both[] = { EV_ENTER, EV_EXIT, 0 };
	const struct tb_suppressed suppressed = { .id = rule, .filtered = count };

	describe();
	fx_select(&fx, 1500, both);
	fx_durable(&fx, TB_EV_SUPPRESSED, &suppressed, sizeof(suppressed));
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	OPEN(100, "/file", O_RDONLY, 3);
	READS(100, 3, name);
	expect(100, SYS_futex, 0x7f00, "at 0x7f00");
	fx_close(&fx, 0);
	judge();
}

static void calls_with_rules(void)
{
	with_rule(EV_ENTER, 3, "");
	with_rule(EV_EXIT, 3, "");
	with_rule(90, 3, "of /file");
	with_rule(0, 3, "of /file");
	/* the recording had no room for all counts */
	with_rule(0, 0, "");
}

static void open_at_start(void)
{
	start();
	/* no call changed it before the recorder looked: it was open from the beginning */
	READS(100, 3, "of /var/log/syslog");
	READS(100, 4, "of tcp 10.0.0.1:443 -> 10.0.0.7:51234");
	READS(100, 5, "");
	READS(400, 3, "");
	OPEN(100, "/seven", O_RDONLY, 7);
	find(100, 3, "/var/log/syslog");
	find(100, 4, "tcp 10.0.0.1:443 -> 10.0.0.7:51234");
	find(100, 6, "re\x1b[m");
	find(100, 7, "/seven again");
	find(999, 3, "/of a process without calls");
	READS(101, 3, "of /var/log/syslog");
	READS(400, 3, "");
	READS(999, 3, "");
	READS(100, 6, "of re?[m");
	READS(100, 7, "of /seven again");
	/* later calls take effect as always */
	call(100, SYS_accept4, 4, 0, 0, NULL, 9);
	READS(100, 9, "of tcp 10.0.0.1:443 -> 10.0.0.7:51234, accepted");
	call(100, SYS_dup2, 3, 4, 0, NULL, 4);
	READS(100, 4, "of /var/log/syslog");
	call(100, SYS_close, 3, 0, 0, NULL, 0);
	READS(100, 3, "");
	OPEN(100, "/new", O_RDONLY, 3);
	READS(100, 3, "of /new");
	fx_close(&fx, 0);
	judge();
}

static void changed_before_the_look(void)
{
	static const uint32_t numbers[] = { 3, 4, 5, 6, 7, 12, 8, 9 };
	unsigned int i;

	start();
	for (i = 0; i < 8; i++)
		READS(100, numbers[i], i < 7 ? "" : "of /found");
	call(100, SYS_close, 3, 0, 0, NULL, 0);
	OPEN(100, "/opened", O_RDONLY, 4);
	call(100, SYS_dup2, 4, 5, 0, NULL, 5);
	call(100, SYS_fcntl, 4, F_DUPFD, 6, NULL, 6);
	call(100, SYS_close_range, 10, 12, 0, NULL, 0);
	call(100, SYS_close_range, 7, 7, 0, NULL, 0);
	/* the recording lacks the beginning of this call */
	end_of(101, SYS_accept4, 8);
	/* these calls change nothing */
	OPEN(100, "/nowhere", O_RDONLY, -2);
	call(100, SYS_fcntl, 9, F_GETFL, 0, NULL, 9);
	for (i = 0; i < 8; i++)
		READS(100, numbers[i], i == 7 ? "of /found" : i >= 1 && i <= 3 ? "of /opened" : "");
	for (i = 0; i < 8; i++)
		find(100, numbers[i], "/found");
	for (i = 0; i < 8; i++)
		READS(100, numbers[i], "of /found");
	fx_close(&fx, 0);
	judge();
}

/* The recorder looked during the call: whether before or after its effect is unknown */
static void looked_at_during_a_call(void)
{
	static const uint32_t numbers[] = { 3, 4, 5, 6, 7, 8 };
	unsigned int i;

	start();
	for (i = 0; i < 6; i++)
		READS(100, numbers[i], i == 5 ? "of /found" : "");
	begin(101, SYS_close, 3, 0, 0, NULL);
	find(100, 3, "/found");
	find(100, 8, "/found");
	end(101, 0);
	begin(101, SYS_dup2, 8, 4, 0, NULL);
	find(100, 4, "/found");
	end(101, 4);
	begin(101, SYS_openat, AT_FDCWD, 5, O_RDONLY, "/opened");
	find(100, 5, "/found");
	READS(100, 5, "");
	end(101, 5);
	READS(100, 5, "of /opened");
	begin(101, SYS_fcntl, 6, F_SETFD, FD_CLOEXEC, NULL);
	find(100, 6, "/found");
	end(101, 0);
	/* clocks differ by more than this */
	call(101, SYS_close, 7, 0, 0, NULL, 0);
	find_at(now + 5000, 100, 7, 0, "/found");
	now += PAUSE;
	for (i = 0; i < 6; i++)
		READS(100, numbers[i], i == 5 ? "of /found" : i == 1 ? "of /found" :
				       i == 2 ? "of /opened" : "");
	fx_close(&fx, 0);
	judge();
}

static void calls_not_whole(void)
{
	start();
	/* the beginning is missing, so which number it closes is unknown */
	READS(100, 3, "");
	READS(400, 3, "of /four hundred");
	find(100, 3, "/found");
	find(400, 3, "/four hundred");
	end_of(101, SYS_close, 0);
	READS(100, 3, "");
	find(100, 4, "/found");
	READS(100, 4, "of /found");
	/* this call ends after the last look */
	READS(100, 5, "");
	begin(101, SYS_close, 5, 0, 0, NULL);
	find(100, 5, "/found");
	now += PAUSE;
	READS(100, 5, "");
	end(101, 0);
	READS(100, 5, "");
	fx_close(&fx, 0);
	judge();
}

/* The earlier file of the number is unknown: exec may have closed it */
static void exec_at_start(void)
{
	start();
	READS(100, 3, "");
	READS(400, 3, "");
	call(100, SYS_execve, 0, 0, 0, "/bin/sh", 0);
	end_of(400, SYS_execve, 0);
	find(100, 3, "/found");
	find(400, 3, "/found");
	READS(100, 3, "of /found");
	READS(400, 3, "of /found");
	fx_close(&fx, 0);
	judge();
}

static void processes_at_start(void)
{
	describe();
	thread_at(2600, 1, 400, TB_THREAD_EXIT);
	fork_at(2700, 100, 400);
	fork_at(2500 + 4 * PAUSE, 100, 200);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	/* another process has had this process number */
	READS(400, 3, "");
	now = 2800;
	find(400, 3, "/found");
	find_at(now, 100, 1, 0, "/kept");
	find_at(now, 100, 5, TB_OPEN_FILE_EXEC, "/gone");
	now = 2600 + 4 * PAUSE;
	READS(400, 3, "of /found");
	/* a child has the files of its parent */
	READS(200, 1, "of /kept");
	READS(200, 5, "of /gone");
	call(200, SYS_execve, 0, 0, 0, "/bin/sh", 0);
	READS(200, 1, "of /kept");
	READS(200, 5, "");
	find(200, 5, "/of the program");
	READS(200, 5, "of /of the program");
	READS(100, 5, "of /gone");
	/* a process that shares files may close them unseen */
	READS(100, 6, "");
	begin(100, SYS_clone, CLONE_FILES | CLONE_VM, 0, 0, NULL);
	find(100, 6, "/shared");
	end(100, 201);
	READS(100, 1, "");
	READS(100, 6, "");
	fx_close(&fx, 0);
	judge();
}

static void losses_at_start(void)
{
	struct tb_gap gap = { .overwritten = 5, .first = 2100, .last = 2150 };

	start();
	READS(100, 3, "");
	READS(100, 4, "");
	fx_close(&fx, 0);
	now = 2200;
	fx_open(&fx, 0, 2200, 100, &gap);
	READS(100, 3, "");
	find(100, 3, "/found");
	READS(100, 3, "of /found");
	find(100, 4, "/found");
	/* a loss on another CPU */
	gap.first = now - PAUSE - 1;
	gap.last = now - PAUSE + 20;
	READS(100, 4, "");
	now += PAUSE;
	fx_close(&fx, 0);
	fx_open(&fx, 0, now, 100, &gap);
	READS(100, 4, "");
	READS(100, 3, "");
	fx_close(&fx, 0);
	judge();
}

/* The file lacks the first blocks */
static void start_not_recorded(void)
{
	describe();
	fx_durable_end(&fx);
	fx.rings[0].sequence = 7;
	fx_open(&fx, 0, 2000 + 3 * PAUSE, 100, NULL);
	find_at(2000 + PAUSE, 100, 3, 0, "/before the first block");
	now = 2000 + 3 * PAUSE;
	READS(100, 3, "");
	READS(100, 4, "");
	find(100, 4, "/found");
	READS(100, 3, "");
	READS(100, 4, "of /found");
	fx_close(&fx, 0);
	judge();
}

static const struct test tests[] = {
	{ "files: opened, copied, closed", opened_and_closed },
	{ "files: addresses of sockets", addresses_of_sockets },
	{ "files: of poll()", polled_files },
	{ "files: of children, after exec", other_processes },
	{ "files: waits for processes and others without a file", waits_without_a_file },
	{ "files: vfork waits for its child", waits_for_its_child },
	{ "files: not known after a loss", after_a_loss },
	{ "files: not known while calls are not selected", calls_not_selected },
	{ "files: open at the start, before calls are selected", selected_after_the_start },
	{ "files: not known if a rule keeps out calls", calls_with_rules },
	{ "files: open at the start", open_at_start },
	{ "files: open at the start, changed before the recorder looked", changed_before_the_look },
	{ "files: open at the start, the recorder looked during a call", looked_at_during_a_call },
	{ "files: open at the start, calls without beginning or end", calls_not_whole },
	{ "files: open at the start, exec", exec_at_start },
	{ "files: open at the start, of processes that begin and end", processes_at_start },
	{ "files: open at the start, and losses", losses_at_start },
	{ "files: open at the start, the start is not recorded", start_not_recorded },
};

int main(void)
{
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
