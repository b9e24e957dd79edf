// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: when an event occurs, a circular recording goes on until a share of
 * its rings has been filled with what came after, and then freezes: nothing
 * is overwritten any more, so that what led to the event can be taken in peace.
 *
 * A trigger's events are those the kernel has, recorded or not.  Each has a probe of its own,
 * the same function as the recorder's, but for rings without buffers: the way of
 * an event there leads to the stage (stage.c), and from there to here.  So there is no probe
 * that knows of triggers, and no event that is not a trigger's pays for them.
 *
 * Freezing is done by the rings: each has the number of the last block that may overwrite
 * another.  The one the event occurred on gets it at once; the others, which may be those of
 * CPUs far away, from an irq_work.  It runs again whenever that ring completes a buffer,
 * until the share is filled; then all freeze.  A CPU that records little may take long for
 * that: a timer, which the irq_work starts, freezes the rings when the time is up.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "capture/capture.h"
#include "capture/events.h"
#include "compat.h"
#include "provider.h"
#include "record.h"
#include "rule.h"
#include "session.h"
#include "stage.h"
#include "trigger.h"

#define TB_TRIGGER_EVENTS_MAX	64
#define TB_TRIGGER_TEXT		(2 * TB_NAME_MAX + 16)

/**
 * struct tb_trigger_source - an event that is to trigger
 * @probe: attached to its tracepoint; its rule has nothing but tests
 * @text: the mark, not NUL-terminated
 * @bytes: of @text
 */
struct tb_trigger_source {
	struct tb_probe probe;
	char text[TB_TRIGGER_TEXT];
	u32 bytes;
};

/* ---- firing ----------------------------------------------------------- */

/**
 * tb_trigger_fire() - one of its events has occurred
 * @s: which
 *
 * Context: any, NMI included; preemption off.
 */
void tb_trigger_fire(struct tb_trigger_source *s)
{
	struct tb_provider *p = s->probe.provider;
	struct tb_trigger *t = &p->trigger;
	struct tb_ring *r = this_cpu_ptr(p->rings);

	/* once, and with one winner */
	if (READ_ONCE(t->state) != TB_TRIGGER_ARMED ||
	    cmpxchg(&t->state, TB_TRIGGER_ARMED, TB_TRIGGER_FIRING) != TB_TRIGGER_ARMED)
		return;
	t->event = s->probe.event;
	t->id = s->probe.id_wide;
	t->cpu = r->cpu;
	t->tid = current->pid;
	t->time = tb_clock_read(p->clock.raw);
	t->realtime = ktime_get_real_fast_ns();
	memcpy(t->comm, current->comm, sizeof(t->comm));
	/* raised by the tracepoint, the probe's own reservation, and this one */
	tb_record_control(p, TB_EV_MARK, s->text, s->bytes, 3);
	t->sequence = tb_ring_current(r, tb_read(&r->head));
	tb_write(&r->overwrite_last, t->sequence + t->post);
	/* all of the above before the state: pairs with those who see it FIRED */
	if (cmpxchg(&t->state, TB_TRIGGER_FIRING, TB_TRIGGER_FIRED) == TB_TRIGGER_FIRING)
		irq_work_queue(&t->work);
}

/* ---- freezing --------------------------------------------------------- */

/* Has the ring it occurred on got the share of what comes after? */
static bool tb_trigger_filled(struct tb_provider *p)
{
	struct tb_trigger *t = &p->trigger;
	struct tb_ring *r = per_cpu_ptr(p->rings, t->cpu);
	u64 h = tb_read(&r->head);
	u64 gone = tb_ring_current(r, h) - t->sequence;

	/* nothing more to come from a CPU that is offline */
	if (!t->post || !cpu_online(t->cpu))
		return true;
	return gone > t->post || (gone == t->post && tb_head_index(h) == r->capacity);
}

