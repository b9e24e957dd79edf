// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf top - show what the machine does now: tasks, events, interrupts, system calls and
 * latencies, from a recording that runs.
 */
#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>
#include "cmd.h"
#include "tool/choose/setup.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/command/option_value.h"
#include "tool/device/device.h"
#include "tool/command/signals.h"
#include "tool/top/top.h"

#define EVENTS "sched_switch,sched_wak*,sched_migrate_task,irq_handler_entry,irq_handler_exit," \
	"softirq_entry,softirq_exit,task_newtask,task_rename"
#define EVENTS_CALLS "raw_syscalls:sys_enter,raw_syscalls:sys_exit"
#define BUFFERS 64

static int top_run(int argc, char **argv);

const struct command cmd_top = {
	.name  = "top",
	.run   = top_run,
	.brief = "show what the machine does now, in the terminal",
	.help  =
	"usage: tracebuf top [OPTIONS]\n"
	"\n"
	"Shows once in an interval which tasks had the CPUs, what was waited for, which\n"
	"interrupts and events there were, and what was lost. It records with a provider\n"
	"of its own, which no other recording sees, and removes it at the end.\n"
	"In the terminal h shows the keys.\n"
	"\n"
	"      --delay TIME      the interval, seconds, or with ms (1)\n"
	"  -n, --rounds N        end after N intervals\n"
	"      --batch           print one interval after the other, for files and pipes\n"
	"      --view NAME       tasks (default), events, irqs, calls, latency, cpus,\n"
	"                        containers\n"
	"      --sort COLUMN     sort by this column of the view, named as its head\n"
	"      --filter TEXT     show only rows with TEXT in the name, or with this number\n"
	"  -a, --all             include rows of tasks that did nothing in the interval\n"
	"      --syscalls        record system calls, too\n"
	"  -e, --events LIST     record these events, too, to show their rates\n"
	"      --buffers N       buffers per CPU, 2..4096 (64): more lose less\n"
	"      --elements N      of 16 bytes per buffer, a power of two, 64..65536 (1024)\n"
	"  -c, --cpu LIST        record only on these CPUs, as in 0-3,7\n"
	"  -p, --provider NAME   show the running recording of this provider; it goes on\n"
	"  -i, --input FILE      show what 'tracebuf record -o - --flush-ms 200' writes,\n"
	"                        perhaps on another machine; '-' is standard input; a\n"
	"                        complete trace is one interval\n"
	"  -h, --help            show this text\n",
	.whole = "top shows the whole recording; --filter shows only some rows of it",
};

struct top_job {
	struct top_source source;
	struct top_look look;
	bool batch, choosing;
	const char *sort, *filter;
	uint32_t rounds;
};

static void stop(int number)
{
	top_stop_signal = number;
}

/* Without SA_RESTART, so that a signal interrupts whatever waits */
static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = stop };
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] != SIGHUP || !signal_ignored(SIGHUP))
			sigaction(numbers[i], &action, NULL);
	/* writing to a closed pipe shall fail with EPIPE */
	signal(SIGPIPE, SIG_IGN);
}

/* ---- batch ---- */

static void put_line(void *context, enum top_line kind, const char *text)
{
	(void)kind;
	fprintf(context, "%s\n", text);
}

static int next_round(struct top_job *job, struct top_sampler *sampler,
		      struct top_picture *picture, bool first)
{
	const struct top_lines lines = { .put = put_line, .context = stdout };
	int result;

	do {
		result = top_source_read(&job->source, monotonic_ns() +
					 (uint64_t)(job->look.interval * 1e9));
	} while (!result && job->source.more && !top_stop_signal);
	if (result < 0 || top_stop_signal)
		return result;
	result = top_sample(sampler, &job->source, picture);
	if (result < 0)
		return result;
	if (!first)
		putchar('\n');
	top_show(picture, &job->look, job->source.called, &lines);
	return fflush(stdout) ? -errno : 0;
}

static int top_batch(struct top_job *job)
{
	struct top_sampler sampler = { 0 };
	struct top_picture picture = { 0 };
	int result = top_sampler_start(&sampler);
	uint32_t round;

	if (!result)
		result = top_sample(&sampler, &job->source, NULL);
	for (round = 0; !result && !top_stop_signal && !job->source.ended &&
			(!job->rounds || round < job->rounds); round++)
		result = next_round(job, &sampler, &picture, !round);
	top_sampler_free(&sampler);
	top_picture_free(&picture);
	/* the reader of the pipe has closed it: not an error */
	if (result == -EPIPE) {
		__fpurge(stdout);
		clearerr(stdout);
		return EXIT_FINE;
	}
	return result ? complain("%s: %s", job->source.called, strerror(-result)) :
			EXIT_FINE;
}

/* ---- options ---- */

static int take_view(struct top_job *job, const char *value)
{
	char text[128] = "";
	unsigned int i;

	for (i = 0; top_view_name(i); i++) {
		if (!strcmp(value, top_view_name(i))) {
			job->look.view = i;
			return EXIT_FINE;
		}
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			 i ? ", " : "", top_view_name(i));
	}
	return misused(&cmd_top, "there is no view '%s'; there are %s", value, text);
}

