// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program can record from its first instruction: startup writers keep records until the arbiter
 * is bound to a channel and their reservation to a provider. If this fails, records of the start
 * are lost or counted wrongly.
 */
#include <sys/syscall.h>
#include <unistd.h>
#include "test_lib_writers.h"

static void create_unbound_and_bind(void)
{
	struct tb_writer *w;

	open_unbound();
	CHECK_NUMBER(-tb_arbiter_target(arbiter, "kernel"), ENOTCONN);
	CHECK_NUMBER(-tb_arbiter_serve(arbiter, 0), ENOTCONN);
	CHECK(tb_writer_is_null(tb_writer_create(arbiter, 0, TB_FULL_DROP)));
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	CHECK_NUMBER(tb_arbiter_target(arbiter, "kernel"), 0);
	/* an arbiter that was created unbound allows no stalling */
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
	/* records of the incomplete chunk arrived, too */
	check_values(0, 13);
	CHECK_NUMBER(fake.writers[id].target, 0);
	CHECK_TEXT(fake.providers[0], "app");
	CHECK_NUMBER(fake.writers[id].tid, (uint32_t)syscall(SYS_gettid));
	CHECK(!fake.writers[tb_writer_id(other)].there);
	/* the writer continues in shared memory */
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
	/* the kernel has not answered for its first chunks, so it stays in memory of its own */
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
	/* its two chunks must be copied; all chunks to copy them to are queued after them */
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
	/* each chunk has the names: the target may overwrite chunks */
	put(w, 4 * PER_CHUNK + 10);
	CHECK_NUMBER(writer_of(w)->lost, 10);
	CHECK(!tb_arbiter_bind_reservation(arbiter, 1, "app"));
	CHECK(!tb_arbiter_bind_to(arbiter, &fake.endpoint));
	check_values(0, 4 * PER_CHUNK);
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.got[fake.nr_got - 1].cause, TB_LOST_UNBOUND);
	check_accounting(id, 4 * PER_CHUNK + 4 + 10);
	close_all();
}

static void abort_unbound(void)
{
	struct tb_writer *w, *keep;

	open_unbound();
	w = tb_writer_create_startup(arbiter, 1);
	put(w, 3 * PER_CHUNK + 2);
	CHECK(!tb_arbiter_abort_reservation(arbiter, 1));
	/* others can use its chunks */
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
	struct tb_writer_stats accounting;
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
	tb_writer_read_stats(w, &accounting);
	CHECK_NUMBER(accounting.refused, 2 * PER_CHUNK + 2 + 3);
	CHECK_NUMBER(accounting.lost, 5);
	CHECK_NUMBER(accounting.attempted, accounting.refused + accounting.lost);
	/* later writers of the reservation lose their records, too */
	tb_writer_destroy(w);
	w = tb_writer_create_startup(arbiter, 1);
	put(w, 5);
	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	tb_writer_destroy(w);
	CHECK_NUMBER(fake.nr_got, 0);
	close_all();
}

/* What is lost of an aborted reservation is not kept until it can be reported: it never can */
static void aborted_ends(void)
{
	struct tb_writer *others[4], *w;
	unsigned int id, i;

	open_small();
	w = tb_writer_create_startup(arbiter, 1);
	CHECK(!tb_arbiter_abort_reservation(arbiter, 1));
	tb_writer_destroy(w);
	for (i = 0; i < 100; i++) {
		w = tb_writer_create_startup(arbiter, 1);
		put(w, 5);
		tb_writer_destroy(w);
	}
	for (i = 0; i < 4; i++) {
		others[i] = writer(TB_FULL_DROP);
		put(others[i], 1);
	}
	w = writer(TB_FULL_DROP);
	id = tb_writer_id(w);
	put(w, 5);
	tb_writer_destroy(w);
	for (i = 0; i < 4; i++)
		tb_writer_destroy(others[i]);
	CHECK(!tb_arbiter_commit(arbiter));
	CHECK(fake.writers[id].missing >= 5);
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

static const struct test tests[] = {
	{ "created unbound and bound", create_unbound_and_bind },
	{ "bound twice", bind_twice },
	{ "startup writers, unbound", startup_unbound },
	{ "startup writers, bound", startup_bound },
	{ "a startup writer moves to shared memory once all is sent",
	  startup_moves_when_all_is_sent },
	{ "startup chunks are queued before all shared chunks", startup_before_all_memory },
	{ "startup writers without room", startup_full },
	{ "startup aborted, unbound", abort_unbound },
	{ "startup aborted, bound", abort_bound },
	{ "writers of an aborted reservation that end", aborted_ends },
	{ "no more reservations than targets", reservations },
	{ "a startup writer whose thread ended before the binding", ended_before_bind },
};

TEST_MAIN(tests)
