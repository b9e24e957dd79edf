/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event, and an event as one provider records it.
 */
#ifndef TB_EVENT_H
#define TB_EVENT_H

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/tracebuf.h>

#include "field.h"

struct module;
struct tb_event_def;
struct tb_fast_def;
struct tb_handlers;
struct tb_provider;
struct tb_cpu_ring;
struct tb_rule_active;
struct tb_rule_counts;
struct tb_trigger_source;
struct tracebuf_source;
struct tracepoint;

/* threads an event can be about beside that it happens in */
#define TB_ABOUT_MAX	2

/**
 * struct tb_event - an event in the registry
 * @by_name: in its hash
 * @def: what it is; NULL when the module that has it is gone; see tb_events_read_lock()
 * @fast: its one-element form, or NULL
 * @tp: its tracepoint; NULL when that is not there
 * @source: likewise, if it comes from a module that records itself
 * @handlers: who sees it before it is recorded, or NULL; readers have preemption off
 * @index: its number
 * @simple: as in @def
 * @about: of either form, the fields with thread ids it is about; size 0: no more
 * @system: subsystem
 * @name: name
 * @desc: of either form the description, once somebody has asked for it
 * @desc_bytes: its size
 */
struct tb_event {
	struct hlist_node by_name;
	const struct tb_event_def *def;
	const struct tb_fast_def *fast;
	struct tracepoint *tp;
	struct tracebuf_source *source;
	struct tb_handlers *handlers;
	u16 index;
	bool simple;
	struct tb_test about[2][TB_ABOUT_MAX];
	char system[TB_NAME_MAX];
	char name[TB_NAME_MAX];
	void *desc[2];
	u32 desc_bytes[2];
};

/* Has it this form? */
static inline bool tb_event_has(const struct tb_event *e, bool fast)
{
	return fast ? e->fast || e->simple : !e->simple;
}

/* The id it goes by where no form is spoken of: that of the wide one if it has one. */
static inline u16 tb_event_id(const struct tb_event *e)
{
	return TB_EV_FIRST + 2 * e->index + e->simple;
}

/**
 * struct tb_probe - an event as one provider records it
 * @rings: where its events go: the provider's, or where rules are looked at (probe/pending.c)
 * @id_wide: event id of the full form
 * @id_fast: event id of the one-element form
 * @provider: whose
 * @event: which
 * @attached: the probe, or the source, that is registered; NULL if none
 * @tp: what it is attached to
 * @owner: the module @attached is in
 * @rules: of either form, or NULL; readers have preemption off
 * @counts: what rules kept out, per CPU; NULL if there has never been one
 * @trigger: it is no event to record but the trigger's (probe/trigger.c), or NULL
 * @from: recorded from this moment of the provider on (tb_provider.moment, select/select.c)
 * @until: and no more from this one on; ~0: no end to it; 0: it is not attached
 * @enabled: wanted
 * @fast: wanted, or attached, in the one-element form
 * @described: forms that are described in the durable buffer: TB_WIDE, TB_FAST
 * @before: while events are being selected, what it was
 *
 * It is the data pointer of the registered probe, so it must live until
 * tb_events_synchronize() returned after the detach.
 */
struct tb_probe {
	struct tb_cpu_ring __percpu *rings;
	u16 id_wide;
	u16 id_fast;
	u8 enabled;
	u8 fast;
	u8 described;
	u8 before;
	struct tb_provider *provider;
	struct tb_event *event;
	void *attached;
	struct tracepoint *tp;
	struct module *owner;
	struct tb_rule_active *rules[2];
	struct tb_rule_counts __percpu *counts;
	struct tb_trigger_source *trigger;
	u64 from;
	u64 until;
};

#endif /* TB_EVENT_H */
