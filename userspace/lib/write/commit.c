// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Committing: send complete chunks to the kernel in the order in which they were completed.
 *
 * Chunks stay in the batch until the kernel has answered each of them.  So a call that fails as a
 * whole changes nothing, and the next call tries again.  Chunks of startup writers stay until their
 * reservation is bound; if the channel has shared memory they are copied there before they are
 * committed.  arbiter.h explains locks and order.
 */
#include <errno.h>
#include "arbiter.h"

#define UNANSWERED	INT32_MIN
#define ENDED_MAX	64		/* writers in tb_arbiter.ended */

/* what to do with the complete chunks of a writer */
enum prospect { PROSPECT_WAIT, PROSPECT_SEND, PROSPECT_DROP };

/* Announce the writer to the kernel, once.  Its target is known. */
int tb_commit_register(struct tb_arbiter *arbiter, struct writer *w)
{
	struct tb_writer_req request = {
		.writer = (uint16_t)w->id,
		.target = (uint16_t)w->target,
		.tid = w->tid,
	};
	int result;

	if (w->kernel_knows)
		return 0;
	if (w->source == TARGET_RESERVED)
		request.target = (uint16_t)arbiter->reservations[w->reservation].target;
	result = arbiter->endpoint->ops->writer(arbiter->endpoint, &request);
	if (result == -ESRCH) {
		/* the thread of a startup writer has ended */
		request.tid = 0;
		request.flags = TB_WRITER_NO_THREAD;
		result = arbiter->endpoint->ops->writer(arbiter->endpoint, &request);
	}
	w->kernel_knows = result >= 0;
	return result;
}

/* Free a writer that is destroyed and has no queued chunks */
void tb_commit_gone(struct tb_arbiter *arbiter, struct writer *w)
{
	struct tb_writer_req request = { .writer = (uint16_t)w->id, .flags = TB_WRITER_GONE };

	if (w->kernel_knows && shared_get(&arbiter->bound))
		arbiter->endpoint->ops->writer(arbiter->endpoint, &request);
	shared_set(&arbiter->writers[w->id], NULL);
	/* release: the slot of writers[], to the thread that gets the id */
	__atomic_fetch_and(&arbiter->ids[w->id / 32], ~(1u << w->id % 32), __ATOMIC_RELEASE);
	tb_unmap(w, sizeof(*w));
}

/*
 * Read the states of reservations once for a whole commit.  If one were bound in the middle, a
 * writer's later chunks would be sent and its earlier ones not.
 */
static void read_reservations(struct tb_arbiter *arbiter)
{
	size_t i;

	for (i = 0; i < TB_TARGETS_MAX; i++)
		/* pairs with the release of the thread that decided it: the target is set */
		arbiter->seen[i] = shared_get_acquire(&arbiter->reservations[i].state);
	/* pairs with the release of the thread that bound the arbiter */
	arbiter->seen_bound = shared_get_acquire(&arbiter->bound);
}

static enum prospect prospect_of(struct tb_arbiter *arbiter, struct writer *w)
{
	if (w->source == TARGET_RESERVED) {
		uint32_t state = arbiter->seen[w->reservation];

		if (state == RESERVATION_ABORTED)
			return PROSPECT_DROP;
		if (state != RESERVATION_BOUND)
			return PROSPECT_WAIT;
	}
	if (!arbiter->seen_bound)
		return PROSPECT_WAIT;
	return tb_commit_register(arbiter, w) < 0 ? PROSPECT_DROP : PROSPECT_SEND;
}

static struct writer *writer_at(struct tb_arbiter *arbiter, uint32_t handle)
{
	uint64_t owner = shared_get(&note_of(arbiter, handle)->owner);

	/* a writer exists until all its queued chunks are answered */
	return shared_get(&arbiter->writers[OWNER_WRITER(owner)]);
}

static void take_queue(struct tb_arbiter *arbiter)
{
	/* pairs with the release of the threads that queued them */
	uint32_t head = shared_swap(&arbiter->queue, 0), at, count = 0;

	for (at = head; at; at = shared_get(&note_of(arbiter, at - 1)->next))
		count++;
	arbiter->nr_batch += count;
	count = arbiter->nr_batch;
	for (at = head; at; at = shared_get(&note_of(arbiter, at - 1)->next))
		arbiter->batch[--count] = at - 1;
}

