// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf report --html - rows of the timeline, with columns of times, names and details.
 */
#include <errno.h>
#include <stdlib.h>
#include "row.h"

/* Items of arrays, bytes of masks and data that are shown */
#define ITEMS_MAX 32
#define BYTES_MAX 64

static const char *const kinds[ROW_KINDS] = {
	[ROW_RUN] = "run", [ROW_IRQ] = "irq", [ROW_SOFTIRQ] = "softirq",
	[ROW_CPU_EVENT] = "cpu_event", [ROW_LOST] = "lost", [ROW_CALL] = "call",
	[ROW_EVENT] = "event", [ROW_USER] = "user", [ROW_USER_EVENT] = "user_event",
	[ROW_USER_LOST] = "user_lost", [ROW_COUNTER] = "counter",
	[ROW_WHY] = "why", [ROW_UNKNOWN] = "unknown",
};

static unsigned int columns_of(const struct row *row)
{
	return row->kind == ROW_RUN ? ROW_COLUMNS :
	       row->kind == ROW_COUNTER ? COLUMN_VALUE + 1 : COLUMN_DETAILS + 1;
}

struct rows *rows_open(const struct tb_trace *trace, enum tb_timebase base)
{
	struct rows *rows = calloc(1, sizeof(*rows));

	if (rows) {
		rows->trace = trace;
		rows->base = base;
	}
	return rows;
}

void rows_close(struct rows *rows)
{
	struct row *row;
	unsigned int i;

	if (!rows)
		return;
	while ((row = rows->last)) {
		rows->last = row->next;
		for (i = 0; i < ROW_COLUMNS; i++)
			column_free(&row->columns[i]);
		free(row);
	}
	for (i = 0; i < ROW_KINDS; i++)
		map_free(&rows->index[i], NULL);
	texts_free(&rows->strings);
	texts_free(&rows->shapes);
	column_free(&rows->shape);
	column_free(&rows->values);
	free(rows);
}

struct row *rows_at(struct rows *rows, enum row_kind kind, uint32_t id, uint32_t sub)
{
	void **slot = map_at(&rows->index[kind], (uint64_t)sub << 32 | id);
	struct row *row;

	if (slot && *slot)
		return *slot;
	row = slot ? calloc(1, sizeof(*row)) : NULL;
	if (!row) {
		rows->failed = true;
		return NULL;
	}
	*slot = row;
	row->kind = kind;
	row->id = row->owner = id;
	row->sub = sub;
	row->next = rows->last;
	rows->last = row;
	rows->count++;
	return row;
}

uint32_t rows_string(struct rows *rows, const char *text)
{
	return texts_of(&rows->strings, text, strlen(text));
}

void row_time(struct rows *rows, struct row *row, uint64_t begin, uint64_t end,
	      unsigned int doubt)
{
	struct column *column = &row->columns[COLUMN_TIME];
	uint64_t before = row->count ? row->until : rows->begin;

	column_signed(column, (int64_t)(begin - before));
	column_number(column, (end > begin ? end - begin : 0) << 2 | doubt);
	row->until = end > begin ? end : begin;
	row->count++;
}

/* ---- details ---- */

/* Kinds of fields in a shape, see timeline.h */
enum detail {
	DETAIL_NONE, DETAIL_UNSIGNED, DETAIL_SIGNED, DETAIL_HEX, DETAIL_TEXT, DETAIL_DOUBLE,
	DETAIL_NAMED,		/* a signed number, and a string for it */
};

static void detail(struct rows *rows, const char *name, enum detail kind)
{
	column_number(&rows->shape, rows_string(rows, name));
	column_number(&rows->shape, kind);
}

static void detail_text(struct rows *rows, const char *name, const void *data, size_t length)
{
	detail(rows, name, DETAIL_TEXT);
	column_number(&rows->values, texts_of(&rows->strings, data, length));
}

/* Add the text in rows->scratch, and empty it */
static void detail_scratch(struct rows *rows, const char *name, size_t left_out)
{
	struct out *out = &rows->scratch;

	if (left_out) {
		out_text(out, "... ");
		out_unsigned(out, left_out);
		out_text(out, " more");
	}
	detail_text(rows, name, out->buffer, out->used);
	out->used = 0;
}

static void detail_array(struct rows *rows, const struct value *value)
{
	const struct tb_format_field *field = value->field;
	bool hex = field->flags & TB_FIELD_HEX ||
		   (field->width == 8 && !(field->flags & TB_FIELD_SIGNED));
	int count = tb_field_count(value->view, field), i;
	struct out *out = &rows->scratch;
	uint64_t number;

	for (i = 0; i < count && i < ITEMS_MAX; i++) {
		if (tb_field_item(value->view, field, (unsigned int)i, &number))
			break;
		if (i)
			out_char(out, ' ');
		if (hex)
			out_hex(out, number);
		else if (field->flags & TB_FIELD_SIGNED)
			out_signed(out, (int64_t)number);
		else
			out_unsigned(out, number);
	}
	detail_scratch(rows, value->name, count > ITEMS_MAX ? (size_t)(count - ITEMS_MAX) : 0);
}

static void detail_bytes(struct rows *rows, const struct value *value)
{
	size_t shown = value->length < BYTES_MAX ? value->length : BYTES_MAX;

	if (value->kind == VALUE_MASK)
		out_mask(&rows->scratch, value->data, shown);
	else
		out_bytes(&rows->scratch, value->data, shown);
	detail_scratch(rows, value->name, value->length - shown);
}

