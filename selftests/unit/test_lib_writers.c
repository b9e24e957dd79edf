// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arbiter of user-space writers against a kernel in user space: chunks, commits, patches,
 * writers' ids, policies, startup, shutdown; and what happens when memory or the kernel fail.
 */
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fake_producer.h"
#include "test_lib_fixture.h"

static struct fake fake;
static struct tb_arbiter *arbiter;
static struct tb_name ping = TB_NAME_INIT("ping", NULL);
static uint64_t next_value;

enum { CHUNK = 256, ROOM = CHUNK - sizeof(struct tb_chunk), SIMPLE = 24 };
/* a chunk that tells the name, 24 bytes, has room for 7 simple records, others for 8 */
enum { PER_CHUNK = (ROOM - 24) / SIMPLE };

static const struct tb_arbiter_options small = {
	.chunk_bytes = CHUNK, .chunks = 4, .period_ms = 1000,
};

static void open_with(struct tb_arbiter_options options)
{
	fake_init(&fake);
	next_value = 0;
	CHECK(!tb_arbiter_create_on(&options, &fake.endpoint, &arbiter));
	CHECK_NUMBER(tb_arbiter_target(arbiter, "kernel"), 0);
}

static void open_small(void)
{
	open_with(small);
}

static void open_unbound(void)
{
	fake_init(&fake);
	next_value = 0;
	CHECK(!tb_arbiter_create_unbound(&small, &arbiter));
}

static void close_all(void)
{
	tb_arbiter_destroy(arbiter);
	arbiter = NULL;
	CHECK_NUMBER(fake.closed, 1);
	if (fake.error)
		printf("# %s\n", fake.error);
	CHECK(!fake.error);
	fake_free(&fake);
}

static struct tb_writer *writer(enum tb_full full)
{
	struct tb_writer *w = tb_writer_create(arbiter, 0, full);

	CHECK(!tb_writer_is_null(w));
	return w;
}

static void put(struct tb_writer *w, unsigned int count)
{
	while (count--)
		tb_put_simple(w, &ping, next_value++);
}

/* all that is missing is told, and what was received is in order */
static void check_books(unsigned int id, uint64_t attempted)
{
	const struct fake_writer *w = &fake.writers[id];

	CHECK_NUMBER(w->received + w->missing, attempted);
}

/* the values that arrived, from @from, without a gap, are @count */
static void check_values(uint64_t from, size_t count)
{
	size_t i;

	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE), count);
	for (i = 0; i < count; i++) {
		const struct got *got = fake_got(&fake, TB_REC_SIMPLE, i);

		if (!got || got->words[0] != from + i) {
			CHECK_NUMBER(got ? got->words[0] : UINT64_MAX, from + i);
			return;
		}
	}
}

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
	/* all of them are free again: each can be had */
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
	/* half of the memory is not committed */
	put(w, PER_CHUNK);
	CHECK_NUMBER(fake.commits, 1);
	CHECK_NUMBER(fake.largest, 4);
	check_values(0, 4 * PER_CHUNK + 3);
	/* the period is over */
	fake.now += 999 * 1000;
	put(w, 8);
	CHECK_NUMBER(fake.commits, 1);
	fake.now += 1000;
	put(w, 8);
	CHECK_NUMBER(fake.commits, 2);
	/* it can change: at once */
	tb_arbiter_set_period(arbiter, 0);
	put(w, 8);
	CHECK_NUMBER(fake.commits, 3);
	put(w, 8);
	CHECK_NUMBER(fake.commits, 4);
	tb_arbiter_set_period(arbiter, 1000);
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
	/* the name went with the first chunk, so it is told again */
	CHECK_NUMBER(fake_count(&fake, TB_REC_NAME), 1);
	CHECK(fake_got(&fake, TB_REC_NAME, 0)->flags & TB_CHUNK_FRESH);
	CHECK_NUMBER(fake_got(&fake, TB_REC_NAME, 0)->missing, 4);
	check_values(3, 3);
	/* of the next a reader's flush takes a part before: that is not refused */
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
	check_books(id, 13);
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
	/* what was given up is given out again, the oldest first */
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
	/* those that are there go on */
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
	/* where it is missing, how much, and why; and names are told again */
	after = fake_got(&fake, TB_REC_NAME, 1);
	CHECK(after && after->missing == 50 && after->cause == TB_LOST_NO_CHUNK);
	CHECK(after && after->flags & TB_CHUNK_FRESH);
	tb_writer_destroy(w);
	check_books(id, kept + 1 + 50 + 4);
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
	check_books(id, stats.attempted);
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
	/* nothing more to write, but it is told */
	CHECK_NUMBER(fake.writers[id].missing, stats.lost);
	check_books(id, stats.attempted);
	put(w, 1);
	tb_writer_destroy(w);
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
	/* each record anew */
	put(w, 1);
	CHECK_NUMBER(fake.nr_naps, 2 * naps);
	tb_writer_read_stats(w, &stats);
	CHECK_NUMBER(stats.lost, 2);
	fake.fail_commit = 0;
	put(w, 1);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake_got(&fake, TB_REC_NAME, 1)->cause, TB_LOST_STALL);
	check_books(id, 4 * PER_CHUNK + 3 + 1 + 2 + 2);
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
	/* with a chunk it has hope again */
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

