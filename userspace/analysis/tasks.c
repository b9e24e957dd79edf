// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks: their names, time on CPUs, and time off CPUs by state.
 *
 * After a task has exited, a new task with its number is another one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine.h"

#define UNKNOWN_NAME "<...>"

/* ---- identity ---- */

static void set_name(struct task *task, const char *comm)
{
	size_t length = strnlen(comm, sizeof(task->it.comm) - 1);

	memcpy(task->it.comm, comm, length);
	task->it.comm[length] = 0;
}

static struct task *make_task(struct analysis *a, uint32_t tid)
{
	struct task *task = listed_add(&a->tasks, sizeof(*task));
	const struct tb_task *known;

	if (!task)
		return NULL;
	task->it.tid = tid;
	task->it.tasks = 1;
	task->it.index = a->nr_tasks++;
	task->last_cpu = task->queued_on = NO_CPU;
	task->it.stuck_in = task->it.waiting_in = task->it.last_in = -1;
	set_name(task, UNKNOWN_NAME);
	known = a->cursor ? tb_cursor_task(a->cursor, tid) : NULL;
	if (known) {
		task->it.tgid = known->tgid;
		task->it.cgroup = known->cgroup;
		if (known->comm[0])
			set_name(task, known->comm);
	}
	return task;
}

struct task *task_of(struct analysis *a, uint32_t tid)
{
	struct task *task;
	void **slot;

	if (!tid)
		return NULL;
	slot = map_at(&a->threads, tid);
	task = slot ? *slot : NULL;
	if (slot && (!task || task->it.ended)) {
		/* make_task() does not use the map, so slot stays valid */
		task = make_task(a, tid);
		if (task)
			*slot = task;
	}
	if (!task)
		a->error = -ENOMEM;
	return task;
}

void tasks_free(struct analysis *a)
{
	struct task *task;
	size_t i;

	for (i = 0; i < a->tasks.count; i++) {
		task = a->tasks.list[i];
		free(task->it.series);
		free(task->it.instead);
		free(task->it.stuck_by);
		free(task->it.waiting_by);
	}
	map_free(&a->threads, NULL);
	map_free(&a->rest_of, NULL);
}

const struct analysis_task *analysis_task(const struct analysis *a, unsigned int index)
{
	const struct task *task = index < a->tasks.count ? a->tasks.list[index] : NULL;

	return task ? &task->it : NULL;
}

const struct analysis_task *analysis_task_of(const struct analysis *a, uint32_t tid)
{
	const struct task *task = map_get(&a->threads, tid);

	return task && !task->it.ended ? &task->it : NULL;
}

/* ---- over time ---- */

/* Most tasks of a long recording run in one bucket: an array for each would take most memory */
static int add_series(struct analysis *a, struct task *task, uint64_t begin, uint64_t end)
{
	unsigned int bucket;

	if (begin < a->axis.begin)
		begin = a->axis.begin;
	if (begin >= end)
		return 0;
	bucket = series_at(a, begin);
	if (!task->it.series && series_at(a, end - 1) == bucket &&
	    (!task->it.bucket_ns || task->it.bucket == bucket)) {
		task->it.bucket = bucket;
		task->it.bucket_ns += end - begin;
		return 0;
	}
	if (!task->it.series) {
		task->it.series = calloc(ANALYSIS_SERIES, sizeof(*task->it.series));
		if (!task->it.series)
			return -ENOMEM;
		task->it.series[task->it.bucket] = task->it.bucket_ns;
	}
	series_add(a, task->it.series, begin, end);
	return 0;
}

void task_fold(struct task *task)
{
	unsigned int i, used = 0;

	task->it.bucket /= 2;
	if (!task->it.series)
		return;
	series_fold(task->it.series);
	for (i = 0; i < ANALYSIS_SERIES && used < 2; i++) {
		if (!task->it.series[i])
			continue;
		used++;
		task->it.bucket = i;
		task->it.bucket_ns = task->it.series[i];
	}
	if (used < 2) {
		free(task->it.series);
		task->it.series = NULL;
	}
}

uint64_t analysis_task_series(const struct analysis_task *task, unsigned int bucket)
{
	if (task->series)
		return task->series[bucket];
	return bucket == task->bucket ? task->bucket_ns : 0;
}

/* ---- on a CPU ---- */

static void add_run(struct analysis *a, struct task *task, struct cpu_state *cpu,
		    uint64_t begin, uint64_t end)
{
	if (!task) {
		cpu->it.idle_ns += end - begin;
		return;
	}
	cpu->it.busy_ns += end - begin;
	series_add(a, cpu->it.busy, begin, end);
	task->it.run_ns += end - begin;
	known_share(a, cpu, task, end - begin);
	if (add_series(a, task, begin, end))
		a->error = -ENOMEM;
}

