// SPDX-License-Identifier: GPL-2.0-only
/*
 * Select the events that a provider records, and their forms: describe the events in the durable
 * buffer, attach their probes, record each change of the selection (struct tb_selection).
 *
 * A reader gets the description of an event before a block with the event, because an event is
 * described before its probe is attached.  A selection also holds for events that come later.
 *
 * Callers: ioctls of devices/, main.c, recording/ and events/, in process context.
 * Locks: tb_provider.lock; under it read_lock, for the durable buffer and the moment.
 */
#include <linux/slab.h>

#include "events/catalog.h"
#include "select.h"

/* forms of an event, bits in tb_probe.described */
#define TB_WIDE	1
#define TB_COMPACT	2

/* Free the selection of a provider that has stopped. */
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

/* Find or create the probe of an event; a new one is disabled.  Return it, or ERR_PTR(-ENOMEM). */
struct tb_probe *tb_select_probe(struct tb_provider *p, struct tb_event *e)
{
	struct tb_probe *probe;
	int err;

	lockdep_assert_held(&p->lock);
	probe = xa_load(&p->probes, e->index);
	if (probe)
		return probe;
	probe = kzalloc(sizeof(*probe), TB_GFP);
	if (!probe)
		return ERR_PTR(-ENOMEM);
	probe->event = e;
	probe->provider = p;
	/* lead to probe/pending.c, which discards the events until they are selected */
	probe->rings = p->pending_rings;
	probe->id_wide = TB_EV_FIRST + 2 * e->index;
	probe->id_simple = probe->id_wide + 1;
	probe->compact = e->simple || e->compact;
	if (!strcmp(e->system, "sched") && !strcmp(e->name, "sched_switch"))
		p->switches = probe;
	err = xa_err(xa_store(&p->probes, e->index, probe, TB_GFP));
	if (err) {
		if (p->switches == probe)
			p->switches = NULL;
		kfree(probe);
		return ERR_PTR(err);
	}
	return probe;
}

/* ---- describe --------------------------------------------------------- */

/* Return the forms in which a probe may record: a compact one may need the wide form, too. */
static u8 tb_select_form(const struct tb_probe *probe)
{
	return (probe->compact ? TB_COMPACT : 0) | (probe->event->simple ? 0 : TB_WIDE);
}

/* Describe @forms of an event.  Return 0, -ENOENT: the event has gone, -ENOMEM, -ENOSPC. */
static int tb_select_describe_forms(struct tb_provider *p, struct tb_probe *probe, u8 forms)
{
	const void *desc;
	u32 bytes;
	int err;
	u8 form;

	lockdep_assert_held(&p->read_lock);
	for (form = TB_WIDE; form <= TB_COMPACT; form <<= 1) {
		if (!(forms & form))
			continue;
		desc = tb_event_description(probe->event, form == TB_COMPACT, &bytes);
		if (IS_ERR(desc))
			return PTR_ERR(desc);
		err = tb_durable_add(p, tb_clock_read(p->clock.raw), TB_EV_EVENT, desc, bytes);
		if (err)
			return err;
		probe->described |= form;
	}
	return 0;
}

/* Forget which events have been described. */
void tb_select_forget(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;

	lockdep_assert_held(&p->read_lock);
	xa_for_each(&p->probes, i, probe)
		probe->described = 0;
}

/* Describe all enabled events, and all described events again.  Return 0, -ENOMEM, -ENOSPC. */
int tb_select_describe(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;
	int err = 0;
	u8 forms;

	lockdep_assert_held(&p->read_lock);
	xa_for_each(&p->probes, i, probe) {
		forms = probe->described;
		/* absent events need no description */
		if (probe->enabled && tb_event_exists(probe->event))
			forms |= tb_select_form(probe);
		err = tb_select_describe_forms(p, probe, forms);
		/* the event has just gone */
		if (err == -ENOENT)
			err = 0;
		if (err)
			break;
	}
	return err;
}

/* ---- attach ----------------------------------------------------------- */

