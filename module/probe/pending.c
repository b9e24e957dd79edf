// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stage: where an event that rules are about waits until it is known whether
 * it is recorded.
 *
 * Its probe has rings without buffers (tb_probe.rings), so reserving fails there, on the slow
 * path, and is asked for here.  What can be said without the event's fields is said
 * at once: who it happened to, how often.  Then it gets a place in the ring after all,
 * and all is as usual.  Otherwise it gets one on the stage, memory of this CPU, and the
 * probe fills it in without knowing.  Committing it ends here again, because the stage's
 * buffer is complete with it: its tests are run, handlers asked, and it is copied into the ring
 * with what is to go with it; or it triggers.
 *
 * An event that is not selected at this moment ends here, too (select/select.c).
 *
 * So probes have one way, events without rules pay nothing, and those that are kept out never
 * touch the ring.
 *
 * Contexts nest on a CPU, and leave the stage in the reverse order; so it is a stack.
 */
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "probe/event.h"
#include "filter.h"
#include "machine/stack.h"
#include "pending.h"
#include "record.h"
#include "ring/hooks.h"
#include "rule.h"
#include "thread_set.h"
#include "trigger.h"
#include "veto.h"

/* process, softirq, interrupt, NMI */
#define TB_STAGE_DEPTH		4
/* the largest event that can be on it; larger ones are dropped as too large */
#define TB_STAGE_ELEMENTS	512

#define TB_STACK_ELEMENTS	(1 + (sizeof(struct tb_stack) + TB_STACK_MAX * sizeof(u64)) / \
				 TB_ELEMENT_SIZE + 1)
#define TB_COUNTERS_ELEMENTS	(1 + (sizeof(struct tb_counters) + \
				      TB_COUNTERS_MAX * sizeof(u64)) / TB_ELEMENT_SIZE + 1)
#define TB_EXTRA_ELEMENTS	(2 * TB_STACK_ELEMENTS + TB_COUNTERS_ELEMENTS)

/**
 * struct tb_pending_place - an event on the stage
 * @probe: whose it is
 * @elements: the event, then what goes with it
 */
struct tb_pending_place {
	struct tb_probe *probe;
	struct tb_element elements[TB_STAGE_ELEMENTS + TB_EXTRA_ELEMENTS];
};

/**
 * struct tb_pending - the stage of a CPU
 * @depth: places in use
 * @places: TB_STAGE_DEPTH of them; NULL as long as there has been no rule
 * @bufs: what reserving and committing takes for the buffers they are
 */
struct tb_pending {
	u32 depth;
	struct tb_pending_place *places;
	struct tb_buf bufs[TB_STAGE_DEPTH];
};

static DEFINE_PER_CPU(struct tb_pending, tb_pendings);
static DEFINE_MUTEX(tb_pending_lock);

/* ---- is it wanted? ---------------------------------------------------- */

/* Is the event selected at this moment?  Else it is not recorded, nor counted. */
static bool tb_pending_is_selected(const struct tb_probe *p)
{
	/*
	 * The moment before @until: pairs with the release in tb_select_publish().  Who sees a new
	 * moment sees what was to end or begin with it.
	 */
	u64 moment = smp_load_acquire(&p->provider->moment);
	/* @until before @from: pairs with the release in tb_select_record_from_next() */
	u64 until = smp_load_acquire(&p->until);

	return moment < until && READ_ONCE(p->from) <= moment;
}

/* The rule of a form, with all that had to be there before; or NULL. */
static struct tb_rule_active *tb_pending_rule(const struct tb_probe *p, bool fast)
{
	/* pairs with the release in tb_rule_replace() */
	return smp_load_acquire(&p->rules[fast]);
}

/* Counts an event that is kept out, and keeps it out. */
#define TB_KEEP_OUT(probe, why)						\
	({								\
		this_cpu_inc((probe)->counts->kept_out.why);		\
		false;							\
	})

/* The event's own threads, those it is about.  Out of line: most rules are not about threads. */
static noinline bool tb_pending_is_about(const struct tb_thread_set *set, const struct tb_event *e,
					 bool fast, const void *payload, u32 bytes)
{
	const struct tb_test *about = e->about[fast];
	unsigned int i;
	u64 tid;

	for (i = 0; i < TB_ABOUT_MAX && about[i].size; i++)
		if (tb_filter_number(&about[i], payload, bytes, &tid) &&
		    tb_thread_set_has(set, tid))
			return true;
	return false;
}