static int take_delay(struct top_job *job, const char *value)
{
	if (parse_seconds(value, &job->look.interval) || job->look.interval < 0.1 ||
	    job->look.interval > 3600)
		return misused(&cmd_top, "interval: '%s' is not a time from 100ms to 1h", value);
	return EXIT_FINE;
}

/* Returns EXIT_FINE, another EXIT_* after complaining, or -1: another option */
static int take_option(struct top_job *job, int option, const char *value)
{
	struct top_source *source = &job->source;
	const struct option_value values[] = {
		{ OPTION_SORT, .text = &job->sort }, { OPTION_FILTER, .text = &job->filter },
		{ 'i', .text = &source->input }, { 'p', .text = &source->provider },
		{ OPTION_BATCH, .flag = &job->batch }, { 'a', .flag = &job->look.quiet }, { 0 },
	};
	int taken;

	if (take_value(values, option, value))
		return EXIT_FINE;
	switch (option) {
	case OPTION_DELAY:
		return take_delay(job, value);
	case 'n':
		return !parse_u32(value, 1, UINT32_MAX, &job->rounds) ? EXIT_FINE :
		       misused(&cmd_top, "'%s' is not a number of rounds", value);
	case OPTION_VIEW:
		return take_view(job, value);
	case OPTION_SYSCALLS:
		job->choosing = true;
		return choice_add(&cmd_top, &source->choice, EVENTS_CALLS, false);
	case 'e':
		job->choosing = true;
		return choice_add(&cmd_top, &source->choice, value, false);
	case 'c':
	case OPTION_BUFFERS:
	case OPTION_ELEMENTS:
		job->choosing = true;
		taken = setup_option(&cmd_top, option == OPTION_BUFFERS ? 'b' :
				     option == OPTION_ELEMENTS ? 'B' : 'c', value,
				     &source->setup);
		return taken < 0 ? EXIT_USAGE : EXIT_FINE;
	}
	return -1;
}

static int check(struct top_job *job)
{
	struct top_source *source = &job->source;

	if (source->provider && source->input)
		return misused(&cmd_top, "one recording at a time: -p and -i exclude each other");
	if ((source->provider || source->input) && job->choosing)
		return misused(&cmd_top, "%s looks at a recording as it is: it excludes --syscalls, -e, -c, --buffers and --elements",
			       source->input ? "-i" : "-p");
	if (job->sort && !top_sort_by(&job->look, job->sort))
		return misused(&cmd_top, "the view of %s has no column '%s'",
			       top_view_name(job->look.view), job->sort);
	if (job->filter)
		snprintf(job->look.filter[job->look.view], TOP_NAME, "%s", job->filter);
	if (!job->batch && !isatty(STDOUT_FILENO))
		return complain("standard output is no terminal: 'tracebuf top --batch' writes text, with '-n N' for N intervals");
	if (!job->batch && !source->input && !isatty(STDIN_FILENO))
		return complain("standard input is no terminal, so there are no keys: 'tracebuf top --batch' needs none");
	if (!source->setup.config.buffers)
		source->setup.config.buffers = BUFFERS;
	source->choice.form = TB_FORM_COMPACT;
	source->grows = !job->batch;
	/* events are shown so much later; a shorter delay costs more processor time */
	source->hold_ms = job->look.interval < 0.4 ? 50 : job->look.interval < 1 ? 100 : 200;
	return EXIT_FINE;
}

static int run_top(struct top_job *job)
{
	struct top_source *source = &job->source;
	char name[TB_PROVIDER_NAME_MAX];
	const struct tb_error *fault;
	int result, status, closed;

	catch_signals();
	snprintf(name, sizeof(name), "top-%ld", (long)getpid());
	result = top_guard_start(&source->guard, name);
	if (result)
		return complain("cannot start the process that cleans up: %s", strerror(-result));
	status = top_source_open(source);
	if (status == EXIT_FINE)
		status = job->batch ? top_batch(job) :
				      top_screen(source, &job->look, job->rounds);
	fault = source->cursor ? tb_cursor_fault(source->cursor) : NULL;
	if (fault)
		status = complain_file(source->called, fault);
	fault = source->trace ? tb_trace_fault(source->trace) : NULL;
	if (fault)
		status = complain_file(source->called, fault);
	if (source->ended && !source->input)
		note("the recording of '%s' has been stopped", source->name);
	closed = top_source_close(source);
	return status == EXIT_FINE ? closed : status;
}

static int top_run(int argc, char **argv)
{
	struct top_job job = { .look = { .interval = 1 } };
	int option, status;

	top_look_start(&job.look);
	status = choice_add(&cmd_top, &job.source.choice, EVENTS, true);
	while (status == EXIT_FINE &&
	       (option = next_option(&cmd_top, "", argc, argv)) >= 0) {
		status = take_option(&job, option, optarg);
		if (status < 0) {
			choice_free(&job.source.choice);
			return show_help(&cmd_top, option);
		}
	}
	if (status == EXIT_FINE && optind < argc)
		status = misused(&cmd_top, "'%s' is too much", argv[optind]);
	if (status == EXIT_FINE)
		status = check(&job);
	if (status == EXIT_FINE)
		status = run_top(&job);
	choice_free(&job.source.choice);
	return status;
}
