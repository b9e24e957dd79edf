// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf report --html - the timeline, and the events of the kernel in it; user.c has records of
 * programs.
 *
 * slices.h makes slices of pairs of events.  Every other event is a mark in the row of its thread,
 * or of its CPU if that was idle.  The timeline ends at a maximum number of items; the page says
 * where.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "user.h"
#include "why.h"
#include "analysis/cgroup_names.h"
#include "analysis/roles.h"
#include "analysis/slices.h"
#include "analysis/spans.h"

/**
 * struct lane - a thread in the timeline
 * @woken: if @awake: time of its last wake-up, after which it has not run yet
 */
struct lane {
	uint32_t tid;
	bool     awake;
	uint64_t woken;
};

/**
 * struct place - a CPU
 * @waker: the thread that woke the next thread on the CPU, plus 1
 * @last: ns of its last event
 * @covered: until then, ns, it is known what ran, or drawn that it is not
 */
struct place {
	uint32_t waker;
	uint64_t last, covered;
};

struct timeline {
	const struct tb_trace *trace;
	const struct tb_cursor *cursor;
	struct selection *selection;
	enum tb_timebase base;
	bool broken;			/* the file breaks off, and slices end there */
	struct rows *rows;
	struct slices *slices;
	struct spans missing;
	struct report_users users;
	struct map lanes;		/* struct lane, by tid */
	struct place *places;		/* by CPU */
	unsigned int nr_cpus;
	uint64_t items, max, left_out;
	uint64_t last, cut;		/* ns of the last event, and of the last one shown */
	uint64_t ticks;			/* of the last one shown */
	bool has_switches;		/* the trace has events that tell what runs, selected */
	bool has_runs;			/* and of some time it is known */
	bool ending;
	struct column ends;		/* JSON of threads, made by timeline_end() */
	int error;
};

static bool wants(const struct timeline *t, uint32_t cpu, uint32_t tid)
{
	struct selection *selection = t->selection;

	return selection_wants_cpu(selection, cpu) &&
	       (!selection_of_threads(selection) ||
		selection_wants_tid(selection, t->cursor, tid));
}

/* ---- threads ---- */

static struct lane *lane_of(struct timeline *t, uint32_t tid)
{
	void **slot = map_at(&t->lanes, tid);
	struct lane *lane = slot ? *slot : NULL;

	if (slot && !lane) {
		*slot = lane = calloc(1, sizeof(*lane));
		if (lane)
			lane->tid = tid;
	}
	if (!lane)
		t->error = -ENOMEM;
	return lane;
}

static const char *comm_of(const struct timeline *t, uint32_t tid)
{
	const struct tb_task *task = tb_cursor_task(t->cursor, tid);

	return task && task->comm[0] ? task->comm : "<...>";
}

static uint32_t process_of_thread(const struct timeline *t, uint32_t tid)
{
	const struct tb_task *task = tb_cursor_task(t->cursor, tid);

	return task && task->tgid ? task->tgid : tid;
}

/* ---- slices ---- */

static void put(struct timeline *t, struct row *row, const char *name, size_t length,
		uint64_t begin, uint64_t end, unsigned int doubt)
{
	row_name(row, texts_of(&t->rows->strings, name, length));
	row_time(t->rows, row, begin, end, doubt);
	t->items++;
}

/*
 * What ran on @cpu is known from @begin to @end, or drawn as unknown.  Draw it as unknown from the
 * end of the last such time: after a loss until the next switch, for example.
 */
static void cover(struct timeline *t, unsigned int cpu, uint64_t begin, uint64_t end)
{
	struct place *place = cpu < t->nr_cpus ? &t->places[cpu] : NULL;
	struct row *row;

	if (!place)
		return;
	if (place->covered < t->rows->begin)
		place->covered = t->rows->begin;
	if (begin > place->covered && t->has_switches && !slices_hides_threads(t->slices) &&
	    selection_wants_cpu(t->selection, cpu)) {
		row = rows_at(t->rows, ROW_UNKNOWN, cpu, 0);
		if (!row)
			return;
		put(t, row, "UNKNOWN", 7, place->covered, begin, SLICE_WHOLE);
		details_start(t->rows, NULL);
		details_text(t->rows, "events", "do not tell what ran");
		details_end(t->rows, row);
	}
	if (end > place->covered)
		place->covered = end;
}

