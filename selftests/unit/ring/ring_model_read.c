// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader's half of ring_model.h: checks every block that the ring delivers to the last element,
 * and compares the counts.
 */
#include <string.h>
#include "ring_model.h"

/* Check one event of a block; @full: its time. */
static void check_event(struct model *m, const struct tb_block *block,
			const struct tb_element *e, u32 index, u64 full)
{
	struct model_event *ev;
	const char *why;
	u32 id;

	if (TB_HEAD_STRUCT(e->head) == TB_STRUCT_SIMPLE)
		id = e->payload >> 32;
	else
		id = ((const struct tb_composite *)e)->tid;
	if (id >= m->nr_events) {
		model_fail(m, "block %llu element %u: no event %u",
			   (unsigned long long)block->sequence, index, id);
		return;
	}
	ev = &m->events[id];
	if (ev->fate != FATE_RECORDED)
		model_fail(m, "event %u is handed over in fate %u", id, ev->fate);
	if (ev->seq != block->sequence || ev->index != index)
		model_fail(m, "event %u: put at %llu/%u, found at %llu/%u", id,
			   (unsigned long long)ev->seq, ev->index,
			   (unsigned long long)block->sequence, index);
	if (m->error)
		return;
	if (full < ev->before || full > ev->stamp)
		model_fail(m, "event %u: time %llu", id, (unsigned long long)full);
	why = model_wrong(m, id, e, block->sequence);
	if (why)
		model_fail(m, "event %u: %s", id, why);
	ev->fate = FATE_DELIVERED;
}

/* The gap of @block must cover what was overwritten before it, by count and span. */
static void check_lost(struct model *m, const struct tb_block *block, const struct tb_gap *gap)
{
	u64 missing = 0;
	u32 i;

	m->overwritten_told += gap->overwritten;
	for (i = 0; i < m->nr_events; i++) {
		struct model_event *e = &m->events[i];

		if (e->fate != FATE_RECORDED || e->seq >= block->sequence)
			continue;
		missing++;
		if (e->lost_told || m->r.rd.unsettled)
			continue;
		e->lost_told = true;
		/*
		 * The block before may have reported it already, not knowing all; or a block that
		 * was put back, see tb_ring_acquire().
		 */
		if ((!m->unsettled || gap->overwritten) && !m->unacquired &&
		    (gap->first > e->stamp || gap->last < e->before))
			model_fail(m, "event %u, overwritten at %llu..%llu, reported as %llu..%llu",
				   i, (unsigned long long)e->before, (unsigned long long)e->stamp,
				   (unsigned long long)gap->first, (unsigned long long)gap->last);
	}
	if (missing > m->overwritten_told && !m->r.rd.unsettled)
		model_fail(m, "block %llu: %llu overwritten before it, %llu reported",
			   (unsigned long long)block->sequence, (unsigned long long)missing,
			   (unsigned long long)m->overwritten_told);
	if (missing < m->overwritten_told && !m->r.rd.unsettled && !m->unsettled && !m->unacquired)
		model_fail(m, "block %llu: %llu overwritten before it, but %llu reported",
			   (unsigned long long)block->sequence, (unsigned long long)missing,
			   (unsigned long long)m->overwritten_told);
	m->unsettled = m->r.rd.unsettled;
}

