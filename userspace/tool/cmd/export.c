// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - convert a trace for another program.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/command/option_value.h"
#include "tool/export/export.h"
#include "tool/export/output.h"
#include "tool/export/progress.h"
#include "tool/show/frames.h"
#include "tool/show/print_format.h"
#include "tool/show/selection.h"
#include "tool/show/values.h"
#include "tool/show/why_threads.h"
#include "tool/command/signals.h"
#include "tool/show/input.h"

/* A build may leave these exporters out */
#pragma weak tb_export_perfetto
#pragma weak tb_export_sqlite
#pragma weak tb_export_ctf

static int export_run(int argc, char **argv);

enum {
	EXPORT_BINARY	 = 0x01,	/* not for a terminal */
	EXPORT_PATH	 = 0x02,	/* the exporter opens the output file itself */
	EXPORT_DIRECTORY = 0x04,	/* the output is a directory */
	EXPORT_CONTROL	 = 0x08,	/* the exporter gets control events, and all TB_EV_THREAD */
	EXPORT_LINES	 = 0x10,	/* lines of text; control events only with -v */
	EXPORT_WHY	 = 0x20,	/* has tracks of causes (--why) */
	EXPORT_RUNS	 = 0x40,	/* gets the switches and wake-ups of all threads */
	EXPORT_SLICES	 = 0x80,	/* gets the events of all threads and CPUs, for slices */
};

static const struct format {
	const char *name;
	const char *ending;
	tb_exporter *export;
	const char *hint;	/* how to open the output */
	unsigned int flags;
} formats[] = {
	{ "perfetto", ".pftrace", tb_export_perfetto, "open it at https://ui.perfetto.dev",
	  EXPORT_BINARY | EXPORT_CONTROL | EXPORT_WHY | EXPORT_RUNS },
	{ "fxt", ".fxt", tb_export_fxt, "open it at https://ui.perfetto.dev",
	  EXPORT_BINARY | EXPORT_CONTROL | EXPORT_RUNS },
	{ "ctf", ".ctf", tb_export_ctf,
	  "read it with babeltrace2, or open it in Trace Compass",
	  EXPORT_DIRECTORY | EXPORT_CONTROL },
	{ "json", ".json", tb_export_json,
	  "open it at https://ui.perfetto.dev, or in Chrome at chrome://tracing",
	  EXPORT_SLICES },
	{ "jsonl", ".jsonl", tb_export_jsonl, NULL, EXPORT_LINES },
	{ "text", ".txt", tb_export_text, NULL, EXPORT_LINES },
	{ "csv", ".csv", tb_export_csv, NULL, EXPORT_LINES },
	{ "sqlite", ".sqlite", tb_export_sqlite, "look into it with sqlite3",
	  EXPORT_BINARY | EXPORT_PATH | EXPORT_SLICES },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct command cmd_export = {
	.name  = "export",
	.run   = export_run,
	.brief = "convert a trace for another program (Perfetto, CTF, JSON, SQLite, ...)",
	.help  =
	"usage: tracebuf export [--format FORMAT] [-o OUT] [OPTIONS] [FILE]\n"
	"\n"
	"Converts a trace file (" DEFAULT_FILE "; '-' is standard input).\n"
	"\n"
	"      --format FORMAT   one of:\n"
	"                          perfetto  a native Perfetto trace (default)\n"
	"                          fxt       Fuchsia's trace format\n"
	"                          ctf       a directory in the Common Trace Format; needs Babeltrace 2\n"
	"                          json      Chrome's trace event format\n"
	"                          jsonl     one JSON object per event, a line each\n"
	"                          text      what print shows\n"
	"                          csv       a table; with -e EVENT a column for each of its fields\n"
	"                          sqlite    a database: a table for each event, views for latencies\n"
	"  -o, --output OUT      write to OUT (FILE with the format's ending); '-': standard\n"
	"                        output\n"
	"  -i, --input FILE      the same as FILE\n"
	SELECTION_HELP
	EVENT_FILTER_HELP
	"                        (text, jsonl and csv alone)\n"
	"      --why THREADS     perfetto: for each of these threads, 16 at most, a track that\n"
	"                        shows where its time went, as 'tracebuf why' does; TIDs\n"
	"                        and names, with * and ?: --why 'worker*,131'\n"
	"      --jsonl           the same as --format jsonl\n"
	"      --fields          text: show name=value of all fields\n"
	"  -k, --kallsyms FILE   text: take the names of functions from FILE, as print does\n"
	DEBUG_DIR_HELP
	"  -q, --quiet           no progress, no hints\n"
	"  -v, --verbose         say what could not be converted; in text, csv and jsonl show\n"
	"                        control events, too\n"
	"  -h, --help            show this text\n"
	"\n"
	"An existing file is replaced when the new one is complete; a directory must be\n"
	"new or empty. perfetto and fxt have times of CLOCK_BOOTTIME, ctf those of\n"
	"CLOCK_MONOTONIC, whatever -T says.\n",
};

/* ---- selecting events ---- */

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

/* A second signal ends the program at once */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND,
	};
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!signal_ignored(signals[i]))
			sigaction(signals[i], &action, NULL);
}

