/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces with records of programs: read as lines from the file and while they are followed, which
 * must give the same.
 */
#ifndef TEST_LIB_SEQUENCE_H
#define TEST_LIB_SEQUENCE_H

#include "test_lib_users.h"

static struct tb_trace *trace;
static struct tb_cursor *cursor;
static const struct fx *opened;

static inline void open_all(struct fx *fx)
{
	struct tb_error error;

	opened = fx;
	fx_durable_end(fx);
	CHECK_NUMBER(tb_trace_open_memory(fx->data, fx->size, &trace, &error), 0);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
}

static inline void close_all(struct fx *fx)
{
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(fx);
}

/* All records of programs, checked to be the same when the trace is followed */
static inline const char *read_users(void)
{
	static struct user_lines lines, followed;

	read_user_lines(&lines, trace, cursor);
	follow_user_lines(&followed, opened);
	CHECK_TEXT(followed.text, lines.text);
	CHECK(followed.places == lines.places);
	return lines.text;
}

static inline void begin(struct fx *fx)
{
	fx_init(fx, 14, 0);
	fx_durable_end(fx);
}

static inline const struct tb_user_writer *accounting(unsigned int index)
{
	static const struct tb_user_writer none;
	const struct tb_user_writer *writer = tb_trace_user_writer(trace, index);

	CHECK(writer);
	return writer ? writer : &none;
}

/* A chunk @id with one mark, record number @first, at @time */
static inline void one_mark(struct fx_chunk *chunk, uint32_t id, uint64_t first,
		     uint64_t time, const char *text)
{
	fx_chunk(chunk, 7, 1, id, first);
	fx_mark(chunk, time, text);
}

#endif /* TEST_LIB_SEQUENCE_H */
