/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a probe may call: functions that record an event into the ring of this CPU.
 *
 * Probes and the recorder call them in any context, NMI included.  Nothing here sleeps, takes a
 * lock, or runs code with tracepoints: these could lead back here.
 */
#ifndef TB_PROBE_PROBE_H
#define TB_PROBE_PROBE_H

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/sched.h>

#include "machine/compat.h"
#include "pending.h"
#include "provider/provider.h"

/* tells the compiler that @p is not NULL */
#define tb_not_null(p)							\
	({								\
		typeof(p) __p = (p);					\
									\
		if (!__p)						\
			__builtin_unreachable();			\
		__p;							\
	})

/* softirq has the same bit in preempt_count() and in the context, but not on PREEMPT_RT */
#define TB_CONTEXT_COUNTS						\
	(PREEMPT_MASK | (IS_ENABLED(CONFIG_PREEMPT_RT) ? 0 : SOFTIRQ_OFFSET))

/* The rare part of tb_context(): in an interrupt, or with a preemption depth below @own. */
static __always_inline u16 tb_context_rare(unsigned int own)
{
	unsigned int pc = preempt_count();
	u16 context = pc & TB_CONTEXT_COUNTS;

	/* some tracepoints leave preemption on */
	if ((pc & PREEMPT_MASK) < own)
		context &= ~PREEMPT_MASK;
	else
		context -= own;
	if (pc & HARDIRQ_MASK)
		context |= TB_CONTEXT_HARDIRQ;
	if (pc & NMI_MASK)
		context |= TB_CONTEXT_NMI;
	return context;
}

/*
 * Return the context in which the event occurs.  @own: the levels that the tracepoint and the
 * recorder have added to the preemption depth since.
 */
static __always_inline u16 tb_context(unsigned int own)
{
	unsigned int pc = preempt_count();
	u16 context;

	/* without CONFIG_PREEMPT_COUNT, disabling preemption adds no level */
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		own = 0;
	context = (pc & TB_CONTEXT_COUNTS) - own;
	BUILD_BUG_ON(SOFTIRQ_OFFSET != TB_CONTEXT_SOFTIRQ);
	if (unlikely(pc & (HARDIRQ_MASK | NMI_MASK) || (pc & PREEMPT_MASK) < own))
		context = tb_context_rare(own);
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && in_serving_softirq())
		context |= TB_CONTEXT_SOFTIRQ;
	return context;
}

/* Clears the rest of the last element, which ends at @end, behind @bytes of payload. */
static __always_inline void tb_clear_tail(struct tb_element *end, u32 bytes)
{
	u64 *tail = (u64 *)(end - 1);
	u32 used = bytes % TB_ELEMENT_SIZE;

	/* a test at run time costs more than a store */
	if (__builtin_constant_p(bytes) ? !used : !bytes)
		return;
	if (!__builtin_constant_p(bytes) || used < sizeof(*tail))
		tail[0] = 0;
	tail[1] = 0;
}

/* Fills in a reserved composite event except for the payload; @own: see tb_context(). */
static __always_inline struct tb_composite *tb_record_open(struct tb_slot *slot, u32 id, u32 n,
							   u32 bytes, u32 own)
{
	struct tb_composite *c = tb_not_null((struct tb_composite *)slot->element);

	slot->head = TB_HEAD(TB_STRUCT_COMPOSITE, id, n, slot->seq);
	tb_write(&c->head, TB_HEAD(TB_STRUCT_RESERVED, 0, n, slot->seq));
	tb_clear_tail(slot->element + n, bytes);
	c->time = slot->time;
	c->tid = current->pid;
	c->length = bytes;
	c->context = tb_context(own);
	return c;
}

/* Return the number of elements of a composite event with @bytes of payload. */
static __always_inline u32 tb_record_elements(u32 bytes)
{
	return 1 + (bytes + TB_ELEMENT_SIZE - 1) / TB_ELEMENT_SIZE;
}

/**
 * tb_record_begin() - reserve a composite event on this CPU
 * @p: the provider
 * @slot: out: the reservation
 * @id: event id
 * @bytes: size of the payload after the first element
 * @own: see tb_context(); includes the one level that this function adds
 *
 * Context: any, NMI included.  On success preemption is off until tb_record_end().
 * Return: the first element, with its tb_composite filled in and the tail of the payload zeroed;
 * NULL if there is no room: the loss is counted.
 */
static __always_inline struct tb_composite *tb_record_begin(struct tb_provider *p,
							    struct tb_slot *slot,
							    u32 id, u32 bytes, u32 own)
{
	u32 n = tb_record_elements(bytes);

	preempt_disable_notrace();
	if (unlikely(!tb_ring_reserve(this_cpu_ptr(p->rings), n, slot))) {
		preempt_enable_notrace();
		return NULL;
	}
	return tb_record_open(slot, id, n, bytes, own);
}

/* Commit what tb_record_begin() reserved, in the same context. */
static __always_inline void tb_record_end(struct tb_slot *slot)
{
	tb_ring_commit(slot, slot->head);
	preempt_enable_notrace();
}