/**
 * struct walk - the events that an exporter gets
 * @flags: EXPORT_* of the format
 * @selected: the user selected the last event
 * @threads: cursor over durable blocks before the selection; NULL: at its end, or not needed
 * @begun: the exporter's cursor is at the beginning of the selection
 * @damaged: @damage describes the first damaged block
 * @uncommitted: events left out because they had not been written completely
 */
struct walk {
	struct selection *selection;
	struct tb_trace *trace;
	unsigned int flags;
	struct tb_cursor *threads;
	bool begun, selected;
	struct progress progress;
	struct tb_error damage;
	bool damaged;
	uint64_t uncommitted;
};

static void walk_over(void *context, const struct tb_error *damage,
		      uint64_t uncommitted)
{
	struct walk *walk = context;

	walk->damaged = damage != NULL;
	if (damage)
		walk->damage = *damage;
	walk->uncommitted = uncommitted;
}

/*
 * Go to the beginning of the selection.  For exporters that need all threads, open a second cursor
 * for the records of threads in earlier durable blocks.  It leaves out all rings.
 */
static int walk_begin(struct walk *walk, struct tb_cursor *cursor)
{
	const struct selection *selection = walk->selection;
	unsigned int cpus = tb_trace_nr_cpus(walk->trace);
	struct tb_choice choice = {
		.nr_cpus = cpus, .flags = TB_CHOICE_NO_USER, .until = selection->from_ticks,
	};
	unsigned char *none;
	int result;

	walk->begun = true;
	if (!selection->from.given)
		return 0;
	result = tb_cursor_seek(cursor, selection->from_ticks);
	if (result || !selection->threads || !selection->from_ticks)
		return result;
	none = calloc(cpus + 1, 1);
	if (!none)
		return -ENOMEM;
	choice.cpus = none;
	result = tb_cursor_open(walk->trace, &walk->threads);
	if (!result)
		result = tb_cursor_choose(walk->threads, &choice);
	free(none);
	return result;
}

static void walk_end(struct walk *walk)
{
	tb_cursor_close(walk->threads);
	walk->threads = NULL;
}

/* The next record of a thread before the selection; returns as tb_cursor_next() */
static int next_thread(struct walk *walk, struct tb_view *view)
{
	int result;

	do
		result = next_event(walk->threads, view);
	while (result > 0 && (view->kind != TB_VIEW_EVENT || view->id != TB_EV_THREAD ||
			      view->ticks >= walk->selection->from_ticks));
	if (!result)
		walk_end(walk);
	return result;
}

static bool shows_runs(const struct tb_format *format)
{
	return format && (!strcmp(format->name, "sched_switch") ||
			  !strcmp(format->name, "sched_waking") ||
			  !strcmp(format->name, "sched_wakeup") ||
			  !strcmp(format->name, "sched_wakeup_new"));
}

/* True if the exporter gets @view.  With -C, draw only the runs of these CPUs */
static bool takes(struct walk *walk, struct tb_view *view)
{
	struct selection *selection = walk->selection;

	walk->selected = selection_wants(selection, view);
	walk->progress.events += walk->selected;
	if (walk->selected)
		return true;
	if (view->ticks < selection->from_ticks || view->user || is_control(view) ||
	    !selection_wants_event(selection, view))
		return false;
	/* the stacks and counters are those of threads that the user did not select */
	view->nr_stack = view->nr_user_stack = view->counter_mask = 0;
	return walk->flags & EXPORT_SLICES ||
	       (walk->flags & EXPORT_RUNS && shows_runs(view->format) &&
		selection_wants_cpu(selection, view->cpu));
}

static int next_wanted(void *context, struct tb_cursor *cursor,
		       struct tb_view *view)
{
	struct walk *walk = context;
	int result;

