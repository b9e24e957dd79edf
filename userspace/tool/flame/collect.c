// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the events of a trace to weighed stacks.
 *
 * Which events is the selection's business.  The time of a switch, though, ends
 * or begins with another one, which may be of any thread, CPU and moment: so
 * with times all events are looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tool/command/command.h"
#include "tool/export/common.h"
#include "tool/export/progress.h"
#include "flame.h"
#include "analysis/spans.h"
#include "lib/utf8.h"

/* A thread: off the CPU since, or on it since */
struct stretch {
	uint64_t ns;
	uint32_t node;
	bool     off, on, chosen;
};

struct collect {
	struct flame *flame;
	struct tb_trace *trace;
	struct map kernel, user;	/* addresses: frames + 1 */
	struct map threads;		/* of times: struct stretch */
	/* by format */
	const struct tb_format_field **next_pid, **prev_state, **value;
	uint64_t last_ns;
	struct spans missing;		/* events of any CPU, if it is about time */
};

/* ---- frames ---- */

/* One line of a text with ';' between frames stays one */
static void clean(char *text)
{
	utf8_plain(text, strlen(text));
	while ((text = strchr(text, ';')))
		*text = ':';
}

static bool name_kernel(struct collect *collect, uint64_t ip, char *text)
{
	const char *name;
	uint64_t start;

	if (!export_frame(collect->trace, ip, text, FLAME_NAME_MAX))
		return true;
	name = symbols_find(&collect->flame->symbols, ip - 1, &start);
	if (!name)
		return false;
	export_clean(text, name, strnlen(name, FLAME_NAME_MAX - 1));
	return true;
}

static int64_t new_frame(struct collect *collect, uint64_t ip, enum flame_kind kind)
{
	struct flame *flame = collect->flame;
	char text[FLAME_NAME_MAX];

	if (kind == FLAME_USER || !name_kernel(collect, ip, text)) {
		flame->user += kind == FLAME_USER;
		flame->unnamed += kind == FLAME_KERNEL;
		snprintf(text, sizeof(text), "0x%" PRIx64, ip);
	}
	clean(text);
	return flame_frame(&flame->tree, text, kind);
}

static int64_t frame_at(struct collect *collect, uint64_t ip, enum flame_kind kind)
{
	void **slot = map_at(kind == FLAME_USER ? &collect->user : &collect->kernel, ip);
	int64_t frame;

	if (!slot)
		return -ENOMEM;
	if (*slot)
		return (int64_t)(uintptr_t)*slot - 1;
	frame = new_frame(collect, ip, kind);
	if (frame >= 0)
		*slot = (void *)(uintptr_t)(frame + 1);
	return frame;
}

static int64_t task_frame(struct collect *collect, const struct tb_view *view)
{
	char text[FLAME_NAME_MAX], comm[TB_COMM_LEN * 4 + 8];
	size_t length = strnlen(view->comm, sizeof(comm) - 1);

	export_clean(comm, view->comm, length);
	if (collect->flame->threads)
		snprintf(text, sizeof(text), "%s-%" PRIu32, comm, view->tid);
	else
		snprintf(text, sizeof(text), "%s", comm);
	clean(text);
	return flame_frame(&collect->flame->tree, text, FLAME_TASK);
}

/* One frame further, or the error there was */
static int64_t deeper(struct collect *collect, int64_t node, int64_t frame)
{
	if (node < 0 || frame < 0)
		return node < 0 ? node : frame;
	return flame_child(&collect->flame->tree, (uint32_t)node, (uint32_t)frame);
}

/* The node of the stack of @view; -ENOENT: it has none */
static int64_t node_of(struct collect *collect, const struct tb_view *view)
{
	struct flame *flame = collect->flame;
	uint32_t kernel = flame->no_kernel ? 0 : view->nr_stack;
	uint32_t user = flame->no_user ? 0 : view->nr_user_stack, i;
	int64_t node = 0;

	if (!kernel && !user)
		return -ENOENT;
	flame->full += kernel >= TB_STACK_MAX || user >= TB_STACK_MAX;
	if (flame->reverse) {
		for (i = 0; i < kernel; i++)
			node = deeper(collect, node, frame_at(collect, view->stack[i],
							      FLAME_KERNEL));
		for (i = 0; i < user; i++)
			node = deeper(collect, node, frame_at(collect, view->user_stack[i],
							      FLAME_USER));
		return deeper(collect, node, task_frame(collect, view));
	}
	node = deeper(collect, 0, task_frame(collect, view));
	for (i = user; i; i--)
		node = deeper(collect, node, frame_at(collect, view->user_stack[i - 1],
						      FLAME_USER));
	for (i = kernel; i; i--)
		node = deeper(collect, node, frame_at(collect, view->stack[i - 1],
						      FLAME_KERNEL));
	return node;
}

