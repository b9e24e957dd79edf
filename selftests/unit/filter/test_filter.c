// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filter passes exactly the events that its tests describe, and the kernel refuses every
 * malformed filter: module/probe/filter.c, one operation at a time. If this fails, recordings lack
 * events, or a program makes the kernel read foreign memory.
 */
#include <stdio.h>

#include "probe/filter.h"
#include "ring_ktap.h"

struct filter_task filter_task;
int filter_fail = -1;

/* An event with a field of every kind; its fixed part has 60 bytes */
static const struct tb_field_def fields[] = {
	{ .name = "u8", .type = "u8", .offset = 0, .size = 1 },
	{ .name = "s16", .type = "short", .offset = 2, .size = 2, .flags = TB_FIELD_SIGNED },
	{ .name = "s32", .type = "int", .offset = 4, .size = 4, .flags = TB_FIELD_SIGNED },
	{ .name = "u64", .type = "u64", .offset = 8, .size = 8 },
	{ .name = "comm", .type = "char", .offset = 16, .size = 16, .count = 16,
	  .flags = TB_FIELD_ARRAY | TB_FIELD_SIGNED },
	{ .name = "args", .type = "unsigned long", .offset = 32, .size = 16, .count = 2,
	  .flags = TB_FIELD_ARRAY },
	{ .name = "text", .type = "char", .offset = 48, .size = 4, .flags = TB_FIELD_DATA_LOC },
	{ .name = "rel", .type = "char", .offset = 52, .size = 4, .flags = TB_FIELD_REL_LOC },
	{ .name = "mask", .type = "cpumask_t", .offset = 56, .size = 4,
	  .flags = TB_FIELD_DATA_LOC | TB_FIELD_CPUMASK },
	{}
};

/* A compact form */
static const struct tb_field_def bit_fields[] = {
	{ .name = "pid", .type = "pid_t", .size = 8, .flags = TB_FIELD_BITS, .bits = 22 },
	{ .name = "prio", .type = "int", .size = 8, .flags = TB_FIELD_BITS | TB_FIELD_SIGNED,
	  .bit = 22, .bits = 9 },
	{ .name = "last", .type = "int", .size = 8, .flags = TB_FIELD_BITS, .bit = 63, .bits = 1 },
	{ .name = "ret", .type = "int", .size = 8, .flags = TB_FIELD_BITS, .bit = 16, .bits = 47 },
	{}
};

static u8 payload[96];
static const u8 *data;
static u32 data_bytes, bad;
static char why[160];

