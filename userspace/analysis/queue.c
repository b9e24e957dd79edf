// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run queues: the tasks that wait for each CPU, because they were woken or preempted.
 *
 * A task that has waited since before the first event or a loss is not known to wait: depths are
 * lower limits.  While events of any CPU are missing, or switches are not selected, a task that
 * waits may run.  For a file known.hidden has these spans; then the queues are empty, and the depth
 * is unknown.  So tasks wait only while the depth is known.
 */
#include "engine.h"

/* The depth has been the same since the last change: update the maximum over time */
static void note_depth(struct analysis *a, struct cpu_state *cpu, uint64_t ns)
{
	unsigned int at = series_at(a, cpu->depth_since), end = series_at(a, ns);

	for (; cpu->it.depth && at <= end; at++)
		if (cpu->it.depth > cpu->it.deepest[at])
			cpu->it.deepest[at] = cpu->it.depth;
	cpu->depth_since = ns;
}

static void enqueue(struct analysis *a, struct task *task, uint32_t on, uint64_t ns)
{
	struct cpu_state *cpu = cpu_of(a, on);

	if (!cpu)
		return;
	cpu->queue_changed_at = ns;
	task->queued_on = on;
	task->queued_at = ns;
	task->moved = false;
	task->queue_prev = NULL;
	task->queue_next = cpu->queue;
	if (cpu->queue)
		cpu->queue->queue_prev = task;
	cpu->queue = task;
	note_depth(a, cpu, ns);
	if (!cpu->it.depth++)
		cpu->deep_since = ns;
	if (cpu->it.depth > cpu->it.depth_max)
		cpu->it.depth_max = cpu->it.depth;
	note_depth(a, cpu, ns);
}

/* @counts: the task has waited until @ns */
static void dequeue(struct analysis *a, struct task *task, uint64_t ns, bool counts)
{
	struct cpu_state *cpu = cpu_of(a, task->queued_on);

	if (!cpu)
		return;
	if (task->queue_prev)
		task->queue_prev->queue_next = task->queue_next;
	else
		cpu->queue = task->queue_next;
	if (task->queue_next)
		task->queue_next->queue_prev = task->queue_prev;
	if (ns > cpu->queue_changed_at)
		cpu->queue_changed_at = ns;
	if (counts && ns > task->queued_at) {
		cpu->it.waiting_ns += ns - task->queued_at;
		series_add(a, cpu->it.waiting, task->queued_at, ns);
	}
	task->queued_on = NO_CPU;
	note_depth(a, cpu, ns);
	if (!--cpu->it.depth && ns > cpu->deep_since)
		cpu->it.deep_ns += ns - cpu->deep_since;
}

/* True if the task is running there: then it was woken before it went to sleep */
static bool is_running(const struct analysis *a, uint32_t cpu, uint32_t tid)
{
	return cpu < a->nr_cpus && a->cpus[cpu] && a->cpus[cpu]->has_current &&
	       a->cpus[cpu]->current == tid;
}

/* Remove all tasks; they have waited until @ns */
static void empty_queue(struct analysis *a, struct cpu_state *cpu, uint64_t ns)
{
	while (cpu->queue)
		dequeue(a, cpu->queue, ns, true);
}

static void empty_all(struct analysis *a, uint64_t ns)
{
	unsigned int i;

	for (i = 0; i < a->nr_cpus; i++)
		if (a->cpus[i])
			empty_queue(a, a->cpus[i], ns);
}

/* True if switches may be missing at @ns; empties all queues at the start of such a span */
static bool is_blind(struct analysis *a, uint64_t ns)
{
	const struct span *span;

	for (; a->hidden_at < a->known.hidden.count; a->hidden_at++) {
		span = &a->known.hidden.list[a->hidden_at];
		if (ns <= span->first)
			break;
		if (!a->blind)
			empty_all(a, span->first);
		a->blind = ns < span->last;
		if (a->blind)
			break;
	}
	return a->blind;
}

int queue_take(struct analysis *a, const struct tb_view *view, const struct plan *plan)
{
	bool has_tid, has_cpu;
	int64_t tid, cpu;
	struct task *task;

	tid = plan_number(view, plan->fields[WAKE_PID], &has_tid);
	cpu = plan_number(view, plan->fields[WAKE_CPU], &has_cpu);
	/* ignore CPUs that are not recorded, because they have no switches */
	if (is_blind(a, view->ns) || !has_tid || !tid || !has_cpu || cpu < 0 ||
	    cpu >= tb_trace_nr_cpus(a->trace))
		return 0;
	task = task_of(a, (uint32_t)tid);
	if (!task)
		return a->error;
	if (plan->role == ROLE_MIGRATE) {
		if (task->queued_on == NO_CPU || task->queued_on == cpu)
			return 0;
		dequeue(a, task, view->ns, true);
		enqueue(a, task, (uint32_t)cpu, view->ns);
		task->moved = true;
	} else if (task->queued_on == NO_CPU && !is_running(a, (uint32_t)cpu, (uint32_t)tid)) {
		enqueue(a, task, (uint32_t)cpu, view->ns);
	}
	return 0;
}

void queue_switch(struct analysis *a, struct task *prev, struct task *next, bool runnable,
		  uint32_t cpu, uint64_t ns)
{
	if (is_blind(a, ns))
		return;
	/* it must have run before, unseen: so it has not waited until now */
	if (prev && prev->queued_on != NO_CPU)
		dequeue(a, prev, ns, false);
	if (next && next->queued_on != NO_CPU)
		dequeue(a, next, ns, true);
	if (prev && runnable)
		enqueue(a, prev, cpu, ns);
}

void queue_lost(struct analysis *a, struct cpu_state *cpu, uint64_t since)
{
	cpu->has_current = false;
	if (!a->options.whole)
		empty_all(a, since);
}

/* Add up the time before @until in which the depth was known */
static void sum_known(const struct analysis *a, struct analysis_cpu *it, uint64_t until)
{
	uint64_t from = a->total.begin, to = a->axis.begin;
	unsigned int i;

	for (i = 0; i < a->axis.count && from < until; i++, from = to) {
		to += a->axis.width;
		to = to < until ? to : until;
		it->depth_known[i] = spans_outside(&a->known.hidden, from, to);
		it->known_ns += it->depth_known[i];
	}
}

void queue_end(struct analysis *a)
{
	struct cpu_state *cpu;
	uint64_t until;
	unsigned int i;

	is_blind(a, a->total.end);
	for (i = 0; i < a->nr_cpus; i++) {
		cpu = a->cpus[i];
		if (!cpu)
			continue;
		until = cpu->known_until;
		/* events of other CPUs have changed this queue until then */
		if (until < a->total.end && until < cpu->queue_changed_at)
			until = cpu->queue_changed_at;
		empty_queue(a, cpu, until);
		sum_known(a, &cpu->it, until);
	}
}
