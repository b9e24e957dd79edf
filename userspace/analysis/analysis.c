// SPDX-License-Identifier: GPL-2.0-only
/*
 * The analysis engine: it takes events and passes each to the parts that need it.
 *
 * A switch must go to the slices first: when tasks_switch() looks at the next task, the history of
 * the CPU must have the previous one, and a->woken the wake-up of the next one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine.h"
#include "lib/array.h"

#define WORST_DEFAULT 10

static void slice_ended(void *context, const struct slice *slice)
{
	struct analysis *a = context;

	switch (slice->kind) {
	case SLICE_RUN:
		tasks_run(a, slice);
		break;
	case SLICE_WAKEUP:
		waits_woken(a, slice);
		break;
	case SLICE_OFF:
		tasks_off(a, slice);
		break;
	default:
		/* a call that was entered before the trace has no known duration */
		if (slice->kind == SLICE_SYSCALL && slice->doubt == SLICE_UNBEGUN)
			tasks_call_before(a, slice);
		else
			handlers_slice(a, slice);
		break;
	}
}

/* True if no rule kept the beginning or end of a system call out of the recording */
static bool has_all_calls(const struct tb_trace *trace)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(trace, i)); i++)
		if (!strncmp(format->name, "sys_e", 5) && !is_whole(trace, format, true))
			return false;
	return true;
}

/* The time, ns, from which on wake-ups are recorded; UINT64_MAX: they are not */
static uint64_t wakes_from(const struct analysis *a)
{
	uint64_t waking = spans_recorded_from(a->trace, "sched:sched_waking", a->options.base);
	uint64_t wakeup = spans_recorded_from(a->trace, "sched:sched_wakeup", a->options.base);

	return waking < wakeup ? waking : wakeup;
}

struct analysis *analysis_new(struct tb_trace *trace,
			      const struct analysis_options *options)
{
	struct analysis *a = calloc(1, sizeof(*a));
	size_t i;

	if (!a)
		return NULL;
	a->trace = trace;
	if (options)
		a->options = *options;
	if (!a->options.worst)
		a->options.worst = WORST_DEFAULT;
	a->ended_limit = ENDED_MIN;
	a->all_calls = has_all_calls(trace);
	a->slices = slices_open(trace, a->options.base, slice_ended, a);
	for (i = 0; i < ANALYSIS_WORSTS; i++)
		a->worst[i].list = calloc(a->options.worst, sizeof(*a->worst[i].list));
	a->gaps.list = calloc(2 * (size_t)a->options.worst, sizeof(*a->gaps.list));
	for (i = 0; i < ANALYSIS_WORSTS && a->worst[i].list; i++)
		;
	if (!a->slices || !a->gaps.list || i < ANALYSIS_WORSTS ||
	    (a->options.whole && (slices_find_chosen(a->slices, trace) ||
				  spans_of_part(&a->missing, trace, a->options.base,
						a->options.switches_from) ||
				  known_start(a)))) {
		analysis_free(a);
		return NULL;
	}
	if (a->options.whole) {
		slices_missing(a->slices, &a->missing);
		slices_switches_from(a->slices, a->options.switches_from);
		/* without all events, it is not known when a thread ran or was woken */
		if (!a->options.events && !spans_lacks(trace, "sched:sched_switch")) {
			slices_off(a->slices);
			slices_before(a->slices);
			a->wakes_from = wakes_from(a);
		}
	}
	return a;
}

static void listed_free(struct listed *listed)
{
	size_t i;

	for (i = 0; i < listed->count; i++)
		free(listed->list[i]);
	free(listed->list);
}

void analysis_free(struct analysis *a)
{
	size_t i;

	if (!a)
		return;
	block_end(a);
	slices_close(a->slices);
	handlers_free(a);
	for (i = 0; i < HANDLER_LISTS; i++) {
		map_free(&a->hashes[i], NULL);
		listed_free(&a->handlers[i]);
	}
	tasks_free(a);
	listed_free(&a->tasks);
	listed_free(&a->rest);
	listed_free(&a->blocks);
	map_free(&a->loss_hashes, NULL);
	listed_free(&a->losses);
	for (i = 0; i < a->nr_cpus; i++)
		free(a->cpus[i]);
	free(a->cpus);
	for (i = 0; i < ANALYSIS_WORSTS; i++)
		free(a->worst[i].list);
	free(a->gaps.list);
	spans_free(&a->missing);
	spans_free(&a->known.blind);
	spans_free(&a->known.unselected);
	spans_free(&a->known.hidden);
	free(a->counts);
	free(a);
}

/* ---- for all parts ---- */

void *listed_add(struct listed *listed, size_t size)
{
	void *item;

	if (tb_array_grow(&listed->list, &listed->room, listed->count, sizeof(*listed->list)))
		return NULL;
	item = calloc(1, size);
	if (item)
		listed->list[listed->count++] = item;
	return item;
}

