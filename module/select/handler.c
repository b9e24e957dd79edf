// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaching functions of other modules that see events before they are recorded, and may veto
 * them.  probe/veto.c calls the functions.
 *
 * Each event has a list of its handlers.  While it has one, its probes send the event to the stage
 * (tb_rule_route()), which calls the handlers.  The list is replaced when it grows.  Detaching a
 * handler leaves a hole, because it must not fail.
 *
 * Process context.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "events/catalog.h"
#include "handler.h"
#include "machine/contiguous.h"
#include "probe/pending.h"
#include "probe/veto.h"
#include "provider/list.h"
#include "rule.h"

/* protects the lists of all events; taken under tb_events_lock, and before tb_providers_lock */
static DEFINE_MUTEX(tb_handler_lock);
static LIST_HEAD(tb_handlers_all);
/* ---- lists ------------------------------------------------------------ */

/* Under tb_handler_lock; as tb_source_add(). */
static int tb_handlers_add(struct tb_event *e, struct tracebuf_handler *h)
{
	struct tb_handlers *old = e->handlers, *new;
	u32 i, count = old ? old->count : 0, hole = count;

	for (i = 0; i < count; i++) {
		if (old->handler[i] == h)
			return 0;
		if (!old->handler[i])
			hole = i;
	}
	if (hole < count) {
		/* the handler before the place: pairs with the dependent load of who asks */
		smp_store_release(&old->handler[hole], h);
		return 0;
	}
	new = kzalloc(struct_size(new, handler, count + 1), TB_GFP);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		new->handler[i] = old->handler[i];
	new->handler[count] = h;
	new->count = count + 1;
	/* likewise */
	smp_store_release(&e->handlers, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/* Under tb_handler_lock. */
static void tb_handlers_remove(struct tb_event *e, struct tracebuf_handler *h)
{
	struct tb_handlers *list = e->handlers;
	bool empty = true;
	u32 i;

	for (i = 0; list && i < list->count; i++) {
		if (list->handler[i] == h)
			WRITE_ONCE(list->handler[i], NULL);
		empty = empty && !list->handler[i];
	}
	if (list && empty) {
		WRITE_ONCE(e->handlers, NULL);
		kfree_rcu(list, rcu);
	}
}

/**
 * tb_handlers_new_event() - there is another event
 * @e: it; nothing is attached to it
 *
 * Context: process, under tb_events_lock.
 * Return: 0 or -ENOMEM.
 */
int tb_handlers_new_event(struct tb_event *e)
{
	struct tracebuf_handler *h;
	int err = 0;

	mutex_lock(&tb_handler_lock);
	list_for_each_entry(h, &tb_handlers_all, list)
		if (!err && tb_event_matches(e, h->pattern))
			err = tb_handlers_add(e, h);
	mutex_unlock(&tb_handler_lock);
	return err;
}

/* ---- the way of the events -------------------------------------------- */

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

/* Sends the events of all providers where they have to go now.  Under tb_handler_lock. */
static int tb_handlers_route(void)
{
	int err = 0;

	tb_providers_each(tb_handlers_route_one, &err);
	return err;
}

/* Under tb_handler_lock; undone by tb_handlers_detach() also when it fails. */
static int tb_handlers_attach(struct tracebuf_handler *h)
{
	unsigned int i;
	int err = 0;

	/* before the events are gone through: those that come later look for it here */
	list_add_tail(&h->list, &tb_handlers_all);
	for (i = 0; i < tb_events_count() && !err; i++)
		if (tb_event_matches(tb_event_by_index(i), h->pattern))
			err = tb_handlers_add(tb_event_by_index(i), h);
	return err ?: tb_handlers_route();
}

/* Nobody calls it any more when this returns. */
static void tb_handlers_detach(struct tracebuf_handler *h)
{
	unsigned int i;

	mutex_lock(&tb_handler_lock);
	list_del(&h->list);
	for (i = 0; i < tb_events_count(); i++)
		tb_handlers_remove(tb_event_by_index(i), h);
	/* back to the rings; what has counts keeps them, so this does not fail */
	tb_handlers_route();
	mutex_unlock(&tb_handler_lock);
	tb_events_synchronize();
}

/**
 * tracebuf_handle() - see events before they are recorded
 * @pattern: which: "system", "system:event", "event" or "all", with '*' and '?'; also those that
 *	come later
 * @fn: called for each of them that is about to be recorded; false: it is not to be
 * @data: for @fn
 *
 * @fn is called on the CPU and in the context in which the event happens, NMI included, once for
 * each provider that is about to record it: after the provider's filter has let it pass, before
 * sampling and limits.  The first handler that says false ends it; the event then counts
 * as suppressed (TB_IOC_SUPPRESSED: vetoed).  It is called with preemption off, and often with
 * interrupts off and locks held: those of the scheduler, timers, interrupts.  So it
 * must not sleep, fault, take a lock that a context it may interrupt holds, nor wake anybody;
 * and it is on the way of whatever happens: a few microseconds at most, and no loop without a
 * bound.  What it may do is look at @view and current, count, and record: what happens in it is
 * not shown to handlers.
 *
 * Events in their one-element form are shown in that form (an odd @view->id); their fields
 * are other ones than those of the full form.  Where it is an event that triggers, not
 * one that is recorded, nobody is asked; nor for what tracebuf_simple() and the
 * like record.
 *
 * Context: process, sleeps.
 * Return: to be passed to tracebuf_unhandle(); ERR_PTR() of -EINVAL no pattern, -ENOMEM.
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
		tb_handlers_detach(h);
		kfree(h);
		return ERR_PTR(err);
	}
	return h;
}
EXPORT_SYMBOL_GPL(tracebuf_handle);

/**
 * tracebuf_unhandle() - do not see events any more
 * @h: from tracebuf_handle()
 *
 * The function is not called any more, nor running anywhere, when this returns.
 *
 * Context: process, sleeps.
 */
void tracebuf_unhandle(struct tracebuf_handler *h)
{
	tb_handlers_detach(h);
	kfree(h);
}
EXPORT_SYMBOL_GPL(tracebuf_unhandle);

/**
 * tracebuf_find() - where in an event's payload a field is
 * @system: subsystem of the event
 * @name: the event
 * @field: the field
 * @place: filled in; for the full form if the event has two
 *
 * For handlers, which have to know beforehand.
 *
 * Context: process.
 * Return: 0, -ENOENT no such event or field.
 */
int tracebuf_find(const char *system, const char *name, const char *field,
		  struct tracebuf_place *place)
{
	int token = tb_events_read_lock(), err = -ENOENT;
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
	tb_events_read_unlock(token);
	return err;
}
EXPORT_SYMBOL_GPL(tracebuf_find);

/**
 * tb_handlers_free() - an event goes
 * @e: it; nobody has a handler any more
 *
 * Context: module exit.
 */
void tb_handlers_free(struct tb_event *e)
{
	kfree(e->handlers);
}
