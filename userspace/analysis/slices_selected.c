// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events are selected, and so which slices can begin and end; see the opening of slices.c.
 */
#include <errno.h>
#include "slices_parts.h"

static const enum role ends[ROLES] = {
	[ROLE_IRQ] = ROLE_IRQ_EXIT,
	[ROLE_SOFTIRQ] = ROLE_SOFTIRQ_EXIT,
	[ROLE_SYSCALL] = ROLE_SYSCALL_EXIT,
};

static bool same_text(const char *one, size_t one_length, const char *other, size_t other_length)
{
	return one_length == other_length && (!one_length || !memcmp(one, other, one_length));
}

/* True if @other ends slices that @format, with @plan, begins */
static bool ends_with(struct slices *slices, const struct plan *plan,
		      const struct tb_format *format, const struct tb_format *other)
{
	const struct plan *end = plan_of(&slices->plans, other);

	return end && end->role == ends[plan->role] && !strcmp(other->system, format->system) &&
	       same_text(plan->fixed, plan->fixed_length, end->fixed, end->fixed_length);
}

/* True if an event that ends slices of @format is selected from change number @index on */
static bool has_end(struct slices *slices, unsigned int index, const struct tb_format *format)
{
	unsigned int i, count = tb_trace_formats(slices->trace);
	const struct plan *plan = plan_of(&slices->plans, format);
	const struct tb_format *other;

	if (!plan || !ends[plan->role])
		return true;
	for (i = 0; i < count; i++) {
		other = tb_trace_format_at(slices->trace, i);
		if (tb_trace_selects(slices->trace, index, other->id) &&
		    ends_with(slices, plan, format, other))
			return true;
	}
	return false;
}

/* Switches are not selected from @ns on: end runs and sleeps */
static void stop_running(struct slices *slices, uint64_t ns)
{
	const struct map *threads = &slices->threads;
	struct thread *thread;
	unsigned int i;
	size_t k;

	for (i = 0; i < slices->nr_cpus; i++)
		if (slices->cpus[i])
			slices_end_run(slices, slices->cpus[i], known_until(slices, i, ns));
	for (k = 0; k < threads->count; k++) {
		thread = threads->entries[k].value;
		if (thread && thread->out)
			slices_stop_off(slices, thread, (uint32_t)threads->entries[k].key, ns);
	}
}

/* End interrupts that were open at the last change, or began after it without being selected */
static void end_interrupts(struct slices *slices)
{
	unsigned int i;
	struct cpu *cpu;

	for (i = 0; i < slices->nr_cpus; i++) {
		cpu = slices->cpus[i];
		if (!cpu)
			continue;
		slices_end_irqs(slices, cpu);
		if (cpu->softirq && is_endless(slices, cpu->in_softirq.event.format)) {
			cpu->softirq = false;
			end_unknown(slices, &cpu->in_softirq);
		}
	}
}

/* End calls that are open at @ns if their end is not selected any more */
static void end_calls(struct slices *slices, uint64_t ns)
{
	const struct map *threads = &slices->threads;
	struct thread *thread;
	size_t k;

	for (k = 0; k < threads->count; k++) {
		thread = threads->entries[k].value;
		if (!thread || !thread->in_call || !is_endless(slices, thread->call.event.format))
			continue;
		thread->in_call = false;
		slice_end(slices, &thread->call, ns, SLICE_UNENDED);
	}
}

/* Apply change number @index of selected events, at @ns */
static int take_change(struct slices *slices, unsigned int index, uint64_t ns)
{
	unsigned int i, count = tb_trace_formats(slices->trace);
	const struct tb_format *format;
	const struct plan *plan;
	struct beginning *grown;
	bool switches = false;

	end_interrupts(slices);
	grown = realloc(slices->beginnings, (count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	slices->beginnings = grown;
	slices->nr_beginnings = count;
	memset(grown, 0, count * sizeof(*grown));
	for (i = 0; i < count; i++) {
		format = tb_trace_format_at(slices->trace, i);
		plan = plan_of(&slices->plans, format);
		if (!plan)
			return -ENOMEM;
		switches |= plan->role == ROLE_SWITCH &&
			    tb_trace_selects(slices->trace, index, format->id);
		if (format->index >= count)
			continue;
		grown[format->index].endless = !has_end(slices, index, format);
		grown[format->index].ignored = grown[format->index].endless &&
					       tb_trace_selects(slices->trace, index, format->id);
	}
	end_calls(slices, ns);
	if (!switches) {
		stop_running(slices, ns);
		slices->switches_since = UINT64_MAX;
	} else if (slices->switches_since == UINT64_MAX) {
		slices->switches_since = ns;
	}
	return 0;
}

int slices_take_changes(struct slices *slices, uint64_t ticks)
{
	uint64_t from;

	while (!tb_trace_selection(slices->trace, slices->selection, &from) && from <= ticks)
		if (take_change(slices, slices->selection++,
				tb_trace_ns(slices->trace, from, slices->base)))
			return -ENOMEM;
	return 0;
}
