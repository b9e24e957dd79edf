// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two threads that record at the same moment lose and double no record, whichever is first. If this
 * fails, the trace of a program with threads lacks records or has one twice. A race runs the first
 * operation once for each of its accesses to shared memory; at that access the second operation
 * runs, whole. So each operation wins at some step, and check() says which one won.
 *
 * Operations that block are not in these races: on one thread they would wait for themselves.
 * stress_lib_writers.c runs real threads.
 */
#include "fake_producer.h"
#include "test_lib_fixture.h"

enum won { NOBODY = 0, FIRST = 1, SECOND = 2 };

struct race {
	const char *name;
	void (*setup)(void);
	void (*first)(void);
	void (*second)(void);
	enum won (*check)(void);	/* after both operations; it closes everything */
	int winners;			/* a mask: each must have won at some step */
};

static struct fake fake;
static struct tb_arbiter *arbiter;
static struct tb_writer *one, *two, *three;
static struct tb_slice slice;
static int number;
static struct tb_name ping = TB_NAME_INIT("ping", NULL), pong = TB_NAME_INIT("pong", NULL);

/* ---- run the second operation at step n of the first ---- */

static unsigned int steps, step_at;
static bool in_second, second_ran;
static void (*second)(void);

static void on_step(const volatile void *word)
{
	(void)word;
	if (in_second || ++steps != step_at)
		return;
	in_second = true;
	second_ran = true;
	second();
	in_second = false;
}

static void run_race(const struct race *race)
{
	int won = 0, failures = test_failures;
	unsigned int n;

	for (n = 1; failures == test_failures; n++) {
		race->setup();
		steps = 0;
		step_at = n;
		second = race->second;
		second_ran = false;
		tb_step = on_step;
		race->first();
		tb_step = NULL;
		if (!second_ran)
			race->second();
		won |= race->check();
		if (failures != test_failures)
			printf("# at step %u\n", n);
		if (!second_ran)
			break;
	}
	printf("# %u steps\n", n - 1);
	CHECK(n > 1);
	CHECK_NUMBER(won & race->winners, race->winners);
}

/* ---- helpers ---- */

enum { CHUNK = 256 };

static void open_chunks(uint32_t chunks, uint32_t flags)
{
	struct tb_arbiter_options options = { CHUNK, chunks, 1000, flags };

	fake_init(&fake);
	CHECK(!tb_arbiter_create_on(&options, &fake.endpoint, &arbiter));
	CHECK_NUMBER(tb_arbiter_target(arbiter, "kernel"), 0);
	one = tb_writer_create(arbiter, 0, TB_FULL_DROP);
	two = tb_writer_create(arbiter, 0, TB_FULL_DROP);
	CHECK(!tb_writer_is_null(one) && !tb_writer_is_null(two));
	number = 0;
}

/* All records arrive, or the trace says where they are missing; each writer's values only rise. */
static void close_checked(void)
{
	uint64_t last[8] = { 0 };
	struct tb_writer *const all[] = { one, two };
	struct tb_writer_stats stats[2];
	unsigned int ids[2];
	size_t i;

	for (i = 0; i < 2; i++) {
		ids[i] = tb_writer_id(all[i]);
		if (!ids[i])
			continue;
		tb_writer_flush(all[i]);
		tb_writer_read_stats(all[i], &stats[i]);
		tb_writer_destroy(all[i]);
		CHECK_NUMBER(fake.writers[ids[i]].received + stats[i].refused + stats[i].lost,
			     stats[i].attempted);
		CHECK_NUMBER(fake.writers[ids[i]].received + fake.writers[ids[i]].missing,
			     stats[i].attempted);
	}
	for (i = 0; i < fake.nr_got; i++) {
		const struct got *got = &fake.got[i];

		if (got->record.type != TB_REC_SIMPLE)
			continue;
		CHECK(got->words[0] > last[got->writer]);
		last[got->writer] = got->words[0];
	}
	tb_arbiter_destroy(arbiter);
	if (fake.error)
		printf("# %s\n", fake.error);
	CHECK(!fake.error);
	fake_free(&fake);
}

static void put_one(void)
{
	tb_put_simple(one, &ping, (uint64_t)++number);
}

static void put_two(void)
{
	tb_put_simple(two, &pong, (uint64_t)++number);
}

static void fill(struct tb_writer *w, unsigned int count)
{
	while (count--)
		tb_put_simple(w, w == one ? &ping : &pong, (uint64_t)++number);
}

/* ---- two writers, one chunk ---- */

