// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks: who called, in the kernel and in user space.
 *
 * The kernel's is the work of its own unwinder, which is for any context.  What it finds first is
 * the recorder: the probe and what it has called.  So what is in this module or the
 * probe's is left out at the beginning.  Next is the function with the
 * tracepoint, or if the tracepoint has several probes or the processor no static calls the
 * function that goes through them, which is left out, too.
 *
 * The user's is followed by frame pointers, from the registers that were saved when the kernel was
 * entered.  Programs built without them have a stack of one or two addresses, or a wrong one:
 * nothing can be known of that here.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/tracepoint-defs.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>

#include "stack.h"

/* ---- kernel ----------------------------------------------------------- */

/**
 * tb_stack_iterator_find() - where is the function that goes through a tracepoint's probes?
 * @it: filled in
 * @tp: the tracepoint
 *
 * Context: process.
 */
void tb_stack_iterator_find(struct tb_stack_iterator *it, const struct tracepoint *tp)
{
	char name[KSYM_SYMBOL_LEN], *plus;
	unsigned long offset, bytes;

	it->start = (unsigned long)tp->iterator;
	it->bytes = 0;
	/* modules are not told sizes of functions but in this way: "name+offset/size" */
	snprintf(name, sizeof(name), "%pS", tp->iterator);
	plus = strchr(name, '+');
	if (plus && sscanf(plus, "+%lx/%lx", &offset, &bytes) == 2 && !offset)
		it->bytes = bytes;
}

/**
 * tb_stack_kernel() - the kernel's stack
 * @ip: filled in: return addresses, innermost first
 * @max: room there; the recorder's own, four to six, need it for a moment
 * @owner: the module the probe is in
 * @it: of the tracepoint
 *
 * Context: any, NMI included.
 * Return: how many.
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

/* as frame pointers have it: the caller's, and where it goes on */
struct tb_stack_frame {
	u64 next;
	u64 ip;
};

#if defined(CONFIG_X86_64)

/* Do frames of this thread look like that?  If so, where is the first? */
static __always_inline bool tb_stack_frame_first(struct pt_regs *regs, u64 *fp)
{
	*fp = regs->bp;
	return !test_thread_flag(TIF_ADDR32);
}

/* Looks first whether the memory that is mapped now is current's. */
static __always_inline bool tb_stack_read(struct tb_stack_frame *frame, u64 fp)
{
	return !copy_from_user_nmi(frame, (void __user *)fp, sizeof(*frame));
}

static __always_inline u64 tb_stack_strip(u64 ip)
{
	return ip;
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

/* Return addresses are signed: above the bits of addresses. */
static __always_inline u64 tb_stack_strip(u64 ip)
{
	return ip & (TASK_SIZE_64 - 1);
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

static __always_inline u64 tb_stack_strip(u64 ip)
{
	return ip;
}

#endif

/* this CPU is reading a user's stack */
static DEFINE_PER_CPU(u32, tb_stack_reading);

static notrace u32 tb_stack_walk(u64 *ip, u32 max, struct pt_regs *regs)
{
	u64 last = user_stack_pointer(regs), fp;
	struct tb_stack_frame frame;
	u32 n = 0;

	ip[n++] = instruction_pointer(regs);
	if (!tb_stack_frame_first(regs, &fp))
		return n;
	/* upwards, so that it ends even if there is room for more */
	while (n < max && fp >= last && fp % sizeof(fp) == 0 && tb_stack_read(&frame, fp) &&
	       frame.ip) {
		ip[n++] = tb_stack_strip(frame.ip);
		last = fp + sizeof(frame);
		fp = frame.next;
	}
	return n;
}

/**
 * tb_stack_user() - the stack of the thread it happens in, in user space
 * @ip: filled in: where the kernel was entered from, then return addresses
 * @max: room there
 *
 * Nothing is paged in: it ends where memory is not there at the moment.
 *
 * Context: any, preemption off.  But there is none
 *
 * - of kernel threads, those that use a process's memory or are its workers included, and of a
 *   thread that has let go of its memory, on its way out
 * - in NMIs: they may come while registers are being saved
 * - while another one is being read on this CPU: what cannot be read causes a fault, faults have
 *   tracepoints, and if these had stacks that would go on for ever
 *
 * Interrupts are fine, and locks held as well: with page faults disabled they end at once.
 *
 * Return: how many; 0: it cannot be had.
 */
notrace u32 tb_stack_user(u64 *ip, u32 max)
{
	struct pt_regs *regs = task_pt_regs(current);
	u32 n;

	if (!max || in_nmi() || current->flags & PF_KTHREAD || !current->mm || !user_mode(regs) ||
	    !instruction_pointer(regs) || this_cpu_read(tb_stack_reading))
		return 0;
	this_cpu_write(tb_stack_reading, 1);
	/* set for all of the walk: only this CPU looks, so only the compiler has to be told */
	barrier();
	n = tb_stack_walk(ip, max, regs);
	barrier();
	this_cpu_write(tb_stack_reading, 0);
	return n;
}
