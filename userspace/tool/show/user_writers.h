/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which slices of programs are open, for formats in which an end ends the innermost slice of
 * a track, whichever was meant: so ends without a beginning are left out, and where records
 * are missing all that is open ends, because nobody knows whether it still is.
 *
 * Slices in one record may overlap with any other.  They are drawn elsewhere: each in a lane in which
 * there is nothing at that time.
 */
#ifndef TRACEBUF_USER_WRITERS_H
#define TRACEBUF_USER_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "slots.h"
#include "tracebuf.h"

/* Slices in slices: deeper ones are shown as events */
#define SLICE_DEPTH_MAX 512

/* Lanes of a writer: beyond, slices in one record are events */
#define USER_LANES_MAX	256

/* user_writer_lane(): the end of a slice whose end nobody told */
#define USER_LANE_OPEN	UINT64_MAX

/**
 * struct user_writer - one that draws on a track
 * @track: the exporter's: where it draws while anything is open
 * @lanes: until when each of @nr_lanes is taken
 * @depth: how many slices are open, those in one record not counted
 * @beyond: begun, but deeper than SLICE_DEPTH_MAX
 */
struct user_writer {
	uint64_t track;
	uint64_t *lanes;
	uint32_t nr_lanes;
	uint32_t depth;
	uint32_t beyond;
};

/**
 * struct user_writers - all of them; zero: none
 * @slots: struct user_writer, by number
 * @unmatched: ends without a beginning
 * @deep: slices that are too deep
 * @many: slices in one record for which there is no lane
 */
struct user_writers {
	struct slots slots;
	uint64_t unmatched, deep, many;
};

void user_writers_free(struct user_writers *writers);

/* On standard error: what could not be shown as it is, as struct user_writers counts it */
void user_slices_say(uint64_t unmatched, uint64_t deep, uint64_t many);

/* The writer of @record, in the list under @record->writer; NULL: ENOMEM */
struct user_writer *user_writer_of(struct user_writers *writers,
				   const struct tb_user *record);

/* Has it anything open, so that it must stay where it draws? */
static inline bool user_writer_draws(const struct user_writer *writer)
{
	return writer->depth;
}

/* Such a slice begins; false: too deep */
bool user_writer_open(struct user_writers *writers, struct user_writer *writer);

/* An end: false: of nothing that is drawn */
bool user_writer_end(struct user_writers *writers, struct user_writer *writer);

/* A lane for a slice in one record, from 0; -1: there are too many; -ENOMEM */
int user_writer_lane(struct user_writers *writers, struct user_writer *writer, uint64_t ns,
		     uint64_t end_ns);

/* The next lane from @lane on with a slice whose end nobody told; it ends.  -1: none */
int user_writer_lane_open(struct user_writer *writer, uint32_t lane, uint64_t ns);

/* How many end where records are missing */
uint32_t user_writer_lost(struct user_writer *writer);

/* "no chunk was free, unknown cause" of TB_LOST_*; "" if none */
void lost_causes(uint32_t cause, char *text, size_t size);

#endif /* TRACEBUF_USER_WRITERS_H */
