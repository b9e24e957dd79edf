// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The contents of durable blocks and notes: event descriptions, names, clock
 * records, totals and symbols of a recording, read once when the trace is
 * opened.  (The threads are a cursor's affair, because what is known of them
 * changes with time.)
 *
 * Damage here costs what is damaged and is told by tb_trace_fault(); only a
 * lack of memory makes opening fail.
 */
#include <errno.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdlib.h>
#include "follow.h"

#define CPU_MAX 65535	/* tb_block.cpu has 16 bits */

static void durable_fault(struct tb_trace *trace, const struct tb_walk *walk,
			  const char *wrong)
{
	uint64_t offset = trace->follow ? tb_follow_offset(trace->follow) :
			  (uint64_t)((const unsigned char *)walk->block -
				     trace->data);
	struct tb_error fault;

	tb_error_set(&fault, -EBADMSG, offset +
		     (uint64_t)walk->index * TB_ELEMENT_SIZE, "%s %" PRIu64 ": %s",
		     walk->block->kind == TB_BLOCK_NOTE ? "note" :
		     "durable block",
		     (uint64_t)walk->block->sequence, wrong);
	tb_trace_set_fault(trace, &fault);
}

static int add_format(struct tb_trace *trace, struct tb_recording *recording,
		      const struct tb_walk *walk)
{
	struct tb_format *format;
	const char *wrong;
	int result;

	result = tb_format_parse(walk->payload, walk->bytes, &format, &wrong);
	if (result == -EBADMSG) {
		durable_fault(trace, walk, wrong);
		return 0;
	}
	if (result < 0)
		return result;
	if (!recording->by_id) {
		recording->by_id = calloc(TB_EVENT_IDS,
					  sizeof(*recording->by_id));
		if (!recording->by_id) {
			free(format);
			return -ENOMEM;
		}
	}
	if (recording->by_id[format->id]) {	/* told again: the same */
		free(format);
		return 0;
	}
	if (tb_array_grow(&recording->formats, &recording->room_formats,
			  recording->nr_formats, sizeof(*recording->formats))) {
		free(format);
		return -ENOMEM;
	}
	format->index = (uint32_t)recording->nr_formats;
	recording->formats[recording->nr_formats++] = format;
	recording->by_id[format->id] = (uint16_t)recording->nr_formats;
	return 0;
}

/* By kind, key and when they were told */
static int compare_names(const void *a, const void *b)
{
	const struct tb_name *first = a, *second = b;

	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	if (first->key != second->key)
		return first->key < second->key ? -1 : 1;
	return first->order < second->order ? -1 : first->order > second->order;
}

/* In order, and what was told last alone: a recording's state is told again and again */
static void sort_names(struct tb_recording *recording)
{
	struct tb_name *names = recording->names;
	size_t i, kept = 0;

	if (!recording->nr_names)
		return;
	qsort(names, recording->nr_names, sizeof(*names), compare_names);
	for (i = 0; i < recording->nr_names; i++) {
		if (i + 1 < recording->nr_names &&
		    names[i + 1].kind == names[i].kind &&
		    names[i + 1].key == names[i].key)
			free(names[i].text);
		else
			names[kept++] = names[i];
	}
	recording->nr_names = kept;
}

static int add_name(struct tb_recording *recording, const struct tb_walk *walk)
{
	const struct tb_string *string = walk->payload;
	struct tb_name *name;
	size_t length = walk->bytes - sizeof(*string);

	size_t count = recording->nr_names;

	if (count && count == recording->room_names) {
		sort_names(recording);
		/* where that gave little room, there is to be more of it */
		if (recording->nr_names <= count / 2)
			count = recording->nr_names;
	}
	if (tb_array_grow(&recording->names, &recording->room_names, count,
			  sizeof(*name)))
		return -ENOMEM;
	name = &recording->names[recording->nr_names];
	name->kind = string->kind;
	name->key = string->key;
	name->order = recording->names_told++;
	name->text = malloc(length + 1);
	if (!name->text)
		return -ENOMEM;
	memcpy(name->text, string + 1, length);
	name->text[length] = 0;
	recording->nr_names++;
	return 0;
}

/* Before there was tb_totals.time they ended here */
#define TOTALS_LEAST offsetof(struct tb_totals, time)

