// SPDX-License-Identifier: GPL-2.0-only
/*
 * Set and remove the rules of events; count suppressed events.  probe/pending.c follows the rules.
 *
 * A new rule replaces the old one as a whole.  Probes use rules with preemption off, so RCU frees
 * the old one.
 *
 * Callers: ioctls of devices/tracebuf.c, arm.c, select.c, recording/, in process context.
 * Locks: tb_provider.lock; this file reads user memory outside it.
 */
#include <linux/slab.h>

#include "events/catalog.h"
#include "machine/compat.h"
#include "probe/pending.h"
#include "probe/rule.h"
#include "probe/thread_set.h"
#include "select.h"

/* ---- make ------------------------------------------------------------- */

static int tb_rule_check_tests(struct tb_event *e, const struct tb_test *tests, u32 nr,
			       const void *data, u32 data_bytes, struct tb_filter **filter,
			       u32 *bad)
{
	int token = srcu_read_lock(&tb_events_srcu), err = -ENOENT;
	const struct tb_event_def *def = READ_ONCE(e->def);
	u32 bytes;

	if (def)
		err = tb_filter_make(filter, tests, nr, data, data_bytes, def->fields, bad);
	/* the tests refer to fields: once described, the event cannot get others under this id */
	if (!err)
		err = PTR_ERR_OR_ZERO(tb_event_description(e, e->simple, &bytes));
	srcu_read_unlock(&tb_events_srcu, token);
	return err;
}

/* Copy the tests of a rule from user space and check them; *filter is NULL without tests. */
static int tb_rule_tests(struct tb_event *e, struct tb_rule *rule, struct tb_filter **filter)
{
	struct tb_test *tests;
	void *data;
	int err;

	*filter = NULL;
	if (rule->nr_tests > TB_TESTS_MAX || rule->data_bytes > TB_TEST_DATA_MAX)
		return -EINVAL;
	if (!rule->nr_tests)
		return rule->data_bytes ? -EINVAL : 0;
	tests = vmemdup_user(u64_to_user_ptr(rule->tests), rule->nr_tests * sizeof(*tests));
	if (IS_ERR(tests))
		return PTR_ERR(tests);
	data = vmemdup_user(u64_to_user_ptr(rule->data), rule->data_bytes);
	if (IS_ERR(data)) {
		kvfree(tests);
		return PTR_ERR(data);
	}
	err = tb_rule_check_tests(e, tests, rule->nr_tests, data, rule->data_bytes, filter,
				  &rule->bad);
	kvfree(tests);
	kvfree(data);
	return err;
}

static int tb_rule_counters(struct tb_provider *p, struct tb_rule *rule, u32 *mask)
{
	struct tb_counter *counters;
	int err;

	if (rule->nr_counters > TB_COUNTERS_MAX)
		return -EINVAL;
	if (!rule->nr_counters)
		return 0;
	counters = vmemdup_user(u64_to_user_ptr(rule->counters),
				rule->nr_counters * sizeof(*counters));
	if (IS_ERR(counters))
		return PTR_ERR(counters);
	err = tb_counters_get(&p->counters, counters, rule->nr_counters, mask, &rule->bad);
	kvfree(counters);
	/* write the names of the counters before the rings have values */
	return err ?: tb_durable_add_counters(p, *mask);
}

static void tb_rule_free(struct rcu_head *rcu)
{
	struct tb_rule_active *active = container_of(rcu, struct tb_rule_active, rcu);

	tb_filter_free(active->filter);
	kfree(active);
}

/* Free a rule that no pointer leads to any more; running probes may still use it. */
static void tb_rule_drop(struct tb_provider *p, struct tb_rule_active *active)
{
	if (!active)
		return;
	if (active->counters) {
		/* wait for probes that may read the counters */
		tb_tracepoint_synchronize();
		tb_counters_put(&p->counters, active->counters);
	}
	call_rcu(&active->rcu, tb_rule_free);
}

/* Make the active form of a rule; return NULL for an empty rule. */
static struct tb_rule_active *tb_rule_make(struct tb_provider *p, struct tb_event *e,
					   struct tb_rule *rule)
{
	struct tb_rule_active *active;
	int err;

