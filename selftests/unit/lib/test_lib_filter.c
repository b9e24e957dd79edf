// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filter passes exactly the events that its expression describes, in the library and in the
 * kernel; a wrong expression is refused, with the place and a hint. If this fails, recordings lack
 * events that the user wanted. Random expressions are in test_lib_filter_random.c.
 */
#include <errno.h>
#include "test_lib_filter_run.h"

/* Does the filter @text pass the fixture's event? -1: it does not compile */
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

/* The event: bash 100 -> cat 200, prev_state 1, both of priority 120 */
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
		/* && binds before || */
		{ "prev_pid == 100 || prev_pid == 1 && prev_pid == 2", 1 },
		{ "(prev_pid == 100 || prev_pid == 1) && prev_pid == 2", 0 },
		{ "prev_pid == 1 && prev_pid == 2 || next_pid == 200", 1 },
		{ "prev_pid == 1 && (prev_pid == 2 || next_pid == 200)", 0 },
		/* ! applies to the comparison after it */
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
	/* an event may have a field with the name of a common one */
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
	/* an absent dynamic field matches no pattern */
	static const struct expectation gone_wanted[] = {
		{ "loc ~ '*'", 0 }, { "loc != 'loc'", 1 }, { "rel == 'rel'", 0 },
	};

	begin();
	EXPECT(FX_ODD, &event, sizeof(event), wanted);
	EXPECT(FX_ODD, &event, offsetof(struct fx_odd, text), gone_wanted);
	end();
}

static void simple_events(void)
{
	static const struct expectation wanted[] = {
		{ "next_pid == 200", 1 }, { "prev_state == 1", 1 },
		{ "next_prio > 255", 0 }, { "next_prio <= 255", 1 },
		{ "next_pid == 200 && next_prio < 121", 1 },
	};
	static const struct expectation enter_wanted[] = {
		{ "id == 4095", 1 }, { "nr_args == 1", 1 }, { "TID == 5", 0 },
		{ "common_pid == 100", 1 },
	};
	uint64_t payload = fx_switch_compact(100, 200, 1, 120, 120);
	uint64_t enter = 0xfff | 1ull << 12;

	begin();
	EXPECT(FX_SWITCH_COMPACT, &payload, 8, wanted);
	EXPECT(FX_SYS_ENTER_COMPACT, &enter, 8, enter_wanted);
	CHECK(tb_filter_compile("next_comm == 'x'", format(FX_SWITCH_COMPACT),
				&code, &error) == -ENOENT);
	CHECK_TEXT(error.text, "column 1: sched:sched_switch has no field 'next_comm'");
	end();
}

/* Comparisons with a known result become no tests */
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
		{ "next_pid == 0x400000", TB_FILTER_NEVER, 1 },
		{ "next_pid < 0x400000", TB_FILTER_ALWAYS, 0 },
		{ "next_pid < 0x3fffff", TB_FILTER_DEPENDS, 1 },
		{ "next_pid >= 0", TB_FILTER_ALWAYS, 0 },
		{ "next_pid > 0", TB_FILTER_DEPENDS, 1 },
		{ "next_pid > -1", TB_FILTER_ALWAYS, 0 },
		{ "next_pid > 18446744073709551615", TB_FILTER_NEVER, 1 },
		{ "next_pid == 1 || next_prio > 255", TB_FILTER_DEPENDS, 1 },
		{ "next_pid == 1 && next_prio > 255", TB_FILTER_NEVER, 1 },
		{ "next_pid == 1 && !(next_prio > 255)", TB_FILTER_DEPENDS, 1 },
		{ "!(next_prio > 255) || next_pid", TB_FILTER_ALWAYS, 0 },
	};
	uint64_t payload = fx_switch_compact(100, 200, 1, 120, 120);
	size_t i;

	begin();
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		CHECK(!tb_filter_compile(wanted[i].text, format(FX_SWITCH_COMPACT),
					 &code, &error));
		if (code.verdict != wanted[i].verdict ||
		    code.nr_tests != wanted[i].tests) {
			printf("# %s: %u, %u tests\n", wanted[i].text,
			       code.verdict, code.nr_tests);
			test_failures++;
		}
		if (code.verdict != TB_FILTER_DEPENDS)
			CHECK(run_code(format(FX_SWITCH_COMPACT), &payload, 8) ==
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
		{ "prev_comm == 5", -EINVAL, 13, "write the value in quotes" },
		{ "prev_comm == bash", -EINVAL, 13, "write the value in quotes" },
		{ "prev_comm < 'b'", -EINVAL, 10, "is a text" },
		{ "prev_comm == 'bash", -EINVAL, 13, "does not end" },
		{ "prev_comm ~ 'b[a'", -EINVAL, 14, "has no ']'" },
		{ "prev_comm ~ '[\\!x]*'", -EINVAL, 14, "does not quote this in '[...]'" },
		{ "prev_comm ~ '[a\\-z]*'", -EINVAL, 15, "does not quote this in '[...]'" },
		{ "prev_comm ~ '[\\]]*'", -EINVAL, 14, "does not quote this in '[...]'" },
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
		{ "small == 1", 0, "'small' has 3 elements: write the index of one ('small[0]')" },
		{ "small[3] == 1", 6, "has elements 0 to 2" },
		{ "small[x] == 1", 6, "there is a number" },
		{ "small[1 == 1", 8, "']' is missing" },
		{ "mask", 0, "neither a number nor a text" },
		{ "list == 1", 5, "tested for being empty" },
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

/* @part repeated @count times, joined by @join */
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
	/* patterns of the greatest length need the most room for data */
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
	CHECK(!tb_filter_one_of(&code, format(FX_SYS_ENTER_COMPACT), "id", numbers,
				sizeof(numbers), NULL));
	event.id = 9;
	CHECK(run_code(format(FX_SYS_ENTER_COMPACT), &event, 8));
	CHECK(tb_filter_one_of(&code, format(FX_SWITCH), "id", numbers, 4,
			       &error) == -ENOENT);
	end();
}

static const struct test tests[] = {
	{ "filter: each operator", operators },
	{ "filter: precedence of operators", binding },
	{ "filter: fields that every event has", common_fields },
	{ "filter: fields of every kind", every_kind },
	{ "filter: simple events", simple_events },
	{ "filter: comparisons with a known result", constants },
	{ "filter: errors and their places", errors },
	{ "filter: limits", limits },
	{ "filter: one of a set of numbers", one_of },
};

TEST_MAIN(tests)
