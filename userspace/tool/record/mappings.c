// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of code in all processes, over time; see mappings.h.
 *
 * /proc/PID/maps has the mappings at one moment; perf's records (perf_records.h) report each
 * change.  The recorder opens perf's buffers before it reads /proc, so it misses no change.
 *
 * If the kernel lost records, TB_MAPPING_UNKNOWN marks the time without them, and /proc is read
 * again.  If this program has no memory for an entry (ENTRIES_MAX), TB_MAPPING_UNKNOWN marks the
 * rest of the recording.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "build_ids.h"
#include "mappings.h"
#include "perf_map.h"
#include "lib/bisect.h"
#include "tool/command/command.h"
#include "tracebuf.h"

/* More have no names: any user can make mappings of code */
#ifndef ENTRIES_MAX
#define ENTRIES_MAX (1u << 20)		/* 64 MB */
#endif
#define FILES_BYTES_MAX (64u << 20)
#define PATH_BYTES_MAX MAPPED_PATH_MAX	/* an event of a note has room for it */
#define PIDS (4u << 20)			/* the kernel has no more */
/* Files that users have written: about a second to read, at most, and 30 MB of notes */
#define GENERATED_BYTES (64u << 20)
#define GENERATED_STEPS (64u << 20)
#define GENERATED_FUNCTIONS (256u << 10)

/* A file with code; kept once for all processes */
struct file {
	uint16_t build_id, path;
	unsigned char bytes[];		/* the build ID, then the path */
};

struct known {
	struct tb_mapping mapping;
	const struct file *file;
	uint32_t order;			/* number of entries added before */
};

struct mappings {
	struct known *list;
	size_t count, room;
	uint32_t added;
	bool   full;
	uint64_t lost_since;		/* perf's records are missing since then; 0: none */
	void  *files;			/* tree of struct file */
	size_t files_bytes;
	bool   unfollowed;		/* perf reports no changes */
	uint64_t opened;		/* CLOCK_MONOTONIC, ns */
};

/* ---- the list of mappings ---- */

static int compare_files(const void *a, const void *b)
{
	const struct file *first = a, *second = b;

	if (first->build_id != second->build_id)
		return first->build_id < second->build_id ? -1 : 1;
	if (first->path != second->path)
		return first->path < second->path ? -1 : 1;
	return memcmp(first->bytes, second->bytes, (size_t)first->build_id + first->path);
}

/* Find or add the file with this build ID and path; NULL: no memory, or too many */
static const struct file *get_file(struct mappings *mappings, const void *build_id, size_t id_bytes,
				   const char *path)
{
	size_t path_bytes = strnlen(path, PATH_BYTES_MAX);
	size_t bytes = sizeof(struct file) + id_bytes + path_bytes;
	struct file *file;
	void *node;

	file = mappings->full || mappings->files_bytes > FILES_BYTES_MAX ? NULL : malloc(bytes);
	if (!file)
		return NULL;
	file->build_id = (uint16_t)id_bytes;
	file->path = (uint16_t)path_bytes;
	memcpy(file->bytes, build_id, id_bytes);
	memcpy(file->bytes + id_bytes, path, path_bytes);
	node = tsearch(file, &mappings->files, compare_files);
	if (node && *(struct file **)node == file)
		mappings->files_bytes += bytes;
	else
		free(file);
	return node ? *(struct file **)node : NULL;
}

static bool has_room(struct mappings *mappings)
{
	size_t room = mappings->room ? 2 * mappings->room : 1024;
	struct known *grown;

	if (mappings->count < mappings->room)
		return true;
	grown = room <= ENTRIES_MAX ? reallocarray(mappings->list, room, sizeof(*grown)) : NULL;
	if (!grown)
		return false;
	mappings->list = grown;
	mappings->room = room;
	return true;
}

/* No room: replace all entries from @since on by one TB_MAPPING_UNKNOWN, and add no more */
static void stop_adding(struct mappings *mappings, uint64_t since)
{
	size_t i, kept = 0;

	note("no room for more mappings of code: addresses in new ones have no names");
	mappings->full = true;
	for (i = 0; i < mappings->count; i++)
		if (mappings->list[i].mapping.since < since)
			mappings->list[kept++] = mappings->list[i];
	/* all entries are older: drop the last one, to have room for TB_MAPPING_UNKNOWN */
	if (mappings->room && kept == mappings->room)
		kept--;
	mappings->count = kept;
	if (mappings->room)
		mappings->list[mappings->count++] = (struct known){ .mapping = {
			.kind = TB_MAPPING_UNKNOWN, .since = since, .size = UINT64_MAX - since,
		} };
}