	if (rule->flags & ~(TB_RULE_STACK | TB_RULE_USER_STACK) || rule->rate > U32_MAX)
		return ERR_PTR(-EINVAL);
	active = kzalloc(sizeof(*active), TB_GFP);
	if (!active)
		return ERR_PTR(-ENOMEM);
	err = tb_rule_tests(e, rule, &active->filter);
	if (!err)
		err = tb_rule_counters(p, rule, &active->counters);
	active->flags = rule->flags;
	active->sample = rule->sample > 1 ? rule->sample : 0;
	active->rate = rule->rate;
	if (!err && (active->filter || active->counters || active->flags || active->sample ||
		     active->rate))
		return active;
	if (active->counters)
		tb_counters_put(&p->counters, active->counters);
	tb_filter_free(active->filter);
	kfree(active);
	return ERR_PTR(err);
}

/* ---- activate --------------------------------------------------------- */

/*
 * Copy the clock's frequency and the tracepoint's iterator into a rule.  The clock changes only
 * while no recording runs, and the tracepoint is known before a probe is attached to it.  So probes
 * never see these fields change: the function writes only values that differ.
 */
static void tb_rule_resolve(const struct tb_probe *probe, struct tb_rule_active *rule)
{
	u64 second = max(probe->provider->clock.frequency, 1ULL);
	/* valid under the lock, for which a module that goes waits (tb_select_refresh()) */
	const struct tracepoint *tp = READ_ONCE(probe->event->tp);

	lockdep_assert_held(&probe->provider->lock);
	if (!rule)
		return;
	if (rule->second != second)
		rule->second = second;
	if (tp && rule->iterator.start != (unsigned long)tp->iterator)
		tb_stack_iterator_find(&rule->iterator, tp);
}

/*
 * Return true if the selection has all switches of threads: sched_switch is enabled, and no rule,
 * thread set or handler can suppress it.
 */
bool tb_rule_wants_switches(const struct tb_provider *p)
{
	const struct tb_probe *s = p->switches;

	lockdep_assert_held(&p->lock);
	return s && s->enabled && !s->rule && !p->pids && !tb_event_has_handlers(s->event);
}

/* Return true if the provider records all switches of threads from the next moment on. */
static bool tb_rule_sees_switches(const struct tb_provider *p)
{
	lockdep_assert_held(&p->lock);
	return tb_rule_wants_switches(p) && p->switches->attached && p->switches->until == ~0ull;
}

/* Return true if the events of a probe go to probe/pending.c. */
static bool tb_rule_is_pending(const struct tb_probe *probe)
{
	const struct tb_provider *p = probe->provider;
	const struct tb_compact_def *compact = probe->event->compact;

	lockdep_assert_held(&p->lock);
	return probe->rule || p->pids || tb_event_has_handlers(probe->event) ||
	       probe->until != ~0ull || probe->from > p->moment ||
	       (compact && probe->attached == compact->probe && !p->has_all_switches);
}

static void tb_rule_route_one(struct tb_probe *probe)
{
	struct tb_provider *p = probe->provider;

	lockdep_assert_held(&p->lock);
	tb_rule_resolve(probe, probe->rule);
	/* publish the rings when they are ready: pairs with the dependent loads in probe.h */
	smp_store_release(&probe->rings,
			  tb_rule_is_pending(probe) ? p->pending_rings : p->rings);
}

/*
 * Note whether a recording that starts has all switches of threads.  All its probes are attached,
 * and its first moment has not begun.
 */
void tb_rule_begin(struct tb_provider *p)
{
	lockdep_assert_held(&p->lock);
	p->has_all_switches = tb_rule_sees_switches(p);
}

/**
 * tb_rule_route() - send a probe's events to the rings or to probe/pending.c
 * @probe: the probe
 *
 * The compact forms leave out the thread, which readers know from the switches since the start of
 * the recording.  So before the first switch that may be missing, all other events go to
 * probe/pending.c, which records the wide form; sched_switch follows last.  A CPU that finds the
 * new rings at a switch goes through the full barrier of switch_to() before the events of the next
 * thread, and so finds the new rings at these, too.
 *
 * probe/pending.c discards the events of a probe that is not selected at this moment.
 *
 * Context: process, under lock.
 */
