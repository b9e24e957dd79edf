/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counts of each ring at the end of a file and at the beginning of the next (struct tb_part),
 * so that a reader can check each file by itself.
 */
#ifndef TRACEBUF_CONTINUATION_H
#define TRACEBUF_CONTINUATION_H

#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

/**
 * struct continuation - the counts of the blocks that have been written
 * @cpus: for each CPU number; all zero for a CPU without blocks
 * @count: length of @cpus
 * @provider: provider of the blocks
 */
struct continuation {
	struct tb_part *cpus;
	unsigned int count;
	uint16_t provider;
};

/* Count a rolling block; 0 or -ENOMEM */
int continuation_block(struct continuation *counts, const struct tb_block *block);

/* Make notes of the counts.  The caller frees @data, which is NULL without counts; 0 or -ENOMEM */
int continuation_notes(const struct continuation *counts, uint32_t flags, uint64_t first,
		       void **data, size_t *bytes);
void continuation_free(struct continuation *counts);

#endif /* TRACEBUF_CONTINUATION_H */
