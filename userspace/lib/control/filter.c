// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Filters: compile "prev_prio < 100 && next_comm ~ 'ff*'" to the tests that the kernel runs (struct
 * tb_test).
 *
 * The parser makes a tree, in which a comparison with a known result is a constant.  lay_out()
 * writes the tests from left to right.  Each test has a successor if it holds and one if not, so
 * "&&" and "||" stop as soon as the result is known, and "!" costs nothing.
 *
 *	any:     all { "||" all }
 *	all:     single { "&&" single }
 *	single:  "!" single | "(" any ")" | field [ operator value ]
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "filter.h"

#define NODES_MAX 1024	/* in a tree; this also limits its depth */
#define DEPTH_MAX 64	/* nested parentheses */

int tb_filter_wrong(struct filter *filter, int code, size_t at,
		 const char *text, ...)
{
	char what[200];
	va_list arguments;

	va_start(arguments, text);
	vsnprintf(what, sizeof(what), text, arguments);
	va_end(arguments);
	return tb_error_set(filter->error, code, at, "column %zu: %s", at + 1,
			    what);
}

/* ---- the tree ---- */

static int new_node(struct filter *filter, int *node)
{
	if (filter->nr_nodes == NODES_MAX)
		return tb_filter_wrong(filter, -E2BIG, filter->at,
				    "too long: a filter has at most %d tests",
				    TB_TESTS_MAX);
	if (tb_array_grow(&filter->nodes, &filter->room_nodes,
			  filter->nr_nodes, sizeof(*filter->nodes)))
		return tb_error_set(filter->error, -ENOMEM, TB_OFFSET_NONE,
				    "out of memory");
	*node = (int)filter->nr_nodes++;
	memset(&filter->nodes[*node], 0, sizeof(*filter->nodes));
	return 0;
}

int tb_filter_leaf(struct filter *filter, const struct tb_test *test, int *node)
{
	int result = new_node(filter, node);

	if (result)
		return result;
	filter->nodes[*node].kind = NODE_TEST;
	filter->nodes[*node].leaves = 1;
	filter->nodes[*node].test = *test;
	return 0;
}

/* Join two nodes by @kind, NODE_ALL or NODE_ANY; a constant side decides the result or drops out */
int tb_filter_join(struct filter *filter, int kind, int left, int right,
		int *node)
{
	int decides = kind == NODE_ALL ? FILTER_NEVER : FILTER_ALWAYS;
	struct filter_node *new;
	int result;

	if (left == decides || right == decides) {
		*node = decides;
		return 0;
	}
	if (left < 0 || right < 0) {
		*node = left < 0 ? right : left;
		return 0;
	}
	result = new_node(filter, node);
	if (result)
		return result;
	new = &filter->nodes[*node];
	new->kind = kind;
	new->left = left;
	new->right = right;
	new->leaves = filter->nodes[left].leaves + filter->nodes[right].leaves;
	return 0;
}

int tb_filter_negate(struct filter *filter, int node)
{
	if (node < 0)
		return node == FILTER_NEVER ? FILTER_ALWAYS : FILTER_NEVER;
	filter->nodes[node].negated = !filter->nodes[node].negated;
	return node;
}

/* ---- tokens ---- */

