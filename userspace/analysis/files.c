// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of open files by their numbers; see files.h.
 *
 * A number is forgotten when close() begins, and known when open() ends: in between another thread
 * may get it.  What was open before the recording is in files_at_start.c.  No number is known while
 * system calls are not recorded, or only some: a call may have changed it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "file_calls.h"
#include "file_names.h"
#include "files.h"
#include "files_at_start.h"
#include "map.h"
#include "roles.h"
#include "spans.h"
#include "lib/array.h"

#define NUMBERS_MAX 65536		/* of a process; higher numbers are not tracked */
#define ALL_NUMBERS_MAX (1u << 22)	/* of all processes: 32 MB */
#define COPIES_MAX (1u << 28)		/* numbers copied to children, in a whole recording */

/* @serial: of its last file, among all of the recording */
struct number {
	uint32_t name;			/* 0: not known */
	uint32_t closed_by_exec : 1, serial : 31;
};

/*
 * @forks: its threads in calls that make a process
 * @forker: such a thread, if it was the only one all the time; else 0
 */
struct process {
	struct number *numbers;
	uint32_t count;
	uint32_t forks, forker;
};

/* A thread in a system call, since @begin */
struct thread {
	uint64_t begin, args[3];
	enum file_call kind;
	uint32_t path, object;		/* numbers of names */
	uint32_t before, serial;	/* the socket, before it gets an address */
	bool     inside;
};

struct files {
	struct tb_trace *trace;
	unsigned int change;		/* next change of the selected events */
	bool whole_calls;		/* no rule kept system calls out */
	bool all_calls;			/* now all system calls are recorded */
	uint64_t calls_from, calls_to;	/* since when, and until when; CLOCK_MONOTONIC, ns */
	struct spans missing;		/* CLOCK_MONOTONIC; empty if the trace is followed */
	uint64_t last;			/* time of the last event, CLOCK_MONOTONIC */
	struct map processes, threads;
	struct map shared;		/* processes whose files others may close */
	size_t nr_numbers;		/* allocated, for all processes */
	uint32_t serial;
	size_t copied;
	struct file_names names;
	struct file_calls calls;
	struct files_at_start at_start;
	size_t nr_applied;		/* of @at_start */
};

/* ---- numbers ---- */

static struct process *process_of(struct files *files, uint32_t pid)
{
	void **slot = map_at(&files->processes, pid);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(struct process));
	return slot ? *slot : NULL;
}

static void free_process(void *pointer)
{
	struct process *process = pointer;

	free(process->numbers);
	free(process);
}

uint32_t files_of_number(const struct files *files, uint32_t pid, uint64_t number)
{
	const struct process *process = map_get(&files->processes, pid);

	number &= UINT32_MAX;
	return process && number < process->count ? process->numbers[number].name : 0;
}

static int set_name(struct files *files, uint32_t pid, uint64_t number, uint32_t name, bool by_exec)
{
	struct process *process = process_of(files, pid);
	uint32_t more;

	if (!process)
		return -ENOMEM;
	if (!files->all_calls || map_get(&files->shared, pid) || number >= NUMBERS_MAX ||
	    (!name && number >= process->count))
		return 0;
	if (number >= process->count) {
		more = (uint32_t)number + 16 - process->count;
		if (files->nr_numbers + more > ALL_NUMBERS_MAX)
			return 0;
		if (tb_array_reach(&process->numbers, &process->count, (uint32_t)number + 15,
				   sizeof(*process->numbers)))
			return -ENOMEM;
		files->nr_numbers += more;
	}
	process->numbers[number] = (struct number){ name, by_exec, ++files->serial };
	return 0;
}

static void forget_numbers(struct files *files, uint32_t pid, uint64_t first, uint64_t last,
			   bool by_exec)
{
	struct process *process = map_get(&files->processes, pid);
	uint64_t i;

	for (i = first & UINT32_MAX; process && i <= last && i < process->count; i++)
		if (!by_exec || process->numbers[i].closed_by_exec)
			process->numbers[i].name = 0;
}

/* The number of a file, if its name is known; else NULL */
static struct number *known_number(struct files *files, uint32_t pid, uint64_t number)
{
	struct process *process = map_get(&files->processes, pid);

	return files_of_number(files, pid, number) ? &process->numbers[number & UINT32_MAX] : NULL;
}

