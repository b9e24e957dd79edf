// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cut events into columns by their descriptions, or by the known layout of control events.
 *
 * Every bit of the payload's first cut.shape.fixed bytes is in exactly one column.  Columns of text
 * come last, so that numbers of the same row, such as thread ids, can predict them.
 */
#include <stdio.h>
#include "column.h"

#define NAMES_SEED 2166136261u

static uint32_t hash(uint32_t number, const char *text)
{
	for (; *text; text++)
		number = (number ^ (unsigned char)*text) * 16777619u;
	return number;
}

static void add_column(struct cut *cut, unsigned int bit, unsigned int bits, uint32_t name)
{
	unsigned int at = cut->shape.columns++;

	cut->columns[at] = (struct pack_column){ .bit = (uint16_t)bit, .bits = (uint8_t)bits,
						 .key = PACK_NONE };
	cut->names[at] = name;
}

static bool full(const struct cut *cut)
{
	return cut->shape.columns == PACK_COLUMNS;
}

/* Cut the bits from @from to @to into columns that end at multiples of 64 bits, or at @to; returns
 * the end of the last column, which is before @to if there are too many columns */
static unsigned int add_gap(struct cut *cut, unsigned int from, unsigned int to)
{
	while (from < to && !full(cut)) {
		unsigned int end = (from / 64 + 1) * 64;

		if (end > to)
			end = to;
		add_column(cut, from, end - from, 0);
		from = end;
	}
	return from;
}

static void begin_cut(struct cut *cut, unsigned int structure, unsigned int id)
{
	static const uint8_t base[PACK_COMPOSITE] = { 32, 32, 16, 16, 16 };
	unsigned int i;

	memset(cut, 0, sizeof(*cut));
	cut->shape.id = (uint16_t)id;
	cut->shape.structure = (uint8_t)structure;
	cut->shape.next = PACK_NONE;
	for (i = 0; i < first_column(structure); i++)
		add_column(cut, 0, base[i], 0);
	if (structure == TB_STRUCT_COMPOSITE) {
		cut->columns[PACK_TID].predictor = PREDICT_THREAD;
		cut->columns[PACK_LENGTH].predictor = PREDICT_LAST;
		cut->columns[PACK_CONTEXT].predictor = PREDICT_LAST;
	}
}

/* Bytes of each column of events without a description; 0 ends the list */
static const uint8_t *plain_bytes(unsigned int structure, unsigned int id)
{
	/* tb_block: the CPU first, so that it can predict the others */
	static const uint8_t block[] = { 4, 1, 1, 1, 1, 2, 2, 4, 8, 8, 8, 4, 4, 8, 8, 0 };
	static const uint8_t tail[] = { 4, 4, 8, 0 }, none[] = { 0 };
	static const uint8_t gap[] = { 8, 8, 8, 8, 8, 8, 0 }, stack[] = { 4, 4, 0 };
	static const uint8_t clock[] = { 8, 8, 8, 8, 4, 4, 0 };
	static const uint8_t chunk[] = { 4, 4, 4, 4, 4, 2, 2, 2, 2, 4, 8, 8, 0 };
	static const uint8_t patch[] = { 4, 4, 2, 2, 4, 8, 0 };

	if (structure == PACK_BLOCK)
		return block;
	if (structure == PACK_TAIL)
		return tail;
	switch (id) {
	case TB_EV_GAP:
		return gap;
	case TB_EV_STACK:
	case TB_EV_COUNTERS:
		return stack;
	case TB_EV_CLOCK:
		return clock;
	case TB_EV_CHUNK:
		return chunk;
	case TB_EV_PATCH:
		return patch;
	}
	return none;
}

void cut_plain(struct cut *cut, unsigned int structure, unsigned int bytes, unsigned int id)
{
	const uint8_t *widths = plain_bytes(structure, id);
	unsigned int at = 0;

	begin_cut(cut, structure, id);
	if (structure == TB_STRUCT_SIMPLE)
		at = add_gap(cut, 0, bytes * 8) / 8;
	else
		for (; *widths; at += *widths++)
			add_column(cut, at * 8, *widths * 8u, 0);
	cut->shape.fixed = (uint16_t)at;
	if (structure == PACK_BLOCK) {
		struct pack_column cpu = cut->columns[6];

		memmove(&cut->columns[1], &cut->columns[0], 6 * sizeof(cpu));
		cut->columns[0] = cpu;
	}
}

/* ---- described events ---- */

struct field {
	unsigned int bit, bits;
	const struct tb_format_field *is;
};

/* Find the bits of a field; false: it has none that can be cut */
static bool field_bits(const struct tb_format_field *is, struct field *field)
{
	field->is = is;
	field->bit = is->offset * 8u;
	field->bits = is->size * 8u;
	if (is->flags & TB_FIELD_BITS) {
		field->bit += is->bit;
		field->bits = is->bits;
	}
	return field->bits && field->bit < 8 * PACK_COLUMNS * 8u;
}

