// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - Chrome's trace event format, JSON that many programs show.
 *
 *   CPUs         one process: for each CPU its running threads, interrupts and softirqs
 *   processes    their threads: system calls, records of programs, and all other events as instants
 *
 * The arguments of a slice are the fields of its first event, and its result.  A loss is an instant
 * "LOST" of its CPU.  Slices are written when they end; of threads only numbers are kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "json.h"
#include "analysis/slices.h"
#include "analysis/spans.h"
#include "tool/show/selection.h"

struct job {
	struct json json;
	struct slices *slices;
	struct spans missing;
	struct out out;
};

/* ---- the parts of an event ---- */

/* Write what separates the next object from the one before */
static void next_object(struct json *json)
{
	out_text(json->out, json->some ? ",\n" : "\n");
	json->some = true;
}

/* Write @ns as microseconds, the unit of all times */
static void write_time(struct out *out, uint64_t ns)
{
	char *at = put_decimal(out_room(out, 24), ns / 1000);
	unsigned int rest = (unsigned int)(ns % 1000);

	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	*at++ = (char)('0' + rest / 10 % 10);
	*at++ = (char)('0' + rest % 10);
	out_took(out, at);
}

void json_begin(struct json *json, char phase, uint32_t pid, uint32_t tid,
		uint64_t ns, const char *name, size_t length)
{
	struct out *out = json->out;

	next_object(json);
	out_text(out, "{\"name\":");
	out_json_text(out, name, length);
	out_text(out, ",\"ph\":\"");
	out_char(out, phase);
	out_text(out, "\",\"pid\":");
	out_unsigned(out, pid);
	out_text(out, ",\"tid\":");
	out_unsigned(out, tid);
	out_text(out, ",\"ts\":");
	write_time(out, ns);
}

void json_category(struct json *json, const char *category)
{
	out_text(json->out, ",\"cat\":");
	out_json_string(json->out, category);
}

struct json_thread *json_thread(struct json *json, uint32_t pid, uint32_t tid)
{
	struct json_thread *thread = NULL;
	void **slot = map_at(&json->threads, (uint64_t)pid << 32 | tid);

	if (slot && *slot)
		return *slot;
	if (slot)
		*slot = thread = calloc(1, sizeof(*thread));
	if (!thread) {
		json->error = -ENOMEM;
		return NULL;
	}
	thread->pid = pid;
	thread->tid = tid;
	return thread;
}

static const char *comm_of(const struct json *json, uint32_t tid)
{
	const struct tb_task *task = tb_cursor_task(json->cursor, tid);

	return task && task->comm[0] ? task->comm : "<...>";
}

static uint32_t process_of_thread(const struct json *json, uint32_t tid)
{
	const struct tb_task *task = tb_cursor_task(json->cursor, tid);

	return task && task->tgid ? task->tgid : tid;
}

static uint32_t cpu_track(uint32_t cpu, enum json_track track)
{
	return JSON_CPUS + cpu * JSON_TRACKS + track;
}

/* ---- slices ---- */

static void slice_begin(struct json *json, const struct slice *slice,
			const char *category, uint32_t pid, uint32_t tid,
			const char *name, size_t length)
{
	/* a slice without a known duration */
	bool instant = slice->doubt == SLICE_UNENDED &&
		       slice->end == slice->begin;

	json_begin(json, instant ? 'i' : 'X', pid, tid, slice->begin, name,
		   length);
	out_text(json->out, instant ? ",\"s\":\"t\"" : ",\"dur\":");
	if (!instant)
		write_time(json->out, slice->end - slice->begin);
	json_category(json, category);
	out_text(json->out, ",\"args\":{\"_cpu\":");
	out_unsigned(json->out, slice->cpu);
}

static void slice_end(struct json *json, const struct slice *slice)
{
	static const char *const doubts[] = {
		[SLICE_LOSSY] = "events are missing in between",
		[SLICE_UNENDED] = "its end is not in the trace",
		[SLICE_UNBEGUN] = "its beginning is not in the trace",
	};

	if (slice->doubt != SLICE_WHOLE) {
		out_text(json->out, ",\"_doubt\":");
		out_json_string(json->out, doubts[slice->doubt]);
	}
	out_text(json->out, "}}");
}