/* From now on no ring overwrites anything.  May run on several CPUs at a time. */
static bool tb_trigger_freeze(struct tb_provider *p)
{
	struct tb_trigger *t = &p->trigger;
	unsigned int cpu;

	for_each_cpu(cpu, &p->cpus)
		tb_write(&per_cpu_ptr(p->rings, cpu)->overwrite_last, 0);
	return cmpxchg(&t->state, TB_TRIGGER_FIRED, TB_TRIGGER_FROZEN) == TB_TRIGGER_FIRED;
}

/* The share has not been filled in time. */
static void tb_trigger_late(struct work_struct *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, trigger.late.work);

	/* pairs with the exchange in tb_trigger_fire() */
	if (smp_load_acquire(&p->trigger.state) == TB_TRIGGER_FIRED && tb_trigger_freeze(p))
		tb_session_wake(p);
}

static void tb_trigger_work(struct irq_work *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, trigger.work);
	struct tb_trigger *t = &p->trigger;
	unsigned int cpu;

	/* pairs with the exchange in tb_trigger_fire() */
	if (smp_load_acquire(&t->state) != TB_TRIGGER_FIRED)
		return;
	for_each_cpu(cpu, &p->cpus) {
		struct tb_ring *r = per_cpu_ptr(p->rings, cpu);

		/* if it has none; this may run on two CPUs at a time */
		cmpxchg(&r->overwrite_last, ~0ull,
			tb_ring_current(r, tb_read(&r->head)) + t->post);
	}
	if (!tb_trigger_filled(p)) {
		/* once: it stays pending until it runs, and then there is nothing left to do */
		if (t->post_ms)
			queue_delayed_work(TB_UNBOUND_WQ, &t->late,
					   msecs_to_jiffies(t->post_ms));
		return;
	}
	if (tb_trigger_freeze(p))
		tb_session_wake_irq(p);
}

/* ---- arming ----------------------------------------------------------- */

static int tb_trigger_add(struct tb_provider *p, struct tb_event *e)
{
	struct tb_trigger_source *s = kvzalloc(sizeof(*s), TB_GFP);

	if (!s)
		return -ENOMEM;
	p->trigger.sources[p->trigger.nr_sources++] = s;
	s->bytes = scnprintf(s->text, sizeof(s->text), "trigger: %s:%s", e->system, e->name);
	s->probe.event = e;
	s->probe.provider = p;
	s->probe.rings = p->stage_rings;
	s->probe.id_wide = tb_event_id(e);
	s->probe.trigger = s;
	return 0;
}

static struct tb_trigger_source *tb_trigger_find(struct tb_trigger *t, const struct tb_event *e)
{
	u32 i;

	for (i = 0; i < t->nr_sources; i++)
		if (t->sources[i]->probe.event == e)
			return t->sources[i];
	return NULL;
}

/* Adds what one pattern matches.  Under lock. */
static int tb_trigger_match(struct tb_provider *p, const char *pattern)
{
	struct tb_trigger *t = &p->trigger;
	unsigned int i, n = tb_events_count();
	bool matched = false;
	int err;

	for (i = 0; i < n; i++) {
		struct tb_event *e = tb_events_get(i);

		if (!tb_event_there(e) || !tb_event_matches(e, pattern))
			continue;
		matched = true;
		if (tb_trigger_find(t, e))
			continue;
		if (t->nr_sources == TB_TRIGGER_EVENTS_MAX)
			return -E2BIG;
		err = tb_trigger_add(p, e);
		if (err)
			return err;
	}
	return matched ? 0 : -ENOENT;
}

/* Adds the tests of event @index, which are the source's then.  Under lock. */
static int tb_trigger_test(struct tb_provider *p, u32 index, struct tb_rule_active **test)
{
	struct tb_trigger_source *s = tb_trigger_find(&p->trigger, tb_events_get(index));

	if (!s || s->probe.rules[0])
		return -EINVAL;
	swap(s->probe.rules[0], *test);
	return 0;
}

/* Makes the tests; to be undone also when it fails. */
static int tb_trigger_tests(struct tb_provider *p, struct tb_rule *rules, u32 nr_rules,
			    struct tb_rule_active **tests, u32 *bad)
{
	u32 i;

