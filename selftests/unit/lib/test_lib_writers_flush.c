// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader that flushes gets all records that a program has finished, and a slice that ends late
 * gets its duration once, in its chunk or by a patch. If this fails, records are missing at the end
 * of a trace, or slices seem never to end.
 */
#include "test_lib_writers.h"

/* ---- flush, scrape ---- */

static void flush(void)
{
	struct tb_writer *w;
	int done = 0;

	open_small();
	w = writer(TB_FULL_DROP);
	put(w, PER_CHUNK + 3);
	CHECK_NUMBER(tb_arbiter_flush_wanted(arbiter), 0);
	fake.page.flush = 7;
	CHECK_NUMBER(tb_arbiter_flush_wanted(arbiter), 7);
	CHECK(!tb_arbiter_flush(arbiter, count_up, &done));
	CHECK_NUMBER(done, 1);
	CHECK_NUMBER(fake.answered, 7);
	CHECK(fake_count(&fake, TB_REC_SIMPLE) >= PER_CHUNK);
	fake.page.flush = 8;
	put(w, 1);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake.answered, 7);
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	CHECK_NUMBER(fake.answered, 8);
	fake.fail_commit = -EIO;
	put(w, 1);
	CHECK_NUMBER(-tb_writer_flush(w), EIO);
	CHECK_NUMBER(-tb_arbiter_flush(arbiter, count_up, &done), EIO);
	CHECK_NUMBER(done, 1);
	fake.fail_commit = 0;
	/* a reader waits for the kernel's flush */
	fake.page.flush = 9;
	CHECK_NUMBER(tb_arbiter_serve(arbiter, 0), 0);
	CHECK_NUMBER(fake.answered, 8);
	fake.wait = TB_WAIT_CHANGE;
	CHECK_NUMBER(tb_arbiter_serve(arbiter, 0), 0);
	fake.wait = TB_WAIT_FLUSH;
	CHECK_NUMBER(tb_arbiter_serve(arbiter, 0), 1);
	CHECK_NUMBER(fake.answered, 9);
	tb_writer_destroy(w);
	close_all();
}

static void flush_unbound(void)
{
	int done = 0;

	open_unbound();
	CHECK(!tb_arbiter_flush(arbiter, count_up, &done));
	CHECK(!tb_arbiter_flush(arbiter, count_up, &done));
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	CHECK_NUMBER(done, 0);
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	CHECK_NUMBER(done, 2);
	close_all();
	/* an arbiter that is never bound calls no callback */
	open_unbound();
	CHECK(!tb_arbiter_flush(arbiter, count_up, &done));
	tb_arbiter_destroy(arbiter);
	CHECK_NUMBER(done, 2);
	fake_free(&fake);
}

static void serving_thread(void)
{
	open_small();
	CHECK(!tb_arbiter_start_thread(arbiter));
	CHECK_NUMBER(-tb_arbiter_start_thread(arbiter), EALREADY);
	__atomic_store_n(&fake.page.flush, 3, __ATOMIC_RELAXED);
	__atomic_store_n(&fake.wait, TB_WAIT_FLUSH, __ATOMIC_RELEASE);
	for (;;) {
		uint32_t answered;

		pthread_mutex_lock(&fake.lock);
		answered = fake.answered;
		pthread_mutex_unlock(&fake.lock);
		if (answered == 3)
			break;
	}
	close_all();
}

static void *destroy_cancelled(void *unused)
{
	pthread_cancel(pthread_self());
	tb_arbiter_destroy(arbiter);
	return unused;
}

/* No function is a cancellation point: a thread that is cancelled there would leave half a state */
static void cancelled_thread(void)
{
	pthread_t thread;
	void *result;

	open_small();
	CHECK(!tb_arbiter_start_thread(arbiter));
	assert(!pthread_create(&thread, NULL, destroy_cancelled, &fake));
	assert(!pthread_join(thread, &result));
	CHECK(result == &fake);
	fake_free(&fake);
}

