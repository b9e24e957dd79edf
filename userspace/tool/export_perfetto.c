// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a trace as Perfetto's own format.
 *
 * The file, in this order:
 *
 *   system info     machine and kernel: system calls and states are read by them
 *   clock snapshots what CLOCK_BOOTTIME, in which all times are, is to others
 *   statistics      of the start: zeros
 *   process tree    threads of the state dump
 *   bundles         events, each bundle of one CPU; between them process trees
 *                   for threads that are new or named anew, and, a packet each,
 *                   what programs have written, stacks and counters of events, and
 *                   requests to block devices
 *   statistics      of the end: every event lost, by CPU and cause
 *
 * A gap in the trace ends the CPU's bundle; the next one says `lost_events' and
 * starts with an event `tracebuf_lost' that tells how many.  Where a CPU's
 * trace starts with a gap, previous_bundle_end_timestamp tells Perfetto from
 * when on it is complete.
 *
 * Memory: one bundle per CPU that has events, whatever the trace's length; of programs
 * what is open of each writer, and names; of stacks a bounded number of different ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "export_perfetto.h"

/* A bundle is written when it is full, or spans this much */
#define BUNDLE_BYTES	(64u << 10)
#define BUNDLE_NS	250000000u

#define BUNDLE_EVENT	2	/* FtraceEventBundle.event */
#define EVENT_TIMESTAMP	1	/* FtraceEvent.timestamp */
#define EVENT_PID	2

struct ring {
	uint8_t *data;		/* events, as they are on the wire */
	size_t   used;
	uint64_t first;		/* time of the first of them, ns */
	uint64_t last;		/* of the last event written at all */
	uint64_t last_ticks;
	uint64_t valid;		/* nothing is missing from here on; 0: ever */
	bool     begun;		/* there was a bundle before */
	bool     lost;		/* something is missing before these */
	struct pf_current current;
};

struct export {
	struct tb_trace *trace;
	const struct tb_export_options *options;
	struct tb_cursor *cursor;
	struct pf_plans *plans;
	struct pf_out out;
	struct ring *rings;
	struct pf_books *books;
	unsigned int nr_rings;
	struct export_clock clock;
	bool forks;		/* there are events of them, too */
	uint64_t cut, beyond, undescribed;
	struct pf_event event;
	struct pf_user *user;	/* NULL: no program has written yet */
	struct pf_samples *samples;	/* NULL: no event had any yet */
	struct pf_block *block;
};

/* ---- time ---- */

static uint64_t view_ns(struct export *export, const struct tb_view *view)
{
	return export_clock_ns(&export->clock, view->ticks, view->ns);
}

/* ---- bundles ---- */

static void ring_flush(struct export *export, unsigned int cpu)
{
	Perfetto__Protos__FtraceEventBundle bundle =
		PERFETTO__PROTOS__FTRACE_EVENT_BUNDLE__INIT;
	struct ring *ring = &export->rings[cpu];

	if (!ring->used && !ring->lost)
		return;
	bundle.has_cpu = 1;
	bundle.cpu = cpu;
	bundle.has_lost_events = ring->lost;
	bundle.lost_events = ring->lost;
	if (!ring->begun && ring->valid) {
		bundle.has_previous_bundle_end_timestamp = 1;
		bundle.previous_bundle_end_timestamp = ring->valid;
	}
	pf_write_bundle(&export->out, &bundle, ring->data, ring->used);
	ring->used = 0;
	ring->begun = true;
	ring->lost = false;
}

/* Put export->event, of time @ns, into the bundle of @cpu */
static int ring_add(struct export *export, unsigned int cpu, uint64_t ticks,
		    uint64_t ns)
{
	const struct pf_event *event = &export->event;
	struct ring *ring = &export->rings[cpu];
	uint8_t head[8 * PF_VARINT_MAX], *at;
	size_t size;

	if (!ring->data) {
		ring->data = malloc(BUNDLE_BYTES);
		if (!ring->data)
			return -ENOMEM;
	}
	/* rounding must not turn the order round */
	if (ns < ring->last && ticks >= ring->last_ticks)
		ns = ring->last;
	at = pf_put_tag(head, EVENT_TIMESTAMP, PF_VARINT);
	at = pf_put_varint(at, ns);
	at = pf_put_tag(at, EVENT_PID, PF_VARINT);
	at = pf_put_varint(at, event->tid);
	at = pf_put_tag(at, event->field, PF_BYTES);
	at = pf_put_varint(at, event->size);
	size = (size_t)(at - head) + event->size;
	if (ring->used + 2 * PF_VARINT_MAX + size > BUNDLE_BYTES ||
	    (ring->used && ns - ring->first > BUNDLE_NS))
		ring_flush(export, cpu);
	if (!ring->used)
		ring->first = ns;
	ring->last = ns;
	ring->last_ticks = ticks;

	at = pf_put_data(pf_put_varint(pf_put_tag(ring->data + ring->used,
						  BUNDLE_EVENT, PF_BYTES),
				       size),
			 head, (size_t)(size - event->size));
	at = pf_put_data(at, event->body, event->size);
	ring->used = (size_t)(at - ring->data);
	export->cut += event->cut;
	return export->out.error;
}

/* ---- what the cursor brings ---- */

static int take_lost(struct export *export, const struct tb_view *view)
{
	struct ring *ring = &export->rings[view->cpu];
	const struct tb_gap *lost = &view->lost;
	uint64_t first, last;

	first = tb_trace_ns(export->trace, lost->first, TB_TIME_BOOTTIME);
	last = tb_trace_ns(export->trace, lost->last, TB_TIME_BOOTTIME);
	ring_flush(export, view->cpu);
	if (!ring->begun)
		ring->valid = last;
	ring->lost = true;
	ring->current.known = false;
	export->books[view->cpu].overwritten += lost->overwritten;
	export->books[view->cpu].dropped += lost->dropped;
	pf_encode_lost(view, first, last, &export->event);
	return ring_add(export, view->cpu, view->ticks, view_ns(export, view));
}

/*
 * A new thread that task_newtask tells of must not be told of here: Perfetto
 * would see two.  A new name must, although task_rename may tell it: in
 * Perfetto a name from a process tree weighs more, and the old one would stay.
 */
static void take_thread(struct export *export, const struct tb_view *view)
{
	const struct tb_thread *thread = view->payload;
	const struct tb_task *task;

	if (view->length < sizeof(*thread) ||
	    !((thread->flags & TB_THREAD_FORK && !export->forks) ||
	      thread->flags & TB_THREAD_NAME))
		return;
	task = tb_cursor_task(export->cursor, thread->tid);
	if (task)
		pf_write_task(&export->out, task, view_ns(export, view));
}

static int take_control(struct export *export, const struct tb_view *view)
{
	unsigned int cpu = view->cpu == TB_RING_DURABLE ? 0 : view->cpu;

	switch (view->id) {
	case TB_EV_THREAD:
		take_thread(export, view);
		break;
	case TB_EV_MARK:
		pf_encode_mark(view, &export->event);
		return ring_add(export, cpu, view->ticks, view_ns(export, view));
	}
	return export->out.error;
}

static int take_user(struct export *export, const struct tb_view *view)
{
	uint64_t ns = view_ns(export, view), end;
	int result;

	if (!export->user) {
		export->user = pf_user_open(&export->out, export->cursor);
		if (!export->user)
			return -ENOMEM;
	}
	end = export_clock_ns(&export->clock,
			      view->ticks + view->user->duration,
			      view->ns + view->user->duration_ns);
	result = pf_user_write(export->user, view, ns, end > ns ? end : ns);
	return result ? result : export->out.error;
}

/* What was recorded with an event and has no place in it */
static int take_extras(struct export *export, const struct tb_view *view, uint64_t ns)
{
	const struct tb_task *task = tb_cursor_task(export->cursor, export->event.tid);

	if (!view->nr_stack && !view->nr_user_stack && !view->counter_mask)
		return 0;
	if (!export->samples)
		export->samples = pf_samples_open(&export->out, export->trace,
						  export->nr_rings);
	if (!export->samples)
		return -ENOMEM;
	return pf_samples_write(export->samples, view, ns, export->event.tid,
				task && task->tgid ? task->tgid : export->event.tid);
}

static int take_event(struct export *export, const struct tb_view *view)
{
	uint64_t ns = view_ns(export, view);
	int result = 0;

	if (!view->format)
		export->undescribed++;
	else
		result = pf_block_write(export->block, view, ns);
	pf_encode(export->plans, export->cursor, view,
		  &export->rings[view->cpu].current, &export->event);
	if (!result)
		result = take_extras(export, view, ns);
	return result ? result : ring_add(export, view->cpu, view->ticks, ns);
}

static int take(struct export *export, const struct tb_view *view)
{
	bool durable = view->cpu == TB_RING_DURABLE;

	if (view->user)
		return take_user(export, view);
	if (!durable && view->cpu >= export->nr_rings) {
		export->beyond++;
		return 0;
	}
	if (view->kind == TB_VIEW_LOST)
		return durable ? 0 : take_lost(export, view);
	if (!durable)
		export->books[view->cpu].written++;
	if (view->id < TB_EV_FIRST)
		return take_control(export, view);
	if (durable)
		return 0;
	return take_event(export, view);
}

/* ---- the whole ---- */

/* When the recording began, as far as its clock records or events tell */
static int start_of(struct export *export, uint64_t *ns)
{
	const struct tb_clock_sync *syncs;
	struct tb_cursor *cursor;
	struct tb_view view;
	size_t count;
	int result;

	*ns = 0;
	result = tb_cursor_open(export->trace, &cursor);
	if (result < 0)
		return result;
	result = tb_cursor_next(cursor, &view);
	if (result > 0)
		*ns = view_ns(export, &view);
	tb_cursor_close(cursor);
	syncs = tb_trace_syncs(export->trace, &count);
	if (syncs && (!result || syncs[0].boottime < *ns))
		*ns = syncs[0].boottime;
	return result < 0 ? result : 0;
}

static int write_start(struct export *export)
{
	const struct tb_clock_sync *syncs;
	uint64_t ns;
	size_t count, i;
	int result;

	pf_write_system(&export->out, export->trace);
	syncs = tb_trace_syncs(export->trace, &count);
	for (i = 0; syncs && i < count; i++)
		pf_write_clocks(&export->out, &syncs[i]);
	result = pf_write_books(&export->out, export->books, export->nr_rings,
				false);
	if (!result)
		result = start_of(export, &ns);
	if (!result)
		result = pf_write_tasks(&export->out, export->cursor, ns);
	return result;
}

static int write_end(struct export *export)
{
	const struct tb_totals *totals;
	unsigned int cpu;

	for (cpu = 0; cpu < export->nr_rings; cpu++) {
		ring_flush(export, cpu);
		totals = tb_trace_totals(export->trace, cpu);
		if (!totals)
			continue;
		export->books[cpu].overwritten = totals->overwritten;
		export->books[cpu].dropped = totals->dropped;
	}
	return pf_write_books(&export->out, export->books, export->nr_rings,
			      true);
}

static void say(const struct export *export)
{
	if (export->beyond)
		fprintf(stderr, "%" PRIu64 " events of CPUs from %u on were left out: Perfetto takes no more\n",
			export->beyond, PF_CPUS_MAX);
	if (export->undescribed)
		fprintf(stderr, "%" PRIu64 " events are of a kind that the trace does not describe: only their bytes\n",
			export->undescribed);
	if (export->cut)
		fprintf(stderr, "%" PRIu64 " events were too long: texts cut off, fields left out\n",
			export->cut);
	pf_plans_say(export->plans);
	if (export->user)
		pf_user_say(export->user);
	if (export->samples)
		pf_samples_say(export->samples);
	pf_block_say(export->block);
	if (tb_cursor_uncommitted(export->cursor))
		fprintf(stderr, "%" PRIu64 " events had not been finished when the trace was taken: left out\n",
			tb_cursor_uncommitted(export->cursor));
}

static int run(struct export *export)
{
	struct tb_view view;
	int result;

	result = tb_cursor_open(export->trace, &export->cursor);
	if (!result)
		result = write_start(export);
	if (result < 0)
		return result;
	while ((result = tb_export_next(export->options, export->cursor,
					&view)) > 0) {
		result = take(export, &view);
		if (result < 0)
			return result;
	}
	if (!result)
		result = write_end(export);
	pf_flush(&export->out);
	return result ? result : export->out.error;
}

int tb_export_perfetto(struct tb_trace *trace, FILE *out,
		       const struct tb_export_options *options)
{
	struct export *export = calloc(1, sizeof(*export));
	unsigned int cpu;
	int result = -ENOMEM;

	if (export) {
		export->trace = trace;
		export->options = options;
		export->out.file = out;
		export->nr_rings = tb_trace_nr_cpus(trace);
		if (export->nr_rings > PF_CPUS_MAX)
			export->nr_rings = PF_CPUS_MAX;
		if (!export->nr_rings)
			export->nr_rings = 1;
		export->forks = export_has_event(trace, "task_newtask",
						 options ? options->wanted : NULL);
		export->plans = pf_plans_make(trace);
		export->rings = calloc(export->nr_rings, sizeof(*export->rings));
		export->books = calloc(export->nr_rings, sizeof(*export->books));
		export->block = pf_block_open(&export->out, trace);
		export_clock_init(&export->clock, trace);
		if (export->plans && export->block && export->rings && export->books)
			result = run(export);
	}
	if (result < 0 && options && options->error && options->error_size)
		snprintf(options->error, options->error_size, "%s: %s",
			 export && export->out.error == result ?
			 "the trace cannot be written" :
			 "the trace cannot be exported", strerror(-result));
	if (!result && options && options->verbose)
		say(export);
	if (export) {
		for (cpu = 0; export->rings && cpu < export->nr_rings; cpu++)
			free(export->rings[cpu].data);
		pf_user_close(export->user);
		pf_samples_close(export->samples);
		pf_block_close(export->block);
		tb_cursor_close(export->cursor);
		pf_plans_free(export->plans);
		free(export->rings);
		free(export->books);
		free(export);
	}
	return result;
}
