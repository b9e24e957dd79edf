/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, inside: how an open trace is held, and what the parts of the
 * library call of each other.  Nothing here is installed.
 */
#ifndef TB_INTERNAL_H
#define TB_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "tracebuf.h"

/* tb_format.known: events from which the cursor learns; tb_format.telling: from which fields */
enum tb_known {
	TB_KNOWN_NONE = 0,
	TB_KNOWN_SWITCH,
	TB_KNOWN_NEWTASK,
	TB_KNOWN_RENAME,
	TB_KNOWN_FORK,
	TB_KNOWN_WAKEUP,
};

/* Some of the blocks of a file or ring, evenly: numbers 0, 1 << skip, 2 << skip ... */
struct tb_mark {
	uint64_t offset;
	uint64_t time;			/* of a ring: when it was opened */
};

struct tb_marks {
	struct tb_mark *at;
	size_t   count, room;
	unsigned int skip;
};

/* Rolling blocks of one CPU, or the durable ones, or notes */
struct tb_ring_index {
	uint32_t cpu;
	uint64_t count;
	uint64_t first;			/* where the first one is */
	uint64_t sequence;		/* of the one that is last in the file */
	struct tb_marks marks;
	bool     disordered;		/* in the file they are not in order of sequence */
	bool     listed;		/* @all are, in order, and no marks */
	uint64_t *all;
	size_t   nr_all, room_all;
};

/* A function; its name is in the trace, not terminated */
struct tb_symbol_at {
	uint64_t start, size;
	const char *name;
	size_t   length;
};

/* Its build ID and path are in the trace */
struct tb_mapping_at {
	struct tb_mapping mapping;
	const unsigned char *bytes;
};

/* A list that grows and is looked up meanwhile: sorted runs, each more than twice as long as the
 * next (symbol.c) */
struct tb_runs {
	size_t *starts;
	size_t  count, room;
	size_t  sorted;			/* items that are in a run */
};

/* Which events were recorded from @ticks on: a bit each, from id @first */
struct tb_selected {
	uint64_t ticks;
	uint64_t order;			/* of being told */
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
	bool     overwrote;		/* the headers of its blocks say so */
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
	uint64_t selections_told;
	bool     selections_disordered;	/* to be sorted */
	struct tb_symbol_at *symbols;	/* runs, each by address */
	size_t   nr_symbols, room_symbols;
	struct tb_runs symbol_runs;
	struct tb_mapping_at *mappings;	/* runs, each by process and time */
	size_t   nr_mappings, room_mappings;
	struct tb_runs mapping_runs;
	struct tb_users *users;		/* NULL: no program has written */
};

/* From this place on, blocks of the provider are of that recording */
struct tb_turn {
	uint64_t offset;
	uint32_t recording;
	uint16_t provider;
};

struct tb_trace {
	const unsigned char *data;
	uint64_t size;
	uint64_t end;			/* of the last whole block */
	struct tb_frames *frames;	/* @data is their range; NULL: it is the file */
	void    *mapped;		/* to be unmapped, or NULL */
	size_t   mapped_size;
	void    *owned;			/* to be freed, or NULL */
	uint64_t nr_blocks;
	struct tb_marks marks;
	struct tb_follow *follow;	/* it is being made; NULL: it is all there */
	_Atomic uint64_t hint;		/* see tb_trace_block() */
	struct tb_turn *turns;		/* by provider and offset */
	size_t   nr_turns, room_turns;
	struct tb_recording *recordings;
	size_t   nr_recordings, room_recordings;
	/* while the blocks are found: recordings by TB_EV_INIT, and the current one of a provider */
	struct tb_tree by_init, by_provider;
	struct tb_recording *selected;
	bool     faulty;
	struct tb_error fault;
};

/* Of a mapped file about so much is resident at a time */
#define TB_RESIDENT (4u << 20)

#define TB_EVENT_IDS 16384	/* 14 bits of id */

/* Straight piece of the clock's line: ns = base_ns + (ticks - base) * slope */
struct tb_line {
	uint64_t from, to;		/* valid for from <= ticks < to */
	uint64_t base, base_ns;
	uint64_t last_ns;		/* never shown beyond, within the piece */
	uint64_t mult;			/* slope in 1/2^shift ns per tick */
	unsigned int shift;
};