static void check_gap(struct model *m, const struct tb_block *block, struct model_held *h)
{
	const struct tb_composite *slot = (const void *)(block + 1);
	const struct tb_gap *gap = (const void *)(slot + 1);
	bool any = gap->overwritten || gap->dropped;
	u64 i;

	if (slot->head != TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_GAP, TB_GAP_ELEMENTS,
				  block->sequence) ||
	    slot->time != (u32)block->time_start || slot->length != sizeof(*gap) ||
	    slot->tid != block->tid || slot->context || gap->recording != m->r.recording)
		model_fail(m, "gap slot of block %llu", (unsigned long long)block->sequence);
	if (!!(block->flags & TB_BLOCK_GAP) != any)
		model_fail(m, "TB_BLOCK_GAP of block %llu", (unsigned long long)block->sequence);
	if (m->r.rd.next == block->sequence + 1 &&
	    !!(block->flags & TB_BLOCK_UNSETTLED) != (m->r.rd.unsettled & 1))
		model_fail(m, "TB_BLOCK_UNSETTLED of block %llu",
			   (unsigned long long)block->sequence);
	if (gap->oversize > gap->dropped)
		model_fail(m, "oversize not part of dropped");
	if (gap->overwritten > m->nr_events || gap->dropped > m->nr_events)
		model_fail(m, "gap of %llu overwritten, %llu dropped",
			   (unsigned long long)gap->overwritten, (unsigned long long)gap->dropped);
	if (any ? !gap->first || gap->first > gap->last || gap->last > m->clock :
		  gap->first || gap->last)
		model_fail(m, "gap from %llu to %llu", (unsigned long long)gap->first,
			   (unsigned long long)gap->last);
	/*
	 * Also if the blocks that reported the drops were overwritten. A drop has no time of its
	 * own: it is at some reading of the clock during the attempt.
	 */
	for (i = m->drops_told; i < m->drops_told + gap->dropped && i < m->nr_drops; i++) {
		const struct model_event *e = &m->events[m->drops[i]];
		u64 end = (e->fate == FATE_DROPPED ? e->after : m->clock) - 1;

		if (gap->first > end || gap->last < e->before)
			model_fail(m, "drop at %llu..%llu reported as %llu..%llu",
				   (unsigned long long)e->before, (unsigned long long)end,
				   (unsigned long long)gap->first, (unsigned long long)gap->last);
	}
	m->drops_told += gap->dropped;
	check_lost(m, block, gap);
	h->gap.overwritten = gap->overwritten;
	h->gap.dropped = gap->dropped;
	h->gap.oversize = gap->oversize;
	h->gap.first = gap->first;
	h->gap.last = gap->last;
}

static void check_block(struct model *m, struct model_held *h)
{
	const struct tb_block *block = m->r.bufs[h->index].block;
	const struct tb_element *e = (const struct tb_element *)block;
	u32 bytes = m->r.capacity * TB_ELEMENT_SIZE, i, n, events = 0;
	u64 full = block->time_start, last = full, last_time = m->last_time;

	if (block->magic != TB_BLOCK_MAGIC || block->version != TB_BLOCK_VERSION ||
	    block->kind != TB_BLOCK_ROLLING || 1u << block->size_log2 != bytes ||
	    block->provider != MODEL_PROVIDER || block->cpu != MODEL_CPU ||
	    block->tid != MODEL_TID || !(block->flags & TB_BLOCK_COMPLETE))
		model_fail(m, "header of block %llu", (unsigned long long)block->sequence);
	if (block->sequence < m->next_seq)
		model_fail(m, "block %llu after block %llu", (unsigned long long)block->sequence,
			   (unsigned long long)m->next_seq - 1);
	if (TB_BUF_WORD(block->sequence, TB_BUF_HELD) != m->r.bufs[h->index].state)
		model_fail(m, "block %llu in state %llx", (unsigned long long)block->sequence,
			   (unsigned long long)m->r.bufs[h->index].state);
	if (block->data > bytes || block->data % TB_ELEMENT_SIZE ||
	    block->data <= TB_BLOCK_FIRST_ELEMENT * TB_ELEMENT_SIZE) {
		model_fail(m, "block %llu: data %u", (unsigned long long)block->sequence,
			   block->data);
		return;
	}
	check_gap(m, block, h);
	for (i = TB_BLOCK_FIRST_ELEMENT; i < block->data / TB_ELEMENT_SIZE; i += n) {
		n = TB_HEAD_LENGTH(e[i].head);
		if (TB_HEAD_SEQ(e[i].head) != (block->sequence & 0x3f) || !n ||
		    (TB_HEAD_STRUCT(e[i].head) != TB_STRUCT_SIMPLE &&
		     TB_HEAD_STRUCT(e[i].head) != TB_STRUCT_COMPOSITE) ||
		    (TB_HEAD_STRUCT(e[i].head) == TB_STRUCT_SIMPLE && n != 1) ||
		    i + n > block->data / TB_ELEMENT_SIZE) {
			model_fail(m, "block %llu element %u: head %x",
				   (unsigned long long)block->sequence, i, e[i].head);
			return;
		}
		if (TB_HEAD_ID(e[i].head) == TB_EV_TIME) {
			full = e[i].payload;
			if (e[i].time != (u32)full)
				model_fail(m, "TIME element: %x, %llx", e[i].time,
					   (unsigned long long)full);
		} else {
			full = (full & ~0xffffffffull) | e[i].time;
			check_event(m, block, &e[i], i, full);
			if (full < m->last_time)
				model_fail(m, "block %llu element %u: before the block before",
					   (unsigned long long)block->sequence, i);
			last_time = full;
			events++;
		}
		if (full < last)
			model_fail(m, "block %llu element %u: time goes back",
				   (unsigned long long)block->sequence, i);
		last = full;
	}
	if (i < m->r.capacity && (TB_HEAD_STRUCT(e[i].head) != TB_STRUCT_PAD ||
				  TB_HEAD_SEQ(e[i].head) != (block->sequence & 0x3f)))
		model_fail(m, "block %llu: no padding at %u",
			   (unsigned long long)block->sequence, i);
	if (events != block->events || !events)
		model_fail(m, "block %llu: %u events, header says %u",
			   (unsigned long long)block->sequence, events, block->events);
	if (block->time_end < last || block->time_end > m->clock)
		model_fail(m, "block %llu: ends at %llu", (unsigned long long)block->sequence,
			   (unsigned long long)block->time_end);
	h->events = events;
	h->seq = block->sequence;
	h->last_before = m->last_time;
	m->last_time = last_time;
}