static void skip_space(struct filter *filter)
{
	filter->at += strspn(filter->text + filter->at, " \t\n");
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t word_length(const char *text)
{
	size_t length = 0;

	while (is_letter(text[length]) || is_digit(text[length]))
		length++;
	return length;
}

/* Skip @token if it comes next; true if so */
static bool take(struct filter *filter, const char *token)
{
	skip_space(filter);
	if (strncmp(filter->text + filter->at, token, strlen(token)))
		return false;
	filter->at += strlen(token);
	return true;
}

static int take_digits(struct filter *filter, uint64_t *number)
{
	const char *text = filter->text + filter->at;
	unsigned int base = 10, digit;
	size_t at = 0;

	*number = 0;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		at = 2;
	} else if (text[0] == '0') {
		base = 8;
	}
	do {
		if (is_digit(text[at]))
			digit = (unsigned int)(text[at] - '0');
		else if (is_letter(text[at]) && text[at] != '_')
			digit = (unsigned int)((text[at] | 0x20) - 'a') + 10;
		else
			digit = base;
		if (digit >= base)
			return tb_filter_wrong(filter, -EINVAL, filter->at,
				"'%.*s' is not a number: they are written 10, 0xa or 012",
				(int)word_length(text), text);
		if (*number > (UINT64_MAX - digit) / base)
			return tb_filter_wrong(filter, -EINVAL, filter->at,
				"'%.*s' is more than 64 bits hold",
				(int)word_length(text), text);
		*number = *number * base + digit;
		at++;
	} while (word_length(text + at));
	filter->at += at;
	return 0;
}

/* Take a text up to the closing quote; "\" quotes the character after it */
static int take_text(struct filter *filter, struct filter_value *value)
{
	const char *text = filter->text + filter->at;
	char quote = text[0];
	size_t at = 1;

	while (text[at] && text[at] != quote)
		at += text[at] == '\\' && text[at + 1] ? 2 : 1;
	if (!text[at])
		return tb_filter_wrong(filter, -EINVAL, filter->at,
				    "the text that begins with %c here does not end",
				    quote);
	value->kind = FILTER_TEXT;
	value->text = text + 1;
	value->length = at - 1;
	filter->at += at + 1;
	return 0;
}

static int take_value(struct filter *filter, struct filter_value *value)
{
	const char *text;
	uint64_t number;
	bool negative;
	int result;

	skip_space(filter);
	text = filter->text + filter->at;
	value->at = filter->at;
	if (*text == '"' || *text == '\'')
		return take_text(filter, value);
	if (is_letter(*text)) {
		value->kind = FILTER_WORD;
		value->text = text;
		do {
			text += word_length(text);
			text += *text == '|' && is_letter(text[1]);
		} while (is_letter(*text));
		value->length = (size_t)(text - value->text);
		filter->at += value->length;
		return 0;
	}
	negative = *text == '-';
	if (!is_digit(text[negative]))
		return tb_filter_wrong(filter, -EINVAL, filter->at,
				    "a value is missing: a number, or a text in quotes");
	filter->at += negative;
	result = take_digits(filter, &number);
	value->kind = FILTER_NUMBER;
	value->number = negative ? -(tb_s128)number : (tb_s128)number;
	return result;
}

static int take_field(struct filter *filter, struct filter_field *field)
{
	const char *text;
	uint64_t index;
	int result;

	skip_space(filter);
	text = filter->text + filter->at;
	memset(field, 0, sizeof(*field));
	field->at = filter->at;
	if (!*text)
		return tb_filter_wrong(filter, -EINVAL, filter->at,
				    "a comparison is missing: it begins with the name of a field");
	if (!is_letter(*text))
		return tb_filter_wrong(filter, -EINVAL, filter->at,
				    "the name of a field is expected here, not '%.*s': comparisons are written 'field == value'",
				    (int)(strcspn(text, " \t\n") > 20 ? 20 :
					  strcspn(text, " \t\n")), text);
	field->name = text;
	field->length = word_length(text);
	filter->at += field->length;
	if (!take(filter, "["))
		return 0;
	skip_space(filter);
	field->has_index = true;
	field->index_at = filter->at;
	if (!is_digit(filter->text[filter->at]))
		return tb_filter_wrong(filter, -EINVAL, filter->at,
				    "between [ and ] there is a number");
	result = take_digits(filter, &index);
	if (result)
		return result;
	field->index = index > UINT32_MAX ? UINT32_MAX : (uint32_t)index;
	if (!take(filter, "]"))
		return tb_filter_wrong(filter, -EINVAL, filter->at, "']' is missing");
	return 0;
}