/* Those of the stop, or of a snapshot */
static struct tb_totals *find_totals(const struct tb_recording *recording,
				     uint32_t cpu, bool snapshot)
{
	size_t i;

	for (i = 0; i < recording->nr_totals; i++)
		if (recording->totals[i].cpu == cpu && snapshot ==
		    !!(recording->totals[i].flags & TB_TOTALS_SNAPSHOT))
			return &recording->totals[i];
	return NULL;
}

static int add_totals(struct tb_recording *recording,
		      const struct tb_walk *walk)
{
	struct tb_totals totals = { 0 }, *same;

	memcpy(&totals, walk->payload, walk->bytes < sizeof(totals) ?
	       walk->bytes : sizeof(totals));
	same = find_totals(recording, totals.cpu,
			   totals.flags & TB_TOTALS_SNAPSHOT);
	if (!same) {
		if (tb_array_grow(&recording->totals, &recording->room_totals,
				  recording->nr_totals, sizeof(totals)))
			return -ENOMEM;
		same = &recording->totals[recording->nr_totals++];
	}
	*same = totals;
	return 0;
}

static int add_suppressed(struct tb_recording *recording,
			  const struct tb_suppressed *suppressed)
{
	size_t i;

	for (i = 0; i < recording->nr_suppressed; i++)
		if (recording->suppressed[i].id == suppressed->id) {
			recording->suppressed[i] = *suppressed;
			return 0;
		}
	if (tb_array_grow(&recording->suppressed, &recording->room_suppressed,
			  recording->nr_suppressed, sizeof(*suppressed)))
		return -ENOMEM;
	recording->suppressed[recording->nr_suppressed++] = *suppressed;
	return 0;
}

/* A record is repeated with each complete state, and says the same unless there was a change */
static bool selects_the_same(const struct tb_selected *last, const struct tb_selection *selection)
{
	return last->first == selection->first && last->count == selection->count &&
	       !memcmp(last->bits, selection->bits, (selection->count + 7) / 8);
}

static int add_selection(struct tb_trace *trace, struct tb_recording *recording,
			 const struct tb_walk *walk)
{
	const struct tb_selection *selection = walk->payload;
	struct tb_selected *list, selected;
	size_t at = recording->nr_selections;

	if (walk->bytes < sizeof(*selection) || selection->count > TB_EVENT_IDS ||
	    walk->bytes - sizeof(*selection) < (selection->count + 7) / 8) {
		durable_fault(trace, walk, "a record of the selection is too short");
		return 0;
	}
	if (at && walk->ticks >= recording->selections[at - 1].ticks &&
	    selects_the_same(&recording->selections[at - 1], selection))
		return 0;
	if (tb_array_grow(&recording->selections, &recording->room_selections, at,
			  sizeof(selected)))
		return -ENOMEM;
	selected.ticks = walk->ticks;
	selected.first = selection->first;
	selected.count = selection->count;
	selected.bits = malloc((selection->count + 7) / 8 + 1);
	if (!selected.bits)
		return -ENOMEM;
	memcpy(selected.bits, selection->bits, (selection->count + 7) / 8);
	list = recording->selections;
	for (; at && list[at - 1].ticks > selected.ticks; at--)
		list[at] = list[at - 1];
	list[at] = selected;
	recording->nr_selections++;
	return 0;
}

static int durable_event(struct tb_trace *trace,
			 struct tb_recording *recording,
			 const struct tb_walk *walk)
{
	if (walk->structure != TB_STRUCT_COMPOSITE)
		return 0;
	switch (walk->id) {
	case TB_EV_EVENT:
		return add_format(trace, recording, walk);
	case TB_EV_CLOCK:
		if (walk->bytes < sizeof(struct tb_clock_sync))
			durable_fault(trace, walk, "a clock record is too short");
		else
			return tb_clock_add(recording, walk->payload);
		break;
	case TB_EV_TOTALS:
		if (walk->bytes < TOTALS_LEAST)
			durable_fault(trace, walk, "a totals record is too short");
		else if (((const struct tb_totals *)walk->payload)->cpu > CPU_MAX)
			durable_fault(trace, walk, "a totals record names an impossible CPU");
		else
			return add_totals(recording, walk);
		break;
	case TB_EV_STRING:
		if (walk->bytes < sizeof(struct tb_string))
			durable_fault(trace, walk, "a string record is too short");
		else
			return add_name(recording, walk);
		break;
	case TB_EV_SUPPRESSED:
		if (walk->bytes < sizeof(struct tb_suppressed))
			durable_fault(trace, walk, "a record of what was kept out is too short");
		else if (((const struct tb_suppressed *)walk->payload)->id >= TB_EVENT_IDS)
			durable_fault(trace, walk, "a record of what was kept out names an impossible event");
		else
			return add_suppressed(recording, walk->payload);
		break;
	case TB_EV_SELECTION:
		return add_selection(trace, recording, walk);
	case TB_EV_THREADS_LOST:
		if (walk->bytes < sizeof(recording->threads_lost))
			durable_fault(trace, walk, "a record of lost threads is too short");
		else
			memcpy(&recording->threads_lost, walk->payload,
			       sizeof(recording->threads_lost));
		break;
	}
	return 0;
}

