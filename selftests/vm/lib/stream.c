// SPDX-License-Identifier: GPL-2.0-only
/*
 * See stream.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recordings.h"
#include "stream.h"

static bool fail(struct stream *s, const struct tb_block *b, const char *format, ...)
{
	char what[160];
	va_list ap;

	if (s->error[0])
		return false;
	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	snprintf(s->error, sizeof(s->error), "%s block %llu of cpu %u: %s",
		 b->kind == TB_BLOCK_DURABLE ? "durable" : "rolling",
		 (unsigned long long)b->sequence, b->cpu, what);
	return false;
}

#define CHECK(cond, ...)						\
	do {								\
		if (!(cond))						\
			return fail(s, b, __VA_ARGS__);			\
	} while (0)

void stream_init(struct stream *s)
{
	memset(s, 0, sizeof(*s));
}

void stream_free(struct stream *s)
{
	size_t i;

	for (i = 0; i < STREAM_IDS; i++)
		free(s->desc[i].desc);
	if (s->kept > 0)
		close(s->kept);
	stream_init(s);
}

uint64_t stream_events(const struct stream *s)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < STREAM_CPUS; i++)
		n += s->ring[i].events;
	return n;
}

static bool zero(const void *p, size_t bytes)
{
	const uint8_t *c = p;

	while (bytes--)
		if (*c++)
			return false;
	return true;
}

static bool check_header(struct stream *s, const struct tb_block *b, size_t bytes)
{
	CHECK(b->magic == TB_BLOCK_MAGIC, "magic %#x", b->magic);
	CHECK(b->version == TB_BLOCK_VERSION, "version %u", b->version);
	CHECK(b->kind == TB_BLOCK_DURABLE || b->kind == TB_BLOCK_ROLLING, "kind %u", b->kind);
	CHECK(b->size_log2 < 32 && bytes == 1ull << b->size_log2,
	      "size_log2 %u, but %zu bytes", b->size_log2, bytes);
	CHECK(!(b->flags & ~(TB_BLOCK_COMPLETE | TB_BLOCK_FLUSHED | TB_BLOCK_GAP |
			     TB_BLOCK_UNSETTLED)),
	      "flags %#x", b->flags);
	CHECK(b->flags & TB_BLOCK_COMPLETE, "not complete");
	CHECK(b->provider == s->provider, "provider %u", b->provider);
	CHECK(b->cpu < STREAM_CPUS, "cpu %u", b->cpu);
	CHECK(b->time_start <= b->time_end, "it ends before it starts");
	CHECK(b->data >= sizeof(*b) && b->data <= bytes && b->data % TB_ELEMENT_SIZE == 0,
	      "data %u", b->data);
	return true;
}

/* ---- control events --------------------------------------------------- */

static bool take_desc(struct stream *s, const struct tb_block *b, const struct stream_event *e)
{
	const struct tb_event_desc *d = (const void *)e->payload;
	const char *wrong = desc_check(d, e->length);
	struct stream_desc *to;

	CHECK(!wrong, "event description: %s", wrong);
	to = &s->desc[d->id];
	if (to->desc) {
		CHECK(s->inits > 1 && to->size == e->length && !memcmp(to->desc, d, e->length),
		      "id %u described twice, without a new state or differently", d->id);
		return true;
	}
	to->desc = malloc(e->length);
	memcpy(to->desc, d, e->length);
	to->size = e->length;
	s->descs++;
	return true;
}

/* The first event of a recording; each new state repeats it. */
static bool take_init(struct stream *s, const struct tb_block *b, const struct stream_event *e)
{
	struct tb_init init;

	CHECK(e->length == sizeof(init), "init of %u bytes", e->length);
	memcpy(&init, e->payload, sizeof(init));
	CHECK(init.abi == TB_ABI_VERSION, "abi %u", init.abi);
	if (s->inits++) {
		/* A new state has the threads, even if the start had no dump: ignore the flags. */
		init.flags = s->init.flags;
		CHECK(!memcmp(&init, &s->init, sizeof(init)), "init differs from the first");
		return true;
	}
	CHECK(s->durable_events == 0, "init is not the first event");
	s->init = init;
	return true;
}

