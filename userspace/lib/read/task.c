// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads by tid.
 *
 * A hash table (open addressing, linear probing) points to tasks in chunks that never move, so a
 * pointer to a task stays valid while the table grows.  Threads are never removed: later events of
 * a thread that has ended are shown with its last record, until its tid is used again.
 */
#include <errno.h>
#include <stdlib.h>
#include "internal.h"

#define CHUNK_TASKS 128

struct tb_task_chunk {
	struct tb_task_chunk *next;
	size_t used;
	struct tb_task tasks[CHUNK_TASKS];
};

static size_t slot_of(const struct tb_tasks *tasks, uint32_t tid)
{
	return tb_hash_slot(&tasks->secret, tid, tasks->nr_slots);
}

struct tb_task *tb_tasks_find(const struct tb_tasks *tasks, uint32_t tid)
{
	size_t slot;

	if (!tasks->nr_slots)
		return NULL;
	slot = slot_of(tasks, tid);
	while (tasks->slots[slot]) {
		TB_COUNT_STEP();
		if (tasks->slots[slot]->tid == tid)
			return tasks->slots[slot];
		slot = (slot + 1) & (tasks->nr_slots - 1);
	}
	return NULL;
}

static void insert(struct tb_tasks *tasks, struct tb_task *task)
{
	size_t slot = slot_of(tasks, task->tid);

	for (; tasks->slots[slot]; slot = (slot + 1) & (tasks->nr_slots - 1))
		TB_COUNT_STEP();
	tasks->slots[slot] = task;
}

static int grow(struct tb_tasks *tasks)
{
	struct tb_task **old = tasks->slots;
	size_t nr_old = tasks->nr_slots, i;

	tasks->secret = tb_secret();
	tasks->nr_slots = nr_old ? nr_old * 2 : 1024;
	tasks->slots = calloc(tasks->nr_slots, sizeof(*tasks->slots));
	if (!tasks->slots) {
		tasks->slots = old;
		tasks->nr_slots = nr_old;
		return -ENOMEM;
	}
	for (i = 0; i < nr_old; i++)
		if (old[i])
			insert(tasks, old[i]);
	free(old);
	return 0;
}

struct tb_task *tb_tasks_get(struct tb_tasks *tasks, uint32_t tid)
{
	struct tb_task *task = tb_tasks_find(tasks, tid);
	struct tb_task_chunk *chunk;

	if (task)
		return task;
	if (tasks->used * 2 >= tasks->nr_slots && grow(tasks))
		return NULL;
	chunk = tasks->last;
	if (!chunk || chunk->used == CHUNK_TASKS) {
		chunk = calloc(1, sizeof(*chunk));
		if (!chunk)
			return NULL;
		if (tasks->last)
			tasks->last->next = chunk;
		else
			tasks->chunks = chunk;
		tasks->last = chunk;
	}
	task = &chunk->tasks[chunk->used++];
	task->tid = tid;
	insert(tasks, task);
	tasks->used++;
	return task;
}

int tb_tasks_each(const struct tb_tasks *tasks,
		  int (*each)(const struct tb_task *task, void *context), void *context)
{
	const struct tb_task_chunk *chunk;
	int result = 0;
	size_t i;

	for (chunk = tasks->chunks; chunk && !result; chunk = chunk->next)
		for (i = 0; i < chunk->used && !result; i++)
			result = each(&chunk->tasks[i], context);
	return result;
}

void tb_tasks_free(struct tb_tasks *tasks)
{
	struct tb_task_chunk *chunk, *next;

	for (chunk = tasks->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(tasks->slots);
	memset(tasks, 0, sizeof(*tasks));
}

void tb_task_name(struct tb_task *task, const char *comm, size_t size)
{
	size_t length = strnlen(comm, size < TB_COMM_LEN ? size : TB_COMM_LEN);

	if (!length)
		return;
	memset(task->comm, 0, sizeof(task->comm));
	memcpy(task->comm, comm, length);
}

/* Apply a TB_EV_THREAD record */
int tb_tasks_thread(struct tb_tasks *tasks, const void *payload, size_t size)
{
	const struct tb_thread *thread = payload;
	struct tb_task *task;

	if (size < sizeof(*thread))
		return 0;
	task = tb_tasks_get(tasks, thread->tid);
	if (!task)
		return -ENOMEM;
	task->tgid = thread->tgid;
	task->parent = thread->parent;
	task->uid = thread->uid;
	task->cgroup = thread->cgroup;
	task->flags = thread->flags | TB_TASK_LISTED;
	task->prio = thread->prio;
	tb_task_name(task, thread->comm, sizeof(thread->comm));
	return 0;
}

/* ---- events that tell something of threads ---- */

#define CLONE_THREAD_FLAG 0x00010000
#define CLONE_PARENT_FLAG 0x00008000

/* Get the number in field number @which of tb_format.telling */
static bool field_number(const struct tb_view *view, unsigned int which,
			 uint64_t *value)
{
	const struct tb_format_field *field = view->format->telling[which];

	return field && !tb_field_u64(view, field, value);
}

/* Field @pid + 1 of tb_format.telling is the name of the thread in field @pid */
static int learn_name(struct tb_tasks *tasks, const struct tb_view *view,
		      unsigned int pid)
{
	const struct tb_format_field *field = view->format->telling[pid + 1];
	struct tb_task *task;
	const char *text;
	uint64_t tid;
	size_t length;

	if (!field || tb_field_str(view, field, &text, &length) || !length ||
	    !field_number(view, pid, &tid) || !tid)
		return 0;
	task = tb_tasks_get(tasks, (uint32_t)tid);
	if (!task)
		return -ENOMEM;
	tb_task_name(task, text, length);
	return 0;
}

/* The thread of this event has created a thread */
static int learn_new(struct tb_tasks *tasks, const struct tb_view *view)
{
	struct tb_task *task, *creator;
	uint64_t flags = 0, tid;

	if (!field_number(view, 0, &tid))
		return 0;
	task = tb_tasks_get(tasks, (uint32_t)tid);
	if (!task)
		return -ENOMEM;
	field_number(view, 2, &flags);
	creator = tb_tasks_find(tasks, view->tid);
	task->flags = TB_THREAD_FORK;
	if (flags & CLONE_THREAD_FLAG) {
		task->tgid = creator ? creator->tgid : 0;
		task->parent = creator ? creator->parent : 0;
	} else {
		task->tgid = task->tid;
		task->parent = !creator ? 0 : flags & CLONE_PARENT_FLAG ?
			       creator->parent : creator->tgid;
	}
	task->cgroup = creator ? creator->cgroup : 0;
	if (creator && creator->flags & TB_TASK_LISTED) {
		task->uid = creator->uid;
		task->flags |= TB_TASK_LISTED;
	}
	return learn_name(tasks, view, 0);
}

/* To be called for events whose format has a tb_known */
int tb_tasks_learn(struct tb_tasks *tasks, const struct tb_view *view)
{
	int result;

	switch (view->format->known) {
	case TB_KNOWN_SWITCH:
		result = learn_name(tasks, view, 0);
		return result < 0 ? result : learn_name(tasks, view, 2);
	case TB_KNOWN_NEWTASK:
		return learn_new(tasks, view);
	}
	return learn_name(tasks, view, 0);
}
