// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf diff - what has changed from one trace to another.
 */
#include <stdlib.h>
#include <string.h>
#include "diff.h"
#include "report_out.h"

struct job {
	const char *files[2], *section;
	struct selection selection;
	uint32_t top, width;
	bool json, top_given;
};

static int diff_run(int argc, char **argv);

const struct command cmd_diff = {
	.name  = "diff",
	.run   = diff_run,
	.brief = "compare two traces: what takes more time, and what less",
	.help  =
	"usage: tracebuf diff [OPTIONS] A B\n"
	"\n"
	"Compares two trace files: CPU time and latency by task, system calls,\n"
	"interrupts, softirqs, requests to block devices.  Times are for each second of\n"
	"a trace, so that long ones can be compared with short ones; what has changed\n"
	"most comes first.\n"
	"\n"
	"      --top N           rows of each table (10; with --json all); 0: all\n"
	"      --section ID      this section alone: the name in brackets\n"
	"      --json            as JSON, with exact numbers (ns)\n"
	"      --width N         columns of the text (the terminal's, else 80)\n"
	"  -C, --cpu N           only what happened on this CPU\n"
	"      --from TIME       from this time on, of both: +S: S seconds after the first\n"
	"                        event\n"
	"      --to TIME         up to this time\n"
	"  -r, --recording N     of files with several: number N, from 1\n"
	"  -h, --help\n",
};

static const struct option long_options[] = {
	REPORT_LONG,
	{ "cpu",       required_argument, NULL, 'C' },
	{ "recording", required_argument, NULL, 'r' },
	{ "from",      required_argument, NULL, 0x200 },
	{ "to",        required_argument, NULL, 0x201 },
	{ "help",      no_argument,       NULL, 'h' },
	{ 0 }
};

/* The recording that was asked for; complains, EXIT_* */
static int choose(const struct job *job, const char *file, struct tb_trace *trace)
{
	unsigned int all = tb_trace_recordings(trace);

	if (!job->selection.recording && all > 1)
		return complain("%s holds %u recordings: say which with --recording", file, all);
	if (job->selection.recording > all)
		return complain("%s holds %u recordings, there is no number %u", file, all,
				job->selection.recording);
	if (job->selection.recording)
		tb_trace_select(trace, job->selection.recording - 1);
	return EXIT_FINE;
}

/* Both are open; complains, EXIT_* */
static int compare(struct job *job, struct tb_trace *const *traces)
{
	struct analysis *a[2] = { NULL, NULL };
	struct report *report = NULL;
	int status = EXIT_FINE, i, result;
	char *title = NULL;

	for (i = 0; i < 2 && (!i || a[0]); i++) {
		result = report_analyse(job->files[i], traces[i], &job->selection, 0, &a[i]);
		status = result ? result : status;
	}
	if (a[0] && a[1] && asprintf(&title, "%s, %s", job->files[0], job->files[1]) >= 0) {
		report = diff_make(a[0], a[1], title, job->top);
		free(title);
		result = report ? report_write(report, job->section, job->json, job->width) :
				  complain("out of memory");
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
	const struct tb_error *fault;
	struct tb_error error;

	for (i = 0; i < 2 && !status; i++) {
		if (tb_trace_open(job->files[i], &traces[i], &error) < 0)
			status = complain_file(job->files[i], &error);
		else
			status = choose(job, job->files[i], traces[i]);
	}
	if (!status)
		status = compare(job, traces);
	if (fflush(stdout) || ferror(stdout))
		status = complain("writing the comparison failed");
	for (i = 0; i < 2; i++) {
		fault = traces[i] && status != EXIT_USAGE ? tb_trace_fault(traces[i]) : NULL;
		if (fault)
			status = complain_file(job->files[i], fault);
		tb_trace_close(traces[i]);
	}
	return status;
}

static int diff_run(int argc, char **argv)
{
	struct job job = { .top = REPORT_TOP };
	int option, taken, status;

	while ((option = getopt_long(argc, argv, "C:r:h", long_options, NULL)) >= 0) {
		taken = selection_option(&cmd_diff, option, optarg, &job.selection);
		if (taken < 0)
			return EXIT_USAGE;
		if (taken)
			continue;
		switch (option) {
		case REPORT_OPTION_TOP:
			job.top_given = true;
			if (report_top(&cmd_diff, optarg, &job.top))
				return EXIT_USAGE;
			break;
		case REPORT_OPTION_SECTION:
			job.section = optarg;
			break;
		case REPORT_OPTION_JSON:
			job.json = true;
			break;
		case REPORT_OPTION_WIDTH:
			if (report_width(&cmd_diff, optarg, &job.width))
				return EXIT_USAGE;
			break;
		default:
			return show_help(&cmd_diff, option);
		}
	}
	if (argc - optind != 2)
		return misused(&cmd_diff, "two files are compared, not %d", argc - optind);
	job.files[0] = argv[optind];
	job.files[1] = argv[optind + 1];
	if (job.json && !job.top_given)
		job.top = 0;
	status = diff_files(&job);
	selection_free(&job.selection);
	return status;
}
