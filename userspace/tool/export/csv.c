// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - a table, with cells as in RFC 4180 and newlines of Unix.
 *
 *   time,cpu,pid,tid,comm,event,fields
 *   5000002001,0,100,100,bash,irq:softirq_entry,vec=1(TIMER)
 *
 * If all wanted events have one name, each of its fields has a column, and "text" is for all other
 * lines: losses, marks.
 *
 * All bytes are printable ASCII; any other byte is written as \xNN, as print does.
 */
#include <errno.h>
#include <stdlib.h>
#include "export.h"
#include "tool/show/values.h"

/* The longest text of an event at first */
#define TEXT_BYTES 4096

struct csv {
	const struct tb_trace *trace;
	enum tb_timebase base;
	/* names of all fields of the wanted event, each once; NULL: one cell has all fields */
	struct {
		const char *field;
		bool name;		/* of the number in the field */
	} *columns;
	size_t nr_columns;
	char  *text;
	size_t text_size;
	struct out out;
};

static const char *const fixed[] = {
	"time", "cpu", "pid", "tid", "comm", "event",
};

/* ---- cells ---- */

static bool is_plain(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (text[i] < 0x20 || text[i] > 0x7e || text[i] == ',' ||
		    text[i] == '"')
			return false;
	return true;
}

static void put_cell(struct out *out, const char *text, size_t length)
{
	size_t i;

	if (is_plain(text, length)) {
		out_data(out, text, length);
		return;
	}
	out_char(out, '"');
	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c > 0x7e) {
			out_text(out, "\\x");
			out_bytes(out, &c, 1);
			continue;
		}
		if (c == '"')
			out_char(out, '"');
		out_char(out, (char)c);
	}
	out_char(out, '"');
}

/* Format @field (NULL: all fields) as print does, into csv->text */
static size_t print_it(struct csv *csv, const struct tb_view *view,
		       const struct tb_format_field *field)
{
	int length = field ? tb_field_print(csv->trace, view, field, csv->text, csv->text_size) :
			     tb_view_print(csv->trace, view, csv->text, csv->text_size);

	return length < 0 ? 0 : (size_t)length;
}

static void put_print(struct csv *csv, const struct tb_view *view,
		      const struct tb_format_field *field)
{
	size_t length = print_it(csv, view, field);
	char *grown;

	if (length >= csv->text_size) {
		grown = realloc(csv->text, length + 1);
		if (!grown) {
			csv->out.error = -ENOMEM;
			return;
		}
		csv->text = grown;
		csv->text_size = length + 1;
		print_it(csv, view, field);
	}
	put_cell(&csv->out, csv->text, length);
}

static void put_field(struct csv *csv, const struct tb_view *view,
		      const struct tb_format_field *field, bool name)
{
	struct out *out = &csv->out;
	struct value value;

	value_of(csv->trace, view, field, &value);
	if (name) {
		if (value.meaning)
			put_cell(out, value.meaning, strlen(value.meaning));
		return;
	}
	switch (value.kind) {
	case VALUE_NONE:
		return;
	case VALUE_SIGNED:
		out_signed(out, (int64_t)value.number);
		return;
	case VALUE_UNSIGNED:
		out_unsigned(out, value.number);
		return;
	case VALUE_HEX:
		out_hex(out, value.number);
		return;
	case VALUE_TEXT:
		put_cell(out, value.data, value.length);
		return;
	default:
		put_print(csv, view, field);
	}
}

/* ---- lines ---- */

/* "system:event" */
static void put_event(struct csv *csv, const char *system, const char *name)
{
	size_t before = strlen(system), length = strlen(name);

	if (is_plain(system, before) && is_plain(name, length)) {
		out_data(&csv->out, system, before);
		out_char(&csv->out, ':');
		out_data(&csv->out, name, length);
		return;
	}
	length = (size_t)snprintf(csv->text, csv->text_size, "%s:%s", system,
				  name);
	put_cell(&csv->out, csv->text, length < csv->text_size ? length :
		 csv->text_size - 1);
}

/* The field of column @i; NULL: this form of the event does not have it */
static const struct tb_format_field *field_at(const struct csv *csv,
					      const struct tb_view *view, size_t i)
{
	const struct tb_format *format = view->format;

	if (view->kind != TB_VIEW_EVENT || !format)
		return NULL;
	/* fast path: the form that the columns were made from */
	if (i < format->nr_fields && format->fields[i].name == csv->columns[i].field)
		return &format->fields[i];
	return tb_format_field(format, csv->columns[i].field);
}

