// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf report - summarize a trace: CPU use, latencies, interrupts, calls, I/O.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "cmd.h"
#include "analysis/spans.h"
#include "tool/command/command.h"
#include "tool/command/nearest.h"
#include "tool/command/number.h"
#include "tool/command/option_value.h"
#include "tool/report/out.h"
#include "tool/show/input.h"

#define WIDTH_DEFAULT 80

struct job {
	const char *file, *html, *why;
	struct selection selection;
	struct report_look look;
	uint32_t max_events;
	struct why_threads why_threads;
};

static int report_run(int argc, char **argv);

const struct command cmd_report = {
	.name  = "report",
	.run   = report_run,
	.brief = "summarize a trace: CPU use, latencies, interrupts, calls, I/O",
	.help  =
	"usage: tracebuf report [OPTIONS] [FILE]\n"
	"\n"
	"Summarizes a trace file (" DEFAULT_FILE "; '-' is standard input): which tasks had\n"
	"the CPUs; how long woken tasks waited, and what ran instead; how many waited for\n"
	"each CPU; how long interrupts, softirqs, system calls and block requests took;\n"
	"which tasks were off the CPU longest, and what woke them; what is missing. It\n"
	"marks what cannot be known. docs/report.md explains each figure.\n"
	"\n"
	"  -i, --input FILE      the same as FILE\n"
	"      --top N           rows of long tables (10; with --json and --html all); 0: all\n"
	"      --section ID      show only this section, by the name in brackets; repeatable\n"
	"      --json            print JSON, with exact numbers (ns)\n"
	"      --html FILE       write a page for a browser, with a timeline\n"
	"      --max-events N    put at most N events into the timeline (2000000)\n"
	"      --width N         columns of the text (the terminal's, else 80)\n"
	"      --why THREADS     with --html and --json: where the time of these threads\n"
	"                        went, 16 at most, as 'tracebuf why' has it; the page has a\n"
	"                        lane for each. TIDs and names, with * and ?:\n"
	"                        --why 'worker*,131'\n"
	SELECTION_HELP
	"  -h, --help            show this text\n",
	.whole =
	"report sums all that a thread does: choose with --events, --cpu, --tid, --pid, --comm "
	"or --cgroup, or use 'tracebuf query' with WHERE",
};

/* ---- reading ---- */

static int feed(struct analysis *a, struct tb_cursor *cursor, struct selection *selection)
{
	struct tb_view view;
	int result = 0;

	if (selection->from.given)
		result = tb_cursor_seek(cursor, selection->from_ticks);
	while (result >= 0 && (result = next_event(cursor, &view)) > 0 &&
	       !selection_over(selection, &view)) {
		if (!selection_wants_event(selection, &view))
			continue;
		selection_finds(selection, &view);
		result = analysis_event(a, cursor, &view);
	}
	return result;
}

/* Has the analysis times of a selected thread?  The thread need not have an event of its own */
static bool has_selected_thread(const struct analysis *a, const struct selection *selection)
{
	const struct analysis_task *task;
	unsigned int i;

	for (i = 0; selection_of_threads(selection) && (task = analysis_task(a, i)); i++)
		if (analysis_ran(task) || task->wait.count || task->runnable.count ||
		    task->blocked.count || task->sleeping.count || analysis_all_waited(task) ||
		    analysis_all_stuck(task) || analysis_all_slept(task))
			return true;
	return false;
}

/* Has the analysis times of the CPUs, of a time without events? */
static bool has_time(const struct analysis *a, const struct selection *selection)
{
	return !selection_of_threads(selection) && !selection->patterns.count &&
	       analysis_total(a)->known_ns;
}

/* Set the limits of @options as far as the recording goes beyond them.  0, -ENOMEM */
static int find_part(const struct selection *selection, struct tb_trace *trace,
		     struct analysis_options *options)
{
	uint64_t first, last;
	int result;

