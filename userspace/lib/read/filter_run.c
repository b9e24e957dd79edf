// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run a compiled filter on an event of a trace, as the kernel does before it records one.
 */
#include <fnmatch.h>
#include <string.h>
#include "internal.h"

/* Offsets in DATA_LOC words count from this many bytes before the payload */
#define DATA_LOC_BASE 8

/* An event that is tested */
struct event {
	const struct tb_filter_code *code;
	const struct tb_view *view;
};

/* The number that @test compares; false: the event has none, or the trace does not know it */
static bool number_of(const struct event *event, const struct tb_test *test, uint64_t *number)
{
	const struct tb_view *view = event->view;
	uint64_t value = 0;
	unsigned int unused;

	switch (test->source) {
	case TB_TEST_FIELD:
		break;
	case TB_TEST_TID:
		*number = view->tid;
		return true;
	case TB_TEST_TGID:
		*number = view->task ? view->task->tgid : 0;
		return view->tid == 0 || *number;
	case TB_TEST_UID:
		*number = view->task ? view->task->uid : 0;
		return view->tid == 0 || (view->task && view->task->flags & TB_TASK_LISTED);
	case TB_TEST_CPU:
		*number = view->cpu;
		return true;
	case TB_TEST_CONTEXT:
		*number = view->context;
		return true;
	default:
		return false;
	}
	if (!test->size || test->size > sizeof(value) ||
	    (size_t)test->offset + test->size > view->length)
		return false;
	memcpy(&value, (const unsigned char *)view->payload + test->offset, test->size);
	if (test->bits) {
		if (test->bit + test->bits > 64)
			return false;
		value <<= 64 - test->bit - test->bits;
		unused = 64 - test->bits;
	} else {
		unused = 64 - 8 * test->size;
		value <<= unused;
	}
	/* fill the upper bits with zeros, or with copies of the sign */
	*number = test->flags & TB_TEST_SIGNED ? (uint64_t)((int64_t)value >> unused) :
						 value >> unused;
	return true;
}

/* The text or array that @test looks at; false: it is not within the event */
static bool extent_of(const struct event *event, const struct tb_test *test,
		      const unsigned char **from, size_t *length)
{
	const struct tb_view *view = event->view;
	size_t at = test->offset;
	uint32_t word;

	*length = test->length;
	if (test->flags & (TB_TEST_DATA_LOC | TB_TEST_REL_LOC)) {
		if (at + sizeof(word) > view->length)
			return false;
		memcpy(&word, (const unsigned char *)view->payload + at, sizeof(word));
		*length = word >> 16;
		if (test->flags & TB_TEST_REL_LOC) {
			at += sizeof(word) + (word & 0xffff);
		} else if (!word) {
			at = 0;		/* the event has no such text: it is empty */
		} else {
			if ((word & 0xffff) < DATA_LOC_BASE)
				return false;
			at = (word & 0xffff) - DATA_LOC_BASE;
		}
	}
	if (at > view->length || *length > view->length - at)
		return false;
	*from = (const unsigned char *)view->payload + at;
	return true;
}

static bool text_matches(const struct event *event, const struct tb_test *test)
{
	char pattern[TB_GLOB_MAX + 1], text[TB_TEXT_MAX + 1];
	const unsigned char *from;
	size_t length;

	if (test->source == TB_TEST_COMM) {
		from = (const unsigned char *)event->view->comm;
		length = from ? strlen(event->view->comm) : 0;
		if (!from || (!event->view->task && event->view->tid))
			return false;
	} else if (!extent_of(event, test, &from, &length)) {
		return false;
	}
	if (test->data_bytes > TB_GLOB_MAX)
		return false;
	if (length > TB_TEXT_MAX)
		length = TB_TEXT_MAX;
	memcpy(text, from, length);
	text[length] = 0;
	memcpy(pattern, event->code->data + test->data, test->data_bytes);
	pattern[test->data_bytes] = 0;
	return !fnmatch(pattern, text, 0);
}

static bool is_empty(const struct event *event, const struct tb_test *test)
{
	const unsigned char *from;
	size_t length;

	if (!extent_of(event, test, &from, &length))
		return false;
	while (length && !*from) {
		from++;
		length--;
	}
	return !length;
}

static bool is_true(const struct event *event, const struct tb_test *test)
{
	uint64_t number;

	if (test->op == TB_TEST_GLOB)
		return text_matches(event, test);
	if (test->op == TB_TEST_EMPTY)
		return is_empty(event, test);
	if (!number_of(event, test, &number))
		return false;
	switch (test->op) {
	case TB_TEST_EQ:
		return number == test->value;
	case TB_TEST_LT:
		return test->flags & TB_TEST_SIGNED ? (int64_t)number < (int64_t)test->value :
						      number < test->value;
	case TB_TEST_LE:
		return test->flags & TB_TEST_SIGNED ? (int64_t)number <= (int64_t)test->value :
						      number <= test->value;
	case TB_TEST_BITS:
		return number & test->value;
	case TB_TEST_IN:
		return number / 8 < test->data_bytes &&
		       event->code->data[test->data + number / 8] >> (number % 8) & 1;
	default:
		return false;
	}
}

int tb_filter_matches(const struct tb_filter_code *code, const struct tb_view *view)
{
	const struct event event = { code, view };
	uint32_t i = 0, to = code->verdict == TB_FILTER_NEVER ? TB_TEST_REJECT : TB_TEST_PASS;

	while (i < code->nr_tests) {
		to = is_true(&event, &code->tests[i]) ? code->tests[i].yes : code->tests[i].no;
		i += 1 + to;
	}
	/* TB_TEST_PASS and TB_TEST_REJECT are larger than any jump, so they end the loop */
	return to == TB_TEST_PASS;
}
