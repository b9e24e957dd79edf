// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of events of other modules: from what the macros of <linux/tracebuf_event.h> make to
 * what the registry wants.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracebuf_event.h>

#include "catalog.h"
#include "machine/contiguous.h"

/* fields of an event, and the end */
#define TB_GROUP_FIELDS		17

/**
 * struct tb_group_event - one of them
 * @def: for the registry
 * @fields: of @def
 * @names: of arrays, without their brackets
 */
struct tb_group_event {
	struct tb_event_def def;
	struct tb_field_def fields[TB_GROUP_FIELDS];
	char names[TB_GROUP_FIELDS][TB_NAME_MAX];
};

/**
 * struct tb_group - a group that is registered
 * @unit: with its definitions
 * @nr: events
 * @events: @nr of them
 */
struct tb_group {
	struct tb_unit unit;
	u32 nr;
	struct tb_group_event events[];
};

static int tb_group_field(struct tb_field_def *to, char *name, const struct tracebuf_field *from)
{
	/* name[n] */
	size_t len = strcspn(from->name, "[");

	if (!len || len >= TB_NAME_MAX || strlen(from->type) >= TB_NAME_MAX)
		return -EINVAL;
	/* numbers, and texts of them */
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
 * tracebuf_register() - make the events of a group known
 * @group: made with TRACEBUF_GROUP()
 *
 * From now on users can choose them.  What they chose when a group with the same events was
 * there before is recorded at once.
 *
 * An event's id stays the same as long as tracebuf is loaded, if the event does: one that
 * comes again with other fields is another.
 *
 * Context: process, sleeps.
 * Return: 0; -EBUSY it is registered; -EINVAL a name of 64 characters or more, a field that is
 * neither number nor pointer; -EEXIST there is an event of that name; -EOVERFLOW no ids are
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
 * tracebuf_unregister() - the events of a group are no more
 * @group: registered, or not
 *
 * Recordings go on without them, and keep what they have of them.  Nothing in this module looks at
 * the group any more when this returns; who registered it has to see to it that nothing
 * is between tracebuf_reserve() and tracebuf_commit() then.
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
