// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wait for blocks of a provider, and wake the waiters.
 *
 * A waiter sets want_wake, then looks for blocks.  A writer makes a block READY, then reads
 * want_wake, and queues the irq_work if it is set (tb_ring_notify() in probe/notify.c).  Each side
 * has a full barrier between its two steps, so at least one side sees the other.
 *
 * Takes no lock but that of the wait queue.  Callers: probe/ in any context except NMI; select/,
 * recording/ and reader/ in process context.
 */
#include <linux/sched/signal.h>

#include "machine/compat.h"
#include "provider.h"

static void tb_wake_work(struct irq_work *work)
{
	struct tb_provider *p = container_of(work, struct tb_provider, wake);

	if (READ_ONCE(p->reason) == TB_REASON_DAMAGED)
		queue_work(TB_UNBOUND_WQ, &p->stop_work);
	WRITE_ONCE(p->want_wake, 0);
	tb_wake_waiters_irq(p);
}

static void tb_wake_later(struct work_struct *work)
{
	wake_up_all(&container_of(work, struct tb_provider, wake_later)->wait);
}

void tb_wake_init(struct tb_provider *p)
{
	init_waitqueue_head(&p->wait);
	tb_irq_work_init(&p->wake, tb_wake_work);
	INIT_WORK(&p->wake_later, tb_wake_later);
}

/* Wake all waiters from an interrupt: any context but NMI and inside the scheduler. */
void tb_wake_waiters_irq(struct tb_provider *p)
{
	/* on PREEMPT_RT waking takes a sleeping lock, and this CPU may run a real-time thread */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		queue_work(TB_UNBOUND_WQ, &p->wake_later);
	else
		wake_up_all(&p->wait);
}

/* Ask to be woken by the next block.  The caller then looks for blocks.  Any context. */
void tb_wake_arm(struct tb_provider *p)
{
	WRITE_ONCE(p->want_wake, 1);
	smp_mb(); /* the flag before the blocks: pairs with smp_mb() in tb_ring_notify() */
}

/* Wait until @ready(@arg) is true.  Return 0; -ERESTARTSYS a signal. */
int tb_wake_wait(struct tb_provider *p, bool (*ready)(void *arg), void *arg)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	add_wait_queue(&p->wait, &wait);
	for (;;) {
		tb_wake_arm(p);
		/* before @ready(), which may stay true for a block that cannot be taken yet */
		if (signal_pending(current)) {
			err = -ERESTARTSYS;
			break;
		}
		if (ready(arg))
			break;
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	}
	remove_wait_queue(&p->wait, &wait);
	return err;
}
