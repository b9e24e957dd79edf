// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run a compiled filter on an event of a trace, as the kernel does before it records one.
 */
#include <stdio.h>
#include <string.h>
#include "internal.h"

/* Offsets in DATA_LOC words count from this many bytes before the payload */
#define DATA_LOC_BASE 8

/* An event that is tested; @unknown: the trace does not know a value that was asked for */
struct event {
	const struct tb_filter_code *code;
	const struct tb_view *view;
	bool unknown;
};

/* The number that @test compares; false: the event has none, or it is unknown */
static bool number_of(struct event *event, const struct tb_test *test, uint64_t *number)
{
	const struct tb_view *view = event->view;
	bool listed = view->task && view->task->flags & TB_TASK_LISTED;
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
		event->unknown |= view->tid && !*number;
		return true;
	case TB_TEST_UID:
		*number = view->task ? view->task->uid : 0;
		event->unknown |= view->tid && !listed;
		return true;
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

/* Does the set at *@at, behind its '[', contain @byte?  Moves *@at behind its ']' */
static bool set_has(const unsigned char **at, const unsigned char *end, unsigned char byte)
{
	const unsigned char *from = *at;
	bool inverted = from < end && *from == '!', found = false;
	unsigned char first, last;

	from += inverted;
	/* a ']' at the beginning is a member */
	do {
		if (from >= end)
			break;
		first = last = *from;
		if (end - from > 2 && from[1] == '-' && from[2] != ']') {
			last = from[2];
			from += 2;
		}
		found |= byte >= first && byte <= last;
		from++;
	} while (from < end && *from != ']');
	*at = from < end ? from + 1 : end;
	return found != inverted;
}

/* '*', '?', '[a-z]', '[!a-z]' and '\\' as the kernel's filters have them, on bytes */
static bool glob_matches(const unsigned char *pattern, const unsigned char *end,
			 const unsigned char *text, const unsigned char *text_end)
{
	const unsigned char *star = NULL, *retry = NULL, *next;
	bool fits;

	while (pattern < end || text < text_end) {
		next = pattern;
		fits = false;
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			retry = text;
			continue;
		}
		if (pattern < end && text < text_end) {
			next++;
			if (*pattern == '[') {
				fits = set_has(&next, end, *text);
			} else if (*pattern == '?') {
				fits = true;
			} else {
				if (*pattern == '\\' && next < end)
					pattern = next++;
				fits = *pattern == *text;
			}
		}
		if (fits) {
			pattern = next;
			text++;
		} else if (star && retry < text_end) {
			/* let the last '*' take one byte more */
			pattern = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	return true;
}

static bool text_matches(struct event *event, const struct tb_test *test)
{
	const unsigned char *from, *pattern = event->code->data + test->data;
	const struct tb_view *view = event->view;
	char idle[TB_COMM_LEN];
	size_t length;

	if (test->source == TB_TEST_COMM) {
		/* the name that the kernel has for the idle thread */
		snprintf(idle, sizeof(idle), "swapper/%u", view->cpu);
		event->unknown |= view->tid && (!view->task || !view->task->comm[0]);
		from = (const unsigned char *)(view->tid ? view->comm : idle);
		length = from ? strlen((const char *)from) : 0;
	} else if (!extent_of(event, test, &from, &length)) {
		return false;
	}
	if (length > TB_TEXT_MAX)
		length = TB_TEXT_MAX;
	return from && glob_matches(pattern, pattern + test->data_bytes, from,
				    from + strnlen((const char *)from, length));
}

static bool is_empty(struct event *event, const struct tb_test *test)
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

static bool is_true(struct event *event, const struct tb_test *test)
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
	struct event event = { code, view, false };
	uint32_t i = 0, to = code->verdict == TB_FILTER_NEVER ? TB_TEST_REJECT : TB_TEST_PASS;

	while (i < code->nr_tests) {
		to = is_true(&event, &code->tests[i]) ? code->tests[i].yes : code->tests[i].no;
		i += 1 + to;
	}
	/* TB_TEST_PASS and TB_TEST_REJECT are larger than any jump, so they end the loop */
	return to == TB_TEST_PASS && !event.unknown;
}
