// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a trace as Perfetto's own format.
 *
 * The exporter reads the trace once and passes each event to the parts that perfetto.h lists.
 *
 * Memory does not grow with the number of events: the exporter keeps a bundle for each CPU, the
 * open slices of threads and writers, names, and a bounded number of stacks.  Only --why keeps
 * what each thread and CPU did all the time (why_lines.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "perfetto.h"
#include "analysis/slices.h"
#include "analysis/spans.h"
#include "tool/command/command.h"

/*
 * The packets of the file, in this order:
 *
 *   system info     machine and kernel, from which Perfetto derives names of calls and states
 *   clock snapshots other clocks beside CLOCK_BOOTTIME, which all times are of
 *   statistics      of the start: zeros
 *   process tree    threads of the state dump
 *   bundles         events, each bundle of one CPU; between them process trees for new and renamed
 *                   threads, and a packet for each record of a program, each sample (stack,
 *                   counters), and each beginning or end of a request to a block device
 *   causes          where the time of the threads of --why went: a packet for each slice
 *   statistics      of the end: lost events by CPU and cause
 *
 * A gap ends the bundle of its CPU.  The next bundle has `lost_events' set and starts with an event
 * `tracebuf_lost' that counts the lost events.  The gap also gets a slice on a track (loss.c), ends
 * open slices (pairs.c), and makes the thread on the CPU unknown (sched.c).
 *
 * Do not write previous_bundle_end_timestamp: Perfetto would hide all events before the time at
 * which the last CPU begins.
 */
struct export {
	struct tb_trace *trace;
	const struct tb_export_options *options;
	struct tb_cursor *cursor;
	struct pf_plans *plans;
	struct pf_out out;
	struct pf_ring *rings;
	struct pf_accounting *accounting;
	struct pf_sched *sched;
	struct pf_pairs *pairs;
	struct pf_tasks *tasks;
	struct pf_losses losses;
	unsigned int nr_rings;
	unsigned int selection;		/* index of the next change of the selection */
	bool begun;			/* write_first_runs() has nothing more to do */
	struct spans missing;		/* times on CLOCK_MONOTONIC */
	struct export_clock clock;
	uint64_t now, monotonic;	/* of the latest event: as written, and tb_view.ns */
	uint64_t cut, beyond, undescribed;
	struct pf_event event;
	struct pf_tracks tracks;
	struct pf_user *user;	/* NULL: no program has written yet */
	struct pf_samples *samples;	/* NULL: no event had a stack or counters yet */
	struct pf_block *block;
	struct slices *chosen;		/* see export_chosen() */
};

/* ---- time ---- */

static uint64_t view_ns(struct export *export, const struct tb_view *view)
{
	uint64_t ns = export_clock_ns(&export->clock, view->ticks, view->ns);

	if (ns > export->now && view->cpu != TB_RING_DURABLE) {
		export->now = ns;
		export->monotonic = view->ns;
	}
	return ns;
}

/* ---- events from the cursor ---- */

static int take_lost(struct export *export, const struct tb_view *view)
{
	struct pf_ring *ring = &export->rings[view->cpu];
	const struct tb_gap *lost = &view->lost;
	uint64_t first = export_ticks_ns(&export->clock, lost->first);
	uint64_t last = export_ticks_ns(&export->clock, lost->last);
	uint64_t begin = first > ring->last ? first : ring->last;
	int result;

	result = pf_pairs_lost(export->pairs, view->cpu, ring->tid, begin, last);
	if (!result)
		result = pf_sched_lost(export->sched, ring, begin, last > begin ? last : begin);
	pf_block_lost(export->block, begin);
	if (!result && export_hides(export->chosen, view) < 0)
		result = -ENOMEM;
	if (!result)
		result = pf_loss_write(&export->losses, view, first, last);
	if (result)
		return result;
	pf_ring_flush(ring);
	ring->lost = true;
	ring->tid = 0;
	export->accounting[view->cpu].overwritten += lost->overwritten;
	export->accounting[view->cpu].dropped += lost->dropped;
	pf_encode_lost(view, first, last, &export->event);
	return pf_ring_event(ring, pf_ring_time(ring, view->ticks, view_ns(export, view)),
			     &export->event);
}

static int take_control(struct export *export, const struct tb_view *view)
{
	struct pf_ring *ring = &export->rings[view->cpu == TB_RING_DURABLE ? 0 : view->cpu];
	uint64_t ns = view_ns(export, view);
	int result = 0;

	switch (view->id) {
	case TB_EV_THREAD:
		return pf_tasks_thread(export->tasks, view, ns);
	case TB_EV_MARK:
		/* a mark in the durable buffer does not say on which CPU its thread was */
		if (view->cpu != TB_RING_DURABLE) {
			ns = pf_ring_time(ring, view->ticks, ns);
			result = pf_sched_seen(export->sched, ring, view, view->tid, ns);
		}
		pf_encode_mark(view, &export->event);
		export->cut += export->event.cut;
		return result ? result : pf_ring_event(ring, ns, &export->event);
	}
	return export->out.error;
}

static int take_user(struct export *export, const struct tb_view *view)
{
	uint64_t ns = view_ns(export, view), end;
	int result;

	if (view->kind == TB_VIEW_USER_LOST)
		result = pf_loss_write(&export->losses, view,
				       export_ticks_ns(&export->clock, view->lost.first),
				       export_ticks_ns(&export->clock, view->lost.last));
	else
		result = pf_pairs_writes(export->pairs, view->user->tid);
	if (result)
		return result;
	if (!export->user) {
		export->user = pf_user_open(&export->tracks, export->cursor);
		if (!export->user)
			return -ENOMEM;
	}
	end = export_clock_ns(&export->clock,
			      view->ticks + view->user->duration,
			      view->ns + view->user->duration_ns);
	result = pf_user_write(export->user, view, ns, end > ns ? end : ns);
	return result ? result : export->out.error;
}

/* Write the stacks and counters of @view as a sample */
static int write_extras(struct export *export, const struct tb_view *view, uint32_t tid,
			uint64_t ns)
{
	const struct tb_task *task = tb_cursor_task(export->cursor, tid);

	if (!view->nr_stack && !view->nr_user_stack && !view->counter_mask)
		return 0;
	if (!export->samples)
		export->samples = pf_samples_open(&export->out, export->trace);
	if (!export->samples)
		return -ENOMEM;
	return pf_samples_write(export->samples, view, ns, tid,
				task && task->tgid ? task->tgid : tid);
}

/* Update requests, threads and pairs.  Return how the event is to be written (PF_PAIR_*), -errno */
static int update_parts(struct export *export, const struct tb_view *view, uint32_t tid,
			uint64_t ns)
{
	int result;

	result = pf_block_write(export->block, view, ns);
	if (!result)
		result = pf_tasks_event(export->tasks, view, ns);
	return result ? result : pf_pairs_take(export->pairs, view, tid, ns);
}

static int take_event(struct export *export, const struct tb_view *view)
{
	struct pf_ring *ring = &export->rings[view->cpu];
	uint64_t ns = pf_ring_time(ring, view->ticks, view_ns(export, view));
	uint32_t tid = view->tid;
	int result, how = PF_PAIR_KNOWN, done = 0;

	/* a thread that is not recorded may have come to the CPU since the gap */
	if (export->chosen && !slices_sees(export->chosen, tid))
		ring->from = 0;
	result = pf_sched_seen(export->sched, ring, view, tid, ns);
	if (result)
		return result;
	ring->tid = tid;
	if (view->format) {
		how = update_parts(export, view, tid, ns);
		if (how < 0)
			return how;
		done = pf_sched_take(export->sched, ring, view, ns);
	}
	if (!done) {
		pf_encode(export->plans, view, how == PF_PAIR_PLAIN, &export->event);
		export->cut += export->event.cut;
		done = pf_ring_event(ring, ns, &export->event);
	}
	if (done < 0)
		return done;
	if (view->format)
		pf_sched_switched(export->sched, ring, view);
	else
		export->undescribed++;
	if (ring->current.known && !ring->current.lost)
		ring->tid = ring->current.tid;
	done = export_hides(export->chosen, view);
	if (done > 0)
		done = pf_sched_unknown(export->sched, ring, ns);
	return done < 0 ? done : write_extras(export, view, tid, ns);
}

/*
 * Return the time up to which the trace shows what @cpu does, at most @ns.  @monotonic is @ns on
 * CLOCK_MONOTONIC.
 */
static uint64_t known_until(const struct export *export, unsigned int cpu, uint64_t ns,
			    uint64_t monotonic)
{
	uint64_t end = ns - (monotonic - spans_unreported(&export->missing, cpu, monotonic));

	return end > export->rings[cpu].last ? end : export->rings[cpu].last;
}

/* Return the time from which on the trace shows what @cpu does, at least @ns */
static uint64_t known_from(const struct export *export, unsigned int cpu, uint64_t ns,
			   uint64_t monotonic)
{
	uint64_t begin = cpu < export->missing.nr_cpus ? export->missing.cpus[cpu].begin : 0;

	return begin > monotonic ? ns + (begin - monotonic) : ns;
}

/* Where switches are not selected, the trace does not tell what runs on any CPU. */
static int apply_change(struct export *export, uint64_t from)
{
	uint64_t ns = export_ticks_ns(&export->clock, from);
	uint64_t monotonic = tb_trace_ns(export->trace, from, TB_TIME_MONOTONIC);
	bool selected = spans_selects_switches(export->trace, export->selection++);
	unsigned int cpu;
	int result = 0;

	for (cpu = 0; !selected && !result && cpu < export->nr_rings; cpu++)
		result = pf_sched_lost(export->sched, &export->rings[cpu],
				       known_until(export, cpu, ns, monotonic),
				       known_from(export, cpu, ns, monotonic));
	pf_sched_selected(export->sched, selected);
	return result;
}

/* Apply the changes of the selection up to @ticks */
static int apply_changes(struct export *export, uint64_t ticks)
{
	uint64_t from;
	int result = 0;

	while (!result && !tb_trace_selection(export->trace, export->selection, &from) &&
	       from <= ticks)
		result = apply_change(export, from);
	return result;
}

/* Write what runs on each CPU when the recording begins.  @ticks: the time of the next event */
static int write_first_runs(struct export *export, uint64_t ticks)
{
	const struct spans *missing = &export->missing;
	uint64_t first = missing->first;
	bool known = !export->options || export->options->switches_from < UINT64_MAX;
	uint32_t cpu, tid;
	int result = 0;

	if (export->begun || (ticks < first && !export->chosen))
		return 0;
	export->begun = true;
	if (known)
		result = apply_changes(export, first < ticks ? first : ticks);
	for (cpu = 0; !result && cpu < export->nr_rings; cpu++) {
		if (known && spans_first_thread(missing, cpu, first, &tid))
			result = pf_sched_begin(export->sched, &export->rings[cpu], tid,
						export_ticks_ns(&export->clock, first));
		else if (export->chosen)
			result = pf_sched_unknown(export->sched, &export->rings[cpu],
						  export_ticks_ns(&export->clock, ticks));
	}
	return result;
}

static int take(struct export *export, const struct tb_view *view)
{
	bool durable = view->cpu == TB_RING_DURABLE;
	int result = durable ? 0 : write_first_runs(export, view->ticks);

	if (!result && !durable)
		result = apply_changes(export, view->ticks);
	if (result)
		return result;
	if (view->user)
		return take_user(export, view);
	if (!durable && view->cpu >= export->nr_rings) {
		export->beyond++;
		return 0;
	}
	if (view->kind == TB_VIEW_LOST)
		return durable ? 0 : take_lost(export, view);
	if (!durable)
		export->accounting[view->cpu].written++;
	if (view->id < TB_EV_FIRST)
		return take_control(export, view);
	if (durable)
		return 0;
	return take_event(export, view);
}

/* ---- the export ---- */

/* Set @ns to the time of the first clock record or event, the earlier of both; 0: there is none */
static int find_start(struct export *export, uint64_t *ns)
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
	result = next_event(cursor, &view);
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
	result = pf_write_accounting(&export->out, export->accounting, export->nr_rings,
				false);
	if (!result)
		result = find_start(export, &ns);
	if (!result)
		result = pf_tasks_begin(export->tasks, ns);
	return result;
}