/* ---- weights ---- */

static void add(struct flame *flame, uint32_t node, uint64_t weight)
{
	if (flame_add(&flame->tree, node, weight))
		flame->events++;
	else
		flame->beyond++;
}

static int weigh_event(struct collect *collect, const struct tb_view *view)
{
	struct flame *flame = collect->flame;
	const struct tb_format_field *field;
	int64_t node = node_of(collect, view), value = 1;

	if (node == -ENOENT) {
		flame->stackless++;
		return 0;
	}
	if (node < 0)
		return (int)node;
	if (flame->weight == FLAME_FIELD) {
		field = view->format ? collect->value[view->format->index] : NULL;
		if (!field || tb_field_s64(view, field, &value) || value < 0) {
			flame->negative++;
			return 0;
		}
	}
	add(flame, (uint32_t)node, (uint64_t)value);
	return 0;
}

static struct stretch *thread_of(struct collect *collect, uint32_t tid)
{
	void **slot = map_at(&collect->threads, tid);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(struct stretch));
	return slot ? *slot : NULL;
}

/* Clocks that a trace tells of may go back */
static uint64_t since(const struct stretch *thread, uint64_t ns)
{
	return ns > thread->ns ? ns - thread->ns : 0;
}

/* What a switch with a stack is worth becomes known, or has been */
static void take_time(const struct collect *collect, const struct stretch *thread,
		      uint32_t node, uint64_t ns)
{
	struct flame *flame = collect->flame;

	/* what seems to be one may have been several */
	flame->torn += spans_meet(&collect->missing, thread->ns, ns);
	add(flame, node, since(thread, ns));
}

/* Who has ended does not run again */
static bool is_dead(const struct collect *collect, const struct tb_view *view)
{
	const struct tb_format_field *field = collect->prev_state[view->format->index];
	uint64_t state;
	char text[24];

	if (!field || tb_field_u64(view, field, &state))
		return false;
	return strpbrk(tb_task_state(state, text, sizeof(text)), "XZ");
}

static int switched_from(struct collect *collect, const struct tb_view *view)
{
	struct flame *flame = collect->flame;
	struct stretch *thread = thread_of(collect, view->tid);
	bool chosen = selection_wants(&flame->selection, view) &&
		      !selection_over(&flame->selection, view);
	int64_t node = chosen ? node_of(collect, view) : -ENOENT;

	if (!thread || (node < 0 && node != -ENOENT))
		return -ENOMEM;
	if (chosen && node == -ENOENT)
		flame->stackless++;
	chosen = node >= 0;
	if (flame->weight == FLAME_ON_CPU && chosen) {
		if (thread->on)
			take_time(collect, thread, (uint32_t)node, view->ns);
		else
			flame->unknown++;
	}
	/* it must have run to be switched away from: that was missed */
	flame->unknown += flame->weight == FLAME_OFF_CPU && thread->off &&
			  thread->chosen;
	*thread = (struct stretch){
		.ns = view->ns,
		.node = chosen ? (uint32_t)node : 0,
		.off = !is_dead(collect, view),
		.chosen = chosen,
	};
	return 0;
}

static int switched_to(struct collect *collect, const struct tb_view *view,
		       uint32_t tid)
{
	struct stretch *thread = thread_of(collect, tid);

	if (!thread)
		return -ENOMEM;
	if (collect->flame->weight == FLAME_OFF_CPU && thread->off && thread->chosen)
		take_time(collect, thread, thread->node, view->ns);
	*thread = (struct stretch){
		.ns = view->ns,
		.on = true,
	};
	return 0;
}

static int weigh_switch(struct collect *collect, const struct tb_view *view)
{
	const struct tb_format_field *field = collect->next_pid[view->format->index];
	struct flame *flame = collect->flame;
	int64_t next = 0;
	int result = 0;

	if (!field || tb_field_s64(view, field, &next))
		return 0;
	if (view->tid)
		result = switched_from(collect, view);
	else if (selection_wants(&flame->selection, view) &&
		 !selection_over(&flame->selection, view))
		flame->idle += view->nr_stack || view->nr_user_stack;
	if (!result && next)
		result = switched_to(collect, view, (uint32_t)next);
	return result;
}

