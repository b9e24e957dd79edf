// SPDX-License-Identifier: GPL-2.0-only
/*
 * What every thread and every CPU did, from the slices of a recording (slices.h).
 *
 * Lists have certain times only: a slice that may be several slices is left out, and one without an
 * end lasts as long as it is known to.  So lists have holes, in which nothing is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "files.h"
#include "map.h"
#include "functions.h"
#include "slices.h"
#include "spans.h"
#include "why_irqs.h"
#include "why_lines.h"
#include "why_programs.h"
#include "lib/array.h"
#include "lib/bisect.h"

#define CPUS_MAX SLICES_CPUS_MAX
#define LATE_MAX 4096		/* add_late_run() inserts before at most this many runs */

#define QUOTAS_MAX 4096		/* different quotas of cgroups */

/* @threads: the last thread with each TID; @now: time of the last event, ns; @functions: of each
 * CPU */
struct reader {
	struct why_lines *lines;
	const struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct map threads;
	struct why_programs programs;
	struct functions *functions;
	unsigned int nr_functions;
	uint64_t now;
	uint64_t moves_from;		/* ns; the trace has all moves between queues since then */
	int failed;
};

/* ---- lists ---- */

void *why_list_add(struct why_list *list, size_t size)
{
	if (tb_array_grow(&list->at, &list->room, list->count, size))
		return NULL;
	return (char *)list->at + list->count++ * size;
}

size_t why_first(const struct why_list *list, size_t size, uint64_t ns)
{
	const char *at = list->at;
	size_t low = 0;

	/* each begins with struct { uint64_t begin, end } */
	BISECT(low, list->count, i, ((const uint64_t *)(at + i * size))[1] <= ns);
	return low;
}

/* End of the last item: no other may begin before it, even if clock records turn time back */
static uint64_t list_end(const struct why_list *list, size_t size)
{
	uint64_t end = 0;

	if (list->count)
		memcpy(&end, (const char *)list->at + (list->count - 1) * size + sizeof(end),
		       sizeof(end));
	return end;
}

/* ---- threads and CPUs ---- */

/* The thread has this name from @ns on.  0, -ENOMEM */
static int add_name(struct why_line *line, const char *comm, uint64_t ns)
{
	struct why_name *names = line->names.at, *name;

	if (!*comm || (names && !strncmp(names[line->names.count - 1].comm, comm,
					 sizeof(name->comm) - 1)))
		return 0;
	if (line->inherited)
		line->names.count = 0;
	line->inherited = false;
	/* clock records may turn the time back */
	if (line->names.count && ns < names[line->names.count - 1].from)
		ns = names[line->names.count - 1].from;
	ns = line->names.count ? ns : 0;
	name = why_list_add(&line->names, sizeof(*name));
	if (!name)
		return -ENOMEM;
	*name = (struct why_name){ .from = ns };
	memcpy(name->comm, comm, strnlen(comm, sizeof(name->comm) - 1));
	return 0;
}

/* The cgroup that stands for all with the same quota as @cgroup; 0: it has none, or no memory */
static uint32_t quota_of(struct reader *reader, uint32_t cgroup)
{
	const char *text = cgroup ? tb_trace_string(reader->trace, TB_STRING_QUOTA, cgroup) : NULL;
	struct why_list *quotas = &reader->lines->quotas;
	uint32_t *known = quotas->at;
	size_t i;

	for (i = 0; text && i < quotas->count; i++)
		if (known[i] == cgroup || !strcmp(text, tb_trace_string(reader->trace,
									TB_STRING_QUOTA, known[i])))
			return known[i];
	known = text && i < QUOTAS_MAX ? why_list_add(quotas, sizeof(*known)) : NULL;
	if (known)
		*known = cgroup;
	return known ? cgroup : 0;
}

/* Note the thread's current name and cgroup: the last ones stay.  0, -ENOMEM */
static int note_names(struct reader *reader, struct why_line *line, uint64_t ns)
{
	const struct tb_task *task = tb_cursor_task(reader->cursor, line->tid);

	if (!task)
		return 0;
	line->tgid = task->tgid;
	line->cgroup = task->cgroup;
	line->quota = quota_of(reader, task->cgroup);
	memcpy(line->comm, task->comm, sizeof(line->comm) - 1);
	return add_name(line, line->comm, ns);
}