/* Is it the n-th, and within the rate?  Counted if not. */
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
	/* the more CPUs are at it the likelier it is that the rate is exceeded */
	for (tries = 0; tries < 8; tries++) {
		u64 new = old + 1;

		/* not back: others, and who interrupted us, may have read the clock later */
		if ((s32)(second - (u32)(old >> 32)) > 0)
			new = (u64)second << 32 | 1;
		else if ((u32)old >= rule->rate)
			break;
		if (atomic64_try_cmpxchg_relaxed(&rule->window, (s64 *)&old, new))
			return true;
	}
	return TB_KEEP_OUT(p, limited);
}

/* All there is to ask once the fields are known. */
static bool tb_pending_is_wanted(struct tb_probe *p, struct tb_rule_active *rule, bool fast,
				 const void *payload, u32 bytes)
{
	/* pairs with the release in tb_rule_set_pids() */
	const struct tb_thread_set *set = smp_load_acquire(&p->provider->pids);

	if (set && !tb_thread_set_has(set, current->pid) &&
	    !tb_pending_is_about(set, p->event, fast, payload, bytes)) {
		this_cpu_inc(p->provider->kept_out->filtered);
		return false;
	}
	if (rule && rule->filter && !tb_filter_run(rule->filter, payload, bytes))
		return TB_KEEP_OUT(p, filtered);
	/* who attaches a handler sees to it that there are counts */
	if (!tb_veto_passes(p, fast, payload, bytes))
		return TB_KEEP_OUT(p, vetoed);
	return !rule || tb_rule_sample_ok(p, rule);
}

/* ---- what goes with it ------------------------------------------------ */

/* Adds one structural element of @bytes at @at; returns the elements it takes. */
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

		/* not all can be read everywhere */
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
 * Into the ring: @n elements of an event, and @extra of what goes with it, as one
 * reservation, so that nothing gets in between.
 */
