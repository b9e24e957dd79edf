// SPDX-License-Identifier: GPL-2.0-only
/*
 * All commands that read a trace accept the same forms of times for --from and --to, and select
 * the same events by --tid, --pid, --comm and --cgroup. If this fails, two commands with the same
 * options show different events.
 */
#include "test_lib_chunk.h"
#include "test_lib_run.h"

#define SECOND 1000000000ull
/* The real time of tick 0 is 2023-11-14 23:59:59 UTC */
#define START (6399 * SECOND)

static void cgroup(struct fx *fx, uint32_t key, const char *path)
{
	struct { struct tb_string head; char text[32]; } string = {
		.head = { .kind = TB_STRING_CGROUP, .key = key },
	};

	strcpy(string.text, path);
	fx_durable(fx, TB_EV_STRING, &string, sizeof(string.head) + strlen(path));
}

static void thread(struct fx *fx, uint32_t tid, uint32_t tgid, uint32_t in, const char *comm)
{
	struct tb_thread thread = {
		.tid = tid, .tgid = tgid, .parent = 1, .prio = 120, .cgroup = in,
		.flags = TB_THREAD_DUMP,
	};

	strcpy(thread.comm, comm);
	fx_durable(fx, TB_EV_THREAD, &thread, sizeof(thread));
}

/* One interrupt a second: 1 in thread 100, 2 and 3 in 101, 4 in 102, which runs at the end */
static void add_recording(struct fx *fx, const char *mark)
{
	static const char hostile[] = "a\033b";
	struct fx_switch event = fx_switch("tool", 100, 1, "other", 102);
	struct fx_chunk chunk;

	cgroup(fx, 5, "/system.slice/ssh.service");
	thread(fx, 100, 100, 5, "tool");
	thread(fx, 101, 100, 5, "helper");
	thread(fx, 102, 102, 0, "other");
	fx_sync(fx, 0, START);
	fx_durable_end(fx);
	fx_open(fx, 0, 1000, 100, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 1001, 1);
	fx_composite(fx, 0, TB_EV_MARK, 2000, 100, mark, strlen(mark));
	fx_composite(fx, 0, TB_EV_MARK, 2001, 100, hostile, strlen(hostile));
	fx_close(fx, 0);
	fx_open(fx, 0, SECOND, 101, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, SECOND + 5000, 2);
	fx_close(fx, 0);
	fx_open(fx, 0, 2 * SECOND, 100, NULL);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_mark(&chunk, 2 * SECOND + 5, "again");
	fx_take(fx, 0, 2 * SECOND + 10, &chunk);
	fx_simple(fx, 0, FX_SOFTIRQ, 2 * SECOND + 20, 3);
	fx_composite(fx, 0, FX_SWITCH, 2 * SECOND + 30, 100, &event, sizeof(event));
	fx_close(fx, 0);
	fx_open(fx, 0, 3 * SECOND, 102, NULL);
	fx_composite(fx, 0, TB_EV_MARK, 3 * SECOND + 5, 102, "again", 5);
	fx_simple(fx, 0, FX_SOFTIRQ, 3 * SECOND + 10, 4);
	fx_close(fx, 0);
	fx_totals(fx, 0);
	fx_durable_end(fx);
}

static void make(unsigned int recordings)
{
	struct fx fx;

	fx_init(&fx, 10, 0);
	add_recording(&fx, "begin");
	if (recordings > 1) {
		fx_start_recording(&fx, 2);
		add_recording(&fx, "second");
	}
	save(fx.data, fx.size);
	fx_free(&fx);
}

/* The numbers of the interrupts in the output */
static const char *seen(void)
{
	static char text[16];
	char vector[16], *at;
	size_t used = 0;

	for (at = output; (at = strstr(at, "vec=")) && used < sizeof(text) - 1; at += 4) {
		memcpy(vector, at, 5);
		text[used++] = vector[4];
	}
	text[used] = 0;
	return text;
}

static void check_seen(const char *options, const char *want)
{
	int status = run_on("print", options);

	if (!status && !strcmp(seen(), want))
		return;
	printf("# %s: interrupts %s, not %s: %.400s\n", options, seen(), want, output);
	test_failures++;
}