/*
 * Attaching a probe takes milliseconds.  If each event were recorded as soon as its probe is
 * attached, the trace would have beginnings of activities without their ends.  So a selection
 * changes at one moment:
 *
 *	1. Attach the probes of new events.  Route the new events and the events to be disabled
 *	   to probe/pending.c, which discards the former and still records the latter.
 *	2. Increment tb_provider.moment with one store.  As of this moment, on all CPUs,
 *	   probe/pending.c records the new events and discards the disabled ones.
 *	3. Route the new events to the rings, and detach the probes of the disabled ones.
 *
 * A CPU that has seen the new moment never sees the old one again: it records both events of a
 * pair, or none, unless the moment lies between them.
 */

/* Record the events of a probe from the next moment on.  The caller attaches it afterwards. */
static void tb_select_record_from_next(struct tb_provider *p, struct tb_probe *probe)
{
	lockdep_assert_held(&p->lock);
	WRITE_ONCE(probe->from, p->moment + 1);
	/*
	 * @from before @until: pairs with the acquire in tb_pending_is_selected().  The probe may
	 * still be running on a CPU if it was detached just before.
	 */
	smp_store_release(&probe->until, ~0ull);
}

/* Record the events of a probe up to the next moment.  tb_select_publish() then detaches it. */
static void tb_select_record_until_next(struct tb_provider *p, struct tb_probe *probe)
{
	lockdep_assert_held(&p->lock);
	WRITE_ONCE(probe->until, p->moment + 1);
	/* to probe/pending.c, which compares @until */
	tb_rule_route(probe);
}

/* Detach a probe.  @until keeps the moment, for records of an earlier selection. */
static void tb_select_detach_one(struct tb_provider *p, struct tb_probe *probe)
{
	lockdep_assert_held(&p->lock);
	if (probe->until > p->moment)
		WRITE_ONCE(probe->until, p->moment);
	tb_event_detach(probe);
}

/*
 * Describe an enabled event and attach its probe, if the event exists.  tb_select_publish() then
 * starts recording it.
 */
static int tb_select_attach_one(struct tb_provider *p, struct tb_probe *probe)
{
	bool switches;
	int err = 0;
	u8 forms;

	lockdep_assert_held(&p->lock);
	if (!tb_event_exists(probe->event)) {
		tb_select_detach_one(p, probe);
		return 0;
	}
	mutex_lock(&p->read_lock);
	tb_durable_drain(p);
	forms = tb_select_form(probe) & ~probe->described;
	err = tb_select_describe_forms(p, probe, forms);
	mutex_unlock(&p->read_lock);
	/* tracebuf_handle() allocates the counts for handlers that it attaches later */
	if (!err && tb_event_has_handlers(probe->event))
		err = tb_rule_count(probe);
	/* an attached probe goes on recording */
	if (!probe->attached)
		tb_select_record_from_next(p, probe);
	tb_rule_route(probe);
	/* without all switches, each event of a compact probe would need the wide form */
	switches = p->starting ? tb_rule_wants_switches(p) : p->has_all_switches;
	if (!err)
		err = tb_event_attach(probe, probe->compact && switches);
	if (!probe->attached)
		WRITE_ONCE(probe->until, 0);
	/* -ENOENT: the event has just gone */
	return err == -ENOENT ? 0 : err;
}

/* Write the selection at a moment (struct tb_selection).  Return 0, -ENOMEM, -ENOSPC. */
int tb_select_write_record(struct tb_provider *p, u64 time, u64 moment)
{
	u32 ids = 2 * tb_events_count(), bytes = DIV_ROUND_UP(ids, BITS_PER_BYTE);
	struct tb_selection *s = kvzalloc(struct_size(s, bits, bytes), TB_GFP);
	struct tb_probe *probe;
	u32 bit, forms;
	unsigned long i;
	int err;

	lockdep_assert_held(&p->read_lock);
	if (!s)
		return -ENOMEM;
	s->first = TB_EV_FIRST;
	xa_for_each(&p->probes, i, probe) {
		bit = 2 * probe->event->index;
		/* an event that was added after the count above is not recorded yet */
		if (bit >= ids || !tb_select_open(probe, moment))
			continue;
		/* TB_WIDE and TB_COMPACT are in the order of the ids */
		forms = tb_select_form(probe);
		s->bits[bit / BITS_PER_BYTE] |= forms << bit % BITS_PER_BYTE;
		s->count = max_t(u32, s->count, bit + fls(forms));
	}
	err = tb_durable_add(p, time, TB_EV_SELECTION, s,
			     struct_size(s, bits, DIV_ROUND_UP(s->count, BITS_PER_BYTE)));
	kvfree(s);
	return err;
}