	for (i = 0; i < nr_rules; i++) {
		struct tb_rule_active *test = tb_rule_for_trigger(p, &rules[i]);

		if (IS_ERR(test)) {
			*bad = i;
			return PTR_ERR(test);
		}
		tests[i] = test;
	}
	return 0;
}

/*
 * Nobody fires any more; what has been told of the event stays.  The rings overwrite
 * again.  Under lock.
 */
static void tb_trigger_detach(struct tb_provider *p, u32 state)
{
	struct tb_trigger *t = &p->trigger;
	unsigned int cpu;
	u32 i;

	xchg(&t->state, state);
	for (i = 0; i < t->nr_sources; i++)
		tb_event_detach(&t->sources[i]->probe);
	tb_events_synchronize();
	/* who saw it FIRED is through with the rings; the irq_work first, it starts the timer */
	irq_work_sync(&t->work);
	cancel_delayed_work_sync(&t->late);
	for_each_cpu(cpu, &p->cpus)
		tb_write(&per_cpu_ptr(p->rings, cpu)->overwrite_last, ~0ull);
	for (i = 0; i < t->nr_sources; i++) {
		tb_rule_forget(&t->sources[i]->probe);
		kvfree(t->sources[i]);
	}
	kfree(t->sources);
	t->sources = NULL;
	t->nr_sources = 0;
}

/* Under lock; to be undone also when it fails. */
static int tb_trigger_attach(struct tb_provider *p, char *patterns, const struct tb_rule *rules,
			     struct tb_rule_active **tests, u32 nr_rules, u32 percent, u32 ms,
			     u32 *bad)
{
	struct tb_trigger *t = &p->trigger;
	char *pattern;
	int err = 0;
	u32 i;

	t->sources = kcalloc(TB_TRIGGER_EVENTS_MAX, sizeof(*t->sources), TB_GFP);
	if (!t->sources)
		return -ENOMEM;
	while (!err && (pattern = strsep(&patterns, ",")))
		err = *pattern ? tb_trigger_match(p, pattern) : -EINVAL;
	for (i = 0; i < nr_rules && !err; i++) {
		err = tb_trigger_test(p, rules[i].index, &tests[i]);
		if (err)
			*bad = i;
	}
	if (!err)
		err = tb_stage_prepare();
	if (err)
		return err;
	/* all but the block the event is in */
	t->post = min(p->config.buffers * percent / 100, p->config.buffers - 1);
	t->post_ms = ms;
	t->event = NULL;
	smp_store_release(&t->state, TB_TRIGGER_ARMED); /* before any probe can run */
	for (i = 0; i < t->nr_sources && !err; i++)
		err = tb_event_attach(&t->sources[i]->probe, false);
	return err;
}

/**
 * tb_trigger_arm() - freeze the rings some time after an event has occurred
 * @p: the provider
 * @s: who wants it
 * @patterns: as for tb_provider_select(), separated by commas; will be changed
 * @rules: tests for some of them, from user space
 * @nr_rules: how many
 * @percent: how much of the ring of the CPU it occurs on may be filled after it
 * @ms: how many milliseconds that may take at most; 0: as long as it takes
 * @matched: out: how many events
 * @bad: out: which of the rules is wrong
 *
 * Context: process.
 * Return: 0; -EINVAL no circular recording is running, not a percentage, a wrong rule; -EBUSY
 * armed already; -ENOENT a pattern matches nothing; -E2BIG more than 64 events; -ENOMEM.
 */