/* A run is known until the last event of its CPU, if later ones may be missing */
static void cover_run(struct timeline *t, const struct slice *slice)
{
	uint64_t end = slice->end, until;

	if (t->ending) {
		until = spans_unreported(&t->missing, slice->cpu, t->last);
		end = end < until ? end : until;
	}
	t->has_runs = true;
	cover(t, slice->cpu, slice->begin, end > slice->begin ? end : slice->begin);
}

/* Return the end of a run: in a file that breaks off, the last event of its CPU */
static uint64_t run_end(const struct timeline *t, const struct slice *slice)
{
	uint64_t last = slice->cpu < t->nr_cpus ? t->places[slice->cpu].last : slice->end;

	if (!t->broken || last >= slice->end)
		return slice->end;
	return last > slice->begin ? last : slice->begin;
}

static void put_run(struct timeline *t, const struct slice *slice)
{
	struct rows *rows = t->rows;
	struct row *row = rows_at(rows, ROW_RUN, slice->cpu, 0);
	struct lane *lane = lane_of(t, slice->tid);
	const char *comm = comm_of(t, slice->tid);
	char state[24];

	if (!row || !lane)
		return;
	lane->awake = false;
	put(t, row, comm, strlen(comm), slice->begin, run_end(t, slice), slice->doubt);
	column_number(&row->columns[COLUMN_TID], slice->tid);
	column_number(&row->columns[COLUMN_STATE],
		      slice->has_result ?
		      rows_string(rows, tb_task_state((uint64_t)slice->result, state,
						      sizeof(state))) + 1 : 0);
	column_number(&row->columns[COLUMN_WAITED], slice->has_waited ? slice->waited + 1 : 0);
	column_number(&row->columns[COLUMN_WAKER],
		      slice->has_waited && slice->cpu < t->nr_cpus ? t->places[slice->cpu].waker : 0);
	column_signed(&row->columns[COLUMN_PRIO], slice->has_prio ? slice->prio : INT32_MIN);
}

/* Add the fields of the first event, and the result */
static void put_details(struct timeline *t, const struct slice *slice, struct row *row)
{
	struct tb_view view = {
		.kind = TB_VIEW_EVENT, .format = slice->event.format,
		.payload = slice->event.payload, .length = slice->event.length,
	};

	details_start(t->rows, &view);
	if (slice->has_result)
		details_signed(t->rows, "ret", slice->result);
	if (slice->kind == SLICE_SYSCALL)
		details_signed(t->rows, "cpu", slice->cpu);
	else
		details_signed(t->rows, "interrupted_tid", slice->tid);
	details_end(t->rows, row);
}

/* Put a slice with the name of its number, or "@what NUMBER" */
static void put_named(struct timeline *t, const struct slice *slice, struct row *row,
		      uint32_t kind, const char *what)
{
	const char *name = slice->name;
	size_t length = slice->name_length;
	char spare[40];

	if (!row)
		return;
	if (!name && kind && slice->number >= 0 && slice->number <= UINT32_MAX) {
		name = tb_trace_string(t->trace, kind, (uint32_t)slice->number);
		length = name ? strlen(name) : 0;
	}
	if (!name) {
		length = (size_t)snprintf(spare, sizeof(spare), "%s %" PRId64, what,
					  slice->number);
		name = spare;
	}
	put(t, row, name, length, slice->begin, slice->end, slice->doubt);
	put_details(t, slice, row);
}

