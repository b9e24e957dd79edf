// SPDX-License-Identifier: GPL-2.0-only
/*
 * libtracebuf: filters - each operator, what binds how, what is wrong and
 * where, and random expressions over random events, which must come to the same
 * as the expression itself.
 */
#include <errno.h>
#include <stddef.h>
#include "test_lib_fixture.h"
#include "test_lib_filter.h"

#ifdef KERNEL_FILTER
#include <filter_user.h>
#include <capture/field.h>

struct filter_task filter_task;
int filter_fail = -1;
struct tb_filter;
int tb_filter_make(struct tb_filter **out, const struct tb_test *tests, u32 nr,
		   const void *data, u32 data_bytes,
		   const struct tb_field_def *fields, u32 *bad);
void tb_filter_free(struct tb_filter *f);
bool tb_filter_run(const struct tb_filter *f, const void *payload, u32 bytes);
#endif

static struct fx fx;
static struct tb_trace *trace;
static struct tb_filter_code code;
static struct tb_error error;

static void begin(void)
{
	fx_init(&fx, 14, 0);
	fx_durable_end(&fx);
	if (tb_trace_open_memory(fx.data, fx.size, &trace, NULL)) {
		printf("Bail out! cannot open\n");
		exit(1);
	}
}

static void end(void)
{
	tb_trace_close(trace);
	fx_free(&fx);
}

static const struct tb_format *format(unsigned int id)
{
	return tb_trace_format(trace, (uint16_t)id);
}

static const struct where here = {
	.tid = 100, .tgid = 99, .uid = 1000, .cpu = 3,
	.context = TB_CONTEXT_HARDIRQ | 2, .comm = "bash",
};

#ifdef KERNEL_FILTER
/* The same by the kernel's own code, which also says whether it takes the tests */
static bool kernel_run(const struct tb_format *form, const void *payload,
		       size_t bytes)
{
	struct tb_field_def fields[32] = { 0 };
	struct tb_filter *filter;
	bool passed;
	uint32_t i;
	u32 bad;

	filter_task = (struct filter_task){
		.tid = here.tid, .tgid = here.tgid, .uid = here.uid,
		.cpu = here.cpu, .context = here.context,
	};
	memcpy(filter_task.comm, here.comm, sizeof(filter_task.comm));
	for (i = 0; i < form->nr_fields; i++) {
		const struct tb_format_field *field = &form->fields[i];

		fields[i].name = field->name;
		fields[i].type = tb_field_is_text(field) ? "char" : field->type;
		fields[i].offset = field->offset;
		fields[i].size = field->size;
		fields[i].count = field->count;
		fields[i].flags = field->flags;
		/* a char array is one there; STRING is what readers are told */
		if (field->flags & TB_FIELD_STRING && field->count)
			fields[i].flags |= TB_FIELD_ARRAY;
		fields[i].bit = field->bit;
		fields[i].bits = field->bits;
	}
	if (!code.nr_tests)
		return true;
	if (tb_filter_make(&filter, code.tests, code.nr_tests, code.data,
			   code.data_bytes, fields, &bad)) {
		printf("# the kernel does not take test %u\n", bad);
		test_failures++;
		return false;
	}
	passed = tb_filter_run(filter, payload, (u32)bytes);
	tb_filter_free(filter);
	return passed;
}
#endif

/* Run what was compiled for @form last; by the kernel's own code, too, if it is there */
static bool run_code(const struct tb_format *form, const void *payload,
		     size_t bytes)
{
	bool passed = reference_run(&code, payload, bytes, &here);

#ifdef KERNEL_FILTER
	CHECK(kernel_run(form, payload, bytes) == passed);
#else
	(void)form;
#endif
	return passed;
}

/* Is the fixture's event let through?  -1: does not compile */
static int passes(unsigned int id, const void *payload, size_t bytes,
		  const char *text)
{
	if (tb_filter_compile(text, format(id), &code, &error)) {
		printf("# %s: %s\n", text, error.text);
		return -1;
	}
	return run_code(format(id), payload, bytes);
}

struct expectation {
	const char *text;
	int passes;
};

static void expect(unsigned int id, const void *payload, size_t bytes,
		   const struct expectation *wanted, size_t count)
{
	size_t i;
	int got;

	for (i = 0; i < count; i++) {
		got = passes(id, payload, bytes, wanted[i].text);
		if (got == wanted[i].passes)
			continue;
		printf("# %s: %d\n", wanted[i].text, got);
		test_failures++;
	}
}

