// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending events: memory of each CPU where an event waits until its rule has decided on it.
 *
 * A probe with a rule has rings without buffers (tb_probe.rings).  Reserving fails there, so the
 * probe calls tb_pending_begin().  If the decision needs no fields of the event, the event is kept
 * out or goes into the real ring at once.  Otherwise the probe fills it in here, and the commit
 * calls tb_pending_commit().  So all probes have the same code; events without rules pay nothing.
 *
 * Probes call this in any context, NMI included, without a lock.  The functions at the end run in
 * process context, for select/, recording/ and main.c; tb_pending_lock protects the allocation.
 */
#include <linux/slab.h>

#include "machine/pointer_list.h"
#include "pending.h"
#include "probe.h"
#include "ring/hooks.h"
#include "rule.h"
#include "thread_set.h"

/* process, softirq, interrupt, NMI */
#define TB_PENDING_DEPTH		4
/* the largest pending event; larger ones are dropped as too large */
#define TB_PENDING_ELEMENTS	512

#define TB_STACK_ELEMENTS	(1 + (sizeof(struct tb_stack) + TB_STACK_MAX * sizeof(u64)) / \
				 TB_ELEMENT_SIZE + 1)
#define TB_COUNTERS_ELEMENTS	(1 + (sizeof(struct tb_counters) + \
				      TB_COUNTERS_MAX * sizeof(u64)) / TB_ELEMENT_SIZE + 1)
#define TB_EXTRA_ELEMENTS	(2 * TB_STACK_ELEMENTS + TB_COUNTERS_ELEMENTS)

/**
 * struct tb_pending_place - a pending event
 * @probe: probe of the event
 * @elements: the event, then its stacks and counters
 */
struct tb_pending_place {
	struct tb_probe *probe;
	struct tb_element elements[TB_PENDING_ELEMENTS + TB_EXTRA_ELEMENTS];
};

/**
 * struct tb_pending - the pending events of a CPU
 * @depth: places in use
 * @places: TB_PENDING_DEPTH places; NULL until the first rule
 * @bufs: buffer descriptors of @places, for reserving and committing
 */
struct tb_pending {
	u32 depth;
	struct tb_pending_place *places;
	struct tb_buf bufs[TB_PENDING_DEPTH];
};

static DEFINE_PER_CPU(struct tb_pending, tb_pendings);
static DEFINE_MUTEX(tb_pending_lock);
/* a bit for each context of this CPU that runs a handler now */
static DEFINE_PER_CPU(u32, tb_handlers_inside);

/* ---- tests ------------------------------------------------------------ */

/* Return true if the event is selected at this moment.  The caller does not count others. */
static bool tb_pending_is_selected(const struct tb_probe *p)
{
	/*
	 * The moment before @until: pairs with the release in tb_select_publish().  A probe that
	 * sees a new moment also sees which events end or begin at it.
	 */
	u64 moment = smp_load_acquire(&p->provider->moment);
	/* @until before @from: pairs with the release in tb_select_record_from_next() */
	u64 until = smp_load_acquire(&p->until);

	return moment < until && READ_ONCE(p->from) <= moment;
}

static struct tb_rule_active *tb_pending_rule(const struct tb_probe *p)
{
	/* the rule before its contents: pairs with the release in tb_rule_replace() */
	return smp_load_acquire(&p->rule);
}

/*
 * Counts an event that is kept out; the value is false.  The ring does not count the event:
 * `attempted` includes only events that the user wants.
 */
#define TB_KEEP_OUT(probe, why)						\
	({								\
		this_cpu_inc((probe)->counts->kept_out.why);		\
		false;							\
	})

/* Return true if a field of the event names a thread in @set.  Out of line, because it is rare. */
static noinline bool tb_pending_is_about(const struct tb_thread_set *set, const struct tb_event *e,
					 const void *payload, u32 bytes)
{
	const struct tb_test *about = e->about;
	unsigned int i;
	u64 tid;

	for (i = 0; i < TB_ABOUT_MAX && about[i].size; i++)
		if (tb_filter_number(&about[i], payload, bytes, &tid) &&
		    tb_thread_set_has(set, tid))
			return true;
	return false;
}

