// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf flamegraph - merge the stacks of events, and draw them, or write text for other tools.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/command/option_value.h"
#include "tool/export/common.h"
#include "tool/export/output.h"
#include "tool/flame/flame.h"
#include "tool/show/frames.h"
#include "tool/show/input.h"

struct flame_job {
	struct flame flame;
	struct flame_look look;
	const char *file, *output, *title;
	bool collapsed, quiet;
};

static int flamegraph_run(int argc, char **argv);

const struct command cmd_flamegraph = {
	.name  = "flamegraph",
	.run   = flamegraph_run,
	.brief = "draw the stacks of events",
	.help  =
	"usage: tracebuf flamegraph [OPTIONS] [FILE]\n"
	"\n"
	"Merges the stacks of a trace's events (" DEFAULT_FILE "; '-' is standard input) and\n"
	"draws them: callers below, callees above, each as wide as it is frequent or long.\n"
	"The picture is one SVG file for any browser: click to zoom, / to search.\n"
	"'record -e EVENT:stack' records stacks of the kernel, ':ustack' those of programs.\n"
	"\n"
	"  -o, --output FILE     write to FILE (FILE.svg beside the trace; collapsed:\n"
	"                        standard output)\n"
	"      --collapsed       write 'thread;frame;frame WEIGHT' lines for flamegraph.pl,\n"
	"                        speedscope and others; times are ns\n"
	"      --weight WHAT     events: how many (default)\n"
	"                        off-cpu: from sched_switch until the thread runs again\n"
	"                        on-cpu: until sched_switch, since the thread was switched to\n"
	"                        field=NAME: the sum of this field of the events\n"
	"      --unfinished      off-cpu: count threads that do not run again, to the end\n"
	"      --reverse         draw the innermost frames first: who calls them\n"
	"      --inverted        draw callers on top (an icicle graph)\n"
	"      --threads         draw each thread by itself; else threads of one name are one\n"
	"      --kernel          draw only frames of the kernel\n"
	"      --user            draw only frames of programs\n"
	"      --title TEXT      the picture's title\n"
	"      --width PIXELS    the picture's width where no window sets it (1200)\n"
	"      --min-width PIXELS  do not draw frames that are narrower (0.1)\n"
	"  -i, --input FILE      the same as FILE\n"
	SELECTION_HELP
	"  -k, --kallsyms FILE   names of functions that the trace does not name:\n"
	"                        /proc/kallsyms of the recorded system\n"
	DEBUG_DIR_HELP
	"  -q, --quiet           no remarks on standard error\n"
	"  -h, --help            show this text\n",
	.whole =
	"a flame graph sums all that a thread does: choose with --events, --cpu, --tid, --pid, "
	"--comm or --cgroup",
};

/* ---- options ---- */

static int take_weight(struct flame *flame, const char *value)
{
	if (!strcmp(value, "events"))
		flame->weight = FLAME_EVENTS;
	else if (!strcmp(value, "off-cpu"))
		flame->weight = FLAME_OFF_CPU;
	else if (!strcmp(value, "on-cpu"))
		flame->weight = FLAME_ON_CPU;
	else if (!strncmp(value, "field=", 6) && value[6])
		flame->weight = FLAME_FIELD;
	else
		return misused(&cmd_flamegraph, "weight: '%s' is not events, off-cpu, on-cpu or field=NAME",
			       value);
	flame->field = flame->weight == FLAME_FIELD ? value + 6 : NULL;
	return EXIT_FINE;
}

static int take_least(struct flame_look *look, const char *value)
{
	const char *end = parse_decimal(value, &look->least);

	if (end && !*end && look->least <= 1000)
		return EXIT_FINE;
	return misused(&cmd_flamegraph, "narrowest frame: '%s' is not a number of pixels from 0 to 1000",
		       value);
}