/* Add a thread with TID @tid, without a name.  Return it; NULL: no memory */
static struct why_line *add_line(struct reader *reader, uint32_t tid)
{
	struct why_lines *lines = reader->lines;
	struct why_line *line;

	if (tb_array_grow(&lines->threads, &lines->room_threads, lines->nr_threads,
			  sizeof(*lines->threads)))
		return NULL;
	line = calloc(1, sizeof(*line));
	if (!line)
		return NULL;
	lines->threads[lines->nr_threads++] = line;
	line->thread = (uint32_t)lines->nr_threads;
	line->tid = tid;
	line->queue = NO_QUEUE;
	line->ended = UINT64_MAX;
	return line;
}

/* Add a thread with TID @tid, from @born on; @before had the TID until then.  NULL: no memory */
static struct why_line *new_line(struct reader *reader, uint32_t tid, struct why_line *before,
				 uint64_t born)
{
	struct why_line *line = add_line(reader, tid);

	if (!line)
		return NULL;
	line->before = before;
	line->born = born;
	if (before)
		before->after = line;
	return note_names(reader, line, born) ? NULL : line;
}

/* Add the thread that had the TID of @line before; its name is unknown.  NULL: no memory */
static struct why_line *line_before(struct reader *reader, struct why_line *line)
{
	line->before = add_line(reader, line->tid);
	if (line->before)
		line->before->after = line;
	return line->before;
}

/* The thread with TID @tid at @ns; NULL: no memory */
static struct why_line *line_at(struct reader *reader, uint32_t tid, uint64_t ns)
{
	void **slot = map_at(&reader->threads, tid);
	struct why_line *line = slot ? *slot : NULL;

	if (slot && (!line || ns >= line->ended)) {
		line = new_line(reader, tid, line, line ? line->ended : 0);
		if (line)
			*slot = line;
	}
	/* a gap that ends a run is shown late: another thread may have the TID by then */
	while (line && ns < line->born)
		line = line->before ? line->before : line_before(reader, line);
	return line;
}

/* A record of a thread: a new one, which may get the TID of another one, or a new name */
static int take_thread(struct reader *reader, const struct tb_view *view, uint64_t ns)
{
	struct tb_thread thread = { 0 };
	struct why_line *line;
	void **slot;

	memcpy(&thread, view->payload,
	       view->length < sizeof(thread) ? view->length : sizeof(thread));
	line = map_get(&reader->threads, thread.tid);
	if (thread.flags & TB_THREAD_FORK) {
		slot = map_at(&reader->threads, thread.tid);
		line = slot ? new_line(reader, thread.tid, line, ns) : NULL;
		if (!line)
			return -ENOMEM;
		line->inherited = true;
		*slot = line;
		return 0;
	}
	if (!line)
		return 0;
	if (note_names(reader, line, ns))
		return -ENOMEM;
	/* exec may set the same name */
	line->inherited &= !(thread.flags & TB_THREAD_NAME);
	return 0;
}

static void free_line(struct why_line *line)
{
	free(line->runs.at);
	free(line->offs.at);
	free(line->calls.at);
	free(line->names.at);
	free(line->queues.at);
	free(line);
}

static struct why_cpu *cpu_of(struct reader *reader, uint32_t cpu)
{
	struct why_lines *lines = reader->lines;

	if (tb_array_reach(&lines->cpus, &lines->nr_cpus, cpu, sizeof(*lines->cpus)))
		return NULL;
	return &lines->cpus[cpu];
}

/* ---- slices ---- */

/*
 * If a CPU lost events, the end of its last run comes after later runs of the thread on other CPUs.
 * Insert it at its place, or leave it out if that is too far back.
 */
