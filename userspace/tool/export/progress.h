/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far an export has come, on a terminal.
 */
#ifndef TRACEBUF_EXPORT_PROGRESS_H
#define TRACEBUF_EXPORT_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>
#include "tracebuf.h"


/**
 * struct progress - how far
 * @shown: standard error is a terminal, and it may be said
 * @events: exported
 * @steps: until it is looked at the clock again
 * @begin, @end: of the recording in the file, bytes
 * @reached: the furthest that was read
 * @start_ms, @said_ms: when it began, and when it was said last
 */
struct progress {
	bool     shown;
	uint64_t events;
	uint32_t steps;
	uint64_t begin, end, reached;
	uint64_t start_ms, said_ms;
};

/* For recording @recording of @trace, from 0 */
void progress_start(struct progress *progress, const struct tb_trace *trace,
		    unsigned int recording, bool quiet);
void progress_show(struct progress *progress);
/* Leaves no trace on the terminal */
void progress_end(const struct progress *progress);

/* Another event was read */
static inline void progress_step(struct progress *progress,
				 const struct tb_view *view)
{
	if (!progress->shown || --progress->steps)
		return;
	if (view->offset > progress->reached)
		progress->reached = view->offset;
	progress_show(progress);
}

#endif /* TRACEBUF_EXPORT_PROGRESS_H */
