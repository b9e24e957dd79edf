/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Perfetto exporter - what its parts share.
 *
 *   perfetto.c                the walk through the trace; bundles of events
 *   event.c                   one event of the trace -> one Perfetto event
 *   plan.c                    how to do that, found out once for each format
 *   packet.c                  the packets around: machine, clocks, processes,
 *                             losses
 *   user.c                    what programs write: slices, counters, flows
 *   track.c                   where that is drawn, and names by number
 *   sample.c                  stacks and counters of events
 *   block.c                   requests to block devices
 *   bundle.c                  the events of one CPU on their way into a packet
 *   sched.c                   who is on a CPU; switches and wake-ups as columns
 *   pairs.c                   what lasts from one event to another
 *   loss.c                    a mark for each loss
 *   why.c                     the time of some threads, by causes
 *   task.c                    processes and threads, each told once
 *
 * Events are written to the wire straight from the trace, because there are
 * millions; by which rules is found out once for each format, from the
 * descriptions that protobuf-c generates of perfetto.proto.  Everything else
 * is filled into protobuf-c's structures and packed by it.
 */
#ifndef TRACEBUF_TOOL_EXPORT_PERFETTO_H
#define TRACEBUF_TOOL_EXPORT_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "tracebuf.h"
#include "tool/show/slots.h"
#include "tool/export/export.h"
#include "tool/export/common.h"
#include "perfetto/perfetto.pb-c.h"

/* Perfetto refuses a trace as a whole that has a CPU from here on */
#define PF_CPUS_MAX	1024
/* The largest event, without its time and thread; fields beyond are left out */
#define PF_BODY_MAX	(32u << 10)

/* ---- the wire ---- */

#define PF_VARINT_MAX	10

/* Wire types */
#define PF_VARINT	0u
#define PF_BYTES	2u

static inline uint8_t *pf_put_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline uint8_t *pf_put_tag(uint8_t *at, uint32_t field, uint32_t type)
{
	return pf_put_varint(at, (uint64_t)field << 3 | type);
}

static inline uint8_t *pf_put_data(uint8_t *at, const void *data, size_t size)
{
	memcpy(at, data, size);
	return at + size;
}

/* Bytes that the varint of @value takes: 7 bits in each */
static inline size_t pf_varint_size(uint64_t value)
{
	return ((64 - (unsigned int)__builtin_clzll(value | 1)) + 6) / 7;
}

/* ---- where the packets go ---- */

/* Different sets of counters that are told */
#define PF_STREAMS_MAX	32

/* Packets of one sequence come in order; the first says that it is */
enum pf_sequence {
	PF_SEQUENCE_SYSTEM = 1,
	PF_SEQUENCE_EVENTS = 2,
	PF_SEQUENCE_USER = 3,
	PF_SEQUENCE_BLOCK = 4,
	PF_SEQUENCE_LOSS = 5,
	PF_SEQUENCE_SAMPLES = 6,	/* of the first set, and those that follow */
	PF_SEQUENCE_WHY = PF_SEQUENCE_SAMPLES + PF_STREAMS_MAX,
	PF_SEQUENCES
};

struct pf_out {
	FILE *file;
	int error;			/* -errno of the first failure */
	bool begun[PF_SEQUENCES];
};

/**
 * pf_write - data as it is
 * Errors are kept in @out->error; nothing is written after the first.
 */
void pf_write(struct pf_out *out, const void *data, size_t size);

/** pf_flush - what stdio still has; errors as above */
void pf_flush(struct pf_out *out);

/** pf_write_packet - a packet, its sequence filled in */
void pf_write_packet(struct pf_out *out, unsigned int sequence,
		     Perfetto__Protos__TracePacket *packet);

/** pf_write_system - what machine and kernel the trace is of */
void pf_write_system(struct pf_out *out, const struct tb_trace *trace);

/** pf_write_clocks - @sync as a snapshot of the clocks */
void pf_write_clocks(struct pf_out *out, const struct tb_clock_sync *sync);

/** pf_write_tasks - all threads that @cursor knows now, @ns being the time */
int pf_write_tasks(struct pf_out *out, const struct tb_cursor *cursor,
		   uint64_t ns);

/** pf_write_task - what is new about one thread */
void pf_write_task(struct pf_out *out, const struct tb_task *task, uint64_t ns);

/** struct pf_accounting - the events of one CPU */
struct pf_accounting {
	uint64_t written, overwritten, dropped;
};