	if (!selection->from_ticks && selection->to_ticks == UINT64_MAX)
		return 0;
	result = moment_span(trace, &first, &last);
	if (result > 0 && first < selection->from_ticks)
		options->part_from = selection->from_ticks;
	if (result > 0 && last >= selection->to_ticks)
		options->part_to = selection->to_ticks;
	return result < 0 ? result : 0;
}

static bool wants_cpu(void *selection, uint32_t cpu)
{
	return selection_wants_cpu(selection, cpu);
}

static bool wants_thread(void *selection, const struct tb_cursor *cursor, uint32_t tid)
{
	return selection_wants_tid(selection, cursor, tid);
}

/*
 * Limit the comparison to the time in which the file has events of all CPUs: move @from (ns) and
 * selection->to_ticks.  0; -ENODATA: there is no such time; -ENOMEM
 */
static int cut_to_common(const struct tb_trace *trace, struct selection *selection, uint64_t *from,
			 bool *cut)
{
	struct spans spans = { 0 };
	uint64_t to = UINT64_MAX, first, end = UINT64_MAX;
	int result = spans_of_trace(&spans, trace, selection->base);
	unsigned int i;

	for (i = 0; !result && i < spans.nr_cpus; i++) {
		if (!spans.cpus[i].any || !selection_wants_cpu(selection, i))
			continue;
		*from = spans.cpus[i].begin > *from ? spans.cpus[i].begin : *from;
		to = spans.cpus[i].end < to ? spans.cpus[i].end : to;
	}
	spans_free(&spans);
	first = ticks_at(trace, selection->base, *from);
	/* + 1: include the last event of the CPU */
	if (to < UINT64_MAX)
		end = ticks_at(trace, selection->base, to + 1);
	*cut = first > selection->from_ticks || end < selection->to_ticks;
	if (end < selection->to_ticks)
		selection->to_ticks = end;
	return *cut && first >= selection->to_ticks ? -ENODATA : result;
}

int report_analyse(const char *file, struct tb_trace *trace, struct selection *selection,
		   uint32_t worst, uint32_t ended, bool *cut, struct analysis **analysis)
{
	struct analysis_options options = {
		.worst = worst, .ended = ended, .cpu = selection->cpu_list ? wants_cpu : NULL,
		.thread = selection_of_threads(selection) ? wants_thread : NULL,
		.events = selection->patterns.count, .context = selection, .whole = true,
		.base = selection->base,
	};
	const struct tb_error *fault;
	bool before = selection->found;
	struct tb_cursor *cursor;
	struct analysis *a;
	int result;

	*analysis = NULL;
	selection->found = false;
	result = selection_start(selection, trace, file);
	if (result != EXIT_FINE) {
		/* selection_start() has complained: found, so that selection_found() does not */
		selection->found = true;
		return result;
	}
	options.switches_from = selection_switches_from(selection);
	result = find_part(selection, trace, &options);
	if (cut && !result)
		result = cut_to_common(trace, selection, &options.from, cut);
	/* the end that is in common is the time of an event */
	if (selection->to_ticks < options.part_to)
		options.part_to = 0;
	if (result == -ENODATA)
		return complain("%s: there is no time in which it has events of all CPUs: compare a single CPU with --cpu",
				file);
	a = result ? NULL : analysis_new(trace, &options);
	if (!a || tb_cursor_open(trace, &cursor) < 0) {
		analysis_free(a);
		return complain("out of memory");
	}
	result = feed(a, cursor, selection);
	fault = tb_cursor_fault(cursor);
	if (result >= 0)
		result = analysis_end(a, cursor, fault || tb_trace_fault(trace) ? ANALYSIS_CUT : 0);
	if (result < 0) {
		complain("%s: %s", file, strerror(-result));
		analysis_free(a);
		tb_cursor_close(cursor);
		return EXIT_WRONG;
	}
	result = fault ? complain_file(file, fault) : EXIT_FINE;
	tb_cursor_close(cursor);
	selection->found |= has_selected_thread(a, selection) || has_time(a, selection) ||
			    !selection_asks(selection);
	/* a comparison shows what only the other file has */
	if (selection->found || cut)
		*analysis = a;
	else
		analysis_free(a);
	selection->found |= before;
	return result;
}

