/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a driver: declared in one place, recorded where they happen, and from then on
 * chosen, filtered and read by their names like the kernel's tracepoints.
 *
 *	#include <linux/tracebuf_event.h>
 *
 *	TRACEBUF_EVENT(mydev, done, (u32, queue), (u32, len), (char, unit[16]));
 *	TRACEBUF_SIMPLE_EVENT(mydev, irq, (u16, queue), (u32, status));
 *	TRACEBUF_GROUP(mydev_events, (mydev, done), (mydev, irq));
 *
 *	err = tracebuf_register(&mydev_events);
 *	...
 *	tracebuf_event(mydev, irq, .queue = q, .status = status);
 *	...
 *	tracebuf_unregister(&mydev_events);
 *
 * An event that no provider records, and no trigger waits for, costs a branch that is patched out;
 * its arguments are not evaluated.
 *
 * A field is (type, name) or (type, name[n]); the type is a number of 1 to 8 bytes or a
 * pointer.  It lies where the compiler puts it in a structure of these members.  An array of
 * char is a text.  TRACEBUF_DYNAMIC(type, name) is an array whose length can differ between
 * events: see tracebuf_reserve().
 */
#ifndef _LINUX_TRACEBUF_EVENT_H
#define _LINUX_TRACEBUF_EVENT_H

#include <linux/stringify.h>
#include <linux/tracebuf.h>
#include <linux/tracebuf_macros.h>

/**
 * struct tracebuf_field - one field of an event, as the compiler knows it
 * @name: as declared: of an array with its brackets
 * @type: as declared
 * @offset: in the event's structure
 * @size: bytes in all
 * @element: bytes of one @type
 * @flags: TB_FIELD_SIGNED, TB_FIELD_DATA_LOC
 */
struct tracebuf_field {
	const char *name;
	const char *type;
	u16 offset;
	u16 size;
	u16 element;
	u16 flags;
};

/**
 * struct tracebuf_def - an event, made by TRACEBUF_EVENT() and its relatives
 * @source: registration state of the event
 * @system: subsystem
 * @name: name
 * @print: print format, or NULL: readers show the fields one after another
 * @fields: array of the fields
 * @nr_fields: number of fields
 * @bytes: size of the event's structure
 * @simple: it takes one element
 */
struct tracebuf_def {
	struct tracebuf_source source;
	const char *system;
	const char *name;
	const char *print;
	const struct tracebuf_field *fields;
	u32 nr_fields;
	u32 bytes;
	bool simple;
};

/**
 * struct tracebuf_group - events that come and go together
 * @defs: them, NULL at the end
 * @registered: what tracebuf_register() has made of them, or NULL
 */
struct tracebuf_group {
	struct tracebuf_def *const *defs;
	void *registered;
};

int tracebuf_register(struct tracebuf_group *group);
void tracebuf_unregister(struct tracebuf_group *group);
void tracebuf_commit(struct tracebuf_slot *slot);
void *tracebuf_room(struct tracebuf_slot *slot, u32 bytes, u32 *word);
u32 tracebuf_put_data(struct tracebuf_slot *slot, const void *data, u32 bytes);
u32 tracebuf_put_text(struct tracebuf_slot *slot, const char *text);

/* called by what the macros make */
void __tracebuf_record(struct tracebuf_def *def, const void *payload);
void __tracebuf_record_simple(struct tracebuf_def *def, u64 payload);
void *__tracebuf_reserve(struct tracebuf_def *def, struct tracebuf_slot *slot, u32 extra);

/* ---- declaring -------------------------------------------------------- */

/**
 * TRACEBUF_EVENT() - declare an event
 * @system: subsystem, usually the driver's name; an identifier
 * @event: the event's name; an identifier
 * @...: its fields, 1 to 16
 *
 * At file scope.  Makes struct tracebuf_SYSTEM_EVENT, with a member for each field.
 */