/*
 * Return true if sampling and rate let the event pass; else count it as kept out.  Each CPU samples
 * its own events; the rate limits all CPUs together.
 */
static bool tb_rule_sample_ok(const struct tb_probe *p, struct tb_rule_active *rule)
{
	u32 second;
	int tries;
	u64 old;

	if (rule->sample > 1 && this_cpu_inc_return(p->counts->passed) % rule->sample)
		return TB_KEEP_OUT(p, sampled);
	if (!rule->rate)
		return true;
	second = div64_u64(tb_clock_read(p->provider->clock.raw), rule->second);
	old = atomic64_read(&rule->window);
	/* never wait: if many CPUs compete, they probably exceed the rate anyway */
	for (tries = 0; tries < 8; tries++) {
		u64 new = old + 1;

		/* never go back: other CPUs and nested contexts may have read the clock later */
		if ((s32)(second - (u32)(old >> 32)) > 0)
			new = (u64)second << 32 | 1;
		else if ((u32)old >= rule->rate)
			break;
		if (atomic64_try_cmpxchg_relaxed(&rule->window, (s64 *)&old, new))
			return true;
	}
	return TB_KEEP_OUT(p, limited);
}

static u32 tb_handlers_context(void)
{
	return in_nmi() ? BIT(0) : in_hardirq() ? BIT(1) : in_serving_softirq() ? BIT(2) : BIT(3);
}

/*
 * Call the functions of other modules that may veto the event (select/handler.c attaches them).
 * Calls none for an event that occurs in such a function: such calls might never end.  Return false
 * if one has vetoed the event.  Out of line: its stack canary would cost filtered events.
 */
static noinline bool tb_veto_passes(const struct tb_probe *p, const void *payload, u32 bytes)
{
	const struct tracebuf_list *list = tb_list_read(&p->event->handlers);
	struct tracebuf_view view = {
		.provider = p->provider,
		.system = p->event->system,
		.name = p->event->name,
		.payload = payload,
		.bytes = bytes,
		.id = tb_event_id(p->event),
	};
	u32 context = tb_handlers_context(), i;
	bool want = true;

	/* a veto needs counts: pairs with the release in tb_rule_count() */
	if (!list || !READ_ONCE(p->counts) || this_cpu_read(tb_handlers_inside) & context)
		return true;
	this_cpu_or(tb_handlers_inside, context);
	for (i = 0; i < list->count && want; i++) {
		struct tracebuf_handler *h = READ_ONCE(list->at[i]);

		want = !h || h->fn(&view, h->data);
	}
	this_cpu_and(tb_handlers_inside, ~context);
	return want;
}

/* Return true if all tests that need the event's fields let it pass; else count it as kept out. */
static bool tb_pending_is_wanted(struct tb_probe *p, struct tb_rule_active *rule,
				 const void *payload, u32 bytes)
{
	/* pairs with the release in tb_rule_set_pids() */
	const struct tb_thread_set *set = smp_load_acquire(&p->provider->pids);

	if (set && !tb_thread_set_has(set, current->pid) &&
	    !tb_pending_is_about(set, p->event, payload, bytes)) {
		this_cpu_inc(p->provider->kept_out->filtered);
		return false;
	}
	if (rule && rule->filter && !tb_filter_run(rule->filter, payload, bytes))
		return TB_KEEP_OUT(p, filtered);
	/* tb_veto_passes() returns false only if p->counts is allocated */
	if (!tb_veto_passes(p, payload, bytes))
		return TB_KEEP_OUT(p, vetoed);
	return !rule || tb_rule_sample_ok(p, rule);
}

/* ---- stacks and counters ---------------------------------------------- */

/* Completes a control event with @bytes of payload at @at.  Return its number of elements. */
static u32 tb_pending_add_extra(struct tb_element *at, u32 id, u32 bytes)
{
	struct tb_composite *c = (struct tb_composite *)at;
	u32 n = tb_record_elements(bytes), tail = (n - 1) * TB_ELEMENT_SIZE - bytes;

	c->head = TB_HEAD(TB_STRUCT_COMPOSITE, id, n, 0);
	c->tid = current->pid;
	c->length = bytes;
	c->context = 0;
	memset((u8 *)(at + n) - tail, 0, tail);
	return n;
}

