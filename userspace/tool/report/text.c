// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as text: aligned tables, times in a suitable unit, histograms as bars, series as strips
 * with a character for each bucket.
 *
 * A table that is too wide loses empty columns, then columns from the right, which a note names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "out.h"
#include "lib/utf8.h"
#include "tool/command/command.h"

#define CELL_MAX 64
#define TITLE_MAX 20	/* bytes of a title before the strip of a series */
#define BAR_MAX 164
/* Characters of a strip, from 0 to the largest value */
static const char levels[] = " .:-=+*#%@";
#define LEVELS_MAX (sizeof(levels) - 2)

/* ---- cells ---- */

/* Format a value as "NUMBER UNIT", in the largest unit that leaves at least 1 */
static void put_scaled(char *text, int64_t value, const char *const *units, size_t count,
		       double step)
{
	double number = (double)value;
	size_t unit = 0;

	while (unit + 1 < count && (number >= step || number <= -step)) {
		number /= step;
		unit++;
	}
	if (!unit)
		snprintf(text, CELL_MAX, "%" PRId64 " %s", value, units[0]);
	else
		snprintf(text, CELL_MAX, "%.2f %s", number, units[unit]);
}

/* Copy a text of a trace, in less than @size bytes, with '?' for control characters */
static void put_text(char *text, size_t size, const char *from)
{
	size_t left = strlen(from), used = 0, length;
	const char *shown;

	for (; left; from += length, left -= length, used += length) {
		length = utf8_shown(from, left);
		shown = length ? from : "?";
		length += !length;
		if (used + length >= size)
			break;
		memcpy(text + used, shown, length);
	}
	text[used] = '\0';
}

static void put_cell(char *text, const struct report_column *column,
		     const struct report_cell *cell)
{
	static const char *const times[] = { "ns", "us", "ms", "s" };
	static const char *const sizes[] = { "B", "KiB", "MiB", "GiB", "TiB" };

	if (!cell->known) {
		strcpy(text, "-");
		return;
	}
	if (cell->text) {
		put_text(text, CELL_MAX, cell->text);
		return;
	}
	switch (column->unit) {
	case REPORT_NS:
		put_scaled(text, cell->number, times, 4, 1000);
		break;
	case REPORT_TIME:
		snprintf(text, CELL_MAX, "%" PRId64 ".%09" PRId64,
			 cell->number / 1000000000, cell->number % 1000000000);
		break;
	case REPORT_BYTES:
		put_scaled(text, cell->number, sizes, 5, 1024);
		break;
	case REPORT_PPM:
		snprintf(text, CELL_MAX, "%.2f%%", (double)cell->number / 10000);
		break;
	case REPORT_MICRO:
		snprintf(text, CELL_MAX, "%.3f", (double)cell->number / 1000000);
		break;
	default:
		snprintf(text, CELL_MAX, "%" PRId64, cell->number);
		break;
	}
}

static const struct report_cell *cell_at(const struct report_section *section, size_t row,
					 size_t column)
{
	return &section->cells[row * section->nr_columns + column];
}

/* ---- notes ---- */

/* Write a note in lines of at most @width columns */
static void write_note(char bullet, const char *note, unsigned int width, FILE *out)
{
	size_t at = 0, length;
	const char *word;

	fprintf(out, "  %c", bullet);
	for (word = note; *word; word += length + strspn(word + length, " ")) {
		length = strcspn(word, " ");
		if (at && at + length + 4 > width) {
			fputs("\n   ", out);
			at = 0;
		}
		fprintf(out, " %.*s", (int)length, word);
		at += length + 1;
	}
	fputc('\n', out);
}

/* ---- tables ---- */

struct look {
	size_t width;
	bool   empty, hidden;
};

static size_t cell_width(const struct report_section *section, size_t row, size_t column)
{
	char text[CELL_MAX];

	put_cell(text, &section->columns[column], cell_at(section, row, column));
	return strlen(text);
}

static void measure(const struct report_section *section, struct look *looks)
{
	const struct report_cell *cell;
	size_t i, row, width;

	for (i = 0; i < section->nr_columns; i++) {
		looks[i].width = strlen(section->columns[i].title);
		looks[i].empty = true;
		for (row = 0; row < section->nr_rows; row++) {
			cell = cell_at(section, row, i);
			width = cell_width(section, row, i);
			if (width > looks[i].width)
				looks[i].width = width;
			looks[i].empty &= !cell->known || (!cell->text && !cell->number);
		}
	}
}