/* ---- startup ---- */

static void create_unbound_and_bind(void)
{
	struct tb_writer *w;

	open_unbound();
	CHECK_NUMBER(-tb_arbiter_target(arbiter, "kernel"), ENOTCONN);
	CHECK_NUMBER(-tb_arbiter_serve(arbiter, 0), ENOTCONN);
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_DROP)));
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	CHECK_NUMBER(tb_arbiter_target(arbiter, "kernel"), 0);
	/* only drop for one that ever was unbound */
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_STALL)));
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_STALL_THEN_DROP)));
	w = writer(TB_FULL_DROP);
	put(w, 100);
	tb_writer_destroy(w);
	check_values(0, 100);
	close_all();
}

static void bind_twice(void)
{
	struct fake other;

	open_small();
	fake_init(&other);
	CHECK_NUMBER(-tb_arbiter_bind_to(arbiter, &other.endpoint), EALREADY);
	CHECK_NUMBER(other.closed, 1);
	fake_free(&other);
	close_all();
}

static void startup_unbound(void)
{
	struct tb_writer *w, *other;
	unsigned int id;

	open_unbound();
	w = tb_writer_create_startup(arbiter, 42);
	other = tb_writer_create_startup(arbiter, 43);
	id = tb_writer_id(w);
	CHECK(id && tb_writer_id(other) && tb_writer_id(other) != id);
	put(w, 10);
	CHECK(!tb_arbiter_bind_reservation(arbiter, 42, "app"));
	put(w, 3);
	put(other, 0);
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	/* also what was in an incomplete chunk */
	check_values(0, 13);
	CHECK_NUMBER(fake.writers[id].target, 0);
	CHECK_TEXT(fake.providers[0], "app");
	CHECK_NUMBER(fake.writers[id].tid, (uint32_t)syscall(SYS_gettid));
	CHECK(!fake.writers[tb_writer_id(other)].there);
	/* goes on in shared memory */
	put(w, 2);
	CHECK((unsigned char *)w->chunk >= fake.chunks &&
	      (unsigned char *)w->chunk < fake.chunks + fake.nr_chunks * CHUNK);
	put(w, 50);
	fake_scrape(&fake);
	check_values(0, 65);
	tb_writer_destroy(w);
	tb_writer_destroy(other);
	check_values(0, 65);
	close_all();
}

static void startup_bound(void)
{
	struct tb_writer *w, *known;

	open_small();
	known = writer(TB_FULL_STALL);
	w = tb_writer_create_startup(arbiter, 1);
	put(w, 20);
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	fake_scrape(&fake);
	CHECK_NUMBER(fake.nr_got, 0);
	fake.fail_target = -ENOENT;
	CHECK_NUMBER(-tb_arbiter_bind_reservation(arbiter, 1, "late"), ENOENT);
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	CHECK_NUMBER(fake.nr_got, 0);
	fake.fail_target = 0;
	CHECK(!tb_arbiter_bind_reservation(arbiter, 1, "late"));
	check_values(0, 20);
	CHECK_NUMBER(-tb_arbiter_bind_reservation(arbiter, 1, "late"), EALREADY);
	CHECK_NUMBER(-tb_arbiter_abort_reservation(arbiter, 1), EALREADY);
	CHECK_NUMBER(fake.writers[tb_writer_id(w)].target, 1);
	put(w, 30);
	tb_writer_destroy(w);
	tb_writer_destroy(known);
	check_values(0, 50);
	close_all();
}

