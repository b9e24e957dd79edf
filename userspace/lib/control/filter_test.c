// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Filters: compile one comparison.  Find the field, check that the value suits it, and find out
 * whether the result is known: a number outside of the field's range is never equal, and always
 * less or greater.
 *
 * Fields and values are compared as numbers, whatever their sizes: a field of one unsigned byte is
 * not equal to -1, nor to 511.
 */
#include <errno.h>
#include <stdio.h>
#include "filter.h"

#define DYNAMIC (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC)

#define CONTEXT_BITS (TB_CONTEXT_SOFTIRQ | TB_CONTEXT_HARDIRQ | TB_CONTEXT_NMI)

/* Names that all events have: those of ftrace, and those of tb_test_source */
static const struct pseudo {
	const char *name;
	enum tb_test_source source;
	bool always;		/* even if the event has a field of that name */
} pseudos[] = {
	{ "common_pid", TB_TEST_TID, true },	{ "tid", TB_TEST_TID, false },
	{ "tgid", TB_TEST_TGID, false },	{ "uid", TB_TEST_UID, false },
	{ "cpu", TB_TEST_CPU, false },		{ "comm", TB_TEST_COMM, false },
	{ "context", TB_TEST_CONTEXT, false },
	{ "TID", TB_TEST_TID, true },		{ "TGID", TB_TEST_TGID, true },
	{ "UID", TB_TEST_UID, true },		{ "CPU", TB_TEST_CPU, true },
	{ "COMM", TB_TEST_COMM, true },		{ "CONTEXT", TB_TEST_CONTEXT, true },
};

#define NR_PSEUDOS (sizeof(pseudos) / sizeof(pseudos[0]))

const char *tb_filter_common(unsigned int index)
{
	return index < NR_PSEUDOS ? pseudos[index].name : NULL;
}

/* A comparison that is being compiled */
struct compare {
	struct filter *filter;
	const struct filter_field *name;
	const struct filter_value *value;
	enum filter_op op;
	size_t op_at;
	struct tb_test test;
	unsigned int bits;		/* size of the number */
	int *node;
};

/* "'prev_prio'", for messages */
#define NAME(compare) (int)(compare)->name->length, (compare)->name->name

static bool named(const struct filter_field *name, const char *text)
{
	return strlen(text) == name->length &&
	       !memcmp(text, name->name, name->length);
}

/* ---- numbers ---- */

void tb_test_number(struct tb_test *test, const struct tb_format_field *field)
{
	test->source = TB_TEST_FIELD;
	test->offset = field->offset;
	test->size = field->width;
	if (field->flags & TB_FIELD_SIGNED)
		test->flags |= TB_TEST_SIGNED;
	if (field->flags & TB_FIELD_BITS) {
		test->bit = field->bit;
		test->bits = field->bits;
	}
}

/* Make the node of a test */
static int leaf(struct compare *compare, enum tb_test_op op, uint64_t value,
		bool negated)
{
	int result;

	compare->test.op = (uint8_t)op;
	compare->test.value = value;
	result = tb_filter_leaf(compare->filter, &compare->test, compare->node);
	if (!result && negated)
		*compare->node = tb_filter_negate(compare->filter, *compare->node);
	return result;
}

static int known(struct compare *compare, bool holds)
{
	*compare->node = holds ? FILTER_ALWAYS : FILTER_NEVER;
	return 0;
}

/* Test whether a bit of the mask is set.  Bits beyond the size of a signed field equal its sign */
static int compare_bits(struct compare *compare, tb_s128 number)
{
	bool is_signed = compare->test.flags & TB_TEST_SIGNED;
	uint64_t all = compare->bits < 64 ? (1ull << compare->bits) - 1 :
		       UINT64_MAX;
	uint64_t mask = (uint64_t)number & all;
	uint64_t sign = 1ull << (compare->bits - 1);

	if (is_signed && (number < 0 || number >> compare->bits))
		mask |= sign;
	if (!mask)
		return known(compare, false);
	if (is_signed && mask & sign)
		mask |= ~all;
	return leaf(compare, TB_TEST_BITS, mask, false);
}

