/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What has changed from one trace to another, as a report.
 */
#ifndef TRACEBUF_DIFF_H
#define TRACEBUF_DIFF_H

#include "report.h"

/**
 * diff_make - @b compared with @a, both at their end
 * @top: rows of each table, what has changed most first; 0: all
 * Return: NULL: ENOMEM.
 */
struct report *diff_make(struct analysis *a, struct analysis *b, const char *title,
			 unsigned int top);

#endif /* TRACEBUF_DIFF_H */
