// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read a sequence: the records of one writer, one after another, as a stream of the cursor.
 *
 * Times are what the program says.  A record can be neither earlier than the record before it, nor
 * later than the time at which the kernel took its piece.  If its time says otherwise, the record
 * keeps its place and is shown at the nearest possible time.  So a program cannot put other
 * events out of order.
 *
 * The reader decodes the head of a record when it gets there, to know its time, and the rest when
 * the cursor shows it.
 */
#include "user.h"

/* A record's time may exceed the kernel's by this, because the two read their clocks in turn */
#define SLACK_MS 1

void tb_reader_start(struct tb_reader *reader, const struct tb_trace *trace,
		     const struct tb_recording *recording,
		     const struct tb_sequence *sequence)
{
	memset(reader, 0, sizeof(*reader));
	reader->trace = trace;
	reader->recording = recording;
	reader->sequence = sequence;
}

static const struct tb_piece *current(const struct tb_reader *reader)
{
	return tb_sequence_piece(reader->recording->users, reader->sequence, reader->piece);
}

/* ---- time ---- */

enum way { WAY_SAME, WAY_MONOTONIC, WAY_NONE };

/* How times of this piece are converted to times of the trace */
static enum way way_of(const struct tb_reader *reader,
		       const struct tb_piece *piece)
{
	const struct tb_recording *recording = reader->recording;
	uint32_t clock = piece->flags & TB_CHUNK_CLOCK_MASK;

	if (clock == TB_CLOCK_AUTO || !recording->has_init ||
	    clock == recording->init.clock)
		return WAY_SAME;
	return clock == TB_CLOCK_MONO ? WAY_MONOTONIC : WAY_NONE;
}

static uint64_t to_ticks(const struct tb_reader *reader,
			 const struct tb_piece *piece, uint64_t time)
{
	return way_of(reader, piece) == WAY_MONOTONIC ?
	       tb_clock_ticks(reader->recording, time) : time;
}

/* Ticks at which the record is shown; sets TB_USER_* in @flags if its time is wrong */
static uint64_t time_of(const struct tb_reader *reader,
			const struct tb_piece *piece, uint64_t time,
			uint32_t *flags)
{
	const struct tb_recording *recording = reader->recording;
	uint64_t slack = 0, ticks = piece->ticks;

	if (way_of(reader, piece) == WAY_NONE) {
		*flags |= TB_USER_NO_TIME;
	} else {
		ticks = to_ticks(reader, piece, time);
		if (recording->has_init)
			slack = recording->init.frequency / 1000 * SLACK_MS;
		if (ticks > piece->ticks && ticks - piece->ticks > slack) {
			ticks = piece->ticks;
			*flags |= TB_USER_CLAMPED;
		}
	}
	if (ticks < reader->last) {
		ticks = reader->last;
		*flags |= TB_USER_CLAMPED;
	}
	return ticks;
}

/* ---- reading ---- */

/* The next record of the piece that cursors show; NULL: none */
static const struct tb_record *next_record(struct tb_reader *reader,
					   const struct tb_piece *piece)
{
	const struct tb_record *record;

	while (reader->taken < piece->records) {
		record = tb_record_at(reader->data, piece->bytes, reader->at, &reader->head);
		if (!record)
			return NULL;
		reader->at += reader->head.bytes;
		reader->taken++;
		if (tb_record_shows(&reader->head))
			return record;
	}
	return NULL;
}

static uint64_t record_ticks(struct tb_reader *reader,
			     const struct tb_piece *piece)
{
	reader->flags = 0;
	return time_of(reader, piece, reader->head.time, &reader->flags);
}

static void begin_loss(struct tb_reader *reader, uint64_t ticks)
{
	reader->kind = TB_VIEW_USER_LOST;
	reader->since = reader->last ? reader->last : ticks;
	reader->last = ticks;
	/* open slices may have ended in the loss */
	reader->depth = 0;
}

/*
 * begin_piece() makes a loss before the piece pending, at the time of its first record; end_piece()
 * makes a loss at its end pending.
 */