static void write_run(struct json *json, const struct slice *slice)
{
	const char *name = comm_of(json, slice->tid);
	struct out *out = json->out;
	char state[24];

	/* idle time has no slices */
	if (!slice->tid)
		return;
	slice_begin(json, slice, "sched", JSON_CPUS,
		    cpu_track(slice->cpu, JSON_RUN), name, strlen(name));
	out_text(out, ",\"pid\":");
	out_unsigned(out, process_of_thread(json, slice->tid));
	out_text(out, ",\"tid\":");
	out_unsigned(out, slice->tid);
	if (slice->has_prio) {
		out_text(out, ",\"prio\":");
		out_signed(out, slice->prio);
	}
	if (slice->has_waited) {
		out_text(out, ",\"waited_ns\":");
		out_unsigned(out, slice->waited);
	}
	if (slice->has_result) {
		out_text(out, ",\"end_state\":");
		out_json_string(out, tb_task_state((uint64_t)slice->result,
						   state, sizeof(state)));
	}
	slice_end(json, slice);
}

static void write_result(struct json *json, const struct slice *slice)
{
	json_members_write(json->fields, json->out, &slice->event, true);
	if (slice->has_result) {
		out_text(json->out, ",\"ret\":");
		out_json_signed(json->out, slice->result);
	}
	slice_end(json, slice);
}

static void write_irq(struct json *json, const struct slice *slice)
{
	uint32_t track = cpu_track(slice->cpu, JSON_IRQ);
	char name[24];

	if (slice->name) {
		slice_begin(json, slice, "irq", JSON_CPUS, track, slice->name,
			    slice->name_length);
	} else {
		snprintf(name, sizeof(name), "irq %" PRId64, slice->number);
		slice_begin(json, slice, "irq", JSON_CPUS, track, name,
			    strlen(name));
	}
	write_result(json, slice);
}

/* Return the name of @number, or "@what NUMBER" in @spare */
static const char *named(const struct json *json, uint32_t kind, int64_t number,
			 const char *what, char spare[40])
{
	const char *name = number < 0 || number > UINT32_MAX ? NULL :
			   tb_trace_string(json->trace, kind, (uint32_t)number);

	if (name)
		return name;
	snprintf(spare, 40, "%s %" PRId64, what, number);
	return spare;
}

static void write_softirq(struct json *json, const struct slice *slice)
{
	char spare[40];
	const char *name = named(json, TB_STRING_SOFTIRQ, slice->number,
				 "softirq", spare);

	slice_begin(json, slice, "softirq", JSON_CPUS,
		    cpu_track(slice->cpu, JSON_SOFTIRQ), name, strlen(name));
	write_result(json, slice);
}

static void write_syscall(struct json *json, const struct slice *slice)
{
	uint32_t pid = process_of_thread(json, slice->tid);
	char spare[40];
	const char *name = named(json, TB_STRING_SYSCALL, slice->number,
				 "syscall", spare);

	json_thread(json, pid, slice->tid);
	slice_begin(json, slice, "syscall", pid, slice->tid, name, strlen(name));
	write_result(json, slice);
}

static void take_slice(void *context, const struct slice *slice)
{
	struct json *json = context;

	if (!selection_wants_slice(json->selection, json->cursor, slice->cpu, slice->tid))
		return;
	switch (slice->kind) {
	case SLICE_RUN:
		write_run(json, slice);
		break;
	case SLICE_IRQ:
		write_irq(json, slice);
		break;
	case SLICE_SOFTIRQ:
		write_softirq(json, slice);
		break;
	case SLICE_SYSCALL:
		write_syscall(json, slice);
		break;
	case SLICE_WAKEUP:
		/* the run that follows has it as "waited_ns" */
	case SLICE_OFF:
		/* not requested (slices_off()) */
		break;
	}
}

/* ---- instants ---- */