static void each_value(void *context, const struct value *value)
{
	struct rows *rows = context;

	switch (value->kind) {
	case VALUE_NONE:
		detail(rows, value->name, DETAIL_NONE);
		return;
	case VALUE_UNSIGNED:
		detail(rows, value->name, DETAIL_UNSIGNED);
		column_number(&rows->values, value->number);
		return;
	case VALUE_SIGNED:
		detail(rows, value->name, value->meaning ? DETAIL_NAMED : DETAIL_SIGNED);
		column_signed(&rows->values, (int64_t)value->number);
		if (value->meaning)
			column_number(&rows->values, rows_string(rows, value->meaning));
		return;
	case VALUE_HEX:
		detail(rows, value->name, DETAIL_HEX);
		column_number(&rows->values, value->number);
		return;
	case VALUE_DOUBLE:
		detail(rows, value->name, DETAIL_DOUBLE);
		column_bytes(&rows->values, &value->real, sizeof(value->real));
		return;
	case VALUE_TEXT:
		detail_text(rows, value->name, value->data, value->length);
		return;
	case VALUE_ARRAY:
		detail_array(rows, value);
		return;
	case VALUE_MASK:
	case VALUE_BYTES:
		detail_bytes(rows, value);
		return;
	}
}

void details_start(struct rows *rows, const struct tb_view *view)
{
	rows->shape.used = rows->values.used = 0;
	if (view)
		values_each(rows->trace, view, rows->base, each_value, rows);
}

void details_signed(struct rows *rows, const char *name, int64_t number)
{
	detail(rows, name, DETAIL_SIGNED);
	column_signed(&rows->values, number);
}

void details_text(struct rows *rows, const char *name, const char *text)
{
	detail_text(rows, name, text, strlen(text));
}

/* texts_of() would cut off a long shape, which might then equal another one: replace it */
static void keep_shape(struct rows *rows)
{
	struct column *shape = &rows->shape;

	if (shape->used <= TEXTS_LENGTH_MAX)
		return;
	shape->used = rows->values.used = 0;
	details_text(rows, "fields", "too many to be shown here: see tracebuf print");
}

void details_end(struct rows *rows, struct row *row)
{
	struct column *details = &row->columns[COLUMN_DETAILS];

	keep_shape(rows);
	/* data is NULL until the column has had an entry */
	column_number(details, texts_of(&rows->shapes, rows->shape.used ? rows->shape.data :
					(const void *)"", rows->shape.used));
	column_bytes(details, rows->values.data, rows->values.used);
}

bool rows_failed(const struct rows *rows)
{
	const struct row *row;
	unsigned int i;

	if (rows->failed || texts_failed(&rows->strings) || texts_failed(&rows->shapes) ||
	    rows->shape.failed || rows->values.failed)
		return true;
	for (row = rows->last; row; row = row->next)
		for (i = 0; i < ROW_COLUMNS; i++)
			if (row->columns[i].failed)
				return true;
	return false;
}

/* ---- writing ---- */

static void member(struct out *out, const char *name, uint64_t number)
{
	out_text(out, ",\"");
	out_text(out, name);
	out_text(out, "\":");
	out_unsigned(out, number);
}

static void row_json(const struct row *row, struct out *out)
{
	unsigned int i;

	out_text(out, "{\"kind\":\"");
	out_text(out, kinds[row->kind]);
	out_char(out, '"');
	member(out, "id", row->id);
	member(out, "sub", row->sub);
	member(out, "owner", row->owner);
	member(out, "process", row->process);
	member(out, "name", row->name);
	member(out, "count", row->count);
	out_text(out, ",\"columns\":[");
	for (i = 0; i < columns_of(row); i++) {
		if (i)
			out_char(out, ',');
		out_unsigned(out, row->columns[i].used);
	}
	out_text(out, "]}");
}

/* Write a shape, which is stored as numbers: name, kind, name, kind, ... */
static void shape_json(const unsigned char *at, size_t length, struct out *out)
{
	const unsigned char *end = at + length;
	unsigned int shift;
	uint64_t number;
	bool some = false;

	out_char(out, '[');
	while (at < end) {
		for (number = 0, shift = 0; *at & 0x80; shift += 7)
			number |= (uint64_t)(*at++ & 0x7f) << shift;
		number |= (uint64_t)*at++ << shift;
		if (some)
			out_char(out, ',');
		out_unsigned(out, number);
		some = true;
	}
	out_char(out, ']');
}

void rows_json(const struct rows *rows, struct out *out)
{
	const struct row *row;
	const void *text;
	size_t length;
	uint32_t i;

	out_text(out, "\"strings\":[");
	for (i = 0; i < texts_count(&rows->strings); i++) {
		if (i)
			out_char(out, ',');
		text = texts_at(&rows->strings, i, &length);
		out_json_text(out, text, length);
	}
	out_text(out, "],\"shapes\":[");
	for (i = 0; i < texts_count(&rows->shapes); i++) {
		if (i)
			out_char(out, ',');
		text = texts_at(&rows->shapes, i, &length);
		shape_json(text, length, out);
	}
	out_text(out, "],\"rows\":[");
	for (row = rows->last; row; row = row->next) {
		if (row != rows->last)
			out_char(out, ',');
		row_json(row, out);
	}
	out_char(out, ']');
}

void rows_columns(const struct rows *rows, struct squeeze *squeeze)
{
	const struct row *row;
	unsigned int i;

	for (row = rows->last; row; row = row->next)
		for (i = 0; i < columns_of(row); i++)
			squeeze_data(squeeze, row->columns[i].data, row->columns[i].used);
}
