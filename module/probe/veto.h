/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of other modules that may veto an event, as probes see them.
 */
#ifndef TB_PROBE_VETO_H
#define TB_PROBE_VETO_H

#include <linux/rcupdate.h>

#include "probe/event.h"

/**
 * struct tracebuf_handler - a function, and the events that it is called for
 * @list: in the list of all handlers
 * @fn: the function
 * @data: second argument of @fn
 * @pattern: pattern of events, see tb_event_matches()
 */
struct tracebuf_handler {
	struct list_head list;
	bool (*fn)(const struct tracebuf_view *view, void *data);
	void *data;
	char pattern[];
};

static inline bool tb_event_has_handlers(const struct tb_event *e)
{
	return rcu_access_pointer(e->handlers);
}

bool tb_veto_passes(const struct tb_probe *p, const void *payload, u32 bytes);

#endif /* TB_PROBE_VETO_H */
