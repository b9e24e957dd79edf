// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tell the trigger and waiting readers (provider/wake.c) that a buffer is complete or past the
 * watermark, or that the ring's state is damaged.
 *
 * ring/ calls these functions in any context, NMI and under the scheduler's locks included.  They
 * take no lock.
 */
#include "provider/provider.h"
#include "ring/hooks.h"

/*
 * A buffer is past the watermark, or complete.  Runs on an online CPU, because another CPU would
 * not run the irq_work: the kernel calls probes only on online CPUs.  See also tb_irq_work_init().
 */
void tb_ring_notify(struct tb_cpu_ring *r)
{
	struct tb_provider *p = r->owner;

	tb_trigger_notify(&p->trigger, r->cpu);
	smp_mb(); /* the block before the flag: pairs with smp_mb() in tb_wake_arm() */
	if (READ_ONCE(p->want_wake))
		irq_work_queue(&p->wake);
}

/* Stop the recording, because a ring's state is inconsistent.  Runs on an online CPU. */
void tb_ring_damaged(struct tb_cpu_ring *r)
{
	struct tb_provider *p = r->owner;

	if (!cmpxchg(&p->reason, TB_REASON_NONE, TB_REASON_DAMAGED))
		irq_work_queue(&p->wake);
}