static void add(struct mappings *mappings, const struct tb_mapping *mapping,
		const struct file *file)
{
	if (mappings->full)
		return;
	if (!has_room(mappings) || (mapping->kind == TB_MAPPING_CODE && !file)) {
		stop_adding(mappings, mapping->since);
		return;
	}
	mappings->list[mappings->count++] = (struct known){
		.mapping = *mapping, .file = file, .order = mappings->added++,
	};
}

/* ---- existing mappings, from /proc ---- */

/* A file that the scan has looked up: many processes map the same files */
struct seen {
	uint64_t device, inode;
	const struct file *file;
};

struct scan {
	void  *seen;			/* tree of struct seen */
	struct build_ids build_ids;
	uint64_t since;
};

static int compare_seen(const void *a, const void *b)
{
	const struct seen *first = a, *second = b;

	if (first->device != second->device)
		return first->device < second->device ? -1 : 1;
	return first->inode == second->inode ? 0 : first->inode < second->inode ? -1 : 1;
}

static const struct file *file_seen(struct mappings *mappings, struct scan *scan, struct seen *key,
				    unsigned int pid, const char *range, const char *path)
{
	unsigned char build_id[BUILD_ID_MAX];
	struct seen *made;
	void *node = key->inode ? tfind(key, &scan->seen, compare_seen) : NULL;
	size_t bytes;

	/* an inode may have several names: the path must match, too */
	if (node) {
		const struct file *file = (*(struct seen **)node)->file;

		if (strnlen(path, PATH_BYTES_MAX) == file->path &&
		    !memcmp(path, file->bytes + file->build_id, file->path))
			return file;
	}
	bytes = key->inode ?
		build_ids_read(&scan->build_ids, pid, range, path, build_id) : 0;
	key->file = get_file(mappings, build_id, bytes, path);
	if (node || !key->inode || !key->file)
		return key->file;
	made = malloc(sizeof(*made));
	if (made) {
		*made = *key;
		if (!tsearch(made, &scan->seen, compare_seen))
			free(made);
	}
	return key->file;
}

/* "7f12-7f34 r-xp 00001000 fd:01 1234   /usr/lib/libc.so.6" */
static void scan_line(struct mappings *mappings, struct scan *scan, unsigned int pid, char *line)
{
	struct tb_mapping mapping = {
		.kind = TB_MAPPING_CODE, .pid = pid, .since = scan->since,
	};
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char access[5], range[40];
	struct seen key;
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, access, &offset,
		   &major, &minor, &inode, &at) != 7 || access[2] != 'x' || end <= start || !at)
		return;
	snprintf(range, sizeof(range), "%llx-%llx", start, end);
	mapping.start = start;
	mapping.size = end - start;
	mapping.offset = offset;
	key = (struct seen){ .device = (uint64_t)major << 32 | minor, .inode = inode };
	add(mappings, &mapping, file_seen(mappings, scan, &key, pid, range,
					  line[at] ? line + at : "//anon"));
}

static void scan_process(struct mappings *mappings, struct scan *scan, unsigned int pid)
{
	char name[32], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	file = fopen(name, "re");
	if (!file)
		return;		/* the process has ended, or access is denied */
	while (!mappings->full && getline(&line, &room, file) > 0)
		scan_line(mappings, scan, pid, line);
	free(line);
	fclose(file);
}

/* Add the code mappings of all processes, as valid since @since */
static void scan(struct mappings *mappings, uint64_t since)
{
	struct scan scan = { .since = since };
	DIR *folder = opendir("/proc");
	struct dirent *item;

	while (folder && !mappings->full && (item = readdir(folder)))
		if (isdigit((unsigned char)item->d_name[0]))
			scan_process(mappings, &scan,
				     (unsigned int)strtoul(item->d_name, NULL, 10));
	if (folder)
		closedir(folder);
	build_ids_close(&scan.build_ids);
	tdestroy(scan.seen, free);
}

/* ---- changes, from perf ---- */

struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, size, offset;
	uint8_t  build_id_size, reserved[3], build_id[BUILD_ID_MAX];
	uint32_t access, flags;
	char     path[];
};

struct record_fork {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
};

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
};

static void take_mmap(struct mappings *mappings, const struct record_mmap2 *record, uint64_t time)
{
	bool known = record->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	struct tb_mapping mapping = {
		.kind = TB_MAPPING_CODE, .pid = record->pid, .since = time,
		.start = record->start, .size = record->size, .offset = record->offset,
	};

	add(mappings, &mapping,
	    get_file(mappings, record->build_id, known && record->build_id_size <= BUILD_ID_MAX ?
		    record->build_id_size : 0, record->path));
}

void mappings_record(struct mappings *mappings, const struct perf_event_header *header,
		     uint64_t time, uint64_t before)
{
	const struct record_fork *fork = (const void *)header;
	struct tb_mapping mapping = { .since = time };

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		take_mmap(mappings, (const void *)header, time);
		break;
	case PERF_RECORD_COMM:
		if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC))
			break;
		mapping.kind = TB_MAPPING_EXEC;
		mapping.pid = ((const struct record_comm *)header)->pid;
		add(mappings, &mapping, NULL);
		break;
	case PERF_RECORD_FORK:
		if (fork->pid == fork->parent)
			break;		/* a thread */
		mapping.kind = TB_MAPPING_FORK;
		mapping.pid = fork->pid;
		mapping.parent = fork->parent;
		add(mappings, &mapping, NULL);
		break;
	case PERF_RECORD_LOST:
		if (!mappings->lost_since || before < mappings->lost_since)
			mappings->lost_since = before;
		break;
	}
}

/* perf lost records: mark the time as unknown, and read /proc again */
static void rescan_after_loss(struct mappings *mappings)
{
	uint64_t now = monotonic_ns();
	struct tb_mapping unknown = {
		.kind = TB_MAPPING_UNKNOWN, .since = mappings->lost_since,
		.size = now - mappings->lost_since,
	};

	mappings->lost_since = 0;
	add(mappings, &unknown, NULL);
	scan(mappings, now);
}

void mappings_records_done(struct mappings *mappings)
{
	if (mappings->lost_since)
		rescan_after_loss(mappings);
}

/* ---- open and close ---- */

struct mappings *mappings_open(void)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));

	if (mappings) {
		mappings->opened = monotonic_ns();
		scan(mappings, 0);
	}
	return mappings;
}

void mappings_unfollowed(struct mappings *mappings)
{
	mappings->unfollowed = true;
}

void mappings_close(struct mappings *mappings)
{
	if (!mappings)
		return;
	tdestroy(mappings->files, free);
	free(mappings->list);
	free(mappings);
}

/* ---- notes ---- */

/*
 * Does @mapping contain one of the sorted @addresses?  Its end counts, too: a return address may be
 * the byte after the last call.
 */
static bool contains(const struct tb_mapping *mapping, const uint64_t *addresses, size_t count)
{
	size_t low = 0;

	BISECT(low, count, i, addresses[i] < mapping->start);
	return low < count && addresses[low] - mapping->start <= mapping->size;
}

static int compare_known(const void *a, const void *b)
{
	const struct known *first = a, *second = b;

	if (first->mapping.since != second->mapping.since)
		return first->mapping.since < second->mapping.since ? -1 : 1;
	return first->order < second->order ? -1 : first->order > second->order;
}

static bool has(const unsigned char *pids, uint32_t pid)
{
	return pid < PIDS && pids[pid / 8] & 1u << pid % 8;
}

static void mark(unsigned char *pids, uint32_t pid)
{
	if (pid < PIDS)
		pids[pid / 8] |= (unsigned char)(1u << pid % 8);
}

/*
 * Mark the processes with mappings that contain @addresses, and the processes forked from these,
 * which inherit them.  The list is sorted by time, so parents are marked before their children.
 */
static void mark_needed(const struct mappings *mappings, const uint64_t *addresses, size_t count,
			unsigned char *pids)
{
	const struct tb_mapping *mapping;
	size_t i;

	for (i = 0; i < mappings->count; i++) {
		mapping = &mappings->list[i].mapping;
		if (mapping->kind == TB_MAPPING_CODE && contains(mapping, addresses, count))
			mark(pids, mapping->pid);
	}
	for (i = 0; i < mappings->count; i++) {
		mapping = &mappings->list[i].mapping;
		if (mapping->kind == TB_MAPPING_FORK && has(pids, mapping->parent))
			mark(pids, mapping->pid);
	}
}

