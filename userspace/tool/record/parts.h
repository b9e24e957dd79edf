/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording's files say of each other: how far each ring had got where one ends and
 * the next one begins, so that each can be checked by itself (struct tb_part).
 */
#ifndef TRACEBUF_PARTS_H
#define TRACEBUF_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

/**
 * struct parts - the counts of what has been written
 * @cpus: by number; those that have no block yet are all zero
 * @count: how many there is room for
 * @provider: whose
 */
struct parts {
	struct tb_part *cpus;
	unsigned int count;
	uint16_t provider;
};

/* A rolling block is written; -ENOMEM */
int parts_block(struct parts *parts, const struct tb_block *block);

/* What is to be told, as blocks of notes: @data to be freed, NULL if there is nothing; -ENOMEM */
int parts_notes(const struct parts *parts, uint32_t flags, uint64_t first, void **data,
		size_t *bytes);
void parts_free(struct parts *parts);

#endif /* TRACEBUF_PARTS_H */