static bool take_totals(struct stream *s, const struct tb_block *b, const struct stream_event *e)
{
	struct tb_totals t;

	CHECK(e->length == sizeof(t), "totals of %u bytes", e->length);
	memcpy(&t, e->payload, sizeof(t));
	CHECK(t.cpu < STREAM_CPUS, "totals: cpu %u", t.cpu);
	CHECK(t.first <= t.last && t.last <= t.time, "totals: dropped from %llu to %llu at %llu",
	      (unsigned long long)t.first, (unsigned long long)t.last, (unsigned long long)t.time);
	if (t.flags) {
		CHECK(t.flags == TB_TOTALS_SNAPSHOT ||
		      t.flags == (TB_TOTALS_SNAPSHOT | TB_TOTALS_OPEN) ||
		      t.flags == (TB_TOTALS_SNAPSHOT | TB_TOTALS_UNCOUNTED),
		      "totals: flags %#x", t.flags);
		CHECK(!(t.flags & TB_TOTALS_OPEN) || (!t.recorded && !t.dropped && !t.first),
		      "totals of a ring that went on have counts");
		/* later records replace earlier ones */
		s->ring[t.cpu].snapshot = t;
		return true;
	}
	CHECK(!s->ring[t.cpu].have_totals, "totals of cpu %u twice", t.cpu);
	CHECK(t.attempted == t.recorded + t.dropped, "totals: attempted is not recorded + dropped");
	CHECK(t.overwritten <= t.recorded && t.oversize <= t.dropped, "totals: parts too large");
	s->ring[t.cpu].totals = t;
	s->ring[t.cpu].have_totals = true;
	return true;
}

static bool take_suppressed(struct stream *s, const struct tb_block *b,
			    const struct stream_event *e)
{
	struct tb_suppressed one;

	CHECK(e->length == sizeof(one), "suppressed of %u bytes", e->length);
	memcpy(&one, e->payload, sizeof(one));
	CHECK(one.flags == 0, "suppressed: flags %#x", one.flags);
	CHECK(one.filtered || one.sampled || one.limited || one.vetoed || one.nested,
	      "suppressed: nothing of event %u", one.id);
	s->suppressed += one.filtered + one.sampled + one.limited + one.vetoed + one.nested;
	return true;
}

/* Stacks and counters belong to the event before them. */
static bool take_extra(struct stream *s, const struct tb_block *b, const struct stream_event *e)
{
	struct tb_counters counters;
	struct tb_stack stack;

	CHECK(!e->simple && e->length >= sizeof(stack), "extra %u of %u bytes", e->id, e->length);
	if (e->id == TB_EV_STACK) {
		memcpy(&stack, e->payload, sizeof(stack));
		CHECK(stack.kind == TB_STACK_KERNEL || stack.kind == TB_STACK_USER,
		      "stack of kind %u", stack.kind);
		CHECK(stack.count >= 1 && stack.count <= TB_STACK_MAX &&
		      e->length == sizeof(stack) + stack.count * 8, "stack of %u, %u bytes",
		      stack.count, e->length);
		s->stacks++;
		return true;
	}
	memcpy(&counters, e->payload, sizeof(counters));
	CHECK(counters.mask && !(counters.mask >> TB_COUNTERS_MAX) && !counters.reserved &&
	      e->length == sizeof(counters) + __builtin_popcount(counters.mask) * 8,
	      "counters %#x, %u bytes", counters.mask, e->length);
	s->counters++;
	return true;
}