#define EXPECT(id, payload, bytes, wanted) \
	expect(id, payload, bytes, wanted, sizeof(wanted) / sizeof(wanted[0]))

/* bash 100 -> cat 200, prev_state 1, both of priority 120 */
static void operators(void)
{
	static const struct expectation wanted[] = {
		{ "prev_pid == 100", 1 }, { "prev_pid == 101", 0 },
		{ "prev_pid != 100", 0 }, { "prev_pid != 101", 1 },
		{ "prev_pid < 100", 0 }, { "prev_pid < 101", 1 },
		{ "prev_pid <= 100", 1 }, { "prev_pid <= 99", 0 },
		{ "prev_pid > 100", 0 }, { "prev_pid > 99", 1 },
		{ "prev_pid >= 100", 1 }, { "prev_pid >= 101", 0 },
		{ "prev_pid & 4", 1 }, { "prev_pid & 3", 0 },
		{ "prev_pid&0x60", 1 }, { "prev_pid & 020", 0 },
		{ "prev_pid", 1 }, { "!prev_pid", 0 },
		{ "prev_pid == 0x64", 1 }, { "prev_pid == 0144", 1 },
		{ "prev_pid > -1", 1 }, { "prev_pid < -1", 0 },
		{ "prev_comm == \"bash\"", 1 }, { "prev_comm == 'bas'", 0 },
		{ "prev_comm != 'bash'", 0 }, { "prev_comm != 'cat'", 1 },
		{ "prev_comm ~ 'b*'", 1 }, { "prev_comm ~ \"b?sh\"", 1 },
		{ "prev_comm ~ '[a-c]*'", 1 }, { "prev_comm ~ '[!a-c]*'", 0 },
		{ "prev_comm !~ 'b*'", 0 }, { "prev_comm !~ '*x*'", 1 },
		{ "prev_comm == 'b*'", 0 }, { "prev_comm == 'b?sh'", 0 },
		{ "prev_comm == ''", 0 }, { "prev_comm != ''", 1 },
		{ "prev_comm ~ ''", 0 }, { "prev_comm", 1 },
		{ "!prev_comm", 0 },
	};
	struct fx_switch event = fx_switch("bash", 100, 1, "cat", 200);
	struct fx_switch odd = fx_switch("a*b\"c\\d[", 0, 0, "", -5);
	static const struct expectation odd_wanted[] = {
		{ "prev_comm == 'a*b\"c\\\\d['", 1 },
		{ "prev_comm == \"a*b\\\"c\\\\d[\"", 1 },
		{ "prev_comm == 'axb\"c\\\\d['", 0 },
		{ "prev_comm ~ 'a\\*b*\\['", 1 },
		{ "prev_comm ~ 'a\\*b*\\[\\[*'", 0 },
		{ "prev_comm ~ '*\\\"*'", 1 }, { "prev_comm ~ '*\\\\\\\\*'", 0 },
		{ "next_comm == ''", 1 }, { "next_comm != ''", 0 },
		{ "next_comm ~ '*'", 1 }, { "next_comm", 0 },
		{ "next_pid < 0", 1 }, { "next_pid == -5", 1 },
		{ "next_pid == 0xfffffffb", 0 }, { "next_pid >= -5", 1 },
		{ "next_pid < -5", 0 }, { "next_pid > -6", 1 },
		{ "next_pid & 0x80000000", 1 }, { "next_pid & 0x100000000", 1 },
		{ "prev_pid & 0x100000000", 0 }, { "next_pid & 4", 0 },
		{ "next_pid & -1", 1 }, { "prev_pid & -1", 0 },
	};

	begin();
	EXPECT(FX_SWITCH, &event, sizeof(event), wanted);
	EXPECT(FX_SWITCH, &odd, sizeof(odd), odd_wanted);
	end();
}