/*
 * A word of a mapped file, which another program may change at any time: read once, so that the
 * value that was checked is the value that is used.
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

/* Keep the compiler from reading what was copied into *@copy again where it was copied from */
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

/* A block: one of a CPU's that is complete has to be pinned (tb_pin()) */
static inline const struct tb_block *tb_block_at(const struct tb_trace *trace,
						 uint64_t offset)
{
	return (const struct tb_block *)(trace->data + offset);
}

/* error.c */
__attribute__((format(printf, 4, 5)))
int tb_error_set(struct tb_error *error, int code, uint64_t offset,
		 const char *text, ...);

/* array.c: room for one more at the end of an array; -ENOMEM */
int tb_array_grow(void *array, size_t *room, size_t count, size_t size);

/* tree.c: the number that was kept for @key */
uint32_t *tb_tree_find(const struct tb_tree *tree, struct tb_key key);
/* If there was none, it is @number from now on; NULL: out of memory */
uint32_t *tb_tree_place(struct tb_tree *tree, struct tb_key key, uint32_t number);
void tb_tree_free(struct tb_tree *tree);

/* Tests count steps: what must not grow faster than the file */
#ifdef TB_STEPS
extern uint64_t tb_steps;
#define TB_COUNT_STEP()	((void)__atomic_fetch_add(&tb_steps, 1, __ATOMIC_RELAXED))
#else
#define TB_COUNT_STEP()	do { } while (0)
#endif

/* trace.c */
void tb_trace_set_fault(struct tb_trace *trace, const struct tb_error *fault);
/* These bytes need not be resident any more; they come back when they are looked at */
void tb_trace_forget(const struct tb_trace *trace, uint64_t from, uint64_t to);

/* index.c */
int tb_index_build(struct tb_trace *trace, struct tb_error *error);
void tb_index_free(struct tb_recording *recording);
/* Is the block, of its provider, of this recording?  If it is the @first it says which that is. */
bool tb_index_belongs(const struct tb_trace *trace, struct tb_recording *recording,
		      const struct tb_block *block, bool first);
/* The number of the recording once the trace is open */
uint32_t tb_index_recording(const struct tb_trace *trace,
			    const struct tb_block *block, uint64_t offset);
/* The ring a block belongs to, NULL if the recording has none of that CPU */
struct tb_ring_index *tb_index_ring(const struct tb_recording *recording,
				    const struct tb_block *block);
/* Where block @number of the ring is, if that is known without a look at the file */
bool tb_index_known(const struct tb_ring_index *ring, uint64_t number, uint64_t *offset);
/*
 * Block @number of the recording, in the order of the file; NULL: there is none.  @offset is where
 * the one before it ends, and then where this one does; @at: out: where it is.
 */
const struct tb_block *tb_index_next(const struct tb_trace *trace,
				     const struct tb_recording *recording, uint64_t number,
				     uint64_t *offset, uint64_t *at);
/* The block at @offset, which goes on to the next one; NULL at the end */
const struct tb_block *tb_index_hop(const struct tb_trace *trace,
				    uint64_t *offset);
/*
 * A block of the ring from which on to look for those of time @ticks: all before it are earlier.
 * Its number in the ring, and where it is.
 */
uint64_t tb_index_seek(const struct tb_trace *trace,
		       const struct tb_ring_index *ring, uint64_t ticks,
		       uint64_t *number);

/* frames.c: traces that are packed or compressed */
struct tb_frames;
struct tb_frame;

bool tb_framed(const void *data, size_t size);
/* @mapped: from a file.  @fault: out: the first thing that is wrong, code 0: nothing is */
int tb_frames_open(const void *data, size_t size, bool mapped, struct tb_frames **frames,
		   struct tb_error *fault, struct tb_error *error);
void tb_frames_close(struct tb_frames *frames);
/* Where blocks are once their frames are pinned: @size bytes, of which the durable blocks, notes and
 * blocks that were still open are always there */
const unsigned char *tb_frames_range(const struct tb_frames *frames, uint64_t *size);
/* The header of the block at @offset, until the frames are closed; NULL: none starts there.  At the
 * end it may be one that tb_block_check() refuses */
