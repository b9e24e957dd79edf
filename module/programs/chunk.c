// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take chunks of user-space writers: chunks that they commit, chunks found in their memory when a
 * reader flushes, the recording stops or the process ends (scraping), and values filled in later
 * (patches).  Each piece becomes one event in the ring of the writer's target.
 *
 * Callers: devices/tracebuf_producer.c and channels.c, in process context; tb_piece_record() may
 * also run in an interrupt.  Locks: tb_channel.lock.
 */
#include <linux/math64.h>
#include <linux/nospec.h>
#include <linux/sort.h>

#include "channel.h"
#include "probe/probe.h"

enum tb_take {
	TB_TAKE_COMMIT,		/* a chunk that the program commits as complete */
	TB_TAKE_FLUSH,		/* records up to a hole; a later call takes the rest */
	TB_TAKE_END,		/* all published records, because no later scrape follows */
};

/* ---- record ----------------------------------------------------------- */

/* A piece of a chunk, to be recorded as one event. */
struct tb_piece {
	struct tb_provider *provider;
	u32 event;		/* TB_EV_CHUNK, TB_EV_PATCH */
	u32 head_bytes;
	u32 data_bytes;
	const void *head;
	const void *data;
	u64 now;		/* for quotas, ns */
	bool waits;		/* if the ring has no room, do not count a drop: try later */
	int result;		/* 0 or -errno */
};

static u32 tb_piece_elements(const struct tb_piece *piece)
{
	return tb_record_elements(piece->head_bytes + piece->data_bytes);
}

static u32 tb_piece_cost(const struct tb_piece *piece)
{
	return tb_piece_elements(piece) * TB_ELEMENT_SIZE;
}

/* Return the price of @bytes at @rate bytes per second, in nanoseconds. */
static u64 tb_quota_price(u32 bytes, u64 rate)
{
	return div64_u64((u64)bytes * NSEC_PER_SEC, rate);
}

/*
 * Return true if programs may write more into this CPU's ring now: like tb_quota_allows_target(),
 * but for all programs together.  Runs with preemption off.  Before this piece is charged, an
 * interrupt may test, record and charge one more piece, for another CPU.
 */
static bool tb_quota_allows_ring(struct tb_channels *in, u64 now)
{
	return !READ_ONCE(in->ring_rate) || READ_ONCE(*this_cpu_ptr(in->ring_paid)) < now;
}

/*
 * Return true if tb_provider_call() may record a piece: a program whose quota is used up must not
 * interrupt another CPU.  A hint: the caller may migrate, and other programs may use up the quota.
 */
static bool tb_quota_allows_call(struct tb_provider *p, u64 now)
{
	unsigned int cpu;

	if (!READ_ONCE(p->channels.ring_rate) ||
	    cpumask_test_cpu(raw_smp_processor_id(), &p->cpus))
		return true;
	cpu = tb_provider_cpu(p, false);
	return cpu >= nr_cpu_ids || READ_ONCE(*per_cpu_ptr(p->channels.ring_paid, cpu)) < now;
}

/* Charge a piece, by an exchange: such an interrupt and tb_channels_set_quota() also set @paid. */
static void tb_quota_charge(struct tb_channels *in, u64 now, u32 bytes)
{
	u64 rate = READ_ONCE(in->ring_rate), burst = READ_ONCE(in->ring_burst);
	u64 *paid = this_cpu_ptr(in->ring_paid), old = READ_ONCE(*paid), from;

	if (!rate)
		return;
	do {
		from = now > burst ? max(old, now - burst) : old;
	} while (!try_cmpxchg(paid, &old, from + tb_quota_price(bytes, rate)));
}

