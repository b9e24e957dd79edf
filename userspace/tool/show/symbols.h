/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the kernel's addresses.
 */
#ifndef TRACEBUF_SYMBOLS_H
#define TRACEBUF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol;

/* All zero: none are known yet */
struct symbols {
	struct symbol *list;
	size_t count, room;
	char  *names;
	size_t names_used, names_room;
	bool   sorted;
};

/* What is at @address is called @name; of several names the first stays; -ENOMEM */
int symbols_add(struct symbols *symbols, uint64_t address, const char *name);

/* Add those of a file like /proc/kallsyms; complains, EXIT_* */
int symbols_load(struct symbols *symbols, const char *file);

/* The name of what @address lies in, and where that starts; NULL */
const char *symbols_find(struct symbols *symbols, uint64_t address,
			 uint64_t *start);

void symbols_free(struct symbols *symbols);

#endif /* TRACEBUF_SYMBOLS_H */
