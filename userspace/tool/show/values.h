/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contents of an event as values with names and types: of events of the kernel, control
 * events, records of programs, and losses.
 */
#ifndef TRACEBUF_VALUES_H
#define TRACEBUF_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "out.h"
#include "tracebuf.h"

enum value_kind {
	VALUE_NONE,		/* the payload is too short for it */
	VALUE_SIGNED,		/* number */
	VALUE_UNSIGNED,		/* number */
	VALUE_HEX,		/* number */
	VALUE_DOUBLE,		/* real */
	VALUE_TEXT,		/* data, length */
	VALUE_BYTES,		/* data, length */
	VALUE_MASK,		/* data, length */
	VALUE_ARRAY,		/* view, field */
};

/**
 * struct value - a value
 * @name: any bytes if a program chose it
 * @meaning: the name that a number stands for ("read" of a system call, the function at an address),
 *	or NULL
 */
struct value {
	const char *name;
	const char *meaning;
	enum value_kind kind;
	uint64_t number;
	double real;
	const void *data;
	size_t length;
	const struct tb_view *view;
	const struct tb_format_field *field;
	char text[512];			/* for @data or @meaning */
};

/* Fill in the value of a field, but not its name */
void value_of(const struct tb_trace *trace, const struct tb_view *view,
	      const struct tb_format_field *field, struct value *value);

/*
 * True if tables have a column VALUE_NAME(@field) for the names of numbers in @field of @format: if
 * value_of() has such names, and no other field is called so.
 */
bool value_has_names(const struct tb_format *format, const struct tb_format_field *field);
#define VALUE_NAME "%s_name"

/* Call @each for all values of @view in their order.  Times of losses are on clock @base. */
void values_each(const struct tb_trace *trace, const struct tb_view *view,
		 enum tb_timebase base,
		 void (*each)(void *context, const struct value *value),
		 void *context);

void value_json(struct out *out, const struct value *value);

/* The name of an event of the kernel or of a record of a program */
const char *event_name(const struct tb_view *view, char spare[24]);

/* True for a control event, which commands show only on request; marks are always shown */
static inline bool is_control(const struct tb_view *view)
{
	return view->kind == TB_VIEW_EVENT && !view->format &&
	       view->id < TB_EV_USER && view->id != TB_EV_MARK;
}

/* The process of an event's thread; the tid of the thread if the process is unknown */
static inline uint32_t process_of(const struct tb_view *view)
{
	if (view->user)
		return view->user->pid;
	return view->task && view->task->tgid ? view->task->tgid : view->tid;
}

#endif /* TRACEBUF_VALUES_H */