/* ---- writing ---- */

static unsigned int terminal_width(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

static int write_json(const struct report *report, const struct report_ids *sections)
{
	struct out *out = calloc(1, sizeof(*out));

	if (!out)
		return complain("out of memory");
	out->file = stdout;
	report_json(report, sections, out);
	/* main() checks stdout for errors */
	out_write(out);
	free(out);
	return EXIT_FINE;
}

static int no_section(const struct report *report, const char *wanted)
{
	struct nearest nearest;
	char text[256];
	size_t i;

	nearest_start(&nearest, wanted);
	for (i = 0; i < report->nr_sections; i++)
		nearest_offer(&nearest, NULL, report->sections[i]->id);
	complain("there is no section '%s'%s", wanted,
		 nearest_text(&nearest, text, sizeof(text)));
	fputs("sections are:", stderr);
	for (i = 0; i < report->nr_sections; i++)
		fprintf(stderr, " %s", report->sections[i]->id);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

int report_write(const struct report *report, const struct report_look *look)
{
	unsigned int i;

	for (i = 0; i < look->sections.count; i++)
		if (!report_find(report, look->sections.ids[i]))
			return no_section(report, look->sections.ids[i]);
	if (look->json)
		return write_json(report, &look->sections);
	if (report_text_write(report, &look->sections,
			      look->width ? look->width : terminal_width(), stdout))
		return complain("out of memory: the report breaks off");
	return EXIT_FINE;
}

static void add_moment(char *text, size_t room, const struct tb_trace *trace,
		       const struct selection *selection, const char *option, uint64_t ticks)
{
	uint64_t ns = tb_trace_ns(trace, ticks, selection->base);
	size_t used = strlen(text);

	snprintf(text + used, room - used, "%s %" PRIu64 ".%09" PRIu64 " ", option,
		 ns / 1000000000, ns % 1000000000);
}

static struct report *make_report(const struct job *job, struct tb_trace *trace,
				  struct analysis *a)
{
	static const char *const clocks[] = {
		[TB_TIME_MONOTONIC] = "", [TB_TIME_BOOTTIME] = "-T boot ",
		[TB_TIME_REALTIME] = "-T real ",
	};
	const struct selection *selection = &job->selection;
	char times[96] = "", file[384], recording[24] = "";
	struct report_shell shell = { file, times };

	if (tb_trace_recordings(trace) > 1)
		snprintf(recording, sizeof(recording), "-r %u ", selection->recording);
	snprintf(file, sizeof(file), "%s%s%s", recording, clocks[selection->base],
		 shell_is_plain(job->file) && strlen(job->file) < 300 ? job->file : "FILE");
	if (selection->from.given)
		add_moment(times, sizeof(times), trace, selection, "--from",
			   selection->from_ticks);
	if (selection->to.given)
		add_moment(times, sizeof(times), trace, selection, "--to", selection->to_ticks);
	return report_make(a, trace, job->file, &shell, job->look.top);
}

static int write_report(struct job *job, struct tb_trace *trace, struct analysis *a)
{
	struct report *report = make_report(job, trace, a);
	int result;

	if (!report)
		return complain("out of memory");
	if (job->why && report_why(report, &job->why_threads, job->look.top))
		result = complain("out of memory");
	else if (job->html)
		result = report_html(report, trace, &job->selection,
				     job->why ? &job->why_threads : NULL, job->html,
				     job->max_events);
	else
		result = report_write(report, &job->look);
	report_free(report);
	return result;
}

static int report_recording(struct job *job, struct tb_trace *trace)
{
	struct analysis *a;
	int result, written;

	result = report_analyse(job->file, trace, &job->selection,
				job->look.top_given ? job->look.top : 0,
				report_ended(job->look.top), NULL, &a);
	if (!a)
		return result;
	written = EXIT_FINE;
	if (job->why)
		written = why_threads_open(&job->why_threads, trace, job->file, &job->selection,
					   job->selection.base, job->why);
	if (written == EXIT_FINE)
		written = write_report(job, trace, a);
	why_threads_close(&job->why_threads);
	analysis_free(a);
	return written ? written : result;
}

static int report_recordings(struct job *job, struct tb_trace *trace)
{
	unsigned int first, count, i;
	int result, status;

	status = selection_recordings(&job->selection, trace, job->file, &first, &count);
	if (status == EXIT_FINE)
		status = selection_check(&job->selection, trace, job->file, first, count);
	if (status != EXIT_FINE)
		return status;
	if (job->html && count > 1)
		return complain("%s holds %u recordings, but a page shows only one: choose it with --recording",
				job->file, count);
	for (i = first; i < first + count; i++) {
		tb_trace_select(trace, i);
		job->selection.recording = i + 1;
		if (count > 1 && !job->look.json)
			printf("# recording %u of %u\n\n", i + 1, count);
		result = report_recording(job, trace);
		if (result == EXIT_USAGE)
			return result;
		if (result)
			status = result;
	}
	if (selection_found(&job->selection, trace, job->file))
		status = EXIT_WRONG;
	return status;
}

static int report_file(struct job *job)
{
	struct tb_trace *trace;

	if (input_open(job->file, &trace))
		return EXIT_WRONG;
	return input_close(job->file, trace, report_recordings(job, trace));
}

/* ---- the command line ---- */

int report_option(const struct command *command, int option, const char *value,
		  struct report_look *look)
{
	switch (option) {
	case OPTION_TOP:
		look->top_given = true;
		if (!parse_u32(value, 0, 1000000, &look->top))
			return 1;
		misused(command, "'%s' is not a number of rows", value);
		return -1;
	case OPTION_SECTION:
		if (look->sections.count < REPORT_IDS_MAX) {
			look->sections.ids[look->sections.count++] = value;
			return 1;
		}
		misused(command, "there are at most %d sections to choose", REPORT_IDS_MAX);
		return -1;
	case OPTION_JSON:
		look->json = true;
		return 1;
	case OPTION_WIDTH:
		if (!parse_u32(value, 40, 100000, &look->width))
			return 1;
		misused(command, "'%s' is not a width: from 40 on", value);
		return -1;
	}
	return 0;
}

static int report_run(int argc, char **argv)
{
	struct job job = { .look.top = REPORT_TOP };
	const struct option_value values[] = {
		{ 'i', .text = &job.file }, { OPTION_HTML, .text = &job.html },
		{ OPTION_WHY, .text = &job.why }, { 0 },
	};
	int option, taken, status;

	while ((option = next_option(&cmd_report, "", argc, argv)) >= 0) {
		taken = selection_option(&cmd_report, option, optarg, &job.selection);
		if (!taken)
			taken = report_option(&cmd_report, option, optarg, &job.look);
		if (taken < 0)
			return EXIT_USAGE;
		if (taken || take_value(values, option, optarg))
			continue;
		switch (option) {
		case OPTION_MAX_EVENTS:
			if (parse_u32(optarg, 1, UINT32_MAX, &job.max_events))
				return misused(&cmd_report, "'%s' is not a number of events", optarg);
			break;
		default:
			return show_help(&cmd_report, option);
		}
	}
	if (input_choose(&cmd_report, argc, argv, &job.file))
		return EXIT_USAGE;
	if (job.html && (job.look.json || job.look.sections.count))
		return misused(&cmd_report, "--html writes a page with all sections: it excludes --json and --section");
	if (job.max_events && !job.html)
		return misused(&cmd_report, "--max-events limits the timeline of --html: it needs --html");
	if (job.why && !job.html && !job.look.json)
		return misused(&cmd_report,
			       "--why is for --html and --json: 'tracebuf why' shows it as text");
	if (job.html && !report_html)
		return complain("this tracebuf was built without the page of --html");
	if (!job.look.top_given && (job.look.json || job.html))
		job.look.top = 0;
	status = report_file(&job);
	selection_free(&job.selection);
	return status;
}
