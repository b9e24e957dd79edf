/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the filter compiler: evaluates rows of struct tb_test as plainly as linux/tracebuf.h
 * defines them, independent of the library and of the kernel.
 */
#ifndef TEST_LIB_FILTER_H
#define TEST_LIB_FILTER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "tracebuf.h"

/* The context in which an event occurs */
struct where {
	uint32_t tid, tgid, uid, cpu, context;
	char comm[16];
};

static inline bool reference_glob(const char *pattern, const char *end,
				  const char *text, const char *text_end)
{
	for (; pattern < end; pattern++, text++) {
		if (*pattern == '*') {
			for (; text <= text_end; text++)
				if (reference_glob(pattern + 1, end, text, text_end))
					return true;
			return false;
		}
		if (text == text_end)
			return false;
		if (*pattern == '[') {
			const char *at = pattern + 1;
			bool inverted = *at == '!', found = false;

			at += inverted;
			do {
				char from = *at, to = from;

				if (at[1] == '-' && at[2] != ']') {
					to = at[2];
					at += 2;
				}
				found |= *text >= from && *text <= to;
				at++;
			} while (*at != ']');
			if (found == inverted)
				return false;
			pattern = at;
			continue;
		}
		if (*pattern == '?')
			continue;
		if (*pattern == '\\')
			pattern++;
		if (*pattern != *text)
			return false;
	}
	return text == text_end;
}

static inline uint64_t reference_number(const struct tb_test *test,
					const unsigned char *payload)
{
	unsigned int bits = test->bits ? test->bits : test->size * 8u;
	uint64_t value = 0;

	memcpy(&value, payload + test->offset, test->size);
	value >>= test->bit;
	if (bits < 64) {
		value &= (1ull << bits) - 1;
		if (test->flags & TB_TEST_SIGNED && value >> (bits - 1))
			value |= ~0ull << bits;
	}
	return value;
}

/* The bytes of a text, or of dynamic data; false if they lie outside of the payload */
static inline bool reference_text(const struct tb_test *test,
				  const unsigned char *payload, size_t bytes,
				  const char **text, size_t *length)
{
	size_t at = test->offset;
	uint32_t word;

	*length = test->length;
	if (test->flags & (TB_TEST_DATA_LOC | TB_TEST_REL_LOC)) {
		if (at + 4 > bytes)
			return false;
		memcpy(&word, payload + at, 4);
		*length = word >> 16;
		if (test->flags & TB_TEST_REL_LOC)
			at += 4 + (word & 0xffff);
		else if ((word & 0xffff) < 8)
			return false;
		else
			at = (word & 0xffff) - 8;
	}
	*text = (const char *)payload + at;
	return at + *length <= bytes;
}

static inline bool reference_test(const struct tb_test *test,
				  const unsigned char *data,
				  const unsigned char *payload, size_t bytes,
				  const struct where *where)
{
	uint64_t number = 0;
	const char *text = NULL;
	size_t length = 0, i;

	switch (test->source) {
	case TB_TEST_FIELD:
		if (test->op == TB_TEST_GLOB || test->op == TB_TEST_EMPTY) {
			if (!reference_text(test, payload, bytes, &text, &length))
				return false;
		} else if (test->offset + test->size > bytes) {
			return false;
		} else {
			number = reference_number(test, payload);
		}
		break;
	case TB_TEST_TID:
		number = where->tid;
		break;
	case TB_TEST_TGID:
		number = where->tgid;
		break;
	case TB_TEST_UID:
		number = where->uid;
		break;
	case TB_TEST_CPU:
		number = where->cpu;
		break;
	case TB_TEST_CONTEXT:
		number = where->context;
		break;
	case TB_TEST_COMM:
		text = where->comm;
		length = sizeof(where->comm);
		break;
	}
	switch (test->op) {
	case TB_TEST_EQ:
		return number == test->value;
	case TB_TEST_LT:
		return test->flags & TB_TEST_SIGNED ?
		       (int64_t)number < (int64_t)test->value :
		       number < test->value;
	case TB_TEST_LE:
		return test->flags & TB_TEST_SIGNED ?
		       (int64_t)number <= (int64_t)test->value :
		       number <= test->value;
	case TB_TEST_BITS:
		return number & test->value;
	case TB_TEST_IN:
		return number < test->data_bytes * 8u &&
		       data[test->data + number / 8] >> number % 8 & 1;
	case TB_TEST_GLOB:
		length = strnlen(text, length);
		return reference_glob((const char *)data + test->data,
				      (const char *)data + test->data +
				      test->data_bytes, text, text + length);
	case TB_TEST_EMPTY:
		for (i = 0; i < length; i++)
			if (text[i])
				return false;
		return true;
	}
	assert(!"unknown test");
	return false;
}

static inline bool reference_run(const struct tb_filter_code *code,
				 const void *payload, size_t bytes,
				 const struct where *where)
{
	uint32_t at = 0, leads;

	if (!code->nr_tests)
		return true;
	for (;;) {
		const struct tb_test *test = &code->tests[at];

		assert(at < code->nr_tests);
		leads = reference_test(test, code->data, payload, bytes, where) ?
			test->yes : test->no;
		if (leads >= TB_TEST_REJECT)
			return leads == TB_TEST_PASS;
		at += 1 + leads;
	}
}

#endif /* TEST_LIB_FILTER_H */
