/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The FXT exporter - plans: for each format, how to write its events.
 */
#ifndef TRACEBUF_TOOL_EXPORT_FXT_PLAN_H
#define TRACEBUF_TOOL_EXPORT_FXT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "fxt.h"
#include "tracebuf.h"

#define FXT_CALLS_MAX	1024
#define FXT_IRQS_MAX	1024
#define FXT_SOFTIRQS_MAX 32
#define FXT_STATES_MAX	1024
#define FXT_FIELDS_MAX	5	/* fields that a plan reads */

enum fxt_plan_kind {
	PLAN_INSTANT, PLAN_SWITCH, PLAN_WAKEUP, PLAN_IRQ, PLAN_IRQ_END, PLAN_SOFTIRQ,
	PLAN_SOFTIRQ_END, PLAN_CALL, PLAN_CALL_END, PLAN_COUNTER,
};

struct fxt_plan {
	enum fxt_plan_kind kind;
	struct fxt_name *category, *name;
	struct fxt_name **args;			/* names of the fields */
	struct fxt_name **names;		/* of further arguments: names of numbers */
	const struct tb_format_field *fields[FXT_FIELDS_MAX];
	const struct tb_format_field *text;	/* name of an interrupt; may be NULL */
};

/**
 * struct fxt_current - the thread on a CPU, as switches tell
 * @known: @tid runs, with @prio
 * @lost: the CPU runs the thread "not recorded", which has no priority
 */
struct fxt_current {
	uint32_t tid;
	int32_t  prio;
	bool     known, lost;
};

/* The last name of an interrupt: several handlers may share it */
struct fxt_irq {
	struct fxt_name *name;
	size_t length;
	char text[64];
};

struct fxt_plans {
	size_t nr_plans;
	struct fxt_plan *plans;
	struct fxt_current *current;
	struct fxt_name **counters;	/* "cpu0", ...; NULL: not used yet */
	struct fxt_irq irqs[FXT_IRQS_MAX];
	/* by number; NULL: not used yet */
	struct fxt_name *calls[FXT_CALLS_MAX], *softirqs[FXT_SOFTIRQS_MAX], *states[FXT_STATES_MAX];
	struct fxt_name *cpu, *tid, *stack, *user_stack, *payload, *text, *weight, *incoming;
	struct fxt_name *outgoing, *state, *waker, *tracebuf, *mark, *lost, *overwritten;
	struct fxt_name *dropped, *oversize, *first, *last;
};

/** fxt_events_name - fxt_name() of a text that ends with NUL */
struct fxt_name *fxt_events_name(struct fxt_events *events, const char *text);

/* Number and arguments of what was recorded with an event: stacks and counters */
uint32_t fxt_events_nr_extras(const struct tb_view *view);
void fxt_events_extras(struct fxt_events *events, const struct tb_view *view);

/* Write scheduling records; -EINVAL: @view lacks a field that the record needs */
int fxt_events_switch(struct fxt_events *events, const struct tb_view *view,
		      const struct fxt_plan *plan, uint64_t ns);
int fxt_events_wakeup(struct fxt_events *events, const struct tb_view *view,
		      const struct fxt_plan *plan, uint64_t ns);

#endif /* TRACEBUF_TOOL_EXPORT_FXT_PLAN_H */
