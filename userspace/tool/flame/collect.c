// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collect the stacks of events, and their weights, in a tree.
 *
 * If weights are times, all events are read, not only selected ones: the time of a switch begins or
 * ends at another switch, which can be on any CPU.  slices.c finds the time that a thread ran, or
 * was off its CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tool/command/command.h"
#include "tool/export/common.h"
#include "tool/export/progress.h"
#include "tool/show/frames.h"
#include "flame.h"
#include "analysis/slices.h"
#include "analysis/spans.h"
#include "lib/utf8.h"

/* The stack with which a thread left its CPU, if it is @chosen */
struct left {
	uint32_t node;
	bool     chosen;
};

struct collect {
	struct flame *flame;
	struct tb_trace *trace;
	struct map kernel, user;	/* addresses: frames + 1 */
	struct map functions;		/* struct frame of programs: frames + 1 */
	/* by format */
	const struct tb_format_field **next_pid, **prev_state, **value;
	/* of times */
	struct slices *slices;
	struct map threads;		/* struct left */
	struct spans missing;		/* events of any CPU */
	uint64_t last_ns, last_ticks;	/* the last event */
	uint32_t ran;			/* the thread that ran until this switch; 0: unknown */
	uint64_t ran_ns;		/* the length of its run */
	bool     ending;		/* the trace ends, and so do slices */
};

/* ---- frames ---- */

/* Make @text fit into a line with ';' between frames */
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

/* Find or add the frame called @text, and note it in @slot of a map */
static int64_t new_frame(struct collect *collect, void **slot, char *text, enum flame_kind kind)
{
	int64_t frame;

	clean(text);
	frame = flame_frame(&collect->flame->tree, text, kind);
	if (frame >= 0)
		*slot = (void *)(uintptr_t)(frame + 1);
	return frame;
}

static int64_t kernel_frame(struct collect *collect, uint64_t ip)
{
	void **slot = map_at(&collect->kernel, ip);
	char text[FLAME_NAME_MAX];

	if (!slot)
		return -ENOMEM;
	if (*slot)
		return (int64_t)(uintptr_t)*slot - 1;
	if (!name_kernel(collect, ip, text)) {
		collect->flame->unnamed++;
		snprintf(text, sizeof(text), "0x%" PRIx64, ip);
	}
	return new_frame(collect, slot, text, FLAME_KERNEL);
}

/* The number of frame @from, which has address @ip */
static int64_t user_frame(struct collect *collect, const struct frame *from, uint64_t ip)
{
	void **slot = from->file ? map_at(&collect->functions, (uintptr_t)from) :
				   map_at(&collect->user, ip);
	char text[FLAME_NAME_MAX];

	if (!slot)
		return -ENOMEM;
	if (*slot)
		return (int64_t)(uintptr_t)*slot - 1;
	collect->flame->user += !from->file;
	snprintf(text, sizeof(text), "%s", from->name);
	return new_frame(collect, slot, text, FLAME_USER);
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

/* The child of @node with @frame; either may be -errno, which is returned */
static int64_t add_child(struct collect *collect, int64_t node, int64_t frame)
{
	if (node < 0 || frame < 0)
		return node < 0 ? node : frame;
	return flame_child(&collect->flame->tree, (uint32_t)node, (uint32_t)frame);
}

/* Add the functions at address @index of a user stack, the outermost first (@reverse: last) */
static int64_t add_user_frames(struct collect *collect, int64_t node, const struct tb_view *view,
			       uint32_t index)
{
	const struct frame *frames;
	unsigned int count = frames_of(collect->trace, view, index, &frames, NULL), i, at;

	for (i = 0; i < count; i++) {
		at = collect->flame->reverse ? i : count - 1 - i;
		node = add_child(collect, node, user_frame(collect, &frames[at],
							   view->user_stack[index]));
	}
	return node;
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
			node = add_child(collect, node, kernel_frame(collect, view->stack[i]));
		for (i = 0; i < user; i++)
			node = add_user_frames(collect, node, view, i);
		return add_child(collect, node, task_frame(collect, view));
	}
	node = add_child(collect, 0, task_frame(collect, view));
	for (i = user; i; i--)
		node = add_user_frames(collect, node, view, i - 1);
	for (i = kernel; i; i--)
		node = add_child(collect, node, kernel_frame(collect, view->stack[i - 1]));
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

static struct left *left_of(struct collect *collect, uint32_t tid)
{
	void **slot = map_at(&collect->threads, tid);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(struct left));
	return slot ? *slot : NULL;
}

static void take_off(struct collect *collect, const struct slice *slice, uint64_t time)
{
	struct left *left = map_get(&collect->threads, slice->tid);
	struct flame *flame = collect->flame;
	bool ended = slice->doubt == SLICE_WHOLE;

	if (!left || !left->chosen)
		return;
	left->chosen = false;
	if (!ended && (!collect->ending ||
		       spans_meet(&collect->missing, slice->begin, slice->end))) {
		flame->torn++;
		flame->torn_time += time;
		return;
	}
	if (ended || flame->unfinished)
		add(flame, left->node, time);
	if (!ended) {
		flame->pending++;
		flame->pending_time += time;
	}
}

