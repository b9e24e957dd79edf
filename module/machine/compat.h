/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernel versions.  Kbuild searches the kernel's headers for a word of each
 * interface, and defines TB_HAVE_* if it finds the word.
 */
#ifndef TB_MACHINE_COMPAT_H
#define TB_MACHINE_COMPAT_H

#include <linux/irq_work.h>
#include <linux/irqnr.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

/* irq_get_nr_irqs() took the place of the variable in 6.13 */
static inline unsigned int tb_nr_irqs(void)
{
#ifdef TB_HAVE_IRQ_GET_NR_IRQS
	return irq_get_nr_irqs();
#else
	return nr_irqs;
#endif
}

/* vm_flags may only be changed through functions since 6.3 */
static inline void tb_vma_flags(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
#ifdef TB_HAVE_VM_FLAGS_SET
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
#endif
}

/* task_newtask has 64-bit flags since 6.18 */
#ifdef TB_HAVE_CLONE_FLAGS_U64
#define TB_CLONE_FLAGS	u64
#else
#define TB_CLONE_FLAGS	unsigned long
#endif

/* since 6.15 sched_process_exit tells whether the thread was the last of its process */
#ifdef TB_HAVE_EXIT_GROUP_DEAD
#define TB_PROCESS_EXIT_ARGS	struct task_struct *p, bool group_dead
#else
#define TB_PROCESS_EXIT_ARGS	struct task_struct *p
#endif

/*
 * The queue with workers on any CPU has another name before 6.18.  Recordings use it, because its
 * workers do not run on isolated CPUs.
 */
#ifdef TB_HAVE_DFL_WQ
#define TB_UNBOUND_WQ	system_dfl_wq
#else
#define TB_UNBOUND_WQ	system_unbound_wq
#endif

/*
 * On PREEMPT_RT a thread of each CPU runs irq_works.  The kernel parks the thread before its CPU is
 * offline: a work queued later would stay queued, and no CPU could queue it again.  So hard
 * interrupts run our works there.  They must not take a spinlock_t then, because that may sleep.
 */
static inline void tb_irq_work_init(struct irq_work *work, void (*func)(struct irq_work *))
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		*work = IRQ_WORK_INIT_HARD(func);
	else
		init_irq_work(work, func);
}

/*
 * Newer kernels (7.3, but not 6.12) call probes with preemption on, under an SRCU of tracepoints,
 * and tracepoint_synchronize_unregister() waits for that SRCU only.  tb_tracepoint_enter() turns
 * preemption off, as older kernels do, so that RCU protects probes.  Modules that record events
 * without a tracepoint turn preemption off; so tb_tracepoint_synchronize() waits for RCU, too.
 */
static __always_inline void tb_tracepoint_enter(void)
{
#ifdef TB_HAVE_TRACEPOINT_PREEMPTIBLE
	preempt_disable_notrace();
#endif
}

static __always_inline void tb_tracepoint_leave(void)
{
#ifdef TB_HAVE_TRACEPOINT_PREEMPTIBLE
	preempt_enable_notrace();
#endif
}

/* Wait until no CPU runs a detached probe, nor uses what it reads.  Process context, sleeps. */
static inline void tb_tracepoint_synchronize(void)
{
	tracepoint_synchronize_unregister();
#ifdef TB_HAVE_TRACEPOINT_PREEMPTIBLE
	synchronize_rcu();
#endif
}

/* reserve_mem= came in 6.12 */
static inline bool tb_reserve_mem_find(const char *name, phys_addr_t *start, phys_addr_t *bytes)
{
#ifdef TB_HAVE_RESERVE_MEM
	return reserve_mem_find_by_name(name, start, bytes);
#else
	return false;
#endif
}

#endif /* TB_MACHINE_COMPAT_H */