bool model_acquire(struct model *m)
{
	int b = tb_ring_acquire(&m->r);
	struct model_held *h;

	if (b < 0)
		return false;
	if (m->nr_held == MODEL_HELD) {
		model_fail(m, "the model holds too many blocks");
		return false;
	}
	h = &m->held[m->nr_held++];
	h->index = b;
	TB_READS(m->r.bufs[b].block, m->r.capacity * TB_ELEMENT_SIZE);
	check_block(m, h);
	m->next_seq = h->seq + 1;
	m->last_gap = h->gap;
	m->last_events = h->events;
	m->last_data = m->r.bufs[b].block->data;
	m->last_flags = m->r.bufs[b].block->flags;
	memcpy(h->copy, m->r.bufs[b].block, m->r.capacity * TB_ELEMENT_SIZE);
	return true;
}

void model_check_held(struct model *m)
{
	int i;

	for (i = 0; i < m->nr_held; i++) {
		struct model_held *h = &m->held[i];

		if (memcmp(h->copy, m->r.bufs[h->index].block, m->r.capacity * TB_ELEMENT_SIZE))
			model_fail(m, "held block %llu was written to", (unsigned long long)h->seq);
	}
}

/* Has the first event of block @seq in buffer @b this length and time? */
static bool opened_so(const struct model *m, u32 b, u64 seq, u32 length, u64 time)
{
	u32 i;

	for (i = m->nr_events; i-- > 0; ) {
		const struct model_event *ev = &m->events[i];

		if (ev->buffer == b && ev->seq == seq && ev->index == TB_BLOCK_FIRST_ELEMENT)
			return ev->length == length && time >= ev->before && time <= ev->stamp;
	}
	return false;
}

/*
 * The header names the ring at any moment, and the block as soon as head is in it: by its number,
 * or by the number that a writer is about to write.
 */
static void check_memory_header(struct model *m, u32 b)
{
	const struct tb_block *block = m->r.bufs[b].block;
	const struct tb_composite *slot = (const struct tb_composite *)(block + 1);
	u64 state = m->r.bufs[b].state, number = block->sequence;
	bool opening;

	if (block->magic != TB_BLOCK_MAGIC || block->version != TB_BLOCK_VERSION ||
	    block->kind != TB_BLOCK_ROLLING || block->cpu != MODEL_CPU ||
	    block->provider != MODEL_PROVIDER ||
	    1u << block->size_log2 != m->r.capacity * TB_ELEMENT_SIZE ||
	    ((const struct tb_gap *)(slot + 1))->recording != m->r.recording)
		model_fail(m, "a header in memory does not say whose it is");
	if (TB_BUF_STATE(state) == TB_BUF_FREE)
		return;
	/* a claimed buffer counts once head has moved there */
	if (TB_BUF_STATE(state) == TB_BUF_CLAIMED &&
	    (tb_head_buffer(m->r.head) != b || tb_head_seq(m->r.head, state) != TB_BUF_SEQ(state)))
		return;
	opening = TB_BUF_STATE(state) == TB_BUF_CLAIMED || TB_BUF_STATE(state) == TB_BUF_WRITING;
	if (number != TB_BUF_SEQ(state) &&
	    (!opening || !(number & TB_BLOCK_OPENING) ||
	     TB_BLOCK_OPENING_NUMBER(number) != TB_BUF_SEQ(state) ||
	     !opened_so(m, b, TB_BUF_SEQ(state), TB_BLOCK_OPENING_ELEMENTS(number),
			block->time_start)))
		model_fail(m, "the header in memory of block %llu says %llx",
			   (unsigned long long)TB_BUF_SEQ(state), (unsigned long long)number);
}

