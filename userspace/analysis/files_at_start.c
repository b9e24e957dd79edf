// SPDX-License-Identifier: GPL-2.0-only
/*
 * What processes had open at the start of the recording; see files_at_start.h.
 *
 * The recorder looks at each file some time after the start.  A call that changed the number before
 * that leaves the name valid from that time on only.  A call that was under way meanwhile may have
 * changed the number before or after the recorder looked: the name is dropped.  So all calls up to
 * the last look are read first.  Later calls are for files.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "file_calls.h"
#include "files_at_start.h"
#include "map.h"
#include "spans.h"
#include "lib/bisect.h"

/* Clock records place events in CLOCK_MONOTONIC no better than this */
#define MARGIN_NS 10000
#define ALL_NUMBERS UINT32_MAX

/* A system call that a thread is in, if @inside */
struct call {
	uint64_t begin, args[3];
	enum file_call kind;
	uint32_t pid;
	bool inside;
};

struct reader {
	struct files_at_start *files;	/* by process and number meanwhile */
	struct file_calls calls;
	struct map threads;		/* of struct call */
	uint64_t last;			/* the end of the last look */
};

static uint64_t later(uint64_t ns, uint64_t by)
{
	return ns > UINT64_MAX - by ? UINT64_MAX : ns + by;
}

/* ---- the records ---- */

static int compare_numbers(const void *a, const void *b)
{
	const struct file_at_start *first = a, *second = b;

	if (first->pid != second->pid)
		return first->pid < second->pid ? -1 : 1;
	return first->number < second->number ? -1 : first->number > second->number;
}

static int compare_times(const void *a, const void *b)
{
	const struct file_at_start *first = a, *second = b;

	if (first->from != second->from)
		return first->from < second->from ? -1 : 1;
	return compare_numbers(a, b);
}

static int read_records(struct reader *reader, const struct tb_trace *trace)
{
	struct files_at_start *files = reader->files;
	struct tb_open_file record;
	struct file_at_start *file;
	size_t count = 0, length;
	const char *name;

	while (!tb_trace_open_file(trace, count, &record, &name, &length))
		count++;
	if (!count)
		return 0;
	files->list = calloc(count, sizeof(*files->list));
	if (!files->list)
		return -ENOMEM;
	while (!tb_trace_open_file(trace, files->count, &record, &name, &length)) {
		file = &files->list[files->count++];
		*file = (struct file_at_start){
			.begin = record.since, .end = later(record.since, record.span),
			.pid = record.pid, .number = record.number, .name = name, .length = length,
			.by_exec = record.flags & TB_OPEN_FILE_EXEC, .dropped = !length,
		};
		if (file->end > reader->last)
			reader->last = file->end;
	}
	qsort(files->list, files->count, sizeof(*files->list), compare_numbers);
	return 0;
}

/* ---- what changes numbers ---- */

/* Between @begin and @end something may have changed what @file says */
static void judge(struct file_at_start *file, uint64_t begin, uint64_t end)
{
	if (begin <= later(file->end, MARGIN_NS) && later(end, MARGIN_NS) >= file->begin)
		file->dropped = true;
	else if (end < file->begin)
		file->from = file->end;
}

/* Something may have changed numbers of a process between @begin and @end */
static void change(struct reader *reader, uint32_t pid, uint64_t first, uint64_t last,
		   uint64_t begin, uint64_t end)
{
	const struct file_at_start key = { .pid = pid, .number = (uint32_t)first };
	struct file_at_start *list = reader->files->list;
	size_t low = 0, count = reader->files->count;

	BISECT(low, count, i, compare_numbers(&list[i], &key) < 0);
	for (; low < count && list[low].pid == pid && list[low].number <= last; low++)
		judge(&list[low], begin, end);
}

/* Events are missing at times: then calls are */
static void judge_losses(struct reader *reader, const struct spans *missing)
{
	struct file_at_start *file;
	uint64_t known = 0;
	size_t i, at;

	for (i = 0; i < missing->nr_cpus; i++)
		if (missing->cpus[i].any && missing->cpus[i].begin > known)
			known = missing->cpus[i].begin;
	for (i = 0; i < reader->files->count; i++) {
		file = &reader->files->list[i];
		if (known)
			judge(file, 0, known);
		at = spans_from(missing, file->begin < MARGIN_NS ? 0 : file->begin - MARGIN_NS);
		if (at)
			judge(file, missing->list[at - 1].first, missing->list[at - 1].last);
		if (at < missing->count)
			judge(file, missing->list[at].first, missing->list[at].last);
	}
}

/* ---- system calls ---- */

/* A call has ended at @end with @result; below 0: it failed, or its result is not known */
static void take_call(struct reader *reader, const struct call *call, uint64_t end, int64_t result)
{
	uint64_t first = call->args[0] & UINT32_MAX, last = first;
	bool opens = file_call_opens(call->kind);

	switch (call->kind) {
	case EXEC:
		first = 0;
		last = ALL_NUMBERS;
		break;
	case CLONE:
		/* files that another process has, too, change unseen */
		if (!(call->args[0] & CLONE_FILES) || call->args[0] & CLONE_THREAD)
			return;
		first = 0;
		last = ALL_NUMBERS;
		break;
	case CLOSES:
		break;
	case CLOSES_RANGE:
		last = call->args[1] & UINT32_MAX;
		break;
	case DUP2:
	case DUP3:
		first = last = call->args[1] & UINT32_MAX;
		opens = false;
		break;
	case CONTROL:
		opens = call->args[1] == F_DUPFD || call->args[1] == F_DUPFD_CLOEXEC;
		if (!opens && call->args[1] != F_SETFD)
			return;
		break;
	default:
		if (!opens)
			return;
	}
	if (opens && result < 0)
		return;
	if (opens)
		first = last = (uint64_t)result;
	change(reader, call->pid, first, last, call->begin, end);
}

