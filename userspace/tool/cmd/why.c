// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf why - explain where the time of threads went, from their waits back to the causes.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "analysis/why.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/show/causes.h"
#include "tool/show/input.h"
#include "tool/show/out.h"
#include "tool/show/selection.h"
#include "tool/show/why_sums.h"
#include "tool/show/why_threads.h"

#define TOP 8			/* default of --top: children shown of each cause */
#define CAUSES 10		/* rows of the table */

static int why_run(int argc, char **argv);

const struct command cmd_why = {
	.name  = "why",
	.run   = why_run,
	.brief = "explain where the time of a thread went, back to the causes",
	.help  =
	"usage: tracebuf why [OPTIONS] [-t TID] [--pid PID] [--comm NAME] [--cgroup NAME]\n"
	"                    [--slice NAME|--call NAME] [FILE]\n"
	"\n"
	"Divides the time of one or more threads of a trace file (" DEFAULT_FILE "; '-' is\n"
	"standard input) by causes: the thread ran; it could run and another task or an interrupt\n"
	"had its CPU; it was blocked, and what the thread that woke it did meanwhile, and\n"
	"so on, back to the root. Each nanosecond has one cause, or is not known.\n"
	"docs/why.md explains each line. Without a choice it lists the threads.\n"
	"\n"
	"  -t, --tid TID,...     these threads, together\n"
	"      --pid PID,...     all threads of these processes, together\n"
	"      --comm NAME       all threads of this name, together; with * and ?\n"
	"      --cgroup NAME     all threads in this container or cgroup; with * and ?\n"
	"      --slice NAME      only during the slices of this name that a program wrote; with\n"
	"                        * and ?. Of all threads, or of those above\n"
	"      --call NAME       only during the system calls of this name, with * and ?: fsync.\n"
	"                        Of all threads, or of those above\n"
	MOMENT_HELP
	"      --top N           causes shown below each cause (8); 0: all\n"
	"      --json            print JSON, with exact numbers (ns)\n"
	"  -T, --time BASE       show times of this clock: mono (default), boot, real\n"
	"  -r, --recording N     if the file has several recordings: number N, from 1\n"
	"  -i, --input FILE      the same as FILE\n"
	"  -h, --help            show this text\n",
	.whole =
	"why divides all of the time of threads, on all CPUs: choose them with --tid, --pid, "
	"--comm or --cgroup, and the time with --from and --to",
};

/* What was added of a thread */
struct share {
	uint64_t ns;
	uint32_t intervals;
};

struct job {
	const char *file;
	struct selection selection;
	const char *slice, *call;	/* NULL, or a pattern */
	uint32_t top;
	bool json, chosen;	/* @chosen: threads were named */
	bool found;		/* a thread has the chosen name or number */

	struct why *why;
	uint64_t from, to;	/* span of all intervals added */
	uint32_t added;		/* threads, slices or calls */
	uint32_t first;		/* the thread added last */
	struct share *shares;	/* by thread number; only for JSON */
	uint32_t limited;	/* thread of the limits */
	uint64_t since, until;	/* time in which the selection chooses that thread */
};

/* ---- text ---- */

static double percent(uint64_t ns, uint64_t of)
{
	return of ? 100.0 * (double)ns / (double)of : 0;
}

static void print_node(const struct job *job, const struct why_node *nodes, uint32_t index,
		       unsigned int depth)
{
	const struct why_node *node = &nodes[index];
	uint64_t rest = 0;
	uint32_t i, shown = 0, more = 0;
	char text[256];

	if (index)
		printf("%12.3f  %5.1f  %9.3f  %14.6f  %*s%s\n", (double)node->ns / 1e6,
		       percent(node->ns, nodes[0].ns), (double)node->longest / 1e6,
		       (double)node->longest_at / 1e9, (int)(2 * depth - 2), "",
		       cause_text(job->why, node, text, sizeof(text)));
	for (i = node->child; i; i = nodes[i].next) {
		if (!job->top || shown++ < job->top) {
			print_node(job, nodes, i, depth + 1);
			continue;
		}
		rest += nodes[i].ns;
		more++;
	}
	if (more)
		printf("%12.3f  %5.1f  %9s  %14s  %*s%u more\n", (double)rest / 1e6,
		       percent(rest, nodes[0].ns), "", "", (int)(2 * depth), "", more);
}

