/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: the parts of an open trace, and the functions that the files of the
 * library call in each other.  Not installed.
 */
#ifndef TB_INTERNAL_H
#define TB_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "lib/array.h"
#include "lib/bisect.h"
#include "lib/hash.h"
#include "tracebuf.h"

/* tb_format.known: events that tell the cursor something; tb_format.telling has their fields */
enum tb_known {
	TB_KNOWN_NONE = 0,
	TB_KNOWN_SWITCH,
	TB_KNOWN_NEWTASK,
	TB_KNOWN_RENAME,
	TB_KNOWN_FORK,
	TB_KNOWN_WAKEUP,
};

/* Places of some blocks of a file or ring, evenly spaced: blocks 0, 1 << skip, 2 << skip ... */
struct tb_mark {
	uint64_t offset;
	uint64_t key;			/* of a ring: time_start of the block; of a recording: its
					 * number in the file */
};

struct tb_marks {
	struct tb_mark *at;
	size_t   count, room;
	unsigned int skip;
};

/* Index of the rolling blocks of one CPU, of the durable blocks, or of the notes */
struct tb_ring_index {
	uint32_t cpu;
	uint64_t count;
	uint64_t first;			/* place of the first block in the file */
	uint64_t sequence;		/* sequence number of the last block in the file */
	struct tb_marks marks;
	bool     disordered;		/* the file does not have them in order of sequence */
	bool     listed;		/* @all has the places of all blocks in order; no marks */
	uint64_t *all;
	size_t   nr_all, room_all;
};

/* A function; @name points into the trace and is not terminated */
struct tb_symbol_at {
	uint64_t start, size;
	const char *name;
	size_t   length;
};

/* A mapping; @bytes points into the trace: build ID, then path */
struct tb_mapping_at {
	struct tb_mapping mapping;
	const unsigned char *bytes;
};

/* Its name is in the trace, not terminated */
struct tb_open_file_at {
	struct tb_open_file file;
	const char *name;
	size_t   length;
};

/* A growing list that is searched meanwhile: sorted runs, each more than twice as long as the next
 * (symbol.c) */
struct tb_runs {
	size_t *starts;
	size_t  count, room;
	size_t  sorted;			/* items that are in a run */
};

/* The events that were recorded from @ticks on: one bit for each id from @first */
struct tb_selected {
	uint64_t ticks;
	uint64_t order;			/* in which the recorder wrote them */
	uint32_t first, count;
	unsigned char *bits;
};

/* tree.c */
struct tb_key {
	uint64_t part[4];
};

struct tb_tree {
	void *root;
};

struct tb_recording {
	bool     has_init;
	bool     overwrote;		/* headers of its blocks count overwritten events */
	uint16_t provider;
	uint64_t end;			/* the latest time_end of its blocks */
	uint64_t nr_blocks;
	uint64_t first_block, end_block;	/* numbers in the file: first, and last + 1 */
	struct tb_marks marks;		/* of its blocks, of all kinds */
	struct tb_init init;
	struct tb_ring_index durable;
	struct tb_ring_index notes;
	struct tb_ring_index *rings;	/* by CPU, ascending */
	size_t   nr_rings;
	struct tb_format **formats;
	size_t   nr_formats, room_formats;
	uint16_t *by_id;		/* index of the format + 1, by event id */
	char   **names;
	size_t   nr_names, room_names;
	struct tb_tree names_at;	/* by kind and key */
	struct tb_clock_sync *syncs;
	size_t   nr_syncs, room_syncs;
	struct tb_totals *totals;
	size_t   nr_totals, room_totals;
	struct tb_tree totals_at;	/* by CPU, and whether it is of a snapshot */
	unsigned int totals_cpus;	/* 1 + the highest CPU with totals */
	struct tb_suppressed *suppressed;
	size_t   nr_suppressed, room_suppressed;
	struct tb_tree suppressed_at;	/* by event id */
	struct tb_threads_lost threads_lost;
	struct tb_selected *selections;	/* in order of time */
	size_t   nr_selections, room_selections;
	uint64_t next_selection;
	bool     selections_disordered;	/* to be sorted */
	struct tb_symbol_at *symbols;	/* runs, each by address */
	size_t   nr_symbols, room_symbols;
	struct tb_runs symbol_runs;
	struct tb_mapping_at *mappings;	/* runs, each by process and time */
	size_t   nr_mappings, room_mappings;
	struct tb_runs mapping_runs;
	struct tb_mapping_at *generated;	/* functions; runs, each by process, address and end */
	size_t   nr_generated, room_generated;
	struct tb_runs generated_runs;
	struct tb_open_file_at *open_files;	/* as in the file */
	size_t   nr_open_files, room_open_files;
	struct tb_users *users;		/* NULL: no program has written */
};

