// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stands out in a trace, as sentences with figures: first what is missing, then what took the
 * most time, each with the command that shows more of it.
 *
 * Each figure is also in another section.  Only what exceeds the limits below is a finding; the
 * rest is usual on a machine that does its work.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "requests.h"
#include "sections.h"
#include "lib/array.h"

#define MS 1000000ull
#define TIME_MIN (10 * MS)	/* no finding has less time than this */
#define BUSY_PPM 900000		/* a CPU is overloaded if it is busy for this share of time ... */
#define DEPTH_PPM 500000	/* ... and half a task waits for it on average */
#define WAIT_PPM 50000		/* share of the time that a task waits for a CPU */
#define BLOCKED_PPM 100000	/* share of the time that a task is in state D */
#define HANDLER_PPM 100000	/* share of a CPU's time in interrupts, or in softirqs */
#define SPIKE_NS (10 * MS)	/* from wake-up to running: always too long ... */
#define SPIKE_LEAST MS		/* ... or this, if it is SPIKE_TIMES the median */
#define SPIKE_TIMES 50
#define REQUEST_NS (50 * MS)	/* of a disk: 99th percentile */
#define MOST 3			/* findings of each kind */
#define SENTENCE 768

struct finding {
	uint64_t ns;			/* the time that it took; UINT64_MAX: comes first */
	int64_t tid, cpu;		/* -1: none */
	char text[SENTENCE], command[SENTENCE];
};

struct findings {
	struct report_builder *m;
	struct finding *list;
	size_t count, room;
	const struct report_shell *shell;
};

const char *time_text(uint64_t ns, char text[32])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double number = (double)ns;
	unsigned int unit = 0;

	for (; unit < 3 && number >= 1000; unit++)
		number /= 1000;
	snprintf(text, 32, unit ? "%.3g %s" : "%.0f %s", number, units[unit]);
	if (number >= 999.5 || unit == 3)
		snprintf(text, 32, number >= 100 ? "%.0f %s" : "%.2f %s", number, units[unit]);
	return text;
}