static void tb_pending_record(struct tb_provider *p, struct tb_element *from, u32 n, u32 extra)
{
	u32 head = from->head, i;
	struct tb_slot slot;

	if (!tb_ring_reserve(this_cpu_ptr(p->rings), n + extra, &slot))
		return;
	/* stepped over as one until it is complete */
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

/* ---- on and off the stage --------------------------------------------- */

/* A place on this CPU's stage; or NULL, too many are there already. */
static __always_inline struct tb_pending_place *tb_pending_enter(struct tb_probe *p)
{
	struct tb_pending *stage = this_cpu_ptr(&tb_pendings);
	struct tb_rule_counts __percpu *counts;
	struct tb_pending_place *place;

	if (unlikely(!stage->places || stage->depth == TB_STAGE_DEPTH)) {
		/* a trigger's event is none that is missing */
		if (p->trigger)
			return NULL;
		/* with no rule, but a set of threads, there need not be counts */
		counts = READ_ONCE(p->counts);
		if (counts)
			this_cpu_inc(counts->kept_out.nested);
		else
			this_cpu_inc(p->provider->kept_out->nested);
		return NULL;
	}
	place = &stage->places[stage->depth++];
	/* whoever interrupts from here on uses the next one, and is gone before we go on */
	barrier();
	place->probe = p;
	return place;
}

static void tb_pending_leave(void)
{
	barrier();
	this_cpu_ptr(&tb_pendings)->depth--;
}

/* Not on the stage, but into the ring it is meant for. */
static struct tb_place tb_pending_bypass(struct tb_cpu_ring *real, u32 n)
{
	return tb_ring_reserve_slow(real, n, tb_read(&real->head), tb_ring_clock(real));
}

/* A place on the stage, as if it were one in a buffer; its sequence number has no low bits. */
static struct tb_place tb_pending_place_of(const struct tb_pending_place *place)
{
	struct tb_pending *stage = this_cpu_ptr(&tb_pendings);
	u32 index = place - stage->places;
	struct tb_place where = { .head = tb_head(0, 1 << 6, index, 0) };

	/* so that the commit of this one event completes it: see tb_buf_commit() */
	tb_local_set(&stage->bufs[index].committed, 0);
	return where;
}

/**
 * tb_pending_begin() - an event has found no room in a ring
 * @p: its probe
 * @r: the ring
 * @n: elements
 *
 * Context: any, NMI included; preemption off.
 * Return: where there is room after all: in the provider's ring or, if tb_pending_holds() says so,
 * on the stage, which is @r.  Head 0: if @r has buffers the event is lost, and counted; if it has
 * none the event is not wanted.  By value, so that the reservation of those who call this
 * can stay in registers: nobody has its address.
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
	rule = tb_pending_rule(p, false);
	if (p->trigger) {
		if (rule)
			goto stage;
		tb_trigger_fire(p->trigger);
		return none;
	}
	if (!tb_pending_is_selected(p))
		return none;
	/* pairs with the release in tb_rule_set_pids() */
	set = smp_load_acquire(&provider->pids);
	if (set && !tb_thread_set_has(set, current->pid)) {
		if (p->event->about[0][0].size)
			goto stage;
		this_cpu_inc(provider->kept_out->filtered);
		return none;
	}
	if (tb_event_has_handlers(p->event) || (rule && rule->filter))
		goto stage;
	if (rule && !(rule->flags || rule->counters))
		return tb_rule_sample_ok(p, rule) ? tb_pending_bypass(real, n) : none;
	if (!rule)
		return tb_pending_bypass(real, n);
stage:
	if (unlikely(n > TB_STAGE_ELEMENTS)) {
		/* counted as lost by the ring, as larger than can be */
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

/**
 * tb_pending_commit() - an event on the stage is complete
 * @r: the ring without buffers it was meant for
 * @b: of the place it is in, the last on the stage
 *
 * Context: that of tb_pending_begin().
 */
void tb_pending_commit(struct tb_cpu_ring *r, struct tb_buf *b)
{
	struct tb_pending_place *place = &this_cpu_ptr(&tb_pendings)->places[b - r->bufs];
	struct tb_composite *c = (struct tb_composite *)place->elements;
	struct tb_probe *p = place->probe;
	/* it may have been changed meanwhile, or taken away */
	struct tb_rule_active *rule = tb_pending_rule(p, false);
	u32 n = TB_HEAD_LENGTH(c->head), extra = 0;

	if (p->trigger) {
		if (!rule || tb_filter_run(rule->filter, c + 1, c->length))
			tb_trigger_fire(p->trigger);
	} else if (tb_pending_is_wanted(p, rule, false, c + 1, c->length)) {
		if (rule)
			extra = tb_pending_add_extras(p, rule, place->elements + n);
		tb_pending_record(p->provider, place->elements, n, extra);
	}
	tb_pending_leave();
}

/**
 * tb_pending_commit_simple() - a simple event for a ring without buffers
 * @r: the ring; its owner is the provider, or NULL if this CPU is not recorded
 * @id: event id
 * @payload: 8 bytes
 *
 * Context: any, NMI included; preemption off.
 * Return: true if it was recorded.
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
	if (!real->nr || !p || !tb_pending_is_selected(p))
		return false;
	rule = tb_pending_rule(p, true);
	if (!tb_pending_is_wanted(p, rule, true, &payload, sizeof(payload)))
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

/**
 * tb_pending_trigger_simple() - a simple event of another module, which is to trigger
 * @p: the trigger's probe
 * @payload: 8 bytes
 *
 * Context: any, NMI included; preemption off.
 */
void tb_pending_trigger_simple(struct tb_probe *p, u64 payload)
{
	struct tb_rule_active *rule = tb_pending_rule(p, false);

	/* once more: as deep as after tb_probe_begin() */
	preempt_disable_notrace();
	if (this_cpu_ptr(p->provider->rings)->nr &&
	    (!rule || tb_filter_run(rule->filter, &payload, sizeof(payload))))
		tb_trigger_fire(p->trigger);
	preempt_enable_notrace();
}

/* ---- life ------------------------------------------------------------- */

/**
 * tb_pending_prepare() - there is going to be a rule
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int tb_pending_prepare(void)
{
	unsigned int cpu, i;
	int err = 0;

	mutex_lock(&tb_pending_lock);
	for_each_possible_cpu(cpu) {
		struct tb_pending *stage = per_cpu_ptr(&tb_pendings, cpu);
		struct tb_pending_place *places;

		if (stage->places)
			continue;
		places = kvmalloc_node(array_size(TB_STAGE_DEPTH, sizeof(*places)),
				       TB_GFP | __GFP_ZERO, cpu_to_node(cpu));
		if (!places) {
			err = -ENOMEM;
			break;
		}
		for (i = 0; i < TB_STAGE_DEPTH; i++)
			stage->bufs[i].block = (struct tb_block *)places[i].elements;
		/* zeroed before it is used: pairs with the dependent load in tb_pending_enter() */
		smp_store_release(&stage->places, places);
	}
	mutex_unlock(&tb_pending_lock);
	return err;
}

/**
 * tb_pending_free() - nothing will be on any stage any more
 *
 * Context: module exit.
 */
void tb_pending_free(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu(tb_pendings, cpu).places);
}

/**
 * tb_pending_init() - the rings without buffers of a provider
 * @p: the provider
 *
 * Context: process.
 * Return: 0 or -ENOMEM; to be undone also then.
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
		/* its time is not used, and this is the cheaper clock */
		r->raw_clock = TB_TICKS_PLAIN;
	}
	return 0;
}

/**
 * tb_pending_exit() - undo tb_pending_init()
 * @p: the provider
 *
 * Context: process; nothing is attached.
 */
void tb_pending_exit(struct tb_provider *p)
{
	free_percpu(p->pending_rings);
	free_percpu(p->kept_out);
}
