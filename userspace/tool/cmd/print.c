// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf print - print one event a line, all CPUs in time order.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "analysis/files.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/command/option_value.h"
#include "tool/export/export.h"
#include "tool/show/frames.h"
#include "tool/show/input.h"
#include "tool/show/print_line.h"
#include "tool/show/selection.h"

struct print {
	const char *file;
	struct selection selection;
	struct symbols symbols;
	struct print_line line;
	struct jsonl *jsonl;		/* NULL: text */
	bool verbose, fields, objects, with_files;
	struct files *files;		/* NULL: not wanted */
	uint64_t max, printed;
};

static int print_run(int argc, char **argv);

const struct command cmd_print = {
	.name  = "print",
	.run   = print_run,
	.brief = "show a trace as text, one event a line",
	.help  =
	"usage: tracebuf print [OPTIONS] [FILE]\n"
	"\n"
	"Shows a trace file (" DEFAULT_FILE "; '-' is standard input) in time order:\n"
	"\n"
	"  task-tid [cpu] context time: system:event: text\n"
	"\n"
	"The text is that of the event's print format, as the kernel shows it, with the\n"
	"names of system calls and signals. With --fields, and for events without a print\n"
	"format, it is name=value of all fields.\n"
	"The first character of the context: h in a hard interrupt,\n"
	"s in a softirq, H in a hard interrupt inside a softirq, z in an NMI;\n"
	"its second: the preemption depth. Where events are missing, a line between '--'\n"
	"says how many, why and when.\n"
	"\n"
	"Events of programs (libtracebuf) are shown at the time at which they were\n"
	"written. Their CPU is not known: it is shown as '...', and --cpu leaves them out:\n"
	"\n"
	"  task-tid [...] .. time: user:CATEGORY: begin NAME argument=value\n"
	"\n"
	"  -i, --input FILE      the same as FILE\n"
	SELECTION_HELP
	EVENT_FILTER_HELP
	"  -n, --max N           stop after N lines\n"
	"      --raw-ticks       show ticks of the trace clock, not seconds\n"
	"      --containers      show the container of each thread behind its name\n"
	"      --files           show the files behind the numbers in system calls. With --from,\n"
	"                        the recording is read from its beginning\n"
	"      --fields          show name=value of all fields\n"
	"      --jsonl           print one JSON object per event (docs/export.md)\n"
	"  -k, --kallsyms FILE   take the names of functions from FILE: /proc/kallsyms of\n"
	"                        the recorded system (as root), or a copy\n"
	DEBUG_DIR_HELP
	"  -v, --verbose         show control events, too (clock, threads, chunks), and which\n"
	"                        print formats could not be used\n"
	"  -h, --help            show this text\n",
};

static int print_events(struct print *print, struct tb_trace *trace)
{
	struct selection *selection = &print->selection;
	const struct tb_error *fault;
	struct tb_cursor *cursor;
	struct tb_view view;
	int result;

	result = tb_cursor_open(trace, &cursor);
	if (result >= 0 && selection->from.given && !print->files)
		result = tb_cursor_seek(cursor, selection->from_ticks);
	while (result >= 0 && print->printed < print->max &&
	       (result = next_event(cursor, &view)) > 0 &&
	       !selection_over(selection, &view)) {
		if (print->files)
			result = files_reach(print->files, &view);
		if (result >= 0 && selection_wants(selection, &view)) {
			if (print->jsonl)
				jsonl_event(print->jsonl, &view);
			else
				print_line(stdout, &print->line, &view);
			print->printed++;
		}
		if (print->files && result >= 0)
			result = files_take(print->files, &view, view.ns);
	}
	if (result < 0) {
		tb_cursor_close(cursor);
		return complain("%s: %s", print->file, strerror(-result));
	}
	if (selection_note_gaps(selection, trace, print->file)) {
		tb_cursor_close(cursor);
		return complain("out of memory");
	}
	fault = tb_cursor_fault(cursor);
	result = fault ? complain_file(print->file, fault) : EXIT_FINE;
	if (tb_cursor_uncommitted(cursor))
		note("%s: %" PRIu64 " event%s had not been written completely and %s left out",
		     print->file, tb_cursor_uncommitted(cursor),
		     plural(tb_cursor_uncommitted(cursor)),
		     was(tb_cursor_uncommitted(cursor)));
	tb_cursor_close(cursor);
	return result;
}

static int print_objects(struct print *print, struct tb_trace *trace)
{
	int result;

	print->jsonl = jsonl_open(trace, stdout, print->selection.base);
	if (!print->jsonl)
		return complain("out of memory");
	result = print_events(print, trace);
	/* main() checks stdout for errors */
	jsonl_close(print->jsonl);
	print->jsonl = NULL;
	return result;
}

