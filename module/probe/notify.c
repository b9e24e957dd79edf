// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of the ring while it records: a buffer is complete or past its mark, or the ring's state
 * is damaged.  The reports go to the trigger and to waiting readers (provider/wake.c).
 *
 * The ring calls these functions in any context, NMI and under the scheduler's locks included.
 * They take no lock.
 */
#include "provider/provider.h"
#include "ring/hooks.h"

/**
 * tb_ring_notify() - report that a buffer is past its mark, or complete
 * @r: the ring of this CPU
 *
 * Context: any, on an online CPU: on a CPU that goes offline the irq_work would not run.
 * Tracepoints ensure that.  See also tb_irq_work_init().
 */
void tb_ring_notify(struct tb_cpu_ring *r)
{
	struct tb_provider *p = r->owner;

	tb_trigger_notify(&p->trigger, r->cpu);
	smp_mb(); /* the block before the flag: pairs with smp_mb() in tb_wake_arm() */
	if (READ_ONCE(p->want_wake))
		irq_work_queue(&p->wake);
}

/**
 * tb_ring_damaged() - stop the recording, because a ring's state is inconsistent
 * @r: the ring of this CPU
 *
 * Context: any, on an online CPU.
 */
void tb_ring_damaged(struct tb_cpu_ring *r)
{
	struct tb_provider *p = r->owner;

	if (!cmpxchg(&p->reason, TB_REASON_NONE, TB_REASON_DAMAGED))
		irq_work_queue(&p->wake);
}