static const char *moment(uint64_t ns, char text[32])
{
	snprintf(text, 32, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	return text;
}

static uint64_t ppm(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((double)part / (double)whole * 1e6) : 0;
}

/* Add a finding, for the caller to fill in; NULL: no memory */
static struct finding *add(struct findings *findings, uint64_t ns)
{
	if (tb_array_grow(&findings->list, &findings->room, findings->count,
			  sizeof(*findings->list))) {
		findings->m->report->failed = true;
		return NULL;
	}
	findings->list[findings->count] = (struct finding){ .ns = ns, .tid = -1, .cpu = -1 };
	return &findings->list[findings->count++];
}

#define TEXT(to, ...) snprintf((to), sizeof(to), __VA_ARGS__)

/* " (in fsync)", or "" if no call is known */
static const char *in_call(const struct findings *findings, int64_t call, char text[64])
{
	const char *name = call_name(findings->m->trace, call);

	if (name)
		snprintf(text, 64, " (in %s)", name);
	return name ? text : "";
}

/* Set the command of @finding: for the chosen time */
__attribute__((format(printf, 3, 4)))
static void command(const struct findings *findings, struct finding *finding,
		    const char *format, ...)
{
	char text[64];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	TEXT(finding->command, "tracebuf %s %s%s", text, findings->shell->times,
	     findings->shell->file);
}

/* ---- missing events ---- */

static void find_missing(struct findings *findings)
{
	const struct analysis_total *total = analysis_total(findings->m->a);
	const struct analysis_gap *gap = analysis_gap(findings->m->a, 0);
	uint64_t span = total->end - total->begin;
	char longest[128] = "", took[32], begin[32];
	struct finding *finding;

	if (total->lost) {
		finding = add(findings, UINT64_MAX);
		if (!finding)
			return;
		if (gap && !gap->of->user)
			TEXT(longest, "; the longest, %s, is on CPU %u from %s on",
			     time_text(gap->last - gap->first, took), gap->of->cpu,
			     moment(gap->first, begin));
		TEXT(finding->text,
		     "%" PRIu64 " of %" PRIu64 " events are missing (%.1f %%), in %" PRIu64
		     " gap%s: what happened there is unknown, and in no figure below%s.",
		     total->lost, total->lost + total->events,
		     100.0 * (double)total->lost / (double)(total->lost + total->events),
		     total->losses, total->losses == 1 ? "" : "s", longest);
		command(findings, finding, "report --section losses");
	} else if (total->of_threads) {
		finding = add(findings, UINT64_MAX);
		if (finding)
			TEXT(finding->text, "Only chosen threads were recorded: "
			     "what else the CPUs ran is unknown.");
	} else if (total->known_ns && ppm(total->known_ns, span) < 900000) {
		finding = add(findings, UINT64_MAX);
		if (finding)
			TEXT(finding->text, "For %.0f %% of the time it is not known of all CPUs what ran; shares are of the rest.",
			     100 - (double)ppm(total->known_ns, span) / 1e4);
	}
}

/* ---- CPUs ---- */

static void find_cpus(struct findings *findings)
{
	struct analysis *a = findings->m->a;
	const struct analysis_cpu *cpu;
	struct finding *finding;
	char waited[32];
	unsigned int i;

	for (i = 0; i < analysis_nr_cpus(a) && !analysis_total(a)->of_threads; i++) {
		cpu = analysis_cpu(a, i);
		if (!cpu || !cpu->seen || ppm(cpu->busy_ns, cpu->tracked_ns) < BUSY_PPM ||
		    ppm(cpu->waiting_ns, cpu->known_ns) < DEPTH_PPM || cpu->waiting_ns < TIME_MIN)
			continue;
		finding = add(findings, cpu->waiting_ns);
		if (!finding)
			return;
		finding->cpu = i;
		TEXT(finding->text, "CPU %u was busy for %.0f %% of the time, and tasks waited for it for %s altogether: %.1f at a time on average, %u at most.",
		     i, (double)ppm(cpu->busy_ns, cpu->tracked_ns) / 1e4,
		     time_text(cpu->waiting_ns, waited),
		     (double)cpu->waiting_ns / (double)cpu->known_ns, cpu->depth_max);
		command(findings, finding, "report -C %u --section tasks", i);
	}
}

static void find_handlers(struct findings *findings)
{
	struct analysis *a = findings->m->a;
	const struct analysis_cpu *cpu;
	struct finding *finding;
	unsigned int i, soft;
	char took[32];
	uint64_t ns;

	for (i = 0; i < 2 * analysis_nr_cpus(a) && !analysis_total(a)->of_threads; i++) {
		cpu = analysis_cpu(a, i / 2);
		soft = i % 2;
		ns = cpu ? (soft ? cpu->softirq_ns : cpu->irq_ns) : 0;
		if (ns < TIME_MIN || ppm(ns, cpu->tracked_ns) < HANDLER_PPM)
			continue;
		finding = add(findings, ns);
		if (!finding)
			return;
		finding->cpu = i / 2;
		TEXT(finding->text, "%s took %s of CPU %u, %.0f %% of the time that is known of it.",
		     soft ? "Softirqs, with what interrupted them," : "Interrupts",
		     time_text(ns, took), i / 2, (double)ppm(ns, cpu->tracked_ns) / 1e4);
		command(findings, finding, "report -C %u --section %s", i / 2,
			soft ? "softirq" : "irq");
	}
}

/* ---- tasks ---- */

/* Add findings of the MOST tasks with the highest @of, highest first */
static void find_tasks(struct findings *findings,
		       uint64_t (*of)(const struct analysis_task *task), uint64_t least_ppm,
		       void (*say)(const struct findings *findings,
				   const struct analysis_task *task, uint64_t span,
				   struct finding *finding))
{
	const struct analysis_total *total = analysis_total(findings->m->a);
	const struct analysis_task *task, *best[MOST] = { NULL };
	uint64_t span = total->end - total->begin;
	struct finding *finding;
	unsigned int i, k;

	for (i = 0; (task = analysis_task(findings->m->a, i)); i++) {
		if (of(task) < TIME_MIN || ppm(of(task), span) < least_ppm)
			continue;
		for (k = MOST; k > 0 && (!best[k - 1] || of(best[k - 1]) < of(task)); k--)
			if (k < MOST)
				best[k] = best[k - 1];
		if (k < MOST)
			best[k] = task;
	}
	for (i = 0; i < MOST && best[i]; i++) {
		finding = add(findings, of(best[i]));
		if (!finding)
			return;
		finding->tid = best[i]->tid;
		say(findings, best[i], span, finding);
		command(findings, finding, "why -t %u", best[i]->tid);
	}
}

/* "worker-7", "threads named cc1", "softirq NET_RX", "interrupts"; a thread has its last name */
static const char *cause_name(const struct findings *findings, const struct analysis_cause *cause,
			      char text[64])
{
	const char *kind = cause->kind == ANALYSIS_BY_IRQ ? "interrupt" : "softirq";
	const struct analysis_task *task = analysis_task_of(findings->m->a, cause->tid);

	if (cause->kind == ANALYSIS_BY_THREAD && cause->tid)
		snprintf(text, 64, "%s-%u", task && task->index == cause->index ? task->comm :
			 cause->comm, cause->tid);
	else if (cause->kind == ANALYSIS_BY_THREAD)
		snprintf(text, 64, "threads named %s", cause->comm);
	else if (cause->handler)
		snprintf(text, 64, "%s %s", kind, cause->handler->name);
	else
		snprintf(text, 64, "%ss", kind);
	return text;
}

/* The cause of most of @whole ns, and the time that is surely its own, rounded down to three
 * digits; NULL: there is none */
static const struct analysis_cause *main_cause(const struct analysis_cause *list, uint64_t whole,
					       char time[32])
{
	const struct analysis_cause *cause;
	uint64_t ns, unit = 1;

	for (cause = list; list && cause < list + ANALYSIS_CAUSES; cause++) {
		ns = cause->ns - cause->doubt;
		if (ns <= whole / 2)
			continue;
		while (ns / unit >= 1000)
			unit *= 10;
		time_text(ns / unit * unit, time);
		return cause;
	}
	return NULL;
}

static const char *instead_sentence(const struct findings *findings,
				    const struct analysis_task *task, char text[160])
{
	char time[32], name[64];
	const struct analysis_cause *cause = main_cause(task->instead, analysis_waited(task), time);

	if (!cause)
		return "";
	if (cause->kind == ANALYSIS_BY_IDLE || cause->kind == ANALYSIS_BY_QUOTA)
		snprintf(text, 160, " For at least %s of that its CPU was idle%s.", time,
			 cause->kind == ANALYSIS_BY_QUOTA ? QUOTA_TEXT : "");
	else
		snprintf(text, 160, " For at least %s of that %s had the CPU.", time,
			 cause_name(findings, cause, name));
	return text;
}

/* Without sched_waking, the interrupt of another CPU seems to be the waker */
static const char *waker_sentence(const struct findings *findings,
				  const struct analysis_cause *list, uint64_t whole, char text[160])
{
	const struct analysis_cause *cause = NULL;
	char time[32], name[64];

	if (analysis_has(findings->m->a, ANALYSIS_WAKING))
		cause = main_cause(list, whole, time);
	if (!cause)
		return "";
	snprintf(text, 160, " For at least %s of that it waited until %s woke it.", time,
		 cause_name(findings, cause, name));
	return text;
}

/* ", 3 times, 20 ms at most (in fsync)", or "" */
static const char *times_text(const struct findings *findings, const struct analysis_stat *stat,
			      int64_t call, char text[160])
{
	char most[32], name[64];

	text[0] = 0;
	if (stat->count)
		snprintf(text, 160, ", %" PRIu64 " time%s, %s at most%s", stat->count,
			 stat->count == 1 ? "" : "s", time_text(stat->max, most),
			 in_call(findings, call, name));
	return text;
}

/* ", 30 ms of it at the end (in fsync)", or "" if that is little of @all */
static const char *last_text(const struct findings *findings, uint64_t last, uint64_t all,
			     int64_t call, char text[128])
{
	char ns[32], name[64];

	text[0] = 0;
	if (last > all / 100)
		snprintf(text, 128, ", %s of it at the end%s", time_text(last, ns),
			 in_call(findings, call, name));
	return text;
}

/* The same of a time whose beginning is not in the trace */
static const char *before_text(uint64_t before, uint64_t all, const char *what, char text[128])
{
	char ns[32];

	text[0] = 0;
	if (before > all / 100)
		snprintf(text, 128, ", %s of it %s", time_text(before, ns), what);
	return text;
}

static void say_waited(const struct findings *findings, const struct analysis_task *task,
		       uint64_t span, struct finding *finding)
{
	char all[32], sum[32], most[32], woken[128] = "", way[128] = "", cause[160];
	char before[128], last[128];
	uint64_t ns = analysis_all_waited(task);

	if (task->wait.count)
		TEXT(woken, ", %s after %" PRIu64 " wake-up%s (%s at most)",
		     time_text(task->wait.sum, sum), task->wait.count,
		     task->wait.count == 1 ? "" : "s",
		     time_text(task->wait.max, most));
	if (task->runnable.count)
		TEXT(way, ", %s after it had made way for others, %" PRIu64 " time%s (%s at most)",
		     time_text(task->runnable.sum, sum), task->runnable.count,
		     task->runnable.count == 1 ? "" : "s",
		     time_text(task->runnable.max, most));
	TEXT(finding->text, "%s-%u could run and had no CPU for %s, %.0f %% of the time%s%s%s%s.%s",
	     task->comm, task->tid, time_text(ns, all), (double)ppm(ns, span) / 1e4, woken, way,
	     before_text(task->before_waited, ns, "in waits that had begun before",
			 before),
	     last_text(findings, task->last_waited, ns, -1, last),
	     instead_sentence(findings, task, cause));
}

static void say_blocked(const struct findings *findings, const struct analysis_task *task,
			uint64_t span, struct finding *finding)
{
	char all[32], times[160], last[128], waker[160];
	uint64_t ns = analysis_all_stuck(task);

	TEXT(finding->text, "%s-%u was blocked (state D: mostly disks and locks of the kernel) "
	     "for %s, %.0f %% of the time%s%s.%s",
	     task->comm, task->tid, time_text(ns, all), (double)ppm(ns, span) / 1e4,
	     times_text(findings, &task->stuck, task->stuck_in, times),
	     last_text(findings, task->last_stuck, ns, task->last_in, last),
	     waker_sentence(findings, task->stuck_by, ns, waker));
}

static void say_slept(const struct findings *findings, const struct analysis_task *task,
		      uint64_t span, struct finding *finding)
{
	char all[32], times[160], before[128], last[128], waker[160];
	uint64_t ns = analysis_all_slept(task);

	TEXT(finding->text, "%s-%u %s for %s, %.0f %% of the time%s%s%s.%s", task->comm, task->tid,
	     ns > task->before_slept ?
	     "slept (state S: mostly for data, or a lock of another thread)" : "was off the CPU",
	     time_text(ns, all), (double)ppm(ns, span) / 1e4,
	     times_text(findings, &task->waiting, task->waiting_in, times),
	     before_text(task->before_slept, ns, "in an unknown state that had begun before",
			 before),
	     last_text(findings, task->last_slept, ns, task->last_in, last),
	     waker_sentence(findings, task->waiting_by, ns, waker));
}

/* ---- spikes ---- */

static const char *instead_text(const struct analysis_wait *wait, char text[160])
{
	const struct analysis_task *task = wait->nr_instead ? wait->instead[0].task : NULL;
	uint64_t span = wait->end - wait->begin;
	double share;
	char time[32];

	if (wait->moved_at) {
		snprintf(text, 160, "it was in the queue of another CPU for %s, and then of CPU %u",
			 time_text(wait->moved_at - wait->begin, time), wait->cpu);
		return text;
	}
	if (!wait->nr_instead || wait->instead[0].ns < wait->unknown_ns) {
		snprintf(text, 160, "what its CPU did %s is unknown",
			 wait->nr_instead ? "for most of that time" : "meanwhile");
		return text;
	}
	share = (double)ppm(wait->instead[0].ns, span) / 1e4;
	if (wait->instead[0].handler)
		snprintf(text, 160, "meanwhile %s %s had CPU %u (%.0f %% of the wait)",
			 wait->instead[0].handler->kind == ANALYSIS_IRQS ? "interrupt" : "softirq",
			 wait->instead[0].handler->name, wait->cpu, share);
	else if (task)
		snprintf(text, 160, "meanwhile %s-%u ran on CPU %u (%.0f %% of the wait)", task->comm,
			 task->tid, wait->cpu, share);
	else
		snprintf(text, 160, "CPU %u was idle meanwhile (%.0f %% of the wait)%s", wait->cpu,
			 share, wait->quota ? QUOTA_TEXT : "");
	return text;
}

static void find_spikes(struct findings *findings)
{
	struct analysis *a = findings->m->a;
	uint64_t median = analysis_percentile(analysis_latency(a), 5000), ns;
	char when[32], until[32], took[32], instead[160];
	const struct analysis_wait *wait;
	struct finding *finding;
	unsigned int i;

	for (i = 0; i < MOST && (wait = analysis_worst(a, ANALYSIS_WORST_WAKEUP, i)); i++) {
		ns = wait->end - wait->begin;
		if (ns < SPIKE_NS && (ns < SPIKE_LEAST || ns / SPIKE_TIMES < median))
			break;
		finding = add(findings, ns);
		if (!finding)
			return;
		finding->tid = wait->task->tid;
		finding->cpu = wait->cpu;
		TEXT(finding->text, "Ready at %s, %s-%u ran only %s later (median: %s): %s.",
		     moment(wait->begin, when), wait->task->comm, wait->task->tid,
		     time_text(ns, took), time_text(median, until), instead_text(wait, instead));
		TEXT(finding->command, "tracebuf why -t %u --from %s --to %s %s", wait->task->tid,
		     moment(wait->begin, when), moment(wait->end, until), findings->shell->file);
	}
}

/* ---- disks ---- */

static void find_requests(struct findings *findings)
{
	const struct analysis_block *block;
	char most[32], high[32], mean[32], longest[64] = "";
	bool few;
	char disk[DISK_TEXT_MAX];
	struct finding *finding;
	uint64_t p99;
	unsigned int i;

	for (i = 0; (block = analysis_block(findings->m->a, i)); i++) {
		p99 = analysis_percentile(&block->histogram, 9900);
		if (!block->stat.count || p99 < REQUEST_NS)
			continue;
		finding = add(findings, block->stat.max);
		if (!finding)
			return;
		few = block->stat.count < 100;
		if (!few)
			TEXT(longest, " or more, the longest %s", time_text(block->stat.max, most));
		TEXT(finding->text, "Of %" PRIu64 " request%s (%c) to disk %s %s took %s%s, the mean %s.",
		     block->stat.count, block->stat.count == 1 ? "" : "s", block->op,
		     disk_text(findings->m->trace, block->dev, disk),
		     few ? "the longest" : "one in a hundred", time_text(p99, high),
		     few ? "" : longest,
		     time_text(block->stat.sum / block->stat.count, mean));
		command(findings, finding, "report --section block");
	}
}

/* ---- writing ---- */

static int worst_first(const void *a, const void *b)
{
	const struct finding *first = a, *second = b;

	return first->ns > second->ns ? -1 : first->ns < second->ns;
}

static void write_findings(struct findings *findings)
{
	struct report_builder *m = findings->m;
	size_t i;

	if (findings->count)
		qsort(findings->list, findings->count, sizeof(*findings->list), worst_first);
	for (i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		number_if(m, finding->ns != UINT64_MAX, finding->ns);
		number_if(m, finding->tid >= 0, (uint64_t)finding->tid);
		number_if(m, finding->cpu >= 0, (uint64_t)finding->cpu);
		text(m, finding->text);
		text(m, finding->command);
	}
}

/* Say what was looked at, where nothing was found */
static void say_nothing(struct report_builder *m)
{
	if (analysis_has(m->a, ANALYSIS_SWITCH) && analysis_of_threads(m->a))
		remark(m, "Nothing: none of these threads waited for a CPU, was blocked or slept "
		       "for long. For a choice of threads, CPUs and interrupts are not examined.");
	else if (analysis_has(m->a, ANALYSIS_SWITCH))
		remark(m, "Nothing in what was examined: no CPU was overloaded, "
		       "no task waited or was blocked for long.");
	else if (analysis_of_events(m->a))
		remark(m, "Nothing, but without sched_switch among the chosen events (-e) "
		       "little can be found.");
	else if (!analysis_lacks(m->a, ANALYSIS_SWITCH))
		remark(m, "Nothing, but no sched_switch occurred, "
		       "without which little can be found.");
	else
		remark(m, "Nothing, but without sched_switch little can be found: "
		       "record -e sched,irq,block.");
}

/* Say what the trace lacks to be looked at, whatever was found */
static void say_unexamined(struct report_builder *m)
{
	static const struct {
		enum analysis_need need, or;
		bool threads;			/* also of chosen threads */
		const char *what;
	} parts[] = {
		{ ANALYSIS_WAKEUP, ANALYSIS_WAKING, true,
		  "waits for a CPU after a wake-up (sched_wakeup)" },
		{ ANALYSIS_IRQ, ANALYSIS_IRQ, false, "interrupts (irq_handler_entry)" },
		{ ANALYSIS_SOFTIRQ, ANALYSIS_SOFTIRQ, false, "softirqs (softirq_entry)" },
		{ ANALYSIS_ISSUE, ANALYSIS_ISSUE, true, "requests to disks (block_rq_issue)" },
	};
	char list[256] = "";
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (analysis_lacks(m->a, parts[i].need) && analysis_lacks(m->a, parts[i].or) &&
		    (parts[i].threads || !analysis_of_threads(m->a)))
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? ", " : "", parts[i].what);
	if (analysis_is_part(m->a))
		remark(m, "Not examined: threads that did not run, and were not woken, in the chosen time. 'tracebuf why -t TID' explains the time of one.");
	if (*list)
		remark(m, "Not examined, because no such events were recorded or chosen: %s.",
		       list);
}