void tb_rule_route(struct tb_probe *probe)
{
	struct tb_provider *p = probe->provider;
	struct tb_probe *other;
	unsigned long i;

	lockdep_assert_held(&p->lock);
	if (p->has_all_switches && !tb_rule_sees_switches(p)) {
		p->has_all_switches = false;
		xa_for_each(&p->probes, i, other)
			if (other != p->switches)
				tb_rule_route_one(other);
	}
	tb_rule_route_one(probe);
}

/* Allocate the counts of a probe's suppressed events. */
int tb_rule_count(struct tb_probe *probe)
{
	struct tb_rule_counts __percpu *counts;

	lockdep_assert_held(&probe->provider->lock);
	if (probe->counts)
		return 0;
	counts = alloc_percpu_gfp(struct tb_rule_counts, TB_GFP);
	if (!counts)
		return -ENOMEM;
	/* zero the counts first: pairs with the dependent loads in probe/pending.c */
	smp_store_release(&probe->counts, counts);
	return 0;
}

static int tb_rule_replace(struct tb_provider *p, struct tb_event *e,
			   struct tb_rule_active *active)
{
	struct tb_rule_active *old;
	struct tb_probe *probe;
	int err;

	lockdep_assert_held(&p->lock);
	probe = xa_load(&p->probes, e->index);
	if (!probe && !active)
		return 0;
	probe = tb_select_probe(p, e);
	if (IS_ERR(probe))
		return PTR_ERR(probe);
	if (active) {
		err = tb_rule_count(probe) ?: tb_pending_prepare();
		if (err)
			return err;
	}
	tb_rule_resolve(probe, active);
	old = probe->rule;
	/* write the rule before the pointer: pairs with the acquire in probe/pending.c */
	smp_store_release(&probe->rule, active);
	tb_rule_route(probe);
	tb_rule_drop(p, old);
	return 0;
}

static void tb_rule_clear(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;

	mutex_lock(&p->lock);
	xa_for_each(&p->probes, i, probe)
		if (probe->rule)
			tb_rule_replace(p, probe->event, NULL);
	mutex_unlock(&p->lock);
}

/* TB_IOC_RULE, with reserved fields checked.  Errors change nothing. */
int tb_rule_set(struct tb_provider *p, struct tb_rule *rule)
{
	struct tb_rule_active *active;
	struct tb_event *e;
	int err;

	if (rule->bad || rule->reserved32)
		return -EINVAL;
	if (rule->index == TB_RULE_ALL) {
		struct tb_rule nothing = { .index = TB_RULE_ALL };

		if (memcmp(rule, &nothing, sizeof(nothing)))
			return -EINVAL;
		tb_rule_clear(p);
		return 0;
	}
	e = tb_event_by_index(rule->index);
	if (!e)
		return -ENOENT;
	active = tb_rule_make(p, e, rule);
	if (IS_ERR(active))
		return PTR_ERR(active);
	mutex_lock(&p->lock);
	err = tb_rule_replace(p, e, active);
	mutex_unlock(&p->lock);
	if (err)
		tb_rule_drop(p, active);
	return err;
}

/**
 * tb_rule_for_trigger() - make a rule with tests, which an event must pass to fire the trigger
 * @p: the provider
 * @rule: from user space; may have only tests
 *
 * Context: process; not under lock, because it reads user memory.
 * Return: the rule, for probe.rule of the trigger's probe; the caller frees it with
 * tb_rule_unused() if no probe gets it; ERR_PTR() of an error of the ABI.
 */
struct tb_rule_active *tb_rule_for_trigger(struct tb_provider *p, struct tb_rule *rule)
{
	struct tb_event *e = tb_event_by_index(rule->index);

	if (!e || rule->reserved32 || rule->flags || rule->sample || rule->rate ||
	    rule->counters || rule->nr_counters || rule->bad || !rule->nr_tests ||
	    memchr_inv(rule->reserved, 0, sizeof(rule->reserved)))
		return ERR_PTR(-EINVAL);
	return tb_rule_make(p, e, rule);
}

/* Free a rule of tb_rule_for_trigger() that no probe got; may be NULL. */
void tb_rule_unused(struct tb_rule_active *active)
{
	if (active)
		tb_rule_free(&active->rcu);
}

/* Free the rules and counts of a detached probe, which does not run on any CPU. */
void tb_rule_forget(struct tb_probe *probe)
{
	tb_rule_drop(probe->provider, probe->rule);
	free_percpu(probe->counts);
}

