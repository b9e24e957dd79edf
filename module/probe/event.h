/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event, and an event as one provider records it.
 */
#ifndef TB_PROBE_EVENT_H
#define TB_PROBE_EVENT_H

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/tracebuf.h>

#include "filter.h"

struct module;
struct tb_event_def;
struct tb_compact_def;
struct tb_provider;
struct tb_cpu_ring;
struct tb_rule_active;
struct tb_rule_counts;
struct tb_trigger_source;
struct tracebuf_list;
struct tracebuf_source;
struct tracepoint;

/* fields of an event that may name a thread, besides the thread that it occurs in */
#define TB_ABOUT_MAX	2

/**
 * struct tb_event - an event in the registry
 * @by_name: in the hash of names
 * @def: its definition; NULL while its module is not loaded; tb_events_srcu
 * @compact: its compact form, or NULL
 * @tp: its tracepoint; NULL while that is absent
 * @source: its source, if another module records it itself; NULL while that is absent
 * @handlers: handlers that may veto it, or NULL; readers have preemption off
 * @index: number n of the event: its ids are TB_EV_FIRST + 2n (wide), TB_EV_FIRST + 2n + 1
 *	(compact)
 * @simple: it is always simple, as in @def
 * @about: its fields with ids of threads; size 0 ends the list
 * @system: subsystem
 * @name: name
 * @desc: for each form, the description; NULL until events/catalog.c has made it
 * @desc_bytes: size of each @desc
 */
struct tb_event {
	struct hlist_node by_name;
	const struct tb_event_def *def;
	const struct tb_compact_def *compact;
	struct tracepoint *tp;
	struct tracebuf_source *source;
	struct tracebuf_list __rcu *handlers;
	u16 index;
	bool simple;
	struct tb_test about[TB_ABOUT_MAX];
	char system[TB_NAME_MAX];
	char name[TB_NAME_MAX];
	void *desc[2];
	u32 desc_bytes[2];
};

/* Return the id that the ABI uses for all forms: that of the wide form if the event has one. */
static inline u16 tb_event_id(const struct tb_event *e)
{
	return TB_EV_FIRST + 2 * e->index + e->simple;
}

/**
 * struct tracebuf_handler - a function of another module that may veto events
 * @list: in the list of all handlers
 * @fn: the function
 * @data: second argument of @fn
 * @pattern: pattern of the events that it is called for, see tb_event_matches()
 */
struct tracebuf_handler {
	struct list_head list;
	bool (*fn)(const struct tracebuf_view *view, void *data);
	void *data;
	char pattern[];
};

/* Return true if the event can be recorded now: it has a tracepoint or a source. */
static inline bool tb_event_exists(const struct tb_event *e)
{
	return READ_ONCE(e->tp) || READ_ONCE(e->source);
}

static inline bool tb_event_has_handlers(const struct tb_event *e)
{
	return rcu_access_pointer(e->handlers);
}

/**
 * struct tb_probe - an event as one provider records it
 * @rings: where its events go: the provider's rings, or its pending_rings, which have no buffers
 *	and so lead to probe/pending.c
 * @id_wide: event id of the wide form
 * @id_simple: event id of simple events
 * @enabled: selected
 * @compact: selected in the compact form, or an event that is always simple
 * @described: forms that the durable buffer describes: TB_WIDE, TB_COMPACT
 * @before: during a change of the selection, the state before (select/select.c)
 * @provider: the provider that records it
 * @event: the event
 * @attached: the registered probe or source; NULL if not attached
 * @wide: the probe function of the wide form, for events that the compact form cannot hold
 * @tp: the tracepoint that @attached is registered with
 * @owner: the module that has @attached
 * @rule: its rule, or NULL.  Not __rcu: published by a release, read by an acquire with preemption
 *	off, freed by call_rcu()
 * @counts: counts of events kept out; NULL if the probe never had a rule or a handler.  Published
 *	by a release, and stays until the probe is freed
 * @trigger: the trigger's event if this probe triggers (probe/trigger.c); NULL if it records
 * @from: recorded from this moment of the provider on (tb_provider.moment, select/select.c)
 * @until: not recorded from this moment on; ~0: no end; 0: not attached
 *
 * A registered probe function gets it as argument, so it must live until
 * tb_tracepoint_synchronize() has returned after the detach.
 */
struct tb_probe {
	struct tb_cpu_ring __percpu *rings;
	u16 id_wide;
	u16 id_simple;
	u8 enabled;
	u8 compact;
	u8 described;
	u8 before;
	struct tb_provider *provider;
	struct tb_event *event;
	void *attached;
	void *wide;
	struct tracepoint *tp;
	struct module *owner;
	struct tb_rule_active *rule;
	struct tb_rule_counts __percpu *counts;
	struct tb_trigger_source *trigger;
	u64 from;
	u64 until;
};

#endif /* TB_PROBE_EVENT_H */