/* Check the kernel's frame of a chunk; the program may write any records. */
static bool take_chunk(struct stream *s, const struct tb_block *b, const struct stream_event *e)
{
	struct tb_chunk_event c;

	CHECK(e->length >= sizeof(c) && e->length % 8 == 0, "chunk of %u bytes", e->length);
	memcpy(&c, e->payload, sizeof(c));
	CHECK(c.producer && c.pid && c.writer && !c.reserved, "chunk: producer %u pid %u writer %u",
	      c.producer, c.pid, c.writer);
	CHECK(!(c.flags & ~(TB_CHUNK_FLAGS | TB_CHUNK_LAST | TB_CHUNK_SCRAPED | TB_CHUNK_HOLES)),
	      "chunk: flags %#x", c.flags);
	CHECK(c.offset % 8 == 0 && c.offset + e->length - sizeof(c) <=
	      TB_CHUNK_BYTES_MAX - sizeof(struct tb_chunk), "chunk: offset %u", c.offset);
	CHECK(e->length > sizeof(c) || c.flags & TB_CHUNK_LAST, "chunk: an empty piece");
	return true;
}

static bool take_patch(struct stream *s, const struct tb_block *b, const struct stream_event *e)
{
	struct tb_patch_event p;

	CHECK(e->length == sizeof(p), "patch of %u bytes", e->length);
	memcpy(&p, e->payload, sizeof(p));
	CHECK(p.producer && p.writer && p.offset % 8 == 0 && !p.flags,
	      "patch: producer %u writer %u offset %u flags %#x", p.producer, p.writer, p.offset,
	      p.flags);
	return true;
}

static bool take_selection(struct stream *s, const struct tb_block *b,
			   const struct stream_event *e)
{
	const struct tb_selection *selection = (const void *)e->payload;
	uint32_t i, id;

	CHECK(e->length >= sizeof(*selection), "selection of %u bytes", e->length);
	CHECK(selection->first == TB_EV_FIRST && selection->count <= STREAM_IDS - TB_EV_FIRST &&
	      e->length == sizeof(*selection) + (selection->count + 7) / 8,
	      "selection from %u, %u bits, %u bytes", selection->first, selection->count,
	      e->length);
	memset(s->selection, 0, sizeof(s->selection));
	for (i = 0; i < selection->count; i++) {
		if (!(selection->bits[i / 8] >> i % 8 & 1))
			continue;
		id = selection->first + i;
		CHECK(s->desc[id].desc, "event %u is selected, but not described", id);
		s->selection[id / 8] |= 1 << id % 8;
		s->selected[id / 8] |= 1 << id % 8;
		if (!s->selected_first)
			s->selected_first = e->time;
	}
	s->selections++;
	return true;
}

static bool take_control(struct stream *s, const struct tb_block *b, const struct stream_event *e)
{
	switch (e->id) {
	case TB_EV_CLOCK:
		CHECK(e->length == sizeof(struct tb_clock_sync), "clock of %u bytes", e->length);
		s->clocks++;
		return true;
	case TB_EV_THREAD:
		CHECK(e->length == sizeof(struct tb_thread), "thread of %u bytes", e->length);
		s->threads++;
		return true;
	case TB_EV_MARK:
		return true;
	}
	if (e->id >= TB_EV_USER && e->id <= TB_EV_USER_LAST) {
		CHECK(!e->durable, "event %u in a durable block", e->id);
		return true;
	}
	if (e->id == TB_EV_CHUNK || e->id == TB_EV_PATCH) {
		CHECK(!e->durable, "event %u in a durable block", e->id);
		return e->id == TB_EV_CHUNK ? take_chunk(s, b, e) : take_patch(s, b, e);
	}
	CHECK(e->durable, "event %u in a rolling block", e->id);
	switch (e->id) {
	case TB_EV_INIT:
		return take_init(s, b, e);
	case TB_EV_EVENT:
		return take_desc(s, b, e);
	case TB_EV_TOTALS:
		return take_totals(s, b, e);
	case TB_EV_STRING:
		CHECK(e->length >= sizeof(struct tb_string), "string of %u bytes", e->length);
		s->strings++;
		return true;
	case TB_EV_SUPPRESSED:
		return take_suppressed(s, b, e);
	case TB_EV_SELECTION:
		return take_selection(s, b, e);
	case TB_EV_THREADS_LOST:
		CHECK(e->length == sizeof(s->lost), "lost threads of %u bytes", e->length);
		memcpy(&s->lost, e->payload, sizeof(s->lost));
		CHECK(s->lost.records || s->lost.before, "no threads were lost");
		CHECK(s->lost.first <= s->lost.last, "lost threads: impossible span of time");
		return true;
	}
	return fail(s, b, "control event %u", e->id);
}

