// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events a provider records, and in which form: choosing them,
 * describing them in the durable buffer, attaching their probes.
 *
 * An event is described before its probe is attached, so whoever meets it in
 * a rolling block finds the description in a durable block handed out before.
 *
 * Attaching a probe takes milliseconds.  If each event were recorded as soon as its probe is
 * attached, the trace would have beginnings whose ends are not recorded yet.  So a selection
 * changes at one moment.  First, the probes of new events are attached; their events go to the
 * stage, which discards them (probe/pending.c).  Events to be disabled go to the stage, too, which
 * still records them.  Then one store increments tb_provider.moment: as of this moment the stage
 * records the new events and discards the disabled ones, on all CPUs.  After that, the new events
 * are routed into the rings, and the probes of the disabled ones are detached.  A CPU that has
 * seen the new moment never sees the old one again: it records both events of a pair, or none,
 * unless the moment lies between them.  The trace has a record of each change (struct
 * tb_selection).
 *
 * What is chosen stays so, whether it is there or not: a tracepoint of a module that is loaded
 * later is recorded from then on.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "events/catalog.h"
#include "probe/veto.h"
#include "provider/list.h"
#include "provider/retention.h"
#include "provider/wake.h"
#include "arm.h"
#include "rule.h"
#include "select.h"

/* an event's forms, as bits in described */
#define TB_WIDE	1
#define TB_FAST	2

/**
 * tb_select_init() - nothing is chosen
 * @p: the provider
 *
 * Context: process.
 */
void tb_select_init(struct tb_provider *p)
{
	xa_init(&p->probes);
}

/**
 * tb_select_exit() - undo tb_select_init()
 * @p: the provider, stopped
 *
 * Context: process.
 */
void tb_select_exit(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;

	xa_for_each(&p->probes, i, probe) {
		tb_rule_forget(probe);
		kfree(probe);
	}
	xa_destroy(&p->probes);
}

/**
 * tb_select_probe() - an event as this provider records it
 * @p: the provider
 * @e: the event
 *
 * Context: process, under lock.
 * Return: it; made if there was none, disabled then; ERR_PTR(-ENOMEM).
 */
struct tb_probe *tb_select_probe(struct tb_provider *p, struct tb_event *e)
{
	struct tb_probe *probe = xa_load(&p->probes, e->index);
	int err;

	if (probe)
		return probe;
	probe = kzalloc(sizeof(*probe), TB_GFP);
	if (!probe)
		return ERR_PTR(-ENOMEM);
	probe->event = e;
	probe->provider = p;
	/* not selected */
	probe->rings = p->pending_rings;
	probe->id_wide = TB_EV_FIRST + 2 * e->index;
	probe->id_fast = probe->id_wide + 1;
	probe->fast = e->simple;
	err = xa_err(xa_store(&p->probes, e->index, probe, TB_GFP));
	if (err) {
		kfree(probe);
		return ERR_PTR(err);
	}
	return probe;
}

/* ---- describing ------------------------------------------------------- */

static u8 tb_select_form(const struct tb_probe *probe)
{
	return probe->fast ? TB_FAST : TB_WIDE;
}

/* Describes one form of an event.  Under read_lock. */
static int tb_select_describe_form(struct tb_provider *p, struct tb_probe *probe, u8 form)
{
	const void *desc;
	u32 bytes;
	int err;

	desc = tb_event_description(probe->event, form == TB_FAST, &bytes);
	if (IS_ERR(desc))
		return PTR_ERR(desc);
	err = tb_durable_add(p, tb_clock_read(p->clock.raw), TB_EV_EVENT, desc, bytes);
	if (!err)
		probe->described |= form;
	return err;
}

/**
 * tb_select_forget() - nothing has been described yet
 * @p: the provider
 *
 * Context: under read_lock.
 */
void tb_select_forget(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;

	xa_for_each(&p->probes, i, probe)
		probe->described = 0;
}

/* What has been described, and is to be.  Of what is not there nothing need be known. */
static u8 tb_select_forms(const struct tb_probe *probe)
{
	bool wanted = probe->enabled && tb_event_exists(probe->event);

	return probe->described | (wanted ? tb_select_form(probe) : 0);
}

/**
 * tb_select_describe() - describe all enabled events, and again all that have been described
 * @p: the provider
 *
 * Context: under read_lock.
 * Return: 0, -ENOMEM, -ENOSPC.
 */