static void forms(void)
{
	static const struct {
		const char *options, *want;
	} cases[] = {
		{ "--from 6400", "234" }, { "--from 6400.000005000", "234" },
		{ "--from 6400.000005001", "34" }, { "-T boot --from 6400.000006001", "34" },
		{ "--to 6400.000005", "1" },
		{ "--from +1s", "234" }, { "--from +1", "234" }, { "--from +1000ms", "234" },
		{ "--from +1000000us", "234" }, { "--from +1000003999ns", "234" },
		{ "--from +1000004000ns", "34" }, { "--from +.02m", "34" }, { "--from +1.2s", "34" },
		{ "--to +1.5", "12" }, { "--from +999ms --to +2001.5ms", "23" },
		{ "--from -2s", "234" }, { "--from -2", "234" }, { "--from=-1500ms", "34" },
		{ "--from -1999995010ns", "234" }, { "--from -1999995009ns", "34" },
		{ "--to -.5", "123" }, { "--to -0", "123" }, { "--from -0s", "4" },
		{ "--from -1000m", "1234" }, { "--from -3 --to -1", "12" },
		{ "--from 23:59:59.5", "234" }, { "--from 00:00:00", "234" },
		{ "--from 00:00:00.000005", "234" }, { "--from 00:00:00.000005001", "34" },
		{ "--from 00:00:01 --to 00:00:02", "3" }, { "--to 00:00:00", "1" },
		{ "--from '2023-11-15 00:00:01'", "34" }, { "--from 2023-11-15T00:00:01.5", "4" },
		{ "--from '2023-11-14 12:00:00' --to '2024-02-29 00:00:00'", "1234" },
		{ "--from mark:begin", "234" }, { "--to mark:begin", "1" },
		{ "--from mark:again", "34" }, { "--from mark:again --to mark:again", "3" },
		{ "--to mark:again", "12" }, { "--from +2.5 --to -0", "" },
	};
	char text[128];
	size_t i;

	setenv("TZ", "UTC0", 1);
	make(1);
	for (i = 0; i + 1 < sizeof(cases) / sizeof(cases[0]); i++)
		check_seen(cases[i].options, cases[i].want);
	/* only a mark is in that time */
	CHECK_NUMBER(run_on("print", cases[i].options), 0);
	CHECK_HAS("again");
	CHECK_TEXT(seen(), "");
	/* standard input is read completely, so its end is known */
	snprintf(text, sizeof(text), "print --from -2s - <%s", file);
	CHECK_NUMBER(run(text), 0);
	CHECK_TEXT(seen(), "234");
	/* the time zone is the reader's, not the recorder's */
	setenv("TZ", "XYZ-5:30", 1);
	check_seen("--from 05:30:00", "234");
	check_seen("--from '2023-11-15 05:30:01'", "34");
	/* clocks go back from 1 to 0 o'clock: the hour exists twice */
	setenv("TZ", "AAA0BBB-1,0/0,J319/1", 1);
	check_seen("--from 00:59:59.5", "234");
	check_seen("--from 00:00:01", "34");
	setenv("TZ", "UTC0", 1);
}

static void wrong(void)
{
	static const char *const usage[] = {
		"-", "+", "''", "soon", "25:00:00", "14:60:00", "14:00:60", "14:3:05", "14:03",
		"12:00:00x", "12:00:000", "+5q", "5s", "+-5", "--5", "1e3", "+1.2.3", ".",
		"+0x5", "mark:", "2026-02-29T00:00:00", "2026-13-01T00:00:00", "1969-01-01T00:00:00",
		"2026-11-27", "99999999999999999999", "18446744074", "+18446744073709551615ns",
		"+18446744073709551616ns", "+307445735m", "-99999999999999999999",
	};
	char text[128];
	size_t i;

	for (i = 0; i < sizeof(usage) / sizeof(usage[0]); i++) {
		snprintf(text, sizeof(text), "--from %s", usage[i]);
		if (run_on("print", text) == 2 && strstr(output, "is not a time"))
			continue;
		printf("# '%s' is accepted, or without a message: %.300s\n", usage[i], output);
		test_failures++;
	}
	CHECK_NUMBER(run_on("print", "--to 25:00:00"), 2);
	CHECK_HAS("out of range");
	CHECK_NUMBER(run_on("print", "--from +2s --to +2000ms"), 1);
	CHECK_HAS("no time lies");
	CHECK_NUMBER(run_on("print", "--from -1 --to -2"), 1);
	CHECK_HAS("no time lies");
	CHECK_NUMBER(run_on("print", "--from 12:00:00"), 1);
	CHECK_HAS("12:00:00 is not in the recording, which is from 2023-11-14 23:59:59.000001 to 2023-11-15 00:00:02.000000 (local time)");
	CHECK_NUMBER(run_on("print", "--from 00:00:01 --to 00:00:00"), 1);
	CHECK_HAS("00:00:00 is not in the recording after --from");
	CHECK_NUMBER(run_on("print", "--from mark:none"), 1);
	CHECK_HAS("no mark 'none'; its marks are 'begin', 'a?b', 'again'\n");
	CHECK_NUMBER(run_on("print", "--from mark:beg"), 1);
	CHECK_NUMBER(run_on("print", "--from mark:begin --to mark:begin"), 1);
	CHECK_HAS("no mark 'begin' after --from");
}

/* A build without SQLite has no query */
static bool lacks(const char *command)
{
	return !strncmp(command, "query", 5) && run("query -h");
}