static int compare_range(struct compare *compare, tb_s128 number)
{
	bool is_signed = compare->test.flags & TB_TEST_SIGNED;
	tb_s128 span = (tb_s128)1 << (compare->bits - is_signed);
	tb_s128 min = is_signed ? -span : 0, max = span - 1;
	uint64_t value = (uint64_t)number;

	switch (compare->op) {
	case FILTER_EQ:
	case FILTER_NE:
		if (number < min || number > max)
			return known(compare, compare->op == FILTER_NE);
		return leaf(compare, TB_TEST_EQ, value, compare->op == FILTER_NE);
	case FILTER_LT:
	case FILTER_GE:
		if (number <= min || number > max)
			return known(compare, (number > max) ==
				     (compare->op == FILTER_LT));
		return leaf(compare, TB_TEST_LT, value, compare->op == FILTER_GE);
	default:
		if (number < min || number >= max)
			return known(compare, (number >= max) ==
				     (compare->op == FILTER_LE));
		return leaf(compare, TB_TEST_LE, value, compare->op == FILTER_GT);
	}
}

static int compare_number(struct compare *compare)
{
	const struct filter_value *value = compare->value;

	switch (compare->op) {
	case FILTER_BARE:
		return leaf(compare, TB_TEST_EQ, 0, true);
	case FILTER_LIKE:
	case FILTER_UNLIKE:
		return tb_filter_wrong(compare->filter, -EINVAL, compare->op_at,
				    "'%.*s' is a number: patterns (~) are for text",
				    NAME(compare));
	default:
		break;
	}
	if (value->kind == FILTER_TEXT)
		return tb_filter_wrong(compare->filter, -EINVAL, value->at,
				    "'%.*s' is a number, and is compared with one, not with a text",
				    NAME(compare));
	if (value->kind == FILTER_WORD)
		return tb_filter_wrong(compare->filter, -EINVAL, value->at,
				    "'%.*s' is a number, and is compared with one: the names of constants, as '%.*s', are not known here",
				    NAME(compare),
				    value->length > 40 ? 40 : (int)value->length,
				    value->text);
	return compare->op == FILTER_AND ? compare_bits(compare, value->number) :
	       compare_range(compare, value->number);
}

/* ---- contexts ---- */

/* Convert a value as "irq|softirq" to TB_CONTEXT_* */
static int context_value(struct compare *compare, uint64_t *bits)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} names[] = {
		{ "irq", TB_CONTEXT_HARDIRQ }, { "hardirq", TB_CONTEXT_HARDIRQ },
		{ "softirq", TB_CONTEXT_SOFTIRQ }, { "nmi", TB_CONTEXT_NMI },
		{ "task", 0 },
	};
	const struct filter_value *value = compare->value;
	const char *at = value->text, *end = at + value->length;
	size_t length, i;

	*bits = 0;
	if (value->kind != FILTER_WORD)
		return tb_filter_wrong(compare->filter, -EINVAL, value->at,
				    "'%.*s' is compared with irq, softirq, nmi, several joined by '|', or task",
				    NAME(compare));
	for (; at < end; at += length + (at + length < end)) {
		const char *bar = memchr(at, '|', (size_t)(end - at));

		length = (size_t)((bar ? bar : end) - at);
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strlen(names[i].name) == length &&
			    !memcmp(names[i].name, at, length))
				break;
		if (i == sizeof(names) / sizeof(names[0]))
			return tb_filter_wrong(compare->filter, -EINVAL,
					    value->at + (size_t)(at - value->text),
					    "a context is irq, softirq, nmi or task, not '%.*s'",
					    length > 40 ? 40 : (int)length, at);
		*bits |= names[i].bits;
	}
	return 0;
}

/* Test for exactly these contexts: each has a test of its own, the others have one together */
static int context_is(struct compare *compare, uint64_t bits)
{
	struct compare part = *compare;
	int *node = compare->node, one, result = 0;
	uint64_t bit;

	part.node = &one;
	*node = FILTER_ALWAYS;
	for (bit = 1; bit <= CONTEXT_BITS && !result; bit <<= 1) {
		if (!(bits & bit))
			continue;
		result = leaf(&part, TB_TEST_BITS, bit, false);
		if (!result)
			result = tb_filter_join(part.filter, NODE_ALL, *node,
						one, node);
	}
	if (result || !(CONTEXT_BITS & ~bits))
		return result;
	result = leaf(&part, TB_TEST_BITS, CONTEXT_BITS & ~bits, true);
	return result ? result : tb_filter_join(part.filter, NODE_ALL, *node,
						one, node);
}

static int compare_context(struct compare *compare)
{
	uint64_t bits;
	int result;

	if (compare->op == FILTER_BARE)
		return leaf(compare, TB_TEST_BITS, CONTEXT_BITS, false);
	if (compare->op != FILTER_EQ && compare->op != FILTER_NE &&
	    compare->op != FILTER_AND)
		return tb_filter_wrong(compare->filter, -EINVAL, compare->op_at,
				    "'%.*s' is compared by ==, != or &", NAME(compare));
	result = context_value(compare, &bits);
	if (result)
		return result;
	if (compare->op == FILTER_AND)
		return bits ? leaf(compare, TB_TEST_BITS, bits, false) :
			      known(compare, false);
	result = context_is(compare, bits);
	if (!result && compare->op == FILTER_NE)
		*compare->node = tb_filter_negate(compare->filter, *compare->node);
	return result;
}

