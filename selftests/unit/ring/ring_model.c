// SPDX-License-Identifier: GPL-2.0-only
/* The writers' half of ring_model.h: a ring from creation to the end, and what is recorded. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "ring_model.h"

struct model *model;
bool model_raw_clock;
unsigned long model_paths[TB_PATHS];

void (*tb_point_hook)(const volatile void *p);
void (*tb_changed_hook)(const volatile void *p, u64 old, u64 new);

u64 tb_user_clock(bool raw)
{
	u64 now;

	(void)raw;
	now = __atomic_fetch_add(&model->clock, model->step, __ATOMIC_RELAXED);
	if (model->current >= 0)
		model->events[model->current].stamp = now;
	return now;
}

u32 tb_user_tid(void)
{
	return MODEL_TID;
}

void tb_ring_notify(struct tb_cpu_ring *r)
{
	(void)r;
	model->notified++;
}

void tb_ring_damaged(struct tb_cpu_ring *r)
{
	(void)r;
	model->damaged++;
}

void tb_ring_opened(struct tb_cpu_ring *r, const struct tb_buf *b, u64 seq)
{
	if (b->block->sequence != seq || b->state != TB_BUF_WORD(seq, TB_BUF_WRITING))
		model_fail(model, "block %llu in buffer %td is not open", (unsigned long long)seq,
			   b - r->bufs);
}

void tb_ring_filled(struct tb_cpu_ring *r, const struct tb_buf *b)
{
	if (!(b->block->flags & TB_BLOCK_COMPLETE) || b->block->data % TB_ELEMENT_SIZE ||
	    TB_BUF_STATE(b->state) != TB_BUF_WRITING)
		model_fail(model, "buffer %td is not complete", b - r->bufs);
}

/* All rings of these tests have buffers */
void tb_pending_commit(struct tb_cpu_ring *r, struct tb_buf *b)
{
	(void)r;
	(void)b;
	abort();
}

bool tb_pending_commit_simple(struct tb_cpu_ring *r, u32 id, u64 payload)
{
	(void)r;
	(void)id;
	(void)payload;
	abort();
	return false;
}

void tb_ring_path(enum tb_ring_path path)
{
	model_paths[path]++;
}

void model_fail(struct model *m, const char *fmt, ...)
{
	va_list ap;

	if (m->error)
		return;
	va_start(ap, fmt);
	vsnprintf(m->error_text, sizeof(m->error_text), fmt, ap);
	va_end(ap);
	m->error = m->error_text;
}

static void *xalloc(size_t size, size_t align)
{
	void *p = aligned_alloc(align, (size + align - 1) / align * align);

	if (!p) {
		perror("aligned_alloc");
		exit(2);
	}
	memset(p, 0, size);
	return p;
}

struct model *model_new(u32 nr, u32 capacity, bool overwrite)
{
	struct model *m = xalloc(sizeof(*m), _Alignof(struct model));
	size_t bytes = (size_t)capacity * TB_ELEMENT_SIZE;
	u32 i;

	m->memory = xalloc(nr * bytes, 64);
	m->max_events = 4096;
	m->events = xalloc(m->max_events * sizeof(*m->events), 64);
	m->drops = xalloc(m->max_events * sizeof(*m->drops), 64);
	m->r.bufs = xalloc(nr * sizeof(*m->r.bufs), 64);
	m->r.nr = nr;
	m->r.capacity = capacity;
	m->r.watermark = capacity * 7 / 10;
	m->r.overwrite = overwrite;
	m->r.raw_clock = model_raw_clock;
	m->r.provider = MODEL_PROVIDER;
	m->r.cpu = MODEL_CPU;
	for (i = 0; i < nr; i++)
		m->r.bufs[i].block = (void *)((char *)m->memory + i * bytes);
	for (i = 0; i < MODEL_HELD; i++)
		m->held[i].copy = xalloc(bytes, 64);
	m->clock = 1000;
	m->step = 1;
	model_reset(m);
	tb_changed_hook = model_changed;
	return m;
}

