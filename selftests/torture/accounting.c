// SPDX-License-Identifier: GPL-2.0-only
/* See accounting.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../vm/lib/device.h"
#include "accounting.h"

static bool fail(struct accounting *b, uint32_t cpu, const char *format, ...)
{
	char what[200];
	va_list ap;

	if (b->error[0])
		return false;
	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	snprintf(b->error, sizeof(b->error), "cpu %u: %s", cpu, what);
	return false;
}

/* ---- events ----------------------------------------------------------- */

static bool whole(const struct stream_event *e, uint64_t word)
{
	uint64_t mix = tt_mix(word), got, want;
	uint32_t i, n;

	for (i = 1; i * 8 < e->length; i++) {
		n = e->length - i * 8 < 8 ? e->length - i * 8 : 8;
		got = 0;
		memcpy(&got, e->payload + i * 8, n);
		want = tt_pattern(mix, i, e->length);
		if (n < 8)
			want &= (1ull << n * 8) - 1;
		if (got != want)
			return false;
	}
	return true;
}

/* Do the flags fit the source? */
static bool placed(const struct stream_event *e, enum tt_source source)
{
	static const uint16_t is[TT_SOURCES] = {
		[TT_SOFTIRQ] = TB_CONTEXT_SOFTIRQ, [TT_HARDIRQ] = TB_CONTEXT_HARDIRQ,
		[TT_IRQ_WORK] = TB_CONTEXT_HARDIRQ, [TT_NMI] = TB_CONTEXT_NMI,
	};
	static const uint16_t not[TT_SOURCES] = {
		[TT_TASK] = TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ | TB_CONTEXT_NMI,
		[TT_SOFTIRQ] = TB_CONTEXT_HARDIRQ | TB_CONTEXT_NMI,
		[TT_HARDIRQ] = TB_CONTEXT_NMI, [TT_IRQ_WORK] = TB_CONTEXT_NMI,
	};

	return (e->context & is[source]) == is[source] && !(e->context & not[source]);
}

static void add_span(struct accounting_spans *s, uint64_t first, uint64_t last)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->span = realloc(s->span, s->room * sizeof(*s->span));
		if (!s->span)
			abort();
	}
	s->span[s->count].first = first;
	s->span[s->count++].last = last;
}

void accounting_event(void *ctx, const struct stream_event *e)
{
	struct accounting *b = ctx;
	uint32_t source = (e->id - TB_EV_USER) / 2, seq;
	uint64_t word;

	if (e->durable || b->error[0])
		return;
	if (e->cpu >= ACCOUNTING_CPUS) {
		fail(b, e->cpu, "so many CPUs are not provided for");
		return;
	}
	if (e->id < TB_EV_USER || e->id > TT_ID_LAST) {
		b->others[e->cpu]++;
		return;
	}
	if (e->simple != !((e->id - TB_EV_USER) & 1) || e->length < 8) {
		fail(b, e->cpu, "block %llu: event %u has the wrong form",
		     (unsigned long long)e->block, e->id);
		return;
	}
	memcpy(&word, e->payload, 8);
	seq = word;
	if (word != tt_word(e->cpu, source, seq) || !whole(e, word)) {
		fail(b, e->cpu, "block %llu: event %u of %u bytes is torn: it begins with %#llx",
		     (unsigned long long)e->block, e->id, e->length, (unsigned long long)word);
		return;
	}
	if (!e->simple && !placed(e, source)) {
		fail(b, e->cpu, "block %llu: source %u in context %#x",
		     (unsigned long long)e->block, source, e->context);
		return;
	}
	if (seq < b->next[e->cpu][source]) {
		fail(b, e->cpu, "block %llu: number %u of source %u, but %llu was there already",
		     (unsigned long long)e->block, seq, source,
		     (unsigned long long)b->next[e->cpu][source] - 1);
		return;
	}
	/* numbers also go by while nothing is recorded */
	if (b->begun[e->cpu][source]) {
		b->missing[e->cpu] += seq - b->next[e->cpu][source];
		if (seq != b->next[e->cpu][source])
			add_span(&b->passed[e->cpu], b->time[e->cpu][source], e->time);
	}
	b->time[e->cpu][source] = e->time;
	b->begun[e->cpu][source] = true;
	b->next[e->cpu][source] = seq + 1ull;
	b->seen[e->cpu][source]++;
	b->composites += !e->simple;
	if (e->length > b->bytes)
		b->bytes = e->length;
}

/*
 * Gaps must have counted the numbers that are missing before this block: a loss while a block is
 * opened may be counted by the next block, but not later. A block with TB_BLOCK_UNSETTLED may leave
 * some to the next.
 */
void accounting_block(void *ctx, const struct tb_block *block, const struct tb_gap *gap)
{
	struct accounting *b = ctx;

	if (block->cpu < ACCOUNTING_CPUS) {
		b->last_start[block->cpu] = block->time_start;
		if (gap->overwritten || gap->dropped)
			add_span(&b->reported[block->cpu], gap->first, gap->last);
	}
	if (block->cpu < ACCOUNTING_CPUS && !(block->flags & TB_BLOCK_UNSETTLED) &&
	    b->missing[block->cpu] > block->overwritten + block->dropped)
		fail(b, block->cpu, "block %llu, flags %#x: %llu events are missing before, it tells of %llu",
		     (unsigned long long)block->sequence, block->flags,
		     (unsigned long long)b->missing[block->cpu],
		     (unsigned long long)(block->overwritten + block->dropped));
}

