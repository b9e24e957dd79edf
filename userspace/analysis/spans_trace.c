// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the spans of a file in which events are missing.
 *
 * A block begins with a record of the gap before it, so a cursor shows events of other CPUs from
 * that time earlier.  Reading these records first tells of each event what is missing around it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "roles.h"
#include "slices.h"
#include "spans.h"
#include "lib/array.h"

/* Events that are read to find what the CPUs of a part run at its beginning */
#define EVENTS_AHEAD 1000000

struct ahead {
	const struct tb_trace *trace;
	enum tb_timebase base;
	struct spans *missing;
};

/* Add the loss @lost of @cpu; @reported: time of its record */
static int add_missing(const struct ahead *a, uint32_t cpu, const struct tb_gap *lost,
		       uint64_t reported)
{
	struct spans *missing = a->missing;
	uint64_t first = tb_trace_ns(a->trace, lost->first, a->base);

	if (tb_array_grow(&missing->own, &missing->room_own, missing->nr_own,
			  sizeof(*missing->own)))
		return -ENOMEM;
	missing->lost += lost->overwritten + lost->dropped;
	missing->own[missing->nr_own++] = (struct gap_span){
		cpu, first, tb_trace_ns(a->trace, reported, a->base)
	};
	return spans_add(missing, first, tb_trace_ns(a->trace, lost->last, a->base));
}

/*
 * Copies of the headers of the first and the last block of a CPU so far, if there are @any: reading
 * an old one again would make its pages resident again.  @first_number, @number: of these blocks
 */
struct edges {
	struct tb_block first, last;
	size_t first_number, number;
	bool any;
};

static const struct tb_block *last_of(const struct edges *edges)
{
	return edges->any ? &edges->last : NULL;
}

/* True if there may be a gap between @last, the last block so far, and @next */
static bool may_lose(const struct tb_block *last, const struct tb_block *next)
{
	return !last || next->sequence != last->sequence + 1 ||
	       next->overwritten != last->overwritten || next->dropped != last->dropped;
}

/* Return the record of the gap before block number @number; @walk goes on after it.  NULL: none */
static const struct tb_gap *walk_gap(const struct tb_trace *trace, size_t number,
				     struct tb_walk *walk)
{
	const struct tb_block *block = tb_trace_block(trace, number, NULL, NULL);

	/* the file is shorter than it was */
	if (!block)
		return NULL;
	tb_walk_trace(walk, trace, block);
	return tb_walk_next(walk) == 1 && walk->id == TB_EV_GAP &&
	       walk->bytes >= sizeof(struct tb_gap) ? walk->payload : NULL;
}

/* Add what is missing before block number @number, which has this header */
static int ask_block(const struct ahead *a, const struct tb_block *block, size_t number,
		     struct edges *edges)
{
	bool ask = may_lose(last_of(edges), block);
	const struct tb_gap *gap;
	struct tb_walk walk;

	if (!edges->any || block->sequence < edges->first.sequence) {
		edges->first = *block;
		edges->first_number = number;
	}
	if (!edges->any || block->sequence >= edges->last.sequence) {
		edges->last = *block;
		edges->number = number;
	}
	edges->any = true;
	if (!ask)
		return 0;
	gap = walk_gap(a->trace, number, &walk);
	return gap && (gap->overwritten || gap->dropped) ?
	       add_missing(a, block->cpu, gap, block->time_start) : 0;
}

/* Add what is missing after the last block, according to the totals */
static int ask_totals(const struct ahead *a, unsigned int cpu, const struct tb_block *last)
{
	struct tb_gap lost;
	uint64_t end;

	return tb_trace_tail(a->trace, cpu, last, &lost, &end) ?
	       add_missing(a, cpu, &lost, end) : 0;
}

/* True if blocks after @last are neither in the file nor overwritten: the file is damaged */
static bool lacks_blocks(const struct tb_totals *totals, const struct tb_block *last)
{
	return last && last->sequence + 1 < totals->blocks &&
	       last->overwritten == totals->overwritten;
}

/*
 * The time up to which the trace has the events of a CPU.  Without totals of the CPU, nothing says
 * what came after the last block: the recorder was killed, or the recording continues in another
 * file or after a snapshot.
 */
