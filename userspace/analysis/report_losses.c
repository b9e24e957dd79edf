// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections about missing events, and counts of events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sections.h"

/* ---- losses ---- */

static void cell_of(struct report_builder *m, const struct analysis_loss *loss)
{
	char name[80];

	if (loss->user)
		snprintf(name, sizeof(name), "pid %" PRIu32 ", producer %" PRIu32 " writer %" PRIu32,
			 loss->pid, loss->producer, loss->writer);
	else
		snprintf(name, sizeof(name), "CPU %" PRIu32, loss->cpu);
	text(m, name);
}

static void section_losses(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_TEXT("of", "of"),
		COLUMN_NUMBER("gaps", "gaps", REPORT_COUNT),
		COLUMN_NUMBER("lost", "lost", REPORT_COUNT),
		COLUMN_NUMBER("overwritten", "overwritten", REPORT_COUNT),
		COLUMN_NUMBER("dropped", "dropped", REPORT_COUNT),
		COLUMN_NUMBER("span", "in all", REPORT_NS),
		COLUMN_NUMBER("longest", "longest", REPORT_NS),
		COLUMN_NUMBER("first", "from", REPORT_TIME),
		COLUMN_NUMBER("last", "to", REPORT_TIME),
	};
	const struct analysis_loss *loss;
	unsigned int i;

	section(m, "losses", "What is missing", REPORT_TABLE);
	COLUMNS(m, list);
	for (i = 0; (loss = analysis_loss(m->a, i)); i++) {
		cell_of(m, loss);
		number(m, loss->count);
		number(m, loss->events);
		if (loss->user) {
			report_unknown(m->report, m->section);
			report_unknown(m->report, m->section);
		} else {
			number(m, loss->overwritten);
			number(m, loss->dropped);
		}
		number(m, loss->span_ns);
		number(m, loss->longest_ns);
		number(m, loss->first);
		number(m, loss->last);
	}
	if (i)
		remark(m, "Whatever lasted while events were missing may have ended and begun again: it is counted as unsure in the sections above.");
	else if (analysis_lost_later(m->a))
		remark(m, "Events are missing, but the record of that is not in the chosen part: whatever lasted meanwhile is counted as unsure in the sections above.");
	else if (analysis_total(m->a)->cut || analysis_total(m->a)->open)
		remark(m, "There are no gaps up to the end of the file; the recording ends later, and the rest is unknown.");
	else
		remark(m, "Nothing is missing.");
}

static void section_longest(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_TEXT("of", "of"),
		COLUMN_NUMBER("first", "from", REPORT_TIME),
		COLUMN_NUMBER("last", "to", REPORT_TIME),
		COLUMN_NUMBER("span", "for", REPORT_NS),
		COLUMN_NUMBER("lost", "lost", REPORT_COUNT),
	};
	const struct analysis_gap *gap;
	unsigned int i;

	section(m, "losses-longest", "The longest gaps", REPORT_TABLE);
	COLUMNS(m, list);
	for (i = 0; (gap = analysis_gap(m->a, i)); i++) {
		cell_of(m, gap->of);
		number(m, gap->first);
		number(m, gap->last);
		number(m, gap->last - gap->first);
		number(m, gap->events);
	}
}

void sections_losses(struct report_builder *m)
{
	const struct analysis_total *total = analysis_total(m->a);
	const struct analysis_axis *axis = analysis_axis(m->a);
	unsigned int i;

	section_losses(m);
	section_longest(m);
	section(m, "losses-time", "What is missing over time", REPORT_SERIES);
	if (m->section)
		m->section->width = axis->width;
	report_column(m->report, m->section, "time", "time", REPORT_NUMBER, REPORT_TIME);
	report_column(m->report, m->section, "lost", "lost", REPORT_NUMBER, REPORT_COUNT);
	if (!total->losses && !total->user_losses)
		return;
	for (i = 0; i < axis->count; i++) {
		number(m, axis->begin + i * axis->width);
		number(m, analysis_lost(m->a)[i]);
	}
	remark(m, "Each gap counts where it ends.");
}

/* ---- events ---- */

struct kind {
	const struct tb_format *format;
	uint64_t count;
};

static int by_count(const void *one, const void *other)
{
	const struct kind *a = one, *b = other;
	int order;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	order = strcmp(a->format->system, b->format->system);
	return order ? order : strcmp(a->format->name, b->format->name);
}

void sections_events(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_TEXT("system", "system"),
		COLUMN_TEXT("name", "event"),
		COLUMN_NUMBER("count", "count", REPORT_COUNT),
	};
	unsigned int formats = tb_trace_formats(m->trace), i;
	struct kind *kinds = calloc(formats + 1, sizeof(*kinds));
	size_t count = 0, shown;

	section(m, "events", "Events", REPORT_TABLE);
	COLUMNS(m, list);
	if (!kinds) {
		m->report->failed = true;
		return;
	}
	for (i = 0; i < formats; i++)
		if (analysis_count(m->a, i))
			kinds[count++] = (struct kind){ tb_trace_format_at(m->trace, i),
							analysis_count(m->a, i) };
	qsort(kinds, count, sizeof(*kinds), by_count);
	shown = rows_of(m, count, "events");
	for (i = 0; i < shown; i++) {
		text(m, kinds[i].format->system);
		text(m, kinds[i].format->name);
		number(m, kinds[i].count);
	}
	free(kinds);
}