/* Record a piece on this CPU, with preemption off. */
static void tb_piece_record(void *data)
{
	struct tb_piece *piece = data;
	struct tb_cpu_ring *r = this_cpu_ptr(piece->provider->rings);
	struct tb_slot slot __uninitialized;
	struct tb_composite *c;

	piece->result = -ENODATA;
	/* tb_recording_detach() waits for contexts that saw p->live set */
	if (!tb_provider_live(piece->provider))
		return;
	piece->result = -EDQUOT;
	if (!tb_quota_allows_ring(&piece->provider->channels, piece->now))
		return;
	piece->result = -ENOBUFS;
	if (piece->waits && !tb_ring_room(r, tb_piece_elements(piece)))
		return;
	c = tb_record_begin(piece->provider, &slot, piece->event,
			    piece->head_bytes + piece->data_bytes, 2);
	if (!c)
		return;
	memcpy(c + 1, piece->head, piece->head_bytes);
	memcpy((void *)(c + 1) + piece->head_bytes, piece->data, piece->data_bytes);
	tb_record_end(&slot);
	tb_quota_charge(&piece->provider->channels, piece->now, tb_piece_cost(piece));
	piece->result = 0;
}

/*
 * Return true if the channel may write more to @t now.  Each recorded byte advances t->paid, which
 * lies at most one burst before now.  A piece passes if t->paid is before now.  So the average rate
 * holds, and a piece that is larger than a burst still passes.
 */
static bool tb_quota_allows_target(struct tb_channel *c, struct tb_target *t, u64 now)
{
	lockdep_assert_held(&c->lock);
	if (t->closed)
		return false;
	if (!t->rate)
		return true;
	if (now > t->burst)
		t->paid = max(t->paid, now - t->burst);
	return t->paid < now;
}

/* Record a piece.  Return 0; -ENODATA no recording; -EDQUOT; -ENOBUFS no room. */
static int tb_piece_put(struct tb_channel *c, struct tb_target *t, struct tb_piece *piece)
{
	lockdep_assert_held(&c->lock);
	/* far from 0, where @paid starts, so that writers have a full burst at first */
	piece->now = ktime_get_ns() + (1ull << 62);
	piece->provider = t->provider;
	if (!t->provider || !tb_provider_live(t->provider))
		return -ENODATA;
	if (!tb_quota_allows_target(c, t, piece->now) ||
	    !tb_quota_allows_call(t->provider, piece->now))
		return -EDQUOT;
	piece->result = -ENOBUFS;
	/* may interrupt another CPU, for as long as copying one event takes */
	tb_provider_call(piece->provider, false, tb_piece_record, piece);
	if (!piece->result && t->rate)
		t->paid += tb_quota_price(tb_piece_cost(piece), t->rate);
	return piece->result;
}

/* Count records that the quota kept out of the recording. */
static void tb_target_kept(struct tb_target *t, u32 records, u32 bytes)
{
	struct tb_channels *in;

	if (!t->provider)
		return;
	in = &t->provider->channels;
	atomic64_inc(&in->kept_pieces);
	atomic64_add(records, &in->kept_records);
	atomic64_add(bytes, &in->kept_bytes);
}

/* ---- chunks ----------------------------------------------------------- */

/*
 * The program may change shared memory at any time, and write anything:
 *
 *	- The kernel copies a header field by field, once, and checks the copy, also against its
 *	  own data (struct tb_chunk_account): lap, bytes taken so far, ids of chunk and writer.
 *	- It copies as many bytes of data into the ring as it has checked, and does not interpret
 *	  them.  Before a hole it adds up lengths of records, to count the records: the loop ends
 *	  at the hole for any lengths, and the kernel only records the count.
 *	- The channel, not the chunk, says which process wrote a piece.
 *
 * So a program that damages its memory spoils only the records of its own chunks.
 *
 * Lifecycle of a chunk, and pairs of barriers:
 *
 *	the program					the kernel
 *	state: FREE -> WRITING, acquire		<-	published = 0; state = FREE, release
 *	header; record; published, release	->	published, acquire; then header and data
 *	hole; published, release		->	published, acquire; then hole
 *	fills the hole; hole = next, release	->	hole, acquire; then data
 *	state: WRITING -> COMPLETE, release	->	state, acquire; then published
 *
 * The kernel sets published to 0 before it frees a chunk, so a chunk has nothing published until
 * its writer has written a header.  Only the kernel frees COMPLETE chunks, with the channel's lock
 * held: until it releases the lock, a chunk that it has seen in this lap stays in this lap.
 *
 * A piece without room is lost if its chunk was committed.  The writer's next piece reports the
 * cause; its first record number (tb_chunk.first) shows how many records are lost.  A scrape leaves
 * such a piece for a later scrape or commit, and takes no later piece of the writer, so that each
 * loss is reported by the piece that follows it.  The last scrape takes all that it can.
 */