static bool begin_piece(struct tb_reader *reader, uint64_t *ticks)
{
	const struct tb_piece *piece = current(reader);
	const struct tb_record *record;

	reader->data = (const unsigned char *)(tb_piece_event(reader->trace, piece) + 1);
	reader->at = 0;
	reader->taken = 0;
	if (!tb_numbers_piece(&reader->numbers, reader->recording->users, piece,
			      &reader->missing))
		return false;
	record = next_record(reader, piece);
	*ticks = record ? record_ticks(reader, piece) :
		 piece->ticks > reader->last ? piece->ticks : reader->last;
	reader->flags = reader->missing.at_most ? TB_USER_AT_MOST : 0;
	reader->at = 0;
	reader->taken = 0;
	begin_loss(reader, *ticks);
	return true;
}

static bool end_piece(struct tb_reader *reader, uint64_t *ticks)
{
	const struct tb_piece *piece = current(reader);

	reader->data = NULL;
	reader->piece++;
	if (reader->taken == piece->records)
		return false;
	memset(&reader->missing, 0, sizeof(reader->missing));
	reader->missing.records = piece->records - reader->taken;
	reader->missing.cause = TB_LOST_DAMAGED;
	reader->flags = 0;
	*ticks = piece->ticks > reader->last ? piece->ticks : reader->last;
	begin_loss(reader, *ticks);
	return true;
}

bool tb_reader_next(struct tb_reader *reader, uint64_t *ticks)
{
	const struct tb_piece *piece;
	const struct tb_record *record;

	for (;;) {
		if (!reader->data) {
			if (reader->piece == reader->sequence->nr_pieces)
				return false;
			if (begin_piece(reader, ticks))
				return true;
		}
		piece = current(reader);
		record = next_record(reader, piece);
		if (record) {
			*ticks = record_ticks(reader, piece);
			reader->last = *ticks;
			reader->kind = TB_VIEW_USER;
			reader->record = record;
			return true;
		}
		if (end_piece(reader, ticks))
			return true;
	}
}

/* ---- showing ---- */

/* A copy of the record with the patches of its words, but never of its head, applied */
static const struct tb_record *patched(const struct tb_reader *reader,
				       const struct tb_piece *piece,
				       struct tb_user_room *room)
{
	const struct tb_users *users = reader->recording->users;
	const struct tb_hole *holes;
	size_t low = 0, high = reader->sequence->nr_holes;
	const struct tb_record *record = reader->record;
	uint32_t start, end;

	memcpy(room->copy, record, reader->head.bytes);
	memcpy(room->copy, &reader->head, sizeof(reader->head));
	if (!high)
		return (const struct tb_record *)room->copy;
	holes = tb_sequence_holes(users, reader->sequence);
	start = piece->offset + (uint32_t)((const unsigned char *)record -
					   reader->data);
	end = start + reader->head.bytes;
	start += sizeof(*record);
	BISECT(low, high, i, holes[i].chunk < piece->chunk ||
	       (holes[i].chunk == piece->chunk && holes[i].offset < start));
	for (; low < high && holes[low].chunk == piece->chunk && holes[low].offset < end; low++)
		room->copy[(sizeof(*record) + holes[low].offset - start) / 8] =
			holes[low].value;
	return (const struct tb_record *)room->copy;
}

/* Track slices that begin and end, so that an end gets the name of its beginning */
static uint32_t track_slices(struct tb_reader *reader, struct tb_record *record,
			     uint32_t *flags)
{
	uint32_t depth = reader->depth;

	if (record->type == TB_REC_BEGIN) {
		if (depth < TB_READER_DEPTH)
			reader->stack[depth] = record->id;
		reader->depth += depth < UINT32_MAX;
	} else if (record->type == TB_REC_END) {
		if (!depth) {
			*flags |= TB_USER_UNMATCHED;
		} else {
			depth = --reader->depth;
			record->id = depth < TB_READER_DEPTH ?
				     reader->stack[depth] : 0;
		}
	}
	return depth;
}

