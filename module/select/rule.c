// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules: setting them, taking them away, telling what they kept out.  How they are
 * followed is in probe/pending.c.
 *
 * A rule is replaced by another as a whole.  Who follows one has preemption off, so
 * the old one is freed by way of RCU.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "events/catalog.h"
#include "probe/filter.h"
#include "probe/pending.h"
#include "probe/thread_set.h"
#include "probe/veto.h"
#include "provider/provider.h"
#include "provider/retention.h"
#include "rule.h"
#include "select.h"

/* ---- making one ------------------------------------------------------- */

/* A copy of an array from user space, to be freed with kvfree(). */
static void *tb_rule_copy(u64 from, u32 count, size_t size)
{
	void *to;

	if (!count)
		return NULL;
	to = kvmalloc_array(count, size, TB_GFP);
	if (!to)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(to, u64_to_user_ptr(from), count * size)) {
		kvfree(to);
		return ERR_PTR(-EFAULT);
	}
	return to;
}

static int tb_rule_check_tests(struct tb_event *e, u32 form, const struct tb_test *tests, u32 nr,
			       const void *data, u32 data_bytes, struct tb_filter **filter,
			       u32 *bad)
{
	int token = tb_events_read_lock(), err = -ENOENT;
	const struct tb_event_def *def = READ_ONCE(e->def);
	bool fast = form == TB_FORM_FAST;
	u32 bytes;

	if (def)
		err = tb_filter_make(filter, tests, nr, data, data_bytes,
				     tb_event_fields(e, def, fast), bad);
	/* once it is described the number stays with these fields, which the tests are for */
	if (!err)
		err = PTR_ERR_OR_ZERO(tb_event_description(e, fast, &bytes));
	tb_events_read_unlock(token);
	return err;
}

/* The tests of a rule, copied from user space and checked; NULL if there are none. */
static int tb_rule_tests(struct tb_event *e, struct tb_rule *rule, struct tb_filter **filter)
{
	struct tb_test *tests;
	void *data;
	int err;

	*filter = NULL;
	if (rule->form != TB_FORM_WIDE && rule->form != TB_FORM_FAST)
		return -EINVAL;
	if (!tb_event_has(e, rule->form == TB_FORM_FAST))
		return -EINVAL;
	if (rule->nr_tests > TB_TESTS_MAX || rule->data_bytes > TB_TEST_DATA_MAX)
		return -EINVAL;
	if (!rule->nr_tests)
		return rule->data_bytes ? -EINVAL : 0;
	tests = tb_rule_copy(rule->tests, rule->nr_tests, sizeof(*tests));
	if (IS_ERR(tests))
		return PTR_ERR(tests);
	data = tb_rule_copy(rule->data, rule->data_bytes, 1);
	if (IS_ERR(data)) {
		kvfree(tests);
		return PTR_ERR(data);
	}
	err = tb_rule_check_tests(e, rule->form, tests, rule->nr_tests, data, rule->data_bytes,
				  filter, &rule->bad);
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
	counters = tb_rule_copy(rule->counters, rule->nr_counters, sizeof(*counters));
	if (IS_ERR_OR_NULL(counters))
		return PTR_ERR_OR_ZERO(counters);
	err = tb_counters_get(&p->counters, counters, rule->nr_counters, mask, &rule->bad);
	kvfree(counters);
	/* their names before their values */
	return err ?: tb_durable_add_counters(p, *mask);
}

static void tb_rule_free(struct rcu_head *rcu)
{
	struct tb_rule_active *active = container_of(rcu, struct tb_rule_active, rcu);

	tb_filter_free(active->filter);
	kfree(active);
}

/* Nobody is going to find it any more.  Process context. */
static void tb_rule_drop(struct tb_provider *p, struct tb_rule_active *active)
{
	if (!active)
		return;
	if (active->counters) {
		/* nobody reads them */
		tb_events_synchronize();
		tb_counters_put(&p->counters, active->counters);
	}
	call_rcu(&active->rcu, tb_rule_free);
}

/* What a rule comes to; NULL if it says nothing. */
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

/* ---- putting it in force ---------------------------------------------- */

/*
 * What a rule has to know of its provider and its event.  The clock is chosen while nothing is
 * recorded, the tracepoint found before anything is attached to it, so who follows the rule
 * does not see these change: nothing is written that is there already.  Under lock.
 */
static void tb_rule_resolve(const struct tb_probe *probe, struct tb_rule_active *rule)
{
	u64 second = max(probe->provider->clock.frequency, 1ULL);
	/* should it be going: its module waits for the lock (tb_select_refresh()) */
	const struct tracepoint *tp = READ_ONCE(probe->event->tp);

	if (!rule)
		return;
	if (rule->second != second)
		rule->second = second;
	if (tp && rule->iterator.start != (unsigned long)tp->iterator)
		tb_stack_iterator_find(&rule->iterator, tp);
}

