/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which request to a block device an interrupt completed: the kernel wakes the threads that wait for
 * a request right after block_rq_complete.  Requests that began before the recording, or before a
 * loss, have no known beginning.
 */
#ifndef TRACEBUF_COMPLETIONS_H
#define TRACEBUF_COMPLETIONS_H

#include <stdbool.h>
#include "tracebuf.h"

#define COMPLETION_KIND_MAX 16

/**
 * struct completion - requests of a kind to a device
 * @device: number of the device as in the kernel: major << 20 | minor
 * @kind: "R", "WS", "FF", ... (rwbs)
 */
struct completion {
	uint32_t device;
	char kind[COMPLETION_KIND_MAX];
};

struct completions;

/* Times are of @base.  NULL: no memory */
struct completions *completions_open(struct tb_trace *trace, enum tb_timebase base);
void completions_close(struct completions *completions);

/* Take the next event or loss; @ns: its time.  0, -ENOMEM */
int completions_take(struct completions *completions, const struct tb_view *view, uint64_t ns);

/* Number of the last request that @cpu completed in [@from, @to], and when the request was inserted
 * or issued, 0: not known.  0: no request is known */
uint32_t completions_at(const struct completions *completions, uint32_t cpu, uint64_t from,
			uint64_t to, uint64_t *made);

/* Request number @number, from 1 on */
const struct completion *completions_get(const struct completions *completions, uint32_t number);

#endif /* TRACEBUF_COMPLETIONS_H */
