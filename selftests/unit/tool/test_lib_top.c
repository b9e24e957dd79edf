// SPDX-License-Identifier: GPL-2.0-only
/*
 * "tracebuf top" shows the true CPU times, rates and latencies of an interval, and marks the
 * unknown ones. If this fails, an administrator stops the wrong process. A trace made by hand is
 * one interval, so that the text is known exactly. test_top.sh tests top live, in a guest.
 */
#include <sys/stat.h>
#include "test_lib_run.h"

struct wakeup {
	char comm[16];
	int32_t pid;
};

static void add_switch(struct fx *fx, unsigned int cpu, uint64_t time, const char *prev, int tid,
		       int64_t state, const char *next, int to)
{
	struct fx_switch event = fx_switch(prev, tid, state, next, to);

	fx_composite(fx, cpu, FX_SWITCH, time, (uint32_t)tid, &event, sizeof(event));
}

static void add_wakeup(struct fx *fx, unsigned int cpu, uint64_t time, int tid)
{
	struct wakeup event = { .comm = "any", .pid = tid };

	fx_composite(fx, cpu, FX_WAKEUP, time, 0, &event, sizeof(event));
}

/* 10 ms; CPU 0: "busy" for 8 ms, "late" waits for it for 2 ms, runs 1 ms; CPU 1 is busy for 1 ms */
static void make(struct fx *fx, const struct tb_gap *gap)
{
	fx_init(fx, 14, 1000);
	fx_thread(fx, 101, 100, 1, TB_THREAD_DUMP, "busy");
	fx_thread(fx, 102, 102, 1, TB_THREAD_DUMP, "la\033te");
	fx_thread(fx, 103, 103, 1, TB_THREAD_DUMP, "other");
	fx_sync(fx, 0, 5000000000);
	fx_durable_end(fx);
	fx_open(fx, 0, 1000000, 0, gap);
	fx_open(fx, 1, 1000000, 0, NULL);
	add_switch(fx, 0, 1000000, "swapper/0", 0, 0, "busy", 101);
	add_switch(fx, 1, 1000000, "swapper/1", 0, 0, "other", 103);
	add_switch(fx, 1, 2000000, "other", 103, 1, "swapper/1", 0);
	add_wakeup(fx, 1, 7000000, 102);
	add_switch(fx, 0, 9000000, "busy", 101, 0, "la\033te", 102);
	add_switch(fx, 0, 10000000, "la\033te", 102, 1, "swapper/0", 0);
	fx_simple(fx, 0, FX_SOFTIRQ, 11000000, 1);
	fx_close(fx, 0);
	fx_close(fx, 1);
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
}

/* The output from this line on: the title has the time */
static const char *from_line(unsigned int number)
{
	const char *at = output;

	while (--number && at)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
	return at ? at : "";
}

/* The line with @text, from there on */
static const char *line_of(const char *text)
{
	static char line[256];
	const char *at = strstr(output, text);
	size_t length;

	if (!at)
		return "";
	length = strcspn(at, "\n");
	length = length < sizeof(line) ? length : sizeof(line) - 1;
	memcpy(line, at, length);
	line[length] = 0;
	return line;
}

static void tasks(void)
{
	struct fx fx;

	make(&fx, NULL);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("top", "--batch -i"), 0);
	CHECK_HAS(", every 1 s (last 0.01 s), 3 tasks, /");
	CHECK_TEXT(line_of("/s:"),
		   "/s: 700 events, 500 switches, 100 wake-ups, 100 soft");
	CHECK_HAS("wait: 50 % 2.0 ms, 99 % 2.0 ms, max 2.0 ms; since ");
	CHECK_TEXT(from_line(4),
"lost: none\n"
"  0 [||||||||||| ]  90.0 i  0.0 s  0.0    1 [|           ]  10.0 i  0.0 s  0.0\n"
"    TID     PID  *%CPU    TIME   RUN   PRE  MIG    WAIT     MAX COMMAND\n"
"    101     100   80.0    0.01   100   100    0       0       0 busy\n"
"    102     102   10.0    0.00   100     0    0    2000    2000 la?te\n"
"    103     103   10.0    0.00   100     0    0       0       0 other\n");
	fx_free(&fx);
}

