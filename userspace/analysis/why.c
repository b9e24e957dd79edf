// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of a thread went, and why; see why.h.
 *
 * divide() divides the stretches of one thread in an interval.  A stretch in which the thread was
 * runnable is divided by what was on the CPU in whose queue it was.  A stretch in which it was
 * blocked is an interval of the thread that woke it, and is divided in the same way, because that
 * thread may have been blocked, too.  Intervals only get shorter, and threads that wait for each
 * other in a circle do not wake each other, so the recursion ends.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "files.h"
#include "map.h"
#include "slices.h"
#include "why_lines.h"
#include "lib/array.h"
#include "lib/bisect.h"

#ifndef WHY_NODES
#define WHY_NODES (1u << 20)		/* 100 to 200 MB; fewer in tests */
#endif

#define NONE ((int64_t)-1)

/**
 * struct why - the lines of @trace, and the tree
 * @index: nodes by parent, cause and @who; 0: none
 * @from, @to: for why_span()
 * @stretch, @context: from why_watch(), or NULL
 */
struct why {
	const struct tb_trace *trace;
	struct why_lines lines;
	struct why_list nodes;
	struct map index;
	uint64_t from, to;
	why_stretch *stretch;
	void *context;
};

/* ---- the tree ---- */

static struct why_node *node_at(const struct why *why, uint32_t index)
{
	return (struct why_node *)why->nodes.at + index;
}

static bool is_node(const struct why *why, uint32_t i, uint32_t parent, enum why_cause cause,
		    int64_t who)
{
	const struct why_node *node = node_at(why, i);

	return node->parent == parent && node->cause == cause && node->who == who;
}

/*
 * Return the child of @parent for this cause; 0: no memory.  If the tree is full and has no such
 * child, return the child for WHY_DEEP: each node has one at most, so the tree stays below
 * 2 * WHY_NODES.
 */
static uint32_t child_of(struct why *why, uint32_t parent, enum why_cause cause, int64_t who)
{
	const int64_t parts[] = { parent, cause, who };
	uint64_t key = map_key(&why->index, parts, sizeof(parts));
	uint32_t i = (uint32_t)(uintptr_t)map_get(&why->index, key);
	void **slot;

	if (i && is_node(why, i, parent, cause, who))
		return i;
	/* another node has this key: search the children */
	for (i = i ? node_at(why, parent)->child : 0; i; i = node_at(why, i)->next)
		if (is_node(why, i, parent, cause, who))
			return i;
	if (why->nodes.count >= WHY_NODES && cause != WHY_DEEP)
		return child_of(why, parent, WHY_DEEP, NONE);
	slot = map_at(&why->index, key);
	if (!slot)
		return 0;
	if (tb_array_grow(&why->nodes.at, &why->nodes.room, why->nodes.count,
			  sizeof(struct why_node)))
		return 0;
	i = (uint32_t)why->nodes.count++;
	*node_at(why, i) = (struct why_node){
		.cause = cause, .who = who, .parent = parent, .next = node_at(why, parent)->child,
		.depth = node_at(why, parent)->depth + 1,
	};
	node_at(why, parent)->child = i;
	if (!*slot)
		*slot = (void *)(uintptr_t)i;
	return i;
}

static int add_stretch(struct why *why, uint32_t index, uint64_t from, uint64_t to)
{
	struct why_node *node = node_at(why, index);

	node->ns += to - from;
	node->count++;
	if (to - from > node->longest) {
		node->longest = to - from;
		node->longest_at = from;
	}
	return why->stretch ? why->stretch(why->context, index, from, to) : 0;
}

/* Add a stretch to *@child, the node below @parent with @cause and @who, as in struct why_node; the
 * caller divides it if divides() is true.  Return as why_add() */
static int add_child(struct why *why, uint32_t parent, enum why_cause cause, int64_t who,
		     uint64_t from, uint64_t to, uint32_t *child)
{
	*child = child_of(why, parent, cause, who);
	return *child ? add_stretch(why, *child, from, to) : -ENOMEM;
}

static bool divides(const struct why *why, uint32_t child)
{
	return node_at(why, child)->cause != WHY_DEEP;
}

static int add_leaf(struct why *why, uint32_t parent, enum why_cause cause, int64_t who,
		    uint64_t from, uint64_t to)
{
	uint32_t leaf;

	return from < to ? add_child(why, parent, cause, who, from, to, &leaf) : 0;
}