/* Find the next field that begins at @from or later; out->is NULL: none */
static void next_field(const struct tb_format *format, unsigned int from, struct field *out)
{
	struct field field;
	unsigned int i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < format->nr_fields; i++)
		if (field_bits(&format->fields[i], &field) && field.bit >= from &&
		    (!out->is || field.bit < out->bit))
			*out = field;
}

static bool is_text(const struct tb_format_field *field)
{
	return field->show == TB_SHOW_TEXT && !(field->flags & (TB_FIELD_DATA_LOC |
								TB_FIELD_REL_LOC));
}

static uint32_t field_name(const struct tb_format *format, const struct tb_format_field *field,
			   unsigned int part)
{
	/* columns with names of threads share a table in all events */
	uint32_t number = is_text(field) && strstr(field->name, "comm") ? hash(NAMES_SEED, "comm") :
			  hash(hash(NAMES_SEED, format->system), field->name);

	number = (number ^ part) * 16777619u;
	return number ? number : 1;
}

/* Cut a field; returns the end of the last column, as add_gap() does */
static unsigned int add_field(struct cut *cut, const struct tb_format *format,
			      const struct field *field)
{
	unsigned int at = field->bit, end = field->bit + field->bits, part = 0, width = 64;

	if (field->is->flags & TB_FIELD_ARRAY && !is_text(field->is) && field->is->width > 1)
		width = field->is->width * 8u;
	for (; at < end && !full(cut); part++) {
		unsigned int bits = end - at < width ? end - at : width;

		/* the eight bytes from the column's first byte must contain it */
		if (at % 8 + bits > 64)
			bits = 64 - at % 8;
		add_column(cut, at, bits, field_name(format, field->is, part));
		at += bits;
	}
	return at;
}

/* The column with the id of the thread that @text names, else PACK_NONE */
static uint8_t thread_column(const struct cut *cut, const struct tb_format *format,
			     const struct tb_format_field *text)
{
	const char *comm = strstr(text->name, "comm");
	char name[TB_NAME_MAX + 4];
	const struct tb_format_field *field;
	struct field bits;
	unsigned int i;

	if (!comm)
		return PACK_NONE;
	snprintf(name, sizeof(name), "%.*spid", (int)(comm - text->name), text->name);
	field = tb_format_field(format, name);
	for (i = first_column(cut->shape.structure); field && i < cut->shape.columns; i++)
		if (field_bits(field, &bits) && cut->columns[i].bit == bits.bit)
			return (uint8_t)i;
	return PACK_NONE;
}

/* The field of the format that contains this bit, or NULL */
static const struct tb_format_field *field_at(const struct tb_format *format, unsigned int bit)
{
	struct field field;
	unsigned int i;

	for (i = 0; i < format->nr_fields; i++)
		if (field_bits(&format->fields[i], &field) && bit >= field.bit &&
		    bit < field.bit + field.bits)
			return field.is;
	return NULL;
}

/* Move columns of text behind the others, and find the columns with thread ids */
static void order(struct cut *cut, const struct tb_format *format)
{
	unsigned int i, pass, first = first_column(cut->shape.structure), count = first;
	const struct tb_format_field *field;
	struct cut old = *cut;

	for (pass = 0; pass < 2; pass++)
		for (i = first; i < old.shape.columns; i++) {
			field = field_at(format, old.columns[i].bit);
			if ((field && is_text(field)) != pass)
				continue;
			cut->columns[count] = old.columns[i];
			cut->names[count] = old.names[i];
			if (pass)
				cut->columns[count].key = thread_column(cut, format, field);
			if (field && format->known == TB_KNOWN_SWITCH &&
			    !strcmp(field->name, "next_pid"))
				cut->shape.next = (uint8_t)count;
			count++;
		}
}

void cut_format(struct cut *cut, unsigned int structure, unsigned int bytes,
		const struct tb_format *format)
{
	bool simple = structure == TB_STRUCT_SIMPLE;
	unsigned int at = 0, end = bytes * 8, to;
	struct field field;

	begin_cut(cut, structure, format->id);
	for (;;) {
		next_field(format, at, &field);
		/* if fields overlap the first one has the bits */
		to = field.is ? field.bit : simple ? end : (at + 7) & ~7u;
		if (simple && to > end)
			to = end;
		at = add_gap(cut, at, to);
		if (!field.is || at < to || full(cut) || (simple && field.bit + field.bits > end))
			break;
		at = add_field(cut, format, &field);
	}
	if (simple && at < end)
		at = add_gap(cut, at, end);
	cut->shape.fixed = (uint16_t)(at / 8);
	if (at % 8 || (simple && at != end))
		cut_plain(cut, structure, bytes, format->id);	/* too many columns */
	else
		order(cut, format);
}