/* Mark CPUs as unknown after their last event, if the file lacks later ones */
static int write_unknown(struct export *export)
{
	struct pf_ring *ring;
	unsigned int cpu;
	uint64_t end;
	int result = 0;

	for (cpu = 0; !result && cpu < export->nr_rings; cpu++) {
		ring = &export->rings[cpu];
		end = known_until(export, cpu, export->now, export->monotonic);
		if (end >= export->now)
			continue;
		result = pf_pairs_lost(export->pairs, cpu, ring->tid, end, UINT64_MAX);
		if (!result)
			result = pf_sched_lost(export->sched, ring, end, export->now);
	}
	return result;
}

static int write_end(struct export *export)
{
	const struct tb_totals *totals;
	unsigned int cpu;
	int result;

	result = write_unknown(export);
	if (!result)
		result = pf_pairs_finish(export->pairs);
	if (!result)
		result = pf_block_finish(export->block);
	if (!result)
		result = pf_tasks_finish(export->tasks);
	if (!result && export->options && export->options->why)
		result = pf_why_write(&export->tracks, export->options->why,
				      export->options->stop_signal);
	if (result)
		return result;
	for (cpu = 0; cpu < export->nr_rings; cpu++) {
		pf_ring_flush(&export->rings[cpu]);
		totals = tb_trace_totals(export->trace, cpu);
		if (!totals)
			continue;
		export->accounting[cpu].overwritten = totals->overwritten;
		export->accounting[cpu].dropped = totals->dropped;
	}
	return pf_write_accounting(&export->out, export->accounting, export->nr_rings,
			      true);
}