/* Blocks of @provider from @offset on belong to @recording */
struct tb_turn {
	uint64_t offset;
	uint32_t recording;
	uint16_t provider;
};

struct tb_trace {
	const unsigned char *data;
	uint64_t size;
	uint64_t end;			/* of the last whole block */
	struct tb_frames *frames;	/* @data is their range; NULL: @data is the file */
	void    *mapped;		/* for munmap(), or NULL */
	size_t   mapped_size;
	void    *owned;			/* for free(), or NULL */
	uint64_t nr_blocks;
	struct tb_marks marks;
	struct tb_follow *follow;	/* NULL: the trace is not followed */
	_Atomic uint64_t hint;		/* see tb_trace_block() */
	struct tb_turn *turns;		/* by provider and offset */
	size_t   nr_turns, room_turns;
	struct tb_recording *recordings;
	size_t   nr_recordings, room_recordings;
	/* used by index.c: recordings by TB_EV_INIT, and the current one of each provider */
	struct tb_tree by_init, by_provider;
	struct tb_recording *selected;
	bool     faulty;
	struct tb_error fault;
};

/* Bytes of a mapped file that a reader keeps resident at most */
#define TB_RESIDENT (4u << 20)

#define TB_EVENT_IDS 16384	/* 14 bits of id */

/* A segment of the clock's line: ns = base_ns + (ticks - base) * slope */
struct tb_line {
	uint64_t from, to;		/* valid for from <= ticks < to */
	uint64_t base, base_ns;
		uint64_t last_ns;		/* upper limit of ns in the segment */
	uint64_t mult;			/* slope in 1/2^shift ns per tick */
	unsigned int shift;
};

/*
 * Read a word of a mapped file once.  Another program may change it at any time; so the value that
 * was checked is the value that is used.
 */
static inline uint8_t tb_once8(const void *at)
{
	return *(const volatile uint8_t *)at;
}

static inline uint16_t tb_once16(const void *at)
{
	return *(const volatile uint16_t *)at;
}

static inline uint32_t tb_once32(const void *at)
{
	return *(const volatile uint32_t *)at;
}

/* Keep the compiler from reading the source of the copy *@copy again */
#define tb_keep(copy) __asm__("" : "+m"(*(copy)))

/* The header of a block, read once */
static inline void tb_header_once(struct tb_block *header, const struct tb_block *block)
{
	memcpy(header, block, sizeof(*header));
	tb_keep(header);
}

#define TB_BLOCK_LOG2_MIN	10	/* 64 elements */
#define TB_BLOCK_LOG2_MAX	20	/* 65536 elements */

static inline bool tb_header_fits(const struct tb_block *header)
{
	return header->size_log2 >= TB_BLOCK_LOG2_MIN && header->size_log2 <= TB_BLOCK_LOG2_MAX;
}

/* The block at @offset; tb_pin() a complete block of a CPU first */
static inline const struct tb_block *tb_block_at(const struct tb_trace *trace,
						 uint64_t offset)
{
	return (const struct tb_block *)(trace->data + offset);
}

/* error.c */
__attribute__((format(printf, 4, 5)))
int tb_error_set(struct tb_error *error, int code, uint64_t offset,
		 const char *text, ...);

/* tree.c: the number stored for @key, or NULL */
uint32_t *tb_tree_find(const struct tb_tree *tree, struct tb_key key);
/* The number stored for @key; store @number if there was none.  NULL: out of memory */
uint32_t *tb_tree_place(struct tb_tree *tree, struct tb_key key, uint32_t number);
void tb_tree_free(struct tb_tree *tree);

/* trace.c */
void tb_trace_set_fault(struct tb_trace *trace, const struct tb_error *fault);
/* Let the kernel reclaim these bytes of a mapped file; an access reads them again */
void tb_trace_forget(const struct tb_trace *trace, uint64_t from, uint64_t to);

/* index.c */
int tb_index_build(struct tb_trace *trace, struct tb_error *error);
void tb_index_free(struct tb_recording *recording);
/* True if the block, of its provider, belongs to this recording; the @first block defines it */
bool tb_index_belongs(const struct tb_trace *trace, struct tb_recording *recording,
		      const struct tb_block *block, bool first);
/* The number of the recording that the block belongs to, in an open trace */
uint32_t tb_index_recording(const struct tb_trace *trace,
			    const struct tb_block *block, uint64_t offset);