static void view_slice(const struct tb_reader *reader,
		       const struct tb_piece *piece, uint64_t time,
		       uint64_t ticks, struct tb_user *user)
{
	uint64_t end = time + user->duration, most;

	if (user->flags & TB_USER_OPEN)
		return;
	if (way_of(reader, piece) == WAY_NONE) {
		user->duration = 0;
		user->flags |= TB_USER_OPEN;
		return;
	}
	end = end < time ? UINT64_MAX : to_ticks(reader, piece, end);
	most = reader->recording->users->end;
	/* the kernel took the piece after @end if its block is still open */
	if (!most)
		most = UINT64_MAX;
	else if (most < piece->ticks)
		most = piece->ticks;
	if (most < ticks)
		most = ticks;
	if (end > most || end < ticks) {
		user->flags |= TB_USER_CLAMPED;
		end = end > most ? most : ticks;
	}
	user->duration = end - ticks;
	user->duration_ns = tb_trace_ns(reader->trace, end, TB_TIME_MONOTONIC) -
			    tb_trace_ns(reader->trace, ticks, TB_TIME_MONOTONIC);
}

static void view_record(struct tb_reader *reader, const struct tb_piece *piece,
			uint64_t ticks, struct tb_user_room *room)
{
	uint32_t producer = reader->sequence->accounting.producer, depth;
	const struct tb_record *record = patched(reader, piece, room);
	uint32_t flags = reader->flags;
	struct tb_record head = reader->head;

	depth = track_slices(reader, &head, &flags);
	tb_record_decode(reader->recording->users, producer, record, head.id,
			 room);
	room->user.flags |= flags;
	room->user.depth = depth;
	if (head.type == TB_REC_SLICE)
		view_slice(reader, piece, head.time, ticks, &room->user);
}

static void view_missing(const struct tb_reader *reader,
			 struct tb_user_room *room)
{
	struct tb_user *user = &room->user;

	memset(user, 0, sizeof(*user));
	user->name = "";
	user->category = "-";
	user->producer = reader->sequence->accounting.producer;
	user->flags = reader->flags;
	user->lost = reader->missing.records;
	user->cause = reader->missing.cause;
}

void tb_reader_view(struct tb_reader *reader, uint64_t ticks,
		    struct tb_user_room *room, struct tb_view *view)
{
	const struct tb_users *users = reader->recording->users;
	const struct tb_chunk_event *chunk;
	const struct tb_piece *piece;
	struct tb_user *user = &room->user;

	/* end_piece() has moved on before its loss is shown */
	piece = reader->data ? current(reader) : current(reader) - 1;
	chunk = tb_piece_event(reader->trace, piece);
	if (reader->kind == TB_VIEW_USER)
		view_record(reader, piece, ticks, room);
	else
		view_missing(reader, room);
	user->writer = (uint32_t)(reader->sequence - users->sequences);
	user->writer_id = chunk->writer;
	user->pid = chunk->pid;
	user->tid = chunk->tid;
	user->uid = chunk->uid;

	memset(view, 0, sizeof(*view));
	view->kind = reader->kind;
	view->cpu = TB_RING_USER;
	view->tid = user->tid ? user->tid : user->pid;
	view->id = TB_EV_CHUNK;
	view->structure = TB_STRUCT_COMPOSITE;
	view->offset = tb_piece_where(reader->trace, piece);
	view->user = user;
	if (reader->kind == TB_VIEW_USER) {
		view->length = reader->head.bytes;
		view->payload = reader->record;
		view->offset += (uint64_t)((const unsigned char *)reader->record -
					   (const unsigned char *)chunk);
		view->sequence = piece->first + reader->taken - 1;
	} else {
		view->offset -= sizeof(struct tb_composite);
		view->lost.dropped = reader->missing.records;
		view->lost.first = reader->since;
		view->lost.last = ticks;
		view->sequence = piece->first;
	}
}