static void report_left_out(const struct export *export)
{
	if (export->beyond)
		fprintf(stderr, "%" PRIu64 " events of CPUs from %u on were left out: Perfetto takes no more\n",
			export->beyond, PF_CPUS_MAX);
	if (export->undescribed)
		fprintf(stderr, "%" PRIu64 " events are of a kind that the trace does not describe: exported as bytes\n",
			export->undescribed);
	if (export->cut)
		fprintf(stderr, "%" PRIu64 " events were too long: texts cut off, fields left out\n",
			export->cut);
	pf_plans_note(export->plans);
	if (export->user)
		pf_user_note(export->user);
	if (export->samples)
		pf_samples_note(export->samples);
	pf_block_note(export->block);
	if (tb_cursor_uncommitted(export->cursor))
		fprintf(stderr, "%" PRIu64 " events were left out: they had not been finished when the trace was taken\n",
			tb_cursor_uncommitted(export->cursor));
}

static bool has_event(const struct export *export, const char *name)
{
	return export_has_event(export->trace, name,
				export->options ? export->options->wanted : NULL);
}

static int open_parts(struct export *export)
{
	bool switches = has_event(export, "sched_switch");
	unsigned int cpu;

	export->tracks.out = &export->out;
	export->tracks.trace = export->trace;
	export->plans = pf_plans_make(export->trace, &export->out);
	export->rings = calloc(export->nr_rings, sizeof(*export->rings));
	export->accounting = calloc(export->nr_rings, sizeof(*export->accounting));
	export->block = pf_block_open(&export->out, export->trace);
	export->tasks = pf_tasks_open(&export->tracks, export->cursor, export->trace,
				      has_event(export, "task_newtask"));
	if (!export->plans || !export->rings || !export->accounting || !export->block ||
	    !export->tasks)
		return -ENOMEM;
	for (cpu = 0; cpu < export->nr_rings; cpu++) {
		export->rings[cpu].out = &export->out;
		export->rings[cpu].cpu = cpu;
	}
	export->losses.out = &export->out;
	export->sched = pf_sched_open(export->trace, export->cursor, export->plans, switches);
	export->pairs = pf_pairs_open(export->trace, export->plans, export->rings,
				      export->nr_rings, switches);
	if (!export->sched || !export->pairs || export_chosen(export->trace,
						export->options ? export->options->wanted : NULL,
						&export->chosen))
		return -ENOMEM;
	return spans_of_part(&export->missing, export->trace, TB_TIME_MONOTONIC,
			     export->options ? export->options->switches_from : 0);
}