/* ---- texts ---- */

/* Return the index of the ']' that ends the '[...]' at @at; @length: there is none */
static size_t set_end(const char *text, size_t length, size_t at)
{
	size_t end = at + 1;

	/* a ']' that comes first is one of the set */
	end += end < length && text[end] == '!';
	end += end < length && text[end] == ']';
	while (end < length && text[end] != ']')
		end++;
	return end;
}

/* Return NULL, or what is wrong with a pattern, at @at */
static const char *pattern_wrong(const char *text, size_t length, size_t *at)
{
	size_t i, end;

	for (i = 0; i < length; i++) {
		*at = i;
		if (text[i] == '\\') {
			if (++i == length)
				return "a pattern cannot end with '\\'";
		} else if (text[i] == '[') {
			if (i + 1 < length && text[i + 1] == '^')
				return "all but these characters is written '[!...]', not '[^...]'";
			end = set_end(text, length, i);
			if (end == length)
				return "the '[' of this pattern has no ']' ('\\[' is a '[')";
			/* in a set the kernel takes '\' as one of the characters */
			for (; i < end; i++, *at = i)
				if (text[i] == '\\' && !strchr("\\\"'", text[++i]))
					return "'\\' does not quote this in '[...]'";
		}
	}
	return NULL;
}

/* Append the value to the data as a pattern; @exact: one that matches just that text */
static int put_pattern(struct compare *compare, bool exact)
{
	const struct filter_value *value = compare->value;
	struct tb_filter_code *code = compare->filter->code;
	unsigned char pattern[TB_GLOB_MAX];
	size_t i, used = 0;

	for (i = 0; i < value->length; i++) {
		char c = value->text[i];
		bool escape = c == '\\' && i + 1 < value->length;

		if (escape)
			c = value->text[++i];
		escape = (escape || exact) && strchr("*?[]\\", c);
		if (used + escape + 1 > sizeof(pattern))
			return tb_filter_wrong(compare->filter, -E2BIG,
					       value->at,
					       "a text to compare with has %d characters at most",
					       TB_GLOB_MAX);
		if (escape)
			pattern[used++] = '\\';
		pattern[used++] = (unsigned char)c;
	}
	if (used > TB_TEST_DATA_MAX - code->data_bytes)
		return tb_filter_wrong(compare->filter, -E2BIG, value->at,
				       "too long: the texts of a filter have %d bytes at most",
				       TB_TEST_DATA_MAX);
	compare->test.data = (uint16_t)code->data_bytes;
	compare->test.data_bytes = (uint16_t)used;
	memcpy(code->data + code->data_bytes, pattern, used);
	code->data_bytes += (uint32_t)used;
	return 0;
}

static int compare_text(struct compare *compare)
{
	static const struct filter_value something = {
		.kind = FILTER_TEXT, .text = "?*", .length = 2,
	};
	const struct filter_value *value = compare->value;
	bool exact = compare->op == FILTER_EQ || compare->op == FILTER_NE;
	bool negated = compare->op == FILTER_NE || compare->op == FILTER_UNLIKE;
	const char *wrong;
	size_t at;
	int result;

	if (compare->op == FILTER_BARE) {
		compare->value = &something;
	} else if (!exact && compare->op != FILTER_LIKE &&
		   compare->op != FILTER_UNLIKE) {
		return tb_filter_wrong(compare->filter, -EINVAL, compare->op_at,
				    "'%.*s' is a text, and is compared by ==, !=, ~ or !~",
				    NAME(compare));
	} else if (value->kind != FILTER_TEXT) {
		return tb_filter_wrong(compare->filter, -EINVAL, value->at,
				    "'%.*s' is a text: write the value in quotes",
				    NAME(compare));
	} else if (!value->length) {
		/* empty is the opposite of "has at least one character" */
		compare->value = &something;
		exact = false;
		negated = !negated;
	}
	value = compare->value;
	wrong = exact ? NULL : pattern_wrong(value->text, value->length, &at);
	if (wrong)
		return tb_filter_wrong(compare->filter, -EINVAL,
				    value->at + 1 + at, "%s", wrong);
	result = put_pattern(compare, exact);
	return result ? result : leaf(compare, TB_TEST_GLOB, 0, negated);
}

/* ---- fields ---- */