static void startup_moves_when_all_is_sent(void)
{
	struct tb_writer *w;

	open_small();
	w = tb_writer_create_startup(arbiter, 1);
	put(w, PER_CHUNK + 2);
	fake.fail_commit = -ENOMEM;
	CHECK_NUMBER(-tb_arbiter_bind_reservation(arbiter, 1, "app"), ENOMEM);
	/* its first chunks are not answered, so it stays where the kernel does not see it */
	put(w, PER_CHUNK);
	CHECK((unsigned char *)w->chunk < fake.chunks ||
	      (unsigned char *)w->chunk >= fake.chunks + fake.nr_chunks * CHUNK);
	fake_scrape(&fake);
	fake.fail_commit = 0;
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	check_values(0, 2 * PER_CHUNK + 2);
	put(w, PER_CHUNK);
	fake_scrape(&fake);
	tb_writer_destroy(w);
	check_values(0, next_value);
	close_all();
}

static void startup_before_all_memory(void)
{
	struct tb_writer *w, *known;

	open_small();
	arbiter->period_ms = 1u << 30;
	fake.fail_commit = -ENOMEM;
	w = tb_writer_create_startup(arbiter, 1);
	put(w, 2 * PER_CHUNK + 1);
	known = writer(TB_FULL_DROP);
	tb_put_mark(known, "x", 1);
	/* its two chunks have to be copied; all there is to copy to is queued behind them */
	while (known->chunk)
		tb_put_mark(known, "x", 1);
	CHECK(arbiter->nr_batch >= 6);
	tb_arbiter_bind_reservation(arbiter, 1, "app");
	fake.fail_commit = 0;
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	check_values(0, 2 * PER_CHUNK + 1);
	CHECK_NUMBER(arbiter->nr_batch, 0);
	tb_writer_destroy(w);
	tb_writer_destroy(known);
	close_all();
}

static void startup_full(void)
{
	struct tb_writer *w;
	unsigned int id;

	open_unbound();
	w = tb_writer_create_startup(arbiter, 1);
	id = tb_writer_id(w);
	/* names are told in each chunk: nobody knows whether the target overwrites */
	put(w, 4 * PER_CHUNK + 10);
	CHECK_NUMBER(writer_of(w)->lost, 10);
	CHECK(!tb_arbiter_bind_reservation(arbiter, 1, "app"));
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	check_values(0, 4 * PER_CHUNK);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.got[fake.nr_got - 1].cause, TB_LOST_UNBOUND);
	check_books(id, 4 * PER_CHUNK + 4 + 10);
	close_all();
}

static void abort_unbound(void)
{
	struct tb_writer *w, *keep;

	open_unbound();
	w = tb_writer_create_startup(arbiter, 1);
	put(w, 3 * PER_CHUNK + 2);
	CHECK(!tb_arbiter_abort_reservation(arbiter, 1));
	/* what it had is free for others */
	keep = tb_writer_create_startup(arbiter, 2);
	put(w, 1);
	CHECK(!w->chunk);
	next_value = 0;
	put(keep, 4 * PER_CHUNK);
	CHECK_NUMBER(writer_of(keep)->lost, 0);
	put(w, 1);
	CHECK(!tb_arbiter_bind_reservation(arbiter, 2, "app"));
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	check_values(0, 4 * PER_CHUNK);
	CHECK(!fake.writers[tb_writer_id(w)].there);
	tb_writer_destroy(w);
	tb_writer_destroy(keep);
	CHECK(!tb_arbiter_try_shutdown(arbiter));
	close_all();
}

static void abort_bound(void)
{
	struct tb_arbiter_stats stats;
	struct tb_writer_stats books;
	struct tb_writer *w;

	open_small();
	w = tb_writer_create_startup(arbiter, 1);
	put(w, 2 * PER_CHUNK + 2);
	CHECK(!tb_arbiter_abort_reservation(arbiter, 1));
	CHECK_NUMBER(-tb_arbiter_abort_reservation(arbiter, 1), EALREADY);
	put(w, 5);
	CHECK(!tb_arbiter_commit(arbiter));
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.aborted, 3);
	tb_writer_read_stats(w, &books);
	CHECK_NUMBER(books.refused, 2 * PER_CHUNK + 2 + 3);
	CHECK_NUMBER(books.lost, 5);
	CHECK_NUMBER(books.attempted, books.refused + books.lost);
	/* and those that come to it later */
	tb_writer_destroy(w);
	w = tb_writer_create_startup(arbiter, 1);
	put(w, 5);
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.nr_got, 0);
	close_all();
}

