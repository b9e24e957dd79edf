// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The decoder: unpacks a frame to its blocks.
 *
 * A frame may come from anywhere.  The decoder checks each number before it uses it: streams have
 * the length that their rows need, columns are inside the payload, and the blocks fit into the size
 * in the header.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>
#include "column.h"

/*
 * Limit of the bytes of unpacked streams for each byte of blocks.  No frame needs more: an event of
 * 16 bytes has at most 4 planes of its time, 63 of fields of one bit, and its symbol.
 */
#define BUDGET 8u

/**
 * struct rows - a shape of the frame
 * @row: number of the next row
 * @planes: bytes of the differences, by column
 * @bytes: rests of payloads behind the columns, used up to @at
 */
struct rows {
	struct pack_shape is;
	uint32_t row;
	struct column columns[PACK_COLUMNS];
	struct stream planes[PACK_COLUMNS][8];
	struct stream bytes;
	size_t at;
};

struct tb_unpacker {
	ZSTD_DCtx *zstd;
	uint64_t (*groups)[PACK_SLOTS];
	bool     group_used[PACK_GROUPS];	/* the table is clear in this frame */
	uint16_t *next_shape;
	bool headers_only;		/* skip the streams of events */
	uint32_t columns;		/* number of blocks in columns of the last frame */
	struct rows *block, *tail;	/* shapes of this frame, or NULL */
	struct rows **shapes;
	size_t nr_shapes, room_shapes;
	unsigned int nr_tables;		/* of columns of this frame */
	struct source source;
	struct bytes frame;		/* a copy, which no other program can change */
	struct stream kinds, sizes, numbers[2], raw;
	size_t size_at, number_at, raw_at;
};

struct tb_unpacker *tb_unpacker_open(void)
{
	struct tb_unpacker *unpacker = calloc(1, sizeof(*unpacker));

	if (!unpacker)
		return NULL;
	unpacker->zstd = ZSTD_createDCtx();
	unpacker->groups = calloc(PACK_GROUPS, sizeof(*unpacker->groups));
	unpacker->next_shape = calloc(PACK_PAST_SHAPES, sizeof(*unpacker->next_shape));
	if (unpacker->zstd && unpacker->groups && unpacker->next_shape)
		return unpacker;
	tb_unpacker_close(unpacker);
	return NULL;
}

static void shapes_free(struct tb_unpacker *unpacker)
{
	unsigned int i;

	while (unpacker->nr_shapes) {
		struct rows *rows = unpacker->shapes[--unpacker->nr_shapes];

		for (i = 0; i < PACK_COLUMNS; i++)
			free(rows->columns[i].table);
		free(rows);
	}
	unpacker->block = unpacker->tail = NULL;
}

void tb_unpacker_close(struct tb_unpacker *unpacker)
{
	if (!unpacker)
		return;
	shapes_free(unpacker);
	source_free(&unpacker->source);
	ZSTD_freeDCtx(unpacker->zstd);
	free(unpacker->frame.at);
	free(unpacker->shapes);
	free(unpacker->groups);
	free(unpacker->next_shape);
	free(unpacker);
}

/* ---- headers ---- */

bool tb_packed(const void *data, size_t size)
{
	uint32_t magic;

	if (size < sizeof(magic))
		return false;
	memcpy(&magic, data, sizeof(magic));
	return magic == TB_PACK_MAGIC;
}

int tb_pack_header(const void *data, size_t size, struct tb_pack_frame *header,
		   struct tb_error *error)
{
	if (size < sizeof(*header))
		return tb_error_set(error, -ENODATA, 0, "cut off: a packed frame that is not whole");
	memcpy(header, data, sizeof(*header));
	tb_keep(header);
	if (header->magic != TB_PACK_MAGIC)
		return tb_error_set(error, -EBADMSG, 0, "no packed frame starts here");
	if (header->header_check != pack_crc(0, header, offsetof(struct tb_pack_frame,
								 header_check)))
		return tb_error_set(error, -EBADMSG, 0, "the header of a packed frame is damaged");
	if (header->version != TB_PACK_VERSION)
		return tb_error_set(error, -EPROTO, 4,
				    "packed frame of version %" PRIu32 ", this program knows version %u",
				    header->version, TB_PACK_VERSION);
	if (!header->content || header->content > TB_PACK_CONTENT ||
	    header->bytes < sizeof(*header) || header->bytes < header->content / TB_PACK_RATIO)
		return tb_error_set(error, -EBADMSG, 0, "a packed frame of an impossible size");
	if (header->bytes > size)
		return tb_error_set(error, -ENODATA, 0, "cut off: a packed frame that is not whole");
	return 0;
}