/* The chunk is answered: free it, unless it is broken */
static void chunk_done(struct tb_arbiter *arbiter, uint32_t handle, bool broken)
{
	struct tb_chunk_note *note = note_of(arbiter, handle);

	note->taken_bytes = note->taken_records = note->shift = 0;
	shared_set(&note->owner, 0);
	if (HANDLE_POOL(handle) == POOL_OWN)
		tb_chunk_free(arbiter, handle);
	if (HANDLE_POOL(handle) == pool_bound(arbiter))
		__atomic_fetch_sub(&arbiter->uncommitted, 1, __ATOMIC_RELAXED);
	if (broken)
		shared_add(&arbiter->stats.broken, 1);
	else
		tb_pool_push(arbiter, handle);
}

/* One queued chunk of the writer is answered */
static void writer_answered(struct tb_arbiter *arbiter, struct writer *w)
{
	/* release: if w sees that none is queued, it may move to another pool */
	if (!__atomic_sub_fetch(&w->queued, 1, __ATOMIC_RELEASE) && w->leaving && !w->cause)
		tb_commit_gone(arbiter, w);
}

static void count_refused(struct tb_arbiter *arbiter, struct writer *w, uint32_t records)
{
	shared_set(&w->refused, w->refused + records);
	shared_set(&w->retell, 1);
	shared_add(&arbiter->stats.refused, 1);
}

/* Handle the kernel's answer for a chunk with @records; a flush may have taken some of them */
static void take_answer(struct tb_arbiter *arbiter, uint32_t handle, uint32_t records,
			const struct tb_chunk_ref *ref)
{
	struct writer *w = writer_at(arbiter, handle);
	struct tb_chunk *chunk = chunk_of(arbiter, handle);
	int result = ref->result;
	bool stale = result == ESTALE && HANDLE_POOL(handle) == POOL_SHARED;
	/* a reader's flush may have taken the chunk: then the kernel has freed it */
	bool broken = stale && TB_CHUNK_STATE(shared_get(&chunk->state)) != TB_CHUNK_FREE;

	if (!arbiter->no_shared && ref->data < records)
		records -= (uint32_t)ref->data;
	if (!result || (stale && !broken))
		shared_add(&arbiter->stats.chunks, 1);
	else
		count_refused(arbiter, w, records);
	if (HANDLE_POOL(handle) == POOL_OWN)
		w->next_sent++;
	chunk_done(arbiter, handle, broken);
	writer_answered(arbiter, w);
}

static void drop_chunk(struct tb_arbiter *arbiter, uint32_t handle)
{
	struct writer *w = writer_at(arbiter, handle);

	shared_set(&w->refused, w->refused +
		   TB_PUBLISHED_RECORDS(shared_get(&chunk_of(arbiter, handle)->published)));
	shared_add(&arbiter->stats.aborted, 1);
	w->next_sent++;
	chunk_done(arbiter, handle, false);
	writer_answered(arbiter, w);
}

/* Copy a chunk to shared memory, complete; HANDLE_NONE: no chunk is free */
static uint32_t copy_shared(struct tb_arbiter *arbiter, const struct tb_chunk *from,
			    uint64_t owner)
{
	struct tb_chunk header = *from, *chunk;
	uint32_t handle, state;

	header.published = 0;
	handle = tb_chunk_claim(arbiter, POOL_SHARED, &header, owner, &state);
	if (handle == HANDLE_NONE)
		return handle;
	chunk = chunk_of(arbiter, handle);
	TB_STEP(chunk);
	memcpy(chunk + 1, from + 1, TB_PUBLISHED_BYTES(from->published));
	/* pairs with the acquire of the kernel, which also reads chunks that are being written */
	shared_set_release(&chunk->published, from->published);
	/* release: the chunk, to the kernel */
	shared_cas(&chunk->state, &state,
		   TB_CHUNK_WORD(TB_CHUNK_COMPLETE, TB_CHUNK_WRAP(state)));
	shared_add(&arbiter->uncommitted, 1);
	return handle;
}