/* The call began before the recording: with which arguments is not known */
static void take_rest(struct reader *reader, uint32_t pid, enum file_call kind, uint64_t end,
		      int64_t result)
{
	if (kind == EXEC || kind == CLOSES || kind == CLOSES_RANGE)
		change(reader, pid, 0, ALL_NUMBERS, 0, end);
	else if (file_call_opens(kind) && result >= 0)
		change(reader, pid, (uint64_t)result, (uint64_t)result, 0, end);
}

static int enter(struct reader *reader, const struct tb_view *view)
{
	const struct tb_format_field *args = tb_format_field(view->format, "args");
	const struct tb_format_field *id = tb_format_field(view->format, "id");
	void **slot = map_at(&reader->threads, view->tid);
	struct call *call;
	int64_t number;
	unsigned int i;

	if (slot && !*slot)
		*slot = calloc(1, sizeof(*call));
	if (!slot || !*slot)
		return -ENOMEM;
	call = *slot;
	/* its end is missing */
	if (call->inside)
		take_call(reader, call, view->ns, -1);
	*call = (struct call){ .begin = view->ns, .pid = view->task->tgid };
	if (!args || !id || tb_field_s64(view, id, &number))
		return 0;
	call->inside = true;
	call->kind = file_call_of(&reader->calls, number);
	for (i = 0; i < 3; i++)
		if (tb_field_item(view, args, i, &call->args[i]))
			call->args[i] = 0;
	return 0;
}

static void leave(struct reader *reader, const struct tb_view *view)
{
	const struct tb_format_field *ret = tb_format_field(view->format, "ret");
	const struct tb_format_field *id = tb_format_field(view->format, "id");
	struct call *call = map_get(&reader->threads, view->tid);
	int64_t result = -1, number = -1;

	if (ret && tb_field_s64(view, ret, &result))
		result = -1;
	if (id && tb_field_s64(view, id, &number))
		number = -1;
	if (call && call->inside)
		take_call(reader, call, view->ns, result);
	else
		take_rest(reader, view->task->tgid, file_call_of(&reader->calls, number), view->ns,
			  result);
	if (call)
		call->inside = false;
}

/* ---- events ---- */

/* A process that begins or ends: the number of another one from before or after */
static void take_thread(struct reader *reader, const struct tb_view *view)
{
	struct tb_thread thread;

	if (view->length < sizeof(thread))
		return;
	memcpy(&thread, view->payload, sizeof(thread));
	if (thread.tid == thread.tgid && thread.flags & (TB_THREAD_FORK | TB_THREAD_EXIT))
		change(reader, thread.tgid, 0, ALL_NUMBERS, view->ns, view->ns);
}

static int take(struct reader *reader, const struct tb_view *view)
{
	if (view->kind != TB_VIEW_EVENT)
		return 0;
	if (!view->format) {
		if (view->id == TB_EV_THREAD)
			take_thread(reader, view);
		return 0;
	}
	if (!(view->format->flags & TB_EVENT_SYSCALL) || !view->task || !view->task->tgid)
		return 0;
	if (!strcmp(view->format->name, "sys_enter"))
		return enter(reader, view);
	leave(reader, view);
	return 0;
}

/* All events up to the last look */
static int read_events(struct reader *reader, struct tb_trace *trace)
{
	struct tb_cursor *cursor;
	struct tb_view view;
	struct call *call;
	int result;
	size_t i;

	result = tb_cursor_open(trace, &cursor);
	if (result)
		return result;
	while ((result = tb_cursor_next(cursor, &view)) == 1) {
		if (view.cpu != TB_RING_DURABLE && view.ns > later(reader->last, MARGIN_NS))
			break;
		result = take(reader, &view);
		if (result)
			break;
	}
	for (i = 0; i < reader->threads.count; i++) {
		call = reader->threads.entries[i].value;
		if (call && call->inside)
			take_call(reader, call, UINT64_MAX, -1);
	}
	tb_cursor_close(cursor);
	return result == -ENOMEM ? -ENOMEM : 0;
}

int files_at_start_read(struct files_at_start *files, struct tb_trace *trace,
			const struct spans *missing)
{
	struct reader reader = { .files = files, .calls.trace = trace };
	size_t i, kept = 0;
	int result;

	*files = (struct files_at_start){ 0 };
	result = read_records(&reader, trace);
	if (result || !files->count)
		return result;
	judge_losses(&reader, missing);
	result = read_events(&reader, trace);
	map_free(&reader.threads, free);
	for (i = 0; i < files->count; i++)
		if (!files->list[i].dropped)
			files->list[kept++] = files->list[i];
	files->count = kept;
	qsort(files->list, kept, sizeof(*files->list), compare_times);
	return result;
}

void files_at_start_free(struct files_at_start *files)
{
	free(files->list);
	*files = (struct files_at_start){ 0 };
}