static void reservations(void)
{
	uint32_t i;

	open_unbound();
	for (i = 0; i < TB_TARGETS_MAX; i++)
		CHECK(!tb_arbiter_abort_reservation(arbiter, 1000 + i));
	CHECK_NUMBER(-tb_arbiter_abort_reservation(arbiter, 1), ENOSPC);
	CHECK_NUMBER(-tb_arbiter_bind_reservation(arbiter, 1, "app"), ENOSPC);
	CHECK(tb_writer_is_null(tb_writer_create_startup(arbiter, 1)));
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	close_all();
}

static void ended_before_bind(void)
{
	struct tb_writer *w;
	unsigned int id;

	open_unbound();
	w = tb_writer_create_startup(arbiter, 1);
	id = tb_writer_id(w);
	put(w, 10);
	tb_writer_destroy(w);
	fake.fail_writer = -ESRCH;
	CHECK(!tb_arbiter_bind_reservation(arbiter, 1, "app"));
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	check_values(0, 10);
	CHECK_NUMBER(fake.writers[id].flags, TB_WRITER_NO_THREAD);
	CHECK_NUMBER(fake.writers[id].tid, 0);
	CHECK(!fake.writers[id].there);
	CHECK(!tb_arbiter_try_shutdown(arbiter));
	close_all();
}

/* ---- flush, scrape ---- */

static void count_up(void *data)
{
	++*(int *)data;
}

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
	CHECK(!tb_arbiter_notify_flush_complete(arbiter, 8));
	CHECK_NUMBER(fake.answered, 8);
	fake.fail_commit = -EIO;
	put(w, 1);
	CHECK_NUMBER(-tb_writer_flush(w), EIO);
	CHECK_NUMBER(-tb_arbiter_flush(arbiter, count_up, &done), EIO);
	CHECK_NUMBER(done, 1);
	fake.fail_commit = 0;
	/* somebody waits for the kernel */
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
	/* one that is never bound calls nobody */
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
	/* at every fill: a piece, and then the rest, as chunks of their own */
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
	check_books(id, 4);
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
	CHECK(tb_arbiter_can_patch(arbiter));
	w = writer(TB_FULL_DROP);
	outer = tb_slice_begin(w, &ping, 0);
	inner = tb_slice_begin(w, &ping, 99);
	CHECK(w->chunk->hole);
	fake_scrape(&fake);
	/* up to the first hole, and no further */
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
	/* ending it twice does nothing */
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
	/* the other one has a hole in the trace, until it ends */
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

static void patch_not_direct(void)
{
	struct tb_slice slice;
	struct tb_writer *w;

	fake_init(&fake);
	fake.no_direct = true;
	next_value = 0;
	CHECK(!tb_arbiter_create_on(&small, &fake.endpoint, &arbiter));
	CHECK(!tb_arbiter_can_patch(arbiter));
	w = writer(TB_FULL_DROP);
	slice = tb_slice_begin(w, &ping, 0);
	/* the kernel does not look at holes, so it reads this one */
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
	/* a piece before the hole: the rest is another chunk, and the hole elsewhere in it */
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
	/* one that is queued behind a piece is filled in where it is by then */
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

static void too_many_patches(void)
{
	static struct tb_slice slices[PATCHES + 5];
	struct tb_arbiter_options options = { 8192, 64, 1u << 30, 0 };
	struct tb_arbiter_stats stats;
	struct tb_writer *w;
	size_t i;

	open_with(options);
	w = writer(TB_FULL_DROP);
	for (i = 0; i < PATCHES + 5; i++)
		slices[i] = tb_slice_begin(w, &ping, 0);
	CHECK(!tb_writer_flush(w));
	fake.fail_commit = -ENOMEM;
	for (i = 0; i < PATCHES + 5; i++)
		tb_slice_end(&slices[i]);
	fake.fail_commit = 0;
	CHECK(!tb_arbiter_commit(arbiter));
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.patches, PATCHES);
	CHECK_NUMBER(stats.patches_lost, 5);
	CHECK_NUMBER(fake.nr_patches, PATCHES);
	tb_writer_destroy(w);
	close_all();
}

/* ---- the state word ---- */

