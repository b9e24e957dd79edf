/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What processes had open at the start of the recording: what the recorder found in /proc
 * (TB_EV_OPEN_FILE), and from when on each name holds.
 */
#ifndef TRACEBUF_FILES_AT_START_H
#define TRACEBUF_FILES_AT_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

/**
 * struct file_at_start - a file that a process had open
 * @begin, @end: when the recorder looked at it, CLOCK_MONOTONIC in ns
 * @from: from then on the name holds; 0: from the start of the recording on
 * @by_exec: exec closes it, or may do so
 * @dropped: a call may have changed the number while the recorder looked at it
 * @name, @length: in the trace
 */
struct file_at_start {
	uint64_t begin, end, from;
	uint32_t pid, number;
	bool     by_exec, dropped;
	size_t   length;
	const char *name;
};

/* All zero: none */
struct files_at_start {
	struct file_at_start *list;	/* in order of @from */
	size_t count;
};

struct spans;

/* Read those of the selected recording, without dropped ones.  @missing: the gaps of the recording,
 * CLOCK_MONOTONIC.  Return 0 or -ENOMEM */
int files_at_start_read(struct files_at_start *files, struct tb_trace *trace,
			const struct spans *missing);
void files_at_start_free(struct files_at_start *files);

#endif /* TRACEBUF_FILES_AT_START_H */
