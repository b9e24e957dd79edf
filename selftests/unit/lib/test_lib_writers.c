// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program loses no record without a count and a cause: chunks are committed and returned, writers
 * get ids, a full buffer drops or stalls as chosen. If this fails, losses are hidden.
 */
#include "test_lib_writers.h"

/* ---- chunks and commits ---- */

static void get_and_return(void)
{
	struct tb_writer *w[3];
	int i, round;

	open_small();
	for (i = 0; i < 3; i++) {
		w[i] = writer(TB_FULL_DROP);
		put(w[i], 1);
	}
	for (i = 0; i < 3; i++)
		CHECK(w[i]->chunk && w[i]->chunk != w[(i + 1) % 3]->chunk);
	for (round = 0; round < 10; round++)
		for (i = 0; i < 3; i++) {
			put(w[i], 1);
			CHECK(!tb_writer_flush(w[i]));
			CHECK(!w[i]->chunk);
		}
	for (i = 0; i < 3; i++)
		tb_writer_destroy(w[i]);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE), 33);
	/* all chunks are free again: the writer can fill each of them */
	w[0] = writer(TB_FULL_DROP);
	arbiter->period_ms = 1u << 30;
	fake.fail_commit = -ENOMEM;
	put(w[0], 4 * PER_CHUNK + 3 + 1);
	CHECK_NUMBER(writer_of(w[0])->lost, 1);
	fake.fail_commit = 0;
	tb_writer_destroy(w[0]);
	close_all();
}

static void batch(void)
{
	struct tb_arbiter_options options = small;
	struct tb_writer *w;

	options.chunks = 8;
	open_with(options);
	w = writer(TB_FULL_DROP);
	put(w, 3 * PER_CHUNK + 4);
	CHECK_NUMBER(fake.commits, 0);
	CHECK_NUMBER(arbiter->uncommitted, 3);
	/* half of the memory is uncommitted: the arbiter commits */
	put(w, PER_CHUNK);
	CHECK_NUMBER(fake.commits, 1);
	CHECK_NUMBER(fake.largest, 4);
	check_values(0, 4 * PER_CHUNK + 3);
	/* the arbiter commits when the period is over */
	fake.now += 999 * 1000;
	put(w, 8);
	CHECK_NUMBER(fake.commits, 1);
	fake.now += 1000;
	put(w, 8);
	CHECK_NUMBER(fake.commits, 2);
	/* a new period takes effect at once */
	arbiter->period_ms = 0;
	put(w, 8);
	CHECK_NUMBER(fake.commits, 3);
	put(w, 8);
	CHECK_NUMBER(fake.commits, 4);
	arbiter->period_ms = 1000;
	put(w, 8);
	CHECK_NUMBER(fake.commits, 4);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK_NUMBER(fake.commits, 5);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK_NUMBER(fake.commits, 5);
	tb_writer_destroy(w);
	check_values(0, next_value);
	close_all();
}

static void large_batch(void)
{
	struct tb_arbiter_options options = { CHUNK, 2000, 1u << 30, 0 };
	struct tb_writer *w;

	open_with(options);
	fake.fail_commit = -ENOMEM;
	w = writer(TB_FULL_DROP);
	put(w, 1900 * PER_CHUNK);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE), 0);
	fake.fail_commit = 0;
	tb_writer_destroy(w);
	CHECK(fake.largest <= REFS);
	check_values(0, next_value);
	close_all();
}

static void commit_fails(void)
{
	struct tb_writer *w;

	open_small();
	w = writer(TB_FULL_DROP);
	put(w, PER_CHUNK + 2);
	fake.fail_commit = -ENOMEM;
	CHECK_NUMBER(-tb_arbiter_commit(arbiter), ENOMEM);
	CHECK_NUMBER(-tb_writer_flush(w), ENOMEM);
	CHECK_NUMBER(fake.nr_got, 0);
	put(w, 3);
	fake.fail_commit = 0;
	CHECK(!tb_writer_flush(w));
	check_values(0, next_value);
	tb_writer_destroy(w);
	close_all();
}

