/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Perfetto exporter - the interface between its parts.
 *
 *   perfetto.c                read the trace, pass events to the parts below
 *   event.c                   encode one event of the trace as one Perfetto event
 *   plan.c                    for each format: how to encode its events
 *   packet.c                  packets of machine, clocks, processes, losses
 *   user.c                    records of programs: slices, counters, flows
 *   track.c                   tracks for these records; numbers of names
 *   sample.c                  stacks and counters of events
 *   block.c                   requests to block devices
 *   bundle.c                  collect the events of one CPU into a packet
 *   sched.c                   which thread is on a CPU; switches and wake-ups as columns
 *   pairs.c                   slices that last from one event to another
 *   loss.c                    a slice for each loss
 *   why.c                     where the time of the threads of --why went
 *   task.c                    processes and threads, each written once
 *
 * Millions of events are encoded straight from the trace, by a plan for each format.  plan.c makes
 * the plans from the descriptors that protobuf-c generates from perfetto.proto.  All other packets
 * are structures of protobuf-c, which packs them.
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

/* Perfetto refuses a trace that has a CPU with this number or a higher one */
#define PF_CPUS_MAX	1024
/* Bytes of an event without its time and thread; fields that do not fit are left out */
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

static inline uint8_t *pf_put_bytes(uint8_t *at, uint32_t field, const void *data, size_t size)
{
	return pf_put_data(pf_put_varint(pf_put_tag(at, field, PF_BYTES), size), data, size);
}

/* Bytes that the varint of @value takes: 7 bits in each */
static inline size_t pf_varint_size(uint64_t value)
{
	return ((64 - (unsigned int)__builtin_clzll(value | 1)) + 6) / 7;
}

/* ---- packets ---- */

/* Different sets of counters; samples of further sets are left out */
#define PF_STREAMS_MAX	32

/* Packets of one sequence are in order, and the first one is marked */
enum pf_sequence {
	PF_SEQUENCE_SYSTEM = 1,
	PF_SEQUENCE_EVENTS = 2,
	PF_SEQUENCE_USER = 3,
	PF_SEQUENCE_BLOCK = 4,
	PF_SEQUENCE_LOSS = 5,
	PF_SEQUENCE_SAMPLES = 6,	/* of the first set of counters; the next sets follow */
	PF_SEQUENCE_WHY = PF_SEQUENCE_SAMPLES + PF_STREAMS_MAX,
	PF_SEQUENCES
};

/* TracePacket.sequence_flags: names of the sequence begin anew; the packet needs names */
enum { PF_CLEARED = 1, PF_NEEDED = 2 };

struct pf_out {
	FILE *file;
	int error;			/* -errno of the first failure */
	bool begun[PF_SEQUENCES];
};

/* All functions that write keep the first error in @out->error, and write nothing after it */

/** pf_flush - write what stdio has buffered */
void pf_flush(struct pf_out *out);