struct cpu_state *cpu_of(struct analysis *a, uint32_t cpu)
{
	if (cpu >= SLICES_CPUS_MAX ||
	    tb_array_reach(&a->cpus, &a->nr_cpus, cpu, sizeof(*a->cpus)))
		return NULL;
	if (!a->cpus[cpu])
		a->cpus[cpu] = calloc(1, sizeof(struct cpu_state));
	return a->cpus[cpu];
}

/* ---- time ---- */

void series_fold(uint64_t *series)
{
	unsigned int i;

	for (i = 0; i < ANALYSIS_SERIES / 2; i++)
		series[i] = series[2 * i] + series[2 * i + 1];
	memset(series + i, 0, i * sizeof(*series));
}

static void fold_most(uint32_t *series)
{
	unsigned int i;

	for (i = 0; i < ANALYSIS_SERIES / 2; i++)
		series[i] = series[2 * i] > series[2 * i + 1] ? series[2 * i] :
							       series[2 * i + 1];
	memset(series + i, 0, i * sizeof(*series));
}

/* The end of the first @buckets buckets, at most UINT64_MAX */
static uint64_t edge_of(const struct analysis *a, unsigned int buckets)
{
	if (a->axis.width > (UINT64_MAX - a->axis.begin) / buckets)
		return UINT64_MAX;
	return a->axis.begin + buckets * a->axis.width;
}

/* Make buckets twice as wide */
static void widen_buckets(struct analysis *a)
{
	size_t i;

	for (i = 0; i < a->nr_cpus; i++) {
		if (!a->cpus[i])
			continue;
		series_fold(a->cpus[i]->it.busy);
		series_fold(a->cpus[i]->it.known);
		series_fold(a->cpus[i]->it.waiting);
		fold_most(a->cpus[i]->it.deepest);
	}
	for (i = 0; i < a->tasks.count; i++)
		task_fold(a->tasks.list[i]);
	series_fold(a->lost);
	a->axis.width *= 2;
	a->axis_end = edge_of(a, ANALYSIS_SERIES);
}

/* Extend the axis to @ns */
static void extend_axis(struct analysis *a, uint64_t ns)
{
	uint64_t begin = ns;

	if (!a->axis.width) {
		if (a->options.part_from)
			begin = tb_trace_ns(a->trace, a->options.part_from, a->options.base);
		if (begin > ns)
			begin = ns;
		a->total.end = ns;
		a->axis.begin = a->total.begin = begin > a->options.from ? begin :
									   a->options.from;
		a->axis.width = ANALYSIS_SERIES_NS;
		a->axis_end = edge_of(a, ANALYSIS_SERIES);
	}
	while (ns >= a->axis_end && a->axis_end != UINT64_MAX)
		widen_buckets(a);
	if (ns > a->total.end)
		a->total.end = ns;
	a->axis.count = a->total.end > a->axis.begin ?
			(unsigned int)((a->total.end - a->axis.begin) / a->axis.width) + 1 : 1;
}

unsigned int series_at(const struct analysis *a, uint64_t ns)
{
	uint64_t at = ns > a->axis.begin ? (ns - a->axis.begin) / a->axis.width : 0;

	return at < ANALYSIS_SERIES ? (unsigned int)at : ANALYSIS_SERIES - 1;
}

void series_add(const struct analysis *a, uint64_t *series, uint64_t from, uint64_t to)
{
	uint64_t edge;
	unsigned int i;

	if (from < a->axis.begin)
		from = a->axis.begin;
	for (i = series_at(a, from); from < to && i < ANALYSIS_SERIES; i++) {
		edge = edge_of(a, i + 1);
		series[i] += (edge < to ? edge : to) - from;
		from = edge;
	}
}

/* ---- events ---- */

static int count_format(struct analysis *a, const struct tb_format *format)
{
	/* a multiple of 64, not to grow for each format */
	if (tb_array_reach(&a->counts, &a->nr_counts, format->index | 63, sizeof(*a->counts)))
		return -ENOMEM;
	a->counts[format->index]++;
	return 0;
}

/* The bit of the events that have @role in analysis_total.has; 0: none */
static uint32_t need_of(enum role role)
{
	static const signed char needs[ROLES] = {
		[ROLE_NONE] = -1,
		[ROLE_SWITCH] = ANALYSIS_SWITCH, [ROLE_WAKING] = ANALYSIS_WAKING,
		[ROLE_WAKEUP] = ANALYSIS_WAKEUP, [ROLE_MIGRATE] = ANALYSIS_MIGRATE,
		[ROLE_IRQ] = ANALYSIS_IRQ, [ROLE_IRQ_EXIT] = ANALYSIS_IRQ_EXIT,
		[ROLE_SOFTIRQ] = ANALYSIS_SOFTIRQ, [ROLE_SOFTIRQ_EXIT] = ANALYSIS_SOFTIRQ_EXIT,
		[ROLE_SYSCALL] = ANALYSIS_CALL, [ROLE_SYSCALL_EXIT] = ANALYSIS_CALL_EXIT,
		[ROLE_ISSUE] = ANALYSIS_ISSUE, [ROLE_COMPLETE] = ANALYSIS_COMPLETE,
		[ROLE_REQUEUE] = -1,
	};

	return needs[role] >= 0 ? 1u << needs[role] : 0;
}

