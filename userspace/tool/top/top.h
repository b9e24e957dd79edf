/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf top, inside: a recording while it is made, what it says of the last
 * interval, and how that is shown.
 */
#ifndef TRACEBUF_TOP_H
#define TRACEBUF_TOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "tracebuf.h"
#include "analysis/analysis.h"
#include "tool/choose/choose.h"
#include "tool/choose/setup.h"
#include "tool/command/command.h"

/* ---- whoever cleans up (guard.c) ---- */

/**
 * struct top_guard - a process that removes the provider and puts the terminal right when this one
 * has ended, however that was
 * @pid: 0: there is none
 * @pipe: what it listens to; its end is ours
 */
struct top_guard {
	pid_t pid;
	int   pipe;
};

/* Before anything is opened that it must not have; 0, -errno */
int top_guard_start(struct top_guard *guard, const char *provider);
/* The provider is there from now on */
void top_guard_provider(struct top_guard *guard);
/* The terminal is (not) ours from now on */
void top_guard_screen(struct top_guard *guard, bool on);
/* Everything else is closed: until it has cleaned up.  EXIT_* */
int top_guard_end(struct top_guard *guard);

/* ---- the recording (source.c) ---- */

/**
 * struct top_source - where the events come from
 * @provider: its name; @own: made by this program
 * @input: a stream or a file instead ("-": standard input)
 * @choice: events to record, on a provider of our own
 * @setup: its buffers
 * @hold_ms: how long events may be held back to get them in order
 * @analysis: of the events since @since
 * @next: another one that begins to know, to take its place
 * @most: tasks that it may know of before that
 * @grows: follow a regular file until its recording has been stopped, not only to its present end
 * @regular: @input is a regular file
 * @more: a regular file has unread events: no interval ends before all are read
 * @fresh: events have been read since the caller last cleared this
 * @ended: another program stopped the recording, or @input has no more
 */
struct top_source {
	const char *provider, *input;
	bool own;
	struct choice choice;
	struct setup setup;
	uint32_t hold_ms;

	const char *called;		/* what it is called */
	char name[TB_PROVIDER_NAME_MAX];
	struct top_guard guard;
	struct tb_device *device;	/* NULL: @input */
	int fd;
	struct tb_query query;
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct analysis *analysis, *next;
	time_t since;
	unsigned int most;
	bool grows, regular, more, fresh, ended;
};

/* A running recording; complains, EXIT_* */
int top_source_open(struct top_source *source);
/* Take events in until @until (ns of CLOCK_MONOTONIC), or a signal; 0, -errno */
int top_source_read(struct top_source *source, uint64_t until);
/* Is it to be forgotten who has ended?  1: all is counted from 0 again; 0, -errno */
int top_source_renew(struct top_source *source);
/* EXIT_* */
int top_source_close(struct top_source *source);

uint64_t top_now(void);

/* ---- what happened in an interval (sample.c) ---- */

enum top_view {
	TOP_TASKS, TOP_EVENTS, TOP_IRQS, TOP_CALLS, TOP_LATENCY, TOP_CPUS,
	TOP_VIEWS,
};

#define TOP_VALUES 9
#define TOP_NAME 64

/**
 * struct top_row - a line of a table
 * @name: printable
 * @id: what can be asked for by number: a thread, an interrupt, a CPU
 * @values: of its columns, in their order
 * @quiet: nothing happened in the interval
 */
struct top_row {
	char   name[TOP_NAME];
	uint32_t id;
	double values[TOP_VALUES];
	bool   quiet;
};

struct top_table {
	struct top_row *rows;
	size_t count, room;
};

/**
 * struct top_cpu - a CPU in the interval, percent
 * @unknown: what is not known, because events are missing or none has come yet
 */
struct top_cpu {
	bool   seen;
	double busy, idle, irq, softirq, unknown;
};

/**
 * struct top_picture - what is shown
 * @ns: length of the interval; @taken: when that was
 * @nr_tasks: that have not ended
 * @events, @switches, @wakeups, @irqs, @softirqs, @calls: a second
 * @lost: in the interval; @lost_all: since the start, as the device counts them (of a
 *	stream as it tells)
 * @late: events shown out of order, since the start
 * @behind: ns from the last event that was looked at to now
 * @median, @high, @max, @waits: of wake-up to running in the interval, ns; how many
 * @all_high, @all_max: since @since, as all that is not of the interval
 */
struct top_picture {
	uint64_t ns;
	time_t   taken;
	unsigned int nr_tasks;
	double events, switches, wakeups, irqs, softirqs, calls;
	uint64_t lost, lost_all, late, behind;
	uint64_t median, high, max, waits, all_high, all_max;
	time_t   since;
	uint32_t has;
	struct top_cpu *cpus;
	unsigned int nr_cpus;
	struct top_table tables[TOP_VIEWS];
};

/* Numbers that only grow, at two moments */
struct top_counts;
struct top_sampler {
	struct top_counts *is, *was;
	bool begun;
};

int top_sampler_start(struct top_sampler *sampler);
void top_sampler_free(struct top_sampler *sampler);
/* What has happened since the last call; @picture: NULL, nothing is shown.  0, -errno */
int top_sample(struct top_sampler *sampler, struct top_source *source,
	       struct top_picture *picture);
void top_picture_free(struct top_picture *picture);

/* ---- as text (text.c) ---- */

/**
 * struct top_look - how the picture is looked at
 * @view: which table
 * @sort: by which column, of each; TOP_VALUES: by name
 * @reverse: the other way round
 * @filter: of each, part of a name, or a number; "": all
 * @quiet: what did nothing, too
 * @paused: the picture is not the newest
 * @interval: s
 * @first: row that is shown first
 */
struct top_look {
	enum top_view view;
	unsigned int sort[TOP_VIEWS];
	bool reverse[TOP_VIEWS];
	char filter[TOP_VIEWS][TOP_NAME];
	bool quiet, paused;
	double interval;
	size_t first;
};

enum top_line { TOP_PLAIN, TOP_TITLE, TOP_WARN, TOP_HEAD, TOP_DIM };

/**
 * struct top_lines - where lines go
 * @width, @height: 0: as much as there is
 * @put: called for each, without a newline, @width bytes at most
 */
struct top_lines {
	unsigned int width, height;
	void (*put)(void *context, enum top_line kind, const char *text);
	void *context;
};

void top_look_start(struct top_look *look);
/* Returns how many rows there are that pass the filter */
size_t top_show(struct top_picture *picture, struct top_look *look,
		const char *called, const struct top_lines *lines);

/* "tasks"; NULL beyond the last */
const char *top_view_name(unsigned int view);
/* The next (@step 1) or previous column to sort by */
void top_sort_step(struct top_look *look, int step);
/* By the column that begins with @name (as typed); false: there is none */
bool top_sort_by(struct top_look *look, const char *name);

/* ---- on the screen (screen.c) ---- */

/* Until it is quit, @rounds refreshes (0: any number), or told to stop; EXIT_* */
int top_screen(struct top_source *source, struct top_look *look, uint32_t rounds);

/* A signal came that ends it (cmd/top.c) */
extern volatile sig_atomic_t top_told_to_stop;

#endif /* TRACEBUF_TOP_H */
