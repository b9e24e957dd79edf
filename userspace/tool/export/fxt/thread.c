// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - threads and the open slices on their tracks, in FXT.
 *
 * Processes and threads are kernel objects with numbers (koids), which are those of Linux.  A
 * process and its main thread have the same one: readers keep the two kinds apart.  Each CPU has
 * three more threads, with koids beyond those of Linux: one for its interrupts, one for its idle
 * thread (all are number 0 in Linux), and one that it runs while the trace does not tell which.
 *
 * A viewer ends the innermost slice of a track, whatever an end means.  So open slices are kept for
 * each track, and are ended from the innermost on.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "fxt.h"
#include "lib/array.h"

/* Processes; the thread of CPU n has 1 + n more */
#define KOID_CPUS	0x80000000u
#define KOID_IDLE	0x80010000u
#define KOID_LOST	0x80020000u

enum { OBJECT_PROCESS = 1, OBJECT_THREAD = 2 };
enum { OBJECT_ARG_SHIFT = 40, EVENT_ARG_SHIFT = 20 };

static int compare(const void *a, const void *b)
{
	const struct fxt_thread *first = a, *second = b;

	return first->koid < second->koid ? -1 : first->koid > second->koid;
}

int fxt_threads_open(struct fxt_threads *threads, struct fxt_out *out,
		     const struct tb_cursor *cursor, uint32_t nr_cpus)
{
	threads->out = out;
	threads->cursor = cursor;
	threads->nr_cpus = nr_cpus;
	threads->cpus = calloc(nr_cpus, sizeof(*threads->cpus));
	threads->idles = calloc(nr_cpus, sizeof(*threads->idles));
	threads->losts = calloc(nr_cpus, sizeof(*threads->losts));
	threads->name_process = fxt_name(out, "process", 7);
	threads->name_cpus = fxt_name(out, "CPUs", 4);
	threads->name_idle = fxt_name(out, "idle", 4);
	threads->name_lost = fxt_name(out, "not recorded", 12);
	return threads->cpus && threads->idles && threads->losts ? 0 : -ENOMEM;
}

static void free_thread(void *at)
{
	struct fxt_thread *thread = at;

	if (!thread)
		return;
	free(thread->opens.list);
	free(thread);
}

void fxt_threads_close(struct fxt_threads *threads)
{
	uint32_t cpu;

	tdestroy(threads->tree, free_thread);
	for (cpu = 0; threads->cpus && cpu < threads->nr_cpus; cpu++)
		free_thread(threads->cpus[cpu]);
	for (cpu = 0; threads->idles && cpu < threads->nr_cpus; cpu++)
		free_thread(threads->idles[cpu]);
	for (cpu = 0; threads->losts && cpu < threads->nr_cpus; cpu++)
		free_thread(threads->losts[cpu]);
	free(threads->cpus);
	free(threads->idles);
	free(threads->losts);
}

/* ---- objects ---- */

static void write_process(struct fxt_out *out, uint64_t koid, struct fxt_name *name)
{
	uint64_t ref = fxt_ref(out, name);

	fxt_record(out, FXT_OBJECT, OBJECT_PROCESS << 16 | ref << 24, 0, OBJECT_ARG_SHIFT);
	fxt_word(out, koid);
	fxt_record_end(out, NULL);
}

static void write_thread(struct fxt_threads *threads, const struct fxt_thread *thread,
			 struct fxt_name *name)
{
	struct fxt_out *out = threads->out;
	uint64_t ref = fxt_ref(out, name);

	fxt_record(out, FXT_OBJECT, OBJECT_THREAD << 16 | ref << 24, 1, OBJECT_ARG_SHIFT);
	fxt_word(out, thread->koid);
	fxt_arg_koid(out, threads->name_process, thread->process);
	fxt_record_end(out, NULL);
}

static struct fxt_thread *find(struct fxt_threads *threads, uint32_t tid)
{
	struct fxt_thread wanted = { .koid = tid }, *thread, **found;

	if (threads->last && threads->last->koid == tid)
		return threads->last;
	found = tfind(&wanted, &threads->tree, compare);
	if (found)
		return threads->last = *found;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->koid = tid;
	if (!tsearch(thread, &threads->tree, compare)) {
		free(thread);
		return NULL;
	}
	return threads->last = thread;
}

/* Remove @thread from FXT's table of threads */
static void forget_slot(struct fxt_threads *threads, struct fxt_thread *thread)
{
	threads->slots[thread->slot] = NULL;
	thread->slot = 0;
}

static int write_objects(struct fxt_threads *threads, struct fxt_thread *thread, uint64_t process,
			 const char *comm)
{
	struct fxt_name *name = fxt_name(threads->out, comm, strlen(comm));
	struct fxt_thread *leader = thread;
	bool again = thread->named;

	if (thread->process != process && thread->slot)
		forget_slot(threads, thread);
	thread->process = process;
	thread->named = true;
	strncpy(thread->comm, comm, sizeof(thread->comm) - 1);
	if (process != thread->koid) {
		leader = find(threads, (uint32_t)process);
		if (!leader)
			return -ENOMEM;
	}
	/* the process has the name of its leader */
	if (!leader->process_named || (leader == thread && again)) {
		const struct tb_task *task = tb_cursor_task(threads->cursor,
							    (uint32_t)process);

		leader->process_named = true;
		write_process(threads->out, process,
			      task ? fxt_name(threads->out, task->comm, strlen(task->comm)) :
				     name);
	}
	write_thread(threads, thread, name);
	return 0;
}

