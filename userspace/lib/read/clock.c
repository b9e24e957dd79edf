// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Conversion of ticks of the trace clock to nanoseconds of the kernel's clocks, and back.
 *
 * The clock records are points (ticks, ns).  The line between two neighbours is straight.  Before
 * the first and after the last point it continues the nearest segment; with a single point its
 * slope is the frequency of the initialisation record.  No ns exceed those at the end of their
 * segment, so that rounding cannot make time go backwards between segments.
 */
#include <errno.h>
#include <stdlib.h>
#include "internal.h"

#define NS_PER_SECOND 1000000000ull

int tb_clock_add(struct tb_recording *recording,
		 const struct tb_clock_sync *sync)
{
	if (tb_array_grow(&recording->syncs, &recording->room_syncs,
			  recording->nr_syncs, sizeof(*sync)))
		return -ENOMEM;
	recording->syncs[recording->nr_syncs++] = *sync;
	return 0;
}

static int compare_syncs(const void *a, const void *b)
{
	const struct tb_clock_sync *first = a, *second = b;

	return first->clock < second->clock ? -1 : first->clock > second->clock;
}

/*
 * Drop records whose reading was interrupted: those that took more than 16 times as long as the
 * quickest, and more than 50 us.  Keep all if fewer than two would remain.
 */
static void drop_uncertain(struct tb_recording *recording)
{
	struct tb_clock_sync *syncs = recording->syncs;
	uint64_t limit = UINT64_MAX;
	size_t i, good = 0, kept = 0;

	for (i = 0; i < recording->nr_syncs; i++)
		if (syncs[i].uncertainty * 16ull < limit)
			limit = syncs[i].uncertainty * 16ull;
	if (recording->has_init && limit < recording->init.frequency / 20000)
		limit = recording->init.frequency / 20000;
	for (i = 0; i < recording->nr_syncs; i++)
		good += syncs[i].uncertainty <= limit;
	if (good < 2)
		return;
	for (i = 0; i < recording->nr_syncs; i++)
		if (syncs[i].uncertainty <= limit)
			syncs[kept++] = syncs[i];
	recording->nr_syncs = kept;
}

/* CLOCK_BOOTTIME - CLOCK_MONOTONIC of the record */
static int64_t ahead(const struct tb_clock_sync *sync)
{
	return (int64_t)(sync->boottime - sync->monotonic);
}

/*
 * CLOCK_BOOTTIME - CLOCK_MONOTONIC changes only when the machine sleeps.  The recorder reads the
 * clocks one after the other, so the difference is a bit too large, more so after an interrupt.
 * Among neighbours that differ by less than a sleep the least is right: all of them get it.
 */
#define SLEEP_MIN 1000000		/* ns */

static void settle_boottime(struct tb_recording *recording)
{
	struct tb_clock_sync *syncs = recording->syncs;
	size_t from, to, i;
	int64_t least;

	for (from = 0; from < recording->nr_syncs; from = to) {
		least = ahead(&syncs[from]);
		for (to = from + 1; to < recording->nr_syncs; to++) {
			/* unsigned: a damaged file may have any numbers */
			int64_t more = (int64_t)((uint64_t)ahead(&syncs[to]) - (uint64_t)least);

			if (more >= SLEEP_MIN || more <= -SLEEP_MIN)
				break;
			if (ahead(&syncs[to]) < least)
				least = ahead(&syncs[to]);
		}
		for (i = from; i < to; i++)
			syncs[i].boottime = syncs[i].monotonic + (uint64_t)least;
	}
}

/* Sort by time; keep the first of several records at the same tick */
void tb_clock_sort(struct tb_recording *recording)
{
	struct tb_clock_sync *syncs = recording->syncs;
	size_t i, kept = 0;

	if (!recording->nr_syncs)
		return;
	drop_uncertain(recording);
	qsort(syncs, recording->nr_syncs, sizeof(*syncs), compare_syncs);
	for (i = 0; i < recording->nr_syncs; i++)
		if (!kept || syncs[i].clock != syncs[kept - 1].clock)
			syncs[kept++] = syncs[i];
	recording->nr_syncs = kept;
	settle_boottime(recording);
}

const struct tb_clock_sync *tb_trace_syncs(const struct tb_trace *trace,
					   size_t *count)
{
	*count = trace->selected->nr_syncs;
	return *count ? trace->selected->syncs : NULL;
}

static uint64_t sync_ns(const struct tb_clock_sync *sync,
			enum tb_timebase base)
{
	switch (base) {
	case TB_TIME_BOOTTIME:
		return sync->boottime;
	case TB_TIME_REALTIME:
		return sync->realtime;
	default:
		return sync->monotonic;
	}
}

/*
 * slope = ns / ticks, with as many bits as fit into mult.  Rounded up, so that whole ns stay whole;
 * the error is below 1 ns for centuries.
 */