size_t tb_pack_find(const void *data, size_t size)
{
	const unsigned char *start = data, *at = start, *end = start + size;
	struct tb_pack_frame header;

	for (; at < end; at++) {
		at = memchr(at, TB_PACK_MAGIC & 0xff, (size_t)(end - at));
		if (!at)
			break;
		if (tb_packed(at, (size_t)(end - at)) &&
		    !tb_pack_header(at, (size_t)(end - at), &header, NULL))
			return (size_t)(at - start);
	}
	return size;
}

/* ---- columns ---- */

static int read_column(struct tb_unpacker *unpacker, struct rows *rows, unsigned int at)
{
	static const uint8_t base[PACK_COMPOSITE] = { 32, 32, 16, 16, 16 };
	unsigned int first = first_column(rows->is.structure);
	struct column *column = &rows->columns[at];
	const struct pack_column *is = &column->is;

	if (source_take(&unpacker->source, &column->is, sizeof(column->is)))
		return -EBADMSG;
	column->mask = low_bits(is->bits);
	if (at < first ? is->bits != base[at] : !column_place(column, rows->is.fixed))
		return -EBADMSG;
	if (is->predictor >= PREDICTORS || (is->planes & ~PACK_ZIGZAG & 0xffu) > (is->bits + 7u) / 8 ||
	    (is->key != PACK_NONE && is->key >= at) ||
	    (is->group && rows->is.structure >= PACK_BLOCK) ||
	    (is->predictor == PREDICT_GROUP && !is->group) ||
	    ((is->predictor == PREDICT_COLUMN || is->predictor == PREDICT_BY_COLUMN) &&
	     is->argument >= at))
		return -EBADMSG;
	group_begin(unpacker->groups, unpacker->group_used, column);
	if (!needs_table(is->predictor) || !rows->is.rows)
		return 0;
	if (unpacker->nr_tables++ == PACK_TABLES)
		return -EBADMSG;
	column->table = calloc(2 * PACK_SLOTS, sizeof(*column->table));
	return column->table ? 0 : -ENOMEM;
}

static bool shape_fits(const struct pack_shape *shape)
{
	unsigned int first = first_column(shape->structure);

	if (shape->columns > PACK_COLUMNS || shape->columns < first ||
	    (shape->next != PACK_NONE && shape->next >= shape->columns))
		return false;
	switch (shape->structure) {
	case TB_STRUCT_SIMPLE:
		return shape->fixed % TB_ELEMENT_SIZE == pack_simple_bytes(1) &&
		       shape->fixed <= pack_simple_bytes(PACK_SIMPLE_ELEMENTS) &&
		       shape->id < TB_EVENT_IDS;
	case TB_STRUCT_COMPOSITE:
		return shape->fixed <= 8 * PACK_COLUMNS && shape->id < TB_EVENT_IDS;
	case PACK_BLOCK:
		return shape->fixed == 64;
	case PACK_TAIL:
		return shape->fixed == 16;
	}
	return false;
}

static int read_shape(struct tb_unpacker *unpacker)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	struct pack_shape *is;
	unsigned int i, bits = 0;
	int result;

	if (!rows || tb_array_grow(&unpacker->shapes, &unpacker->room_shapes, unpacker->nr_shapes,
				   sizeof(*unpacker->shapes))) {
		free(rows);
		return -ENOMEM;
	}
	unpacker->shapes[unpacker->nr_shapes++] = rows;
	is = &rows->is;
	if (source_take(&unpacker->source, is, sizeof(*is)) || !shape_fits(is))
		return -EBADMSG;
	if (is->structure == PACK_BLOCK)
		unpacker->block = rows;
	if (is->structure == PACK_TAIL)
		unpacker->tail = rows;
	for (i = 0; i < is->columns; i++) {
		result = read_column(unpacker, rows, i);
		if (result)
			return result;
		if (i >= first_column(is->structure))
			bits += rows->columns[i].is.bits;
	}
	return bits <= is->fixed * 8u ? 0 : -EBADMSG;
}

/* Get the next stream; @skip: only its size */
static int read_stream(struct tb_unpacker *unpacker, size_t most, struct stream *stream, bool skip)
{
	return skip ? stream_skip(&unpacker->source, most, stream) :
	       stream_get(&unpacker->source, most, stream);
}