static void refused_chunk(void)
{
	struct tb_writer_stats stats;
	unsigned int id;
	struct tb_writer *w;

	open_small();
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	put(w, 3);
	fake.answer = ENOBUFS;
	CHECK(!tb_writer_flush(w));
	put(w, 3);
	CHECK(!tb_writer_flush(w));
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.attempted, 8);
	CHECK_NUMBER(stats.refused, 4);
	CHECK_NUMBER(stats.lost, 0);
	/* the refused chunk had the name, so the writer announces it again */
	CHECK_NUMBER(fake_count(&fake, TB_REC_NAME), 1);
	CHECK(fake_got(&fake, TB_REC_NAME, 0)->flags & TB_CHUNK_FRESH);
	CHECK_NUMBER(fake_got(&fake, TB_REC_NAME, 0)->missing, 4);
	check_values(3, 3);
	/* a reader's flush takes a part of the next chunk before the refusal: that part arrives */
	put(w, 1);
	fake_scrape(&fake);
	put(w, 2);
	fake.answer = ENOBUFS;
	CHECK(!tb_writer_flush(w));
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.attempted, 11);
	CHECK_NUMBER(stats.refused, 6);
	put(w, 1);
	tb_writer_destroy(w);
	check_accounting(id, 13);
	close_all();
}

/* ---- writers ---- */

static void ids(void)
{
	static struct tb_writer *all[TB_WRITER_MAX];
	struct tb_arbiter_options options = small;
	bool seen[TB_WRITER_MAX + 1] = { false };
	unsigned int i, id;
	struct tb_writer *w;

	options.flags = TB_ARBITER_NO_SHARED;
	open_with(options);
	for (i = 0; i < TB_WRITER_MAX; i++) {
		all[i] = tb_writer_create(arbiter, 0, TB_FULL_DROP);
		id = tb_writer_id(all[i]);
		if (!id || seen[id])
			break;
		seen[id] = true;
	}
	CHECK_NUMBER(i, TB_WRITER_MAX);
	CHECK(!seen[0]);
	w = tb_writer_create(arbiter, 0, TB_FULL_DROP);
	CHECK(tb_writer_is_null(w));
	CHECK_NUMBER(tb_writer_id(w), 0);
	tb_put_simple(w, &ping, 1);
	tb_put_mark(w, "x", 1);
	tb_writer_destroy(w);
	/* ids of destroyed writers are given out again, the oldest first */
	id = tb_writer_id(all[77]);
	tb_writer_destroy(all[77]);
	all[77] = tb_writer_create(arbiter, 0, TB_FULL_DROP);
	CHECK_NUMBER(tb_writer_id(all[77]), id);
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_DROP)));
	for (i = 0; i < TB_WRITER_MAX; i++)
		tb_writer_destroy(all[i]);
	w = writer(TB_FULL_DROP);
	CHECK_NUMBER(tb_writer_id(w), id + 1);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.nr_got, 0);
	CHECK(!tb_arbiter_try_shutdown(arbiter));
	close_all();
}

static void writer_refused(void)
{
	open_small();
	fake.fail_writer = -EPERM;
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_DROP)));
	fake.fail_writer = 0;
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, TB_TARGETS_MAX, TB_FULL_DROP)));
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, (enum tb_full)3)));
	CHECK(!tb_arbiter_try_shutdown(arbiter));
	close_all();
}

static void shutdown(void)
{
	struct tb_writer *one, *two;

	open_small();
	one = writer(TB_FULL_DROP);
	two = writer(TB_FULL_DROP);
	put(one, 1);
	CHECK_NUMBER(-tb_arbiter_try_shutdown(arbiter), EBUSY);
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_DROP)));
	CHECK(tb_writer_is_null(tb_writer_create_startup(arbiter, 1)));
	/* existing writers continue */
	put(two, 1);
	tb_writer_destroy(one);
	CHECK_NUMBER(-tb_arbiter_try_shutdown(arbiter), EBUSY);
	tb_writer_destroy(two);
	CHECK_NUMBER(tb_arbiter_try_shutdown(arbiter), 0);
	check_values(0, 2);
	CHECK(!fake.writers[1].there && !fake.writers[2].there);
	close_all();
}