static void last_chunk(void)
{
	open_chunks(2, 0);
	/* one chunk is not free: the kernel does not answer */
	fill(one, 7);
	fake.fail_commit = -ENOMEM;
	tb_writer_flush(one);
}

static enum won who_has_chunk(void)
{
	enum won won = one->chunk ? FIRST : two->chunk ? SECOND : NOBODY;

	CHECK(!one->chunk != !two->chunk);
	CHECK_NUMBER(writer_of(one)->lost + writer_of(two)->lost, 1);
	fake.fail_commit = 0;
	close_checked();
	return won;
}

/* ---- a writer pops a chunk that another writer pops and pushes meanwhile (ABA) ---- */

static void one_was_used(void)
{
	open_chunks(4, 0);
	three = tb_writer_create(arbiter, 0, TB_FULL_DROP);
	CHECK(!tb_writer_is_null(three));
	put_two();
	tb_writer_flush(two);
}

static void return_first_of_two(void)
{
	put_two();
	tb_put_simple(three, &pong, (uint64_t)++number);
	tb_writer_flush(two);
}

static enum won all_different(void)
{
	enum won won = three->chunk == fake_chunk(&fake, 2) ? FIRST : SECOND;
	struct tb_arbiter_stats stats;

	put_two();
	CHECK(one->chunk && two->chunk && three->chunk);
	CHECK(one->chunk != two->chunk && one->chunk != three->chunk && two->chunk != three->chunk);
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.broken, 0);
	tb_writer_destroy(three);
	close_checked();
	return won;
}

/* ---- a writer that needs a chunk, and the commit that frees one ---- */

static void all_queued(void)
{
	open_chunks(2, 0);
	arbiter->period_ms = 1u << 30;
	fake.fail_commit = -ENOMEM;
	fill(one, 7 + 8);
	tb_writer_flush(one);
	fake.fail_commit = 0;
}

static void commit(void)
{
	tb_arbiter_commit(arbiter);
}

static enum won was_lost(void)
{
	enum won won = writer_of(two)->lost ? FIRST : SECOND;

	close_checked();
	return won;
}

/* ---- a writer completes a chunk while the kernel takes it ---- */

static void nearly_full(void)
{
	open_chunks(4, 0);
	fill(one, 7);
}

static void flush_one(void)
{
	tb_writer_flush(one);
}

static void switch_one(void)
{
	/* the first record needs a new chunk */
	fill(one, 2);
}

static void kernel_flush(void)
{
	fake_scrape(&fake);
}

static enum won all_there(void)
{
	struct tb_arbiter_stats stats;
	/* did the kernel see the chunk before its commit? */
	enum won won = fake.nr_got && !fake.commits ? SECOND : FIRST;

	CHECK_NUMBER(writer_of(one)->lost, 0);
	tb_arbiter_read_stats(arbiter, &stats);
	CHECK_NUMBER(stats.broken, 0);
	CHECK_NUMBER(stats.refused, 0);
	close_checked();
	return won;
}

/* ---- a chunk is completed during a commit ---- */

static void one_queued(void)
{
	open_chunks(4, 0);
	fill(one, 7 + 1);
	fill(two, 7);
	arbiter->period_ms = 0;
}

static enum won second_committed(void)
{
	/* the chunk of writer two is in this commit, or waits for the next */
	enum won won = fake.writers[tb_writer_id(two)].received ? SECOND : FIRST;

	close_checked();
	return won;
}

/* ---- a slice ends during the commit of its chunk ---- */

static void open_slice(void)
{
	open_chunks(4, 0);
	slice = tb_slice_begin(one, &ping, 0);
	fill(one, 7);
}

static void open_slice_own(void)
{
	open_chunks(4, TB_ARBITER_NO_SHARED);
	slice = tb_slice_begin(one, &ping, 0);
	fill(one, 7);
}

static void open_slice_current(void)
{
	open_chunks(4, 0);
	fill(one, 1);
	slice = tb_slice_begin(one, &ping, 0);
	fill(one, 1);
}

static void end_slice(void)
{
	tb_slice_end(&slice);
}

static enum won patched_once(void)
{
	enum won won;

	tb_writer_flush(one);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 1);
	/* patched in the chunk or by the list, not both */
	won = fake_got(&fake, TB_REC_SLICE, 0)->words[0] ? SECOND : FIRST;
	CHECK_NUMBER(fake.nr_patches, won == FIRST);
	close_checked();
	return won;
}

static enum won patched_in_place(void)
{
	enum won won = fake_count(&fake, TB_REC_SLICE) ? FIRST : SECOND;