/* ---- CPUs ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Divide a stretch between @cause of @who and the interrupts on @cpu */
static int divide_interrupts(struct why *why, uint32_t parent, enum why_cause cause, int64_t who,
			     uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct why_list *list = cpu < why->lines.nr_cpus ? &why->lines.cpus[cpu].irqs : NULL;
	const struct why_irq_part *part = list ? list->at : NULL;
	size_t i = list ? why_first(list, sizeof(*part), from) : 0;
	int result = 0;

	for (; !result && list && i < list->count && part[i].begin < to; i++) {
		result = add_leaf(why, parent, cause, who, from, part[i].begin);
		if (!result)
			result = add_leaf(why, parent, part[i].cause,
					  part[i].cause == WHY_UNKNOWN ? NONE : part[i].who,
					  later(from, part[i].begin),
					  earlier(to, part[i].end));
		from = earlier(to, later(from, part[i].end));
	}
	return result ? result : add_leaf(why, parent, cause, who, from, to);
}

/* The CPU that a thread of @line waits for is idle for @idle ns; [@from, @to) is a part of that */
static int divide_idle(struct why *why, uint32_t parent, const struct why_line *line, uint32_t cpu,
		       uint64_t idle, uint64_t from, uint64_t to)
{
	bool quota = line->quota && idle >= QUOTA_NS;

	return divide_interrupts(why, parent, quota ? WHY_QUOTA : WHY_IDLE,
				 quota ? line->quota : NONE, cpu, from, to);
}

/* A thread of @line waits for @cpu in [@since, @until): divide a part of that by what ran there */
static int divide_cpu(struct why *why, uint32_t parent, const struct why_line *line, uint32_t cpu,
		      uint64_t since, uint64_t until, uint64_t from, uint64_t to)
{
	const struct why_list *list = cpu < why->lines.nr_cpus ? &why->lines.cpus[cpu].runs : NULL;
	const struct why_run *run = list ? list->at : NULL;
	size_t i = list ? why_first(list, sizeof(*run), from) : 0;
	uint64_t end;
	int result = 0;

	for (; !result && list && i < list->count && run[i].begin < to; i++) {
		result = divide_interrupts(why, parent, WHY_UNKNOWN, NONE, cpu, from, run[i].begin);
		from = later(from, run[i].begin);
		end = earlier(to, run[i].end);
		if (!result)
			result = run[i].other ?
				 divide_interrupts(why, parent, WHY_RUNS, run[i].other, cpu, from,
						   end) :
				 divide_idle(why, parent, line, cpu,
					     earlier(until, run[i].end) -
					     later(since, run[i].begin), from, end);
		from = end;
	}
	return result ? result :
	       divide_interrupts(why, parent, WHY_UNKNOWN, NONE, cpu, from, to);
}

/* Divide a part of the time that a thread of @line was runnable in @off: it waits for the CPU on
 * which it runs next, or for others first, if it was moved meanwhile */
static int divide_waits(struct why *why, uint32_t parent, const struct why_line *line,
			const struct why_off *off, uint64_t from, uint64_t to)
{
	const struct why_list *list = &line->queues;
	const struct why_run *queue = list->at;
	uint64_t since = why_off_wake(off), until;
	size_t i = why_first(list, sizeof(*queue), from);
	int result = 0;

	if (i)
		since = later(since, queue[i - 1].end);

	for (; !result && from < to && i < list->count && queue[i].end < off->end; i++) {
		until = queue[i].end;
		if (from < until)
			result = divide_cpu(why, parent, line, queue[i].other, since, until, from,
					    earlier(to, until));
		from = later(from, until);
		since = until;
	}
	if (result || from >= to)
		return result;
	return divide_cpu(why, parent, line, off->cpu, since, off->end, from, to);
}

/*
 * The interrupt that woke a thread; NULL: none that is known.  Some interrupts have no events (those
 * of the local timer, and from other CPUs): they do not pass for the softirq that they interrupt.
 */