static void finish_times(struct collect *collect)
{
	struct flame *flame = collect->flame;
	struct stretch *thread;
	size_t i;

	for (i = 0; i < collect->threads.nr_slots; i++) {
		thread = collect->threads.slots[i].value;
		if (!thread || !thread->off || !thread->chosen)
			continue;
		if (flame->unfinished)
			take_time(collect, thread, thread->node, collect->last_ns);
		flame->pending++;
		flame->pending_time += since(thread, collect->last_ns);
	}
}

/* ---- all of them ---- */

static bool is_time(const struct flame *flame)
{
	return flame->weight == FLAME_OFF_CPU || flame->weight == FLAME_ON_CPU;
}

static int look_at(struct collect *collect, const struct tb_view *view)
{
	struct flame *flame = collect->flame;

	collect->last_ns = view->ns;
	if (view->kind == TB_VIEW_LOST) {
		if (view->ticks >= flame->selection.from_ticks || is_time(flame))
			flame->lost += view->lost.overwritten + view->lost.dropped;
		return 0;
	}
	if (view->kind != TB_VIEW_EVENT)
		return 0;
	if (is_time(flame))
		return view->format && collect->next_pid[view->format->index] ?
		       weigh_switch(collect, view) : 0;
	if (!view->format || !selection_wants(&flame->selection, view))
		return 0;
	return weigh_event(collect, view);
}

static int walk(struct collect *collect, struct progress *progress)
{
	struct flame *flame = collect->flame;
	const struct tb_error *fault;
	struct tb_cursor *cursor;
	struct tb_view view;
	int result = tb_cursor_open(collect->trace, &cursor);

	if (result)
		return result;
	while ((result = next_event(cursor, &view)) > 0) {
		progress_step(progress, &view);
		if (!is_time(flame) && selection_over(&flame->selection, &view))
			break;
		result = look_at(collect, &view);
		if (result)
			break;
	}
	flame->uncommitted = tb_cursor_uncommitted(cursor);
	fault = tb_cursor_fault(cursor);
	flame->damaged = fault;
	if (fault)
		flame->fault = *fault;
	tb_cursor_close(cursor);
	return result < 0 ? result : 0;
}

static int find_fields(struct collect *collect)
{
	unsigned int count = tb_trace_formats(collect->trace), i;
	const struct flame *flame = collect->flame;
	const struct tb_format *format;

	collect->next_pid = calloc(count + 1ul, sizeof(*collect->next_pid));
	collect->prev_state = calloc(count + 1ul, sizeof(*collect->prev_state));
	collect->value = calloc(count + 1ul, sizeof(*collect->value));
	if (!collect->next_pid || !collect->prev_state || !collect->value)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		format = tb_trace_format_at(collect->trace, i);
		if (!strcmp(format->system, "sched") &&
		    !strcmp(format->name, "sched_switch")) {
			collect->next_pid[i] = tb_format_field(format, "next_pid");
			collect->prev_state[i] = tb_format_field(format, "prev_state");
		}
		if (flame->field)
			collect->value[i] = tb_format_field(format, flame->field);
	}
	return 0;
}

int flame_collect(struct flame *flame, struct tb_trace *trace,
		  bool quiet)
{
	struct collect collect = { .flame = flame, .trace = trace };
	struct progress progress;
	int result = find_fields(&collect);

	if (!result && is_time(flame))
		result = spans_of_trace(&collect.missing, trace, TB_TIME_MONOTONIC);
	if (!result)
		result = flame_tree_start(&flame->tree);
	if (!result) {
		progress_start(&progress, trace, tb_trace_selected(trace), quiet);
		result = walk(&collect, &progress);
		progress_end(&progress);
	}
	if (!result && flame->weight == FLAME_OFF_CPU)
		finish_times(&collect);
	flame_sort(&flame->tree);
	spans_free(&collect.missing);
	map_free(&collect.kernel, NULL);
	map_free(&collect.user, NULL);
	map_free(&collect.threads, free);
	free(collect.next_pid);
	free(collect.prev_state);
	free(collect.value);
	return result;
}