/* Turn a complete chunk of POOL_OWN into what the kernel must get: without scraped records */
static void make_ready(struct tb_arbiter *arbiter, uint32_t handle, struct writer *w)
{
	struct tb_chunk_note *note = note_of(arbiter, handle);
	struct tb_chunk *chunk = chunk_of(arbiter, handle);
	uint32_t serial = OWNER_SERIAL(shared_get(&note->owner));
	uint32_t published = shared_get(&chunk->published), gone = note->taken_bytes;
	unsigned char *data = (unsigned char *)(chunk + 1);

	if (gone) {
		memmove(data, data + gone, TB_PUBLISHED_BYTES(published) - gone);
		shared_set(&chunk->published, published - TB_PUBLISHED(gone, note->taken_records));
		if (shared_get(&chunk->hole))
			shared_set(&chunk->hole, chunk->hole - gone);
		chunk->first += note->taken_records;
		chunk->cause = 0;
		chunk->flags &= (uint16_t)~TB_CHUNK_FRESH;
		note->shift = gone;
		note->taken_bytes = note->taken_records = 0;
	}
	chunk->id = serial + w->extra;
	w->sent[serial % SENT_NOTES] = (struct sent_note) {
		.serial = serial, .id = chunk->id, .shift = note->shift,
	};
}

static int call_kernel(struct tb_arbiter *arbiter, uint32_t refs, uint32_t patches,
		       uint32_t flush)
{
	struct tb_commit commit = {
		.refs = (uint64_t)(uintptr_t)(refs ? arbiter->refs : NULL),
		.nr_refs = refs,
		.patches = (uint64_t)(uintptr_t)(patches ? arbiter->list : NULL),
		.nr_patches = patches,
		.flush = flush,
	};
	int result = arbiter->endpoint->ops->commit(arbiter->endpoint, &commit);

	shared_add(&arbiter->stats.commits, 1);
	return result < 0 ? result : 0;
}

/* Add the chunk to the refs of the next call as number @count; false: no room to copy it to */
static bool add_ref(struct tb_arbiter *arbiter, uint32_t at, uint32_t count)
{
	uint32_t handle = arbiter->batch[at], copy;
	struct writer *w = writer_at(arbiter, handle);

	if (HANDLE_POOL(handle) == POOL_OWN) {
		make_ready(arbiter, handle, w);
		if (!arbiter->no_shared) {
			copy = copy_shared(arbiter, chunk_of(arbiter, handle),
					   shared_get(&note_of(arbiter, handle)->owner));
			if (copy == HANDLE_NONE)
				return false;
			/* the copy takes its place, so w->queued does not change */
			w->next_sent++;
			chunk_done(arbiter, handle, false);
			arbiter->batch[at] = handle = copy;
		}
	}
	arbiter->sending[count] = at;
	arbiter->sent_records[count] =
		TB_PUBLISHED_RECORDS(shared_get(&chunk_of(arbiter, handle)->published));
	arbiter->refs[count] = (struct tb_chunk_ref) {
		.chunk = arbiter->no_shared ? 0 : HANDLE_INDEX(handle),
		.result = UNANSWERED,
		.data = arbiter->no_shared ? (uint64_t)(uintptr_t)chunk_of(arbiter, handle) : 0,
	};
	return true;
}

/* Send as much of the batch as fits into a call; 1: there may be more, 0: no, or -errno */
static int send_some(struct tb_arbiter *arbiter)
{
	uint32_t i, count = 0, left = 0;
	bool full = false;
	int result = 0;

	for (i = 0; i < arbiter->nr_batch && count < REFS; i++) {
		uint32_t handle = arbiter->batch[i];

		/*
		 * Later chunks that are already in shared memory free room; they belong to other
		 * writers, so the order of each writer is kept.
		 */
		if (full && HANDLE_POOL(handle) == POOL_OWN)
			continue;

		switch (prospect_of(arbiter, writer_at(arbiter, handle))) {
		case PROSPECT_WAIT:
			break;
		case PROSPECT_DROP:
			drop_chunk(arbiter, handle);
			arbiter->batch[i] = HANDLE_NONE;
			break;
		case PROSPECT_SEND:
			if (add_ref(arbiter, i, count))
				count++;
			else
				full = true;
			break;
		}
	}
	if (count)
		result = call_kernel(arbiter, count, 0, 0);
	for (i = 0; i < count; i++) {
		if (arbiter->refs[i].result == UNANSWERED)
			continue;
		take_answer(arbiter, arbiter->batch[arbiter->sending[i]], arbiter->sent_records[i],
			    &arbiter->refs[i]);
		arbiter->batch[arbiter->sending[i]] = HANDLE_NONE;
	}
	for (i = 0; i < arbiter->nr_batch; i++)
		if (arbiter->batch[i] != HANDLE_NONE)
			arbiter->batch[left++] = arbiter->batch[i];
	arbiter->nr_batch = left;
	return result ? result : count && (count == REFS || full);
}