/* Take an operator, preferring longer ones; FILTER_BARE: there is none */
static int take_operator(struct filter *filter, enum filter_op *op)
{
	static const struct {
		const char *text;
		enum filter_op op;
	} operators[] = {
		{ "==", FILTER_EQ }, { "!=", FILTER_NE }, { "<=", FILTER_LE },
		{ ">=", FILTER_GE }, { "!~", FILTER_UNLIKE },
		{ "<", FILTER_LT }, { ">", FILTER_GT }, { "&", FILTER_AND },
		{ "~", FILTER_LIKE },
	};
	const char *text;
	size_t i;

	skip_space(filter);
	text = filter->text + filter->at;
	*op = FILTER_BARE;
	if (!*text || *text == ')' || !strncmp(text, "&&", 2) ||
	    !strncmp(text, "||", 2))
		return 0;
	if (!strncmp(text, "=~", 2))
		return tb_filter_wrong(filter, -EINVAL, filter->at,
				    "there is no '=~': '~' compares with a pattern as in a shell");
	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (take(filter, operators[i].text)) {
			*op = operators[i].op;
			return 0;
		}
	if (*text == '=')
		return tb_filter_wrong(filter, -EINVAL, filter->at,
				    "'=' is not an operator: '==' compares");
	return tb_filter_wrong(filter, -EINVAL, filter->at,
			    "an operator is expected here: one of == != < <= > >= & ~ !~ && ||");
}

/* ---- the expression ---- */

static int any(struct filter *filter, int *node);

static int comparison(struct filter *filter, int *node)
{
	struct filter_value value = { .kind = FILTER_NUMBER };
	struct filter_field field;
	enum filter_op op;
	size_t op_at;
	int result;

	result = take_field(filter, &field);
	if (result)
		return result;
	skip_space(filter);
	op_at = filter->at;
	result = take_operator(filter, &op);
	if (!result && op != FILTER_BARE)
		result = take_value(filter, &value);
	if (result)
		return result;
	return tb_filter_compare(filter, &field, op, op_at, &value, node);
}

static int single(struct filter *filter, int *node)
{
	bool negated = false;
	size_t opened;
	int result;

	while (take(filter, "!"))
		negated = !negated;
	opened = filter->at;
	if (take(filter, "(")) {
		if (filter->depth == DEPTH_MAX)
			return tb_filter_wrong(filter, -E2BIG, opened,
					    "more than %d parentheses in one another",
					    DEPTH_MAX);
		filter->depth++;
		result = any(filter, node);
		filter->depth--;
		if (!result && !take(filter, ")"))
			result = tb_filter_wrong(filter, -EINVAL, opened,
					      "the '(' here is not closed");
	} else {
		result = comparison(filter, node);
	}
	if (!result && negated)
		*node = tb_filter_negate(filter, *node);
	return result;
}

static int all(struct filter *filter, int *node)
{
	int result = single(filter, node), right;

	while (!result && take(filter, "&&")) {
		result = single(filter, &right);
		if (!result)
			result = tb_filter_join(filter, NODE_ALL, *node, right, node);
	}
	return result;
}

static int any(struct filter *filter, int *node)
{
	int result = all(filter, node), right;

	while (!result && take(filter, "||")) {
		result = all(filter, &right);
		if (!result)
			result = tb_filter_join(filter, NODE_ANY, *node, right, node);
	}
	return result;
}

/* ---- the tests ---- */

/* Distance from test @from to test @to, or the constant @to itself */
static uint16_t leads(unsigned int from, unsigned int to)
{
	return to >= TB_TEST_REJECT ? (uint16_t)to : (uint16_t)(to - from - 1);
}

/* Write the tests of @node from number @first on; they lead to @yes or @no */
static void lay_out(struct filter *filter, int node, unsigned int first,
		    unsigned int yes, unsigned int no)
{
	const struct filter_node *at = &filter->nodes[node];
	unsigned int swap, second;
	struct tb_test *test;

	if (at->negated) {
		swap = yes;
		yes = no;
		no = swap;
	}
	if (at->kind == NODE_TEST) {
		test = &filter->code->tests[first];
		*test = at->test;
		test->yes = leads(first, yes);
		test->no = leads(first, no);
		return;
	}
	second = first + filter->nodes[at->left].leaves;
	if (at->kind == NODE_ALL)
		lay_out(filter, at->left, first, second, no);
	else
		lay_out(filter, at->left, first, yes, second);
	lay_out(filter, at->right, second, yes, no);
}