static int print_text(const struct job *job)
{
	size_t count, i;
	const struct why_node *nodes = why_nodes(job->why, &count);
	struct why_sum *sums = why_sums(job->why, &count);
	char text[256];

	if (!sums)
		return complain("out of memory");
	if (job->slice)
		printf("%u slice%s '%s'", job->added, plural(job->added), job->slice);
	else if (job->call)
		printf("%u system call%s '%s'", job->added, plural(job->added), job->call);
	else if (job->added == 1)
		printf("%s", cause_thread(job->why, job->first, text, sizeof(text)));
	else
		printf("%u threads", job->added);
	printf(": %.3f ms, from %.6f to %.6f s\n\n", (double)nodes[0].ns / 1e6,
	       (double)job->from / 1e9, (double)job->to / 1e9);
	printf("%12s  %5s  %9s  %14s  %s\n", "ms", "%", "longest", "at", "where the time went");
	print_node(job, nodes, 0, 0);
	printf("\n%12s  %5s  %9s  %14s  %s\n", "ms", "%", "longest", "at", "summed by cause");
	for (i = 0; i < count && i < CAUSES; i++)
		printf("%12.3f  %5.1f  %9.3f  %14.6f  %s\n", (double)sums[i].ns / 1e6,
		       percent(sums[i].ns, nodes[0].ns), (double)sums[i].longest / 1e6,
		       (double)sums[i].longest_at / 1e9,
		       why_sum_text(job->why, &sums[i], text, sizeof(text)));
	if (i < count)
		printf("%*s%zu more\n", 48, "", count - i);
	free(sums);
	return EXIT_FINE;
}

/* ---- JSON ---- */

static void open_thread(const struct job *job, uint32_t thread, struct out *out)
{
	out_text(out, "{\"tid\":");
	out_json_unsigned(out, why_tid(job->why, thread));
	out_text(out, ",\"comm\":");
	out_json_string(out, why_comm(job->why, thread));
}

static void print_ns(struct out *out, const char *key, uint64_t ns)
{
	out_text(out, key);
	out_json_unsigned(out, ns);
}

static void print_shares(const struct job *job, struct out *out)
{
	const struct share *share;
	const char *between = "";
	uint32_t thread;
	size_t i;

	out_text(out, ",\"chosen\":[");
	for (i = 0; i < why_threads(job->why); i++) {
		thread = why_thread(job->why, i);
		share = &job->shares[thread];
		if (!share->intervals)
			continue;
		out_text(out, between);
		open_thread(job, thread, out);
		print_ns(out, ",\"intervals\":", share->intervals);
		print_ns(out, ",\"ns\":", share->ns);
		out_text(out, "}");
		between = ",";
	}
	out_text(out, "]");
}

static int print_json(const struct job *job)
{
	struct out *out = calloc(1, sizeof(*out));
	size_t count;
	const struct why_node *nodes = why_nodes(job->why, &count);

	if (!out)
		return complain("out of memory");
	out->file = stdout;
	out_text(out, job->slice ? "{\"slices\":" : job->call ? "{\"calls\":" : "{\"threads\":");
	out_json_unsigned(out, job->added);
	out_text(out, ",\"clock\":");
	out_json_string(out, timebase_name(job->selection.base));
	out_text(out, ",\"from_ns\":");
	out_json_unsigned(out, job->from);
	out_text(out, ",\"to_ns\":");
	out_json_unsigned(out, job->to);
	print_shares(job, out);
	out_text(out, ",\"tree\":");
	cause_json(job->why, nodes, 0, out);
	out_text(out, "}\n");
	/* main() checks stdout for errors */
	out_write(out);
	free(out);
	return EXIT_FINE;
}

/* ---- adding threads, slices and calls ---- */

/* Add an interval; 0 or -ENOMEM */
static int add(struct job *job, uint32_t thread, uint64_t from, uint64_t to)
{
	job->first = thread;
	job->added++;
	job->from = from < job->from ? from : job->from;
	job->to = to > job->to ? to : job->to;
	if (job->shares) {
		job->shares[thread].intervals++;
		job->shares[thread].ns += to - from;
	}
	return why_add(job->why, thread, from, to);
}

/* Limit [@from, @to) to the time in which the selection chooses @thread; false: nothing is left */
static bool limit(struct job *job, uint32_t thread, uint64_t *from, uint64_t *to)
{
	if (thread != job->limited) {
		job->limited = thread;
		job->since = 0;
		job->until = UINT64_MAX;
		if (!why_threads_wanted(&job->selection, job->why, thread, &job->since,
					&job->until))
			job->until = 0;
	}
	*from = *from > job->since ? *from : job->since;
	*to = *to < job->until ? *to : job->until;
	return *from < *to;
}

/* Add what the selection chooses of a slice or call */
static int add_part(struct job *job, const struct tb_trace *trace, uint32_t thread, uint64_t from,
		    uint64_t to)
{
	const struct selection *selection = &job->selection;
	uint64_t since = tb_trace_ns(trace, selection->from_ticks, selection->base);
	uint64_t until = tb_trace_ns(trace, selection->to_ticks, selection->base);

	from = selection->from.given && since > from ? since : from;
	to = selection->to.given && until < to ? until : to;
	return why_cut(job->why, thread, &from, &to) &&
	       limit(job, thread, &from, &to) ?
	       add(job, thread, from, to) : 0;
}