static int take_option(struct flame_job *job, int option, const char *value)
{
	struct flame *flame = &job->flame;
	const struct option_value values[] = {
		{ 'o', .text = &job->output }, { 'i', .text = &job->file },
		{ OPTION_TITLE, .text = &job->title }, { 'q', .flag = &job->quiet },
		{ OPTION_COLLAPSED, .flag = &job->collapsed },
		{ OPTION_UNFINISHED, .flag = &flame->unfinished },
		{ OPTION_REVERSE, .flag = &flame->reverse },
		{ OPTION_INVERTED, .flag = &job->look.inverted },
		{ OPTION_THREADS, .flag = &flame->threads },
		{ OPTION_KERNEL, .flag = &flame->no_user },
		{ OPTION_USER, .flag = &flame->no_kernel }, { 0 },
	};

	if (take_value(values, option, value))
		return EXIT_FINE;
	switch (option) {
	case OPTION_DEBUG_DIR:
		frames_debug_dir(value);
		break;
	case 'k':
		return symbols_load(&flame->symbols, value);
	case OPTION_WEIGHT:
		return take_weight(flame, value);
	case OPTION_WIDTH:
		if (parse_u32(value, 200, 100000, &job->look.width))
			return misused(&cmd_flamegraph, "width: '%s' is not a number of pixels from 200 to 100000",
				       value);
		break;
	case OPTION_MIN_WIDTH:
		return take_least(&job->look, value);
	}
	return EXIT_FINE;
}

static int check_options(const struct flame_job *job)
{
	const struct flame *flame = &job->flame;

	if (flame->no_kernel && flame->no_user)
		return misused(&cmd_flamegraph, "--kernel and --user exclude each other: to draw both, give neither");
	if (flame->unfinished && flame->weight != FLAME_OFF_CPU)
		return misused(&cmd_flamegraph, "--unfinished needs --weight off-cpu");
	if (job->collapsed && job->look.inverted)
		return misused(&cmd_flamegraph, "--inverted changes only the picture: it excludes --collapsed");
	return EXIT_FINE;
}

/* ---- checking the trace ---- */

static bool has_switch(const struct selection *selection, const struct tb_trace *trace)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(trace, i)); i++)
		if (!strcmp(format->system, "sched") &&
		    !strcmp(format->name, "sched_switch") &&
		    (!selection->wanted || selection->wanted[i]))
			return true;
	return false;
}

static bool has_field(const struct flame *flame, const struct tb_trace *trace)
{
	const struct tb_format_field *field;
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(trace, i)); i++) {
		if (flame->selection.wanted && !flame->selection.wanted[i])
			continue;
		field = tb_format_field(format, flame->field);
		if (field && field->width && !tb_field_is_text(field) && !field->count)
			return true;
	}
	return false;
}

static int check_trace(const struct flame_job *job, const struct tb_trace *trace)
{
	const struct flame *flame = &job->flame;

	if ((flame->weight == FLAME_OFF_CPU || flame->weight == FLAME_ON_CPU) &&
	    !has_switch(&flame->selection, trace))
		return complain("%s: times on and off the CPU need sched_switch, which is not %s: record it with 'tracebuf record -e sched_switch:stack'",
				job->file, flame->selection.wanted ? "among the events chosen" :
				"in the trace");
	if (flame->weight == FLAME_FIELD && !has_field(flame, trace))
		return complain("%s: none of the events chosen has a number '%s' ('tracebuf list -v -i' shows their fields)",
				job->file, flame->field);
	return EXIT_FINE;
}

/* Nothing to draw: complain that events or stacks are missing, unless remarks() says why */
static int explain_empty(const struct flame_job *job, struct tb_trace *trace)
{
	const struct flame *flame = &job->flame;

	if (flame->pending || flame->torn || flame->unknown || flame->negative || flame->idle)
		return EXIT_FINE;
	if (!flame->stackless && selection_found(&flame->selection, trace, job->file))
		return EXIT_WRONG;
	if (!flame->stackless)
		return complain("%s: there are no events to show; 'tracebuf record -e EVENT:stack' "
				"records stacks, of programs with ':ustack'", job->file);
	return complain("%s: none of %llu events has a stack%s: record them with 'tracebuf record -e %s:stack', with those of programs ':stack:ustack'",
			job->file, (unsigned long long)flame->stackless,
			flame->no_kernel ? " of a program" : flame->no_user ?
			" of the kernel" : "",
			flame->selection.patterns.count ?
			flame->selection.patterns.list[0] : "sched_switch");
}