#define EXPECT(cond)							\
	do {								\
		if (!(cond)) {						\
			snprintf(why, sizeof(why), "line %d: %s", __LINE__, #cond); \
			return why;					\
		}							\
	} while (0)

static void put(u32 offset, u64 value, u32 size)
{
	memcpy(payload + offset, &value, size);
}

static void set_data(const void *d, u32 bytes)
{
	data = d;
	data_bytes = bytes;
}

static int make(struct tb_filter **f, const struct tb_test *tests, u32 nr,
		const struct tb_field_def *table)
{
	bad = 0xbadbad;
	*f = NULL;
	return tb_filter_make(f, tests, nr, data ? data : (const u8 *)"", data_bytes, table, &bad);
}

/* 1: the event passes, 0: it does not; or the error */
static int run_on(const struct tb_test *tests, u32 nr, const struct tb_field_def *table,
		  const void *bytes, u32 size)
{
	struct tb_filter *f;
	int ret = make(&f, tests, nr, table);
	u8 *copy;

	if (ret)
		return ret;
	/* a copy of this size, so that the sanitizer sees reads beyond it */
	copy = malloc(size ? size : 1);
	memcpy(copy, bytes, size);
	ret = tb_filter_run(f, copy, size);
	free(copy);
	tb_filter_free(f);
	return ret;
}

static int one(struct tb_test t)
{
	if (!t.yes && !t.no) {
		t.yes = TB_TEST_PASS;
		t.no = TB_TEST_REJECT;
	}
	return run_on(&t, 1, fields, payload, sizeof(payload));
}

static int one_bits(struct tb_test t)
{
	t.yes = TB_TEST_PASS;
	t.no = TB_TEST_REJECT;
	return run_on(&t, 1, bit_fields, payload, 8);
}

#define ONE(...)	one((struct tb_test){ __VA_ARGS__ })
#define BITS(...)	one_bits((struct tb_test){ __VA_ARGS__ })

/* ---- accepted filters ------------------------------------------------- */

static const char *test_numbers(void)
{
	put(0, 200, 1);
	put(2, (u64)-3, 2);
	put(4, (u64)-100000, 4);
	put(8, 1ull << 63, 8);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .value = 200) == 1);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .value = 201) == 0);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .flags = TB_TEST_SIGNED, .value = (u64)-56) == 1);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 2, .offset = 2, .value = 65533) == 1);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 2, .offset = 2, .flags = TB_TEST_SIGNED,
		   .value = (u64)-3) == 1);
	EXPECT(ONE(.op = TB_TEST_LT, .size = 4, .offset = 4, .flags = TB_TEST_SIGNED,
		   .value = 0) == 1);
	EXPECT(ONE(.op = TB_TEST_LT, .size = 4, .offset = 4, .value = 0) == 0);
	EXPECT(ONE(.op = TB_TEST_LT, .size = 4, .offset = 4, .value = 1ull << 32) == 1);
	EXPECT(ONE(.op = TB_TEST_LE, .size = 4, .offset = 4, .flags = TB_TEST_SIGNED,
		   .value = (u64)-100000) == 1);
	EXPECT(ONE(.op = TB_TEST_LT, .size = 4, .offset = 4, .flags = TB_TEST_SIGNED,
		   .value = (u64)-100000) == 0);
	EXPECT(ONE(.op = TB_TEST_LE, .size = 8, .offset = 8, .value = (1ull << 63) - 1) == 0);
	EXPECT(ONE(.op = TB_TEST_LE, .size = 8, .offset = 8, .flags = TB_TEST_SIGNED,
		   .value = (1ull << 63) - 1) == 1);
	EXPECT(ONE(.op = TB_TEST_BITS, .size = 8, .offset = 8, .value = 3ull << 62) == 1);
	EXPECT(ONE(.op = TB_TEST_BITS, .size = 8, .offset = 8, .value = 1ull << 62) == 0);
	EXPECT(ONE(.op = TB_TEST_BITS, .size = 1, .value = 0) == 0);
	put(40, 77, 8);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 8, .offset = 40, .value = 77) == 1);
	return NULL;
}

static const char *test_bits(void)
{
	put(0, 0x2abcde | (u64)(0x1ff & -1) << 22 | 1ull << 63, 8);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bits = 22, .value = 0x2abcde) == 1);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bits = 22, .flags = TB_TEST_SIGNED,
		    .value = 0xffffffffffeabcdeull) == 1);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bit = 22, .bits = 9, .value = 511) == 1);
	EXPECT(BITS(.op = TB_TEST_LT, .size = 8, .bit = 22, .bits = 9, .flags = TB_TEST_SIGNED,
		    .value = 0) == 1);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bit = 63, .bits = 1, .value = 1) == 1);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bit = 16, .bits = 47,
		    .value = (0x2a | 0x1ffull << 6)) == 1);
	return NULL;
}

static const char *test_in(void)
{
	/* the set of 3, 8 and 23 */
	set_data("\x08\x01\x80", 3);
	put(0, 3, 1);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data_bytes = 3) == 1);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data = 1, .data_bytes = 2) == 0);
	put(0, 15, 1);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data = 1, .data_bytes = 2) == 1);
	put(0, 23, 1);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data_bytes = 3) == 1);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data_bytes = 2) == 0);
	put(0, 24, 1);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data_bytes = 3) == 0);
	put(8, ~0ull, 8);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 8, .offset = 8, .data_bytes = 3) == 0);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 8, .offset = 8, .flags = TB_TEST_SIGNED,
		   .data_bytes = 3) == 0);
	return NULL;
}

static const char *test_sources(void)
{
	filter_task = (struct filter_task){ .tid = 11, .tgid = 12, .uid = ~0u, .cpu = 3,
		.context = TB_CONTEXT_NMI | 2, .comm = "ksoftirqd/3" };
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_TID, .value = 11) == 1);
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_TGID, .value = 12) == 1);
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_UID, .value = ~0u) == 1);
	EXPECT(ONE(.op = TB_TEST_LT, .source = TB_TEST_CPU, .value = 4) == 1);
	EXPECT(ONE(.op = TB_TEST_BITS, .source = TB_TEST_CONTEXT, .value = TB_CONTEXT_NMI) == 1);
	EXPECT(ONE(.op = TB_TEST_BITS, .source = TB_TEST_CONTEXT,
		   .value = TB_CONTEXT_HARDIRQ) == 0);
	set_data("ksoft*/[0-3]", 12);
	EXPECT(ONE(.op = TB_TEST_GLOB, .source = TB_TEST_COMM, .data_bytes = 12) == 1);
	EXPECT(ONE(.op = TB_TEST_GLOB, .source = TB_TEST_COMM, .data_bytes = 7) == 0);
	/* a name that fills the field, without a NUL */
	memcpy(filter_task.comm, "ksoftirqd-abcd/2", 16);
	EXPECT(ONE(.op = TB_TEST_GLOB, .source = TB_TEST_COMM, .data_bytes = 12) == 1);
	return NULL;
}

