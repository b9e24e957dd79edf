// SPDX-License-Identifier: GPL-2.0-only
/*
 * A growing array of objects by number.
 */
#include <stdlib.h>
#include <string.h>
#include "slots.h"

void *slots_get(struct slots *slots, uint32_t index, size_t size)
{
	void **grown;
	size_t room;

	if (index >= slots->count) {
		room = (size_t)index * 2 + 16;
		grown = realloc(slots->list, room * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + slots->count, 0, (room - slots->count) * sizeof(*grown));
		slots->list = grown;
		slots->count = room;
	}
	if (!slots->list[index])
		slots->list[index] = calloc(1, size);
	return slots->list[index];
}

void slots_free(struct slots *slots, void (*free_one)(void *))
{
	size_t i;

	for (i = 0; i < slots->count; i++)
		if (slots->list[i])
			free_one(slots->list[i]);
	free(slots->list);
}
