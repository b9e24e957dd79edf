// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show the progress of an export on a terminal: percent, events, events per second.  Percent is the
 * position in the file of the events read: it grows, because the cursor reads the blocks of a CPU
 * in their order, and merges CPUs by time.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "progress.h"
#include "tracebuf.h"

#define STEPS 16384
#define PAUSE_MS 200

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void progress_start(struct progress *progress, const struct tb_trace *trace,
		    unsigned int recording, bool quiet)
{
	size_t first, end;

	progress->steps = STEPS;
	progress->shown = !quiet && isatty(STDERR_FILENO);
	if (!progress->shown)
		return;
	progress->start_ms = progress->said_ms = now_ms();
	progress->begin = UINT64_MAX;
	first = tb_trace_range(trace, recording, 0, &end);
	tb_trace_header(trace, first, &progress->begin, NULL);
	tb_trace_header(trace, end - 1, &progress->end, NULL);
}

void progress_show(struct progress *progress)
{
	uint64_t now = now_ms(), percent = 100;

	progress->steps = STEPS;
	if (now - progress->said_ms < PAUSE_MS)
		return;
	progress->said_ms = now;
	if (progress->end > progress->begin && progress->reached < progress->end)
		percent = progress->reached > progress->begin ?
			  (progress->reached - progress->begin) * 100 /
			  (progress->end - progress->begin) : 0;
	fprintf(stderr, "\r%3" PRIu64 " %%  %" PRIu64 " events  %" PRIu64 "/s ",
		percent, progress->events,
		progress->events * 1000 / (now - progress->start_ms + 1));
}

void progress_end(const struct progress *progress)
{
	if (progress->shown && progress->said_ms != progress->start_ms)
		fprintf(stderr, "\r%60s\r", "");
}
