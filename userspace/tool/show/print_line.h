/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event as a line of 'tracebuf print'.
 */
#ifndef TRACEBUF_PRINT_LINE_H
#define TRACEBUF_PRINT_LINE_H

#include <stdbool.h>
#include <stdio.h>
#include "analysis/files.h"
#include "print_format.h"
#include "tracebuf.h"

/**
 * struct print_line - options of lines
 * @trace: the trace of the events
 * @formats: the kernel's print formats; NULL: show name=value of all fields
 * @base: the clock of times
 * @ticks: show ticks of the trace clock instead
 * @containers: show the container of the thread
 * @files: show the files behind the numbers in system calls; NULL: do not
 */
struct print_line {
	const struct tb_trace *trace;
	struct print_format *formats;
	enum tb_timebase base;
	bool ticks, containers;
	const struct files *files;
};

/* "h3": two characters for TB_CONTEXT_* */
char *add_context(char *at, unsigned int context);

/* Print @view as a line, and its stacks and counters in lines of their own */
void print_line(FILE *out, const struct print_line *print,
		const struct tb_view *view);

#endif /* TRACEBUF_PRINT_LINE_H */
