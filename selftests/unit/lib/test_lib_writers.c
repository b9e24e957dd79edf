// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program loses no record without a count and a cause, whatever the kernel answers: chunks are
 * committed and returned, writers get ids, a full buffer drops or stalls as chosen. If this fails,
 * losses are hidden, or a lack of memory, a damaged chunk or a wrong answer of the kernel makes the
 * program crash or hang.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
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

/* ---- the state word ---- */

static void garbage_wrap(void)
{
	struct tb_arbiter_stats stats;
	struct tb_writer_stats accounting;
	struct tb_writer *w;
	unsigned int id;

	open_small();
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	/* the state is free, but the lap is unknown to the kernel: refused, and never used again */
	fake_chunk(&fake, 0)->state = TB_CHUNK_WORD(TB_CHUNK_FREE, 77);
	/* not a state: no writer takes the chunk */
	fake_chunk(&fake, 1)->state = 0xdeadbe55;
	put(w, PER_CHUNK);
	CHECK(!tb_writer_flush(w));
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.broken, 1);
	fake_chunk(&fake, 0)->state = TB_CHUNK_WORD(TB_CHUNK_FREE, 78);
	put(w, 9 * PER_CHUNK);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_chunk(&fake, 0)->state, TB_CHUNK_WORD(TB_CHUNK_FREE, 78));
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.broken, 2);
	tb_writer_read_stats(w, &accounting);
	CHECK_NUMBER(accounting.refused, PER_CHUNK + 1);
	CHECK_NUMBER(accounting.lost, 0);
	tb_writer_destroy(w);
	check_accounting(id, accounting.attempted);
	CHECK_NUMBER(fake.writers[id].missing, accounting.refused);
	close_all();
}

static void state_changed_while_writing(void)
{
	struct tb_arbiter_stats stats;
	struct tb_writer_stats accounting;
	struct tb_writer *w;
	unsigned int id;

	open_small();
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	put(w, 2);
	/* the state of a later lap, as a late writer finds it: the writer must not change it */
	w->chunk->state = TB_CHUNK_WORD(TB_CHUNK_WRITING, 9);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_chunk(&fake, 0)->state, TB_CHUNK_WORD(TB_CHUNK_WRITING, 9));
	put(w, 2);
	tb_writer_read_stats(w, &accounting);
	tb_writer_destroy(w);
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.broken, 1);
	CHECK_NUMBER(accounting.refused, 3);
	check_accounting(id, 6);
	check_values(2, 2);
	close_all();
}

static void wraps_around(void)
{
	struct tb_arbiter_options options = { CHUNK, 2, 0, 0 };
	struct tb_writer *w;
	uint32_t i;

	open_with(options);
	fake.no_log = true;
	w = writer(TB_FULL_DROP);
	for (i = 0; i < 3 * 65536 + 5; i++) {
		put(w, 1);
		if (tb_writer_flush(w) || fake.error)
			break;
	}
	CHECK_NUMBER(i, 3 * 65536 + 5);
	CHECK_NUMBER(fake.writers[1].received, 3 * 65536 + 5 + 1);
	CHECK_NUMBER(fake.wraps[0] + fake.wraps[1], 5);
	tb_writer_destroy(w);
	close_all();
}

static void own_wrap(void)
{
	struct tb_arbiter_options options = small;
	const struct tb_chunk *chunk;
	struct tb_writer *w;
	uint32_t i;

	options.flags = TB_ARBITER_NO_SHARED;
	open_with(options);
	w = writer(TB_FULL_DROP);
	for (i = 1; i < 4; i++) {
		put(w, 1);
		chunk = w->chunk;
		CHECK(!tb_writer_flush(w));
		CHECK_NUMBER(chunk->state, TB_CHUNK_WORD(TB_CHUNK_FREE, i));
	}
	tb_writer_destroy(w);
	close_all();
}

/* ---- a malicious kernel ---- */

