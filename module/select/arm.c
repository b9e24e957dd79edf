// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arm, disarm and query the trigger of a provider.  probe/trigger.c fires it.
 *
 * Callers: the ioctls of devices/tracebuf.c, reader/, recording.c and select.c, in process context.
 * Locks: tb_provider.lock; tb_provider.read_lock for queries.
 */
#include <linux/slab.h>

#include "events/catalog.h"
#include "machine/compat.h"
#include "probe/pending.h"
#include "select.h"

#define TB_TRIGGER_EVENTS_MAX	64

static void tb_trigger_add(struct tb_provider *p, struct tb_event *e)
{
	struct tb_trigger_source *s = &p->trigger.sources[p->trigger.nr_sources++];

	lockdep_assert_held(&p->lock);
	s->bytes = scnprintf(s->text, sizeof(s->text), "trigger: %s:%s", e->system, e->name);
	s->probe.event = e;
	s->probe.provider = p;
	s->probe.rings = p->pending_rings;
	s->probe.id_wide = tb_event_id(e);
	s->probe.trigger = s;
}

static struct tb_trigger_source *tb_trigger_find(struct tb_trigger *t, const struct tb_event *e)
{
	u32 i;

	for (i = 0; i < t->nr_sources; i++)
		if (t->sources[i].probe.event == e)
			return &t->sources[i];
	return NULL;
}

/* Add the events that @pattern matches. */
static int tb_trigger_match(struct tb_provider *p, const char *pattern)
{
	struct tb_trigger *t = &p->trigger;
	unsigned int i, n = tb_events_count();
	bool matched = false;

	lockdep_assert_held(&p->lock);
	for (i = 0; i < n; i++) {
		struct tb_event *e = tb_event_by_index(i);

		if (!tb_event_exists(e) || !tb_event_matches(e, pattern))
			continue;
		matched = true;
		if (tb_trigger_find(t, e))
			continue;
		if (t->nr_sources == TB_TRIGGER_EVENTS_MAX)
			return -E2BIG;
		tb_trigger_add(p, e);
	}
	return matched ? 0 : -ENOENT;
}

/* Make a rule for each of @rules.  The caller frees them, also after an error. */
static int tb_trigger_tests(struct tb_provider *p, struct tb_rule *rules, struct tb_arm *arm,
			    struct tb_rule_active **tests)
{
	u32 i;

	for (i = 0; i < arm->nr_rules; i++) {
		struct tb_rule_active *test = tb_rule_for_trigger(p, &rules[i]);

		if (IS_ERR(test)) {
			arm->bad = i;
			return PTR_ERR(test);
		}
		tests[i] = test;
	}
	return 0;
}

/* Detach the trigger, and let the rings overwrite again.  Keep the data about the fired event. */
static void tb_trigger_detach(struct tb_provider *p, u32 state)
{
	struct tb_trigger *t = &p->trigger;
	unsigned int cpu;
	u32 old, i;

	lockdep_assert_held(&p->lock);
	/*
	 * Let a probe that fires fill in the members first: queries of the new state read them.
	 * Its preemption is off.  The acquire pairs with the exchange in tb_trigger_fire().
	 */
	do {
		old = smp_cond_load_acquire(&t->state, VAL != TB_TRIGGER_FIRING);
	} while (cmpxchg(&t->state, old, state) != old);
	for (i = 0; i < t->nr_sources; i++)
		tb_event_detach(&t->sources[i].probe);
	tb_tracepoint_synchronize();
	/* probes that fired have ended; the irq_work before the timer, which it starts */
	irq_work_sync(&t->work);
	cancel_delayed_work_sync(&t->late);
	/* pairs with tb_recording_add_ring() */
	mutex_lock(&p->read_lock);
	for_each_cpu(cpu, &p->cpus)
		tb_write(&per_cpu_ptr(p->rings, cpu)->overwrite_last, ~0ull);
	mutex_unlock(&p->read_lock);
	for (i = 0; i < t->nr_sources; i++)
		tb_rule_forget(&t->sources[i].probe);
	kvfree(t->sources);
	t->sources = NULL;
	t->nr_sources = 0;
}

/* The caller undoes this with tb_trigger_detach(), also after an error. */
static int tb_trigger_attach(struct tb_provider *p, char *patterns, const struct tb_rule *rules,
			     struct tb_rule_active **tests, struct tb_arm *arm)
{
	struct tb_trigger *t = &p->trigger;
	struct tb_trigger_source *s;
	char *pattern;
	int err = 0;
	u32 i;

	lockdep_assert_held(&p->lock);
	t->sources = kvcalloc(TB_TRIGGER_EVENTS_MAX, sizeof(*t->sources), TB_GFP);
	if (!t->sources)
		return -ENOMEM;
	while (!err && (pattern = strsep(&patterns, ",")))
		err = *pattern ? tb_trigger_match(p, pattern) : -EINVAL;
	for (i = 0; i < arm->nr_rules && !err; i++) {
		s = tb_trigger_find(t, tb_event_by_index(rules[i].index));
		if (s && !s->probe.rule) {
			swap(s->probe.rule, tests[i]);
		} else {
			arm->bad = i;
			err = -EINVAL;
		}
	}
	if (!err)
		err = tb_pending_prepare();
	if (err)
		return err;
	/* the rings must keep the block with the event */
	t->post = min(p->config.buffers * arm->post / 100, p->config.buffers - 1);
	t->post_ms = arm->post_ms;
	/* no query reads the last event while it goes */
	mutex_lock(&p->read_lock);
	t->event = NULL;
	smp_store_release(&t->state, TB_TRIGGER_ARMED); /* before any probe can run */
	mutex_unlock(&p->read_lock);
	for (i = 0; i < t->nr_sources && !err; i++)
		err = tb_event_attach(&t->sources[i].probe, false);
	return err;
}