static void binding(void)
{
	static const struct expectation wanted[] = {
		/* && before || */
		{ "prev_pid == 100 || prev_pid == 1 && prev_pid == 2", 1 },
		{ "(prev_pid == 100 || prev_pid == 1) && prev_pid == 2", 0 },
		{ "prev_pid == 1 && prev_pid == 2 || next_pid == 200", 1 },
		{ "prev_pid == 1 && (prev_pid == 2 || next_pid == 200)", 0 },
		/* ! is for the comparison after it */
		{ "!prev_pid == 1", 1 }, { "!prev_pid == 100", 0 },
		{ "!!prev_pid == 100", 1 }, { "! ! ! prev_pid == 100", 0 },
		{ "!(prev_pid == 100 && next_pid == 200)", 0 },
		{ "!(prev_pid == 100 && next_pid == 201)", 1 },
		{ "!(prev_pid == 1 || next_pid == 2)", 1 },
		{ "!(prev_pid == 1 || !(next_pid == 2 || prev_prio == 120))", 1 },
		{ "((((prev_pid==100))))&&((next_pid==200))", 1 },
		{ "  prev_pid\t==\n100  ", 1 },
		{ "prev_pid == 100&&next_pid == 200&&prev_prio==120", 1 },
		{ "prev_pid == 100 && next_pid == 200 && prev_prio == 121", 0 },
		{ "prev_pid & 4 && next_pid & 8", 1 },
		{ "prev_pid&&next_pid", 1 }, { "prev_pid||next_pid", 1 },
	};
	struct fx_switch event = fx_switch("bash", 100, 1, "cat", 200);

	begin();
	EXPECT(FX_SWITCH, &event, sizeof(event), wanted);
	end();
}

static void common_fields(void)
{
	static const struct expectation wanted[] = {
		{ "common_pid == 100", 1 }, { "tid == 100", 1 },
		{ "tgid == 99", 1 }, { "uid == 1000", 1 }, { "uid < 1000", 0 },
		{ "cpu == 3", 1 }, { "CPU != 3", 0 }, { "comm == 'bash'", 1 },
		{ "COMM ~ 'z*'", 0 }, { "COMM == \"bash\"", 1 },
		{ "context", 1 }, { "!context", 0 }, { "context & irq", 1 },
		{ "context & softirq", 0 }, { "context & irq|nmi", 1 },
		{ "context & softirq|nmi", 0 }, { "context == irq", 1 },
		{ "context == irq|softirq", 0 }, { "context == task", 0 },
		{ "context != task", 1 }, { "context != irq", 0 },
		{ "context & task", 0 }, { "tid == -1", 0 },
		{ "tid != -1", 1 }, { "uid <= 0xffffffff", 1 },
	};
	/* of the event, which has a field of that name */
	static const struct expectation wakeup_wanted[] = {
		{ "comm == 'cat'", 1 }, { "COMM == 'bash'", 1 },
		{ "comm == 'bash'", 0 },
	};
	struct fx_switch event = fx_switch("zsh", 100, 1, "cat", 200);
	struct { char comm[16]; int32_t pid; } wakeup = { "cat", 7 };

	begin();
	EXPECT(FX_SWITCH, &event, sizeof(event), wanted);
	EXPECT(FX_WAKEUP, &wakeup, sizeof(wakeup), wakeup_wanted);
	end();
}

static void every_kind(void)
{
	static const struct expectation wanted[] = {
		{ "loc == 'loc'", 1 }, { "loc ~ 'l*'", 1 }, { "loc == 'rel'", 0 },
		{ "rel == 'rel'", 1 }, { "rel !~ 're*'", 0 },
		{ "list", 1 }, { "!list", 0 },
		{ "small[0] == -1", 1 }, { "small[1] == 2", 1 },
		{ "small[2] < 0", 1 }, { "small [ 2 ] == -3", 1 },
		{ "bits == 0x2b", 1 }, { "bits > 0x2a", 1 }, { "bits & 0x40", 0 },
		{ "pointer == 0xffff888012345678", 1 },
		{ "pointer > 0xffff888012345677", 1 },
		{ "pointer < 0", 0 }, { "pointer != -1", 1 },
		{ "pointer & 0x8000000000000000", 1 },
		{ "tiny == -7", 1 }, { "tiny < -6", 1 }, { "tiny & 0x80", 1 },
		{ "tiny == 249", 0 },
	};
	struct fx_odd event = {
		.loc = 4 << 16 | (8 + offsetof(struct fx_odd, text)),
		.rel = 4 << 16 | (offsetof(struct fx_odd, text) + 4 - 8),
		.array_loc = 12 << 16 | (8 + offsetof(struct fx_odd, text) + 8),
		.small = { -1, 2, -3 }, .bits = 0xfabf,
		.pointer = 0xffff888012345678ull, .mask = { 0, 0x80 },
		.tiny = -7, .text = "loc\0rel\0\1",
	};
	/* a dynamic field that is not there is not like anything */
	static const struct expectation gone_wanted[] = {
		{ "loc ~ '*'", 0 }, { "loc != 'loc'", 1 }, { "rel == 'rel'", 0 },
	};

	begin();
	EXPECT(FX_ODD, &event, sizeof(event), wanted);
	EXPECT(FX_ODD, &event, offsetof(struct fx_odd, text), gone_wanted);
	end();
}

