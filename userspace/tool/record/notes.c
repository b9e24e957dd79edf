// SPDX-License-Identifier: GPL-2.0-only
/*
 * Building blocks of notes; see notes.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "notes.h"
#include "tracebuf.h"

#define NOTE_BYTES (1u << NOTE_LOG2)

static struct tb_block *last_block(const struct notes *notes)
{
	return (struct tb_block *)(notes->data +
				   ((notes->blocks - 1) << NOTE_LOG2));
}

/* The memory always has room for a power of two of blocks: double it when that many are used */
static int make_room(struct notes *notes)
{
	unsigned char *grown;

	if (notes->blocks & (notes->blocks - 1))
		return 0;
	grown = aligned_alloc(NOTE_BYTES, notes->blocks ? 2 * notes_bytes(notes) : NOTE_BYTES);
	if (!grown)
		return -ENOMEM;
	if (notes->blocks)
		memcpy(grown, notes->data, notes_bytes(notes));
	free(notes->data);
	notes->data = grown;
	return 0;
}

static struct tb_block *new_block(struct notes *notes)
{
	struct tb_block *block;

	if (make_room(notes))
		return NULL;
	block = (struct tb_block *)(notes->data + notes_bytes(notes));
	memset(block, 0, NOTE_BYTES);
	block->magic = TB_BLOCK_MAGIC;
	block->version = TB_BLOCK_VERSION;
	block->kind = TB_BLOCK_NOTE;
	block->size_log2 = NOTE_LOG2;
	block->flags = TB_BLOCK_COMPLETE;
	block->provider = notes->provider;
	block->sequence = notes->first + notes->blocks++;
	block->data = sizeof(*block);
	return block;
}

/* Fill the rest of the block with a pad, and set TB_BLOCK_FLUSHED; a full block needs neither */
static void end_block(struct tb_block *block)
{
	uint32_t rest = (NOTE_BYTES - block->data) / TB_ELEMENT_SIZE;
	struct tb_element *pad = (void *)((unsigned char *)block + block->data);

	block->flags &= (uint8_t)~TB_BLOCK_FLUSHED;
	if (!rest)
		return;
	block->flags |= TB_BLOCK_FLUSHED;
	pad->head = TB_HEAD(TB_STRUCT_PAD, 0, rest > TB_EVENT_ELEMENTS_MAX ?
			    TB_EVENT_ELEMENTS_MAX : rest, block->sequence);
}

int notes_add(struct notes *notes, uint16_t id, const void *payload, size_t bytes)
{
	struct tb_block *block = notes->blocks ? last_block(notes) : NULL;
	uint32_t elements = 1 + (uint32_t)(bytes + TB_ELEMENT_SIZE - 1) /
				TB_ELEMENT_SIZE;
	struct tb_composite *composite;

	if (!block || block->data + elements * TB_ELEMENT_SIZE > NOTE_BYTES) {
		block = new_block(notes);
		if (!block)
			return -ENOMEM;
	}
	composite = (void *)((unsigned char *)block + block->data);
	memset(composite, 0, elements * TB_ELEMENT_SIZE);
	composite->head = TB_HEAD(TB_STRUCT_COMPOSITE, id, elements, block->sequence);
	composite->length = (uint16_t)bytes;
	memcpy(composite + 1, payload, bytes);
	block->data += elements * TB_ELEMENT_SIZE;
	block->events++;
	end_block(block);
	return 0;
}
