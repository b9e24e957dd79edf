// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The encoder: packs blocks into a frame.
 *
 * A rolling block goes into columns if the decoder can restore it from them.  All other bytes go
 * into the frame unchanged.  Predictors are chosen again in every 16th frame, and when a new kind
 * of event has appeared, by the first rows of the frame.
 */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include "column.h"

#define SAMPLE_ROWS	4096
#define SAMPLE_EVERY	16

/*
 * First index of tb_packer.works: simple events of 1 to PACK_SIMPLE_ELEMENTS elements; WIDE:
 * composite events; SHORT: composite events with a payload shorter than their description.
 * PACK_BLOCK and PACK_TAIL are WIDE, with ids of their own.
 */
enum { SIMPLE, WIDE = PACK_SIMPLE_ELEMENTS, SHORT, FORMS };
#define ID_BLOCK	TB_EVENT_IDS
#define ID_TAIL		(TB_EVENT_IDS + 1)
#define IDS		(TB_EVENT_IDS + 2)

/**
 * struct work - a shape, kept for all frames
 * @used: it is in this frame, with number @number
 * @values: differences of this frame, by column
 * @plain, @zigzag: all differences of a column ORed
 */
struct work {
	struct cut cut;
	bool     used;
	uint32_t number;
	uint32_t rows, room;
	struct column columns[PACK_COLUMNS];
	uint64_t *values[PACK_COLUMNS];
	uint64_t plain[PACK_COLUMNS], zigzag[PACK_COLUMNS];
	bool     negative[PACK_COLUMNS];
	struct bytes bytes;
};

struct tb_packer {
	ZSTD_CCtx *zstd;
	struct work *works[FORMS][IDS];
	struct work **used;		/* shapes of this frame, by number */
	size_t   nr_used, room_used;
	unsigned int nr_tables;		/* of columns of this frame */
	unsigned int frames;
	bool     new_works;		/* there are shapes without chosen predictors */
	uint64_t (*groups)[PACK_SLOTS];
	bool     group_used[PACK_GROUPS];	/* the table is clear in this frame */
	uint16_t *next_shape;
	struct bytes shapes, kinds, sizes, raw, plane, room, frame;
	struct tb_pack_frame header;
	struct chooser *chooser;	/* gets the rows instead of the frame, or NULL */
	uint32_t sampled;
	uint32_t events[IDS];
	unsigned char cpus[65536 / 8];
};

struct tb_packer *tb_packer_open(int level)
{
	struct tb_packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->zstd = ZSTD_createCCtx();
	packer->groups = calloc(PACK_GROUPS, sizeof(*packer->groups));
	packer->next_shape = calloc(PACK_PAST_SHAPES, sizeof(*packer->next_shape));
	if (packer->zstd && packer->groups && packer->next_shape &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, level)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_contentSizeFlag, 0)))
		return packer;
	tb_packer_close(packer);
	return NULL;
}

static void work_free(struct work *work)
{
	unsigned int i;

	if (!work)
		return;
	for (i = 0; i < PACK_COLUMNS; i++) {
		free(work->columns[i].table);
		free(work->values[i]);
	}
	free(work->bytes.at);
	free(work);
}

void tb_packer_close(struct tb_packer *packer)
{
	unsigned int form, id;

	if (!packer)
		return;
	for (form = 0; form < FORMS; form++)
		for (id = 0; id < IDS; id++)
			work_free(packer->works[form][id]);
	chooser_free(packer->chooser);
	ZSTD_freeCCtx(packer->zstd);
	free(packer->used);
	free(packer->groups);
	free(packer->next_shape);
	free(packer->shapes.at);
	free(packer->kinds.at);
	free(packer->sizes.at);
	free(packer->raw.at);
	free(packer->plane.at);
	free(packer->room.at);
	free(packer->frame.at);
	free(packer);
}

/* ---- descriptions ---- */

static struct work *work_new(struct tb_packer *packer, unsigned int form, unsigned int id)
{
	struct work *work = packer->works[form][id];

	if (!work)
		work = packer->works[form][id] = calloc(1, sizeof(*work));
	if (work)
		packer->new_works = true;
	return work;
}

