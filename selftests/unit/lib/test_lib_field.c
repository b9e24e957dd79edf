// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fields have the values that the kernel recorded, also as text, and a field that lies outside of
 * its event is refused. If this fails, all tools show wrong values, or read foreign memory.
 */
#include <errno.h>
#include <stddef.h>
#include "test_lib_fixture.h"

static struct fx fx;
static struct tb_trace *trace;
static struct tb_cursor *cursor;

static void begin(void)
{
	fx_init(&fx, 14, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 100, 1, NULL);
}

static void open_all(void)
{
	fx_close(&fx, 0);
	trace = NULL;
	if (tb_trace_open_memory(fx.data, fx.size, &trace, NULL) ||
	    tb_cursor_open(trace, &cursor)) {
		printf("Bail out! cannot open\n");
		exit(1);
	}
	CHECK(!tb_trace_fault(trace));
}

static void close_all(void)
{
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

static const char *next_text(struct tb_view *view)
{
	static char text[1024];

	if (tb_cursor_next(cursor, view) != 1)
		return "(none)";
	CHECK((size_t)tb_view_print(trace, view, text, sizeof(text)) ==
	      strlen(text));
	return text;
}

static struct fx_odd odd_event(void)
{
	struct fx_odd event = {
		.loc = 4 << 16 | (8 + offsetof(struct fx_odd, text)),
		.rel = 4 << 16 | (offsetof(struct fx_odd, text) + 4 - 8),
		.array_loc = 12 << 16 | (8 + offsetof(struct fx_odd, text) + 8),
		.small = { -1, 2, -3 },
		.bits = 0xfabf,
		.pointer = 0xffff888012345678ull,
		.mask = { 0x0f, 0x80, 0x01 },
		.tiny = -7,
		.blob = { 0xde, 0xad, 0xbe, 0xef, 0, 1, 2 },
		.text = "loc\0rel",
	};
	uint32_t list[3] = { 1, 2, 3000000000u };

	memcpy(event.text + 8, list, sizeof(list));
	return event;
}

static void every_kind(void)
{
	struct fx_odd event = odd_event();
	const struct tb_format_field *field;
	struct tb_view view;
	const char *text;
	uint64_t value;
	int64_t number;
	size_t length;

	begin();
	fx_composite(&fx, 0, FX_ODD, 101, 1, &event, sizeof(event));
	open_all();
	CHECK_TEXT(next_text(&view),
		   "loc=loc rel=rel list=[1,2,3000000000] small=[-1,2,-3] bits=43 pointer=0xffff888012345678 mask=0-3,15-16 tiny=-7 blob=deadbeef000102");
	field = tb_format_field(view.format, "tiny");
	CHECK(tb_field_s64(&view, field, &number) == 0 && number == -7);
	CHECK(tb_field_u64(&view, field, &value) == 0 &&
	      value == (uint64_t)-7);
	CHECK(tb_field_str(&view, field, &text, &length) == -EINVAL);
	CHECK_NUMBER(tb_field_count(&view, field), 1);
	field = tb_format_field(view.format, "rel");
	CHECK(tb_field_str(&view, field, &text, &length) == 0 && length == 3 &&
	      !memcmp(text, "rel", 3));
	CHECK(tb_field_u64(&view, field, &value) == -EINVAL);
	field = tb_format_field(view.format, "list");
	CHECK_NUMBER(tb_field_count(&view, field), 3);
	CHECK(tb_field_item(&view, field, 2, &value) == 0 &&
	      value == 3000000000u);
	CHECK(tb_field_item(&view, field, 3, &value) == -ERANGE);
	field = tb_format_field(view.format, "small");
	CHECK(tb_field_item(&view, field, 2, &value) == 0 &&
	      (int64_t)value == -3);
	CHECK(!tb_format_field(view.format, "nothing"));
	CHECK(!tb_format_field(NULL, "nothing"));
	close_all();
}

/* A field that points or reaches outside of the payload is refused */
static void outside(void)
{
	struct fx_odd event = odd_event();
	const struct tb_format_field *field;
	struct tb_view view;
	const void *data;
	const char *text;
	size_t length;
	uint64_t value;

	begin();
	event.loc = 4 << 16 | (8 + sizeof(event) - 3);	/* one byte too far */
	event.rel = 0xffffffff;
	event.array_loc = 4 << 16 | 7;			/* before the payload */
	fx_composite(&fx, 0, FX_ODD, 101, 1, &event, sizeof(event));
	fx_composite(&fx, 0, FX_ODD, 102, 1, &event, 20);
	open_all();
	CHECK(strstr(next_text(&view), "loc=<truncated> rel=<truncated> list=<truncated> small"));
	field = tb_format_field(view.format, "loc");
	CHECK(tb_field_str(&view, field, &text, &length) == -ERANGE);
	field = tb_format_field(view.format, "rel");
	CHECK(tb_field_data(&view, field, &data, &length) == -ERANGE);
	field = tb_format_field(view.format, "list");
	CHECK(tb_field_data(&view, field, &data, &length) == -ERANGE);
	CHECK(strstr(next_text(&view), "pointer=<truncated> mask=<truncated> tiny=<truncated> blob=<truncated>"));
	field = tb_format_field(view.format, "pointer");
	CHECK(tb_field_u64(&view, field, &value) == -ERANGE);
	close_all();
}

/* Dynamic fields that a driver has not filled in, and fields without bytes */
static void empty(void)
{
	struct fx_odd event = odd_event();
	const struct tb_format_field *field;
	struct tb_view view;
	const char *text;
	size_t length = 1;

	begin();
	event.loc = 0;
	event.rel = 0;
	event.array_loc = 0;
	fx_composite(&fx, 0, FX_ODD, 101, 1, &event, sizeof(event));
	open_all();
	CHECK(strstr(next_text(&view), "loc= rel= list=[] small"));
	field = tb_format_field(view.format, "loc");
	CHECK(tb_field_str(&view, field, &text, &length) == 0 && !length);
	field = tb_format_field(view.format, "list");
	CHECK_NUMBER(tb_field_count(&view, field), 0);
	close_all();
}

static void nice_values(void)
{
	struct { int64_t id; uint64_t args[6]; } enter = {
		257, { 1, 0xffffffffffffff9cull, 3, 0, 0, 0 }
	};
	struct fx_switch event = fx_switch("ba\tsh", 10, 0x101, "", 20);
	struct tb_view view;

	begin();
	fx_composite(&fx, 0, FX_SYS_ENTER, 101, 1, &enter, sizeof(enter));
	fx_simple(&fx, 0, FX_SYS_ENTER_COMPACT, 102, 3 | 1ull << 12 | 0xabcull << 16);
	fx_simple(&fx, 0, FX_SOFTIRQ, 103, 9);
	fx_simple(&fx, 0, FX_SOFTIRQ, 104, 77);
	fx_composite(&fx, 0, FX_SWITCH, 105, 1, &event, sizeof(event));
	fx_simple(&fx, 0, FX_SWITCH_COMPACT, 106, fx_switch_compact(20, 0, 2, 98, 120));
	fx_simple(&fx, 0, FX_SYS_ENTER_COMPACT, 107, 0xfff);
	open_all();
#if defined(__x86_64__)
	CHECK_TEXT(next_text(&view), "id=257(openat) args=[0x1,0xffffffffffffff9c,0x3,0x0,0x0,0x0]");
	CHECK_TEXT(next_text(&view), "id=3(close) args=[0xabc]");
#else
	next_text(&view);
	next_text(&view);
#endif
	CHECK_TEXT(next_text(&view), "vec=9(RCU)");
	CHECK_TEXT(next_text(&view), "vec=77");
	CHECK_TEXT(next_text(&view), "prev_comm=ba\\x09sh prev_pid=10 prev_prio=120 prev_state=S+ next_comm= next_pid=20 next_prio=120");
	CHECK_TEXT(next_text(&view), "prev_comm=<...> prev_pid=20 prev_prio=98 prev_state=D next_comm=swapper/0 next_pid=0 next_prio=120");
	CHECK_TEXT(next_text(&view), "id=4095 args=[]");
	close_all();
}

static void task_states(void)
{
	static const struct { uint64_t state; const char *text; } states[] = {
		{ 0, "R" }, { 0x100, "R+" }, { 1, "S" }, { 2, "D" }, { 4, "T" },
		{ 8, "t" }, { 0x10, "X" }, { 0x20, "Z" }, { 0x40, "P" },
		{ 0x80, "I" }, { 3, "S|D" }, { 0x102, "D+" },
	};
	char buffer[24];
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		CHECK_TEXT(tb_task_state(states[i].state, buffer,
					 sizeof(buffer)), states[i].text);
	for (i = 4; i < sizeof(buffer); i++)
		CHECK(strlen(tb_task_state(0x1ff, buffer, i)) < i);
}

/* Like snprintf(): return the wanted length, and write what fits, terminated */
static void short_buffers(void)
{
	struct fx_odd event = odd_event();
	struct tb_view view;
	char whole[512], part[512];
	size_t size;
	int wanted;

	begin();
	fx_composite(&fx, 0, FX_ODD, 101, 1, &event, sizeof(event));
	open_all();
	CHECK(tb_cursor_next(cursor, &view) == 1);
	wanted = tb_view_print(trace, &view, whole, sizeof(whole));
	CHECK(wanted > 0 && (size_t)wanted == strlen(whole));
	CHECK(tb_view_print(trace, &view, NULL, 0) == wanted);
	for (size = 1; size <= (size_t)wanted + 1; size++) {
		char *tight = malloc(size);

		assert(tight);
		CHECK(tb_view_print(trace, &view, tight, size) == wanted);
		CHECK(strlen(tight) == size - 1);
		CHECK(!strncmp(tight, whole, size - 1));
		free(tight);
	}
	(void)part;
	close_all();
}

/* Inconsistent descriptions are refused, with the place */
static void wrong_descriptions(void)
{
	static const struct {
		size_t offset;		/* in the description */
		uint16_t value;
		const char *wrong;
	} cases[] = {
		{ offsetof(struct tb_event_desc, id), 3, "range" },
		{ offsetof(struct tb_event_desc, nr_fields), 500, "short" },
		{ offsetof(struct tb_event_desc, strings), 5000, "short" },
		{ offsetof(struct tb_event_desc, strings), 0, "terminated" },
		{ offsetof(struct tb_event_desc, name), 4000, "outside" },
		{ sizeof(struct tb_event_desc) +
		  offsetof(struct tb_field, type), 4000, "outside" },
	};
	struct tb_trace *spoilt;
	struct tb_walk walk;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		fx_close(&fx, 0);
		tb_walk_start(&walk, (void *)fx.data);
		CHECK(tb_walk_next(&walk) == 1 && walk.id == TB_EV_INIT);
		CHECK(tb_walk_next(&walk) == 1 && walk.id == TB_EV_EVENT);
		memcpy((unsigned char *)(uintptr_t)walk.payload +
		       cases[i].offset, &cases[i].value, 2);
		CHECK(tb_trace_open_memory(fx.data, fx.size, &spoilt, NULL) == 0);
		CHECK(tb_trace_fault(spoilt) &&
		      strstr(tb_trace_fault(spoilt)->text, cases[i].wrong));
		CHECK(tb_trace_fault(spoilt) &&
		      tb_trace_fault(spoilt)->offset == walk.index * 16u);
		CHECK(!tb_trace_format(spoilt, FX_SWITCH));
		CHECK(tb_trace_format(spoilt, FX_WAKEUP));
		tb_trace_close(spoilt);
		fx_free(&fx);
	}
}