static void scrape(void)
{
	struct tb_arbiter_options options = small;
	struct tb_writer *w, *other;
	unsigned int i;

	options.flags = TB_ARBITER_NO_SHARED;
	open_with(options);
	CHECK(!fake.chunks);
	w = writer(TB_FULL_DROP);
	other = writer(TB_FULL_DROP);
	/* at every fill level a flush takes a piece, and later the rest as another chunk */
	for (i = 0; i < 5 * PER_CHUNK; i++) {
		put(w, 1);
		CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
		check_values(0, i + 1);
	}
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	CHECK_NUMBER(fake.nr_got, 5 * PER_CHUNK + 1);
	put(w, PER_CHUNK + 3);
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	tb_writer_destroy(w);
	tb_writer_destroy(other);
	check_values(0, next_value);
	CHECK_NUMBER(fake_count(&fake, TB_REC_NAME), 1);
	close_all();
}

static void scraped_cause(void)
{
	static const char huge[ROOM];
	struct tb_arbiter_options options = small;
	struct tb_writer *w;
	unsigned int i;

	options.flags = TB_ARBITER_NO_SHARED;
	open_with(options);
	w = writer(TB_FULL_DROP);
	tb_put_event(w, &ping, huge, sizeof(huge));
	/* two pieces, and the rest */
	for (i = 0; i < 3; i++) {
		put(w, 1);
		CHECK(!(i < 2 ? tb_arbiter_flush(arbiter, NULL, NULL) : tb_writer_flush(w)));
	}
	CHECK_NUMBER(fake.nr_got, 4);
	/* only the first piece has the loss and the name */
	CHECK_NUMBER(fake.got[0].missing, 1);
	CHECK_NUMBER(fake.got[0].cause, TB_LOST_OVERSIZE);
	CHECK(fake.got[0].flags & TB_CHUNK_FRESH);
	for (i = 2; i < 4; i++) {
		CHECK_NUMBER(fake.got[i].chunk, i - 1);
		CHECK_NUMBER(fake.got[i].cause, 0);
		CHECK(!(fake.got[i].flags & TB_CHUNK_FRESH));
	}
	tb_writer_destroy(w);
	close_all();
}

static void scrape_refused(void)
{
	struct tb_arbiter_options options = small;
	struct tb_writer_stats stats;
	struct tb_writer *w;
	unsigned int id;

	options.flags = TB_ARBITER_NO_SHARED;
	open_with(options);
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	put(w, 2);
	fake.answer = ENOBUFS;
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	put(w, 1);
	fake.fail_commit = -ENOMEM;
	CHECK_NUMBER(-tb_arbiter_flush(arbiter, NULL, NULL), ENOMEM);
	fake.fail_commit = 0;
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	check_values(2, 1);
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.refused, 3);
	tb_writer_destroy(w);
	check_accounting(id, 4);
	close_all();
}

static void scraped_by_kernel(void)
{
	struct tb_arbiter_stats stats;
	struct tb_writer *w;
	int round;

	open_small();
	w = writer(TB_FULL_DROP);
	for (round = 0; round < 30; round++) {
		put(w, 5);
		fake_scrape(&fake);
		check_values(0, next_value);
	}
	tb_writer_destroy(w);
	check_values(0, next_value);
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.broken, 0);
	CHECK_NUMBER(stats.refused, 0);
	close_all();
}

/* ---- patches ---- */

static void patch_in_place(void)
{
	struct tb_slice outer, inner;
	struct tb_writer *w;

	open_small();
	CHECK(arbiter->direct_patch);
	w = writer(TB_FULL_DROP);
	outer = tb_slice_begin(w, &ping, 0);
	inner = tb_slice_begin(w, &ping, 99);
	CHECK(w->chunk->hole);
	fake_scrape(&fake);
	/* the scrape stops at the first hole */
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 0);
	CHECK_NUMBER(fake_count(&fake, TB_REC_NAME), 1);
	tb_slice_end(&outer);
	CHECK(w->chunk->hole);
	fake_scrape(&fake);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 1);
	CHECK(fake_got(&fake, TB_REC_SLICE, 0)->words[0]);
	tb_slice_end(&inner);
	CHECK(!w->chunk->hole);
	fake_scrape(&fake);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 2);
	CHECK_NUMBER(fake_got(&fake, TB_REC_SLICE, 1)->words[0], 99);
	CHECK(fake_got(&fake, TB_REC_SLICE, 1)->words[1]);
	/* ending a slice twice does nothing */
	tb_slice_end(&inner);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.nr_patches, 0);
	close_all();
}

