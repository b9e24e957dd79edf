// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - processes and threads, each written once, and renamed threads.
 *
 * Perfetto would show a new thread twice if a process tree had it before its task_newtask.  The
 * event may come after the record of the thread, or never: it was lost, not selected, or kept out
 * by a rule.  So the record of a new thread waits for the event until the end, and is then written
 * with its own time.  A thread that is not known yet is written at its first record of any kind.
 *
 * A new name is written although there may be a task_rename: Perfetto prefers names of process
 * trees, and would keep the old one.
 */
#include <errno.h>
#include <stdlib.h>
#include "perfetto.h"
#include "analysis/cgroup_names.h"
#include "analysis/map.h"

/* A new thread; @pending: its record came, its task_newtask did not; else the other way round */
struct newcomer {
	bool pending;
	uint64_t ns;
	struct tb_task task;
};

struct pf_tasks {
	struct pf_out *out;
	struct pf_tracks *tracks;
	const struct tb_cursor *cursor;
	bool forks;
	struct map newcomers;
	struct map written;		/* threads that are written, or will be at the end */
	const struct tb_format_field *parts[];	/* by format: the new thread of task_newtask */
};

struct pf_tasks *pf_tasks_open(struct pf_tracks *tracks, const struct tb_cursor *cursor,
			       const struct tb_trace *trace, bool forks)
{
	unsigned int count = tb_trace_formats(trace), i;
	const struct tb_format *format;
	struct pf_tasks *tasks;

	tasks = calloc(1, sizeof(*tasks) + count * sizeof(tasks->parts[0]));
	if (!tasks)
		return NULL;
	tasks->out = tracks->out;
	tasks->tracks = tracks;
	tasks->cursor = cursor;
	tasks->forks = forks;
	for (i = 0; i < count; i++) {
		format = tb_trace_format_at(trace, i);
		if (!strcmp(format->name, "task_newtask"))
			tasks->parts[i] = export_number_field(format, "pid");
	}
	return tasks;
}

void pf_tasks_close(struct pf_tasks *tasks)
{
	if (!tasks)
		return;
	map_free(&tasks->newcomers, free);
	map_free(&tasks->written, NULL);
	free(tasks);
}

static int note_written(struct pf_tasks *tasks, uint64_t tid)
{
	void **slot = map_at(&tasks->written, tid);

	if (!slot)
		return -ENOMEM;
	*slot = tasks;
	return 0;
}

/*
 * Label the process with its container.  Perfetto must know the process before: it would take it
 * for another one.
 */
static int label(struct pf_tasks *tasks, const struct tb_task *task, uint64_t ns)
{
	char name[CGROUP_NAME_MAX];

	if (!task->tid || task->tid != task->tgid ||
	    !cgroup_container(tasks->tracks->trace, task->cgroup, name))
		return tasks->out->error;
	return pf_track_labelled(tasks->tracks, task->tid, task->comm, task->cgroup, ns + 1) ?
	       tasks->out->error : -ENOMEM;
}

struct labels {
	struct pf_tasks *tasks;
	uint64_t ns;
};

/* Note that the thread is written, and label it */
static int note_task(const struct tb_task *task, void *context)
{
	const struct labels *labels = context;
	int result = task->tgid ? note_written(labels->tasks, task->tid) : 0;

	return result ? result : label(labels->tasks, task, labels->ns);
}

int pf_tasks_begin(struct pf_tasks *tasks, uint64_t ns)
{
	struct labels labels = { tasks, ns };
	int result = pf_write_tasks(tasks->out, tasks->cursor, ns);

	return result ? result : tb_cursor_each_task(tasks->cursor, note_task, &labels);
}

static int write_task(struct pf_tasks *tasks, const struct tb_task *task, uint64_t ns)
{
	pf_write_task(tasks->out, task, ns);
	return label(tasks, task, ns);
}

static int write_pending(struct pf_tasks *tasks, void **slot)
{
	struct newcomer *newcomer = *slot;
	int result = 0;

	if (newcomer && newcomer->pending)
		result = write_task(tasks, &newcomer->task, newcomer->ns);
	free(newcomer);
	*slot = NULL;
	return result;
}

static int note_fork(struct pf_tasks *tasks, const struct tb_task *task, uint64_t ns)
{
	void **slot = map_at(&tasks->newcomers, task->tid);
	struct newcomer *newcomer = slot ? *slot : NULL;
	int result;

	if (!slot)
		return -ENOMEM;
	if (newcomer && !newcomer->pending) {		/* its task_newtask was before */
		free(newcomer);
		*slot = NULL;
		return label(tasks, task, ns);
	}
	result = write_pending(tasks, slot);	/* an earlier thread with the same number */
	if (result)
		return result;
	newcomer = calloc(1, sizeof(*newcomer));
	if (!newcomer)
		return -ENOMEM;
	newcomer->pending = true;
	newcomer->ns = ns;
	newcomer->task = *task;
	*slot = newcomer;
	return tasks->out->error;
}

int pf_tasks_thread(struct pf_tasks *tasks, const struct tb_view *view, uint64_t ns)
{
	const struct tb_thread *thread = view->payload;
	const struct tb_task *task;
	struct newcomer *newcomer;

	if (view->length < sizeof(*thread))
		return tasks->out->error;
	if (!(thread->flags & (TB_THREAD_FORK | TB_THREAD_NAME)) &&
	    map_get(&tasks->written, thread->tid))
		return tasks->out->error;
	task = tb_cursor_task(tasks->cursor, thread->tid);
	if (!task)
		return tasks->out->error;
	if (note_written(tasks, thread->tid))
		return -ENOMEM;
	newcomer = map_get(&tasks->newcomers, thread->tid);
	if (thread->flags & TB_THREAD_FORK && tasks->forks)
		return note_fork(tasks, task, ns);
	if (!newcomer || !newcomer->pending)
		return write_task(tasks, task, ns);
	newcomer->task = *task;		/* keep the time of the first record */
	return tasks->out->error;
}

int pf_tasks_event(struct pf_tasks *tasks, const struct tb_view *view, uint64_t ns)
{
	const struct tb_format_field *field = tasks->parts[view->format->index];
	struct newcomer *newcomer;
	uint64_t tid;
	void **slot;
	int result;

	if (!field || tb_field_u64(view, field, &tid))
		return 0;
	slot = map_at(&tasks->newcomers, tid);
	if (!slot || note_written(tasks, tid))
		return -ENOMEM;
	newcomer = *slot;
	if (newcomer && newcomer->pending) {
		result = label(tasks, &newcomer->task, ns);
		free(newcomer);
		*slot = NULL;
		return result;
	}
	if (!newcomer)
		*slot = calloc(1, sizeof(*newcomer));
	return *slot ? 0 : -ENOMEM;
}

int pf_tasks_finish(struct pf_tasks *tasks)
{
	int result = tasks->out->error;
	size_t i;

	for (i = 0; i < tasks->newcomers.count && !result; i++)
		result = write_pending(tasks, &tasks->newcomers.entries[i].value);
	return result;
}
