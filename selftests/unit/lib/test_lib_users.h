/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of programs as lines, for comparison; read from the file, and while it is followed.
 */
#ifndef TEST_LIB_USERS_H
#define TEST_LIB_USERS_H

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "test_lib_chunk.h"

struct user_lines {
	char   text[65536];
	size_t used;
	uint64_t places;		/* a hash of their offsets, in order */
};

/* Add "TICKS TID text" for a record of a program */
static inline void add_user_line(struct user_lines *lines, const struct tb_trace *trace,
				 const struct tb_view *view)
{
	char text[1024];

	if (!view->user)
		return;
	CHECK(tb_view_print(trace, view, text, sizeof(text)) < (int)sizeof(text));
	/* cut off the span of a loss */
	if (view->kind == TB_VIEW_USER_LOST)
		*strstr(text, " between") = 0;
	lines->places = lines->places * 31 + view->offset;
	lines->used += (size_t)snprintf(lines->text + lines->used,
					sizeof(lines->text) - lines->used, "%llu %u %s\n",
					(unsigned long long)view->ticks, view->tid, text);
}

/* Read to the end */
static inline const char *read_user_lines(struct user_lines *lines, const struct tb_trace *trace,
					  struct tb_cursor *cursor)
{
	struct tb_view view;

	lines->used = lines->places = 0;
	lines->text[0] = 0;
	while (tb_cursor_next(cursor, &view) > 0)
		add_user_line(lines, trace, &view);
	return lines->text;
}

/* Follow a file with all of @fx to its end */
static inline const char *follow_user_lines(struct user_lines *lines, const struct fx *fx)
{
	static const struct tb_follow_options holding = { .hold_ms = 1000000 };
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct tb_cursor *cursor;
	struct tb_trace *trace;

	assert(fd >= 0 && write(fd, fx->data, fx->size) == (ssize_t)fx->size);
	assert(!lseek(fd, 0, SEEK_SET));
	CHECK_NUMBER(tb_trace_follow_fd(fd, &holding, &trace, NULL), 0);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	read_user_lines(lines, trace, cursor);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	close(fd);
	return lines->text;
}

#endif /* TEST_LIB_USERS_H */