static int note_event(struct tb_trace *trace, struct tb_recording *recording,
		      const struct tb_walk *walk)
{
	if (walk->structure != TB_STRUCT_COMPOSITE || walk->id != TB_EV_SYMBOL)
		return 0;
	if (walk->bytes >= sizeof(struct tb_symbol))
		return tb_symbol_add(recording, walk);
	durable_fault(trace, walk, "a symbol is too short");
	return 0;
}

static int read_block(struct tb_trace *trace, struct tb_recording *recording,
		      const struct tb_block *block)
{
	struct tb_walk walk;
	int step, result;

	tb_walk_trace(&walk, trace, block);
	while ((step = tb_walk_next(&walk)) != 0) {
		if (step == -EAGAIN)
			continue;
		if (step < 0) {
			durable_fault(trace, &walk, walk.wrong);
			break;
		}
		result = block->kind == TB_BLOCK_NOTE ?
			 note_event(trace, recording, &walk) :
			 durable_event(trace, recording, &walk);
		if (result < 0)
			return result;
	}
	return 0;
}

static int read_ring(struct tb_trace *trace, struct tb_recording *recording,
		     const struct tb_ring_index *ring)
{
	size_t i;

	for (i = 0; i < ring->nr_all; i++)
		if (read_block(trace, recording, tb_block_at(trace, ring->all[i])))
			return -ENOMEM;
	return 0;
}

int tb_durable_block(struct tb_trace *trace, struct tb_recording *recording,
		     const struct tb_block *block)
{
	uint64_t told = recording->names_told;
	size_t symbols = recording->nr_symbols;

	if (read_block(trace, recording, block))
		return -ENOMEM;
	if (recording->names_told != told)
		sort_names(recording);
	if (recording->nr_symbols != symbols)
		tb_symbols_sort(recording);
	return 0;
}

int tb_durable_read(struct tb_trace *trace, struct tb_recording *recording)
{
	if (read_ring(trace, recording, &recording->durable) ||
	    read_ring(trace, recording, &recording->notes))
		return -ENOMEM;
	sort_names(recording);
	tb_symbols_sort(recording);
	return 0;
}

int tb_durable_finish(struct tb_trace *trace, struct tb_recording *recording)
{
	tb_clock_sort(recording);
	return tb_users_finish(trace, recording);
}

void tb_durable_free(struct tb_recording *recording)
{
	size_t i;

	for (i = 0; i < recording->nr_formats; i++)
		free(recording->formats[i]);
	for (i = 0; i < recording->nr_names; i++)
		free(recording->names[i].text);
	free(recording->formats);
	free(recording->by_id);
	free(recording->names);
	free(recording->syncs);
	free(recording->totals);
	free(recording->suppressed);
	for (i = 0; i < recording->nr_selections; i++)
		free(recording->selections[i].bits);
	free(recording->selections);
	free(recording->symbols);
	tb_users_free(recording->users);
}

int tb_trace_threads_lost(const struct tb_trace *trace, struct tb_threads_lost *lost)
{
	*lost = trace->selected->threads_lost;
	return lost->records || lost->before;
}

const struct tb_suppressed *tb_trace_suppressed(const struct tb_trace *trace,
						size_t *count)
{
	*count = trace->selected->nr_suppressed;
	return *count ? trace->selected->suppressed : NULL;
}

