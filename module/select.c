// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events a provider records, and in which form: choosing them,
 * describing them in the durable buffer, attaching their probes.
 *
 * An event is described before its probe is attached, so whoever meets it in
 * a rolling block finds the description in a durable block handed out before.
 */
#include <linux/slab.h>

#include "capture/events.h"
#include "select.h"
#include "session.h"

/**
 * tb_select_init() - one probe per known event, all disabled
 * @p: the provider
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int tb_select_init(struct tb_provider *p)
{
	unsigned int i;

	p->nr_probes = tb_events_count();
	p->probes = kvcalloc(p->nr_probes, sizeof(*p->probes), TB_GFP);
	p->described = kvcalloc(p->nr_probes, 1, TB_GFP);
	if (!p->probes || !p->described) {
		tb_select_exit(p);
		return -ENOMEM;
	}
	for (i = 0; i < p->nr_probes; i++) {
		struct tb_probe *probe = &p->probes[i];

		probe->def = tb_events_get(i);
		probe->provider = p;
		probe->id_wide = TB_EV_FIRST + 2 * i;
		probe->id_fast = probe->id_wide + 1;
	}
	return 0;
}

/**
 * tb_select_exit() - undo tb_select_init()
 * @p: the provider, stopped
 *
 * Context: process.
 */
void tb_select_exit(struct tb_provider *p)
{
	kvfree(p->probes);
	kvfree(p->described);
}

/* an event's forms, as bits in described */
#define TB_WIDE	1
#define TB_FAST	2

static u8 tb_select_form(const struct tb_probe *probe)
{
	return probe->fast ? TB_FAST : TB_WIDE;
}

/* Describes one form of an event.  Under read_lock. */
static int tb_select_describe_form(struct tb_provider *p, const struct tb_probe *probe, u8 form,
				   void *buf)
{
	bool fast = form == TB_FAST;
	size_t len = tb_event_describe(probe->def, fast, fast ? probe->id_fast : probe->id_wide,
				       buf, TB_DURABLE_PAYLOAD);
	int err = tb_keep(p, tb_clock_read(p->clock.raw), TB_EV_EVENT, buf, len);

	if (!err)
		p->described[probe->def->index] |= form;
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
	memset(p->described, 0, p->nr_probes);
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
	void *buf = kvmalloc(TB_DURABLE_PAYLOAD, TB_GFP);
	unsigned int i;
	int err = buf ? 0 : -ENOMEM;

	for (i = 0; i < p->nr_probes && !err; i++) {
		const struct tb_probe *probe = &p->probes[i];
		u8 forms = p->described[i] | (probe->enabled ? tb_select_form(probe) : 0);

		if (forms & TB_WIDE)
			err = tb_select_describe_form(p, probe, TB_WIDE, buf);
		if (!err && (forms & TB_FAST))
			err = tb_select_describe_form(p, probe, TB_FAST, buf);
	}
	kvfree(buf);
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
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->nr_probes && !err; i++)
		if (p->probes[i].enabled)
			err = tb_event_attach(&p->probes[i], p->probes[i].fast);
	return err;
}

/**
 * tb_select_detach() - detach all probes; they may still be running
 * @p: the provider
 *
 * Context: under lock; tb_events_synchronize() waits for the last one.
 */
void tb_select_detach(struct tb_provider *p)
{
	unsigned int i;

	for (i = 0; i < p->nr_probes; i++)
		tb_event_detach(&p->probes[i]);
}

/* what an event was before a selection, to go back to */
#define TB_WAS_ENABLED	1
#define TB_WAS_FAST	2
#define TB_TOUCHED	4

static void tb_select_undo(struct tb_provider *p, const u8 *before)
{
	unsigned int i;

	for (i = 0; i < p->nr_probes; i++) {
		struct tb_probe *probe = &p->probes[i];

		if (!(before[i] & TB_TOUCHED))
			continue;
		probe->enabled = before[i] & TB_WAS_ENABLED;
		probe->fast = before[i] & TB_WAS_FAST;
		if (p->state != TB_STATE_RUNNING)
			continue;
		if (!probe->enabled)
			tb_event_detach(probe);
		else
			tb_event_attach(probe, probe->fast);
	}
}

