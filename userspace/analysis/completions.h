/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which request to a block device an interrupt completed: the kernel wakes the threads that wait for
 * a request right after block_rq_complete.
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

/* Take the next event of a CPU; @ns: its time.  0, -ENOMEM */
int completions_take(struct completions *completions, const struct tb_view *view, uint64_t ns);

/* Number of the last request that @cpu completed in [@from, @to]; 0: none is known */
uint32_t completions_at(const struct completions *completions, uint32_t cpu, uint64_t from,
			uint64_t to);

/* Request number @number, from 1 on */
const struct completion *completions_get(const struct completions *completions, uint32_t number);

#endif /* TRACEBUF_COMPLETIONS_H */