static void malicious(void)
{
	TB_CATEGORY(strange, "strange");
	static char huge[3 * TB_CHUNK_BYTES_MAX];
	struct tb_writer_stats stats;
	char name[100];
	struct tb_writer *w;

	open_small();
	fake.target_is = TB_TARGETS_MAX + 1;
	CHECK_NUMBER(-tb_arbiter_target(arbiter, "other"), EPROTO);
	fake.target_is = 0;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	CHECK_NUMBER(-tb_arbiter_target(arbiter, name), EINVAL);
	CHECK_NUMBER(-tb_arbiter_bind_reservation(arbiter, 1, name), EINVAL);
	fake.category_is = TB_CATEGORIES_MAX + 1;
	CHECK_NUMBER(-tb_arbiter_category(arbiter, &strange), EPROTO);
	CHECK(!tb_category_open(&strange));
	w = writer(TB_FULL_DROP);
	put(w, 1);
	tb_put_event(w, &ping, huge, sizeof(huge));
	tb_put_event(w, &ping, huge, SIZE_MAX);
	tb_put_event(w, &ping, huge, TB_CHUNK_BYTES_MAX);
	tb_put_event(w, &ping, huge, ROOM);
	tb_put_mark(w, huge, ROOM - 24 + 1);
	put(w, 1);
	tb_put_mark(w, huge, ROOM - 24);
	tb_put_event(w, &ping, NULL, 0);
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.lost, 5);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake_got(&fake, TB_REC_NAME, 1)->cause, TB_LOST_OVERSIZE);
	CHECK_NUMBER(fake_got(&fake, TB_REC_MARK, 0)->words[0], ROOM - 24);
	CHECK_NUMBER(fake_got(&fake, TB_REC_EVENT, 0)->words[0], 0);
	check_accounting(1, stats.attempted);
	close_all();
}

static void bad_options(void)
{
	static const struct tb_arbiter_options bad[] = {
		{ .chunk_bytes = 128 }, { .chunk_bytes = 16384 }, { .chunk_bytes = 300 },
		{ .chunks = 1 }, { .chunks = TB_CHUNKS_MAX + 1 },
		{ .chunk_bytes = 8192, .chunks = 8193 }, { .flags = 2 },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fake_init(&fake);
		CHECK_NUMBER(-tb_arbiter_create_on(&bad[i], &fake.endpoint, &arbiter), EINVAL);
		CHECK(!arbiter);
		CHECK_NUMBER(-tb_arbiter_create_unbound(&bad[i], &arbiter), EINVAL);
		CHECK_NUMBER(fake.closed, 1);
		fake_free(&fake);
	}
	fake_init(&fake);
	fake.fail_setup = -EMFILE;
	CHECK_NUMBER(-tb_arbiter_create_on(NULL, &fake.endpoint, &arbiter), EMFILE);
	CHECK_NUMBER(fake.closed, 1);
	fake_free(&fake);
}

/* ---- no memory ---- */

static void allocation_failures(void)
{
	unsigned int nth;
	struct tb_writer *w;
	int result;

	for (nth = 1; nth < 100; nth++) {
		fake_init(&fake);
		tb_map_fails = nth;
		result = tb_arbiter_create_on(&small, &fake.endpoint, &arbiter);
		tb_map_fails = 0;
		if (!result)
			break;
		CHECK_NUMBER(-result, ENOMEM);
		CHECK(!arbiter);
		CHECK_NUMBER(fake.closed, 1);
		fake_free(&fake);
	}
	CHECK(nth > 3 && nth < 100);
	next_value = 0;
	tb_map_fails = 1;
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_DROP)));
	CHECK(tb_writer_is_null(tb_writer_create_startup(arbiter, 1)));
	tb_map_fails = 2;
	CHECK(tb_writer_is_null(tb_writer_create_startup(arbiter, 1)));
	tb_map_fails = 0;
	/* the failed startup writers have left nothing */
	w = writer(TB_FULL_DROP);
	put(w, 3);
	tb_writer_destroy(w);
	check_values(0, 3);
	CHECK(!tb_arbiter_try_shutdown(arbiter));
	close_all();
	for (nth = 1; nth < 100; nth++) {
		tb_map_fails = nth;
		result = tb_arbiter_create_unbound(&small, &arbiter);
		tb_map_fails = 0;
		if (!result)
			break;
		CHECK_NUMBER(-result, ENOMEM);
		CHECK(!arbiter);
	}
	CHECK(nth > 4 && nth < 100);
	/* after a failed binding, a program can bind again */
	fake_init(&fake);
	next_value = 0;
	w = tb_writer_create_startup(arbiter, 1);
	put(w, 3);
	tb_map_fails = 1;
	CHECK_NUMBER(-tb_arbiter_flush(arbiter, count_up, NULL), ENOMEM);
	CHECK_NUMBER(-tb_arbiter_bind_to(arbiter, &fake.endpoint), ENOMEM);
	tb_map_fails = 0;
	CHECK_NUMBER(fake.closed, 1);
	fake_free(&fake);
	fake_init(&fake);
	CHECK(!tb_arbiter_bind_reservation(arbiter, 1, "app"));
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	tb_writer_destroy(w);
	check_values(0, 3);
	close_all();
}

