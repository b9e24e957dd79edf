// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Convert events from their compact form to their wide form.
 *
 * The kernel records frequent events in a compact form, which leaves out names of threads, because
 * other records tell them.  The cursor shows these events in their wide form, so that programs that
 * read a trace need not know the compact one.  A plan for each compact format says where each
 * field of the wide format comes from.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cursor.h"

/* Where a field of the wide format comes from */
enum widen_source {
	WIDEN_NUMBER,		/* the field of the same name */
	WIDEN_COMM,		/* the name of the thread whose tid is in the field */
	WIDEN_ITEM,		/* the field with one item of an array */
};

struct widen_step {
	enum widen_source source;
	const struct tb_format_field *from;
	uint16_t offset;	/* in the wide payload */
	uint16_t size;
};

/**
 * struct tb_widen - plan to convert events of a compact format
 * @wide: the wide format
 * @context: the field with the event's context; NULL: it is @constant_context
 * @count: the field with the number of items of the array; NULL: there is none
 * @array: offset of the array in the wide payload
 * @bytes: size of the wide payload
 * @names: the wide format has names of threads
 */
struct tb_widen {
	const struct tb_format *wide;
	const struct tb_format_field *context, *count;
	uint16_t constant_context;
	uint16_t array;
	uint16_t bytes;
	bool names;
	uint16_t nr_steps;
	struct widen_step steps[TB_WIDEN_BYTES / 4];
};

static bool add_step(struct tb_widen *widen, enum widen_source source,
		     const struct tb_format_field *from, unsigned int offset, unsigned int size)
{
	struct widen_step *step = &widen->steps[widen->nr_steps];

	if (!from || !size || widen->nr_steps == sizeof(widen->steps) / sizeof(*step) ||
	    offset + size > TB_WIDEN_BYTES)
		return false;
	step->source = source;
	step->from = from;
	step->offset = (uint16_t)offset;
	step->size = (uint16_t)size;
	widen->nr_steps++;
	if (offset + size > widen->bytes)
		widen->bytes = (uint16_t)(offset + size);
	return true;
}

/* Plan a name of a thread: "comm" belongs to "pid", "next_comm" to "next_pid" */
static bool add_comm(struct tb_widen *widen, const struct tb_format *compact,
		     const struct tb_format_field *to)
{
	char pid[TB_NAME_MAX];
	size_t length = strlen(to->name);

	if (length < 4 || strcmp(to->name + length - 4, "comm"))
		return false;
	snprintf(pid, sizeof(pid), "%.*spid", (int)(length - 4), to->name);
	widen->names = true;
	return add_step(widen, WIDEN_COMM, tb_format_field(compact, pid), to->offset, to->size);
}

static bool add_array(struct tb_widen *widen, const struct tb_format *compact,
		      const struct tb_format_field *to)
{
	char item[TB_NAME_MAX + 16];
	unsigned int i;

	if (!to->width || !widen->count)
		return false;
	widen->array = to->offset;
	for (i = 0; i < to->count; i++) {
		snprintf(item, sizeof(item), "%s[%u]", to->name, i);
		if (!add_step(widen, WIDEN_ITEM, tb_format_field(compact, item),
			      to->offset + i * to->width, to->width))
			return false;
	}
	return true;
}

static bool add_field(struct tb_widen *widen, const struct tb_format *compact,
		      const struct tb_format_field *to)
{
	if (to->flags & TB_FIELD_ARRAY && !tb_field_is_text(to))
		return add_array(widen, compact, to);
	if (tb_field_is_text(to) && !(to->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC)))
		return add_comm(widen, compact, to);
	/* dynamic data may be missing if the format says so: the compact form leaves it out */
	if (to->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC))
		return widen->wide->flags & TB_EVENT_SHORT;
	return to->width && !(to->flags & TB_FIELD_BITS) &&
	       add_step(widen, WIDEN_NUMBER, tb_format_field(compact, to->name), to->offset,
			to->width);
}

