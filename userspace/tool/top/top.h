/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf top - the interface between its parts: read a recording while it is made, compute the
 * figures of the last interval, show them.
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
#include "analysis/map.h"
#include "tool/choose/choose.h"
#include "tool/choose/setup.h"
#include "tool/command/command.h"

/* ---- the process that cleans up (guard.c) ---- */

/**
 * struct top_guard - a process that removes the provider and restores the terminal when this
 *	process has ended in any way
 * @pid: 0: there is none
 * @pipe: our end of the pipe that it reads
 */
struct top_guard {
	pid_t pid;
	int   pipe;
};

/* Start it, before opening files that it must not inherit; 0, -errno */
int top_guard_start(struct top_guard *guard, const char *provider);
/* The provider exists from now on */
void top_guard_provider(struct top_guard *guard);
/* From now on the terminal is in the modes of the screen (@on), or restored */
void top_guard_screen(struct top_guard *guard, bool on);
/* Wait until it has cleaned up; the caller has closed all other files.  EXIT_* */
int top_guard_end(struct top_guard *guard);

/* ---- the recording (source.c) ---- */

/**
 * struct top_source - the source of events
 * @provider: another program's provider; NULL: create one
 * @own: this program has created the provider
 * @input: a stream or a file instead ("-": standard input)
 * @choice: events to record on an own provider
 * @setup: buffers of an own provider
 * @hold_ms: the time that events may be held back to sort them
 * @analysis: of the events since @since
 * @next: a new analysis that will replace @analysis; NULL: none
 * @most: the number of tasks in @analysis before it is replaced
 * @grows: follow a regular file until its recording has been stopped, not only to its present end
 * @regular: @input is a regular file
 * @whole: it is complete: read as a whole
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

	const char *called;		/* the name to show */
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
	bool grows, regular, whole, more, fresh, ended;
};

/* Open the source, start an own recording; complains, EXIT_* */
int top_source_open(struct top_source *source);
/* Read events until @until (ns of CLOCK_MONOTONIC), or a signal; 0, -errno */
int top_source_read(struct top_source *source, uint64_t until);
/* Replace an analysis with too many tasks.  1: done, all counts begin at 0; 0, -errno */
int top_source_renew(struct top_source *source);
/* Complains, EXIT_* */
int top_source_close(struct top_source *source);

/* ---- names of containers (containers.c) ---- */

/**
 * struct top_containers - the names that are known
 * @groups: for each ID of a cgroup
 * @scanned: time of the last look at the cgroups of this machine, CLOCK_MONOTONIC in ns
 * @missing: top_container() did not know a name
 */
struct top_containers {
	struct map groups;
	uint64_t scanned;
	bool missing;
};

/* Look up missing names on this machine, if the source is its device */
void top_containers_find(struct top_containers *containers, const struct top_source *source);
/* The name of a container, else of the cgroup; valid until the next look-up.  "?": not known */
const char *top_container(struct top_containers *containers, const struct top_source *source,
			  uint32_t cgroup);
void top_containers_free(struct top_containers *containers);

/* ---- the figures of an interval (sample.c) ---- */

enum top_view {
	TOP_TASKS, TOP_EVENTS, TOP_IRQS, TOP_CALLS, TOP_LATENCY, TOP_CPUS, TOP_CONTAINERS,
	TOP_VIEWS,
};

#define TOP_VALUES 9
#define TOP_NAME 64

/**
 * struct top_row - a line of a table
 * @name: printable
 * @id: a number for filters: of a thread, an interrupt, a CPU
 * @values: in the order of columns
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
 * @unknown: time without a known thread, because events are missing or none has come yet
 */
struct top_cpu {
	bool   seen;
	double busy, idle, irq, softirq, unknown;
};

/**
 * struct top_picture - the figures that are shown
 * @ns: length of the interval
 * @taken: time of the sample
 * @nr_tasks: number of tasks that have not ended
 * @events, @switches, @wakeups, @irqs, @softirqs, @calls: number per second
 * @lost: lost events in the interval
 * @lost_all: lost events since the start, as the device or the stream counts them
 * @late: events out of order since the start
 * @behind: ns from the last event that was read to now
 * @median, @high, @max: ns from wake-up to running in the interval
 * @waits: number of these wake-ups
 * @all_high, @all_max: the same since @since
 * @since: beginning of all figures that are not of the interval
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

/* Counts at the end (@is) and beginning (@was) of an interval */
struct top_counts;
struct top_sampler {
	struct top_counts *is, *was;
	struct top_containers containers;
	bool begun;
};

int top_sampler_start(struct top_sampler *sampler);
void top_sampler_free(struct top_sampler *sampler);
/* Fill in @picture (NULL: nothing) with the figures since the last call.  0, -errno */
int top_sample(struct top_sampler *sampler, struct top_source *source,
	       struct top_picture *picture);
void top_picture_free(struct top_picture *picture);

/* ---- as text (text.c) ---- */

/**
 * struct top_look - how the picture is shown
 * @view: the table that is shown
 * @sort: for each table, the column to sort by; TOP_VALUES: the name
 * @reverse: for each table, reverse the order
 * @filter: for each table, part of a name, or a number; "": all rows
 * @quiet: also show rows without activity in the interval
 * @paused: the picture is not updated
 * @interval: s
 * @first: the first row that is shown
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
 * struct top_lines - the output of lines
 * @width, @height: 0: unlimited
 * @put: called for each line, without a newline, at most @width bytes
 */
struct top_lines {
	unsigned int width, height;
	void (*put)(void *context, enum top_line kind, const char *text);
	void *context;
};

void top_look_start(struct top_look *look);
/* Put all lines; return the number of rows that pass the filter */
size_t top_show(struct top_picture *picture, struct top_look *look,
		const char *called, const struct top_lines *lines);

/* "tasks"; NULL beyond the last */
const char *top_view_name(unsigned int view);
/* Sort by the next (@step 1) or previous (-1) column */
void top_sort_step(struct top_look *look, int step);
/* Sort by the column, the title of which begins with @name; false: there is none */
bool top_sort_by(struct top_look *look, const char *name);

/* ---- on the screen (screen.c) ---- */

/* Run until the user quits, after @rounds refreshes (0: any number), or a signal; EXIT_* */
int top_screen(struct top_source *source, struct top_look *look, uint32_t rounds);

/* Not zero after a signal that ends the command (cmd/top.c sets it) */
extern volatile sig_atomic_t top_stop_signal;

#endif /* TRACEBUF_TOP_H */