static void patch_queued(void)
{
	struct tb_slice slice, second;
	struct tb_writer *w;

	open_small();
	w = writer(TB_FULL_DROP);
	slice = tb_slice_begin(w, &ping, 0);
	second = tb_slice_begin(w, &ping, 0);
	put(w, PER_CHUNK);
	CHECK_NUMBER(fake.commits, 0);
	CHECK_NUMBER(arbiter->uncommitted, 1);
	tb_slice_end(&slice);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK(fake_got(&fake, TB_REC_SLICE, 0)->words[0]);
	/* the second slice has a hole in the trace until it ends */
	CHECK_NUMBER(fake_got(&fake, TB_REC_SLICE, 1)->words[0], 0);
	CHECK_NUMBER(fake.nr_patches, 0);
	tb_slice_end(&second);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK_NUMBER(fake.nr_patches, 1);
	CHECK_NUMBER(fake.patches[0].writer, tb_writer_id(w));
	CHECK_NUMBER(fake.patches[0].chunk, 0);
	CHECK_NUMBER(fake.patches[0].offset, fake_got(&fake, TB_REC_SLICE, 1)->offset + 16);
	tb_writer_destroy(w);
	close_all();
}

static void patch_unanswered(void)
{
	const struct tb_chunk *chunk;
	struct tb_slice first, second;
	struct tb_writer *w;

	open_small();
	w = writer(TB_FULL_DROP);
	first = tb_slice_begin(w, &ping, 0);
	second = tb_slice_begin(w, &ping, 0);
	chunk = w->chunk;
	fake.fail_commit = -ENOMEM;
	CHECK_NUMBER(-tb_writer_flush(w), ENOMEM);
	CHECK_NUMBER(chunk->hole, 24 + 1);
	/* the commit failed: readers get the records before the next hole, then all */
	tb_slice_end(&first);
	CHECK_NUMBER(-tb_arbiter_commit(arbiter), ENOMEM);
	CHECK_NUMBER(chunk->hole, 48 + 1);
	fake_scrape(&fake);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 1);
	tb_slice_end(&second);
	CHECK_NUMBER(-tb_arbiter_commit(arbiter), ENOMEM);
	CHECK_NUMBER(chunk->hole, 0);
	fake_scrape(&fake);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 2);
	CHECK(fake_got(&fake, TB_REC_SLICE, 1) && fake_got(&fake, TB_REC_SLICE, 1)->words[0]);
	fake.fail_commit = 0;
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.nr_patches, 0);
	close_all();
}

static void patch_reused(void)
{
	struct tb_writer *w, *other;
	const struct tb_chunk *chunk;
	struct tb_slice slice;

	open_small();
	w = writer(TB_FULL_DROP);
	other = writer(TB_FULL_DROP);
	slice = tb_slice_begin(w, &ping, 0);
	chunk = w->chunk;
	CHECK(!tb_writer_flush(w));
	/* another writer gets the same chunk and completes it */
	put(other, 1);
	CHECK(other->chunk == chunk);
	put(other, PER_CHUNK);
	CHECK(other->chunk != chunk);
	CHECK_NUMBER(arbiter->uncommitted, 1);
	tb_slice_end(&slice);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK_NUMBER(fake.nr_patches, 1);
	CHECK_NUMBER(fake.patches[0].writer, tb_writer_id(w));
	tb_writer_destroy(w);
	tb_writer_destroy(other);
	check_values(0, PER_CHUNK + 1);
	close_all();
}

/* tb_chunk_rehole() stops at a record that is too short. */
static void damaged_record(void)
{
	struct {
		struct tb_chunk chunk;
		struct tb_record damaged;
		uint64_t more[2];
	} have = {
		.damaged = { .bytes = 8 },
	};
	const struct tb_record slice = { .bytes = 24, .type = TB_REC_SLICE };

	memcpy(&have.damaged.time, &slice, sizeof(slice));
	have.chunk.published = TB_PUBLISHED(sizeof(have) - sizeof(have.chunk), 1);
	tb_chunk_rehole(&have.chunk, 0);
	CHECK_NUMBER(have.chunk.hole, 0);
	tb_chunk_rehole(&have.chunk, 8);
	CHECK_NUMBER(have.chunk.hole, 8 + 1);
}