static void fast_forms(void)
{
	static const struct expectation wanted[] = {
		{ "next_pid == 200", 1 }, { "prev_state == 1", 1 },
		{ "next_prio > 255", 0 }, { "next_prio <= 255", 1 },
		{ "next_pid == 200 && next_prio < 121", 1 },
	};
	static const struct expectation enter_wanted[] = {
		{ "id == -1", 1 }, { "tid == 5", 1 }, { "TID == 5", 0 },
		{ "common_pid == 100", 1 },
	};
	uint64_t payload = 200 | 1ull << 32 | 120ull << 48;
	uint64_t enter = 0xffffffffull | 5ull << 32;

	begin();
	EXPECT(FX_SWITCH_FAST, &payload, 8, wanted);
	EXPECT(FX_SYS_ENTER_FAST, &enter, 8, enter_wanted);
	CHECK(tb_filter_compile("next_comm == 'x'", format(FX_SWITCH_FAST),
				&code, &error) == -ENOENT);
	CHECK_TEXT(error.text, "column 1: the fast form of sched:sched_switch has no field 'next_comm'");
	end();
}

/* What can never be, or not be, is no test */
static void constants(void)
{
	static const struct {
		const char *text;
		uint32_t verdict, tests;
	} wanted[] = {
		{ "next_prio > 255", TB_FILTER_NEVER, 1 },
		{ "next_prio >= 256", TB_FILTER_NEVER, 1 },
		{ "next_prio == 256", TB_FILTER_NEVER, 1 },
		{ "next_prio != 256", TB_FILTER_ALWAYS, 0 },
		{ "next_prio < 0", TB_FILTER_NEVER, 1 },
		{ "next_prio >= 0", TB_FILTER_ALWAYS, 0 },
		{ "next_prio <= 255", TB_FILTER_ALWAYS, 0 },
		{ "next_prio > 254", TB_FILTER_DEPENDS, 1 },
		{ "next_prio & 0x100", TB_FILTER_NEVER, 1 },
		{ "next_prio == -1", TB_FILTER_NEVER, 1 },
		{ "next_pid == 0xffffffff", TB_FILTER_NEVER, 1 },
		{ "next_pid < 0x80000000", TB_FILTER_ALWAYS, 0 },
		{ "next_pid < 0x7fffffff", TB_FILTER_DEPENDS, 1 },
		{ "next_pid >= -2147483648", TB_FILTER_ALWAYS, 0 },
		{ "next_pid > -2147483648", TB_FILTER_DEPENDS, 1 },
		{ "next_pid > -2147483649", TB_FILTER_ALWAYS, 0 },
		{ "next_pid > 18446744073709551615", TB_FILTER_NEVER, 1 },
		{ "next_pid == 1 || next_prio > 255", TB_FILTER_DEPENDS, 1 },
		{ "next_pid == 1 && next_prio > 255", TB_FILTER_NEVER, 1 },
		{ "next_pid == 1 && !(next_prio > 255)", TB_FILTER_DEPENDS, 1 },
		{ "!(next_prio > 255) || next_pid", TB_FILTER_ALWAYS, 0 },
	};
	uint64_t payload = 200 | 1ull << 32 | 120ull << 48;
	size_t i;

	begin();
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		CHECK(!tb_filter_compile(wanted[i].text, format(FX_SWITCH_FAST),
					 &code, &error));
		if (code.verdict != wanted[i].verdict ||
		    code.nr_tests != wanted[i].tests) {
			printf("# %s: %u, %u tests\n", wanted[i].text,
			       code.verdict, code.nr_tests);
			test_failures++;
		}
		if (code.verdict != TB_FILTER_DEPENDS)
			CHECK(run_code(format(FX_SWITCH_FAST), &payload, 8) ==
			      (code.verdict == TB_FILTER_ALWAYS));
	}
	end();
}