/* Copy new published records of a chunk of POOL_OWN to the stage, as a piece; false: none */
static bool stage_piece(struct tb_arbiter *arbiter, uint32_t handle, struct writer *w)
{
	const struct tb_chunk_note *note = note_of(arbiter, handle);
	struct tb_chunk *chunk = chunk_of(arbiter, handle), *stage = arbiter->stage;
	const unsigned char *data = (const unsigned char *)(chunk + 1);
	/* pairs with the writer's release: records up to here are complete ... */
	uint32_t published = shared_get_acquire(&chunk->published);
	/* ... and pairs with the release in tb_chunk_rehole(): holes up to here have values */
	uint32_t hole = shared_get_acquire(&chunk->hole);
	uint32_t end = TB_PUBLISHED_BYTES(published), at = note->taken_bytes, records = 0;

	if (hole && hole - 1 < end)
		end = hole - 1;
	while (at < end) {
		const struct tb_record *record = (const struct tb_record *)(data + at);

		if (record->bytes < sizeof(*record) || record->bytes > end - at)
			return false;
		at += record->bytes;
		records++;
	}
	if (!records)
		return false;
	*stage = (struct tb_chunk) {
		.state = TB_CHUNK_WORD(TB_CHUNK_COMPLETE, 0),
		.published = TB_PUBLISHED(end - note->taken_bytes, records),
		.id = OWNER_SERIAL(shared_get(&note->owner)) + w->extra,
		.writer = (uint16_t)w->id,
		.flags = chunk->flags,
		.cause = chunk->cause,
		.first = chunk->first + note->taken_records,
	};
	if (note->taken_bytes) {
		stage->cause = 0;
		stage->flags &= (uint16_t)~TB_CHUNK_FRESH;
	}
	memcpy(stage + 1, data + note->taken_bytes, end - note->taken_bytes);
	return true;
}

static int scrape_chunk(struct tb_arbiter *arbiter, uint32_t handle, struct writer *w)
{
	struct tb_chunk_note *note = note_of(arbiter, handle);
	const struct tb_chunk *stage = arbiter->stage;
	uint32_t copy;
	int result;

	if (!stage_piece(arbiter, handle, w))
		return 0;
	if (arbiter->no_shared) {
		arbiter->refs[0] = (struct tb_chunk_ref) {
			.result = UNANSWERED, .data = (uint64_t)(uintptr_t)stage,
		};
		result = call_kernel(arbiter, 1, 0, 0);
		if (arbiter->refs[0].result == UNANSWERED)
			return result;
		if (arbiter->refs[0].result)
			count_refused(arbiter, w, TB_PUBLISHED_RECORDS(stage->published));
		else
			shared_add(&arbiter->stats.chunks, 1);
	} else {
		copy = copy_shared(arbiter, stage, shared_get(&note->owner));
		if (copy == HANDLE_NONE)
			return 0;
		arbiter->batch[arbiter->nr_batch++] = copy;
		shared_add(&w->queued, 1);
		result = 0;
	}
	w->extra++;
	note->taken_bytes += TB_PUBLISHED_BYTES(stage->published);
	note->taken_records += TB_PUBLISHED_RECORDS(stage->published);
	return result;
}

/*
 * Send published records of incomplete chunks of POOL_OWN, which the kernel cannot see.  Only of
 * chunks that are next of their writer: an earlier chunk may have been queued just now.
 */