/* The index of the CPU's ring; NULL: the recording has none.  In contrast to tb_index_ring() it is
 * a ring of a CPU even if the file changes meanwhile */
struct tb_ring_index *tb_index_cpu(const struct tb_recording *recording, uint32_t cpu);
/* The index that has the block; NULL: the recording has no ring of that CPU */
struct tb_ring_index *tb_index_ring(const struct tb_recording *recording,
				    const struct tb_block *block);
/* Get the place of block @number of the ring without reading headers; false: not known */
bool tb_index_known(const struct tb_ring_index *ring, uint64_t number, uint64_t *offset);
/*
 * Block @number of the recording in the order of the file; NULL: there is none.  @offset: in: the
 * end of the block before it; out: the end of this block.  @at: out: its place.
 */
const struct tb_block *tb_index_next(const struct tb_trace *trace,
				     const struct tb_recording *recording, uint64_t number,
				     uint64_t *offset, uint64_t *at);
/* The block at @offset, which moves to the next block; NULL at the end */
const struct tb_block *tb_index_hop(const struct tb_trace *trace,
				    uint64_t *offset);
/*
 * Find a block of the ring before which all blocks begin before @ticks.  Returns its place;
 * @number: out: its number in the ring.
 */
uint64_t tb_index_seek(const struct tb_trace *trace,
		       const struct tb_ring_index *ring, uint64_t ticks,
		       uint64_t *number);

/* frames.c: traces that are packed or compressed */
struct tb_frames;
struct tb_frame;

bool tb_framed(const void *data, size_t size);
/* @mapped: @data is a mapped file.  @fault: out: the first fault; code 0: there is none */
int tb_frames_open(const void *data, size_t size, bool mapped, struct tb_frames **frames,
		   struct tb_error *fault, struct tb_error *error);
void tb_frames_close(struct tb_frames *frames);
/* Address of the unpacked trace of @size bytes.  Durable blocks, notes and open blocks are always
 * there, other blocks while their frame is pinned */
const unsigned char *tb_frames_range(const struct tb_frames *frames, uint64_t *size);
/* The header of the block at @offset, valid until the frames are closed; NULL: no block starts
 * there.  The last one may be a header that tb_block_check() rejects */
const struct tb_block *tb_frames_header(const struct tb_frames *frames, uint64_t offset);
/* Bytes from @offset up to the end of its frame */
uint64_t tb_frames_room(const struct tb_frames *frames, uint64_t offset);
/* True if the frame of @offset may have events that scan.c looks for */
bool tb_frames_looked_for(const struct tb_frames *frames, uint64_t offset);
/*
 * Pin the frame of @offset instead of @pinned (NULL: none).  On -EBADMSG (it is damaged) and
 * -ENOMEM @pinned stays as it was.
 */
int tb_frames_pin(struct tb_frames *frames, uint64_t offset, struct tb_frame **pinned);
void tb_frames_unpin(struct tb_frames *frames, struct tb_frame **pinned);
/* Pin the frame of @offset until this has been called for four other frames */
int tb_frames_show(struct tb_frames *frames, uint64_t offset);

/* The header of a block; only its 64 bytes may be used */
static inline const struct tb_block *tb_header_at(const struct tb_trace *trace, uint64_t offset)
{
	return trace->frames ? tb_frames_header(trace->frames, offset) : tb_block_at(trace, offset);
}

/* tb_frames_pin() and tb_frames_unpin(), for traces without frames, too */
static inline int tb_pin(const struct tb_trace *trace, uint64_t offset, struct tb_frame **pinned)
{
	return trace->frames ? tb_frames_pin(trace->frames, offset, pinned) : 0;
}

static inline void tb_unpin(const struct tb_trace *trace, struct tb_frame **pinned)
{
	if (trace->frames)
		tb_frames_unpin(trace->frames, pinned);
}

/* durable.c: read all durable blocks and notes */
int tb_durable_read(struct tb_trace *trace, struct tb_recording *recording);
/* Read one more block of a followed trace */
int tb_durable_block(struct tb_trace *trace, struct tb_recording *recording,
		     const struct tb_block *block);
/* Sort the notes of all blocks, rolling ones included */
int tb_durable_finish(struct tb_trace *trace, struct tb_recording *recording);
void tb_durable_free(struct tb_recording *recording);

/* symbol.c */
int tb_symbol_add(struct tb_recording *recording, const struct tb_walk *walk);
/* Let searches find the symbols added since the last call; -ENOMEM */
int tb_symbols_sort(struct tb_recording *recording);
/* Make one run of the items of @list, which has @used, that are in no run yet; -ENOMEM */
int tb_runs_sort(struct tb_runs *runs, void *list, size_t used, size_t size,
		 int (*compare)(const void *, const void *));