/* True if a simple event has fields behind its first @bytes */
static bool has_fields_behind(const struct tb_format *format, unsigned int bytes)
{
	uint32_t i;

	for (i = 0; i < format->nr_fields; i++)
		if (format->fields[i].offset + format->fields[i].size > bytes)
			return true;
	return false;
}

/* Use the columns of this description from now on; false: out of memory */
static bool learn_event(struct tb_packer *packer, const struct tb_walk *walk)
{
	struct tb_format *format;
	const char *wrong;
	struct work *work;
	unsigned int form;
	struct cut cut;
	int result = tb_format_parse(walk->payload, walk->bytes, &format, &wrong);

	if (result < 0)
		return result != -ENOMEM;
	for (form = format->flags & TB_EVENT_SIMPLE ? SIMPLE : WIDE; form <= WIDE; form++) {
		if (format->flags & TB_EVENT_SIMPLE && form > SIMPLE &&
		    (form == WIDE || !has_fields_behind(format, pack_simple_bytes(form))))
			continue;
		cut_format(&cut, form < WIDE ? TB_STRUCT_SIMPLE : TB_STRUCT_COMPOSITE,
			   pack_simple_bytes(form + 1), format);
		work = packer->works[form][format->id];
		/* each recording describes its events again */
		if (work && !memcmp(work->cut.names, cut.names, sizeof(cut.names)) &&
		    work->cut.shape.fixed == cut.shape.fixed)
			continue;
		work = work_new(packer, form, format->id);
		if (!work)
			break;
		work->cut = cut;
		work->room = 0;		/* the new cut may have more columns */
	}
	free(format);
	return form > WIDE;
}

/* false: out of memory */
static bool learn_block(struct tb_packer *packer, const struct tb_block *block)
{
	struct tb_walk walk;
	int step;

	if (block->kind != TB_BLOCK_DURABLE || !(block->flags & TB_BLOCK_COMPLETE))
		return true;
	tb_walk_start(&walk, block);
	while ((step = tb_walk_next(&walk)) == 1 || step == -EAGAIN)
		if (step == 1 && walk.structure == TB_STRUCT_COMPOSITE && walk.id == TB_EV_EVENT &&
		    !learn_event(packer, &walk))
			return false;
	return true;
}

/* ---- shapes of this frame ---- */

static struct work *work_begin(struct tb_packer *packer, unsigned int form, unsigned int structure,
			       unsigned int id)
{
	struct work *work = packer->works[form][id];
	unsigned int i, first = first_column(structure);

	if (!work) {
		work = work_new(packer, form, id);
		if (!work)
			return NULL;
		cut_plain(&work->cut, structure, pack_simple_bytes(form + 1),
			  form == SHORT ? 0 : structure >= PACK_BLOCK ? 0 : id);
		work->cut.shape.id = structure >= PACK_BLOCK ? 0 : (uint16_t)id;
	}
	if (packer->nr_used == PACK_SHAPES ||
	    tb_array_grow(&packer->used, &packer->room_used, packer->nr_used,
			  sizeof(*packer->used)))
		return NULL;
	for (i = 0; i < work->cut.shape.columns; i++) {
		struct column *column = &work->columns[i];

		column->is = work->cut.columns[i];
		if (needs_table(column->is.predictor) && packer->nr_tables++ >= PACK_TABLES)
			column->is.predictor = PREDICT_LAST;
		column->last = 0;
		column->mask = low_bits(column->is.bits);
		if (i >= first)
			column_place(column, work->cut.shape.fixed);
		group_begin(packer->groups, packer->group_used, column);
		if (needs_table(column->is.predictor)) {
			if (!column->table)
				column->table = malloc(2 * PACK_SLOTS * sizeof(*column->table));
			if (!column->table)
				return NULL;
			memset(column->table, 0, 2 * PACK_SLOTS * sizeof(*column->table));
		}
		work->plain[i] = work->zigzag[i] = 0;
		work->negative[i] = false;
	}
	work->rows = 0;
	work->bytes.used = 0;
	work->used = true;
	work->number = (uint32_t)packer->nr_used;
	packer->used[packer->nr_used++] = work;
	return work;
}