static bool is_selected(const struct tb_trace *trace, uint16_t id)
{
	unsigned int change;
	uint64_t ticks;

	for (change = 0; !tb_trace_selection(trace, change, &ticks); change++)
		if (tb_trace_selects(trace, change, id) > 0)
			return true;
	return false;
}

/* Set total.selected */
static int find_selected(struct analysis *a)
{
	const struct tb_format *format;
	const struct plan *plan;
	unsigned int i;

	for (i = 0; i < tb_trace_formats(a->trace); i++) {
		format = tb_trace_format_at(a->trace, i);
		plan = slices_plan(a->slices, format);
		if (!plan)
			return -ENOMEM;
		if (is_selected(a->trace, format->id))
			a->total.selected |= need_of(plan->role);
	}
	return 0;
}

/* Take an event that has a role */
static int take_role(struct analysis *a, const struct tb_view *view, const struct plan *plan,
		     struct cpu_state *cpu)
{
	int result;

	a->total.has |= need_of(plan->role);
	if (plan->role == ROLE_SWITCH)
		known_advance(a, view->ns);
	switch (plan->role) {
	case ROLE_ISSUE:
	case ROLE_COMPLETE:
	case ROLE_REQUEUE:
		return block_take(a, view, plan);
	case ROLE_MIGRATE:
		return queue_take(a, view, plan);
	default:
		result = slices_take(a->slices, view, view->ns);
		if (result < 0)
			return result;
		break;
	}
	if (plan->role == ROLE_WAKEUP)
		return queue_take(a, view, plan);
	if (plan->role != ROLE_SWITCH)
		return 0;
	if (slices_running(a->slices, view->cpu) && analysis_wants_cpu(a, view->cpu))
		known_track(a, cpu);
	cpu->it.switches += analysis_wants(a, view->cpu, view->tid);
	return tasks_switch(a, view, plan);
}

static int take_loss(struct analysis *a, const struct tb_view *view, struct cpu_state *cpu)
{
	uint64_t since = tb_trace_ns(a->trace, view->lost.first, a->options.base);
	int result;

	queue_lost(a, cpu, since);
	known_advance(a, view->ns);
	result = slices_take(a->slices, view, view->ns);
	if (result < 0)
		return result;
	return losses_take(a, view);
}

/* Track the CPUs on which a run had begun before the first event, at @ticks */
static int take_first_runs(struct analysis *a, uint64_t ticks)
{
	const struct slice *run;
	struct cpu_state *cpu;
	unsigned int i;
	int result = slices_begin(a->slices, ticks);

	for (i = 0; result > 0 && i < a->missing.nr_cpus && i < SLICES_CPUS_MAX; i++) {
		run = slices_running(a->slices, i);
		if (!run || !analysis_wants_cpu(a, i))
			continue;
		cpu = cpu_of(a, i);
		if (!cpu)
			return -ENOMEM;
		/* another CPU may have had a switch before the first event of those that are known */
		if (cpu->tracked)
			continue;
		a->total.has |= 1u << ANALYSIS_SWITCH;
		cpu->it.seen = true;
		known_advance(a, run->begin);
		known_track(a, cpu);
	}
	return result < 0 ? result : 0;
}

/* Take the next view; its time is not before that of the last one */
static int take_next(struct analysis *a, const struct tb_view *view)
{
	const struct plan *plan;
	struct cpu_state *cpu;
	bool user = view->kind == TB_VIEW_USER, wanted;

	extend_axis(a, view->ns);
	if (view->ticks > a->ticks)
		a->ticks = view->ticks;
	if (view->kind == TB_VIEW_USER_LOST)
		return losses_take(a, view);
	wanted = (view->kind == TB_VIEW_EVENT || user) && view->ns >= a->options.from &&
		 analysis_wants(a, view->cpu, view->tid);
	a->total.events += wanted;
	if (user)
		return 0;
	cpu = cpu_of(a, view->cpu);
	if (!cpu)
		return -ENOMEM;
	cpu->it.seen = true;
	if (a->options.whole && take_first_runs(a, view->ticks))
		return -ENOMEM;
	if (view->kind == TB_VIEW_LOST)
		return take_loss(a, view, cpu);
	cpu->last = view->ns;
	cpu->current = view->tid;
	cpu->has_current = true;
	if (!view->format)
		return 0;
	if (wanted && count_format(a, view->format))
		return -ENOMEM;
	plan = slices_plan(a->slices, view->format);
	if (!plan)
		return -ENOMEM;
	if (plan->role != ROLE_NONE && take_role(a, view, plan, cpu) < 0)
		return -ENOMEM;
	return a->error;
}

