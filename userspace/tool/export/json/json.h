/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exporter to Chrome's trace event format - what its parts share.
 *
 *   json.c               events of the kernel, slices, losses
 *   user.c               what programs write
 */
#ifndef TRACEBUF_TOOL_EXPORT_JSON_H
#define TRACEBUF_TOOL_EXPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"
#include "tool/export/export.h"
#include "tool/show/json_fields.h"
#include "analysis/map.h"
#include "tool/show/user_writers.h"

/*
 * Numbers that no thread has (they are below 2^22): a process for the CPUs, whose threads are
 * three tracks for each of them, and threads for writers that cannot be drawn in their own.
 */
#define JSON_CPUS	(1u << 22)
#define JSON_WRITERS	(1u << 23)

enum json_track { JSON_RUN, JSON_IRQ, JSON_SOFTIRQ, JSON_TRACKS };

/**
 * struct json_thread - a thread that something is drawn for
 * @owner: the writer that draws there, plus 1
 * @writer_id: what the row of a writer's own is called by
 */
struct json_thread {
	uint32_t pid, tid;
	uint32_t owner, writer_id;
};

struct json {
	struct tb_trace *trace;
	const struct tb_cursor *cursor;
	enum tb_timebase base;
	struct out *out;
	struct json_fields *fields;
	bool some;			/* something has been written */
	int error;			/* -ENOMEM */
	struct map threads;		/* by pid << 32 | tid */
	struct map flows;		/* not NULL: it has begun, and its number */
	uint64_t nr_flows;
	struct user_writers writers;
	uint64_t no_numbers;		/* counters that JSON has no number for */
};

/* {"name":NAME,"ph":"PHASE","pid":..,"tid":..,"ts":..  - to be gone on with; @name is @length
 * bytes */
void json_begin(struct json *json, char phase, uint32_t pid, uint32_t tid,
		uint64_t ns, const char *name, size_t length);

/* ,"cat":"..." */
void json_category(struct json *json, const char *category);

/* ns as microseconds, which all times are */
void json_time(struct out *out, uint64_t ns);

/* The thread, known from now on; NULL: ENOMEM */
struct json_thread *json_thread(struct json *json, uint32_t pid, uint32_t tid);

/* Another thing has begun: the comma before it */
void json_next(struct json *json);

/* A record of a program or a loss of some; @end_ns: of a slice */
void json_user(struct json *json, const struct tb_view *view, uint64_t ns,
	       uint64_t end_ns);

#endif /* TRACEBUF_TOOL_EXPORT_JSON_H */
