// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts, softirqs and system calls: how many, how long, and the errors of system calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine.h"
#include "lib/array.h"

/* Results from -ERRNO_MAX to -1 are errors */
#define ERRNO_MAX 4095

static bool is_called(const struct handler *handler, int64_t number, const char *name,
		      size_t length)
{
	return handler->it.number == number && strlen(handler->it.name) == length &&
	       !memcmp(handler->it.name, name, length);
}

/* The handler of @list with this number and name, of @kind; NULL: no memory */
static struct analysis_handler *handler_of(struct analysis *a, unsigned int list,
					   enum analysis_kind kind, int64_t number,
					   const char *name, size_t length)
{
	uint64_t key = map_key(&a->hashes[list], name, length) ^ (uint64_t)number;
	void **slot = map_at(&a->hashes[list], key);
	struct handler *handler;
	char *copy;

	if (!slot)
		return NULL;
	for (handler = *slot; handler; handler = handler->next)
		if (is_called(handler, number, name, length))
			return &handler->it;
	copy = strndup(name, length);
	handler = copy ? listed_add(&a->handlers[list], sizeof(*handler)) : NULL;
	if (!handler) {
		free(copy);
		return NULL;
	}
	handler->it.name = copy;
	handler->it.kind = kind;
	handler->it.number = number;
	handler->next = *slot;
	*slot = handler;
	return &handler->it;
}

void handlers_free(struct analysis *a)
{
	struct handler *handler;
	size_t list, i;

	for (list = 0; list < HANDLER_LISTS; list++)
		for (i = 0; i < a->handlers[list].count; i++) {
			handler = a->handlers[list].list[i];
			free(handler->it.name);
			free(handler->it.errors);
		}
}

static void add_error(struct analysis *a, struct analysis_handler *call, int64_t code)
{
	unsigned int i;

	call->failed++;
	for (i = 0; i < call->nr_errors && call->errors[i].code != code; i++)
		;
	if (tb_array_reach(&call->errors, &call->nr_errors, i, sizeof(*call->errors))) {
		a->error = -ENOMEM;
		return;
	}
	call->errors[i].code = code;
	call->errors[i].count++;
}

static struct analysis_handler *handler_of_slice(struct analysis *a, unsigned int list,
						 const struct slice *slice, enum analysis_kind kind)
{
	const char *name = slice->name;
	size_t length = slice->name_length;
	int64_t number = slice->number;

	if (kind != ANALYSIS_IRQS) {
		name = number < 0 || number > UINT32_MAX ? NULL :
		       tb_trace_string(a->trace, kind == ANALYSIS_CALLS ? TB_STRING_SYSCALL :
				       TB_STRING_SOFTIRQ, (uint32_t)number);
		length = name ? strlen(name) : 0;
	}
	return handler_of(a, list, kind, number, name ? name : "?", name ? length : 1);
}

/* Add to the CPU's time in handlers; nested interrupts count once */
static void add_time(struct analysis *a, const struct slice *slice)
{
	struct cpu_state *cpu = cpu_of(a, slice->cpu);

	if (!cpu)
		return;
	if (slice->kind == SLICE_SOFTIRQ)
		cpu->it.softirq_ns += slice->end - slice->begin;
	else if (slice->kind == SLICE_IRQ && !slice->depth)
		cpu->it.irq_ns += slice->end - slice->begin;
}

/* Add to the CPU's history, for waits.c, even if the interrupted thread does not count */
static void note_past(struct analysis *a, const struct slice *slice, enum analysis_kind kind)
{
	struct analysis_handler *handler = handler_of_slice(a, HANDLERS_ALL + kind, slice, kind);
	struct cpu_state *cpu = cpu_of(a, slice->cpu);

	if (!handler)
		a->error = -ENOMEM;
	else if (cpu)
		cpu->history[cpu->past++ % ANALYSIS_HISTORY] =
			(struct run_interval){ NULL, handler, slice->begin, slice->end };
}

void handlers_slice(struct analysis *a, const struct slice *slice)
{
	enum analysis_kind kind = slice->kind == SLICE_IRQ ? ANALYSIS_IRQS :
				  slice->kind == SLICE_SOFTIRQ ? ANALYSIS_SOFTIRQS :
								 ANALYSIS_CALLS;
	struct analysis_handler *handler;

	if (kind != ANALYSIS_CALLS && slice->doubt == SLICE_WHOLE)
		note_past(a, slice, kind);
	if (!analysis_wants(a, slice->cpu, slice->tid))
		return;
	handler = handler_of_slice(a, kind, slice, kind);
	if (!handler) {
		a->error = -ENOMEM;
		return;
	}
	switch (slice->doubt) {
	case SLICE_UNENDED:
		handler->stat.open++;
		return;
	case SLICE_LOSSY:
		handler->stat.uncertain++;
		break;
	case SLICE_UNBEGUN:		/* only runs */
	case SLICE_WHOLE:
		stat_add(&handler->stat, slice->end - slice->begin);
		histogram_add(&handler->histogram, slice->end - slice->begin);
		add_time(a, slice);
		break;
	}
	if (kind == ANALYSIS_CALLS && slice->has_result && slice->result < 0 &&
	    slice->result >= -ERRNO_MAX)
		add_error(a, handler, -slice->result);
}

const struct analysis_handler *analysis_handler(const struct analysis *a,
						enum analysis_kind kind,
						unsigned int index)
{
	const struct handler *handler;

	if (index >= a->handlers[kind].count)
		return NULL;
	handler = a->handlers[kind].list[index];
	return &handler->it;
}