int analysis_event(struct analysis *a, const struct tb_cursor *cursor,
		   const struct tb_view *view)
{
	bool user = view->kind == TB_VIEW_USER || view->kind == TB_VIEW_USER_LOST;
	struct tb_view now;
	uint64_t ns;

	a->cursor = cursor;
	/* records of the durable buffer describe what was before */
	if (!user && view->cpu >= SLICES_CPUS_MAX)
		return 0;
	ns = tb_ns_in(a->trace, a->options.base, view->ticks, view->ns);
	if (ns >= a->total.end && ns == view->ns)
		return take_next(a, view);
	now = *view;
	now.ns = ns;
	/* views come in order: clock records that turn time back are wrong */
	if (ns < a->total.end) {
		now.ns = a->total.end;
		a->total.back++;
	}
	return take_next(a, &now);
}

/* Find the time until which each CPU is known: a file may end before its recording */
static void find_ends(struct analysis *a)
{
	struct cpu_state *cpu;
	unsigned int i;

	for (i = 0; i < a->nr_cpus; i++) {
		cpu = a->cpus[i];
		if (!cpu)
			continue;
		cpu->known_until = a->total.end;
		if (i < a->missing.nr_cpus && a->missing.cpus[i].end < a->total.end) {
			cpu->known_until = a->missing.cpus[i].end;
			a->total.open += cpu->it.seen;
		}
		if (a->total.cut && cpu->last < cpu->known_until)
			cpu->known_until = cpu->last;
	}
}

/* Extend the time to the limits of the part: what the CPUs run then is known without an event */
static int end_part(struct analysis *a)
{
	const struct analysis_options *options = &a->options;

	if (!options->part_to)
		return 0;
	if (!a->axis.width && options->part_from && options->part_from < options->part_to)
		extend_axis(a, tb_trace_ns(a->trace, options->part_from, options->base));
	if (!a->axis.width)
		return 0;
	extend_axis(a, tb_trace_ns(a->trace, options->part_to, options->base));
	if (options->part_to > a->ticks)
		a->ticks = options->part_to;
	return options->whole ? take_first_runs(a, a->ticks) : 0;
}

int analysis_end(struct analysis *a, const struct tb_cursor *cursor, unsigned int flags)
{
	struct tb_view none = { .cpu = TB_RING_USER };
	int result;

	a->cursor = cursor;
	result = end_part(a);
	if (result < 0)
		return result;
	none.ticks = a->ticks;
	a->total.cut = flags & ANALYSIS_CUT;
	if (cursor)
		a->total.late = tb_cursor_late(cursor);
	a->ending = true;
	find_ends(a);
	known_advance(a, a->total.end);
	queue_end(a);
	result = slices_take(a->slices, &none, a->total.end);
	if (result < 0)
		return result;
	slices_finish(a->slices);
	known_end(a);
	block_end(a);
	a->cursor = NULL;
	result = find_selected(a);
	return result ? result : a->error;
}

/* ---- queries ---- */

bool analysis_wants_cpu(const struct analysis *a, uint32_t cpu)
{
	return !a->options.cpu || a->options.cpu(a->options.context, cpu);
}

bool analysis_of_events(const struct analysis *a)
{
	return a->options.events;
}

enum tb_timebase analysis_base(const struct analysis *a)
{
	return a->options.base;
}

bool analysis_is_part(const struct analysis *a)
{
	return a->options.part_from || a->options.part_to;
}

bool analysis_of_threads(const struct analysis *a)
{
	return a->options.thread;
}

const struct analysis_total *analysis_total(const struct analysis *a)
{
	return &a->total;
}

const struct analysis_axis *analysis_axis(const struct analysis *a)
{
	return &a->axis;
}

unsigned int analysis_nr_cpus(const struct analysis *a)
{
	return a->nr_cpus;
}

const struct analysis_cpu *analysis_cpu(const struct analysis *a, unsigned int cpu)
{
	return cpu < a->nr_cpus && a->cpus[cpu] ? &a->cpus[cpu]->it : NULL;
}

int analysis_running(const struct analysis *a, unsigned int cpu, uint32_t *tid,
		     uint64_t *since)
{
	const struct slice *run = slices_running(a->slices, cpu);

	if (!run)
		return 0;
	*tid = run->tid;
	*since = run->begin;
	return 1;
}

uint64_t analysis_count(const struct analysis *a, unsigned int index)
{
	return index < a->nr_counts ? a->counts[index] : 0;
}