static int add_late_run(struct why_list *list, const struct slice *slice, uint32_t other)
{
	size_t at = why_first(list, sizeof(struct why_run), slice->begin);
	struct why_run *run;
	uint64_t end;

	/* if no run ends after its beginning, it has no length */
	if (at == list->count || list->count - at > LATE_MAX)
		return 0;
	run = (struct why_run *)list->at + at;
	end = slice->end < run->begin ? slice->end : run->begin;
	if (slice->begin >= end)
		return 0;
	if (!why_list_add(list, sizeof(*run)))
		return -ENOMEM;
	run = (struct why_run *)list->at + at;
	memmove(run + 1, run, (list->count - 1 - at) * sizeof(*run));
	*run = (struct why_run){ slice->begin, end, other };
	return 0;
}

static int add_run(struct why_list *list, const struct slice *slice, uint32_t other)
{
	uint64_t begin = list_end(list, sizeof(struct why_run));
	struct why_run *run;

	if (slice->end <= begin)
		return add_late_run(list, slice, other);
	if (begin < slice->begin)
		begin = slice->begin;
	if (begin >= slice->end)
		return 0;
	run = why_list_add(list, sizeof(*run));
	if (!run)
		return -ENOMEM;
	*run = (struct why_run){ begin, slice->end, other };
	return 0;
}

static int take_run(struct reader *reader, const struct slice *slice)
{
	struct why_cpu *cpu = cpu_of(reader, slice->cpu);
	struct why_line *line = slice->tid ? line_at(reader, slice->tid, slice->begin) : NULL;

	if (!cpu || (slice->tid && !line) ||
	    add_run(&cpu->runs, slice, line ? line->thread : 0))
		return -ENOMEM;
	if (!line)
		return 0;
	/* if it has made way, it is in the queue of this CPU */
	if (slice->doubt != SLICE_UNENDED) {
		line->queue = slice->cpu;
		line->queue_at = slice->end;
	}
	if (slice->has_result && slice->result & STATE_DEAD && !line->after) {
		if (note_names(reader, line, slice->end))
			return -ENOMEM;
		line->ended = slice->end;
	}
	return add_run(&line->runs, slice, slice->cpu);
}

static int take_off(struct reader *reader, const struct slice *slice)
{
	struct why_line *line = line_at(reader, slice->tid, slice->begin), *waker;
	uint64_t begin = line ? list_end(&line->offs, sizeof(struct why_off)) : 0;
	struct why_off *off;

	if (!line)
		return -ENOMEM;
	/* the thread ended in between, and another one has its TID: its last state is unknown */
	if (line->after && line_at(reader, slice->tid, slice->end) != line)
		return 0;
	if (begin < slice->begin)
		begin = slice->begin;
	if (begin >= slice->end)
		return 0;
	off = why_list_add(&line->offs, sizeof(*off));
	if (!off)
		return -ENOMEM;
	*off = (struct why_off){
		.begin = begin, .end = slice->end, .wake = UINT64_MAX, .cpu = slice->cpu,
		.waker = NOBODY,
		/* preempted, or woken before it had left the CPU */
		.runnable = slice->has_result && !(slice->result & 0xff),
		.no_work = slice->has_result && (slice->result & 0xff) == STATE_IDLE,
		.deep = slice->has_result && slice->result & STATE_BLOCKED,
		.before = slice->before, .open = slice->cpu == TB_RING_USER,
	};
	/* it stays in its queue, if the trace has all moves */
	if (off->open && begin >= reader->moves_from && line->queue_at >= slice->begin &&
	    line->queue_at <= slice->end)
		off->cpu = line->queue;
	if (slice->has_waited) {
		off->wake = slice->end - slice->waited;
		off->waker_cpu = slice->waker_cpu;
		/* an idle CPU wakes threads from interrupts only */
		off->context = slice->context & ~TB_CONTEXT_PREEMPT_MASK;
		off->interrupt = !slice->number || off->context;
		off->waker = 0;
		if (slice->number) {
			waker = line_at(reader, (uint32_t)slice->number, off->wake);
			if (!waker)
				return -ENOMEM;
			off->waker = waker->thread;
		}
	}
	return 0;
}

