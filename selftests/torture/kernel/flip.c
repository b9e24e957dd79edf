// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damages the recorder: flips single bits of its buffers and of its state while it records. Leaves
 * addresses and sizes alone, because the recorder has no second copy to check them against.
 */
#include <linux/bitops.h>

#include "module/provider/provider.h"
#include "tb_torture.h"

/* Memory in which a bit may be flipped. */
struct tt_area {
	void *at;
	u32 bytes;
};

static struct tt_area tt_words(void *from, void *to)
{
	return (struct tt_area){ from, to - from };
}

static struct tt_area tt_ring_area(struct tb_cpu_ring *r, u32 which)
{
	switch (which) {
	case 0:
		return tt_words(&r->recorded, &r->paused);
	case 1:
		return tt_words(&r->start_time, &r->magic);
	}
	return tt_words(&r->held, &r->kept);
}

/* Chooses a block of the durable buffer. */
static struct tt_area tt_durable_area(struct tb_durable *d, struct tt_flip *flip)
{
	u64 number = d->first + (u32)(flip->random >> 32) % max(d->used - d->first, 1ull);
	const struct tb_durable_block *b = &d->blocks[number & (d->nr_blocks - 1)];
	void *at = page_address(d->slots[b->at / TB_DURABLE_SLOT]) + b->at % TB_DURABLE_SLOT;

	flip->block = number;
	return tt_words(at, at + b->bytes);
}

static struct tt_area tt_area(struct tb_cpu_ring *r, struct tt_flip *flip)
{
	struct tb_provider *p = tt_provider;
	struct tb_buf *b = &r->bufs[flip->block];

	switch (flip->what) {
	case TT_BLOCK:
		return tt_words(b->block, tb_buf_element(b, TB_BLOCK_FIRST_ELEMENT));
	case TT_EVENTS:
		return tt_words(b->block, tb_buf_element(b, r->capacity));
	case TT_RING_HEADER:
		return tt_words(r->header, r->header + 1);
	case TT_HEAD:
		return tt_words(&r->head, &r->head + 1);
	case TT_BUF:
		return tt_words(&b->committed, b + 1);
	case TT_RING:
		flip->block = (flip->random >> 32) % 3;
		return tt_ring_area(r, flip->block);
	}
	return tt_durable_area(&p->durable, flip);
}

/**
 * tt_flip() - flip a bit
 * @flip: selects the bit; returns its place
 *
 * Context: process.
 * Return: 0, -EINVAL, -ENOENT: that CPU is not recorded.
 */
int tt_flip(struct tt_flip *flip)
{
	struct tb_provider *p = tt_provider;
	struct tt_area area;
	unsigned long byte;
	struct tb_cpu_ring *r;
	u32 bit;

	if (flip->what >= TT_DAMAGED || flip->cpu >= nr_cpu_ids || !cpu_possible(flip->cpu))
		return -EINVAL;
	mutex_lock(&p->lock);
	if (p->state != TB_STATE_RUNNING || !cpumask_test_cpu(flip->cpu, &p->cpus)) {
		mutex_unlock(&p->lock);
		return -ENOENT;
	}
	r = per_cpu_ptr(p->rings, flip->cpu);
	flip->block = (u32)(flip->random >> 32) % r->nr;
	/* TT_DURABLE needs this lock */
	mutex_lock(&p->read_lock);
	area = tt_area(r, flip);
	mutex_unlock(&p->read_lock);
	bit = (u32)flip->random % (area.bytes * 8);
	byte = (unsigned long)area.at + bit / 8;
	change_bit(byte % sizeof(long) * 8 + bit % 8,
		   (unsigned long *)round_down(byte, sizeof(long)));
	flip->byte = bit / 8;
	flip->bit = bit % 8;
	mutex_unlock(&p->lock);
	return 0;
}
