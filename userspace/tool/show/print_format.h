/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print events with the kernel's own print formats, by libtraceevent.
 */
#ifndef TRACEBUF_PRINT_FORMAT_H
#define TRACEBUF_PRINT_FORMAT_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "symbols.h"
#include "tracebuf.h"

struct print_format;
struct tep_print_fmt;

/**
 * print_format_open - for the selected recording of @trace; NULL: no memory
 * @symbols: names for functions; must exist until print_format_close()
 */
struct print_format *print_format_open(const struct tb_trace *trace,
				       struct symbols *symbols);
void print_format_close(struct print_format *print);

/**
 * print_format_event - write the text of an event, NUL-terminated, on one line
 * Return: like snprintf().  -ENOTSUP: there is no usable print format (simple events, control
 * events, losses, formats that libtraceevent does not understand); -ERANGE: the payload does not
 * fit the format.  The caller then uses tb_view_print().
 */
int print_format_event(struct print_format *print, const struct tb_view *view,
		       char *buffer, size_t size);

/* Print a note for each format that could not be used, or only in part */
void print_format_complain(const struct print_format *print);

/* A letter, digit or "_" */
static inline bool is_of_name(char c)
{
	return c == '_' || isalnum((unsigned char)c);
}

/* ---- print_unknown.c ---- */

/*
 * Return a copy of the print format without words that use constants or variables that the trace
 * does not have; NULL: they cannot be left out, or no memory
 */
char *print_without_unknown(const struct tb_format *format);

/* ---- print_check.c ---- */

/* The most fields of a print format that are lengths of arrays */
#define PRINT_LENGTHS 4
/* The largest length of an array, in a field or constant */
#define PRINT_LENGTH_MAX 16384
/* The largest factor of such a length, with the size of an array's items */
#define PRINT_FACTOR_MAX 128

/**
 * struct print_lengths - fields that are lengths of arrays
 * A print format may be used for an event if none of them is above PRINT_LENGTH_MAX.
 */
struct print_lengths {
	const struct tb_format_field *fields[PRINT_LENGTHS];
	unsigned int count;
};

/* True if libtraceevent, with this print format and any payload, neither reads far beyond the
 * payload nor divides by zero.  Fills in @lengths */
int print_check(const struct tep_print_fmt *print,
		const struct tb_format *format, struct print_lengths *lengths);

/* To be called before parsing: true if the format has the fields that it uses, and libtraceevent
 * understands its operators as C does */
int print_check_text(const struct tb_format *format);

#endif /* TRACEBUF_PRINT_FORMAT_H */
