// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chunks: how a writer claims one and completes it.  arbiter.h explains how chunks move.
 *
 * The free stack is Treiber's (IBM RJ 5118, 1986) with a count beside the top.  A writer that
 * stalls backs off as in Perfetto's shared memory arbiter.
 */
#include "arbiter.h"

#define STALL_LIMIT_US	30000000u

int tb_pool_make(struct tb_arbiter *arbiter, unsigned int number, void *chunks, uint32_t count)
{
	struct tb_pool *pool = &arbiter->pools[number];
	uint32_t i;

	pool->notes = tb_map(count * sizeof(*pool->notes));
	if (!pool->notes)
		return -1;
	pool->chunks = chunks;
	pool->count = count;
	for (i = count; i-- > 0;)
		tb_pool_push(arbiter, HANDLE(number, i));
	return 0;
}

void tb_pool_push(struct tb_arbiter *arbiter, uint32_t handle)
{
	struct tb_pool *pool = pool_of(arbiter, handle);
	uint64_t top = shared_get(&pool->free);

	do {
		shared_set(&note_of(arbiter, handle)->next, (uint32_t)top);
		/* release: the chunk, to the thread that pops it */
	} while (!shared_cas(&pool->free, &top,
			     ((top >> 32) + 1) << 32 | (HANDLE_INDEX(handle) + 1)));
}

static uint32_t pool_pop(struct tb_arbiter *arbiter, unsigned int number)
{
	struct tb_pool *pool = &arbiter->pools[number];
	/* pairs with the release of the thread that pushed it */
	uint64_t top = shared_get_acquire(&pool->free);
	uint32_t next;

	do {
		if (!(uint32_t)top)
			return HANDLE_NONE;
		next = shared_get(&pool->notes[(uint32_t)top - 1].next);
	} while (!shared_cas(&pool->free, &top, ((top >> 32) + 1) << 32 | next));
	return HANDLE(number, (uint32_t)top - 1);
}

/*
 * Claim a chunk, set its header, and make it TB_CHUNK_WRITING; HANDLE_NONE: none is free.  If a
 * chunk of the free stack is not TB_CHUNK_FREE, the program has overwritten it: it is not used any
 * more.
 */
uint32_t tb_chunk_claim(struct tb_arbiter *arbiter, unsigned int pool,
			const struct tb_chunk *header, uint64_t owner, uint32_t *state)
{
	struct tb_chunk *chunk;
	uint32_t handle, was;

	while ((handle = pool_pop(arbiter, pool)) != HANDLE_NONE) {
		chunk = chunk_of(arbiter, handle);
		/* pairs with the kernel's release: it has read the old contents */
		was = shared_get_acquire(&chunk->state);
		chunk->id = header->id;
		chunk->writer = header->writer;
		chunk->flags = header->flags;
		chunk->cause = header->cause;
		chunk->reserved16 = 0;
		chunk->first = header->first;
		chunk->reserved[0] = chunk->reserved[1] = 0;
		shared_set(&chunk->published, header->published);
		shared_set(&chunk->hole, header->hole);
		shared_set(&note_of(arbiter, handle)->owner, owner);
		*state = TB_CHUNK_WORD(TB_CHUNK_WRITING, TB_CHUNK_WRAP(was));
		/* release: the header, to a thread that sees the state */
		if (TB_CHUNK_STATE(was) == TB_CHUNK_FREE &&
		    shared_cas(&chunk->state, &was, *state))
			return handle;
		shared_set(&note_of(arbiter, handle)->owner, 0);
		shared_add(&arbiter->stats.broken, 1);
	}
	return HANDLE_NONE;
}

/* Free a chunk for its next lap, as the kernel does in shared memory */
void tb_chunk_free(struct tb_arbiter *arbiter, uint32_t handle)
{
	struct tb_chunk *chunk = chunk_of(arbiter, handle);
	uint32_t wrap = TB_CHUNK_WRAP(shared_get(&chunk->state));

	shared_set_release(&chunk->state, TB_CHUNK_WORD(TB_CHUNK_FREE, (wrap + 1) & 0xffff));
}

