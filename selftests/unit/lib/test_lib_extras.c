// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace shows the stacks and counters of each event, names of functions, and how many events
 * rules have suppressed; damage to them is reported. If this fails, a user sees a stack at the
 * wrong event, or a damaged file makes a tool read memory beyond the block.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test_lib_fixture.h"

static struct fx fx;

struct stack { uint32_t kind, count; uint64_t ip[8]; };
struct counts { uint32_t mask, reserved; uint64_t value[8]; };

static void add_stack(uint32_t kind, uint32_t count, uint64_t first)
{
	struct stack stack = { .kind = kind, .count = count };
	uint32_t i;

	for (i = 0; i < count && i < 8; i++)
		stack.ip[i] = first + i * 0x100;
	fx_composite(&fx, 0, TB_EV_STACK, fx.rings[0].last, 0, &stack,
		     8 + 8 * (count < 8 ? count : 8));
}

static void add_counters(uint32_t mask)
{
	struct counts counts = { .mask = mask, .value = { 111, 222, 333 } };

	fx_composite(&fx, 0, TB_EV_COUNTERS, fx.rings[0].last, 0, &counts,
		     8 + 8 * (size_t)__builtin_popcount(mask));
}

static void add_string(uint32_t kind, uint32_t key, const char *text)
{
	struct { struct tb_string head; char text[32]; } string = {
		.head = { kind, key },
	};

	strncpy(string.text, text, sizeof(string.text));
	fx_durable(&fx, TB_EV_STRING, &string, 8 + strlen(text));
}

static struct fx_ring notes;

static void add_symbol(uint64_t start, uint64_t size, const char *name)
{
	struct { struct tb_symbol head; char name[64]; } symbol = {
		.head = { start, size },
	};

	strncpy(symbol.name, name, sizeof(symbol.name));
	if (!notes.open)
		fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	assert(fx_put_composite(&fx, &notes, TB_EV_SYMBOL, 0, 0, 0, &symbol,
				16 + strlen(name)));
}

/* Offsets: durable block 0, rolling block 16384, durable block 20480, notes 36864 */
enum { ROLLING = 16384, NOTES = 36864 };

static void make(void)
{
	struct fx_switch event = fx_switch("bash", 100, 1, "cat", 200);
	struct tb_suppressed filtered = { .id = FX_SWITCH, .filtered = 5, .sampled = 2 };
	struct tb_suppressed threads = { .filtered = 9 };

	fx_init(&fx, 12, 1000);
	memset(&notes, 0, sizeof(notes));
	add_string(TB_STRING_COUNTER, 0, "cycles");
	add_string(TB_STRING_COUNTER, 3, "page-faults");
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	fx_composite(&fx, 0, FX_SWITCH, 2100, 100, &event, sizeof(event));
	add_stack(TB_STACK_KERNEL, 3, 0xffffffff81000010);
	add_stack(TB_STACK_USER, 2, 0x7f0000001000);
	add_counters(1 << 0 | 1 << 3);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2150, 3);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2160, 3);
	add_stack(TB_STACK_KERNEL, 1, 0xffffffffc0000100);
	fx_close(&fx, 0);
	fx_durable(&fx, TB_EV_SUPPRESSED, &filtered, sizeof(filtered));
	fx_durable(&fx, TB_EV_SUPPRESSED, &threads, sizeof(threads));
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	add_symbol(0xffffffff81000100, 0x40, "second");
	add_symbol(0xffffffff81000000, 0x100, "first");
	add_symbol(0xffffffffc0000000, 0x100, "third [module]");
	fx_end(&fx, &notes);
	assert(fx.size == NOTES + 4096);
}

