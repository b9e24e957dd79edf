// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of an interval: the difference between the counts of the analysis, which only grow,
 * at its end and its beginning.  The end is the time of the last event.  The run of a thread on a
 * CPU is counted up to then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "top.h"
#include "lib/array.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

struct task_count {
	uint64_t run_ns, runs, preempted, migrations, waits, wait_ns;
};

struct handler_count {
	uint64_t count, known, sum, failed;
};

struct cpu_count {
	uint64_t busy, idle, irq, softirq, switches;
};

/* Counts at one time.  Arrays are by the analysis' own numbers: nr_* entries, memory for *_room */
struct top_counts {
	uint64_t ns, events, lost;
	struct task_count *tasks;
	struct handler_count *handlers[ANALYSIS_KINDS];
	struct cpu_count *cpus;
	uint64_t *formats;
	size_t nr_tasks, tasks_room, nr_handlers[ANALYSIS_KINDS], handlers_room[ANALYSIS_KINDS];
	size_t nr_cpus, cpus_room, nr_formats, formats_room;
	struct analysis_histogram latency;
};

/* ---- memory ---- */

#define ROOM(array, room, at) tb_array_grow(&(array), &(room), at, sizeof(*(array)))

int top_sampler_start(struct top_sampler *sampler)
{
	sampler->is = calloc(1, sizeof(*sampler->is));
	sampler->was = calloc(1, sizeof(*sampler->was));
	return sampler->is && sampler->was ? 0 : -ENOMEM;
}

static void counts_free(struct top_counts *counts)
{
	unsigned int kind;

	if (!counts)
		return;
	for (kind = 0; kind < ANALYSIS_KINDS; kind++)
		free(counts->handlers[kind]);
	free(counts->tasks);
	free(counts->cpus);
	free(counts->formats);
	free(counts);
}

void top_sampler_free(struct top_sampler *sampler)
{
	counts_free(sampler->is);
	counts_free(sampler->was);
	top_containers_free(&sampler->containers);
}

void top_picture_free(struct top_picture *picture)
{
	unsigned int view;

	for (view = 0; view < TOP_VIEWS; view++)
		free(picture->tables[view].rows);
	free(picture->cpus);
}

/* ---- counts at one time ---- */

static int take_tasks(struct top_counts *is, const struct analysis *a)
{
	const struct analysis_task *task;
	size_t i;

	for (i = 0; (task = analysis_task(a, (unsigned int)i)); i++) {
		if (ROOM(is->tasks, is->tasks_room, i))
			return -ENOMEM;
		is->tasks[i] = (struct task_count){
			.run_ns = task->run_ns, .runs = task->runs,
			.preempted = task->preempted, .migrations = task->migrations,
			.waits = task->wait.count, .wait_ns = task->wait.sum,
		};
	}
	is->nr_tasks = i;
	return 0;
}

static int take_handlers(struct top_counts *is, const struct analysis *a,
			 enum analysis_kind kind)
{
	const struct analysis_handler *handler;
	size_t i;

	for (i = 0; (handler = analysis_handler(a, kind, (unsigned int)i)); i++) {
		if (ROOM(is->handlers[kind], is->handlers_room[kind], i))
			return -ENOMEM;
		is->handlers[kind][i] = (struct handler_count){
			.count = handler->stat.count + handler->stat.uncertain,
			.known = handler->stat.count, .sum = handler->stat.sum,
			.failed = handler->failed,
		};
	}
	is->nr_handlers[kind] = i;
	return 0;
}

/* All zero if the analysis does not have the CPU: numbers of CPUs have holes */
static const struct analysis_cpu *cpu_at(const struct analysis *a, size_t cpu)
{
	static const struct analysis_cpu nothing;
	const struct analysis_cpu *it = analysis_cpu(a, (unsigned int)cpu);

	return it ? it : &nothing;
}