static inline struct work *work_of(struct tb_packer *packer, unsigned int form,
				   unsigned int structure, unsigned int id)
{
	struct work *work = packer->works[form][id];

	return work && work->used ? work : work_begin(packer, form, structure, id);
}

static bool work_grow(struct work *work)
{
	uint32_t room = work->room ? work->room * 2 : 64;
	unsigned int i;

	for (i = 0; i < work->cut.shape.columns; i++) {
		uint64_t *grown = realloc(work->values[i], room * sizeof(*grown));

		if (!grown)
			return false;
		work->values[i] = grown;
	}
	work->room = room;
	return true;
}

static inline uint64_t load(const unsigned char *payload, const struct column *column)
{
	uint64_t word;

	memcpy(&word, payload + column->at, sizeof(word));
	return word >> column->shift & column->mask;
}

/* Add a row, the first columns of which are in @row; false: out of memory */
static bool put_row(struct tb_packer *packer, struct work *work, uint64_t *row,
		    const unsigned char *payload, uint64_t thread)
{
	const struct pack_shape *shape = &work->cut.shape;
	unsigned int i, first = first_column(shape->structure);

	for (i = first; i < shape->columns; i++)
		row[i] = load(payload, &work->columns[i]);
	if (packer->chooser)
		return chooser_row(packer->chooser, &work->cut, row, thread);
	if (work->rows == work->room && !work_grow(work))
		return false;
	for (i = 0; i < shape->columns; i++) {
		struct column *column = &work->columns[i];
		uint64_t own = thread_of(shape, i, row, thread), difference;
		struct guess guess = predict(column, packer->groups, row, own);
		unsigned int unused = 64u - column->is.bits;
		int64_t extended;

		learn(column, packer->groups, row, own, &guess, row[i]);
		difference = (row[i] - guess.value) & column->mask;
		extended = (int64_t)(difference << unused) >> unused;
		work->values[i][work->rows] = (uint64_t)extended;
		work->plain[i] |= difference;
		work->zigzag[i] |= zigzag((uint64_t)extended);
		work->negative[i] |= extended < 0;
	}
	work->rows++;
	return true;
}

/* ---- blocks ---- */

static bool zeros(const unsigned char *at, size_t size)
{
	for (; size; at++, size--)
		if (*at)
			return false;
	return true;
}

/* True if the decoder can restore the block from columns */
static bool fits_columns(const struct tb_block *block)
{
	const struct tb_element *elements = (const void *)block;
	uint32_t at = TB_BLOCK_HEADER_ELEMENTS, end, head, length, bytes;

	if (block->kind != TB_BLOCK_ROLLING || !(block->flags & TB_BLOCK_COMPLETE))
		return false;
	end = block->data / TB_ELEMENT_SIZE;
	for (; at < end; at += length) {
		const struct tb_composite *composite = (const void *)&elements[at];

		head = elements[at].head;
		length = TB_HEAD_LENGTH(head);
		if (!length || length > end - at || TB_HEAD_SEQ(head) != (block->sequence & 0x3f))
			return false;
		if (TB_HEAD_STRUCT(head) == TB_STRUCT_SIMPLE) {
			if (length > PACK_SIMPLE_ELEMENTS)
				return false;
			continue;
		}
		bytes = composite->length;
		if (TB_HEAD_STRUCT(head) != TB_STRUCT_COMPOSITE ||
		    bytes > (length - 1) * TB_ELEMENT_SIZE ||
		    !zeros((const unsigned char *)(composite + 1) + bytes,
			   (length - 1) * TB_ELEMENT_SIZE - bytes))
			return false;
	}
	return true;
}

static bool put_shape(struct tb_packer *packer, const struct work *work, uint32_t *past)
{
	uint16_t *next = &packer->next_shape[shape_slot(*past)], symbol = (uint16_t)(work->number + 1);
	uint16_t stored = *next == symbol ? 0 : symbol;

	*next = symbol;
	*past = *past << 10 ^ symbol;
	return bytes_add(&packer->shapes, &stored, sizeof(stored));
}

static void count_gap(struct tb_packer *packer, const struct tb_composite *composite)
{
	const struct tb_gap *gap = (const void *)(composite + 1);

	if (composite->length < sizeof(*gap))
		return;
	packer->header.overwritten += gap->overwritten;
	packer->header.dropped += gap->dropped;
}

