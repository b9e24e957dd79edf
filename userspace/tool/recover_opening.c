// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks whose header was being replaced when the machine stopped.
 *
 * Whoever opens a block moves the ring's head there first and writes the header then; who
 * interrupts it meanwhile puts events behind it.  The header says by then which block of which
 * recording it will be (TB_BLOCK_OPENING), and nothing else; so the rest is made here from what there
 * is before it.  The events are taken as in any block that was being written (recover_block.c), but
 * for the first, which is the opener's and not committed yet.  Without the ring's word nothing
 * tells that its head moved there at all.
 */
#include "recover.h"

#define EPOCH_SHIFT	43	/* of a ring's head; the clock's upper half above it */
#define EPOCH_MASK	((1ull << (64 - EPOCH_SHIFT)) - 1)

uint64_t recover_current(const struct tb_ring_image *ring, uint64_t near)
{
	uint32_t mask = TB_RING_IMAGE_SEQ(~0ull);
	uint32_t ahead = (TB_RING_IMAGE_SEQ(ring->head) - (uint32_t)near) & mask;

	return ahead > mask / 2 ? near + ahead - mask - 1 : near + ahead;
}

/* When the block was opened that is behind @before and in front of @next, one of which may be NULL */
static uint64_t start_of(const struct tb_ring_image *ring, const struct recover_block *before,
			 const struct recover_block *next)
{
	uint64_t start = ring->start, epoch;

	if (before)
		start = before->end > before->start ? before->end : before->start;
	epoch = start >> 32;
	if (next)
		epoch = next->start >> 32;
	else
		epoch += ((ring->head >> EPOCH_SHIFT) - epoch) & EPOCH_MASK;
	return epoch > start >> 32 ? epoch << 32 : start;
}

void recover_make_header(const struct recover_block *found, struct tb_block *block)
{
	struct tb_composite *slot = (struct tb_composite *)(block + 1);
	struct tb_gap *gap = (struct tb_gap *)(slot + 1);

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
}

size_t recover_openings(struct recover_block **blocks, size_t count, const struct tb_ring_image *ring)
{
	const struct recover_block *before = NULL, *next;
	uint64_t last = 0;
	size_t i, kept = 0;

	/* whose number is one that the ring has come to by what is sure */
	for (i = 0; i < count; i++)
		if (!blocks[i]->opening)
			last = blocks[i]->sequence;
	for (i = 0; i < count; i++) {
		if (blocks[i]->opening) {
			next = i + 1 < count && !blocks[i + 1]->opening ? blocks[i + 1] : NULL;
			if (!ring || blocks[i]->sequence > recover_current(ring, last))
				continue;
			blocks[i]->start = start_of(ring, before, next);
			blocks[i]->dropped = before ? before->dropped : 0;
		}
		before = blocks[i];
		blocks[kept++] = blocks[i];
	}
	return kept;
}
