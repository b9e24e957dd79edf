/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to block devices, from issue to completion.
 */
#ifndef TRACEBUF_REQUESTS_H
#define TRACEBUF_REQUESTS_H

#include <stdbool.h>
#include "tracebuf.h"

#define REQUEST_KIND_MAX 16

/**
 * struct request - a request
 * @issued, @done: times as given to requests_take(), ns
 * @queued: time in the queue before, if @has_queued
 * @device: number of the device as in the kernel: major << 20 | minor
 * @kind: "R", "WS", "FF", ... (rwbs)
 * @cpu, @task: CPU and running thread when it was issued; if that is not known only its TID
 * @error: its result, if @whole
 * @whole: its end is in the trace, no events are missing in between, and no other request was
 *	pending at the same place
 */
struct request {
	uint64_t issued, done, queued;
	uint64_t sector, sectors, bytes;
	int64_t  error;
	uint32_t device, cpu;
	struct tb_task task;
	bool     has_queued, whole;
	char     kind[REQUEST_KIND_MAX];
};

#define DISK_TEXT_MAX 64

/* "sda (8:0)", or "8:0" if the trace has no name; @device as in struct request.  Returns @text */
const char *disk_text(const struct tb_trace *trace, uint32_t device, char text[DISK_TEXT_MAX]);

struct requests;

/* @each gets every request when it is done, with @context; NULL: none.  NULL: no memory */
struct requests *requests_open(const struct tb_trace *trace,
			       void (*each)(void *context, const struct request *request),
			       void *context);
void requests_close(struct requests *requests);

/* Use the spans of a file in which events are missing.  The caller frees @missing afterwards */
struct spans;
void requests_missing(struct requests *requests, const struct spans *missing);

/* True if requests_take() uses events of this format */
bool requests_wants(const struct tb_format *format);

/* Take the next event or loss; @ns: its time.  0, -ENOMEM */
int requests_take(struct requests *requests, const struct tb_view *view, uint64_t ns);

/* If the last event that requests_take() got completes a request, or a part of one: when the
 * request was inserted or issued; 0: not known, or no such event */
uint64_t requests_made(const struct requests *requests);

/* End the trace: call @each for requests that are not done */
void requests_finish(struct requests *requests);

#endif /* TRACEBUF_REQUESTS_H */