void section_findings(struct report_builder *m, const struct report_shell *shell)
{
	static const struct column list[] = {
		COLUMN_NUMBER("ns", "time", REPORT_NS),
		COLUMN_NUMBER("tid", "tid", REPORT_PLAIN),
		COLUMN_NUMBER("cpu", "CPU", REPORT_PLAIN),
		COLUMN_TEXT("finding", "what stands out"),
		COLUMN_TEXT("command", "shows more"),
	};
	struct findings findings = { .m = m, .shell = shell };

	section(m, "findings", "What stands out", REPORT_TABLE);
	if (m->section)
		m->section->sentences = true;
	COLUMNS(m, list);
	if (!analysis_total(m->a)->events && !analysis_total(m->a)->known_ns) {
		remark(m, "Nothing: no event was chosen. "
		       "'tracebuf why' explains the time of a thread without events, too.");
		return;
	}
	find_missing(&findings);
	find_spikes(&findings);
	find_tasks(&findings, analysis_all_waited, WAIT_PPM, say_waited);
	find_tasks(&findings, analysis_all_stuck, BLOCKED_PPM, say_blocked);
	find_requests(&findings);
	/* figures of a CPU are of all threads; sleep matters only of threads that were asked for */
	if (analysis_of_threads(m->a)) {
		find_tasks(&findings, analysis_all_slept, BLOCKED_PPM, say_slept);
	} else {
		find_cpus(&findings);
		find_handlers(&findings);
	}
	if (!findings.count)
		say_nothing(m);
	say_unexamined(m);
	write_findings(&findings);
	free(findings.list);
}