static int read_planes(struct tb_unpacker *unpacker, struct rows *rows)
{
	bool skip = unpacker->headers_only && rows->is.structure != PACK_BLOCK;
	unsigned int i, plane, planes;
	int result;

	for (i = 0; i < rows->is.columns; i++) {
		planes = rows->columns[i].is.planes & ~PACK_ZIGZAG & 0xffu;
		for (plane = 0; plane < planes; plane++) {
			struct stream *stream = &rows->planes[i][plane];

			result = read_stream(unpacker, rows->is.rows, stream, skip);
			if (result)
				return result;
			if (stream->size != rows->is.rows)
				return -EBADMSG;
		}
	}
	return rows->is.structure == TB_STRUCT_COMPOSITE ?
	       read_stream(unpacker, TB_PACK_CONTENT, &rows->bytes, skip) : 0;
}

static int read_frame(struct tb_unpacker *unpacker, const struct tb_pack_frame *header)
{
	struct source *source = &unpacker->source;
	uint32_t count;
	int result;
	size_t i;

	if (header->cpus > 65536 || header->ids > TB_EVENT_IDS ||
	    (size_t)(source->end - source->at) < header->cpus * sizeof(uint32_t) +
						 header->ids * sizeof(struct tb_pack_count))
		return -EBADMSG;
	source->at += header->cpus * sizeof(uint32_t) + header->ids * sizeof(struct tb_pack_count);
	if (source_take(source, &count, sizeof(count)) || count > PACK_SHAPES)
		return -EBADMSG;
	for (i = 0; i < count; i++) {
		result = read_shape(unpacker);
		if (result)
			return result;
	}
	result = stream_get(source, header->units, &unpacker->kinds);
	if (!result)
		result = stream_get(source, 4 * (size_t)header->units, &unpacker->sizes);
	if (!result)
		result = read_stream(unpacker, header->content / 16, &unpacker->numbers[0],
				     unpacker->headers_only);
	if (!result && count >= 255)
		result = read_stream(unpacker, header->content / 16, &unpacker->numbers[1],
				     unpacker->headers_only);
	for (i = 0; !result && i < count; i++)
		result = read_planes(unpacker, unpacker->shapes[i]);
	if (!result)
		result = stream_get(source, header->content, &unpacker->raw);
	if (!result && (unpacker->kinds.size != header->units ||
			(count >= 255 && unpacker->numbers[0].size != unpacker->numbers[1].size)))
		result = -EBADMSG;
	return result;
}

/* ---- rows ---- */

static inline unsigned char stream_byte(const struct stream *stream, size_t at)
{
	return stream->at[at * stream->step];
}

static void stream_copy(unsigned char *to, const struct stream *stream, size_t at, size_t size)
{
	if (stream->step)
		memcpy(to, stream->at + at, size);
	else
		memset(to, *stream->at, size);
}

/* The value of column @at in the next row; @row has the values of the columns before */
static inline uint64_t get_value(struct tb_unpacker *unpacker, struct rows *rows, unsigned int at,
				 const uint64_t *row, uint64_t thread)
{
	struct column *column = &rows->columns[at];
	uint64_t own = thread_of(&rows->is, at, row, thread), stored = 0, value;
	struct guess guess = predict(column, unpacker->groups, row, own);
	unsigned int planes = column->is.planes & ~PACK_ZIGZAG & 0xffu, i;

	for (i = 0; i < planes; i++)
		stored |= (uint64_t)stream_byte(&rows->planes[at][i], rows->row) << (8 * i);
	if (column->is.planes & PACK_ZIGZAG)
		stored = unzigzag(stored);
	value = (guess.value + stored) & column->mask;
	learn(column, unpacker->groups, row, own, &guess, value);
	return value;
}

static inline void store(unsigned char *payload, const struct column *column, uint64_t value)
{
	uint64_t word;

	memcpy(&word, payload + column->at, sizeof(word));
	word |= value << column->shift;
	memcpy(payload + column->at, &word, sizeof(word));
}

/* Decode the payload's columns; @payload: zeros, room for @fixed bytes rounded up to 8 */
static inline void get_payload(struct tb_unpacker *unpacker, struct rows *rows, uint64_t *row,
			       uint64_t thread, unsigned char *payload)
{
	unsigned int i;

	for (i = first_column(rows->is.structure); i < rows->is.columns; i++) {
		row[i] = get_value(unpacker, rows, i, row, thread);
		store(payload, &rows->columns[i], row[i]);
	}
	rows->row++;
}

/* ---- blocks ---- */

/* The shape of the next event, NULL: damaged */
static struct rows *next_shape(struct tb_unpacker *unpacker, uint32_t *past)
{
	uint16_t *next = &unpacker->next_shape[shape_slot(*past)];
	size_t at = unpacker->number_at++;
	unsigned int symbol;
	struct rows *rows;