/* Rename the socket of @thread, unless another file has its number now */
static void rename_socket(struct files *files, uint32_t pid, const struct thread *thread,
			  uint32_t to)
{
	struct number *number = known_number(files, pid, thread->args[0]);

	if (number && number->serial == thread->serial)
		number->name = to;
}

static void set_by_exec(struct files *files, uint32_t pid, uint64_t first, uint64_t last,
			bool by_exec)
{
	struct process *process = map_get(&files->processes, pid);
	uint64_t i;

	for (i = first & UINT32_MAX; process && i <= last && i < process->count; i++)
		process->numbers[i].closed_by_exec = by_exec;
}

static int mark_shared(struct files *files, uint32_t pid)
{
	void **slot = map_at(&files->shared, pid);

	if (!slot)
		return -ENOMEM;
	*slot = files;
	forget_numbers(files, pid, 0, UINT64_MAX, false);
	return 0;
}

static void free_numbers(struct files *files, struct process *process)
{
	files->nr_numbers -= process->count;
	free(process->numbers);
	process->numbers = NULL;
	process->count = 0;
}

static int copy_numbers(struct files *files, uint32_t from, uint32_t to)
{
	struct process *child = process_of(files, to);
	const struct process *parent = map_get(&files->processes, from);
	struct number *numbers = NULL;

	if (!child)
		return -ENOMEM;
	/*
	 * Without room, the child's files are not known.  They are those of the process that is
	 * making a child: with CLONE_PARENT that is not the child's parent.
	 */
	if (parent && parent->forks && parent->count && parent != child &&
	    files->nr_numbers + parent->count <= ALL_NUMBERS_MAX &&
	    files->copied + parent->count <= COPIES_MAX) {
		numbers = malloc(parent->count * sizeof(*numbers));
		if (!numbers)
			return -ENOMEM;
		memcpy(numbers, parent->numbers, parent->count * sizeof(*numbers));
	}
	free_numbers(files, child);
	child->forks = child->forker = 0;
	child->numbers = numbers;
	child->count = numbers ? parent->count : 0;
	files->nr_numbers += child->count;
	files->copied += child->count;
	if (map_get(&files->shared, from))
		return mark_shared(files, to);
	map_remove(&files->shared, to);
	return 0;
}

/* The name of the files that poll() or select() waits for, see files_name(); 0: none is known */
static uint32_t polled_name(struct files *files, const struct tb_view *view, uint32_t pid)
{
	const struct tb_format_field *field = tb_format_field(view->format, "path");
	char text[NAME_BYTES - sizeof("of ")], numbers[NAME_BYTES], *number, *rest = numbers, *end;
	unsigned long value;
	const char *from, *name;
	size_t length, used = 0;
	bool known = false;

	if (!field || tb_field_str(view, field, &from, &length) || length >= sizeof(numbers))
		return 0;
	memcpy(numbers, from, length);
	numbers[length] = 0;
	while ((number = strsep(&rest, " ")) && used < sizeof(text)) {
		if (*number == '-')
			continue;		/* poll() ignores negative ones */
		value = strtoul(number, &end, 10);
		name = NULL;
		/* letters are the sets of select(); "..." says that there are more */
		if (end != number && value <= INT32_MAX && !end[strspn(end, "rwx")]) {
			*end = 0;
			name = files_plain(files_name(files, files_of_number(files, pid, value)));
			known |= name != NULL;
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 used ? ", " : "", name ? name : number);
	}
	if (used >= sizeof(text))
		strcpy(text + sizeof(text) - sizeof("..."), "...");
	return known ? file_names_join(&files->names, "of ", text, strlen(text)) : 0;
}

/* ---- system calls ---- */

static struct thread *thread_of(struct files *files, uint32_t tid)
{
	void **slot = map_at(&files->threads, tid);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(struct thread));
	return slot ? *slot : NULL;
}

static bool makes_process(const struct thread *thread)
{
	return thread->inside && thread->kind >= FORK && thread->kind <= CLONE;
}

static int begin_fork(struct files *files, uint32_t pid, uint32_t tid)
{
	struct process *process = process_of(files, pid);

	if (!process)
		return -ENOMEM;
	process->forker = process->forks++ ? 0 : tid;
	return 0;
}