static void chosen(void)
{
	struct fx fx;

	make(&fx, NULL);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("top", "--batch --filter BUS -i"), 0);
	CHECK_HAS("only 'BUS', ");
	CHECK_NUMBER(lines(), 7);
	CHECK_HAS(" busy\n");
	CHECK_NUMBER(run_on("top", "--batch --filter 103 -i"), 0);
	CHECK_NUMBER(lines(), 7);
	CHECK_HAS(" other\n");
	CHECK_NUMBER(run_on("top", "--batch --filter nobody -i"), 0);
	CHECK_HAS("nothing that happened matches 'nobody'");
	CHECK_NUMBER(run_on("top", "--batch --sort wait -i"), 0);
	CHECK_HAS("*WAIT");
	CHECK(strstr(output, "la?te") < strstr(output, " busy"));
	CHECK_NUMBER(run_on("top", "--batch --sort comm -i"), 0);
	CHECK_HAS("*COMMAND");
	CHECK(strstr(output, " busy") < strstr(output, "la?te"));
	fx_free(&fx);
}

static void views(void)
{
	struct fx fx;

	make(&fx, NULL);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("top", "--batch --view events -i"), 0);
	CHECK_TEXT(from_line(6),
" *EVENTS/s      %          ALL EVENT\n"
"       500   71.4            5 sched:sched_switch\n"
"       100   14.3            1 sched:sched_wakeup\n"
"       100   14.3            1 irq:softirq_entry\n");
	CHECK_NUMBER(run_on("top", "--batch --view latency -i"), 0);
	CHECK_TEXT(from_line(6),
"     NOW      %  SUM %         ALL  SUM % WAKE-UP TO RUNNING\n"
"       1  100.0  100.0           1  100.0 1.049 ms .. 2.097 ms #########################\n");
	CHECK_NUMBER(run_on("top", "--batch --view cpus -i"), 0);
	CHECK_TEXT(from_line(6),
"*CPU  BUSY%  IDLE%   IRQ%  SOFT%  UNKN%  SWITCH/s QUEUE NOW\n"
"   0   90.0   10.0   0.00   0.00    0.0       300     - -\n"
"   1   10.0   90.0   0.00   0.00    0.0       200     - -\n");
	CHECK_NUMBER(run_on("top", "--batch --view calls -i"), 0);
	CHECK_HAS("no system calls are recorded: 'tracebuf top --syscalls' does\n");
	CHECK_NUMBER(run_on("top", "--batch --view irqs -i"), 0);
	CHECK_HAS("no interrupts are recorded\n");
	fx_free(&fx);
}

/* A recording of CPU 2 alone */
static void one_cpu(void)
{
	struct fx fx;

	fx_init(&fx, 12, 1000);
	fx_sync(&fx, 0, 5000000000);
	fx_durable_end(&fx);
	fx_open(&fx, 2, 1000000, 0, NULL);
	add_switch(&fx, 2, 1000000, "swapper/2", 0, 0, "busy", 101);
	add_switch(&fx, 2, 9000000, "busy", 101, 1, "swapper/2", 0);
	fx_simple(&fx, 2, FX_SOFTIRQ, 11000000, 1);
	fx_close(&fx, 2);
	fx_totals(&fx, 2);
	fx_durable_end(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("top", "--batch --view cpus -i"), 0);
	CHECK_NUMBER(lines(), 7);
	CHECK_HAS("\n   2   80.0   20.0 ");
	fx_free(&fx);
}

static void losses(void)
{
	struct tb_gap gap = { 30, 4, 0, 100000, 900000, 0 };
	char command[256];
	struct fx fx;

	make(&fx, &gap);
	save(fx.data, fx.size);
	snprintf(command, sizeof(command), "top --batch -i - <%s", file);
	CHECK_NUMBER(run(command), 0);
	CHECK_HAS(", standard input\n");
	CHECK_TEXT(line_of("lost:"),
		   "lost: 34 in this interval, 34 in all: there was more than is shown");
	fx_free(&fx);
}