int tb_select_describe(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;
	int err = 0;

	xa_for_each(&p->probes, i, probe) {
		u8 forms = tb_select_forms(probe);

		if (forms & TB_WIDE)
			err = tb_select_describe_form(p, probe, TB_WIDE);
		if (!err && (forms & TB_FAST))
			err = tb_select_describe_form(p, probe, TB_FAST);
		/* it has gone a moment ago */
		if (err == -ENOENT)
			err = 0;
		if (err)
			break;
	}
	return err;
}

/* ---- attaching -------------------------------------------------------- */

/* The events of a probe that is going to be attached are recorded from the next moment on. */
static void tb_select_record_from_next(struct tb_provider *p, struct tb_probe *probe)
{
	WRITE_ONCE(probe->from, p->moment + 1);
	/*
	 * @from before @until: pairs with the acquire in tb_pending_is_selected().  Somebody may
	 * still be where the probe was detached a moment ago.
	 */
	smp_store_release(&probe->until, ~0ull);
}

/* The events of a probe that is going to be detached are recorded up to the next moment. */
static void tb_select_record_until_next(struct tb_provider *p, struct tb_probe *probe)
{
	WRITE_ONCE(probe->until, p->moment + 1);
	/* to where that is asked; as in tb_rule_route() */
	smp_store_release(&probe->rings, p->pending_rings);
}

/* What was recorded until the last moment shows in @until: see tb_state_write_once(). */
static void tb_select_detach_one(struct tb_provider *p, struct tb_probe *probe)
{
	if (probe->until > p->moment)
		WRITE_ONCE(probe->until, p->moment);
	tb_event_detach(probe);
}

/*
 * Attaches the probe of an enabled event if it is there, described first if it has not
 * been.  It is recorded after tb_select_publish().  Under lock.
 */
static int tb_select_attach_one(struct tb_provider *p, struct tb_probe *probe)
{
	int err = 0;

	if (!tb_event_exists(probe->event)) {
		tb_select_detach_one(p, probe);
		return 0;
	}
	mutex_lock(&p->read_lock);
	if (!(probe->described & tb_select_form(probe)))
		err = tb_select_describe_form(p, probe, tb_select_form(probe));
	mutex_unlock(&p->read_lock);
	/* who attaches a handler later does this himself */
	if (!err && tb_event_has_handlers(probe->event))
		err = tb_rule_count(probe);
	/* one that changes its form goes on meanwhile */
	if (!probe->attached)
		tb_select_record_from_next(p, probe);
	tb_rule_route(probe);
	if (!err)
		err = tb_event_attach(probe, probe->fast);
	if (!probe->attached)
		WRITE_ONCE(probe->until, 0);
	/* it has gone just now */
	return err == -ENOENT ? 0 : err;
}

/**
 * tb_select_write_record() - add a record of which events are recorded
 * @p: the provider
 * @time: when
 * @moment: of them all, the one that is asked about
 *
 * Context: under read_lock.
 * Return: 0, -ENOMEM, -ENOSPC.
 */
int tb_select_write_record(struct tb_provider *p, u64 time, u64 moment)
{
	u32 ids = 2 * tb_events_count(), bytes = DIV_ROUND_UP(ids, BITS_PER_BYTE);
	struct tb_selection *s = kvzalloc(struct_size(s, bits, bytes), TB_GFP);
	struct tb_probe *probe;
	unsigned long i;
	int err;
	u32 bit;

	if (!s)
		return -ENOMEM;
	s->first = TB_EV_FIRST;
	xa_for_each(&p->probes, i, probe) {
		bit = 2 * probe->event->index + probe->fast;
		/* one that has come just now is not recorded yet */
		if (bit >= ids || !tb_select_open(probe, moment))
			continue;
		s->bits[bit / BITS_PER_BYTE] |= 1 << bit % BITS_PER_BYTE;
		s->count = max(s->count, bit + 1);
	}
	err = tb_durable_add(p, time, TB_EV_SELECTION, s,
			     struct_size(s, bits, DIV_ROUND_UP(s->count, BITS_PER_BYTE)));
	kvfree(s);
	return err;
}

/* Hands out descriptions of events that somebody may have met. */
static void tb_select_seal(struct tb_provider *p)
{
	mutex_lock(&p->read_lock);
	tb_durable_seal(&p->durable);
	mutex_unlock(&p->read_lock);
}

/*
 * What waits for the next moment is recorded from now on, and what ends with it not any more.
 * The descriptions and the record of it are there before the events.  Without @tell nobody needs
 * that record, nor is there an event that has not been described.  Under lock.
 */