/**
 * tb_widen_make - plan how events of a compact format are shown
 * @compact: the format
 * @wide: the wide format of the event, or NULL
 * @out: out: the plan, for free(); NULL: show events of @compact as they are, because the plan
 *	would lack a field of @wide
 *
 * Return: 0; -ENOMEM.
 */
int tb_widen_make(const struct tb_format *compact, const struct tb_format *wide,
		  struct tb_widen **out)
{
	struct tb_widen *widen;
	unsigned int i;

	*out = NULL;
	if (!wide || !(compact->flags & TB_EVENT_SIMPLE) || wide->flags & TB_EVENT_SIMPLE)
		return 0;
	widen = calloc(1, sizeof(*widen));
	if (!widen)
		return -ENOMEM;
	widen->wide = wide;
	widen->constant_context = compact->context;
	for (i = 0; i < compact->nr_fields; i++) {
		if (compact->fields[i].flags & TB_FIELD_CONTEXT)
			widen->context = &compact->fields[i];
		if (compact->fields[i].flags & TB_FIELD_COUNT)
			widen->count = &compact->fields[i];
	}
	for (i = 0; i < wide->nr_fields; i++) {
		if (!add_field(widen, compact, &wide->fields[i])) {
			free(widen);
			return 0;
		}
	}
	*out = widen;
	return 0;
}

/** tb_widen_format - the format in which events of a compact format are shown */
const struct tb_format *tb_widen_format(const struct tb_widen *widen)
{
	return widen->wide;
}

/** tb_widen_names - true if the wide form has names of threads */
bool tb_widen_names(const struct tb_widen *widen)
{
	return widen->names;
}

static void put_comm(const struct tb_tasks *tasks, uint32_t tid, uint32_t cpu, char *to,
		     size_t size)
{
	const struct tb_task *task;
	char idle[24];
	const char *comm = "<...>";

	if (!tid) {
		snprintf(idle, sizeof(idle), "swapper/%u", cpu);
		comm = idle;
	} else {
		task = tb_tasks_find(tasks, tid);
		if (task && task->comm[0])
			comm = task->comm;
	}
	memcpy(to, comm, strnlen(comm, size - 1));
}

/**
 * tb_widen_view - turn the view of an event in its compact form into one of its wide form
 * @widen: the plan
 * @tasks: the names of threads at this time
 * @view: in, out
 * @payload: out: TB_WIDEN_BYTES bytes, for the new payload
 *
 * A payload that is too short for its format is shown as far as it goes.
 */
void tb_widen_view(const struct tb_widen *widen, const struct tb_tasks *tasks,
		   struct tb_view *view, unsigned char *payload)
{
	uint32_t bytes = widen->bytes, i;
	uint64_t number, count;

	memset(payload, 0, TB_WIDEN_BYTES);
	view->context = widen->constant_context;
	if (widen->context && !tb_field_u64(view, widen->context, &number))
		view->context = (uint16_t)number;
	if (widen->count && !tb_field_u64(view, widen->count, &count) && count < TB_WIDEN_BYTES)
		bytes = widen->array;
	else
		count = 0;
	for (i = 0; i < widen->nr_steps; i++) {
		const struct widen_step *step = &widen->steps[i];

		if (tb_field_u64(view, step->from, &number))
			continue;
		if (step->source == WIDEN_COMM) {
			put_comm(tasks, (uint32_t)number, view->cpu,
				 (char *)payload + step->offset, step->size);
			continue;
		}
		if (step->source == WIDEN_ITEM) {
			if (!count)
				continue;
			count--;
			bytes = step->offset + step->size;
		}
		memcpy(payload + step->offset, &number, step->size);
	}
	view->id = widen->wide->id;
	view->format = widen->wide;
	view->structure = TB_STRUCT_COMPOSITE;
	view->compact = 1;
	view->payload = payload;
	view->length = bytes;
}
