/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: the filter compiler.  filter.c parses an expression and writes its tests;
 * filter_test.c makes the test of one comparison.
 */
#ifndef TB_FILTER_H
#define TB_FILTER_H

#include "lib/read/internal.h"

__extension__ typedef __int128 tb_s128;

enum filter_op {
	FILTER_EQ, FILTER_NE, FILTER_LT, FILTER_LE, FILTER_GT, FILTER_GE,
	FILTER_AND,		/* at least one of these bits is set */
	FILTER_LIKE, FILTER_UNLIKE,
	FILTER_BARE,		/* no operator: the field is not zero, or not empty */
};

enum filter_value_kind {
	FILTER_NUMBER, FILTER_TEXT, FILTER_WORD,
};

/**
 * struct filter_value - the right side of a comparison
 * @kind: enum filter_value_kind
 * @at: its column in the expression, from 0
 * @number: the value of FILTER_NUMBER
 * @text: a text without its quotes, or a word; not terminated
 * @length: length of @text
 */
struct filter_value {
	enum filter_value_kind kind;
	size_t at;
	tb_s128 number;
	const char *text;
	size_t length;
};

/**
 * struct filter_field - the left side of a comparison
 * @name: as written, not terminated
 * @length: length of @name
 * @at: its column
 * @has_index: it has an index, @index, at column @index_at
 */
struct filter_field {
	const char *name;
	size_t length, at;
	bool has_index;
	uint32_t index;
	size_t index_at;
};

/* Nodes that are constants; not in the array of nodes */
enum {
	FILTER_NEVER  = -1,
	FILTER_ALWAYS = -2,
};

struct filter_node {
	enum { NODE_TEST, NODE_ALL, NODE_ANY } kind;
	bool negated;
	int  left, right;
	unsigned int leaves;	/* number of tests in it */
	struct tb_test test;
};

/* State of the compiler */
struct filter {
	const char *text;
	const struct tb_format *format;
	size_t at;		/* column of the next character */
	unsigned int depth;	/* open parentheses */
	struct filter_node *nodes;
	size_t nr_nodes, room_nodes;
	struct tb_filter_code *code;
	struct tb_error *error;
};

/* Write "column N: ..." to the error; returns @code */
__attribute__((format(printf, 4, 5)))
int tb_filter_wrong(struct filter *filter, int code, size_t at,
		    const char *text, ...);

/* Make a node of a test; join two nodes; negate a node.  0 or -errno; negate: the node */
int tb_filter_leaf(struct filter *filter, const struct tb_test *test, int *node);
int tb_filter_join(struct filter *filter, int kind, int left, int right,
		   int *node);
int tb_filter_negate(struct filter *filter, int node);

/* filter_test.c: set the place of a number in a test */
void tb_test_number(struct tb_test *test, const struct tb_format_field *field);

/* filter_test.c: make the node of "field op value" */
int tb_filter_compare(struct filter *filter, const struct filter_field *name,
		      enum filter_op op, size_t op_at,
		      const struct filter_value *value, int *node);

#endif /* TB_FILTER_H */
