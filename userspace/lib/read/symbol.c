// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions by address, as the notes of a trace tell them.
 *
 * A followed trace tells them block by block.  Symbols stand in sorted runs, each more than twice
 * as long as the next: to sort all of them again with each block would take quadratic time.
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

	TB_COUNT_STEP();
	return first->start < second->start ? -1 : first->start > second->start;
}

static size_t run_end(const struct tb_recording *recording, size_t run)
{
	return run + 1 < recording->nr_symbol_runs ? recording->symbol_runs[run + 1] :
	       recording->nr_symbols;
}

int tb_symbols_sort(struct tb_recording *recording)
{
	size_t *starts, start = recording->symbols_sorted, last;

	if (start == recording->nr_symbols)
		return 0;
	if (tb_array_grow(&recording->symbol_runs, &recording->room_symbol_runs,
			  recording->nr_symbol_runs, sizeof(*starts)))
		return -ENOMEM;
	starts = recording->symbol_runs;
	starts[recording->nr_symbol_runs++] = start;
	/* the new run takes in those that are not more than twice as long */
	for (; (last = recording->nr_symbol_runs - 1) > 0; recording->nr_symbol_runs--) {
		if (starts[last] - starts[last - 1] > 2 * (recording->nr_symbols - starts[last]))
			break;
	}
	qsort(recording->symbols + starts[last], recording->nr_symbols - starts[last],
	      sizeof(*recording->symbols), compare);
	recording->symbols_sorted = recording->nr_symbols;
	return 0;
}

/* The last symbol from @low to @high that does not begin behind @address; NULL: all do */
static const struct tb_symbol_at *find(const struct tb_recording *recording, size_t low,
				       size_t high, uint64_t address)
{
	size_t first = low, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (recording->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? &recording->symbols[low - 1] : NULL;
}

int tb_trace_symbol(const struct tb_trace *trace, uint64_t address,
		    const char **name, size_t *length, uint64_t *offset)
{
	const struct tb_recording *recording = trace->selected;
	const struct tb_symbol_at *symbol = NULL, *found;
	size_t run;

	for (run = 0; run < recording->nr_symbol_runs; run++) {
		found = find(recording, recording->symbol_runs[run], run_end(recording, run),
			     address);
		if (found && (!symbol || found->start >= symbol->start))
			symbol = found;
	}
	if (!symbol || address - symbol->start >= symbol->size)
		return -ENOENT;
	*name = symbol->name;
	*length = symbol->length;
	*offset = address - symbol->start;
	return 0;
}