static void take_slice(void *context, const struct slice *slice)
{
	struct collect *collect = context;
	uint64_t time = slice->end > slice->begin ? slice->end - slice->begin : 0;

	if (slice->kind == SLICE_OFF && collect->flame->weight == FLAME_OFF_CPU)
		take_off(collect, slice, time);
	if (slice->kind != SLICE_RUN || slice->doubt != SLICE_WHOLE)
		return;
	collect->ran = slice->tid;
	collect->ran_ns = time;
}

/* True if the thread has exited, and does not run again */
static bool is_dead(const struct collect *collect, const struct tb_view *view)
{
	const struct tb_format_field *field = collect->prev_state[view->format->index];
	uint64_t state;
	char text[24];

	if (!field || tb_field_u64(view, field, &state))
		return false;
	return strpbrk(tb_task_state(state, text, sizeof(text)), "XZ");
}

/* The thread of @view leaves its CPU with the stack @node; @node -ENOENT: it is not counted */
static int take_stack(struct collect *collect, const struct tb_view *view, int64_t node)
{
	struct flame *flame = collect->flame;
	struct left *left;

	if (flame->weight == FLAME_ON_CPU) {
		if (node >= 0 && collect->ran == view->tid)
			add(flame, (uint32_t)node, collect->ran_ns);
		flame->unknown += node >= 0 && collect->ran != view->tid;
		return 0;
	}
	left = left_of(collect, view->tid);
	if (!left)
		return -ENOMEM;
	/* it must have run to be switched out again, so the end of its time off is missing */
	flame->unknown += left->chosen;
	left->chosen = node >= 0 && !is_dead(collect, view);
	left->node = node >= 0 ? (uint32_t)node : 0;
	return 0;
}

static int weigh_switch(struct collect *collect, const struct tb_view *view)
{
	struct flame *flame = collect->flame;
	bool chosen = selection_wants(&flame->selection, view) &&
		      !selection_over(&flame->selection, view);
	int64_t node = -ENOENT;

	collect->ran = 0;
	if (slices_take(collect->slices, view, view->ns) < 0)
		return -ENOMEM;
	if (!view->tid) {
		flame->idle += chosen && (view->nr_stack || view->nr_user_stack);
		return 0;
	}
	if (chosen) {
		node = node_of(collect, view);
		flame->stackless += node == -ENOENT;
	}
	return node < 0 && node != -ENOENT ? (int)node : take_stack(collect, view, node);
}

static int start_times(struct collect *collect)
{
	int result = spans_of_trace(&collect->missing, collect->trace, TB_TIME_MONOTONIC);

	if (result)
		return result;
	collect->slices = slices_open(collect->trace, TB_TIME_MONOTONIC, take_slice, collect);
	if (!collect->slices || slices_find_chosen(collect->slices, collect->trace))
		return -ENOMEM;
	slices_missing(collect->slices, &collect->missing);
	slices_off(collect->slices);
	return 0;
}

static int finish_times(struct collect *collect)
{
	const struct tb_view end = { .cpu = TB_RING_USER, .ticks = collect->last_ticks };
	int result = slices_take(collect->slices, &end, collect->last_ns);

	collect->ending = true;
	slices_finish(collect->slices);
	return result < 0 ? result : 0;
}

/* ---- all events ---- */

static bool is_time(const struct flame *flame)
{
	return flame->weight == FLAME_OFF_CPU || flame->weight == FLAME_ON_CPU;
}

static int take_event(struct collect *collect, const struct tb_view *view)
{
	struct flame *flame = collect->flame;

	collect->last_ns = view->ns;
	collect->last_ticks = view->ticks;
	if (view->kind == TB_VIEW_LOST) {
		if (view->ticks >= flame->selection.from_ticks || is_time(flame))
			flame->lost += view->lost.overwritten + view->lost.dropped;
		return is_time(flame) && slices_take(collect->slices, view, view->ns) < 0 ?
		       -ENOMEM : 0;
	}
	if (view->kind != TB_VIEW_EVENT)
		return 0;
	if (is_time(flame) && view->format && collect->next_pid[view->format->index])
		return weigh_switch(collect, view);
	/* slices.c also needs wake-ups: a second one tells that the thread ran in a gap */
	if (is_time(flame))
		return slices_take(collect->slices, view, view->ns) < 0 ? -ENOMEM : 0;
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
		result = take_event(collect, &view);
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
		result = start_times(&collect);
	if (!result)
		result = flame_tree_start(&flame->tree);
	if (!result) {
		progress_start(&progress, trace, tb_trace_selected(trace), quiet);
		result = walk(&collect, &progress);
		progress_end(&progress);
	}
	if (!result && is_time(flame))
		result = finish_times(&collect);
	flame_sort(&flame->tree);
	slices_close(collect.slices);
	spans_free(&collect.missing);
	map_free(&collect.kernel, NULL);
	map_free(&collect.user, NULL);
	map_free(&collect.functions, NULL);
	map_free(&collect.threads, free);
	free(collect.next_pid);
	free(collect.prev_state);
	free(collect.value);
	return result;
}