static int tb_select_publish(struct tb_provider *p, bool tell)
{
	u64 next = p->moment + 1;
	struct tb_probe *probe;
	unsigned long i;
	int err = 0;

	mutex_lock(&p->read_lock);
	if (tell) {
		err = tb_select_write_record(p, tb_clock_read(p->clock.raw), next);
		tb_durable_seal(&p->durable);
	}
	if (!err)
		/* after all that waits for it: pairs with tb_pending_is_selected() */
		smp_store_release(&p->moment, next);
	mutex_unlock(&p->read_lock);
	xa_for_each(&p->probes, i, probe) {
		/* there has been no such moment */
		if (err && probe->until == next)
			WRITE_ONCE(probe->until, ~0ull);
		tb_rule_route(probe);
		if (probe->attached && !tb_select_open(probe, p->moment))
			tb_select_detach_one(p, probe);
		cond_resched();
	}
	return err;
}

/**
 * tb_select_attach() - attach the probes of all enabled events
 * @p: the provider
 *
 * Context: under lock.
 * Return: 0 or -errno; tb_select_detach() undoes what was done.
 */
int tb_select_attach(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;
	int err = 0;

	xa_for_each(&p->probes, i, probe) {
		if (probe->enabled)
			err = tb_select_attach_one(p, probe);
		if (err)
			return err;
	}
	return tb_select_publish(p, true);
}

/**
 * tb_select_detach() - detach all probes; they may still be running
 * @p: the provider
 *
 * Context: under lock; tb_events_synchronize() waits for the last one.
 */
void tb_select_detach(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;

	/* all of them end at one moment */
	xa_for_each(&p->probes, i, probe)
		if (probe->attached)
			tb_select_record_until_next(p, probe);
	tb_select_publish(p, false);
}

static void tb_select_refresh_one(struct tb_provider *p, void *data)
{
	struct tb_probe *probe;
	bool changed = false;
	unsigned long i;
	int err;

	mutex_lock(&p->lock);
	xa_for_each(&p->probes, i, probe) {
		if (!tb_event_exists(probe->event)) {
			changed |= !!probe->attached;
			tb_select_detach_one(p, probe);
			continue;
		}
		if (p->state != TB_STATE_RUNNING || !probe->enabled || probe->attached)
			continue;
		changed = true;
		err = tb_select_attach_one(p, probe);
		if (err)
			pr_warn_ratelimited("tracebuf: %s: %s:%s is not recorded: error %d\n",
					    p->name, probe->event->system,
					    probe->event->name, err);
	}
	tb_trigger_refresh(p);
	if (changed && p->state == TB_STATE_RUNNING && tb_select_publish(p, true))
		pr_warn_ratelimited("tracebuf: %s: no room to tell that events have come or gone\n",
				    p->name);
	mutex_unlock(&p->lock);
}

/**
 * tb_select_refresh() - attach events that have come, detach those that have gone
 *
 * On return, nothing is attached to events that have gone.
 *
 * Context: process.
 */
void tb_select_refresh(void)
{
	tb_providers_each(tb_select_refresh_one, NULL);
}

/* ---- choosing --------------------------------------------------------- */

/* what an event was before a selection, to go back to */
#define TB_WAS_ENABLED	1
#define TB_WAS_FAST	2
#define TB_TOUCHED	4

static void tb_select_touch(struct tb_probe *probe, u32 op, u32 form)
{
	probe->before = TB_TOUCHED | (probe->enabled ? TB_WAS_ENABLED : 0) |
			(probe->fast ? TB_WAS_FAST : 0);
	probe->enabled = op == TB_SELECT_ENABLE;
	if (form)
		probe->fast = probe->event->simple ||
			      (form == TB_FORM_FAST && probe->event->fast);
}

/* Has the probe do what is wanted from the next moment on. */
static int tb_select_apply(struct tb_provider *p, struct tb_probe *probe)
{
	if (p->state != TB_STATE_RUNNING)
		return 0;
	if (probe->enabled)
		return tb_select_attach_one(p, probe);
	if (probe->attached)
		tb_select_record_until_next(p, probe);
	return 0;
}

static void tb_select_undo(struct tb_provider *p, struct tb_probe *probe)
{
	probe->enabled = !!(probe->before & TB_WAS_ENABLED);
	probe->fast = !!(probe->before & TB_WAS_FAST);
	tb_select_apply(p, probe);
}

/* Changes what matches, and says how much did.  Under lock. */
static int tb_select_match(struct tb_provider *p, const char *pattern, u32 op, u32 form,
			   u32 *count)
{
	unsigned int i, n = tb_events_count();

	*count = 0;
	for (i = 0; i < n; i++) {
		struct tb_event *e = tb_event_by_index(i);
		struct tb_probe *probe;

		/* one that is not there may come, or come again */
		if (!tb_event_matches(e, pattern))
			continue;
		++*count;
		probe = xa_load(&p->probes, i);
		if (!probe && op == TB_SELECT_DISABLE)
			continue;
		probe = tb_select_probe(p, e);
		if (IS_ERR(probe))
			return PTR_ERR(probe);
		tb_select_touch(probe, op, form);
	}
	return *count ? 0 : -ENOENT;
}