static void close_parts(struct export *export)
{
	unsigned int cpu;

	for (cpu = 0; export->rings && cpu < export->nr_rings; cpu++)
		pf_ring_free(&export->rings[cpu]);
	pf_user_close(export->user);
	pf_tracks_free(&export->tracks);
	pf_samples_close(export->samples);
	pf_block_close(export->block);
	pf_sched_close(export->sched);
	pf_pairs_close(export->pairs);
	pf_tasks_close(export->tasks);
	pf_losses_free(&export->losses);
	spans_free(&export->missing);
	slices_close(export->chosen);
	tb_cursor_close(export->cursor);
	pf_plans_free(export->plans);
	free(export->rings);
	free(export->accounting);
}

static int run(struct export *export)
{
	struct tb_view view;
	int result;

	result = tb_cursor_open(export->trace, &export->cursor);
	if (!result)
		result = open_parts(export);
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
		export_clock_init(&export->clock, trace);
		result = run(export);
	}
	if (result < 0 && options && options->error && options->error_size)
		snprintf(options->error, options->error_size, "%s: %s",
			 export && export->out.error == result ?
			 "the trace cannot be written" :
			 "the trace cannot be exported", strerror(-result));
	if (!result && options && options->verbose)
		report_left_out(export);
	if (export) {
		close_parts(export);
		free(export);
	}
	return result;
}