static u16 tb_lost_cause(int err)
{
	switch (err) {
	case -ENOBUFS:
		return TB_LOST_RING;
	case -EDQUOT:
		return TB_LOST_QUOTA;
	case -ENODATA:
		return TB_LOST_STOPPED;
	}
	return TB_LOST_INVALID;
}

/* Copy all of the header but its state, which the caller has read with acquire. */
static void tb_chunk_get(struct tb_chunk *to, const struct tb_chunk *from)
{
	/* before header and records: pairs with the writer's release of published */
	to->published = smp_load_acquire(&from->published);
	/* after published, before the filled hole: pairs with the writer's release of hole */
	to->hole = smp_load_acquire(&from->hole);
	to->id = READ_ONCE(from->id);
	to->writer = READ_ONCE(from->writer);
	to->flags = READ_ONCE(from->flags);
	to->cause = READ_ONCE(from->cause);
	to->reserved16 = READ_ONCE(from->reserved16);
	to->first = READ_ONCE(from->first);
	to->reserved[0] = READ_ONCE(from->reserved[0]);
	to->reserved[1] = READ_ONCE(from->reserved[1]);
}

static u32 tb_chunk_room(const struct tb_channel *c)
{
	return c->chunk_bytes - sizeof(struct tb_chunk);
}

/* Return true if the copied header is legal, and continues the part that @k has. */
static bool tb_chunk_legal(const struct tb_channel *c, const struct tb_chunk_account *k,
			   const struct tb_chunk *h)
{
	u32 bytes = TB_PUBLISHED_BYTES(h->published), records = TB_PUBLISHED_RECORDS(h->published);

	if (bytes > tb_chunk_room(c) || bytes % 8)
		return false;
	if (h->hole && (h->hole > tb_chunk_room(c) || (h->hole - 1) % 8))
		return false;
	if (h->flags & ~TB_CHUNK_FLAGS || h->cause & ~TB_LOST_PRODUCER || h->reserved16 ||
	    h->reserved[0] || h->reserved[1])
		return false;
	if (k->bytes && (h->id != k->id || h->writer != k->writer))
		return false;
	return bytes >= k->bytes && records >= k->records &&
	       records - k->records <= (bytes - k->bytes) / sizeof(struct tb_record);
}

/* Return the number of records from @at to @end; -1 if no record ends at @end. */
static int tb_chunk_count(const void *data, u32 at, u32 end)
{
	int n = 0;

	for (; at < end; n++) {
		const struct tb_record *r = data + at;
		u16 bytes = READ_ONCE(r->bytes);

		if (bytes < sizeof(*r) || bytes % 8 || bytes > end - at)
			return -1;
		at += bytes;
	}
	return n;
}

/* The part of a chunk to take.  It starts at the end of the part that was taken last. */
struct tb_chunk_part {
	u32 bytes;	/* end, from the start of the data */
	u32 records;	/* number of records up to the end */
	u16 flags;	/* TB_CHUNK_* */
};

/* Choose the part to take.  Return false if the chunk is not legal. */
static bool tb_chunk_take_part(const struct tb_channel *c, const struct tb_chunk_account *k,
			       const struct tb_chunk *h, const void *data, enum tb_take how,
			       bool complete, struct tb_chunk_part *part)
{
	u32 bytes = TB_PUBLISHED_BYTES(h->published);
	int n;

	if (!tb_chunk_legal(c, k, h))
		return false;
	part->bytes = bytes;
	part->records = TB_PUBLISHED_RECORDS(h->published);
	part->flags = how == TB_TAKE_COMMIT ? 0 : TB_CHUNK_SCRAPED;
	if (!h->hole || h->hole > bytes) {
		part->flags |= complete ? TB_CHUNK_LAST : 0;
	} else if (how != TB_TAKE_FLUSH) {
		part->flags |= TB_CHUNK_HOLES | (complete ? TB_CHUNK_LAST : 0);
	} else {
		/* end before the record with the hole */
		part->bytes = max_t(u32, h->hole - 1, k->bytes);
		n = tb_chunk_count(data, k->bytes, part->bytes);
		if (n < 0 || k->records + n > part->records)
			return false;
		part->records = k->records + n;
	}
	return true;
}

