/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols for the addresses in a trace, which are known to this kernel and
 * only while it runs: collected while blocks go by, written behind them.
 */
#ifndef TRACEBUF_SYMBOLS_H
#define TRACEBUF_SYMBOLS_H

#include "tool.h"

struct symbols;

/* The addresses in the kernel's stacks of this block; made when there are any.
 * One for which there is no memory has no name later. */
void symbols_block(struct symbols **symbols, const struct tb_block *block);

/**
 * symbols_notes - look the addresses up in the running kernel
 * @data: out: blocks of notes, to be freed; NULL if there are none
 * @bytes: out: of these
 * Return: 0; -ENODATA the kernel does not tell, other -errno.
 */
int symbols_notes(const struct symbols *symbols, void **data, size_t *bytes);
void symbols_free(struct symbols *symbols);

#endif /* TRACEBUF_SYMBOLS_H */