const struct tb_block *tb_frames_header(const struct tb_frames *frames, uint64_t offset);
/* Bytes from @offset up to the end of its frame */
uint64_t tb_frames_room(const struct tb_frames *frames, uint64_t offset);
/* Has the frame of @offset what scan.c looks for? */
bool tb_frames_looked_for(const struct tb_frames *frames, uint64_t offset);
/*
 * Have the frame of @offset in memory, instead of the one that was @pinned so far (NULL: none).
 * -EBADMSG it is damaged; -ENOMEM; then @pinned is as it was
 */
int tb_frames_pin(struct tb_frames *frames, uint64_t offset, struct tb_frame **pinned);
void tb_frames_unpin(struct tb_frames *frames, struct tb_frame **pinned);
/* Have it in memory until this has been called for four other frames */
int tb_frames_show(struct tb_frames *frames, uint64_t offset);

/* The header of a block, 64 bytes */
static inline const struct tb_block *tb_header_at(const struct tb_trace *trace, uint64_t offset)
{
	return trace->frames ? tb_frames_header(trace->frames, offset) : tb_block_at(trace, offset);
}

/* tb_frames_pin() and tb_frames_unpin(), of any trace */
static inline int tb_pin(const struct tb_trace *trace, uint64_t offset, struct tb_frame **pinned)
{
	return trace->frames ? tb_frames_pin(trace->frames, offset, pinned) : 0;
}

static inline void tb_unpin(const struct tb_trace *trace, struct tb_frame **pinned)
{
	if (trace->frames)
		tb_frames_unpin(trace->frames, pinned);
}

/* durable.c */
int tb_durable_read(struct tb_trace *trace, struct tb_recording *recording);
/* the same of one block more */
int tb_durable_block(struct tb_trace *trace, struct tb_recording *recording,
		     const struct tb_block *block);
/* and what follows from all of it, once the other blocks have been passed over */
int tb_durable_finish(struct tb_trace *trace, struct tb_recording *recording);
void tb_durable_free(struct tb_recording *recording);

/* symbol.c */
int tb_symbol_add(struct tb_recording *recording, const struct tb_walk *walk);
/* Those that were added since the last time can be found from now on; -ENOMEM */
int tb_symbols_sort(struct tb_recording *recording);
/* The items of @list, @used of them, that are in no run yet become one; -ENOMEM */
int tb_runs_sort(struct tb_runs *runs, void *list, size_t used, size_t size,
		 int (*compare)(const void *, const void *));
/* Behind the last item of @run */
size_t tb_run_end(const struct tb_runs *runs, size_t run, size_t used);

/* mapping.c */
/* NULL; what is wrong with it; "": no memory */
const char *tb_mapping_add(struct tb_recording *recording, const struct tb_walk *walk);
int tb_mappings_sort(struct tb_recording *recording);

/* extras.c: what follows an event and belongs to it */
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
	struct tb_task_chunk *chunks;
};

struct tb_task *tb_tasks_find(const struct tb_tasks *tasks, uint32_t tid);
struct tb_task *tb_tasks_get(struct tb_tasks *tasks, uint32_t tid);
void tb_tasks_free(struct tb_tasks *tasks);
int tb_tasks_thread(struct tb_tasks *tasks, const void *payload, size_t size);
int tb_tasks_learn(struct tb_tasks *tasks, const struct tb_view *view);
void tb_task_name(struct tb_task *task, const char *comm, size_t size);

/* users.c: what programs have written */
struct tb_users;

int tb_users_finish(struct tb_trace *trace, struct tb_recording *recording);
void tb_users_free(struct tb_users *users);

/* scan.c: what has to be known of the rolling blocks before they are read */
int tb_scan(struct tb_trace *trace);
int tb_scan_block(struct tb_trace *trace, struct tb_recording *recording,
		  const struct tb_block *block);

/* names.c */
bool tb_names_fit(const struct tb_recording *recording);
const char *tb_control_name(uint16_t id);

/* Of an event that ends before its last fields (TB_EVENT_SHORT): @field is not in it */
bool tb_field_is_missing(const struct tb_view *view, const struct tb_format_field *field);

/* field.c: a number without its checks; false where the payload is short */
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
