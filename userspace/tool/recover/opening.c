// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks whose header was being replaced when the machine stopped.
 *
 * A writer that opens a block moves the ring's head into it first, then writes the header.  Writers
 * that interrupt it meanwhile put their events behind its event.  Until the header is written, it
 * has only the recording, the block's number, the time of opening and the length of the opener's
 * event (TB_BLOCK_OPENING).  This file makes the rest of the header; block.c finds the events.
 * Without the kernel's state of the ring it is not known whether the head moved there: then the
 * block is left out.
 */
#include "recover.h"

bool recover_make_header(const struct recover_block *found, struct tb_block *block)
{
	struct tb_composite *slot = (struct tb_composite *)(block + 1);
	struct tb_gap *gap = (struct tb_gap *)(slot + 1);

	/* a machine that runs may have written the header since the scan */
	if (block->sequence != found->opening || gap->recording != found->recording)
		return false;
	*block = (struct tb_block) {
		.magic = TB_BLOCK_MAGIC, .version = TB_BLOCK_VERSION, .kind = found->kind,
		.size_log2 = found->log2, .provider = found->provider, .cpu = found->cpu,
		.sequence = found->sequence, .time_start = found->start,
		.dropped = found->dropped,
	};
	*slot = (struct tb_composite) {
		.head = TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_GAP, TB_GAP_ELEMENTS, found->sequence),
		.time = (uint32_t)found->start, .length = sizeof(*gap),
	};
	*gap = (struct tb_gap) { .recording = found->recording };
	return true;
}

/* Has the ring's head reached @block?  @last: sequence number of a block that it has reached */
static bool has_reached(const struct tb_ring_image *ring, const struct recover_block *block,
			uint64_t last)
{
	return ring && (uint64_t)ring->elements * TB_ELEMENT_SIZE == 1ull << block->log2 &&
	       (int64_t)(recover_current(ring, last) - block->sequence) >= 0;
}

size_t recover_openings(struct recover_block **blocks, size_t count, const struct tb_ring_image *ring)
{
	const struct recover_block *before = NULL, *sure = NULL;
	size_t i, kept = 0;

	for (i = 0; i < count; i++)
		if (!blocks[i]->opening)
			sure = blocks[i];
	for (i = 0; i < count; i++) {
		if (blocks[i]->opening) {
			if (!has_reached(ring, blocks[i],
					 sure ? sure->sequence : blocks[i]->sequence))
				continue;
			blocks[i]->dropped = before ? before->dropped : 0;
		}
		before = blocks[i];
		blocks[kept++] = blocks[i];
	}
	return kept;
}
