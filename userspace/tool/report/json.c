// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as JSON, a line for each section; report.h describes it.
 */
#include "out.h"

static void member(struct out *out, const char *name, const char *value)
{
	out_json_string(out, name);
	out_char(out, ':');
	out_json_string(out, value);
}

static void write_columns(const struct report_section *section, struct out *out)
{
	const struct report_column *column;
	size_t i;

	out_text(out, ",\"columns\":[");
	for (i = 0; i < section->nr_columns; i++) {
		column = &section->columns[i];
		out_text(out, i ? ",{" : "{");
		member(out, "id", column->id);
		out_char(out, ',');
		member(out, "title", column->title);
		out_char(out, ',');
		member(out, "type", column->type == REPORT_TEXT ? "text" : "number");
		out_char(out, ',');
		member(out, "unit", report_unit_name(column->unit));
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void write_cell(const struct report_cell *cell, struct out *out)
{
	if (!cell->known)
		out_text(out, "null");
	else if (cell->text)
		out_json_string(out, cell->text);
	else
		out_signed(out, cell->number);
}

static void write_section(const struct report_section *section, struct out *out)
{
	size_t i;

	out_char(out, '{');
	member(out, "id", section->id);
	out_char(out, ',');
	member(out, "title", section->title);
	out_char(out, ',');
	member(out, "kind", report_kind_name(section->kind));
	if (section->kind == REPORT_SERIES) {
		out_text(out, ",\"width\":");
		out_unsigned(out, section->width);
	}
	out_text(out, ",\"notes\":[");
	for (i = 0; i < section->nr_notes; i++) {
		if (i)
			out_char(out, ',');
		out_json_string(out, section->notes[i]);
	}
	out_char(out, ']');
	write_columns(section, out);
	out_text(out, ",\"rows\":[");
	for (i = 0; i < section->nr_cells; i++) {
		if (!(i % section->nr_columns))
			out_text(out, i ? ",[" : "[");
		else
			out_char(out, ',');
		write_cell(&section->cells[i], out);
		if (i % section->nr_columns == section->nr_columns - 1)
			out_char(out, ']');
	}
	out_text(out, "]}");
}

void report_json(const struct report *report, const struct report_ids *sections, struct out *out)
{
	bool first = true;
	size_t i;

	out_text(out, "{\"tracebuf_report\":1,");
	member(out, "title", report->title);
	out_char(out, ',');
	member(out, "clock", timebase_name(report->base));
	out_text(out, ",\"begin\":");
	out_unsigned(out, report->begin);
	out_text(out, ",\"end\":");
	out_unsigned(out, report->end);
	out_text(out, ",\"sections\":[");
	for (i = 0; i < report->nr_sections; i++) {
		if (!report_shows(sections, report->sections[i]->id))
			continue;
		out_text(out, first ? "\n" : ",\n");
		write_section(report->sections[i], out);
		first = false;
	}
	out_text(out, "]}\n");
}