static void names(void)
{
	struct { struct tb_string string; char text[8]; } irq = {
		{ TB_STRING_IRQ, 33 }, "eth0-rx"
	};

	begin();
	fx_durable(&fx, TB_EV_STRING, &irq, sizeof(irq.string) + 7);
	for (irq.string.key = 20; irq.string.key; irq.string.key--)
		fx_durable(&fx, TB_EV_STRING, &irq, sizeof(irq.string) + 4);
	fx_durable_end(&fx);
	open_all();
	CHECK_TEXT(tb_trace_string(trace, TB_STRING_IRQ, 33), "eth0-rx");
	CHECK_TEXT(tb_trace_string(trace, TB_STRING_IRQ, 2), "eth0");
	CHECK_TEXT(tb_trace_string(trace, TB_STRING_IRQ, 20), "eth0");
	CHECK(!tb_trace_string(trace, TB_STRING_IRQ, 34));
	CHECK_TEXT(tb_trace_string(trace, TB_STRING_SOFTIRQ, 3), "NET_RX");
#if defined(__x86_64__)
	CHECK_TEXT(tb_trace_string(trace, TB_STRING_SYSCALL, 0), "read");
	/* 3 is close in a 64-bit program, and read in a 32-bit one */
	CHECK_TEXT(tb_syscall_name(3 + TB_CALL_COMPAT), "compat_read");
#endif
	CHECK(!tb_syscall_name(UINT64_MAX) && !tb_softirq_name(10));
	CHECK_TEXT(tb_mode_name(TB_MODE_CIRCULAR), "circular");
	CHECK_TEXT(tb_clock_name(99), "?");
	close_all();
}

static const struct test tests[] = {
	{ "field: every kind", every_kind },
	{ "field: a field outside of the payload is refused", outside },
	{ "field: empty fields, and fields that were not filled in", empty },
	{ "text: system calls, softirqs, states, escapes", nice_values },
	{ "text: task states", task_states },
	{ "text: short buffers", short_buffers },
	{ "format: inconsistent descriptions", wrong_descriptions },
	{ "names: recorded and built-in", names },
};

TEST_MAIN(tests)
