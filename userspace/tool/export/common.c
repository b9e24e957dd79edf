// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - functions that exporters for viewers share: time, texts, names of functions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "analysis/roles.h"
#include "analysis/slices.h"
#include "lib/bisect.h"
#include "tool/show/out.h"

/* ---- time ---- */

static void clock_find(struct export_clock *clock, uint64_t ticks)
{
	const struct tb_trace *trace = clock->trace;
	const struct tb_clock_sync *syncs;
	size_t count, low = 1;

	memset(clock, 0, sizeof(*clock));
	clock->trace = trace;
	clock->to = UINT64_MAX;
	syncs = tb_trace_syncs(trace, &count);
	if (!syncs)
		return;
	BISECT(low, count, i, syncs[i].clock <= ticks);
	low--;
	clock->base = syncs[low].clock;
	clock->offset = (int64_t)(syncs[low].boottime - syncs[low].monotonic);
	if (ticks < syncs[low].clock) {
		clock->to = syncs[low].clock;
		return;
	}
	clock->from = syncs[low].clock;
	if (low + 1 == count)
		return;
	clock->to = syncs[low + 1].clock;
	clock->ticks = syncs[low + 1].clock - syncs[low].clock;
	/* unsigned, because the times of a damaged trace can overflow */
	clock->slope = (int64_t)(syncs[low + 1].boottime - syncs[low + 1].monotonic -
				 (uint64_t)clock->offset);
}

void export_clock_init(struct export_clock *clock, const struct tb_trace *trace)
{
	clock->trace = trace;
	clock_find(clock, 0);
}

uint64_t export_clock_ns(struct export_clock *clock, uint64_t ticks,
			 uint64_t monotonic)
{
	if (ticks < clock->from || ticks >= clock->to)
		clock_find(clock, ticks);
	monotonic += (uint64_t)clock->offset;
	if (clock->slope)
		monotonic += (uint64_t)(int64_t)((__int128)clock->slope *
			     (int64_t)(ticks - clock->base) /
			     (int64_t)clock->ticks);
	return monotonic;
}

uint64_t export_ticks_ns(struct export_clock *clock, uint64_t ticks)
{
	return export_clock_ns(clock, ticks,
			       tb_trace_ns(clock->trace, ticks, TB_TIME_MONOTONIC));
}

/* ---- formats ---- */

static void ignore_slice(void *context, const struct slice *slice)
{
	(void)context;
	(void)slice;
}

int export_chosen(struct tb_trace *trace, const unsigned char *wanted, struct slices **chosen)
{
	*chosen = NULL;
	if (!is_of_threads(trace) || !export_has_event(trace, "sched_switch", wanted))
		return 0;
	*chosen = slices_open(trace, TB_TIME_MONOTONIC, ignore_slice, NULL);
	return *chosen ? slices_find_chosen(*chosen, trace) : -ENOMEM;
}

int export_hides(struct slices *chosen, const struct tb_view *view)
{
	int result = chosen ? slices_take(chosen, view, view->ns) : 0;
	const struct slice *run = chosen ? slices_running(chosen, view->cpu) : NULL;

	if (!chosen || result < 0)
		return result;
	return !slices_sees(chosen, run ? run->tid : view->tid);
}

bool export_has_event(const struct tb_trace *trace, const char *name,
		      const unsigned char *wanted)
{
	unsigned int i;

	for (i = 0; i < tb_trace_formats(trace); i++)
		if ((!wanted || wanted[i]) && !strcmp(tb_trace_format_at(trace, i)->name, name))
			return true;
	return false;
}

/* ---- texts ---- */

void export_clean(char *to, const char *from, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)from;
	size_t i, size;

	for (i = 0; i < length; i += size ? size : 1) {
		/* fast path: ASCII */
		for (size = 1; i < length && bytes[i] && bytes[i] < 0x80; i++)
			to[i] = from[i];
		if (i == length)
			break;
		size = utf8_size(from + i, length - i);
		if (size)
			memcpy(to + i, from + i, size);
		else
			to[i] = '?';
		if (!to[i])
			to[i] = ' ';
	}
	to[length] = 0;
}

static char *put_number(char *at, const struct tb_format_field *field, uint64_t value)
{
	if (field->flags & TB_FIELD_SIGNED && (int64_t)value < 0) {
		*at++ = '-';
		return put_decimal(at, -value);
	}
	if (field->flags & TB_FIELD_SIGNED || !(field->flags & TB_FIELD_HEX))
		return put_decimal(at, value);
	*at++ = '0';
	*at++ = 'x';
	return put_hex(at, value);
}

size_t export_listed(const struct tb_view *view,
		     const struct tb_format_field *field, char *text)
{
	int count = tb_field_count(view, field), i;
	const unsigned char *data;
	const void *start;
	size_t used = 0, size;
	uint64_t value;

	if (count >= 0 && !(field->flags & TB_FIELD_CPUMASK)) {
		for (i = 0; i < count && used <= EXPORT_TEXT_MAX; i++) {
			if (tb_field_item(view, field, (unsigned int)i, &value))
				break;
			if (i) {
				text[used++] = ',';
				text[used++] = ' ';
			}
			used = (size_t)(put_number(text + used, field, value) - text);
		}
	} else if (!tb_field_data(view, field, &start, &size)) {
		data = start;
		/* a mask is one number, its first byte the lowest */
		for (; size && used <= EXPORT_TEXT_MAX; size--)
			used += (size_t)sprintf(text + used, "%02x",
				field->flags & TB_FIELD_CPUMASK ?
				data[size - 1] : *data++);
	}
	return used;
}

size_t export_bytes(const void *data, size_t length, char *text)
{
	const unsigned char *bytes = data;
	size_t i;

	if (length > EXPORT_TEXT_MAX / 2)
		length = EXPORT_TEXT_MAX / 2;
	for (i = 0; i < length; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	text[2 * length] = 0;
	return 2 * length;
}

/* A return address can be behind the end of the caller; the byte before it is not */
int export_frame(const struct tb_trace *trace, uint64_t address, char *text,
		 size_t size)
{
	const char *name;
	uint64_t offset;
	size_t length;
	int result;

	result = tb_trace_symbol(trace, address - 1, &name, &length, &offset);
	if (result)
		return result;
	if (length >= size)
		length = size - 1;
	export_clean(text, name, length);
	return 0;
}
