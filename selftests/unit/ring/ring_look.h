/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the explorer (test_ring_explore.c) with weak memory: declares what is shared, and has a
 * reader that looks at blocks while they are being written, as module/crash/panic.c does.
 */
#ifndef RING_LOOK_H
#define RING_LOOK_H

/* The number of dropped events that blocks up to @blocks report */
static u64 ring_told(u64 blocks)
{
	u64 told = 0;
	u32 i;

	for (i = 0; i < m->r.nr; i++) {
		const struct tb_block *block = m->r.bufs[i].block;

		if (block->sequence < blocks && block->dropped > told)
			told = block->dropped;
	}
	return told;
}

#ifdef TB_RING_WEAK
#include "../../../module/crash/block_walk.h"

#define LOOK_WEAK	true

int weak_cpu(void)
{
	return in_reader;
}

int weak_choose(int of)
{
	int choice;

	if (!exploring || !old_left)
		return 0;
	choice = choose(of);
	old_left -= !!choice;
	return choice;
}

void weak_race(const char *what, const volatile void *p)
{
	size_t at = (uintptr_t)p - (uintptr_t)m->memory, size = m->r.capacity * TB_ELEMENT_SIZE;

	if (at < m->r.nr * size)
		model_fail(m, "%s in no order: byte %zu of buffer %zu", what, at % size,
			   at / size);
	at = (uintptr_t)p - (uintptr_t)m->r.bufs;
	if (at < m->r.nr * sizeof(struct tb_buf))
		model_fail(m, "%s in no order: byte %zu of struct tb_buf %zu", what,
			   at % sizeof(struct tb_buf), at / sizeof(struct tb_buf));
	model_fail(m, "%s in no order: byte %zu of struct tb_cpu_ring", what,
		   (uintptr_t)p - (uintptr_t)&m->r);
}

static void look_share(void)
{
	weak_forget_shared();
	weak_share(&m->r, sizeof(m->r));
	weak_share(m->r.bufs, m->r.nr * sizeof(*m->r.bufs));
	weak_share(m->memory, m->r.nr * m->r.capacity * TB_ELEMENT_SIZE);
}

static void look_sync(void)
{
	weak_sync();
}

/*
 * As soon as a reader sees the number of a header, or the first word of an event, it must see the
 * rest. For rings that use no buffer twice.
 */
static void look(void)
{
	u32 i;

	for (i = 0; i < m->r.nr; i++) {
		const struct tb_buf *b = &m->r.bufs[i];
		const struct tb_block *block = b->block;
		u64 s = tb_load_acquire(&b->state);
		struct tb_block_walk w = { .block = block, .sequence = TB_BUF_SEQ(s),
				     .end = m->r.capacity };
		const struct tb_element *e;

		if (TB_BUF_STATE(s) == TB_BUF_CLAIMED || TB_BUF_STATE(s) == TB_BUF_FREE ||
		    tb_load_acquire(&block->sequence) != TB_BUF_SEQ(s))
			continue;
		weak_reads(&block->time_start, sizeof(block->time_start));
		weak_reads(&block->tid, sizeof(block->tid));
		w.at = TB_BLOCK_HEADER_ELEMENTS;
		w.time = block->time_start;
		while ((e = tb_block_walk_next(&w)))
			weak_reads(e, TB_HEAD_LENGTH(w.head) * TB_ELEMENT_SIZE);
	}
}
#else
#define LOOK_WEAK	false

static void look_share(void)
{
}

static void look_sync(void)
{
}

static void look(void)
{
}
#endif

#endif /* RING_LOOK_H */
