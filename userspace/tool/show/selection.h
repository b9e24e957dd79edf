/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which events of a trace are shown: what print and export have in common.
 */
#ifndef TRACEBUF_SELECTION_H
#define TRACEBUF_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "moment.h"

/**
 * struct selection - which events
 * @patterns: of their names, none: all
 * @cpu, @tid: of this one alone, if @one_cpu, @one_tid
 * @pid: of the threads of this process, 0: any
 * @comm: of threads of this name, with * and ?, NULL: any
 * @cgroup: of threads in a cgroup of this path or name, with * and ?, NULL: any
 * @control: control events, too
 * @threads: at least those that tell of threads, whatever else is asked for
 * @base: the clock that times are of
 * @from, @to: the first moment, and the first one no more
 * @recording: number of it, from 1; 0: none was asked for
 * @several: of more than one recording
 * @found: some event was selected, of any recording
 * @lack: which time a recording does not have, as a message; empty: none was missing
 *
 * The rest is for the recording that selection_start() was called for.
 * @users: records of programs are wanted, some at least
 * @wanted: by format index, NULL: all
 * @from_ticks, @to_ticks: the moments on the trace clock
 * @trace: the trace
 * @last_cgroup, @last_matches: of the thread before
 */
struct selection {
	struct patterns patterns;
	uint32_t cpu, tid, pid;
	const char *comm, *cgroup;
	bool one_cpu, one_tid, control, threads;
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

#define SELECTION_SHORT "e:C:t:T:r:"
#define SELECTION_LONG \
	{ "events",    required_argument, NULL, 'e' }, \
	{ "cpu",       required_argument, NULL, 'C' }, \
	THREADS_LONG, \
	{ "time",      required_argument, NULL, 'T' }, \
	{ "recording", required_argument, NULL, 'r' }, \
	{ "from",      required_argument, NULL, OPTION_FROM }, \
	{ "to",        required_argument, NULL, OPTION_TO }
#define THREADS_LONG \
	{ "tid",       required_argument, NULL, 't' }, \
	{ "pid",       required_argument, NULL, OPTION_PID }, \
	{ "comm",      required_argument, NULL, OPTION_COMM }, \
	{ "cgroup",    required_argument, NULL, OPTION_CGROUP }
#define THREADS_HELP \
	"      --pid PID         only the threads of this process\n" \
	"      --comm NAME       only threads of this name; with * and ?\n" \
	"      --cgroup NAME     only threads in this container or cgroup: its name or its\n" \
	"                        whole path; with * and ?\n"
#define SELECTION_HELP \
	"  -e, --events LIST     only these: system, system:event, event; with * and ?;\n" \
	"                        user:CATEGORY\n" \
	"  -C, --cpu N           only this CPU\n" \
	"  -t, --tid N           only this thread\n" \
	THREADS_HELP \
	MOMENT_HELP \
	"  -T, --time BASE       show times of this clock: mono (default), boot, real\n" \
	"  -r, --recording N     if the file has several recordings: number N, from 1\n"

/* Returns 1 if @option was one of these, 0 if not, -1 after complaining */
int selection_option(const struct command *command, int option,
		     const char *value, struct selection *selection);

/* Does every pattern match something in one of @count recordings from number @first on?
 * Complains, EXIT_*.  Another recording of the trace is selected then. */
int selection_check(struct selection *selection, struct tb_trace *trace,
		    const char *file, unsigned int first, unsigned int count);

/* Which recordings of @trace are chosen: @count from @first on.  Complains, EXIT_* */
int selection_recordings(struct selection *selection, const struct tb_trace *trace,
			 const char *file, unsigned int *first, unsigned int *count);

/* Select the one that is chosen, or the first, of which it is said that it is @done ("shown").
 * Complains, EXIT_* */
int selection_one(struct selection *selection, struct tb_trace *trace, const char *file,
		  const char *done, unsigned int *number);

/* For the recording of @trace that is selected.  One of several recordings without the time that is
 * asked for has nothing selected; else this complains.  EXIT_* */
int selection_start(struct selection *selection, struct tb_trace *trace, const char *file);

void selection_free(struct selection *selection);

/* Events are in order of time: is this one, and are all after it, too late? */
static inline bool selection_over(const struct selection *selection,
				  const struct tb_view *view)
{
	return view->ticks >= selection->to_ticks;
}

/* Is it one of the events that -e asks for?  Losses and control events are of all */
bool selection_wants_event(const struct selection *selection, const struct tb_view *view);

/* Is this event or loss selected? */
bool selection_wants(struct selection *selection, const struct tb_view *view);

/* For those who do not ask for each event: note whether CPU, thread and time of this one are
 * selected */
void selection_finds(struct selection *selection, const struct tb_view *view);

/* Is thread @tid selected, as it is known where @cursor is, which may be NULL? */
bool selection_wants_tid(struct selection *selection, const struct tb_cursor *cursor,
			 uint32_t tid);

/* Are only some threads selected? */
bool selection_of_threads(const struct selection *selection);

/* Is less selected than all there is? */
bool selection_asks(const struct selection *selection);

/*
 * Note the events that are missing before --to.  What tells of a gap is behind it, and not selected
 * if the gap ends later than --to.  0, -ENOMEM
 */
int selection_note_gaps(const struct selection *selection, const struct tb_trace *trace,
			const char *file);

/* Of all that came by nothing was selected: complains, EXIT_* */
int selection_found(const struct selection *selection, const struct tb_trace *trace,
		    const char *file);

#endif /* TRACEBUF_SELECTION_H */