static bool is_reported(const struct accounting_spans *reported, uint64_t first, uint64_t last)
{
	size_t i;

	for (i = 0; i < reported->count; i++)
		if (reported->span[i].first <= last && reported->span[i].last >= first)
			return true;
	return false;
}

/*
 * Missing events of a source were offered between the one before and the one after. Losses in the
 * last block are only in the totals.
 */
bool accounting_cover(struct accounting *b)
{
	uint32_t cpu;
	size_t i;

	for (cpu = 0; cpu < ACCOUNTING_CPUS; cpu++) {
		const struct accounting_spans *passed = &b->passed[cpu];

		for (i = 0; i < passed->count; i++) {
			uint64_t first = passed->span[i].first, last = passed->span[i].last;

			if (last >= b->last_start[cpu] ||
			    is_reported(&b->reported[cpu], first, last))
				continue;
			return fail(b, cpu, "events are missing in %llu..%llu, no gap reports them",
				    (unsigned long long)first, (unsigned long long)last);
		}
	}
	return true;
}

void accounting_begin(struct accounting *b)
{
	uint32_t cpu;

	for (cpu = 0; cpu < ACCOUNTING_CPUS; cpu++)
		b->passed[cpu].count = b->reported[cpu].count = 0;
	memset(b->missing, 0, sizeof(b->missing));
	memset(b->begun, 0, sizeof(b->begun));
}

/* ---- totals ----------------------------------------------------------- */

struct tt_counts counts_of(int fd, uint32_t cpu)
{
	struct tt_counts all = { .cpu = cpu };
	uint32_t source;

	for (source = 0; source < TT_SOURCES; source++) {
		struct tt_counts n = { .cpu = cpu, .source = source };

		if (ioctl(fd, TT_IOC_COUNTS, &n)) {
			perror("# TT_IOC_COUNTS");
			abort();
		}
		all.attempted += n.attempted;
		all.recorded += n.recorded;
		all.oversize += n.oversize;
		all.flushes += n.flushes;
	}
	return all;
}

#define EQUAL(a, c)								\
	do {									\
		unsigned long long a_ = (a), c_ = (c);				\
										\
		if (a_ != c_)							\
			return fail(b, cpu, #a " is %llu, " #c " %llu", a_, c_);	\
	} while (0)
#define WITHIN(low, x, high)							\
	do {									\
		long long low_ = (low), x_ = (x), high_ = (high);		\
										\
		if (x_ < low_ || x_ > high_)					\
			return fail(b, cpu, #x " is %lld, not within %lld and %lld",	\
				    x_, low_, high_);				\
	} while (0)

bool accounting_close(struct accounting *b, const struct stream *s, int fd, int control,
		      uint32_t cpu)
{
	const struct stream_ring *r = &s->ring[cpu];
	const struct tb_totals *t = &r->totals;
	struct tt_counts ours = counts_of(fd, cpu);
	uint64_t missing = 0, seen = 0, other_attempts, other_losses;
	struct tb_stats st;
	uint32_t source;

	if (b->error[0])
		return false;
	if (tb_stats(control, cpu, &st))
		return fail(b, cpu, "no statistics");
	EQUAL(st.attempted, st.delivered + st.overwritten + st.dropped);
	EQUAL(st.pending, 0);
	EQUAL(st.held, 0);
	EQUAL(st.ready, 0);
	EQUAL(st.attempted, t->attempted);
	EQUAL(st.delivered, r->events);
	EQUAL(st.overwritten, t->overwritten);
	EQUAL(st.dropped, t->dropped);
	EQUAL(st.oversize, t->oversize);
	EQUAL(t->oversize, ours.oversize);
	for (source = 0; source < TT_SOURCES; source++) {
		struct tt_counts n = { .cpu = cpu, .source = source };

		if (ioctl(fd, TT_IOC_COUNTS, &n))
			return fail(b, cpu, "no counts");
		WITHIN(0, b->next[cpu][source], n.attempted);
		WITHIN(0, b->seen[cpu][source], n.recorded);
		missing += n.attempted - b->seen[cpu][source];
		seen += b->seen[cpu][source];
	}
	EQUAL(r->events, seen + b->others[cpu]);
	other_attempts = t->attempted - ours.attempted;
	WITHIN(b->others[cpu], other_attempts, b->others[cpu] + OTHERS_MAX);
	/* each missing number was counted as lost; further losses are of other events */
	other_losses = other_attempts - b->others[cpu];
	EQUAL(missing + other_losses, t->overwritten + t->dropped);
	WITHIN(0, t->dropped - (ours.attempted - ours.recorded), other_losses);
	WITHIN(b->others[cpu], t->recorded - ours.recorded, other_attempts);
	return true;
}
