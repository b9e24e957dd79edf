// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf print - one event a line, all CPUs in time order.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "print_format.h"
#include "print_stack.h"

struct print {
	const char *file;
	struct patterns patterns;
	unsigned char *wanted;		/* by format index, if patterns */
	struct symbols symbols;
	struct print_format *formats;	/* NULL: fields */
	uint32_t cpu, tid;
	bool one_cpu, one_tid, ticks, verbose, fields;
	bool users;			/* records of programs are wanted, some at least */
	enum tb_timebase base;
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
	"The text is that of the event's print format, as the kernel itself would show\n"
	"it, system calls with their names; where there is none (fast forms), and with\n"
	"--fields, it is name=value of all fields.\n"
	"The context is two characters, known of composite events only: h in a hard\n"
	"interrupt, s in a softirq, H in a hard interrupt inside a softirq, z in an\n"
	"NMI; then the preemption depth.  Where events are missing, a line between\n"
	"'--' says how many, why and when.\n"
	"\n"
	"What programs have written with libtracebuf is shown at the time at which they\n"
	"wrote it, with '...' for the CPU, which is not known (so --cpu leaves it out):\n"
	"\n"
	"  task-tid [...] .. time: user:CATEGORY: begin NAME argument=value\n"
	"\n"
	"  -i, --input FILE      the same as FILE\n"
	"  -e, --events LIST     only these: system, system:event, event; with * and ?;\n"
	"                        user:CATEGORY\n"
	"  -C, --cpu N           only this CPU\n"
	"  -t, --tid N           only this thread\n"
	"  -n, --max N           stop after N lines\n"
	"  -T, --time BASE       mono (default), boot or real: seconds of that clock\n"
	"      --raw-ticks       ticks of the trace clock instead of seconds\n"
	"  -f, --fields          name=value of all fields\n"
	"  -k, --kallsyms FILE   names for functions: /proc/kallsyms of the system that\n"
	"                        was recorded (as root), or a copy\n"
	"  -v, --verbose         control events, too (clock, threads, chunks); and which print\n"
	"                        formats could not be used\n"
	"  -h, --help\n",
};

static const struct option long_options[] = {
	{ "input",     required_argument, NULL, 'i' },
	{ "events",    required_argument, NULL, 'e' },
	{ "cpu",       required_argument, NULL, 'C' },
	{ "tid",       required_argument, NULL, 't' },
	{ "max",       required_argument, NULL, 'n' },
	{ "time",      required_argument, NULL, 'T' },
	{ "raw-ticks", no_argument,       NULL, 'R' },
	{ "fields",    no_argument,       NULL, 'f' },
	{ "kallsyms",  required_argument, NULL, 'k' },
	{ "verbose",   no_argument,       NULL, 'v' },
	{ "help",      no_argument,       NULL, 'h' },
	{ 0 }
};

/* ---- a line ---- */

static char *add_decimal(char *at, uint64_t value, unsigned int width)
{
	char digits[20];
	unsigned int count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value || count < width);
	while (count)
		*at++ = digits[--count];
	return at;
}