/* Add the row of an event; @thread: in, out: the running thread */
static bool put_event(struct tb_packer *packer, const struct tb_element *element, uint32_t *time,
		      uint32_t *past, uint64_t *thread)
{
	const struct tb_composite *composite = (const void *)element;
	uint32_t head = element->head, id = TB_HEAD_ID(head), bytes = 0;
	const unsigned char *payload = (const void *)&element->payload;
	unsigned int structure = TB_HEAD_STRUCT(head), form = SIMPLE + TB_HEAD_LENGTH(head) - 1;
	uint64_t row[PACK_COLUMNS], running = *thread;
	struct work *work;

	row[PACK_TIME] = element->time - *time;
	*time = element->time;
	if (structure == TB_STRUCT_COMPOSITE) {
		payload = (const void *)(composite + 1);
		bytes = composite->length;
		row[PACK_TID] = composite->tid;
		row[PACK_LENGTH] = bytes;
		row[PACK_CONTEXT] = composite->context;
		row[PACK_EXTRA] = TB_HEAD_LENGTH(head) - 1 - (bytes + 15) / 16;
		form = WIDE;
	}
	work = work_of(packer, form, structure, id);
	if (work && form == WIDE && bytes < work->cut.shape.fixed)
		work = work_of(packer, SHORT, structure, id);
	if (!work || !put_row(packer, work, row, payload, running))
		return false;
	if (structure == TB_STRUCT_COMPOSITE)
		*thread = composite->tid;
	if (work->cut.shape.next != PACK_NONE)
		*thread = row[work->cut.shape.next] & 0xffffffffu;
	if (packer->chooser)
		return true;
	packer->events[id]++;
	if (id == TB_EV_GAP && structure == TB_STRUCT_COMPOSITE)
		count_gap(packer, composite);
	return put_shape(packer, work, past) &&
	       (form < WIDE || bytes_add(&work->bytes, payload + work->cut.shape.fixed,
					  bytes - work->cut.shape.fixed));
}

static bool put_block(struct tb_packer *packer, const struct tb_block *block)
{
	const struct tb_element *elements = (const void *)block;
	uint32_t at = TB_BLOCK_HEADER_ELEMENTS, end = block->data / TB_ELEMENT_SIZE, past = 0;
	uint32_t time = (uint32_t)block->time_start;
	uint64_t row[PACK_COLUMNS], thread = block->tid;
	struct work *work = work_of(packer, WIDE, PACK_BLOCK, ID_BLOCK);

	if (!work || !put_row(packer, work, row, (const void *)block, 0))
		return false;
	for (; at < end; at += TB_HEAD_LENGTH(elements[at].head)) {
		if (!put_event(packer, &elements[at], &time, &past, &thread))
			return false;
		if (packer->chooser && ++packer->sampled >= SAMPLE_ROWS)
			break;
	}
	if (block->data >= 1u << block->size_log2)
		return true;
	work = work_of(packer, WIDE, PACK_TAIL, ID_TAIL);
	return work && put_row(packer, work, row, (const void *)&elements[end], 0);
}

static void count_block(struct tb_packer *packer, const struct tb_block *block)
{
	struct tb_pack_frame *header = &packer->header;

	header->events += block->events;
	if (!header->start || block->time_start < header->start)
		header->start = block->time_start;
	if (block->time_end > header->end)
		header->end = block->time_end;
	packer->cpus[block->cpu / 8] |= (unsigned char)(1u << block->cpu % 8);
}

static bool put_unit(struct tb_packer *packer, const void *data, size_t size, bool block)
{
	uint8_t kind = block && fits_columns(data);
	uint32_t bytes = (uint32_t)size;

	if (packer->chooser)
		return !kind || packer->sampled >= SAMPLE_ROWS || put_block(packer, data);
	packer->header.units++;
	if (!bytes_add(&packer->kinds, &kind, 1))
		return false;
	if (!kind)
		return bytes_add(&packer->sizes, &bytes, 4) && bytes_add(&packer->raw, data, size);
	count_block(packer, data);
	return put_block(packer, data);
}