static void errors(void)
{
	static const struct {
		const char *text;
		int code;
		uint64_t offset;
		const char *says;
	} wanted[] = {
		{ "", -EINVAL, 0, "a comparison is missing" },
		{ "prev_pid ==", -EINVAL, 11, "a value is missing" },
		{ "prev_pid == 1 &&", -EINVAL, 16, "a comparison is missing" },
		{ "prev_pid == 1 next_pid", -EINVAL, 14, "'&&' or '||' is expected" },
		{ "prev_pid = 1", -EINVAL, 9, "'==' compares" },
		{ "prev_pid =~ 1", -EINVAL, 9, "there is no '=~'" },
		{ "prev_pid + 1", -EINVAL, 9, "an operator is expected" },
		{ "prev_pid == 1 | 2", -EINVAL, 14, "'&&' or '||' is expected" },
		{ "(prev_pid == 1", -EINVAL, 0, "is not closed" },
		{ "prev_pid && (next_pid", -EINVAL, 12, "is not closed" },
		{ "prev_pid == 1)", -EINVAL, 13, "there is no '('" },
		{ "100 < prev_pid", -EINVAL, 0, "the name of a field is expected here, not '100'" },
		{ "prv_pid == 1", -ENOENT, 0, "sched:sched_switch has no field 'prv_pid'" },
		{ "prev_pid && nxt", -ENOENT, 12, "has no field 'nxt'" },
		{ "prev_pid == 'x'", -EINVAL, 12, "'prev_pid' is a number" },
		{ "prev_pid == RUNNING", -EINVAL, 12, "names of constants, as 'RUNNING', are not known" },
		{ "prev_pid ~ 'x'", -EINVAL, 9, "patterns (~) are for text" },
		{ "prev_pid == 12x", -EINVAL, 12, "'12x' is not a number" },
		{ "prev_pid == 09", -EINVAL, 12, "'09' is not a number" },
		{ "prev_pid == 0x", -EINVAL, 12, "'0x' is not a number" },
		{ "prev_pid == 18446744073709551616", -EINVAL, 12, "more than 64 bits" },
		{ "prev_pid == -", -EINVAL, 12, "a value is missing" },
		{ "prev_comm == 5", -EINVAL, 13, "stands in quotes" },
		{ "prev_comm == bash", -EINVAL, 13, "stands in quotes" },
		{ "prev_comm < 'b'", -EINVAL, 10, "is a text" },
		{ "prev_comm == 'bash", -EINVAL, 13, "does not end" },
		{ "prev_comm ~ 'b[a'", -EINVAL, 14, "has no ']'" },
		{ "prev_comm ~ '[^a]'", -EINVAL, 13, "written '[!...]'" },
		{ "prev_comm[1] == 'b'", -EINVAL, 10, "has no elements" },
		{ "prev_pid[0] == 1", -EINVAL, 9, "has no elements" },
		{ "context == 5", -EINVAL, 11, "irq, softirq, nmi" },
		{ "context == irq|sofirq", -EINVAL, 15, "not 'sofirq'" },
		{ "context < irq", -EINVAL, 8, "compared by ==, != or &" },
		{ "prev_comm == '0123456789012345678901234567890123456789012345678901234567890123x'",
		  -E2BIG, 13, "64 characters at most" },
	};
	static const struct {
		const char *text;
		uint64_t offset;
		const char *says;
	} odd[] = {
		{ "small == 1", 0, "'small' has 3 elements: which one? ('small[0]')" },
		{ "small[3] == 1", 6, "has elements 0 to 2" },
		{ "small[x] == 1", 6, "there is a number" },
		{ "small[1 == 1", 8, "']' is missing" },
		{ "mask", 0, "neither a number nor a text" },
		{ "list == 1", 5, "whether it is empty" },
		{ "blob == 1", 0, "neither a number nor a text" },
	};
	size_t i;
	int result;

	begin();
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		result = tb_filter_compile(wanted[i].text, format(FX_SWITCH),
					   &code, &error);
		if (result != wanted[i].code ||
		    error.offset != wanted[i].offset ||
		    !strstr(error.text, wanted[i].says)) {
			printf("# %s: %d at %d: %s\n", wanted[i].text, result,
			       (int)error.offset, error.text);
			test_failures++;
		}
		CHECK(tb_filter_compile(wanted[i].text, format(FX_SWITCH), &code,
					NULL) == wanted[i].code);
	}
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		result = tb_filter_compile(odd[i].text, format(FX_ODD), &code,
					   &error);
		if (result != -EINVAL || error.offset != odd[i].offset ||
		    !strstr(error.text, odd[i].says)) {
			printf("# %s: %d at %d: %s\n", odd[i].text, result,
			       (int)error.offset, error.text);
			test_failures++;
		}
	}
	end();
}

/* @count times @part, joined */
static char *repeat(const char *part, const char *join, unsigned int count)
{
	size_t used = 0, room = count * (strlen(part) + strlen(join)) + 1;
	char *text = malloc(room);
	unsigned int i;

	assert(text);
	text[0] = 0;
	for (i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%s",
					 i ? join : "", part);
	return text;
}