static void take_slice(void *context, const struct slice *slice)
{
	struct timeline *t = context;
	struct lane *lane;

	if (slice->kind == SLICE_RUN)
		cover_run(t, slice);
	if (!wants(t, slice->cpu, slice->tid))
		return;
	switch (slice->kind) {
	case SLICE_RUN:
		/* idle time has no slices */
		if (slice->tid)
			put_run(t, slice);
		break;
	case SLICE_IRQ:
		put_named(t, slice, rows_at(t->rows, ROW_IRQ, slice->cpu, slice->depth),
			  0, "irq");
		break;
	case SLICE_SOFTIRQ:
		put_named(t, slice, rows_at(t->rows, ROW_SOFTIRQ, slice->cpu, 0),
			  TB_STRING_SOFTIRQ, "softirq");
		break;
	case SLICE_SYSCALL:
		put_named(t, slice, rows_at(t->rows, ROW_CALL, slice->tid, 0),
			  TB_STRING_SYSCALL, "syscall");
		lane_of(t, slice->tid);
		break;
	case SLICE_WAKEUP:
		/* the run that follows has its waker and latency */
		lane = lane_of(t, slice->tid);
		if (lane)
			lane->awake = false;
		if (slice->cpu < t->nr_cpus)
			t->places[slice->cpu].waker = (uint32_t)slice->number + 1;
		break;
	case SLICE_OFF:
		break;		/* not requested (slices_off()) */
	}
}

/* ---- other events, losses ---- */

static void note_wake(struct timeline *t, const struct plan *plan, const struct tb_view *view,
		      uint64_t ns)
{
	struct lane *lane;
	int64_t tid;
	bool has;

	if (plan->role != ROLE_WAKING && plan->role != ROLE_WAKEUP)
		return;
	tid = plan_number(view, plan->fields[WAKE_PID], &has);
	if (!has || !tid || (t->selection->tids.count &&
			     !number_list_has(&t->selection->tids, (uint32_t)tid)))
		return;
	lane = lane_of(t, (uint32_t)tid);
	if (lane && !lane->awake) {
		lane->awake = true;
		lane->woken = ns;
	}
}

static void take_event(struct timeline *t, const struct tb_view *view, uint64_t ns)
{
	bool idle = !view->tid;
	const char *name;
	char text[2 * TB_NAME_MAX], spare[24];
	struct row *row;

	if (!wants(t, view->cpu, view->tid))
		return;
	row = rows_at(t->rows, idle ? ROW_CPU_EVENT : ROW_EVENT, idle ? view->cpu : view->tid, 0);
	if (!row || (!idle && !lane_of(t, view->tid)))
		return;
	name = event_name(view, spare);
	snprintf(text, sizeof(text), "%s:%s", tb_view_system(view), name);
	put(t, row, text, strlen(text), ns, ns, SLICE_WHOLE);
	details_start(t->rows, view);
	details_signed(t->rows, "cpu", view->cpu);
	details_end(t->rows, row);
}

static void take_lost(struct timeline *t, const struct tb_view *view, uint64_t first)
{
	uint64_t last = tb_trace_ns(t->trace, view->lost.last, t->base);
	struct row *row;

	if (!selection_wants_cpu(t->selection, view->cpu))
		return;
	row = rows_at(t->rows, ROW_LOST, view->cpu, 0);
	if (!row)
		return;
	/* a file without the CPU's first blocks: put_beginnings() has drawn the time before */
	if (row->count && first < row->until)
		first = row->until;
	cover(t, view->cpu, first, last);
	put(t, row, "LOST", 4, first, last > first ? last : first, SLICE_WHOLE);
	details_start(t->rows, view);
	details_end(t->rows, row);
}

/* Draw a CPU as unknown from @begin to @end */
static void put_unknown(struct timeline *t, unsigned int cpu, uint64_t begin, uint64_t end)
{
	struct row *row;

	if (begin >= end || !selection_wants_cpu(t->selection, cpu))
		return;
	row = rows_at(t->rows, ROW_LOST, cpu, 0);
	if (!row)
		return;
	cover(t, cpu, begin, end);
	put(t, row, "UNKNOWN", 7, begin, end, SLICE_WHOLE);
	details_start(t->rows, NULL);
	details_text(t->rows, "events", "not in this part or file");
	details_end(t->rows, row);
}