/* Does @text match @pattern? Returns errors, too. */
static int glob(const char *pattern, const char *text)
{
	memset(filter_task.comm, 0, sizeof(filter_task.comm));
	memcpy(filter_task.comm, text, strnlen(text, sizeof(filter_task.comm)));
	set_data(pattern, strlen(pattern));
	return ONE(.op = TB_TEST_GLOB, .source = TB_TEST_COMM, .data_bytes = strlen(pattern));
}

static const char *test_glob(void)
{
	EXPECT(glob("", "") == 1);
	EXPECT(glob("", "a") == 0);
	EXPECT(glob("a", "") == 0);
	EXPECT(glob("*", "") == 1);
	EXPECT(glob("**", "abc") == 1);
	EXPECT(glob("abc", "abc") == 1);
	EXPECT(glob("abc", "abcd") == 0);
	EXPECT(glob("abcd", "abc") == 0);
	EXPECT(glob("a?c", "abc") == 1);
	EXPECT(glob("?", "") == 0);
	EXPECT(glob("a*c", "abcbc") == 1);
	EXPECT(glob("a*b*c", "aXbYbZc") == 1);
	EXPECT(glob("a*b*c", "aXbYbZd") == 0);
	EXPECT(glob("*ab", "aab") == 1);
	EXPECT(glob("*aab*", "aaaab") == 1);
	EXPECT(glob("[a-c]x", "bx") == 1);
	EXPECT(glob("[a-c]x", "dx") == 0);
	EXPECT(glob("[!a-c]x", "dx") == 1);
	EXPECT(glob("[!a-c]x", "ax") == 0);
	EXPECT(glob("[]a]", "]") == 1);
	EXPECT(glob("[!]a]", "]") == 0);
	EXPECT(glob("[a-]", "-") == 1);
	EXPECT(glob("[c-a]", "b") == 0);
	EXPECT(glob("[\\]", "\\") == 1);
	EXPECT(glob("\\*", "*") == 1);
	EXPECT(glob("\\*", "a") == 0);
	EXPECT(glob("\\\\", "\\") == 1);
	EXPECT(glob("a]", "a]") == 1);
	EXPECT(glob("[\x80-\xff]", "\xc3") == 1);
	EXPECT(glob("[", "[") == -EINVAL);
	EXPECT(glob("[]", "]") == -EINVAL);
	EXPECT(glob("[!]", "!") == -EINVAL);
	EXPECT(glob("[a-", "a") == -EINVAL);
	EXPECT(glob("[a-]]", "a]") == 1);
	EXPECT(glob("a\\", "a\\") == -EINVAL);
	return NULL;
}