	if (at >= unpacker->numbers[0].size)
		return NULL;
	symbol = stream_byte(&unpacker->numbers[0], at);
	if (unpacker->nr_shapes >= 255)
		symbol |= (unsigned int)stream_byte(&unpacker->numbers[1], at) << 8;
	if (!symbol)
		symbol = *next;
	if (!symbol || symbol > unpacker->nr_shapes)
		return NULL;
	*next = (uint16_t)symbol;
	*past = *past << 10 ^ symbol;
	rows = unpacker->shapes[symbol - 1];
	return rows->is.structure < PACK_BLOCK && rows->row < rows->is.rows ? rows : NULL;
}

/* Decode the rest of a composite event; returns its length in elements, 0: damaged */
static uint32_t get_composite(struct tb_unpacker *unpacker, struct rows *rows, uint64_t *row,
			      uint64_t thread, struct tb_composite *composite, uint32_t room)
{
	unsigned char *payload = (unsigned char *)(composite + 1);
	uint32_t bytes, length, more;
	unsigned int i;

	for (i = PACK_TID; i < PACK_COMPOSITE; i++)
		row[i] = get_value(unpacker, rows, i, row, thread);
	bytes = (uint32_t)row[PACK_LENGTH];
	length = 1 + (bytes + 15) / 16 + (uint32_t)row[PACK_EXTRA];
	if (length > room || length > TB_EVENT_ELEMENTS_MAX || bytes < rows->is.fixed)
		return 0;
	more = bytes - rows->is.fixed;
	if (more > rows->bytes.size - rows->at)
		return 0;
	composite->tid = (uint32_t)row[PACK_TID];
	composite->length = (uint16_t)bytes;
	composite->context = (uint16_t)row[PACK_CONTEXT];
	get_payload(unpacker, rows, row, thread, payload);
	if (more)
		stream_copy(payload + rows->is.fixed, &rows->bytes, rows->at, more);
	rows->at += more;
	return length;
}

/* Decode an event to @room elements of zeros; returns its length in elements, 0: damaged */
static uint32_t get_event(struct tb_unpacker *unpacker, struct tb_element *element, uint32_t room,
			  uint32_t *time, uint32_t *past, uint64_t *thread)
{
	struct rows *rows = next_shape(unpacker, past);
	uint64_t row[PACK_COLUMNS];
	uint32_t length = 1;

	if (!rows)
		return 0;
	row[PACK_TIME] = get_value(unpacker, rows, PACK_TIME, row, *thread);
	*time += (uint32_t)row[PACK_TIME];
	element->time = *time;
	if (rows->is.structure == TB_STRUCT_COMPOSITE) {
		length = get_composite(unpacker, rows, row, *thread, (void *)element, room);
		*thread = row[PACK_TID];
	} else {
		length = (rows->is.fixed + 8u) / TB_ELEMENT_SIZE;
		if (length > room)
			return 0;
		get_payload(unpacker, rows, row, *thread, (unsigned char *)&element->payload);
	}
	if (rows->is.next != PACK_NONE)
		*thread = row[rows->is.next] & 0xffffffffu;
	element->head = TB_HEAD(rows->is.structure, rows->is.id, length, 0);
	return length;
}

static bool header_fine(const struct tb_block *block, size_t room)
{
	return block->magic == TB_BLOCK_MAGIC && tb_header_fits(block) &&
	       block->kind == TB_BLOCK_ROLLING && block->flags & TB_BLOCK_COMPLETE &&
	       1ul << block->size_log2 <= room && block->data >= sizeof(*block) &&
	       block->data <= 1u << block->size_log2 && block->data % TB_ELEMENT_SIZE == 0;
}

/* Decode a block to @to with @room bytes; returns its size, 0: damaged */
static size_t get_block(struct tb_unpacker *unpacker, unsigned char *to, size_t room)
{
	struct tb_element *elements = (void *)to;
	uint64_t row[PACK_COLUMNS], thread;
	uint32_t at, end, length, time, past = 0;
	struct tb_block header = { 0 };
	size_t size;

	if (!unpacker->block || unpacker->block->row == unpacker->block->is.rows ||
	    (uintptr_t)to % TB_ELEMENT_SIZE)
		return 0;
	get_payload(unpacker, unpacker->block, row, 0, (unsigned char *)&header);
	if (!header_fine(&header, room))
		return 0;
	size = (size_t)1 << header.size_log2;
	memset(to, 0, size);
	memcpy(to, &header, sizeof(header));
	if (unpacker->headers_only)
		return size;
	end = header.data / TB_ELEMENT_SIZE;
	time = (uint32_t)header.time_start;
	thread = header.tid;
	for (at = TB_BLOCK_HEADER_ELEMENTS; at < end; at += length) {
		length = get_event(unpacker, &elements[at], end - at, &time, &past, &thread);
		if (!length)
			return 0;
		elements[at].head |= (uint32_t)(header.sequence & 0x3f) << 26;
	}
	if (header.data == size)
		return size;
	if (!unpacker->tail || unpacker->tail->row == unpacker->tail->is.rows)
		return 0;
	get_payload(unpacker, unpacker->tail, row, 0, (unsigned char *)&elements[end]);
	return size;
}