/* ---- another process ---- */

static void forked_child(void)
{
	struct tb_writer *w;
	uint32_t published, state;
	int status;
	pid_t pid;

	open_small();
	w = writer(TB_FULL_DROP);
	put(w, PER_CHUNK + 2);
	state = w->chunk->state;
	published = w->chunk->published;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		const struct tb_chunk *chunk = fake_chunk(&fake, 0);

		/* the child has a copy of the memory, so the test can inspect it */
		put(w, 20);
		tb_writer_flush(w);
		tb_put_mark(w, "x", 1);
		if (w->chunk || fake.commits || fake.closed_inherited != 1)
			_exit(1);
		if (!tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_DROP)))
			_exit(2);
		tb_writer_destroy(w);
		tb_arbiter_destroy(arbiter);
		_exit(fake.commits || fake.nr_got || !chunk->state ? 3 : 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK_NUMBER(w->chunk->state, state);
	CHECK_NUMBER(w->chunk->published, published);
	put(w, 1);
	tb_writer_destroy(w);
	check_values(0, next_value);
	close_all();
}

#define WRITERS_BYTES (WRITERS * sizeof(struct writer *))
#define LEAST_PAGE 4096

/* The number of resident pages of the table of writers */
static unsigned int writers_pages(void)
{
	unsigned char there[WRITERS_BYTES / LEAST_PAGE] = { 0 };
	unsigned int i, count = 0;

	if (mincore(arbiter->writers, WRITERS_BYTES, there))
		return UINT32_MAX;
	for (i = 0; i < sizeof(there); i++)
		count += there[i] & 1;
	return count;
}

/* The child visits the existing writers, not every possible id */
static void forked_quickly(void)
{
	struct tb_writer *w;
	unsigned int before;
	int status;
	pid_t pid;

	open_small();
	madvise(arbiter->writers, WRITERS_BYTES, MADV_NOHUGEPAGE);
	w = writer(TB_FULL_DROP);
	put(w, 1);
	before = writers_pages();
	CHECK(before && before < 4);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(writers_pages() > before);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	tb_writer_destroy(w);
	close_all();
}

static struct tb_writer *interrupted;
static pid_t child;

/* Fork, as a signal handler may, when the writer needs a chunk. */
static void fork_in_record(const volatile void *word)
{
	if (word != &writer_of(interrupted)->nested)
		return;
	tb_step = NULL;
	child = fork();
}

static void forked_in_record(void)
{
	int status;

	open_small();
	interrupted = writer(TB_FULL_DROP);
	child = -1;
	fflush(stdout);
	tb_step = fork_in_record;
	put(interrupted, 1);
	tb_step = NULL;
	if (!child)
		_exit(interrupted->chunk || writer_of(interrupted)->lost != 1);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(child > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(interrupted->chunk);
	tb_writer_destroy(interrupted);
	check_values(0, 1);
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
	{ "chunks with an unknown lap or state", garbage_wrap },
	{ "a state that changed during writing", state_changed_while_writing },
	{ "the lap count wraps around", wraps_around },
	{ "the lap count of chunks that are not shared", own_wrap },
	{ "malicious sizes and ids", malicious },
	{ "invalid options", bad_options },
	{ "allocation failures", allocation_failures },
	{ "a child of fork() leaves its parent's channel alone", forked_child },
	{ "a child of fork() visits existing writers only", forked_quickly },
	{ "a child of fork() in the middle of a record takes no chunk", forked_in_record },
};

TEST_MAIN(tests)
