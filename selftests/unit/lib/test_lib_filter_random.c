// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random filters pass exactly the random events for which evaluate() finds the expression true.
 * If this fails, some filter passes wrong events.
 */
#include <stddef.h>
#include "test_lib_filter_run.h"

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

/* Fields in pairs, so that random values are equal at times */
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

/* Values near the limits of some width, mostly */
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

/* An expression as a tree; evaluate() defines its meaning, independent of the compiler */
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

/* Write the expression, with the necessary parentheses and some others */
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
	/* both results must be frequent, or the test proves little */
	CHECK(passed > run / 10 && passed < run * 9 / 10);
	CHECK(depends > i / 2);
	end();
}

static const struct test tests[] = {
	{ "filter: random expressions over random events", random_expressions },
};

TEST_MAIN(tests)
