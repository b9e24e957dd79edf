/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The filter compiler, inside: filter.c reads an expression and lays out its
 * tests, filter_test.c makes the single test of a field and a value.
 */
#ifndef TB_FILTER_H
#define TB_FILTER_H

#include "lib/read/internal.h"

__extension__ typedef __int128 tb_s128;

enum filter_op {
	FILTER_EQ, FILTER_NE, FILTER_LT, FILTER_LE, FILTER_GT, FILTER_GE,
	FILTER_AND,		/* has one of these bits */
	FILTER_LIKE, FILTER_UNLIKE,
	FILTER_BARE,		/* is not zero, not empty */
};

enum filter_value_kind {
	FILTER_NUMBER, FILTER_TEXT, FILTER_WORD,
};

/**
 * struct filter_value - what a field is compared with
 * @kind: enum filter_value_kind
 * @at: where it stands in the expression
 * @number: a number
 * @text: a text without its quotes, or a word; not terminated
 * @length: of these
 */
struct filter_value {
	enum filter_value_kind kind;
	size_t at;
	tb_s128 number;
	const char *text;
	size_t length;
};

/**
 * struct filter_field - what stands left of an operator
 * @name: as typed, not terminated
 * @length: of it
 * @at: where
 * @has_index: with an index, @index, at @index_at
 */
struct filter_field {
	const char *name;
	size_t length, at;
	bool has_index;
	uint32_t index;
	size_t index_at;
};

/* Constants among the nodes of a tree, and what is no node */
enum {
	FILTER_NEVER  = -1,
	FILTER_ALWAYS = -2,
};

struct filter_node {
	enum { NODE_TEST, NODE_ALL, NODE_ANY } kind;
	bool negated;
	int  left, right;
	unsigned int leaves;	/* tests in it */
	struct tb_test test;
};

/* One expression while it is compiled */

struct filter {
	const char *text;
	const struct tb_format *format;
	size_t at;		/* the next character */
	unsigned int depth;	/* of parentheses */
	struct filter_node *nodes;
	size_t nr_nodes, room_nodes;
	struct tb_filter_code *code;
	struct tb_error *error;
};

/* "column N: ..." into the error; returns @code */
__attribute__((format(printf, 4, 5)))
int tb_filter_wrong(struct filter *filter, int code, size_t at,
		    const char *text, ...);

/* A node that is this test, two that are joined, one turned round; 0 or -errno */
int tb_filter_leaf(struct filter *filter, const struct tb_test *test, int *node);
int tb_filter_join(struct filter *filter, int kind, int left, int right,
		   int *node);
int tb_filter_negate(struct filter *filter, int node);

/* filter_test.c: where a number is, for a test of it */
void tb_test_number(struct tb_test *test, const struct tb_format_field *field);

/* filter_test.c: the node of "field op value" */
int tb_filter_compare(struct filter *filter, const struct filter_field *name,
		      enum filter_op op, size_t op_at,
		      const struct filter_value *value, int *node);

#endif /* TB_FILTER_H */
