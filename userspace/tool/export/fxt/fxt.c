// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a trace as FXT, Fuchsia's trace format.
 *
 * The file has, in this order: magic number, provider and clock (ns of CLOCK_BOOTTIME); objects for
 * processes and threads of the state dump; events of all CPUs by time.  Before the first event that
 * needs them come strings, objects of new and renamed threads, and slots of the table of threads.
 *
 * All readers know the records that are used: there are no large records.  Memory: threads, names,
 * and open slices.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "fxt.h"
#include "analysis/slices.h"
#include "analysis/spans.h"

struct export {
	struct tb_trace *trace;
	const struct tb_export_options *options;
	struct tb_cursor *cursor;
	struct export_clock clock;
	struct fxt_out out;
	struct fxt_threads threads;
	struct fxt_events events;
	struct fxt_user *user;	/* NULL: no program has written yet */
	uint32_t nr_cpus;
	unsigned int selection;		/* index of the next change of the selection */
	bool begun;			/* write_first_runs() has nothing more to do */
	struct spans missing;		/* times on CLOCK_MONOTONIC */
	struct slices *chosen;		/* see export_chosen() */
	uint64_t now, monotonic;	/* of the latest event: as written, and tb_view.ns */
	uint64_t beyond, undescribed;
};

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

static int take_control(struct export *export, const struct tb_view *view)
{
	const struct tb_thread *thread = view->payload;
	const struct tb_task *task;

	if (view->id == TB_EV_MARK)
		return fxt_events_mark(&export->events, view, view_ns(export, view));
	if (view->id != TB_EV_THREAD || view->length < sizeof(*thread))
		return 0;
	task = tb_cursor_task(export->cursor, thread->tid);
	return task ? fxt_thread_renamed(&export->threads, task) : 0;
}

static int take_user(struct export *export, const struct tb_view *view)
{
	uint64_t end;

	if (!export->user) {
		export->user = fxt_user_open(&export->threads);
		if (!export->user)
			return -ENOMEM;
		export->events.popped = fxt_user_popped;
		export->events.context = export->user;
	}
	end = export_clock_ns(&export->clock, view->ticks + view->user->duration,
			      view->ns + view->user->duration_ns);
	return fxt_user_write(export->user, view, view_ns(export, view), end);
}

static int take_lost(struct export *export, const struct tb_view *view)
{
	const struct tb_gap *lost = &view->lost;

	if (export_hides(export->chosen, view) < 0)
		return -ENOMEM;
	return fxt_events_lost(&export->events, view, view_ns(export, view),
			       export_ticks_ns(&export->clock, lost->first),
			       export_ticks_ns(&export->clock, lost->last));
}

/*
 * Return the time up to which the trace shows what @cpu does, at most @ns.  @monotonic is @ns on
 * CLOCK_MONOTONIC.
 */
static uint64_t known_until(const struct export *export, uint32_t cpu, uint64_t ns,
			    uint64_t monotonic)
{
	return ns - (monotonic - spans_unreported(&export->missing, cpu, monotonic));
}

/* Where switches are not selected, the trace does not tell what runs on any CPU. */
static int apply_change(struct export *export, uint64_t from)
{
	uint64_t ns = export_ticks_ns(&export->clock, from);
	uint64_t monotonic = tb_trace_ns(export->trace, from, TB_TIME_MONOTONIC);
	uint32_t cpu;
	int result = 0;

	if (spans_selects_switches(export->trace, export->selection++))
		return 0;
	for (cpu = 0; !result && cpu < export->nr_cpus; cpu++)
		result = fxt_events_unknown(&export->events, cpu,
					    known_until(export, cpu, ns, monotonic));
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
	for (cpu = 0; !result && cpu < export->nr_cpus; cpu++) {
		if (known && spans_first_thread(missing, cpu, first, &tid))
			result = fxt_events_runs(&export->events, cpu, tid,
						 export_ticks_ns(&export->clock, first));
		else if (export->chosen)
			result = fxt_events_hidden(&export->events, cpu,
						   export_ticks_ns(&export->clock, ticks));
	}
	return result;
}