/* ---- frames ---- */

static void frame_begin(struct tb_packer *packer)
{
	size_t i;

	for (i = 0; i < packer->nr_used; i++)
		packer->used[i]->used = false;
	packer->nr_used = 0;
	packer->shapes.used = packer->kinds.used = packer->sizes.used = packer->raw.used = 0;
	memset(packer->group_used, 0, sizeof(packer->group_used));
	memset(packer->next_shape, 0, PACK_PAST_SHAPES * sizeof(*packer->next_shape));
	memset(&packer->header, 0, sizeof(packer->header));
	memset(packer->events, 0, sizeof(packer->events));
	memset(packer->cpus, 0, sizeof(packer->cpus));
	packer->sampled = 0;
	packer->nr_tables = 0;
}

/* Add all units to the sample or to the frame */
static bool put_units(struct tb_packer *packer, const unsigned char *data, size_t size)
{
	size_t at;
	int64_t bytes;
	bool fine = true;

	frame_begin(packer);
	for (at = 0; fine && at < size; at += (size_t)bytes) {
		bytes = tb_block_check(data + at, size - at, NULL);
		fine = put_unit(packer, data + at, bytes > 0 ? (size_t)bytes : size - at, bytes > 0);
		if (bytes <= 0)
			break;
	}
	return fine;
}

static bool choose_predictors(struct tb_packer *packer, const unsigned char *data, size_t size)
{
	bool fine;

	packer->chooser = chooser_open();
	fine = packer->chooser && put_units(packer, data, size);
	if (fine)
		chooser_choose(packer->chooser);
	chooser_free(packer->chooser);
	packer->chooser = NULL;
	packer->new_works = false;
	return fine;
}

/* Add byte @plane of @rows differences as a stream */
static bool put_plane(struct tb_packer *packer, const uint64_t *values, uint32_t rows,
		      unsigned int plane, bool zigzags)
{
	unsigned char *to;
	uint32_t i;

	packer->plane.used = 0;
	if (!bytes_room(&packer->plane, rows))
		return false;
	to = packer->plane.at;
	if (zigzags)
		for (i = 0; i < rows; i++)
			to[i] = (unsigned char)(zigzag(values[i]) >> (8 * plane));
	else
		for (i = 0; i < rows; i++)
			to[i] = (unsigned char)(values[i] >> (8 * plane));
	return stream_put(&packer->frame, &packer->room, packer->zstd, to, rows);
}

static uint8_t planes_of(const struct work *work, unsigned int column)
{
	uint64_t all = work->negative[column] ? work->zigzag[column] : work->plain[column];
	uint8_t planes = 0;

	for (; all; all >>= 8)
		planes++;
	return planes | (work->negative[column] ? PACK_ZIGZAG : 0);
}

static bool put_shape_table(struct tb_packer *packer)
{
	uint32_t count = (uint32_t)packer->nr_used;
	bool fine = bytes_add(&packer->frame, &count, 4);
	unsigned int j;
	size_t i;

	for (i = 0; fine && i < count; i++) {
		const struct work *work = packer->used[i];
		struct pack_shape shape = work->cut.shape;

		shape.rows = work->rows;
		fine = bytes_add(&packer->frame, &shape, sizeof(shape));
		for (j = 0; fine && j < shape.columns; j++) {
			struct pack_column column = work->columns[j].is;

			column.planes = planes_of(work, j);
			fine = bytes_add(&packer->frame, &column, sizeof(column));
		}
	}
	return fine;
}

static bool put_columns(struct tb_packer *packer, const struct work *work)
{
	unsigned int i, plane, planes;

	for (i = 0; i < work->cut.shape.columns; i++) {
		planes = planes_of(work, i);
		for (plane = 0; plane < (planes & 0xfu); plane++)
			if (!put_plane(packer, work->values[i], work->rows, plane,
				       planes & PACK_ZIGZAG))
				return false;
	}
	return work->cut.shape.structure != TB_STRUCT_COMPOSITE ||
	       stream_put(&packer->frame, &packer->room, packer->zstd, work->bytes.at, work->bytes.used);
}