/* Does the event have the described form? */
static bool take_described(struct stream *s, const struct tb_block *b,
			   const struct stream_event *e)
{
	const struct tb_event_desc *d = s->desc[e->id].desc;
	const struct tb_field *f;
	int i;

	CHECK(!e->durable, "event %u in a durable block", e->id);
	CHECK(d, "event %u is not described", e->id);
	/*
	 * Either form may be selected: an event changes its form before the new selection is
	 * recorded.
	 */
	CHECK(s->selected[e->id / 8] >> (e->id & 6) & 3, "event %u has never been selected", e->id);
	CHECK(s->durable_first || e->time >= s->selected_first,
	      "event %u came before the selection was complete", e->id);
	CHECK(e->simple == !!(d->flags & TB_EVENT_SIMPLE), "event %u has the wrong form", e->id);
	f = (const void *)(d + 1);
	/* test_calls.c checks events that may end early. */
	for (i = 0; i < d->nr_fields && !(d->flags & TB_EVENT_SHORT); i++)
		CHECK(f[i].offset + f[i].size <= e->length, "event %u ends before its field %s",
		      e->id, desc_string(d, f[i].name));
	return true;
}

/* ---- elements --------------------------------------------------------- */

static bool check_element(struct stream *s, const struct tb_block *b,
			  const struct tb_element *el, uint32_t room, uint64_t *now,
			  struct stream_event *e)
{
	uint32_t len = TB_HEAD_LENGTH(el->head), type = TB_HEAD_STRUCT(el->head);
	uint64_t time;

	CHECK(type == TB_STRUCT_SIMPLE || type == TB_STRUCT_COMPOSITE,
	      "element %zu has structure %u", (size_t)(el - (const struct tb_element *)b), type);
	CHECK(len >= 1 && len <= room, "event of %u elements where %u are left", len, room);
	CHECK(TB_HEAD_SEQ(el->head) == (b->sequence & 0x3f), "an element of another lap: %u",
	      TB_HEAD_SEQ(el->head));
	memset(e, 0, sizeof(*e));
	e->cpu = b->cpu;
	e->durable = b->kind == TB_BLOCK_DURABLE;
	e->block = b->sequence;
	e->id = TB_HEAD_ID(el->head);
	e->simple = type == TB_STRUCT_SIMPLE;
	if (e->simple && e->id == TB_EV_TIME) {
		CHECK((uint32_t)el->payload == el->time, "TIME: halves differ");
		time = el->payload;
	} else {
		time = (*now & ~0xffffffffull) | el->time;
	}
	CHECK(time >= *now, "time goes back by %llu at event %u",
	      (unsigned long long)(*now - time), e->id);
	CHECK(time >= b->time_start && time <= b->time_end, "time outside the block");
	*now = time;
	e->time = time;
	if (e->simple) {
		e->payload = (const void *)&el->payload;
		e->length = len * sizeof(*el) - 8;
	} else {
		const struct tb_composite *c = (const void *)el;

		e->tid = c->tid;
		e->context = c->context;
		e->length = c->length;
		e->payload = (const void *)(c + 1);
		CHECK((c->length + 15u) / 16 == len - 1, "payload of %u bytes in %u elements",
		      c->length, len);
		CHECK(zero(e->payload + c->length, (len - 1) * 16 - c->length),
		      "the tail of event %u is not zero", e->id);
	}
	return true;
}

