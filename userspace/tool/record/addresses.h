/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collect the addresses in a trace while its blocks are written.  Only the running machine can name
 * them, so the kernel's functions and the mappings of programs are written behind the blocks.
 */
#ifndef TRACEBUF_ADDRESSES_H
#define TRACEBUF_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

struct addresses;
struct mappings;

/* Collect the addresses in stacks and events of this block.  The first one allocates *@addresses.
 * @stacks: the recording may have stacks.  Without memory an address gets no name. */
void addresses_block(struct addresses **addresses, const struct tb_block *block, bool stacks);

/**
 * addresses_notes - look the addresses up in the running kernel
 * @first: sequence number of the first block of notes
 * @data: out: blocks of notes, which the caller frees; NULL: none
 * @bytes: out: size of @data
 * Return: 0; -ENODATA: the kernel hides its addresses; other -errno.
 */
int addresses_notes(const struct addresses *addresses, uint64_t first, void **data,
		    size_t *bytes);
/* Are there addresses of user stacks?  @addresses may be NULL */
bool addresses_user(const struct addresses *addresses);
/* As addresses_notes(), for user stacks: the mappings that contain the addresses; 0 or -ENOMEM */
int addresses_mappings(const struct addresses *addresses, struct mappings *mappings,
		       uint64_t first, void **data, size_t *bytes);
void addresses_free(struct addresses *addresses);

#endif /* TRACEBUF_ADDRESSES_H */