/**
 * tb_rule_route() - send a probe's events where its rules want them
 * @probe: it
 *
 * With a rule for either form: while it changes from one to the other there are events of both.
 * Those of a probe that is not selected at this moment end on the stage.
 *
 * Context: process, under lock.
 */
void tb_rule_route(struct tb_probe *probe)
{
	struct tb_provider *p = probe->provider;

	tb_rule_resolve(probe, probe->rules[0]);
	tb_rule_resolve(probe, probe->rules[1]);
	/* rings that are ready before their address: pairs with the dependent loads in record.h */
	smp_store_release(&probe->rings,
			  probe->rules[0] || probe->rules[1] || p->pids ||
			  tb_event_has_handlers(probe->event) || !tb_select_open(probe, p->moment) ?
			  p->pending_rings : p->rings);
}

/* The same for all of them.  Under lock. */
static void tb_rule_route_all(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;

	xa_for_each(&p->probes, i, probe)
		tb_rule_route(probe);
}

/**
 * tb_rule_count() - what is kept out of a probe's events is going to be counted
 * @probe: it
 *
 * Context: process, under lock.
 * Return: 0 or -ENOMEM.
 */
int tb_rule_count(struct tb_probe *probe)
{
	struct tb_rule_counts __percpu *counts;

	if (probe->counts)
		return 0;
	counts = alloc_percpu_gfp(struct tb_rule_counts, TB_GFP);
	if (!counts)
		return -ENOMEM;
	/* zero before it is used: pairs with the dependent loads where handlers see the event */
	smp_store_release(&probe->counts, counts);
	return 0;
}

/* Under lock. */
static int tb_rule_replace(struct tb_provider *p, struct tb_event *e, bool fast,
			   struct tb_rule_active *active)
{
	struct tb_probe *probe = xa_load(&p->probes, e->index);
	struct tb_rule_active *old;
	int err;

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
	old = probe->rules[fast];
	/* all of it before the pointer: pairs with the acquire in probe/pending.c */
	smp_store_release(&probe->rules[fast], active);
	tb_rule_route(probe);
	tb_rule_drop(p, old);
	return 0;
}

/* Takes all rules away. */
static void tb_rule_clear(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;
	int fast;

	mutex_lock(&p->lock);
	xa_for_each(&p->probes, i, probe)
		for (fast = 0; fast < 2; fast++)
			if (probe->rules[fast])
				tb_rule_replace(p, probe->event, fast, NULL);
	mutex_unlock(&p->lock);
}

/**
 * tb_rule_set() - TB_IOC_RULE
 * @p: the provider
 * @rule: from user space, reserved fields looked at
 *
 * Context: process.
 * Return: 0, or what the ABI says; nothing has changed then.
 */
int tb_rule_set(struct tb_provider *p, struct tb_rule *rule)
{
	struct tb_rule_active *active;
	u32 form = rule->form;
	struct tb_event *e;
	int err;

	if (rule->bad)
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
	/* to whoever knows of one form only it is the usual one */
	if (e->simple && rule->form == TB_FORM_WIDE)
		rule->form = TB_FORM_FAST;
	active = tb_rule_make(p, e, rule);
	swap(rule->form, form);
	if (IS_ERR(active))
		return PTR_ERR(active);
	mutex_lock(&p->lock);
	err = tb_rule_replace(p, e, form == TB_FORM_FAST, active);
	mutex_unlock(&p->lock);
	if (err)
		tb_rule_drop(p, active);
	return err;
}

/**
 * tb_rule_for_trigger() - when an event triggers
 * @p: the provider
 * @rule: from user space: wide form, nothing but tests
 *
 * Context: process; not under lock: it reads from user space.
 * Return: what probe.rules[0] of the trigger's probe is to be, or else to be given back with
 * tb_rule_unused(); ERR_PTR(), as tb_rule_set().
 */
struct tb_rule_active *tb_rule_for_trigger(struct tb_provider *p, struct tb_rule *rule)
{
	struct tb_event *e = tb_event_by_index(rule->index);

	if (!e || rule->form != TB_FORM_WIDE || rule->flags || rule->sample || rule->rate ||
	    rule->counters || rule->nr_counters || rule->bad || !rule->nr_tests ||
	    memchr_inv(rule->reserved, 0, sizeof(rule->reserved)))
		return ERR_PTR(-EINVAL);
	if (e->simple)
		rule->form = TB_FORM_FAST;
	return tb_rule_make(p, e, rule);
}

/**
 * tb_rule_unused() - give back what tb_rule_for_trigger() returned
 * @active: nobody has followed it; may be NULL
 *
 * Context: process.
 */