/* Copy counts of CPUs, and count the present run of each */
static int take_cpus(struct top_counts *is, const struct analysis *a)
{
	const struct analysis_task *task;
	const struct analysis_cpu *cpu;
	uint64_t since, now;
	uint32_t tid;
	size_t i;

	is->nr_cpus = analysis_nr_cpus(a);
	for (i = 0; i < is->nr_cpus; i++) {
		if (ROOM(is->cpus, is->cpus_room, i))
			return -ENOMEM;
		cpu = cpu_at(a, i);
		is->cpus[i] = (struct cpu_count){
			.busy = cpu->busy_ns, .idle = cpu->idle_ns, .irq = cpu->irq_ns,
			.softirq = cpu->softirq_ns, .switches = cpu->switches,
		};
		if (!analysis_running(a, (unsigned int)i, &tid, &since))
			continue;
		now = is->ns > since ? is->ns - since : 0;
		if (!tid) {
			is->cpus[i].idle += now;
			continue;
		}
		is->cpus[i].busy += now;
		task = analysis_task_of(a, tid);
		if (task && task->index < is->nr_tasks)
			is->tasks[task->index].run_ns += now;
	}
	return 0;
}

static int take_formats(struct top_counts *is, const struct top_source *source)
{
	size_t i;

	is->nr_formats = tb_trace_formats(source->trace);
	for (i = 0; i < is->nr_formats; i++) {
		if (ROOM(is->formats, is->formats_room, i))
			return -ENOMEM;
		is->formats[i] = analysis_count(source->analysis, (unsigned int)i);
	}
	return 0;
}

static int take(struct top_counts *is, const struct top_source *source)
{
	const struct analysis *a = source->analysis;
	struct tb_stats accounting;
	unsigned int kind;
	int result = 0;

	is->ns = analysis_total(a)->end;
	is->events = analysis_total(a)->events;
	is->latency = *analysis_latency(a);
	is->lost = analysis_total(a)->lost;
	/* the device counts losses before the stream tells where they are */
	if (source->device) {
		result = read_stats(source->device, source->query.nr_cpus, NULL, &accounting);
		is->lost = accounting.overwritten + accounting.dropped;
	}
	if (!result)
		result = take_tasks(is, a);
	for (kind = 0; !result && kind < ANALYSIS_KINDS; kind++)
		result = take_handlers(is, a, kind);
	if (!result)
		result = take_cpus(is, a);
	return result ? result : take_formats(is, source);
}

/* ---- the difference ---- */

struct between {
	const struct top_source *source;
	const struct top_counts *is, *was;
	struct top_containers *containers;
	struct top_picture *picture;
	double seconds;			/* length of the interval, never 0 */
};

/* Entries that did not exist before were 0 */
#define BEFORE(array, nr, i) ((i) < (nr) ? (array)[i] : zero)

static double rate(const struct between *between, uint64_t count)
{
	return (double)count / between->seconds;
}

/* Percent of the interval.  @before can be larger: the last run was counted up to the last event,
 * and may have ended earlier */
static double share(const struct between *between, uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) / between->seconds / 1e7 : 0;
}

/* Copy a name with '?' for bytes that are not printable ASCII */
static void put_name(char *to, const char *from)
{
	size_t i;

	for (i = 0; from[i] && i < TOP_NAME - 1; i++)
		to[i] = from[i] >= 0x20 && from[i] < 0x7f ? from[i] : '?';
	to[i] = 0;
}

static struct top_row *add_row(struct between *between, enum top_view view,
			       uint32_t id, const char *name)
{
	struct top_table *table = &between->picture->tables[view];
	struct top_row *row;

	if (ROOM(table->rows, table->room, table->count))
		return NULL;
	row = &table->rows[table->count++];
	memset(row, 0, sizeof(*row));
	row->id = id;
	put_name(row->name, name);
	return row;
}