static void end_fork(struct files *files, uint32_t pid, const struct thread *thread)
{
	struct process *process = makes_process(thread) ? map_get(&files->processes, pid) : NULL;

	if (process && process->forks)
		process->forks--;
}

/* Process @child begins, made by @parent: it is what the thread in vfork() waits for */
static void name_child(struct files *files, uint32_t parent, uint32_t child)
{
	const struct process *process = map_get(&files->processes, parent);
	struct thread *thread = process ? map_get(&files->threads, process->forker) : NULL;

	if (thread && thread->inside && thread->kind == VFORK && !thread->object)
		thread->object = file_names_process(&files->names, child, false);
}

static int begin_call(struct files *files, const struct tb_view *view, uint32_t pid, uint64_t ns)
{
	const struct tb_format_field *id = tb_format_field(view->format, "id");
	const struct tb_format_field *args = tb_format_field(view->format, "args");
	struct thread *thread = thread_of(files, view->tid);
	const struct number *socket;
	int64_t call;
	unsigned int i;

	if (!thread)
		return -ENOMEM;
	end_fork(files, pid, thread);
	*thread = (struct thread){ .begin = ns, .kind = OTHER };
	if (!id || !args || tb_field_s64(view, id, &call))
		return 0;
	thread->inside = true;
	thread->kind = file_call_of(&files->calls, call);
	for (i = 0; i < 3; i++)
		if (tb_field_item(view, args, i, &thread->args[i]))
			thread->args[i] = 0;
	if (thread->kind >= USES)
		thread->object = files_of_number(files, pid, thread->args[0]);
	else if (thread->kind == WAIT_ID && thread->args[0] == P_PIDFD)
		thread->object = files_of_number(files, pid, thread->args[1]);
	else
		thread->object = file_names_argument(&files->names, thread->kind, thread->args);
	switch (thread->kind) {
	case OPENS:
	case OPENS_AT:
	case OPENS_HOW:
		thread->path = thread->object = file_names_path(&files->names, view, "of ");
		break;
	case MEMFD:
		thread->path = file_names_path(&files->names, view, "of memory, ");
		break;
	case POLL:
		thread->object = polled_name(files, view, pid);
		break;
	case BINDS:
	case CONNECTS:
		thread->before = thread->object;
		socket = known_number(files, pid, thread->args[0]);
		thread->serial = socket ? socket->serial : 0;
		thread->object = file_names_address(&files->names, thread->before,
						    thread->kind == CONNECTS, view);
		break;
	case CLOSES:
		forget_numbers(files, pid, thread->args[0], thread->args[0], false);
		break;
	case CLOSES_RANGE:
		if (thread->args[2] & CLOSE_RANGE_CLOEXEC)
			set_by_exec(files, pid, thread->args[0], thread->args[1], true);
		else
			forget_numbers(files, pid, thread->args[0], thread->args[1], false);
		break;
	case CLONE:
		if (thread->args[0] & CLONE_VFORK)
			thread->kind = VFORK;
		if (thread->args[0] & CLONE_FILES && !(thread->args[0] & CLONE_THREAD) &&
		    mark_shared(files, pid))
			return -ENOMEM;
		return begin_fork(files, pid, view->tid);
	case FORK:
	case VFORK:
		return begin_fork(files, pid, view->tid);
	case EXEC:
	case OTHER:
		thread->object = file_names_path(&files->names, view, "of ");
		break;
	default:
		break;
	}
	return 0;
}

/* The name of the file that a call returned; @by_exec: exec closes it, or may do so */
static uint32_t name_of_result(struct files *files, const struct thread *thread, bool *by_exec)
{
	uint64_t flags = O_CLOEXEC;
	const char *before;
	uint32_t name = 0;

	switch (thread->kind) {
	case OPENS:
		flags = thread->args[1];
		name = thread->path;
		break;
	case OPENS_AT:
		flags = thread->args[2];
		name = thread->path;
		break;
	case OPENS_HOW:
	case MEMFD:
		name = thread->path;
		break;
	case SOCKET:
		flags = thread->args[1];
		name = file_names_socket(&files->names, thread->args);
		break;
	case EVENTFD:
		name = file_names_number(&files->names, "of an eventfd");
		break;
	case EPOLL:
		name = file_names_number(&files->names, "of an epoll");
		break;
	case TIMERFD:
		name = file_names_number(&files->names, "of a timerfd");
		break;
	case SIGNALFD:
		name = file_names_number(&files->names, "of a signalfd");
		break;
	case INOTIFY:
		name = file_names_number(&files->names, "of an inotify");
		break;
	case PIDFD:
		/* the kernel always sets O_CLOEXEC */
		name = file_names_process(&files->names, (int32_t)thread->args[0], false);
		break;
	case ACCEPTS:
		/* O_CLOEXEC may be in an argument that is not kept */
		before = files_name(files, thread->object);
		name = before ? file_names_join(&files->names, before, ", accepted", 10) : 0;
		break;
	case CONTROL:
		*by_exec = thread->args[1] == F_DUPFD_CLOEXEC;
		return thread->object;
	case DUP3:
		*by_exec = thread->args[2] & O_CLOEXEC;
		return thread->object;
	default:
		return thread->object;
	}
	*by_exec = flags & O_CLOEXEC;
	return name;
}