static bool check_elements(struct stream *s, const struct tb_block *b)
{
	const struct tb_element *el = (const void *)b;
	struct stream_ring *r = &s->ring[b->cpu];
	bool durable = b->kind == TB_BLOCK_DURABLE;
	uint32_t i = TB_BLOCK_HEADER_ELEMENTS, end = b->data / TB_ELEMENT_SIZE;
	uint64_t now = b->time_start;
	struct stream_event e;
	uint32_t events = 0;
	bool follows = false;	/* the element before is an event, or its stack or counters */

	if (!durable)
		CHECK(now >= r->last_time, "starts before the last event of the block before");
	while (i < end) {
		if (!check_element(s, b, &el[i], end - i, &now, &e))
			return false;
		if (e.id == TB_EV_GAP && !durable)
			CHECK(i == TB_BLOCK_HEADER_ELEMENTS, "gap slot at element %u", i);
		i += TB_HEAD_LENGTH(el[i].head);
		if (e.id == TB_EV_STACK || e.id == TB_EV_COUNTERS) {
			CHECK(follows, "extra %u without its event", e.id);
			if (!take_extra(s, b, &e))
				return false;
			continue;
		}
		follows = e.id >= TB_EV_FIRST;
		if (e.id <= TB_EV_STRUCTURAL_LAST) {
			CHECK(!durable && (e.id == TB_EV_GAP || (e.id == TB_EV_TIME && e.simple)),
			      "structural event %u", e.id);
			continue;
		}
		if (!(e.id <= TB_EV_CONTROL_LAST ? take_control(s, b, &e) :
		      take_described(s, b, &e)))
			return false;
		events++;
		if (durable)
			s->durable_events++;
		if (s->event)
			s->event(s->ctx, &e);
	}
	CHECK(events == b->events, "%u events, the header says %u", events, b->events);
	if (!durable) {
		r->last_time = now;
		r->events += events;
	}
	return true;
}

/* ---- blocks ----------------------------------------------------------- */

static bool check_gap(struct stream *s, const struct tb_block *b, const struct tb_gap *gap)
{
	struct stream_ring *r = &s->ring[b->cpu];
	bool lost = gap->overwritten || gap->dropped;

	/* A save channel has rolling blocks only. */
	if (!s->recording)
		s->recording = gap->recording;
	CHECK(s->recording && gap->recording == s->recording, "of recording %llx, not %llx",
	      (unsigned long long)gap->recording, (unsigned long long)s->recording);
	CHECK(b->overwritten == r->overwritten + gap->overwritten,
	      "overwritten %llu, but %llu before and a gap of %llu",
	      (unsigned long long)b->overwritten, (unsigned long long)r->overwritten,
	      (unsigned long long)gap->overwritten);
	CHECK(b->dropped == r->dropped + gap->dropped,
	      "dropped %llu, but %llu before and a gap of %llu",
	      (unsigned long long)b->dropped, (unsigned long long)r->dropped,
	      (unsigned long long)gap->dropped);
	CHECK(gap->oversize <= gap->dropped, "gap: oversize");
	CHECK(lost == !!(b->flags & TB_BLOCK_GAP), "TB_BLOCK_GAP is %sset", lost ? "not " : "");
	CHECK(lost || zero(gap, offsetof(struct tb_gap, recording)), "the gap slot is not zero");
	CHECK(gap->recording, "gap: the number of the recording is 0");
	CHECK(!r->recording || gap->recording == r->recording,
	      "gap: of recording %#llx, but the block before is of %#llx",
	      (unsigned long long)gap->recording, (unsigned long long)r->recording);
	r->recording = gap->recording;
	CHECK(gap->first <= gap->last, "gap: it ends before it starts");
	r->untold |= b->sequence != (r->blocks ? r->last_seq + 1 : 0);
	CHECK(!r->untold || gap->overwritten || b->flags & TB_BLOCK_UNSETTLED,
	      "no overwritten events, but %llu comes after %s%llu",
	      (unsigned long long)b->sequence, r->blocks ? "" : "none, ",
	      (unsigned long long)r->last_seq);
	if (gap->overwritten || !(b->flags & TB_BLOCK_UNSETTLED))
		r->untold = false;
	r->unsettled = b->flags & TB_BLOCK_UNSETTLED;
	r->overwritten = b->overwritten;
	r->dropped = b->dropped;
	r->gap_overwritten += gap->overwritten;
	r->gap_dropped += gap->dropped;
	r->gap_oversize += gap->oversize;
	r->gaps += lost;
	return true;
}

