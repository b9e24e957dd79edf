/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A unit: the events of one header of tracepoints, which macros/passes.h compiles.
 *
 * Probes record with tb_probe_begin() and tb_probe_end() (probe/probe.h).  tb_probe_begin() returns
 * the address of the first element + 8, because the kernel's struct trace_event_raw_X starts with a
 * struct trace_entry of 8 bytes, which assignments never write.  Laid over the second half of the
 * first element (tid, length, context), the fields start at the payload, and need no copying.
 */
#ifndef TB_EVENTS_UNIT_H
#define TB_EVENTS_UNIT_H

#include <linux/init.h>

#include "probe/event.h"

/**
 * struct tb_compact_def - the compact form of an event, see compact.c
 * @name: name of the event; unique among the kernel's tracepoints
 * @probe: the probe, with the tracepoint's prototype
 * @fields: its fields, with the names of the wide form
 * @context: the context of all events in this form, if no field has the context
 */
struct tb_compact_def {
	const char *name;
	void *probe;
	const struct tb_field_def *fields;
	u16 context;
};

/**
 * struct tb_eval - the value of a name that print formats use
 * @list: node in tb_unit.evals
 * @name: an enumerator, or "sizeof(...)"
 * @value: its value
 */
struct tb_eval {
	struct list_head list;
	const char *name;
	long value;
};

/**
 * struct tb_unit - the events of one header
 * @owner: the module of their probes
 * @going: the events are being removed: a module that comes meanwhile brings no tracepoint back
 * @events: list of struct tb_event_def, in the order of the header
 * @evals: list of struct tb_eval
 */
struct tb_unit {
	struct module *owner;
	bool going;
	struct list_head events;
	struct list_head evals;
};

/**
 * struct tb_event_def - the definition of an event
 * @list: node in tb_unit.events
 * @unit: its unit, which has the names that @print uses in its evals
 * @system: subsystem
 * @name: name; that of the tracepoint, if it has one
 * @print: the kernel's print format; may be NULL
 * @probe: probe that records all fields
 * @fields: table of the fields
 * @source: source of an event of another module; NULL: the event has a tracepoint
 * @simple: the event is a simple one of one element, with @fields
 * @cut: an event may end before the last fields, or within an array
 */
struct tb_event_def {
	struct list_head list;
	const struct tb_unit *unit;
	const char *system;
	const char *name;
	const char *print;
	void *probe;
	const struct tb_field_def *fields;
	struct tracebuf_source *source;
	bool simple;
	bool cut;
};

/* macros/passes.h defines this function for each unit; it fills in *unit */
#define TB_UNIT_INIT(name)	void tb_unit_init_##name(struct tb_unit *unit)
#define TB_UNIT(name)		TB_UNIT_INIT(name)
#include "units.h"
#undef TB_UNIT

#endif /* TB_EVENTS_UNIT_H */