/* Copy bytes that are not in columns; returns their number, 0: damaged */
static size_t get_raw(struct tb_unpacker *unpacker, unsigned char *to, size_t room)
{
	uint32_t size = 0;
	unsigned int i;

	if (unpacker->sizes.size - unpacker->size_at < sizeof(size))
		return 0;
	for (i = 0; i < sizeof(size); i++)
		size |= (uint32_t)stream_byte(&unpacker->sizes, unpacker->size_at++) << (8 * i);
	if (!size || size > room || size > unpacker->raw.size - unpacker->raw_at)
		return 0;
	stream_copy(to, &unpacker->raw, unpacker->raw_at, size);
	unpacker->raw_at += size;
	return size;
}

static int get_units(struct tb_unpacker *unpacker, const struct tb_pack_frame *header,
		     unsigned char *to)
{
	size_t used = 0, size, room;
	uint32_t i;

	for (i = 0; i < header->units; i++) {
		room = header->content - used;
		size = stream_byte(&unpacker->kinds, i) ? get_block(unpacker, to + used, room) :
		       get_raw(unpacker, to + used, room);
		if (!size)
			return -EBADMSG;
		used += size;
	}
	return used == header->content ? 0 : -EBADMSG;
}

static int unpack(struct tb_unpacker *unpacker, const void *frame,
		  const struct tb_pack_frame *header, void *to)
{
	const struct bytes *copy = &unpacker->frame;
	int result;

	unpacker->frame.used = 0;
	if (!bytes_add(&unpacker->frame, (const unsigned char *)frame + sizeof(*header),
		       header->bytes - sizeof(*header)))
		return -ENOMEM;
	if (pack_crc(0, copy->at, copy->used) != header->check)
		return -EBADMSG;
	unpacker->source = (struct source){
		.at = copy->at, .end = copy->at + copy->used,
		.budget = (size_t)header->content * BUDGET + 4096, .zstd = unpacker->zstd,
	};
	unpacker->size_at = unpacker->number_at = unpacker->raw_at = 0;
	unpacker->nr_tables = 0;
	memset(unpacker->numbers, 0, sizeof(unpacker->numbers));
	memset(unpacker->group_used, 0, sizeof(unpacker->group_used));
	memset(unpacker->next_shape, 0, PACK_PAST_SHAPES * sizeof(*unpacker->next_shape));
	result = read_frame(unpacker, header);
	if (!result)
		result = get_units(unpacker, header, to);
	unpacker->columns = unpacker->block ? unpacker->block->row : 0;
	shapes_free(unpacker);
	source_free(&unpacker->source);
	return result;
}

int tb_unpacker_frame(struct tb_unpacker *unpacker, const void *frame,
		      const struct tb_pack_frame *header, void *to)
{
	unpacker->headers_only = false;
	return unpack(unpacker, frame, header, to);
}

int tb_unpacker_headers(struct tb_unpacker *unpacker, const void *frame,
			const struct tb_pack_frame *header, void *to, uint32_t *columns)
{
	int result;

	unpacker->headers_only = true;
	result = unpack(unpacker, frame, header, to);
	*columns = unpacker->columns;
	return result;
}

bool tb_pack_has(const void *frame, const struct tb_pack_frame *header, uint32_t id)
{
	const unsigned char *at = frame;
	struct tb_pack_count count;
	uint32_t i;

	if (header->cpus > header->bytes / sizeof(uint32_t) ||
	    header->ids > (header->bytes - header->cpus * sizeof(uint32_t)) / sizeof(count) ||
	    sizeof(*header) + header->cpus * sizeof(uint32_t) + header->ids * sizeof(count) >
	    header->bytes)
		return true;
	at += sizeof(*header) + header->cpus * sizeof(uint32_t);
	for (i = 0; i < header->ids; i++) {
		memcpy(&count, at + i * sizeof(count), sizeof(count));
		if (count.id == id)
			return true;
	}
	return false;
}
