/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes recordings of system calls that use files, and checks how the analysis names these files.
 */
#ifndef TEST_LIB_FILES_H
#define TEST_LIB_FILES_H

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include "analysis/files.h"
#include "test_lib_fixture.h"

#define EV_ENTER 100
#define EV_EXIT 102
#define EV_MARK 103

/* Longer than the allowed inaccuracy between clocks */
#define PAUSE 100000

static struct fx fx;
static struct fx_ring notes;
static struct { struct tb_open_file file; const char *name; } found[16];
static unsigned int nr_found;
static uint64_t now;
static unsigned int cpu;		/* of the events that follow */
static const char *expected[64];
static unsigned int nr_expected;

static inline void begin(uint32_t tid, int64_t call, uint64_t first, uint64_t second,
			 uint64_t third, const char *path)
{
	struct { int64_t id; uint64_t args[6]; uint32_t path[2]; char text[300]; } event = {
		.id = call, .args = { first, second, third },
	};
	size_t bytes = path ? strlen(path) + 1 : 0;

	if (path) {
		event.path[0] = (uint32_t)bytes << 16 | (64 + 8);
		memcpy(event.text, path, bytes);
	}
	assert(fx_composite(&fx, cpu, EV_ENTER, now += 10, tid, &event, path ? 64 + bytes : 32));
}

static inline void end_of(uint32_t tid, int64_t call, int64_t result)
{
	int64_t event[] = { call, result };

	assert(fx_composite(&fx, cpu, EV_EXIT, now += 10, tid, event, sizeof(event)));
}

static inline void end(uint32_t tid, int64_t result)
{
	end_of(tid, 0, result);
}

static inline void call(uint32_t tid, int64_t number, uint64_t first, uint64_t second,
			uint64_t third, const char *path, int64_t result)
{
	begin(tid, number, first, second, third, path);
	end(tid, result);
}

/* A call with file @first: judge() checks that it is named @name */
static inline void expect_path(uint32_t tid, int64_t number, uint64_t first, const char *path,
			const char *name)
{
	assert(nr_expected < 64);
	expected[nr_expected++] = name;
	/* the second argument marks calls that judge() checks */
	begin(tid, number, first, 4711, 0, path);
	end(tid, -11);
}

static inline void expect(uint32_t tid, int64_t number, uint64_t first, const char *name)
{
	expect_path(tid, number, first, NULL, name);
}

/* The recorder finds this file open at @time */
static inline void find_at(uint64_t time, uint32_t pid, uint32_t number, uint16_t flags,
			   const char *name)
{
	assert(nr_found < 16);
	found[nr_found].file = (struct tb_open_file){
		.since = time, .span = 10, .pid = pid, .number = number, .flags = flags,
	};
	found[nr_found++].name = name;
}

/* The recorder finds it now, far from other calls */
static inline void find(uint32_t pid, uint32_t number, const char *name)
{
	now += PAUSE;
	find_at(now, pid, number, TB_OPEN_FILE_EXEC, name);
	now += PAUSE;
}

static inline void put_found(void)
{
	unsigned int i;

	memset(&notes, 0, sizeof(notes));
	fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	/* the last first: their order in the file has no meaning */
	for (i = nr_found; i; i--) {
		struct { struct tb_open_file file; char name[64]; } payload = {
			.file = found[i - 1].file,
		};
		size_t bytes = strlen(found[i - 1].name);

		memcpy(payload.name, found[i - 1].name, bytes);
		assert(fx_put_composite(&fx, &notes, TB_EV_OPEN_FILE, 0, 0, 0, &payload,
					sizeof(payload.file) + bytes));
	}
	fx_end(&fx, &notes);
	nr_found = 0;
}

/* judge() checks that the thread's call is named @name now */
static inline void expect_now(uint32_t tid, const char *name)
{
	static const int64_t nothing[2];

	assert(nr_expected < 64);
	expected[nr_expected++] = name;
	assert(fx_composite(&fx, cpu, EV_MARK, now += 10, tid, nothing, sizeof(nothing)));
}

#define READS(tid, fd, name) expect(tid, SYS_read, fd, name)
#define OPEN(tid, path, flags, result) call(tid, SYS_openat, AT_FDCWD, 5, flags, path, result)

static inline void describe(void)
{
	static const struct fx_field enter[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "args", "unsigned long", 8, 48, 6, TB_FIELD_ARRAY, 0, 0 },
		{ "path", "char", 56, 4, 0, TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
	}, exit[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "ret", "long", 8, 8, 0, TB_FIELD_SIGNED, 0, 0 },
	};

	fx_init(&fx, 14, 1000);
	fx_describe(&fx, EV_ENTER, TB_EVENT_SYSCALL | TB_EVENT_SHORT, "raw_syscalls", "sys_enter",
		    enter, 3);
	fx_describe(&fx, EV_EXIT, TB_EVENT_SYSCALL, "raw_syscalls", "sys_exit", exit, 2);
	fx_describe(&fx, EV_MARK, 0, "test", "mark", exit, 2);
	fx_sync(&fx, 1000, 1000);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "one");
	fx_thread(&fx, 101, 100, 1, TB_THREAD_DUMP, "other");
	fx_thread(&fx, 400, 400, 1, TB_THREAD_DUMP, "another");
	nr_expected = 0;
	now = 2000;
}

static inline void thread_at(uint64_t time, uint32_t parent, uint32_t child, uint16_t flags)
{
	struct tb_thread thread = {
		.tid = child, .tgid = child, .parent = parent, .flags = flags,
	};

	fx_durable_at(&fx, time, TB_EV_THREAD, &thread, sizeof(thread));
}

static inline void fork_at(uint64_t time, uint32_t parent, uint32_t child)
{
	thread_at(time, parent, child, TB_THREAD_FORK);
}

/* Read the trace; check the name of the file of each marked call */
static inline void judge(void)
{
	const struct tb_format_field *args;
	struct tb_trace *trace;
	struct files *files;
	struct tb_cursor *cursor;
	struct tb_view view;
	const char *name;
	uint64_t mark, begun[1024] = { 0 };
	unsigned int seen = 0;

	if (nr_found)
		put_found();
	assert(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	files = files_open(trace);
	assert(files && !tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) == 1) {
		assert(!files_take(files, &view, view.ticks));
		args = view.kind == TB_VIEW_EVENT && view.id == EV_ENTER ?
		       tb_format_field(view.format, "args") : NULL;
		if (args)
			begun[view.tid] = view.ticks;
		if (args ? tb_field_item(&view, args, 1, &mark) || mark != 4711 :
		    view.kind != TB_VIEW_EVENT || view.id != EV_MARK)
			continue;
		name = files_name(files, files_of_call(files, view.tid, begun[view.tid]));
		CHECK_TEXT(name ? name : "", expected[seen]);
		seen++;
	}
	CHECK_NUMBER(seen, nr_expected);
	tb_cursor_close(cursor);
	files_close(files);
	tb_trace_close(trace);
	fx_free(&fx);
}

static inline void start(void)
{
	describe();
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
}

#endif /* TEST_LIB_FILES_H */