void tb_rule_unused(struct tb_rule_active *active)
{
	if (active)
		tb_rule_free(&active->rcu);
}

/**
 * tb_rule_forget() - a probe is about to be freed
 * @probe: it, detached, no event of it is under way
 *
 * Context: process.
 */
void tb_rule_forget(struct tb_probe *probe)
{
	tb_rule_drop(probe->provider, probe->rules[0]);
	tb_rule_drop(probe->provider, probe->rules[1]);
	free_percpu(probe->counts);
}

/* A set of threads gets those that are made from here on. */
static int tb_rule_add_thread_set(struct tb_thread_set *set)
{
	struct tracepoint *newtask = tb_events_tracepoint("task_newtask");
	struct tracepoint *exec = tb_events_tracepoint("sched_process_exec");

	return newtask && exec ? tb_thread_set_attach(set, newtask, exec) : -ENOENT;
}

/* Nobody is going to find it any more. */
static void tb_rule_remove_thread_set(struct tb_thread_set *set)
{
	if (!set)
		return;
	tb_thread_set_detach(set);
	/* nobody looks at it, and it follows nobody */
	tb_events_synchronize();
	tb_thread_set_free(set);
}

/**
 * tb_rule_set_pids() - TB_IOC_PIDS
 * @p: the provider
 * @pids: from user space, reserved fields looked at
 *
 * Context: process.
 * Return: 0, or what the ABI says; nothing has changed then.
 */
int tb_rule_set_pids(struct tb_provider *p, struct tb_pids *pids)
{
	struct tb_thread_set *set = NULL, *old;
	int err = 0;
	u32 *ids;

	if (pids->bad || pids->count > TB_PIDS_MAX ||
	    (pids->flags & ~(TB_PIDS_EXCLUDE | TB_PIDS_PROCESS | TB_PIDS_CHILDREN)) ||
	    (!pids->count && pids->flags))
		return -EINVAL;
	if (pids->count) {
		ids = tb_rule_copy(pids->pids, pids->count, sizeof(*ids));
		if (IS_ERR(ids))
			return PTR_ERR(ids);
		err = tb_pending_prepare() ?:
		      tb_thread_set_make(&set, ids, pids->count, pids->flags, &pids->bad);
		kvfree(ids);
		if (!err)
			err = tb_rule_add_thread_set(set);
		if (err) {
			tb_thread_set_free(set);
			return err;
		}
	}
	mutex_lock(&p->lock);
	old = p->pids;
	/* all of it before the pointer: pairs with the acquire in probe/pending.c */
	smp_store_release(&p->pids, set);
	tb_rule_route_all(p);
	mutex_unlock(&p->lock);
	tb_rule_remove_thread_set(old);
	return 0;
}

/**
 * tb_rule_exit() - the provider is about to be freed
 * @p: it, nothing attached
 *
 * Context: process.
 */
void tb_rule_exit(struct tb_provider *p)
{
	tb_rule_remove_thread_set(p->pids);
}

/* ---- books ------------------------------------------------------------ */

static void tb_rule_add(struct tb_suppressed *sum, const struct tb_suppressed *one)
{
	sum->filtered += READ_ONCE(one->filtered);
	sum->sampled += READ_ONCE(one->sampled);
	sum->limited += READ_ONCE(one->limited);
	sum->vetoed += READ_ONCE(one->vetoed);
	sum->nested += READ_ONCE(one->nested);
}

/**
 * tb_rule_suppressed() - what rules kept out
 * @p: the provider
 * @index: of which event, or TB_RULE_ALL: by the thread
 * @sum: filled in
 *
 * Context: process.
 * Return: 0, -ENOENT no such event.
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
	/* as long as the provider is there; pairs with the release in tb_rule_count() */
	counts = probe ? READ_ONCE(probe->counts) : NULL;
	for_each_possible_cpu(cpu)
		if (counts)
			tb_rule_add(sum, &per_cpu_ptr(counts, cpu)->kept_out);
	return 0;
}

/**
 * tb_rule_reset() - nothing has been kept out yet
 * @p: the provider, nothing attached
 *
 * Context: process, under lock.
 */
void tb_rule_reset(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned int cpu;
	unsigned long i;
	int fast;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(p->kept_out, cpu), 0, sizeof(*p->kept_out));
	xa_for_each(&p->probes, i, probe) {
		/* the clock may be another, with earlier seconds */
		for (fast = 0; fast < 2; fast++)
			if (probe->rules[fast])
				atomic64_set(&probe->rules[fast]->window, 0);
		if (!probe->counts)
			continue;
		for_each_possible_cpu(cpu)
			memset(per_cpu_ptr(probe->counts, cpu), 0, sizeof(*probe->counts));
	}
}