/*
 * A header is valid if its number is that of the state word: a writer that was interrupted while
 * opening has not replaced the old one yet. A composite event that is reserved and not begun may
 * have anything from an earlier lap in its place, which may look like a first word of this lap;
 * here it does not.
 */
void model_check_memory(struct model *m)
{
	u32 b, i, n;

	for (b = 0; b < m->r.nr; b++) {
		const struct tb_block *block = m->r.bufs[b].block;
		const struct tb_element *e = (const struct tb_element *)block;
		u32 seq = block->sequence & 0x3f;

		check_memory_header(m, b);
		if (TB_BUF_SEQ(m->r.bufs[b].state) != block->sequence)
			continue;
		if (e[TB_BLOCK_HEADER_ELEMENTS].head !=
		    TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_GAP, TB_GAP_ELEMENTS, seq))
			model_fail(m, "a gap slot in memory is not whole");
		for (i = TB_BLOCK_FIRST_ELEMENT; i < m->r.capacity; i += n) {
			u32 head = e[i].head, id;
			const char *why;

			n = TB_HEAD_LENGTH(head);
			/* not written in this lap, or not yet */
			if (TB_HEAD_SEQ(head) != seq || TB_HEAD_STRUCT(head) == TB_STRUCT_PAD)
				break;
			if (!n || i + n > m->r.capacity) {
				model_fail(m, "element of length %u in memory", n);
				break;
			}
			if (TB_HEAD_STRUCT(head) == TB_STRUCT_RESERVED)
				continue;
			if (TB_HEAD_ID(head) == TB_EV_TIME) {
				if (e[i].time != (u32)e[i].payload ||
				    e[i].payload < block->time_start || e[i].payload > m->clock)
					model_fail(m, "TIME element in memory is not whole");
				continue;
			}
			if (TB_HEAD_STRUCT(head) == TB_STRUCT_SIMPLE)
				id = e[i].payload >> 32;
			else
				id = ((const struct tb_composite *)&e[i])->tid;
			if (id >= m->nr_events || m->events[id].seq != block->sequence ||
			    m->events[id].index != i || m->events[id].length != n) {
				model_fail(m, "event %u in memory is not in its place", id);
				break;
			}
			why = model_wrong(m, id, &e[i], block->sequence);
			if (why)
				model_fail(m, "event %u in memory is not whole: %s", id, why);
		}
	}
}

void model_release(struct model *m, int which)
{
	struct model_held h = m->held[which];
	int i;

	if (which >= m->nr_held) {
		model_fail(m, "nothing to release");
		return;
	}
	TB_READS(m->r.bufs[h.index].block, m->r.capacity * TB_ELEMENT_SIZE);
	model_check_held(m);
	m->blocks++;
	m->delivered += h.events;
	m->reported.overwritten += h.gap.overwritten;
	m->reported.dropped += h.gap.dropped;
	m->reported.oversize += h.gap.oversize;
	m->gap_blocks += h.gap.overwritten || h.gap.dropped;
	for (i = which; i < m->nr_held - 1; i++)
		m->held[i] = m->held[i + 1];
	m->held[--m->nr_held].copy = h.copy;
	tb_ring_release(&m->r, h.index);
}

