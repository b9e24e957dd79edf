// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live view shows the records of programs soon and in order, from any number of writers; a late
 * or missing piece delays it for a limited time. If this fails, one killed program stops the view
 * of all. test_lib_sequence.c compares the final result of following with the file, for each of its
 * traces.
 */
#include "test_lib_users.h"
#include "lib/read/follow.h"

#define DEADLINE 60000		/* ms to wait for an event before the test fails */

static struct tb_trace *trace;
static struct tb_cursor *cursor;
static int ends[2];
static size_t sent;

static void begin_limited(struct fx *fx, uint32_t hold_ms, uint64_t room)
{
	struct tb_follow_options options = { .hold_ms = hold_ms, .room = room };

	assert(!pipe(ends) && fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
	sent = 0;
	fx_init(fx, 12, 0);
	CHECK_NUMBER(tb_trace_follow_fd(ends[0], &options, &trace, NULL), 0);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
}

static void begin(struct fx *fx, uint32_t hold_ms)
{
	begin_limited(fx, hold_ms, 0);
}

static void finish(struct fx *fx)
{
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	close(ends[0]);
	fx_free(fx);
}

/* Send what the fixture has got since the last call */
static void send(struct fx *fx)
{
	ssize_t done;

	for (fx_durable_end(fx); sent < fx->size; sent += (size_t)done) {
		done = write(ends[1], fx->data + sent, fx->size - sent);
		assert(done > 0);
	}
}

/* Send one mark, in a chunk and a block of its own */
static void send_mark(struct fx *fx, unsigned int cpu, unsigned int writer, uint32_t id,
		      uint64_t time, const char *text)
{
	struct fx_chunk chunk;

	fx_open(fx, cpu, time, 1, NULL);
	fx_chunk(&chunk, 7, writer, id, id);
	fx_mark(&chunk, time, text);
	fx_take(fx, cpu, time + 1, &chunk);
	fx_close(fx, cpu);
	send(fx);
}

/* Wait for the next record of a program; 0: the end */
static int next_user(struct tb_view *view)
{
	uint64_t begun = tb_follow_now();
	int result;

	while ((result = tb_cursor_next(cursor, view)) == -EAGAIN || (result == 1 && !view->user))
		if (result != 1 && (tb_cursor_wait(cursor, DEADLINE) != 1 ||
				    tb_follow_now() - begun > DEADLINE * 1000000ull))
			return -ETIMEDOUT;
	return result;
}

static void check_mark(const char *wanted)
{
	char text[1024] = "";
	struct tb_view view;
	int result = next_user(&view);

	CHECK_NUMBER(result, 1);
	if (result == 1)
		tb_view_print(trace, &view, text, sizeof(text));
	CHECK_TEXT(text, wanted);
}

static void as_they_come(void)
{
	struct tb_view view;
	struct fx fx;

	begin(&fx, 1);
	send_mark(&fx, 0, 1, 0, 1000, "a");
	check_mark("mark a");
	send_mark(&fx, 1, 1, 1, 1010, "b");
	check_mark("mark b");
	send_mark(&fx, 0, 2, 0, 1020, "c");
	check_mark("mark c");
	CHECK_NUMBER(tb_cursor_late(cursor), 0);
	close(ends[1]);
	CHECK_NUMBER(next_user(&view), 0);
	finish(&fx);
}

/* Pieces accepted on several CPUs arrive in any order */
static void in_order(void)
{
	struct tb_view view;
	struct fx fx;

	begin(&fx, 1000000);
	send_mark(&fx, 3, 1, 3, 1030, "d");
	send_mark(&fx, 1, 1, 1, 1010, "b");
	send_mark(&fx, 2, 1, 2, 1020, "c");
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	send_mark(&fx, 0, 1, 0, 1000, "a");
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	close(ends[1]);
	check_mark("mark a");
	check_mark("mark b");
	check_mark("mark c");
	check_mark("mark d");
	CHECK_NUMBER(next_user(&view), 0);
	CHECK_NUMBER(tb_cursor_late(cursor), 0);
	finish(&fx);
}

/* The reader waits for a missing piece, but not forever, and not for memory */
static void missing_limited(uint64_t room)
{
	struct tb_view view;
	struct fx fx;

	begin_limited(&fx, 1, room);
	send_mark(&fx, 0, 1, 0, 1000, "a");
	send_mark(&fx, 0, 1, 2, 1020, "c");
	check_mark("mark a");
	CHECK_NUMBER(next_user(&view), 1);
	CHECK(view.kind == TB_VIEW_USER_LOST && view.user->lost == 1);
	check_mark("mark c");
	CHECK_NUMBER(tb_trace_user_writer(trace, 0)->missing, 1);
	close(ends[1]);
	CHECK_NUMBER(next_user(&view), 0);
	finish(&fx);
}

static void missing(void)
{
	missing_limited(0);
}

/* Any piece is over the limit, so the reader must show what it has before it reads on */
static void limited(void)
{
	missing_limited(1);
}

/* What was shown takes no memory, also of writers that ended */
static void shown(void)
{
	enum { WRITERS = 20 };
	char text[150], wanted[160];
	struct tb_view view;
	unsigned int i;
	struct fx fx;

	begin(&fx, 1);
	memset(text, 'x', sizeof(text) - 1);
	for (i = 0; i <= WRITERS; i++) {
		snprintf(text, 8, "%7u", i);
		text[7] = ':';
		text[i < WRITERS ? sizeof(text) - 1 : 8] = 0;
		snprintf(wanted, sizeof(wanted), "mark %s", text);
		send_mark(&fx, i % FX_CPUS, 1 + i, 0, 1000 + 10 * i, text);
		check_mark(wanted);
	}
	/* at most the last one is still kept */
	CHECK(trace->follow->pieces < 3 * sizeof(text));
	close(ends[1]);
	CHECK_NUMBER(next_user(&view), 0);
	finish(&fx);
}

/* Names that another writer announces, again; slices that are patched before they are shown */
static void names_and_patches(void)
{
	struct fx_chunk chunk;
	struct tb_view view;
	uint32_t hole, later;
	struct fx fx;

	begin(&fx, 1);
	fx_open(&fx, 1, 900, 1, NULL);
	fx_chunk(&chunk, 7, 2, 0, 0);
	hole = fx_record(&chunk, TB_REC_SLICE, 0, 9, 1000, FX_WORDS(0));
	later = fx_record(&chunk, TB_REC_SLICE, 0, 9, 1005, FX_WORDS(0));
	/* patches before the piece, in another order than their words; the last of a word counts */
	fx_patch(&fx, 1, 1037, &chunk, later + 16, 16);
	fx_patch(&fx, 1, 1038, &chunk, hole + 16, 24);
	fx_patch(&fx, 1, 1039, &chunk, later + 16, 17);
	fx_patch(&fx, 1, 1040, &chunk, hole + 16, 25);
	fx_close(&fx, 1);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_take(&fx, 0, 1030, &chunk);
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_name(&chunk, 9, TB_NAME_EVENT, 0, "request");
	fx_take(&fx, 0, 1040, &chunk);
	fx_close(&fx, 0);
	send(&fx);
	check_mark("slice request duration=0.000000025");
	check_mark("slice request duration=0.000000017");
	fx_open(&fx, 0, 2000, 1, NULL);
	fx_chunk(&chunk, 7, 1, 1, 1);
	fx_name(&chunk, 9, TB_NAME_EVENT, 0, "answer");
	fx_record(&chunk, TB_REC_INSTANT, 0, 9, 2000, FX_NO_WORDS);
	fx_take(&fx, 0, 2010, &chunk);
	fx_close(&fx, 0);
	send(&fx);
	check_mark("instant answer");
	close(ends[1]);
	CHECK_NUMBER(next_user(&view), 0);
	finish(&fx);
}

/* A program gives the id of a writer that ended to a new one: a late piece is the old one's */
static void same_id(void)
{
	struct fx_chunk chunk;
	struct tb_view view;
	unsigned int i;
	struct fx fx;

	begin(&fx, 1000000);
	for (i = 0; i < 2; i++) {
		send_mark(&fx, 0, 1, 0, i ? 2000 : 1000, i ? "new" : "old");
		if (!i)
			continue;
		fx_open(&fx, 1, 1010, 1, NULL);
		fx_chunk(&chunk, 7, 1, 1, 1);
		fx_mark(&chunk, 1010, "old, late");
		fx_take(&fx, 1, 1020, &chunk);
		fx_close(&fx, 1);
		send_mark(&fx, 0, 1, 1, 2010, "more");
	}
	close(ends[1]);
	check_mark("mark old");
	check_mark("mark old, late");
	check_mark("mark new");
	check_mark("mark more");
	CHECK_NUMBER(next_user(&view), 0);
	CHECK_NUMBER(tb_trace_user_writer(trace, 0)->delivered, 2);
	CHECK_NUMBER(tb_trace_user_writer(trace, 1)->delivered, 2);
	finish(&fx);
}

/* The time of an incomplete block is unknown, and so says nothing against a slice in it */
static void open_block(void)
{
	struct fx_chunk chunk;
	struct tb_view view;
	struct fx fx;

	begin(&fx, 1);
	send_mark(&fx, 0, 2, 0, 1000, "a");
	fx_chunk(&chunk, 7, 1, 0, 0);
	fx_record(&chunk, TB_REC_SLICE, 0, 9, 5000, FX_WORDS(700));
	fx_open(&fx, 0, 5800, 1, NULL);
	fx_take(&fx, 0, 5800, &chunk);
	fx_close(&fx, 0);
	fx_block(&fx, &fx.rings[0])->flags &= (uint8_t)~TB_BLOCK_COMPLETE;
	fx_block(&fx, &fx.rings[0])->time_end = 0;
	send(&fx);
	close(ends[1]);
	check_mark("mark a");
	check_mark("slice #9 duration=0.000000700");
	CHECK_NUMBER(next_user(&view), 0);
	finish(&fx);
}

/* Writers appear and continue in turn, while the reader shows others */
static void many(void)
{
	enum { WRITERS = 50, ROUNDS = 40 };
	unsigned int round, writer;
	char text[32], wanted[40];
	struct tb_view view;
	struct fx fx;

	begin(&fx, 1);
	for (round = 0; round < ROUNDS; round++) {
		for (writer = 1; writer <= WRITERS; writer++) {
			snprintf(text, sizeof(text), "%u.%u", writer, round);
			send_mark(&fx, (round + writer) % FX_CPUS, writer, round,
				  1000 + 10 * (round * WRITERS + writer), text);
			if (writer % 10)
				continue;
			for (unsigned int i = writer - 9; i <= writer; i++) {
				snprintf(wanted, sizeof(wanted), "mark %u.%u", i, round);
				check_mark(wanted);
			}
		}
	}
	CHECK(tb_trace_user_writer(trace, WRITERS - 1) && !tb_trace_user_writer(trace, WRITERS));
	CHECK_NUMBER(tb_trace_user_writer(trace, 7)->delivered, ROUNDS);
	CHECK_NUMBER(tb_trace_user_writer(trace, 7)->missing, 0);
	close(ends[1]);
	CHECK_NUMBER(next_user(&view), 0);
	finish(&fx);
}

/* Closing with records waiting and not shown leaks nothing (AddressSanitizer) */
static void closed_early(void)
{
	struct tb_view view;
	struct fx fx;

	begin(&fx, 1000000);
	send_mark(&fx, 0, 1, 0, 1000, "a");
	send_mark(&fx, 1, 1, 5, 1010, "b");
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	tb_cursor_finish(cursor);
	check_mark("mark a");
	close(ends[1]);
	finish(&fx);
}

static const struct test tests[] = {
	{ "records of programs as they arrive", as_they_come },
	{ "pieces of several CPUs, in any order", in_order },
	{ "a piece that is missing", missing },
	{ "a limit of memory", limited },
	{ "memory of shown records", shown },
	{ "names and patches", names_and_patches },
	{ "an id that is used again", same_id },
	{ "a slice in an incomplete block", open_block },
	{ "many writers, many pieces", many },
	{ "closed before the end", closed_early },
};

TEST_MAIN(tests)
