// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counts of each ring in a recording with several files; see continuation.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "notes.h"
#include "continuation.h"
#include "lib/array.h"

int continuation_block(struct continuation *counts, const struct tb_block *block)
{
	struct tb_part *part;

	if (tb_array_reach(&counts->cpus, &counts->count, block->cpu, sizeof(*part)))
		return -ENOMEM;
	part = &counts->cpus[block->cpu];
	part->cpu = block->cpu;
	part->blocks = block->sequence + 1;
	part->events += block->events;
	part->overwritten = block->overwritten;
	part->dropped = block->dropped;
	counts->provider = block->provider;
	return 0;
}

int continuation_notes(const struct continuation *counts, uint32_t flags, uint64_t first,
		       void **data, size_t *bytes)
{
	struct notes notes = { .first = first, .provider = counts->provider };
	struct tb_part part;
	unsigned int cpu;
	int result = 0;

	for (cpu = 0; cpu < counts->count && !result; cpu++) {
		part = counts->cpus[cpu];
		part.flags = flags;
		if (part.blocks)
			result = notes_add(&notes, TB_EV_PART, &part, sizeof(part));
	}
	if (result) {
		free(notes.data);
		return result;
	}
	*data = notes.data;
	*bytes = notes_bytes(&notes);
	return 0;
}

void continuation_free(struct continuation *counts)
{
	free(counts->cpus);
	memset(counts, 0, sizeof(*counts));
}