/**
 * pf_write_accounting - Perfetto's statistics of every CPU
 * @end: those of the end; those of the start are all zero
 */
int pf_write_accounting(struct pf_out *out, const struct pf_accounting *accounting,
		   unsigned int nr_cpus, bool end);

/**
 * pf_write_bundle - a bundle: @events, @size bytes of them, are on the wire
 * already
 * Errors, -ENOMEM among them, are kept in @out->error.
 */
void pf_write_bundle(struct pf_out *out,
		     const Perfetto__Protos__FtraceEventBundle *bundle,
		     const void *events, size_t size);

/* ---- events ---- */

struct pf_plans;

/**
 * struct pf_event - an event on its way
 * @field: which field of FtraceEvent it is
 * @tid: the thread it is of
 * @size: bytes of @body
 * @cut: something in it was too long
 * @body: the message in that field
 */
struct pf_event {
	uint32_t field;
	uint32_t tid;
	size_t   size;
	bool     cut;
	uint8_t  body[PF_BODY_MAX];
};

/* TASK_COMM_LEN of the kernel */
#define PF_COMM_MAX	16

/**
 * struct pf_current - who is on a CPU, as Perfetto sees it
 * @comm: "" where the switch did not tell
 * @known: there was a switch
 * @lost: nobody knows, because events are missing
 */
struct pf_current {
	uint32_t tid;
	int32_t  prio;
	char     comm[PF_COMM_MAX];
	bool     known, lost;
};

/** pf_plans_make - how each format of @trace is to be written; NULL: ENOMEM */
struct pf_plans *pf_plans_make(const struct tb_trace *trace, struct pf_out *out);
void pf_plans_free(struct pf_plans *plans);

/** pf_plans_say - on standard error: which fields Perfetto's messages have no place for */
void pf_plans_say(const struct pf_plans *plans);

/** pf_plan_is_known - does Perfetto have a message for the format number @index? */
bool pf_plan_is_known(const struct pf_plans *plans, unsigned int index);

/**
 * pf_encode - @view, an event with or without a format, as @event
 * @plain: as an event that Perfetto does not know
 */
void pf_encode(struct pf_plans *plans, const struct tb_view *view, bool plain,
	       struct pf_event *event);

/** pf_encode_mark - a text from user space */
void pf_encode_mark(const struct tb_view *view, struct pf_event *event);

/** pf_encode_lost - a loss, @first and @last being its span in ns */
void pf_encode_lost(const struct tb_view *view, uint64_t first, uint64_t last,
		    struct pf_event *event);

/* ---- bundles (bundle.c) ---- */

/* Switches, wake-ups and different names of threads in a bundle */
#define PF_COLUMN_MAX	1024
#define PF_COMMS_MAX	128

/* In this order Perfetto takes what is of the same time in a bundle */
enum pf_kind { PF_SWITCH, PF_WAKING, PF_EVENT, PF_KINDS };

struct pf_columns;

/**
 * struct pf_ring - the events of a CPU
 * @last, @last_ticks: time of the last event that the CPU recorded.  Ends that were not recorded do
 *	not count: one that another CPU's gap causes can be later than events of this CPU to come
 * @at: of the last one of each kind in this bundle
 * @from: nothing is missing from here on; 0: ever
 * @lost: something is missing before these
 * @tid: of the last event
 * @begun: there was an event
 */
struct pf_ring {
	struct pf_out *out;
	uint32_t cpu;
	uint8_t *data;
	size_t   used;
	struct pf_columns *columns;
	uint64_t first, last, last_ticks;
	uint64_t at[PF_KINDS];
	uint64_t from;
	bool     lost, begun;
	uint32_t tid;
	struct pf_current current;
};

void pf_ring_free(struct pf_ring *ring);

/** pf_ring_flush - write what there is */
void pf_ring_flush(struct pf_ring *ring);

/** pf_ring_time - the time of an event of the CPU: @ns, but not before its event before */
uint64_t pf_ring_time(struct pf_ring *ring, uint64_t ticks, uint64_t ns);

/* Put something of time @ns into the bundle; -errno.  Events may be of the past */
int pf_ring_event(struct pf_ring *ring, uint64_t ns, const struct pf_event *event);
int pf_ring_body(struct pf_ring *ring, uint64_t ns, uint32_t tid, uint32_t field,
		 const void *body, size_t size);
int pf_ring_switch(struct pf_ring *ring, uint64_t ns, int64_t prev_state, uint32_t pid,
		   int32_t prio, const char *comm);