static const char *test_glob_bounds(void)
{
	static const struct tb_field_def big[] = {
		{ .name = "text", .type = "char", .size = 4, .flags = TB_FIELD_DATA_LOC }, {}
	};
	struct tb_test t = { .op = TB_TEST_GLOB, .flags = TB_TEST_DATA_LOC, .yes = TB_TEST_PASS,
		.no = TB_TEST_REJECT };
	u8 event[4 + 1000], pattern[TB_GLOB_MAX], longer[TB_GLOB_MAX + 1];
	u32 word = 1000 << 16 | 12, i;

	/* the slowest case: everything but the end of a long text matches */
	memset(event, 'a', sizeof(event));
	memcpy(event, &word, sizeof(word));
	for (i = 0; i < TB_GLOB_MAX; i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[TB_GLOB_MAX - 1] = 'b';
	set_data(pattern, TB_GLOB_MAX);
	t.data_bytes = TB_GLOB_MAX;
	EXPECT(run_on(&t, 1, big, event, sizeof(event)) == 0);
	/* bytes after TB_TEXT_MAX do not count */
	event[4 + TB_TEXT_MAX] = 'b';
	EXPECT(run_on(&t, 1, big, event, sizeof(event)) == 0);
	event[4 + TB_TEXT_MAX - 1] = 'b';
	EXPECT(run_on(&t, 1, big, event, sizeof(event)) == 1);
	/* a pattern of the greatest length, and a longer one */
	memset(event + 4, 'x', 65);
	event[4 + TB_GLOB_MAX] = '\0';
	memset(longer, 'x', sizeof(longer));
	set_data(longer, sizeof(longer));
	EXPECT(run_on(&t, 1, big, event, sizeof(event)) == 1);
	t.data_bytes = TB_GLOB_MAX + 1;
	EXPECT(run_on(&t, 1, big, event, sizeof(event)) == -EINVAL);
	/* a text ends at a NUL, so a pattern cannot contain one */
	set_data("x\0\\\0", 4);
	t.data_bytes = 2;
	EXPECT(run_on(&t, 1, big, event, sizeof(event)) == -EINVAL);
	t.data = 2;
	EXPECT(run_on(&t, 1, big, event, sizeof(event)) == -EINVAL);
	return NULL;
}

static const char *test_texts(void)
{
	struct tb_test fixed = { .op = TB_TEST_GLOB, .offset = 16, .length = 16, .data_bytes = 4 };
	struct tb_test text = { .op = TB_TEST_GLOB, .offset = 48, .flags = TB_TEST_DATA_LOC,
		.data_bytes = 4 };
	struct tb_test rel = { .op = TB_TEST_GLOB, .offset = 52, .flags = TB_TEST_REL_LOC,
		.data_bytes = 4 };

	set_data("swap", 4);
	memcpy(payload + 16, "swap\0...........", 16);
	EXPECT(one(fixed) == 1);
	memcpy(payload + 16, "swapper/0.......", 16);
	EXPECT(one(fixed) == 0);

	memcpy(payload + 60, "swap", 5);
	put(48, 5 << 16 | 68, 4);
	EXPECT(one(text) == 1);
	put(48, 4 << 16 | 68, 4);
	EXPECT(one(text) == 1);
	put(48, 3 << 16 | 68, 4);
	EXPECT(one(text) == 0);
	put(48, 0 << 16 | 68, 4);
	EXPECT(one(text) == 0);
	/* to the end of the payload, beyond it, before it */
	memcpy(payload + 92, "swap", 4);
	put(48, 4 << 16 | 100, 4);
	EXPECT(one(text) == 1);
	put(48, 5 << 16 | 100, 4);
	EXPECT(one(text) == 0);
	put(48, 1 << 16 | 0xffff, 4);
	EXPECT(one(text) == 0);
	put(48, 0xffffu << 16 | 68, 4);
	EXPECT(one(text) == 0);
	put(48, 4 << 16 | 7, 4);
	EXPECT(one(text) == 0);

	put(52, 5 << 16 | 4, 4);
	EXPECT(one(rel) == 1);
	put(52, 4 << 16 | 36, 4);
	EXPECT(one(rel) == 1);
	put(52, 5 << 16 | 36, 4);
	EXPECT(one(rel) == 0);
	put(52, 5 << 16 | 0xffff, 4);
	EXPECT(one(rel) == 0);
	return NULL;
}

static const char *test_empty(void)
{
	struct tb_test t = { .op = TB_TEST_EMPTY, .offset = 56, .flags = TB_TEST_DATA_LOC };

	memset(payload + 60, 0, 36);
	put(56, 8 << 16 | 76, 4);
	EXPECT(one(t) == 1);
	payload[60 + 8 + 7] = 0x80;
	EXPECT(one(t) == 0);
	put(56, 7 << 16 | 76, 4);
	EXPECT(one(t) == 1);
	/* no bytes at all; a field outside of the payload does not exist */
	put(56, 0 << 16 | 76, 4);
	EXPECT(one(t) == 1);
	put(56, 37 << 16 | 68, 4);
	EXPECT(one(t) == 0);
	/* never filled in; before the payload */
	put(56, 0, 4);
	EXPECT(one(t) == 1);
	put(56, 1, 4);
	EXPECT(one(t) == 0);
	put(56, 1 << 16, 4);
	EXPECT(one(t) == 0);
	t.no = TB_TEST_PASS;
	t.yes = TB_TEST_REJECT;
	EXPECT(one(t) == 1);
	return NULL;
}

static const char *test_short_event(void)
{
	struct tb_test t = { .op = TB_TEST_LE, .size = 8, .offset = 8, .value = ~0ull,
		.yes = TB_TEST_PASS, .no = TB_TEST_REJECT };
	u32 size;

	for (size = 0; size < 20; size++)
		EXPECT(run_on(&t, 1, fields, payload, size) == (size >= 16));
	t = (struct tb_test){ .op = TB_TEST_EMPTY, .offset = 48, .flags = TB_TEST_DATA_LOC,
		.yes = TB_TEST_PASS, .no = TB_TEST_REJECT };
	put(48, 0 << 16 | 8, 4);
	for (size = 40; size < 60; size++)
		EXPECT(run_on(&t, 1, fields, payload, size) == (size >= 52));
	return NULL;
}

static const char *test_jumps(void)
{
	/* (u8 == 1 || u8 == 2) && !(s16 == 5) */
	struct tb_test t[] = {
		{ .op = TB_TEST_EQ, .size = 1, .value = 1, .yes = 1, .no = 0 },
		{ .op = TB_TEST_EQ, .size = 1, .value = 2, .yes = 0, .no = TB_TEST_REJECT },
		{ .op = TB_TEST_EQ, .size = 2, .offset = 2, .value = 5, .yes = TB_TEST_REJECT,
		  .no = TB_TEST_PASS },
	};
	u32 a, b;

	for (a = 0; a < 4; a++) {
		for (b = 4; b < 6; b++) {
			put(0, a, 1);
			put(2, b, 2);
			EXPECT(run_on(t, 3, fields, payload, sizeof(payload)) ==
			       ((a == 1 || a == 2) && b != 5));
		}
	}
	return NULL;
}

/* ---- refused filters -------------------------------------------------- */

static const char *test_refuse_shape(void)
{
	struct tb_test t = { .op = TB_TEST_EQ, .size = 1, .yes = TB_TEST_PASS,
		.no = TB_TEST_REJECT }, many[TB_TESTS_MAX + 1];
	struct tb_filter *f;
	u32 i;

	for (i = 0; i <= TB_TESTS_MAX; i++)
		many[i] = t;
	EXPECT(make(&f, many, 0, fields) == -EINVAL && bad == 0 && !f);
	EXPECT(make(&f, many, TB_TESTS_MAX + 1, fields) == -EINVAL && bad == TB_TESTS_MAX + 1);
	EXPECT(run_on(many, TB_TESTS_MAX, fields, payload, 96) >= 0);
	/* jumps: to the last test, past it, and to values below the two verdicts */
	many[61].yes = 1;
	EXPECT(run_on(many, TB_TESTS_MAX, fields, payload, 96) >= 0);
	many[61].yes = 2;
	EXPECT(make(&f, many, TB_TESTS_MAX, fields) == -EINVAL && bad == 61 && !f);
	many[61].yes = 0;
	many[63].no = 0;
	EXPECT(make(&f, many, TB_TESTS_MAX, fields) == -EINVAL && bad == 63);
	many[63].no = 0xfffd;
	EXPECT(make(&f, many, TB_TESTS_MAX, fields) == -EINVAL && bad == 63);
	many[63].no = TB_TEST_PASS;
	EXPECT(run_on(many, TB_TESTS_MAX, fields, payload, 96) == 1);
	/* too much data; too little memory */
	data_bytes = TB_TEST_DATA_MAX + 1;
	EXPECT(make(&f, many, 1, fields) == -EINVAL && bad == 1);
	data_bytes = 0;
	filter_fail = 0;
	EXPECT(make(&f, many, 1, fields) == -ENOMEM && !f);
	filter_fail = -1;
	for (i = 0; i < 3; i++) {
		t.reserved[i] = 1;
		EXPECT(one(t) == -EINVAL);
		t.reserved[i] = 0;
	}
	EXPECT(ONE(.op = 0, .size = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EMPTY + 1, .size = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_COMM + 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .flags = 0x08) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .flags = TB_TEST_DATA_LOC) == -EINVAL);
	return NULL;
}

