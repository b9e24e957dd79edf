// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records of programs in a followed trace.
 *
 * For a file the library collects all pieces before it shows the first.  Here a copy of each piece
 * waits until it can be appended to its writer's sequence: at once if it is the next one, else
 * after the time for which events are held back.  Pieces are appended when more can be shown: then
 * all rings have delivered theirs.  From then on a writer is a stream like any other.
 *
 * With each flush the kernel takes what programs have published, so records arrive about as late as
 * events of the kernel.  A record that is later still is shown when it arrives, as late events are.
 * A name or patch that arrives after its record was shown has no effect on it.
 */
#include <errno.h>
#include <stdlib.h>
#include "follow.h"

/* Patches that are kept for a writer.  One without a piece would be kept forever; only faulty
 * programs have more */
#define HOLES_MAX	65536

/* ---- taking ---- */

/* Memory of a piece */
static uint64_t bytes_of(const struct tb_piece *piece)
{
	return sizeof(*piece) + sizeof(struct tb_piece_copy) + sizeof(struct tb_chunk_event) +
	       piece->bytes;
}

static struct tb_users *users_of(struct tb_follow *follow)
{
	struct tb_recording *recording = follow->trace->selected;

	if (!recording->users)
		recording->users = calloc(1, sizeof(*recording->users));
	return recording->users;
}

/* Update the readers' pointers after the array of sequences has grown and may have moved */
static void readers_find(struct tb_follow *follow, const struct tb_users *users)
{
	bool moved = follow->writers[0].stream->reader->sequence != users->sequences;
	size_t i;

	for (i = moved ? 0 : follow->nr_writers - 1; i < follow->nr_writers; i++)
		follow->writers[i].stream->reader->sequence = &users->sequences[i];
}

/* A stream and reader for @follow's cursor; tb_follow_forget() frees the reader */
static struct stream *new_stream(struct tb_follow *follow)
{
	struct tb_cursor *cursor = follow->cursor;
	struct tb_reader *reader;
	struct stream *stream;

	if (!cursor->room)
		cursor->room = malloc(sizeof(*cursor->room));
	reader = malloc(sizeof(*reader));
	if (!cursor->room || !reader ||
	    tb_cursor_add_stream(cursor, TB_RING_USER, NULL, &stream)) {
		free(reader);
		return NULL;
	}
	tb_reader_start(reader, follow->trace, follow->trace->selected, NULL);
	stream->reader = reader;
	return stream;
}

/* The slot of the last writer with this key, or the empty slot for it */
static uint32_t *slot_of(const struct tb_follow *follow, uint64_t key)
{
	size_t slot = tb_hash_slot(&follow->secret, key, follow->nr_slots);

	while (follow->slots[slot] && follow->writers[follow->slots[slot] - 1].key != key)
		slot = (slot + 1) & (follow->nr_slots - 1);
	return &follow->slots[slot];
}

/* Enlarge the table; of several writers with one id only the last stays in it */
static int list_writers(struct tb_follow *follow)
{
	size_t i, wanted = follow->nr_slots ? 2 * follow->nr_slots : 64;

	free(follow->slots);
	follow->nr_slots = 0;
	follow->slots = calloc(wanted, sizeof(*follow->slots));
	if (!follow->slots)
		return -ENOMEM;
	follow->nr_slots = wanted;
	follow->secret = tb_secret();
	for (i = 0; i < follow->nr_writers; i++)
		*slot_of(follow, follow->writers[i].key) = (uint32_t)i + 1;
	return 0;
}

static struct tb_waiting *new_writer(struct tb_follow *follow, struct tb_users *users,
				     const struct tb_chunk_event *chunk, uint64_t key,
				     uint64_t ticks)
{
	struct tb_waiting *writer;

	if (tb_array_grow(&follow->writers, &follow->room_writers, follow->nr_writers,
			  sizeof(*writer)))
		return NULL;
	writer = &follow->writers[follow->nr_writers];
	memset(writer, 0, sizeof(*writer));
	writer->key = key;
	writer->from = ticks;
	writer->previous = follow->nr_slots ? *slot_of(follow, key) : 0;
	writer->stream = new_stream(follow);
	if (!writer->stream)
		return NULL;
	/* writers and sequences have the same indexes */
	if (!tb_sequence_new(users, chunk)) {
		free(writer->stream->reader);
		writer->stream->reader = NULL;
		return NULL;
	}
	follow->nr_writers++;
	readers_find(follow, users);
	if (2 * follow->nr_writers > follow->nr_slots)
		return list_writers(follow) ? NULL : writer;
	*slot_of(follow, key) = (uint32_t)follow->nr_writers;
	return writer;
}

/* The last writer with this id; NULL: none */
static struct tb_waiting *find_writer(struct tb_follow *follow, uint64_t key)
{
	uint32_t number = follow->nr_slots ? *slot_of(follow, key) : 0;

	return number ? &follow->writers[number - 1] : NULL;
}

/* Find the writer whose piece or patch the kernel took at @ticks: the last writer with this id, or
 * the one before it, which has ended.  NULL: none */
