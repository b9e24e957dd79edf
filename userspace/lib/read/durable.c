// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The contents of durable blocks and notes: event descriptions, names, clock records, totals and
 * symbols of a recording, read once when the trace is opened.  (Cursors read the threads, because
 * they change with time.)
 *
 * A damaged record is skipped, and tb_trace_fault() reports it; only a lack of memory makes opening
 * fail.
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
	if (recording->by_id[format->id]) {	/* a repetition */
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

static struct tb_key name_key(uint32_t kind, uint32_t key)
{
	return (struct tb_key){ { kind, key } };
}

/* The recorder repeats names with each complete state: the last text of a name counts */
static int add_name(struct tb_recording *recording, const struct tb_walk *walk)
{
	uint32_t count = (uint32_t)recording->nr_names, *at;
	size_t length = walk->bytes - sizeof(struct tb_string);
	const struct tb_string *string = walk->payload;
	char *text;

	if (tb_array_grow(&recording->names, &recording->room_names, count,
			  sizeof(*recording->names)))
		return -ENOMEM;
	text = malloc(length + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, string + 1, length);
	text[length] = 0;
	at = tb_tree_place(&recording->names_at, name_key(string->kind, string->key), count);
	if (!at) {
		free(text);
		return -ENOMEM;
	}
	if (*at == count)
		recording->names[recording->nr_names++] = NULL;
	free(recording->names[*at]);
	recording->names[*at] = text;
	return 0;
}

/* tb_totals ended here before it had a time */
#define TOTALS_LEAST offsetof(struct tb_totals, time)

/* Totals of @cpu at the stop, or at a snapshot */
static struct tb_totals *find_totals(const struct tb_recording *recording,
				     uint32_t cpu, bool snapshot)
{
	const uint32_t *at = tb_tree_find(&recording->totals_at,
					  (struct tb_key){ { cpu, snapshot } });

	return at ? &recording->totals[*at] : NULL;
}

static int add_totals(struct tb_recording *recording,
		      const struct tb_walk *walk)
{
	uint32_t count = (uint32_t)recording->nr_totals, *at;
	struct tb_totals totals = { 0 };

	memcpy(&totals, walk->payload, walk->bytes < sizeof(totals) ?
	       walk->bytes : sizeof(totals));
	/* the file may have changed since this was checked */
	if (totals.cpu > CPU_MAX)
		return 0;
	if (tb_array_grow(&recording->totals, &recording->room_totals, count, sizeof(totals)))
		return -ENOMEM;
	at = tb_tree_place(&recording->totals_at, (struct tb_key){ { totals.cpu,
			   !!(totals.flags & TB_TOTALS_SNAPSHOT) } }, count);
	if (!at)
		return -ENOMEM;
	recording->nr_totals += *at == count;
	recording->totals[*at] = totals;
	if (totals.cpu >= recording->totals_cpus)
		recording->totals_cpus = totals.cpu + 1;
	return 0;
}

static int add_suppressed(struct tb_recording *recording,
			  const struct tb_suppressed *note)
{
	uint32_t count = (uint32_t)recording->nr_suppressed, *at;
	struct tb_suppressed suppressed = *note;

	tb_keep(&suppressed);
	/* the file may have changed since this was checked */
	if (suppressed.id >= TB_EVENT_IDS)
		return 0;
	if (tb_array_grow(&recording->suppressed, &recording->room_suppressed, count,
			  sizeof(suppressed)))
		return -ENOMEM;
	at = tb_tree_place(&recording->suppressed_at, (struct tb_key){ { suppressed.id } }, count);
	if (!at)
		return -ENOMEM;
	recording->nr_suppressed += *at == count;
	recording->suppressed[*at] = suppressed;
	return 0;
}

/* The recorder repeats a record with each complete state; it differs only after a change */
static bool select_the_same(const struct tb_selected *last, const struct tb_selected *next)
{
	return last->first == next->first && last->count == next->count &&
	       !memcmp(last->bits, next->bits, (next->count + 7) / 8);
}

static int compare_selections(const void *a, const void *b)
{
	const struct tb_selected *first = a, *second = b;

	TB_COUNT_STEP();
	if (first->ticks != second->ticks)
		return first->ticks < second->ticks ? -1 : 1;
	return first->order < second->order ? -1 : first->order > second->order;
}

static void sort_selections(struct tb_recording *recording)
{
	struct tb_selected *list = recording->selections;
	size_t i, kept = 0;

	if (!recording->selections_disordered)
		return;
	qsort(list, recording->nr_selections, sizeof(*list), compare_selections);
	for (i = 0; i < recording->nr_selections; i++) {
		if (kept && select_the_same(&list[kept - 1], &list[i]))
			free(list[i].bits);
		else
			list[kept++] = list[i];
	}
	recording->nr_selections = kept;
	recording->selections_disordered = false;
}

static int add_selection(struct tb_trace *trace, struct tb_recording *recording,
			 const struct tb_walk *walk)
{
	const struct tb_selection *selection = walk->payload;
	size_t at = recording->nr_selections, bytes;
	struct tb_selected *selected;
	uint32_t count;

	count = walk->bytes < sizeof(*selection) ? UINT32_MAX : tb_once32(&selection->count);
	bytes = ((size_t)count + 7) / 8;
	if (count > TB_EVENT_IDS || walk->bytes - sizeof(*selection) < bytes) {
		durable_fault(trace, walk, "a record of the selection is too short");
		return 0;
	}
	/* recorders write them in order; to sort with each block would take quadratic time */
	if (trace->follow && at && walk->ticks < recording->selections[at - 1].ticks) {
		durable_fault(trace, walk, "a record of the selection is earlier than the last one");
		return 0;
	}
	if (tb_array_grow(&recording->selections, &recording->room_selections, at,
			  sizeof(*selected)))
		return -ENOMEM;
	selected = &recording->selections[at];
	selected->ticks = walk->ticks;
	selected->order = recording->next_selection++;
	selected->first = selection->first;
	selected->count = count;
	selected->bits = malloc(bytes + 1);
	if (!selected->bits)
		return -ENOMEM;
	memcpy(selected->bits, selection->bits, bytes);
	if (at && selected->ticks < selected[-1].ticks) {
		recording->selections_disordered = true;
	} else if (at && !recording->selections_disordered &&
		   select_the_same(&selected[-1], selected)) {
		free(selected->bits);
		return 0;
	}
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
			durable_fault(trace, walk, "a record of suppressed events is too short");
		else if (((const struct tb_suppressed *)walk->payload)->id >= TB_EVENT_IDS)
			durable_fault(trace, walk, "a record of suppressed events has an impossible id");
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
	const char *wrong;

	if (walk->structure == TB_STRUCT_COMPOSITE && walk->id == TB_EV_MAPPING) {
		wrong = tb_mapping_add(recording, walk);
		if (wrong && *wrong)
			durable_fault(trace, walk, wrong);
		return wrong && !*wrong ? -ENOMEM : 0;
	}
	if (walk->structure == TB_STRUCT_COMPOSITE && walk->id == TB_EV_STRING)
		return durable_event(trace, recording, walk);
	if (walk->structure == TB_STRUCT_COMPOSITE && walk->id == TB_EV_OPEN_FILE) {
		if (walk->bytes >= sizeof(struct tb_open_file))
			return tb_open_file_add(recording, walk);
		durable_fault(trace, walk, "a record of an open file is too short");
		return 0;
	}
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

static int sort_notes(struct tb_recording *recording)
{
	int result = tb_symbols_sort(recording);

	return result ? result : tb_mappings_sort(recording);
}

int tb_durable_block(struct tb_trace *trace, struct tb_recording *recording,
		     const struct tb_block *block)
{
	return read_block(trace, recording, block) ? -ENOMEM : sort_notes(recording);
}

int tb_durable_read(struct tb_trace *trace, struct tb_recording *recording)
{
	if (read_ring(trace, recording, &recording->durable) ||
	    read_ring(trace, recording, &recording->notes))
		return -ENOMEM;
	sort_selections(recording);
	return sort_notes(recording);
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
		free(recording->names[i]);
	free(recording->formats);
	free(recording->by_id);
	free(recording->names);
	tb_tree_free(&recording->names_at);
	free(recording->syncs);
	free(recording->totals);
	tb_tree_free(&recording->totals_at);
	free(recording->suppressed);
	tb_tree_free(&recording->suppressed_at);
	for (i = 0; i < recording->nr_selections; i++)
		free(recording->selections[i].bits);
	free(recording->selections);
	free(recording->symbols);
	free(recording->symbol_runs.starts);
	free(recording->mappings);
	free(recording->mapping_runs.starts);
	free(recording->generated);
	free(recording->generated_runs.starts);
	free(recording->open_files);
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

/* Start of the recording's first block; 0: unknown */
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
		/* blocks overwritten during the snapshot have gap markers of their own */
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
	/* totals without a time: nothing later is known of this CPU */
	*ticks = totals->time || last ? totals->time : trace->selected->end;
	if (*ticks < end)
		*ticks = end;
	/* totals->first is that of drops: overwritten events may be earlier */
	lost->first = totals->first;
	if (lost->overwritten || !totals->first)
		lost->first = last ? last->time_start : recording_begin(trace);
	if (totals->first && totals->first < lost->first)
		lost->first = totals->first;
	/* the running thread is unknown up to the end */
	lost->last = *ticks;
	if (lost->first > lost->last)
		lost->first = lost->last;
	return 1;
}

const char *tb_trace_string(const struct tb_trace *trace, uint32_t kind,
			    uint32_t key)
{
	const struct tb_recording *recording = trace->selected;
	const uint32_t *at = tb_tree_find(&recording->names_at, name_key(kind, key));

	if (at)
		return recording->names[*at];
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

const struct tb_format *tb_trace_format_named(const struct tb_trace *trace, const char *name,
					      const struct tb_format *after)
{
	unsigned int i = after ? after->index + 1 : 0;
	const struct tb_format *format;
	size_t length;

	for (; (format = tb_trace_format_at(trace, i)); i++) {
		length = strlen(format->system);
		if (!strncmp(name, format->system, length) && name[length] == ':' &&
		    !strcmp(name + length + 1, format->name))
			return format;
	}
	return NULL;
}