static int add_tasks(struct between *between)
{
	const struct top_counts *is = between->is, *was = between->was;
	const struct task_count zero = { 0 };
	const struct analysis_task *task;
	struct task_count now, before;
	struct top_row *row;
	size_t i;

	for (i = 0; i < is->nr_tasks; i++) {
		task = analysis_task(between->source->analysis, (unsigned int)i);
		now = is->tasks[i];
		before = BEFORE(was->tasks, was->nr_tasks, i);
		between->picture->nr_tasks += !task->ended;
		if (task->ended && now.run_ns == before.run_ns)
			continue;
		row = add_row(between, TOP_TASKS, task->tid, task->comm);
		if (!row)
			return -ENOMEM;
		row->values[0] = task->tid;
		row->values[1] = task->tgid;
		row->values[2] = share(between, now.run_ns, before.run_ns);
		row->values[3] = (double)now.run_ns / 1e9;
		row->values[4] = rate(between, now.runs - before.runs);
		row->values[5] = rate(between, now.preempted - before.preempted);
		row->values[6] = rate(between, now.migrations - before.migrations);
		row->values[7] = now.waits == before.waits ? 0 :
				 (double)(now.wait_ns - before.wait_ns) / 1e3 /
				 (double)(now.waits - before.waits);
		row->values[8] = (double)task->wait.max / 1e3;
		row->quiet = now.run_ns == before.run_ns && now.runs == before.runs &&
			     now.waits == before.waits;
	}
	return 0;
}

/* The row of a container; machines have some dozens of them, so a linear search is enough */
static struct top_row *container_row(struct between *between, uint32_t cgroup)
{
	const struct top_table *table = &between->picture->tables[TOP_CONTAINERS];
	const char *whole = top_container(between->containers, between->source, cgroup);
	size_t length = strlen(whole), i;
	char name[TOP_NAME];
	struct top_row *row;

	/* the ends of long names differ: "namespace/pod/container" */
	put_name(name, whole + (length < TOP_NAME ? 0 : length - (TOP_NAME - 1)));
	for (i = 0; i < table->count; i++)
		if (!strcmp(table->rows[i].name, name))
			return &table->rows[i];
	row = add_row(between, TOP_CONTAINERS, cgroup, name);
	if (row)
		row->quiet = true;
	return row;
}

/* Sums over the tasks that are in each container now, or ended there */
static int add_containers(struct between *between)
{
	const struct top_counts *is = between->is, *was = between->was;
	struct top_table *table = &between->picture->tables[TOP_CONTAINERS];
	const struct task_count zero = { 0 };
	const struct analysis_task *task;
	struct task_count now, before;
	struct top_row *row;
	size_t i;

	for (i = 0; (task = analysis_task(between->source->analysis, (unsigned int)i)); i++)
		top_container(between->containers, between->source, task->cgroup);
	top_containers_find(between->containers, between->source);
	for (i = 0; i < is->nr_tasks; i++) {
		task = analysis_task(between->source->analysis, (unsigned int)i);
		now = is->tasks[i];
		before = BEFORE(was->tasks, was->nr_tasks, i);
		row = container_row(between, task->cgroup);
		if (!row)
			return -ENOMEM;
		row->values[0] += !task->ended;
		row->values[1] += share(between, now.run_ns, before.run_ns);
		row->values[2] += (double)now.run_ns / 1e9;
		row->values[3] += rate(between, now.runs - before.runs);
		row->values[4] += (double)(now.wait_ns - before.wait_ns) / 1e3;
		if ((double)task->wait.max / 1e3 > row->values[5])
			row->values[5] = (double)task->wait.max / 1e3;
		/* not shown: the number of waits, by which column 4 is divided below */
		row->values[6] += (double)(now.waits - before.waits);
		row->quiet &= now.run_ns == before.run_ns && now.runs == before.runs &&
			      now.waits == before.waits;
	}
	for (i = 0; i < table->count; i++)
		if (table->rows[i].values[6] > 0)
			table->rows[i].values[4] /= table->rows[i].values[6];
	return 0;
}

