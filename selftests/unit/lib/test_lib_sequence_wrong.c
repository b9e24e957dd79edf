// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a program writes into its chunks, no reader crashes, hangs or loses events of the
 * kernel: damaged records are reported, and the rest is shown. If this fails, one faulty program
 * makes the recording of the whole machine unreadable.
 */
#include "test_lib_sequence.h"

static void malformed(void)
{
	struct fx_chunk chunk;
	struct tb_record *record;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	/* a record reaches beyond its piece: the rest is missing */
	one_mark(&chunk, 0, 0, 1001, "a");
	fx_mark(&chunk, 1002, "b");
	record = (void *)(chunk.data + chunk.bytes / 2);
	record->bytes = 4000;
	fx_take(&fx, 0, 1010, &chunk);
	/* fewer records than the data have, and a record of an unknown kind */
	one_mark(&chunk, 1, 2, 1011, "c");
	fx_record(&chunk, 200, 0xff, 9, 1012, FX_WORDS(1, 2, 3));
	fx_mark(&chunk, 1013, "not told of");
	chunk.head.records--;
	fx_take(&fx, 0, 1020, &chunk);
	/* a text longer than its record; missing words */
	fx_chunk(&chunk, 7, 1, 2, 4);
	fx_record(&chunk, TB_REC_MARK, 0, 0, 1021, FX_WORDS(5000, 0x64));
	fx_record(&chunk, TB_REC_SIMPLE, 0, 9, 1022, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, TB_REC_FLOW | TB_REC_ARGS, 9, 1023, FX_NO_WORDS);
	fx_record(&chunk, TB_REC_BEGIN, TB_REC_ARGS, 9, 1024,
		  FX_WORDS(fx_arg(9, 77), 255, 6));
	fx_take(&fx, 0, 1030, &chunk);
	/* numbers that have been used before */
	one_mark(&chunk, 3, 5, 1031, "again");
	fx_take(&fx, 0, 1040, &chunk);
	/* too short for their heads */
	fx_composite(&fx, 0, TB_EV_CHUNK, 1050, 1, &chunk, 40);
	fx_composite(&fx, 0, TB_EV_PATCH, 1050, 1, &chunk, 16);
	fx_simple(&fx, 0, TB_EV_CHUNK, 1051, 0);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(),
		"1001 101 mark a\n"
		"1010 101 LOST 1 records (damaged)\n"
		"1011 101 mark c\n"
		"1021 101 mark d\\x00\\x00\\x00\\x00\\x00\\x00\\x00 <truncated>\n"
		"1022 101 simple #9 value=0 <truncated>\n"
		"1023 101 begin #9 flow=0 <truncated>\n"
		"1024 101 begin #9 #9=0xff <truncated>\n"
		"1031 101 mark again\n");
	CHECK_NUMBER(accounting(0)->wrong, 3);
	CHECK_NUMBER(accounting(0)->unknown, 1);
	CHECK_NUMBER(accounting(0)->lost[18], 1);
	CHECK_NUMBER(accounting(0)->delivered, 8);
	CHECK(accounting(0)->missing <= accounting(0)->attempted);
	CHECK_NUMBER(tb_trace_user_malformed(trace), 2);
	close_all(&fx);
}

/* Pieces get the full time of the cursor, and end at damage as the cursor does */
static void as_the_cursor(void)
{
	uint64_t late = 1ull << 33 | 100;
	struct fx_chunk chunk;
	struct tb_element *element;
	struct tb_view view;
	int chunks = 0;
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	one_mark(&chunk, 0, 0, late, "a");
	fx_time(&fx, 0, late + 10);
	fx_take(&fx, 0, late + 20, &chunk);
	element = fx_room(&fx, &fx.rings[0], 1);
	element->head = TB_HEAD(TB_STRUCT_SIMPLE, FX_SOFTIRQ, 1, 13);
	one_mark(&chunk, 1, 1, late + 30, "b");
	fx_take(&fx, 0, late + 40, &chunk);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(), "8589934692 101 mark a\n");
	CHECK(tb_cursor_fault(cursor));
	CHECK_NUMBER(accounting(0)->pieces, 1);
	tb_cursor_close(cursor);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	while (tb_cursor_next(cursor, &view) > 0)
		chunks += view.kind == TB_VIEW_EVENT && view.id == TB_EV_CHUNK;
	CHECK_NUMBER(chunks, 1);
	close_all(&fx);
}

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Mostly small, sometimes any number */
static uint64_t odd_number(uint64_t *random)
{
	uint64_t number = next_random(random), kind = next_random(random) % 8;

	return kind < 5 ? number % 8 : kind < 6 ? UINT64_MAX - number % 4 :
	       kind < 7 ? number % 70000 : number;
}

