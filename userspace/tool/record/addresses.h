/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the addresses in a trace, which are known to this kernel and
 * only while it runs: collected while blocks go by, written behind them.
 */
#ifndef TRACEBUF_ADDRESSES_H
#define TRACEBUF_ADDRESSES_H
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"


struct addresses;

/* The addresses in the kernel's stacks of this block, and of functions in its events; made when there are any.
 * One for which there is no memory has no name later. */
void addresses_block(struct addresses **addresses, const struct tb_block *block);

/* @from, which is taken over, to what is there */
void addresses_merge(struct addresses **into, struct addresses *from);

/**
 * addresses_notes - look the addresses up in the running kernel
 * @first: number of the first block of notes
 * @data: out: blocks of notes, to be freed; NULL if there are none
 * @bytes: out: of these
 * Return: 0; -ENODATA the kernel does not tell, other -errno.
 */
int addresses_notes(const struct addresses *addresses, uint64_t first, void **data,
		    size_t *bytes);
void addresses_free(struct addresses *addresses);

#endif /* TRACEBUF_ADDRESSES_H */