/* COMMAND OPTIONS FILE, with what the command needs after it */
static int run_command(const char *command, const char *options)
{
	char text[512];

	snprintf(text, sizeof(text), "%s %s %s %s", command, options, file,
		 !strncmp(command, "query", 5) ? "'SELECT vec FROM softirq_entry'" :
		 !strcmp(command, "diff") ? file : "");
	return run(text);
}

static void all_commands(void)
{
	static const char *const commands[] = {
		"print", "export -q --format csv -o -", "report", "query", "flamegraph -o -",
		"why -t 100", "diff",
	};
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (lacks(commands[i]))
			continue;
		if (run_command(commands[i], "--from 25:00:00") != 2 ||
		    !strstr(output, "is not a time") ||
		    run_command(commands[i], "--to mark:none") != 1 ||
		    !strstr(output, "no mark 'none'") || lines() != 1) {
			printf("# %s: %.300s\n", commands[i], output);
			test_failures++;
		}
	}
	if (!lacks("query")) {
		CHECK_NUMBER(run_command("query --csv --no-header",
					 "--from mark:begin --to -500ms"), 0);
		CHECK_TEXT(output, "2\n3\n");
	}
	CHECK_NUMBER(run_command("why -t 100", "--from -2s"), 0);
	CHECK_HAS("from 6400.000000 to");
	CHECK_NUMBER(run_command("report --section events", "--from -1s"), 0);
	CHECK_HAS("softirq_entry");
	CHECK_NUMBER(run_command("diff", "--from -2"), 0);
}

/* Each recording of a file has marks of its own */
static void recordings(void)
{
	make(2);
	check_seen("--from mark:second", "234");
	CHECK_NUMBER(run_on("report --section events", "--from mark:second"), 0);
	CHECK_NUMBER(run_on("print", "--from mark:third"), 1);
	CHECK_HAS("no mark 'third'");
	CHECK_NUMBER(run_on("export -q --format csv -o -", "--from mark:second"), 1);
	CHECK_HAS("no mark 'second'");
	CHECK_NUMBER(run_on("export -q --format csv -o -", "-r 2 --from mark:second"), 0);
	make(1);
}

static void threads(void)
{
	static const struct {
		const char *options, *query;
	} cases[] = {
		{ "-t 100", "1\n" }, { "--pid 100", "1\n2\n3\n" }, { "--comm tool", "1\n" },
		{ "--comm 'h*'", "2\n3\n" }, { "--cgroup ssh", "1\n2\n3\n" },
		{ "--comm other", "4\n" }, { "--cgroup '/system.slice/*' --to 6400", "1\n" },
		{ "--pid 100 -C 0 --from +1ms", "2\n3\n" },
	};
	static const char *const none[] = {
		"-t 103", "--pid 103", "--comm none", "--cgroup none", "-C 9",
		"--comm other --to -2s",
	};
	static const char *const commands[] = {
		"print", "export -q --format csv -o -", "report", "query", "diff",
	};
	char text[64];
	size_t i, j;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!lacks("query")) {
			CHECK_NUMBER(run_command("query --csv --no-header", cases[i].options), 0);
			CHECK_TEXT(output, cases[i].query);
		}
		/* the report counts the same events */
		snprintf(text, sizeof(text), "\"softirq_entry\",%zu]",
			 strlen(cases[i].query) / 2);
		CHECK_NUMBER(run_command("report --json --section events", cases[i].options), 0);
		CHECK_HAS(text);
		CHECK_NUMBER(run_command("print", cases[i].options), 0);
		CHECK_NUMBER(strlen(seen()), strlen(cases[i].query) / 2);
	}
	/* several options select the threads that match all of them */
	CHECK_NUMBER(run_command("print", "--pid 100 --comm helper"), 0);
	CHECK_TEXT(seen(), "23");
	CHECK_NUMBER(run_command("why", "--pid 102 --comm other"), 0);
	CHECK_HAS("other-102");
	CHECK_NUMBER(run_command("why", "--pid 100 --comm other"), 1);
	CHECK_HAS("nothing is known of process 100 named 'other'; ");
	/* tasks, which are no events */
	CHECK_NUMBER(run_command("report --section tasks", "--comm other"), 0);
	CHECK_HAS("  other  ");
	CHECK_NUMBER(run_command("report --section tasks", "--comm tool"), 0);
	CHECK(!strstr(output, "other"));
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		for (j = 0; j < sizeof(commands) / sizeof(commands[0]); j++)
			if (!lacks(commands[j]) && (run_command(commands[j], none[i]) != 1 ||
			    !strstr(output, "no such event"))) {
				printf("# %s %s: %.300s\n", commands[j], none[i], output);
				test_failures++;
			}
}

static const struct test tests[] = {
	{ "all forms of a time", forms },
	{ "wrong times, and marks that no recording has, are refused", wrong },
	{ "all commands take the same times", all_commands },
	{ "a file with several recordings", recordings },
	{ "threads by number, process, name and cgroup", threads },
};

RUN_MAIN(tests)
