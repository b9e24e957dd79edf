// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for addresses of the kernel: added in any order, sorted at the first look-up.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols.h"
#include "lib/bisect.h"
#include "tool/command/command.h"

/* No function is longer: an address farther behind a symbol is in an unknown function */
#define LONGEST 0x100000

struct symbol {
	uint64_t address;
	size_t   name;		/* offset in the names, in the order of symbols_add() */
};

static int grow(void **array, size_t *room, size_t want, size_t size)
{
	size_t more = *room ? *room : 1024;
	void *larger;

	if (want <= *room)
		return 0;
	while (more < want)
		more *= 2;
	larger = realloc(*array, more * size);
	if (!larger)
		return -ENOMEM;
	*array = larger;
	*room = more;
	return 0;
}

int symbols_add(struct symbols *symbols, uint64_t address, const char *name)
{
	size_t length = strlen(name) + 1;
	void *list = symbols->list, *names = symbols->names;
	int result;

	result = grow(&list, &symbols->room, symbols->count + 1,
		      sizeof(*symbols->list));
	symbols->list = list;
	if (result)
		return result;
	result = grow(&names, &symbols->names_room,
		      symbols->names_used + length, 1);
	symbols->names = names;
	if (result)
		return result;
	memcpy(symbols->names + symbols->names_used, name, length);
	symbols->list[symbols->count].address = address;
	symbols->list[symbols->count].name = symbols->names_used;
	symbols->names_used += length;
	symbols->count++;
	symbols->sorted = false;
	return 0;
}

/* By address, then in the order of symbols_add() */
static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void sort(struct symbols *symbols)
{
	size_t i, kept = 0;

	qsort(symbols->list, symbols->count, sizeof(*symbols->list), compare);
	for (i = 0; i < symbols->count; i++)
		if (!kept || symbols->list[kept - 1].address !=
			     symbols->list[i].address)
			symbols->list[kept++] = symbols->list[i];
	symbols->count = kept;
	symbols->sorted = true;
}

const char *symbols_find(struct symbols *symbols, uint64_t address,
			 uint64_t *start)
{
	size_t low = 1;

	if (!symbols->count)
		return NULL;
	if (!symbols->sorted)
		sort(symbols);
	/* the last symbol that is not above @address */
	BISECT(low, symbols->count, i, symbols->list[i].address <= address);
	low--;
	if (symbols->list[low].address > address ||
	    address - symbols->list[low].address >= LONGEST)
		return NULL;
	*start = symbols->list[low].address;
	return symbols->names + symbols->list[low].name;
}

int symbols_load(struct symbols *symbols, const char *file)
{
	char *line = NULL, name[256], type;
	unsigned long long address;
	size_t room = 0, before = symbols->count;
	bool hidden = false;
	int result = 0;
	FILE *in;

	in = fopen(file, "r");
	if (!in)
		return complain("%s: %s", file, strerror(errno));
	while (!result && getline(&line, &room, in) >= 0) {
		if (sscanf(line, "%llx %c %255s", &address, &type, name) != 3) {
			result = -EINVAL;
		} else if (!address) {
			hidden = true;
		} else if (type != 'A' && type != 'a') {
			/* absolute symbols are not addresses of functions */
			result = symbols_add(symbols, address, name);
		}
	}
	if (!result && ferror(in))
		result = -EIO;
	free(line);
	fclose(in);
	if (result == -EINVAL)
		return complain("%s: not a list of symbols like /proc/kallsyms",
				file);
	if (result)
		return complain("%s: %s", file, strerror(-result));
	if (symbols->count > before)
		return EXIT_FINE;
	return complain(hidden ? "%s: all addresses are zero: only root can read them" :
			"%s: no symbols", file);
}

void symbols_free(struct symbols *symbols)
{
	free(symbols->list);
	free(symbols->names);
	*symbols = (struct symbols){ 0 };
}
