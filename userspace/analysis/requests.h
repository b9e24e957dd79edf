/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to block devices, from when they are given to the device until they are done.
 */
#ifndef TRACEBUF_REQUESTS_H
#define TRACEBUF_REQUESTS_H

#include <stdbool.h>
#include "tracebuf.h"

#define REQUEST_KIND_MAX 16

/**
 * struct request - one of them
 * @issued, @done: ns, as requests_take() was told
 * @queued: how long it had waited in the queue before, if @has_queued
 * @device: as the kernel numbers it: major << 20 | minor
 * @kind: "R", "WS", "FF", ... (rwbs)
 * @cpu, @tid: where, and who was running, when it was given to the device
 * @error: what it ended with, if @whole
 * @whole: its end is in the trace, and nothing is missing in between
 */
struct request {
	uint64_t issued, done, queued;
	uint64_t sector, sectors, bytes;
	int64_t  error;
	uint32_t device, cpu, tid;
	bool     has_queued, whole;
	char     kind[REQUEST_KIND_MAX];
};

struct requests;

/* @each gets every request when it is done, with @context; NULL: ENOMEM */
struct requests *requests_open(const struct tb_trace *trace,
			       void (*each)(void *context, const struct request *request),
			       void *context);
void requests_close(struct requests *requests);

/* When events are missing in all of the trace: it need not be found out.  @missing stays the caller's */
struct spans;
void requests_missing(struct requests *requests, const struct spans *missing);

/* Is that event one of those it is made of? */
bool requests_wants(const struct tb_format *format);

/* The next event or loss, its time being @ns; 0, -ENOMEM */
int requests_take(struct requests *requests, const struct tb_view *view, uint64_t ns);

/* The trace ends: what is not done is shown as far as it got */
void requests_finish(struct requests *requests);

#endif /* TRACEBUF_REQUESTS_H */