static const struct why_irq_part *waking_interrupt(const struct why *why, const struct why_off *off)
{
	const struct why_list *list = off->waker_cpu < why->lines.nr_cpus ?
				      &why->lines.cpus[off->waker_cpu].irqs : NULL;
	const struct why_irq_part *part = list ? list->at : NULL;
	size_t i = list ? why_first(list, sizeof(*part), off->wake) : 0;

	if (!list || i == list->count || part[i].begin > off->wake || part[i].cause == WHY_UNKNOWN)
		return NULL;
	if (off->context && !(off->context & TB_CONTEXT_HARDIRQ) != (part[i].cause == WHY_SOFTIRQ))
		return NULL;
	return &part[i];
}

/* True if the waker sent the packet with which a softirq, on its CPU, woke the thread */
static bool waker_sends(const struct why *why, const struct why_off *off)
{
	const struct why_irq_part *part = off->waker ? waking_interrupt(why, off) : NULL;
	uint64_t made;

	/* a disk may be behind the network, too */
	return part && off->wake - part->begin < part->sends_ns &&
	       !completions_at(why->lines.completions, off->waker_cpu, part->begin, off->wake,
			       &made);
}

/*
 * Add time in which a thread was blocked until an interrupt woke it.  The thread waited for a
 * request from the time on at which the request was made; a thread with @no_work never did: it gets
 * work from the interrupt, if that completes a request.  @timeout: the interrupt may end a timeout.
 * Return as add_leaf()
 */
static int add_until(struct why *why, uint32_t parent, const struct why_off *off, bool no_work,
		     bool timeout, uint64_t from, uint64_t to)
{
	const struct why_irq_part *part = waking_interrupt(why, off);
	uint64_t made = to;
	uint32_t request = part && !no_work ?
			   completions_at(why->lines.completions, off->waker_cpu, part->begin,
					  off->wake, &made) : 0;
	int result;

	if (timeout && !request)
		return add_leaf(why, parent, WHY_TIMEOUT, NONE, from, to);
	made = earlier(to, later(from, made));
	result = add_leaf(why, parent, WHY_UNTIL, !part ? NONE : part->cause == WHY_SOFTIRQ ?
			  WHY_SOFTIRQ_WHO(part->who) : part->who, from, made);
	return result ? result : add_leaf(why, parent, WHY_REQUEST, request, made, to);
}

/* ---- threads ---- */

/* The system call that the thread is in at @ns; NULL: none that is known */
static const struct why_call *call_at(const struct why_line *line, uint64_t ns)
{
	const struct why_call *call = line->calls.at;
	size_t i = why_first(&line->calls, sizeof(*call), ns);

	return i < line->calls.count && call[i].begin <= ns ? &call[i] : NULL;
}

/* Calls that take a timeout, and what they return if it is over; nanosleep() may return anything */
static const struct timed_call {
	const char *name;
	bool sleeps;			/* the thread waits for nothing else */
	int result;
} timed_calls[] = {
	{ "nanosleep", true, 0 }, { "clock_nanosleep", true, 0 },
	{ "poll", false, 0 }, { "ppoll", false, 0 }, { "select", false, 0 },
	{ "pselect6", false, 0 }, { "epoll_wait", false, 0 }, { "epoll_pwait", false, 0 },
	{ "epoll_pwait2", false, 0 }, { "futex", false, -ETIMEDOUT },
	{ "futex_wait", false, -ETIMEDOUT }, { "futex_waitv", false, -ETIMEDOUT },
	{ "io_getevents", false, 0 }, { "io_pgetevents", false, 0 },
	{ "mq_timedreceive", false, -ETIMEDOUT }, { "mq_timedsend", false, -ETIMEDOUT },
	{ "semtimedop", false, -EAGAIN }, { "rt_sigtimedwait", false, -EAGAIN },
};

static const struct timed_call *timed_call(int64_t call)
{
	const char *name = call < 0 ? NULL : tb_syscall_name((uint64_t)call);
	size_t i, length;

	if (!name)
		return NULL;
	if (!strncmp(name, "compat_", 7))
		name += 7;
	for (i = 0; i < sizeof(timed_calls) / sizeof(timed_calls[0]); i++) {
		length = strlen(timed_calls[i].name);
		if (!strncmp(name, timed_calls[i].name, length) &&
		    (!name[length] || !strcmp(name + length, "_time64")))
			return &timed_calls[i];
	}
	return NULL;
}

