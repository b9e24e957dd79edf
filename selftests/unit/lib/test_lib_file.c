// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library reads everything of a file that is whole, and says which part is damaged: a file cut
 * off, with foreign bytes, of several recordings, or with pieces out of order. If this fails, a
 * full disk or a bad byte costs the whole recording, or makes a tool crash or hang.
 */
#include <errno.h>
#include <unistd.h>
#include "test_lib_fixture.h"

/* Two CPUs, three blocks, seven events */
static void small_trace(struct fx *fx)
{
	fx_init(fx, 10, 1000);
	fx_durable_end(fx);
	fx_open(fx, 0, 2000, 5, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_simple(fx, 0, FX_SOFTIRQ, 2003, 2);
	fx_simple(fx, 0, FX_SOFTIRQ, 2005, 3);
	fx_close(fx, 0);
	fx_open(fx, 1, 2000, 6, NULL);
	fx_simple(fx, 1, FX_SOFTIRQ, 2002, 4);
	fx_simple(fx, 1, FX_SOFTIRQ, 2004, 5);
	fx_close(fx, 1);
	fx_open(fx, 0, 2010, 5, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 2011, 6);
	fx_simple(fx, 0, FX_SOFTIRQ, 2012, 7);
	fx_close(fx, 0);
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
}

static size_t count_events(struct tb_trace *trace)
{
	struct tb_cursor *cursor;
	struct tb_view view;
	size_t count = 0;

	CHECK(tb_cursor_open(trace, &cursor) == 0);
	while (tb_cursor_next(cursor, &view) > 0)
		count += view.kind == TB_VIEW_EVENT;
	tb_cursor_close(cursor);
	return count;
}

static void whole_file(void)
{
	const struct tb_format *one, *other;
	struct tb_trace *trace;
	struct tb_error error;
	struct fx fx;

	small_trace(&fx);
	CHECK(tb_trace_open_memory(fx.data, fx.size, &trace, &error) == 0);
	CHECK(!tb_trace_fault(trace));
	CHECK_NUMBER(tb_trace_recordings(trace), 1);
	CHECK_NUMBER(tb_trace_blocks(trace), 5);
	CHECK_NUMBER(tb_trace_nr_cpus(trace), 2);
	CHECK_NUMBER(tb_trace_formats(trace), 9);
	CHECK_TEXT(tb_trace_init(trace)->nodename, "fixture");
	CHECK_NUMBER(tb_trace_totals(trace, 0)->attempted, 5);
	CHECK_NUMBER(tb_trace_totals(trace, 1)->blocks, 1);
	CHECK(!tb_trace_totals(trace, 2));
	CHECK_TEXT(tb_trace_format(trace, FX_WAKEUP)->name, "sched_wakeup");
	CHECK(!tb_trace_format(trace, 99) && !tb_trace_format(trace, 65535));
	one = tb_trace_format_named(trace, "sched:sched_switch", NULL);
	other = tb_trace_format_named(trace, "sched:sched_switch", one);
	CHECK(one && other && one != other && !strcmp(other->name, "sched_switch"));
	CHECK((one->flags ^ other->flags) & TB_EVENT_SIMPLE);
	CHECK(!tb_trace_format_named(trace, "sched:sched_switch", other));
	CHECK(!tb_trace_format_named(trace, "sched_switch", NULL));
	CHECK(!tb_trace_format_named(trace, "sched:sched_switc", NULL));
	CHECK(!tb_trace_format_named(trace, "sched", NULL));
	CHECK_NUMBER(count_events(trace), 7);
	tb_trace_close(trace);
	fx_free(&fx);
}

static void not_a_trace(void)
{
	static const char text[64] __attribute__((aligned(8))) = "#!/bin/sh";
	struct tb_trace *trace;
	struct tb_error error;

	CHECK(tb_trace_open_memory(text, sizeof(text), &trace, &error) == -EINVAL);
	CHECK(!trace && strstr(error.text, "not a tracebuf trace"));
	CHECK(tb_trace_open_memory(text, 0, &trace, &error) == -ENODATA);
	CHECK(tb_trace_open_memory(text, 3, &trace, &error) == -ENODATA);
	CHECK(tb_trace_open("/nonexistent", &trace, &error) == -ENOENT);
	CHECK(error.offset == TB_OFFSET_NONE);
	CHECK(tb_trace_open("/", &trace, &error) == -EISDIR);
	CHECK(tb_trace_open("/", &trace, NULL) == -EISDIR);
}

static void other_version(void)
{
	struct tb_trace *trace;
	struct tb_error error;
	struct fx fx;

	small_trace(&fx);
	fx.data[4] = 9;
	CHECK(tb_trace_open_memory(fx.data, fx.size, &trace, &error) == -EPROTO);
	CHECK(strstr(error.text, "version 9"));
	fx_free(&fx);
}

/* Cut at any place, the whole blocks before it are readable, and the place is reported */
static void cut_anywhere(void)
{
	struct tb_trace *trace;
	struct tb_error error;
	unsigned char *copy;
	size_t size, blocks;
	struct fx fx;

	small_trace(&fx);
	for (size = 16384; size < fx.size; size += 8) {
		copy = malloc(size);	/* of this size, so that ASan sees its end */
		assert(copy);
		memcpy(copy, fx.data, size);
		CHECK(tb_trace_open_memory(copy, size, &trace, &error) == 0);
		blocks = 1 + (size - 16384) / 1024;
		if (blocks > 4)
			blocks = 4;
		CHECK_NUMBER(tb_trace_blocks(trace), blocks);
		if (size == 16384 + (blocks - 1) * 1024) {
			CHECK(!tb_trace_fault(trace));
		} else {
			CHECK(tb_trace_fault(trace) &&
			      tb_trace_fault(trace)->offset >= size - 16384);
			CHECK(tb_trace_fault(trace) &&
			      strstr(tb_trace_fault(trace)->text, "cut off"));
		}
		tb_trace_close(trace);
		free(copy);
	}
	fx_free(&fx);
}

static void foreign_tail(void)
{
	static const char tail[] = "this is not a block, and long enough for a header: it goes on and on";
	struct tb_trace *trace;
	struct fx fx;
	size_t at;

	small_trace(&fx);
	at = fx_extend(&fx, sizeof(tail));
	memcpy(fx.data + at, tail, sizeof(tail));
	CHECK(tb_trace_open_memory(fx.data, fx.size, &trace, NULL) == 0);
	CHECK(tb_trace_fault(trace));
	CHECK_NUMBER(tb_trace_fault(trace)->offset, at);
	CHECK_NUMBER(count_events(trace), 7);
	tb_trace_close(trace);
	fx_free(&fx);
}

static void wrong_headers(void)
{
	struct tb_error error;
	struct tb_block *block;
	struct fx fx;

	small_trace(&fx);
	block = (struct tb_block *)(fx.data + 16384);
	CHECK_NUMBER(tb_block_check(block, 1024, &error), 1024);
	CHECK(tb_block_check(block, 1023, &error) == -ENODATA);
	CHECK(tb_block_check(block, 63, &error) == -ENODATA);
	block->size_log2 = 9;
	CHECK(tb_block_check(block, 1024, &error) == -EINVAL);
	block->size_log2 = 63;
	CHECK(tb_block_check(block, 1024, &error) == -EINVAL);
	block->size_log2 = 10;
	block->kind = 7;
	CHECK(tb_block_check(block, 1024, &error) == -EINVAL);
	block->kind = TB_BLOCK_ROLLING;
	block->data = 1040;
	CHECK(tb_block_check(block, 1024, &error) == -EINVAL);
	block->data = 120;
	CHECK(tb_block_check(block, 1024, &error) == -EINVAL);
	block->data = 48;
	CHECK(tb_block_check(block, 1024, NULL) == -EINVAL);
	fx_free(&fx);
}

/* The walk ends with a reason, and never leaves the block */
static void wrong_elements(void)
{
	static const struct {
		uint32_t head;
		const char *wrong;
	} cases[] = {
		{ TB_HEAD(TB_STRUCT_SIMPLE, 71, 0, 0), "length zero" },
		{ TB_HEAD(TB_STRUCT_SIMPLE, 71, 1, 1), "sequence" },
		{ TB_HEAD(TB_STRUCT_COMPOSITE, 64, 900, 0), "beyond" },
		{ TB_HEAD(TB_STRUCT_COMPOSITE, 64, 2, 0), "payload is longer" },
		{ TB_HEAD(TB_STRUCT_RESERVED, 0, 900, 0), "reserved" },
	};
	struct tb_composite *composite;
	struct tb_walk walk;
	struct fx fx;
	size_t i;
	int step;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		small_trace(&fx);
		composite = (void *)(fx.data + 16384 + 128);
		composite->head = cases[i].head;
		composite->length = 17;
		tb_walk_start(&walk, (void *)(fx.data + 16384));
		CHECK(tb_walk_next(&walk) == 1 && walk.id == TB_EV_GAP);
		step = tb_walk_next(&walk);
		CHECK(step == -EBADMSG && walk.index == 8);
		CHECK(walk.wrong && strstr(walk.wrong, cases[i].wrong));
		CHECK(tb_walk_next(&walk) == 0);
		fx_free(&fx);
	}
}

