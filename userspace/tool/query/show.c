// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf query - rows as an aligned table, as CSV (RFC 4180), or as a JSON array.
 *
 * The first rows set the widths of a table's columns.  A wider cell in a later row shifts the rest
 * of its line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "query.h"
#include "lib/bounded_text.h"
#include "lib/utf8.h"

#define ROWS_AHEAD 1000		/* rows that set the widths */

/**
 * struct query_rows - rows that are being written
 * @flowing: the widths are fixed, and rows are written at once
 * @cells: texts of @kept rows, before @flowing
 * @width: of each column
 * @right: the column has only numbers, so align it to the right
 * @count: rows so far
 */
struct query_rows {
	sqlite3_stmt *statement;
	enum query_format format;
	bool     header, flowing;
	bool     terminal;	/* stdout is a terminal: no control characters in CSV */
	int      columns;
	char   **cells;
	size_t   kept;
	size_t  *width;
	bool    *right;
	uint64_t count;
	struct out out;
};

/* ---- as text ---- */

static void put_cell(struct query_rows *rows, int column)
{
	sqlite3_stmt *statement = rows->statement;
	bool blob = sqlite3_column_type(statement, column) == SQLITE_BLOB;
	const void *data = blob ? sqlite3_column_blob(statement, column) :
				  sqlite3_column_text(statement, column);
	size_t length = (size_t)sqlite3_column_bytes(statement, column);

	if (blob)
		out_bytes(&rows->out, data, length);
	else
		out_data(&rows->out, data, length);
}

/* Write @text with '?' for control characters and bytes that are not UTF-8; return its width.  @out
 * may be NULL */
static size_t put_shown(struct out *out, const char *text)
{
	size_t width = 0, left = strlen(text), size;

	for (; left; left -= size, text += size, width++) {
		size = utf8_shown(text, left);
		if (out)
			out_data(out, size ? text : "?", size ? size : 1);
		if (!size)
			size = 1;
	}
	return width;
}

static size_t width_of(const char *text)
{
	return put_shown(NULL, text);
}

static void put_blanks(struct out *out, size_t count)
{
	while (count--)
		out_char(out, ' ');
}

static void put_padded(struct query_rows *rows, int column, const char *text)
{
	size_t width = width_of(text);
	size_t blanks = width < rows->width[column] ? rows->width[column] - width : 0;
	bool last = column + 1 == rows->columns;

	if (rows->right[column])
		put_blanks(&rows->out, blanks);
	put_shown(&rows->out, text);
	if (!rows->right[column] && !last)
		put_blanks(&rows->out, blanks);
	if (last)
		out_char(&rows->out, '\n');
	else
		put_blanks(&rows->out, 2);
}

static char *cell_of(const struct query_rows *rows, int column)
{
	sqlite3_stmt *statement = rows->statement;
	const unsigned char *data;
	char *text;
	int i, length;

	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return strdup("");
	if (sqlite3_column_type(statement, column) != SQLITE_BLOB) {
		data = sqlite3_column_text(statement, column);
		return data ? strdup((const char *)data) : NULL;
	}
	data = sqlite3_column_blob(statement, column);
	length = sqlite3_column_bytes(statement, column);
	text = malloc(2 * (size_t)length + 1);
	for (i = 0; text && i < length; i++)
		sprintf(text + 2 * i, "%02x", data[i]);
	if (text)
		text[2 * length] = 0;
	return text;
}

static void put_heading(struct query_rows *rows)
{
	size_t i;
	int c;

	for (c = 0; c < rows->columns; c++)
		put_padded(rows, c, sqlite3_column_name(rows->statement, c));
	for (c = 0; c < rows->columns; c++) {
		for (i = 0; i < rows->width[c]; i++)
			out_char(&rows->out, '-');
		out_text(&rows->out, c + 1 < rows->columns ? "  " : "\n");
	}
}

/* Write the heading and the kept rows; later rows are written at once */
static void table_flow(struct query_rows *rows)
{
	size_t i;
	int c;

	rows->flowing = true;
	put_heading(rows);
	for (i = 0; i < rows->kept; i++) {
		for (c = 0; c < rows->columns; c++) {
			put_padded(rows, c, rows->cells[i * (size_t)rows->columns +
							(size_t)c]);
			free(rows->cells[i * (size_t)rows->columns + (size_t)c]);
		}
	}
	rows->kept = 0;
}

static bool is_number(sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL;
}

static int table_row(struct query_rows *rows)
{
	size_t width;
	char *cell;
	int c;

	for (c = 0; c < rows->columns; c++) {
		cell = cell_of(rows, c);
		if (!cell)
			return -1;
		if (rows->flowing) {
			put_padded(rows, c, cell);
			free(cell);
			continue;
		}
		width = width_of(cell);
		if (width > rows->width[c])
			rows->width[c] = width;
		if (!is_number(rows->statement, c))
			rows->right[c] = false;
		rows->cells[rows->kept * (size_t)rows->columns + (size_t)c] = cell;
	}
	if (!rows->flowing && ++rows->kept == ROWS_AHEAD)
		table_flow(rows);
	return 0;
}

/* ---- CSV ---- */

static void csv_text(struct out *out, const char *text, size_t length)
{
	size_t i;

	if (!memchr(text, '"', length) && !memchr(text, ',', length) &&
	    !memchr(text, '\n', length) && !memchr(text, '\r', length)) {
		out_data(out, text, length);
		return;
	}
	out_char(out, '"');
	for (i = 0; i < length; i++) {
		if (text[i] == '"')
			out_char(out, '"');
		out_char(out, text[i]);
	}
	out_char(out, '"');
}

