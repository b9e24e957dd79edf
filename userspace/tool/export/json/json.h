/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exporter to Chrome's trace event format - the interface between its parts.
 *
 *   json.c               events of the kernel, slices, losses
 *   user.c               records of programs
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
 * Numbers beyond those of Linux's threads, which are below 2^22: the process "CPUs", with three
 * tracks for each CPU as its threads; and threads for writers that cannot draw on their own.
 */
#define JSON_CPUS	(1u << 22)
#define JSON_WRITERS	(1u << 23)

enum json_track { JSON_RUN, JSON_IRQ, JSON_SOFTIRQ, JSON_TRACKS };

/**
 * struct json_thread - a thread that has slices or instants
 * @owner: the writer that draws there, plus 1
 * @writer_id: for the name of a thread that stands for a writer
 */
struct json_thread {
	uint32_t pid, tid;
	uint32_t owner, writer_id;
};

struct json {
	struct tb_trace *trace;
	struct selection *selection;
	const struct tb_cursor *cursor;
	enum tb_timebase base;
	struct out *out;
	struct json_fields *fields;
	bool some;			/* something has been written */
	int error;			/* -ENOMEM */
	struct map threads;		/* by pid << 32 | tid */
	struct map flows;		/* by id: the number of a flow that has begun, else NULL */
	uint64_t nr_flows;
	struct user_writers writers;
	uint64_t no_numbers;		/* values of counters that are infinite or NaN */
};

/* Write {"name":NAME,"ph":"PHASE","pid":..,"tid":..,"ts":..  The caller adds members and the } */
void json_begin(struct json *json, char phase, uint32_t pid, uint32_t tid,
		uint64_t ns, const char *name, size_t length);

/* Write ,"cat":"..." */
void json_category(struct json *json, const char *category);

/* Find or add a thread, which will get a name at the end; NULL: ENOMEM */
struct json_thread *json_thread(struct json *json, uint32_t pid, uint32_t tid);

/* Write a record of a program or a loss of records; @end_ns: end of a slice */
void json_user(struct json *json, const struct tb_view *view, uint64_t ns,
	       uint64_t end_ns);

#endif /* TRACEBUF_TOOL_EXPORT_JSON_H */
