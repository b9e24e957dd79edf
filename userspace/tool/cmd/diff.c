// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf diff - show what has changed from one trace to another.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "analysis/diff.h"
#include "tool/command/command.h"
#include "tool/report/out.h"
#include "tool/show/input.h"

struct job {
	const char *files[2];
	struct selection selection;
	struct report_look look;
};

static int diff_run(int argc, char **argv);

const struct command cmd_diff = {
	.name  = "diff",
	.run   = diff_run,
	.brief = "compare two traces: what takes more time, and what less",
	.help  =
	"usage: tracebuf diff [OPTIONS] A B\n"
	"\n"
	"Says what has changed from trace file A to B, worst first, in sentences. Then it\n"
	"compares both in tables: CPU time and latency by task, system calls,\n"
	"interrupts, softirqs, block requests. Times are per second of a trace, so that a\n"
	"long trace can be compared with a short one. What changed most comes first.\n"
	"\n"
	"      --top N           rows of each table (10; with --json all); 0: all\n"
	"      --section ID      show only this section, by the name in brackets; repeatable\n"
	"      --json            print JSON, with exact numbers (ns)\n"
	"      --width N         columns of the text (the terminal's, else 80)\n"
	SELECTION_HELP
	"  -h, --help            show this text\n",
	.whole =
	"diff sums all that a thread does: choose with --events, --cpu, --tid, --pid, --comm or "
	"--cgroup, or use 'tracebuf query' with WHERE",
};

/* Select the recording of @file to compare; complains, EXIT_* */
static int choose(struct job *job, const char *file, struct tb_trace *trace)
{
	unsigned int first, count;

	if (selection_recordings(&job->selection, trace, file, &first, &count))
		return EXIT_WRONG;
	job->selection.several = false;
	if (count > 1)
		return complain("%s holds %u recordings: choose one with --recording", file, count);
	if (selection_check(&job->selection, trace, file, first, 1))
		return EXIT_WRONG;
	tb_trace_select(trace, first);
	return EXIT_FINE;
}

/* NULL: no memory */
static struct report *make_report(const struct job *job, struct analysis *const *a)
{
	char *words[] = {
		shell_file(job->files[0]), shell_file(job->files[1]),
		shell_options(&job->selection, SHELL_CLOCK),
		shell_options(&job->selection, SHELL_TIMES),
		shell_options(&job->selection, SHELL_REST),
	};
	struct diff_shell shell = { { words[0], words[1] }, words[2], words[3], words[4] };
	struct report *report = NULL;
	char *title = NULL;
	size_t i;

	if (words[0] && words[1] && words[2] && words[3] && words[4] &&
	    asprintf(&title, "%s, %s", job->files[0], job->files[1]) >= 0) {
		report = diff_make(a[0], a[1], title, &shell, job->look.top);
		free(title);
	}
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		free(words[i]);
	return report;
}

static int compare(struct job *job, struct tb_trace *const *traces)
{
	struct analysis *a[2] = { NULL, NULL };
	struct report_section *summary;
	struct report *report = NULL;
	int status = EXIT_FINE, i, result, found = 0;
	bool cut[2] = { false, false };

	for (i = 0; i < 2 && (!i || a[0]); i++) {
		job->selection.found = false;
		result = report_analyse(job->files[i], traces[i], &job->selection, 0, 0, &cut[i], &a[i]);
		status = result ? result : status;
		/* of a damaged file, too, there is an analysis */
		found += a[i] && !selection_found(&job->selection, traces[i], job->files[i]);
	}
	if (!status && !found)
		status = EXIT_WRONG;
	/* what is new, or gone, is in one of them only */
	if (a[0] && a[1] && found) {
		report = make_report(job, a);
		/* sections[0] has the findings, the summary follows */
		summary = report ? report->sections[1] : NULL;
		for (i = 0; i < 2; i++)
			if (report && cut[i])
				report_note(report, summary,
					    "Of %c only the time is compared in which the file has events of all CPUs.",
					    "AB"[i]);
		result = report ? report_write(report, &job->look) : complain("out of memory");
		status = result ? result : status;
	}
	report_free(report);
	analysis_free(a[0]);
	analysis_free(a[1]);
	return status;
}

static int diff_files(struct job *job)
{
	struct tb_trace *traces[2] = { NULL, NULL };
	int status = EXIT_FINE, i;

	for (i = 0; i < 2 && !status; i++) {
		status = input_open(job->files[i], &traces[i]);
		if (!status)
			status = choose(job, job->files[i], traces[i]);
	}
	if (!status)
		status = compare(job, traces);
	for (i = 0; i < 2; i++)
		status = input_close(job->files[i], traces[i], status);
	return status;
}

static int diff_run(int argc, char **argv)
{
	struct job job = { .look.top = REPORT_TOP };
	int option, taken, status;

	while ((option = next_option(&cmd_diff, "", argc, argv)) >= 0) {
		taken = selection_option(&cmd_diff, option, optarg, &job.selection);
		if (!taken)
			taken = report_option(&cmd_diff, option, optarg, &job.look);
		if (taken < 0)
			return EXIT_USAGE;
		if (!taken)
			return show_help(&cmd_diff, option);
	}
	if (argc - optind != 2)
		return misused(&cmd_diff, "two files are compared, not %d", argc - optind);
	job.files[0] = argv[optind];
	job.files[1] = argv[optind + 1];
	if (job.look.json && !job.look.top_given)
		job.look.top = 0;
	status = diff_files(&job);
	selection_free(&job.selection);
	return status;
}