/* Replace control characters, which a terminal would obey */
static void csv_plain(struct out *out, const char *text, size_t length)
{
	char *copy = malloc(length + 1);

	if (!copy) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	memcpy(copy, text, length);
	utf8_plain(copy, length);
	csv_text(out, copy, length);
	free(copy);
}

static void csv_heading(struct query_rows *rows)
{
	const char *name;
	int c;

	for (c = 0; c < rows->columns; c++) {
		name = sqlite3_column_name(rows->statement, c);
		(rows->terminal ? csv_plain : csv_text)(&rows->out, name, strlen(name));
		out_char(&rows->out, c + 1 < rows->columns ? ',' : '\n');
	}
}

static void csv_row(struct query_rows *rows)
{
	sqlite3_stmt *statement = rows->statement;
	const char *text;
	int c;

	for (c = 0; c < rows->columns; c++) {
		if (sqlite3_column_type(statement, c) == SQLITE_TEXT) {
			text = (const char *)sqlite3_column_text(statement, c);
			(rows->terminal ? csv_plain : csv_text)
				(&rows->out, text, (size_t)sqlite3_column_bytes(statement, c));
		} else if (sqlite3_column_type(statement, c) != SQLITE_NULL) {
			put_cell(rows, c);
		}
		out_char(&rows->out, c + 1 < rows->columns ? ',' : '\n');
	}
}

/* ---- JSON ---- */

static void json_number(struct query_rows *rows, int column)
{
	double real = sqlite3_column_double(rows->statement, column);
	char room[48];
	struct tb_text text = { room, sizeof(room), 0 };

	if (!isfinite(real)) {
		out_json_double(&rows->out, real);
		return;
	}
	tb_text_double(&text, real);
	tb_text_end(&text);
	out_text(&rows->out, room);
	/* keep 1.0 apart from the integer 1 */
	if (!strpbrk(room, ".e"))
		out_text(&rows->out, ".0");
}

static void json_row(struct query_rows *rows)
{
	sqlite3_stmt *statement = rows->statement;
	struct out *out = &rows->out;
	int c;

	out_text(out, rows->count ? ",\n {" : " {");
	for (c = 0; c < rows->columns; c++) {
		if (c)
			out_char(out, ',');
		out_json_string(out, sqlite3_column_name(statement, c));
		out_char(out, ':');
		switch (sqlite3_column_type(statement, c)) {
		case SQLITE_NULL:
			out_text(out, "null");
			break;
		case SQLITE_INTEGER:
			out_signed(out, sqlite3_column_int64(statement, c));
			break;
		case SQLITE_FLOAT:
			json_number(rows, c);
			break;
		case SQLITE_TEXT:
			out_json_text(out,
				      (const char *)sqlite3_column_text(statement, c),
				      (size_t)sqlite3_column_bytes(statement, c));
			break;
		default:
			out_char(out, '"');
			put_cell(rows, c);
			out_char(out, '"');
		}
	}
	out_char(out, '}');
}

/* ---- rows ---- */

struct query_rows *query_rows_open(sqlite3_stmt *statement,
				   enum query_format format, bool header)
{
	struct query_rows *rows = calloc(1, sizeof(*rows));
	size_t columns = (size_t)sqlite3_column_count(statement);
	size_t c;

	if (!rows)
		return NULL;
	rows->statement = statement;
	rows->format = format;
	rows->header = header;
	rows->columns = (int)columns;
	rows->out.file = stdout;
	rows->terminal = isatty(STDOUT_FILENO);
	rows->width = calloc(columns, sizeof(*rows->width));
	rows->right = calloc(columns, sizeof(*rows->right));
	rows->cells = calloc(columns * ROWS_AHEAD, sizeof(*rows->cells));
	if (!rows->width || !rows->right || !rows->cells) {
		query_rows_close(rows, false);
		return NULL;
	}
	for (c = 0; c < columns; c++) {
		rows->width[c] = width_of(sqlite3_column_name(statement, (int)c));
		rows->right[c] = true;
	}
	return rows;
}

/* Called at the first row: a statement that fails before it writes no heading */
static void begin(struct query_rows *rows)
{
	if (rows->format == QUERY_CSV && rows->header)
		csv_heading(rows);
	if (rows->format == QUERY_JSON)
		out_text(&rows->out, "[\n");
}

int query_rows_add(struct query_rows *rows)
{
	int result = 0;

	if (!rows->count)
		begin(rows);
	switch (rows->format) {
	case QUERY_TABLE:
		result = table_row(rows);
		break;
	case QUERY_CSV:
		csv_row(rows);
		break;
	case QUERY_JSON:
		json_row(rows);
		break;
	}
	rows->count++;
	return result ? result : rows->out.error;
}

void query_rows_close(struct query_rows *rows, bool complete)
{
	if (!rows)
		return;
	if (!rows->count && complete)
		begin(rows);
	if (rows->format == QUERY_TABLE && !rows->flowing && rows->cells &&
	    (rows->count || complete))
		table_flow(rows);
	/* do not close the array if rows are missing */
	if (rows->format == QUERY_JSON && complete)
		out_text(&rows->out, rows->count ? "\n]\n" : "]\n");
	out_write(&rows->out);
	free(rows->cells);
	free(rows->width);
	free(rows->right);
	free(rows);
}