/* Read until @text appears, or the end */
static bool until(FILE *from, const char *text)
{
	size_t used = strlen(output);

	while (!strstr(output, text) && used < sizeof(output) - 256 &&
	       fgets(output + used, 256, from))
		used += strlen(output + used);
	return strstr(output, text);
}

/* top counts 499 ms for "busy", until a gap shows that only 1 ms of them is certain */
static void taken_back(void)
{
	struct tb_gap gap = { 30, 0, 0, 2000000, 600000000, 0 };
	char fifo[sizeof(file) + 8], command[512];
	const char *tool = getenv("TRACEBUF");
	FILE *top, *in;
	struct fx fx;
	size_t part;

	fx_init(&fx, 12, 1000);
	fx_thread(&fx, 101, 100, 1, TB_THREAD_DUMP, "busy");
	fx_sync(&fx, 0, 5000000000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1000000, 0, NULL);
	add_switch(&fx, 0, 1000000, "swapper/0", 0, 0, "busy", 101);
	fx_close(&fx, 0);
	fx_open(&fx, 1, 500000000, 0, NULL);
	fx_simple(&fx, 1, FX_SOFTIRQ, 500000000, 1);
	fx_close(&fx, 1);
	part = fx.size;
	fx_open(&fx, 0, 700000000, 0, &gap);
	add_switch(&fx, 0, 700000000, "busy", 101, 1, "swapper/0", 0);
	fx_close(&fx, 0);
	snprintf(fifo, sizeof(fifo), "%s.fifo", file);
	assert(!mkfifo(fifo, 0600));
	snprintf(command, sizeof(command), "%s top --batch --delay 0.1 -i - <%s 2>&1",
		 tool ? tool : "tracebuf", fifo);
	fflush(stdout);
	top = popen(command, "r");
	in = fopen(fifo, "w");
	assert(top && in);
	output[0] = 0;
	assert(fwrite(fx.data, 1, part, in) == part && !fflush(in));
	CHECK(until(top, " busy\n"));
	CHECK_HAS("\n    101     100  100.0 ");
	output[0] = 0;
	assert(fwrite(fx.data + part, 1, fx.size - part, in) == fx.size - part);
	fclose(in);
	until(top, "no such line");
	CHECK_HAS("lost: 30 in this interval");
	CHECK(!strstr(output, "00000.0"));
	CHECK_NUMBER(pclose(top), 0);
	unlink(fifo);
	fx_free(&fx);
}

static void refused(void)
{
	struct fx fx;

	make(&fx, NULL);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("top", "-i"), 1);
	CHECK_HAS("standard output is no terminal: 'tracebuf top --batch'");
	CHECK_NUMBER(run_on("top", "--batch -p kernel -i"), 2);
	CHECK_HAS("-p and -i exclude each other");
	CHECK_NUMBER(run_on("top", "--batch --syscalls -i"), 2);
	CHECK_HAS("-i looks at a recording as it is");
	CHECK_NUMBER(run_on("top", "--batch --view nonsense -i"), 2);
	CHECK_HAS("there is no view 'nonsense'; there are tasks, events, irqs, calls, latency, cpus, "
		  "containers");
	CHECK_NUMBER(run_on("top", "--batch --sort nonsense -i"), 2);
	CHECK_HAS("the view of tasks has no column 'nonsense'");
	CHECK_NUMBER(run("top --batch --delay 0"), 2);
	CHECK_NUMBER(run("top --batch -n 0"), 2);
	CHECK_NUMBER(run("top --batch -i /nonexistent.tbuf"), 1);
	CHECK_HAS("/nonexistent.tbuf: cannot be opened");
	save("no trace at all, but long enough to be one of these, or nearly so, who knows", 70);
	CHECK(run_on("top", "--batch -i") != 0);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "top: tasks of a trace, CPUs, rates, latency", tasks },
	{ "top: filter and order", chosen },
	{ "top: events, latency, CPUs; what is not recorded is not 0", views },
	{ "top: a CPU without events", one_cpu },
	{ "top: losses", losses },
	{ "top: counted time that turns out to be unknown", taken_back },
	{ "top: errors", refused },
};

RUN_MAIN(tests)
