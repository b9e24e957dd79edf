// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of events: collects the definitions of all units at load,
 * numbers them, finds their tracepoints, and attaches probes to these.
 *
 * Numbers are indices into one table and do not change while the module is
 * loaded.  After tb_events_init() everything here is read-only.
 */
#include <linux/bsearch.h>
#include <linux/errno.h>
#include <linux/glob.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "events.h"

/* as many bytes as there are units */
#define TB_UNIT(name)	u8 name
struct tb_unit_count {
#include "units.h"
};

#undef TB_UNIT

static struct tb_unit tb_units[sizeof(struct tb_unit_count)];

static struct tb_event_def **tb_events;
static unsigned int tb_nr_events;

static int __init tb_event_cmp(const void *a, const void *b)
{
	const struct tb_event_def *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int __init tb_event_cmp_name(const void *name, const void *b)
{
	const struct tb_event_def *const *y = b;

	return strcmp(name, (*y)->name);
}

static void __init tb_events_resolve(struct tracepoint *tp, void *by_name)
{
	struct tb_event_def **def;

	def = bsearch(tp->name, by_name, tb_nr_events, sizeof(*def),
		      tb_event_cmp_name);
	if (def)
		(*def)->tp = tp;
}

static void __init tb_units_init(struct tb_unit *unit)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tb_units); i++) {
		INIT_LIST_HEAD(&tb_units[i].events);
		INIT_LIST_HEAD(&tb_units[i].evals);
	}
#define TB_UNIT(name)	tb_unit_init_##name(unit++)
#include "units.h"
#undef TB_UNIT
}

/**
 * tb_events_init() - set up the registry
 *
 * Return: 0, -ENOMEM, or -EOVERFLOW if there are more events than ids.
 */
int __init tb_events_init(void)
{
	struct tb_event_def *def, **by_name;
	const struct tb_fast_def *fast;
	unsigned int i, n = 0;

	tb_units_init(tb_units);
	for (i = 0; i < ARRAY_SIZE(tb_units); i++)
		list_for_each_entry(def, &tb_units[i].events, list)
			n++;
	/* two ids for each event, and 14 bits for an id */
	if (TB_EV_FIRST + 2 * n > TB_HEAD_ID(~0u) + 1)
		return -EOVERFLOW;

	tb_events = kcalloc(n, sizeof(*tb_events), GFP_KERNEL);
	by_name = kcalloc(n, sizeof(*by_name), GFP_KERNEL);
	if (!tb_events || !by_name) {
		kfree(by_name);
		tb_events_exit();
		return -ENOMEM;
	}

	for (i = 0; i < ARRAY_SIZE(tb_units); i++) {
		list_for_each_entry(def, &tb_units[i].events, list) {
			def->unit = &tb_units[i];
			def->index = tb_nr_events;
			fast = tb_fast_find(def->name);
			if (fast) {
				def->fast_probe = fast->probe;
				def->fast_fields = fast->fields;
			}
			while (def->fields[def->nr_fields].name)
				def->nr_fields++;
			tb_events[tb_nr_events++] = def;
		}
	}

	memcpy(by_name, tb_events, n * sizeof(*by_name));
	sort(by_name, n, sizeof(*by_name), tb_event_cmp, NULL);
	for_each_kernel_tracepoint(tb_events_resolve, by_name);
	kfree(by_name);
	return 0;
}

/**
 * tb_events_exit() - give back what tb_events_init() allocated
 *
 * Nothing may be attached any more.
 */
void tb_events_exit(void)
{
	kfree(tb_events);
	tb_events = NULL;
	tb_nr_events = 0;
}

/**
 * tb_events_count() - how many events there are, absent ones included
 *
 * Return: their number.
 */
unsigned int tb_events_count(void)
{
	return tb_nr_events;
}

/**
 * tb_events_get() - an event by its number
 * @index: the number
 *
 * Return: its definition; @tp in it is NULL if this kernel does not have the
 * tracepoint.  NULL if there are not that many events.
 */
const struct tb_event_def *tb_events_get(unsigned int index)
{
	return index < tb_nr_events ? tb_events[index] : NULL;
}

/**
 * tb_event_matches() - is an event meant by a pattern?
 * @def: the event
 * @pattern: "system", "system:event", "event" or "all", with '*' and '?'
 *
 * Return: true if so.
 */
bool tb_event_matches(const struct tb_event_def *def, const char *pattern)
{
	char full[2 * TB_NAME_MAX];

	if (!strcmp(pattern, "all"))
		return true;
	if (!strchr(pattern, ':'))
		return glob_match(pattern, def->system) ||
		       glob_match(pattern, def->name);

	/* names have no colon, so that of the pattern only matches this one */
	snprintf(full, sizeof(full), "%s:%s", def->system, def->name);
	return glob_match(pattern, full);
}

/**
 * tb_event_attach() - record an event from now on
 * @p: the event and the provider; already attached is fine
 * @fast: in the one-element form, if it has one
 *
 * If it is attached in the other form it changes over, and what happens just
 * then may be missed, but is not recorded twice.
 *
 * Context: process; the caller serialises attach and detach of one @p.
 * Return: 0; -ENOENT if this kernel does not have it; other errors of
 * tracepoint_probe_register(); after an error it is detached.
 */
int tb_event_attach(struct tb_probe *p, bool fast)
{
	const struct tb_event_def *def = p->def;
	void *probe;
	int ret;

	if (!def->tp)
		return -ENOENT;
	fast = fast && def->fast_probe;
	probe = fast ? def->fast_probe : def->probe;
	if (p->attached == probe)
		return 0;

	tb_event_detach(p);
	p->fast = fast;
	ret = tracepoint_probe_register(def->tp, probe, p);
	if (!ret)
		p->attached = probe;
	return ret;
}

/**
 * tb_event_detach() - do not record an event any more
 * @p: the event and the provider; detached already is fine
 *
 * Probes may still be running: see tb_events_synchronize().
 *
 * Context: as tb_event_attach().
 */
void tb_event_detach(struct tb_probe *p)
{
	if (!p->attached)
		return;
	tracepoint_probe_unregister(p->def->tp, p->attached, p);
	p->attached = NULL;
}

/**
 * tb_events_synchronize() - wait until detached probes have returned
 *
 * Context: process, sleeps.
 */
void tb_events_synchronize(void)
{
	tracepoint_synchronize_unregister();
}