void tasks_run(struct analysis *a, const struct slice *slice)
{
	struct cpu_state *cpu = cpu_of(a, slice->cpu);
	uint64_t end = slice->end;
	struct task *task;

	if (!cpu)
		return;
	if (a->ending && end > cpu->known_until)
		end = cpu->known_until;
	if (end < slice->begin)
		end = slice->begin;
	known_run(a, cpu, slice->begin, end);
	if (a->total.end >= a->options.from && analysis_wants_cpu(a, slice->cpu))
		series_add(a, cpu->it.known, slice->begin, end);
	/* a gap that ends a run is shown late: the task may have ended since, on another CPU */
	task = slice->tid ? map_get(&a->threads, slice->tid) : NULL;
	if (!task || !task->it.ended || slice->begin >= task->off_at)
		task = task_of(a, slice->tid);
	cpu->history[cpu->past++ % ANALYSIS_HISTORY] =
		(struct run_interval){ task ? &task->it : NULL, NULL, slice->begin, end };
	if (analysis_wants(a, slice->cpu, slice->tid))
		add_run(a, task, cpu, slice->begin, end);
}

/* ---- off a CPU, with one end in the trace ---- */

static bool sleeps_by_wish(int64_t call)
{
	const char *name = call < 0 ? NULL : tb_syscall_name((uint64_t)call);

	/* compat_clock_nanosleep_time64 */
	return name && strstr(name, "nanosleep");
}

/* Add the time of @slice before the thread was woken */
static void add_off(struct task *task, const struct slice *slice, uint64_t ns)
{
	bool known = task->off && task->off_at == slice->begin;
	bool blocked = slice->has_result && slice->result & STATE_BLOCKED;
	int64_t call = known ? task->off_call : -1;

	if (!ns || (!blocked && sleeps_by_wish(call)))
		return;
	if (slice->before) {
		task->it.before_slept += ns;
		task->before_at = slice->begin;
		task->before_ns = ns;
	} else {
		*(blocked ? &task->it.last_stuck : &task->it.last_slept) += ns;
		task->it.last_in = call;
	}
}

/* True if no CPU can have run the thread since it left one, and no wake-up is missing */
static bool is_last(const struct analysis *a, const struct slice *slice, bool runnable)
{
	return a->missing.all_cpus && slices_all_switches(a->slices, slice->begin) &&
	       (runnable || slice->begin >= a->wakes_from);
}

void tasks_off(struct analysis *a, const struct slice *slice)
{
	bool last = slice->doubt == SLICE_UNENDED;
	bool runnable = slice->has_result && !(slice->result & STATE_RUNNABLE_MASK);
	uint64_t begin = slice->begin > a->options.from ? slice->begin : a->options.from;
	uint64_t woken = runnable ? begin : slice->end - (slice->has_waited ? slice->waited : 0);
	struct task *task;

	/* before the end of the trace, one without an end is of a thread that has run unseen */
	if (!(last ? a->ending && is_last(a, slice, runnable) : slice->before) ||
	    slice->end <= begin)
		return;
	task = task_of(a, slice->tid);
	if (!task || !analysis_wants(a, last ? task->last_cpu : slice->cpu, slice->tid))
		return;
	if (woken < begin)
		woken = begin;
	add_off(task, slice, woken - begin);
	if (last)
		task->it.last_waited += slice->end - woken;
	else if (!slice->has_waited)	/* otherwise waits_woken() has it */
		task->it.before_waited += slice->end - woken;
}

void tasks_call_before(struct analysis *a, const struct slice *slice)
{
	struct task *task = map_get(&a->threads, slice->tid);

	if (!task || !task->before_ns || task->before_at != slice->begin ||
	    !sleeps_by_wish(slice->number))
		return;
	task->it.before_slept -= task->before_ns;
	task->before_ns = 0;
}

/* ---- switches ---- */

static void leave_cpu(struct analysis *a, const struct tb_view *view, struct task *task,
		      bool has_state, int64_t state)
{
	bool wanted = analysis_wants(a, view->cpu, task->it.tid);

	if (view->tid == task->it.tid) {
		if (view->comm[0] != '<')
			set_name(task, view->comm);
		if (view->task && view->task->tgid)
			task->it.tgid = view->task->tgid;
		if (view->task && view->task->cgroup)
			task->it.cgroup = view->task->cgroup;
	}
	task->last_cpu = view->cpu;
	task->off = has_state && slices_sees(a->slices, task->it.tid);
	task->off_at = view->ns;
	task->off_state = state;
	task->off_call = a->all_calls ? slices_call(a->slices, task->it.tid, view->ns) : -1;
	task->off_losses = a->total.losses;
	if (!has_state)
		return;
	task->it.preempted += wanted && !(state & STATE_RUNNABLE_MASK);
	task->it.ended = state & STATE_DEAD;
	a->ended += task->it.ended;
}

