/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events as the kernel's own print formats show them, by libtraceevent.
 */
#ifndef TRACEBUF_PRINT_FORMAT_H
#define TRACEBUF_PRINT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include "symbols.h"
#include "tracebuf.h"

struct print_format;
struct tep_print_fmt;

/**
 * print_format_open - for the recording of @trace that is selected
 * @symbols: names for functions; must stay until it is closed
 * NULL: no memory.
 */
struct print_format *print_format_open(const struct tb_trace *trace,
				       struct symbols *symbols);
void print_format_close(struct print_format *print);

/* A function starts at @address; before the first event that is to show it.  -ENOMEM */
int print_format_symbol(struct print_format *print, uint64_t address,
			const char *name);

/**
 * print_format_event - the text of an event, NUL-terminated, on one line
 * Return: like snprintf(); -ENOTSUP there is no print format that can be
 * used (simple events, control events, losses, formats that libtraceevent does not understand),
 * -ERANGE the payload is not what it is for: tb_view_print() shows what there is.
 */
int print_format_event(struct print_format *print, const struct tb_view *view,
		       char *buffer, size_t size);

/* Say which formats were met that could not be used, if any */
void print_format_complain(const struct print_format *print);

/* ---- print_unknown.c ---- */

/*
 * A copy of the print format without the words that need what the trace does not have; NULL: these
 * cannot be left out, or no memory
 */
char *print_without_unknown(const struct tb_format *format);

/* ---- print_check.c ---- */

/* Lengths of arrays that a print format takes from fields, at most */
#define PRINT_LENGTHS 4
/* What they, and constant ones, may be at most */
#define PRINT_LENGTH_MAX 16384
/* By what they may be multiplied, size of an array's items included */
#define PRINT_FACTOR_MAX 128

/**
 * struct print_lengths - fields that say how much is read
 * A print format may be used for an event where none is over PRINT_LENGTH_MAX.
 */
struct print_lengths {
	const struct tb_format_field *fields[PRINT_LENGTHS];
	unsigned int count;
};

/* Can this print format be used on any payload without reading far beyond it, or dividing
 * by zero?  Fills in @lengths */
int print_check(const struct tep_print_fmt *print,
		const struct tb_format *format, struct print_lengths *lengths);

/* Before it is parsed: has it the fields that it uses, and does libtraceevent understand its
 * operators as C does? */
int print_check_text(const struct tb_format *format);

#endif /* TRACEBUF_PRINT_FORMAT_H */