/* Add the numbers of shapes, as one plane or two */
static bool put_shapes(struct tb_packer *packer)
{
	size_t count = packer->shapes.used / 2, i;
	unsigned int plane;
	bool fine = true;

	for (plane = 0; fine && plane < (packer->nr_used < 255 ? 1 : 2); plane++) {
		packer->plane.used = 0;
		fine = bytes_room(&packer->plane, count);
		for (i = 0; fine && i < count; i++)
			packer->plane.at[i] = packer->shapes.at[2 * i + plane];
		fine = fine && stream_put(&packer->frame, &packer->room, packer->zstd, packer->plane.at, count);
	}
	return fine;
}

static bool put_index(struct tb_packer *packer)
{
	struct tb_pack_count count;
	uint32_t i;

	for (i = 0; i < 65536; i++)
		if (packer->cpus[i / 8] >> i % 8 & 1) {
			packer->header.cpus++;
			if (!bytes_add(&packer->frame, &i, sizeof(i)))
				return false;
		}
	for (i = 0; i < TB_EVENT_IDS; i++) {
		count = (struct tb_pack_count){ i, packer->events[i] };
		packer->header.ids += count.events != 0;
		if (count.events && !bytes_add(&packer->frame, &count, sizeof(count)))
			return false;
	}
	return true;
}

static bool put_frame(struct tb_packer *packer, size_t content)
{
	struct tb_pack_frame *header = &packer->header;
	struct bytes *frame = &packer->frame;
	size_t i;
	bool fine;

	frame->used = 0;
	fine = bytes_add(frame, header, sizeof(*header)) && put_index(packer) &&
	       put_shape_table(packer) &&
	       stream_put(frame, &packer->room, packer->zstd, packer->kinds.at, packer->kinds.used) &&
	       stream_put(frame, &packer->room, packer->zstd, packer->sizes.at, packer->sizes.used) &&
	       put_shapes(packer);
	for (i = 0; fine && i < packer->nr_used; i++)
		fine = put_columns(packer, packer->used[i]);
	fine = fine && stream_put(frame, &packer->room, packer->zstd, packer->raw.at, packer->raw.used);
	if (fine && frame->used < content / TB_PACK_RATIO) {
		size_t more = content / TB_PACK_RATIO - frame->used;

		fine = bytes_room(frame, more);
		if (fine)
			memset(frame->at + frame->used, 0, more);
		frame->used += more;
	}
	if (!fine)
		return false;
	header->magic = TB_PACK_MAGIC;
	header->version = TB_PACK_VERSION;
	header->bytes = (uint32_t)frame->used;
	header->content = (uint32_t)content;
	header->check = pack_crc(0, frame->at + sizeof(*header), frame->used - sizeof(*header));
	header->header_check = pack_crc(0, header, offsetof(struct tb_pack_frame, header_check));
	memcpy(frame->at, header, sizeof(*header));
	return true;
}

/* Learn all descriptions of @data; false: out of memory */
static bool learn_all(struct tb_packer *packer, const unsigned char *data, size_t size)
{
	int64_t bytes = 0;
	size_t at;

	for (at = 0; at < size; at += (size_t)bytes) {
		const struct tb_block *block = (const void *)(data + at);

		bytes = tb_block_check(block, size - at, NULL);
		if (bytes <= 0)
			return true;
		if (!learn_block(packer, block))
			return false;
	}
	return true;
}

int tb_packer_learn(struct tb_packer *packer, const struct tb_block *block)
{
	return learn_block(packer, block) ? 0 : -ENOMEM;
}

int tb_packer_frame(struct tb_packer *packer, const void *data, size_t size, const void **frame,
		    size_t *bytes)
{
	if (!size || size > TB_PACK_CONTENT)
		return -EINVAL;
	/* learn first: columns must not change within a frame */
	frame_begin(packer);
	if (!learn_all(packer, data, size))
		return -ENOMEM;
	if ((packer->new_works || packer->frames % SAMPLE_EVERY == 0) && !choose_predictors(packer, data, size))
		return -ENOMEM;
	packer->frames++;
	if (!put_units(packer, data, size) || !put_frame(packer, size))
		return -ENOMEM;
	*frame = packer->frame.at;
	*bytes = packer->frame.used;
	return 0;
}
