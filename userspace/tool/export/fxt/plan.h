/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The FXT exporter - how events of the kernel are written, found out once for each format.
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
#define FXT_FIELDS_MAX	5	/* that one kind of plan asks for */

enum fxt_plan_kind {
	PLAN_INSTANT, PLAN_SWITCH, PLAN_WAKEUP, PLAN_IRQ, PLAN_IRQ_END, PLAN_SOFTIRQ,
	PLAN_SOFTIRQ_END, PLAN_CALL, PLAN_CALL_END, PLAN_COUNTER,
};

struct fxt_plan {
	enum fxt_plan_kind kind;
	struct fxt_name *category, *name;
	struct fxt_name **args;			/* names of the fields */
	const struct tb_format_field *fields[FXT_FIELDS_MAX];
	const struct tb_format_field *text;	/* the format may have it */
};

/**
 * struct fxt_current - what a CPU runs, as far as switches tell
 * @known: @tid runs, with @prio
 * @lost: the thread "events lost", which has no priority, stands for what runs
 */
struct fxt_current {
	uint32_t tid;
	int32_t  prio;
	bool     known, lost;
};

/* What an interrupt was called last; several handlers may share it */
struct fxt_irq {
	struct fxt_name *name;
	size_t length;
	char text[64];
};

struct fxt_plans {
	size_t nr_plans;
	struct fxt_plan *plans;
	struct fxt_current *current;
	struct fxt_name **counters;	/* "cpu0", ...; NULL: not asked for yet */
	struct fxt_irq irqs[FXT_IRQS_MAX];
	/* by number; NULL: not asked for yet */
	struct fxt_name *calls[FXT_CALLS_MAX], *softirqs[FXT_SOFTIRQS_MAX], *states[FXT_STATES_MAX];
	struct fxt_name *cpu, *tid, *stack, *user_stack, *payload, *text, *weight, *incoming;
	struct fxt_name *outgoing, *state, *waker, *tracebuf, *mark, *lost, *overwritten;
	struct fxt_name *dropped, *oversize, *first, *last;
};

/** fxt_events_name - of a text that ends with NUL */
struct fxt_name *fxt_events_name(struct fxt_events *events, const char *text);

/* Arguments for what was recorded with an event, not in it, and how many */
uint32_t fxt_events_nr_extras(const struct tb_view *view);
void fxt_events_extras(struct fxt_events *events, const struct tb_view *view);

/* Scheduling records; -EINVAL: not what such an event should be */
int fxt_events_switch(struct fxt_events *events, const struct tb_view *view,
		      const struct fxt_plan *plan, uint64_t ns);
int fxt_events_wakeup(struct fxt_events *events, const struct tb_view *view,
		      const struct fxt_plan *plan, uint64_t ns);

#endif /* TRACEBUF_TOOL_EXPORT_FXT_PLAN_H */
