// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that the kernel recorded in their compact form are shown in the wide form, with all
 * fields. If this fails, every tool shows something that did not happen.
 */
#include "test_lib_fixture.h"

enum { EV_WAKING = 82, EV_ENTER = 84, EV_LOSSY = 86, EV_EMPTY = 88 };

/* As module/events/compact.c and calls.c describe them, and two that cannot be widened */
static void describe(struct fx *fx)
{
	static const struct fx_field enter[] = {
		{ "id", "long", 0, 8, 0, TB_FIELD_SIGNED, 0, 0 },
		{ "args", "unsigned long", 8, 48, 6, TB_FIELD_ARRAY, 0, 0 },
		{ "path", "char", 56, 4, 0, TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
	};
	/* prio is missing */
	static const struct fx_field lossy[] = {
		{ "pid", "pid_t", 0, 4, 0, 0, 0, 0 },
		{ "target_cpu", "int", 4, 4, 0, 0, 0, 0 },
	};
	/* a name of no bytes, at the end of the library's buffer */
	static const struct fx_field empty[] = {
		{ "comm", "char[16]", 128, 0, 0, TB_FIELD_STRING, 0, 0 },
		{ "pid", "pid_t", 16, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	};

	fx_describe(fx, EV_WAKING, 0, "sched", "sched_waking", fx_wake_fields, 4);
	fx_describe(fx, EV_WAKING + 1, TB_EVENT_SIMPLE, "sched", "sched_waking",
		    fx_wake_compact, 4);
	fx_describe(fx, EV_ENTER, TB_EVENT_SYSCALL | TB_EVENT_SHORT, "raw_syscalls", "sys_enter",
		    enter, 3);
	fx_describe(fx, EV_ENTER + 1, TB_EVENT_SYSCALL | TB_EVENT_SHORT | TB_EVENT_SIMPLE,
		    "raw_syscalls", "sys_enter", fx_enter_compact, 8);
	fx_describe(fx, EV_LOSSY, 0, "sched", "sched_wakeup", fx_wake_fields, 4);
	fx_describe(fx, EV_LOSSY + 1, TB_EVENT_SIMPLE, "sched", "sched_wakeup", lossy, 2);
	fx_describe(fx, EV_EMPTY, 0, "test", "empty", empty, 2);
	fx_describe(fx, EV_EMPTY + 1, TB_EVENT_SIMPLE, "test", "empty", fx_wake_compact, 4);
}

/* A call with @nr arguments in its compact form */
static void call(struct fx *fx, uint64_t time, uint64_t id, uint64_t nr, const uint64_t *args)
{
	struct tb_element *e = fx_room(fx, &fx->rings[1], 1 + (unsigned int)nr / 2);
	uint64_t i;

	e->head = TB_HEAD(TB_STRUCT_SIMPLE, EV_ENTER + 1, 1 + nr / 2,
			  fx_block(fx, &fx->rings[1])->sequence);
	e->time = (uint32_t)time;
	e->payload = id | nr << 12 | args[0] << 16;
	for (i = 1; i < nr; i++)
		((uint64_t *)(e + 1))[i - 1] = args[i];
	fx->rings[1].last = time;
	fx->rings[1].counted++;
}

static void make(struct fx *fx)
{
	static const uint64_t args[] = { (uint64_t)-100, 0x7fffdeadbeef, 3, ~0ull, 5, 6 };

	fx_init(fx, 12, 1000);
	describe(fx);
	fx_thread(fx, 10, 10, 1, TB_THREAD_DUMP, "cook");
	fx_open(fx, 1, 100, 10, NULL);
	fx_simple(fx, 1, FX_SWITCH_COMPACT, 110, fx_switch_compact(10, 11, 2, 120, 98));
	fx_simple(fx, 1, EV_WAKING + 1, 120, 10 | 139ull << 22 | 3ull << 32 | 0x203ull << 48);
	fx_simple(fx, 1, FX_SWITCH_COMPACT, 130, fx_switch_compact(11, 0, 256, 98, 120));
	fx_simple(fx, 1, FX_SWITCH_COMPACT, 140, fx_switch_compact(0, 10, 0, 120, 120));
	call(fx, 150, 39, 0, args + 2);
	call(fx, 160, 3, 1, args);
	call(fx, 170, 21, 2, args);
	call(fx, 180, 9, 6, args);
	fx_simple(fx, 1, EV_LOSSY + 1, 190, 10 | 1ull << 32);
	fx_simple(fx, 1, EV_EMPTY + 1, 195, 10);
	fx_close(fx, 1);
	fx_durable_end(fx);
}

static uint64_t number(const struct tb_view *view, const char *name)
{
	uint64_t value = 0;

	CHECK(!tb_field_u64(view, tb_format_field(view->format, name), &value));
	return value;
}

static void is_text(const struct tb_view *view, const char *name, const char *expected)
{
	const char *text = NULL;
	size_t length = 0;

	CHECK(!tb_field_str(view, tb_format_field(view->format, name), &text, &length));
	CHECK_NUMBER(length, strlen(expected));
	CHECK(text && !memcmp(text, expected, length));
}

static void is_call(struct tb_cursor *cursor, struct tb_view *view, uint64_t id, unsigned int nr,
		    const uint64_t *args)
{
	const struct tb_format_field *field;
	uint64_t value;
	unsigned int i;

	CHECK_NUMBER(tb_cursor_next(cursor, view), 1);
	CHECK_NUMBER(view->id, EV_ENTER);
	CHECK_NUMBER(view->tid, 10);
	CHECK_NUMBER(view->context, 0);
	CHECK_NUMBER(view->length, 8 + 8 * nr);
	CHECK_NUMBER(number(view, "id"), id);
	field = tb_format_field(view->format, "args");
	CHECK_NUMBER(tb_field_count(view, field), nr);
	for (i = 0; i < nr; i++) {
		CHECK(!tb_field_item(view, field, i, &value));
		CHECK(value == args[i]);
	}
}

static void shown_in_the_wide_form(void)
{
	static const uint64_t args[] = { (uint64_t)-100, 0x7fffdeadbeef, 3, ~0ull, 5, 6 };
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	struct fx fx;

	make(&fx);
	CHECK_NUMBER(tb_trace_open_memory(fx.data, fx.size, &trace, NULL), 0);
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 1);
	CHECK_NUMBER(view.id, FX_SWITCH);
	CHECK_NUMBER(view.structure, TB_STRUCT_COMPOSITE);
	CHECK_NUMBER(view.length, 56);
	CHECK_NUMBER(view.tid, 10);
	CHECK_NUMBER(number(&view, "prev_state"), 2);
	CHECK_NUMBER(number(&view, "prev_prio"), 120);
	CHECK_NUMBER(number(&view, "next_prio"), 98);
	is_text(&view, "prev_comm", "cook");
	is_text(&view, "next_comm", "<...>");
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 1);
	CHECK_NUMBER(view.id, EV_WAKING);
	CHECK_NUMBER(view.tid, 11);
	CHECK_TEXT(view.comm, "<...>");
	CHECK_NUMBER(view.context, 0x203);
	CHECK_NUMBER(number(&view, "prio"), 139);
	CHECK_NUMBER(number(&view, "target_cpu"), 3);
	is_text(&view, "comm", "cook");
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 1);
	CHECK_NUMBER(number(&view, "prev_state"), 256);
	is_text(&view, "next_comm", "swapper/1");
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 1);
	CHECK_NUMBER(view.tid, 0);
	CHECK_NUMBER(number(&view, "prev_state"), 0);
	is_call(cursor, &view, 39, 0, args);
	is_call(cursor, &view, 3, 1, args);
	is_call(cursor, &view, 21, 2, args);
	is_call(cursor, &view, 9, 6, args);
	/* a field of the wide form is unknown: the event stays compact */
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 1);
	CHECK_NUMBER(view.id, EV_LOSSY + 1);
	CHECK_NUMBER(view.structure, TB_STRUCT_SIMPLE);
	/* an inconsistent description: there is no room for the name */
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 1);
	CHECK_NUMBER(view.id, EV_EMPTY + 1);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 0);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* Choosing the wide form chooses the compact form, too */
static void chosen_by_the_wide_form(void)
{
	unsigned char formats[64] = { 0 };
	struct tb_choice choice = { .formats = formats, .flags = TB_CHOICE_NO_CONTROL | TB_CHOICE_NO_TASKS };
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	struct fx fx;

	make(&fx);
	CHECK_NUMBER(tb_trace_open_memory(fx.data, fx.size, &trace, NULL), 0);
	formats[tb_trace_format(trace, EV_WAKING)->index] = 1;
	CHECK_NUMBER(tb_cursor_open(trace, &cursor), 0);
	CHECK_NUMBER(tb_cursor_choose(cursor, &choice), 0);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 1);
	CHECK_NUMBER(view.id, EV_WAKING);
	CHECK_NUMBER(view.tid, 11);
	/* the event's own name is shown even if names of threads are not wanted */
	is_text(&view, "comm", "cook");
	CHECK_NUMBER(tb_cursor_next(cursor, &view), 0);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "compact events are shown in the wide form", shown_in_the_wide_form },
	{ "a choice of the wide form shows the compact one, too", chosen_by_the_wide_form },
};

TEST_MAIN(tests)