static int take_call(struct reader *reader, const struct slice *slice)
{
	struct why_line *line = line_at(reader, slice->tid, slice->begin);
	uint64_t begin = line ? list_end(&line->calls, sizeof(struct why_call)) : 0;
	struct why_call *call;

	if (!line)
		return -ENOMEM;
	if (begin < slice->begin)
		begin = slice->begin;
	if (begin >= slice->end)
		return 0;
	call = why_list_add(&line->calls, sizeof(*call));
	if (!call)
		return -ENOMEM;
	*call = (struct why_call){
		begin, slice->end, slice->number,
		files_of_call(reader->lines->files, slice->tid, slice->begin),
		slice->has_result && slice->result == (int32_t)slice->result ?
		(int32_t)slice->result : 1,
	};
	return 0;
}

/* The function at @address had the CPU since @begin: it is a part of the interrupt around it */
static int take_function(struct reader *reader, const struct slice *around, uint16_t context,
			 uint64_t begin, uint64_t address)
{
	struct slice named = { .number = -1 };
	struct why_cpu *cpu;
	uint64_t offset;

	/* an interrupt without events may have come in between */
	if (!around || around->begin > begin ||
	    !(context & TB_CONTEXT_HARDIRQ) != (around->kind == SLICE_SOFTIRQ) ||
	    tb_trace_symbol(reader->trace, address, &named.name, &named.name_length, &offset))
		return 0;
	cpu = cpu_of(reader, around->cpu);
	return cpu ? why_irqs_take_function(reader->lines, cpu, around, &named, begin,
					    reader->now) : -ENOMEM;
}

static int take_irq(struct reader *reader, const struct slice *slice)
{
	struct why_cpu *cpu = cpu_of(reader, slice->cpu);

	return cpu ? why_irqs_take(reader->lines, cpu, slice, reader->now) : -ENOMEM;
}

static void take_slice(void *context, const struct slice *slice)
{
	struct reader *reader = context;
	int result = 0;

	if (reader->failed || slice->doubt == SLICE_LOSSY)
		return;
	switch (slice->kind) {
	case SLICE_RUN:
		result = slice->cpu < CPUS_MAX ? take_run(reader, slice) : 0;
		break;
	case SLICE_OFF:
		result = take_off(reader, slice);
		break;
	case SLICE_WAKEUP:
		break;
	case SLICE_SYSCALL:
		result = take_call(reader, slice);
		break;
	case SLICE_IRQ:
	case SLICE_SOFTIRQ:
		if (slice->cpu < CPUS_MAX)
			result = take_irq(reader, slice);
		break;
	}
	reader->failed = result;
}

/* ---- the recording ---- */

/* If a slice of a program ends with a record, add it */
static int take_record(struct reader *reader, const struct tb_view *view, uint64_t ns)
{
	uint64_t begin, end;
	struct why_line *line;
	int result = why_programs_take(&reader->programs, view, ns, &begin, &end);

	if (result <= 0)
		return result;
	line = line_at(reader, view->user->tid, begin);
	return line ? why_programs_add(&reader->lines->slices, line->thread, begin, end) : -ENOMEM;
}

/* An event of a timer or tasklet, or a loss */
static int take_functions(struct reader *reader, struct slices *slices, const struct tb_view *view)
{
	const struct plan *plan = view->format ? slices_plan(slices, view->format) : NULL;
	uint64_t begin, address;

	if ((view->format && !plan) ||
	    tb_array_reach(&reader->functions, &reader->nr_functions, view->cpu,
			   sizeof(*reader->functions)))
		return -ENOMEM;
	if (!functions_take(&reader->functions[view->cpu], plan, view, reader->now, &begin,
			    &address))
		return 0;
	return take_function(reader, slices_interrupt(slices, view->cpu), view->context, begin,
			     address);
}

/* The CPU in the field @index of an event */
static uint32_t queue_of(const struct plan *plan, unsigned int index, const struct tb_view *view)
{
	bool has;
	int64_t cpu = plan_number(view, plan->fields[index], &has);

	return has && cpu >= 0 && cpu < CPUS_MAX ? (uint32_t)cpu : NO_QUEUE;
}

/* A thread moves from the queue of one CPU to that of another.  While it is being woken, it is in
 * no queue yet */
