// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections, columns and rows of a report.  After a failed allocation @failed is set and all
 * functions do nothing, so callers need not check each cell.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

struct report *report_new(const char *title)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->title = strdup(title);
	if (!report->title) {
		free(report);
		return NULL;
	}
	return report;
}

static void section_free(struct report_section *section)
{
	size_t i;

	for (i = 0; i < section->nr_notes; i++)
		free(section->notes[i]);
	for (i = 0; i < section->nr_columns; i++) {
		free(section->columns[i].id);
		free(section->columns[i].title);
	}
	for (i = 0; i < section->nr_cells; i++)
		free(section->cells[i].text);
	free(section->notes);
	free(section->columns);
	free(section->cells);
	free(section);
}

void report_free(struct report *report)
{
	size_t i;

	if (!report)
		return;
	for (i = 0; i < report->nr_sections; i++)
		section_free(report->sections[i]);
	free(report->sections);
	free(report->title);
	free(report);
}

/* Make room for one more item of @size bytes in @list, which has @count; NULL: no memory */
static void *one_more(struct report *report, void *list, size_t count, size_t size)
{
	void *grown = list;

	if (report->failed)
		return NULL;
	if (!(count & (count - 1)))
		grown = realloc(list, (count ? 2 * count : 1) * size);
	report->failed = !grown;
	return grown;
}

struct report_section *report_section(struct report *report, const char *id,
				      const char *title, enum report_kind kind)
{
	struct report_section *section = NULL, **grown;

	grown = one_more(report, report->sections, report->nr_sections,
			 sizeof(*grown));
	if (grown) {
		report->sections = grown;
		section = calloc(1, sizeof(*section));
	}
	if (!section) {
		report->failed = true;
		return NULL;
	}
	section->id = id;
	section->title = title;
	section->kind = kind;
	grown[report->nr_sections++] = section;
	return section;
}

void report_note(struct report *report, struct report_section *section,
		 const char *text, ...)
{
	char **grown, *note = NULL;
	va_list arguments;

	grown = one_more(report, section->notes, section->nr_notes, sizeof(*grown));
	if (!grown)
		return;
	section->notes = grown;
	va_start(arguments, text);
	if (vasprintf(&note, text, arguments) < 0)
		report->failed = true;
	else
		grown[section->nr_notes++] = note;
	va_end(arguments);
}

void report_column(struct report *report, struct report_section *section, const char *id,
		   const char *title, enum report_type type, enum report_unit unit)
{
	struct report_column *grown, *column;

	/* no memory for the section */
	if (!section)
		return;
	grown = one_more(report, section->columns, section->nr_columns, sizeof(*grown));
	if (!grown)
		return;
	section->columns = grown;
	column = &grown[section->nr_columns++];
	column->id = strdup(id);
	column->title = strdup(title);
	column->type = type;
	column->unit = unit;
	report->failed |= !column->id || !column->title;
}

static struct report_cell *add_cell(struct report *report, struct report_section *section)
{
	struct report_cell *grown;

	grown = one_more(report, section->cells, section->nr_cells, sizeof(*grown));
	if (!grown)
		return NULL;
	section->cells = grown;
	grown += section->nr_cells++;
	memset(grown, 0, sizeof(*grown));
	section->nr_rows = section->nr_cells / section->nr_columns;
	return grown;
}

void report_signed(struct report *report, struct report_section *section, int64_t number)
{
	struct report_cell *cell = add_cell(report, section);

	if (cell) {
		cell->known = true;
		cell->number = number;
	}
}

void report_number(struct report *report, struct report_section *section, uint64_t number)
{
	report_signed(report, section, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

void report_text(struct report *report, struct report_section *section, const char *text)
{
	struct report_cell *cell = add_cell(report, section);

	if (!cell)
		return;
	cell->known = true;
	cell->text = strdup(text);
	report->failed = !cell->text;
}

void report_unknown(struct report *report, struct report_section *section)
{
	add_cell(report, section);
}

const struct report_section *report_find(const struct report *report, const char *id)
{
	size_t i;

	for (i = 0; i < report->nr_sections; i++)
		if (!strcmp(report->sections[i]->id, id))
			return report->sections[i];
	return NULL;
}

const char *report_unit_name(enum report_unit unit)
{
	static const char *const names[] = {
		[REPORT_PLAIN] = "", [REPORT_NS] = "ns", [REPORT_TIME] = "time",
		[REPORT_BYTES] = "bytes", [REPORT_PPM] = "ppm", [REPORT_COUNT] = "count",
		[REPORT_MICRO] = "micro",
	};

	return names[unit];
}

const char *report_kind_name(enum report_kind kind)
{
	static const char *const names[] = {
		[REPORT_TABLE] = "table", [REPORT_HISTOGRAM] = "histogram",
		[REPORT_SERIES] = "series",
	};

	return names[kind];
}
