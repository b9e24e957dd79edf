// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counts of each ring in a recording with several files; see parts.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "notes.h"
#include "parts.h"

int parts_block(struct parts *parts, const struct tb_block *block)
{
	struct tb_part *part;
	unsigned int count = block->cpu + 1u;

	if (count > parts->count) {
		part = realloc(parts->cpus, count * sizeof(*part));
		if (!part)
			return -ENOMEM;
		memset(part + parts->count, 0, (count - parts->count) * sizeof(*part));
		parts->cpus = part;
		parts->count = count;
	}
	part = &parts->cpus[block->cpu];
	part->cpu = block->cpu;
	part->blocks = block->sequence + 1;
	part->events += block->events;
	part->overwritten = block->overwritten;
	part->dropped = block->dropped;
	parts->provider = block->provider;
	return 0;
}

int parts_notes(const struct parts *parts, uint32_t flags, uint64_t first, void **data,
		size_t *bytes)
{
	struct notes notes = { .first = first, .provider = parts->provider };
	struct tb_part part;
	unsigned int cpu;
	int result = 0;

	for (cpu = 0; cpu < parts->count && !result; cpu++) {
		part = parts->cpus[cpu];
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

void parts_free(struct parts *parts)
{
	free(parts->cpus);
	memset(parts, 0, sizeof(*parts));
}
