/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf export - functions that exporters for viewers share: time, texts, names of functions.
 */
#ifndef TRACEBUF_TOOL_EXPORT_COMMON_H
#define TRACEBUF_TOOL_EXPORT_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

/* The longest text of a field; longer ones are cut off */
#define EXPORT_TEXT_MAX	4096

/* ---- time ---- */

/*
 * CLOCK_BOOTTIME - CLOCK_MONOTONIC for ticks from @from to before @to: @offset at @base, and
 * @slope / @ticks more for each tick after @base.
 */
struct export_clock {
	const struct tb_trace *trace;
	uint64_t from, to, base, ticks;
	int64_t  offset, slope;
};

void export_clock_init(struct export_clock *clock, const struct tb_trace *trace);

/** export_clock_ns - convert @ticks, which are @monotonic ns, to ns of CLOCK_BOOTTIME */
uint64_t export_clock_ns(struct export_clock *clock, uint64_t ticks,
			 uint64_t monotonic);
/** export_ticks_ns - convert any @ticks, as export_clock_ns() does those of events */
uint64_t export_ticks_ns(struct export_clock *clock, uint64_t ticks);

/* ---- recordings of chosen threads ---- */

struct slices;

/**
 * export_chosen - follow the runs of a recording of chosen threads
 * @wanted: by index of the format: true if its events are exported; NULL: all
 * @chosen: out: NULL if all threads were recorded, or no switch is exported
 * Return: 0, -ENOMEM.  The caller calls slices_close().
 */
int export_chosen(struct tb_trace *trace, const unsigned char *wanted, struct slices **chosen);
/**
 * export_hides - take the next event or loss; @chosen may be NULL
 * Return: 1 if its CPU now runs a thread that is not recorded, so that another one may follow
 * without an event; 0; -ENOMEM.
 */
int export_hides(struct slices *chosen, const struct tb_view *view);

/* ---- formats ---- */

/** export_is_number - true if @field is one number; NULL is none */
static inline bool export_is_number(const struct tb_format_field *field)
{
	return field && field->width && !tb_field_is_text(field) &&
	       !(field->flags & (TB_FIELD_ARRAY | TB_FIELD_DATA_LOC |
				 TB_FIELD_REL_LOC | TB_FIELD_CPUMASK));
}

/** export_number_field - the field @name of @format if it is one number, else NULL */
static inline const struct tb_format_field *export_number_field(const struct tb_format *format,
								const char *name)
{
	const struct tb_format_field *field = tb_format_field(format, name);

	return export_is_number(field) ? field : NULL;
}

/** export_has_event - true if a format called @name is among those @wanted (by index; NULL: all) */
bool export_has_event(const struct tb_trace *trace, const char *name,
		      const unsigned char *wanted);

/* ---- texts ---- */

/**
 * export_clean - copy any bytes as UTF-8 of the same length
 * @to: @length bytes and a NUL
 * Bytes that are not UTF-8 become '?', NUL becomes a blank.
 */
void export_clean(char *to, const char *from, size_t length);

/**
 * export_listed - write an array of numbers as "1, 2, 3", anything else as hexadecimal digits
 * @text: EXPORT_TEXT_MAX + 32 bytes
 * Return: the length; more than EXPORT_TEXT_MAX if the text may be incomplete.
 */
size_t export_listed(const struct tb_view *view,
		     const struct tb_format_field *field, char *text);

/**
 * export_bytes - write @data as hexadecimal digits and a NUL
 * @text: EXPORT_TEXT_MAX + 1 bytes; data that do not fit are left out
 * Return: the length without the NUL.
 */
size_t export_bytes(const void *data, size_t length, char *text);

/**
 * export_frame - find the function of the kernel that return address @address is in
 * @text: its name without the offset, "name [module]"; cut off if it is too long
 * Return: 0, -ENOENT: the trace does not have its name.
 */
int export_frame(const struct tb_trace *trace, uint64_t address, char *text,
		 size_t size);

#endif /* TRACEBUF_TOOL_EXPORT_COMMON_H */
