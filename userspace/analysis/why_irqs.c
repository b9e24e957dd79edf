// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts and softirqs of a CPU, and the functions that they called, without what interrupted
 * them: the lists why_cpu.irqs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "why_irqs.h"

/* Names of interrupts and functions; a machine has some hundred */
#define NAMES_MAX 4096

/* Number of the interrupt's name, NAMES_MAX if there are too many names; or -ENOMEM */
static int64_t name_of(struct why_lines *lines, const struct slice *slice)
{
	struct why_irq_name *grown;
	size_t i;

	for (i = 0; i < lines->nr_irqs; i++)
		if (lines->irqs[i].number == slice->number &&
		    strlen(lines->irqs[i].name) == slice->name_length &&
		    !memcmp(lines->irqs[i].name, slice->name ? slice->name : "",
			    slice->name_length))
			return (int64_t)i;
	if (i == NAMES_MAX)
		return NAMES_MAX;
	grown = realloc(lines->irqs, (lines->nr_irqs + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	lines->irqs = grown;
	grown[i].number = slice->number;
	grown[i].name = strndup(slice->name ? slice->name : "", slice->name_length);
	if (!grown[i].name)
		return -ENOMEM;
	lines->nr_irqs++;
	return (int64_t)i;
}

static int add_part(struct why_list *list, struct why_irq_part part)
{
	struct why_irq_part *added;

	if (part.begin >= part.end)
		return 0;
	added = why_list_add(list, sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = part;
	return 0;
}

/* The part of @whole from @begin to @end */
static struct why_irq_part cut(struct why_irq_part whole, uint64_t begin, uint64_t end)
{
	if (begin != whole.begin)
		whole.sends_ns = 0;
	whole.begin = begin;
	whole.end = end;
	return whole;
}

/*
 * Interrupts that interrupted this one, and functions that it called, have ended before, so they
 * are last in the list: this one gets the time between them.
 */
static int add_irq(struct why_cpu *cpu, struct why_irq_part whole)
{
	const struct why_irq_part *parts = cpu->irqs.at;
	struct why_irq_part *inner;
	size_t first, count, i;
	uint64_t at = whole.begin;
	int result = 0;

	for (first = cpu->irqs.count; first && parts[first - 1].begin >= at;)
		first--;
	if (first && parts[first - 1].end > at)
		at = parts[first - 1].end;
	count = cpu->irqs.count - first;
	inner = malloc((count + 1) * sizeof(*inner));
	if (!inner)
		return -ENOMEM;
	if (count)
		memcpy(inner, parts + first, count * sizeof(*inner));
	cpu->irqs.count = first;
	for (i = 0; i < count && !result; i++) {
		result = add_part(&cpu->irqs, cut(whole, at, inner[i].begin));
		if (!result)
			result = add_part(&cpu->irqs, inner[i]);
		at = inner[i].end;
	}
	free(inner);
	return result ? result : add_part(&cpu->irqs, cut(whole, at, whole.end));
}

int why_irqs_take(struct why_lines *lines, struct why_cpu *cpu, const struct slice *slice,
		  uint64_t now)
{
	enum why_cause cause = slice->doubt ? WHY_UNKNOWN :
			       slice->kind == SLICE_IRQ ? WHY_IRQ : WHY_SOFTIRQ;
	int64_t who = slice->number & 0xff;
	uint64_t sends = 0;

	if (cause == WHY_IRQ)
		who = name_of(lines, slice);
	if (cause == WHY_IRQ && who < 0)
		return -ENOMEM;
	if (slice->sends_until > slice->begin)
		sends = slice->sends_until - slice->begin;
	/* one without an end in the trace may have lasted until now */
	return add_irq(cpu, (struct why_irq_part){
		.begin = slice->begin, .end = slice->doubt ? now : slice->end, .who = who,
		.cause = cause, .sends_ns = sends < UINT32_MAX ? (uint32_t)sends : UINT32_MAX,
	});
}

int why_irqs_take_function(struct why_lines *lines, struct why_cpu *cpu, const struct slice *around,
			   const struct slice *function, uint64_t begin, uint64_t now)
{
	struct why_irq_part part = { .begin = begin, .end = now };
	struct slice named = *function;
	char text[256];
	int64_t name;

	if (around->kind == SLICE_IRQ) {
		snprintf(text, sizeof(text), "%.*s: %.*s", (int)around->name_length,
			 around->name ? around->name : "", (int)named.name_length, named.name);
		named.number = around->number;
		named.name = text;
		named.name_length = strlen(text);
	}
	part.cause = around->kind == SLICE_IRQ ? WHY_IRQ : WHY_SOFTIRQ;
	name = name_of(lines, &named);
	if (name < 0)
		return -ENOMEM;
	part.who = around->kind == SLICE_IRQ ? name : WHY_VECTOR(around->number, name);
	return add_irq(cpu, part);
}
