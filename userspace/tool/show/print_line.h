/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event as print shows it: one line.
 */
#ifndef TRACEBUF_PRINT_LINE_H
#define TRACEBUF_PRINT_LINE_H

#include <stdbool.h>
#include <stdio.h>
#include "print_format.h"
#include "tracebuf.h"

/**
 * struct print_line - how lines look
 * @trace: that the events are of
 * @formats: the kernel's print formats, NULL: name=value of all fields
 * @base: the clock shown
 * @ticks: ticks of the trace clock instead
 */
struct print_line {
	const struct tb_trace *trace;
	struct print_format *formats;
	enum tb_timebase base;
	bool ticks;
};

/* "h3": two characters for TB_CONTEXT_* */
char *add_context(char *at, unsigned int context);

/* @view as a line, and stacks and counters on their own */
void print_line(FILE *out, const struct print_line *print,
		const struct tb_view *view);

#endif /* TRACEBUF_PRINT_LINE_H */