static void fail_every_other(struct fake *f)
{
	f->fail_commit = f->fail_commit ? 0 : -ENOMEM;
}

static void patch_before_chunk(void)
{
	struct tb_slice slice;
	struct tb_writer *w;

	open_small();
	w = tb_writer_create_startup(arbiter, 1);
	slice = tb_slice_begin(w, &ping, 0);
	CHECK(!tb_writer_flush(w));
	fake.fail_commit = -ENOMEM;
	CHECK_NUMBER(-tb_arbiter_bind_reservation(arbiter, 1, "app"), ENOMEM);
	/* the chunk was copied, not committed: the kernel cannot apply a patch to it yet */
	tb_slice_end(&slice);
	fake.fail_commit = 0;
	fake.on_commit = fail_every_other;
	CHECK_NUMBER(-tb_arbiter_commit(arbiter), ENOMEM);
	CHECK_NUMBER(fake.nr_patches, 0);
	fake.on_commit = NULL;
	fake.fail_commit = 0;
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 1);
	CHECK_NUMBER(fake.nr_patches, 1);
	tb_writer_destroy(w);
	close_all();
}

static void patch_not_direct(void)
{
	struct tb_slice slice;
	struct tb_writer *w;

	fake_init(&fake);
	fake.no_direct = true;
	next_value = 0;
	CHECK(!tb_arbiter_create_on(&small, &fake.endpoint, &arbiter));
	CHECK(!arbiter->direct_patch);
	w = writer(TB_FULL_DROP);
	slice = tb_slice_begin(w, &ping, 0);
	/* this kernel does not check for holes, so it accepts the slice with its hole */
	fake_scrape(&fake);
	CHECK_NUMBER(fake_got(&fake, TB_REC_SLICE, 0)->words[0], 0);
	tb_slice_end(&slice);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK_NUMBER(fake.nr_patches, 0);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake.nr_patches, 1);
	tb_writer_destroy(w);
	close_all();
}

static void patch_scraped(void)
{
	struct tb_arbiter_options options = small;
	struct tb_slice slice, later;
	struct tb_writer *w;

	options.flags = TB_ARBITER_NO_SHARED;
	open_with(options);
	w = writer(TB_FULL_DROP);
	put(w, 1);
	slice = tb_slice_begin(w, &ping, 0);
	/* a piece before the hole: the rest is another chunk, where the hole has another offset */
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	CHECK_NUMBER(fake.nr_got, 2);
	put(w, 1);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake.nr_got, 4);
	tb_slice_end(&slice);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK_NUMBER(fake.nr_patches, 1);
	CHECK_NUMBER(fake.patches[0].chunk, fake_got(&fake, TB_REC_SLICE, 0)->chunk);
	CHECK_NUMBER(fake.patches[0].offset, fake_got(&fake, TB_REC_SLICE, 0)->offset + 16);
	/* a slice queued after a piece is patched at its new offset */
	put(w, 1);
	later = tb_slice_begin(w, &ping, 0);
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	fake.fail_commit = -ENOMEM;
	CHECK_NUMBER(-tb_writer_flush(w), ENOMEM);
	tb_slice_end(&later);
	fake.fail_commit = 0;
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK(fake_got(&fake, TB_REC_SLICE, 1)->words[0]);
	CHECK_NUMBER(fake.nr_patches, 1);
	tb_writer_destroy(w);
	close_all();
}

static void holes_moved(void)
{
	struct tb_arbiter_options options = small;
	struct tb_slice first, second;
	const struct tb_chunk *chunk;
	struct tb_writer *w;

	options.flags = TB_ARBITER_NO_SHARED;
	open_with(options);
	w = writer(TB_FULL_DROP);
	put(w, 1);
	first = tb_slice_begin(w, &ping, 0);
	second = tb_slice_begin(w, &ping, 0);
	chunk = w->chunk;
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	CHECK_NUMBER(chunk->hole, 48 + 1);
	fake.fail_commit = -ENOMEM;
	/* the arbiter removes the accepted records, which moves the holes down */
	CHECK_NUMBER(-tb_writer_flush(w), ENOMEM);
	CHECK_NUMBER(chunk->hole, 0 + 1);
	tb_slice_end(&first);
	CHECK_NUMBER(-tb_arbiter_commit(arbiter), ENOMEM);
	CHECK_NUMBER(chunk->hole, 24 + 1);
	tb_slice_end(&second);
	CHECK_NUMBER(-tb_arbiter_commit(arbiter), ENOMEM);
	CHECK_NUMBER(chunk->hole, 0);
	fake.fail_commit = 0;
	tb_writer_destroy(w);
	CHECK(fake_got(&fake, TB_REC_SLICE, 0)->words[0]);
	CHECK(fake_got(&fake, TB_REC_SLICE, 1)->words[0]);
	CHECK_NUMBER(fake.nr_patches, 0);
	close_all();
}

