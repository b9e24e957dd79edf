// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which file contains the code at an address of a program, from the notes of a trace.
 *
 * Entries are sorted by process and time.  A lookup goes back from its time to the first entry that
 * decides: code at that address; exec, which removes all older code; or fork, which continues the
 * lookup in the parent.
 *
 * Functions that a program has generated (TB_MAPPING_FUNCTION) are sorted by process, address and
 * the time when the program's list was read: of several lists the first one after a time is right.
 */
#include <errno.h>
#include <string.h>
#include "internal.h"

/* Limits, because a damaged file may have any entries */
#define ENTRIES_MAX 4096
#define GENERATIONS_MAX 64

const char *tb_mapping_add(struct tb_recording *recording, const struct tb_walk *walk)
{
	struct tb_mapping_at at;

	if (walk->bytes < sizeof(at.mapping))
		return "a mapping is too short";
	memcpy(&at.mapping, walk->payload, sizeof(at.mapping));
	at.bytes = (const unsigned char *)walk->payload + sizeof(at.mapping);
	if (walk->bytes - sizeof(at.mapping) < (size_t)at.mapping.build_id + at.mapping.path)
		return "a mapping's build ID and path do not fit into it";
	if (at.mapping.kind == TB_MAPPING_FUNCTION) {
		if (tb_array_grow(&recording->generated, &recording->room_generated,
				  recording->nr_generated, sizeof(at)))
			return "";
		recording->generated[recording->nr_generated++] = at;
		return NULL;
	}
	if (tb_array_grow(&recording->mappings, &recording->room_mappings,
			  recording->nr_mappings, sizeof(at)))
		return "";
	recording->mappings[recording->nr_mappings++] = at;
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct tb_mapping_at *first = a, *second = b;

	TB_COUNT_STEP();
	if (first->mapping.pid != second->mapping.pid)
		return first->mapping.pid < second->mapping.pid ? -1 : 1;
	if (first->mapping.since != second->mapping.since)
		return first->mapping.since < second->mapping.since ? -1 : 1;
	return first->bytes < second->bytes ? -1 : first->bytes > second->bytes;
}

/* When the list with this function was read */
static uint64_t listed_at(const struct tb_mapping *mapping)
{
	return mapping->size > UINT64_MAX - mapping->since ? UINT64_MAX :
	       mapping->since + mapping->size;
}

static int compare_generated(const void *a, const void *b)
{
	const struct tb_mapping_at *first = a, *second = b;
	uint64_t end = listed_at(&first->mapping), other = listed_at(&second->mapping);

	TB_COUNT_STEP();
	if (first->mapping.pid != second->mapping.pid)
		return first->mapping.pid < second->mapping.pid ? -1 : 1;
	if (first->mapping.start != second->mapping.start)
		return first->mapping.start < second->mapping.start ? -1 : 1;
	if (end != other)
		return end < other ? -1 : 1;
	return first->bytes < second->bytes ? -1 : first->bytes > second->bytes;
}

int tb_mappings_sort(struct tb_recording *recording)
{
	int result = tb_runs_sort(&recording->mapping_runs, recording->mappings,
				  recording->nr_mappings, sizeof(*recording->mappings), compare);

	return result ? result :
	       tb_runs_sort(&recording->generated_runs, recording->generated,
			    recording->nr_generated, sizeof(*recording->generated),
			    compare_generated);
}

/* Index after the last entry of @run that is of a lower pid, or of @pid and not later than @ns */
static size_t behind(const struct tb_recording *recording, size_t run, uint32_t pid, uint64_t ns)
{
	const struct tb_mapping_at *list = recording->mappings;
	size_t low = recording->mapping_runs.starts[run];
	size_t high = tb_run_end(&recording->mapping_runs, run, recording->nr_mappings);

	BISECT(low, high, i, list[i].mapping.pid < pid ||
	       (list[i].mapping.pid == pid && list[i].mapping.since <= ns));
	return low;
}

static bool decides(const struct tb_mapping *mapping, uint64_t address)
{
	return mapping->kind == TB_MAPPING_EXEC || mapping->kind == TB_MAPPING_FORK ||
	       (mapping->kind == TB_MAPPING_CODE && address - mapping->start < mapping->size);
}