static struct tb_waiting *writer_at(struct tb_follow *follow, uint64_t key, uint64_t ticks)
{
	struct tb_waiting *writer = find_writer(follow, key);

	return writer && ticks < writer->from && writer->previous ?
	       &follow->writers[writer->previous - 1] : writer;
}

static int add_hole(struct tb_sequence *sequence, struct tb_waiting *writer, struct tb_hole hole)
{
	hole.chunk = tb_lap_unwrap(&writer->lap, hole.id);
	hole.at = writer->patches++;
	sequence->accounting.patches++;
	if (writer->nr_holes + sequence->nr_holes == HOLES_MAX)
		return 0;
	if (tb_array_grow(&writer->holes, &writer->room_holes, writer->nr_holes, sizeof(hole)))
		return -ENOMEM;
	writer->holes[writer->nr_holes++] = hole;
	return 0;
}

/* Insert patches that arrived before this writer's first piece */
static int add_early(struct tb_follow *follow, struct tb_sequence *sequence,
		     struct tb_waiting *writer)
{
	unsigned int i, kept = 0;
	int result = 0;

	for (i = 0; i < follow->nr_early; i++) {
		if (follow->early[i].key != writer->key)
			follow->early[kept++] = follow->early[i];
		else if (!result)
			result = add_hole(sequence, writer, follow->early[i]);
	}
	follow->nr_early = kept;
	return result;
}

int tb_follow_chunk(struct tb_follow *follow, const struct tb_composite *composite, uint64_t ticks)
{
	const struct tb_chunk_event *chunk = (const void *)(composite + 1);
	struct tb_users *users;
	struct tb_waiting *writer;
	struct tb_piece piece;
	struct tb_piece_copy *copy;

	if (follow->cursor->way != WAY_EVENTS)
		return 0;
	users = users_of(follow);
	if (!users)
		return -ENOMEM;
	if (composite->length < sizeof(*chunk)) {
		users->malformed++;
		return 0;
	}
	piece = tb_piece_of(composite, composite->length, ticks);
	writer = writer_at(follow, piece.key, ticks);
	if (!writer || tb_lap_is_another(&writer->lap, &piece, chunk->tid))
		writer = new_writer(follow, users, chunk, piece.key, ticks);
	copy = malloc(sizeof(*copy) + composite->length);
	if (!writer || !copy ||
	    tb_array_grow(&writer->pieces, &writer->room, writer->nr, sizeof(piece))) {
		free(copy);
		return -ENOMEM;
	}
	copy->arrived = tb_follow_now();
	memcpy(copy->event, chunk, composite->length);
	copy->where = follow->taking + (uint64_t)((const unsigned char *)chunk - follow->taken);
	if (chunk->tid)
		writer->lap.tid = chunk->tid;
	writer->lap.began |= !piece.id && !piece.offset;
	piece.chunk = tb_lap_unwrap(&writer->lap, piece.id);
	piece.at = (uint64_t)(uintptr_t)copy;
	writer->unsorted |= writer->nr &&
			    (piece.chunk < writer->pieces[writer->nr - 1].chunk ||
			     (piece.chunk == writer->pieces[writer->nr - 1].chunk &&
			      piece.offset < writer->pieces[writer->nr - 1].offset));
	writer->pieces[writer->nr++] = piece;
	follow->pieces += bytes_of(&piece);
	return follow->nr_early ?
	       add_early(follow, &users->sequences[writer - follow->writers], writer) : 0;
}

int tb_follow_patch(struct tb_follow *follow, const struct tb_composite *composite, uint64_t ticks)
{
	struct tb_waiting *writer;
	struct tb_users *users;
	struct tb_hole hole;

	if (follow->cursor->way != WAY_EVENTS)
		return 0;
	users = users_of(follow);
	if (!users)
		return -ENOMEM;
	if (composite->length < sizeof(struct tb_patch_event)) {
		users->malformed++;
		return 0;
	}
	hole = tb_hole_of(composite, ticks);
	if (hole.offset % 8)
		return 0;
	writer = writer_at(follow, hole.key, ticks);
	if (writer)
		return add_hole(&users->sequences[writer - follow->writers], writer, hole);
	/* keep the last TB_FOLLOW_EARLY patches without a writer */
	if (follow->nr_early == TB_FOLLOW_EARLY)
		memmove(follow->early, follow->early + 1,
			--follow->nr_early * sizeof(hole));
	follow->early[follow->nr_early++] = hole;
	return 0;
}

/* ---- passing pieces to the cursor ---- */

/* Free the pieces that the cursor has shown.  Keep the last one while a view is pending: it may be
 * of a loss at the end of that piece */
