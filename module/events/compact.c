// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compact forms of the events that make up most of a trace: simple events, most of one element.
 *
 * A compact form loses nothing.  It leaves out only what readers find in other events: the running
 * thread in sched_switch, names in the thread records.  Fields have the same names and values as in
 * the wide form.  If a value needs more bits than the compact form has, or if the event has a rule,
 * the probe records the wide form instead.
 *
 * Tracepoints call the probes in the context of the event, NMI included, without locks.
 */
#include <linux/interrupt.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>

#include "probe/probe.h"
#include "catalog.h"
#include "compact.h"

/* thread ids are below PID_MAX_LIMIT */
#define TB_PID_BITS	22
static_assert(PID_MAX_LIMIT <= 1 << TB_PID_BITS);

/* Return true if a priority fits into 8 bits; only the -1 of deadline threads does not. */
static __always_inline bool tb_prio_fits(int prio)
{
	return (unsigned int)prio < 256;
}

/*
 * sched_switch: all fields but the names.  In the wide form prev_state has at most one bit set: the
 * reported state, or TASK_REPORT_MAX if the thread was preempted.  The compact form has 1 + the
 * number of that bit, or 0.  It has no room for the context, which is always the same: the
 * scheduler disables preemption twice, and never switches threads in an interrupt.
 */
#define TB_STATE_PREEMPTED	(ilog2(TASK_REPORT_MAX) + 1)
static_assert(TB_STATE_PREEMPTED < 16);
#define TB_SWITCH_CONTEXT	(IS_ENABLED(CONFIG_PREEMPT_COUNT) ? 2 : 0)

static notrace void tb_compact_sched_switch(void *data, bool preempt, struct task_struct *prev,
					    struct task_struct *next, unsigned int prev_state)
{
	unsigned int state = TB_STATE_PREEMPTED;
	bool done = false;

	tb_tracepoint_enter();
	if (!preempt)
		/* wait() may change a zombie to a dead thread meanwhile */
		state = __task_state_index(prev_state, READ_ONCE(prev->exit_state));
	if (likely(tb_prio_fits(prev->prio | next->prio) &&
		   tb_event_context() == TB_SWITCH_CONTEXT))
		done = tb_probe_compact(data, TB_PACK(prev->pid, TB_PID_BITS, 0) |
				     TB_PACK(next->pid, TB_PID_BITS, 22) |
				     TB_PACK(state, 4, 44) |
				     TB_PACK(prev->prio, 8, 48) | TB_PACK(next->prio, 8, 56));
	tb_tracepoint_leave();
	if (unlikely(!done))
		tb_probe_wide(tb_compact_sched_switch, data)(data, preempt, prev, next, prev_state);
}

static const struct tb_field_def tb_compact_sched_switch_fields[] = {
	TB_BITS("prev_pid", "pid_t", 0, TB_PID_BITS, 0),
	TB_BITS("next_pid", "pid_t", 22, TB_PID_BITS, 0),
	TB_BITS("prev_state", "long", 44, 4, TB_FIELD_ONE_BIT),
	TB_BITS("prev_prio", "int", 48, 8, 0),
	TB_BITS("next_prio", "int", 56, 8, 0),
	{}
};

/* sched_waking, sched_wakeup, sched_wakeup_new: all fields but the name */
static notrace void tb_compact_sched_wakeup(void *data, struct task_struct *p)
{
	bool done = false;

	tb_tracepoint_enter();
	if (likely(tb_prio_fits(p->prio)))
		done = tb_probe_compact(data, TB_PACK(p->pid, TB_PID_BITS, 0) |
				     TB_PACK(p->prio, 8, 22) |
				     TB_PACK(task_cpu(p), 16, 32) |
				     TB_PACK(tb_event_context(), 16, 48));
	tb_tracepoint_leave();
	if (unlikely(!done))
		tb_probe_wide(tb_compact_sched_wakeup, data)(data, p);
}