static uint64_t end_of(const struct ahead *a, unsigned int cpu, const struct edges *edges)
{
	const struct tb_block *last = last_of(edges);
	const struct tb_totals *snapshot = tb_trace_snapshot(a->trace, cpu);
	const struct tb_totals *totals = tb_trace_totals(a->trace, cpu);
	uint64_t end = last ? last->time_start : 0;
	const struct tb_block *open = NULL;
	struct tb_walk walk;
	int step = 0;

	if (totals && !lacks_blocks(totals, last))
		return UINT64_MAX;
	if (last && last->flags & TB_BLOCK_COMPLETE)
		end = last->time_end;
	else if (last)
		open = tb_trace_block(a->trace, edges->number, NULL, NULL);
	if (open)
		tb_walk_trace(&walk, a->trace, open);
	while (open && ((step = tb_walk_next(&walk)) == 1 || step == -EAGAIN))
		if (step == 1)
			end = walk.ticks;
	/* a snapshot's totals count if the ring had recorded nothing after @last when it began */
	if (snapshot && !(snapshot->flags & TB_TOTALS_OPEN) &&
	    snapshot->blocks == (last ? last->sequence + 1 : 0) && snapshot->time > end)
		end = snapshot->time;
	return end ? tb_trace_ns(a->trace, end, a->base) : 0;
}

/* The time from which on the trace has them.  The first block is number 0 if the file has all */
static uint64_t begin_of(const struct ahead *a, const struct edges *edges)
{
	return edges->any && edges->first.sequence ?
	       tb_trace_ns(a->trace, edges->first.time_start, a->base) : 0;
}

/* @name: as "sched:sched_switch" */
static bool is_event(const struct tb_format *format, const char *name)
{
	size_t length = format ? strlen(format->system) : 0;

	return format && !strncmp(name, format->system, length) && name[length] == ':' &&
	       !strcmp(name + length + 1, format->name);
}

static bool is_switch(const struct tb_format *format)
{
	return is_event(format, "sched:sched_switch");
}

/* Find the first event of a CPU.  False: events before it are missing */
static bool find_first_event(const struct ahead *a, const struct edges *edges, struct cpu_span *cpu)
{
	const struct tb_gap *gap;
	struct tb_walk walk;

	if (!edges->any || edges->first.sequence)
		return false;
	gap = walk_gap(a->trace, edges->first_number, &walk);
	if (!gap || gap->overwritten || gap->dropped || tb_walk_next(&walk) != 1)
		return false;
	cpu->tid = edges->first.tid;
	cpu->first = walk.ticks;
	cpu->first_is_switch = is_switch(tb_trace_format(a->trace, walk.id));
	return true;
}

static const struct tb_format *switch_format(const struct tb_trace *trace)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(trace, i)); i++)
		if (is_switch(format))
			return format;
	return NULL;
}

bool spans_selects_switches(const struct tb_trace *trace, unsigned int change)
{
	const struct tb_format *format = switch_format(trace);

	return !format || tb_trace_selects(trace, change, format->id);
}

/* The first time at or after @from, in ticks, at which switches are not selected */
static uint64_t deselected_at(const struct tb_trace *trace, uint64_t from)
{
	uint64_t ticks, since = UINT64_MAX;
	unsigned int change;

	/* without the first record, it is not known what was selected */
	if (!tb_trace_selection(trace, 0, &ticks) && ticks > from)
		return from;
	for (change = 0; !tb_trace_selection(trace, change, &ticks); change++) {
		if (ticks > from && since < UINT64_MAX)
			break;
		since = spans_selects_switches(trace, change) ? UINT64_MAX :
			ticks > from ? ticks : from;
	}
	return since;
}

/* True if rules kept out events of this name, or, with @choice, a choice of threads did */
static bool is_kept_out(const struct tb_trace *trace, const char *name, bool choice)
{
	size_t count, i;
	const struct tb_suppressed *list = tb_trace_suppressed(trace, &count);

	for (i = 0; i < count; i++)
		if (!list[i].id ? choice :
		    is_event(tb_trace_format(trace, (uint16_t)list[i].id), name) ||
		    /* described in its compact form only */
		    is_event(tb_trace_format(trace, (uint16_t)(list[i].id + 1)), name))
			return true;
	return false;
}