/* ---- writing ---- */

static void remarks(const struct flame_job *job)
{
	char text[512];
	unsigned int i;

	for (i = 0; !job->quiet && flame_remark(&job->flame, i, text, sizeof(text)); i++)
		note("%s: %s", job->file, text);
	if (!job->quiet)
		frames_remarks(stderr);
}

static int write_result(struct flame_job *job)
{
	struct output output;
	char title[512];
	int result, status;

	status = output_open(&output, job->output, job->file, OUTPUT_STREAM);
	if (status != EXIT_FINE) {
		output_drop(&output);
		return status;
	}
	if (!job->title)
		job->title = job->file;
	export_clean(title, job->title, strnlen(job->title, sizeof(title) - 1));
	job->look.title = title;
	result = job->collapsed ? flame_collapsed(&job->flame, output.stream) :
				  flame_svg(&job->flame, &job->look, output.stream);
	if (result) {
		output_drop(&output);
		return complain("%s: %s", job->output, strerror(-result));
	}
	status = output_finish(&output);
	if (status == EXIT_FINE)
		remarks(job);
	if (status == EXIT_FINE && !job->collapsed && !job->quiet && strcmp(job->output, "-"))
		fprintf(stderr, "%s: open it in a browser\n", job->output);
	return status;
}

static int flame_recording(struct flame_job *job, struct tb_trace *trace)
{
	struct flame *flame = &job->flame;
	unsigned int number;
	int result, status;

	status = selection_one(&flame->selection, trace, job->file, "shown", &number);
	if (status == EXIT_FINE)
		status = check_trace(job, trace);
	if (status != EXIT_FINE)
		return status;
	result = flame_collect(flame, trace, job->quiet);
	if (result)
		return complain("%s: %s", job->file, strerror(-result));
	if (!flame->tree.nodes[0].total)
		status = explain_empty(job, trace);
	if (status == EXIT_FINE)
		status = write_result(job);
	if (flame->damaged)
		status = complain_file(job->file, &flame->fault);
	return status;
}

static int flame_file(struct flame_job *job)
{
	struct tb_trace *trace;
	char *made = NULL;
	int status;

	if (input_open(job->file, &trace))
		return EXIT_WRONG;
	if (!job->output)
		job->output = made = job->collapsed || !strcmp(job->file, "-") ?
				     strdup("-") : file_with_ending(job->file, ".svg");
	status = job->output ? flame_recording(job, trace) :
			       complain("out of memory");
	free(made);
	return input_close(job->file, trace, status);
}

static int flamegraph_run(int argc, char **argv)
{
	struct flame_job job = { .look = { .width = 1200, .least = 0.1 } };
	int option, taken, status = EXIT_FINE;

	while (status == EXIT_FINE &&
	       (option = next_option(&cmd_flamegraph, "", argc, argv)) >= 0) {
		taken = selection_option(&cmd_flamegraph, option, optarg,
					 &job.flame.selection);
		if (taken < 0)
			status = EXIT_USAGE;
		else if (!taken && (option == 'h' || option == '?'))
			return show_help(&cmd_flamegraph, option);
		else if (!taken)
			status = take_option(&job, option, optarg);
	}
	if (status == EXIT_FINE)
		status = check_options(&job);
	if (status == EXIT_FINE)
		status = input_choose(&cmd_flamegraph, argc, argv, &job.file);
	if (status == EXIT_FINE)
		status = flame_file(&job);
	flame_tree_free(&job.flame.tree);
	symbols_free(&job.flame.symbols);
	selection_free(&job.flame.selection);
	return status;
}
