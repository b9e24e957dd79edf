// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as tables - names that differ also without regard to case, as SQLite needs them.
 *
 * A hostile trace can have thousands of equal names.  So names are in a hash table, and each one
 * has the last number that was put behind it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include "tables.h"

#define FIRST_SLOTS 64		/* a power of two */

static struct db_name *slot_of(const struct db_names *names, const char *name)
{
	uint64_t key = 0;
	size_t i;

	for (i = 0; name[i]; i++)
		key = tb_hash(&names->secret, key ^ (uint64_t)tolower((unsigned char)name[i]));
	i = tb_hash_slot(&names->secret, key, names->room);
	while (names->slots[i].name && strcasecmp(names->slots[i].name, name))
		i = (i + 1) & (names->room - 1);
	return &names->slots[i];
}

struct db_name *db_names_find(const struct db_names *names, const char *name)
{
	struct db_name *slot = names->room ? slot_of(names, name) : NULL;

	return slot && slot->name ? slot : NULL;
}

static bool grow(struct db_names *names)
{
	struct db_names more = { .count = names->count, .secret = tb_secret() };
	size_t i;

	more.room = names->room ? 2 * names->room : FIRST_SLOTS;
	more.slots = calloc(more.room, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (i = 0; i < names->room; i++)
		if (names->slots[i].name)
			*slot_of(&more, names->slots[i].name) = names->slots[i];
	free(names->slots);
	*names = more;
	return true;
}

bool db_names_add(struct db_names *names, const char *name, size_t index)
{
	if (2 * names->count >= names->room && !grow(names))
		return false;
	*slot_of(names, name) = (struct db_name){ .name = name, .index = index, .number = 1 };
	names->count++;
	return true;
}

char *db_names_choose(const struct db_names *names, char *name)
{
	struct db_name *taken = db_names_find(names, name);
	char *other;

	if (!taken)
		return name;
	other = strdup(name);
	while (other && db_names_find(names, other)) {
		free(other);
		if (asprintf(&other, "%s_%u", name, ++taken->number) < 0)
			other = NULL;
	}
	free(name);
	return other;
}

void db_names_free(struct db_names *names)
{
	free(names->slots);
}
