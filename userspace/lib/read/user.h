/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: records of programs.
 *
 *	scan.c		finds the pieces when a trace is opened
 *	users.c		sorts them, one sequence for each writer, and counts
 *	follow_users.c	does the same for a followed trace, as they arrive
 *	user_name.c	names by number
 *	user_read.c	reads the records of a sequence one after another
 *	user_record.c	decodes a record
 *	print.c		writes it as text
 *
 * The program wrote the contents of chunks and the kernel has checked nothing, so this code trusts
 * nothing.  Memory: 64 bytes for each piece, 48 for each patch, the names, and less than 1 KiB for
 * each writer and cursor.
 */
#ifndef TB_USER_H
#define TB_USER_H

#include "internal.h"

/**
 * struct tb_piece - a TB_EV_CHUNK: a part of a chunk
 * @key: producer << 16 | writer; later the number of its sequence
 * @at: place of its payload in the file; followed: address of a struct tb_piece_copy
 * @copy: copy of its event if the trace is in frames; else NULL
 * @ticks: time at which the kernel took it, after its records were written
 * @chunk: number of the chunk, which does not wrap around
 * @first: number of its first record
 * @records: number of its records, as the program says
 * @bytes: bytes of records
 */
struct tb_piece {
	uint64_t key;
	uint64_t at;
	struct tb_chunk_event *copy;
	uint64_t ticks;
	uint64_t chunk;
	uint64_t first;
	uint32_t records;
	uint32_t id;		/* number of the chunk as recorded */
	uint16_t bytes;
	uint16_t offset;
	uint16_t cause;
	uint16_t flags;
};

/* struct tb_piece_copy - copy of a piece; @where: its place among all bytes that have arrived;
 * @arrived: when it did, ns */
struct tb_piece_copy {
	uint64_t where;
	uint64_t arrived;
	struct tb_chunk_event event[];
};

/* struct tb_hole - a TB_EV_PATCH; members as in struct tb_piece */
struct tb_hole {
	uint64_t key;
	uint64_t at;
	uint64_t ticks;
	uint64_t chunk;
	uint64_t value;
	uint32_t id;
	uint16_t offset;
	uint16_t reserved;
};

/*
 * struct tb_sequence - what one writer wrote: a range of pieces and a range of patches.  In a
 * followed trace @own_pieces and @own_holes have those that the reader has not passed.
 */
struct tb_sequence {
	struct tb_user_writer accounting;
	size_t pieces, nr_pieces;
	size_t holes, nr_holes;
	struct tb_piece *own_pieces;
	struct tb_hole *own_holes;
	size_t room_pieces, room_holes;
};

/* struct tb_program_name - a name that a program recorded; sorted by @key, then by order */
struct tb_program_name {
	uint64_t key;		/* producer << 32 | id */
	uint64_t ticks;
	size_t   order;
	struct tb_user_name name;
};

/**
 * struct tb_users - the writers of a recording
 * @end: time of the last event, 0: unknown
 * @overwrote: the rings have overwritten events
 * @malformed: number of chunks and patches that are too short
 */
struct tb_users {
	struct tb_piece *pieces;
	size_t nr_pieces, room_pieces;
	struct tb_hole *holes;
	size_t nr_holes, room_holes;
	struct tb_sequence *sequences;
	size_t nr_sequences, room_sequences;
	struct tb_program_name *names;
	size_t nr_names, room_names;
	uint64_t end;
	bool     overwrote;
	uint64_t malformed;
};

/* Piece number @index of the sequence */
static inline const struct tb_piece *tb_sequence_piece(const struct tb_users *users,
						       const struct tb_sequence *sequence,
						       size_t index)
{
	return sequence->own_pieces ? &sequence->own_pieces[index] :
	       &users->pieces[sequence->pieces + index];
}

static inline const struct tb_hole *tb_sequence_holes(const struct tb_users *users,
						      const struct tb_sequence *sequence)
{
	return sequence->own_holes ? sequence->own_holes : &users->holes[sequence->holes];
}

static inline struct tb_piece_copy *tb_piece_copy(const struct tb_piece *piece)
{
	return (void *)(uintptr_t)piece->at;
}

/* The event of the piece */
static inline const struct tb_chunk_event *tb_piece_event(const struct tb_trace *trace,
							  const struct tb_piece *piece)
{
	return trace->follow ? tb_piece_copy(piece)->event :
	       piece->copy ? piece->copy : (const void *)(trace->data + piece->at);
}

/* Its place among all bytes */
static inline uint64_t tb_piece_where(const struct tb_trace *trace, const struct tb_piece *piece)
{
	return trace->follow ? tb_piece_copy(piece)->where : piece->at;
}

/* ---- users.c ---- */

/* A piece from its event; the caller sets @at, @copy and @chunk */
struct tb_piece tb_piece_of(const struct tb_composite *composite, uint32_t bytes, uint64_t ticks);
struct tb_hole tb_hole_of(const struct tb_composite *composite, uint64_t ticks);

/**
 * struct tb_lap - state of a writer while its pieces and patches are read in the order of @ticks
 * @newest: highest chunk number so far, 0: none
 * @began: the writer's very first piece is in the trace
 */
struct tb_lap {
	uint64_t newest;
	uint32_t tid;
	bool     began;
};

/* The number of chunk @id, which does not wrap around */
uint64_t tb_lap_unwrap(struct tb_lap *lap, uint32_t id);
/* Sort pieces of sequences */
void tb_pieces_sort(struct tb_piece *pieces, size_t count);
/* Sort patches of sequences; of several of a word keep the last.  Returns how many are left */
size_t tb_holes_sort(struct tb_hole *holes, size_t count);
/* True if this is the first piece of another writer with the same id */
bool tb_lap_is_another(const struct tb_lap *lap, const struct tb_piece *piece, uint32_t tid);