static int end_call(struct files *files, const struct tb_view *view, uint32_t pid)
{
	const struct tb_format_field *ret = tb_format_field(view->format, "ret");
	struct thread *thread = map_get(&files->threads, view->tid);
	bool by_exec = false;
	int64_t result;
	uint32_t name;

	if (!thread || !thread->inside)
		return 0;
	name = thread->object;
	end_fork(files, pid, thread);
	thread->inside = false;
	thread->object = 0;
	if (!ret || tb_field_s64(view, ret, &result) ||
	    (result < 0 && (result != -EINPROGRESS || thread->kind != CONNECTS)))
		return 0;
	switch (thread->kind) {
	case EXEC:
		forget_numbers(files, pid, 0, UINT64_MAX, true);
		return 0;
	case CONTROL:
		if (thread->args[1] == F_SETFD)
			set_by_exec(files, pid, thread->args[0], thread->args[0],
				    thread->args[2] & FD_CLOEXEC);
		if (thread->args[1] != F_DUPFD && thread->args[1] != F_DUPFD_CLOEXEC)
			return 0;
		break;
	case BINDS:
	case CONNECTS:
		rename_socket(files, pid, thread, name);
		return 0;
	case ACCEPTS:
		/* meanwhile the number may have got another socket */
		thread->object = name;
		break;
	case DUP2:
		/* of the same number: the call changes nothing */
		if (thread->args[0] == thread->args[1])
			return 0;
		break;
	default:
		if (!file_call_opens(thread->kind))
			return 0;
	}
	if (thread->kind != ACCEPTS)
		thread->object = files_of_number(files, pid, thread->args[0]);
	name = name_of_result(files, thread, &by_exec);
	thread->object = 0;
	return set_name(files, pid, (uint64_t)result, name, by_exec);
}

/* ---- events ---- */

/* Processes that share their files still do */
static void forget_all(struct files *files)
{
	map_free(&files->processes, free_process);
	map_free(&files->threads, free);
	files->nr_numbers = 0;
	memset(&files->processes, 0, sizeof(files->processes));
	memset(&files->threads, 0, sizeof(files->threads));
}

static int take_thread(struct files *files, const struct tb_view *view)
{
	struct process *process;
	struct tb_thread thread;

	if (view->length < sizeof(thread))
		return 0;
	memcpy(&thread, view->payload, sizeof(thread));
	if (thread.tid != thread.tgid)
		return 0;
	if (thread.flags & TB_THREAD_FORK) {
		name_child(files, thread.parent, thread.tgid);
		return copy_numbers(files, thread.parent, thread.tgid);
	}
	process = thread.flags & TB_THREAD_EXIT ? map_get(&files->processes, thread.tgid) : NULL;
	if (process)
		free_numbers(files, process);
	return 0;
}

/*
 * What is known from /proc by @ns, CLOCK_MONOTONIC.  If system calls were not recorded all the time
 * between now and the time at which the recorder looked, another file may have had the number.
 */
static int apply_at_start(struct files *files, uint64_t ns)
{
	const struct file_at_start *file;
	uint32_t name;
	int result = 0;

	while (!result && files->all_calls && files->nr_applied < files->at_start.count) {
		file = &files->at_start.list[files->nr_applied];
		if (file->from > ns)
			break;
		files->nr_applied++;
		if (file->begin < files->calls_from || file->end > files->calls_to)
			continue;
		name = file_names_join(&files->names, "of ", file->name, file->length);
		result = set_name(files, file->pid, file->number, name, file->by_exec);
	}
	return result;
}

