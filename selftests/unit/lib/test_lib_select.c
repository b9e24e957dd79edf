// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tool refuses wrong numbers, says when options select nothing, skips with --from all earlier
 * events, and gives its output files the trace's permissions. If this fails, a user takes an empty
 * answer to a typing error for a fact, or other users of the machine can read an export.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include "test_lib_chunk.h"
#include "test_lib_run.h"

enum { FIRST_RING = 16384 };

/* CPU 0: two blocks, the second from 3000 on; CPU 1: one block */
static void make(struct fx *fx)
{
	struct fx_switch event = fx_switch("bash", 100, 1, "cat", 200);
	struct fx_chunk chunk;

	fx_init(fx, 10, 1000);
	fx_thread(fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	fx_sync(fx, 0, 5000000000);
	fx_durable_end(fx);
	assert(fx->size == FIRST_RING);
	fx_open(fx, 0, 2000, 100, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_composite(fx, 0, FX_SWITCH, 2100, 100, &event, sizeof(event));
	fx_close(fx, 0);
	fx_open(fx, 1, 2000, 0, NULL);
	fx_simple(fx, 1, FX_SOFTIRQ, 2050, 9);
	fx_close(fx, 1);
	fx_open(fx, 0, 3000, 200, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 3001, 2);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_name(&chunk, 1, TB_NAME_EVENT, 0, "largest");
	fx_record(&chunk, TB_REC_SIMPLE, 0, 1, 3002, FX_WORDS(UINT64_MAX));
	fx_record(&chunk, TB_REC_SIMPLE, 0, 1, 3003, FX_WORDS(1ull << 53));
	fx_record(&chunk, TB_REC_SIMPLE, 0, 1, 3004, FX_WORDS((1ull << 53) + 1));
	fx_take(fx, 0, 3010, &chunk);
	fx_close(fx, 0);
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
	save(fx->data, fx->size);
}

static void make_once(void)
{
	struct fx fx;

	make(&fx);
	fx_free(&fx);
}

static void numbers(void)
{
	static const char *const wrong[] = {
		"record --nice 4294967300", "record --nice -21", "record --nice ''",
		"record --nice 0x5", "record --rt 0x10", "record --rt 4294967297",
		"record -b 0x20", "record -b ' 32'", "record -b +32", "record -b 32x",
		"record -c 0-18446744073709551616", "record -c 0-", "record --pid 0x1",
		"record --pid 4294967296", "record --rotate 0x10M", "record --rotate 1e3M",
		"record -d 0x10", "record -d 1e1", "record -d inf", "record -d nan",
		"record --keep 99999999999999999999", "record --compress zstd:0x3",
		"record -e sched_switch:1/0x10", "record -e sched_switch:rate=18446744073709551617",
		"print -t 0x64", "print -t 18446744073709551716", "print -t -1", "print -n 1e3",
		"print -C 0x0", "report --top 0x10", "report --width 1e3", "query -r 0x1 t x",
		"flamegraph --min-width 0x1", "flamegraph --width 0x400", "top --delay 0x1 --batch",
		"top -n 99999999999 --batch", "arm --on x --post 0x10", "arm --on x --count -1",
		"recover -r 12x", "recover -r 11111111111111111", "recover -r -1",
		"recover --range 0x:1M x", "recover --range 18446744073709551616:1M x",
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (run(wrong[i]) == 2 && (strstr(output, "is not") || strstr(output, "not '") ||
					   strstr(output, "written") ||
					   strstr(output, "neither")))
			continue;
		printf("# '%s' is accepted, or without a message: %s\n", wrong[i], output);
		test_failures++;
	}
	/* numbers are decimal, also with leading zeros */
	CHECK_NUMBER(run_on("print", "-t 0100"), 0);
	CHECK_HAS("sched_switch");
	CHECK_NUMBER(run_on("print", "-t 100 -n 00002"), 0);
	CHECK_NUMBER(lines(), 2);
}

/* If nothing is shown, the tool says so and exits with 1 */
static void nothing_selected(void)
{
	static const char *const commands[] = {
		"print", "print --jsonl", "print --fields", "export -q --format json -o -",
		"export -q --format perfetto -o /dev/null", "export -q --format csv -o -", "report",
		"report --json", "report --html /dev/null", "flamegraph -o -",
	};
	static const char *const options[] = {
		"-C 999", "-t 999999", "--from 10 --to 5", "--from 5 --to 5", "--from 1000",
		"--to 1", "--from +1 --to +0.5", "-C 1 -t 100", "--from 5.000002101 --to 5.00000211",
	};
	char text[128];
	size_t i, j;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		for (j = 0; j < sizeof(options) / sizeof(options[0]); j++) {
			/* a report has what the CPUs run in a time without events */
			if (!strncmp(commands[i], "report", 6) && strstr(options[j], "5.0000021"))
				continue;
			snprintf(text, sizeof(text), "%s", options[j]);
			if (run_on(commands[i], text) == 1 &&
			    (strstr(output, "no such event") || strstr(output, "no time lies")))
				continue;
			printf("# '%s %s': %.300s\n", commands[i], text, output);
			test_failures++;
		}
	snprintf(text, sizeof(text), "%s -C 999", file);
	CHECK_NUMBER(run_on("diff", text), 1);
	CHECK_HAS("no such event");
	CHECK_NUMBER(run_on("print", "-C 999"), 1);
	CHECK_HAS("of CPU 999 (its last CPU is 1)");
	CHECK_NUMBER(run_on("print", "-r 2"), 1);
	CHECK_HAS("holds 1 recording,");
	/* -n 0 asks for no line: no message */
	CHECK_NUMBER(run_on("print", "-n 0 -C 999"), 0);
	CHECK_NUMBER(lines(), 0);
	/* a thread may appear in the report without an event of its own */
	CHECK_NUMBER(run_on("report", "-t 100"), 0);
}

static void lists_of_cpus(void)
{
	static const char *const both[] = { "-C 0,1", "-C 0-1", "--cpu 1,0-7" };
	int zero, one;
	size_t i;

	make_once();
	CHECK_NUMBER(run_on("print", "-C 0"), 0);
	zero = lines();
	CHECK_NUMBER(run_on("print", "-C 1"), 0);
	one = lines();
	for (i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		CHECK_NUMBER(run_on("print", both[i]), 0);
		CHECK_NUMBER(lines(), zero + one);
		CHECK_NUMBER(run_on("report --json --section events", both[i]), 0);
		CHECK_HAS("\"softirq_entry\",3]");
	}
	CHECK_NUMBER(run_on("report --json --section events", "-C 1"), 0);
	CHECK_HAS("\"softirq_entry\",1]");
	CHECK_NUMBER(run_on("print", "-C 2-7"), 1);
	CHECK_HAS("of CPUs 2-7 (its last CPU is 1)");
	CHECK_NUMBER(run_on("print", "-C 1-0"), 2);
	CHECK_HAS("'1-0' is not a list of CPUs up to 8191, as in 0-3,7");
	CHECK_NUMBER(run_on("print", "-C 0 -C 1"), 2);
	CHECK_HAS("join the lists, as in 0-3,7");
}

/* --from does not read blocks before the time */
static void seeks(void)
{
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_error error;
	struct tb_view view;
	struct fx fx;
	int result;

	make(&fx);
	/* the first block of CPU 0 is damaged inside */
	((struct tb_element *)(fx.data + FIRST_RING + 128))->head = 0x41414141;
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("print", ""), 1);
	CHECK_HAS("CPU 0, block 0");
	/* a program that asks for the result gets the error, too */
	CHECK_NUMBER(tb_trace_open(file, &trace, &error), 0);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	while ((result = tb_cursor_next(cursor, &view)) > 0)
		;
	CHECK_NUMBER(-tb_cursor_error(cursor, result, &error), EBADMSG);
	CHECK(strstr(error.text, "CPU 0, block 0"));
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	CHECK_NUMBER(run_on("print", "--from 5.000003"), 0);
	CHECK_HAS("vec=2(NET_TX)");
	CHECK_NUMBER(lines(), 4);
	CHECK_NUMBER(run_on("export", "-q --format csv -o - --from 5.000003"), 0);
	CHECK_HAS("softirq_entry");
	CHECK_NUMBER(run_on("export", "-q --format json -o - --from 5.000003"), 0);
	CHECK_HAS("\"bash\"");
	fx_free(&fx);
	make_once();
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : status.st_mode & 0777;
}

/* Only users who may read a trace can read a file made of it. */
static void permissions(void)
{
	static const struct {
		mode_t trace, mask, want;
	} cases[] = {
		{ 0600, 0022, 0600 }, { 0640, 0022, 0640 }, { 0644, 0022, 0644 },
		{ 0644, 0077, 0600 }, { 0400, 0000, 0600 }, { 0666, 0002, 0664 },
	};
	static const char *const commands[] = {
		"export -q --format json", "export -q --format csv", "export -q --format sqlite",
		"export -q --format perfetto", "export -q --format fxt", "report --html",
	};
	char text[256], path[64], command[128];
	struct dirent *entry;
	mode_t was = umask(0);
	size_t i, j;
	DIR *folder;

	snprintf(path, sizeof(path), "%s.out", file);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		umask(cases[i].mask);
		for (j = 0; j < sizeof(commands) / sizeof(commands[0]); j++) {
			bool html = !strncmp(commands[j], "report", 6);

			unlink(path);
			chmod(file, 0600 | cases[i].trace);
			chmod(file, cases[i].trace);
			snprintf(command, sizeof(command), "%s %s%s", commands[j],
				 html ? "" : "-o ", path);
			run_on(command, "");
			if (mode_of(path) != cases[i].want)
				printf("# %s of %o, umask %o: %s\n", commands[j], cases[i].trace,
				       cases[i].mask, output);
			CHECK_NUMBER(mode_of(path), cases[i].want);
		}
	}
	/* a file that is replaced keeps its permissions */
	umask(0022);
	chmod(file, 0600);
	chmod(path, 0604);
	snprintf(command, sizeof(command), "export -q --format csv -o %s", path);
	CHECK_NUMBER(run_on(command, ""), 0);
	CHECK_NUMBER(mode_of(path), 0604);
	unlink(path);
	/* a trace on standard input: the permissions of the file behind it */
	snprintf(text, sizeof(text), "export -q --format csv -o %s - <%s", path, file);
	CHECK_NUMBER(run(text), 0);
	CHECK_NUMBER(mode_of(path), 0600);
	unlink(path);
	snprintf(command, sizeof(command), "export -q --format ctf -o %s", path);
	if (!run_on(command, "")) {
		CHECK_NUMBER(mode_of(path), 0700);
		folder = opendir(path);
		while (folder && (entry = readdir(folder))) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(text, sizeof(text), "%s/%.64s", path, entry->d_name);
			CHECK_NUMBER(mode_of(text), 0600);
		}
		closedir(folder);
	}
	snprintf(command, sizeof(command), "rm -rf %s", path);
	CHECK(!system(command));
	umask(was);
}

/* Viewers of Chrome's format read numbers as doubles: larger integers are texts there */
static void large_numbers(void)
{
	CHECK_NUMBER(run_on("export", "-q --format json -o -"), 0);
	CHECK_HAS("\"value\":\"18446744073709551615\"");
	CHECK_HAS("\"value\":9007199254740992");
	CHECK_HAS("\"value\":\"9007199254740993\"");
	CHECK_NUMBER(run_on("export", "-q --format jsonl -o -"), 0);
	CHECK_HAS("\"value\":18446744073709551615");
	CHECK_HAS("\"value\":9007199254740993");
	CHECK_NUMBER(run_on("export", "-q --format csv -o -"), 0);
	CHECK_HAS("18446744073709551615");
	CHECK_HAS("9007199254740993");
}

static void numbers_of_options(void)
{
	make_once();
	numbers();
}

static const struct test tests[] = {
	{ "numbers of options are decimal and within their bounds", numbers_of_options },
	{ "the tool says when nothing is selected", nothing_selected },
	{ "-C takes a list of CPUs", lists_of_cpus },
	{ "--from skips what comes before", seeks },
	{ "output files have the permissions of the trace", permissions },
	{ "integers beyond the range of doubles", large_numbers },
};

RUN_MAIN(tests)