/* ---- no chunk ---- */

static void drop(void)
{
	struct tb_writer_stats stats;
	struct tb_writer *w;
	const struct got *after;
	unsigned int id, kept = 4 * PER_CHUNK + 3;

	open_small();
	fake.fail_commit = -ENOMEM;
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	put(w, kept + 50);
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.lost, 50);
	CHECK_NUMBER(stats.attempted, kept + 51);
	CHECK_NUMBER(fake.nr_naps, 0);
	fake.fail_commit = 0;
	put(w, 3);
	CHECK(!tb_writer_flush(w));
	after = fake_got(&fake, TB_REC_SIMPLE, kept);
	CHECK(after && after->words[0] == kept + 50);
	/* the next chunk says where, how many and why records are missing; it repeats the names */
	after = fake_got(&fake, TB_REC_NAME, 1);
	CHECK(after && after->missing == 50 && after->cause == TB_LOST_NO_CHUNK);
	CHECK(after && after->flags & TB_CHUNK_FRESH);
	tb_writer_destroy(w);
	check_accounting(id, kept + 1 + 50 + 4);
	close_all();
}

static void exhausted_several_times(void)
{
	struct tb_writer_stats stats;
	struct tb_writer *w;
	unsigned int id;
	int round;

	open_small();
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	for (round = 0; round < 20; round++) {
		fake.fail_commit = -ENOMEM;
		put(w, 60 + (unsigned int)round);
		fake.fail_commit = 0;
		CHECK(!tb_arbiter_commit(arbiter));
	}
	tb_writer_read_stats(w, &stats);
	CHECK(stats.lost > 20 * 20);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.writers[id].missing, stats.lost);
	check_accounting(id, stats.attempted);
	close_all();
}

static void lost_at_the_end(void)
{
	struct tb_writer_stats stats;
	struct tb_writer *w;
	unsigned int id;

	open_small();
	fake.fail_commit = -ENOMEM;
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	put(w, 100);
	fake.fail_commit = 0;
	CHECK(!tb_arbiter_commit(arbiter));
	tb_writer_read_stats(w, &stats);
	CHECK(stats.lost > 0);
	CHECK(!tb_writer_flush(w));
	/* the flush reports the loss, although there is no record to write */
	CHECK_NUMBER(fake.writers[id].missing, stats.lost);
	check_accounting(id, stats.attempted);
	put(w, 1);
	tb_writer_destroy(w);
	close_all();
}

/* Others hold all chunks when a writer ends: a later commit reports what it has lost */
static void lost_by_one_that_ended(void)
{
	struct tb_writer *others[4], *w;
	struct tb_writer_stats stats;
	unsigned int id, i;

	open_small();
	for (i = 0; i < 4; i++) {
		others[i] = writer(TB_FULL_DROP);
		put(others[i], 1);
	}
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	put(w, 10);
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.lost, stats.attempted);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.writers[id].missing, 0);
	for (i = 0; i < 4; i++)
		tb_writer_destroy(others[i]);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK_NUMBER(fake.writers[id].missing, stats.lost);
	/* the kernel knows that it has ended */
	CHECK(!fake.writers[id].there);
	close_all();
}

/* Threads come and go, and all lose all: the library keeps only so many of them */
static void many_lost_and_ended(void)
{
	struct tb_writer *others[4], *w;
	unsigned int i, told = 0;

	open_small();
	for (i = 0; i < 4; i++) {
		others[i] = writer(TB_FULL_DROP);
		put(others[i], 1);
	}
	/* more than there are ids */
	for (i = 0; i < 70000; i++) {
		w = tb_writer_create(arbiter, 0, TB_FULL_DROP);
		if (tb_writer_is_null(w))
			break;
		put(w, 1);
		tb_writer_destroy(w);
	}
	CHECK_NUMBER(i, 70000);
	for (i = 0; i < 4; i++)
		tb_writer_destroy(others[i]);
	/* each commit frees the chunks of the one before */
	for (i = 0; i < 100; i++)
		CHECK(!tb_arbiter_commit(arbiter));
	for (i = 0; i < 70; i++)
		told += fake.writers[i].missing == 1;
	CHECK_NUMBER(told, 64);
	close_all();
}