/* Set chunk->hole to the first hole at or after @from, which must be the start of a record */
void tb_chunk_rehole(struct tb_chunk *chunk, uint32_t from)
{
	uint32_t end = TB_PUBLISHED_BYTES(shared_get(&chunk->published)), hole = 0;
	unsigned char *data = (unsigned char *)(chunk + 1);

	while (from < end) {
		struct tb_record *record = (struct tb_record *)(data + from);

		if (record->type == TB_REC_SLICE && !shared_get(slice_value(record))) {
			hole = from + 1;
			break;
		}
		/* anything in the program may have overwritten its own memory */
		if (record->bytes < sizeof(*record))
			break;
		from += record->bytes;
	}
	/* release: values of holes, to a thread that reads up to @hole */
	shared_set_release(&chunk->hole, hole);
}

static uint32_t stall_for_chunk(struct writer *w, unsigned int pool, const struct tb_chunk *header,
				uint64_t owner)
{
	static const uint32_t naps[] = { 0, 8, 72, 584, 4680, 37448 };
	struct tb_arbiter *arbiter = w->arbiter;
	uint64_t slept = 0, nap;
	uint32_t handle;
	size_t i;

	for (i = 0; slept < STALL_LIMIT_US; i++) {
		nap = i < sizeof(naps) / sizeof(naps[0]) ? naps[i] : 100000;
		arbiter->endpoint->ops->nap(arbiter->endpoint, nap);
		slept += nap;
		tb_commit_try(arbiter);
		handle = tb_chunk_claim(arbiter, pool, header, owner, &w->state);
		if (handle != HANDLE_NONE)
			return handle;
	}
	w->gave_up = 1;
	return HANDLE_NONE;
}

/*
 * Let a startup writer with a bound reservation use the pool of other writers, if none of its
 * chunks is queued: so the kernel gets its chunks in order.
 */
static void move_to_bound_pool(struct writer *w, const struct reservation *reservation)
{
	struct tb_arbiter *arbiter = w->arbiter;

	if (!tb_futex_lock_try(&arbiter->commit))
		return;
	tb_commit_all(arbiter, 0, false);
	if (!shared_get(&w->queued) && !tb_commit_register(arbiter, w)) {
		w->target = reservation->target;
		if (!arbiter->no_shared) {
			w->serial += w->extra;
			w->extra = 0;
		}
		w->source = TARGET_MOVED;
	}
	tb_futex_lock_release(&arbiter->commit);
}

/* Update what the next chunk depends on; returns TB_LOST_* if the writer must not claim one */
static uint32_t update_target(struct writer *w, bool *fresh)
{
	struct tb_arbiter *arbiter = w->arbiter;
	const struct tb_producer_target *target;
	struct reservation *reservation;
	uint32_t state;

	if (shared_get(&w->forked))
		return TB_LOST_UNBOUND;
	*fresh = !w->serial || w->cause;
	if (shared_get(&w->retell) && shared_swap(&w->retell, 0))
		*fresh = true;
	if (w->source == TARGET_RESERVED) {
		reservation = &arbiter->reservations[w->reservation];
		/* pairs with the release of the thread that changed it: @state is as new */
		w->pub.generation = shared_get_acquire(&arbiter->revision);
		state = shared_get_acquire(&reservation->state);
		if (state == RESERVATION_ABORTED)
			return TB_LOST_UNBOUND;
		if (state == RESERVATION_BOUND)
			move_to_bound_pool(w, reservation);
	}
	if (w->source == TARGET_RESERVED) {
		w->pub.changes = &arbiter->revision;
		w->pub.clock = arbiter->clock;
		/* the target may overwrite: nothing is known of it yet */
		*fresh = true;
		return 0;
	}
	target = &arbiter->page->targets[w->target];
	w->pub.changes = &target->generation;
	w->pub.wants = 1u << w->target;
	w->pub.always = 0;
	/* pairs with the kernel's release: clock and policy are of this recording or a later one */
	w->pub.generation = shared_get_acquire(&target->generation);
	w->pub.clock = shared_get(&target->clock);
	if (w->pub.clock == TB_CLOCK_AUTO)
		w->pub.clock = arbiter->clock;
	if (w->pub.generation != w->recording ||
	    shared_get(&arbiter->page->overwrites) & w->pub.wants)
		*fresh = true;
	w->recording = w->pub.generation;
	return 0;
}