static int add_events(struct between *between)
{
	const struct top_counts *is = between->is, *was = between->was;
	const struct tb_format *format;
	uint64_t count, all = 0, zero = 0;
	char name[2 * TB_NAME_MAX + 16];
	struct top_row *row;
	size_t i;

	for (i = 0; i < is->nr_formats; i++)
		all += is->formats[i] - BEFORE(was->formats, was->nr_formats, i);
	for (i = 0; i < is->nr_formats; i++) {
		format = tb_trace_format_at(between->source->trace, (unsigned int)i);
		count = is->formats[i] - BEFORE(was->formats, was->nr_formats, i);
		/* an event has a format for each of its forms, and is recorded in one */
		if (!is->formats[i])
			continue;
		snprintf(name, sizeof(name), "%s:%s", format->system, format->name);
		row = add_row(between, TOP_EVENTS, format->id, name);
		if (!row)
			return -ENOMEM;
		row->values[0] = rate(between, count);
		row->values[1] = all ? 100.0 * (double)count / (double)all : 0;
		row->values[2] = (double)is->formats[i];
		row->quiet = !count;
	}
	return 0;
}

/* Fill in the columns that all kinds have, from number @first on */
static void put_handler(const struct between *between, struct top_row *row,
			unsigned int first, const struct handler_count *now,
			const struct handler_count *before,
			const struct analysis_handler *handler)
{
	double *values = row->values + first;

	values[0] = rate(between, now->count - before->count);
	values[1] = share(between, now->sum, before->sum);
	values[2] = now->known == before->known ? 0 :
		    (double)(now->sum - before->sum) / 1e3 /
		    (double)(now->known - before->known);
	values[3] = (double)handler->stat.max / 1e3;
	values[4] = (double)now->count;
	row->quiet = now->count == before->count;
}

static int add_handlers(struct between *between, enum analysis_kind kind)
{
	const struct top_counts *is = between->is, *was = between->was;
	const struct handler_count zero = { 0 };
	const struct analysis_handler *handler;
	struct handler_count before;
	struct top_row *row;
	char name[TOP_NAME];
	size_t i;

	for (i = 0; i < is->nr_handlers[kind]; i++) {
		handler = analysis_handler(between->source->analysis, kind, (unsigned int)i);
		before = BEFORE(was->handlers[kind], was->nr_handlers[kind], i);
		snprintf(name, sizeof(name), "%s%.50s",
			 kind == ANALYSIS_SOFTIRQS ? "softirq " :
			 kind == ANALYSIS_IRQS ? "irq " : "", handler->name);
		row = add_row(between, kind == ANALYSIS_CALLS ? TOP_CALLS : TOP_IRQS,
			      (uint32_t)handler->number, name);
		if (!row)
			return -ENOMEM;
		row->values[0] = (double)handler->number;
		put_handler(between, row, 1, &is->handlers[kind][i], &before, handler);
		row->values[6] = rate(between, is->handlers[kind][i].failed - before.failed);
	}
	return 0;
}