static void write_lost(struct json *json, const struct tb_view *view, uint64_t ns)
{
	char name[64];

	snprintf(name, sizeof(name), "LOST %" PRIu64 " events",
		 (uint64_t)(view->lost.overwritten + view->lost.dropped));
	json_begin(json, 'i', JSON_CPUS, cpu_track(view->cpu, JSON_RUN), ns,
		   name, strlen(name));
	json_category(json, "lost");
	out_text(json->out, ",\"s\":\"t\",\"cname\":\"terrible\",\"args\":");
	json_fields_write(json->fields, json->out, view);
	out_char(json->out, '}');
}

/* A mark (a text from user space, or of a trigger) is a line through all tracks */
static void write_mark(struct json *json, const struct tb_view *view, uint32_t pid,
		       uint32_t tid, uint64_t ns)
{
	json_begin(json, 'i', pid, tid, ns, view->payload,
		   strnlen(view->payload, view->length));
	json_category(json, "mark");
	out_text(json->out, ",\"s\":\"g\"}");
}

static void write_instant(struct json *json, const struct tb_view *view,
			  uint64_t ns)
{
	uint32_t pid = process_of(view), tid = view->tid;
	char spare[24];
	const char *name = tb_view_name(view, spare);

	/* all idle threads have the same number */
	if (!tid && view->cpu != TB_RING_DURABLE) {
		pid = JSON_CPUS;
		tid = cpu_track(view->cpu, JSON_RUN);
	} else {
		json_thread(json, pid, tid);
	}
	if (!view->format && view->id == TB_EV_MARK) {
		write_mark(json, view, pid, tid, ns);
		return;
	}
	json_begin(json, 'i', pid, tid, ns, name, strlen(name));
	json_category(json, tb_view_system(view));
	out_text(json->out, ",\"s\":\"t\",\"args\":{\"_cpu\":");
	out_signed(json->out, view->cpu == TB_RING_DURABLE ? -1 :
			      (int64_t)view->cpu);
	json_members_write(json->fields, json->out, view, true);
	json_extras_write(json->trace, json->out, view);
	out_text(json->out, "}}");
}

/* ---- names, beginning and end ---- */

/* {"name":"thread_name","ph":"M", ... "args":{"name":"bash"}} */
static void write_name(struct json *json, const char *what, uint32_t pid,
		       uint32_t tid, const char *name)
{
	json_begin(json, 'M', pid, tid, 0, what, strlen(what));
	out_text(json->out, ",\"args\":{\"name\":");
	out_json_string(json->out, name);
	out_text(json->out, "}}");
}

static void write_order(struct json *json, const char *what, uint32_t tid,
			int order)
{
	json_begin(json, 'M', JSON_CPUS, tid, 0, what, strlen(what));
	out_text(json->out, ",\"args\":{\"sort_index\":");
	out_signed(json->out, order);
	out_text(json->out, "}}");
}

static void write_cpus(struct json *json)
{
	static const char *const kinds[] = { "", " irq", " softirq" };
	unsigned int cpu, track;
	char name[32];

	write_name(json, "process_name", JSON_CPUS, JSON_CPUS, "CPUs");
	write_order(json, "process_sort_index", JSON_CPUS, -1);
	for (cpu = 0; cpu < tb_trace_nr_cpus(json->trace); cpu++) {
		for (track = 0; track < JSON_TRACKS; track++) {
			uint32_t tid = cpu_track(cpu, track);

			snprintf(name, sizeof(name), "CPU %u%s", cpu,
				 kinds[track]);
			write_name(json, "thread_name", JSON_CPUS, tid, name);
			write_order(json, "thread_sort_index", tid,
				    (int)(cpu * JSON_TRACKS + track));
		}
	}
}

/* Write the names at the end of the trace: before execve() a thread has the name of its parent */
static void write_threads(struct json *json)
{
	const struct json_thread *thread;
	char name[64];
	size_t i;

	for (i = 0; i < json->threads.count; i++) {
		thread = json->threads.entries[i].value;
		if (!thread)
			continue;
		write_name(json, "process_name", thread->pid, thread->tid,
			   comm_of(json, thread->pid));
		if (thread->tid < JSON_WRITERS) {
			write_name(json, "thread_name", thread->pid, thread->tid,
				   comm_of(json, thread->tid));
			continue;
		}
		snprintf(name, sizeof(name), "%s writer %u",
			 comm_of(json, thread->pid), thread->writer_id);
		write_name(json, "thread_name", thread->pid, thread->tid, name);
	}
}