static int print_recording(struct print *print, struct tb_trace *trace)
{
	int result;

	result = selection_start(&print->selection, trace, print->file);
	if (result != EXIT_FINE)
		return result;
	if (print->objects)
		return print_objects(print, trace);
	print->line.trace = trace;
	print->line.base = print->selection.base;
	if (print->fields)
		return print_events(print, trace);
	print->line.formats = print_format_open(trace, &print->symbols);
	if (!print->line.formats)
		return complain("out of memory");
	if (print->with_files) {
		print->files = files_open(trace);
		if (!print->files) {
			print_format_close(print->line.formats);
			return complain("out of memory");
		}
	}
	print->line.files = print->files;
	result = print_events(print, trace);
	files_close(print->files);
	print->files = NULL;
	if (print->verbose)
		print_format_complain(print->line.formats);
	print_format_close(print->line.formats);
	print->line.formats = NULL;
	return result;
}

static void print_heading(const struct print *print, unsigned int number,
			  unsigned int count)
{
	if (print->objects)
		printf("{\"type\":\"recording\",\"number\":%u,\"of\":%u}\n",
		       number, count);
	else
		printf("# recording %u of %u\n", number, count);
}

static int print_recordings(struct print *print, struct tb_trace *trace)
{
	unsigned int first, count, i;
	int result = EXIT_FINE, status;

	status = selection_recordings(&print->selection, trace, print->file, &first, &count);
	if (status != EXIT_FINE)
		return status;
	status = selection_check(&print->selection, trace, print->file, first,
				 count);
	for (i = first; status != EXIT_WRONG && i < first + count &&
			(i == first || print->printed < print->max); i++) {
		tb_trace_select(trace, i);
		if (count > 1)
			print_heading(print, i + 1, count);
		result = print_recording(print, trace);
		if (result)
			status = result;
	}
	/* with --max 0 no event is wanted */
	if (i > first && print->max && result == EXIT_FINE &&
	    selection_found(&print->selection, trace, print->file))
		status = EXIT_WRONG;
	return status;
}

static int print_trace(struct print *print)
{
	const struct tb_error *fault;
	struct tb_trace *trace;
	int status;

	if (input_open(print->file, &trace))
		return EXIT_WRONG;
	status = print_recordings(print, trace);
	fault = tb_trace_fault(trace);
	if (fault && print->printed < print->max) {
		status = complain_file(print->file, fault);
		note("%zu block%s could be read, %" PRIu64 " line%s %s printed",
		     tb_trace_blocks(trace), plural(tb_trace_blocks(trace)),
		     print->printed, plural(print->printed), was(print->printed));
	}
	tb_trace_close(trace);
	return status;
}

static int print_run(int argc, char **argv)
{
	struct print print = { .file = NULL, .max = UINT64_MAX };
	struct selection *selection = &print.selection;
	const char *kallsyms = NULL;
	uint32_t number;
	const struct option_value values[] = {
		{ 'i', .text = &print.file }, { 'k', .text = &kallsyms },
		{ OPTION_RAW_TICKS, .flag = &print.line.ticks },
		{ OPTION_CONTAINERS, .flag = &print.line.containers },
		{ OPTION_FILES, .flag = &print.with_files },
		{ OPTION_FIELDS, .flag = &print.fields }, { OPTION_JSONL, .flag = &print.objects },
		{ 0 },
	};
	int option, taken, status = EXIT_FINE;

	while ((option = next_option(&cmd_print, "", argc, argv)) >= 0) {
		taken = selection_option(&cmd_print, option, optarg, selection);
		if (taken < 0)
			return EXIT_USAGE;
		if (taken || take_value(values, option, optarg))
			continue;
		switch (option) {
		case 'n':
			if (parse_u32(optarg, 0, UINT32_MAX, &number))
				return misused(&cmd_print, "'%s' is not a number of lines",
					       optarg);
			print.max = number;
			break;
		case OPTION_DEBUG_DIR:
			frames_debug_dir(optarg);
			break;
		case 'v':
			selection->control = print.verbose = true;
			break;
		default:
			return show_help(&cmd_print, option);
		}
	}
	if (print.line.ticks && selection->base != TB_TIME_MONOTONIC)
		return misused(&cmd_print, "--raw-ticks and --time exclude each other");
	if (print.objects && (print.line.ticks || print.fields || print.line.containers))
		return misused(&cmd_print, "--jsonl has nanoseconds, all fields, and containers: it excludes --raw-ticks, --fields and --containers");
	if (print.with_files && (print.objects || print.fields))
		return misused(&cmd_print, "--files excludes --jsonl and --fields: 'query' has files in _object");
	if (input_choose(&cmd_print, argc, argv, &print.file))
		return EXIT_USAGE;
	if (kallsyms)
		status = symbols_load(&print.symbols, kallsyms);
	if (!status)
		status = print_trace(&print);
	if (!status)
		frames_remarks(stderr);
	symbols_free(&print.symbols);
	selection_free(selection);
	return status;
}