static void drop_shown(struct tb_follow *follow, struct tb_sequence *sequence,
		       const struct stream *stream)
{
	struct tb_reader *reader = stream->reader;
	size_t gone = reader->piece - (reader->piece && stream->queued), holes = 0, i;
	uint64_t last;

	if (!gone)
		return;
	last = sequence->own_pieces[gone - 1].chunk;
	for (i = 0; i < gone; i++) {
		follow->pieces -= bytes_of(&sequence->own_pieces[i]);
		free(tb_piece_copy(&sequence->own_pieces[i]));
	}
	sequence->nr_pieces -= gone;
	reader->piece -= gone;
	memmove(sequence->own_pieces, sequence->own_pieces + gone,
		sequence->nr_pieces * sizeof(*sequence->own_pieces));
	while (holes < sequence->nr_holes && sequence->own_holes[holes].chunk < last)
		holes++;
	sequence->nr_holes -= holes;
	if (holes)
		memmove(sequence->own_holes, sequence->own_holes + holes,
			sequence->nr_holes * sizeof(*sequence->own_holes));
	if (sequence->nr_pieces)
		return;
	/* a thread that ended keeps no memory here */
	free(sequence->own_pieces);
	sequence->own_pieces = NULL;
	sequence->room_pieces = 0;
}

/* Pass patches to the sequence */
static int release_holes(struct tb_sequence *sequence, struct tb_waiting *writer)
{
	for (; writer->nr_holes; writer->nr_holes--) {
		if (tb_array_grow(&sequence->own_holes, &sequence->room_holes, sequence->nr_holes,
				  sizeof(*sequence->own_holes)))
			return -ENOMEM;
		sequence->own_holes[sequence->nr_holes++] = writer->holes[writer->nr_holes - 1];
	}
	sequence->nr_holes = tb_holes_sort(sequence->own_holes, sequence->nr_holes);
	free(writer->holes);
	writer->holes = NULL;
	writer->room_holes = 0;
	return 0;
}

/* True if the piece continues the sequence, or begins it */
static bool is_next(const struct tb_waiting *writer, const struct tb_piece *piece)
{
	return writer->numbers.known ? tb_numbers_are_next(&writer->numbers, piece) :
	       !piece->id && !piece->offset;
}

/* Append pieces that can be shown to the sequence, and count them; 1 if there are any */
static int release_writer(struct tb_follow *follow, struct tb_users *users, size_t index, bool all)
{
	struct tb_sequence *sequence = &users->sequences[index];
	struct tb_waiting *writer = &follow->writers[index];
	const struct tb_piece *piece;
	int result = 0;
	uint64_t now;
	size_t n;

	drop_shown(follow, sequence, writer->stream);
	if (writer->nr_holes && release_holes(sequence, writer))
		return -ENOMEM;
	if (!writer->nr)
		return 0;
	if (writer->unsorted)
		tb_pieces_sort(writer->pieces, writer->nr);
	writer->unsorted = false;
	now = tb_follow_now();
	for (n = 0; n < writer->nr; n++) {
		piece = &writer->pieces[n];
		if (!all && !is_next(writer, piece) &&
		    now - tb_piece_copy(piece)->arrived < follow->hold)
			break;
		if (tb_array_grow(&sequence->own_pieces, &sequence->room_pieces,
				  sequence->nr_pieces, sizeof(*piece)) ||
		    tb_users_book(users, sequence, &writer->numbers, piece,
				  tb_piece_event(follow->trace, piece))) {
			result = -ENOMEM;
			break;
		}
		sequence->own_pieces[sequence->nr_pieces++] = *piece;
	}
	writer->nr -= n;
	memmove(writer->pieces, writer->pieces + n, writer->nr * sizeof(*writer->pieces));
	if (!writer->nr) {
		free(writer->pieces);
		writer->pieces = NULL;
		writer->room = 0;
	}
	return result ? result : n > 0;
}

int tb_follow_release(struct tb_follow *follow, bool all)
{
	struct tb_users *users = follow->trace->selected->users;
	struct stream *stream;
	bool some = false;
	int result;
	size_t i;

	if (!users)
		return 0;
	users->overwrote = follow->trace->selected->overwrote;
	users->end = follow->newest;
	for (i = 0; i < follow->nr_writers; i++) {
		result = release_writer(follow, users, i, all);
		if (result < 0)
			return result;
		some |= result > 0;
	}
	if (!some)
		return 0;
	/* before all records: one writer tells names that another uses */
	tb_names_sort(users);
	for (i = 0; i < follow->nr_writers; i++) {
		stream = follow->writers[i].stream;
		if (stream->queued)
			continue;
		tb_stream_advance(follow->cursor, stream);
		tb_cursor_queue(follow->cursor, stream);
	}
	return 1;
}

void tb_follow_forget(struct tb_follow *follow)
{
	struct tb_waiting *writer;
	size_t i, j;

	for (i = 0; i < follow->nr_writers; i++) {
		writer = &follow->writers[i];
		for (j = 0; j < writer->nr; j++)
			free(tb_piece_copy(&writer->pieces[j]));
		free(writer->pieces);
		free(writer->holes);
		free(writer->stream->reader);
		writer->stream->reader = NULL;
	}
	free(follow->writers);
	free(follow->slots);
	follow->slots = NULL;
	follow->nr_slots = 0;
	follow->writers = NULL;
	follow->nr_writers = follow->room_writers = 0;
	follow->nr_early = 0;
	follow->pieces = 0;
	tb_users_free(follow->trace->selected->users);
	follow->trace->selected->users = NULL;
}