int pf_ring_waking(struct pf_ring *ring, uint64_t ns, uint32_t pid, int32_t cpu, int32_t prio,
		   const char *comm, uint32_t flags);

/* ---- who is on a CPU (sched.c) ---- */

struct pf_sched;

/**
 * pf_sched_open - NULL: ENOMEM
 * @switches: there are events of them
 */
struct pf_sched *pf_sched_open(const struct tb_trace *trace, const struct tb_cursor *cursor,
			       const struct pf_plans *plans, bool switches);
void pf_sched_close(struct pf_sched *sched);

/** pf_sched_seen - before @view, an event of @tid: who is on the CPU, if Perfetto does not know */
int pf_sched_seen(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view,
		  uint32_t tid, uint64_t ns);
/** pf_sched_lost - events are missing from @first to @last: nobody is known to be on the CPU */
int pf_sched_lost(struct pf_sched *sched, struct pf_ring *ring, uint64_t first, uint64_t last);
/** pf_sched_selected - the selection changes; @selected: switches are recorded from now on */
void pf_sched_selected(struct pf_sched *sched, bool selected);
/**
 * pf_sched_take - a switch or a wake-up as columns
 * Return: 1 done; 0 it must be written as an event; -errno.
 */
int pf_sched_take(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view,
		  uint64_t ns);
/** pf_sched_switched - @view, if a switch, has been written */
void pf_sched_switched(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view);

/* ---- what lasts from one event to another (pairs.c) ---- */

struct pf_pairs;

/* Where ends go that were not recorded */
struct pf_end_to {
	int (*write)(void *context, uint32_t cpu, uint32_t tid, uint64_t ns, uint32_t field,
		     const void *body, size_t size);
	void *context;
};

/* pf_pairs_take(): how the event is to be written */
enum { PF_PAIR_KNOWN, PF_PAIR_PLAIN };

/* NULL: ENOMEM */
struct pf_pairs *pf_pairs_open(const struct tb_trace *trace, const struct pf_plans *plans,
			       unsigned int nr_cpus, bool switches, const struct pf_end_to *to);
void pf_pairs_close(struct pf_pairs *pairs);
/** pf_pairs_take - @view, an event of @tid with a format: PF_PAIR_*, -errno */
int pf_pairs_take(struct pf_pairs *pairs, const struct tb_view *view, uint32_t tid, uint64_t ns);
/** pf_pairs_lost - events of @cpu are missing from @ns to @last; @tid (0: not known) was there */
int pf_pairs_lost(struct pf_pairs *pairs, uint32_t cpu, uint32_t tid, uint64_t ns, uint64_t last);
/** pf_pairs_writes - the program @tid has written something */
int pf_pairs_writes(struct pf_pairs *pairs, uint32_t tid);
/** pf_pairs_finish - the trace ends: so does what has been in doubt */
int pf_pairs_finish(struct pf_pairs *pairs);

/* ---- losses (loss.c) ---- */

/** struct pf_losses - which tracks have been told of */
struct pf_losses {
	struct pf_out *out;
	struct slots tracks;
	bool begun;
};

/** pf_loss_write - a loss of @cpu, from @first to @last */
int pf_loss_write(struct pf_losses *losses, const struct tb_view *view, uint64_t first,
		  uint64_t last);
void pf_losses_free(struct pf_losses *losses);

/* ---- processes and threads (task.c) ---- */

struct pf_tasks;

/**
 * pf_tasks_open - NULL: ENOMEM
 * @forks: there are events task_newtask: who comes with one needs not be told of
 */
struct pf_tasks *pf_tasks_open(struct pf_out *out, const struct tb_cursor *cursor,
			       const struct tb_trace *trace, bool forks);
void pf_tasks_close(struct pf_tasks *tasks);
/** pf_tasks_begin - the threads that there are at the start, at @ns */
int pf_tasks_begin(struct pf_tasks *tasks, uint64_t ns);
/** pf_tasks_thread - a record of a thread */
int pf_tasks_thread(struct pf_tasks *tasks, const struct tb_view *view, uint64_t ns);
/** pf_tasks_event - any event with a format */
int pf_tasks_event(struct pf_tasks *tasks, const struct tb_view *view);
/** pf_tasks_finish - the trace ends */
int pf_tasks_finish(struct pf_tasks *tasks);

/* ---- what programs write ---- */

struct pf_user;

struct pf_tracks;

/* @cursor: that events come from; NULL: ENOMEM */
struct pf_user *pf_user_open(struct pf_tracks *tracks, const struct tb_cursor *cursor);
void pf_user_close(struct pf_user *user);