bool spans_lacks(const struct tb_trace *trace, const char *name)
{
	return is_kept_out(trace, name, true);
}

/* True if an event of this name is selected from change number @change on */
static bool selects(const struct tb_trace *trace, unsigned int change, const char *name)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(trace, i)); i++)
		if (is_event(format, name) && tb_trace_selects(trace, change, format->id))
			return true;
	return false;
}

uint64_t spans_recorded_from(const struct tb_trace *trace, const char *name,
			     enum tb_timebase base)
{
	uint64_t ticks, since = UINT64_MAX;
	unsigned int change;

	if (spans_lacks(trace, name))
		return UINT64_MAX;
	for (change = 0; !tb_trace_selection(trace, change, &ticks); change++)
		since = !selects(trace, change, name) ? UINT64_MAX :
			since == UINT64_MAX ? tb_trace_ns(trace, ticks, base) : since;
	/* without records of changes, all events are selected */
	return change || !selects(trace, 0, name) ? since : 0;
}

/*
 * See struct spans.  The totals of all recorded CPUs are written together; a CPU with blocks that
 * are not in this file did something that is not, too.
 */
static bool has_all_cpus(const struct tb_trace *trace, const struct edges *edges,
			 unsigned int cpus)
{
	const struct tb_init *init = tb_trace_init(trace);
	unsigned int i, with_blocks = 0;
	const struct tb_totals *totals;
	bool counted = false;

	if (!init || !(init->flags & TB_INIT_ALL_CPUS))
		return false;
	for (i = 0; i < init->nr_cpus && i < SLICES_CPUS_MAX; i++) {
		totals = tb_trace_totals(trace, i);
		if (!totals)
			totals = tb_trace_snapshot(trace, i);
		counted |= totals != NULL;
		with_blocks += i < cpus && edges[i].any;
		if (totals && totals->blocks && (i >= cpus || !edges[i].any))
			return false;
	}
	return counted || with_blocks == init->nr_cpus;
}

/*
 * Find the threads that ran when the recording began.  A CPU's first block has the thread that ran
 * when the block was opened, for the first event; before that, there was no switch.
 */
static void find_first_threads(const struct ahead *a, const struct edges *edges)
{
	struct spans *missing = a->missing;
	struct cpu_span *cpus = missing->cpus;
	uint64_t deselected;
	unsigned int i;

	missing->first = UINT64_MAX;
	if (!switch_format(a->trace) || spans_lacks(a->trace, "sched:sched_switch"))
		return;
	for (i = 0; i < missing->nr_cpus; i++) {
		cpus[i].has_tid = tb_trace_totals(a->trace, i) &&
				  find_first_event(a, &edges[i], &cpus[i]);
		if (cpus[i].has_tid && cpus[i].first < missing->first)
			missing->first = cpus[i].first;
	}
	deselected = deselected_at(a->trace, missing->first);
	for (i = 0; i < missing->nr_cpus; i++)
		cpus[i].has_tid = cpus[i].has_tid && cpus[i].first < deselected;
}

/* True if the event of @view tells which thread has run on its CPU since @from */
static bool tells_thread(const struct tb_view *view, uint64_t from, uint64_t deselected,
			 bool of_threads)
{
	/* an event outside of "sched" is that of a chosen thread */
	return view->kind == TB_VIEW_EVENT && view->ticks >= from && view->ticks < deselected &&
	       (!of_threads || (view->tid && strcmp(view->format->system, "sched")));
}

