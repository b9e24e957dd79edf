// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for addresses of the kernel: added in any order, sorted at the first look-up.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols.h"
#include "lib/array.h"
#include "lib/bisect.h"
#include "tool/command/command.h"

/* No function is longer: an address farther behind a symbol is in an unknown function */
#define LONGEST 0x100000

/* @number: in the order of add() */
struct symbol {
	uint64_t address;
	size_t   number;
	char    *name;
};

/* Add @name for @address, unless that has a name; -ENOMEM */
static int add(struct symbols *symbols, uint64_t address, const char *name)
{
	struct symbol one = { .address = address, .number = symbols->added };

	if (tb_array_grow(&symbols->list, &symbols->room, symbols->count, sizeof(*symbols->list)))
		return -ENOMEM;
	one.name = strdup(name);
	if (!one.name)
		return -ENOMEM;
	symbols->added++;
	symbols->list[symbols->count++] = one;
	symbols->sorted = false;
	return 0;
}

/* By address, then in the order of add() */
static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort(struct symbols *symbols)
{
	size_t i, kept = 0;

	qsort(symbols->list, symbols->count, sizeof(*symbols->list), compare);
	for (i = 0; i < symbols->count; i++)
		if (kept && symbols->list[kept - 1].address == symbols->list[i].address)
			free(symbols->list[i].name);
		else
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
	return symbols->list[low].name;
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
			result = add(symbols, address, name);
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
	size_t i;

	for (i = 0; i < symbols->count; i++)
		free(symbols->list[i].name);
	free(symbols->list);
	*symbols = (struct symbols){ 0 };
}