/* Record a part of a chunk. */
static int tb_chunk_put(struct tb_channel *c, struct tb_writer *w, const struct tb_chunk_account *k,
			const struct tb_chunk *h, const void *data,
			const struct tb_chunk_part *part, enum tb_take how)
{
	struct tb_chunk_event e = {
		.producer = c->id,
		.pid = c->pid,
		.tid = w->tid,
		.uid = c->uid,
		.chunk = h->id,
		.writer = h->writer,
		.flags = h->flags | part->flags,
		.cause = w->pending | (k->bytes ? 0 : h->cause),
		.offset = k->bytes,
		.records = part->records - k->records,
		.first = h->first + k->records,
	};
	struct tb_piece piece = {
		.event = TB_EV_CHUNK,
		.head = &e,
		.head_bytes = sizeof(e),
		.data = data + k->bytes,
		.data_bytes = part->bytes - k->bytes,
		.waits = how == TB_TAKE_FLUSH,
	};
	struct tb_target *t = &c->target[w->target];
	int err;

	lockdep_assert_held(&c->lock);
	err = tb_piece_put(c, t, &piece);
	/* TB_TAKE_FLUSH leaves the piece for later, so it is not lost yet */
	if (err == -EDQUOT && how != TB_TAKE_FLUSH)
		tb_target_kept(t, e.records, piece.data_bytes);
	if (err)
		return err;
	w->pending = 0;
	c->taken++;
	c->bytes += piece.data_bytes;
	c->records += e.records;
	return 0;
}

/* Count a lost piece.  The writer's next piece reports its cause, and the causes in its header. */
static void tb_chunk_count_lost(struct tb_channel *c, struct tb_writer *w,
				const struct tb_chunk_account *k, const struct tb_chunk *h, int err)
{
	lockdep_assert_held(&c->lock);
	if (err == -EINVAL)
		c->refused++;
	else
		c->lost++;
	if (!w)
		return;
	w->pending |= tb_lost_cause(err);
	if (!k->bytes)
		w->pending |= h->cause & TB_LOST_PRODUCER;
}

/* Give chunk @n back to the program. */
static void tb_chunk_free(struct tb_channel *c, u32 n)
{
	struct tb_chunk *shared = tb_mem_block(&c->chunk_mem, n);
	struct tb_chunk_account *k = &c->accounting[n];

	lockdep_assert_held(&c->lock);
	*k = (struct tb_chunk_account){ .wrap = k->wrap + 1 };
	WRITE_ONCE(shared->published, 0);
	WRITE_ONCE(shared->hole, 0);
	/*
	 * A store, because only the kernel may change a complete chunk; it overwrites an illegal
	 * change.  After all reads of the chunk and the store to published: pairs with the acquire
	 * of the writer that makes it WRITING.
	 */
	smp_store_release(&shared->state, TB_CHUNK_WORD(TB_CHUNK_FREE, k->wrap));
}

/*
 * Take chunk @n, or the part of it that @how allows.  Return 0; -ESTALE its state does not allow
 * @how; -EINVAL, -ENOBUFS, -EDQUOT, -ENODATA.
 */