static void line_slope(struct tb_line *line, uint64_t ns, uint64_t ticks)
{
	tb_u128 mult;

	line->shift = 56;
	for (;;) {
		mult = (((tb_u128)ns << line->shift) + ticks - 1) / ticks;
		if (!(mult >> 64) || !line->shift)
			break;
		line->shift -= 4;
	}
	line->mult = mult >> 64 ? UINT64_MAX : (uint64_t)mult;
}

void tb_clock_line(const struct tb_recording *recording, uint64_t ticks,
		   enum tb_timebase base, struct tb_line *line)
{
	const struct tb_clock_sync *syncs = recording->syncs;
	size_t count = recording->nr_syncs, low = 1, piece;
	uint64_t frequency = recording->has_init ? recording->init.frequency : 0;

	line->from = 0;
	line->to = UINT64_MAX;
	line->base = 0;
	line->base_ns = 0;
	line->last_ns = UINT64_MAX;
	if (count < 2) {
		if (frequency)
			line_slope(line, NS_PER_SECOND, frequency);
		else
			line_slope(line, 1, 1);
		if (count) {
			line->base = syncs[0].clock;
			line->base_ns = sync_ns(&syncs[0], base);
		}
		return;
	}

	/* the last record at or before @ticks, or record 0 */
	BISECT(low, count, i, syncs[i].clock <= ticks);
	low--;
	if (low)
		line->from = syncs[low].clock;
	piece = low;
	if (low + 1 < count) {
		line->to = syncs[low + 1].clock;
		line->last_ns = sync_ns(&syncs[low + 1], base);
	} else {
		piece--;			/* after the last record: the slope before it */
	}
	line->base = syncs[low].clock;
	line->base_ns = sync_ns(&syncs[low], base);
	if (sync_ns(&syncs[piece + 1], base) > sync_ns(&syncs[piece], base))
		line_slope(line, sync_ns(&syncs[piece + 1], base) -
			   sync_ns(&syncs[piece], base),
			   syncs[piece + 1].clock - syncs[piece].clock);
	else	/* the clock was set back: use the frequency, and no upper limit */
		line_slope(line, NS_PER_SECOND,
			   frequency ? frequency : NS_PER_SECOND);
	if (line->last_ns < line->base_ns)
		line->last_ns = UINT64_MAX;
}

uint64_t tb_line_ns_slow(const struct tb_line *line, uint64_t ticks)
{
	tb_u128 back = (tb_u128)(line->base - ticks) * line->mult >> line->shift;

	return back > line->base_ns ? 0 : line->base_ns - (uint64_t)back;
}

uint64_t tb_trace_ns(const struct tb_trace *trace, uint64_t ticks,
		     enum tb_timebase base)
{
	struct tb_line line;

	tb_clock_line(trace->selected, ticks, base, &line);
	return tb_line_ns(&line, ticks);
}

/* @of * @to / @from, at most UINT64_MAX; @from is not 0 */
static uint64_t scaled(uint64_t of, uint64_t to, uint64_t from)
{
	tb_u128 result = (tb_u128)of * to / from;

	return result >> 64 ? UINT64_MAX : (uint64_t)result;
}

/* Ticks of the trace clock when CLOCK_MONOTONIC was @monotonic: inverse of the lines */
uint64_t tb_clock_ticks(const struct tb_recording *recording,
			uint64_t monotonic)
{
	const struct tb_clock_sync *syncs = recording->syncs;
	size_t count = recording->nr_syncs, low = 1;
	uint64_t ticks = recording->has_init ? recording->init.frequency : 0;
	uint64_t ns = NS_PER_SECOND, part;

	if (!ticks)
		ticks = NS_PER_SECOND;
	if (!count)
		return scaled(monotonic, ticks, ns);
	BISECT(low, count, i, syncs[i].monotonic <= monotonic);
	low--;
	if (count > 1) {
		size_t piece = low + 1 < count ? low : low - 1;

		/* if the clock was set back the frequency is the slope */
		if (syncs[piece + 1].monotonic > syncs[piece].monotonic) {
			ticks = syncs[piece + 1].clock - syncs[piece].clock;
			ns = syncs[piece + 1].monotonic - syncs[piece].monotonic;
		}
	}
	if (monotonic < syncs[low].monotonic) {
		part = scaled(syncs[low].monotonic - monotonic, ticks, ns);
		return part > syncs[low].clock ? 0 : syncs[low].clock - part;
	}
	part = scaled(monotonic - syncs[low].monotonic, ticks, ns);
	return part > UINT64_MAX - syncs[low].clock ? UINT64_MAX :
	       syncs[low].clock + part;
}

uint64_t tb_trace_ticks(const struct tb_trace *trace, uint64_t ns)
{
	return tb_clock_ticks(trace->selected, ns);
}