/* Draw the beginnings of CPUs whose first events the file lacks */
static void put_beginnings(struct timeline *t)
{
	const struct selection *selection = t->selection;
	uint64_t begin, to = UINT64_MAX;
	unsigned int cpu;

	if (selection->to.given)
		to = tb_trace_ns(t->trace, selection->to_ticks, t->base);
	for (cpu = 0; cpu < t->nr_cpus && cpu < t->missing.nr_cpus; cpu++) {
		begin = t->missing.cpus[cpu].begin;
		if (t->missing.cpus[cpu].any)
			put_unknown(t, cpu, t->rows->begin, begin < to ? begin : to);
	}
}

/* Draw the ends of CPUs whose last events the part or the file lacks */
static void put_unreported(struct timeline *t)
{
	uint64_t since;
	unsigned int cpu;

	for (cpu = 0; cpu < t->nr_cpus && t->rows->begun; cpu++) {
		since = spans_unreported(&t->missing, cpu, t->last);
		put_unknown(t, cpu, since > t->rows->begin ? since : t->rows->begin, t->last);
		if (t->places[cpu].last)
			cover(t, cpu, t->left_out ? t->cut : t->last, 0);
	}
}

/* ---- the timeline ---- */

struct timeline *timeline_open(struct tb_trace *trace, struct selection *selection,
			       uint64_t items_max)
{
	struct timeline *t = calloc(1, sizeof(*t));
	const struct tb_format *format;
	unsigned int i;

	if (!t)
		return NULL;
	t->trace = trace;
	t->selection = selection;
	t->base = selection->base;
	t->max = items_max;
	t->nr_cpus = tb_trace_nr_cpus(trace);
	t->rows = rows_open(trace, t->base);
	t->slices = slices_open(trace, t->base, take_slice, t);
	t->places = calloc(t->nr_cpus + 1u, sizeof(*t->places));
	if (!t->rows || !t->slices || !t->places || slices_find_chosen(t->slices, trace) ||
	    spans_of_part(&t->missing, trace, t->base, selection_switches_from(selection))) {
		timeline_close(t);
		return NULL;
	}
	for (i = 0; (format = tb_trace_format_at(trace, i)); i++) {
		const struct tb_view view = {
			.kind = TB_VIEW_EVENT, .id = format->id, .format = format,
		};

		t->has_switches |= slices_wants(t->slices, format, 1u << SLICE_RUN) &&
				   selection_wants_event(selection, &view);
	}
	slices_missing(t->slices, &t->missing);
	slices_switches_from(t->slices, selection_switches_from(selection));
	report_users_init(&t->users, t->rows);
	return t;
}

void timeline_close(struct timeline *t)
{
	if (!t)
		return;
	report_users_free(&t->users);
	rows_close(t->rows);
	slices_close(t->slices);
	spans_free(&t->missing);
	map_free(&t->lanes, free);
	free(t->places);
	column_free(&t->ends);
	free(t);
}

uint64_t timeline_items(const struct timeline *t)
{
	return t->items;
}

uint64_t timeline_left_out(const struct timeline *t)
{
	return t->left_out;
}

static void take_user(struct timeline *t, const struct tb_view *view, uint64_t ns)
{
	const struct tb_user *user = view->user;
	uint64_t first = ns, end;

	/* the CPU of a record is unknown */
	if (t->selection->cpu_list || !wants(t, 0, user->tid))
		return;
	if (user->tid)
		lane_of(t, user->tid);
	if (view->kind == TB_VIEW_USER_LOST) {
		first = tb_trace_ns(t->trace, view->lost.first, t->base);
		end = tb_trace_ns(t->trace, view->lost.last, t->base);
	} else {
		end = tb_ns_in(t->trace, t->base, view->ticks + user->duration,
			       view->ns + user->duration_ns);
	}
	t->items += report_users_take(&t->users, view, first, end);
}

