// SPDX-License-Identifier: GPL-2.0-only
/*
 * One-element forms of the events that make up most of a trace.
 *
 * Each keeps in 8 bytes what a timeline needs.  It leaves out what readers find elsewhere: names in
 * the thread records and the full forms' strings, the running thread in the switches.  Fields have
 * the same names and values as in the full form.
 *
 * The probes run in the context of the event, NMI included, without locks.
 */
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>

#include "probe/probe.h"
#include "catalog.h"

/* thread ids are below PID_MAX_LIMIT */
#define TB_PID_BITS	22
static_assert(PID_MAX_LIMIT <= 1 << TB_PID_BITS);
/* -1 (deadline) to 139 */
#define TB_PRIO_BITS	9

#define TB_PACK(value, bits, shift) \
	(((u64)(value) & GENMASK_ULL((bits) - 1, 0)) << (shift))

#define TB_BITS(_name, _type, _bit, _bits, _flags)			\
	{ .name = (_name), .type = (_type), .size = sizeof(u64),	\
	  .flags = TB_FIELD_BITS | (_flags), .bit = (_bit), .bits = (_bits) }
#define TB_WORD(_name, _type, _offset, _flags)				\
	{ .name = (_name), .type = (_type), .offset = (_offset),	\
	  .size = sizeof(u32), .flags = (_flags) }

static __always_inline void tb_fast(struct tb_probe *p, u64 payload)
{
	tb_tracepoint_enter();
	tb_probe_simple(p, payload);
	tb_tracepoint_leave();
}

/*
 * sched_switch: all fields but the names and prev_prio.  prev_state has the value of the full form:
 * the reported state as one bit, or TASK_REPORT_MAX if the thread was preempted; it takes 9 bits.
 */
#define TB_STATE_BITS	9
static_assert(TASK_REPORT_MAX < 1 << TB_STATE_BITS);

static notrace void tb_fast_sched_switch(void *data, bool preempt,
					 struct task_struct *prev,
					 struct task_struct *next,
					 unsigned int prev_state)
{
	unsigned int state = TASK_REPORT_MAX;

	if (!preempt) {
		state = __task_state_index(prev_state, prev->exit_state);
		if (state)
			state = 1u << (state - 1);
	}
	tb_fast(data, TB_PACK(prev->pid, TB_PID_BITS, 0) |
		      TB_PACK(next->pid, TB_PID_BITS, 22) |
		      TB_PACK(state, TB_STATE_BITS, 44) |
		      TB_PACK(next->prio, TB_PRIO_BITS, 53));
}

static const struct tb_field_def tb_fast_sched_switch_fields[] = {
	TB_BITS("prev_pid", "pid_t", 0, TB_PID_BITS, 0),
	TB_BITS("next_pid", "pid_t", 22, TB_PID_BITS, 0),
	TB_BITS("prev_state", "long", 44, TB_STATE_BITS, 0),
	TB_BITS("next_prio", "int", 53, TB_PRIO_BITS, TB_FIELD_SIGNED),
	{}
};

/* sched_waking, sched_wakeup, sched_wakeup_new: all fields but the name.  The CPU has 16 bits. */
static notrace void tb_fast_sched_wakeup(void *data, struct task_struct *p)
{
	tb_fast(data, TB_PACK(p->pid, TB_PID_BITS, 0) |
		      TB_PACK(p->prio, TB_PRIO_BITS, 22) |
		      TB_PACK(task_cpu(p), 16, 32));
}

static const struct tb_field_def tb_fast_sched_wakeup_fields[] = {
	TB_BITS("pid", "pid_t", 0, TB_PID_BITS, 0),
	TB_BITS("prio", "int", 22, TB_PRIO_BITS, TB_FIELD_SIGNED),
	TB_BITS("target_cpu", "int", 32, 16, 0),
	{}
};

/* irq_handler_entry: the number, without the name of the handler */
static notrace void tb_fast_irq_handler_entry(void *data, int irq,
					      struct irqaction *action)
{
	tb_fast(data, (u32)irq);
}

static const struct tb_field_def tb_fast_irq_handler_entry_fields[] = {
	TB_WORD("irq", "int", 0, TB_FIELD_SIGNED),
	{}
};

