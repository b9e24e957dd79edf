// SPDX-License-Identifier: GPL-2.0-only
/*
 * The analysis names the file behind a file descriptor, or says nothing: after exec, after losses,
 * and when a number is used again it must not guess. It knows files from calls that open, copy and
 * close them. If this fails, `why` names a file that the thread never waited for.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "test_lib_files.h"

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
	now = 2090;
	begin(100, SYS_fork, 0, 0, 0, NULL);
	end(100, 200);
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

/* With CLONE_PARENT the recorded parent is not the process that made the child */
static void made_by_another(void)
{
	describe();
	fork_at(2105, 100, 200);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	OPEN(100, "/of the parent", O_RDONLY, 3);
	OPEN(400, "/of the maker", O_RDONLY, 3);
	now = 2090;
	begin(400, SYS_clone, CLONE_PARENT, 0, 0, NULL);
	end(400, 200);
	READS(200, 3, "");
	OPEN(200, "/of the child", O_RDONLY, 3);
	READS(200, 3, "of /of the child");
	fx_close(&fx, 0);
	judge();
}

/* The third register of dup2() is no argument; dup2() to the same number does nothing */
static void copied_to_a_number(void)
{
	start();
	OPEN(100, "/kept", O_RDONLY, 3);
	OPEN(100, "/gone", O_RDONLY | O_CLOEXEC, 4);
	call(100, SYS_dup2, 3, 1, O_CLOEXEC, NULL, 1);
	call(100, SYS_dup2, 4, 4, 0, NULL, 4);
	call(100, SYS_dup3, 3, 2, O_CLOEXEC, NULL, 2);
	READS(100, 2, "of /kept");
	call(100, SYS_execve, 0, 0, 0, "/bin/sh", 0);
	READS(100, 1, "of /kept");
	READS(100, 2, "");
	READS(100, 4, "");
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

/* The cursor shows a loss of a CPU at its next block, after calls on other CPUs in the gap */
static void during_a_loss(void)
{
	struct tb_gap gap = { .dropped = 5, .first = 2100, .last = 2600 };

	start();
	OPEN(100, "/before", O_RDONLY, 3);
	READS(100, 3, "of /before");
	fx_close(&fx, 0);
	cpu = 1;
	fx_open(&fx, 1, 2001, 101, NULL);
	now = 2090;
	READS(101, 3, "");
	OPEN(101, "/in the gap", O_RDONLY, 4);
	READS(101, 4, "");
	now = 2700;
	READS(101, 3, "");
	OPEN(101, "/after", O_RDONLY, 4);
	READS(101, 4, "of /after");
	fx_close(&fx, 1);
	cpu = 0;
	fx_open(&fx, 0, 2800, 100, &gap);
	READS(100, 3, "");
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

static const struct test tests[] = {
	{ "files: opened, copied, closed", opened_and_closed },
	{ "files: addresses of sockets", addresses_of_sockets },
	{ "files: of poll()", polled_files },
	{ "files: of children, after exec", other_processes },
	{ "files: waits for processes and others without a file", waits_without_a_file },
	{ "files: vfork waits for its child", waits_for_its_child },
	{ "files: of a child that the parent did not make", made_by_another },
	{ "files: dup2() and dup3()", copied_to_a_number },
	{ "files: not known after a loss", after_a_loss },
	{ "files: not known during a loss on another CPU", during_a_loss },
	{ "files: not known while calls are not selected", calls_not_selected },
	{ "files: not known if a rule keeps out calls", calls_with_rules },
};

int main(void)
{
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