/* True for events that the analysis also takes for slices, so that both end open slices alike */
static bool of_slices(enum role role)
{
	return role != ROLE_NONE && role != ROLE_MIGRATE && role < ROLE_ISSUE;
}

static int take_kernel(struct timeline *t, const struct tb_view *view, uint64_t ns)
{
	const struct plan *plan = view->format ? slices_plan(t->slices, view->format) : NULL;
	int result = 0;

	if ((view->format && !plan) || slices_begin(t->slices, view->ticks) < 0)
		return -ENOMEM;
	if (plan && of_slices(plan->role)) {
		result = slices_take(t->slices, view, ns);
		note_wake(t, plan, view, ns);
	}
	if (!result)
		take_event(t, view, ns);
	return result < 0 ? result : t->error;
}

static int take_loss(struct timeline *t, const struct tb_view *view, uint64_t ns)
{
	uint64_t first = tb_trace_ns(t->trace, view->lost.first, t->base);
	int result;

	result = slices_take(t->slices, view, ns);
	take_lost(t, view, first);
	return result < 0 ? result : t->error;
}

int timeline_take(struct timeline *t, const struct tb_cursor *cursor,
		  const struct tb_view *view)
{
	uint64_t ns = tb_ns_in(t->trace, t->base, view->ticks, view->ns);

	/* a clock that goes back: as of the latest time before, as in the report */
	if (!view->user && t->rows->begun && ns < t->last)
		ns = t->last;
	/* events of the durable buffer describe the state, and do not occur at their time */
	if (!view->user && view->cpu == TB_RING_DURABLE)
		return 0;
	t->cursor = cursor;
	if (!t->rows->begun) {
		t->rows->begun = true;
		t->rows->begin = t->last = ns;
		put_beginnings(t);
	}
	if (ns > t->last)
		t->last = ns;
	if (view->cpu < t->nr_cpus && view->kind == TB_VIEW_EVENT)
		t->places[view->cpu].last = ns;
	if (view->kind == TB_VIEW_EVENT && is_control(view))
		return 0;
	if (t->items >= t->max) {
		t->left_out += view->user ?
			       !t->selection->cpu_list && wants(t, 0, view->user->tid) :
			       wants(t, view->cpu, view->tid);
		return 0;
	}
	t->cut = t->last;
	t->ticks = view->ticks;
	if (view->user) {
		take_user(t, view, ns);
		return t->error;
	}
	return view->kind == TB_VIEW_LOST ? take_loss(t, view, ns) : take_kernel(t, view, ns);
}

/* Write [tid,tgid,name,woken or -1], and as a fifth item the container if it is known */
static void thread_json(struct timeline *t, const struct lane *lane, struct out *out)
{
	const struct tb_task *task = tb_cursor_task(t->cursor, lane->tid);
	char name[CGROUP_NAME_MAX];
	const char *container = task ? cgroup_container(t->trace, task->cgroup, name) : NULL;

	out_char(out, '[');
	out_unsigned(out, lane->tid);
	out_char(out, ',');
	out_unsigned(out, process_of_thread(t, lane->tid));
	out_char(out, ',');
	out_unsigned(out, rows_string(t->rows, comm_of(t, lane->tid)));
	out_char(out, ',');
	out_signed(out, lane->awake ? (int64_t)(lane->woken - t->rows->begin) : -1);
	if (container) {
		out_char(out, ',');
		out_unsigned(out, rows_string(t->rows, container));
	}
	out_char(out, ']');
}