/* The arbiter remembers the last SENT_NOTES chunks of a writer: it cannot patch older ones. */
static void patch_forgotten(void)
{
	struct tb_arbiter_options options = small;
	struct tb_arbiter_stats stats;
	struct tb_slice first, second;
	struct tb_writer *w;
	unsigned int i;

	options.flags = TB_ARBITER_NO_SHARED;
	open_with(options);
	w = writer(TB_FULL_DROP);
	first = tb_slice_begin(w, &ping, 0);
	CHECK(!tb_writer_flush(w));
	second = tb_slice_begin(w, &ping, 0);
	CHECK(!tb_writer_flush(w));
	for (i = 2; i <= SENT_NOTES; i++) {
		put(w, 1);
		CHECK(!tb_writer_flush(w));
	}
	tb_slice_end(&first);
	tb_slice_end(&second);
	CHECK(!tb_arbiter_commit(arbiter));
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.patches_lost, 1);
	CHECK_NUMBER(fake.nr_patches, 1);
	CHECK_NUMBER(fake.patches[0].chunk, 1);
	tb_writer_destroy(w);
	close_all();
}

static void too_many_patches(void)
{
	static struct tb_slice slices[PATCHES + 5];
	struct tb_arbiter_options options = { 8192, 64, 1u << 30, 0 };
	struct tb_arbiter_stats stats;
	struct tb_writer *w;
	unsigned int round;
	size_t i;

	open_with(options);
	w = writer(TB_FULL_DROP);
	/* the second round needs the entries that the first has used */
	for (round = 1; round <= 2; round++) {
		for (i = 0; i < PATCHES + 5; i++)
			slices[i] = tb_slice_begin(w, &ping, 0);
		CHECK(!tb_writer_flush(w));
		fake.fail_commit = -ENOMEM;
		for (i = 0; i < PATCHES + 5; i++)
			tb_slice_end(&slices[i]);
		fake.fail_commit = 0;
		CHECK(!tb_arbiter_commit(arbiter));
		tb_arbiter_read_stats(arbiter, &stats);
		CHECK_NUMBER(stats.patches, round * PATCHES);
		CHECK_NUMBER(stats.patches_lost, round * 5);
		CHECK_NUMBER(fake.nr_patches, round * PATCHES);
	}
	tb_writer_destroy(w);
	close_all();
}

static const struct test tests[] = {
	{ "flush: callback, answer to the kernel", flush },
	{ "flush while unbound calls back when bound", flush_unbound },
	{ "a thread that serves", serving_thread },
	{ "a thread that is cancelled in a function leaves after it", cancelled_thread },
	{ "scrape without shared memory", scrape },
	{ "only the first piece of a chunk reports a loss", scraped_cause },
	{ "scrape that is refused, that fails", scrape_refused },
	{ "scraped by the kernel", scraped_by_kernel },
	{ "patch in place, in the chunk of the writer", patch_in_place },
	{ "patch in place while queued, by list once committed", patch_queued },
	{ "patch in place while the kernel has not answered", patch_unanswered },
	{ "no patch in a chunk that another writer has now", patch_reused },
	{ "a damaged record before the next hole", damaged_record },
	{ "no patch before its chunk", patch_before_chunk },
	{ "patch by list where the kernel does not check for holes", patch_not_direct },
	{ "patch after a scraped piece", patch_scraped },
	{ "holes after a scraped piece move with it", holes_moved },
	{ "a patch of a forgotten chunk is lost, and counted", patch_forgotten },
	{ "too many patches are counted", too_many_patches },
};

TEST_MAIN(tests)