static void limits(void)
{
	struct fx_switch event = fx_switch("bash", 100, 1, "cat", 200);
	unsigned char numbers[32] = { 0 };
	char *text;

	begin();
	text = repeat("prev_pid == 1", "||", TB_TESTS_MAX);
	CHECK(passes(FX_SWITCH, &event, sizeof(event), text) == 0);
	CHECK_NUMBER(code.nr_tests, TB_TESTS_MAX);
	CHECK(tb_filter_one_of(&code, format(FX_SYS_ENTER), "id", numbers, 32,
			       &error) == -E2BIG);
	free(text);
	text = repeat("prev_pid == 1", "||", TB_TESTS_MAX + 1);
	CHECK(tb_filter_compile(text, format(FX_SWITCH), &code, &error) == -E2BIG);
	CHECK(strstr(error.text, "takes 65 tests"));
	free(text);
	text = repeat("prev_pid == 1", "&&", 100000);
	CHECK(tb_filter_compile(text, format(FX_SWITCH), &code, &error) == -E2BIG);
	free(text);
	/* with patterns as long as they can be the data fill up exactly */
	text = repeat("prev_comm ~ '0123456789012345678901234567890123456789012345678901234567890*x'",
		      "&&", TB_TESTS_MAX + 2);
	CHECK(tb_filter_compile(text, format(FX_SWITCH), &code, &error) == -E2BIG);
	free(text);
	text = repeat("(", "", 100000);
	CHECK(tb_filter_compile(text, format(FX_SWITCH), &code, &error) == -E2BIG);
	free(text);
	text = repeat("!", "", 100000);
	CHECK(tb_filter_compile(text, format(FX_SWITCH), &code, &error) == -EINVAL);
	free(text);
	end();
}

static void one_of(void)
{
	struct { int64_t id; uint64_t args[6]; } event = { 9, { 1, 2 } };
	unsigned char numbers[4] = { 0, 0x02 };		/* 9 */

	begin();
	CHECK(passes(FX_SYS_ENTER, &event, sizeof(event), "args[1] == 2") == 1);
	CHECK(!tb_filter_one_of(&code, format(FX_SYS_ENTER), "id", numbers,
				sizeof(numbers), &error));
	CHECK_NUMBER(code.nr_tests, 2);
	CHECK(run_code(format(FX_SYS_ENTER), &event, sizeof(event)));
	event.args[1] = 3;
	CHECK(!run_code(format(FX_SYS_ENTER), &event, sizeof(event)));
	event.args[1] = 2;
	event.id = 10;
	CHECK(!run_code(format(FX_SYS_ENTER), &event, sizeof(event)));
	event.id = -1;
	CHECK(!run_code(format(FX_SYS_ENTER), &event, sizeof(event)));
	memset(&code, 0, sizeof(code));
	CHECK(!tb_filter_one_of(&code, format(FX_SYS_ENTER_FAST), "id", numbers,
				sizeof(numbers), NULL));
	event.id = 9;
	CHECK(run_code(format(FX_SYS_ENTER_FAST), &event, 8));
	CHECK(tb_filter_one_of(&code, format(FX_SWITCH), "id", numbers, 4,
			       &error) == -ENOENT);
	end();
}

/* ---- random expressions over random events ---- */

static uint64_t random_state = 88172645463325252ull;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static unsigned int dice(unsigned int sides)
{
	return (unsigned int)(random64() >> 33) % sides;
}

/* Two of everything, so that values meet */
struct random_event {
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint16_t u16;
	int32_t s32;
	uint32_t u32;
	int64_t s64;
	uint64_t u64;
	uint32_t packed;	/* bits 3-10 signed, 11-20 unsigned */
	char text[8];
	uint32_t loc;
	char tail[8];
};

enum { FX_RANDOM = 200, NR_NUMBERS = 10 };

static const struct fx_field random_fields[] = {
	{ "s8", "s8", 0, 1, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "u8", "u8", 1, 1, 0, 0, 0, 0 },
	{ "s16", "s16", 2, 2, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "u16", "u16", 4, 2, 0, 0, 0, 0 },
	{ "s32", "s32", 8, 4, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "u32", "u32", 12, 4, 0, 0, 0, 0 },
	{ "s64", "s64", 16, 8, 0, TB_FIELD_SIGNED, 0, 0 },
	{ "u64", "u64", 24, 8, 0, 0, 0, 0 },
	{ "b8", "int", 32, 4, 0, TB_FIELD_BITS | TB_FIELD_SIGNED, 3, 8 },
	{ "b10", "int", 32, 4, 0, TB_FIELD_BITS, 11, 10 },
	{ "text", "char[8]", 36, 8, 8, TB_FIELD_STRING, 0, 0 },
	{ "loc", "__data_loc char[]", 44, 4, 0,
	  TB_FIELD_DATA_LOC | TB_FIELD_STRING, 0, 0 },
};

