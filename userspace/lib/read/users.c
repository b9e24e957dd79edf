// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writers of programs: which pieces belong to which writer, in which order, and their counts.
 *
 * The kernel takes pieces on any CPU, so their order in the file says nothing.  The pieces of a
 * writer are first sorted by the time at which the kernel took them, which is nearly right.  In
 * that order the chunk numbers, which wrap around, are converted to numbers that do not; then the
 * pieces are sorted by these.  A program may give the id of a destroyed writer to another one.  The
 * chunks of that one count from 0 again and form another sequence.
 *
 * A piece has the number of its first record, so missing records show as missing numbers.  If the
 * first piece in the trace is not the writer's very first, the records before it may belong to an
 * earlier recording.
 */
#include <errno.h>
#include <stdlib.h>
#include "user.h"

/* Number of chunk id 0, so that a chunk before the first one seen has a number, too */
#define CHUNK_BASE (1ull << 32)

static uint64_t sum(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* ---- collecting ---- */

static struct tb_users *users_of(struct tb_recording *recording)
{
	if (!recording->users)
		recording->users = calloc(1, sizeof(*recording->users));
	return recording->users;
}

static uint64_t key_of(uint32_t producer, uint16_t writer)
{
	return (uint64_t)producer << 16 | writer;
}

struct tb_piece tb_piece_of(const struct tb_composite *composite, uint32_t bytes, uint64_t ticks)
{
	const struct tb_chunk_event *chunk = (const void *)(composite + 1);

	return (struct tb_piece) {
		.key = key_of(chunk->producer, chunk->writer),
		.ticks = ticks,
		.first = chunk->first,
		.records = chunk->records,
		.id = chunk->chunk,
		.bytes = (uint16_t)(bytes - sizeof(*chunk)),
		.offset = chunk->offset,
		.cause = chunk->cause,
		.flags = chunk->flags,
	};
}

struct tb_hole tb_hole_of(const struct tb_composite *composite, uint64_t ticks)
{
	const struct tb_patch_event *patch = (const void *)(composite + 1);

	return (struct tb_hole) {
		.key = key_of(patch->producer, patch->writer),
		.ticks = ticks,
		.value = patch->value,
		.id = patch->chunk,
		.offset = patch->offset,
	};
}

int tb_users_chunk(struct tb_trace *trace, struct tb_recording *recording,
		   const struct tb_composite *composite, uint32_t bytes, uint64_t ticks)
{
	struct tb_users *users = users_of(recording);
	struct tb_piece *piece;

	if (!users)
		return -ENOMEM;
	if (bytes < sizeof(struct tb_chunk_event)) {
		users->malformed++;
		return 0;
	}
	if (tb_array_grow(&users->pieces, &users->room_pieces, users->nr_pieces,
			  sizeof(*piece)))
		return -ENOMEM;
	piece = &users->pieces[users->nr_pieces++];
	*piece = tb_piece_of(composite, bytes, ticks);
	piece->at = (uint64_t)((const unsigned char *)(composite + 1) - trace->data);
	if (!trace->frames)
		return 0;
	/* readers use pieces in another order than frames are unpacked in */
	piece->copy = malloc(bytes);
	if (!piece->copy)
		return -ENOMEM;
	memcpy(piece->copy, composite + 1, bytes);
	return 0;
}

int tb_users_patch(struct tb_trace *trace, struct tb_recording *recording,
		   const struct tb_composite *composite, uint32_t bytes, uint64_t ticks)
{
	struct tb_users *users = users_of(recording);
	struct tb_hole *hole;

	if (!users)
		return -ENOMEM;
	if (bytes < sizeof(struct tb_patch_event)) {
		users->malformed++;
		return 0;
	}
	if (tb_array_grow(&users->holes, &users->room_holes, users->nr_holes,
			  sizeof(*users->holes)))
		return -ENOMEM;
	hole = &users->holes[users->nr_holes++];
	*hole = tb_hole_of(composite, ticks);
	hole->at = (uint64_t)((const unsigned char *)(composite + 1) - trace->data);
	return 0;
}

void tb_users_free(struct tb_users *users)
{
	size_t i;

	if (!users)
		return;
	for (i = 0; i < users->nr_names; i++)
		free((char *)users->names[i].name.text);
	for (i = 0; i < users->nr_sequences; i++)
		tb_sequence_free(&users->sequences[i]);
	for (i = 0; i < users->nr_pieces; i++)
		free(users->pieces[i].copy);
	free(users->names);
	free(users->pieces);
	free(users->holes);
	free(users->sequences);
	free(users);
}

/* ---- order ---- */

#define COMPARE(a, b) \
	do { \
		if ((a) != (b)) \
			return (a) < (b) ? -1 : 1; \
	} while (0)

/*
 * Pieces and patches have the same order: sequence, place in it, time at which the kernel took
 * them, place in the file.  Before make_sequences() the place in the sequence is 0.
 */
static int compare_pieces(const void *a, const void *b)
{
	const struct tb_piece *first = a, *second = b;

	COMPARE(first->key, second->key);
	COMPARE(first->chunk, second->chunk);
	if (first->chunk)
		COMPARE(first->offset, second->offset);
	COMPARE(first->ticks, second->ticks);
	COMPARE(first->at, second->at);
	return 0;
}

static int compare_holes(const void *a, const void *b)
{
	const struct tb_hole *first = a, *second = b;

	COMPARE(first->key, second->key);
	COMPARE(first->chunk, second->chunk);
	if (first->chunk)
		COMPARE(first->offset, second->offset);
	COMPARE(first->ticks, second->ticks);
	COMPARE(first->at, second->at);
	return 0;
}

static bool same_word(const struct tb_hole *a, const struct tb_hole *b)
{
	return a->key == b->key && a->chunk == b->chunk && a->offset == b->offset;
}

void tb_pieces_sort(struct tb_piece *pieces, size_t count)
{
	if (count)
		qsort(pieces, count, sizeof(*pieces), compare_pieces);
}

static void sort_holes(struct tb_hole *holes, size_t count)
{
	if (count)
		qsort(holes, count, sizeof(*holes), compare_holes);
}

size_t tb_holes_sort(struct tb_hole *holes, size_t count)
{
	size_t i, kept = 0;

	sort_holes(holes, count);
	for (i = 0; i < count; i++) {
		kept -= kept && same_word(&holes[kept - 1], &holes[i]);
		holes[kept++] = holes[i];
	}
	return kept;
}

static void sort_all(struct tb_users *users)
{
	tb_pieces_sort(users->pieces, users->nr_pieces);
	sort_holes(users->holes, users->nr_holes);
}

uint64_t tb_lap_unwrap(struct tb_lap *lap, uint32_t id)
{
	uint64_t chunk = CHUNK_BASE + id;

	if (lap->newest)
		chunk = lap->newest + (uint64_t)(int64_t)
			(int32_t)(id - (uint32_t)lap->newest);
	if (chunk > lap->newest)
		lap->newest = chunk;
	return chunk;
}

bool tb_lap_is_another(const struct tb_lap *lap, const struct tb_piece *piece, uint32_t tid)
{
	bool first = !piece->id && !piece->offset;

	return first && lap->newest &&
	       (lap->began || (tid && lap->tid && tid != lap->tid));
}

struct tb_sequence *tb_sequence_new(struct tb_users *users, const struct tb_chunk_event *chunk)
{
	struct tb_sequence *sequence;

	if (tb_array_grow(&users->sequences, &users->room_sequences,
			  users->nr_sequences, sizeof(*sequence)))
		return NULL;
	sequence = &users->sequences[users->nr_sequences++];
	memset(sequence, 0, sizeof(*sequence));
	sequence->accounting.producer = chunk->producer;
	sequence->accounting.writer = chunk->writer;
	sequence->accounting.pid = chunk->pid;
	sequence->accounting.tid = chunk->tid;
	sequence->accounting.uid = chunk->uid;
	return sequence;
}

/* Frees the arrays of a followed trace; pieces that the reader has passed are freed already */
void tb_sequence_free(struct tb_sequence *sequence)
{
	size_t i;

	for (i = 0; sequence->own_pieces && i < sequence->nr_pieces; i++)
		free(tb_piece_copy(&sequence->own_pieces[i]));
	free(sequence->own_pieces);
	free(sequence->own_holes);
}

/*
 * Make sequences of pieces and patches that are sorted by id and time.  A patch whose writer has no
 * pieces gets a key that no sequence has.
 */
static int make_sequences(const struct tb_trace *trace, struct tb_users *users)
{
	const struct tb_chunk_event *chunk;
	uint64_t key = 0, index;
	struct tb_piece *piece;
	struct tb_lap lap = { 0 };
	struct tb_hole *hole;
	size_t i, h = 0;

	for (i = 0; i < users->nr_pieces; i++) {
		piece = &users->pieces[i];
		chunk = tb_piece_event(trace, piece);
		if (!i || piece->key != key || tb_lap_is_another(&lap, piece, chunk->tid)) {
			if (!i || piece->key != key)
				for (; h < users->nr_holes &&
				       users->holes[h].key < piece->key; h++)
					users->holes[h].key = UINT64_MAX;
			key = piece->key;
			memset(&lap, 0, sizeof(lap));
			if (!tb_sequence_new(users, chunk))
				return -ENOMEM;
		}
		index = users->nr_sequences - 1;
		if (chunk->tid)
			lap.tid = chunk->tid;
		lap.began |= !piece->id && !piece->offset;
		piece->chunk = tb_lap_unwrap(&lap, piece->id);
		piece->key = index;
		/* patches that precede the writer's next piece; after its last piece, the rest */
		for (; h < users->nr_holes && users->holes[h].key == key &&
		       (i + 1 == users->nr_pieces ||
			users->pieces[i + 1].key != key ||
			users->holes[h].ticks < users->pieces[i + 1].ticks); h++) {
			hole = &users->holes[h];
			hole->chunk = tb_lap_unwrap(&lap, hole->id);
			hole->key = index;
		}
	}
	for (; h < users->nr_holes; h++)
		users->holes[h].key = UINT64_MAX;
	return 0;
}

/* Keep the last of several patches of a word; drop patches of part of a word, or of no sequence */
static void drop_patches(struct tb_users *users)
{
	struct tb_hole *holes = users->holes;
	size_t i, kept = 0;

	for (i = 0; i < users->nr_holes; i++) {
		if (holes[i].key >= users->nr_sequences)
			break;
		if (holes[i].offset % 8)
			continue;
		kept -= kept && same_word(&holes[kept - 1], &holes[i]);
		holes[kept++] = holes[i];
	}
	users->nr_holes = kept;
}

static void set_ranges(struct tb_users *users)
{
	struct tb_sequence *sequence;
	size_t i;

	for (i = 0; i < users->nr_pieces; i++) {
		sequence = &users->sequences[users->pieces[i].key];
		if (!sequence->nr_pieces++)
			sequence->pieces = i;
	}
	for (i = 0; i < users->nr_holes; i++) {
		sequence = &users->sequences[users->holes[i].key];
		if (!sequence->nr_holes++)
			sequence->holes = i;
	}
}

/* ---- numbers ---- */

bool tb_numbers_are_next(const struct tb_numbers *numbers, const struct tb_piece *piece)
{
	if (piece->chunk == numbers->chunk)
		return piece->offset == numbers->offset;
	return piece->chunk == numbers->chunk + 1 && !piece->offset;
}

static uint32_t no_cause(const struct tb_users *users)
{
	return users->overwrote ? TB_LOST_OVERWRITTEN : TB_LOST_UNKNOWN;
}

bool tb_numbers_piece(struct tb_numbers *numbers, const struct tb_users *users,
		      const struct tb_piece *piece, struct tb_missing *missing)
{
	const uint32_t kernel = 0xffff & ~TB_LOST_PRODUCER;

	memset(missing, 0, sizeof(*missing));
	missing->cause = piece->cause;
	if (!numbers->known && !piece->id) {	/* the writer's first chunk: nothing precedes it */
		numbers->known = true;
		numbers->chunk = piece->chunk;
	}
	if (!numbers->known) {
		missing->at_most = true;
		if (piece->cause || users->overwrote)
			missing->records = piece->first;
		if (!missing->cause)
			missing->cause = no_cause(users);
	} else if (piece->first > numbers->next) {
		missing->records = piece->first - numbers->next;
		/* a cause that the program tells does not explain missing pieces */
		if (!(piece->cause & kernel) &&
		    (!piece->cause || !tb_numbers_are_next(numbers, piece)))
			missing->cause |= no_cause(users);
	}
	numbers->known = true;
	if (sum(piece->first, piece->records) > numbers->next)
		numbers->next = sum(piece->first, piece->records);
	numbers->chunk = piece->chunk;
	numbers->offset = (uint32_t)piece->offset + piece->bytes;
	return missing->records;
}

/* ---- counts ---- */

static void count_lost(struct tb_user_writer *accounting, uint64_t records,
		       uint32_t cause)
{
	unsigned int bit = TB_LOST_BITS;

	if (cause && !(cause & (cause - 1)) &&
	    (unsigned int)__builtin_ctz(cause) < TB_LOST_BITS)
		bit = (unsigned int)__builtin_ctz(cause);
	accounting->missing = sum(accounting->missing, records);
	accounting->lost[bit] = sum(accounting->lost[bit], records);
}

/*
 * Count the records of a piece.  The last @fresh have numbers that were not there before.  Earlier
 * ones are in the trace, too, but cannot be missing: their numbers are counted already.
 */
static int count_records(struct tb_users *users, struct tb_user_writer *accounting,
			 const struct tb_piece *piece, const unsigned char *data,
			 uint32_t fresh, bool wrong)
{
	uint32_t at = 0, count, old = piece->records - fresh;
	const struct tb_record *record;
	struct tb_record head;

	for (count = 0; count < piece->records &&
	     (record = tb_record_at(data, piece->bytes, at, &head)); count++) {
		at += head.bytes;
		if (head.type == TB_REC_NAME) {
			accounting->names++;
			if (tb_names_add(users, accounting->producer, piece->ticks,
					  record, &head))
				return -ENOMEM;
		} else if (!tb_record_shows(&head)) {
			accounting->unknown++;
		}
	}
	accounting->delivered += count;
	if (count < piece->records)
		count_lost(accounting, count > old ? piece->records - count : fresh,
			   TB_LOST_DAMAGED);
	accounting->wrong += wrong || count < piece->records || at < piece->bytes;
	return 0;
}

int tb_users_book(struct tb_users *users, struct tb_sequence *sequence,
		  struct tb_numbers *numbers, const struct tb_piece *piece,
		  const struct tb_chunk_event *chunk)
{
	struct tb_user_writer *accounting = &sequence->accounting;
	uint64_t from = numbers->next > piece->first ? numbers->next : piece->first;
	bool known = numbers->known, wrong;
	struct tb_missing missing;

	/* record numbers that were there before, or that overflow */
	wrong = (known && piece->first < numbers->next) ||
		piece->first > UINT64_MAX - piece->records;
	accounting->chunks += !accounting->pieces++ || piece->chunk != numbers->chunk;
	accounting->bytes += piece->bytes;
	if (tb_numbers_piece(numbers, users, piece, &missing) && !missing.at_most)
		count_lost(accounting, missing.records, missing.cause);
	if (!known && piece->id)
		accounting->before = piece->first;
	accounting->attempted = numbers->next - accounting->before;
	return count_records(users, accounting, piece, (const unsigned char *)(chunk + 1),
			     numbers->next > from ? (uint32_t)(numbers->next - from) : 0, wrong);
}

static int count_sequence(const struct tb_trace *trace, struct tb_users *users,
			  struct tb_sequence *sequence)
{
	struct tb_numbers numbers = { 0 };
	const struct tb_piece *piece;
	size_t i;

	sequence->accounting.patches = sequence->nr_holes;
	for (i = 0; i < sequence->nr_pieces; i++) {
		piece = tb_sequence_piece(users, sequence, i);
		if (tb_users_book(users, sequence, &numbers, piece,
				  tb_piece_event(trace, piece)))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the whole recording ---- */

static void note_overwrites(const struct tb_recording *recording,
			    struct tb_users *users)
{
	size_t i;

	users->overwrote = recording->overwrote;
	users->end = recording->end;
	for (i = 0; i < recording->nr_totals; i++)
		users->overwrote |= recording->totals[i].overwritten != 0;
}

int tb_users_finish(struct tb_trace *trace, struct tb_recording *recording)
{
	struct tb_users *users = recording->users;
	size_t i;

	if (!users)
		return 0;
	note_overwrites(recording, users);
	sort_all(users);
	if (make_sequences(trace, users))
		return -ENOMEM;
	sort_all(users);
	drop_patches(users);
	set_ranges(users);
	for (i = 0; i < users->nr_sequences; i++)
		if (count_sequence(trace, users, &users->sequences[i]))
			return -ENOMEM;
	tb_names_sort(users);
	return 0;
}

const struct tb_user_writer *tb_trace_user_writer(const struct tb_trace *trace,
						  unsigned int index)
{
	const struct tb_users *users = trace->selected->users;

	return users && index < users->nr_sequences ?
	       &users->sequences[index].accounting : NULL;
}

uint64_t tb_trace_user_malformed(const struct tb_trace *trace)
{
	return trace->selected->users ? trace->selected->users->malformed : 0;
}