/*
 * Memory has contents that the ring does not expect. Within a recording stale contents are part of
 * the test.
 */
void model_reset(struct model *m)
{
	model = m;
	memset(m->memory, 0xff, (size_t)m->r.nr * m->r.capacity * TB_ELEMENT_SIZE);
	tb_ring_reset(&m->r, m->clock);
	m->nr_events = 0;
	m->nr_drops = 0;
	m->committed = 0;
	m->current = -1;
	m->drops_told = 0;
	m->nr_held = 0;
	m->next_seq = 0;
	m->last_time = 0;
	m->overwritten_told = 0;
	m->unsettled = 0;
	m->blocks = 0;
	m->delivered = 0;
	m->gap_blocks = 0;
	memset(&m->reported, 0, sizeof(m->reported));
	memset(&m->last_gap, 0, sizeof(m->last_gap));
	m->notified = 0;
	m->unacquired = 0;
}

void model_free(struct model *m)
{
	int i;

	for (i = 0; i < MODEL_HELD; i++)
		free(m->held[i].copy);
	free(m->r.bufs);
	free(m->events);
	free(m->drops);
	free(m->memory);
	free(m);
}

/* ---- writing ---------------------------------------------------------- */

static u64 pattern(u32 event, u32 word)
{
	/* taken for a first word it would be of lap 63, see model_check_memory() */
	return (u64)event << 32 | ((event * 2654435761u + word) | 0xfc000000u);
}

const char *model_wrong(struct model *m, u32 id, const struct tb_element *e, u64 seq)
{
	const struct model_event *ev = &m->events[id];
	const struct tb_composite *c = (const void *)e;
	u32 n = ev->length, i;

	if (e->head != TB_HEAD(ev->simple ? TB_STRUCT_SIMPLE : TB_STRUCT_COMPOSITE,
			       TB_EV_FIRST + ev->simple, n, seq))
		return "first word";
	if (ev->simple)
		return e->payload == pattern(id, 0) ? NULL : "payload";
	if (c->tid != id || c->length != (n - 1) * TB_ELEMENT_SIZE || c->context)
		return "first element";
	for (i = 0; i < 2 * (n - 1); i++) {
		if (((const u64 *)(e + 1))[i] != pattern(id, i))
			return "payload";
	}
	return NULL;
}

/* The current event has moved head: note its place, unless head moved to close a block. */
static void placed(struct model *m, u64 old, u64 head)
{
	struct model_event *ev = &m->events[m->current];

	if (tb_head_index(old) < m->r.capacity &&
	    tb_head_index(head) - tb_head_index(old) < ev->length)
		return;
	ev->buffer = tb_head_buffer(head);
	ev->index = tb_head_index(head) - ev->length;
	ev->seq = tb_head_seq(head, m->r.bufs[ev->buffer].state);
}

/* The ring has counted the commit of the current event. */
static void committed(struct model *m)
{
	struct model_event *ev = &m->events[m->current];
	const char *why = model_wrong(m, m->current,
				      tb_buf_element(&m->r.bufs[ev->buffer], ev->index), ev->seq);

	if (ev->fate != FATE_OPEN)
		model_fail(m, "event %d is committed twice", m->current);
	if (why)
		model_fail(m, "event %d is committed, but not its %s", m->current, why);
	ev->fate = FATE_RECORDED;
	m->committed++;
}

void model_changed(const volatile void *p, u64 old, u64 new)
{
	if (model->current < 0)
		return;
	if (p == &model->r.dropped)
		model->drops[model->nr_drops++] = model->current;
	else if (p == &model->r.head)
		placed(model, old, new);
	else if (p == &model->r.bufs[model->events[model->current].buffer].committed &&
		 (u32)(new - old) == 1)
		committed(model);
}

