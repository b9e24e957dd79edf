// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions by address, as the notes of a trace tell them.
 */
#include <errno.h>
#include <stdlib.h>
#include "internal.h"

int tb_symbol_add(struct tb_recording *recording, const struct tb_walk *walk)
{
	const struct tb_symbol *symbol = walk->payload;
	struct tb_symbol_at *at;

	if (tb_array_grow(&recording->symbols, &recording->room_symbols,
			  recording->nr_symbols, sizeof(*at)))
		return -ENOMEM;
	at = &recording->symbols[recording->nr_symbols++];
	at->start = symbol->start;
	at->size = symbol->size;
	at->name = (const char *)(symbol + 1);
	at->length = strnlen(at->name, walk->bytes - sizeof(*symbol));
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct tb_symbol_at *first = a, *second = b;

	return first->start < second->start ? -1 : first->start > second->start;
}

void tb_symbols_sort(struct tb_recording *recording)
{
	if (recording->nr_symbols)
		qsort(recording->symbols, recording->nr_symbols,
		      sizeof(*recording->symbols), compare);
}

int tb_trace_symbol(const struct tb_trace *trace, uint64_t address,
		    const char **name, size_t *length, uint64_t *offset)
{
	const struct tb_recording *recording = trace->selected;
	const struct tb_symbol_at *symbol;
	size_t low = 0, high = recording->nr_symbols, middle;

	/* the last that does not begin behind it */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (recording->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -ENOENT;
	symbol = &recording->symbols[low - 1];
	if (address - symbol->start >= symbol->size)
		return -ENOENT;
	*name = symbol->name;
	*length = symbol->length;
	*offset = address - symbol->start;
	return 0;
}