/* Brings descriptions and probes in line with what is now wanted. */
static int tb_select_apply(struct tb_provider *p, const u8 *before)
{
	void *buf = kvmalloc(TB_DURABLE_PAYLOAD, TB_GFP);
	unsigned int i;
	int err = 0;

	if (!buf)
		return -ENOMEM;
	mutex_lock(&p->read_lock);
	for (i = 0; i < p->nr_probes && !err; i++) {
		u8 form = tb_select_form(&p->probes[i]);

		if ((before[i] & TB_TOUCHED) && p->probes[i].enabled && !(p->described[i] & form))
			err = tb_select_describe_form(p, &p->probes[i], form, buf);
	}
	tb_durable_seal(&p->durable);
	mutex_unlock(&p->read_lock);
	kvfree(buf);
	for (i = 0; i < p->nr_probes && !err; i++) {
		if (!(before[i] & TB_TOUCHED))
			continue;
		if (p->probes[i].enabled)
			err = tb_event_attach(&p->probes[i], p->probes[i].fast);
		else
			tb_event_detach(&p->probes[i]);
	}
	return err;
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
	u32 count = 0, enabled = 0;
	unsigned int i;
	u8 *before;
	int err = 0;

	if (op != TB_SELECT_ENABLE && op != TB_SELECT_DISABLE)
		return -EINVAL;
	if (form > TB_FORM_FAST || (op == TB_SELECT_DISABLE && form))
		return -EINVAL;
	before = kvcalloc(p->nr_probes, 1, TB_GFP);
	if (!before)
		return -ENOMEM;
	mutex_lock(&p->lock);
	for (i = 0; i < p->nr_probes; i++) {
		struct tb_probe *probe = &p->probes[i];

		if (tb_event_matches(probe->def, pattern) && probe->def->tp) {
			count++;
			before[i] = TB_TOUCHED | (probe->enabled ? TB_WAS_ENABLED : 0) |
				    (probe->fast ? TB_WAS_FAST : 0);
			probe->enabled = op == TB_SELECT_ENABLE;
			if (form)
				probe->fast = form == TB_FORM_FAST && probe->def->fast_probe;
		}
	}
	if (!count)
		err = -ENOENT;
	else if (p->state == TB_STATE_RUNNING)
		err = tb_select_apply(p, before);
	if (err)
		tb_select_undo(p, before);
	for (i = 0; i < p->nr_probes; i++)
		enabled += p->probes[i].enabled;
	p->nr_enabled = enabled;
	mutex_unlock(&p->lock);
	kvfree(before);
	tb_session_wake(p);
	if (matched)
		*matched = count;
	return err;
}

/**
 * tb_select_info() - TB_IOC_EVENT
 * @p: the provider
 * @info: index and room in, the rest out
 * @desc: out: the description, to be freed with kvfree(), where asked for
 *
 * Context: process.
 * Return: 0, -ENOENT past the last event, -ENOMEM.
 */
int tb_select_info(struct tb_provider *p, struct tb_event_info *info, void **desc)
{
	struct tb_probe *probe;
	u64 to = info->desc;
	size_t len;
	void *buf;

	*desc = NULL;
	if (info->index >= p->nr_probes)
		return -ENOENT;
	probe = &p->probes[info->index];
	buf = kvmalloc(TB_DURABLE_PAYLOAD, TB_GFP);
	if (!buf)
		return -ENOMEM;
	len = tb_event_describe(probe->def, false, probe->id_wide, buf, TB_DURABLE_PAYLOAD);
	info->flags = (probe->enabled ? TB_INFO_ENABLED : 0) | (probe->fast ? TB_INFO_FAST : 0) |
		      (probe->def->fast_probe ? TB_INFO_HAS_FAST : 0) |
		      (probe->def->tp ? 0 : TB_INFO_ABSENT);
	info->id = probe->id_wide;
	strscpy(info->system, probe->def->system, sizeof(info->system));
	strscpy(info->name, probe->def->name, sizeof(info->name));
	if (to && info->desc_size >= len)
		*desc = buf;
	else
		kvfree(buf);
	info->desc_size = len;
	return 0;
}
