/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How probes put events into the ring of the CPU it runs on.
 *
 * Everything here may be called from any context, NMI included, does not
 * sleep, and calls nothing that could be traced into itself.
 */
#ifndef TB_RECORD_H
#define TB_RECORD_H

#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "probe/event.h"
#include "machine/compat.h"
#include "pending.h"
#include "provider/provider.h"
#include "ring/ring.h"

/* @p, of which the compiler does not see that it cannot be NULL */
#define tb_not_null(p)							\
	({								\
		typeof(p) __p = (p);					\
									\
		if (!__p)						\
			__builtin_unreachable();			\
		__p;							\
	})

/* in softirq: the same bit in both, but on PREEMPT_RT it is kept elsewhere */
#define TB_CONTEXT_COUNTS						\
	(PREEMPT_MASK | (IS_ENABLED(CONFIG_PREEMPT_RT) ? 0 : SOFTIRQ_OFFSET))

/* tb_context() in an interrupt, or where less is counted than @own */
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
 * The context of the caller; @own: by how much the way from there to here
 * has raised the preemption depth.
 */
static __always_inline u16 tb_context(unsigned int own)
{
	unsigned int pc = preempt_count();
	u16 context;

	/* where the kernel does not count this, few do, by hand */
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

/* What @bytes of payload leave of the last element, which ends at @end. */
static __always_inline void tb_clear_tail(struct tb_element *end, u32 bytes)
{
	u64 *tail = (u64 *)(end - 1);
	u32 used = bytes % TB_ELEMENT_SIZE;

	/* a test costs more than a store, unless the compiler makes it */
	if (__builtin_constant_p(bytes) ? !used : !bytes)
		return;
	if (!__builtin_constant_p(bytes) || used < sizeof(*tail))
		tail[0] = 0;
	tail[1] = 0;
}

/* Fills in all of a reserved composite event but the payload; @own: see tb_context(). */
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

/* elements of a composite event with @bytes of payload */
static __always_inline u32 tb_record_elements(u32 bytes)
{
	return 1 + (bytes + TB_ELEMENT_SIZE - 1) / TB_ELEMENT_SIZE;
}

/**
 * tb_record_begin() - reserve a composite event on this CPU
 * @p: the provider
 * @slot: the reservation
 * @id: event id
 * @bytes: payload after the first element
 * @own: see tb_context(), this function's own included
 *
 * Context: any. On success preemption is off until tb_record_end().
 * Return: the first element, its tb_composite filled in, the tail of the
 * payload zeroed; or NULL, and the loss is counted.
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

/**
 * tb_record_end() - commit what tb_record_begin() reserved
 * @slot: the reservation
 */
static __always_inline void tb_record_end(struct tb_slot *slot)
{
	tb_ring_commit(slot, slot->head);
	preempt_enable_notrace();
}

/**
 * tb_record_simple() - record a simple event on this CPU
 * @p: the provider
 * @id: event id
 * @payload: 8 bytes
 */
static __always_inline void tb_record_simple(struct tb_provider *p, u32 id, u64 payload)
{
	preempt_disable_notrace();
	tb_ring_simple(this_cpu_ptr(p->rings), id, payload);
	preempt_enable_notrace();
}

/**
 * tb_record_control() - record a control event on this CPU
 * @p: the provider
 * @id: enum tb_control_event
 * @payload: what follows the first element
 * @bytes: how much
 * @own: see tb_context(), this function's own included
 */
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
 * tb_probe_begin() - a probe's tb_record_begin(), wide form
 * @p: the probe
 * @slot: the reservation
 * @bytes: payload after the first element
 *
 * An event that rules are about finds no room, for its ring has no buffers, and gets a
 * place elsewhere (pending.c); so the others pay nothing for there being rules.
 *
 * Return: the kernel's own trace_event_raw structure, whose trace_entry
 * coincides with the end of the first element; or NULL.
 */
static __always_inline void *tb_probe_begin(struct tb_probe *p, struct tb_slot *slot, u32 bytes)
{
	u32 n = tb_record_elements(bytes);
	struct tb_cpu_ring *r;
	void *raw;

	preempt_disable_notrace();
	/* a dependent load, before all that is in the rings: pairs with tb_rule_route() */
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
	/* a tracepoint calls its probes with preemption off; more than the member it starts at */
	raw = &tb_record_open(slot, p->id_wide, n, bytes, 2)->tid;
	/* not for the compiler to check */
	OPTIMIZER_HIDE_VAR(raw);
	return tb_not_null(raw);
}

static __always_inline void tb_probe_end(struct tb_slot *slot)
{
	tb_record_end(slot);
}

/**
 * tb_probe_simple() - record the fast form of an event
 * @p: the probe
 * @payload: as the event's fast fields say
 */
static __always_inline void tb_probe_simple(struct tb_probe *p, u64 payload)
{
	preempt_disable_notrace();
	/* as in tb_probe_begin(); with rules: tb_pending_commit_simple() */
	tb_ring_simple(this_cpu_ptr(READ_ONCE(p->rings)), p->id_fast, payload);
	preempt_enable_notrace();
}

#endif /* TB_RECORD_H */