static int tb_chunk_take(struct tb_channel *c, u32 n, enum tb_take how)
{
	struct tb_chunk *shared = tb_mem_block(&c->chunk_mem, n);
	struct tb_chunk_account *k = &c->accounting[n];
	struct tb_chunk_part part = { };
	struct tb_writer *w;
	struct tb_chunk h;
	bool complete;
	int err = 0;

	lockdep_assert_held(&c->lock);
	/* before published: pairs with the writer's release of COMPLETE */
	h.state = smp_load_acquire(&shared->state);
	complete = h.state == TB_CHUNK_WORD(TB_CHUNK_COMPLETE, k->wrap);
	if (!complete && (how == TB_TAKE_COMMIT ||
			  h.state != TB_CHUNK_WORD(TB_CHUNK_WRITING, k->wrap)))
		return -ESTALE;
	tb_chunk_get(&h, shared);
	w = xa_load(&c->writers, h.writer);
	if (!w || !tb_chunk_take_part(c, k, &h, shared + 1, how, complete, &part)) {
		err = -EINVAL;
	} else if (how != TB_TAKE_COMMIT && (h.id != k->id || h.writer != k->writer)) {
		/* the program has changed its ids since tb_chunk_has_data() */
		err = -EINVAL;
	} else if (part.flags & TB_CHUNK_LAST || part.bytes > k->bytes) {
		err = tb_chunk_put(c, w, k, &h, shared + 1, &part, how);
	}
	if (err && err != -EINVAL && how != TB_TAKE_COMMIT) {
		/* a later scrape or commit may take the piece, unless this is the last scrape */
		if (how == TB_TAKE_END)
			w->pending |= tb_lost_cause(err);
		return err;
	}
	if (err)
		tb_chunk_count_lost(c, w, k, &h, err);
	if (complete && (err || part.flags & TB_CHUNK_LAST)) {
		tb_chunk_free(c, n);
	} else if (!err && part.bytes > k->bytes) {
		k->id = h.id;
		k->writer = h.writer;
		k->bytes = part.bytes;
		k->records = part.records;
	}
	return err;
}

/* Take the chunk @ref that its writer commits as complete, and fill in the result. */
void tb_chunk_commit(struct tb_channel *c, struct tb_chunk_ref *ref)
{
	int err = -EINVAL;
	u32 n, taken;

	mutex_lock(&c->lock);
	if (ref->chunk >= c->nr_chunks || ref->data) {
		c->refused++;
	} else {
		n = array_index_nospec(ref->chunk, c->nr_chunks);
		taken = c->accounting[n].records;
		err = tb_chunk_take(c, n, TB_TAKE_COMMIT);
		if (err && err != -ESTALE)
			ref->data = taken;
	}
	mutex_unlock(&c->lock);
	ref->result = -err;
}

/*
 * Take a chunk that is not in shared memory; @chunk is a copy with all published bytes.  Return 0;
 * -ESTALE the chunk is not COMPLETE; -EINVAL, -ENOBUFS, -EDQUOT, -ENODATA.
 */
int tb_chunk_copied(struct tb_channel *c, const struct tb_chunk *chunk)
{
	struct tb_chunk_account k = { };
	struct tb_writer *w;
	struct tb_chunk_part part;
	int err = -EINVAL;

	if (TB_CHUNK_STATE(chunk->state) != TB_CHUNK_COMPLETE)
		return -ESTALE;
	mutex_lock(&c->lock);
	w = xa_load(&c->writers, chunk->writer);
	if (w && tb_chunk_take_part(c, &k, chunk, chunk + 1, TB_TAKE_COMMIT, true, &part))
		err = tb_chunk_put(c, w, &k, chunk, chunk + 1, &part, TB_TAKE_COMMIT);
	if (err)
		tb_chunk_count_lost(c, w, &k, chunk, err);
	mutex_unlock(&c->lock);
	return err;
}

/*
 * Record a value for a hole in a chunk that the kernel has taken.  Return 0, also if the patch was
 * lost; -EINVAL not a legal patch.
 */
int tb_chunk_patch(struct tb_channel *c, const struct tb_patch *patch)
{
	struct tb_patch_event e = {
		.producer = c->id,
		.chunk = patch->chunk,
		.writer = patch->writer,
		.offset = patch->offset,
		.value = patch->value,
	};
	struct tb_piece piece = {
		.event = TB_EV_PATCH,
		.head = &e,
		.head_bytes = sizeof(e),
	};
	struct tb_target *t;
	struct tb_writer *w;
	int err = -EINVAL, put;

	mutex_lock(&c->lock);
	w = xa_load(&c->writers, patch->writer);
	if (w && patch->offset % 8 == 0 && patch->offset + 8u <= tb_chunk_room(c)) {
		err = 0;
		t = &c->target[w->target];
		put = tb_piece_put(c, t, &piece);
		if (put == -EDQUOT)
			tb_target_kept(t, 0, 0);
		c->lost += !!put;
	} else {
		c->refused++;
	}
	mutex_unlock(&c->lock);
	return err;
}

