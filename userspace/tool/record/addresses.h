/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The addresses in a trace, collected while blocks go by.  What gives them names is known only
 * while the machine runs, and is written behind the blocks: the kernel's functions, and which
 * files' code programs have mapped.
 */
#ifndef TRACEBUF_ADDRESSES_H
#define TRACEBUF_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

struct addresses;
struct mappings;

/* The addresses in the stacks of this block, and of functions in its events; made when there are any.
 * One for which there is no memory has no name later. */
void addresses_block(struct addresses **addresses, const struct tb_block *block);

/**
 * addresses_notes - look the addresses up in the running kernel
 * @first: number of the first block of notes
 * @data: out: blocks of notes, to be freed; NULL if there are none
 * @bytes: out: of these
 * Return: 0; -ENODATA the kernel does not tell, other -errno.
 */
int addresses_notes(const struct addresses *addresses, uint64_t first, void **data,
		    size_t *bytes);
/* Are there any of user stacks?  @addresses may be NULL */
bool addresses_user(const struct addresses *addresses);
/* As addresses_notes(), of the user stacks: the mappings that they lie in; -ENOMEM */
int addresses_mappings(const struct addresses *addresses, struct mappings *mappings,
		       uint64_t first, void **data, size_t *bytes);
void addresses_free(struct addresses *addresses);

#endif /* TRACEBUF_ADDRESSES_H */