/*
 * Begin the next moment: record the events that wait for it, and discard events that end with it.
 * With @tell, first write a record of the selection, and seal it with the descriptions.  Callers
 * pass false if no reader needs the record, and all events have been described.
 */
static int tb_select_publish(struct tb_provider *p, bool tell)
{
	u64 next = p->moment + 1;
	struct tb_probe *probe;
	unsigned long i;
	int err = 0;

	lockdep_assert_held(&p->lock);
	mutex_lock(&p->read_lock);
	if (tell) {
		tb_durable_drain(p);
		err = tb_select_write_record(p, tb_clock_read(p->clock.raw), next);
		tb_durable_seal(&p->durable);
	}
	if (!err)
		/* after @from and @until of all probes: pairs with tb_pending_is_selected() */
		smp_store_release(&p->moment, next);
	mutex_unlock(&p->read_lock);
	xa_for_each(&p->probes, i, probe) {
		/* the moment did not begin: go on recording */
		if (err && probe->until == next)
			WRITE_ONCE(probe->until, ~0ull);
		tb_rule_route(probe);
		if (probe->attached && !tb_select_open(probe, p->moment))
			tb_select_detach_one(p, probe);
		cond_resched();
	}
	return err;
}

/* Attach the probes of all enabled events; tb_select_detach() undoes a failed call, too. */
int tb_select_attach(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;
	int err = 0;

	lockdep_assert_held(&p->lock);
	xa_for_each(&p->probes, i, probe) {
		if (probe->enabled)
			err = tb_select_attach_one(p, probe);
		if (err)
			return err;
	}
	tb_rule_begin(p);
	return tb_select_publish(p, true);
}

/* Detach all probes.  They may still run: tb_tracepoint_synchronize() waits for them. */
void tb_select_detach(struct tb_provider *p)
{
	struct tb_probe *probe;
	unsigned long i;

	lockdep_assert_held(&p->lock);
	/* all probes end at one moment */
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
		pr_warn_ratelimited("tracebuf: %s: no room to record a selection: new events are not recorded\n",
				    p->name);
	mutex_unlock(&p->lock);
}

/*
 * Attach enabled events that have come, detach those that have gone.  On return, no probe is
 * attached to an event that has gone.
 */
void tb_select_refresh(void)
{
	tb_providers_each(tb_select_refresh_one, NULL);
}

/* ---- select ----------------------------------------------------------- */

/* the state of a probe before tb_provider_select(), for tb_select_undo() */
#define TB_WAS_ENABLED	1
#define TB_WAS_COMPACT	2
#define TB_TOUCHED	4

/* Return 0, or -EBUSY: an event that is recorded keeps its form, see tb_event_attach(). */
static int tb_select_touch(struct tb_probe *probe, u32 op, u32 form)
{
	bool compact = probe->event->simple ||
		       (form == TB_FORM_COMPACT && probe->event->compact);

	lockdep_assert_held(&probe->provider->lock);
	if (form && probe->attached && compact != probe->compact)
		return -EBUSY;
	probe->before = TB_TOUCHED | (probe->enabled ? TB_WAS_ENABLED : 0) |
			(probe->compact ? TB_WAS_COMPACT : 0);
	probe->enabled = op == TB_SELECT_ENABLE;
	if (form)
		probe->compact = compact;
	return 0;
}

/* Attach or end a probe, as it is enabled or disabled, as of the next moment. */
static int tb_select_apply(struct tb_provider *p, struct tb_probe *probe)
{
	lockdep_assert_held(&p->lock);
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
	lockdep_assert_held(&p->lock);
	probe->enabled = !!(probe->before & TB_WAS_ENABLED);
	probe->compact = !!(probe->before & TB_WAS_COMPACT);
	tb_select_apply(p, probe);
}