static size_t table_width(const struct report_section *section, const struct look *looks)
{
	size_t i, sum = 0;

	for (i = 0; i < section->nr_columns; i++)
		if (!looks[i].hidden)
			sum += looks[i].width + 2;
	return sum;
}

/* Hide columns until the table fits; return the number of hidden ones that are not empty */
static size_t hide(const struct report_section *section, struct look *looks, size_t width)
{
	size_t i, hidden = 0;

	for (i = section->nr_columns; i-- && table_width(section, looks) > width;)
		if (looks[i].empty)
			looks[i].hidden = true;
	for (i = section->nr_columns; --i && table_width(section, looks) > width;) {
		hidden += !looks[i].hidden;
		looks[i].hidden = true;
	}
	return hidden;
}

/* @blanks: padding that is written only if another cell follows */
static void put_aligned(FILE *out, const struct report_column *column, const char *text,
			size_t width, size_t *blanks)
{
	size_t pad = width - strlen(text);
	bool left = column->type == REPORT_TEXT;

	fprintf(out, "%*s%s", (int)(*blanks + 2 + (left ? 0 : pad)), "", text);
	*blanks = left ? pad : 0;
}

static void write_hidden(const struct report_section *section, const struct look *looks,
			 unsigned int width, FILE *out)
{
	char text[512];
	size_t i, at;

	at = (size_t)snprintf(text, sizeof(text), "no room for:");
	for (i = 0; i < section->nr_columns && at < sizeof(text); i++)
		if (looks[i].hidden && !looks[i].empty)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %s;",
					       section->columns[i].title);
	if (at < sizeof(text))
		snprintf(text + at, sizeof(text) - at, " see --width, --json");
	write_note('-', text, width, out);
}

static int write_table(const struct report_section *section, unsigned int width, FILE *out)
{
	struct look *looks = calloc(section->nr_columns, sizeof(*looks));
	size_t i, row, hidden, blanks = 0;
	char text[CELL_MAX];

	if (!looks)
		return -ENOMEM;
	measure(section, looks);
	hidden = hide(section, looks, width);
	for (i = 0; i < section->nr_columns; i++)
		if (!looks[i].hidden)
			put_aligned(out, &section->columns[i], section->columns[i].title,
				    looks[i].width, &blanks);
	fputc('\n', out);
	for (row = 0; row < section->nr_rows; row++) {
		blanks = 0;
		for (i = 0; i < section->nr_columns; i++) {
			if (looks[i].hidden)
				continue;
			put_cell(text, &section->columns[i], cell_at(section, row, i));
			put_aligned(out, &section->columns[i], text, looks[i].width, &blanks);
		}
		fputc('\n', out);
	}
	if (hidden)
		write_hidden(section, looks, width, out);
	free(looks);
	return 0;
}

/* ---- histograms ---- */

static void write_histogram(const struct report_section *section, unsigned int width,
			    FILE *out)
{
	unsigned int room = width > 60 ? width - 42 : 18, length;
	char bar[BAR_MAX + 1], from[CELL_MAX], to[CELL_MAX];
	int64_t most = 0, count;
	size_t row;

	room = room < BAR_MAX ? room : BAR_MAX;
	memset(bar, '#', BAR_MAX);
	for (row = 0; row < section->nr_rows; row++)
		if (cell_at(section, row, 2)->number > most)
			most = cell_at(section, row, 2)->number;
	for (row = 0; row < section->nr_rows; row++) {
		count = cell_at(section, row, 2)->number;
		put_cell(from, &section->columns[0], cell_at(section, row, 0));
		put_cell(to, &section->columns[1], cell_at(section, row, 1));
		length = count ? 1 + (unsigned int)((double)count / (double)most * (room - 1)) : 0;
		fprintf(out, "  %10s .. %-10s %10" PRId64 "  %.*s\n", from, to, count,
			(int)length, bar);
	}
}

/* ---- series ---- */

/* The mean, or of counts the largest, of @many buckets from @row on; -1: all are unknown */
static int64_t value_of(const struct report_section *section, size_t row, size_t column,
			size_t many)
{
	const struct report_cell *cell;
	int64_t sum = 0, most = -1, known = 0;

	for (; many && row < section->nr_rows; many--, row++) {
		cell = cell_at(section, row, column);
		if (!cell->known)
			continue;
		known++;
		sum += cell->number;
		if (cell->number > most)
			most = cell->number;
	}
	return known && section->columns[column].unit != REPORT_COUNT ? sum / known : most;
}

static char level_of(int64_t value, int64_t most)
{
	if (value < 0)
		return '?';
	return levels[value ? 1 + (int)((double)value / (double)most * (LEVELS_MAX - 1)) : 0];
}

