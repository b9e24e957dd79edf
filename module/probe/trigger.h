/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trigger of a provider: when one of its events occurs, the rings soon stop overwriting.
 */
#ifndef TB_PROBE_TRIGGER_H
#define TB_PROBE_TRIGGER_H

#include <linux/irq_work.h>
#include <linux/workqueue.h>

#include "probe/event.h"

struct tb_provider;
struct tb_session;

/* a value of tb_trigger.state: the trigger has fired, but its members are not filled in yet */
#define TB_TRIGGER_FIRING	0x80

/**
 * struct tb_trigger_source - an event of a trigger; select/arm.c makes it
 * @probe: attached to the tracepoint; its rule has only tests
 * @text: payload of the mark that is recorded, not NUL-terminated
 * @bytes: size of @text
 */
struct tb_trigger_source {
	struct tb_probe probe;
	char text[2 * TB_NAME_MAX + 16];
	u32 bytes;
};

/**
 * struct tb_trigger - the trigger of a provider
 * @state: enum tb_trigger_state, or TB_TRIGGER_FIRING
 * @session: session that has armed it, or NULL; under tb_provider.lock
 * @sources: its events; under tb_provider.lock; their probes use them without it
 * @nr_sources: number of @sources
 * @post: blocks that each ring may still overwrite after the trigger has fired
 * @post_ms: freeze the rings after this time at the latest, ms; 0: no limit
 * @work: sets the limit of each ring, and freezes the rings when one has filled its share
 * @late: freezes the rings when @post_ms are over
 *
 * The context that fires the trigger writes the other members while @state is FIRING.
 * @event: the event
 * @id: id of the event
 * @cpu: CPU where it occurred
 * @tid: thread in which it occurred
 * @time: time, trace clock
 * @realtime: time, CLOCK_REALTIME, ns
 * @sequence: number of the block that was current in the ring of @cpu
 * @comm: name of the thread
 */
struct tb_trigger {
	u32 state;
	struct tb_session *session;
	struct tb_trigger_source *sources;
	u32 nr_sources;
	u32 post;
	u32 post_ms;
	struct irq_work work;
	struct delayed_work late;

	const struct tb_event *event;
	u32 id;
	u32 cpu;
	u32 tid;
	u64 time;
	u64 realtime;
	u64 sequence;
	char comm[TB_COMM_LEN];
};

void tb_trigger_init(struct tb_provider *p);
void tb_trigger_fire(struct tb_trigger_source *s);

/*
 * The ring of @cpu has advanced, or @cpu went offline: check the share again.  Any context, NMI
 * included, on a CPU that is online.
 */
static inline void tb_trigger_notify(struct tb_trigger *t, u32 cpu)
{
	/* pairs with the exchange in tb_trigger_fire() */
	if (unlikely(smp_load_acquire(&t->state) == TB_TRIGGER_FIRED) && t->cpu == cpu)
		irq_work_queue(&t->work);
}

#endif /* TB_PROBE_TRIGGER_H */