/* Set a field that a message need not have */
#define PF_SET(message, field, content) \
	((message)->has_##field = 1, (message)->field = (content))

/** pf_string - fill in @string, which has number @iid */
void pf_string(Perfetto__Protos__InternedString *string, uint64_t iid, const char *text);

/** pf_write_packet - fill in the sequence of @packet and write it */
void pf_write_packet(struct pf_out *out, unsigned int sequence,
		     Perfetto__Protos__TracePacket *packet);

/** pf_write_track - describe track @uuid below @parent (0: none), at time @ns (0: none) */
void pf_write_track(struct pf_out *out, Perfetto__Protos__TrackDescriptor *track,
		    uint64_t uuid, uint64_t parent, uint64_t ns);

/** pf_write_track_event - write @event; @names: names that it is the first to use, or NULL */
void pf_write_track_event(struct pf_out *out, unsigned int sequence,
			  Perfetto__Protos__TrackEvent *event,
			  Perfetto__Protos__TrackEvent__Type type, uint64_t track, uint64_t ns,
			  Perfetto__Protos__InternedData *names);

/** pf_note - add an annotation to @event, in the next of @notes; pf_note_*() set its value, too */
Perfetto__Protos__DebugAnnotation *pf_note(Perfetto__Protos__TrackEvent *event,
					   Perfetto__Protos__DebugAnnotation *notes,
					   const char *name);
void pf_note_number(Perfetto__Protos__TrackEvent *event, Perfetto__Protos__DebugAnnotation *notes,
		    const char *name, uint64_t number);
void pf_note_text(Perfetto__Protos__TrackEvent *event, Perfetto__Protos__DebugAnnotation *notes,
		  const char *name, const char *text);

/** pf_write_system - write the machine and the kernel of the trace */
void pf_write_system(struct pf_out *out, const struct tb_trace *trace);

/** pf_write_clocks - write @sync as a snapshot of the clocks */
void pf_write_clocks(struct pf_out *out, const struct tb_clock_sync *sync);

/** pf_write_tasks - write all threads that @cursor knows at time @ns */
int pf_write_tasks(struct pf_out *out, const struct tb_cursor *cursor,
		   uint64_t ns);

/** pf_write_task - write one thread, and its process if it is the main thread */
void pf_write_task(struct pf_out *out, const struct tb_task *task, uint64_t ns);

/** struct pf_accounting - numbers of events of one CPU */
struct pf_accounting {
	uint64_t written, overwritten, dropped;
};

/**
 * pf_write_accounting - write Perfetto's statistics of every CPU
 * @end: statistics of the end; false: of the start, which are all zero
 */
int pf_write_accounting(struct pf_out *out, const struct pf_accounting *accounting,
		   unsigned int nr_cpus, bool end);

/**
 * pf_write_bundle - write @bundle with @events, which are @size bytes that are already encoded
 * Keeps errors, also -ENOMEM, in @out->error.
 */
void pf_write_bundle(struct pf_out *out,
		     const Perfetto__Protos__FtraceEventBundle *bundle,
		     const void *events, size_t size);

/* ---- events ---- */

struct pf_plans;

/**
 * struct pf_event - an encoded event
 * @field: number of its field in FtraceEvent
 * @tid: the thread that it occurred in
 * @size: bytes of @body
 * @cut: a text was shortened, or a field left out, because it was too long
 * @body: the message in @field
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
 * struct pf_current - the thread on a CPU, as Perfetto sees it
 * @comm: "" if it is unknown or too long
 * @known: a switch has been written
 * @lost: the thread is unknown, because events are missing
 */
struct pf_current {
	uint32_t tid;
	int32_t  prio;
	char     comm[PF_COMM_MAX];
	bool     known, lost;
};

/** pf_plans_make - plan how to write events of each format of @trace; NULL: ENOMEM */
struct pf_plans *pf_plans_make(const struct tb_trace *trace, struct pf_out *out);
void pf_plans_free(struct pf_plans *plans);

/** pf_plans_note - list on standard error the fields that Perfetto's messages have no place for */
void pf_plans_note(const struct pf_plans *plans);

/** pf_plan_is_known - does Perfetto have a message for the format number @index? */
bool pf_plan_is_known(const struct pf_plans *plans, unsigned int index);

/**
 * pf_encode - encode @view, an event with or without a format, as @event
 * @plain: encode it as an event that Perfetto does not know
 */
void pf_encode(struct pf_plans *plans, const struct tb_view *view, bool plain,
	       struct pf_event *event);

/** pf_encode_mark - encode a text that user space wrote */
void pf_encode_mark(const struct tb_view *view, struct pf_event *event);

/** pf_encode_lost - encode a loss between @first and @last (ns) */
void pf_encode_lost(const struct tb_view *view, uint64_t first, uint64_t last,
		    struct pf_event *event);

/* ---- bundles (bundle.c) ---- */

/* Switches, wake-ups and different names of threads in a bundle */
#define PF_COLUMN_MAX	1024
#define PF_COMMS_MAX	128

/* The order in which Perfetto reads entries of a bundle that have the same time */
enum pf_kind { PF_SWITCH, PF_WAKING, PF_EVENT, PF_KINDS };

struct pf_columns;

/**
 * struct pf_ring - the bundle of a CPU that is being filled
 * @first: time of the first entry in the bundle
 * @last, @last_ticks: time of the last event that the CPU recorded.  Ends that were not recorded do
 *	not count: a gap of another CPU can cause one that is later than the next event of this CPU
 * @at: time of the last entry of each kind in the bundle; 0: none
 * @from: end of the last gap of the CPU; 0: there was none
 * @lost: events are missing before this bundle
 * @tid: thread of the last event
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
	bool     lost;
	uint32_t tid;
	struct pf_current current;
};

void pf_ring_free(struct pf_ring *ring);

/** pf_ring_flush - write the bundle and begin a new one */
void pf_ring_flush(struct pf_ring *ring);

/** pf_ring_time - return @ns, but no less than the time of the CPU's previous event */
uint64_t pf_ring_time(struct pf_ring *ring, uint64_t ticks, uint64_t ns);

/* Add an entry to the bundle; @ns may be before the time of the last entry.  0 or -errno */
int pf_ring_event(struct pf_ring *ring, uint64_t ns, const struct pf_event *event);
int pf_ring_body(struct pf_ring *ring, uint64_t ns, uint32_t tid, uint32_t field,
		 const void *body, size_t size);
int pf_ring_switch(struct pf_ring *ring, uint64_t ns, int64_t prev_state, uint32_t pid,
		   int32_t prio, const char *comm);
int pf_ring_waking(struct pf_ring *ring, uint64_t ns, uint32_t pid, int32_t cpu, int32_t prio,
		   const char *comm, uint32_t flags);

/* ---- the thread on a CPU (sched.c) ---- */

struct pf_sched;

/**
 * pf_sched_open - NULL: ENOMEM
 * @switches: the trace has events sched_switch
 */
struct pf_sched *pf_sched_open(const struct tb_trace *trace, const struct tb_cursor *cursor,
			       const struct pf_plans *plans, bool switches);
void pf_sched_close(struct pf_sched *sched);

/** pf_sched_begin - @tid has been on the CPU since before the first event, at @ns */
int pf_sched_begin(struct pf_sched *sched, struct pf_ring *ring, uint32_t tid, uint64_t ns);
/** pf_sched_seen - before @view, an event of @tid, write a switch to it if Perfetto needs one */
int pf_sched_seen(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view,
		  uint32_t tid, uint64_t ns);
/** pf_sched_unknown - from @ns to its next event it is not known what the CPU runs */
int pf_sched_unknown(struct pf_sched *sched, struct pf_ring *ring, uint64_t ns);
/** pf_sched_lost - events are missing from @first to @last: the thread on the CPU is unknown */
int pf_sched_lost(struct pf_sched *sched, struct pf_ring *ring, uint64_t first, uint64_t last);
/** pf_sched_selected - the selection changed; @selected: switches are recorded from now on */
void pf_sched_selected(struct pf_sched *sched, bool selected);
/**
 * pf_sched_take - write a switch or a wake-up into the columns
 * Return: 1: done; 0: the caller must write @view as an event; -errno.
 */
int pf_sched_take(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view,
		  uint64_t ns);
/** pf_sched_switched - if @view is a switch, note the new thread; call it when @view is written */
void pf_sched_switched(struct pf_sched *sched, struct pf_ring *ring, const struct tb_view *view);

/* ---- slices that last from one event to another (pairs.c) ---- */

struct pf_pairs;

/* pf_pairs_take(): how the event is to be written */
enum { PF_PAIR_KNOWN, PF_PAIR_PLAIN };

/* @rings: of @nr_cpus CPUs, for ends that were not recorded.  NULL: ENOMEM */
struct pf_pairs *pf_pairs_open(const struct tb_trace *trace, const struct pf_plans *plans,
			       struct pf_ring *rings, unsigned int nr_cpus, bool switches);
void pf_pairs_close(struct pf_pairs *pairs);
/** pf_pairs_take - take @view, an event of @tid that has a format; return PF_PAIR_* or -errno */
int pf_pairs_take(struct pf_pairs *pairs, const struct tb_view *view, uint32_t tid, uint64_t ns);
/** pf_pairs_lost - events of @cpu are missing from @ns to @last; @tid (0: unknown) was on it */
int pf_pairs_lost(struct pf_pairs *pairs, uint32_t cpu, uint32_t tid, uint64_t ns, uint64_t last);
/** pf_pairs_writes - the program's thread @tid has written a record */
int pf_pairs_writes(struct pf_pairs *pairs, uint32_t tid);
/** pf_pairs_finish - the trace ends: end the slices that are in doubt */
int pf_pairs_finish(struct pf_pairs *pairs);

/* ---- losses (loss.c) ---- */

/** struct pf_losses - the tracks that have been described */
struct pf_losses {
	struct pf_out *out;
	struct slots tracks;
	bool begun;
};

/** pf_loss_write - write the loss @view, from @first to @last, as a slice */
int pf_loss_write(struct pf_losses *losses, const struct tb_view *view, uint64_t first,
		  uint64_t last);
void pf_losses_free(struct pf_losses *losses);

/* ---- processes and threads (task.c) ---- */

struct pf_tasks;
struct pf_tracks;

/**
 * pf_tasks_open - NULL: ENOMEM
 * @tracks: gets a track for each process in a container
 * @forks: the trace has events task_newtask, which describe their new thread
 */
struct pf_tasks *pf_tasks_open(struct pf_tracks *tracks, const struct tb_cursor *cursor,
			       const struct tb_trace *trace, bool forks);
void pf_tasks_close(struct pf_tasks *tasks);
/** pf_tasks_begin - write the threads that the cursor knows at the start, @ns */
int pf_tasks_begin(struct pf_tasks *tasks, uint64_t ns);
/** pf_tasks_thread - take a record of a thread (TB_EV_THREAD) */
int pf_tasks_thread(struct pf_tasks *tasks, const struct tb_view *view, uint64_t ns);
/** pf_tasks_event - take any event that has a format */
int pf_tasks_event(struct pf_tasks *tasks, const struct tb_view *view, uint64_t ns);
/** pf_tasks_finish - write the threads that still wait for their task_newtask */
int pf_tasks_finish(struct pf_tasks *tasks);

/* ---- records of programs (user.c) ---- */

struct pf_user;

/* @cursor: the cursor that reads the events.  NULL: ENOMEM */
struct pf_user *pf_user_open(struct pf_tracks *tracks, const struct tb_cursor *cursor);
void pf_user_close(struct pf_user *user);

/**
 * pf_user_write - write @view, a record of a program or a loss of records
 * @ns: its time
 * @end_ns: the end of a slice
 * Return: 0, -ENOMEM; errors of writing are in the struct pf_out.
 */
int pf_user_write(struct pf_user *user, const struct tb_view *view,
		  uint64_t ns, uint64_t end_ns);

/** pf_user_note - report on standard error what was shown differently */
void pf_user_note(const struct pf_user *user);

/* ---- stacks and counters (sample.c) ---- */

struct pf_samples;

/* NULL: ENOMEM */
struct pf_samples *pf_samples_open(struct pf_out *out, const struct tb_trace *trace);
void pf_samples_close(struct pf_samples *samples);
/** pf_samples_write - write stacks and counters of @view, of thread @tid of process @pid; -errno */
int pf_samples_write(struct pf_samples *samples, const struct tb_view *view, uint64_t ns,
		     uint32_t tid, uint32_t pid);
void pf_samples_note(const struct pf_samples *samples);

/* ---- requests to block devices (block.c) ---- */

struct pf_block;

/* NULL: ENOMEM */
struct pf_block *pf_block_open(struct pf_out *out, const struct tb_trace *trace);
void pf_block_close(struct pf_block *block);
/** pf_block_write - take @view, any event that has a format; 0 or -errno */
int pf_block_write(struct pf_block *block, const struct tb_view *view, uint64_t ns);
/** pf_block_lost - events are missing from @ns on, completions may be among them */
void pf_block_lost(struct pf_block *block, uint64_t ns);
/** pf_block_finish - the trace ends: end requests, the completion of which may be missing */
int pf_block_finish(struct pf_block *block);
void pf_block_note(const struct pf_block *block);

/* ---- causes of waiting of threads (why.c) ---- */

struct why_threads;

/**
 * pf_why_write - write a track for each of @threads, with a slice for each stretch of each cause
 * @stop: a signal handler sets it to stop the export; NULL: there is none
 * Return: 0, -ENOMEM, -EINTR.
 */
int pf_why_write(struct pf_tracks *tracks, const struct why_threads *threads,
		 const volatile sig_atomic_t *stop);

/* ---- tracks and names (track.c) ---- */

enum pf_known_kind {
	PF_PROCESS, PF_THREAD, PF_COUNTER, PF_NAME, PF_CATEGORY, PF_ARG, PF_SYMBOL,
	PF_CHILD,		/* of a writer that cannot draw on the track of its thread */
	PF_LANE,		/* of slices of a writer that overlap, by writer and lane */
	PF_WHY,			/* of the causes of a thread */
};

/**
 * struct pf_known - a track or a name that has a number
 * @high, @low: the key
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
	uint64_t number;	/* the last one given to a track or name */
	struct pf_out *out;
	const struct tb_trace *trace;
};