struct tb_sequence *tb_sequence_new(struct tb_users *users, const struct tb_chunk_event *chunk);
void tb_sequence_free(struct tb_sequence *sequence);

int tb_users_chunk(struct tb_trace *trace, struct tb_recording *recording,
		   const struct tb_composite *composite, uint32_t bytes,
		   uint64_t ticks);
int tb_users_patch(struct tb_trace *trace, struct tb_recording *recording,
		   const struct tb_composite *composite, uint32_t bytes,
		   uint64_t ticks);

/**
 * struct tb_numbers - the place in a sequence up to which records are counted
 * @next: number of the next record
 * @chunk, @offset: place of the next record
 * @known: the members above are valid
 */
struct tb_numbers {
	uint64_t next;
	uint64_t chunk;
	uint32_t offset;
	bool     known;
};

/* struct tb_missing - a loss of records before a piece */
struct tb_missing {
	uint64_t records;
	uint32_t cause;
	bool     at_most;
};

/* True if the piece continues the last one, by chunk and offset */
bool tb_numbers_are_next(const struct tb_numbers *numbers, const struct tb_piece *piece);

/* Add a piece to the counts of @sequence; -ENOMEM */
int tb_users_book(struct tb_users *users, struct tb_sequence *sequence,
		  struct tb_numbers *numbers, const struct tb_piece *piece,
		  const struct tb_chunk_event *chunk);

/* Return true if records are missing before this piece; counts up to its end */
bool tb_numbers_piece(struct tb_numbers *numbers, const struct tb_users *users,
		      const struct tb_piece *piece, struct tb_missing *missing);

/* ---- user_name.c ---- */

int tb_names_add(struct tb_users *users, uint32_t producer, uint64_t ticks,
		  const struct tb_record *record, const struct tb_record *head);
void tb_names_sort(struct tb_users *users);
/* NULL: the trace does not have the name */
const struct tb_user_name *tb_names_find(const struct tb_users *users,
					 uint32_t producer, uint32_t id);

/* ---- user_record.c ---- */

#define TB_USER_ARGS_MAX 1024		/* more than fit into an event */
#define TB_USER_SPARE	12		/* room for "#4294967295" */

/**
 * struct tb_user_room - memory of the record that a cursor shows
 * @copy: copy of the record, with patches
 * @spare: texts for unknown names: of the record, of its category, of its arguments
 */
struct tb_user_room {
	struct tb_user user;
	struct tb_user_arg args[TB_USER_ARGS_MAX];
	char     spare[2 + 2 * TB_USER_ARGS_MAX][TB_USER_SPARE];
	uint64_t copy[16384 / 8];	/* no payload is longer */
};

/* Return the record at @at of a piece's data, and copy its head to *@head; NULL: there is no whole
 * record.  Use the copy, which was checked: the data may change. */
const struct tb_record *tb_record_at(const void *data, uint32_t bytes,
				     uint32_t at, struct tb_record *head);

/* True for records that cursors show */
bool tb_record_shows(const struct tb_record *record);

/* Decode the record to room->user, except what its chunk tells; @id: its name */
void tb_record_decode(const struct tb_users *users, uint32_t producer,
		      const struct tb_record *record, uint32_t id,
		      struct tb_user_room *room);

/* Text of name @id of the producer; unknown: "#id" in @spare */
const char *tb_record_name(const struct tb_users *users, uint32_t producer,
			   uint32_t id, char spare[TB_USER_SPARE]);

/* ---- user_read.c ---- */

#define TB_READER_DEPTH 64

/**
 * struct tb_reader - a place in a sequence
 * @piece: the piece that is being read, or the next one if @data is NULL
 * @at: offset in its data
 * @taken: number of its records that were read
 * @last: time of the last record or loss
 * @kind: TB_VIEW_USER or TB_VIEW_USER_LOST: what is pending
 * @record, @flags, @missing: the pending record or loss; @since: earliest time of the loss
 * @depth, @stack: names of open slices
 */
struct tb_reader {
	const struct tb_trace *trace;
	const struct tb_recording *recording;
	const struct tb_sequence *sequence;
	size_t   piece;
	const unsigned char *data;
	uint32_t at;
	uint32_t taken;
	uint64_t last;
	struct tb_numbers numbers;
	enum tb_view_kind kind;
	uint32_t flags;
	const struct tb_record *record;
	struct tb_record head;	/* of @record */
	uint64_t since;
	struct tb_missing missing;
	uint32_t depth;
	uint32_t stack[TB_READER_DEPTH];
};

void tb_reader_start(struct tb_reader *reader, const struct tb_trace *trace,
		     const struct tb_recording *recording,
		     const struct tb_sequence *sequence);
/* Move to the next record or loss, at time @ticks; false: the end */
bool tb_reader_next(struct tb_reader *reader, uint64_t *ticks);
/* Return the time at which the current record or loss begins; @ticks: time of its view */
static inline uint64_t tb_reader_since(const struct tb_reader *reader, uint64_t ticks)
{
	return reader->kind == TB_VIEW_USER_LOST ? reader->since : ticks;
}
/* Fill in the view, except ticks, ns, task and comm */
void tb_reader_view(struct tb_reader *reader, uint64_t ticks,
		    struct tb_user_room *room, struct tb_view *view);

#endif /* TB_USER_H */