/* Index after the last item of @run */
size_t tb_run_end(const struct tb_runs *runs, size_t run, size_t used);

/* open_file.c */

int tb_open_file_add(struct tb_recording *recording, const struct tb_walk *walk);

/* mapping.c */
/* NULL; what is wrong with the mapping; "": out of memory */
const char *tb_mapping_add(struct tb_recording *recording, const struct tb_walk *walk);
int tb_mappings_sort(struct tb_recording *recording);

/* extras.c: stacks and counters that follow an event and belong to it */
void tb_view_extras(const struct tb_walk *walk, struct tb_view *view);

static inline bool tb_walk_has_extras(const struct tb_walk *walk)
{
	const struct tb_element *next;
	uint32_t id;

	if (walk->position >= walk->end)
		return false;
	next = (const struct tb_element *)walk->block + walk->position;
	id = TB_HEAD_ID(next->head);
	return id == TB_EV_STACK || id == TB_EV_COUNTERS;
}

/* format.c */
int tb_format_parse(const void *payload, size_t size, struct tb_format **out,
		    const char **wrong);

/* clock.c */
int tb_clock_add(struct tb_recording *recording,
		 const struct tb_clock_sync *sync);
void tb_clock_sort(struct tb_recording *recording);
uint64_t tb_clock_ticks(const struct tb_recording *recording,
			uint64_t monotonic);
void tb_clock_line(const struct tb_recording *recording, uint64_t ticks,
		   enum tb_timebase base, struct tb_line *line);
uint64_t tb_line_ns_slow(const struct tb_line *line, uint64_t ticks);

__extension__ typedef unsigned __int128 tb_u128;

static inline uint64_t tb_line_ns(const struct tb_line *line, uint64_t ticks)
{
	uint64_t ns;

	if (ticks < line->base)
		return tb_line_ns_slow(line, ticks);
	ns = line->base_ns +
	     (uint64_t)((tb_u128)(ticks - line->base) * line->mult >> line->shift);
	return ns > line->last_ns ? line->last_ns : ns;
}

/* task.c */
struct tb_tasks {
	struct tb_task **slots;		/* open addressing, a power of two */
	size_t nr_slots, used;
	struct tb_secret secret;
	struct tb_task_chunk *chunks, *last;
};

struct tb_task *tb_tasks_find(const struct tb_tasks *tasks, uint32_t tid);
struct tb_task *tb_tasks_get(struct tb_tasks *tasks, uint32_t tid);
/* Call @each for all threads, in the order in which they were found; 0, or its first other result */
int tb_tasks_each(const struct tb_tasks *tasks,
		  int (*each)(const struct tb_task *task, void *context), void *context);
void tb_tasks_free(struct tb_tasks *tasks);
int tb_tasks_thread(struct tb_tasks *tasks, const void *payload, size_t size);
int tb_tasks_learn(struct tb_tasks *tasks, const struct tb_view *view);
void tb_task_name(struct tb_task *task, const char *comm, size_t size);

/* users.c: records of programs */
struct tb_users;

int tb_users_finish(struct tb_trace *trace, struct tb_recording *recording);
void tb_users_free(struct tb_users *users);

/* scan.c: collect what must be known of rolling blocks before events are shown */
int tb_scan(struct tb_trace *trace);
int tb_scan_block(struct tb_trace *trace, struct tb_recording *recording,
		  const struct tb_block *block);

/* names.c */
bool tb_names_fit(const struct tb_recording *recording);
const char *tb_control_name(uint16_t id);

/* True if the event ends before @field (TB_EVENT_SHORT) */
bool tb_field_is_missing(const struct tb_view *view, const struct tb_format_field *field);

/* field.c: read a number at @offset; false: the payload is too short */
static inline bool tb_read_uint(const void *payload, size_t length,
				size_t offset, size_t width, uint64_t *value)
{
	const unsigned char *at = (const unsigned char *)payload + offset;

	if (offset + width > length)
		return false;
	switch (width) {
	case 1:
		*value = *at;
		return true;
	case 2: {
		uint16_t v;

		memcpy(&v, at, sizeof(v));
		*value = v;
		return true;
	}
	case 4: {
		uint32_t v;

		memcpy(&v, at, sizeof(v));
		*value = v;
		return true;
	}
	case 8:
		memcpy(value, at, sizeof(*value));
		return true;
	}
	return false;
}

#endif /* TB_INTERNAL_H */