static u32 tb_pending_add_stack(const struct tb_probe *p, const struct tb_rule_active *rule,
				struct tb_element *at, u32 kind)
{
	struct tb_stack *stack = (struct tb_stack *)(at + 1);

	stack->kind = kind;
	stack->count = kind == TB_STACK_USER ? tb_stack_user(stack->ip, TB_STACK_MAX) :
		       tb_stack_kernel(stack->ip, TB_STACK_MAX, p->owner, &rule->iterator);
	if (!stack->count)
		return 0;
	return tb_pending_add_extra(at, TB_EV_STACK, struct_size(stack, ip, stack->count));
}

static u32 tb_pending_add_extras(const struct tb_probe *p, const struct tb_rule_active *rule,
				 struct tb_element *at)
{
	struct tb_element *start = at;

	if (rule->flags & TB_RULE_STACK)
		at += tb_pending_add_stack(p, rule, at, TB_STACK_KERNEL);
	if (rule->flags & TB_RULE_USER_STACK)
		at += tb_pending_add_stack(p, rule, at, TB_STACK_USER);
	if (rule->counters) {
		struct tb_counters *counters = (struct tb_counters *)(at + 1);

		/* some counters cannot be read on this CPU or in this context */
		counters->mask = tb_counters_read(&p->provider->counters, rule->counters,
						  counters->value);
		counters->reserved = 0;
		if (counters->mask)
			at += tb_pending_add_extra(at, TB_EV_COUNTERS,
						   struct_size(counters, value,
							       hweight32(counters->mask)));
	}
	return at - start;
}

/*
 * Copies @n elements of an event and @extra elements of its stacks and counters into the ring, as
 * one reservation, so that no other event gets in between.
 */
static void tb_pending_record(struct tb_provider *p, struct tb_element *from, u32 n, u32 extra)
{
	u32 head = from->head, i;
	struct tb_slot slot;

	if (!tb_ring_reserve(this_cpu_ptr(p->rings), n + extra, &slot))
		return;
	/* until the commit, a search of memory must step over all elements at once */
	tb_write(&slot.element->head, TB_HEAD(TB_STRUCT_RESERVED, 0, n + extra, slot.seq));
	slot.element->payload = from->payload;
	slot.element->time = slot.time;
	memcpy(slot.element + 1, from + 1, (n + extra - 1) * sizeof(*from));
	for (i = n; i < n + extra; i += TB_HEAD_LENGTH(from[i].head)) {
		slot.element[i].time = slot.time;
		slot.element[i].head |= TB_HEAD(0, 0, 0, slot.seq);
	}
	tb_ring_commit(&slot, TB_HEAD(TB_HEAD_STRUCT(head), TB_HEAD_ID(head), n, slot.seq));
}

/* ---- enter and leave -------------------------------------------------- */

/* Return a place on this CPU; if all are in use, count the event and return NULL. */
static __always_inline struct tb_pending_place *tb_pending_enter(struct tb_probe *p)
{
	struct tb_pending *pending = this_cpu_ptr(&tb_pendings);
	struct tb_rule_counts __percpu *counts;
	struct tb_pending_place *place;

	if (unlikely(!pending->places || pending->depth == TB_PENDING_DEPTH)) {
		/* a trigger's event is not recorded, so it is not counted as missing */
		if (p->trigger)
			return NULL;
		/* a probe without a rule, but with a set of threads, may have no counts */
		counts = READ_ONCE(p->counts);
		if (counts)
			this_cpu_inc(counts->kept_out.nested);
		else
			this_cpu_inc(p->provider->kept_out->nested);
		return NULL;
	}
	place = &pending->places[pending->depth++];
	/* a context that interrupts us from here on uses the next place, and leaves it first */
	barrier();
	place->probe = p;
	return place;
}

static void tb_pending_leave(void)
{
	barrier();
	this_cpu_ptr(&tb_pendings)->depth--;
}

static struct tb_place tb_pending_bypass(struct tb_cpu_ring *real, u32 n)
{
	/* head before the clock, as in tb_ring_reserve(): arguments have no order */
	u64 h = tb_read(&real->head);