	if (!cursor) {
		walk_end(walk);
		walk->begun = false;
		return 0;
	}
	result = walk->begun ? 0 : walk_begin(walk, cursor);
	if (!result && walk->threads)
		result = next_thread(walk, view);
	if (result)
		return result;
	do {
		if (stop_signal)
			return -EINTR;
		result = next_event(cursor, view);
		if (result > 0 && selection_over(walk->selection, view))
			result = 0;
		if (result <= 0) {
			walk_over(walk, tb_cursor_fault(cursor),
				  tb_cursor_uncommitted(cursor));
			return result;
		}
		progress_step(&walk->progress, view);
	} while (!takes(walk, view));
	return result;
}

/* Are all wanted formats forms of the same event? */
static bool is_one_event(const struct selection *selection,
			 const struct tb_trace *trace)
{
	const struct tb_format *format, *first = NULL;
	unsigned int i;

	if (!selection->wanted || selection->users)
		return false;
	for (i = 0; (format = tb_trace_format_at(trace, i)); i++) {
		if (!selection->wanted[i])
			continue;
		if (first && (strcmp(first->name, format->name) ||
			      strcmp(first->system, format->system)))
			return false;
		first = format;
	}
	return first;
}

/* ---- converting ---- */

struct job {
	const char *file, *output, *kallsyms, *why;
	const struct format *format;
	struct selection selection;
	struct symbols symbols;
	struct why_threads why_threads;
	bool verbose, quiet, fields;
};

/* Complain about damage of the trace; EXIT_* */
static int report(const struct job *job, const struct tb_trace *trace,
		  const struct walk *walk)
{
	const struct tb_error *fault = tb_trace_fault(trace);

	if (walk->uncommitted && (job->format->flags & EXPORT_LINES))
		note("%s: %llu event%s had not been written completely and %s left out",
		     job->file, (unsigned long long)walk->uncommitted,
		     plural(walk->uncommitted), was(walk->uncommitted));
	if (walk->damaged) {
		complain_file(job->file, &walk->damage);
		if (!fault)
			return complain("%s has the events of all blocks but the damaged ones",
					job->output);
	}
	if (!fault)
		return EXIT_FINE;
	complain_file(job->file, fault);
	return complain("%s holds what comes before", job->output);
}

static enum output_kind kind_of(const struct format *format)
{
	return format->flags & EXPORT_DIRECTORY ? OUTPUT_DIRECTORY :
	       format->flags & EXPORT_PATH ? OUTPUT_PATH : OUTPUT_STREAM;
}

static int export_trace(struct job *job, struct tb_trace *trace,
			unsigned int recording)
{
	const struct selection *selection = &job->selection;
	struct walk walk = {
		.selection = &job->selection, .trace = trace, .flags = job->format->flags,
	};
	char text[256] = "";
	struct tb_export_options options = {
		.verbose = job->verbose,
		.error = text,
		.error_size = sizeof(text),
		.base = selection->base,
		.switches_from = walk.flags & EXPORT_RUNS && selection_of_cpus(selection, trace) ?
				 UINT64_MAX : selection_switches_from(selection),
		.wanted = selection->wanted,
		.next = next_wanted,
		.selected = &walk.selected,
		.selection = &job->selection,
		.found = &job->selection.found,
		.over = walk_over,
		.stop_signal = &stop_signal,
		.context = &walk,
		.symbols = &job->symbols,
		.why = job->why ? &job->why_threads : NULL,
		.fields = job->fields,
		.one_event = is_one_event(&job->selection, trace),
	};
	struct output output;
	int result, status;

	if (!strcmp(job->output, "-") && isatty(STDOUT_FILENO) &&
	    job->format->flags & EXPORT_BINARY)
		return complain("a binary trace is not written to a terminal: redirect standard output, or name a file (-o)");
	catch_signals();
	status = output_open(&output, job->output, job->file,
			     kind_of(job->format));
	if (status != EXIT_FINE) {
		output_drop(&output);
		return status;
	}
	options.path = output.path;
	progress_start(&walk.progress, trace, recording, job->quiet);
	result = job->format->export(trace, output.stream, &options);
	progress_end(&walk.progress);
	walk_end(&walk);
	if ((!result || result == -ENODATA) && selection_asks(selection) && !selection->found) {
		output_drop(&output);
		/* the events may be in the part that cannot be read */
		if (walk.damaged)
			complain_file(job->file, &walk.damage);
		else if (tb_trace_fault(trace))
			complain_file(job->file, tb_trace_fault(trace));
		return selection_found(selection, trace, job->file);
	}
	if (result < 0) {
		output_drop(&output);
		if (stop_signal)
			return complain("%s: not written: stopped by a signal",
					job->output);
		return complain("%s: %s", job->output,
				text[0] ? text : strerror(-result));
	}
	status = output_finish(&output);
	if (status == EXIT_FINE)
		status = report(job, trace, &walk);
	if (!job->quiet)
		frames_remarks(stderr);
	if (selection_note_gaps(&job->selection, trace, job->file))
		status = complain("out of memory");
	return status;
}