/* True if the time of the call was over when the thread was woken, at the end of @off */
static bool timed_out(const struct why_line *line, const struct why_off *off,
		      const struct why_call *in, const struct timed_call *timed)
{
	const struct why_off *end = (const struct why_off *)line->offs.at + line->offs.count;

	/* after another wake-up the thread may have slept again in this call */
	while (++off < end && off->runnable)
		;
	return in->result == timed->result && (off == end || off->begin >= in->end);
}

static int divide(struct why *why, uint32_t parent, uint32_t thread, uint64_t from, uint64_t to,
		  unsigned int depth);

/* Divide the time from @from on in which the thread was blocked, until it was woken at @to */
static int divide_blocked(struct why *why, uint32_t parent, const struct why_line *line,
			  const struct why_off *off, uint64_t from, uint64_t to,
			  unsigned int depth)
{
	const struct why_call *in = call_at(line, off->begin);
	int64_t call = in ? in->number : NONE;
	const struct timed_call *timed = off->interrupt ? timed_call(call) : NULL;
	/* some calls sleep in this state, too */
	bool no_work = off->no_work && !in;
	uint32_t blocked, woken;
	int result;

	if (from >= to)
		return 0;
	if (off->waker == NOBODY)
		return add_leaf(why, parent, WHY_OFF, call, from, to);
	if (timed && timed->sleeps)
		return add_leaf(why, parent, WHY_SLEEPS, call, from, to);
	result = add_child(why, parent, no_work ? WHY_NO_WORK : WHY_BLOCKED, call, from, to,
			   &blocked);
	if (!result && in && in->object && divides(why, blocked))
		result = add_child(why, blocked, WHY_OBJECT, in->object, from, to, &blocked);
	if (result || !divides(why, blocked))
		return result;
	if (off->interrupt && !waker_sends(why, off))
		return add_until(why, blocked, off, no_work, timed && !off->deep &&
				 timed_out(line, off, in, timed), from, to);
	result = add_child(why, blocked, WHY_WOKEN, off->waker, from, to, &woken);
	if (result || !divides(why, woken))
		return result;
	if (depth == WHY_DEPTH)
		return add_leaf(why, woken, WHY_DEEP, NONE, from, to);
	return divide(why, woken, off->waker, from, to, depth + 1);
}

static int divide_off(struct why *why, uint32_t parent, const struct why_line *line,
		      const struct why_off *off, uint64_t from, uint64_t to, unsigned int depth)
{
	uint64_t wake = why_off_wake(off);
	uint32_t waits;
	int result;

	result = divide_blocked(why, parent, line, off, from, earlier(to, later(from, wake)),
				depth);
	from = later(from, wake);
	if (result || from >= to)
		return result;
	result = add_child(why, parent, WHY_WAITS, NONE, from, to, &waits);
	if (result || !divides(why, waits))
		return result;
	return divide_waits(why, waits, line, off, from, to);
}

static int divide(struct why *why, uint32_t parent, uint32_t thread, uint64_t from, uint64_t to,
		  unsigned int depth)
{
	const struct why_line *line = why_line_of(&why->lines, thread);
	const struct why_run *run = line->runs.at;
	const struct why_off *off = line->offs.at;
	size_t r = why_first(&line->runs, sizeof(*run), from);
	size_t o = why_first(&line->offs, sizeof(*off), from);
	uint64_t begin, end;
	int result = 0;
	bool runs;

	while (!result && from < to) {
		if (r == line->runs.count && o == line->offs.count)
			break;
		runs = r < line->runs.count &&
		       (o == line->offs.count || run[r].begin <= off[o].begin);
		begin = later(from, runs ? run[r].begin : off[o].begin);
		end = earlier(to, runs ? run[r].end : off[o].end);
		if (begin >= to)
			break;
		result = add_leaf(why, parent, WHY_UNKNOWN, NONE, from, begin);
		if (!result && begin < end)
			result = runs ? divide_interrupts(why, parent, WHY_RUNS, thread, run[r].other,
							  begin, end) :
				 divide_off(why, parent, line, &off[o], begin, end, depth);
		from = later(begin, end);
		r += runs;
		o += !runs;
	}
	return result ? result : add_leaf(why, parent, WHY_UNKNOWN, NONE, from, to);
}

int why_add(struct why *why, uint32_t thread, uint64_t from, uint64_t to)
{
	int result;

	if (from >= to)
		return 0;
	result = add_stretch(why, 0, from, to);
	return result ? result : divide(why, 0, thread, from, to, 0);
}