/**
 * tb_trigger_arm() - arm the trigger, which freezes the rings some time after an event
 * @p: the provider
 * @s: the session that arms
 * @patterns: as for tb_provider_select(), separated by commas; modified
 * @rules: tests for some of the events, from user space
 * @arm: in: nr_rules, post, post_ms; out: matched, bad
 *
 * Context: process.
 * Return: 0; -EINVAL no circular recording is running, or a wrong percentage or rule; -EBUSY a
 * session has armed it already; -ENOENT a pattern matches no event; -E2BIG more than 64 events;
 * -ENOMEM.
 */
int tb_trigger_arm(struct tb_provider *p, struct tb_session *s, char *patterns,
		   struct tb_rule *rules, struct tb_arm *arm)
{
	struct tb_trigger *t = &p->trigger;
	struct tb_rule_active **tests;
	int err;
	u32 i;

	if (arm->post > 100)
		return -EINVAL;
	tests = kcalloc(arm->nr_rules, sizeof(*tests), TB_GFP);
	if (!tests)
		return -ENOMEM;
	/* not under the lock: reading user memory may take arbitrarily long */
	err = tb_trigger_tests(p, rules, arm, tests);
	if (err)
		goto free;
	mutex_lock(&p->lock);
	if (p->state != TB_STATE_RUNNING || p->config.mode != TB_MODE_CIRCULAR) {
		err = -EINVAL;
	} else if (t->session) {
		err = -EBUSY;
	} else {
		err = tb_trigger_attach(p, patterns, rules, tests, arm);
		arm->matched = t->nr_sources;
		if (err) {
			tb_trigger_detach(p, TB_TRIGGER_NONE);
		} else {
			WRITE_ONCE(t->session, s);
			/* it may have fired before poll() of another thread saw @s */
			wake_up_all(&p->wait);
		}
	}
	mutex_unlock(&p->lock);
free:
	for (i = 0; i < arm->nr_rules; i++)
		tb_rule_unused(tests[i]);
	kfree(tests);
	return err;
}

/*
 * Undo tb_trigger_arm(), and let the rings overwrite again.  Return 0; -EINVAL @s has not armed it.
 */
int tb_trigger_disarm(struct tb_provider *p, struct tb_session *s)
{
	int err = -EINVAL;

	mutex_lock(&p->lock);
	if (p->trigger.session == s) {
		tb_trigger_detach(p, TB_TRIGGER_NONE);
		WRITE_ONCE(p->trigger.session, NULL);
		err = 0;
	}
	mutex_unlock(&p->lock);
	return err;
}

/* End the trigger because the recording ends. */
void tb_trigger_stop(struct tb_provider *p)
{
	lockdep_assert_held(&p->lock);
	if (p->trigger.sources)
		tb_trigger_detach(p, TB_TRIGGER_ENDED);
}

/* Attach the trigger's events that exist, detach those that do not. */
void tb_trigger_refresh(struct tb_provider *p)
{
	struct tb_trigger *t = &p->trigger;
	u32 i;

	lockdep_assert_held(&p->lock);
	for (i = 0; i < t->nr_sources; i++) {
		if (!tb_event_exists(t->sources[i].probe.event))
			tb_event_detach(&t->sources[i].probe);
		else if (tb_event_attach(&t->sources[i].probe, false))
			pr_warn_ratelimited("tracebuf: %s: %s:%s does not trigger any more\n",
					    p->name, t->sources[i].probe.event->system,
					    t->sources[i].probe.event->name);
	}
}

/* ---- queries ---------------------------------------------------------- */

/* TB_IOC_TRIGGER.  Like tracebuf_query(), does not take p->lock. */
void tb_trigger_query(struct tb_provider *p, struct tb_trigger_info *info)
{
	struct tb_trigger *t = &p->trigger;

	memset(info, 0, sizeof(*info));
	mutex_lock(&p->read_lock);
	/* pairs with the exchange in tb_trigger_fire() */
	info->state = smp_load_acquire(&t->state);
	if (info->state == TB_TRIGGER_FIRING)
		info->state = TB_TRIGGER_ARMED;
	info->events = READ_ONCE(t->nr_sources);
	info->post_blocks = READ_ONCE(t->post);
	if (info->state > TB_TRIGGER_ARMED && t->event) {
		info->fired = 1;
		info->cpu = t->cpu;
		info->tid = t->tid;
		info->id = t->id;
		info->time = t->time;
		info->realtime = t->realtime;
		info->sequence = t->sequence;
		memcpy(info->comm, t->comm, sizeof(info->comm));
		strscpy(info->system, t->event->system, sizeof(info->system));
		strscpy(info->name, t->event->name, sizeof(info->name));
	}
	mutex_unlock(&p->read_lock);
}