static bool check_rolling(struct stream *s, const struct tb_block *b, size_t bytes)
{
	const struct tb_composite *slot = (const void *)(b + 1);
	const struct tb_element *pad = (const void *)((const char *)b + b->data);
	struct stream_ring *r = &s->ring[b->cpu];
	uint32_t rest = (bytes - b->data) / TB_ELEMENT_SIZE;

	CHECK(s->inits, "comes before the init record");
	CHECK(b->data >= TB_BLOCK_FIRST_ELEMENT * TB_ELEMENT_SIZE, "data %u", b->data);
	CHECK(TB_HEAD_STRUCT(slot->head) == TB_STRUCT_COMPOSITE &&
	      TB_HEAD_ID(slot->head) == TB_EV_GAP &&
	      TB_HEAD_LENGTH(slot->head) == TB_GAP_ELEMENTS &&
	      slot->length == sizeof(struct tb_gap), "no gap slot");
	CHECK(!r->blocks || b->sequence > r->last_seq, "comes after %llu",
	      (unsigned long long)r->last_seq);
	if (!check_gap(s, b, (const void *)(slot + 1)))
		return false;
	if (rest) {
		CHECK(TB_HEAD_STRUCT(pad->head) == TB_STRUCT_PAD &&
		      TB_HEAD_LENGTH(pad->head) == (rest < 1023 ? rest : 1023) &&
		      TB_HEAD_SEQ(pad->head) == (b->sequence & 0x3f), "no padding after the data");
	}
	r->last_seq = b->sequence;
	r->blocks++;
	if (s->block)
		s->block(s->ctx, b, (const void *)(slot + 1));
	return check_elements(s, b);
}

static bool check_durable(struct stream *s, const struct tb_block *b, size_t bytes)
{
	/* If earlier blocks were recycled, the stream starts with a later one. */
	if (!s->durable_blocks)
		s->durable_first = b->sequence;
	CHECK(b->sequence == s->durable_first + s->durable_blocks, "expected %llu",
	      (unsigned long long)(s->durable_first + s->durable_blocks));
	CHECK(b->cpu == 0 && b->dropped == 0, "header fields not zero");
	/* Durable blocks have the number of the recording in this field. */
	if (!s->durable_blocks)
		s->recording = b->overwritten;
	CHECK(s->recording && b->overwritten == s->recording, "of recording %llx, not %llx",
	      (unsigned long long)b->overwritten, (unsigned long long)s->recording);
	CHECK(b->flags == TB_BLOCK_COMPLETE, "flags %#x", b->flags);
	CHECK(zero((const char *)b + b->data, bytes - b->data), "not zero after the data");
	s->durable_blocks++;
	return check_elements(s, b);
}

/* Keep the start of the stream as a recorder would have written it. */
static void keep(struct stream *s, const void *block, size_t bytes)
{
	if (!s->kept)
		s->kept = recording_new();
	if (s->kept > 0 && s->bytes <= RECORDING_MAX)
		recording_write(s->kept, block, bytes);
}

bool stream_block(struct stream *s, const void *block, size_t bytes)
{
	const struct tb_block *b = block;

	if (s->error[0])
		return false;
	s->bytes += bytes;
	if (bytes < sizeof(*b)) {
		snprintf(s->error, sizeof(s->error), "a block of %zu bytes", bytes);
		return false;
	}
	if (!check_header(s, b, bytes))
		return false;
	if (!(b->kind == TB_BLOCK_DURABLE ? check_durable(s, b, bytes) :
					    check_rolling(s, b, bytes)))
		return false;
	keep(s, block, bytes);
	return true;
}

