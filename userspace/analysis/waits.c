// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits: from wake-ups to running, what ran instead, what caused most of a task's waits, and the
 * worst cases of all kinds of waiting.
 *
 * The worst cases are a heap with the shortest on top, which a longer one replaces.  In a long
 * trace nearly every case is shorter than the top, and costs one comparison.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine.h"

#define WAITS_SHORT 1000000	/* ns; most tasks wait less, and need no memory for causes */

/* ---- worst cases ---- */

static uint64_t length_of(const struct analysis_wait *wait)
{
	return wait->end - wait->begin;
}

/* True if @a is less bad than @b: shorter, or as long but later */
static bool is_less(const struct analysis_wait *a, const struct analysis_wait *b)
{
	if (length_of(a) != length_of(b))
		return length_of(a) < length_of(b);
	return a->begin > b->begin;
}

static void exchange(struct analysis_wait *a, struct analysis_wait *b)
{
	struct analysis_wait spare = *a;

	*a = *b;
	*b = spare;
}

static void sift_down(struct worst *worst)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < worst->count) {
		if (child + 1 < worst->count &&
		    is_less(&worst->list[child + 1], &worst->list[child]))
			child++;
		if (!is_less(&worst->list[child], &worst->list[i]))
			break;
		exchange(&worst->list[child], &worst->list[i]);
		i = child;
	}
}