void pf_tracks_free(struct pf_tracks *tracks);

/** pf_known - find or add the track or name with this key; @fresh: it is new; NULL: ENOMEM */
struct pf_known *pf_known(struct pf_tracks *tracks, enum pf_known_kind kind,
			  uint32_t high, uint32_t low, bool *fresh);

/** pf_track_* - return the track; describe it if it is new; NULL: ENOMEM.  @comm may be "" */
struct pf_known *pf_track_process(struct pf_tracks *tracks, uint32_t pid,
				  const char *comm);
/* The same, labelled with the container of @cgroup, from @ns on */
struct pf_known *pf_track_labelled(struct pf_tracks *tracks, uint32_t pid, const char *comm,
				   uint32_t cgroup, uint64_t ns);
struct pf_known *pf_track_thread(struct pf_tracks *tracks, uint32_t pid,
				 uint32_t tid, const char *comm);
/*
 * A track below @parent with a name of up to 63 bytes.  Perfetto draws tracks with the same name
 * and parent as one track with several rows.
 */
__attribute__((format(printf, 6, 7)))
struct pf_known *pf_track_named(struct pf_tracks *tracks, enum pf_known_kind kind, uint32_t high,
				uint32_t low, uint64_t parent, const char *format, ...);
struct pf_known *pf_track_counter(struct pf_tracks *tracks, uint64_t process,
				  uint32_t producer, uint32_t name_id,
				  const char *name, const char *category);

#endif /* TRACEBUF_TOOL_EXPORT_PERFETTO_H */
