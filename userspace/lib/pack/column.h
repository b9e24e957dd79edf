/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: columns of a frame: how an event is cut, and how encoder and decoder
 * predict a value.
 *
 * A shape is a kind of row: the events of one id and structure, the headers of blocks, or the bytes
 * behind a block's data.  Each shape has columns of up to 64 bits.  A column stores the difference
 * between a value and its prediction.  Both sides predict from the rows before, in the order of the
 * blocks, so their predictions are the same.
 */
#ifndef TB_PACK_COLUMN_H
#define TB_PACK_COLUMN_H

#include <string.h>
#include "lib/read/internal.h"
#include "pack.h"

#define PACK_COLUMNS	64	/* in a shape */
#define PACK_SHAPES	4096
#define PACK_GROUPS	255
#define PACK_SLOTS	1024	/* in a table of predictions */
#define PACK_TABLES	8192	/* in a frame: 128 MB */
#define PACK_NONE	255	/* no column */

/* shape.structure: an event's enum tb_struct, or these */
#define PACK_BLOCK	8u	/* headers of blocks: 64 bytes */
#define PACK_TAIL	9u	/* the 16 bytes behind the data of a block */

/* The first columns of events, before those of the payload */
enum { PACK_TIME, PACK_SIMPLE, PACK_TID = PACK_SIMPLE, PACK_LENGTH, PACK_CONTEXT, PACK_EXTRA,
       PACK_COMPOSITE };

enum pack_predictor {
	PREDICT_ZERO,		/* the value itself is stored */
	PREDICT_LAST,		/* the value of the row before */
	PREDICT_COLUMN,		/* the value of column @argument in this row */
	PREDICT_THREAD,		/* the thread */
	PREDICT_BY_THREAD,	/* the last value in a row of the same thread */
	PREDICT_BY_COLUMN,	/* the last value in a row with the same value of column @argument */
	PREDICT_BY_PAST,	/* what followed the last time after the thread's last value */
	PREDICT_GROUP,		/* the last value that a column of the group had for the same key */
	PREDICTORS
};

/**
 * struct pack_column - a column in a frame, 8 bytes
 * @bit: columns of the payload: the first bit
 * @bits: 1..64
 * @predictor: enum pack_predictor
 * @argument: a column before this one
 * @group: columns with the same number share a table of predictions; 0: none
 * @key: the column whose value is the key of that table, PACK_NONE: the thread
 * @planes: bytes of a difference, 0..8, ORed with PACK_ZIGZAG
 */
struct pack_column {
	uint16_t bit;
	uint8_t  bits;
	uint8_t  predictor;
	uint8_t  argument;
	uint8_t  group;
	uint8_t  key;
	uint8_t  planes;
};

#define PACK_ZIGZAG	0x80u	/* differences are stored as 0, -1, 1, -2, ... */

/**
 * struct pack_shape - a shape in a frame, 12 bytes, followed by its columns
 * @id: event id
 * @structure: TB_STRUCT_SIMPLE, TB_STRUCT_COMPOSITE, PACK_BLOCK or PACK_TAIL
 * @columns: number of columns
 * @fixed: bytes of the payload that are in columns; the rest is in the shape's bytes
 * @next: the column with the thread that runs after this event, PACK_NONE: the same thread
 * @rows: number of rows
 */
struct pack_shape {
	uint16_t id;
	uint8_t  structure;
	uint8_t  columns;
	uint16_t fixed;
	uint8_t  next;
	uint8_t  reserved;
	uint32_t rows;
};

/* State of a column; @at and @shift: place of its word in the payload */
struct column {
	struct pack_column is;
	uint16_t at;
	uint8_t  shift;
	uint64_t mask;
	uint64_t last;
	uint64_t *table;	/* 2 * PACK_SLOTS, if needs_table() */
};

/* The longest simple event that goes into columns, in elements */
#define PACK_SIMPLE_ELEMENTS	4

/* Bytes of the payload of a simple event */
static inline unsigned int pack_simple_bytes(unsigned int elements)
{
	return elements * TB_ELEMENT_SIZE - (unsigned int)offsetof(struct tb_element, payload);
}