/* ---- scraping --------------------------------------------------------- */

/*
 * Return true if chunk @n has data for @only (NULL: for any target).  Store the ids of chunk and
 * writer in its account: tb_chunk_take() refuses the chunk if the program changes them.
 */
static bool tb_chunk_has_data(struct tb_channel *c, u32 n, const struct tb_provider *only)
{
	const struct tb_chunk *shared = tb_mem_block(&c->chunk_mem, n);
	struct tb_chunk_account *k = &c->accounting[n];
	struct tb_writer *w;
	struct tb_chunk h;

	lockdep_assert_held(&c->lock);
	/* pairs with the writer's release of COMPLETE */
	h.state = smp_load_acquire(&shared->state);
	tb_chunk_get(&h, shared);
	if (h.state == TB_CHUNK_WORD(TB_CHUNK_WRITING, k->wrap)) {
		if (TB_PUBLISHED_BYTES(h.published) <= k->bytes)
			return false;
	} else if (h.state != TB_CHUNK_WORD(TB_CHUNK_COMPLETE, k->wrap)) {
		return false;
	}
	w = xa_load(&c->writers, h.writer);
	if (only && (!w || c->target[w->target].provider != only))
		return false;
	if (!k->bytes) {
		k->id = h.id;
		k->writer = h.writer;
	}
	return true;
}

/* Sort by writer, and by the order in which it wrote its chunks. */
static int tb_chunk_order(const void *a, const void *b, const void *channel)
{
	const struct tb_channel *c = channel;
	const struct tb_chunk_account *x = &c->accounting[*(const u16 *)a];
	const struct tb_chunk_account *y = &c->accounting[*(const u16 *)b];

	if (x->writer != y->writer)
		return x->writer < y->writer ? -1 : 1;
	/* ids wrap */
	return (s32)(x->id - y->id);
}

/**
 * tb_chunk_scrape() - take the published records in a channel's memory
 * @c: the channel
 * @only: take only pieces with this target; NULL: all pieces
 * @end: this is the last scrape: take records with unfilled holes, too
 *
 * Context: process, under c->lock.
 */
void tb_chunk_scrape(struct tb_channel *c, const struct tb_provider *only, bool end)
{
	u32 n, nr = 0, waits = U32_MAX;

	lockdep_assert_held(&c->lock);
	for (n = 0; n < c->nr_chunks; n++) {
		if (tb_chunk_has_data(c, n, only))
			c->order[nr++] = n;
		cond_resched();
	}
	sort_r(c->order, nr, sizeof(*c->order), tb_chunk_order, NULL, c);
	for (n = 0; n < nr; n++) {
		const struct tb_chunk_account *k = &c->accounting[c->order[n]];
		u16 writer = k->writer, wrap = k->wrap;

		if (writer == waits)
			continue;
		tb_chunk_take(c, c->order[n], end ? TB_TAKE_END : TB_TAKE_FLUSH);
		/* the rest of this chunk must come before later chunks of the writer */
		if (k->wrap == wrap && !end)
			waits = writer;
		cond_resched();
	}
}

/* Count the chunks that are not free in shared memory, which the program may change at any time. */
u32 tb_chunk_busy(const struct tb_channel *c)
{
	u32 n, busy = 0;

	lockdep_assert_held(&c->lock);
	for (n = 0; n < c->nr_chunks; n++) {
		const struct tb_chunk *shared = tb_mem_block(&c->chunk_mem, n);

		busy += TB_CHUNK_STATE(READ_ONCE(shared->state)) != TB_CHUNK_FREE;
	}
	return busy;
}