uint32_t tb_writer_acquire(struct writer *w, bool wait)
{
	struct tb_arbiter *arbiter = w->arbiter;
	struct tb_chunk header = { .writer = (uint16_t)w->id };
	uint64_t nested = shared_swap(&w->nested, 0);
	unsigned int pool;
	uint32_t why;
	bool fresh;

	if (nested) {
		w->first += nested;
		w->lost += nested;
		w->cause |= TB_LOST_SIGNAL;
	}
	why = update_target(w, &fresh);
	if (why)
		return why;
	pool = w->source == TARGET_RESERVED ? POOL_OWN : pool_bound(arbiter);
	header.id = w->serial;
	header.first = w->first;
	header.cause = (uint16_t)w->cause;
	header.flags = (uint16_t)(w->pub.clock | (fresh ? TB_CHUNK_FRESH : 0));
	w->handle = tb_chunk_claim(arbiter, pool, &header, OWNER(w->id, w->serial), &w->state);
	if (w->handle == HANDLE_NONE && tb_commit_try(arbiter))
		w->handle = tb_chunk_claim(arbiter, pool, &header, OWNER(w->id, w->serial),
					   &w->state);
	if (w->handle == HANDLE_NONE && w->source == TARGET_RESERVED)
		return TB_LOST_UNBOUND;
	if (w->handle == HANDLE_NONE &&
	    (!wait || w->full == TB_FULL_DROP ||
	     (w->full == TB_FULL_STALL_THEN_DROP && w->gave_up)))
		return TB_LOST_NO_CHUNK;
	if (w->handle == HANDLE_NONE)
		w->handle = stall_for_chunk(w, pool, &header, OWNER(w->id, w->serial));
	if (w->handle == HANDLE_NONE)
		return TB_LOST_STALL;
	if (fresh)
		w->pub.epoch += 1ull << 32;
	w->gave_up = 0;
	w->cause = 0;
	w->holes = 0;
	w->serial++;
	w->pub.chunk = chunk_of(arbiter, w->handle);
	w->pub.published = 0;
	shared_set(&w->pub.room, chunk_room(arbiter));
	/* a handler between these two sets room to 0; one before them has set @nested */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (shared_get(&w->nested))
		shared_set(&w->pub.room, 0);
	return 0;
}

void tb_writer_complete(struct writer *w)
{
	struct tb_arbiter *arbiter = w->arbiter;
	uint32_t head, was = w->state;

	if (!w->pub.chunk)
		return;
	w->first += TB_PUBLISHED_RECORDS(w->pub.published);
	w->pub.published = 0;
	shared_set(&w->pub.room, 0);
	/* release: the chunk, to the kernel, which reports an unexpected state */
	shared_cas(&w->pub.chunk->state, &was,
		   TB_CHUNK_WORD(TB_CHUNK_COMPLETE, TB_CHUNK_WRAP(w->state)));
	w->pub.chunk = NULL;
	shared_add(&w->queued, 1);
	if (HANDLE_POOL(w->handle) == pool_bound(arbiter))
		shared_add(&arbiter->uncommitted, 1);
	head = shared_get(&arbiter->queue);
	do {
		shared_set(&note_of(arbiter, w->handle)->next, head);
		/* release: note and chunk, to the thread that takes the queue */
	} while (!shared_cas(&arbiter->queue, &head, w->handle + 1));
	w->handle = HANDLE_NONE;
	tb_commit_if_due(arbiter);
}

/*
 * If records were lost since the last chunk, queue an empty chunk that says so, if one is free.
 */
void tb_writer_tell_lost(struct writer *w)
{
	if ((w->cause || shared_get(&w->nested)) && !tb_writer_acquire(w, false))
		tb_writer_complete(w);
}
