// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of events of other modules: convert the definitions that the macros of
 * <linux/tracebuf_event.h> make into those of the catalog, and register them.
 *
 * Callers: other modules, in process context.  Takes no lock of its own.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/tracebuf_event.h>

#include "catalog.h"
#include "machine/contiguous.h"

/* fields of an event, including the empty one at the end */
#define TB_GROUP_FIELDS		17

/**
 * struct tb_group_event - an event of a group
 * @def: its definition for the catalog
 * @fields: fields of @def
 * @names: names of the fields, without the brackets of arrays
 */
struct tb_group_event {
	struct tb_event_def def;
	struct tb_field_def fields[TB_GROUP_FIELDS];
	char names[TB_GROUP_FIELDS][TB_NAME_MAX];
};

/**
 * struct tb_group - a registered group
 * @unit: unit with its definitions, for the catalog
 * @nr: number of events
 * @events: the events
 */
struct tb_group {
	struct tb_unit unit;
	u32 nr;
	struct tb_group_event events[];
};

static int tb_group_field(struct tb_field_def *to, char *name, const struct tracebuf_field *from)
{
	/* the name of an array is "name[n]" */
	size_t len = strcspn(from->name, "[");

	if (!len || len >= TB_NAME_MAX || strlen(from->type) >= TB_NAME_MAX)
		return -EINVAL;
	/* numbers, and arrays of numbers or characters */
	if (!is_power_of_2(from->element) || from->element > sizeof(u64))
		return -EINVAL;
	memcpy(name, from->name, len);
	to->name = name;
	to->type = from->type;
	to->offset = from->offset;
	to->size = from->size;
	to->flags = from->flags;
	if (from->name[len]) {
		if (from->flags & TB_FIELD_DATA_LOC)
			return -EINVAL;
		to->count = from->size / from->element;
		to->flags |= TB_FIELD_ARRAY;
	}
	return 0;
}

static int tb_group_event(struct tb_group *g, struct tracebuf_def *from)
{
	struct tb_group_event *e = &g->events[g->nr];
	u32 i;
	int err = 0;

	if (strlen(from->system) >= TB_NAME_MAX || strlen(from->name) >= TB_NAME_MAX ||
	    from->nr_fields >= TB_GROUP_FIELDS)
		return -EINVAL;
	e->def.system = from->system;
	e->def.name = from->name;
	e->def.print = from->print;
	e->def.fields = e->fields;
	e->def.source = &from->source;
	e->def.simple = from->simple;
	for (i = 0; i < from->nr_fields && !err; i++) {
		if (from->simple && from->fields[i].flags & TB_FIELD_DATA_LOC)
			err = -EINVAL;
		else
			err = tb_group_field(&e->fields[i], e->names[i], &from->fields[i]);
	}
	if (err)
		return err;
	list_add_tail(&e->def.list, &g->unit.events);
	g->nr++;
	return 0;
}

/**
 * tracebuf_register() - register the events of a group
 * @group: made with TRACEBUF_GROUP()
 *
 * On return, users can select the events.  Events that were registered before, and are still
 * selected in a running recording, are recorded at once.
 *
 * An event keeps its id as long as tracebuf is loaded, unless it is registered again with other
 * fields: then it gets a new id.
 *
 * Context: process, sleeps.
 * Return: 0; -EBUSY the group is registered; -EINVAL a name of 64 characters or more, or a field
 * that is neither number nor pointer; -EEXIST an event of that name exists; -EOVERFLOW no ids are
 * left; -ENOMEM.
 */
int tracebuf_register(struct tracebuf_group *group)
{
	struct tb_group *g;
	u32 n = 0;
	int err = 0;

	if (group->registered)
		return -EBUSY;
	while (group->defs[n])
		n++;
	g = kvzalloc(struct_size(g, events, n), TB_GFP);
	if (!g)
		return -ENOMEM;
	INIT_LIST_HEAD(&g->unit.events);
	INIT_LIST_HEAD(&g->unit.evals);
	while (g->nr < n && !err)
		err = tb_group_event(g, group->defs[g->nr]);
	if (!err)
		err = tb_units_register(&g->unit, 1, THIS_MODULE);
	if (err)
		kvfree(g);
	else
		group->registered = g;
	return err;
}
EXPORT_SYMBOL_GPL(tracebuf_register);

/**
 * tracebuf_unregister() - unregister the events of a group
 * @group: the group; nothing happens if it is not registered
 *
 * Recordings go on without the events, and keep those already recorded.  On return, tracebuf does
 * not access the group any more.  Before the call, the caller must commit all its reservations of
 * tracebuf_reserve().
 *
 * Context: process, sleeps.
 */
void tracebuf_unregister(struct tracebuf_group *group)
{
	struct tb_group *g = group->registered;

	if (!g)
		return;
	tb_units_unregister(&g->unit, 1);
	kvfree(g);
	group->registered = NULL;
}
EXPORT_SYMBOL_GPL(tracebuf_unregister);