const struct completion *why_request(const struct why *why, int64_t who)
{
	return completions_get(why->lines.completions, (uint32_t)who);
}

const char *why_disk(const struct why *why, int64_t who, char text[DISK_TEXT_MAX])
{
	return disk_text(why->trace, why_request(why, who)->device, text);
}

const char *why_quota(const struct why *why, int64_t who)
{
	return tb_trace_string(why->trace, TB_STRING_QUOTA, (uint32_t)who);
}

const char *why_object(const struct why *why, int64_t who)
{
	const char *name = files_name(why->lines.files, (uint32_t)who);

	return name ? name : "";
}

void why_clear(struct why *why)
{
	map_free(&why->index, NULL);
	memset(&why->index, 0, sizeof(why->index));
	why->nodes.count = 1;
	*node_at(why, 0) = (struct why_node){ .cause = WHY_ALL };
}

void why_watch(struct why *why, why_stretch *stretch, void *context)
{
	why->stretch = stretch;
	why->context = context;
}

bool why_divides(enum why_cause cause)
{
	return cause == WHY_ALL || cause == WHY_WAITS || cause == WHY_BLOCKED ||
	       cause == WHY_NO_WORK || cause == WHY_OBJECT || cause == WHY_WOKEN;
}

/* ---- interface ---- */

bool why_limits(const struct why *why, uint32_t thread, uint64_t *from, uint64_t *to)
{
	const struct why_line *line = why_line_of(&why->lines, thread);
	const struct why_run *runs = line->runs.at;
	const struct why_off *offs = line->offs.at;

	*from = UINT64_MAX;
	*to = 0;
	if (runs && line->runs.count) {
		*from = runs[0].begin;
		*to = runs[line->runs.count - 1].end;
	}
	if (offs && line->offs.count) {
		*from = earlier(*from, offs[0].begin);
		*to = later(*to, offs[line->offs.count - 1].end);
	}
	return *from < *to;
}

bool why_span(const struct why *why, uint64_t *from, uint64_t *to)
{
	*from = why->from;
	*to = why->to;
	return *from < *to;
}

static void set_span(struct why *why)
{
	uint64_t from, to;
	size_t i;

	why->from = UINT64_MAX;
	for (i = 0; i < why_threads(why); i++) {
		if (!why_limits(why, why_thread(why, i), &from, &to))
			continue;
		why->from = earlier(why->from, from);
		why->to = later(why->to, to);
	}
}

int why_open(struct tb_trace *trace, enum tb_timebase base, const char *slice,
	     struct why **out, struct tb_error *error)
{
	struct why *why = calloc(1, sizeof(*why));
	int result = why ? why_lines_read(&why->lines, trace, base, slice, error) : -ENOMEM;

	if (!result) {
		why->trace = trace;
		why->nodes.room = 256;
		why->nodes.count = 1;
		why->nodes.at = calloc(why->nodes.room, sizeof(struct why_node));
		if (!why->nodes.at)
			result = -ENOMEM;
		set_span(why);
	}
	if (result) {
		why_close(why);
		why = NULL;
	}
	*out = why;
	return result;
}

void why_close(struct why *why)
{
	if (!why)
		return;
	why_lines_free(&why->lines);
	map_free(&why->index, NULL);
	free(why->nodes.at);
	free(why);
}

const struct why_lines *why_lines(const struct why *why)
{
	return &why->lines;
}

bool why_has_switches(const struct why *why)
{
	return why->lines.switches;
}

bool why_has_wakeups(const struct why *why)
{
	return why->lines.wakeups;
}

bool why_cut(const struct why *why, uint32_t thread, uint64_t *from, uint64_t *to)
{
	const struct why_line *line = why_line_of(&why->lines, thread);

	*from = later(*from, line->born);
	*to = earlier(*to, line->ended);
	if (line->after)
		*to = earlier(*to, line->after->born);
	return *from < *to;
}

bool why_named(const struct why *why, uint32_t thread, const char *pattern, uint64_t *from,
	       uint64_t *to)
{
	const struct why_line *line = why_line_of(&why->lines, thread);
	const struct why_name *names = line->names.at;
	uint64_t first = UINT64_MAX, last = 0;
	size_t i, count = line->names.count;

	for (i = 0; i < count; i++) {
		if (fnmatch(pattern, names[i].comm, 0))
			continue;
		first = earlier(first, names[i].from);
		last = i + 1 < count ? names[i + 1].from : UINT64_MAX;
	}
	*from = later(*from, first);
	*to = earlier(*to, last);
	return *from < *to;
}