	return tb_ring_reserve_slow(real, n, h, tb_ring_clock(real));
}

/*
 * Return @place as a reservation in a buffer.  The sequence number is not 0, because head 0 means
 * no room; but its low bits are, because tb_pending_record() adds the low bits of the real ring.
 */
static struct tb_place tb_pending_place_of(const struct tb_pending_place *place)
{
	struct tb_pending *pending = this_cpu_ptr(&tb_pendings);
	u32 index = place - pending->places;
	struct tb_place where = { .head = tb_head(0, 1 << 6, index, 0) };

	/* so that the commit of this one event completes the buffer, see tb_buf_commit() */
	tb_local_set(&pending->bufs[index].committed, 0);
	return where;
}

/*
 * Decide on an event of @n elements that found no room in ring @r.  Return its place: in the
 * provider's ring or, if tb_pending_holds() is true, outside of it, as if in @r.  Head 0: the event
 * is not wanted, or it is lost and counted.  By value, so that the caller's reservation can stay in
 * registers.  Any context, with preemption off.
 */
struct tb_place tb_pending_begin(struct tb_probe *p, struct tb_cpu_ring *r, u32 n)
{
	struct tb_provider *provider = p->provider;
	struct tb_place none = { 0 };
	struct tb_pending_place *place;
	struct tb_rule_active *rule;
	const struct tb_thread_set *set;
	struct tb_cpu_ring *real;

	if (likely(r->nr || !r->owner))
		return none;
	real = this_cpu_ptr(provider->rings);
	if (!real->nr)
		return none;
	rule = tb_pending_rule(p);
	if (p->trigger) {
		if (rule)
			goto pending;
		tb_trigger_fire(p->trigger);
		return none;
	}
	if (!tb_pending_is_selected(p))
		return none;
	/* pairs with the release in tb_rule_set_pids() */
	set = smp_load_acquire(&provider->pids);
	if (set && !tb_thread_set_has(set, current->pid)) {
		if (p->event->about[0].size)
			goto pending;
		this_cpu_inc(provider->kept_out->filtered);
		return none;
	}
	if (tb_event_has_handlers(p->event) || (rule && rule->filter))
		goto pending;
	if (rule && !(rule->flags || rule->counters))
		return tb_rule_sample_ok(p, rule) ? tb_pending_bypass(real, n) : none;
	if (!rule)
		return tb_pending_bypass(real, n);
pending:
	if (unlikely(n > TB_PENDING_ELEMENTS)) {
		/* the ring refuses this size, and counts the event as oversize */
		if (!p->trigger)
			tb_pending_bypass(real, TB_EVENT_ELEMENTS_MAX + 1);
		return none;
	}
	place = tb_pending_enter(p);
	if (!place)
		return none;
	return tb_pending_place_of(place);
}
EXPORT_SYMBOL_GPL(tb_pending_begin);

/*
 * Decide on a complete pending event: run tests and handlers, then copy a wanted event into the
 * ring, with its stacks and counters, or fire the trigger.  @r: the ring without buffers; @b: the
 * event's place, which is the last one in use.  Context of tb_pending_begin().
 */
void tb_pending_commit(struct tb_cpu_ring *r, struct tb_buf *b)
{
	struct tb_pending_place *place = &this_cpu_ptr(&tb_pendings)->places[b - r->bufs];
	struct tb_composite *c = (struct tb_composite *)place->elements;
	struct tb_probe *p = place->probe;
	/* the rule may have been changed or removed since tb_pending_begin() */
	struct tb_rule_active *rule = tb_pending_rule(p);
	u32 n = TB_HEAD_LENGTH(c->head), extra = 0;

	if (p->trigger) {
		if (!rule || tb_filter_run(rule->filter, c + 1, c->length))
			tb_trigger_fire(p->trigger);
	} else if (tb_pending_is_wanted(p, rule, c + 1, c->length)) {
		if (rule)
			extra = tb_pending_add_extras(p, rule, place->elements + n);
		tb_pending_record(p->provider, place->elements, n, extra);
	}
	tb_pending_leave();
}