__extension__ typedef __int128 wide;

static wide number_of(const struct random_event *event, unsigned int field)
{
	switch (field) {
	case 0: return event->s8;
	case 1: return event->u8;
	case 2: return event->s16;
	case 3: return event->u16;
	case 4: return event->s32;
	case 5: return event->u32;
	case 6: return event->s64;
	case 7: return event->u64;
	case 8: return (int8_t)(event->packed >> 3 & 0xff);
	default: return event->packed >> 11 & 0x3ff;
	}
}

/* Mostly at an edge of some size */
static wide random_value(void)
{
	static const unsigned int edges[] = { 0, 7, 8, 10, 15, 16, 31, 32, 63, 64 };
	wide value = ((wide)1 << edges[dice(10)]) + (int)dice(5) - 2;

	if (!dice(4))
		value = dice(8);
	if (value > UINT64_MAX)
		value = UINT64_MAX;
	if (dice(2))
		value = -value;
	return value;
}

static void random_text(char *text, size_t size)
{
	size_t i, length = dice((unsigned int)size + 1);

	memset(text, 0, size);
	for (i = 0; i < length; i++)
		text[i] = "ab*"[dice(3)];
}

static struct random_event random_event(void)
{
	struct random_event event;

	event.s8 = (int8_t)random_value();
	event.u8 = (uint8_t)random_value();
	event.s16 = (int16_t)random_value();
	event.u16 = (uint16_t)random_value();
	event.s32 = (int32_t)random_value();
	event.u32 = (uint32_t)random_value();
	event.s64 = (int64_t)random_value();
	event.u64 = (uint64_t)random_value();
	event.packed = dice(2) ? (uint32_t)random64() :
		       ((uint32_t)random_value() & 0xff) << 3 |
		       ((uint32_t)random_value() & 0x3ff) << 11;
	random_text(event.text, sizeof(event.text));
	random_text(event.tail, sizeof(event.tail));
	event.loc = dice(9) << 16 | (8 + offsetof(struct random_event, tail));
	return event;
}

/* An expression as a tree; what it means is said by evaluate(), not by the compiler */
struct tree {
	enum { TREE_NOT, TREE_ALL, TREE_ANY, TREE_NUMBER, TREE_TEXT } kind;
	struct tree *left, *right;
	unsigned int field, op;
	wide value;
	char pattern[6];
};

static const char *const number_ops[] = { "==", "!=", "<", "<=", ">", ">=", "&", "" };
static const char *const text_ops[] = { "==", "!=", "~", "!~" };

static struct tree trees[256];
static unsigned int nr_trees;

static struct tree *random_tree(unsigned int depth)
{
	struct tree *tree = &trees[nr_trees++];
	unsigned int kind = dice(depth ? 8 : 3);

	memset(tree, 0, sizeof(*tree));
	if (kind < 2) {
		tree->kind = TREE_NUMBER;
		tree->field = dice(NR_NUMBERS);
		tree->op = dice(8);
		tree->value = random_value();
	} else if (kind == 2) {
		tree->kind = TREE_TEXT;
		tree->field = NR_NUMBERS + dice(2);
		tree->op = dice(4);
		random_text(tree->pattern, sizeof(tree->pattern) - 1);
	} else if (kind == 3) {
		tree->kind = TREE_NOT;
		tree->left = random_tree(depth - 1);
	} else {
		tree->kind = kind < 6 ? TREE_ALL : TREE_ANY;
		tree->left = random_tree(depth - 1);
		tree->right = random_tree(depth - 1);
	}
	return tree;
}

static bool evaluate_number(const struct tree *tree,
			    const struct random_event *event)
{
	wide number = number_of(event, tree->field);

	switch (tree->op) {
	case 0: return number == tree->value;
	case 1: return number != tree->value;
	case 2: return number < tree->value;
	case 3: return number <= tree->value;
	case 4: return number > tree->value;
	case 5: return number >= tree->value;
	case 6: return number & tree->value;
	default: return number;
	}
}

