/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Perfetto exporter - how the events of a format are written, found out once.
 */
#ifndef TRACEBUF_TOOL_EXPORT_PERFETTO_PLAN_H
#define TRACEBUF_TOOL_EXPORT_PERFETTO_PLAN_H

#include "export_perfetto.h"

/* Numbers of fields, as in perfetto.proto */
enum {
	PF_EVENT_PRINT = 3,
	PF_EVENT_GENERIC = 327,
	PF_GENERIC_NAME = 1,
	PF_GENERIC_FIELD = 2,
	PF_FIELD_NAME = 1,
	PF_FIELD_STR = 3,
	PF_FIELD_INT = 4,
	PF_FIELD_UINT = 5,
	PF_PRINT_BUF = 2,
};

enum pf_step_kind {
	STEP_NUMBER,
	STEP_ITEMS,		/* an array as a repeated number */
	STEP_TEXT,
	STEP_LISTED,		/* an array, or bytes, as text */
	STEP_COMM,		/* the name of the thread in @field */
	STEP_PRIO,		/* its priority */
	STEP_IRQ,		/* the name of the interrupt in @field */
};

/*
 * @head is what stands before the value: its tag, in a generic event with the
 * field's name before.
 */
struct pf_step {
	uint8_t  kind;
	uint8_t  type;		/* ProtobufCType of numbers */
	uint8_t  head_size;
	bool     generic;
	const uint8_t *head;
	const struct tb_format_field *field;
};

struct pf_plan {
	uint32_t field;		/* in FtraceEvent */
	uint32_t nr_steps;
	struct pf_step *steps;
	uint8_t *heads;		/* of all steps */
	size_t   nr_heads;	/* bytes of them */
	const struct tb_format_field *tid;	/* whose event it is */
	const struct tb_format_field *next_pid, *next_prio;
	const struct tb_format *format;
	uint32_t nr_lost;	/* fields that the message has no place for */
	uint64_t events;
};

struct pf_plans {
	const struct tb_trace *trace;
	size_t nr_plans;
	struct pf_plan plans[];
};

#endif /* TRACEBUF_TOOL_EXPORT_PERFETTO_PLAN_H */