/* Look at the first event of each of @open CPUs since @from; after EVENTS_AHEAD events, give up */
static int read_ahead(struct spans *spans, struct tb_trace *trace, struct tb_cursor *cursor,
		      uint64_t from, unsigned int open)
{
	bool of_threads = is_of_threads(trace);
	uint64_t deselected = deselected_at(trace, from);
	struct cpu_span *cpu;
	struct tb_view view;
	unsigned int events;
	int result;

	result = tb_cursor_seek(cursor, from);
	for (events = 0; !result && open && events < EVENTS_AHEAD; events++) {
		result = tb_cursor_next(cursor, &view);
		if (result <= 0)
			break;
		result = 0;
		cpu = view.cpu < spans->nr_cpus ? &spans->cpus[view.cpu] : NULL;
		if (!cpu || !cpu->open || (view.kind == TB_VIEW_EVENT &&
					   (!view.format || view.ticks < from)))
			continue;
		cpu->open = false;
		open--;
		cpu->has_tid = tells_thread(&view, from, deselected, of_threads);
		if (!cpu->has_tid)
			continue;
		cpu->first = view.ticks;
		cpu->tid = view.tid;
		cpu->first_is_switch = is_switch(view.format);
		spans->first = from;
	}
	return result;
}

/* Find the threads that run at @from, in ticks, if it is after the beginning of the recording */
static int begin_at(struct spans *spans, struct tb_trace *trace, enum tb_timebase base,
		    uint64_t from)
{
	const struct tb_choice choice = {
		.flags = TB_CHOICE_NO_USER | TB_CHOICE_NO_CONTROL | TB_CHOICE_NO_TASKS,
	};
	uint64_t ns = tb_trace_ns(trace, from, base);
	struct tb_cursor *cursor;
	unsigned int i, open = 0;
	int result;

	if (!switch_format(trace) || is_kept_out(trace, "sched:sched_switch", false) ||
	    (spans->first < UINT64_MAX && from <= spans->first))
		return 0;
	spans->first = UINT64_MAX;
	for (i = 0; i < spans->nr_cpus; i++) {
		struct cpu_span *cpu = &spans->cpus[i];

		cpu->has_tid = false;
		cpu->open = cpu->any && cpu->begin <= ns && cpu->end >= ns;
		open += cpu->open;
	}
	result = tb_cursor_open(trace, &cursor);
	if (result)
		return result;
	result = tb_cursor_choose(cursor, &choice);
	if (!result)
		result = read_ahead(spans, trace, cursor, from, open);
	tb_cursor_close(cursor);
	return result == -ENOMEM ? result : 0;
}

int spans_of_trace(struct spans *spans, const struct tb_trace *trace, enum tb_timebase base)
{
	const struct ahead a = { trace, base, spans };
	unsigned int cpu, recording = tb_trace_selected(trace), cpus = tb_trace_nr_cpus(trace);
	struct edges *edges = calloc(cpus + 1, sizeof(*edges));
	const struct tb_block *block;
	int result = edges ? 0 : -ENOMEM;
	size_t end, i;

	for (i = 0; !result && (i = tb_trace_range(trace, recording, i, &end)) < end; i++) {
		block = tb_trace_header(trace, i, NULL, NULL);
		if (block && block->kind == TB_BLOCK_ROLLING && block->cpu < cpus)
			result = ask_block(&a, block, i, &edges[block->cpu]);
	}
	spans->cpus = result ? NULL : malloc((cpus + 1) * sizeof(*spans->cpus));
	if (!spans->cpus)
		result = -ENOMEM;
	for (cpu = 0; !result && cpu < cpus; cpu++) {
		result = ask_totals(&a, cpu, last_of(&edges[cpu]));
		spans->cpus[cpu] = (struct cpu_span){
			.begin = begin_of(&a, &edges[cpu]),
			.end = end_of(&a, cpu, &edges[cpu]),
			.any = edges[cpu].any || tb_trace_totals(trace, cpu),
		};
		spans->nr_cpus = cpu + 1;
	}
	spans->all_cpus = !result && has_all_cpus(trace, edges, cpus);
	for (cpu = 0; cpu < spans->nr_cpus; cpu++)
		spans->rules_known |= tb_trace_totals(trace, cpu) != NULL;
	if (!result)
		find_first_threads(&a, edges);
	free(edges);
	spans_settle(spans);
	return result;
}

int spans_of_part(struct spans *spans, struct tb_trace *trace, enum tb_timebase base,
		  uint64_t from)
{
	int result = spans_of_trace(spans, trace, base);

	return result || !from || from == UINT64_MAX ? result : begin_at(spans, trace, base, from);
}