static const uint64_t back_off[] = { 0, 8, 72, 584, 4680, 37448, 100000, 100000 };

static void free_at_nap_7(struct fake *f)
{
	if (f->nr_naps == 7)
		f->fail_commit = 0;
}

static void stall(void)
{
	struct tb_writer_stats stats;
	struct tb_writer *w;
	size_t i;

	open_small();
	fake.fail_commit = -ENOMEM;
	fake.on_nap = free_at_nap_7;
	w = writer(TB_FULL_STALL);
	put(w, 60);
	CHECK_NUMBER(fake.nr_naps, 7);
	for (i = 0; i < 7; i++)
		CHECK_NUMBER(fake.naps[i], back_off[i]);
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.lost, 0);
	tb_writer_destroy(w);
	check_values(0, 60);
	close_all();
}

static void stall_gives_up(void)
{
	struct tb_writer_stats stats;
	struct tb_writer *w;
	unsigned int id, naps;

	open_small();
	fake.fail_commit = -ENOMEM;
	w = writer(TB_FULL_STALL);
	id = tb_writer_id(w);
	put(w, 4 * PER_CHUNK + 3);
	CHECK_NUMBER(fake.nr_naps, 0);
	put(w, 1);
	CHECK(fake.slept >= 30000000 && fake.slept < 30200000);
	naps = fake.nr_naps;
	/* the writer stalls again for each record */
	put(w, 1);
	CHECK_NUMBER(fake.nr_naps, 2 * naps);
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.lost, 2);
	fake.fail_commit = 0;
	put(w, 1);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake_got(&fake, TB_REC_NAME, 1)->cause, TB_LOST_STALL);
	check_accounting(id, 4 * PER_CHUNK + 3 + 1 + 2 + 2);
	close_all();
}

static void stall_then_drop(void)
{
	struct tb_writer *w;
	unsigned int naps;

	open_small();
	fake.fail_commit = -ENOMEM;
	w = writer(TB_FULL_STALL_THEN_DROP);
	put(w, 4 * PER_CHUNK + 4);
	CHECK(fake.slept >= 30000000);
	naps = fake.nr_naps;
	put(w, 100);
	CHECK_NUMBER(fake.nr_naps, naps);
	/* after it had a chunk, the writer stalls again */
	fake.fail_commit = 0;
	put(w, 1);
	fake.fail_commit = -ENOMEM;
	put(w, 4 * PER_CHUNK + 3);
	CHECK_NUMBER(fake.nr_naps, 2 * naps);
	CHECK_NUMBER(writer_of(w)->lost, 102);
	fake.fail_commit = 0;
	tb_writer_destroy(w);
	CHECK_NUMBER(fake_got(&fake, TB_REC_NAME, 1)->cause, TB_LOST_STALL | TB_LOST_NO_CHUNK);
	close_all();
}

static const struct test tests[] = {
	{ "chunks are taken and returned", get_and_return },
	{ "commits are batched", batch },
	{ "more chunks than go into one commit", large_batch },
	{ "a commit that fails as a whole loses nothing", commit_fails },
	{ "a chunk that is refused is missing, and names are told again", refused_chunk },
	{ "writer ids: all of them, 0 never", ids },
	{ "a writer that the kernel refuses is null", writer_refused },
	{ "shutdown only when no writer is left", shutdown },
	{ "no chunk: drop", drop },
	{ "no chunk: exhausted several times", exhausted_several_times },
	{ "a flush reports a loss at the end", lost_at_the_end },
	{ "a writer that ends without a chunk for its loss", lost_by_one_that_ended },
	{ "many writers that end without a chunk for their losses", many_lost_and_ended },
	{ "no chunk: stall with back-off", stall },
	{ "no chunk: stall gives up", stall_gives_up },
	{ "no chunk: stall, then drop", stall_then_drop },
};

TEST_MAIN(tests)
