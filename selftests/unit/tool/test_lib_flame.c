// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flame graph has the stacks of the trace with their true counts and times, and the tool says
 * which events it leaves out. If this fails, a user optimizes a function that takes little time, or
 * a name breaks the picture. flame_check.py computes all weights again from the output of print.
 */
#include "test_lib_run.h"

#define KERNEL 0xffffffff81000000ull

/* Names with special characters for shells, XML, readers of collapsed stacks, and terminals */
static const char *const comms[] = {
	"<idle>", "bash", "a;b c", "<g>&\"'", "]]>x", "w\xc2\x9b" "2J", "w 17",
};

#define NR_TASKS 7

static void name_function(struct fx *fx, struct fx_ring *notes, uint64_t start,
			  const char *name)
{
	struct {
		struct tb_symbol symbol;
		char name[64];
	} said = { .symbol = { .start = start, .size = 0x100 } };
	size_t length = strlen(name);

	memcpy(said.name, name, length);
	assert(fx_put_composite(fx, notes, TB_EV_SYMBOL, 0, 0, 0, &said,
				sizeof(said.symbol) + length));
}

static void add_stack(struct fx *fx, unsigned int cpu, uint32_t kind,
		      const uint64_t *addresses, uint32_t count)
{
	struct { uint32_t kind, count; uint64_t ip[TB_STACK_MAX]; } stack = { kind, count, { 0 } };

	memcpy(stack.ip, addresses, count * sizeof(*addresses));
	assert(fx_composite(fx, cpu, TB_EV_STACK, fx->rings[cpu].last, 0, &stack,
			    8 + 8ul * count));
}

/* A few stacks with common beginnings; some functions have no name */
static void add_stacks(struct fx *fx, unsigned int cpu, unsigned int number)
{
	uint64_t kernel[] = {
		KERNEL + 0x100 * (number % 3) + 0x10, KERNEL + 0x300 + number % 2 * 0x10000,
		KERNEL + 0x410,
	};
	uint64_t user[] = { 0x7f0000001000 + number % 2, 0x550000001234 };

	if (number % 5 != 4)
		add_stack(fx, cpu, TB_STACK_KERNEL, kernel, 3);
	if (number % 3 == 1)
		add_stack(fx, cpu, TB_STACK_USER, user, 2);
}

/* Two CPUs switch at random between six tasks and the idle one; a task is on one CPU at a time. */
static void add_switches(struct fx *fx, unsigned int count)
{
	unsigned int on[2] = { 0, 0 }, seed = 1, i, cpu, next;
	uint64_t time = 10000;

	for (i = 0; i < count; i++) {
		seed = seed * 1103515245u + 12345u;
		cpu = seed >> 16 & 1;
		next = (seed >> 18) % NR_TASKS;
		time += 10 + (seed >> 20) % 1000;
		if (next == on[cpu] || (next && next == on[!cpu]))
			continue;
		struct fx_switch event = fx_switch(comms[on[cpu]], on[cpu] ? 100 + (int)on[cpu] : 0,
						   i % 2, comms[next], next ? 100 + (int)next : 0);

		fx_composite(fx, cpu, FX_SWITCH, time, on[cpu] ? 100 + on[cpu] : 0, &event,
			     sizeof(event));
		add_stacks(fx, cpu, seed >> 8 & 0xff);
		on[cpu] = next;
		if (i % 7 == 0) {
			fx_simple(fx, cpu, FX_SOFTIRQ, time + 1, i % 10);
			add_stacks(fx, cpu, i);
		}
	}
}