/* The last entry that decides about @address in @pid at @ns; NULL: none, or none within @steps */
static const struct tb_mapping_at *deciding(const struct tb_recording *recording, uint32_t pid,
					    uint64_t ns, uint64_t address, unsigned int *steps)
{
	const struct tb_mapping_at *last = NULL, *at;
	size_t run, i, start;

	for (run = 0; run < recording->mapping_runs.count; run++) {
		start = recording->mapping_runs.starts[run];
		for (i = behind(recording, run, pid, ns); i > start; i--) {
			at = &recording->mappings[i - 1];
			if (at->mapping.pid != pid)
				break;
			if (!(*steps)--)
				return NULL;
			if (!decides(&at->mapping, address))
				continue;
			if (!last || compare(last, at) < 0)
				last = at;
			break;
		}
	}
	return last;
}

/* Time from which on entries are reliable at @ns; UINT64_MAX: nothing is known at @ns */
static uint64_t known_since(const struct tb_recording *recording, uint64_t ns)
{
	const struct tb_mapping *unknown;
	unsigned int steps = ENTRIES_MAX;
	uint64_t since = 0, end;
	size_t run, i;

	for (run = 0; run < recording->mapping_runs.count; run++) {
		for (i = behind(recording, run, 0, ns);
		     i > recording->mapping_runs.starts[run]; i--) {
			unknown = &recording->mappings[i - 1].mapping;
			if (!steps--)
				return UINT64_MAX;
			if (unknown->kind != TB_MAPPING_UNKNOWN)
				continue;
			end = unknown->since + unknown->size;
			if (end < unknown->since || ns < end)
				return UINT64_MAX;
			since = end > since ? end : since;
		}
	}
	return since;
}

int tb_trace_code(const struct tb_trace *trace, uint32_t pid, uint64_t ns, uint64_t address,
		  struct tb_code *code)
{
	const struct tb_recording *recording = trace->selected;
	uint64_t since = known_since(recording, ns);
	unsigned int generation, steps = ENTRIES_MAX;
	const struct tb_mapping_at *at;

	for (generation = 0; generation < GENERATIONS_MAX; generation++) {
		at = deciding(recording, pid, ns, address, &steps);
		if (!at || at->mapping.since < since || at->mapping.kind == TB_MAPPING_EXEC)
			return -ENOENT;
		if (at->mapping.kind == TB_MAPPING_CODE) {
			code->build_id = at->bytes;
			code->build_id_bytes = at->mapping.build_id;
			code->path = (const char *)at->bytes + at->mapping.build_id;
			code->length = strnlen(code->path, at->mapping.path);
			code->offset = address - at->mapping.start + at->mapping.offset;
			code->start = at->mapping.start;
			code->size = at->mapping.size;
			return 0;
		}
		pid = at->mapping.parent;
		ns = at->mapping.since;
	}
	return -ENOENT;
}

static bool is_file(const struct tb_code *code)
{
	static const char *const others[] = { "//anon", "/dev/zero", "/anon_hugepage", "/memfd:" };
	size_t i, length;

	if (code->build_id_bytes)
		return true;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		length = strlen(others[i]);
		if (code->length >= length && !memcmp(code->path, others[i], length))
			return false;
	}
	return code->length && code->path[0] == '/';
}

/* True if @mapping is sorted before functions of @pid at @address in lists read at @ns or later */
static bool is_before(const struct tb_mapping *mapping, uint32_t pid, uint64_t address, uint64_t ns)
{
	if (mapping->pid != pid)
		return mapping->pid < pid;
	if (mapping->start != address)
		return mapping->start < address;
	return listed_at(mapping) < ns;
}

int tb_trace_generated(const struct tb_trace *trace, uint32_t pid, uint64_t ns, uint64_t address,
		       const char **name, size_t *length, uint64_t *offset)
{
	const struct tb_recording *recording = trace->selected;
	const struct tb_mapping_at *list = recording->generated, *first = NULL;
	size_t run, low, high;
	struct tb_code code;

	if (!recording->nr_generated || tb_trace_code(trace, pid, ns, address, &code) ||
	    is_file(&code))
		return -ENOENT;
	for (run = 0; run < recording->generated_runs.count; run++) {
		low = recording->generated_runs.starts[run];
		high = tb_run_end(&recording->generated_runs, run, recording->nr_generated);
		BISECT(low, high, i, is_before(&list[i].mapping, pid, address, ns));
		if (low < tb_run_end(&recording->generated_runs, run, recording->nr_generated) &&
		    list[low].mapping.pid == pid && list[low].mapping.start == address &&
		    (!first || listed_at(&list[low].mapping) < listed_at(&first->mapping)))
			first = &list[low];
	}
	if (!first || first->mapping.since > ns)
		return -ENOENT;
	*name = (const char *)first->bytes + first->mapping.build_id;
	*length = strnlen(*name, first->mapping.path);
	*offset = first->mapping.offset;
	return *length ? 0 : -ENOENT;
}