static const char *test_refuse_numbers(void)
{
	u32 size;

	for (size = 0; size < 20; size++)
		EXPECT(ONE(.op = TB_TEST_EQ, .size = size, .offset = 8) ==
		       (size == 1 || size == 2 || size == 4 || size == 8 ? 1 : -EINVAL));
	/* between, across and after fields */
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .offset = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 8, .offset = 4) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 2) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 8, .offset = 44) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .offset = 60) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 8, .offset = 0xffff) == -EINVAL);
	/* the words that locate dynamic fields */
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 4, .offset = 48) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 4, .offset = 52) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .length = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 8, .offset = 8, .bits = 4) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 8, .offset = 8, .bit = 4) == -EINVAL);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8) == -EINVAL);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bits = 21) == -EINVAL);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bits = 23) == -EINVAL);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bit = 1, .bits = 22) == -EINVAL);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 4, .bits = 22) == -EINVAL);
	EXPECT(BITS(.op = TB_TEST_EQ, .size = 8, .bit = 63, .bits = 255) == -EINVAL);
	/* data for a test that takes none, and missing data */
	set_data("abcd", 4);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .size = 1, .data = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data_bytes = 4) >= 0);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data_bytes = 5) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data = 1, .data_bytes = 4) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data = 0xffff, .data_bytes = 0xffff) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_IN, .size = 1, .data_bytes = 4, .value = 1) == -EINVAL);
	/* tests of the thread have no parameters of a field */
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_TID, .size = 4) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_TID, .offset = 4) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_TID, .length = 4) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_TID, .bit = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_TID, .bits = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EQ, .source = TB_TEST_COMM) == -EINVAL);
	return NULL;
}

