// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call functions of other modules that may veto an event before it is recorded.
 *
 * pending.c calls this for events that have handlers (select/handler.c attaches them), in any
 * context, NMI included, with preemption off.  Takes no lock.
 */
#include <linux/bits.h>

#include "machine/pointer_list.h"
#include "veto.h"

/* a bit for each context of this CPU that runs a handler now */
static DEFINE_PER_CPU(u32, tb_handlers_inside);

static u32 tb_handlers_context(void)
{
	return in_nmi() ? BIT(0) : in_hardirq() ? BIT(1) : in_serving_softirq() ? BIT(2) : BIT(3);
}

/**
 * tb_veto_passes() - call the handlers of an event
 * @p: probe of the event
 * @payload: payload of the event
 * @bytes: size of @payload
 *
 * Calls no handler for an event that occurs in a handler: such calls might never end.
 *
 * Context: any, NMI included; preemption off.
 * Return: false if a handler has vetoed it.
 */
bool tb_veto_passes(const struct tb_probe *p, const void *payload, u32 bytes)
{
	const struct tracebuf_list *list = tb_list_read(&p->event->handlers);
	struct tracebuf_view view = {
		.provider = p->provider,
		.system = p->event->system,
		.name = p->event->name,
		.payload = payload,
		.bytes = bytes,
		.id = tb_event_id(p->event),
	};
	u32 context = tb_handlers_context(), i;
	bool want = true;

	/* a veto needs counts: pairs with the release in tb_rule_count() */
	if (!list || !READ_ONCE(p->counts) || this_cpu_read(tb_handlers_inside) & context)
		return true;
	this_cpu_or(tb_handlers_inside, context);
	for (i = 0; i < list->count && want; i++) {
		struct tracebuf_handler *h = READ_ONCE(list->at[i]);

		want = !h || h->fn(&view, h->data);
	}
	this_cpu_and(tb_handlers_inside, ~context);
	return want;
}