static void make(struct fx *fx)
{
	struct fx_switch exits = fx_switch("worker", 105, 0x10, "bash", 101);
	struct fx_ring notes = { 0 };
	unsigned int i;

	fx_init(fx, 16, 1000);
	for (i = 1; i < NR_TASKS; i++)
		fx_thread(fx, 100 + i, 100 + i, 1, TB_THREAD_DUMP, comms[i]);
	fx_sync(fx, 0, 5000000000);
	fx_durable_end(fx);
	fx_open(fx, 0, 9000, 0, NULL);
	fx_open(fx, 1, 9000, 0, NULL);
	add_switches(fx, 300);
	fx_composite(fx, 0, FX_SWITCH, 400000, 105, &exits, sizeof(exits));
	add_stacks(fx, 0, 0);
	fx_close(fx, 0);
	fx_close(fx, 1);
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
	fx_begin(fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	name_function(fx, &notes, KERNEL, "schedule");
	name_function(fx, &notes, KERNEL + 0x100, "do_wait");
	name_function(fx, &notes, KERNEL + 0x200, "operator<;\"&\n [mod<]");
	name_function(fx, &notes, KERNEL + 0x400, "entry");
	fx_end(fx, &notes);
}

/* ---- against print ---- */

static const char *here(void)
{
	static char path[sizeof(__FILE__)];

	memcpy(path, __FILE__, sizeof(path));
	*strrchr(path, '/') = 0;
	return path;
}

static int shell(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* @options: for flame_check.py, with commas; @chosen: options for print as well */
static void compare(const char *weight, const char *options, const char *chosen)
{
	static const char pipe[] = "sed 's/^/# /' %s.said; exit 1";
	char words[128] = "", command[4096], one[64];
	const char *at = options, *tool = getenv("TRACEBUF");
	size_t length;

	for (; *at && strcmp(options, "-"); at += length + (at[length] == ',')) {
		length = strcspn(at, ",");
		snprintf(one, sizeof(one), " --%.*s", (int)length, at);
		strcat(words, one);
	}
	if (!tool)
		tool = "tracebuf";
	/* --inverted concerns only the picture */
	snprintf(command, sizeof(command),
		 "{ %1$s print -v --fields %2$s %3$s >%3$s.printed && "
		 "%1$s flamegraph -q --collapsed --weight %4$s %2$s $(echo ' %5$s' | sed 's/ --inverted//') %3$s >%3$s.text && "
		 "%1$s flamegraph -q --min-width 0 --weight %4$s %2$s %5$s -o %3$s.svg %3$s && "
		 "python3 %6$s/flame_check.py %4$s %7$s %3$s.printed %3$s.text %3$s.svg; } >%3$s.said 2>&1",
		 tool, chosen, file, weight, words, here(), options);
	if (shell(command)) {
		printf("# %s, %s, '%s':\n", weight, options, chosen);
		test_failures++;
		fflush(stdout);
		snprintf(command, sizeof(command), pipe, file);
		shell(command);
	}
	snprintf(command, sizeof(command), "rm -f %1$s.printed %1$s.text %1$s.svg %1$s.said", file);
	shell(command);
}

static void counted(void)
{
	struct fx fx;

	make(&fx);
	save(fx.data, fx.size);
	compare("events", "-", "");
	compare("events", "reverse", "");
	compare("events", "threads,kernel,inverted", "");
	compare("events", "user", "");
	compare("events", "-", "-e irq");
	compare("events", "-", "-t 103");
	compare("events", "reverse,threads", "-C 1 --from +0.00002 --to +0.00009");
	fx_free(&fx);
}

static void timed(void)
{
	struct fx fx;

	make(&fx);
	save(fx.data, fx.size);
	compare("off-cpu", "-", "");
	compare("off-cpu", "unfinished,threads", "");
	compare("off-cpu", "reverse", "");
	compare("on-cpu", "-", "");
	compare("on-cpu", "threads,inverted", "");
	compare("field=next_pid", "-", "-e sched_switch");
	fx_free(&fx);
}

/* A filter of threads does not change when their time off the CPU ends */
static void filtered_times(void)
{
	char whole[sizeof(output)], *line, *end;
	struct fx fx;

	make(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("flamegraph", "-q --collapsed --threads --weight off-cpu"), 0);
	strcpy(whole, output);
	CHECK_NUMBER(run_on("flamegraph", "-q --collapsed --threads --weight off-cpu -t 101"), 0);
	CHECK(lines() > 2);
	for (line = output; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert(end);
		*end = 0;
		CHECK(!strncmp(line, "bash-101;", 9));
		CHECK(strstr(whole, line));
	}
	fx_free(&fx);
}

/* ---- exact output ---- */

static void exactly(void)
{
	static const uint64_t stack[] = { KERNEL + 0x10, KERNEL + 0x410 };
	struct fx_switch out = fx_switch("a", 101, 1, "b;\xff\x01", 102);
	struct fx_switch in = fx_switch("b;\xff\x01", 102, 1, "a", 101);
	struct tb_gap gap = { 3, 0, 0, 2400, 2900, 0 };
	struct fx_ring notes = { 0 };
	struct fx fx;

	fx_init(&fx, 12, 1000);
	fx_thread(&fx, 101, 101, 1, TB_THREAD_DUMP, "a");
	fx_thread(&fx, 102, 102, 1, TB_THREAD_DUMP, "b;\xff\x01");
	fx_sync(&fx, 0, 5000000000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 101, NULL);
	fx_composite(&fx, 0, FX_SWITCH, 2000, 101, &out, sizeof(out));
	add_stack(&fx, 0, TB_STACK_KERNEL, stack, 2);
	fx_composite(&fx, 0, FX_SWITCH, 2100, 102, &in, sizeof(in));
	add_stack(&fx, 0, TB_STACK_KERNEL, stack, 2);
	fx_composite(&fx, 0, FX_SWITCH, 2300, 101, &out, sizeof(out));
	add_stack(&fx, 0, TB_STACK_KERNEL, stack, 2);
	fx_close(&fx, 0);
	fx_open(&fx, 0, 3000, 102, &gap);
	fx_composite(&fx, 0, FX_SWITCH, 3000, 102, &in, sizeof(in));
	add_stack(&fx, 0, TB_STACK_KERNEL, stack, 2);
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	name_function(&fx, &notes, KERNEL, "a;b [m]");
	fx_end(&fx, &notes);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("flamegraph", "-q --collapsed"), 0);
	CHECK_TEXT(output, "a;0xffffffff81000410;a:b [m] 2\n"
		   "b:??;0xffffffff81000410;a:b [m] 2\n");
	CHECK_NUMBER(run_on("flamegraph", "-q --collapsed --weight off-cpu"), 0);
	/* the time from 2300 to 3000 may be several waits: events are missing */
	CHECK_TEXT(output, "a;0xffffffff81000410;a:b [m] 100\n"
		   "b:??;0xffffffff81000410;a:b [m] 200\n");
	CHECK_NUMBER(run_on("flamegraph", "-o /dev/null --weight off-cpu"), 0);
	CHECK_HAS("3 events were lost");
	CHECK_HAS("1 stretches of time, 0.700 us, are left out");
	CHECK_HAS("1 threads had not run again at the end");
	CHECK_HAS("1 addresses of the kernel have no name");
	CHECK_NUMBER(run_on("flamegraph", "-q --collapsed --weight on-cpu"), 0);
	CHECK_TEXT(output, "a;0xffffffff81000410;a:b [m] 200\n"
		   "b:??;0xffffffff81000410;a:b [m] 100\n");
	CHECK_NUMBER(run_on("flamegraph", "-q -o -"), 0);
	CHECK_HAS("3 events were lost");
	CHECK_HAS("b:??\n2 events, 50.00 %</title>");
	CHECK_NUMBER(run_on("flamegraph", "-q -o - --min-width 700"), 0);
	CHECK_HAS("2 frames narrower than 700 px, and the frames that they call, are not drawn");
	CHECK_NUMBER(run_on("flamegraph", "-q -o - --title '<&\">'"), 0);
	CHECK_HAS("aria-label=\"&lt;&amp;&quot;&gt;\"");
	/* invalid UTF-8, and a code point that is no character */
	CHECK_NUMBER(run_on("flamegraph", "-q -o - --title \"$(printf 'x\\377\\357\\277\\276y')\""), 0);
	CHECK_HAS("aria-label=\"x????y\"");
	fx_free(&fx);
}

/* A trace of one CPU and one thread, "a" */
static void begin_one(struct fx *fx, unsigned int log2)
{
	fx_init(fx, log2, 1000);
	fx_thread(fx, 101, 101, 1, TB_THREAD_DUMP, "a");
	fx_sync(fx, 0, 5000000000);
	fx_durable_end(fx);
	fx_open(fx, 0, 2000, 101, NULL);
}

static void save_one(struct fx *fx)
{
	fx_close(fx, 0);
	fx_totals(fx, 0);
	fx_durable_end(fx);
	save(fx->data, fx->size);
}

/* Too many frames are no stack, and a damaged block is reported */
static void no_stack(void)
{
	struct { uint32_t kind, count; uint64_t ip[1000]; } stack = {
		TB_STACK_KERNEL, 1000, { 0 }
	};
	static const uint64_t fine[] = { KERNEL + 0x10 };
	struct fx_switch out = fx_switch("a", 101, 1, "b", 102);
	uint32_t *damaged;
	struct fx fx;
	size_t i;

	for (i = 0; i < 1000; i++)
		stack.ip[i] = KERNEL + 0x10 * i;
	begin_one(&fx, 15);
	fx_composite(&fx, 0, FX_SWITCH, 2000, 101, &out, sizeof(out));
	assert(fx_composite(&fx, 0, TB_EV_STACK, 2000, 0, &stack, sizeof(stack)));
	fx_composite(&fx, 0, FX_SWITCH, 2100, 101, &out, sizeof(out));
	add_stack(&fx, 0, TB_STACK_KERNEL, fine, 1);
	save_one(&fx);
	CHECK_NUMBER(run_on("flamegraph", "--collapsed"), 0);
	CHECK_HAS("1 events have no stack");
	CHECK_HAS("0xffffffff81000010 1\n");
	damaged = (uint32_t *)((unsigned char *)fx_block(&fx, &fx.rings[0]) + 128);
	*damaged = 0x41414141;
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("flamegraph", "--collapsed"), 1);
	CHECK_HAS("CPU 0, block 0: ");
	CHECK_NUMBER(run_on("top", "--batch -n 1 -i"), 1);
	CHECK_HAS("CPU 0, block 0: ");
	fx_free(&fx);
}