static bool is_chosen_call(const struct job *job, const struct tb_trace *trace, int64_t number)
{
	const char *name = number < 0 || number > UINT32_MAX ? NULL :
			   tb_trace_string(trace, TB_STRING_SYSCALL, (uint32_t)number);

	return name && !fnmatch(job->call, name, 0);
}

static int add_thread(struct job *job, const struct tb_trace *trace, uint32_t thread)
{
	uint64_t from = 0, to = UINT64_MAX;
	int64_t number;
	int result = 0;
	size_t i;

	if (!limit(job, thread, &from, &to))
		return 0;
	job->found = true;
	for (i = 0; !result && job->call &&
	     why_call(job->why, thread, i, &number, &from, &to); i++)
		if (is_chosen_call(job, trace, number))
			result = add_part(job, trace, thread, from, to);
	if (!job->call && why_threads_time(&job->selection, job->why, job->selection.base, thread,
					   &from, &to) &&
	    limit(job, thread, &from, &to))
		result = add(job, thread, from, to);
	return result;
}

/* Add the chosen slices, calls or threads; without --from and --to, as long as a thread is known */
static int add_all(struct job *job, const struct tb_trace *trace)
{
	uint64_t from, to;
	int result = 0;
	uint32_t thread;
	size_t i;

	job->from = UINT64_MAX;
	for (i = 0; !result && job->slice && why_slice(job->why, i, &thread, &from, &to); i++)
		result = add_part(job, trace, thread, from, to);
	for (i = 0; !result && !job->slice && i < why_threads(job->why); i++)
		result = add_thread(job, trace, why_thread(job->why, i));
	return result ? complain("out of memory") : EXIT_FINE;
}

/* ---- no thread was named: list the threads ---- */

struct times {
	uint32_t thread;
	uint64_t ran, waited, off;
};

static int compare_times(const void *a, const void *b)
{
	const struct times *one = a, *other = b;

	if (one->waited != other->waited)
		return one->waited > other->waited ? -1 : 1;
	return one->thread < other->thread ? -1 : one->thread > other->thread;
}

/* Say that nothing is known in the chosen time, and in which there is */
static int complain_time(const struct job *job)
{
	char threads[512];
	uint64_t from, to;

	if (!why_span(job->why, &from, &to))
		return complain("%s: no sched_switch occurred, so nothing is known of any thread; "
				"'tracebuf record' without -e records what why needs", job->file);
	selection_threads_text(&job->selection, threads, sizeof(threads));
	return complain("%s: nothing is known%s in that time; "
			"the switches of all threads go from %.6f to %.6f s", job->file,
			job->chosen ? threads : " of any thread", (double)from / 1e9,
			(double)to / 1e9);
}

static int print_times_json(const struct job *job, const struct times *times, size_t count)
{
	struct out *out = calloc(1, sizeof(*out));
	size_t i;

	if (!out)
		return complain("out of memory");
	out->file = stdout;
	out_text(out, "{\"choices\":[");
	for (i = 0; i < count; i++) {
		out_text(out, i ? "," : "");
		open_thread(job, times[i].thread, out);
		print_ns(out, ",\"waited_ns\":", times[i].waited);
		print_ns(out, ",\"ran_ns\":", times[i].ran);
		print_ns(out, ",\"off_ns\":", times[i].off);
		out_text(out, "}");
	}
	out_text(out, "]}\n");
	out_write(out);
	free(out);
	return EXIT_FINE;
}

static int list_threads(const struct job *job)
{
	size_t count = 0, i, shown = 0;
	struct times *times = calloc(why_threads(job->why) + 1, sizeof(*times)), *time;
	uint64_t from, to;
	char text[128];
	int status;

	if (!times)
		return complain("out of memory");
	for (i = 0; i < why_threads(job->why); i++) {
		time = &times[count];
		time->thread = why_thread(job->why, i);
		if (!why_threads_time(&job->selection, job->why, job->selection.base, time->thread,
				      &from, &to))
			continue;
		why_times(job->why, time->thread, from, to, &time->ran, &time->waited, &time->off);
		count += time->ran || time->waited || time->off;
	}
	if (!count) {
		free(times);
		return complain_time(job);
	}
	qsort(times, count, sizeof(*times), compare_times);
	if (job->json) {
		status = print_times_json(job, times, count);
		free(times);
		return status;
	}
	printf("%12s  %12s  %12s  %s\n", "waited ms", "ran ms", "off ms",
	       "thread, those that waited longest for a CPU first");
	for (i = 0; i < count && (!job->top || shown < job->top); i++, shown++)
		printf("%12.3f  %12.3f  %12.3f  %s\n", (double)times[i].waited / 1e6,
		       (double)times[i].ran / 1e6, (double)times[i].off / 1e6,
		       cause_thread(job->why, times[i].thread, text, sizeof(text)));
	if (shown < count)
		printf("%*s%zu more (--top 0)\n", 42, "", count - shown);
	printf("\n'tracebuf why -t TID %s' explains the time of one of them\n", job->file);
	free(times);
	return EXIT_FINE;
}