static int export_selected(struct job *job, struct tb_trace *trace)
{
	unsigned int number;
	int status;

	status = selection_one(&job->selection, trace, job->file, "exported", &number);
	if (status != EXIT_FINE)
		return status;
	/* Perfetto traces have times of this clock */
	if (job->why)
		status = why_threads_open(&job->why_threads, trace, job->file, &job->selection,
					  TB_TIME_BOOTTIME, job->why);
	if (status == EXIT_FINE)
		status = export_trace(job, trace, number);
	why_threads_close(&job->why_threads);
	return status;
}

static int export_file(struct job *job)
{
	struct tb_trace *trace;
	char *made = NULL;
	int status;

	if (input_open(job->file, &trace))
		return EXIT_WRONG;
	if (!job->output) {
		made = strcmp(job->file, "-") ?
		       file_with_ending(job->file, job->format->ending) : strdup("-");
		job->output = made;
	}
	status = job->output ? export_selected(job, trace) :
			       complain("out of memory");
	if (status == EXIT_FINE && strcmp(job->output, "-") && !job->quiet &&
	    job->format->hint)
		fprintf(stderr, "%s: %s\n", job->output, job->format->hint);
	free(made);
	tb_trace_close(trace);
	return status;
}

static int choose_format(struct job *job, const char *name)
{
	char text[256] = "";
	size_t i, used = 0;

	for (i = 0; i < NR_FORMATS; i++) {
		if (!strcmp(name, formats[i].name) || !strcmp(name, formats[i].ending + 1)) {
			job->format = &formats[i];
			return formats[i].export ? EXIT_FINE :
			       complain("this tracebuf was built without the %s exporter",
					name);
		}
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used, "%s%s",
						 !i ? "" : i + 1 < NR_FORMATS ?
						 ", " : " and ",
						 formats[i].name);
	}
	return misused(&cmd_export, "there is no format '%s'; there are %s",
		       name, text);
}

static int export_run(int argc, char **argv)
{
	struct job job = { .file = NULL };
	const char *format = "perfetto";
	const struct option_value values[] = {
		{ OPTION_FORMAT, .text = &format }, { 'o', .text = &job.output },
		{ 'i', .text = &job.file }, { OPTION_WHY, .text = &job.why },
		{ 'k', .text = &job.kallsyms }, { OPTION_FIELDS, .flag = &job.fields },
		{ 'q', .flag = &job.quiet }, { 'v', .flag = &job.verbose }, { 0 },
	};
	int option, taken, status;

	while ((option = next_option(&cmd_export, "", argc, argv)) >= 0) {
		taken = selection_option(&cmd_export, option, optarg,
					 &job.selection);
		if (taken < 0)
			return EXIT_USAGE;
		if (taken || take_value(values, option, optarg))
			continue;
		switch (option) {
		case OPTION_JSONL:
			format = "jsonl";
			break;
		case OPTION_DEBUG_DIR:
			frames_debug_dir(optarg);
			break;
		default:
			return show_help(&cmd_export, option);
		}
	}
	if (input_choose(&cmd_export, argc, argv, &job.file))
		return EXIT_USAGE;
	status = choose_format(&job, format);
	if (status == EXIT_FINE && job.why && !(job.format->flags & EXPORT_WHY))
		status = misused(&cmd_export, "--why is for the format perfetto, not for %s",
				 job.format->name);
	/* other formats have states, which are wrong if events are missing */
	if (status == EXIT_FINE && job.selection.filter.text &&
	    !(job.format->flags & EXPORT_LINES))
		status = misused(&cmd_export, "-f is a condition for text, jsonl and csv, not for %s; --format chooses the format",
				 job.format->name);
	if (status != EXIT_FINE)
		return status;
	job.selection.threads = job.format->flags & EXPORT_CONTROL;
	job.selection.control = job.format->flags & EXPORT_CONTROL ||
				(job.verbose && job.format->flags & EXPORT_LINES);
	if (job.kallsyms)
		status = symbols_load(&job.symbols, job.kallsyms);
	if (status == EXIT_FINE)
		status = export_file(&job);
	symbols_free(&job.symbols);
	selection_free(&job.selection);
	return status;
}
