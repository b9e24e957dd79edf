// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf report --why - the section "why": where the time of the chosen threads went, summed by
 * cause, as the second table of 'tracebuf why'.
 */
#include <errno.h>
#include <stdlib.h>
#include "tool/report/out.h"
#include "tool/show/why_sums.h"

/* The page takes the duration in the column before "begin" for the stretch that begins then */
static const struct {
	const char *id, *title;
	enum report_type type;
	enum report_unit unit;
} columns[] = {
	{ "tid",     "tid",     REPORT_NUMBER, REPORT_PLAIN },
	{ "comm",    "task",    REPORT_TEXT,   REPORT_PLAIN },
	{ "total",   "total",   REPORT_NUMBER, REPORT_NS },
	{ "share",   "share",   REPORT_NUMBER, REPORT_PPM },
	{ "longest", "longest", REPORT_NUMBER, REPORT_NS },
	{ "begin",   "at",      REPORT_NUMBER, REPORT_TIME },
	{ "cause",   "cause",   REPORT_TEXT,   REPORT_PLAIN },
};

/* Add at most @top (0: all) rows of @thread, to which the tree belongs; false: there are more */
static bool add_rows(struct report *report, struct report_section *section, const struct why *why,
		     uint32_t thread, const struct why_sum *sums, size_t count, uint32_t top)
{
	const char *comm = why_comm(why, thread);
	char text[256];
	size_t i, nodes;
	uint64_t all = why_nodes(why, &nodes)->ns;

	for (i = 0; i < count && (!top || i < top); i++) {
		report_number(report, section, why_tid(why, thread));
		report_text(report, section, comm[0] ? comm : "<...>");
		report_number(report, section, sums[i].ns);
		report_number(report, section,
			      (uint64_t)((unsigned __int128)sums[i].ns * 1000000 / all));
		report_number(report, section, sums[i].longest);
		report_number(report, section, sums[i].longest_at);
		report_text(report, section, why_sum_text(why, &sums[i], text, sizeof(text)));
	}
	return i == count;
}

int report_why(struct report *report, const struct why_threads *threads, uint32_t top)
{
	struct report_section *section;
	struct why_sum *sums;
	bool whole = true;
	unsigned int t;
	size_t i, count;

	section = report_section(report, "why", "Where the time of threads went, by cause",
				 REPORT_TABLE);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		report_column(report, section, columns[i].id, columns[i].title, columns[i].type,
			      columns[i].unit);
	for (t = 0; t < threads->count; t++) {
		why_clear(threads->why);
		if (why_add(threads->why, threads->list[t].thread, threads->list[t].from,
			    threads->list[t].to))
			return -ENOMEM;
		sums = why_sums(threads->why, &count);
		if (!sums)
			return -ENOMEM;
		whole &= add_rows(report, section, threads->why, threads->list[t].thread, sums, count,
				  top);
		free(sums);
	}
	if (!whole)
		report_note(report, section, "Only the %u longest causes of each thread are shown.",
			    top);
	return report->failed ? -ENOMEM : 0;
}
