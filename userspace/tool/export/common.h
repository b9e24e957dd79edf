/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf export - what exporters for viewers have in common: time, texts, names of functions.
 */
#ifndef TRACEBUF_TOOL_EXPORT_COMMON_H
#define TRACEBUF_TOOL_EXPORT_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

/* The longest text of a field; what is beyond is cut off */
#define EXPORT_TEXT_MAX	4096

/* ---- time ---- */

/*
 * CLOCK_BOOTTIME - CLOCK_MONOTONIC in the span [from, to) of ticks: @offset at
 * @base, and @slope / @ticks more for each tick from there.
 */
struct export_clock {
	const struct tb_trace *trace;
	uint64_t from, to, base, ticks;
	int64_t  offset, slope;
};

/** export_clock_init - before the first tick of @trace */
void export_clock_init(struct export_clock *clock, const struct tb_trace *trace);

/** export_clock_ns - @ticks, which is @monotonic, in ns of CLOCK_BOOTTIME */
uint64_t export_clock_ns(struct export_clock *clock, uint64_t ticks,
			 uint64_t monotonic);

/* ---- formats ---- */

/** export_is_number - @field, which may be NULL, is one number */
static inline bool export_is_number(const struct tb_format_field *field)
{
	return field && field->width && !tb_field_is_text(field) &&
	       !(field->flags & (TB_FIELD_ARRAY | TB_FIELD_DATA_LOC |
				 TB_FIELD_REL_LOC | TB_FIELD_CPUMASK));
}

/** export_has_event - is there an event of that name in the recording, among those @wanted by
 *  format index (NULL: all)? */
bool export_has_event(const struct tb_trace *trace, const char *name,
		      const unsigned char *wanted);

/* ---- texts ---- */

/**
 * export_clean - a copy of what may be any bytes, as UTF-8 of the same length
 * @to: @length bytes and the NUL that is put behind
 * What is not UTF-8 becomes '?', NUL a blank.
 */
void export_clean(char *to, const char *from, size_t length);

/**
 * export_listed - "1, 2, 3" of an array of numbers, hexadecimal digits of anything else
 * @text: EXPORT_TEXT_MAX + 32 bytes
 * Return: its length, more than EXPORT_TEXT_MAX if it would be longer.
 */
size_t export_listed(const struct tb_view *view,
		     const struct tb_format_field *field, char *text);

/**
 * export_bytes - hexadecimal digits
 * @text: EXPORT_TEXT_MAX + 1 bytes; what is beyond is left out
 * Return: the length, without the NUL that is put behind.
 */
size_t export_bytes(const void *data, size_t length, char *text);

/**
 * export_frame - the function that @address, to which will be returned, is in
 * @text: its name, without the offset, "name [module]"; cut off if it is too long
 * Return: 0, -ENOENT the trace does not tell.
 */
int export_frame(const struct tb_trace *trace, uint64_t address, char *text,
		 size_t size);

#endif /* TRACEBUF_TOOL_EXPORT_COMMON_H */
