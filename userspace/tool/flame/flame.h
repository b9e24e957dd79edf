/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf flamegraph, inside: from events with stacks to a tree, from the
 * tree to a text or a picture.
 */
#ifndef TRACEBUF_FLAME_H
#define TRACEBUF_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"
#include "tree.h"
#include "tool/show/selection.h"
#include "tool/show/symbols.h"

enum flame_weight {
	FLAME_EVENTS = 0,	/* how many */
	FLAME_OFF_CPU,		/* of sched_switch: until the thread runs again */
	FLAME_ON_CPU,		/* of sched_switch: since the thread was switched to */
	FLAME_FIELD,		/* the value of a field */
};

/**
 * struct flame - what is asked for, and what was found
 * @selection: which events
 * @symbols: names of functions that the trace does not tell
 * @weight, @field: what a stack weighs; the field's name for FLAME_FIELD
 * @reverse: the innermost frame first: who calls it, instead of what it calls
 * @threads: each thread for itself, not those of one name together
 * @unfinished: who had not run again at the end has been off until then
 * @no_kernel, @no_user: without these frames
 * @tree: of all stacks
 * @events: chosen ones, with a stack
 * @stackless: chosen ones, without
 * @lost: events that are missing in the trace
 * @torn, @torn_time: stretches of time that do not count, and how long they are: events are missing
 *	in them, or switches are not selected, so the thread may have done something else meanwhile
 * @pending, @pending_time: stretches that have no end, and how long they had lasted
 * @unknown: stretches that have no beginning, or whose end is missing
 * @idle: switches away from the idle task, which is never off or on
 * @unnamed: addresses of the kernel without a name, @user: of programs; different ones
 * @full: stacks that are as long as can be: what called the outermost is not known
 * @negative: values of the field that are below 0
 * @beyond: stacks that would have made the sum more than there are numbers for
 * @uncommitted: events that had not been written completely
 * @damaged, @fault: a block was not as it should be, the first of them
 */
struct flame {
	struct selection selection;
	struct symbols symbols;
	enum flame_weight weight;
	const char *field;
	bool reverse, threads, unfinished, no_kernel, no_user;

	struct flame_tree tree;
	uint64_t events, stackless, lost;
	uint64_t torn, torn_time, pending, pending_time, unknown, idle;
	uint64_t unnamed, user, full, negative, beyond;
	uint64_t uncommitted;
	bool     damaged;
	struct tb_error fault;
};

/* All events of the recording that is selected; 0, -errno */
int flame_collect(struct flame *flame, struct tb_trace *trace,
		  bool quiet);

/* "comm;frame;frame weight", a line for each stack */
int flame_collapsed(const struct flame *flame, FILE *out);

/**
 * struct flame_look - how the picture is drawn
 * @title: above it
 * @width: pixels, before anybody changes it
 * @least: pixels; narrower frames are left out
 * @inverted: callers above what they call
 */
struct flame_look {
	const char *title;
	uint32_t width;
	double   least;
	bool     inverted;
};

/* As SVG; -errno */
int flame_svg(const struct flame *flame, const struct flame_look *look, FILE *out);

/* Number @index of what is to be said about the result: 1; 0: no more */
int flame_remark(const struct flame *flame, unsigned int index, char *text,
		 size_t size);

/* "12.3 ms" or "4711 events" */
const char *flame_amount(const struct flame *flame, uint64_t weight,
			 char text[48]);


#endif /* TRACEBUF_FLAME_H */