/* Write the JSON of threads and processes, with the names that the cursor knows */
static int make_threads(struct timeline *t)
{
	struct out *out = calloc(1, sizeof(*out));
	const struct row *row;
	const struct lane *lane;
	bool some = false;
	char *text = NULL;
	size_t length, i;

	for (row = t->rows->last; row; row = row->next)
		if (row->kind >= ROW_USER && row->kind <= ROW_COUNTER && row->process)
			lane_of(t, row->process);
	for (row = t->rows->last; row; row = row->next)
		if (row->kind == ROW_WHY)
			lane_of(t, row->id);
	for (row = t->rows->last; row; row = row->next)
		if (row->kind == ROW_EVENT || row->kind == ROW_CALL || row->kind == ROW_WHY)
			lane_of(t, process_of_thread(t, row->id));
	if (out)
		out->file = open_memstream(&text, &length);
	if (!out || !out->file) {
		free(out);
		return -ENOMEM;
	}
	for (i = 0; i < t->lanes.count; i++) {
		lane = t->lanes.entries[i].value;
		if (!lane)
			continue;
		if (some)
			out_char(out, ',');
		some = true;
		thread_json(t, lane, out);
	}
	out_write(out);
	if (fclose(out->file) || out->error)
		t->error = -ENOMEM;
	else
		column_bytes(&t->ends, text, length);
	free(text);
	free(out);
	return t->error;
}

int timeline_why(struct timeline *t, const struct why_threads *threads)
{
	/* times are relative to the first event, so there must be one */
	return t->rows->begun ? page_why(t->rows, threads, t->max) : 0;
}

int timeline_end(struct timeline *t, const struct tb_cursor *cursor, bool broken)
{
	const struct tb_view none = { .cpu = TB_RING_USER, .ticks = t->ticks };

	t->cursor = cursor;
	t->broken = broken && !t->left_out;
	t->ending = true;
	/* what runs at the end runs until then */
	if (slices_take(t->slices, &none, t->cut) < 0)
		return -ENOMEM;
	slices_finish(t->slices);
	put_unreported(t);
	report_users_end(&t->users, t->cut);
	if (make_threads(t) || rows_failed(t->rows) || t->ends.failed)
		return -ENOMEM;
	return 0;
}

static void member(struct out *out, const char *name, uint64_t number)
{
	/* a string: JavaScript has no integers beyond 2^53 */
	out_char(out, '"');
	out_text(out, name);
	out_text(out, "\":\"");
	out_unsigned(out, number);
	out_text(out, "\",");
}

static int head_json(const struct timeline *t, char **text, size_t *length)
{
	struct out *out = calloc(1, sizeof(*out));
	int result = -ENOMEM;

	if (out)
		out->file = open_memstream(text, length);
	if (!out || !out->file) {
		free(out);
		return result;
	}
	out_char(out, '{');
	member(out, "begin", t->rows->begin);
	member(out, "end", t->last);
	member(out, "cut", t->cut);
	member(out, "left_out", t->left_out);
	member(out, "items", t->items);
	member(out, "max", t->max);
	member(out, "runs", t->has_runs);
	member(out, "chosen", slices_hides_threads(t->slices));
	out_text(out, "\"threads\":[");
	if (t->ends.used)
		out_data(out, t->ends.data, t->ends.used);
	out_text(out, "],");
	rows_json(t->rows, out);
	out_char(out, '}');
	out_write(out);
	result = fclose(out->file) || out->error ? -ENOMEM : 0;
	free(out);
	return result;
}

int timeline_write(const struct timeline *t, struct out *out)
{
	struct squeeze squeeze;
	unsigned char head[4];
	char *text = NULL;
	size_t length, i;
	int result = head_json(t, &text, &length);

	if (!result)
		result = squeeze_start(&squeeze, out);
	if (!result) {
		for (i = 0; i < sizeof(head); i++)
			head[i] = (unsigned char)(length >> 8 * i);
		squeeze_data(&squeeze, head, sizeof(head));
		squeeze_data(&squeeze, text, length);
		rows_columns(t->rows, &squeeze);
		result = squeeze_end(&squeeze);
	}
	free(text);
	return result;
}