/**
 * tb_provider_select() - enable or disable events, running or not
 * @p: the provider
 * @pattern: "system", "system:event", "event" or "all", with * and ?
 * @op: enum tb_select_op
 * @form: enum tb_form
 * @matched: out: how many events it matched; may be NULL
 *
 * Context: process.
 * Return: 0; -EINVAL; -ENOENT nothing matches; -ENOSPC, -ENOMEM: nothing has
 * changed.
 */
int tb_provider_select(struct tb_provider *p, const char *pattern, u32 op, u32 form, u32 *matched)
{
	struct tb_probe *probe;
	u32 count, enabled = 0;
	unsigned long i;
	int err;

	if (op != TB_SELECT_ENABLE && op != TB_SELECT_DISABLE)
		return -EINVAL;
	if (form > TB_FORM_FAST || (op == TB_SELECT_DISABLE && form))
		return -EINVAL;
	mutex_lock(&p->lock);
	err = tb_select_match(p, pattern, op, form, &count);
	xa_for_each(&p->probes, i, probe)
		if (!err && (probe->before & TB_TOUCHED))
			err = tb_select_apply(p, probe);
	if (!err && p->state == TB_STATE_RUNNING)
		err = tb_select_publish(p, true);
	xa_for_each(&p->probes, i, probe) {
		if (err && (probe->before & TB_TOUCHED))
			tb_select_undo(p, probe);
		probe->before = 0;
		enabled += probe->enabled;
	}
	if (err && p->state == TB_STATE_RUNNING) {
		tb_select_publish(p, false);
		/* one that changed its form and back */
		tb_select_seal(p);
	}
	p->nr_enabled = enabled;
	mutex_unlock(&p->lock);
	tb_wake_waiters(p);
	if (matched)
		*matched = count;
	return err;
}

/* ---- asking ----------------------------------------------------------- */

/* The description of a form, made for the occasion; -ENOENT if it is no more. */
static int tb_select_desc(struct tb_event *e, bool fast, void *buf)
{
	int token = tb_events_read_lock();
	const struct tb_event_def *def = READ_ONCE(e->def);
	int len = -ENOENT;

	if (def)
		len = tb_event_describe(def, fast ? tb_event_fields(e, def, true) : NULL,
					TB_EV_FIRST + 2 * e->index + fast, buf,
					TB_DURABLE_PAYLOAD);
	tb_events_read_unlock(token);
	return len;
}

/**
 * tb_select_info() - TB_IOC_EVENT
 * @p: the provider
 * @info: index, room and which form in, the rest out
 * @desc: out: the description, to be freed with kvfree(), where asked for
 *
 * Context: process.
 * Return: 0, -EINVAL unknown flags, -ENOENT past the last event, -ENOMEM.
 */
int tb_select_info(struct tb_provider *p, struct tb_event_info *info, void **desc)
{
	struct tb_event *e = tb_event_by_index(info->index);
	const struct tb_probe *probe;
	u64 to = info->desc;
	void *buf;
	int len;

	*desc = NULL;
	/* the answer to an earlier question may be the next one */
	if (info->flags & ~TB_INFO_FLAGS)
		return -EINVAL;
	if (!e)
		return -ENOENT;
	buf = kvmalloc(TB_DURABLE_PAYLOAD, TB_GFP);
	if (!buf)
		return -ENOMEM;
	len = tb_select_desc(e, e->simple || (e->fast && (info->flags & TB_INFO_FAST)), buf);
	/* without lock: a question does not wait for a selection; probes live as long as @p */
	probe = xa_load(&p->probes, e->index);
	info->flags = (probe && READ_ONCE(probe->enabled) ? TB_INFO_ENABLED : 0) |
		      ((probe && READ_ONCE(probe->fast)) || e->simple ? TB_INFO_FAST : 0) |
		      (tb_event_has(e, true) ? TB_INFO_HAS_FAST : 0) |
		      (tb_event_exists(e) ? 0 : TB_INFO_ABSENT) | (len < 0 ? TB_INFO_GONE : 0);
	info->id = tb_event_id(e);
	strscpy(info->system, e->system, sizeof(info->system));
	strscpy(info->name, e->name, sizeof(info->name));
	if (to && len > 0 && info->desc_size >= len)
		*desc = buf;
	else
		kvfree(buf);
	info->desc_size = max(len, 0);
	return 0;
}