static int add_cpus(struct between *between)
{
	const struct analysis *a = between->source->analysis;
	const struct top_counts *is = between->is, *was = between->was;
	struct top_picture *picture = between->picture;
	const struct cpu_count zero = { 0 };
	const struct analysis_task *task;
	struct cpu_count before;
	struct top_row *row;
	struct top_cpu *cpu;
	uint64_t since;
	uint32_t tid;
	size_t i;

	free(picture->cpus);
	picture->cpus = calloc(is->nr_cpus + 1, sizeof(*picture->cpus));
	picture->nr_cpus = (unsigned int)is->nr_cpus;
	if (!picture->cpus)
		return -ENOMEM;
	for (i = 0; i < is->nr_cpus; i++) {
		before = BEFORE(was->cpus, was->nr_cpus, i);
		cpu = &picture->cpus[i];
		cpu->seen = cpu_at(a, i)->seen;
		cpu->busy = share(between, is->cpus[i].busy, before.busy);
		cpu->idle = share(between, is->cpus[i].idle, before.idle);
		cpu->irq = share(between, is->cpus[i].irq, before.irq);
		cpu->softirq = share(between, is->cpus[i].softirq, before.softirq);
		cpu->unknown = 100 - cpu->busy - cpu->idle;
		if (cpu->unknown < 0.05)
			cpu->unknown = 0;
		if (!cpu->seen)
			continue;
		task = NULL;
		tid = 0;
		if (analysis_running(a, (unsigned int)i, &tid, &since) && tid)
			task = analysis_task_of(a, tid);
		row = add_row(between, TOP_CPUS, (uint32_t)i, task ? task->comm :
			      between->source->whole ? "-" :
			      cpu->unknown && !cpu->idle ? "?" : "<idle>");
		if (!row)
			return -ENOMEM;
		row->values[0] = (double)i;
		row->values[1] = cpu->busy;
		row->values[2] = cpu->idle;
		row->values[3] = cpu->irq;
		row->values[4] = cpu->softirq;
		row->values[5] = cpu->unknown;
		row->values[6] = rate(between, is->cpus[i].switches - before.switches);
		row->values[7] = between->source->whole ? -1.0 : cpu_at(a, i)->depth;
	}
	return 0;
}

static const char *span_text(unsigned int power, char text[TOP_NAME])
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	double from = power ? (double)(1ull << power) : 0;
	double to = (double)(1ull << power) * 2;
	unsigned int u = 0, v = 0;

	for (; from >= 1000 && u < 3; u++)
		from /= 1000;
	for (; to >= 1000 && v < 3; v++)
		to /= 1000;
	snprintf(text, TOP_NAME, "%.4g %s .. %.4g %s", from, unit[u], to, unit[v]);
	return text;
}

/* The histogram of the interval */
static void latency_between(const struct between *between,
			    struct analysis_histogram *more)
{
	const struct analysis_histogram *is = &between->is->latency;
	const struct analysis_histogram *was = &between->was->latency;
	unsigned int i;

	*more = (struct analysis_histogram){
		.count = is->count - was->count, .sum = is->sum - was->sum,
		.min = is->min, .max = is->max,
	};
	for (i = 0; i < ANALYSIS_BUCKETS; i++)
		more->buckets[i] = is->buckets[i] - was->buckets[i];
}

static int add_latency(struct between *between)
{
	struct top_picture *picture = between->picture;
	struct analysis_histogram *more = malloc(sizeof(*more));
	const struct analysis_histogram *all = &between->is->latency;
	uint64_t sum = 0, sum_all = 0, count, count_all;
	struct top_row *row;
	unsigned int power;
	char name[TOP_NAME];

	if (!more)
		return -ENOMEM;
	latency_between(between, more);
	picture->median = analysis_percentile(more, 5000);
	picture->high = analysis_percentile(more, 9900);
	picture->max = analysis_percentile(more, 10000);
	picture->waits = more->count;
	picture->all_high = analysis_percentile(all, 9900);
	picture->all_max = all->max;
	for (power = 0; power < 63; power++) {
		count = analysis_log2(more, power);
		count_all = analysis_log2(all, power);
		sum += count;
		sum_all += count_all;
		if (!sum_all || (sum_all == all->count && !count_all))
			continue;
		row = add_row(between, TOP_LATENCY, power, span_text(power, name));
		if (!row)
			break;
		row->values[0] = (double)count;
		row->values[1] = more->count ? 100.0 * (double)count / (double)more->count : 0;
		row->values[2] = more->count ? 100.0 * (double)sum / (double)more->count : 0;
		row->values[3] = (double)count_all;
		row->values[4] = 100.0 * (double)sum_all / (double)all->count;
	}
	free(more);
	return power < 63 ? -ENOMEM : 0;
}