static void hostile_chunk(struct fx_chunk *chunk, uint64_t *random)
{
	size_t count = next_random(random) % 20, i;

	fx_chunk(chunk, (uint32_t)odd_number(random), 1,
		 (uint32_t)odd_number(random), odd_number(random));
	chunk->head.writer = (uint16_t)odd_number(random);
	chunk->head.offset = (uint16_t)odd_number(random);
	chunk->head.flags = (uint16_t)odd_number(random);
	chunk->head.cause = (uint16_t)odd_number(random);
	chunk->head.tid = (uint32_t)odd_number(random);
	for (i = 0; i < count; i++) {
		uint64_t words[8];
		size_t length = next_random(random) % 8, j;

		for (j = 0; j < length; j++)
			words[j] = odd_number(random);
		fx_record(chunk, (int)(odd_number(random) % 12),
			  (unsigned int)odd_number(random) & 0xff,
			  (uint32_t)odd_number(random), odd_number(random),
			  words, length);
	}
	for (i = next_random(random) % 4; i && chunk->bytes; i--)
		chunk->data[next_random(random) % chunk->bytes] =
			(unsigned char)odd_number(random);
	if (next_random(random) % 4 == 0)
		chunk->head.records = (uint32_t)odd_number(random);
	if (next_random(random) % 4 == 0)
		chunk->bytes -= next_random(random) % (chunk->bytes + 1);
}

/* Whatever programs write, the reader ends, in order, and shows all kernel events */
static void hostile(void)
{
	const char *runs = getenv("SEQUENCE_RUNS"), *seed = getenv("SEQUENCE_SEED");
	unsigned int count = runs ? (unsigned int)atoi(runs) : 300, run, i;
	uint64_t random = seed ? strtoull(seed, NULL, 0) : 88172645463325252ull;
	uint64_t time, last, users, delivered;
	const struct tb_user_writer *writer;
	struct fx_chunk chunk;
	struct tb_view view;
	char text[512];
	int events, shown;
	struct fx fx;

	for (run = 0; run < count; run++) {
		uint64_t start = random;

		begin(&fx);
		if (run % 2)
			fx_sync(&fx, 1000, 5000);
		if (run % 3)
			fx_sync(&fx, 9000, 500000);
		fx_durable_end(&fx);
		fx_open(&fx, 0, 1000, 1, NULL);
		time = 1000;
		events = 0;
		for (i = 0; i < 30; i++) {
			time += next_random(&random) % 100;
			hostile_chunk(&chunk, &random);
			if (next_random(&random) % 3)
				fx_take(&fx, 0, time, &chunk);
			else
				fx_patch(&fx, 0, time, &chunk,
					 (uint32_t)odd_number(&random) & 0xffff,
					 odd_number(&random));
			events += fx_simple(&fx, 0, FX_SOFTIRQ, time, 0);
		}
		fx_close(&fx, 0);
		open_all(&fx);
		last = users = 0;
		shown = 0;
		while (tb_cursor_next(cursor, &view) > 0) {
			CHECK(view.ticks >= last);
			last = view.ticks;
			shown += view.id == FX_SOFTIRQ;
			users += view.kind == TB_VIEW_USER;
			tb_view_print(trace, &view, text, sizeof(text));
		}
		CHECK_NUMBER(shown, events);
		CHECK(!tb_cursor_fault(cursor));
		for (i = 0, delivered = 0; (writer = tb_trace_user_writer(trace, i)); i++) {
			delivered += writer->delivered - writer->names -
				     writer->unknown;
			CHECK(writer->missing <= writer->attempted);
			CHECK(writer->wrong <= writer->pieces);
			CHECK(writer->wrong || writer->attempted ==
			      writer->delivered + writer->missing);
		}
		CHECK_NUMBER(users, delivered);
		close_all(&fx);
		if (test_failures) {
			printf("# SEQUENCE_SEED=%llu\n", (unsigned long long)start);
			return;
		}
	}
}

/* A program that writes nothing does not change the trace */
static void nothing(void)
{
	struct fx fx;

	begin(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 1001, 1);
	fx_close(&fx, 0);
	open_all(&fx);
	CHECK_TEXT(read_users(), "");
	CHECK(!tb_trace_user_writer(trace, 0));
	CHECK(!tb_trace_user_name(trace, 0));
	CHECK_NUMBER(tb_trace_user_malformed(trace), 0);
	close_all(&fx);
}

static const struct test tests[] = {
	{ "sequence: invalid chunks", malformed },
	{ "sequence: pieces have the cursor's time and limits", as_the_cursor },
	{ "sequence: hostile programs", hostile },
	{ "sequence: a trace without programs", nothing },
};

TEST_MAIN(tests)