static void read_all(void)
{
	const struct tb_suppressed *suppressed;
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	uint64_t value, offset;
	const char *name;
	uint32_t number;
	size_t count, length;

	make();
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	CHECK(!tb_trace_fault(trace));
	CHECK_NUMBER(tb_trace_recordings(trace), 1);
	CHECK(!tb_cursor_open(trace, &cursor));
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK_NUMBER(view.id, FX_SWITCH);
	CHECK_NUMBER(view.nr_stack, 3);
	CHECK_NUMBER(view.stack[2], 0xffffffff81000210);
	CHECK_NUMBER(view.nr_user_stack, 2);
	CHECK_NUMBER(view.user_stack[1], 0x7f0000001100);
	CHECK(tb_view_counter(&view, 0, &number, &value) == 1);
	CHECK(number == 0 && value == 111);
	CHECK(tb_view_counter(&view, 1, &number, &value) == 1);
	CHECK(number == 3 && value == 222);
	CHECK(tb_view_counter(&view, 2, &number, &value) == 0);
	CHECK_TEXT(tb_trace_string(trace, TB_STRING_COUNTER, 3), "page-faults");
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK(view.id == FX_SOFTIRQ && !view.nr_stack &&
	      !view.nr_user_stack && !view.counter_mask);
	CHECK(tb_view_counter(&view, 0, &number, &value) == 0);
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK(view.id == FX_SOFTIRQ && view.nr_stack == 1);
	CHECK(tb_cursor_next(cursor, &view) == 0);
	CHECK(!tb_cursor_fault(cursor));
	tb_cursor_close(cursor);

	CHECK(!tb_trace_symbol(trace, 0xffffffff81000000, &name, &length, &offset));
	CHECK(length == 5 && !memcmp(name, "first", 5) && offset == 0);
	CHECK(!tb_trace_symbol(trace, 0xffffffff810000ff, &name, &length, &offset));
	CHECK(length == 5 && offset == 0xff);
	CHECK(!tb_trace_symbol(trace, 0xffffffff81000100, &name, &length, &offset));
	CHECK(length == 6 && offset == 0);
	CHECK(tb_trace_symbol(trace, 0xffffffff81000140, &name, &length, &offset) == -ENOENT);
	CHECK(tb_trace_symbol(trace, 0, &name, &length, &offset) == -ENOENT);
	CHECK(tb_trace_symbol(trace, UINT64_MAX, &name, &length, &offset) == -ENOENT);

	suppressed = tb_trace_suppressed(trace, &count);
	CHECK_NUMBER(count, 2);
	CHECK(suppressed && suppressed[0].id == FX_SWITCH &&
	      suppressed[0].sampled == 2 && suppressed[1].filtered == 9);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* ---- the tool ---- */

static char file[] = "/tmp/test_lib_extras.XXXXXX";
static char output[65536];

static int run(const char *command)
{
	const char *tool = getenv("TRACEBUF");
	FILE *out = fopen(file, "wb"), *pipe;
	char line[512];
	size_t got;
	int status;

	assert(out && fwrite(fx.data, 1, fx.size, out) == fx.size);
	assert(!fclose(out));
	snprintf(line, sizeof(line), "%s %s %s 2>&1", tool ? tool : "tracebuf",
		 command, file);
	fflush(stdout);
	pipe = popen(line, "r");
	assert(pipe);
	got = fread(output, 1, sizeof(output) - 1, pipe);
	output[got] = 0;
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define CHECK_HAS(text) \
	do { \
		if (!strstr(output, (text))) { \
			printf("# %s:%d: \"%s\" is not in:\n# %.2000s\n", \
			       __FILE__, __LINE__, (text), output); \
			test_failures++; \
		} \
	} while (0)

static void printed(void)
{
	make();
	CHECK_NUMBER(run("print"), 0);
	CHECK_HAS("\n\tcounter{cycles=111, page-faults=222}\n"
		  "\tffffffff81000010 first+0x10\n"
		  "\tffffffff81000110 second+0x10\n"
		  "\tffffffff81000210 [unknown]\n"
		  "\t    7f0000001000 (user)\n"
		  "\t    7f0000001100 (user)\n");
	/* a return address at the end of a function: the call was its last instruction */
	CHECK_HAS("\tffffffffc0000100 third+0x100 [module]\n");
	CHECK_NUMBER(run("verify"), 0);
	CHECK_HAS("exact");
	CHECK_HAS("notes        1            3\n");
	CHECK_HAS("not recorded, as asked for: sched:sched_switch: 5 by filters, 2 by sampling\n");
	CHECK_HAS("not recorded, as asked for: 9 of other threads\n");
	fx_free(&fx);
}

/* An element of the rolling block: gap slot 4..7, event, its stacks */
static struct tb_composite *element(unsigned int id, unsigned int number)
{
	struct tb_walk walk;

	tb_walk_start(&walk, (struct tb_block *)(fx.data + ROLLING));
	while (tb_walk_next(&walk) == 1)
		if (walk.id == id && !number--)
			return (struct tb_composite *)(fx.data + ROLLING) +
			       walk.index;
	assert(!"no such element");
	return NULL;
}

static void damaged(void)
{
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	struct stack *stack;
	struct counts *counts;

	/* counts larger than the payload, up to the largest number */
	make();
	stack = (struct stack *)(element(TB_EV_STACK, 0) + 1);
	stack->count = 0xffffffff;
	counts = (struct counts *)(element(TB_EV_COUNTERS, 0) + 1);
	counts->mask = 0xffffffff;
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	CHECK(!tb_cursor_open(trace, &cursor));
	CHECK(tb_cursor_next(cursor, &view) == 1);
	CHECK(!view.nr_stack && view.nr_user_stack == 2 && !view.counter_mask);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	CHECK_NUMBER(run("verify"), 1);
	CHECK_HAS("a stack takes 34359738368 bytes, it has 32");
	CHECK_HAS("a set of counters takes 264 bytes, it has 24");
	CHECK_NUMBER(run("print"), 0);
	fx_free(&fx);

	make();
	((struct stack *)(element(TB_EV_STACK, 2) + 1))->kind = 7;
	CHECK_NUMBER(run("verify"), 1);
	CHECK_HAS("a stack of unknown kind 7");
	CHECK_NUMBER(run("print"), 0);
	fx_free(&fx);

	/* too short for their own head, or empty */
	make();
	element(TB_EV_STACK, 1)->length = 4;
	CHECK_NUMBER(run("verify"), 1);
	CHECK_HAS("a stack of 4 bytes");
	CHECK_NUMBER(run("print"), 0);
	fx_free(&fx);

	make();
	element(FX_SWITCH, 0)->head = TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_COUNTERS,
					      TB_HEAD_LENGTH(element(FX_SWITCH, 0)->head), 0);
	CHECK_NUMBER(run("verify"), 1);
	CHECK_HAS("a set of counters that comes after no event");
	CHECK_NUMBER(run("print"), 0);
	fx_free(&fx);

	/* a symbol without its name */
	make();
	((struct tb_composite *)(fx.data + NOTES + 64))->length = 15;
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	CHECK(tb_trace_fault(trace) &&
	      strstr(tb_trace_fault(trace)->text, "a symbol is too short"));
	tb_trace_close(trace);
	CHECK_NUMBER(run("verify"), 1);
	CHECK_HAS("at byte 36928 (note 0): a symbol is too short");
	fx_free(&fx);

	make();
	((struct tb_composite *)(fx.data + NOTES + 64))->head =
		TB_HEAD(TB_STRUCT_COMPOSITE, TB_EV_TOTALS, 3, 0);
	CHECK_NUMBER(run("verify"), 1);
	CHECK_HAS("(note 0): event 18 does not belong into a note");
	fx_free(&fx);
}

/* Damage every byte of the events and of the notes in turn */
static void spoilt(void)
{
	static const unsigned char values[] = { 0x00, 0x01, 0x7f, 0xff };
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	uint64_t sum = 0, value, offset;
	unsigned char before;
	const char *name;
	uint32_t number, j;
	size_t i, v, length;

	make();
	for (i = ROLLING; i < fx.size; i++) {
		if (i == ROLLING + 1024)
			i = NOTES;
		if (i == NOTES + 512)
			break;
		before = fx.data[i];
		for (v = 0; v < sizeof(values); v++) {
			fx.data[i] = values[v];
			if (tb_trace_open_memory(fx.data, fx.size, &trace, NULL))
				continue;
			if (tb_cursor_open(trace, &cursor))
				continue;
			while (tb_cursor_next(cursor, &view) > 0) {
				for (j = 0; j < view.nr_stack; j++)
					if (!tb_trace_symbol(trace, view.stack[j],
							     &name, &length, &offset))
						while (length)
							sum += (unsigned char)name[--length];
				for (j = 0; j < view.nr_user_stack; j++)
					sum += view.user_stack[j];
				for (j = 0; tb_view_counter(&view, j, &number, &value); j++)
					sum += value;
			}
			tb_cursor_close(cursor);
			tb_trace_close(trace);
		}
		fx.data[i] = before;
	}
	CHECK(sum);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "extras: stacks, counters, symbols, suppressed events", read_all },
	{ "extras: print and verify", printed },
	{ "extras: damage is reported, and ends its element", damaged },
	{ "extras: any byte damaged", spoilt },
};

int main(void)
{
	int fd = mkstemp(file), result;

	assert(fd >= 0);
	close(fd);
	result = test_main(tests, sizeof(tests) / sizeof(tests[0]));
	unlink(file);
	return result;
}
