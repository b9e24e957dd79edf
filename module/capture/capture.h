/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capture: what the kernel's tracepoints look like (struct tb_event_def), how
 * they are attached, and the state of the system that a trace starts from.
 *
 * Probes record through three functions of record.h:
 *
 *	void *tb_probe_begin(struct tb_probe *p, struct tb_slot *slot,
 *			     u32 payload);
 *	void tb_probe_end(struct tb_slot *slot);
 *	void tb_probe_simple(struct tb_probe *p, u64 payload);
 *
 * begin reserves a composite event of @payload bytes, fills its first element,
 * clears what is left between the payload and the next multiple of 16 bytes,
 * and returns the address of the element + 8, with preemption off until end;
 * or NULL, preemption as it was, the loss counted.
 *
 * Why element + 8: the kernel's struct trace_event_raw_X starts with a struct
 * trace_entry of 8 bytes, which its assignments never write.  Laid over the
 * second half of the first element (tid, length, context) the fields come to
 * stand where the payload starts, and nothing has to be copied.
 */
#ifndef TB_CAPTURE_H
#define TB_CAPTURE_H

#include <linux/init.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/tracebuf.h>

struct tb_provider;
struct tb_slot;
struct tracepoint;

/**
 * struct tb_field_def - one field of an event
 * @name: its name
 * @type: its C type; of arrays, dynamic ones included, that of an element
 * @offset: from the start of the payload
 * @size: bytes in all, 4 if the data are elsewhere (TB_FIELD_DATA_LOC)
 * @count: elements, if it is a fixed array
 * @flags: TB_FIELD_*
 * @bit: first bit, TB_FIELD_BITS
 * @bits: how many
 *
 * A table of them ends with one that has no name.
 */
struct tb_field_def {
	const char *name;
	const char *type;
	u16 offset;
	u16 size;
	u16 count;
	u16 flags;
	u8 bit;
	u8 bits;
};

/**
 * struct tb_fast_def - the one-element form of an event
 * @name: of the event; no two tracepoints of the kernel share one
 * @probe: the probe, of the tracepoint's prototype
 * @fields: what it keeps, with the names of the full form
 */
struct tb_fast_def {
	const char *name;
	void *probe;
	const struct tb_field_def *fields;
};

/**
 * struct tb_eval - the value of a name that print formats use
 * @list: in the unit
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
 * @events: struct tb_event_def, in the order of the header
 * @evals: struct tb_eval
 */
struct tb_unit {
	struct list_head events;
	struct list_head evals;
};

/**
 * struct tb_event_def - an event this module can capture
 * @list: in the unit
 * @unit: whose names its print format uses
 * @system: subsystem
 * @name: name, that of the tracepoint
 * @print: the kernel's print format
 * @probe: records all fields
 * @fields: table of them
 * @fast_probe: records the one-element form, NULL if there is none
 * @fast_fields: table of its fields
 * @tp: the tracepoint, NULL if this kernel does not have it
 * @index: its number, see tb_events_get()
 * @nr_fields: in @fields
 */
struct tb_event_def {
	struct list_head list;
	const struct tb_unit *unit;
	const char *system;
	const char *name;
	const char *print;
	void *probe;
	const struct tb_field_def *fields;
	void *fast_probe;
	const struct tb_field_def *fast_fields;
	struct tracepoint *tp;
	u16 index;
	u16 nr_fields;
};

/**
 * struct tb_probe - an event as one provider records it
 * @def: which event; set before the first attach
 * @provider: where to; set before the first attach
 * @attached: the probe that is registered, NULL if none
 * @id_wide: event id of the full form
 * @id_fast: event id of the one-element form
 * @enabled: wanted
 * @fast: wanted, or attached, in the one-element form
 *
 * It is the data pointer of the registered probe, so it must live until
 * tb_events_synchronize() returned after the detach.
 */
struct tb_probe {
	const struct tb_event_def *def;
	struct tb_provider *provider;
	void *attached;
	u16 id_wide;
	u16 id_fast;
	u8 enabled;
	u8 fast;
};

/* the function stage.h makes for each unit: it fills in *unit */
#define TB_UNIT_INIT(name)	void tb_unit_init_##name(struct tb_unit *unit)
#define TB_UNIT(name)		TB_UNIT_INIT(name)
#include "units.h"
#undef TB_UNIT

#endif /* TB_CAPTURE_H */