static const struct tb_field_def tb_compact_sched_wakeup_fields[] = {
	TB_BITS("pid", "pid_t", 0, TB_PID_BITS, 0),
	TB_BITS("prio", "int", 22, 8, 0),
	TB_BITS("target_cpu", "int", 32, 16, 0),
	TB_BITS("context", "u16", 48, 16, TB_FIELD_CONTEXT),
	{}
};

#ifndef TB_HAVE_STAT_VRUNTIME
/* sched_stat_runtime: all fields but the name, up to 2 s; not in kernels with the field vruntime */
static notrace void tb_compact_sched_stat_runtime(void *data, struct task_struct *tsk, u64 runtime)
{
	bool done = false;

	tb_tracepoint_enter();
	if (likely(!(runtime >> 31)))
		done = tb_probe_compact(data, TB_PACK(tsk->pid, TB_PID_BITS, 0) |
					TB_PACK(runtime, 31, 22) |
					TB_PACK(tb_event_context(), 11, 53));
	tb_tracepoint_leave();
	if (unlikely(!done))
		tb_probe_wide(tb_compact_sched_stat_runtime, data)(data, tsk, runtime);
}

static const struct tb_field_def tb_compact_sched_stat_runtime_fields[] = {
	TB_BITS("pid", "pid_t", 0, TB_PID_BITS, 0),
	TB_BITS("runtime", "u64", 22, 31, 0),
	TB_BITS("context", "u16", 53, 11, TB_FIELD_CONTEXT),
	{}
};
#endif

/* irq_handler_exit: all fields */
static notrace void tb_compact_irq_handler_exit(void *data, int irq, struct irqaction *action,
						int ret)
{
	bool done = false;

	tb_tracepoint_enter();
	if (likely(ret == (u16)ret))
		done = tb_probe_compact(data, (u32)irq | TB_PACK(ret, 16, 32) |
				     TB_PACK(tb_event_context(), 16, 48));
	tb_tracepoint_leave();
	if (unlikely(!done))
		tb_probe_wide(tb_compact_irq_handler_exit, data)(data, irq, action, ret);
}

static const struct tb_field_def tb_compact_irq_handler_exit_fields[] = {
	TB_BITS("irq", "int", 0, 32, TB_FIELD_SIGNED),
	TB_BITS("ret", "int", 32, 16, 0),
	TB_BITS("context", "u16", 48, 16, TB_FIELD_CONTEXT),
	{}
};

/* softirq_raise, softirq_entry, softirq_exit: all fields */
static notrace void tb_compact_softirq(void *data, unsigned int vec_nr)
{
	bool done;

	tb_tracepoint_enter();
	done = tb_probe_compact(data, vec_nr | TB_PACK(tb_event_context(), 16, 48));
	tb_tracepoint_leave();
	if (unlikely(!done))
		tb_probe_wide(tb_compact_softirq, data)(data, vec_nr);
}

static const struct tb_field_def tb_compact_softirq_fields[] = {
	TB_BITS("vec", "unsigned int", 0, 32, 0),
	TB_BITS("context", "u16", 48, 16, TB_FIELD_CONTEXT),
	{}
};

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
/*
 * sys_exit: all fields.  The number has 16 bits, the result 48, both signed: enough for errors,
 * counts, and addresses of user space of 47 bits.  The context is 0: preemption is on.
 */
static notrace void tb_compact_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	long id = tb_call_number(syscall_get_nr(current, regs));
	bool done = false;

	tb_tracepoint_enter();
	if (likely(id == (s16)id && ret == sign_extend64(ret, 47) && !tb_event_context()))
		done = tb_probe_compact(data, TB_PACK(id, 16, 0) | TB_PACK(ret, 48, 16));
	tb_tracepoint_leave();
	if (unlikely(!done))
		tb_probe_wide(tb_compact_sys_exit, data)(data, regs, ret);
}

static const struct tb_field_def tb_compact_sys_exit_fields[] = {
	TB_BITS("id", "long", 0, 16, TB_FIELD_SIGNED),
	TB_BITS("ret", "long", 16, 48, TB_FIELD_SIGNED),
	{}
};
#endif