static int explain(struct job *job, const struct tb_trace *trace)
{
	const struct selection *selection = &job->selection;
	bool part = selection->from.given || selection->to.given;
	char threads[512];
	uint64_t from, to;
	int status;

	if (!why_has_switches(job->why))
		return complain("%s has no sched_switch: record it with sched_switch and sched_wak*",
				job->file);
	if (!why_has_wakeups(job->why))
		note("%s has no wake-ups: what a thread waited for is not known (record sched_waking and sched_wakeup)",
		     job->file);
	if (!job->slice && !job->call && !job->chosen)
		return list_threads(job);
	if (job->json) {
		job->shares = calloc(why_threads(job->why) + 1, sizeof(*job->shares));
		if (!job->shares)
			return complain("out of memory");
	}
	status = add_all(job, trace);
	if (status)
		return status;
	if (!job->added && job->slice)
		return complain("%s: there is no slice '%s'%s%s; "
				"'tracebuf query %s \"select distinct name from user_slices\"' "
				"lists the names ('record -e user' records what programs write)",
				job->file, job->slice,
				selection_threads_text(selection, threads, sizeof(threads)),
				part ? " in that time" : "", job->file);
	if (!job->added && job->call && (job->found || !job->chosen))
		return complain("%s: there is no system call '%s'%s%s; "
				"'tracebuf query %s syscalls' lists the names (why needs sys_enter "
				"and sys_exit)", job->file, job->call,
				selection_threads_text(selection, threads, sizeof(threads)),
				part ? " in that time" : "", job->file);
	if (!job->added && !job->found && why_span(job->why, &from, &to))
		return complain("%s: nothing is known%s; "
				"'tracebuf why %s' lists the threads", job->file,
				selection_threads_text(selection, threads, sizeof(threads)),
				job->file);
	if (!job->added)
		return complain_time(job);
	if (why_sort(job->why))
		return complain("out of memory");
	return job->json ? print_json(job) : print_text(job);
}

static int why_trace(struct job *job, struct tb_trace *trace)
{
	struct tb_error error = { .offset = TB_OFFSET_NONE };
	unsigned int number;
	int status, result;

	status = selection_one(&job->selection, trace, job->file, "explained", &number);
	if (status != EXIT_FINE)
		return status;
	result = why_open(trace, job->selection.base, job->slice, &job->why, &error);
	if (result)
		return complain("%s: %s", job->file, strerror(-result));
	status = explain(job, trace);
	if (error.text[0])
		status = complain_file(job->file, &error);
	free(job->shares);
	why_close(job->why);
	return status;
}

/* ---- the command line ---- */

static int why_option(struct job *job, int option, const char *value)
{
	int taken = selection_option(&cmd_why, option, value, &job->selection);

	if (taken)
		return taken < 0 ? EXIT_USAGE : EXIT_FINE;
	switch (option) {
	case 'i':
		job->file = value;
		return EXIT_FINE;
	case OPTION_JSON:
		job->json = true;
		return EXIT_FINE;
	case OPTION_SLICE:
		job->slice = value;
		return EXIT_FINE;
	case OPTION_CALL:
		job->call = value;
		return EXIT_FINE;
	case OPTION_TOP:
		if (!parse_u32(value, 0, UINT32_MAX, &job->top))
			return EXIT_FINE;
		return misused(&cmd_why, "'%s' is not a number of causes", value);
	}
	return EXIT_USAGE;
}

static int why_run(int argc, char **argv)
{
	struct job job = { .top = TOP };
	struct tb_trace *trace;
	int option, status = EXIT_FINE;

	while (status == EXIT_FINE &&
	       (option = next_option(&cmd_why, "", argc, argv)) >= 0) {
		if (option == 'h' || option == '?')
			return show_help(&cmd_why, option);
		status = why_option(&job, option, optarg);
	}
	job.chosen = selection_of_threads(&job.selection);
	if (status == EXIT_FINE && job.slice && job.call)
		status = misused(&cmd_why, "--slice and --call choose different times: give one of them");
	if (status == EXIT_FINE)
		status = input_choose(&cmd_why, argc, argv, &job.file);
	if (status == EXIT_FINE)
		status = input_open(job.file, &trace);
	if (status == EXIT_FINE)
		status = input_close(job.file, trace, why_trace(&job, trace));
	selection_free(&job.selection);
	return status;
}
