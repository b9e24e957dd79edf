/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Show the progress of an export on a terminal.
 */
#ifndef TRACEBUF_EXPORT_PROGRESS_H
#define TRACEBUF_EXPORT_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>
#include "tracebuf.h"


/**
 * struct progress - the state
 * @shown: show it: standard error is a terminal, and the command is not quiet
 * @events: number of exported events
 * @steps: events until progress_step() looks at the clock again
 * @begin, @end: offsets of the recording's first and last block in the file
 * @reached: the largest offset that was read
 * @start_ms, @said_ms: time of the start and of the last output
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
/* Clear the line on the terminal */
void progress_end(const struct progress *progress);

/* Call it for each event that was read */
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