int tb_trigger_arm(struct tb_provider *p, struct tb_session *s, char *patterns,
		   struct tb_rule *rules, u32 nr_rules, u32 percent, u32 ms, u32 *matched,
		   u32 *bad)
{
	struct tb_trigger *t = &p->trigger;
	struct tb_rule_active **tests;
	int err;
	u32 i;

	if (percent > 100)
		return -EINVAL;
	tests = kcalloc(nr_rules, sizeof(*tests), TB_GFP);
	if (!tests)
		return -ENOMEM;
	/* before the lock: user space may take its time to let its memory be read */
	err = tb_trigger_tests(p, rules, nr_rules, tests, bad);
	if (err)
		goto free;
	mutex_lock(&p->lock);
	if (p->state != TB_STATE_RUNNING || p->config.mode != TB_MODE_CIRCULAR) {
		err = -EINVAL;
	} else if (t->session) {
		err = -EBUSY;
	} else {
		err = tb_trigger_attach(p, patterns, rules, tests, nr_rules, percent, ms, bad);
		*matched = t->nr_sources;
		if (err)
			tb_trigger_detach(p, TB_TRIGGER_NONE);
		else
			WRITE_ONCE(t->session, s);
	}
	mutex_unlock(&p->lock);
free:
	for (i = 0; i < nr_rules; i++)
		tb_rule_unused(tests[i]);
	kfree(tests);
	return err;
}

/**
 * tb_trigger_disarm() - undo tb_trigger_arm(): the rings overwrite again
 * @p: the provider
 * @s: who has armed it
 *
 * Context: process.
 * Return: 0, -EINVAL it was not @s.
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

/**
 * tb_trigger_stop() - the recording ends, and its trigger with it
 * @p: the provider
 *
 * Context: process, under lock.
 */
void tb_trigger_stop(struct tb_provider *p)
{
	if (p->trigger.sources)
		tb_trigger_detach(p, TB_TRIGGER_ENDED);
}

/**
 * tb_trigger_refresh() - events have come or gone
 * @p: the provider
 *
 * Context: process, under lock.
 */
void tb_trigger_refresh(struct tb_provider *p)
{
	struct tb_trigger *t = &p->trigger;
	u32 i;

	for (i = 0; i < t->nr_sources; i++) {
		if (!tb_event_there(t->sources[i]->probe.event))
			tb_event_detach(&t->sources[i]->probe);
		else if (tb_event_attach(&t->sources[i]->probe, false))
			pr_warn_ratelimited("tracebuf: %s: %s:%s does not trigger any more\n",
					    p->name, t->sources[i]->probe.event->system,
					    t->sources[i]->probe.event->name);
	}
}

/* ---- asking ----------------------------------------------------------- */

/**
 * tb_trigger_query() - TB_IOC_TRIGGER
 * @p: the provider
 * @info: filled in
 *
 * Context: process.
 */
void tb_trigger_query(struct tb_provider *p, struct tb_trigger_info *info)
{
	struct tb_trigger *t = &p->trigger;

	memset(info, 0, sizeof(*info));
	mutex_lock(&p->lock);
	/* pairs with the exchange in tb_trigger_fire() */
	info->state = smp_load_acquire(&t->state);
	if (info->state == TB_TRIGGER_FIRING)
		info->state = TB_TRIGGER_ARMED;
	info->events = t->nr_sources;
	info->post_blocks = t->post;
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
	mutex_unlock(&p->lock);
}

/**
 * tb_trigger_poll() - poll() of the session that has armed
 * @p: the provider
 *
 * Context: any.
 * Return: EPOLLPRI when the rings are frozen, or will never be.
 */
__poll_t tb_trigger_poll(struct tb_provider *p)
{
	u32 state = READ_ONCE(p->trigger.state);

	return state == TB_TRIGGER_FROZEN || state == TB_TRIGGER_ENDED ? EPOLLPRI : 0;
}

/* ---- life ------------------------------------------------------------- */

/**
 * tb_trigger_init() - the part of tb_provider_init() that is about the trigger
 * @p: the provider
 *
 * Context: process.
 */
void tb_trigger_init(struct tb_provider *p)
{
	tb_irq_work_init(&p->trigger.work, tb_trigger_work);
	INIT_DELAYED_WORK(&p->trigger.late, tb_trigger_late);
}

/**
 * tb_trigger_sync() - nothing of this is running or will run
 * @p: the provider, stopped, with no session
 *
 * Context: process.
 */
void tb_trigger_sync(struct tb_provider *p)
{
	irq_work_sync(&p->trigger.work);
	cancel_delayed_work_sync(&p->trigger.late);
}
