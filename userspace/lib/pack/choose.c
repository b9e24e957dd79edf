// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Choose a predictor for each column: try all possible ones on some rows, and take the one whose
 * differences have the lowest entropy, byte by byte.
 */
#include <stdlib.h>
#include "column.h"

#define TRIALS	20
#define LOOK_BACK 6		/* a column may be predicted from this many columns before it */
#define ENOUGH	8		/* rows needed for a choice */

struct trial {
	struct column column;
	uint32_t (*counts)[256];	/* histogram of each byte of the differences */
};

/* The predictors that are tried for a column */
struct trials {
	struct trial trial[TRIALS];
	unsigned int count;
};

struct shape {
	struct cut *cut;
	uint32_t rows;
	struct trials *columns;
};

struct chooser {
	struct shape *shapes;
	size_t nr_shapes, room_shapes;
	struct shape *last;
	/* one table for each name: columns of that name may share it */
	uint32_t names[PACK_GROUPS];
	unsigned int nr_names;
	uint64_t (*groups)[PACK_SLOTS];
};

struct chooser *chooser_open(void)
{
	struct chooser *chooser = calloc(1, sizeof(*chooser));

	if (chooser)
		chooser->groups = calloc(PACK_GROUPS, sizeof(*chooser->groups));
	if (chooser && chooser->groups)
		return chooser;
	free(chooser);
	return NULL;
}

void chooser_free(struct chooser *chooser)
{
	size_t i;
	unsigned int j, k;

	if (!chooser)
		return;
	for (i = 0; i < chooser->nr_shapes; i++) {
		struct shape *shape = &chooser->shapes[i];

		for (j = 0; j < shape->cut->shape.columns; j++)
			for (k = 0; k < shape->columns[j].count; k++) {
				free(shape->columns[j].trial[k].column.table);
				free(shape->columns[j].trial[k].counts);
			}
		free(shape->columns);
	}
	free(chooser->shapes);
	free(chooser->groups);
	free(chooser);
}

static uint8_t group_of(struct chooser *chooser, uint32_t name)
{
	unsigned int i;

	for (i = 0; name && i < chooser->nr_names; i++)
		if (chooser->names[i] == name)
			return (uint8_t)(i + 1);
	if (!name || i == PACK_GROUPS)
		return 0;
	chooser->names[chooser->nr_names++] = name;
	return (uint8_t)(i + 1);
}

/* ---- trials ---- */

static bool try_one(struct trials *trials, const struct column *column, unsigned int predictor,
		    unsigned int argument)
{
	struct trial *trial = &trials->trial[trials->count];

	if (trials->count == TRIALS)
		return true;
	trial->column = *column;
	trial->column.is.predictor = (uint8_t)predictor;
	trial->column.is.argument = (uint8_t)argument;
	trial->counts = calloc((column->is.bits + 7u) / 8, sizeof(*trial->counts));
	if (needs_table(predictor))
		trial->column.table = calloc(2 * PACK_SLOTS, sizeof(uint64_t));
	trials->count++;
	return trial->counts && (!needs_table(predictor) || trial->column.table);
}

static bool try_columns(struct trials *trials, const struct column *column,
			const struct cut *cut, unsigned int at)
{
	unsigned int first = first_column(cut->shape.structure), j;
	bool fine = true;

	for (j = at > LOOK_BACK ? at - LOOK_BACK : 0; j < at; j++) {
		/* of the columns of all events only the thread helps, by its own predictors */
		if (j < first)
			continue;
		fine = fine && try_one(trials, column, PREDICT_COLUMN, j) &&
		       try_one(trials, column, PREDICT_BY_COLUMN, j);
	}
	return fine;
}

static bool try_all(struct chooser *chooser, struct shape *shape, unsigned int at)
{
	struct cut *cut = shape->cut;
	struct trials *trials = &shape->columns[at];
	bool event = cut->shape.structure < PACK_BLOCK;
	struct column column = { .is = cut->columns[at] };
	bool fine;

	column.mask = low_bits(column.is.bits);
	column.is.group = group_of(chooser, cut->names[at]);
	fine = try_one(trials, &column, PREDICT_ZERO, 0) &&
	       try_one(trials, &column, PREDICT_LAST, 0);
	if (event && at == PACK_TIME)
		return fine;
	if (event)
		fine = fine && try_one(trials, &column, PREDICT_THREAD, 0) &&
		       try_one(trials, &column, PREDICT_BY_THREAD, 0) &&
		       try_one(trials, &column, PREDICT_BY_PAST, 0) &&
		       (!column.is.group || try_one(trials, &column, PREDICT_GROUP, 0));
	return fine && try_columns(trials, &column, cut, at);
}

static struct shape *shape_of(struct chooser *chooser, struct cut *cut)
{
	struct shape *shape;
	unsigned int i;
	size_t j;