/* The sum of two values fits into 64 bits; the third value is left out, and the tool says so */
static void too_much(void)
{
	static const uint64_t stack[] = { KERNEL + 0x10 };
	unsigned char odd[48] = { 0 };
	uint64_t most = INT64_MAX;
	struct fx fx;
	int i;

	begin_one(&fx, 12);
	memcpy(odd + 24, &most, sizeof(most));
	for (i = 0; i < 3; i++) {
		fx_composite(&fx, 0, FX_ODD, 2001, 101, odd, sizeof(odd));
		add_stack(&fx, 0, TB_STACK_KERNEL, stack, 1);
	}
	save_one(&fx);
	CHECK_NUMBER(run_on("flamegraph", "--collapsed --weight field=pointer"), 0);
	CHECK_HAS("a;0xffffffff81000010 18446744073709551614\n");
	CHECK_HAS("1 events are left out: the sum would be 2^64 or more");
	fx_free(&fx);
}

/* ---- errors ---- */

static void refused(void)
{
	struct fx fx;

	make(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("flamegraph", "--weight nonsense"), 2);
	CHECK_HAS("weight: 'nonsense' is not events, off-cpu, on-cpu or field=NAME");
	CHECK_NUMBER(run_on("flamegraph", "--unfinished"), 2);
	CHECK_HAS("--unfinished needs --weight off-cpu");
	CHECK_NUMBER(run_on("flamegraph", "--kernel --user"), 2);
	CHECK_NUMBER(run_on("flamegraph", "--min-width x"), 2);
	CHECK_NUMBER(run_on("flamegraph", "--width 5"), 2);
	CHECK_NUMBER(run_on("flamegraph", "-e sched_swich"), 1);
	CHECK_HAS("did you mean sched:sched_switch?");
	CHECK_NUMBER(run_on("flamegraph", "-e irq --weight off-cpu"), 1);
	CHECK_HAS("sched_switch, which is not among the events chosen");
	CHECK_NUMBER(run_on("flamegraph", "--weight field=comm"), 1);
	CHECK_HAS("none of the events chosen has a number 'comm'");
	CHECK_NUMBER(run_on("flamegraph", "-t 999"), 1);
	CHECK_HAS("holds no such event of thread 999");
	CHECK_NUMBER(run("flamegraph /nonexistent.tbuf"), 1);
	CHECK_HAS("/nonexistent.tbuf: cannot be opened");
	fx_free(&fx);

	fx_init(&fx, 10, 1000);
	fx_sync(&fx, 0, 5000000000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 0, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2002, 1);
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("flamegraph", ""), 1);
	CHECK_HAS("none of 2 events has a stack: record them with 'tracebuf record -e sched_switch:stack'");
	CHECK_NUMBER(run_on("flamegraph", "-e softirq_entry"), 1);
	CHECK_HAS("'tracebuf record -e softirq_entry:stack'");
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "flamegraph: numbers of events are those of print", counted },
	{ "flamegraph: times on and off the CPU, sums of a field", timed },
	{ "flamegraph: a filter of threads finds the end of their time", filtered_times },
	{ "flamegraph: exact stacks, losses, names and remarks", exactly },
	{ "flamegraph: no stack, and a damaged block", no_stack },
	{ "flamegraph: sums are right or say so", too_much },
	{ "flamegraph: errors", refused },
};

RUN_MAIN(tests)