/* Length of the part of [@begin, @end) that is in [@from, @to) */
static uint64_t common(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	begin = later(begin, from);
	end = earlier(end, to);
	return end > begin ? end - begin : 0;
}

void why_times(const struct why *why, uint32_t thread, uint64_t from, uint64_t to, uint64_t *ran,
	       uint64_t *waited, uint64_t *off_cpu)
{
	const struct why_line *line = why_line_of(&why->lines, thread);
	const struct why_run *run = line->runs.at;
	const struct why_off *off = line->offs.at;
	uint64_t wake;
	size_t i;

	*ran = *waited = *off_cpu = 0;
	for (i = 0; i < line->runs.count; i++)
		*ran += common(run[i].begin, run[i].end, from, to);
	for (i = 0; i < line->offs.count; i++) {
		wake = why_off_wake(&off[i]);
		*waited += common(wake, off[i].end, from, to);
		*off_cpu += common(off[i].begin, wake, from, to);
	}
}

bool why_slice(const struct why *why, size_t index, uint32_t *thread, uint64_t *from,
	       uint64_t *to)
{
	const struct why_run *slice = why->lines.slices.at;

	if (index >= why->lines.slices.count)
		return false;
	*thread = slice[index].other;
	*from = slice[index].begin;
	*to = slice[index].end;
	return true;
}

bool why_call(const struct why *why, uint32_t thread, size_t index, int64_t *number,
	      uint64_t *from, uint64_t *to)
{
	const struct why_line *line = why_line_of(&why->lines, thread);
	const struct why_call *call = line->calls.at;

	if (index >= line->calls.count)
		return false;
	*number = call[index].number;
	*from = call[index].begin;
	*to = call[index].end;
	return true;
}

const struct why_node *why_nodes(const struct why *why, size_t *count)
{
	*count = why->nodes.count;
	return why->nodes.at;
}

/* By parent; then longest first; then in the order of creation */
static int compare_nodes(const void *a, const void *b, void *context)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const struct why_node *one = node_at(context, first), *other = node_at(context, second);

	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	if (one->ns != other->ns)
		return one->ns > other->ns ? -1 : 1;
	return first < second ? -1 : first > second;
}

int why_sort(struct why *why)
{
	size_t count = why->nodes.count, i;
	uint32_t *order = malloc(count * sizeof(*order)), parent;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order + 1, count - 1, sizeof(*order), compare_nodes, why);
	/* from the last to the first, insert each one before its siblings */
	for (i = 0; i < count; i++)
		node_at(why, (uint32_t)i)->child = 0;
	for (i = count; i-- > 1;) {
		parent = node_at(why, order[i])->parent;
		node_at(why, order[i])->next = node_at(why, parent)->child;
		node_at(why, parent)->child = order[i];
	}
	free(order);
	return 0;
}

size_t why_index(const struct why *why, uint32_t tid)
{
	size_t low = 0;

	BISECT(low, why->lines.nr_threads, i, why_tid(why, why->lines.order[i]) < tid);
	return low;
}

uint32_t why_tid(const struct why *why, uint32_t thread)
{
	return thread ? why_line_of(&why->lines, thread)->tid : 0;
}

const char *why_comm(const struct why *why, uint32_t thread)
{
	return thread ? why_line_of(&why->lines, thread)->comm : "";
}

uint32_t why_tgid(const struct why *why, uint32_t thread)
{
	return thread ? why_line_of(&why->lines, thread)->tgid : 0;
}

uint32_t why_cgroup(const struct why *why, uint32_t thread)
{
	return thread ? why_line_of(&why->lines, thread)->cgroup : 0;
}

size_t why_threads(const struct why *why)
{
	return why->lines.nr_threads;
}

uint32_t why_thread(const struct why *why, size_t index)
{
	return why->lines.order[index];
}

const char *why_irq(const struct why *why, int64_t who, int64_t *number)
{
	if (who < 0 || (uint64_t)who >= why->lines.nr_irqs)
		return NULL;
	*number = why->lines.irqs[who].number;
	return why->lines.irqs[who].name;
}
