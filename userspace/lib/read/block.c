// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks: check a header, and walk over the elements of a block.
 *
 * The bytes may come from anywhere.  So each length is checked against the block before it is used,
 * and each step of a walk moves forward by at least one element.
 */
#include <errno.h>
#include <inttypes.h>
#include "internal.h"

int64_t tb_block_check(const void *data, size_t room, struct tb_error *error)
{
	const struct tb_block *block;
	struct tb_block header;
	uint64_t size;

	if (room < sizeof(block->magic))
		return tb_error_set(error, -ENODATA, 0,
			"cut off: %zu bytes where a block should start", room);
	memset(&header, 0, sizeof(header));
	memcpy(&header, data, room < sizeof(header) ? room : sizeof(header));
	tb_keep(&header);
	block = &header;
	if (block->magic != TB_BLOCK_MAGIC)
		return tb_error_set(error, -EINVAL, 0,
			"no block starts here: 0x%08" PRIx32 " instead of 0x%08x",
			block->magic, TB_BLOCK_MAGIC);
	if (room < sizeof(*block))
		return tb_error_set(error, -ENODATA, 0,
			"cut off: %zu of the %zu bytes of a block's header",
			room, sizeof(*block));
	if (block->version != TB_BLOCK_VERSION)
		return tb_error_set(error, -EPROTO, 4,
			"block of version %u, this program knows version %u",
			block->version, TB_BLOCK_VERSION);
	if (block->kind < TB_BLOCK_DURABLE || block->kind > TB_BLOCK_NOTE)
		return tb_error_set(error, -EINVAL, 5,
			"block of unknown kind %u", block->kind);
	if (!tb_header_fits(block))
		return tb_error_set(error, -EINVAL, 6,
			"block of impossible size 2^%u bytes", block->size_log2);
	size = 1ull << block->size_log2;
	if ((block->flags & TB_BLOCK_COMPLETE) &&
	    (block->data < sizeof(*block) || block->data > size ||
	     block->data % TB_ELEMENT_SIZE))
		return tb_error_set(error, -EINVAL, 40,
			"block of %" PRIu64 " bytes says that %" PRIu32 " are used",
			size, block->data);
	if (size > room)
		return tb_error_set(error, -ENODATA, room,
			"cut off: %zu of the %" PRIu64 " bytes of a block",
			room, size);
	return (int64_t)size;
}

static void walk_start(struct tb_walk *walk, const struct tb_block *block, uint64_t room)
{
	struct tb_block header;
	uint64_t bytes;

	tb_header_once(&header, block);
	bytes = header.size_log2 <= TB_BLOCK_LOG2_MAX ? 1u << header.size_log2 : 0;
	if (bytes > room)
		bytes = room;
	if ((header.flags & TB_BLOCK_COMPLETE) && header.data < bytes)
		bytes = header.data;
	memset(walk, 0, sizeof(*walk));
	walk->block = block;
	walk->position = TB_BLOCK_HEADER_ELEMENTS;
	walk->end = (uint32_t)(bytes / TB_ELEMENT_SIZE);
	walk->time = header.time_start;
	walk->ticks = header.time_start;
}

void tb_walk_start(struct tb_walk *walk, const struct tb_block *block)
{
	walk_start(walk, block, 1u << TB_BLOCK_LOG2_MAX);
}

void tb_walk_trace(struct tb_walk *walk, const struct tb_trace *trace,
		   const struct tb_block *block)
{
	uintptr_t from = (uintptr_t)trace->data, at = (uintptr_t)block;

	/* blocks of followed traces are in memory of their own, outside of trace->data */
	walk_start(walk, block, at - from < trace->size ? trace->size - (at - from) :
		   1u << TB_BLOCK_LOG2_MAX);
}

static int walk_wrong(struct tb_walk *walk, const char *wrong)
{
	walk->wrong = wrong;
	walk->position = walk->end;
	return -EBADMSG;
}

int tb_walk_next(struct tb_walk *walk)
{
	const struct tb_element *element;
	uint32_t head, length;

	if (walk->position >= walk->end)
		return 0;
	element = (const struct tb_element *)walk->block + walk->position;
	head = tb_once32(&element->head);
	length = TB_HEAD_LENGTH(head);
	walk->index = walk->position;
	walk->structure = TB_HEAD_STRUCT(head);
	walk->id = TB_HEAD_ID(head);
	walk->length = length;

	if (walk->structure == TB_STRUCT_RESERVED) {
		/* zeros up to the end of an open block: nothing was reserved there */
		if (!(walk->block->flags & TB_BLOCK_COMPLETE) && !head) {
			walk->position = walk->end;
			return 0;
		}
		if (!length)
			length = 1;
		if (length > walk->end - walk->position)
			return walk_wrong(walk, "a reserved event reaches beyond the block's data");
		walk->position += length;
		return -EAGAIN;
	}
	if (TB_HEAD_SEQ(head) != (walk->block->sequence & 0x3f))
		return walk_wrong(walk, "an event carries another block's sequence number");
	if (walk->structure == TB_STRUCT_PAD) {
		walk->position = walk->end;
		return 0;
	}
	if (!length)
		return walk_wrong(walk, "an event has length zero");
	if (length > walk->end - walk->position)
		return walk_wrong(walk, "an event reaches beyond the block's data");

	if (walk->structure == TB_STRUCT_SIMPLE) {
		walk->payload = &element->payload;
		walk->bytes = length * TB_ELEMENT_SIZE -
			      (uint32_t)offsetof(struct tb_element, payload);
		walk->context = 0;
		if (walk->id == TB_EV_TIME)
			walk->time = element->payload;
	} else {
		const struct tb_composite *composite = (const void *)element;

		walk->bytes = tb_once16(&composite->length);
		if (walk->bytes > (length - 1) * TB_ELEMENT_SIZE) {
			walk->bytes = 0;
			return walk_wrong(walk, "a composite event's payload is longer than the event");
		}
		walk->payload = composite + 1;
		walk->tid = composite->tid;
		walk->context = composite->context;
	}
	walk->ticks = (walk->time & ~0xffffffffull) | element->time;
	walk->position += length;
	return 1;
}