/* Free a set, or NULL, that no pointer leads to any more; running probes may still use it. */
void tb_rule_remove_thread_set(struct tb_thread_set *set)
{
	if (!set)
		return;
	tb_thread_set_detach(set);
	/* wait for probes that may use the set, and for the set's own probes */
	tb_tracepoint_synchronize();
	tb_thread_set_free(set);
}

/* TB_IOC_PIDS, with reserved fields checked.  Errors change nothing. */
int tb_rule_set_pids(struct tb_provider *p, struct tb_pids *pids)
{
	struct tb_thread_set *set = NULL, *old;
	struct tb_probe *probe;
	unsigned long i;
	int err = 0;
	u32 *ids;

	if (pids->bad || pids->count > TB_PIDS_MAX ||
	    (pids->flags & ~(TB_PIDS_EXCLUDE | TB_PIDS_PROCESS | TB_PIDS_CHILDREN)) ||
	    (!pids->count && pids->flags))
		return -EINVAL;
	if (pids->count) {
		ids = vmemdup_user(u64_to_user_ptr(pids->pids), pids->count * sizeof(*ids));
		if (IS_ERR(ids))
			return PTR_ERR(ids);
		err = tb_pending_prepare() ?:
		      tb_thread_set_make(&set, ids, pids->count, pids->flags, &pids->bad);
		kvfree(ids);
		if (!err)
			err = tb_thread_set_attach(set, tb_events_tracepoint("task_newtask"),
						   tb_events_tracepoint("sched_process_exec"));
		if (err) {
			tb_thread_set_free(set);
			return err;
		}
	}
	mutex_lock(&p->lock);
	old = p->pids;
	/* write the set before the pointer: pairs with the acquire in probe/pending.c */
	smp_store_release(&p->pids, set);
	xa_for_each(&p->probes, i, probe)
		tb_rule_route(probe);
	mutex_unlock(&p->lock);
	tb_rule_remove_thread_set(old);
	return 0;
}

/* ---- counts ----------------------------------------------------------- */

static void tb_rule_add(struct tb_suppressed *sum, const struct tb_suppressed *one)
{
	sum->filtered += READ_ONCE(one->filtered);
	sum->sampled += READ_ONCE(one->sampled);
	sum->limited += READ_ONCE(one->limited);
	sum->vetoed += READ_ONCE(one->vetoed);
	sum->nested += READ_ONCE(one->nested);
}

/**
 * tb_rule_suppressed() - sum up the suppressed events of all CPUs
 * @p: the provider
 * @index: index of the event; TB_RULE_ALL: events suppressed by the thread set
 * @sum: out: the sums
 *
 * Context: process.
 * Return: 0; -ENOENT no such event.
 */
int tb_rule_suppressed(struct tb_provider *p, u32 index, struct tb_suppressed *sum)
{
	struct tb_rule_counts __percpu *counts;
	const struct tb_probe *probe;
	const struct tb_event *e;
	unsigned int cpu;

	memset(sum, 0, sizeof(*sum));
	if (index == TB_RULE_ALL) {
		for_each_possible_cpu(cpu)
			tb_rule_add(sum, per_cpu_ptr(p->kept_out, cpu));
		return 0;
	}
	e = tb_event_by_index(index);
	if (!e)
		return -ENOENT;
	sum->id = tb_event_id(e);
	probe = xa_load(&p->probes, index);
	/* valid as long as the provider; pairs with the release in tb_rule_count() */
	counts = probe ? READ_ONCE(probe->counts) : NULL;
	for_each_possible_cpu(cpu)
		if (counts)
			tb_rule_add(sum, &per_cpu_ptr(counts, cpu)->kept_out);
	return 0;
}

/* Clear the counts of suppressed events.  No probe is attached. */
void tb_rule_reset(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned int cpu;
	unsigned long i;

	lockdep_assert_held(&p->lock);
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(p->kept_out, cpu), 0, sizeof(*p->kept_out));
	xa_for_each(&p->probes, i, probe) {
		/* the next recording may use a clock with earlier times */
		if (probe->rule)
			atomic64_set(&probe->rule->window, 0);
		if (!probe->counts)
			continue;
		for_each_possible_cpu(cpu)
			memset(per_cpu_ptr(probe->counts, cpu), 0, sizeof(*probe->counts));
	}
}