/* The task was blocked or slept during @wait: add the time until the wake-up, or all of it */
static void end_sleep(struct analysis *a, struct task *task, const struct analysis_wait *wait)
{
	bool blocked = wait->state & STATE_BLOCKED;
	struct analysis_stat *stat = blocked ? &task->it.stuck : &task->it.waiting;
	int64_t *call = blocked ? &task->it.stuck_in : &task->it.waiting_in;
	uint64_t until = wait->woken ? wait->woken_at : wait->end;
	uint64_t ns = until > wait->begin ? until - wait->begin : 0;

	if (!blocked && sleeps_by_wish(wait->call))
		return;
	stat_add(stat, ns);
	if (stat->max == ns)
		*call = wait->call;
	waits_ended_by(a, wait, ns, stat->sum,
		       blocked ? &task->it.stuck_by : &task->it.waiting_by);
}

/* The task was off a CPU until now, and in the queue of this one since @queued; @unseen: but has
 * run in between */
static void end_off(struct analysis *a, const struct tb_view *view, struct task *task,
		    uint64_t queued, bool unseen)
{
	bool runnable = !(task->off_state & STATE_RUNNABLE_MASK);
	bool blocked = task->off_state & STATE_BLOCKED;
	struct analysis_stat *stat = runnable ? &task->it.runnable :
				     blocked ? &task->it.blocked : &task->it.sleeping;
	struct analysis_wait wait = {
		.task = &task->it, .begin = task->off_at, .end = view->ns,
		.cpu = view->cpu, .before = task->last_cpu, .state = task->off_state,
		.call = task->off_call,
	};

	if (unseen || losses_since(a, task->off_losses, wait.begin, wait.end) ||
	    spans_meet(&a->known.unselected, wait.begin, wait.end)) {
		stat->uncertain++;
		return;
	}
	stat_add(stat, wait.end - wait.begin);
	if (!runnable && a->woken.tid == task->it.tid && a->woken.end == view->ns)
		waits_note_waker(&wait, &a->woken);
	if (runnable)
		waits_for_cpu(a, task, &wait, queued);
	else
		end_sleep(a, task, &wait);
	waits_worst(a, runnable ? ANALYSIS_WORST_RUNNABLE :
		    blocked ? ANALYSIS_WORST_BLOCKED : ANALYSIS_WORST_SLEEPING, &wait);
}

static void enter_cpu(struct analysis *a, const struct tb_view *view, struct task *task,
		      uint64_t queued)
{
	const struct slice *run = slices_running(a->slices, view->cpu);

	if (analysis_wants(a, view->cpu, task->it.tid)) {
		task->it.runs++;
		task->it.migrations += task->last_cpu != NO_CPU && task->last_cpu != view->cpu;
		if (task->off)
			end_off(a, view, task, queued, run && run->unseen);
		if (run && run->wait_lost) {
			task->it.wait.uncertain++;
			a->latency_stat.uncertain++;
		}
	}
	task->off = false;
	task->last_cpu = view->cpu;
}

int tasks_switch(struct analysis *a, const struct tb_view *view, const struct plan *plan)
{
	uint64_t queued = UINT64_MAX;
	struct task *prev, *next;
	bool has_prev, has_next, has_state;
	int64_t from, to, state;

	from = plan_number(view, plan->fields[SWITCH_PREV], &has_prev);
	to = plan_number(view, plan->fields[SWITCH_NEXT], &has_next);
	state = plan_number(view, plan->fields[SWITCH_STATE], &has_state);
	prev = has_prev ? task_of(a, (uint32_t)from) : NULL;
	next = has_next ? task_of(a, (uint32_t)to) : NULL;
	if (a->error)
		return a->error;
	if (next)
		queued = queued_since(a, next, view->cpu);
	queue_switch(a, prev, next, has_state && !(state & STATE_RUNNABLE_MASK), view->cpu,
		     view->ns);
	if (prev)
		leave_cpu(a, view, prev, has_state, state);
	if (next)
		enter_cpu(a, view, next, queued);
	if (has_next)
		a->cpus[view->cpu]->current = (uint32_t)to;
	if (a->options.ended && a->ended > a->ended_limit && ended_remove(a))
		a->error = -ENOMEM;
	return a->error;
}
