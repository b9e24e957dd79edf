// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program loses no record without a count and a cause when the kernel answers wrongly, memory
 * runs out, or the program forks. If this fails, a damaged chunk, a wrong answer of the kernel or a
 * lack of memory makes the program crash or hang, or a child writes into the channel of its parent.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test_lib_writers.h"

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