/* Record a control event on this CPU; see tb_record_begin(). */
static inline void tb_record_control(struct tb_provider *p, u16 id, const void *payload,
				     u32 bytes, u32 own)
{
	struct tb_slot slot __uninitialized;
	struct tb_composite *c = tb_record_begin(p, &slot, id, bytes, own);

	if (c) {
		memcpy(c + 1, payload, bytes);
		tb_record_end(&slot);
	}
}

/**
 * tb_probe_begin() - reserve the wide form of a probe's event on this CPU
 * @p: the probe
 * @slot: out: the reservation
 * @bytes: size of the payload after the first element
 *
 * The rings of a probe with a rule have no buffers, so its events find no room there and get a
 * place elsewhere (pending.c).  So the path of events without rules has no test for rules.
 *
 * Context: any, NMI included.  On success preemption is off until tb_probe_end().
 * Return: the kernel's trace_event_raw structure, with its trace_entry at the end of the first
 * element; NULL if the event is lost or not wanted.
 */
static __always_inline void *tb_probe_begin(struct tb_probe *p, struct tb_slot *slot, u32 bytes)
{
	u32 n = tb_record_elements(bytes);
	struct tb_cpu_ring *r;
	void *raw;

	preempt_disable_notrace();
	/* a dependent load, before the rings: pairs with the release in tb_rule_route_one() */
	r = this_cpu_ptr(READ_ONCE(p->rings));
	if (unlikely(!tb_ring_reserve(r, n, slot))) {
		struct tb_place place = tb_pending_begin(p, r, n);

		if (!place.head) {
			preempt_enable_notrace();
			return NULL;
		}
		if (!tb_pending_holds(place))
			r = this_cpu_ptr(p->provider->rings);
		tb_ring_slot(r, slot, place.head, n, place.time);
	}
	/* own is 2: the tracepoint and preempt_disable_notrace() above */
	raw = &tb_record_open(slot, p->id_wide, n, bytes, 2)->tid;
	/* the structure goes beyond the member @tid: keep the compiler from checking its bounds */
	OPTIMIZER_HIDE_VAR(raw);
	return tb_not_null(raw);
}

static __always_inline void tb_probe_end(struct tb_slot *slot)
{
	tb_record_end(slot);
}

/*
 * Record an event of another module that is always simple.  @payload: as its fields are laid out.
 */
static __always_inline void tb_probe_simple(struct tb_probe *p, u64 payload)
{
	preempt_disable_notrace();
	/* pairs with the release in tb_rule_route_one(); with rules: tb_pending_commit_simple() */
	tb_ring_simple(this_cpu_ptr(READ_ONCE(p->rings)), p->id_simple, payload);
	preempt_enable_notrace();
}

/**
 * tb_probe_compact() - record a compact form that is one element
 * @p: the probe
 * @payload: 8 bytes, laid out as the fields of the compact form
 *
 * With a rule or a set of threads, the event needs the wide form: @p->rings have no buffers then,
 * see tb_probe_begin().
 *
 * Context: any, NMI included.
 * Return: false if the caller must call tb_probe_wide() instead.
 */
static __always_inline bool tb_probe_compact(struct tb_probe *p, u64 payload)
{
	struct tb_cpu_ring *r;
	bool done;

	preempt_disable_notrace();
	/* pairs with the release in tb_rule_route_one() */
	r = this_cpu_ptr(READ_ONCE(p->rings));
	done = tb_ring_simple(r, p->id_simple, payload) || r->nr;
	preempt_enable_notrace();
	return done;
}

/**
 * tb_probe_compact_begin() - reserve a compact form that is several elements
 * @p: the probe
 * @slot: out: the reservation
 * @n: number of elements
 *
 * Context: any, NMI included.  On success preemption is off until tb_probe_end().
 * Return: the first element, for the caller to fill in the payload; NULL if the caller must call
 * tb_probe_wide() instead; ERR_PTR() if the event is lost.
 */
static __always_inline struct tb_element *tb_probe_compact_begin(struct tb_probe *p,
								 struct tb_slot *slot, u32 n)
{
	struct tb_cpu_ring *r;

	preempt_disable_notrace();
	/* pairs with the release in tb_rule_route_one() */
	r = this_cpu_ptr(READ_ONCE(p->rings));
	if (unlikely(!tb_ring_reserve(r, n, slot))) {
		bool lost = r->nr;

		preempt_enable_notrace();
		return lost ? ERR_PTR(-ENOBUFS) : NULL;
	}
	slot->head = TB_HEAD(TB_STRUCT_SIMPLE, p->id_simple, n, slot->seq);
	tb_write(&slot->element->head, TB_HEAD(TB_STRUCT_RESERVED, 0, n, slot->seq));
	slot->element->time = slot->time;
	return tb_not_null(slot->element);
}

/* Return the probe of the wide form; it has the prototype of @compact, the compact form's probe */
#define tb_probe_wide(compact, p)						\
	({								\
		struct tb_probe *__p = (p);				\
									\
		(typeof(compact) *)__p->wide;				\
	})

#endif /* TB_PROBE_PROBE_H */
