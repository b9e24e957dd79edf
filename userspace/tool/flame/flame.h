/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf flamegraph - the interface between its parts: make a tree of the stacks of events, write
 * the tree as text or picture.
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
	FLAME_EVENTS = 0,	/* 1 for each event */
	FLAME_OFF_CPU,		/* sched_switch: time until the thread runs again */
	FLAME_ON_CPU,		/* sched_switch: time since the thread was switched to */
	FLAME_FIELD,		/* the value of a field */
};

/**
 * struct flame - options, and the result
 * @selection: the selected events
 * @symbols: names of functions that the trace does not have
 * @weight: the weight of a stack
 * @field: FLAME_FIELD: the name of the field
 * @reverse: the innermost frame first, and its callers behind it
 * @threads: separate threads of the same name
 * @unfinished: count a thread that has not run again as off the CPU until the end
 * @no_kernel, @no_user: leave out these frames
 * @tree: of all stacks
 * @events: number of selected events with a stack
 * @stackless: number of selected events without a stack
 * @lost: events that are missing in the trace
 * @torn, @torn_time: number and length of stretches of time that are left out: events are missing
 *	in them, or switches are not selected, so the thread may have run meanwhile
 * @pending, @pending_time: number of stretches without an end, and their length so far
 * @unknown: stretches without a beginning, or with a missing end
 * @idle: switches away from idle tasks, which have no time on or off the CPU
 * @unnamed, @user: different addresses of the kernel and of programs without a name
 * @full: stacks with the maximum number of frames: outer callers are unknown
 * @negative: events without the field, or with a value below 0
 * @beyond: events that were left out, because the sum would overflow
 * @uncommitted: events that had not been written completely
 * @damaged, @fault: a block is damaged; the first one
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

/* Read all events of the selected recording; 0, -errno */
int flame_collect(struct flame *flame, struct tb_trace *trace,
		  bool quiet);

/* Write "comm;frame;frame weight", a line for each stack */
int flame_collapsed(const struct flame *flame, FILE *out);

/**
 * struct flame_look - how the picture is drawn
 * @title: above the picture
 * @width: pixels, until the script fits it to the window
 * @least: pixels: narrower frames are left out
 * @inverted: draw callers above their callees
 */
struct flame_look {
	const char *title;
	uint32_t width;
	double   least;
	bool     inverted;
};

/* Write SVG; 0, -EIO */
int flame_svg(const struct flame *flame, const struct flame_look *look, FILE *out);

/* Write remark number @index about the result; 1: done; 0: there are no more */
int flame_remark(const struct flame *flame, unsigned int index, char *text,
		 size_t size);

/* "12.3 ms" or "4711 events" */
const char *flame_amount(const struct flame *flame, uint64_t weight,
			 char text[48]);


#endif /* TRACEBUF_FLAME_H */