static int take_move(struct why_line *line, const struct plan *plan, const struct tb_view *view,
		     uint64_t ns)
{
	struct why_run *queue;
	bool has_cpu;
	int64_t cpu;

	if (!line->waking) {
		line->queue = queue_of(plan, MIGRATE_CPU, view);
		line->queue_at = ns;
	}
	cpu = plan_number(view, plan->fields[MIGRATE_FROM], &has_cpu);
	if (!has_cpu || cpu < 0 || cpu >= CPUS_MAX || line->waking)
		return 0;
	queue = why_list_add(&line->queues, sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	*queue = (struct why_run){ .end = ns, .other = (uint32_t)cpu };
	return 0;
}

static int take_queue(struct reader *reader, struct slices *slices, const struct tb_view *view)
{
	const struct plan *plan = view->format ? slices_plan(slices, view->format) : NULL;
	struct why_line *line;
	bool has_tid;
	int64_t tid;

	if (!plan || (plan->role != ROLE_WAKING && plan->role != ROLE_WAKEUP &&
		      plan->role != ROLE_MIGRATE))
		return 0;
	tid = plan_number(view, plan->fields[WAKE_PID], &has_tid);
	if (!has_tid || tid <= 0)
		return 0;
	line = line_at(reader, (uint32_t)tid, reader->now);
	if (!line)
		return -ENOMEM;
	if (plan->role == ROLE_MIGRATE)
		return take_move(line, plan, view, reader->now);
	line->waking = plan->role == ROLE_WAKING;
	line->queue = line->waking ? NO_QUEUE : queue_of(plan, WAKE_CPU, view);
	line->queue_at = reader->now;
	return 0;
}

/* Begin the line of a thread when it comes to a CPU: it may change its name before the run ends */
static int take_running(struct reader *reader, const struct slice *run)
{
	struct why_cpu *cpu = run ? cpu_of(reader, run->cpu) : NULL;
	struct why_line *line;

	if (!run || (cpu && cpu->running == run->tid))
		return 0;
	if (cpu && !run->tid)
		cpu->running = 0;
	if (!run->tid)
		return 0;
	line = cpu ? line_at(reader, run->tid, run->begin) : NULL;
	if (!line)
		return -ENOMEM;
	line->waking = false;
	cpu->running = run->tid;
	return 0;
}

static int read_events(struct reader *reader, struct slices *slices, enum tb_timebase base,
		       struct tb_error *error)
{
	const struct tb_trace *trace = reader->trace;
	struct tb_cursor *cursor = reader->cursor;
	struct tb_view view, end = { .cpu = TB_RING_USER };
	const struct tb_error *fault;
	uint64_t ns;
	int result;

	while ((result = tb_cursor_next(cursor, &view)) > 0) {
		ns = tb_ns_in(trace, base, view.ticks, view.ns);
		if (view.user) {
			result = take_record(reader, &view, ns);
			if (result < 0)
				return result;
			continue;
		}
		/* records of threads that begin or end concern files and TIDs */
		if (view.cpu == TB_RING_DURABLE) {
			result = files_take(reader->lines->files, &view, reader->now);
			if (!result && view.kind == TB_VIEW_EVENT && view.id == TB_EV_THREAD)
				result = take_thread(reader, &view, ns);
			if (result < 0)
				return result;
		}
		/* durable records may come after the last event: they do not change @now */
		if ((view.kind != TB_VIEW_EVENT && view.kind != TB_VIEW_LOST) ||
		    view.cpu >= CPUS_MAX)
			continue;
		/* if clock records turn time back, the event gets the latest time so far */
		if (ns > reader->now)
			reader->now = ns;
		end.ticks = view.ticks;
		result = take_functions(reader, slices, &view);
		if (result >= 0)
			result = slices_take(slices, &view, reader->now);
		if (result > 0)
			result = take_running(reader, slices_running(slices, view.cpu));
		if (result >= 0)
			result = take_queue(reader, slices, &view);
		/* after slices_take(): take_call() needs the file of a call that ends here */
		if (result >= 0)
			result = files_take(reader->lines->files, &view, reader->now);
		if (result >= 0)
			result = completions_take(reader->lines->completions, &view, reader->now);
		if (result < 0)
			return result;
	}
	fault = tb_cursor_fault(cursor);
	if (fault)
		*error = *fault;
	if (result < 0 && result != -EBADMSG)
		return result;
	result = slices_take(slices, &end, reader->now);
	slices_finish(slices);
	return result < 0 ? result : 0;
}

static int compare_lines(const void *a, const void *b, void *context)
{
	const struct why_lines *lines = context;
	const struct why_line *first = why_line_of(lines, *(const uint32_t *)a);
	const struct why_line *second = why_line_of(lines, *(const uint32_t *)b);

	if (first->tid != second->tid)
		return first->tid < second->tid ? -1 : 1;
	if (first->born != second->born)
		return first->born < second->born ? -1 : 1;
	return first->thread < second->thread ? -1 : first->thread > second->thread;
}

/* Note the last names of threads, and sort threads by TID */
static int sort_threads(struct reader *reader)
{
	struct why_lines *lines = reader->lines;
	size_t i;

	lines->order = malloc((lines->nr_threads + 1) * sizeof(*lines->order));
	if (!lines->order)
		return -ENOMEM;
	for (i = 0; i < lines->nr_threads; i++) {
		lines->order[i] = (uint32_t)i + 1;
		if (!lines->threads[i]->after &&
		    note_names(reader, lines->threads[i], reader->now))
			return -ENOMEM;
	}
	qsort_r(lines->order, lines->nr_threads, sizeof(*lines->order), compare_lines, lines);
	return 0;
}

static void note_formats(struct why_lines *lines, struct slices *slices,
			 const struct tb_trace *trace)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; i < tb_trace_formats(trace); i++) {
		format = tb_trace_format_at(trace, i);
		if (slices_wants(slices, format, 1 << SLICE_RUN)) {
			lines->switches |= !strcmp(format->name, "sched_switch");
			lines->wakeups |= !!strcmp(format->name, "sched_switch");
		}
	}
}

