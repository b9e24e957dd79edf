/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trigger of a provider: an event that ends the overwriting.
 */
#ifndef TB_TRIGGER_H
#define TB_TRIGGER_H

#include <linux/irq_work.h>
#include <linux/tracebuf.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct tb_event;
struct tb_provider;
struct tb_session;
struct tb_trigger_source;

/* tb_trigger.state, beside enum tb_trigger_state: it fires, its fields are not there yet */
#define TB_TRIGGER_FIRING	0x80

/**
 * struct tb_trigger - the trigger of a provider
 * @state: enum tb_trigger_state, or TB_TRIGGER_FIRING
 * @session: who has armed it, or NULL; under the provider's lock
 * @sources: its events; under that lock, and of the probes that are attached
 * @nr_sources: how many
 * @post: blocks of each ring that may be overwritten after it has fired
 * @post_ms: how long that may take at most; 0: as long as it takes
 * @work: looks how far the rings are
 * @late: the time is up
 *
 * The rest is written while it is FIRING, by the one who fires it.
 * @event: which
 * @id: its id
 * @cpu: where
 * @tid: which thread
 * @time: when, trace clock
 * @realtime: the same, ns
 * @sequence: number of the block it is in, in the ring of @cpu
 * @comm: the name of the thread
 */
struct tb_trigger {
	u32 state;
	struct tb_session *session;
	struct tb_trigger_source **sources;
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
void tb_trigger_sync(struct tb_provider *p);
void tb_trigger_fire(struct tb_trigger_source *s);

/**
 * tb_trigger_notify() - the ring of a CPU has got further, or the CPU is gone
 * @t: the trigger
 * @cpu: the CPU
 *
 * Context: any, NMI included, on a CPU that is online.
 */
static inline void tb_trigger_notify(struct tb_trigger *t, u32 cpu)
{
	/* pairs with the exchange in tb_trigger_fire() */
	if (unlikely(smp_load_acquire(&t->state) == TB_TRIGGER_FIRED) && t->cpu == cpu)
		irq_work_queue(&t->work);
}

#endif /* TB_TRIGGER_H */