/* Mark CPUs as unknown after their last event, if the file lacks later ones */
static int write_unknown(struct export *export)
{
	uint32_t cpu;
	uint64_t end;
	int result = 0;

	for (cpu = 0; !result && cpu < export->nr_cpus; cpu++) {
		end = known_until(export, cpu, export->now, export->monotonic);
		if (end < export->now)
			result = fxt_events_unknown(&export->events, cpu, end);
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
	if (!durable && view->cpu >= export->nr_cpus) {
		export->beyond++;
		return 0;
	}
	if (view->kind == TB_VIEW_LOST)
		return durable ? 0 : take_lost(export, view);
	if (view->id < TB_EV_FIRST)
		return take_control(export, view);
	if (durable)
		return 0;
	export->undescribed += !view->format;
	result = fxt_events_write(&export->events, view, view_ns(export, view));
	if (!result)
		result = export_hides(export->chosen, view);
	return result > 0 ? fxt_events_hidden(&export->events, view->cpu, export->now) : result;
}

static int write_task(const struct tb_task *task, void *context)
{
	return fxt_thread_renamed(context, task);
}

static int run(struct export *export, FILE *out)
{
	struct tb_view view;
	int result;

	result = tb_cursor_open(export->trace, &export->cursor);
	if (!result)
		result = fxt_out_open(&export->out, out);
	if (!result)
		result = fxt_threads_open(&export->threads, &export->out,
					  export->cursor, export->nr_cpus);
	export->events = (struct fxt_events){
		.trace = export->trace, .cursor = export->cursor,
		.wanted = export->options ? export->options->wanted : NULL,
		.out = &export->out, .threads = &export->threads,
	};
	if (!result)
		result = fxt_events_open(&export->events);
	if (!result)
		result = spans_of_part(&export->missing, export->trace, TB_TIME_MONOTONIC,
				       export->options ? export->options->switches_from : 0);
	if (!result)
		result = tb_cursor_each_task(export->cursor, write_task,
					     &export->threads);
	if (!result)
		result = export_chosen(export->trace, export->events.wanted, &export->chosen);
	while (!result && (result = tb_export_next(export->options, export->cursor,
						   &view)) > 0) {
		result = take(export, &view);
		if (!result)
			result = export->out.error;
	}
	if (!result)
		result = write_unknown(export);
	if (!result)
		fxt_out_flush(&export->out);
	return result ? result : export->out.error;
}

static void report_left_out(const struct export *export)
{
	if (export->beyond)
		fprintf(stderr, "%" PRIu64 " events of CPUs from %u on were left out: readers take no more\n",
			export->beyond, export->nr_cpus);
	if (export->undescribed)
		fprintf(stderr, "%" PRIu64 " events are of a kind that the trace does not describe: exported as bytes\n",
			export->undescribed);
	if (export->events.cut)
		fprintf(stderr, "%" PRIu64 " events were too long: texts cut off, fields left out\n",
			export->events.cut);
	if (export->out.beyond)
		fprintf(stderr, "%" PRIu64 " times a name was left out: FXT has room for 32767 different ones\n",
			export->out.beyond);
	if (export->user)
		fxt_user_note(export->user);
	if (tb_cursor_uncommitted(export->cursor))
		fprintf(stderr, "%" PRIu64 " events were left out: they had not been finished when the trace was taken\n",
			tb_cursor_uncommitted(export->cursor));
}

int tb_export_fxt(struct tb_trace *trace, FILE *out,
		  const struct tb_export_options *options)
{
	struct export *export = calloc(1, sizeof(*export));
	int result = -ENOMEM;

	if (export) {
		export->trace = trace;
		export->options = options;
		export->nr_cpus = tb_trace_nr_cpus(trace);
		if (export->nr_cpus > FXT_CPUS_MAX)
			export->nr_cpus = FXT_CPUS_MAX;
		if (!export->nr_cpus)
			export->nr_cpus = 1;
		export_clock_init(&export->clock, trace);
		result = run(export, out);
	}
	if (result < 0 && options && options->error && options->error_size)
		snprintf(options->error, options->error_size, "%s: %s",
			 export && export->out.error == result ?
			 "the trace cannot be written" :
			 "the trace cannot be exported", strerror(-result));
	if (!result && options && options->verbose)
		report_left_out(export);
	if (export) {
		fxt_user_close(export->user);
		fxt_events_close(&export->events);
		fxt_threads_close(&export->threads);
		tb_cursor_close(export->cursor);
		fxt_out_close(&export->out);
		spans_free(&export->missing);
		slices_close(export->chosen);
		free(export);
	}
	return result;
}