int tb_trace_selection(const struct tb_trace *trace, unsigned int index, uint64_t *ticks)
{
	const struct tb_recording *recording = trace->selected;

	if (index >= recording->nr_selections)
		return -ENOENT;
	*ticks = recording->selections[index].ticks;
	return 0;
}

int tb_trace_selects(const struct tb_trace *trace, unsigned int index, uint16_t id)
{
	const struct tb_recording *recording = trace->selected;
	const struct tb_selected *selected;
	uint32_t bit;

	if (index >= recording->nr_selections)
		return 1;
	selected = &recording->selections[index];
	bit = id - selected->first;
	return bit < selected->count && selected->bits[bit / 8] >> bit % 8 & 1;
}

const struct tb_totals *tb_trace_totals(const struct tb_trace *trace,
					unsigned int cpu)
{
	return find_totals(trace->selected, cpu, false);
}

const struct tb_totals *tb_trace_snapshot(const struct tb_trace *trace,
					  unsigned int cpu)
{
	return find_totals(trace->selected, cpu, true);
}

/* The first block of the recording that there is: nothing of it is earlier */
static uint64_t recording_begin(const struct tb_trace *trace)
{
	const struct tb_recording *recording = trace->selected;

	return recording->durable.count && !trace->follow ?
	       tb_block_at(trace, recording->durable.first)->time_start : 0;
}

int tb_trace_tail(const struct tb_trace *trace, unsigned int cpu,
		  const struct tb_block *last, struct tb_gap *lost,
		  uint64_t *ticks)
{
	const struct tb_totals *totals = tb_trace_totals(trace, cpu);
	uint64_t overwritten = last ? last->overwritten : 0;
	uint64_t dropped = last ? last->dropped : 0;
	uint64_t end = last ? last->time_end : 0;

	memset(lost, 0, sizeof(*lost));
	if (!totals) {
		totals = tb_trace_snapshot(trace, cpu);
		/* what is overwritten while it is taken is told where it is missing */
		if (!totals || totals->flags & TB_TOTALS_OPEN ||
		    totals->blocks != (last ? last->sequence + 1 : 0))
			return 0;
	} else if (totals->overwritten > overwritten) {
		lost->overwritten = totals->overwritten - overwritten;
	}
	if (totals->dropped > dropped)
		lost->dropped = totals->dropped - dropped;
	if (!lost->overwritten && !lost->dropped)
		return 0;
	/* without a time of their own: nothing later is known of this CPU */
	*ticks = totals->time || last ? totals->time : trace->selected->end;
	if (*ticks < end)
		*ticks = end;
	/* the totals know of drops alone when they were */
	lost->first = totals->first;
	if (lost->overwritten || !totals->first)
		lost->first = last ? last->time_start : recording_begin(trace);
	if (totals->first && totals->first < lost->first)
		lost->first = totals->first;
	/* who ran after the last of them is not known either */
	lost->last = *ticks;
	if (lost->first > lost->last)
		lost->first = lost->last;
	return 1;
}

const char *tb_trace_string(const struct tb_trace *trace, uint32_t kind,
			    uint32_t key)
{
	const struct tb_recording *recording = trace->selected;
	const struct tb_name *name;
	size_t low = 0, high = recording->nr_names, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		name = &recording->names[middle];
		if (name->kind < kind || (name->kind == kind && name->key < key))
			low = middle + 1;
		else
			high = middle;
	}
	name = low < recording->nr_names ? &recording->names[low] : NULL;
	if (name && name->kind == kind && name->key == key)
		return name->text;
	if (kind == TB_STRING_SYSCALL && tb_names_fit(recording))
		return tb_syscall_name(key);
	if (kind == TB_STRING_SOFTIRQ)
		return tb_softirq_name(key);
	return NULL;
}

const struct tb_format *tb_trace_format(const struct tb_trace *trace,
					uint16_t id)
{
	const struct tb_recording *recording = trace->selected;

	if (id >= TB_EVENT_IDS || !recording->by_id || !recording->by_id[id])
		return NULL;
	return recording->formats[recording->by_id[id] - 1];
}

unsigned int tb_trace_formats(const struct tb_trace *trace)
{
	return (unsigned int)trace->selected->nr_formats;
}

const struct tb_format *tb_trace_format_at(const struct tb_trace *trace,
					   unsigned int index)
{
	return index < trace->selected->nr_formats ?
	       trace->selected->formats[index] : NULL;
}
