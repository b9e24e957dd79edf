// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks of the kernel and of user space, for probe/pending.c, in any context without a lock.
 * tb_stack_iterator_find() runs in process context, for select/rule.c.
 *
 * A user stack follows frame pointers, from the registers saved at entry to the kernel.  For a
 * program built without frame pointers it has one or two addresses, or wrong ones; the kernel
 * cannot detect that.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/tracepoint-defs.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>

#include "stack.h"

/* ---- kernel ----------------------------------------------------------- */

/* Find the function that calls all probes of a tracepoint. */
void tb_stack_iterator_find(struct tb_stack_iterator *it, const struct tracepoint *tp)
{
	char name[KSYM_SYMBOL_LEN], *plus;
	unsigned long offset, bytes;

	it->start = (unsigned long)tp->iterator;
	it->bytes = 0;
	/* modules can get the size of a function only in this way: "name+offset/size" */
	snprintf(name, sizeof(name), "%pS", tp->iterator);
	plus = strchr(name, '+');
	if (plus && sscanf(plus, "+%lx/%lx", &offset, &bytes) == 2 && !offset)
		it->bytes = bytes;
}

/**
 * tb_stack_kernel() - get the kernel's stack
 * @ip: out: return addresses, innermost first
 * @max: size of @ip, with room for four to six addresses of the recorder
 * @owner: module of the probe
 * @it: iterator of the tracepoint
 *
 * The unwinder begins with the recorder, so this removes leading addresses in this module and in
 * @owner.  Then comes the iterator, if the tracepoint has several probes or the architecture has no
 * static calls; this removes it, too.
 *
 * Context: any, NMI included.
 * Return: number of addresses.
 */
notrace noinline u32 tb_stack_kernel(u64 *ip, u32 max, const struct module *owner,
				     const struct tb_stack_iterator *it)
{
	u32 n = 0, first = 0;

#ifdef CONFIG_STACKTRACE
	BUILD_BUG_ON(sizeof(*ip) != sizeof(unsigned long));
	n = stack_trace_save((unsigned long *)ip, max, 1);
#endif
	while (first < n && (within_module_core(ip[first], THIS_MODULE) ||
			     within_module_core(ip[first], owner)))
		first++;
	if (first < n && ip[first] - it->start < it->bytes)
		first++;
	memmove(ip, ip + first, (n - first) * sizeof(*ip));
	return n - first;
}

/* ---- user ------------------------------------------------------------- */

/* a stack frame: frame pointer of the caller, return address */
struct tb_stack_frame {
	u64 next;
	u64 ip;
};

#if defined(CONFIG_X86_64)

/* Finds the first frame.  Return false if the thread has 32-bit frames. */
static __always_inline bool tb_stack_frame_first(struct pt_regs *regs, u64 *fp)
{
	*fp = regs->bp;
	return !test_thread_flag(TIF_ADDR32);
}

/* copy_from_user_nmi() checks that current's memory is mapped now */
static __always_inline bool tb_stack_read(struct tb_stack_frame *frame, u64 fp)
{
	return !copy_from_user_nmi(frame, (void __user *)fp, sizeof(*frame));
}

#elif defined(CONFIG_ARM64)

static __always_inline bool tb_stack_frame_first(struct pt_regs *regs, u64 *fp)
{
	*fp = regs->regs[29];
	return !compat_user_mode(regs);
}

static __always_inline bool tb_stack_read(struct tb_stack_frame *frame, u64 fp)
{
	return !copy_from_user_nofault(frame, (void __user *)fp, sizeof(*frame));
}

#else

static __always_inline bool tb_stack_frame_first(struct pt_regs *regs, u64 *fp)
{
	return false;
}

static __always_inline bool tb_stack_read(struct tb_stack_frame *frame, u64 fp)
{
	return false;
}

#endif

static __always_inline u64 tb_stack_strip(u64 ip)
{
#ifdef CONFIG_ARM64
	/* return addresses may be signed in the bits above the address */
	ip &= TASK_SIZE_64 - 1;
#endif
	return ip;
}

/* set while this CPU reads a user stack */
static DEFINE_PER_CPU(u32, tb_stack_reading);

static notrace u32 tb_stack_walk(u64 *ip, u32 max, struct pt_regs *regs)
{
	u64 last = user_stack_pointer(regs), fp;
	struct tb_stack_frame frame;
	u32 n = 0;

	ip[n++] = instruction_pointer(regs);
	if (!tb_stack_frame_first(regs, &fp))
		return n;
	/* only upwards, so that a loop of frames ends the walk */
	while (n < max && fp >= last && fp % sizeof(fp) == 0 && tb_stack_read(&frame, fp) &&
	       frame.ip) {
		ip[n++] = tb_stack_strip(frame.ip);
		last = fp + sizeof(frame);
		fp = frame.next;
	}
	return n;
}

/**
 * tb_stack_user() - get the user stack of the current thread
 * @ip: out: address where the thread entered the kernel, then return addresses
 * @max: size of @ip
 *
 * Pages nothing in: the stack ends at memory that is not present.  Returns 0
 *
 * - for kernel threads, also those that use or work for a process, and for an exiting thread that
 *   has released its memory
 * - in NMIs: an NMI may interrupt the saving of registers
 * - while this CPU reads another user stack: memory that is not present causes a fault, faults have
 *   tracepoints, and reading their stacks would cause faults without end
 *
 * It may run in interrupts and under locks: with page faults disabled, a fault ends at once.
 *
 * Context: any, preemption off.
 * Return: number of addresses; 0: no stack.
 */
notrace u32 tb_stack_user(u64 *ip, u32 max)
{
	struct pt_regs *regs = task_pt_regs(current);
	u32 n;

	if (!max || in_nmi() || current->flags & PF_KTHREAD || !current->mm || !user_mode(regs) ||
	    !instruction_pointer(regs) || this_cpu_read(tb_stack_reading))
		return 0;
	this_cpu_write(tb_stack_reading, 1);
	/* set during the walk; only this CPU looks, so a compiler barrier suffices */
	barrier();
	n = tb_stack_walk(ip, max, regs);
	barrier();
	this_cpu_write(tb_stack_reading, 0);
	return n;
}