static char *add_text(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

/* "comm-tid", right-aligned in 23 columns; nothing a terminal would obey */
static char *add_task(char *at, const struct tb_view *view)
{
	char text[48], *end = text;
	const char *from;
	size_t length;

	for (from = view->comm; *from && end - text < 20; from++)
		*end++ = *from >= 0x20 && *from < 0x7f ? *from : '?';
	*end++ = '-';
	end = add_decimal(end, view->tid, 1);
	length = (size_t)(end - text);
	for (; length < 23; length++)
		*at++ = ' ';
	memcpy(at, text, (size_t)(end - text));
	return at + (end - text);
}

static char *add_context(char *at, const struct tb_view *view)
{
	unsigned int context = view->context;
	unsigned int depth = context & TB_CONTEXT_PREEMPT_MASK;
	char where = '.';

	if (context & TB_CONTEXT_NMI)
		where = 'z';
	else if (context & TB_CONTEXT_HARDIRQ)
		where = context & TB_CONTEXT_SOFTIRQ ? 'H' : 'h';
	else if (context & TB_CONTEXT_SOFTIRQ)
		where = 's';
	*at++ = where;
	*at++ = !depth ? '.' : depth > 9 ? '+' : (char)('0' + depth);
	return at;
}

static char *add_time(char *at, const struct print *print,
		      const struct tb_trace *trace, const struct tb_view *view)
{
	uint64_t ns = view->ns;

	if (print->ticks)
		return add_decimal(at, view->ticks, 1);
	if (print->base != TB_TIME_MONOTONIC)
		ns = tb_trace_ns(trace, view->ticks, print->base);
	at = add_decimal(at, ns / 1000000000, 1);
	*at++ = '.';
	return add_decimal(at, ns % 1000000000, 9);
}

/* What the event says, at most @size bytes; how much there would be */
static int put_text(const struct print *print, const struct tb_trace *trace,
		    const struct tb_view *view, char *buffer, size_t size)
{
	int length = -1;

	if (print->formats)
		length = print_format_event(print->formats, view, buffer, size);
	return length >= 0 ? length : tb_view_print(trace, view, buffer, size);
}

/* "system:event"; a category is a program's text */
static char *add_name(char *at, const struct tb_view *view)
{
	char spare[24];
	const char *from = tb_view_name(view, spare);
	size_t length = 0;

	at = add_text(at, tb_view_system(view));	/* each < TB_NAME_MAX */
	*at++ = ':';
	if (!view->user)
		return add_text(at, from);
	for (; *from && length < TB_NAME_MAX; from++, length++)
		*at++ = *from > 0x20 && *from < 0x7f ? *from : '?';
	return at;
}

static char *add_who_lost(char *at, const struct tb_view *view)
{
	if (view->kind == TB_VIEW_LOST) {
		at = add_text(at, "-- CPU ");
		at = add_decimal(at, view->cpu, 1);
	} else {
		at = add_text(at, "-- writer ");
		at = add_decimal(at, view->user->producer, 1);
		*at++ = '/';
		at = add_decimal(at, view->user->writer_id, 1);
		at = add_text(at, " of thread ");
		at = add_decimal(at, view->tid, 1);
	}
	return add_text(at, ": ");
}

static void print_line(const struct print *print, const struct tb_trace *trace,
		       const struct tb_view *view)
{
	char line[4096 + 512], *at = line;
	int length;

	if (view->kind == TB_VIEW_LOST || view->kind == TB_VIEW_USER_LOST) {
		at = add_who_lost(at, view);
		length = tb_view_print(trace, view, at, 4096);
		at += length < 4096 ? length : 4095;
		at = add_text(at, " --\n");
		fwrite(line, 1, (size_t)(at - line), stdout);
		return;
	}
	at = add_task(at, view);
	at = add_text(at, " [");
	if (view->cpu == TB_RING_DURABLE)
		at = add_text(at, "---");
	else if (view->cpu == TB_RING_USER)
		at = add_text(at, "...");
	else
		at = add_decimal(at, view->cpu, 3);
	at = add_text(at, "] ");
	at = add_context(at, view);
	*at++ = ' ';
	at = add_time(at, print, trace, view);
	at = add_text(at, ": ");
	at = add_name(at, view);
	at = add_text(at, ": ");
	length = put_text(print, trace, view, at, 4096);
	if (length >= 4096) {
		at += 4095;
		at = add_text(at, "...");
	} else {
		at += length;
	}
	*at++ = '\n';
	fwrite(line, 1, (size_t)(at - line), stdout);
}

/* ---- the trace ---- */

static bool is_wanted(const struct print *print, const struct tb_view *view)
{
	if (print->one_cpu && view->cpu != print->cpu)
		return false;
	if (view->kind == TB_VIEW_LOST)
		return true;
	if (print->one_tid && view->tid != print->tid)
		return false;
	if (view->kind == TB_VIEW_USER_LOST)
		return print->users;
	if (view->kind == TB_VIEW_USER)
		return !print->patterns.count ||
		       patterns_match(&print->patterns, "user",
				      view->user->category);
	if (view->format)
		return !print->wanted || print->wanted[view->format->index];
	if (view->id < TB_EV_USER)
		return view->id == TB_EV_MARK || print->verbose;
	return !print->wanted;
}

static int find_wanted(struct print *print, const struct tb_trace *trace)
{
	unsigned int count = tb_trace_formats(trace), i;
	const struct tb_format *format;

	free(print->wanted);
	print->wanted = NULL;
	if (!print->patterns.count)
		return 0;
	print->wanted = calloc(count + 1, 1);
	if (!print->wanted)
		return complain("out of memory");
	for (i = 0; i < count; i++) {
		format = tb_trace_format_at(trace, i);
		print->wanted[i] = patterns_match(&print->patterns,
						  format->system, format->name);
	}
	return 0;
}

/* Nothing a terminal would obey */
static bool is_plain(const char *text)
{
	while (*text > 0x20 && *text < 0x7f)
		text++;
	return !*text;
}

/* Does the pattern match a category of the recording's programs? */
static bool matches_category(const struct tb_trace *trace,
			     const struct patterns *one,
			     struct nearest *nearest)
{
	const struct tb_user_name *name;
	unsigned int i;

	/* what has no category */
	if (tb_trace_user_writer(trace, 0) && patterns_match(one, "user", "-"))
		return true;
	for (i = 0; (name = tb_trace_user_name(trace, i)); i++) {
		if (name->kind != TB_NAME_CATEGORY)
			continue;
		if (patterns_match(one, "user", name->text))
			return true;
		if (is_plain(name->text))
			nearest_offer(nearest, "user", name->text);
	}
	return false;
}

/* Every pattern matches something in some recording, or which does not? */
static int check_patterns(struct print *print, struct tb_trace *trace)
{
	const struct tb_format *format;
	struct nearest nearest;
	unsigned int i, j;
	size_t p;

	print->users = !print->patterns.count;
	for (p = 0; p < print->patterns.count; p++) {
		struct patterns one = { .list = &print->patterns.list[p],
					.count = 1 };
		bool found = false;
		char text[512];

		nearest_start(&nearest, one.list[0]);
		for (i = 0; i < tb_trace_recordings(trace); i++) {
			tb_trace_select(trace, i);
			for (j = 0; (format = tb_trace_format_at(trace, j)) &&
				    !found; j++) {
				found = patterns_match(&one, format->system,
						       format->name);
				nearest_offer(&nearest, format->system,
					      format->name);
			}
			if (matches_category(trace, &one, &nearest))
				print->users = found = true;
		}
		if (!found)
			return complain("%s has no event that matches '%s'%s",
					print->file, one.list[0],
					nearest_text(&nearest, text,
						     sizeof(text)));
	}
	return EXIT_FINE;
}

static int print_events(struct print *print, struct tb_trace *trace)
{
	const struct tb_error *fault;
	struct tb_cursor *cursor;
	struct tb_view view;
	int result;

	result = tb_cursor_open(trace, &cursor);
	while (result >= 0 && print->printed < print->max &&
	       (result = tb_cursor_next(cursor, &view)) > 0) {
		if (!is_wanted(print, &view))
			continue;
		print_line(print, trace, &view);
		if (view.nr_stack || view.nr_user_stack || view.counter_mask)
			print_stack(stdout, trace, &view);
		print->printed++;
	}
	if (result < 0) {
		tb_cursor_close(cursor);
		return complain("%s: %s", print->file, strerror(-result));
	}
	fault = tb_cursor_fault(cursor);
	result = fault ? complain_file(print->file, fault) : EXIT_FINE;
	if (tb_cursor_uncommitted(cursor))
		note("%s: %" PRIu64 " events had not been written completely and were left out",
		     print->file, tb_cursor_uncommitted(cursor));
	tb_cursor_close(cursor);
	return result;
}

static int print_recording(struct print *print, struct tb_trace *trace)
{
	int result;

	if (find_wanted(print, trace))
		return EXIT_WRONG;
	if (print->fields)
		return print_events(print, trace);
	print->formats = print_format_open(trace, &print->symbols);
	if (!print->formats)
		return complain("out of memory");
	result = print_events(print, trace);
	if (print->verbose)
		print_format_complain(print->formats);
	print_format_close(print->formats);
	print->formats = NULL;
	return result;
}

static int print_trace(struct print *print)
{
	const struct tb_error *fault;
	struct tb_trace *trace;
	struct tb_error error;
	unsigned int i;
	int result, status;

	if (tb_trace_open(print->file, &trace, &error) < 0)
		return complain_file(print->file, &error);
	status = check_patterns(print, trace);
	for (i = 0; status != EXIT_WRONG && i < tb_trace_recordings(trace); i++) {
		tb_trace_select(trace, i);
		if (tb_trace_recordings(trace) > 1)
			printf("# recording %u of %u\n", i + 1,
			       tb_trace_recordings(trace));
		result = print_recording(print, trace);
		if (result)
			status = result;
	}
	if (fflush(stdout) || ferror(stdout))
		status = complain("writing the text failed");
	fault = tb_trace_fault(trace);
	if (fault && print->printed < print->max) {
		status = complain_file(print->file, fault);
		note("%zu blocks could be read, %" PRIu64 " lines were printed",
		     tb_trace_blocks(trace), print->printed);
	}
	tb_trace_close(trace);
	return status;
}

static int print_run(int argc, char **argv)
{
	struct print print = { .file = NULL, .max = UINT64_MAX };
	const char *kallsyms = NULL;
	uint32_t number;
	int option, status = EXIT_FINE;

	while ((option = getopt_long(argc, argv, "i:e:C:t:n:T:Rfk:vh",
				     long_options, NULL)) >= 0) {
		switch (option) {
		case 'i':
			print.file = optarg;
			break;
		case 'e':
			if (patterns_add(&print.patterns, optarg))
				return misused(&cmd_print, "no events in '%s'",
					       optarg);
			break;
		case 'C':
			if (parse_u32(optarg, 0, 65535, &print.cpu))
				return misused(&cmd_print, "'%s' is not a CPU number",
					       optarg);
			print.one_cpu = true;
			break;
		case 't':
			if (parse_u32(optarg, 0, UINT32_MAX, &print.tid))
				return misused(&cmd_print, "'%s' is not a thread id",
					       optarg);
			print.one_tid = true;
			break;
		case 'n':
			if (parse_u32(optarg, 0, UINT32_MAX, &number))
				return misused(&cmd_print, "'%s' is not a number of lines",
					       optarg);
			print.max = number;
			break;
		case 'T':
			if (!strncmp(optarg, "mono", 4))
				print.base = TB_TIME_MONOTONIC;
			else if (!strncmp(optarg, "boot", 4))
				print.base = TB_TIME_BOOTTIME;
			else if (!strncmp(optarg, "real", 4))
				print.base = TB_TIME_REALTIME;
			else
				return misused(&cmd_print, "time: '%s' is not mono, boot or real",
					       optarg);
			break;
		case 'R':
			print.ticks = true;
			break;
		case 'f':
			print.fields = true;
			break;
		case 'k':
			kallsyms = optarg;
			break;
		case 'v':
			print.verbose = true;
			break;
		default:
			return show_help(&cmd_print, option);
		}
	}
	if (print.ticks && print.base != TB_TIME_MONOTONIC)
		return misused(&cmd_print, "--raw-ticks and --time exclude each other");
	if (argc - optind > (print.file ? 0 : 1))
		return misused(&cmd_print, "one file at a time");
	if (optind < argc)
		print.file = argv[optind];
	if (!print.file)
		print.file = DEFAULT_FILE;
	if (kallsyms)
		status = symbols_load(&print.symbols, kallsyms);
	if (!status)
		status = print_trace(&print);
	symbols_free(&print.symbols);
	patterns_free(&print.patterns);
	free(print.wanted);
	return status;
}