/* The rate of event @name, in both of its forms */
static double rate_of(const struct between *between, const char *name)
{
	const struct top_counts *is = between->is, *was = between->was;
	const struct tb_format *format;
	uint64_t count = 0, zero = 0;
	size_t i;

	for (i = 0; i < is->nr_formats; i++) {
		format = tb_trace_format_at(between->source->trace, (unsigned int)i);
		if (!strcmp(format->name, name))
			count += is->formats[i] - BEFORE(was->formats, was->nr_formats, i);
	}
	return rate(between, count);
}

/* The time of day at @ns of the trace's clock */
static time_t time_at(const struct top_source *source, uint64_t ns)
{
	uint64_t ticks = tb_trace_ticks(source->trace, ns);

	return (time_t)(tb_trace_ns(source->trace, ticks, TB_TIME_REALTIME) / 1000000000);
}

static void put_rates(const struct between *between)
{
	const struct top_counts *is = between->is, *was = between->was;
	struct top_picture *picture = between->picture;
	uint64_t switches = 0, now = monotonic_ns();
	size_t i;

	for (i = 0; i < is->nr_cpus; i++)
		switches += is->cpus[i].switches;
	for (i = 0; i < was->nr_cpus; i++)
		switches -= was->cpus[i].switches;
	picture->ns = (uint64_t)(between->seconds * 1e9);
	picture->events = rate(between, is->events - was->events);
	picture->switches = rate(between, switches);
	picture->has = analysis_total(between->source->analysis)->has;
	picture->wakeups = picture->has >> ANALYSIS_WAKING & 1 ?
			   rate_of(between, "sched_waking") : rate_of(between, "sched_wakeup");
	picture->irqs = rate_of(between, "irq_handler_entry");
	picture->softirqs = rate_of(between, "softirq_entry");
	picture->calls = rate_of(between, "sys_enter");
	picture->lost = is->lost - was->lost;
	picture->lost_all = is->lost;
	picture->late = tb_cursor_late(between->source->cursor);
	/* a stream may come from another machine, with another clock */
	picture->behind = between->source->device && now > is->ns ? now - is->ns : 0;
	picture->taken = time(NULL);
	picture->since = between->source->since;
	if (between->source->whole) {
		picture->taken = time_at(between->source, is->ns);
		picture->since = time_at(between->source,
					 analysis_total(between->source->analysis)->begin);
	}
}

static int compare(struct between *between)
{
	struct top_picture *picture = between->picture;
	unsigned int view, kind;
	int result;

	for (view = 0; view < TOP_VIEWS; view++)
		picture->tables[view].count = 0;
	picture->nr_tasks = 0;
	put_rates(between);
	result = add_tasks(between);
	if (!result)
		result = add_containers(between);
	if (!result)
		result = add_events(between);
	for (kind = 0; !result && kind < ANALYSIS_KINDS; kind++)
		result = add_handlers(between, kind);
	if (!result)
		result = add_cpus(between);
	return result ? result : add_latency(between);
}

int top_sample(struct top_sampler *sampler, struct top_source *source,
	       struct top_picture *picture)
{
	struct top_counts *is = sampler->was;
	struct between between = {
		.source = source, .picture = picture, .containers = &sampler->containers,
	};
	uint64_t begin;
	int result;

	sampler->was = sampler->is;
	sampler->is = is;
	result = take(is, source);
	between.is = is;
	between.was = sampler->was;
	/* the first interval begins at the first event */
	begin = between.was->ns ? between.was->ns : analysis_total(source->analysis)->begin;
	between.seconds = is->ns > begin ? (double)(is->ns - begin) / 1e9 : 1e-9;
	if (!result && sampler->begun && picture)
		result = compare(&between);
	sampler->begun = true;
	if (!result)
		result = top_source_renew(source);
	if (result != 1)
		return result;
	/* containers may come and go all the time: do not collect their names forever */
	top_containers_free(&sampler->containers);
	/* the new analysis has other numbers, so take them */
	return take(is, source);
}