static void garbage_wrap(void)
{
	struct tb_arbiter_stats stats;
	struct tb_writer_stats books;
	struct tb_writer *w;
	unsigned int id;

	open_small();
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	/*
	 * free by its state, but of a lap that the kernel does not know: refused, and never used
	 * again
	 */
	fake_chunk(&fake, 0)->state = TB_CHUNK_WORD(TB_CHUNK_FREE, 77);
	/* no state at all: nobody gets it */
	fake_chunk(&fake, 1)->state = 0xdeadbe55;
	put(w, 10 * PER_CHUNK);
	CHECK(!tb_writer_flush(w));
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.broken, 2);
	tb_writer_read_stats(w, &books);
	CHECK_NUMBER(books.refused, PER_CHUNK + 1);
	CHECK_NUMBER(books.lost, 0);
	tb_writer_destroy(w);
	check_books(id, books.attempted);
	CHECK_NUMBER(fake.writers[id].missing, books.refused);
	close_all();
}

static void state_changed_while_writing(void)
{
	struct tb_arbiter_stats stats;
	struct tb_writer_stats books;
	struct tb_writer *w;
	unsigned int id;

	open_small();
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	put(w, 2);
	/* a lap on: what a late writer would find.  It must not change it. */
	w->chunk->state = TB_CHUNK_WORD(TB_CHUNK_WRITING, 9);
	CHECK(!tb_writer_flush(w));
	CHECK_NUMBER(fake_chunk(&fake, 0)->state, TB_CHUNK_WORD(TB_CHUNK_WRITING, 9));
	put(w, 2);
	tb_writer_read_stats(w, &books);
	tb_writer_destroy(w);
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.broken, 1);
	CHECK_NUMBER(books.refused, 3);
	check_books(id, 6);
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

/* ---- the kernel says what cannot be ---- */

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
	check_books(1, stats.attempted);
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
	/* nothing of them is left */
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
	/* a channel that could not be had does no harm */
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

		/* here the memory is a copy, so it can be looked at */
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

static const struct test tests[] = {
	{ "chunks are got and returned", get_and_return },
	{ "commits are batched", batch },
	{ "more chunks than go into one commit", large_batch },
	{ "a commit that fails as a whole loses nothing", commit_fails },
	{ "a chunk that is refused is missing, and names are told again", refused_chunk },
	{ "writer ids: all of them, 0 never", ids },
	{ "a writer that the kernel refuses is null", writer_refused },
	{ "shutdown only when no writer is left", shutdown },
	{ "no chunk: drop", drop },
	{ "no chunk: exhausted several times", exhausted_several_times },
	{ "what is lost at the end is told", lost_at_the_end },
	{ "no chunk: stall with back-off", stall },
	{ "no chunk: stall gives up", stall_gives_up },
	{ "no chunk: stall, then drop", stall_then_drop },
	{ "created unbound and bound", create_unbound_and_bind },
	{ "bound twice", bind_twice },
	{ "startup writers, unbound", startup_unbound },
	{ "startup writers, bound", startup_bound },
	{ "a startup writer goes over when all of it is sent", startup_moves_when_all_is_sent },
	{ "startup writers queued before all memory there is", startup_before_all_memory },
	{ "startup writers without room", startup_full },
	{ "startup aborted, unbound", abort_unbound },
	{ "startup aborted, bound", abort_bound },
	{ "no more reservations than targets", reservations },
	{ "a startup writer whose thread ended before", ended_before_bind },
	{ "flush: callback, answer to the kernel", flush },
	{ "flush while unbound calls back when bound", flush_unbound },
	{ "a thread that serves", serving_thread },
	{ "scrape without shared memory", scrape },
	{ "scrape that is refused, that fails", scrape_refused },
	{ "scraped by the kernel", scraped_by_kernel },
	{ "patch in place, in the chunk that is written", patch_in_place },
	{ "patch in place, queued; of a committed chunk by list", patch_queued },
	{ "patch by list where the kernel does not look at holes", patch_not_direct },
	{ "patch behind a scraped piece", patch_scraped },
	{ "too many patches are counted", too_many_patches },
	{ "garbage in the wrap count", garbage_wrap },
	{ "a state that changed while it was written", state_changed_while_writing },
	{ "the wrap count wraps around", wraps_around },
	{ "malicious sizes and ids", malicious },
	{ "options that cannot be", bad_options },
	{ "allocation failures", allocation_failures },
	{ "a child of fork() leaves its parent's channel alone", forked_child },
};

TEST_MAIN(tests)
