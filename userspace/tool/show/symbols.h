/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for addresses of the kernel.
 */
#ifndef TRACEBUF_SYMBOLS_H
#define TRACEBUF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol;

/* Initialise with zeros */
struct symbols {
	struct symbol *list;
	size_t count, room, added;
	bool   sorted;
};

/* Add the symbols of a file like /proc/kallsyms; complains, EXIT_* */
int symbols_load(struct symbols *symbols, const char *file);

/* Return the name of the function that @address is in, and its @start; NULL: unknown */
const char *symbols_find(struct symbols *symbols, uint64_t address,
			 uint64_t *start);

void symbols_free(struct symbols *symbols);

#endif /* TRACEBUF_SYMBOLS_H */