static void write_series(const struct report_section *section, unsigned int width, FILE *out)
{
	size_t room = width > 50 ? width - 25 : 25;
	size_t many = (section->nr_rows + room - 1) / room, i, row;
	bool counts = section->nr_columns > 1 && section->columns[1].unit == REPORT_COUNT;
	int64_t most = counts ? 1 : 1000000, value;
	struct report_column width_unit = { .unit = REPORT_NS };
	struct report_cell bucket = { .known = true, .number = (int64_t)(section->width * many) };
	struct report_cell highest = { .known = true };
	char text[CELL_MAX], level[CELL_MAX], title[TITLE_MAX + 1];
	bool unknown = false;

	for (i = 1; i < section->nr_columns; i++)
		for (row = 0; row < section->nr_rows; row += many)
			if ((value = value_of(section, row, i, many)) > most)
				most = value;
	for (i = 1; i < section->nr_columns; i++) {
		put_text(title, sizeof(title), section->columns[i].title);
		fprintf(out, "  %-*s|", TITLE_MAX, title);
		for (row = 0; row < section->nr_rows; row += many) {
			value = value_of(section, row, i, many);
			unknown |= value < 0;
			fputc(level_of(value, most), out);
		}
		fputs("|\n", out);
	}
	highest.number = most;
	put_cell(text, &width_unit, &bucket);
	put_cell(level, &section->columns[section->nr_columns > 1], &highest);
	fprintf(out, "  a character is %s; '%c' is %s%s\n", text, levels[LEVELS_MAX], level,
		unknown ? "; '?' is unknown" : "");
}

/* ---- sections ---- */

/* False for a table without rows, or a series with times alone */
static bool has_rows(const struct report_section *section)
{
	return section->nr_rows && (section->kind != REPORT_SERIES || section->nr_columns > 1);
}

/* True if an earlier section has the note */
static bool is_shown(const struct report *report, size_t number, const char *note)
{
	const struct report_section *section;
	size_t i, k;

	for (i = 0; i < number; i++) {
		section = report->sections[i];
		for (k = 0; k < section->nr_notes; k++)
			if (!strcmp(section->notes[k], note))
				return true;
	}
	return false;
}

/* Write each row as a sentence, and the command that shows more */
static void write_sentences(const struct report_section *section, unsigned int width, FILE *out)
{
	char line[1024];
	size_t row, i;

	for (row = 0; row < section->nr_rows; row++)
		for (i = 0; i < section->nr_columns; i++) {
			const struct report_cell *cell = cell_at(section, row, i);
			bool command = !strcmp(section->columns[i].id, "command");

			if ((!command && strcmp(section->columns[i].id, "finding")) ||
			    !cell->text || !*cell->text)
				continue;
			put_text(line, sizeof(line), cell->text);
			if (command)
				fprintf(out, "      %s\n", line);
			else
				write_note('*', line, width, out);
		}
}

static int write_section(const struct report *report, size_t number, bool alone,
			 unsigned int width, FILE *out)
{
	const struct report_section *section = report->sections[number];
	bool some = has_rows(section), says = alone || some;
	int result = 0;
	size_t i;

	for (i = 0; i < section->nr_notes; i++)
		says |= !is_shown(report, number, section->notes[i]);
	if (!says)
		return 0;
	fprintf(out, "%s [%s]\n", section->title, section->id);
	if (!some && !section->nr_notes)
		fputs("  none\n", out);
	else if (some && section->sentences)
		write_sentences(section, width, out);
	else if (some && section->kind == REPORT_TABLE)
		result = write_table(section, width, out);
	else if (some && section->kind == REPORT_HISTOGRAM)
		write_histogram(section, width, out);
	else if (some)
		write_series(section, width, out);
	for (i = 0; i < section->nr_notes; i++)
		if (alone || !is_shown(report, number, section->notes[i]))
			write_note('*', section->notes[i], width, out);
	fputc('\n', out);
	return result;
}

bool report_shows(const struct report_ids *sections, const char *id)
{
	unsigned int i;

	for (i = 0; i < sections->count; i++)
		if (!strcmp(sections->ids[i], id))
			return true;
	return !sections->count;
}

int report_text_write(const struct report *report, const struct report_ids *sections,
		      unsigned int width, FILE *out)
{
	int result = 0;
	size_t i;

	for (i = 0; i < report->nr_sections && !result; i++)
		if (report_shows(sections, report->sections[i]->id))
			result = write_section(report, i, sections->count, width, out);
	return result;
}