	tb_writer_flush(one);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SLICE), 1);
	CHECK(fake_got(&fake, TB_REC_SLICE, 0)->words[0]);
	CHECK_NUMBER(fake.nr_patches, 0);
	close_checked();
	return won;
}

/* ---- writers made and shut down ---- */

static int shut;

static void idle(void)
{
	open_chunks(2, 0);
	tb_writer_destroy(one);
	tb_writer_destroy(two);
	one = two = tb_writer_null();
	shut = 1;
}

static void make_one(void)
{
	one = tb_writer_create(arbiter, 0, TB_FULL_DROP);
}

static void make_two(void)
{
	two = tb_writer_create(arbiter, 0, TB_FULL_DROP);
}

static void try_shutdown(void)
{
	shut = tb_arbiter_try_shutdown(arbiter);
}

static enum won shut_or_made(void)
{
	enum won won = tb_writer_is_null(one) ? SECOND : FIRST;

	CHECK_NUMBER(shut, won == SECOND ? 0 : -EBUSY);
	close_checked();
	return won;
}

static enum won different_ids(void)
{
	enum won won = tb_writer_id(one) < tb_writer_id(two) ? FIRST : SECOND;

	CHECK(tb_writer_id(one) && tb_writer_id(two));
	CHECK(tb_writer_id(one) != tb_writer_id(two));
	close_checked();
	return won;
}

/* ---- startup writers ---- */

static void reserved(void)
{
	open_chunks(4, 0);
	tb_writer_destroy(one);
	one = tb_writer_create_startup(arbiter, 1);
	/* three full chunks */
	fill(one, 7 + 7 + 7);
}

static void reserved_own(void)
{
	open_chunks(4, TB_ARBITER_NO_SHARED);
	tb_writer_destroy(one);
	one = tb_writer_create_startup(arbiter, 1);
	/* three full chunks */
	fill(one, 7 + 7 + 7);
}

static void bind_reservation(void)
{
	/* it may find the lock taken, by the writer that it interrupts */
	tb_arbiter_bind_reservation(arbiter, 1, "app");
}

static void abort_reservation(void)
{
	tb_arbiter_abort_reservation(arbiter, 1);
}

static enum won startup_arrived(void)
{
	enum won won = writer_of(one)->source == TARGET_MOVED ? SECOND : FIRST;

	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	CHECK_NUMBER(writer_of(one)->lost, 0);
	fill(one, 20);
	tb_writer_flush(one);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE), 7 + 7 + 7 + 1 + 20);
	close_checked();
	return won;
}

static enum won startup_bound(void)
{
	enum won won = fake.nr_got ? SECOND : FIRST;

	CHECK(!tb_arbiter_flush(arbiter, NULL, NULL));
	fill(one, 20);
	tb_writer_flush(one);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE), 7 + 7 + 7 + 20);
	close_checked();
	return won;
}

static enum won startup_gone(void)
{
	/* the record was put before the abort, or found the reservation aborted */
	enum won won = writer_of(one)->lost ? SECOND : FIRST;
	unsigned int id = tb_writer_id(one);

	CHECK(!tb_arbiter_commit(arbiter));
	tb_writer_destroy(one);
	one = tb_writer_null();
	CHECK(!fake.writers[id].there && !fake.nr_got);
	close_checked();
	return won;
}

static void flush_all(void)
{
	tb_arbiter_flush(arbiter, NULL, NULL);
}

static void own_published(void)
{
	open_chunks(4, TB_ARBITER_NO_SHARED);
	fill(one, 7);
}

static enum won scraped(void)
{
	/* 8 records of the first chunk; or all, or none, because the order must be kept */
	enum won won = fake.nr_got == 8 ? FIRST : SECOND;

	close_checked();
	return won;
}

/* ---- a signal handler ---- */

static void near_end(void)
{
	open_chunks(2, 0);
	fill(one, 6);
	number = 100;
}

static void put_three(void)
{
	fill(one, 3);
}

static uint64_t handlers;

static void nested(void)
{
	handlers = (uint64_t)++number;
	tb_put_simple(one, &ping, handlers);
}

static enum won nested_told(void)
{
	bool lost = writer_of(one)->lost + writer_of(one)->nested != 0;
	uint64_t last = 0;
	size_t i;

	tb_writer_flush(one);
	for (i = 0; i < fake.nr_got; i++) {
		const struct got *got = &fake.got[i];

		if (got->record.type == TB_REC_SIMPLE)
			last = got->words[0];
		if (!got->missing)
			continue;
		CHECK_NUMBER(got->cause, TB_LOST_SIGNAL);
		/* the loss is right before or right after the interrupted record */
		CHECK(last == handlers - 1 || last == handlers - 2);
	}
	CHECK_NUMBER(fake.writers[tb_writer_id(one)].missing, lost);
	CHECK_NUMBER(fake_count(&fake, TB_REC_SIMPLE) + lost, 10);
	close_checked();
	return lost ? FIRST : SECOND;
}