/* True if no rule kept system calls out of the recording */
static bool has_whole_calls(const struct tb_trace *trace)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(trace, i)); i++)
		if (format->flags & TB_EVENT_SYSCALL && !is_whole(trace, format, true))
			return false;
	return true;
}

/* True if beginnings and ends of system calls are selected from change number @change on */
static bool selects_calls(const struct tb_trace *trace, unsigned int change)
{
	bool enter = false, exit = false;
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(trace, i)); i++) {
		if (!(format->flags & TB_EVENT_SYSCALL) ||
		    !tb_trace_selects(trace, change, format->id))
			continue;
		if (strcmp(format->name, "sys_enter"))
			exit = true;
		else
			enter = true;
	}
	return enter && exit;
}

/* The time of the first change, from number @change on, after which calls are not selected */
static uint64_t calls_end(const struct tb_trace *trace, unsigned int change)
{
	uint64_t ticks;

	for (; !tb_trace_selection(trace, change, &ticks); change++)
		if (!selects_calls(trace, change))
			return tb_trace_ns(trace, ticks, TB_TIME_MONOTONIC);
	return UINT64_MAX;
}

/* Take changes of the selected events up to @ticks */
static void take_changes(struct files *files, uint64_t ticks)
{
	uint64_t from;
	bool recorded;

	while (!tb_trace_selection(files->trace, files->change, &from) && from <= ticks) {
		recorded = files->whole_calls && selects_calls(files->trace, files->change);
		files->change++;
		if (recorded && !files->all_calls) {
			files->calls_from = tb_trace_ns(files->trace, from, TB_TIME_MONOTONIC);
			files->calls_to = calls_end(files->trace, files->change);
			files->nr_applied = 0;
		}
		if (!recorded)
			forget_all(files);
		files->all_calls = recorded;
	}
}

int files_reach(struct files *files, const struct tb_view *view)
{
	take_changes(files, view->ticks);
	/* a cursor shows a loss at the next block of its CPU, behind later events of other CPUs */
	if (files->missing.count && spans_meet(&files->missing, files->last, view->ns + 1))
		forget_all(files);
	files->last = view->ns;
	return apply_at_start(files, view->ns);
}

int files_take(struct files *files, const struct tb_view *view, uint64_t ns)
{
	int result = files_reach(files, view);

	if (result)
		return result;
	if (view->kind == TB_VIEW_LOST)
		forget_all(files);
	if (view->kind != TB_VIEW_EVENT)
		return 0;
	if (!view->format)
		return view->id == TB_EV_THREAD ? take_thread(files, view) : 0;
	if (!(view->format->flags & TB_EVENT_SYSCALL))
		return 0;
	/* files belong to a process: without it they are not known */
	if (!view->task || !view->task->tgid)
		return 0;
	return strcmp(view->format->name, "sys_enter") ?
	       end_call(files, view, view->task->tgid) :
	       begin_call(files, view, view->task->tgid, ns);
}

uint32_t files_of_call(const struct files *files, uint32_t tid, uint64_t begin)
{
	const struct thread *thread = map_get(&files->threads, tid);

	return thread && thread->begin == begin ? thread->object : 0;
}

const char *files_name(const struct files *files, uint32_t number)
{
	return file_names_text(&files->names, number);
}

struct files *files_open(struct tb_trace *trace)
{
	struct files *files = calloc(1, sizeof(*files));
	uint64_t ticks;

	if (!files)
		return NULL;
	files->calls.trace = files->trace = trace;
	files->whole_calls = has_whole_calls(trace);
	/* without changes all events are selected all the time */
	files->all_calls = files->whole_calls && tb_trace_selection(trace, 0, &ticks) &&
			   selects_calls(trace, 0);
	files->calls_to = UINT64_MAX;
	if (!spans_of_trace(&files->missing, trace, TB_TIME_MONOTONIC) &&
	    !files_at_start_read(&files->at_start, trace, &files->missing))
		return files;
	files_close(files);
	return NULL;
}

void files_close(struct files *files)
{
	if (!files)
		return;
	forget_all(files);
	map_free(&files->shared, NULL);
	spans_free(&files->missing);
	files_at_start_free(&files->at_start);
	file_names_free(&files->names);
	free(files);
}