void model_unacquire(struct model *m)
{
	struct model_held *h = &m->held[--m->nr_held];
	u32 i;

	m->drops_told -= h->gap.dropped;
	m->overwritten_told -= h->gap.overwritten;
	m->last_time = h->last_before;
	TB_READS(m->r.bufs[h->index].block, m->r.capacity * TB_ELEMENT_SIZE);
	model_check_held(m);
	for (i = 0; i < m->nr_events; i++) {
		struct model_event *e = &m->events[i];

		if (e->fate == FATE_DELIVERED && e->seq == h->seq)
			e->fate = FATE_RECORDED;
		/* this block or its successor reports them again */
		if (h->gap.overwritten && e->seq < h->seq)
			e->lost_told = false;
	}
	m->next_seq = h->seq;
	m->unacquired++;
	tb_ring_unacquire(&m->r, h->index);
}

void model_drain(struct model *m)
{
	while (m->nr_held)
		model_release(m, 0);
	model_flush(m);
	while (model_acquire(m))
		model_release(m, 0);
	if (!model_write(m, 1))
		model_fail(m, "no room in an empty ring");
	model_flush(m);
	while (model_acquire(m))
		model_release(m, 0);
}

void model_check_accounting(struct model *m, bool drained)
{
	u64 recorded = 0, dropped = 0, delivered = 0, oversize = 0;
	struct tb_ring_stats st;
	u32 i, held = 0;

	for (i = 0; i < m->nr_events; i++) {
		struct model_event *e = &m->events[i];

		recorded += e->fate == FATE_RECORDED || e->fate == FATE_DELIVERED;
		delivered += e->fate == FATE_DELIVERED;
		dropped += e->fate == FATE_DROPPED;
		oversize += e->fate == FATE_DROPPED && e->length > m->r.max;
	}
	for (i = 0; i < (u32)m->nr_held; i++)
		held += m->held[i].events;
	tb_ring_stats(&m->r, &st);
	if (st.recorded != recorded || st.dropped != dropped || st.oversize != oversize ||
	    st.delivered != delivered - held || st.delivered != m->delivered ||
	    st.bytes != m->blocks * m->r.capacity * TB_ELEMENT_SIZE)
		model_fail(m, "counts: ring %llu/%llu/%llu/%llu, counted %llu/%llu/%llu/%llu",
			   (unsigned long long)st.recorded, (unsigned long long)st.dropped,
			   (unsigned long long)st.oversize, (unsigned long long)st.delivered,
			   (unsigned long long)recorded, (unsigned long long)dropped,
			   (unsigned long long)oversize, (unsigned long long)delivered - held);
	if (st.held != (u32)m->nr_held)
		model_fail(m, "%u held, the ring says %u", m->nr_held, st.held);
	if (st.delivered + st.overwritten > st.recorded)
		model_fail(m, "more delivered and overwritten than recorded");
	if (!drained)
		return;
	if (st.delivered + st.overwritten != st.recorded)
		model_fail(m, "recorded %llu != delivered %llu + overwritten %llu",
			   (unsigned long long)st.recorded, (unsigned long long)st.delivered,
			   (unsigned long long)st.overwritten);
	if (m->damaged || !tb_ring_repair(&m->r, m->r.to != ~0ull))
		model_fail(m, "said to be damaged");
	if (st.ready || st.held || st.fill != m->r.capacity || st.blocks != m->next_seq)
		model_fail(m, "drained, but %u ready, %u held, fill %u, %llu blocks", st.ready,
			   st.held, st.fill, (unsigned long long)st.blocks);
	if (m->reported.overwritten != st.overwritten || m->reported.dropped != st.dropped ||
	    m->reported.oversize != st.oversize)
		model_fail(m, "gap slots tell of %llu/%llu/%llu, totals are %llu/%llu/%llu",
			   (unsigned long long)m->reported.overwritten,
			   (unsigned long long)m->reported.dropped,
			   (unsigned long long)m->reported.oversize,
			   (unsigned long long)st.overwritten, (unsigned long long)st.dropped,
			   (unsigned long long)st.oversize);
	for (i = 0; i < m->r.nr; i++) {
		if (tb_local_read(&m->r.bufs[i].committed) != TB_COMMITTED_NONE(m->r.capacity))
			model_fail(m, "buffer %u has commits outstanding", i);
	}
}