static int make_code(struct filter *filter, int node)
{
	struct tb_filter_code *code = filter->code;

	if (node == FILTER_ALWAYS) {
		code->verdict = TB_FILTER_ALWAYS;
		code->data_bytes = 0;
		return 0;
	}
	if (node == FILTER_NEVER) {
		/* a code without tests would pass all events: use one that rejects all */
		code->verdict = TB_FILTER_NEVER;
		code->data_bytes = 0;
		code->nr_tests = 1;
		code->tests[0].op = TB_TEST_EQ;
		code->tests[0].source = TB_TEST_CPU;
		code->tests[0].yes = TB_TEST_REJECT;
		code->tests[0].no = TB_TEST_REJECT;
		return 0;
	}
	code->nr_tests = filter->nodes[node].leaves;
	if (code->nr_tests > TB_TESTS_MAX)
		return tb_error_set(filter->error, -E2BIG, TB_OFFSET_NONE,
				    "too long: it takes %u tests, a filter has at most %d",
				    code->nr_tests, TB_TESTS_MAX);
	lay_out(filter, node, 0, TB_TEST_PASS, TB_TEST_REJECT);
	return 0;
}

int tb_filter_compile(const char *text, const struct tb_format *format,
		      struct tb_filter_code *code, struct tb_error *error)
{
	struct filter filter = {
		.text = text, .format = format, .code = code, .error = error,
	};
	int result, node;

	memset(code, 0, sizeof(*code));
	result = any(&filter, &node);
	skip_space(&filter);
	if (!result && text[filter.at])
		result = tb_filter_wrong(&filter, -EINVAL, filter.at,
				      text[filter.at] == ')' ?
				      "there is no '(' for this ')'" :
				      "'&&' or '||' is expected here");
	if (!result)
		result = make_code(&filter, node);
	free(filter.nodes);
	return result;
}

int tb_filter_one_of(struct tb_filter_code *code,
		     const struct tb_format *format, const char *name,
		     const void *bits, size_t bytes, struct tb_error *error)
{
	const struct tb_format_field *field = tb_format_field(format, name);
	struct tb_test test = { .op = TB_TEST_IN, .no = TB_TEST_REJECT };

	if (!field || !field->width ||
	    field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC |
			    TB_FIELD_ARRAY | TB_FIELD_STRING | TB_FIELD_CPUMASK))
		return tb_error_set(error, -ENOENT, TB_OFFSET_NONE,
				    "%s:%s has no number '%s'", format->system,
				    format->name, name);
	if (code->nr_tests == TB_TESTS_MAX ||
	    bytes > TB_TEST_DATA_MAX - code->data_bytes)
		return tb_error_set(error, -E2BIG, TB_OFFSET_NONE,
				    "too long: it takes more than %d tests or %d bytes of patterns",
				    TB_TESTS_MAX, TB_TEST_DATA_MAX);
	tb_test_number(&test, field);
	test.data = (uint16_t)code->data_bytes;
	test.data_bytes = (uint16_t)bytes;
	test.yes = code->nr_tests ? 0 : TB_TEST_PASS;
	memcpy(code->data + code->data_bytes, bits, bytes);
	code->data_bytes += (uint32_t)bytes;
	/* distances between the other tests stay the same when they move */
	memmove(code->tests + 1, code->tests,
		code->nr_tests * sizeof(code->tests[0]));
	code->tests[0] = test;
	code->nr_tests++;
	if (code->verdict == TB_FILTER_ALWAYS)
		code->verdict = TB_FILTER_DEPENDS;
	return 0;
}