/*
 * Decide on a simple event of another module that found no room in ring @r, whose owner is NULL if
 * this CPU is not recorded.  Return true if it was recorded.  Ignores the compact form of an event,
 * because its probe then records the wide form, see tb_probe_compact().  Any context, with
 * preemption off.
 */
bool tb_pending_commit_simple(struct tb_cpu_ring *r, u32 id, u64 payload)
{
	struct tb_provider *provider = r->owner;
	struct tb_pending_place *place;
	struct tb_rule_active *rule;
	struct tb_cpu_ring *real;
	struct tb_probe *p;
	u32 extra;

	if (!provider)
		return false;
	real = this_cpu_ptr(provider->rings);
	p = xa_load(&provider->probes, (id - TB_EV_FIRST) / 2);
	if (!real->nr || !p || !p->event->simple || !tb_pending_is_selected(p))
		return false;
	rule = tb_pending_rule(p);
	if (!tb_pending_is_wanted(p, rule, &payload, sizeof(payload)))
		return false;
	if (!rule || !(rule->flags || rule->counters))
		return tb_ring_simple(real, id, payload);
	place = tb_pending_enter(p);
	if (!place)
		return false;
	place->elements[0].head = TB_HEAD(TB_STRUCT_SIMPLE, id, 1, 0);
	place->elements[0].payload = payload;
	extra = tb_pending_add_extras(p, rule, place->elements + 1);
	tb_pending_record(provider, place->elements, 1, extra);
	tb_pending_leave();
	return true;
}

/*
 * Test a simple event of another module, and fire the trigger that @p belongs to.  Any context, NMI
 * included; preemption off.
 */
void tb_pending_trigger_simple(struct tb_probe *p, u64 payload)
{
	struct tb_rule_active *rule = tb_pending_rule(p);

	/* the same preemption depth as after tb_probe_begin() */
	preempt_disable_notrace();
	if (this_cpu_ptr(p->provider->rings)->nr &&
	    (!rule || tb_filter_run(rule->filter, &payload, sizeof(payload))))
		tb_trigger_fire(p->trigger);
	preempt_enable_notrace();
}

/* ---- life ------------------------------------------------------------- */

/* Allocate the places of each CPU before the first rule.  Return 0 or -ENOMEM. */
int tb_pending_prepare(void)
{
	unsigned int cpu, i;
	int err = 0;

	mutex_lock(&tb_pending_lock);
	for_each_possible_cpu(cpu) {
		struct tb_pending *pending = per_cpu_ptr(&tb_pendings, cpu);
		struct tb_pending_place *places;

		if (pending->places)
			continue;
		places = kvmalloc_node(array_size(TB_PENDING_DEPTH, sizeof(*places)),
				       TB_GFP | __GFP_ZERO, cpu_to_node(cpu));
		if (!places) {
			err = -ENOMEM;
			break;
		}
		for (i = 0; i < TB_PENDING_DEPTH; i++)
			pending->bufs[i].block = (struct tb_block *)places[i].elements;
		/* the zeroes before the pointer: pairs with the load in tb_pending_enter() */
		smp_store_release(&pending->places, places);
	}
	mutex_unlock(&tb_pending_lock);
	return err;
}

/* Free the places of each CPU at module exit; no probe is attached. */
void tb_pending_free(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu(tb_pendings, cpu).places);
}

/*
 * Make the rings without buffers of a provider.  The caller calls tb_pending_exit() also after an
 * error.
 */
int tb_pending_init(struct tb_provider *p)
{
	unsigned int cpu;

	p->pending_rings = alloc_percpu(struct tb_cpu_ring);
	p->kept_out = alloc_percpu(struct tb_suppressed);
	if (!p->pending_rings || !p->kept_out)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct tb_cpu_ring *r = per_cpu_ptr(p->pending_rings, cpu);

		r->owner = p;
		r->bufs = per_cpu_ptr(&tb_pendings, cpu)->bufs;
		/* the cheapest clock: tb_pending_record() takes the time from the real ring */
		r->raw_clock = TB_TICKS_PLAIN;
	}
	return 0;
}

/* No probe is attached. */
void tb_pending_exit(struct tb_provider *p)
{
	free_percpu(p->pending_rings);
	free_percpu(p->kept_out);
}
