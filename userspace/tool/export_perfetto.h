/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Perfetto exporter - what its parts share.
 *
 *   export_perfetto.c         the walk through the trace; bundles of events
 *   export_perfetto_event.c   one event of the trace -> one Perfetto event
 *   export_perfetto_plan.c    how to do that, found out once for each format
 *   export_perfetto_packet.c  the packets around: machine, clocks, processes,
 *                             losses
 *   export_perfetto_user.c    what programs write: slices, counters, flows
 *   export_perfetto_track.c   where that is drawn, and names by number
 *   export_perfetto_sample.c  stacks and counters of events
 *   export_perfetto_block.c   requests to block devices
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
#include "export.h"
#include "export_common.h"
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

/* Packets of one sequence come in order; the first says that it is */
enum pf_sequence {
	PF_SEQUENCE_SYSTEM = 1,
	PF_SEQUENCE_EVENTS = 2,
	PF_SEQUENCE_USER = 3,
	PF_SEQUENCE_BLOCK = 4,
	PF_SEQUENCE_SAMPLES = 5,	/* and those that follow */
};

/* Different sets of counters that are told */
#define PF_STREAMS_MAX	32

struct pf_out {
	FILE *file;
	int error;			/* -errno of the first failure */
	bool begun[PF_SEQUENCE_SAMPLES + PF_STREAMS_MAX];
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

/** struct pf_books - the events of one CPU */
struct pf_books {
	uint64_t written, overwritten, dropped;
};

/**
 * pf_write_books - Perfetto's statistics of every CPU
 * @end: those of the end; those of the start are all zero
 */
int pf_write_books(struct pf_out *out, const struct pf_books *books,
		   unsigned int nr_cpus, bool end);

/**
 * pf_write_bundle - a bundle: @events, @size bytes of them, are on the wire
 * already
 */
void pf_write_bundle(struct pf_out *out,
		     const Perfetto__Protos__FtraceEventBundle *bundle,
		     const void *events, size_t size);

/* ---- events ---- */

struct pf_plans;

/** struct pf_current - who runs on a CPU, as far as switches tell */
struct pf_current {
	uint32_t tid;
	int32_t  prio;
	bool     known;
};

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

/** pf_plans_make - how each format of @trace is to be written; NULL: ENOMEM */
struct pf_plans *pf_plans_make(const struct tb_trace *trace);
void pf_plans_free(struct pf_plans *plans);

/** pf_plans_say - on standard error: which fields Perfetto's messages have no place for */
void pf_plans_say(const struct pf_plans *plans);

/**
 * pf_encode - @view, an event with or without a format, as @event
 * @current: of its CPU; taken forward by switches
 */
void pf_encode(struct pf_plans *plans, const struct tb_cursor *cursor,
	       const struct tb_view *view, struct pf_current *current,
	       struct pf_event *event);

/** pf_encode_mark - a text from user space */
void pf_encode_mark(const struct tb_view *view, struct pf_event *event);

/** pf_encode_lost - a loss, @first and @last being its span in ns */
void pf_encode_lost(const struct tb_view *view, uint64_t first, uint64_t last,
		    struct pf_event *event);

/* ---- what programs write ---- */

struct pf_user;

/* @cursor: that events come from; NULL: ENOMEM */
struct pf_user *pf_user_open(struct pf_out *out, const struct tb_cursor *cursor);
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

/* ---- stacks and counters (export_perfetto_sample.c) ---- */

struct pf_samples;

/* NULL: ENOMEM */
struct pf_samples *pf_samples_open(struct pf_out *out, const struct tb_trace *trace,
				   uint32_t nr_cpus);
void pf_samples_close(struct pf_samples *samples);
/** pf_samples_write - what @view, of thread @tid of process @pid, has of them; -errno */
int pf_samples_write(struct pf_samples *samples, const struct tb_view *view, uint64_t ns,
		     uint32_t tid, uint32_t pid);
void pf_samples_say(const struct pf_samples *samples);

/* ---- requests to block devices (export_perfetto_block.c) ---- */

struct pf_block;

/* NULL: ENOMEM */
struct pf_block *pf_block_open(struct pf_out *out, const struct tb_trace *trace);
void pf_block_close(struct pf_block *block);
/** pf_block_write - @view, an event with a format; any other kind is left alone; -errno */
int pf_block_write(struct pf_block *block, const struct tb_view *view, uint64_t ns);
void pf_block_say(const struct pf_block *block);

/* ---- tracks and names (export_perfetto_track.c) ---- */

enum pf_known_kind {
	PF_PROCESS, PF_THREAD, PF_CHILD, PF_COUNTER, PF_NAME, PF_CATEGORY, PF_ARG,
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
struct pf_known *pf_track_counter(struct pf_tracks *tracks, uint64_t process,
				  uint32_t producer, uint32_t name_id,
				  const char *name, const char *category);

#endif /* TRACEBUF_TOOL_EXPORT_PERFETTO_H */