static void write_member(struct out *out, const char *name, const char *value)
{
	out_char(out, ',');
	out_json_string(out, name);
	out_char(out, ':');
	out_json_string(out, value);
}

static void write_head(struct json *json)
{
	const struct tb_init *init = tb_trace_init(json->trace);
	struct out *out = json->out;
	char text[65] = "";

	out_text(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"recorder\":\"tracebuf\"");
	if (init) {
		memcpy(text, init->release, sizeof(init->release));
		write_member(out, "release", text);
		memcpy(text, init->nodename, sizeof(init->nodename));
		write_member(out, "nodename", text);
	}
	write_member(out, "clock", json->base == TB_TIME_REALTIME ? "realtime" :
		     json->base == TB_TIME_BOOTTIME ? "boottime" : "monotonic");
	out_text(out, "},\"traceEvents\":[");
	write_cpus(json);
}

/* ---- the export ---- */

static int take(struct job *job, const struct tb_view *view, bool selected)
{
	struct json *json = &job->json;
	uint64_t ns = tb_ns_in(json->trace, json->base, view->ticks, view->ns), other = ns;
	int result;

	if (view->kind == TB_VIEW_USER)
		other = tb_ns_in(json->trace, json->base, view->ticks + view->user->duration,
				 view->ns + view->user->duration_ns);
	if (view->user) {
		json_user(json, view, ns, other > ns ? other : ns);
		return json->error;
	}
	result = slices_take(job->slices, view, ns);
	if (result < 0 || !selected)
		return result < 0 ? result : json->error;
	if (view->kind == TB_VIEW_LOST)
		write_lost(json, view, ns);
	else if (!result)
		write_instant(json, view, ns);
	return json->error;
}

static int run(struct job *job, const struct tb_export_options *options)
{
	struct json *json = &job->json;
	struct tb_cursor *cursor;
	struct tb_view view;
	int result = tb_cursor_open(json->trace, &cursor);

	if (result)
		return result;
	json->cursor = cursor;
	write_head(json);
	while ((result = tb_export_next(options, cursor, &view)) > 0) {
		result = take(job, &view, *options->selected);
		if (!result)
			result = job->out.error;
		if (result)
			break;
	}
	if (!result) {
		slices_finish(job->slices);
		write_threads(json);
		out_text(&job->out, "\n]}\n");
		result = out_write(&job->out);
	}
	tb_cursor_close(cursor);
	return result;
}

static void report_left_out(const struct json *json)
{
	user_slices_note(json->writers.unmatched, json->writers.deep, json->writers.many);
	if (json->no_numbers)
		fprintf(stderr, "%" PRIu64 " values of counters were left out: they are not finite\n",
			json->no_numbers);
}

int tb_export_json(struct tb_trace *trace, FILE *out,
		   const struct tb_export_options *options)
{
	struct job *job = calloc(1, sizeof(*job));
	int result = -ENOMEM;

	if (!job)
		return result;
	job->out.file = out;
	/* JavaScript has no integers beyond 2^53; Perfetto shows integers beyond 2^63 as -1.0 */
	job->out.doubles = true;
	job->json.trace = trace;
	job->json.base = options->base;
	job->json.out = &job->out;
	job->json.selection = options->selection;
	job->json.fields = json_fields_open(trace, options->base);
	job->slices = slices_open(trace, options->base, take_slice, &job->json);
	if (job->json.fields && job->slices)
		result = slices_find_chosen(job->slices, trace);
	if (job->json.fields && job->slices && !result)
		result = spans_of_part(&job->missing, trace, options->base,
				       options->switches_from);
	if (!result) {
		slices_missing(job->slices, &job->missing);
		slices_switches_from(job->slices, options->switches_from);
		result = run(job, options);
	}
	if (!result && options->verbose)
		report_left_out(&job->json);
	slices_close(job->slices);
	spans_free(&job->missing);
	json_fields_close(job->json.fields);
	map_free(&job->json.threads, free);
	map_free(&job->json.flows, NULL);
	user_writers_free(&job->json.writers);
	free(job);
	return result;
}