static inline uint64_t low_bits(unsigned int bits)
{
	return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static inline unsigned int first_column(unsigned int structure)
{
	return structure == TB_STRUCT_SIMPLE ? PACK_SIMPLE :
	       structure == TB_STRUCT_COMPOSITE ? PACK_COMPOSITE : 0;
}

/* Set @at, @shift and @mask of a payload column.  Its word must be in the first @fixed bytes of the
 * payload, rounded up to 8; false: it is not */
static inline bool column_place(struct column *column, unsigned int fixed)
{
	unsigned int area = (fixed + 7) & ~7u, at = column->is.bit / 8;

	column->mask = low_bits(column->is.bits);
	if (!column->is.bits || column->is.bits > 64 ||
	    column->is.bit + column->is.bits > fixed * 8u)
		return false;
	if (at + 8 > area)
		at = area - 8;
	column->at = (uint16_t)at;
	column->shift = (uint8_t)(column->is.bit - at * 8);
	return column->shift + column->is.bits <= 64;
}

static inline bool needs_table(unsigned int predictor)
{
	return predictor >= PREDICT_BY_THREAD && predictor <= PREDICT_BY_PAST;
}

static inline unsigned int slot(uint64_t key)
{
	return (unsigned int)(key * 0x9e3779b97f4a7c15ull >> 54);
}

/**
 * struct guess - a prediction, and the places that learn() updates
 * @value: the prediction
 * @to: where the value goes; NULL: nowhere
 * @past: PREDICT_BY_PAST: the thread's last value
 */
struct guess {
	uint64_t value;
	uint64_t *to, *past;
};

/* The thread that column @at of a row belongs to: that of the event, once PACK_TID is known */
static inline uint64_t thread_of(const struct pack_shape *shape, unsigned int at,
				 const uint64_t *row, uint64_t running)
{
	return shape->structure == TB_STRUCT_COMPOSITE && at > PACK_TID ? row[PACK_TID] : running;
}

/* Clear the table of the column's group at its first use in a frame; @used: it is clear */
static inline void group_begin(uint64_t (*groups)[PACK_SLOTS], bool *used,
			       const struct column *column)
{
	if (!column->is.group || used[column->is.group - 1])
		return;
	used[column->is.group - 1] = true;
	memset(groups[column->is.group - 1], 0, sizeof(*groups));
}

static inline uint64_t *group_slot(uint64_t (*groups)[PACK_SLOTS], const struct column *column,
				   const uint64_t *row, uint64_t thread)
{
	uint64_t key = column->is.key == PACK_NONE ? thread : row[column->is.key];

	return &groups[column->is.group - 1][slot(key)];
}

/* @row: the values of the columns before this one */
static inline struct guess predict(struct column *column, uint64_t (*groups)[PACK_SLOTS],
				   const uint64_t *row, uint64_t thread)
{
	struct guess guess = { 0 };

	switch (column->is.predictor) {
	case PREDICT_LAST:
		guess.to = &column->last;
		break;
	case PREDICT_COLUMN:
		guess.value = row[column->is.argument] & column->mask;
		return guess;
	case PREDICT_THREAD:
		guess.value = thread & column->mask;
		return guess;
	case PREDICT_BY_THREAD:
		guess.to = &column->table[slot(thread)];
		break;
	case PREDICT_BY_COLUMN:
		guess.to = &column->table[slot(row[column->is.argument])];
		break;
	case PREDICT_BY_PAST:
		guess.past = &column->table[PACK_SLOTS + slot(thread)];
		guess.to = &column->table[slot(thread + (*guess.past << 20 | *guess.past >> 44))];
		break;
	case PREDICT_GROUP:
		guess.to = group_slot(groups, column, row, thread);
		break;
	default:
		return guess;
	}
	guess.value = *guess.to & column->mask;
	return guess;
}

static inline void learn(struct column *column, uint64_t (*groups)[PACK_SLOTS],
			 const uint64_t *row, uint64_t thread, const struct guess *guess,
			 uint64_t value)
{
	if (guess->to)
		*guess->to = value;
	if (guess->past)
		*guess->past = value;
	if (column->is.group && column->is.predictor != PREDICT_GROUP)
		*group_slot(groups, column, row, thread) = value;
}

static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t unzigzag(uint64_t stored)
{
	return stored >> 1 ^ (0 - (stored & 1));
}

/* Slots of the table that predicts the next shape of an event from the shapes before it */
#define PACK_PAST_SHAPES 4096

static inline unsigned int shape_slot(uint32_t past)
{
	return past * 2654435761u >> 20;
}

/* ---- bytes.c: bytes of a frame ---- */

struct bytes {
	unsigned char *at;
	size_t used, room;
};

bool bytes_room(struct bytes *bytes, size_t more);
bool bytes_add(struct bytes *bytes, const void *from, size_t size);
uint32_t pack_crc(uint32_t crc, const void *data, size_t size);

/* In a frame a stream is a byte of kind, its unpacked size, for STREAM_ZSTD also its size in the
 * frame, and its bytes; for STREAM_SAME one byte, which all are equal to */
enum { STREAM_PLAIN, STREAM_ZSTD, STREAM_SAME };

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

/* Add @size bytes as a stream; @room: memory for zstd.  false: out of memory */
bool stream_put(struct bytes *frame, struct bytes *room, struct ZSTD_CCtx_s *zstd,
		const unsigned char *data, size_t size);

/**
 * struct stream - a stream that was read
 * @at: its bytes; if @step is 0 one byte, which all are equal to
 */
struct stream {
	const unsigned char *at;
	size_t size, step;
};

/**
 * struct source - the rest of a frame
 * @budget: bytes that streams may still use when unpacked
 * @own: memory of unpacked streams
 */
struct source {
	const unsigned char *at, *end;
	size_t budget;
	struct ZSTD_DCtx_s *zstd;
	void **own;
	size_t nr_own, room_own;
};

/* Copy @size bytes; -EBADMSG: there are fewer */
int source_take(struct source *source, void *to, size_t size);
/* Get a stream of at most @most bytes, valid until source_free(); -EBADMSG, -ENOMEM */
int stream_get(struct source *source, size_t most, struct stream *stream);
/* Skip a stream: sets the size of @stream, but its bytes are not readable */
int stream_skip(struct source *source, size_t most, struct stream *stream);
void source_free(struct source *source);

/* ---- cut.c ---- */

/* The columns of an event id */
struct cut {
	struct pack_shape shape;
	struct pack_column columns[PACK_COLUMNS];
	uint32_t names[PACK_COLUMNS];	/* columns with the same number may share a table; 0: none */
};

/* Cut events without a description, headers of blocks, or PACK_TAIL */
/* @bytes: size of the payload of simple events */
void cut_plain(struct cut *cut, unsigned int structure, unsigned int bytes, unsigned int id);
void cut_format(struct cut *cut, unsigned int structure, unsigned int bytes,
		const struct tb_format *format);

/* ---- choose.c ---- */

struct chooser;

struct chooser *chooser_open(void);
void chooser_free(struct chooser *chooser);
/* Add a row to the sample; false: out of memory */
bool chooser_row(struct chooser *chooser, struct cut *cut, const uint64_t *row, uint64_t thread);
/* Choose predictors for the columns of cuts that have enough rows */
void chooser_choose(struct chooser *chooser);

#endif /* TB_PACK_COLUMN_H */