static void put_fields(struct csv *csv, const struct tb_view *view)
{
	const struct tb_format_field *field;
	size_t i;

	if (!csv->columns) {
		out_char(&csv->out, ',');
		put_print(csv, view, NULL);
		return;
	}
	for (i = 0; i < csv->nr_columns; i++) {
		out_char(&csv->out, ',');
		field = field_at(csv, view, i);
		if (field)
			put_field(csv, view, field, csv->columns[i].name);
	}
	out_char(&csv->out, ',');
	if (view->kind != TB_VIEW_EVENT || !view->format)
		put_print(csv, view, NULL);
}

static void put_line(struct csv *csv, const struct tb_view *view)
{
	struct out *out = &csv->out;
	char spare[24];

	out_unsigned(out, tb_ns_in(csv->trace, csv->base, view->ticks, view->ns));
	out_char(out, ',');
	if (view->cpu != TB_RING_DURABLE && view->cpu != TB_RING_USER)
		out_unsigned(out, view->cpu);
	out_char(out, ',');
	if (view->kind == TB_VIEW_LOST) {
		out_text(out, ",,,");
	} else {
		out_unsigned(out, process_of(view));
		out_char(out, ',');
		out_unsigned(out, view->tid);
		out_char(out, ',');
		put_cell(out, view->comm, strlen(view->comm));
		out_char(out, ',');
	}
	put_event(csv, tb_view_system(view), tb_view_name(view, spare));
	put_fields(csv, view);
	out_char(out, '\n');
}

static bool is_fixed(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!strcmp(name, fixed[i]))
			return true;
	return false;
}

static void put_header(struct csv *csv, const char *event)
{
	struct out *out = &csv->out;
	char name[TB_NAME_MAX + 8];
	size_t i;

	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (i)
			out_char(out, ',');
		out_text(out, fixed[i]);
	}
	for (i = 0; i < csv->nr_columns; i++) {
		out_char(out, ',');
		/* a field "pid" is in a column "EVENT.pid": "pid" is the thread's */
		snprintf(name, sizeof(name), csv->columns[i].name ? VALUE_NAME : "%s",
			 csv->columns[i].field);
		if (is_fixed(name)) {
			out_text(out, event);
			out_char(out, '.');
		}
		put_cell(out, name, strlen(name));
	}
	out_text(out, csv->columns ? ",text\n" : ",fields\n");
}

/* ---- the export ---- */

static void add_column(struct csv *csv, const char *field, bool name)
{
	size_t k;

	for (k = 0; k < csv->nr_columns; k++)
		if (!strcmp(csv->columns[k].field, field) && csv->columns[k].name == name)
			return;
	csv->columns[csv->nr_columns].field = field;
	csv->columns[csv->nr_columns++].name = name;
}

static void add_columns(struct csv *csv, const struct tb_format *format)
{
	uint32_t i;

	for (i = 0; i < format->nr_fields; i++)
		add_column(csv, format->fields[i].name, false);
	for (i = 0; i < format->nr_fields; i++)
		if (value_has_names(format, &format->fields[i]))
			add_column(csv, format->fields[i].name, true);
}

/* Add the fields of all wanted forms; set *@event to the name of the event */
static int make_columns(struct csv *csv, const unsigned char *wanted,
			const char **event)
{
	const struct tb_format *format;
	size_t count = 1;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(csv->trace, i)); i++)
		count += wanted[i] ? 2ul * format->nr_fields : 0;
	csv->columns = calloc(count, sizeof(*csv->columns));
	if (!csv->columns)
		return -ENOMEM;
	for (i = 0; (format = tb_trace_format_at(csv->trace, i)); i++) {
		if (!wanted[i])
			continue;
		add_columns(csv, format);
		*event = format->name;
	}
	return 0;
}

static int run(struct csv *csv, struct tb_trace *trace,
	       const struct tb_export_options *options)
{
	const char *event = "";
	struct tb_cursor *cursor;
	struct tb_view view;
	int result;

	if (options->one_event) {
		result = make_columns(csv, options->wanted, &event);
		if (result)
			return result;
	}
	put_header(csv, event);
	result = tb_cursor_open(trace, &cursor);
	if (result)
		return result;
	while (!csv->out.error &&
	       (result = tb_export_next(options, cursor, &view)) > 0)
		put_line(csv, &view);
	tb_cursor_close(cursor);
	out_write(&csv->out);
	return csv->out.error ? csv->out.error : result;
}

int tb_export_csv(struct tb_trace *trace, FILE *out,
		  const struct tb_export_options *options)
{
	struct csv *csv = calloc(1, sizeof(*csv));
	int result = -ENOMEM;

	if (!csv)
		return result;
	csv->trace = trace;
	csv->base = options->base;
	csv->out.file = out;
	csv->text_size = TEXT_BYTES;
	csv->text = malloc(csv->text_size);
	if (csv->text)
		result = run(csv, trace, options);
	free(csv->text);
	free(csv->columns);
	free(csv);
	return result;
}