/* ---- names ---- */

static struct tb_name *named[2];
static char text[32];

static void new_text(void)
{
	static int texts;

	open_chunks(2, 0);
	snprintf(text, sizeof(text), "text %d", texts++);
}

static void name_one(void)
{
	named[0] = tb_intern(text, NULL, TB_NAME_EVENT);
	tb_name_id(named[0]);
}

static void name_two(void)
{
	named[1] = tb_intern(text, NULL, TB_NAME_EVENT);
	tb_name_id(named[1]);
}

static enum won same_name(void)
{
	CHECK(named[0] == named[1]);
	CHECK(named[0]->id);
	CHECK_TEXT(named[0]->text, text);
	close_checked();
	return NOBODY;
}

static const struct race races[] = {
	{ "two writers want the last chunk", last_chunk, put_one, put_two, who_has_chunk,
	  FIRST | SECOND },
	{ "a chunk comes back while a writer pops it", one_was_used, put_one, return_first_of_two,
	  all_different, FIRST | SECOND },
	{ "a writer wants a chunk that is being committed", all_queued, put_two, commit, was_lost,
	  SECOND },
	{ "a chunk is committed while a writer wants one", all_queued, commit, put_two, was_lost,
	  FIRST | SECOND },
	{ "a chunk is completed while the kernel takes it", nearly_full, flush_one, kernel_flush,
	  all_there, FIRST },
	{ "chunks are changed while the kernel takes them", nearly_full, switch_one, kernel_flush,
	  all_there, SECOND },
	{ "a chunk is completed during a commit", one_queued, commit, put_two, second_committed,
	  FIRST | SECOND },
	{ "a slice ends while its chunk is committed", open_slice, end_slice, flush_one,
	  patched_once, FIRST },
	{ "a chunk is committed while its slice ends", open_slice, flush_one, end_slice,
	  patched_once, FIRST | SECOND },
	{ "the same without shared memory", open_slice_own, flush_one, end_slice, patched_once,
	  FIRST | SECOND },
	{ "a slice ends while the kernel looks for holes", open_slice_current, end_slice,
	  kernel_flush, patched_in_place, FIRST | SECOND },
	{ "a writer is made during shutdown", idle, make_one, try_shutdown, shut_or_made,
	  FIRST | SECOND },
	{ "shutdown while a writer is made", idle, try_shutdown, make_one, shut_or_made, FIRST },
	{ "two writers are made", idle, make_one, make_two, different_ids, FIRST | SECOND },
	{ "a reservation is bound while its writer records", reserved, put_one, bind_reservation,
	  startup_arrived, FIRST },
	{ "a startup writer records while it is bound", reserved, bind_reservation, put_one,
	  startup_arrived, FIRST | SECOND },
	{ "the same without shared memory", reserved_own, bind_reservation, put_one,
	  startup_arrived, FIRST | SECOND },
	{ "the kernel flushes while startup chunks are copied", reserved, bind_reservation,
	  kernel_flush, startup_bound, 0 },
	{ "a reservation is bound during a commit", reserved, flush_all, bind_reservation,
	  startup_bound, FIRST | SECOND },
	{ "the same without shared memory", reserved_own, flush_all, bind_reservation,
	  startup_bound, FIRST | SECOND },
	{ "a reservation is aborted while its writer records", reserved, put_one,
	  abort_reservation, startup_gone, FIRST },
	{ "a startup writer records while it is aborted", reserved, abort_reservation, put_one,
	  startup_gone, FIRST | SECOND },
	{ "a scrape while records are published", own_published, flush_all, switch_one, scraped,
	  FIRST | SECOND },
	{ "a handler records in the middle of a record", near_end, put_three, nested, nested_told,
	  FIRST | SECOND },
	{ "a text is interned twice", new_text, name_one, name_two, same_name, 0 },
};

int main(void)
{
	size_t i, failed = 0, count = sizeof(races) / sizeof(races[0]);

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 14\n1..%zu\n", count);
	for (i = 0; i < count; i++) {
		test_failures = 0;
		run_race(&races[i]);
		printf("%sok %zu %s\n", test_failures ? "not " : "", i + 1, races[i].name);
		failed += test_failures != 0;
	}
	return failed ? 1 : 0;
}
