// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attach handlers: functions of other modules that see events before the rings do, and may veto
 * them.  While an event has handlers, its probes send it to probe/pending.c (tb_rule_route()), and
 * that calls the handlers.
 *
 * Callers: other modules, the catalog of events, in process context.  Locks: tb_handler_lock, under
 * it tb_provider.lock.
 */
#include <linux/slab.h>

#include "events/catalog.h"
#include "machine/compat.h"
#include "machine/pointer_list.h"
#include "probe/pending.h"
#include "select.h"

/* protects tb_event.handlers; nests in tb_events_lock, outside tb_providers_lock */
static DEFINE_MUTEX(tb_handler_lock);
static LIST_HEAD(tb_handlers_all);

/* Attach the handlers that match an event that comes or comes back.  Under tb_events_lock. */
int tb_handlers_new_event(struct tb_event *e)
{
	struct tracebuf_handler *h;
	int err = 0;

	mutex_lock(&tb_handler_lock);
	list_for_each_entry(h, &tb_handlers_all, list)
		if (!err && tb_event_matches(e, h->pattern))
			err = tb_list_add(&e->handlers, h, &tb_handler_lock);
	mutex_unlock(&tb_handler_lock);
	return err;
}

/* ---- attach and detach ------------------------------------------------ */

static void tb_handlers_route_one(struct tb_provider *p, void *error)
{
	struct tb_probe *probe;
	unsigned long i;

	mutex_lock(&p->lock);
	xa_for_each(&p->probes, i, probe) {
		if (tb_event_has_handlers(probe->event) && tb_rule_count(probe))
			*(int *)error = -ENOMEM;
		tb_rule_route(probe);
	}
	mutex_unlock(&p->lock);
}

/* Route the events of all providers to probe/pending.c or to the rings. */
static int tb_handlers_route(void)
{
	int err = 0;

	lockdep_assert_held(&tb_handler_lock);
	tb_providers_each(tb_handlers_route_one, &err);
	return err;
}

/* The caller undoes this with tracebuf_unhandle(), also after an error. */
static int tb_handlers_attach(struct tracebuf_handler *h)
{
	unsigned int i;
	int err = 0;

	lockdep_assert_held(&tb_handler_lock);
	/* before the loop: tb_handlers_new_event() finds it there for later events */
	list_add_tail(&h->list, &tb_handlers_all);
	for (i = 0; i < tb_events_count() && !err; i++)
		if (tb_event_matches(tb_event_by_index(i), h->pattern))
			err = tb_list_add(&tb_event_by_index(i)->handlers, h, &tb_handler_lock);
	return err ?: tb_handlers_route();
}

/**
 * tracebuf_handle() - attach a function that sees events before the rings do
 * @pattern: which events: "system", "system:event", "event" or "all", with '*' and '?'; also
 *	matches events that are added later
 * @fn: called for each event before a provider records it; returns false to veto it
 * @data: for @fn
 *
 * The recorder calls @fn on the CPU and in the context of the event, NMI included, once for each
 * provider that is about to record it: after the provider's filter, before sampling and limits.
 * After a handler has returned false, the recorder calls no other one, and counts the event as
 * vetoed (TB_IOC_SUPPRESSED).
 *
 * @fn runs with preemption off, and often with interrupts off and under locks of the scheduler,
 * timers or interrupts.  So it must not sleep, fault, take a lock that an interrupted context may
 * hold, or wake a task.  It delays the code that it observes, so it must end within a few
 * microseconds, and its loops must have a bound.  It may look at @view and current, count, and
 * record; handlers do not see events that occur in @fn.
 *
 * Handlers do not see events that only fire a trigger, nor events of tracebuf_simple(),
 * tracebuf_write() and tracebuf_begin().
 *
 * Context: process, sleeps.
 * Return: the handler, for tracebuf_unhandle(); ERR_PTR(-EINVAL) the pattern is empty or too long;
 * ERR_PTR(-ENOMEM).
 */
struct tracebuf_handler *tracebuf_handle(const char *pattern,
					 bool (*fn)(const struct tracebuf_view *view, void *data),
					 void *data)
{
	struct tracebuf_handler *h;
	int err;

	if (!*pattern || strlen(pattern) >= 2 * TB_NAME_MAX)
		return ERR_PTR(-EINVAL);
	err = tb_pending_prepare();
	if (err)
		return ERR_PTR(err);
	h = kzalloc(struct_size(h, pattern, strlen(pattern) + 1), TB_GFP);
	if (!h)
		return ERR_PTR(-ENOMEM);
	h->fn = fn;
	h->data = data;
	memcpy(h->pattern, pattern, strlen(pattern));
	mutex_lock(&tb_handler_lock);
	err = tb_handlers_attach(h);
	mutex_unlock(&tb_handler_lock);
	if (err) {
		tracebuf_unhandle(h);
		return ERR_PTR(err);
	}
	return h;
}
EXPORT_SYMBOL_GPL(tracebuf_handle);

/**
 * tracebuf_unhandle() - detach a handler
 * @h: from tracebuf_handle()
 *
 * On return, its function does not run on any CPU and will not be called again.
 *
 * Context: process, sleeps.
 */
void tracebuf_unhandle(struct tracebuf_handler *h)
{
	unsigned int i;

	mutex_lock(&tb_handler_lock);
	list_del(&h->list);
	for (i = 0; i < tb_events_count(); i++)
		tb_list_remove(&tb_event_by_index(i)->handlers, h, &tb_handler_lock);
	/* back to the rings; probes keep their counts, so this cannot fail */
	tb_handlers_route();
	mutex_unlock(&tb_handler_lock);
	tb_tracepoint_synchronize();
	kfree(h);
}
EXPORT_SYMBOL_GPL(tracebuf_unhandle);

/**
 * tracebuf_find() - find a field in an event's payload, for a handler
 * @system: subsystem of the event
 * @name: name of the event
 * @field: name of the field
 * @place: out: its place
 *
 * Context: process.
 * Return: 0; -ENOENT no such event or field.
 */
int tracebuf_find(const char *system, const char *name, const char *field,
		  struct tracebuf_place *place)
{
	int token = srcu_read_lock(&tb_events_srcu), err = -ENOENT;
	const struct tb_field_def *f = NULL;
	unsigned int i;

	for (i = 0; i < tb_events_count(); i++) {
		const struct tb_event *e = tb_event_by_index(i);
		const struct tb_event_def *def = READ_ONCE(e->def);

		if (!def || strcmp(e->system, system) || strcmp(e->name, name))
			continue;
		for (f = def->fields; f->name && strcmp(f->name, field); f++)
			;
		break;
	}
	if (f && f->name) {
		place->offset = f->offset;
		place->size = f->size;
		place->count = f->count;
		place->flags = f->flags;
		err = 0;
	}
	srcu_read_unlock(&tb_events_srcu, token);
	return err;
}
EXPORT_SYMBOL_GPL(tracebuf_find);