static void dynamic(struct compare *compare, const struct tb_format_field *field)
{
	compare->test.offset = field->offset;
	if (field->flags & TB_FIELD_DATA_LOC)
		compare->test.flags |= TB_TEST_DATA_LOC;
	else if (field->flags & TB_FIELD_REL_LOC)
		compare->test.flags |= TB_TEST_REL_LOC;
	else
		compare->test.length = field->size;
}

/* Masks of CPUs and arrays: the only test is whether they are empty */
static int compare_empty(struct compare *compare,
			 const struct tb_format_field *field)
{
	if (compare->op != FILTER_BARE)
		return tb_filter_wrong(compare->filter, -EINVAL, compare->op_at,
				    "'%.*s' (%s) can only be tested for being empty: '!%.*s'",
				    NAME(compare), field->type, NAME(compare));
	dynamic(compare, field);
	return leaf(compare, TB_TEST_EMPTY, 0, true);
}

static int compare_item(struct compare *compare,
			const struct tb_format_field *field)
{
	const struct filter_field *name = compare->name;

	if (!name->has_index)
		return tb_filter_wrong(compare->filter, -EINVAL, name->at,
				    "'%.*s' has %u elements: write the index of one ('%.*s[0]')",
				    NAME(compare), field->count, NAME(compare));
	if (name->index >= field->count)
		return tb_filter_wrong(compare->filter, -EINVAL, name->index_at,
				    "'%.*s' has elements 0 to %u", NAME(compare),
				    field->count - 1);
	tb_test_number(&compare->test, field);
	compare->test.offset = (uint16_t)(field->offset +
					  name->index * field->width);
	compare->bits = field->width * 8u;
	return compare_number(compare);
}

static int compare_field(struct compare *compare,
			 const struct tb_format_field *field)
{
	bool fixed = field->flags & TB_FIELD_ARRAY && !(field->flags & DYNAMIC);
	bool text = tb_field_is_text(field);

	if (field->width && fixed && !text && field->count &&
	    !(field->flags & TB_FIELD_CPUMASK))
		return compare_item(compare, field);
	if (compare->name->has_index)
		return tb_filter_wrong(compare->filter, -EINVAL,
				    compare->name->index_at,
				    "'%.*s' (%s) has no elements that could be compared",
				    NAME(compare), field->type);
	if (text) {
		dynamic(compare, field);
		return compare_text(compare);
	}
	if (field->flags & DYNAMIC)
		return compare_empty(compare, field);
	if (!field->width ||
	    field->flags & (TB_FIELD_CPUMASK | TB_FIELD_ARRAY) ||
	    (field->flags & TB_FIELD_BITS &&
	     (!field->bits || field->bit + field->bits > field->width * 8u)))
		return tb_filter_wrong(compare->filter, -EINVAL, compare->name->at,
				    "'%.*s' (%s) is neither a number nor a text",
				    NAME(compare), field->type);
	tb_test_number(&compare->test, field);
	compare->bits = field->flags & TB_FIELD_BITS ? field->bits :
			field->width * 8u;
	return compare_number(compare);
}

static int compare_common(struct compare *compare, const struct pseudo *pseudo)
{
	if (compare->name->has_index)
		return tb_filter_wrong(compare->filter, -EINVAL,
				    compare->name->index_at,
				    "'%.*s' has no elements", NAME(compare));
	compare->test.source = (uint8_t)pseudo->source;
	compare->bits = 32;
	switch (pseudo->source) {
	case TB_TEST_COMM:
		return compare_text(compare);
	case TB_TEST_CONTEXT:
		return compare_context(compare);
	default:
		return compare_number(compare);
	}
}

int tb_filter_compare(struct filter *filter, const struct filter_field *name,
		   enum filter_op op, size_t op_at,
		   const struct filter_value *value, int *node)
{
	const struct tb_format *format = filter->format;
	struct compare compare = {
		.filter = filter, .name = name, .op = op, .op_at = op_at,
		.value = value, .node = node,
	};
	const struct pseudo *pseudo = NULL;
	uint32_t i;

	for (i = 0; i < NR_PSEUDOS; i++)
		if (named(name, pseudos[i].name))
			pseudo = &pseudos[i];
	for (i = 0; i < format->nr_fields && !(pseudo && pseudo->always); i++)
		if (named(name, format->fields[i].name))
			return compare_field(&compare, &format->fields[i]);
	if (pseudo)
		return compare_common(&compare, pseudo);
	return tb_filter_wrong(filter, -ENOENT, name->at,
			    "%s:%s has no field '%.*s'", format->system, format->name,
			    name->length > TB_NAME_MAX ? TB_NAME_MAX :
			    (int)name->length, name->name);
}