bool stream_blocks(struct stream *s, const void *blocks, size_t bytes)
{
	while (bytes) {
		const struct tb_block *b = blocks;
		size_t n = bytes < sizeof(*b) || b->size_log2 > 31 ? bytes : 1ul << b->size_log2;

		if (n > bytes || !stream_block(s, b, n)) {
			if (!s->error[0])
				snprintf(s->error, sizeof(s->error), "cut within a block");
			return false;
		}
		blocks = (const char *)blocks + n;
		bytes -= n;
	}
	return true;
}

bool stream_finish(struct stream *s)
{
	uint32_t i;

	if (s->error[0])
		return false;
	for (i = 0; i < STREAM_CPUS; i++) {
		struct stream_ring *r = &s->ring[i];
		struct tb_block at = { .kind = TB_BLOCK_ROLLING, .cpu = i,
				       .sequence = r->last_seq }, *b = &at;

		if (!r->blocks && !r->have_totals)
			continue;
		CHECK(r->have_totals, "no totals of this ring");
		CHECK(r->events + r->totals.overwritten == r->totals.recorded,
		      "end: %llu events and %llu overwritten, but %llu were recorded",
		      (unsigned long long)r->events, (unsigned long long)r->totals.overwritten,
		      (unsigned long long)r->totals.recorded);
		CHECK(r->gap_overwritten == r->overwritten &&
		      (r->overwritten == r->totals.overwritten),
		      "end: %llu overwritten, the gaps count %llu",
		      (unsigned long long)r->totals.overwritten,
		      (unsigned long long)r->gap_overwritten);
		/* Drops after the last block are in the totals only. */
		CHECK(r->dropped <= r->totals.dropped && r->gap_dropped == r->dropped,
		      "end: more dropped than in all");
		CHECK(r->dropped == r->totals.dropped || r->totals.first,
		      "end: events were dropped, without a time");
		CHECK(r->totals.blocks == (r->blocks ? r->last_seq + 1 : 0) ||
		      r->overwritten < r->totals.overwritten,
		      "end: %llu blocks were opened", (unsigned long long)r->totals.blocks);
	}
	return true;
}

bool stream_snapshot(struct stream *s)
{
	static const struct tb_block none = { .kind = TB_BLOCK_ROLLING }, *b = &none;
	uint32_t cpu;

	for (cpu = 0; cpu < STREAM_CPUS; cpu++) {
		struct stream_ring *r = &s->ring[cpu];
		const struct tb_totals *t = &r->snapshot;

		if (!r->blocks)
			continue;
		/* The recording stopped meanwhile, or this is no snapshot. */
		if (r->have_totals || s->init.mode != TB_MODE_CIRCULAR)
			continue;
		CHECK(t->flags, "cpu %u: no counts of the snapshot", cpu);
		CHECK(t->blocks > r->last_seq, "cpu %u: counts of another snapshot", cpu);
		if (t->flags & TB_TOTALS_OPEN)
			continue;
		/*
		 * The last block was not complete then: it may have been overwritten before it was
		 * acquired.
		 */
		if (t->flags & TB_TOTALS_UNCOUNTED && t->blocks > r->last_seq + 1)
			continue;
		CHECK(t->blocks == r->last_seq + 1, "cpu %u: counts up to block %llu, it has %llu", cpu,
		      (unsigned long long)t->blocks, (unsigned long long)r->last_seq + 1);
		CHECK(t->dropped >= r->dropped && (t->dropped == r->dropped || t->first),
		      "cpu %u: %llu dropped at the end", cpu, (unsigned long long)t->dropped);
		/* The next block would count the rest, and the snapshot does not have it. */
		CHECK(t->flags & TB_TOTALS_UNCOUNTED ||
		      (r->unsettled && t->attempted > r->events + r->overwritten + t->dropped) ||
		      t->attempted == r->events + r->overwritten + t->dropped,
		      "cpu %u: %llu attempted, not %llu + %llu + %llu", cpu,
		      (unsigned long long)t->attempted, (unsigned long long)r->events,
		      (unsigned long long)r->overwritten, (unsigned long long)t->dropped);
	}
	return true;
}