int why_lines_read(struct why_lines *lines, struct tb_trace *trace, enum tb_timebase base,
		   const char *slice, struct tb_error *error)
{
	struct reader reader = { .lines = lines, .trace = trace, .programs.name = slice };
	struct spans missing = { 0 };
	struct slices *slices;
	int result;

	memset(lines, 0, sizeof(*lines));
	slices = slices_open(trace, base, take_slice, &reader);
	lines->files = files_open(trace);
	lines->completions = completions_open(trace, base);
	result = slices && lines->files && lines->completions ?
		 slices_find_chosen(slices, trace) : -ENOMEM;
	if (!result)
		result = spans_of_trace(&missing, trace, base);
	if (!result)
		result = tb_cursor_open(trace, &reader.cursor);
	if (!result) {
		slices_missing(slices, &missing);
		slices_switches_from(slices, 0);
		slices_off(slices);
		if (!spans_lacks(trace, "sched:sched_switch"))
			slices_before(slices);
		note_formats(lines, slices, trace);
		reader.moves_from = spans_recorded_from(trace, "sched:sched_migrate_task", base);
		result = read_events(&reader, slices, base, error);
	}
	if (!result)
		result = reader.failed;
	if (!result)
		result = sort_threads(&reader);
	why_programs_free(&reader.programs);
	map_free(&reader.threads, NULL);
	free(reader.functions);
	tb_cursor_close(reader.cursor);
	slices_close(slices);
	spans_free(&missing);
	return result;
}

void why_lines_free(struct why_lines *lines)
{
	size_t i;

	files_close(lines->files);
	completions_close(lines->completions);
	for (i = 0; i < lines->nr_threads; i++)
		free_line(lines->threads[i]);
	for (i = 0; i < lines->nr_cpus; i++) {
		free(lines->cpus[i].runs.at);
		free(lines->cpus[i].irqs.at);
	}
	for (i = 0; i < lines->nr_irqs; i++)
		free(lines->irqs[i].name);
	free(lines->slices.at);
	free(lines->quotas.at);
	free(lines->threads);
	free(lines->order);
	free(lines->cpus);
	free(lines->irqs);
}

const struct why_line *why_line_of(const struct why_lines *lines, uint32_t thread)
{
	return lines->threads[thread - 1];
}