	if (chooser->last && chooser->last->cut == cut)
		return chooser->last;
	for (j = 0; j < chooser->nr_shapes; j++)
		if (chooser->shapes[j].cut == cut)
			return chooser->last = &chooser->shapes[j];
	if (tb_array_grow(&chooser->shapes, &chooser->room_shapes, chooser->nr_shapes,
			  sizeof(*shape)))
		return NULL;
	shape = &chooser->shapes[chooser->nr_shapes];
	memset(shape, 0, sizeof(*shape));
	shape->cut = cut;
	shape->columns = calloc(cut->shape.columns + 1u, sizeof(*shape->columns));
	if (!shape->columns)
		return NULL;
	chooser->nr_shapes++;
	for (i = 0; i < cut->shape.columns; i++)
		if (!try_all(chooser, shape, i))
			return NULL;
	return chooser->last = shape;
}

static void count_row(struct chooser *chooser, struct trial *trial, const uint64_t *row,
		      uint64_t thread, uint64_t value)
{
	struct column *column = &trial->column;
	struct guess guess = predict(column, chooser->groups, row, thread);
	unsigned int unused = 64u - column->is.bits, i;
	uint64_t difference = (uint64_t)((int64_t)((value - guess.value) << unused) >> unused);

	difference = zigzag(difference);
	for (i = 0; i < (column->is.bits + 7u) / 8; i++)
		trial->counts[i][difference >> (8 * i) & 0xff]++;
	if (column->is.predictor == PREDICT_GROUP)
		return;		/* chooser_row() updates the shared table once */
	if (guess.to)
		*guess.to = value;
	if (guess.past)
		*guess.past = value;
}

bool chooser_row(struct chooser *chooser, struct cut *cut, const uint64_t *row, uint64_t thread)
{
	struct shape *shape = shape_of(chooser, cut);
	unsigned int i, j;

	if (!shape)
		return false;
	shape->rows++;
	for (i = 0; i < cut->shape.columns; i++) {
		struct trials *trials = &shape->columns[i];
		const struct column *column = &trials->trial[0].column;
		uint64_t own = thread_of(&cut->shape, i, row, thread);

		for (j = 0; j < trials->count; j++)
			count_row(chooser, &trials->trial[j], row, own, row[i]);
		if (column->is.group)
			*group_slot(chooser->groups, column, row, own) = row[i];
	}
	return true;
}

/* ---- the choice ---- */

/* log2() to about 0.01, without libm; @x >= 1 */
static double bits_of(double x)
{
	uint64_t word;
	double m;

	memcpy(&word, &x, sizeof(word));
	m = (double)(word & low_bits(52)) / (double)(1ull << 52) + 1;
	return (double)(word >> 52) - 1023 + (-0.344845 * m + 2.024658) * m - 1.674873;
}

/* Number of bits that the differences need */
static double entropy(const struct trial *trial, uint32_t rows)
{
	unsigned int i, j;
	double bits = 0;

	for (i = 0; i < (trial->column.is.bits + 7u) / 8; i++)
		for (j = 0; j < 256; j++)
			if (trial->counts[i][j] && trial->counts[i][j] < rows)
				bits += trial->counts[i][j] *
					bits_of((double)rows / trial->counts[i][j]);
	return bits;
}

static void choose_column(const struct trials *trials, uint32_t rows, struct pack_column *column)
{
	double least = 0, bits;
	unsigned int i;

	for (i = 0; i < trials->count; i++) {
		const struct pack_column *is = &trials->trial[i].column.is;

		bits = entropy(&trials->trial[i], rows);
		/* prefer the simpler predictor, unless this one is clearly better */
		if (i && bits >= least * 0.99 - 1)
			continue;
		least = bits;
		column->predictor = is->predictor;
		column->argument = is->argument;
	}
}

/* Give columns of a name a common table if one of them is predicted from it; others get none */
static void share(struct chooser *chooser)
{
	bool used[PACK_GROUPS + 1] = { false };
	uint8_t number[PACK_GROUPS + 1] = { 0 }, count = 0;
	unsigned int i, j, k;

	for (i = 0; i < chooser->nr_shapes; i++)
		for (j = 0; j < chooser->shapes[i].cut->shape.columns; j++)
			if (chooser->shapes[i].cut->columns[j].predictor == PREDICT_GROUP)
				used[chooser->shapes[i].columns[j].trial[0].column.is.group] = true;
	for (k = 1; k <= PACK_GROUPS; k++)
		if (used[k])
			number[k] = ++count;
	for (i = 0; i < chooser->nr_shapes; i++)
		for (j = 0; j < chooser->shapes[i].cut->shape.columns; j++)
			chooser->shapes[i].cut->columns[j].group =
				number[chooser->shapes[i].columns[j].trial[0].column.is.group];
}

void chooser_choose(struct chooser *chooser)
{
	unsigned int j;
	size_t i;

	for (i = 0; i < chooser->nr_shapes; i++) {
		struct shape *shape = &chooser->shapes[i];

		if (shape->rows < ENOUGH)
			continue;
		for (j = 0; j < shape->cut->shape.columns; j++)
			choose_column(&shape->columns[j], shape->rows, &shape->cut->columns[j]);
	}
	share(chooser);
}