/* Change the selection of all events that @pattern matches.  @count: out: number of these. */
static int tb_select_match(struct tb_provider *p, const char *pattern, u32 op, u32 form,
			   u32 *count)
{
	unsigned int i, n = tb_events_count();
	int err;

	lockdep_assert_held(&p->lock);
	*count = 0;
	for (i = 0; i < n; i++) {
		struct tb_event *e = tb_event_by_index(i);
		struct tb_probe *probe;

		/* also absent events: they may come later */
		if (!tb_event_matches(e, pattern))
			continue;
		++*count;
		probe = xa_load(&p->probes, i);
		if (!probe && op == TB_SELECT_DISABLE)
			continue;
		probe = tb_select_probe(p, e);
		if (IS_ERR(probe))
			return PTR_ERR(probe);
		err = tb_select_touch(probe, op, form);
		if (err)
			return err;
	}
	return *count ? 0 : -ENOENT;
}

/**
 * tb_provider_select() - enable or disable events
 * @p: the provider, running or not
 * @pattern: "system", "system:event", "event" or "all", with * and ?
 * @op: enum tb_select_op
 * @form: enum tb_form
 * @matched: out: number of events that @pattern matches; may be NULL
 *
 * Context: process.
 * Return: 0; -EINVAL; -ENOENT no event matches; -EBUSY an event is recorded in the other form;
 * -ENOSPC; -ENOMEM.  Errors change nothing.
 */
int tb_provider_select(struct tb_provider *p, const char *pattern, u32 op, u32 form, u32 *matched)
{
	struct tb_probe *probe;
	u32 count, enabled = 0;
	unsigned long i;
	int err;

	if (op != TB_SELECT_ENABLE && op != TB_SELECT_DISABLE)
		return -EINVAL;
	if (form > TB_FORM_COMPACT || (op == TB_SELECT_DISABLE && form))
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
	if (err && p->state == TB_STATE_RUNNING)
		tb_select_publish(p, false);
	p->nr_enabled = enabled;
	mutex_unlock(&p->lock);
	wake_up_all(&p->wait);
	if (matched)
		*matched = count;
	return err;
}

/* ---- queries ---------------------------------------------------------- */

/* Write the description of a form into @buf.  Return bytes, or -ENOENT if the event has gone. */
static int tb_select_desc(struct tb_event *e, bool compact, void *buf)
{
	int token = srcu_read_lock(&tb_events_srcu);
	const struct tb_event_def *def = READ_ONCE(e->def);
	int len = -ENOENT;

	if (def)
		len = tb_event_describe(def, compact ? e->compact : NULL,
					TB_EV_FIRST + 2 * e->index + compact, buf,
					TB_DURABLE_PAYLOAD);
	srcu_read_unlock(&tb_events_srcu, token);
	return len;
}

/**
 * tb_select_info() - TB_IOC_EVENT
 * @p: the provider
 * @info: in: index, flags, desc, desc_size; out: all other fields, flags and desc_size
 * @desc: out: the description if requested, to be freed with kvfree(); otherwise NULL
 *
 * Context: process.
 * Return: 0; -EINVAL unknown flags; -ENOENT past the last event; -ENOMEM.
 */
int tb_select_info(struct tb_provider *p, struct tb_event_info *info, void **desc)
{
	struct tb_event *e = tb_event_by_index(info->index);
	const struct tb_probe *probe;
	u64 to = info->desc;
	void *buf;
	int len;

	*desc = NULL;
	/* accept all flags of an answer: programs may pass the last answer again */
	if (info->flags & ~TB_INFO_FLAGS)
		return -EINVAL;
	if (!e)
		return -ENOENT;
	buf = kvmalloc(TB_DURABLE_PAYLOAD, TB_GFP);
	if (!buf)
		return -ENOMEM;
	len = tb_select_desc(e, e->simple || (e->compact && (info->flags & TB_INFO_COMPACT)), buf);
	/* no lock: the caller must not wait for a selection; probes live as long as @p */
	probe = xa_load(&p->probes, e->index);
	info->flags = (probe && READ_ONCE(probe->enabled) ? TB_INFO_ENABLED : 0) |
		      ((probe && READ_ONCE(probe->compact)) || e->simple ? TB_INFO_COMPACT : 0) |
		      (e->compact || e->simple ? TB_INFO_HAS_COMPACT : 0) |
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