static struct fxt_thread *get_thread(struct fxt_threads *threads, uint32_t tid, uint32_t pid)
{
	struct fxt_thread *thread = find(threads, tid);
	const struct tb_task *task;

	if (!thread || thread->named)
		return thread;
	task = tb_cursor_task(threads->cursor, tid);
	if (write_objects(threads, thread, task && task->tgid ? task->tgid : pid,
			  task ? task->comm : ""))
		return NULL;
	return thread;
}

static struct fxt_thread *get_cpu_thread(struct fxt_threads *threads, struct fxt_thread **at,
					 uint64_t process, uint32_t cpu, const char *name,
					 struct fxt_name *process_name, bool *process_named)
{
	struct fxt_thread *thread;
	char text[32];

	if (*at)
		return *at;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->process = process;
	thread->koid = process + 1 + cpu;
	if (!*process_named)
		write_process(threads->out, process, process_name);
	*process_named = true;
	write_thread(threads, thread, fxt_name(threads->out, text, (size_t)
					       snprintf(text, sizeof(text), name, cpu)));
	return *at = thread;
}

struct fxt_thread *fxt_thread_cpu(struct fxt_threads *threads, uint32_t cpu)
{
	return get_cpu_thread(threads, &threads->cpus[cpu], KOID_CPUS, cpu, "CPU %u",
			      threads->name_cpus, &threads->cpus_named);
}

struct fxt_thread *fxt_thread(struct fxt_threads *threads, uint32_t cpu, uint32_t tid)
{
	if (tid)
		return get_thread(threads, tid, tid);
	return get_cpu_thread(threads, &threads->idles[cpu], KOID_IDLE, cpu, "swapper/%u",
			      threads->name_idle, &threads->idles_named);
}

struct fxt_thread *fxt_thread_lost(struct fxt_threads *threads, uint32_t cpu)
{
	return get_cpu_thread(threads, &threads->losts[cpu], KOID_LOST, cpu, "not recorded, CPU %u",
			      threads->name_lost, &threads->losts_named);
}

struct fxt_thread *fxt_thread_of(struct fxt_threads *threads, uint32_t pid, uint32_t tid)
{
	return get_thread(threads, tid, pid);
}

int fxt_thread_renamed(struct fxt_threads *threads, const struct tb_task *task)
{
	struct fxt_thread *thread;

	if (!task->tid)
		return 0;
	thread = find(threads, task->tid);
	if (!thread)
		return -ENOMEM;
	if (thread->named && thread->process == (task->tgid ? task->tgid : task->tid) &&
	    !strcmp(thread->comm, task->comm))
		return 0;
	return write_objects(threads, thread, task->tgid ? task->tgid : task->tid, task->comm);
}

/* ---- events ---- */

static uint64_t slot_of(struct fxt_threads *threads, struct fxt_thread *thread)
{
	if (thread->slot)
		return thread->slot;
	/* 0 is for threads that are not in the table */
	threads->next_slot = threads->next_slot == 255 ? 1 : threads->next_slot + 1;
	if (threads->slots[threads->next_slot])
		threads->slots[threads->next_slot]->slot = 0;
	thread->slot = threads->next_slot;
	threads->slots[thread->slot] = thread;
	fxt_record(threads->out, FXT_THREAD, (uint64_t)thread->slot << 16, 0,
		   EVENT_ARG_SHIFT);
	fxt_word(threads->out, thread->process);
	fxt_word(threads->out, thread->koid);
	fxt_record_end(threads->out, NULL);
	return thread->slot;
}

void fxt_event(struct fxt_threads *threads, struct fxt_thread *thread,
	       enum fxt_event_type type, uint64_t ns, struct fxt_name *category,
	       struct fxt_name *name, uint32_t args)
{
	struct fxt_out *out = threads->out;
	uint64_t header = (uint64_t)type << 16 | slot_of(threads, thread) << 24 |
			  fxt_ref(out, category) << 32 | fxt_ref(out, name) << 48;

	fxt_record(out, FXT_EVENT, header, args, EVENT_ARG_SHIFT);
	fxt_word(out, ns);
}

/* ---- open slices ---- */

int fxt_push(struct fxt_opens *opens, const struct fxt_open *open)
{
	if (tb_array_grow(&opens->list, &opens->room, opens->count, sizeof(*open)))
		return -ENOMEM;
	opens->list[opens->count++] = *open;
	return 0;
}

uint32_t fxt_find(const struct fxt_opens *opens, enum fxt_open_kind kind, uint64_t id)
{
	uint32_t at = opens->count;

	while (at && !(opens->list[at - 1].kind == kind &&
		       (id == UINT64_MAX || opens->list[at - 1].id == id)))
		at--;
	return at;
}

void fxt_close_to(struct fxt_threads *threads, struct fxt_thread *thread,
		  uint32_t count, uint64_t ns, fxt_popped *popped, void *context)
{
	const struct fxt_open *open;

	while (thread->opens.count > count) {
		open = &thread->opens.list[--thread->opens.count];
		fxt_event(threads, thread, FXT_END, ns > open->ns ? ns : open->ns,
			  open->category, open->name, 0);
		fxt_record_end(threads->out, NULL);
		if (popped)
			popped(context, open);
	}
}