static void sift_up(struct worst *worst)
{
	size_t i = worst->count - 1;

	while (i && is_less(&worst->list[i], &worst->list[(i - 1) / 2])) {
		exchange(&worst->list[i], &worst->list[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static int compare(const void *a, const void *b)
{
	return is_less(b, a) ? -1 : is_less(a, b);
}

const struct analysis_wait *analysis_worst(struct analysis *a, enum analysis_worst kind,
					   unsigned int index)
{
	struct worst *worst = &a->worst[kind];

	if (!worst->sorted)
		qsort(worst->list, worst->count, sizeof(*worst->list), compare);
	worst->sorted = true;
	return index < worst->count ? &worst->list[index] : NULL;
}

/* True if @wait belongs to the worst cases */
static bool is_among_worst(struct analysis *a, const struct worst *worst,
			   const struct analysis_wait *wait)
{
	const struct analysis_wait *least = worst->sorted && worst->count ?
					    &worst->list[worst->count - 1] : worst->list;

	return worst->count < a->options.worst || is_less(least, wait);
}

static void keep_wait(struct analysis *a, struct worst *worst, const struct analysis_wait *wait)
{
	size_t i;

	if (worst->sorted) {
		/* sorted by analysis_worst(): the reverse order is a heap */
		for (i = 0; i < worst->count / 2; i++)
			exchange(&worst->list[i], &worst->list[worst->count - 1 - i]);
		worst->sorted = false;
	}
	if (worst->count < a->options.worst) {
		worst->list[worst->count++] = *wait;
		sift_up(worst);
	} else {
		worst->list[0] = *wait;
		sift_down(worst);
	}
}

void waits_worst(struct analysis *a, enum analysis_worst kind, const struct analysis_wait *wait)
{
	if (is_among_worst(a, &a->worst[kind], wait))
		keep_wait(a, &a->worst[kind], wait);
}

/* ---- what ran instead ---- */

struct shares {
	size_t count;
	struct {
		const struct analysis_task *task;
		const struct analysis_handler *handler;
		uint64_t ns;
	} list[ANALYSIS_HISTORY];
};

static void add_share(struct shares *shares, const struct run_interval *past, uint64_t ns)
{
	size_t i;

	for (i = 0; i < shares->count && (shares->list[i].task != past->task ||
					  shares->list[i].handler != past->handler); i++)
		;
	if (i == shares->count) {
		shares->list[shares->count].task = past->task;
		shares->list[shares->count].handler = past->handler;
		shares->list[shares->count++].ns = 0;
	}
	shares->list[i].ns += ns;
}

/* Move the longest shares to @wait, as many as it has room for */
static void move_longest(struct analysis_wait *wait, struct shares *shares)
{
	size_t i, longest;

	while (shares->count) {
		for (i = 1, longest = 0; i < shares->count; i++)
			if (shares->list[i].ns > shares->list[longest].ns)
				longest = i;
		if (wait->nr_instead == ANALYSIS_INSTEAD) {
			wait->others_ns += shares->list[longest].ns;
		} else {
			wait->instead[wait->nr_instead].task = shares->list[longest].task;
			wait->instead[wait->nr_instead].handler = shares->list[longest].handler;
			wait->instead[wait->nr_instead++].ns = shares->list[longest].ns;
		}
		/* memmove() keeps the order, so of equal shares the first comes first */
		memmove(&shares->list[longest], &shares->list[longest + 1],
			(--shares->count - longest) * sizeof(shares->list[0]));
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t overlap(const struct run_interval *past, const struct analysis_wait *wait)
{
	uint64_t from = past->begin > wait->begin ? past->begin : wait->begin;
	uint64_t to = least(past->end, wait->end);

	return to > from ? to - from : 0;
}

/* The first run in the history that ended after @begin, or the oldest */
static uint64_t first_after(const struct cpu_state *cpu, uint64_t begin)
{
	uint64_t oldest = cpu->past > ANALYSIS_HISTORY ? cpu->past - ANALYSIS_HISTORY : 0;
	uint64_t i = cpu->past;

	while (i > oldest && cpu->history[(i - 1) % ANALYSIS_HISTORY].end > begin)
		i--;
	return i;
}

/*
 * The history of a CPU is in the order of ends, so an interrupt comes before what it interrupted.
 * @open has runs that are not known to be contained in another one.  A run contains the open ones
 * that begin no earlier: their time is not its own.  Return: how long the CPU was idle for at least
 * QUOTA_NS at a time, ns.
 */
static uint64_t find_instead(const struct cpu_state *cpu, struct analysis_wait *wait)
{
	uint64_t i, own, long_idle = 0;
	bool idle;
	const struct run_interval *open[ANALYSIS_HISTORY], *past;
	struct shares shares = { .count = 0 };
	size_t nr_open = 0;

	wait->unknown_ns = length_of(wait);
	for (i = first_after(cpu, wait->begin); i < cpu->past; i++) {
		past = &cpu->history[i % ANALYSIS_HISTORY];
		own = overlap(past, wait);
		idle = !past->task && !past->handler && own >= QUOTA_NS;
		while (nr_open && open[nr_open - 1]->begin >= past->begin)
			own -= least(own, overlap(open[--nr_open], wait));
		open[nr_open++] = past;
		if (!own)
			continue;
		add_share(&shares, past, own);
		long_idle += idle ? own : 0;
		wait->unknown_ns -= least(wait->unknown_ns, own);
	}
	move_longest(wait, &shares);
	return long_idle;
}

/* ---- causes ---- */

/* The same handler or thread, or a thread of the same name? */
static bool is_same(const struct analysis_cause *a, const struct analysis_cause *b)
{
	if (a->kind != b->kind || a->handler != b->handler)
		return false;
	return a->kind != ANALYSIS_BY_THREAD ||
	       (a->tid && a->tid == b->tid && a->index == b->index) ||
	       (b->comm[0] && b->comm[0] != '<' && !strcmp(a->comm, b->comm));
}

/*
 * Add time to a cause in @list.  If there is no room, @new replaces the least cause, whose time
 * counts as the doubt of @new: so each cause of more than a sixth of the time is in the list.
 * Source: Metwally, Agrawal, El Abbadi: Efficient computation of frequent and top-k elements in
 * data streams, 2005 ("Space-Saving").
 */
static void add_cause(struct analysis_cause *list, const struct analysis_cause *new)
{
	struct analysis_cause *least = list, *cause;
	uint64_t doubt;

	for (cause = list; cause < list + ANALYSIS_CAUSES; cause++) {
		if (cause->ns && is_same(cause, new)) {
			if (cause->tid != new->tid)
				cause->tid = 0;
			cause->index = new->index;
			memcpy(cause->comm, new->comm, sizeof(cause->comm));
			cause->ns += new->ns;
			return;
		}
		if (cause->ns < least->ns)
			least = cause;
	}
	doubt = least->ns;
	*least = *new;
	least->ns += doubt;
	least->doubt = doubt;
}

/* Return true, and make room in @list, if a task has waited @waited ns, and that is not short */
static bool wants_causes(struct analysis *a, uint64_t waited, struct analysis_cause **list)
{
	if (waited < WAITS_SHORT)
		return false;
	if (!*list) {
		*list = calloc(ANALYSIS_CAUSES, sizeof(**list));
		a->error = *list ? a->error : -ENOMEM;
	}
	return *list;
}

/* True if a cgroup's quota explains that a CPU is idle while @task waits.  "why" guesses so, too */
static bool has_quota(const struct analysis *a, const struct task *task)
{
	return task->it.cgroup && tb_trace_string(a->trace, TB_STRING_QUOTA, task->it.cgroup);
}

void waits_for_cpu(struct analysis *a, struct task *task, const struct analysis_wait *wait,
		   uint64_t since)
{
	struct analysis_wait there = { .begin = wait->begin, .end = wait->end, .cpu = wait->cpu };
	struct analysis_cause quota = { .kind = ANALYSIS_BY_QUOTA };
	unsigned int i;

	if (there.begin < since)
		there.begin = since;
	if (there.begin >= there.end ||
	    !wants_causes(a, analysis_waited(&task->it), &task->it.instead))
		return;
	quota.ns = find_instead(a->cpus[wait->cpu], &there);
	if (!has_quota(a, task))
		quota.ns = 0;
	if (quota.ns)
		add_cause(task->it.instead, &quota);
	for (i = 0; i < there.nr_instead; i++) {
		struct analysis_cause cause = {
			.kind = ANALYSIS_BY_IDLE,
			.handler = there.instead[i].handler, .ns = there.instead[i].ns,
		};

		if (cause.handler) {
			cause.kind = cause.handler->kind == ANALYSIS_IRQS ? ANALYSIS_BY_IRQ :
									    ANALYSIS_BY_SOFTIRQ;
		} else if (there.instead[i].task) {
			cause.kind = ANALYSIS_BY_THREAD;
			cause.tid = there.instead[i].task->tid;
			cause.index = there.instead[i].task->index;
			memcpy(cause.comm, there.instead[i].task->comm, sizeof(cause.comm));
		} else {
			cause.ns -= quota.ns;
		}
		if (cause.ns)
			add_cause(task->it.instead, &cause);
	}
}

void waits_ended_by(struct analysis *a, const struct analysis_wait *wait, uint64_t ns,
		    uint64_t waited, struct analysis_cause **list)
{
	struct analysis_cause cause = { .kind = ANALYSIS_BY_THREAD, .ns = ns };
	const struct analysis_task *waker;

	if (!ns || !wait->woken || (!wait->waker && wait->context == ANALYSIS_FROM_TASK) ||
	    !wants_causes(a, waited, list))
		return;
	if (wait->context == ANALYSIS_FROM_SOFTIRQ) {
		cause.kind = ANALYSIS_BY_SOFTIRQ;
	} else if (wait->context != ANALYSIS_FROM_TASK) {
		cause.kind = ANALYSIS_BY_IRQ;
	} else {
		waker = analysis_task_of(a, wait->waker);
		cause.tid = wait->waker;
		cause.index = waker ? waker->index : UINT32_MAX;
		memcpy(cause.comm, wait->comm, sizeof(cause.comm));
	}
	add_cause(*list, &cause);
}

/* ---- wake-ups ---- */

static enum analysis_context context_of(const struct slice *wakeup)
{
	if (wakeup->context & TB_CONTEXT_NMI)
		return ANALYSIS_FROM_NMI;
	if (wakeup->context & TB_CONTEXT_HARDIRQ)
		return ANALYSIS_FROM_IRQ;
	return wakeup->context & TB_CONTEXT_SOFTIRQ ? ANALYSIS_FROM_SOFTIRQ :
						      ANALYSIS_FROM_TASK;
}

void waits_note_waker(struct analysis_wait *wait, const struct slice *wakeup)
{
	wait->woken = true;
	wait->woken_at = wakeup->begin;
	wait->waker = (uint32_t)wakeup->number;
	memcpy(wait->comm, wakeup->waker_comm, sizeof(wait->comm));
	wait->context = context_of(wakeup);
}

void waits_woken(struct analysis *a, const struct slice *slice)
{
	struct task *task = task_of(a, slice->tid);
	struct cpu_state *cpu = cpu_of(a, slice->cpu);
	struct analysis_wait wait = {
		.begin = slice->begin, .end = slice->end, .cpu = slice->cpu,
	};

	uint64_t begin;

	a->woken = *slice;
	if (!task || !cpu || !analysis_wants(a, slice->cpu, slice->tid))
		return;
	/* it may have been woken before it had left the CPU */
	if (task->off && wait.begin < task->off_at)
		wait.begin = task->off_at;
	begin = wait.begin;
	wait.task = &task->it;
	wait.before = task->last_cpu == NO_CPU ? slice->cpu : task->last_cpu;
	wait.state = task->off ? task->off_state : 0;
	stat_add(&task->it.wait, length_of(&wait));
	stat_add(&a->latency_stat, length_of(&wait));
	histogram_add(&a->latency, length_of(&wait));
	if (task->moved && task->queued_on == wait.cpu && task->queued_at > wait.begin)
		wait.moved_at = task->queued_at;
	waits_for_cpu(a, task, &wait, queued_since(a, task, slice->cpu));
	if (!is_among_worst(a, &a->worst[ANALYSIS_WORST_WAKEUP], &wait))
		return;
	waits_note_waker(&wait, slice);
	/* before, another CPU had it in its queue */
	if (wait.moved_at)
		wait.begin = wait.moved_at;
	wait.quota = find_instead(cpu, &wait) && has_quota(a, task);
	wait.begin = begin;
	keep_wait(a, &a->worst[ANALYSIS_WORST_WAKEUP], &wait);
}

const struct analysis_histogram *analysis_latency(const struct analysis *a)
{
	return &a->latency;
}

const struct analysis_stat *analysis_latency_stat(const struct analysis *a)
{
	return &a->latency_stat;
}
