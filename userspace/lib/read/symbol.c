// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions of the kernel by address, from the notes of a trace.
 *
 * A followed trace delivers them block by block.  So symbols are in sorted runs, each more than
 * twice as long as the next: sorting all of them with each block would take quadratic time.
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

size_t tb_run_end(const struct tb_runs *runs, size_t run, size_t used)
{
	return run + 1 < runs->count ? runs->starts[run + 1] : used;
}

int tb_runs_sort(struct tb_runs *runs, void *list, size_t used, size_t size,
		 int (*order)(const void *, const void *))
{
	size_t *starts, start = runs->sorted, last;

	if (start == used)
		return 0;
	if (tb_array_grow(&runs->starts, &runs->room, runs->count, sizeof(*starts)))
		return -ENOMEM;
	starts = runs->starts;
	starts[runs->count++] = start;
	/* merge the new run with runs before it that are not more than twice as long */
	for (; (last = runs->count - 1) > 0; runs->count--) {
		if (starts[last] - starts[last - 1] > 2 * (used - starts[last]))
			break;
	}
	qsort((char *)list + starts[last] * size, used - starts[last], size, order);
	runs->sorted = used;
	return 0;
}

int tb_symbols_sort(struct tb_recording *recording)
{
	return tb_runs_sort(&recording->symbol_runs, recording->symbols, recording->nr_symbols,
			    sizeof(*recording->symbols), compare);
}

/* The last symbol from @low to @high that begins at @address or before; NULL: none */
static const struct tb_symbol_at *find(const struct tb_recording *recording, size_t low,
				       size_t high, uint64_t address)
{
	size_t first = low;

	BISECT(low, high, i, recording->symbols[i].start <= address);
	return low > first ? &recording->symbols[low - 1] : NULL;
}

int tb_trace_symbol(const struct tb_trace *trace, uint64_t address,
		    const char **name, size_t *length, uint64_t *offset)
{
	const struct tb_recording *recording = trace->selected;
	const struct tb_symbol_at *symbol = NULL, *found;
	size_t run;

	for (run = 0; run < recording->symbol_runs.count; run++) {
		found = find(recording, recording->symbol_runs.starts[run],
			     tb_run_end(&recording->symbol_runs, run, recording->nr_symbols),
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