/* The walk steps over an element that was reserved and never committed, by its length */
static void reserved_elements(void)
{
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct tb_view view;
	struct fx fx;
	int count = 0;

	small_trace(&fx);
	((struct tb_element *)(fx.data + 16384 + 128))->head =
		TB_HEAD(TB_STRUCT_RESERVED, 0, 2, 0);
	CHECK(tb_trace_open_memory(fx.data, fx.size, &trace, NULL) == 0);
	CHECK(tb_cursor_open(trace, &cursor) == 0);
	while (tb_cursor_next(cursor, &view) > 0)
		count++;
	CHECK_NUMBER(count, 5);
	CHECK_NUMBER(tb_cursor_uncommitted(cursor), 1);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* A damaged block costs its own rest, not other blocks */
static void damaged_block(void)
{
	const struct tb_error *fault;
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct tb_view view;
	struct fx fx;
	int count = 0;

	small_trace(&fx);
	((struct tb_element *)(fx.data + 16384 + 144))->head = 0xffffffff;
	((struct tb_element *)(fx.data + 16384 + 144))->head &= ~3u;
	((struct tb_element *)(fx.data + 16384 + 144))->head |= TB_STRUCT_SIMPLE;
	CHECK(tb_trace_open_memory(fx.data, fx.size, &trace, NULL) == 0);
	CHECK(tb_cursor_open(trace, &cursor) == 0);
	while (tb_cursor_next(cursor, &view) > 0)
		count++;
	CHECK_NUMBER(count, 5);
	fault = tb_cursor_fault(cursor);
	CHECK(fault && fault->offset == 16384 + 144);
	CHECK(fault && strstr(fault->text, "CPU 0, block 0"));
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

static void two_recordings(void)
{
	struct tb_trace *trace;
	struct fx fx;

	small_trace(&fx);
	fx_start_recording(&fx, 2);
	fx_durable_end(&fx);
	fx_open(&fx, 3, 5000, 5, NULL);
	fx_simple(&fx, 3, FX_SOFTIRQ, 5001, 1);
	fx_close(&fx, 3);
	CHECK(tb_trace_open_memory(fx.data, fx.size, &trace, NULL) == 0);
	CHECK(!tb_trace_fault(trace));
	CHECK_NUMBER(tb_trace_recordings(trace), 2);
	CHECK_NUMBER(count_events(trace), 7);
	CHECK_NUMBER(tb_trace_selected(trace), 0);
	CHECK(tb_trace_select(trace, 1) == 0);
	CHECK_NUMBER(tb_trace_selected(trace), 1);
	CHECK_NUMBER(tb_trace_init(trace)->generation, 2);
	CHECK_NUMBER(count_events(trace), 1);
	CHECK_NUMBER(tb_trace_nr_cpus(trace), 4);
	CHECK(tb_trace_select(trace, 2) == -ERANGE);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* Pieces of the file in another order, one of them twice */
static void pieces_out_of_order(void)
{
	unsigned char *mixed;
	struct tb_trace *trace;
	struct fx fx;

	small_trace(&fx);
	mixed = malloc(fx.size + 1024);
	assert(mixed);
	memcpy(mixed, fx.data, 16384);
	memcpy(mixed + 16384, fx.data + 16384 + 2048, 1024);
	memcpy(mixed + 17408, fx.data + 16384, 2048);
	memcpy(mixed + 19456, fx.data + 16384, 1024);
	memcpy(mixed + 20480, fx.data + 19456, fx.size - 19456);
	CHECK(tb_trace_open_memory(mixed, fx.size + 1024, &trace, NULL) == 0);
	CHECK_NUMBER(tb_trace_blocks(trace), 6);
	CHECK_NUMBER(count_events(trace), 7);
	tb_trace_close(trace);
	free(mixed);
	fx_free(&fx);
}

/* A file without its beginning: events have no names, times are in ticks */
static void headless(void)
{
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct tb_view view;
	char spare[24], text[64];
	struct fx fx;

	small_trace(&fx);
	CHECK(tb_trace_open_memory(fx.data + 16384, fx.size - 16384, &trace,
				   NULL) == 0);
	CHECK(!tb_trace_init(trace));
	CHECK(tb_cursor_open(trace, &cursor) == 0);
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK(!view.format);
	CHECK_NUMBER(view.ns, 2001);
	CHECK_TEXT(tb_view_system(&view), "unknown");
	CHECK_TEXT(tb_view_name(&view, spare), "event_71");
	tb_view_print(trace, &view, text, sizeof(text));
	CHECK_TEXT(text, "payload=0100000000000000");
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

static void from_pipe(void)
{
	struct tb_trace *trace;
	int ends[2];
	pid_t child;
	struct fx fx;

	small_trace(&fx);
	assert(pipe(ends) == 0);
	child = fork();
	if (!child) {
		size_t at = 0;
		ssize_t done;

		while (at < fx.size && (done = write(ends[1], fx.data + at,
						     fx.size - at)) > 0)
			at += (size_t)done;
		_exit(0);
	}
	close(ends[1]);
	CHECK(tb_trace_open_fd(ends[0], &trace, NULL) == 0);
	if (trace)
		CHECK_NUMBER(count_events(trace), 7);
	tb_trace_close(trace);
	close(ends[0]);
	fx_free(&fx);
}

/* Damage bytes of a small trace in turn, each byte of the headers: no crash, no endless loop */
static void spoilt_bytes(void)
{
	static const unsigned char values[] = { 0x00, 0x01, 0x7f, 0xff };
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	unsigned char before;
	char text[256];
	struct fx fx;
	size_t i, v, opened = 0, steps;

	small_trace(&fx);
	for (i = 0; i < fx.size; i += i % 1024 < 128 ? 1 :
				      i < 4096 || i > 16384 ? FULL(1, 11) : 61) {
		before = fx.data[i];
		for (v = 0; v < sizeof(values); v++) {
			fx.data[i] = values[v];
			if (tb_trace_open_memory(fx.data, fx.size, &trace, NULL))
				continue;
			opened++;
			steps = 0;
			if (!tb_cursor_open(trace, &cursor)) {
				while (tb_cursor_next(cursor, &view) > 0 &&
				       ++steps < 10000)
					tb_view_print(trace, &view, text,
						      sizeof(text));
				tb_cursor_close(cursor);
			}
			CHECK(steps < 2000);
			tb_trace_close(trace);
		}
		fx.data[i] = before;
	}
	CHECK(opened > 500);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "file: whole", whole_file },
	{ "file: not a trace, empty, missing, a directory", not_a_trace },
	{ "file: unknown version is refused", other_version },
	{ "file: cut anywhere, the rest is readable", cut_anywhere },
	{ "file: foreign bytes at the end are reported with their place", foreign_tail },
	{ "file: from a pipe", from_pipe },
	{ "file: several recordings", two_recordings },
	{ "file: pieces out of order and twice", pieces_out_of_order },
	{ "file: without its beginning", headless },
	{ "block: invalid headers are refused", wrong_headers },
	{ "element: damage ends the walk with a reason", wrong_elements },
	{ "element: reserved ones are stepped over", reserved_elements },
	{ "cursor: continues after a damaged block", damaged_block },
	{ "file: any byte damaged", spoilt_bytes },
};

TEST_MAIN(tests)