#define TB_COMPACT(_name, _form, ...)					\
	{ .name = #_name, .probe = tb_compact_##_form,			\
	  .fields = tb_compact_##_form##_fields, __VA_ARGS__ }

static const struct tb_compact_def tb_compact_defs[] = {
	TB_COMPACT(sched_switch, sched_switch, .context = TB_SWITCH_CONTEXT),
	TB_COMPACT(sched_waking, sched_wakeup),
	TB_COMPACT(sched_wakeup, sched_wakeup),
	TB_COMPACT(sched_wakeup_new, sched_wakeup),
#ifndef TB_HAVE_STAT_VRUNTIME
	TB_COMPACT(sched_stat_runtime, sched_stat_runtime),
#endif
	TB_COMPACT(irq_handler_exit, irq_handler_exit),
	TB_COMPACT(softirq_raise, softirq),
	TB_COMPACT(softirq_entry, softirq),
	TB_COMPACT(softirq_exit, softirq),
#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	TB_COMPACT(sys_exit, sys_exit),
#endif
};

/* Never called: the compiler checks the probes against the prototypes of their tracepoints. */
static void __maybe_unused tb_compact_check(void)
{
	check_trace_callback_type_sched_switch(tb_compact_sched_switch);
	check_trace_callback_type_sched_waking(tb_compact_sched_wakeup);
	check_trace_callback_type_sched_wakeup(tb_compact_sched_wakeup);
	check_trace_callback_type_sched_wakeup_new(tb_compact_sched_wakeup);
#ifndef TB_HAVE_STAT_VRUNTIME
	check_trace_callback_type_sched_stat_runtime(tb_compact_sched_stat_runtime);
#endif
	check_trace_callback_type_irq_handler_exit(tb_compact_irq_handler_exit);
	check_trace_callback_type_softirq_raise(tb_compact_softirq);
	check_trace_callback_type_softirq_entry(tb_compact_softirq);
	check_trace_callback_type_softirq_exit(tb_compact_softirq);
#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	check_trace_callback_type_sys_exit(tb_compact_sys_exit);
#endif
}

static const struct tb_compact_def *tb_compact_named(const char *name)
{
	size_t i;

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	if (!strcmp(tb_call_compact_def.name, name))
		return &tb_call_compact_def;
#endif
	for (i = 0; i < ARRAY_SIZE(tb_compact_defs); i++)
		if (!strcmp(tb_compact_defs[i].name, name))
			return &tb_compact_defs[i];
	return NULL;
}

static bool tb_compact_has(const struct tb_compact_def *compact, const char *name)
{
	const struct tb_field_def *f = compact->fields;

	while (f->name && strcmp(f->name, name))
		f++;
	return f->name;
}

/* Return true if readers know a field of the wide form from the compact form (docs/abi.md). */
static bool tb_compact_tells(const struct tb_compact_def *compact, const struct tb_event_def *def,
			     const struct tb_field_def *f)
{
	size_t length = strlen(f->name);
	char name[TB_NAME_MAX + 8];

	/* text of sys_enter: the probe records calls with text in the wide form */
	if (f->flags & TB_FIELD_DATA_LOC)
		return def->cut;
	if (!(f->flags & TB_FIELD_ARRAY))
		return tb_compact_has(compact, f->name);
	if (strcmp(f->type, "char")) {
		snprintf(name, sizeof(name), "%s[%u]", f->name, f->count - 1);
		return tb_compact_has(compact, name);
	}
	/* comm, prev_comm, next_comm: readers know the name of thread pid, prev_pid, next_pid */
	if (length < 4 || strcmp(f->name + length - 4, "comm"))
		return false;
	snprintf(name, sizeof(name), "%.*spid", (int)length - 4, f->name);
	return tb_compact_has(compact, name);
}

/*
 * Return the compact form of an event; NULL if the event has none, or if its wide form in this
 * kernel has a field that the compact form lacks.
 */
const struct tb_compact_def *tb_compact_find(const struct tb_event_def *def)
{
	const struct tb_compact_def *compact = tb_compact_named(def->name);
	const struct tb_field_def *f;

	for (f = def->fields; compact && f->name; f++)
		if (!tb_compact_tells(compact, def, f))
			return NULL;
	return compact;
}
