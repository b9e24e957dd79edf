/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, inside: what programs have written, as their parts know it.
 *
 *	scan.c     finds the pieces	(when a trace is opened)
 *	users.c    puts them in order, one sequence for each writer, and does the counts
 *	follow_users.c	the same while they come, when a trace is followed
 *	user_name.c     names by number
 *	user_read.c     goes through a sequence, one record after the other
 *	user_record.c   what is in a record
 *	print.c    as text
 *
 * All that is in a chunk is the program's own: the kernel has looked at none of it, so
 * none of it is believed here.  Memory: 56 bytes for each piece, 48 for each patch, the names,
 * and less than 1 KiB for each writer and cursor.
 */
#ifndef TB_USER_H
#define TB_USER_H

#include "internal.h"

/**
 * struct tb_piece - a TB_EV_CHUNK
 * @key: producer << 16 | writer; then the number of its sequence
 * @at: where its payload is in the file; followed: the address of a struct tb_piece_copy
 * @copy: of the event it came in, if the trace is in frames; else NULL
 * @ticks: when the kernel took it: what is in it was written before
 * @chunk: which chunk, by a number that does not wrap around
 * @first: number of its first record
 * @records: how many it says it has
 * @bytes: of records
 */
struct tb_piece {
	uint64_t key;
	uint64_t at;
	struct tb_chunk_event *copy;
	uint64_t ticks;
	uint64_t chunk;
	uint64_t first;
	uint32_t records;
	uint32_t id;		/* of the chunk, as it was */
	uint16_t bytes;
	uint16_t offset;
	uint16_t cause;
	uint16_t flags;
};

/* struct tb_piece_copy - a piece of a trace that is followed; @where: in all that came */
struct tb_piece_copy {
	uint64_t where;
	struct tb_chunk_event event[];
};

/* struct tb_hole - a TB_EV_PATCH; the same fields mean the same */
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
 * struct tb_sequence - what one writer wrote: a range of pieces and one of patches.  In a trace
 * that is followed they are in @own_pieces and @own_holes: those that are not passed yet.
 */
struct tb_sequence {
	struct tb_user_writer accounting;
	size_t pieces, nr_pieces;
	size_t holes, nr_holes;
	struct tb_piece *own_pieces;
	struct tb_hole *own_holes;
	size_t room_pieces, room_holes;
};

/* struct tb_told - a name that a program told, in order of @key and then of telling */
struct tb_told {
	uint64_t key;		/* producer << 32 | id */
	uint64_t ticks;
	size_t   order;
	struct tb_user_name name;
};

/**
 * struct tb_users - what is known of the writers of a recording
 * @end: no event is later, 0: unknown
 * @overwrote: the rings have overwritten events
 * @malformed: chunks and patches too short to be any
 */
struct tb_users {
	struct tb_piece *pieces;
	size_t nr_pieces, room_pieces;
	struct tb_hole *holes;
	size_t nr_holes, room_holes;
	struct tb_sequence *sequences;
	size_t nr_sequences, room_sequences;
	struct tb_told *names;
	size_t nr_names, room_names;
	uint64_t end;
	bool     overwrote;
	uint64_t malformed;
};

/* Its @index-th piece and its patches */
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

/* The event it came in */
static inline const struct tb_chunk_event *tb_piece_event(const struct tb_trace *trace,
							  const struct tb_piece *piece)
{
	return trace->follow ? tb_piece_copy(piece)->event :
	       piece->copy ? piece->copy : (const void *)(trace->data + piece->at);
}

/* Where that is among all bytes */
static inline uint64_t tb_piece_where(const struct tb_trace *trace, const struct tb_piece *piece)
{
	return trace->follow ? tb_piece_copy(piece)->where : piece->at;
}

/* ---- users.c ---- */

/* As it is in its event; but for where that is */
struct tb_piece tb_piece_of(const struct tb_composite *composite, uint32_t bytes, uint64_t ticks);
struct tb_hole tb_hole_of(const struct tb_composite *composite, uint64_t ticks);

/**
 * struct tb_lap - where a writer is while its pieces and patches are looked at as they were taken
 * @newest: chunk, 0: none yet
 * @began: its very first piece was there
 */
struct tb_lap {
	uint64_t newest;
	uint32_t tid;
	bool     began;
};

/* The number of chunk @id that does not wrap around */
uint64_t tb_lap_unwrap(struct tb_lap *lap, uint32_t id);
/* Is this the first piece of another writer that got the same id? */
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
 * struct tb_numbers - how far the records of a sequence are accounted for
 * @next: number of the one that should come
 * @chunk, @offset: where it should be
 * @known: it is known what should come
 */
struct tb_numbers {
	uint64_t next;
	uint64_t chunk;
	uint32_t offset;
	bool     known;
};

/* struct tb_missing - records that should have been before a piece */
struct tb_missing {
	uint64_t records;
	uint32_t cause;
	bool     at_most;
};

/* Nothing else is between what was taken last and this piece, as far as chunks tell */
bool tb_numbers_are_next(const struct tb_numbers *numbers, const struct tb_piece *piece);

/* The counts of @sequence with one piece more; -ENOMEM */
int tb_users_book(struct tb_users *users, struct tb_sequence *sequence,
		  struct tb_numbers *numbers, const struct tb_piece *piece,
		  const struct tb_chunk_event *chunk);

/* What is missing before this piece, if anything; it is accounted for then */
bool tb_numbers_piece(struct tb_numbers *numbers, const struct tb_users *users,
		      const struct tb_piece *piece, struct tb_missing *missing);

/* ---- user_name.c ---- */

int tb_names_tell(struct tb_users *users, uint32_t producer, uint64_t ticks,
		  const struct tb_record *record, const struct tb_record *head);
void tb_names_sort(struct tb_users *users);
/* NULL: it has not been told */
const struct tb_user_name *tb_names_find(const struct tb_users *users,
					 uint32_t producer, uint32_t id);

/* ---- user_record.c ---- */

#define TB_USER_ARGS_MAX 1024		/* more than fit into an event */
#define TB_USER_SPARE	12		/* "#4294967295" */

/**
 * struct tb_user_room - where the record is put that a cursor shows
 * @copy: of a record that is patched
 * @spare: what unknown names are called: the record's, its category's, those of the arguments
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

/* Is it one that cursors show? */
bool tb_record_shows(const struct tb_record *record);

/* What is in it, @id being its name; room->user has all of it but what the writer says of itself */
void tb_record_decode(const struct tb_users *users, uint32_t producer,
		      const struct tb_record *record, uint32_t id,
		      struct tb_user_room *room);

/* What name @id of the producer is called; @spare is used if nobody knows */
const char *tb_record_name(const struct tb_users *users, uint32_t producer,
			   uint32_t id, char spare[TB_USER_SPARE]);

/* ---- user_read.c ---- */

#define TB_READER_DEPTH 64

/**
 * struct tb_reader - a place in a sequence
 * @piece: which piece is being read, or comes next if @data is NULL
 * @at: in its data
 * @taken: records of it that were read
 * @last: time of what was last shown
 * @kind: TB_VIEW_USER or TB_VIEW_USER_LOST: what is to be shown
 * @record, @flags, @missing: the same; @since: when a loss may have begun
 * @depth, @stack: names of slices that have begun and not ended
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
/* What comes next has time @ticks; false: the end */
bool tb_reader_next(struct tb_reader *reader, uint64_t *ticks);
/* All of a view but ticks, ns, task and comm */
void tb_reader_view(struct tb_reader *reader, uint64_t ticks,
		    struct tb_user_room *room, struct tb_view *view);

#endif /* TB_USER_H */