#define TRACEBUF_EVENT(system, event, ...)				\
	__TRACEBUF_COMPOSITE(system, event, system##_##event, NULL, __VA_ARGS__)

/**
 * TRACEBUF_EVENT_PRINT() - declare an event with a print format
 * @system: as TRACEBUF_EVENT()
 * @event: as TRACEBUF_EVENT()
 * @print: TRACEBUF_PRINT()
 * @...: its fields
 */
#define TRACEBUF_EVENT_PRINT(system, event, print, ...)			\
	__TRACEBUF_COMPOSITE(system, event, system##_##event, print, __VA_ARGS__)

/**
 * TRACEBUF_PRINT() - the print format of an event
 * @format: a format string, as of printf()
 * @...: its arguments: REC->field; __get_str(field) for a dynamic text; __print_flags(),
 *	__print_symbolic() and others of TP_printk() that readers know; with numbers, because
 *	readers do not know enumerators
 *
 * Readers evaluate it; the kernel and the compiler do not.
 */
#define TRACEBUF_PRINT(format, ...)	__stringify(format, ##__VA_ARGS__)

/**
 * TRACEBUF_SIMPLE_EVENT() - declare an event that takes one element of a ring
 * @system: as TRACEBUF_EVENT()
 * @event: as TRACEBUF_EVENT()
 * @...: its fields, none dynamic, together not more than 8 bytes
 *
 * The cheapest event: time, id and 8 bytes, without the thread.
 */
#define TRACEBUF_SIMPLE_EVENT(system, event, ...)			\
	__TRACEBUF_SIMPLE(system, event, system##_##event, __VA_ARGS__)

/**
 * TRACEBUF_DYNAMIC() - a field that is an array of variable length
 * @type: of an element; char: a text
 * @name: its name
 *
 * The structure has a u32 of this name, which is to be what tracebuf_put_data() and its like
 * return; 0: it is empty.
 */
#define TRACEBUF_DYNAMIC(type, name)	(type, name, dynamic)

/**
 * TRACEBUF_GROUP() - a group of events, to be registered together
 * @group: the name of the struct tracebuf_group that is made, static
 * @...: 1 to 16 (system, event)
 */
#define TRACEBUF_GROUP(group, ...)	__TRACEBUF_GROUP(group, __VA_ARGS__)

/* ---- recording -------------------------------------------------------- */

/**
 * tracebuf_enabled() - does anybody record an event?
 * @system: of the event
 * @event: the event
 *
 * For what is to be computed only then.  A branch that is patched.
 *
 * Context: any.
 * Return: true if so.
 */
#define tracebuf_enabled(system, event)					\
	static_branch_unlikely(&__tracebuf_##system##_##event.source.wanted)

/**
 * tracebuf_event() - record an event, if it is enabled
 * @system: system of the event
 * @event: name of the event
 * @...: initialisers of its structure: .member = value; the others are 0.  They are evaluated only
 *	if a provider records the event or a trigger waits for it.
 *
 * Context: any where RCU is watching, NMI included.
 */
#define tracebuf_event(system, event, ...)				\
do {									\
	if (tracebuf_enabled(system, event)) {				\
		struct tracebuf_##system##_##event __tracebuf_e = { __VA_ARGS__ }; \
									\
		__tracebuf_clear(&__tracebuf_e);			\
		__tracebuf_record_##system##_##event(&__tracebuf_e);	\
	}								\
} while (0)

/**
 * tracebuf_reserve() - reserve room for an event in the ring
 * @system: system of the event, which is not a simple one
 * @event: name of the event
 * @slot: struct tracebuf_slot, for tracebuf_commit()
 * @extra: bytes for all its dynamic fields together
 *
 *	e = tracebuf_reserve(mydev, frame, &slot, len);
 *	if (e) {
 *		e->queue = q;
 *		e->data = tracebuf_put_data(&slot, data, len);
 *		tracebuf_commit(&slot);
 *	}
 *
 * Context: any where RCU is watching, NMI included.  Preemption is off until tracebuf_commit().
 * Call that in the same context, and soon: until then readers get no later events of this CPU.
 * Reservations nest: commit the last one first.
 * Return: the event's structure, all zero; a dynamic field that stays zero is empty.  NULL if
 * no provider records the event and no trigger waits for it, or there is no room, which is counted.
 */
#define tracebuf_reserve(system, event, slot, extra)			\
	(tracebuf_enabled(system, event) ?				\
	 __tracebuf_reserve_##system##_##event(slot, extra) : NULL)

#endif /* _LINUX_TRACEBUF_EVENT_H */
