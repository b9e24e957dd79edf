/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare two traces; the result is a report.
 */
#ifndef TRACEBUF_DIFF_H
#define TRACEBUF_DIFF_H

#include "report.h"

/**
 * diff_make - compare @b with @a, both after analysis_end()
 * @top: number of rows of each table, largest change first; 0: all
 * Return: for report_free(); NULL: no memory.
 */
struct report *diff_make(struct analysis *a, struct analysis *b, const char *title,
			 unsigned int top);

#endif /* TRACEBUF_DIFF_H */
