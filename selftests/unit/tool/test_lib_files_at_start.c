// SPDX-License-Identifier: GPL-2.0-only
/*
 * The analysis knows the files that the recorder found open at the start (TB_EV_OPEN_FILE), and
 * from when on each name holds. If this fails, `why` names a file that the thread never waited for.
 */
#include "test_lib_files.h"

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
	now = 2480 + 4 * PAUSE;
	begin(100, SYS_fork, 0, 0, 0, NULL);
	now = 2600 + 4 * PAUSE;
	end(100, 200);
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
	/* the recorder looked, then events were lost, then the first event came */
	find_at(now + PAUSE, 100, 7, 0, "/found");
	gap.first = now + 2 * PAUSE;
	gap.last = now + 3 * PAUSE;
	now += 4 * PAUSE;
	fx_open(&fx, 0, now, 100, &gap);
	READS(100, 7, "");
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
	{ "files: open at the start, before calls are selected", selected_after_the_start },
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
