// SPDX-License-Identifier: GPL-2.0-only
/*
 * The durable buffer: blocks of control events, filled one after the other,
 * never overwritten.  A reader gets them before any rolling block.
 *
 * A block is handed out when it is full or sealed; what comes later goes
 * into the next.  Everything here runs in process context under the
 * provider's read_lock, so that a reader who finds nothing new here and
 * then takes rolling blocks, all under the lock, has what describes them.
 */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "durable.h"

/**
 * tb_durable_alloc() - get the memory
 * @d: the buffer
 * @kib: for descriptions, threads and the like
 * @reserve_bytes: on top, for what is written at stop
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int tb_durable_alloc(struct tb_durable *d, u32 kib, u32 reserve_bytes)
{
	u32 blocks = DIV_ROUND_UP(kib * 1024, TB_DURABLE_BLOCK);

	/* halves: blocks are not filled to the end; one more: the clock's upper half may move */
	d->reserve = DIV_ROUND_UP(reserve_bytes, TB_DURABLE_BLOCK / 2) + 1;
	return tb_mem_alloc(&d->mem, blocks + d->reserve, TB_DURABLE_BLOCK, NUMA_NO_NODE,
			    "durable buffer");
}

/**
 * tb_durable_reset() - forget everything in it
 * @d: the buffer
 * @clock: for the time stamps
 * @provider: id for the headers
 *
 * Context: under read_lock.
 */
void tb_durable_reset(struct tb_durable *d, const struct tb_clock *clock, u32 provider)
{
	d->clock = clock;
	d->provider = provider;
	d->used = 0;
	d->sealed = 0;
	d->taken = 0;
	d->released = 0;
}

static struct tb_block *tb_durable_begin(struct tb_durable *d, u64 now)
{
	struct tb_block *block = tb_mem_block(&d->mem, d->used);

	memset(block, 0, TB_DURABLE_BLOCK);
	block->magic = TB_BLOCK_MAGIC;
	block->version = TB_BLOCK_VERSION;
	block->kind = TB_BLOCK_DURABLE;
	block->size_log2 = ilog2(TB_DURABLE_BLOCK);
	block->provider = d->provider;
	block->tid = current->pid;
	block->sequence = d->used++;
	block->time_start = now;
	block->data = sizeof(*block);
	return block;
}

/**
 * tb_durable_append() - write a control event
 * @d: the buffer
 * @id: enum tb_control_event
 * @payload: what follows the first element
 * @bytes: how much, at most TB_DURABLE_PAYLOAD
 * @last: may use the reserve
 *
 * Context: under read_lock.
 * Return: 0, -ENOSPC if it is full, -EMSGSIZE.
 */
int tb_durable_append(struct tb_durable *d, u32 id, const void *payload, u32 bytes, bool last)
{
	u32 n = 1 + DIV_ROUND_UP(bytes, TB_ELEMENT_SIZE);
	u64 now = tb_clock_read(d->clock->raw);
	struct tb_block *block = NULL;
	struct tb_composite *c;

	if (bytes > TB_DURABLE_PAYLOAD)
		return -EMSGSIZE;
	if (d->used > d->sealed) {
		block = tb_mem_block(&d->mem, d->used - 1);
		if (block->data + n * TB_ELEMENT_SIZE > TB_DURABLE_BLOCK)
			tb_durable_seal(d);
		/* the reader reconstructs the upper half from the block's start */
		else if (now >> 32 != block->time_start >> 32)
			tb_durable_seal(d);
	}
	if (d->used == d->sealed) {
		if (d->used + (last ? 0 : d->reserve) >= d->mem.blocks)
			return -ENOSPC;
		block = tb_durable_begin(d, now);
	}
	c = (void *)block + block->data;
	c->time = (u32)now;
	c->tid = current->pid;
	c->length = bytes;
	c->context = 0;
	memcpy(c + 1, payload, bytes);
	c->head = TB_HEAD(TB_STRUCT_COMPOSITE, id, n, block->sequence);
	block->data += n * TB_ELEMENT_SIZE;
	block->events++;
	return 0;
}

/**
 * tb_durable_seal() - let what is there be handed out
 * @d: the buffer
 *
 * Context: under read_lock.
 */
void tb_durable_seal(struct tb_durable *d)
{
	struct tb_block *block;

	if (d->sealed == d->used)
		return;
	block = tb_mem_block(&d->mem, d->used - 1);
	block->time_end = tb_clock_read(d->clock->raw);
	block->flags = TB_BLOCK_COMPLETE;
	d->sealed = d->used;
}