static const char *test_refuse_texts(void)
{
	set_data("*", 1);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 16, .length = 16, .data_bytes = 1) == 1);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 16, .length = 15, .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 16, .length = 17, .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 17, .length = 15, .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 16, .data_bytes = 1) == -EINVAL);
	/* a field that has no characters */
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 32, .length = 16, .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 8, .length = 8, .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 56, .flags = TB_TEST_DATA_LOC,
		   .data_bytes = 1) == -EINVAL);
	/* the wrong kind of dynamic field, both kinds, or none */
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 48, .flags = TB_TEST_REL_LOC,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 52, .flags = TB_TEST_DATA_LOC,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 48, .flags = TB_TEST_DATA_LOC | TB_TEST_REL_LOC,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 48, .length = 4, .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 16, .flags = TB_TEST_DATA_LOC,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 49, .flags = TB_TEST_DATA_LOC,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 48, .flags = TB_TEST_DATA_LOC, .length = 1,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 48, .flags = TB_TEST_DATA_LOC | TB_TEST_SIGNED,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 16, .length = 16, .size = 1,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 16, .length = 16, .value = 1,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .offset = 16, .length = 16, .data_bytes = 2) == -EINVAL);
	/* of the sources only the thread's name is a text */
	EXPECT(ONE(.op = TB_TEST_GLOB, .source = TB_TEST_TID, .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .source = TB_TEST_COMM, .length = 16,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .source = TB_TEST_COMM, .offset = 16,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_GLOB, .source = TB_TEST_COMM, .flags = TB_TEST_DATA_LOC,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EMPTY, .source = TB_TEST_COMM) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EMPTY, .source = TB_TEST_CPU) == -EINVAL);
	/* only dynamic fields can be empty */
	EXPECT(ONE(.op = TB_TEST_EMPTY, .offset = 16, .length = 16) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EMPTY, .offset = 8, .size = 8) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EMPTY, .offset = 8, .flags = TB_TEST_DATA_LOC) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EMPTY, .offset = 56, .flags = TB_TEST_DATA_LOC,
		   .data_bytes = 1) == -EINVAL);
	EXPECT(ONE(.op = TB_TEST_EMPTY, .offset = 52, .flags = TB_TEST_REL_LOC) >= 0);
	return NULL;
}

static const struct {
	const char *name;
	const char *(*run)(void);
} tests[] = {
	{ "filter_numbers", test_numbers },
	{ "filter_bits", test_bits },
	{ "filter_in", test_in },
	{ "filter_sources", test_sources },
	{ "filter_glob", test_glob },
	{ "filter_glob_bounds", test_glob_bounds },
	{ "filter_texts", test_texts },
	{ "filter_empty", test_empty },
	{ "filter_short_event", test_short_event },
	{ "filter_jumps", test_jumps },
	{ "filter_refuse_shape", test_refuse_shape },
	{ "filter_refuse_numbers", test_refuse_numbers },
	{ "filter_refuse_texts", test_refuse_texts },
};

int main(void)
{
	const size_t n = sizeof(tests) / sizeof(tests[0]);
	size_t i;

	ktap_start(n);
	for (i = 0; i < n; i++) {
		memset(payload, 0, sizeof(payload));
		set_data(NULL, 0);
		ktap_result(tests[i].name, tests[i].run());
	}
	return ktap_end();
}
