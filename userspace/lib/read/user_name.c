// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names that programs have recorded, by number.
 *
 * A name has no time: one writer records it and others use its number, perhaps in a piece that the
 * kernel took before.  So a number means the same in all of a recording, and all names are known
 * before the first record is shown.  Correct programs use no number twice; if one does, the name
 * recorded last counts.
 *
 * The table is sorted, not hashed: programs choose the numbers, and could make look-ups in a hash
 * table slow.
 */
#include <errno.h>
#include <stdlib.h>
#include "user.h"

static uint64_t key_of(uint32_t producer, uint32_t id)
{
	return (uint64_t)producer << 32 | id;
}

int tb_names_add(struct tb_users *users, uint32_t producer, uint64_t ticks,
		  const struct tb_record *record, const struct tb_record *head)
{
	size_t length = head->time & 0xffff;
	struct tb_program_name *name;
	char *text;

	if (!head->id)
		return 0;
	if (length > head->bytes - sizeof(*record))
		length = head->bytes - sizeof(*record);
	if (tb_array_grow(&users->names, &users->room_names, users->nr_names,
			  sizeof(*name)))
		return -ENOMEM;
	text = strndup((const char *)(record + 1), length);
	if (!text)
		return -ENOMEM;
	name = &users->names[users->nr_names];
	*name = (struct tb_program_name) {
		.key = key_of(producer, head->id),
		.ticks = ticks,
		.order = users->nr_names++,
		.name = {
			.producer = producer,
			.id = head->id,
			.kind = head->time >> 16 & 0xffff,
			.category = (uint32_t)(head->time >> 32),
			.text = text,
		},
	};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct tb_program_name *first = a, *second = b;

	if (first->key != second->key)
		return first->key < second->key ? -1 : 1;
	if (first->ticks != second->ticks)
		return first->ticks < second->ticks ? -1 : 1;
	return first->order < second->order ? -1 : first->order > second->order;
}

/* Sort, and keep only the last name of each number */
void tb_names_sort(struct tb_users *users)
{
	struct tb_program_name *names = users->names;
	size_t i, kept = 0;

	if (!users->nr_names)
		return;
	qsort(names, users->nr_names, sizeof(*names), compare);
	for (i = 0; i < users->nr_names; i++) {
		if (i + 1 < users->nr_names && names[i + 1].key == names[i].key)
			free((char *)names[i].name.text);
		else
			names[kept++] = names[i];
	}
	users->nr_names = kept;
}

const struct tb_user_name *tb_names_find(const struct tb_users *users,
					 uint32_t producer, uint32_t id)
{
	uint64_t key = key_of(producer, id);
	size_t low = 0;

	BISECT(low, users->nr_names, i, users->names[i].key < key);
	return low < users->nr_names && users->names[low].key == key ?
	       &users->names[low].name : NULL;
}

const struct tb_user_name *tb_trace_user_name(const struct tb_trace *trace,
					      unsigned int index)
{
	const struct tb_users *users = trace->selected->users;

	return users && index < users->nr_names ? &users->names[index].name :
	       NULL;
}

const char *tb_trace_user_category(const struct tb_trace *trace,
				   const struct tb_user_name *name)
{
	const struct tb_users *users = trace->selected->users;
	const struct tb_user_name *category;

	if (!name->category)
		return "-";
	category = users ? tb_names_find(users, name->producer,
					 name->category) : NULL;
	return category ? category->text : NULL;
}