/**
 * pf_user_write - @view, a record of a program or a loss of some
 * @ns: its time; @end_ns: a slice's end
 * Return: 0, -ENOMEM; errors of writing are in the struct pf_out.
 */
int pf_user_write(struct pf_user *user, const struct tb_view *view,
		  uint64_t ns, uint64_t end_ns);

/** pf_user_say - on standard error: what could not be shown as it is */
void pf_user_say(const struct pf_user *user);

/* ---- stacks and counters (sample.c) ---- */

struct pf_samples;

/* NULL: ENOMEM */
struct pf_samples *pf_samples_open(struct pf_out *out, const struct tb_trace *trace);
void pf_samples_close(struct pf_samples *samples);
/** pf_samples_write - what @view, of thread @tid of process @pid, has of them; -errno */
int pf_samples_write(struct pf_samples *samples, const struct tb_view *view, uint64_t ns,
		     uint32_t tid, uint32_t pid);
void pf_samples_say(const struct pf_samples *samples);

/* ---- requests to block devices (block.c) ---- */

struct pf_block;

/* NULL: ENOMEM */
struct pf_block *pf_block_open(struct pf_out *out, const struct tb_trace *trace);
void pf_block_close(struct pf_block *block);
/** pf_block_write - @view, an event with a format; any other kind is left alone; -errno */
int pf_block_write(struct pf_block *block, const struct tb_view *view, uint64_t ns);
/** pf_block_lost - events are missing from @ns on: completions may be */
void pf_block_lost(struct pf_block *block, uint64_t ns);
/** pf_block_finish - the trace ends: so do requests whose completion may be missing */
int pf_block_finish(struct pf_block *block);
void pf_block_say(const struct pf_block *block);

/* ---- where the time of threads went (why.c) ---- */

struct why_threads;

/**
 * pf_why_write - a track for each of @threads, with a slice for each stretch of each cause
 * @stop: not zero once told to stop; NULL: never
 * Return: 0, -ENOMEM, -EINTR.
 */
int pf_why_write(struct pf_tracks *tracks, const struct why_threads *threads,
		 const volatile sig_atomic_t *stop);

/* ---- tracks and names (track.c) ---- */

enum pf_known_kind {
	PF_PROCESS, PF_THREAD, PF_CHILD, PF_COUNTER, PF_NAME, PF_CATEGORY, PF_ARG, PF_SYMBOL,
	PF_LANE, PF_WHY,
};

/**
 * struct pf_known - a track or a name that has been told of
 * @number: its uuid, or iid
 * @owner: PF_THREAD: the writer that draws there, plus 1
 */
struct pf_known {
	enum pf_known_kind kind;
	uint32_t high, low;
	uint64_t number;
	uint32_t owner;
};

struct pf_tracks {
	void    *tree;
	uint64_t number;	/* the last that was given */
	struct pf_out *out;
};

void pf_tracks_free(struct pf_tracks *tracks);

/** pf_known - the track or name of @kind with these numbers; @fresh: it is new; NULL: ENOMEM */
struct pf_known *pf_known(struct pf_tracks *tracks, enum pf_known_kind kind,
			  uint32_t high, uint32_t low, bool *fresh);

/** pf_track_* - told of, if it was not; NULL: ENOMEM.  @comm: name of the process, thread; "" */
struct pf_known *pf_track_process(struct pf_tracks *tracks, uint32_t pid,
				  const char *comm);
struct pf_known *pf_track_thread(struct pf_tracks *tracks, uint32_t pid,
				 uint32_t tid, const char *comm);
/* Below @parent, for a writer that cannot be drawn there */
struct pf_known *pf_track_child(struct pf_tracks *tracks, uint64_t parent,
				uint32_t writer, uint32_t writer_id);
/* Below @parent, number @lane for slices of a writer that overlap */
struct pf_known *pf_track_lane(struct pf_tracks *tracks, uint64_t parent, uint32_t writer,
			       uint32_t writer_id, uint32_t lane);
/* Below @parent, for the causes of thread @tid */
struct pf_known *pf_track_why(struct pf_tracks *tracks, uint64_t parent, uint32_t tid,
			      const char *comm);
struct pf_known *pf_track_counter(struct pf_tracks *tracks, uint64_t process,
				  uint32_t producer, uint32_t name_id,
				  const char *name, const char *category);

#endif /* TRACEBUF_TOOL_EXPORT_PERFETTO_H */