static int add_note(const struct known *entry, struct notes *notes)
{
	struct {
		struct tb_mapping mapping;
		unsigned char bytes[BUILD_ID_MAX + PATH_BYTES_MAX];
	} payload = { .mapping = entry->mapping };
	size_t bytes = 0;

	if (entry->file) {
		payload.mapping.build_id = entry->file->build_id;
		payload.mapping.path = entry->file->path;
		bytes = (size_t)entry->file->build_id + entry->file->path;
		memcpy(payload.bytes, entry->file->bytes, bytes);
	}
	return notes_add(notes, TB_EV_MAPPING, &payload, sizeof(payload.mapping) + bytes);
}

struct generated {
	struct tb_mapping mapping;
	struct notes *notes;
};

static int add_generated(const struct perf_map_function *function, void *to)
{
	struct generated *generated = to;
	struct {
		struct tb_mapping mapping;
		char name[PERF_MAP_NAME_MAX];
	} payload = { .mapping = generated->mapping };
	size_t length = strlen(function->name);

	payload.mapping.start = function->address;
	payload.mapping.offset = function->offset;
	payload.mapping.path = (uint16_t)length;
	memcpy(payload.name, function->name, length);
	return notes_add(generated->notes, TB_EV_MAPPING, &payload,
			 sizeof(payload.mapping) + length);
}

/* Add functions that the processes in @pids have generated since their last exec or fork */
static void generated_notes(const struct mappings *mappings, const unsigned char *pids,
			    const uint64_t *addresses, size_t count, struct notes *notes)
{
	struct generated generated = { .mapping.kind = TB_MAPPING_FUNCTION, .notes = notes };
	struct perf_map_limits limits = {
		GENERATED_BYTES, GENERATED_STEPS, GENERATED_FUNCTIONS,
	};
	uint64_t *since = calloc(PIDS, sizeof(*since)), known = 0;
	const struct tb_mapping *mapping;
	uint32_t pid;
	int result = 0;
	size_t i;

	if (!since) {
		note("names of generated code are missing: out of memory");
		return;
	}
	for (i = 0; i < mappings->count; i++) {
		mapping = &mappings->list[i].mapping;
		if (mapping->kind == TB_MAPPING_UNKNOWN)
			known = mapping->since + mapping->size;
		else if (mapping->kind != TB_MAPPING_CODE && mapping->pid < PIDS)
			since[mapping->pid] = mapping->since;
	}
	for (pid = 1; pid < PIDS && !result; pid++) {
		if (!has(pids, pid))
			continue;
		generated.mapping.pid = pid;
		generated.mapping.since = since[pid] > known ? since[pid] : known;
		generated.mapping.size = monotonic_ns() - generated.mapping.since;
		result = perf_map_read(pid, since[pid], mappings->opened, addresses, count,
				       &limits, add_generated, &generated);
	}
	free(since);
	if (result)
		note("some names of generated code are missing: %s",
		     result == -E2BIG ? "the files of names are too large" : strerror(-result));
}

int mappings_notes(struct mappings *mappings, const uint64_t *addresses, size_t count,
		   struct notes *notes)
{
	unsigned char *pids = calloc(PIDS / 8, 1);
	const struct tb_mapping *mapping;
	size_t i;
	int result = 0;

	if (!pids)
		return -ENOMEM;
	if (mappings->unfollowed)
		scan(mappings, 0);
	qsort(mappings->list, mappings->count, sizeof(*mappings->list), compare_known);
	mark_needed(mappings, addresses, count, pids);
	for (i = 0; i < mappings->count && !result; i++) {
		mapping = &mappings->list[i].mapping;
		if (mapping->kind == TB_MAPPING_CODE ? contains(mapping, addresses, count) :
		    mapping->kind == TB_MAPPING_UNKNOWN || has(pids, mapping->pid))
			result = add_note(&mappings->list[i], notes);
	}
	if (!result)
		generated_notes(mappings, pids, addresses, count, notes);
	free(pids);
	return result;
}
