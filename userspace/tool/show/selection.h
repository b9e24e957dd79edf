/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Select events of a trace: the options and tests that print, export and others share.
 */
#ifndef TRACEBUF_SELECTION_H
#define TRACEBUF_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "event_filter.h"
#include "moment.h"

/**
 * struct selection - the selected events
 * @patterns: of names of events; none: all events
 * @cpus: with @cpu_list, a bit for each selected CPU
 * @cpu_list: the list as typed; NULL: all CPUs
 * @tids, @pids: only these threads, and threads of these processes; empty: any
 * @comm: only threads of this name, with * and ?; NULL: any
 * @cgroup: only threads in a cgroup of this path or name, with * and ?; NULL: any
 * @filter: only events for which it is true
 * @control: also control events
 * @threads: always records of threads, whatever else is selected
 * @base: the clock of times
 * @from, @to: events at @from or later and before @to
 * @recording: its number from 1; 0: the user chose none
 * @several: more than one recording is selected
 * @found: an event of any recording was selected
 * @lack: message about a time that a recording does not have; empty: there was none
 *
 * The rest is for the recording that selection_start() was called for.
 * @users: at least some records of programs are selected
 * @wanted: by format index: true if selected; NULL: all
 * @from_ticks, @to_ticks: @from and @to on the trace clock
 * @trace: the trace
 * @last_cgroup, @last_matches: cgroup of the last thread, and if it matches @cgroup
 */
struct selection {
	struct patterns patterns;
	struct cpu_bits cpus;
	const char *cpu_list;
	struct number_list tids, pids;
	const char *comm, *cgroup;
	struct event_filter filter;
	bool control, threads;
	enum tb_timebase base;
	struct moment from, to;
	uint32_t recording;
	bool several, found;
	char lack[1024];

	bool users;
	unsigned char *wanted;
	uint64_t from_ticks, to_ticks;
	const struct tb_trace *trace;
	uint32_t last_cgroup;
	bool last_matches;
};

#define THREADS_HELP \
	"      --pid PID,...     only the threads of these processes\n" \
	"      --comm NAME       only threads of this name; with * and ?\n" \
	"      --cgroup NAME     only threads in this container or cgroup: its name or its\n" \
	"                        whole path; with * and ?\n"
#define SELECTION_HELP \
	"  -e, --events LIST     only these: system, system:event, event; with * and ?;\n" \
	"                        user:CATEGORY; '!' before one leaves it out\n" \
	"  -C, --cpu LIST        only these CPUs, as in 0-3,7\n" \
	"  -t, --tid TID,...     only these threads\n" \
	THREADS_HELP \
	MOMENT_HELP \
	"  -T, --time BASE       show times of this clock: mono (default), boot, real\n" \
	"  -r, --recording N     if the file has several recordings: number N, from 1\n"

/* Returns 1 if @option was one of these, 0 if not, a negative number after complaining */
int selection_option(const struct command *command, int option,
		     const char *value, struct selection *selection);

/* The name of a clock, as for -T */
const char *timebase_name(enum tb_timebase base);

/* Check that every pattern matches an event in @count recordings from number @first on.  Complains,
 * EXIT_*.  Changes the selected recording of @trace */
int selection_check(struct selection *selection, struct tb_trace *trace,
		    const char *file, unsigned int first, unsigned int count);

/* Find the recordings of @trace that the options choose: @count from @first.  Complains, EXIT_* */
int selection_recordings(struct selection *selection, const struct tb_trace *trace,
			 const char *file, unsigned int *first, unsigned int *count);

/* Prepare for the selected recording of @trace.  If it does not have the times --from and --to: of
 * several recordings nothing of it is selected, of one complain.  EXIT_* */
int selection_start(struct selection *selection, struct tb_trace *trace, const char *file);

/* Select the recording that -r chooses, or the first, with a note that it is @done ("shown"); then
 * selection_check() and selection_start() for it.  Complains, EXIT_* */
int selection_one(struct selection *selection, struct tb_trace *trace, const char *file,
		  const char *done, unsigned int *number);

void selection_free(struct selection *selection);

static inline bool selection_wants_cpu(const struct selection *selection, uint32_t cpu)
{
	return !selection->cpu_list || (cpu < CPUS_MAX && has_cpu(&selection->cpus, cpu));
}

/* Call slices_before() if -e leaves out no switch, for a caller that gets all events of -e */
struct slices;
void selection_before(const struct selection *selection, const struct tb_trace *trace,
		      struct slices *slices);

/* True if -C leaves out a CPU of @trace */
bool selection_of_cpus(const struct selection *selection, const struct tb_trace *trace);

/* True if @view is after --to.  All later events are, too, because a cursor sorts events by time */
static inline bool selection_over(const struct selection *selection,
				  const struct tb_view *view)
{
	return view->ticks >= selection->to_ticks;
}

/* True if -e selects @view, or if it is a loss or a control event */
bool selection_wants_event(const struct selection *selection, const struct tb_view *view);

/* True if @view, an event or a loss, is selected */
bool selection_wants(struct selection *selection, const struct tb_view *view);

/* For commands that do not call selection_wants(): note if CPU, thread and time of @view are
 * selected */
void selection_finds(struct selection *selection, const struct tb_view *view);

/* True if thread @tid is selected, as @cursor (NULL: none) knows it now */
bool selection_wants_tid(struct selection *selection, const struct tb_cursor *cursor,
			 uint32_t tid);
/* True if a slice of thread @tid that ended on @cpu is selected, by CPU and thread */
bool selection_wants_slice(struct selection *selection, const struct tb_cursor *cursor,
			   uint32_t cpu, uint32_t tid);
/* As selection_wants_tid(), for a thread that had these properties at the time that counts */
bool selection_wants_task(struct selection *selection, const struct tb_task *task);

/* True if only some threads are selected */
bool selection_of_threads(const struct selection *selection);
/* " of thread 5 of process 4": the threads that are selected; "" if all are.  Return @text */
const char *selection_threads_text(const struct selection *selection, char *text, size_t size);

/* The time, in ticks, from which on all switches are selected; UINT64_MAX: -e leaves out some */
uint64_t selection_switches_from(const struct selection *selection);

/* True if options select only a part of the events */
bool selection_asks(const struct selection *selection);

/*
 * Print a note about events missing before --to.  The record of a gap is behind the gap, so it is
 * not selected if it is after --to.  0, -ENOMEM
 */
int selection_note_gaps(const struct selection *selection, const struct tb_trace *trace,
			const char *file);

/* Complain if no event was selected, and say why.  EXIT_* */
int selection_found(const struct selection *selection, struct tb_trace *trace,
		    const char *file);

#endif /* TRACEBUF_SELECTION_H */