/* irq_handler_exit: all fields */
static notrace void tb_fast_irq_handler_exit(void *data, int irq,
					     struct irqaction *action, int ret)
{
	tb_fast(data, (u32)irq | (u64)ret << 32);
}

static const struct tb_field_def tb_fast_irq_handler_exit_fields[] = {
	TB_WORD("irq", "int", 0, TB_FIELD_SIGNED),
	TB_WORD("ret", "int", 4, TB_FIELD_SIGNED),
	{}
};

/* softirq_raise, softirq_entry, softirq_exit: all fields */
static notrace void tb_fast_softirq(void *data, unsigned int vec_nr)
{
	tb_fast(data, vec_nr);
}

static const struct tb_field_def tb_fast_softirq_fields[] = {
	TB_WORD("vec", "unsigned int", 0, 0),
	{}
};

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
/*
 * sys_enter: 32 bits of the number, and the thread, without arguments.  The thread lets readers
 * follow system calls in a trace without switches.
 */
static notrace void tb_fast_sys_enter(void *data, struct pt_regs *regs, long id)
{
	tb_fast(data, (u32)id | (u64)current->pid << 32);
}

static const struct tb_field_def tb_fast_sys_enter_fields[] = {
	TB_WORD("id", "long", 0, TB_FIELD_SIGNED),
	TB_WORD("tid", "pid_t", 4, 0),
	{}
};

/*
 * sys_exit: the low 16 bits of the number (without the bit that marks x32 calls) and the low 48
 * bits of the result, both signed: enough for errors, counts and user addresses of 47 bits.
 */
static notrace void tb_fast_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	tb_fast(data, TB_PACK(syscall_get_nr(current, regs), 16, 0) |
		      TB_PACK(ret, 48, 16));
}

static const struct tb_field_def tb_fast_sys_exit_fields[] = {
	TB_BITS("id", "long", 0, 16, TB_FIELD_SIGNED),
	TB_BITS("ret", "long", 16, 48, TB_FIELD_SIGNED),
	{}
};
#endif

#define TB_FAST(_name, _form)						\
	{ .name = #_name, .probe = tb_fast_##_form,			\
	  .fields = tb_fast_##_form##_fields }

static const struct tb_fast_def tb_fast_defs[] = {
	TB_FAST(sched_switch, sched_switch),
	TB_FAST(sched_waking, sched_wakeup),
	TB_FAST(sched_wakeup, sched_wakeup),
	TB_FAST(sched_wakeup_new, sched_wakeup),
	TB_FAST(irq_handler_entry, irq_handler_entry),
	TB_FAST(irq_handler_exit, irq_handler_exit),
	TB_FAST(softirq_raise, softirq),
	TB_FAST(softirq_entry, softirq),
	TB_FAST(softirq_exit, softirq),
#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	TB_FAST(sys_enter, sys_enter),
	TB_FAST(sys_exit, sys_exit),
#endif
};

/* Never called: lets the compiler compare the prototypes. */
static void __maybe_unused tb_fast_check(void)
{
	check_trace_callback_type_sched_switch(tb_fast_sched_switch);
	check_trace_callback_type_sched_waking(tb_fast_sched_wakeup);
	check_trace_callback_type_sched_wakeup(tb_fast_sched_wakeup);
	check_trace_callback_type_sched_wakeup_new(tb_fast_sched_wakeup);
	check_trace_callback_type_irq_handler_entry(tb_fast_irq_handler_entry);
	check_trace_callback_type_irq_handler_exit(tb_fast_irq_handler_exit);
	check_trace_callback_type_softirq_raise(tb_fast_softirq);
	check_trace_callback_type_softirq_entry(tb_fast_softirq);
	check_trace_callback_type_softirq_exit(tb_fast_softirq);
#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	check_trace_callback_type_sys_enter(tb_fast_sys_enter);
	check_trace_callback_type_sys_exit(tb_fast_sys_exit);
#endif
}

/**
 * tb_fast_find() - find the one-element form of an event
 * @name: name of the event
 *
 * Context: any.
 * Return: the form; NULL if the event has none.
 */
const struct tb_fast_def *tb_fast_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tb_fast_defs); i++)
		if (!strcmp(tb_fast_defs[i].name, name))
			return &tb_fast_defs[i];
	return NULL;
}
