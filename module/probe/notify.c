// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the ring reports while it records: a buffer is complete or past its mark, or the ring's
 * state is damaged.  The reports go to the trigger and to waiting readers (provider/wake.c).
 *
 * The ring calls these in any context, NMI and the scheduler's locks included.
 */
#include "provider/provider.h"
#include "ring/hooks.h"

/**
 * tb_ring_notify() - a buffer got to its mark or complete
 * @r: the ring of this CPU
 *
 * Context: any, on a CPU that is online: on one that goes offline the irq_work would not run.
 * Tracepoints ensure that.  See also tb_irq_work_init().
 */
void tb_ring_notify(struct tb_cpu_ring *r)
{
	struct tb_provider *p = r->owner;

	tb_trigger_notify(&p->trigger, r->cpu);
	smp_mb(); /* the block before the flag: pairs with tb_wake_arm() */
	if (READ_ONCE(p->want_wake))
		irq_work_queue(&p->wake);
}

/**
 * tb_ring_damaged() - stop the recording, because a ring's state is inconsistent
 * @r: the ring of this CPU
 *
 * Context: as tb_ring_notify().
 */
void tb_ring_damaged(struct tb_cpu_ring *r)
{
	struct tb_provider *p = r->owner;

	if (!cmpxchg(&p->reason, TB_REASON_NONE, TB_REASON_DAMAGED))
		irq_work_queue(&p->wake);
}