static void grow(struct model *m)
{
	struct model_event *events = xalloc(2 * m->max_events * sizeof(*events), 64);
	u32 *drops = xalloc(2 * m->max_events * sizeof(*drops), 64);

	memcpy(events, m->events, m->max_events * sizeof(*events));
	memcpy(drops, m->drops, m->max_events * sizeof(*drops));
	free(m->events);
	free(m->drops);
	m->events = events;
	m->drops = drops;
	m->max_events *= 2;
}

/* Begin an attempt; return its number. */
static int begin(struct model *m, u32 n, bool simple)
{
	int id = m->nr_events++;
	struct model_event *e;

	if (m->nr_events > m->max_events)
		grow(m);
	e = &m->events[id];
	memset(e, 0, sizeof(*e));
	e->length = n;
	e->simple = simple;
	e->before = m->clock;
	return id;
}

/* The attempt found no room. */
static void lost(struct model *m, int id)
{
	if (m->events[id].fate != FATE_OPEN)
		model_fail(m, "event %d was committed, but not recorded", id);
	m->events[id].fate = FATE_DROPPED;
	m->events[id].after = m->clock;
}

static void recorded(struct model *m, int id)
{
	struct model_event *e = &m->events[id];

	if (e->fate == FATE_OPEN)
		model_fail(m, "event %d was recorded, but not committed", id);
	if (e->index < TB_BLOCK_FIRST_ELEMENT || e->index + e->length > m->r.capacity)
		model_fail(m, "event at %u + %u", e->index, e->length);
	e->after = m->clock;
}

int model_reserve(struct model *m, u32 n, struct tb_slot *s)
{
	int outer = m->current, id = begin(m, n, false);
	struct model_event *e;
	bool got;

	m->current = id;
	got = tb_ring_reserve(&m->r, n, s);
	m->current = outer;
	if (!got) {
		lost(m, id);
		return -1;
	}
	e = &m->events[id];	/* nested events may have moved the array */
	if (s->length != n || s->element != tb_buf_element(s->buf, e->index) ||
	    s->buf != &m->r.bufs[e->buffer] || ((e->seq ^ s->seq) & TB_HEAD_SEQ_MASK))
		model_fail(m, "event %d: the slot is not what was reserved", id);
	return id;
}

/* Fill in an event as probe.h does, in the same order. */
void model_commit(struct model *m, int id, struct tb_slot *s)
{
	struct tb_composite *c = (struct tb_composite *)s->element;
	u32 n = s->length, i;
	int outer = m->current;

	m->current = id;
	tb_write(&c->head, TB_HEAD(TB_STRUCT_RESERVED, 0, n, s->seq));
	TB_WRITES(&c->time, n * sizeof(struct tb_element) - sizeof(c->head));
	c->time = s->time;
	c->tid = id;
	c->length = (n - 1) * TB_ELEMENT_SIZE;
	c->context = 0;
	TB_POINT(c + 1);
	for (i = 0; i < 2 * (n - 1); i++)
		((u64 *)(c + 1))[i] = pattern(id, i);
	tb_ring_commit(s, TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_FIRST, n, s->seq));
	m->current = outer;
	recorded(m, id);
}

bool model_composite(struct model *m, u32 n)
{
	struct tb_slot s;
	int id = model_reserve(m, n, &s);

	if (id < 0)
		return false;
	model_commit(m, id, &s);
	return true;
}

bool model_simple(struct model *m)
{
	int outer = m->current, id = begin(m, 1, true);
	bool got;

	m->current = id;
	if (m->wakes)
		got = tb_ring_simple_slow(&m->r, TB_EV_FIRST + 1, pattern(id, 0), m->r.head, 0);
	else
		got = tb_ring_simple(&m->r, TB_EV_FIRST + 1, pattern(id, 0));
	m->current = outer;
	if (got)
		recorded(m, id);
	else
		lost(m, id);
	return got;
}

bool model_write(struct model *m, u32 n)
{
	return n == 1 ? model_simple(m) : model_composite(m, n);
}

bool model_flush(struct model *m)
{
	int outer = m->current;
	bool closed;

	m->current = -1;
	closed = tb_ring_flush(&m->r);
	m->current = outer;
	return closed;
}