static int scrape_own(struct tb_arbiter *arbiter)
{
	struct tb_pool *pool = &arbiter->pools[POOL_OWN];
	int result = 0;
	uint32_t i;

	for (i = 0; i < pool->count && !result; i++) {
		uint32_t handle = HANDLE(POOL_OWN, i);
		struct writer *w;

		/* pairs with the release of the writer that claimed it: the header is set */
		if (TB_CHUNK_STATE(shared_get_acquire(&chunk_of(arbiter, handle)->state)) !=
		    TB_CHUNK_WRITING)
			continue;
		w = writer_at(arbiter, handle);
		if (w && OWNER_SERIAL(shared_get(&note_of(arbiter, handle)->owner)) ==
		    w->next_sent && prospect_of(arbiter, w) == PROSPECT_SEND)
			result = scrape_chunk(arbiter, handle, w);
	}
	return result;
}

static int send_batch(struct tb_arbiter *arbiter)
{
	int result;

	do
		result = send_some(arbiter);
	while (result > 0);
	return result;
}

/* Return true if no recording will have an event of the writer, so nobody needs its losses */
static bool is_aborted(const struct tb_arbiter *arbiter, const struct writer *w)
{
	return w->source == TARGET_RESERVED &&
	       shared_get(&arbiter->reservations[w->reservation].state) == RESERVATION_ABORTED;
}

void tb_commit_leave(struct tb_arbiter *arbiter, struct writer *w)
{
	if (is_aborted(arbiter, w) || arbiter->nr_ended == ENDED_MAX)
		w->cause = 0;
	if (w->cause) {
		w->next_ended = arbiter->ended;
		arbiter->ended = w;
		arbiter->nr_ended++;
	}
	if (w->cause || shared_get(&w->queued))
		w->leaving = 1;
	else
		tb_commit_gone(arbiter, w);
}

/* Queue chunks with the losses of writers that have ended; false: none, or no chunk is free */
static bool report_ended(struct tb_arbiter *arbiter)
{
	struct writer **link = &arbiter->ended, *w;
	bool some = false;

	while ((w = *link)) {
		if (is_aborted(arbiter, w))
			w->cause = 0;
		tb_writer_tell_lost(w);
		if (w->cause) {
			link = &w->next_ended;
			continue;
		}
		*link = w->next_ended;
		arbiter->nr_ended--;
		some = true;
		if (!shared_get(&w->queued))
			tb_commit_gone(arbiter, w);
	}
	return some;
}

/* Send all complete chunks; with @scrape also published records.  The caller holds the lock. */
int tb_commit_all(struct tb_arbiter *arbiter, uint32_t flush, bool scrape)
{
	uint32_t patches;
	int result;

	read_reservations(arbiter);
	take_queue(arbiter);
	tb_patches_apply(arbiter);
	result = send_batch(arbiter);
	if (!result && report_ended(arbiter)) {
		take_queue(arbiter);
		result = send_batch(arbiter);
	}
	if (!arbiter->seen_bound)
		return result;
	if (!result && scrape && arbiter->pools[POOL_OWN].chunks) {
		result = scrape_own(arbiter);
		if (!result)
			result = send_batch(arbiter);
	}
	/* a patch must not precede its chunk, so send none if a chunk was not sent */
	if (!result) {
		patches = tb_patches_list(arbiter, arbiter->list);
		if (patches || flush)
			result = call_kernel(arbiter, 0, patches, flush);
		if (!result && patches)
			tb_patches_sent(arbiter);
	}
	shared_set(&arbiter->last_commit, arbiter->endpoint->ops->now_us(arbiter->endpoint));
	return result;
}

/* Commit, unless nothing waits or another thread commits; returns true if this thread has */
bool tb_commit_try(struct tb_arbiter *arbiter)
{
	if (!shared_get(&arbiter->queue) && !shared_get(&arbiter->uncommitted) &&
	    !shared_get(&arbiter->patch_queue))
		return false;
	if (!tb_futex_lock_try(&arbiter->commit))
		return false;
	tb_commit_all(arbiter, 0, false);
	tb_futex_lock_release(&arbiter->commit);
	return true;
}

void tb_commit_if_due(struct tb_arbiter *arbiter)
{
	uint64_t period = (uint64_t)shared_get(&arbiter->period_ms) * 1000;

	/* pairs with the release of the thread that bound it: endpoint is set */
	if (!shared_get_acquire(&arbiter->bound))
		return;
	if (shared_get(&arbiter->uncommitted) * 2 >= arbiter->nr_chunks ||
	    arbiter->endpoint->ops->now_us(arbiter->endpoint) -
		    shared_get(&arbiter->last_commit) >= period)
		tb_commit_try(arbiter);
}
