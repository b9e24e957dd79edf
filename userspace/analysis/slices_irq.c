// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices of interrupts and softirqs: interrupts are nested, a CPU has one softirq at a time.
 */
#include "slices_parts.h"

/* The softirq that gives packets to their receivers */
#define NET_RX 3

/* True if @slice is the interrupt that @view begins or ends */
static bool is_irq(const struct slice *slice, const struct plan *plan,
		   const struct tb_view *view, int64_t irq)
{
	if (slice->number != irq ||
	    strcmp(slice->event.format->system, view->format->system))
		return false;
	return !plan->fixed || (slice->name_length == plan->fixed_length &&
				!memcmp(slice->name, plan->fixed,
					plan->fixed_length));
}

/* Position of that interrupt on the CPU, from 1; 0: it is not open */
static unsigned int find_irq(const struct cpu *cpu, const struct plan *plan,
			     const struct tb_view *view, int64_t irq)
{
	unsigned int at = cpu->irqs;

	while (at && !is_irq(&cpu->irq[at - 1], plan, view, irq))
		at--;
	return at;
}

void slices_drop_irqs(struct slices *slices, struct cpu *cpu, unsigned int keep)
{
	while (cpu->irqs > keep)
		end_unknown(slices, &cpu->irq[--cpu->irqs]);
}

void slices_end_irqs(struct slices *slices, struct cpu *cpu)
{
	unsigned int at;

	for (at = 0; at < cpu->irqs; at++)
		if (is_endless(slices, cpu->irq[at].event.format))
			slices_drop_irqs(slices, cpu, at);
}

const struct slice *slices_interrupt(const struct slices *slices, unsigned int number)
{
	const struct cpu *cpu = number < slices->nr_cpus ? slices->cpus[number] : NULL;
	const struct slice *slice = NULL;

	if (cpu && cpu->irqs)
		slice = &cpu->irq[cpu->irqs - 1];
	else if (cpu && cpu->softirq)
		slice = &cpu->in_softirq;
	/* it may have ended, and another one may have begun, without events */
	return slice && is_endless(slices, slice->event.format) ? NULL : slice;
}

int slices_take_irq(struct slices *slices, const struct plan *plan,
		    const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	struct slice *slice;
	unsigned int at;
	int64_t irq;
	bool has;

	irq = plan_number(view, plan->fields[0], &has);
	/* an interrupt does not interrupt itself: its end is missing */
	at = has ? find_irq(cpu, plan, view, irq) : 0;
	if (at)
		slices_drop_irqs(slices, cpu, at - 1);
	slices_end_irqs(slices, cpu);
	if (!has || cpu->irqs == IRQS_MAX)
		return 0;
	slice = &cpu->irq[cpu->irqs];
	slice_begin(slice, SLICE_IRQ, view, ns);
	slice->number = irq;
	if (plan->fixed) {
		slice->name = plan->fixed;
		slice->name_length = plan->fixed_length;
	} else if (plan->name) {
		tb_field_str(view, plan->name, &slice->name, &slice->name_length);
	}
	if (slice->name && slice->name_length > IRQ_NAME_MAX)
		slice->name_length = IRQ_NAME_MAX;
	if (slice->name)
		slice->name = memcpy(cpu->names[cpu->irqs], slice->name, slice->name_length);
	slice->depth = cpu->irqs++;
	if (is_ignored(slices, view->format))
		slices_drop_irqs(slices, cpu, slice->depth);
	return 1;
}

int slices_take_irq_exit(struct slices *slices, const struct plan *plan,
			 const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	struct slice *slice;
	unsigned int at;
	int64_t irq;
	bool has;

	irq = plan_number(view, plan->fields[0], &has);
	at = has ? find_irq(cpu, plan, view, irq) : 0;
	if (!at)
		return 0;
	slices_drop_irqs(slices, cpu, at);
	slice = &cpu->irq[--cpu->irqs];
	slice->result = plan_number(view, plan->fields[1], &slice->has_result);
	slice_end(slices, slice, ns, SLICE_WHOLE);
	return 1;
}

static bool knows_raises(const struct slices *slices, uint64_t ns)
{
	return ns >= slices->raises_from && ns >= slices->unruled_from[FORM_RAISE];
}

void slices_not_raised(const struct slices *slices, struct cpu *cpu, uint64_t ns)
{
	cpu->raised = knows_raises(slices, ns) ? RAISED_NOT : RAISED_UNKNOWN;
}

void slices_take_raise(const struct slices *slices, const struct plan *plan,
		       const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	const unsigned int interrupts = TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ | TB_CONTEXT_NMI;
	int64_t vector;
	bool has;

	vector = plan_number(view, plan->fields[0], &has);
	if (has && vector != NET_RX)
		return;
	if (!has || !knows_raises(slices, ns) || view->context & interrupts ||
	    cpu->raised == RAISED_UNKNOWN)
		cpu->raised = RAISED_UNKNOWN;
	else
		cpu->raised = RAISED_BY_TASK;
}

int slices_take_softirq(struct slices *slices, const struct plan *plan,
			const struct tb_view *view, struct cpu *cpu, uint64_t ns)
{
	int64_t vector;
	bool has;

	vector = plan_number(view, plan->fields[0], &has);
	if (!has)
		return 0;
	if (plan->role == ROLE_SOFTIRQ) {
		if (cpu->softirq)
			end_unknown(slices, &cpu->in_softirq);
		slice_begin(&cpu->in_softirq, SLICE_SOFTIRQ, view, ns);
		cpu->in_softirq.number = vector;
		if (vector == NET_RX) {
			if (cpu->raised == RAISED_BY_TASK)
				cpu->in_softirq.sends_until = UINT64_MAX;
			slices_not_raised(slices, cpu, ns);
		}
		cpu->softirq = !is_ignored(slices, view->format);
		if (!cpu->softirq)
			end_unknown(slices, &cpu->in_softirq);
		return 1;
	}
	if (!cpu->softirq)
		return 0;
	cpu->softirq = false;
	if (cpu->in_softirq.number != vector) {
		end_unknown(slices, &cpu->in_softirq);
		return 0;
	}
	slice_end(slices, &cpu->in_softirq, ns, SLICE_WHOLE);
	return 1;
}
