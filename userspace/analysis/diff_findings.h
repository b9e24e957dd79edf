/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internals of diff.h: the items that are compared, and the findings.
 */
#ifndef TRACEBUF_DIFF_FINDINGS_H
#define TRACEBUF_DIFF_FINDINGS_H

#include "diff.h"

#define DIFF_KINDS 6		/* sections in which traces are compared */

/*
 * An item of one trace, or of both.  @part: the part of @sum that is within diff.whole
 */
struct item {
	char name[160];
	struct { uint64_t count, sum, part, max; } side[2];
};

struct items {
	struct item *list;
	size_t count, room;
	uint64_t uncertain[2];
	bool failed;
};

struct diff_finding;

/**
 * struct diff - a comparison in progress
 * @section: the current section
 * @whole: of the section: the time that item.side.part is a part of
 * @lacks: titles of the sections for which a trace lacks events; NULL: it has them
 * @shell: for the commands
 * @find: the findings, and the section for them
 */
struct diff {
	struct report *report;
	struct report_section *section;
	struct analysis *a[2];
	const struct diff_shell *shell;
	uint64_t whole[2];
	unsigned int top;
	const char *lacks[2][DIFF_KINDS];
	bool compared;			/* at least one section */
	struct {
		struct report_section *section;
		struct diff_finding *list;
		size_t count, room;
	} find;
};

/* Time per second that @item took in trace @side; ns */
int64_t diff_rate(const struct diff *diff, unsigned int side, const struct item *item);
/* True if trace @side has no @item, which proves nothing: it has only chosen threads */
bool diff_hides(const struct diff *diff, unsigned int side, const struct item *item);

/* Find what is missing in one trace, and what that hides */
void diff_find_missing(struct diff *diff);
/* Find recordings of chosen threads, which hide what others do */
void diff_find_chosen(struct diff *diff);
/* Find sections that cannot be compared because one of the traces lacks the events */
void diff_find_uncompared(struct diff *diff);
/* Find the largest changes of @items, the items of section @id */
void diff_find(struct diff *diff, const char *id, const struct items *items);
/* Write the section, and free the findings */
void diff_write_findings(struct diff *diff);

#endif /* TRACEBUF_DIFF_FINDINGS_H */
