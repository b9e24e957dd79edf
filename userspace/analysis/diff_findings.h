/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of diff.h: what is compared, and what of it is a finding.
 */
#ifndef TRACEBUF_DIFF_FINDINGS_H
#define TRACEBUF_DIFF_FINDINGS_H

#include "report.h"

#define DIFF_KINDS 6		/* sections in which traces are compared */

/*
 * One thing in one trace, or in both.  @part: of @sum, what is in diff.whole
 */
struct item {
	char name[160];
	struct { uint64_t count, sum, part, max; } side[2];
};

struct items {
	struct item *list;
	size_t count;
	uint64_t uncertain[2];
	bool failed;
};

struct diff_finding;

/**
 * struct diff - a comparison that is being made
 * @section: the one that is being written
 * @whole: of the section: time that item.side.part is a part of
 * @lacks: titles of the sections in which a trace cannot be compared; NULL: it can
 * @find: the findings, and the section that gets them
 */
struct diff {
	struct report *report;
	struct report_section *section;
	struct analysis *a[2];
	uint64_t whole[2];
	unsigned int top;
	const char *lacks[2][DIFF_KINDS];
	struct {
		struct report_section *section;
		struct diff_finding *list;
		size_t count, room;
	} find;
};

/* How much of each second of trace @side @item took; ns */
int64_t diff_rate(const struct diff *diff, unsigned int side, const struct item *item);

/* What is missing in one trace, and what that hides */
void diff_find_missing(struct diff *diff);
/* What cannot be compared because one of the traces lacks the events */
void diff_find_uncompared(struct diff *diff);
/* What has changed of @items, which are those of section @id, most changed first */
void diff_find(struct diff *diff, const char *id, const struct items *items);
/* Write the section, and free the findings */
void diff_write_findings(struct diff *diff);

#endif /* TRACEBUF_DIFF_FINDINGS_H */