static bool evaluate(const struct tree *tree, const struct random_event *event)
{
	const char *text = event->text;
	size_t length = sizeof(event->text), pattern = strlen(tree->pattern);
	bool same;

	switch (tree->kind) {
	case TREE_NOT:
		return !evaluate(tree->left, event);
	case TREE_ALL:
		return evaluate(tree->left, event) && evaluate(tree->right, event);
	case TREE_ANY:
		return evaluate(tree->left, event) || evaluate(tree->right, event);
	case TREE_NUMBER:
		return evaluate_number(tree, event);
	case TREE_TEXT:
		break;
	}
	if (tree->field > NR_NUMBERS) {
		text = event->tail;
		length = event->loc >> 16;
	}
	length = strnlen(text, length);
	if (tree->op < 2)
		same = length == pattern && !memcmp(text, tree->pattern, length);
	else
		same = reference_glob(tree->pattern, tree->pattern + pattern,
				      text, text + length);
	return same != (tree->op & 1);
}

static size_t write_number(char *to, wide value)
{
	uint64_t number = (uint64_t)(value < 0 ? -value : value);

	return (size_t)sprintf(to, dice(3) ? "%s%llu" : dice(2) ? "%s0x%llx" :
			       "%s0%llo", value < 0 ? "-" : "",
			       (unsigned long long)number);
}

/* As text, with parentheses where they are needed, and sometimes where not */
static size_t write_tree(char *to, const struct tree *tree, int outside)
{
	bool closed = (tree->kind == TREE_ANY && outside != TREE_ANY) ||
		      (tree->kind == TREE_ALL && outside == TREE_NOT) || !dice(6);
	size_t used = 0;

	if (closed)
		to[used++] = '(';
	switch (tree->kind) {
	case TREE_NOT:
		to[used++] = '!';
		used += write_tree(to + used, tree->left, TREE_NOT);
		break;
	case TREE_ALL:
	case TREE_ANY:
		used += write_tree(to + used, tree->left, tree->kind);
		used += (size_t)sprintf(to + used, "%s%s%s", dice(2) ? " " : "",
					tree->kind == TREE_ALL ? "&&" : "||",
					dice(2) ? " " : "");
		used += write_tree(to + used, tree->right, tree->kind);
		break;
	case TREE_NUMBER:
		used += (size_t)sprintf(to + used, "%s %s ",
					random_fields[tree->field].name,
					number_ops[tree->op]);
		if (tree->op < 7)
			used += write_number(to + used, tree->value);
		break;
	case TREE_TEXT:
		used += (size_t)sprintf(to + used, "%s %s '%s'",
					random_fields[tree->field].name,
					text_ops[tree->op], tree->pattern);
		break;
	}
	if (closed)
		to[used++] = ')';
	return used;
}

static void random_expressions(void)
{
	unsigned int i, j, passed = 0, run = 0, depends = 0;
	const struct tb_format *form;
	struct random_event event;
	static char text[65536];
	struct tree *tree;
	bool want;

	fx_init(&fx, 14, 0);
	fx_describe(&fx, FX_RANDOM, 0, "test", "random", random_fields,
		    sizeof(random_fields) / sizeof(random_fields[0]));
	fx_durable_end(&fx);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &trace, NULL));
	form = format(FX_RANDOM);
	for (i = 0; i < 20000; i++) {
		nr_trees = 0;
		tree = random_tree(1 + dice(5));
		text[write_tree(text, tree, TREE_ANY)] = 0;
		if (tb_filter_compile(text, form, &code, &error)) {
			printf("# %s: %s\n", text, error.text);
			test_failures++;
			break;
		}
		depends += code.verdict == TB_FILTER_DEPENDS;
		for (j = 0; j < 20; j++) {
			event = random_event();
			want = evaluate(tree, &event);
			passed += want;
			run++;
			if (run_code(form, &event, sizeof(event)) == want)
				continue;
			printf("# %s: should %s\n", text, want ? "pass" : "not pass");
			test_failures++;
			break;
		}
		if (test_failures)
			break;
	}
	/* or nothing would have been tested */
	CHECK(passed > run / 10 && passed < run * 9 / 10);
	CHECK(depends > i / 2);
	end();
}

static const struct test tests[] = {
	{ "filter: each operator", operators },
	{ "filter: what binds how", binding },
	{ "filter: what every event has", common_fields },
	{ "filter: fields of every kind", every_kind },
	{ "filter: fast forms", fast_forms },
	{ "filter: what is known beforehand", constants },
	{ "filter: errors and where they are", errors },
	{ "filter: limits", limits },
	{ "filter: one of a set of numbers", one_of },
	{ "filter: random expressions over random events", random_expressions },
};

TEST_MAIN(tests)
