/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Perfetto exporter - plans: for each format, how to encode its events.
 */
#ifndef TRACEBUF_TOOL_EXPORT_PERFETTO_PLAN_H
#define TRACEBUF_TOOL_EXPORT_PERFETTO_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "perfetto.h"
#include "tracebuf.h"

/* Numbers of fields, as in perfetto.proto */
enum {
	PF_EVENT_PRINT = 3,
	PF_EVENT_SWITCH = 4,
	PF_EVENT_WAKING = 20,
	PF_EVENT_GENERIC = 327,
	PF_EVENT_DESCRIBED = 65536,	/* plus the index of the format */
	PF_DESCRIBED_MAX = 65535,	/* formats that get such a number */
	PF_GENERIC_NAME = 1,
	PF_GENERIC_FIELD = 2,
	PF_FIELD_NAME = 1,
	PF_FIELD_STR = 3,
	PF_FIELD_INT = 4,
	PF_FIELD_UINT = 5,
	PF_PRINT_BUF = 2,
};

/* Perfetto reads described events with field numbers below this */
#define PF_DESCRIBED_FIELDS 32

#define PF_EVENT_MESSAGE (&perfetto__protos__ftrace_event__descriptor)

enum pf_step_kind {
	STEP_NUMBER,
	STEP_ITEMS,		/* an array as a repeated number */
	STEP_TEXT,
	STEP_LISTED,		/* an array, or bytes, as text */
	STEP_ADDRESS,		/* 4 bytes as one number, in the byte order of the host */
	STEP_FUNCTION,		/* a number for which Perfetto wants a name */
	STEP_NAME,		/* the name of a number as text */
};

/* @head: the bytes before the value: in a generic event the name of the field, then the tag */
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
	bool     described;		/* the descriptor of a described event has been written */
	uint32_t nr_steps;
	struct pf_step *steps;
	uint8_t *heads;		/* of all steps */
	size_t   nr_heads;	/* bytes of them */
	const struct tb_format *format;
	uint32_t nr_lost;	/* fields that the message has no place for */
	uint64_t events;	/* encoded so far */
};

/* @plans: first @nr_plans as messages that Perfetto knows, then as many for plain events */
struct pf_plans {
	const struct tb_trace *trace;
	struct pf_out *out;
	struct pf_tracks symbols;	/* functions that have been named */
	size_t nr_plans;
	struct pf_plan plans[];
};

/** pf_plan_tell - write the descriptor of @plan's event; @cpu: any CPU of the trace */
void pf_plan_tell(struct pf_plans *plans, struct pf_plan *plan, uint32_t cpu);

#endif /* TRACEBUF_TOOL_EXPORT_PERFETTO_PLAN_H */
