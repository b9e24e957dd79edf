/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare two traces; the result is a report.
 */
#ifndef TRACEBUF_DIFF_H
#define TRACEBUF_DIFF_H

#include "report.h"

/**
 * struct diff_shell - what the commands in findings say of the traces, as a shell reads it
 * @files: the files
 * @clock, @times, @rest: options that chose the recording and the clock; the time; anything else;
 *	each with a space behind it
 */
struct diff_shell {
	const char *files[2];
	const char *clock, *times, *rest;
};

/**
 * diff_make - compare @b with @a, both after analysis_end()
 * @shell: used only during the call
 * @top: number of rows of each table, largest change first; 0: all
 * Return: for report_free(); NULL: no memory.
 */
struct report *diff_make(struct analysis *a, struct analysis *b, const char *title,
			 const struct diff_shell *shell, unsigned int top);

#endif /* TRACEBUF_DIFF_H */
