/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open slices of programs, for formats in which an end closes the innermost slice of a track,
 * whatever it means.  So ends without a beginning are left out, and a loss of records ends all open
 * slices of the writer, because their own ends may be lost.
 *
 * Slices in one record can overlap any other.  Each is drawn in a lane that is free at its time.
 */
#ifndef TRACEBUF_USER_WRITERS_H
#define TRACEBUF_USER_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "slots.h"
#include "tracebuf.h"

/* Nested slices: deeper ones are shown as events */
#define SLICE_DEPTH_MAX 512

/* Lanes of a writer: without a free lane, slices in one record are shown as events */
#define USER_LANES_MAX	256

/* user_writer_lane(): the end of a slice without a known end */
#define USER_LANE_OPEN	UINT64_MAX

/**
 * struct user_writer - a writer that draws on a track
 * @track: set by the exporter: the track while slices are open
 * @lanes: for each of @nr_lanes: the end of the last slice in it
 * @depth: number of open slices, without those in one record
 * @beyond: number of open slices deeper than SLICE_DEPTH_MAX
 */
struct user_writer {
	uint64_t track;
	uint64_t *lanes;
	uint32_t nr_lanes;
	uint32_t depth;
	uint32_t beyond;
};

/**
 * struct user_writers - all writers; initialise with zeros
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

/* Report the counts of struct user_writers on standard error */
void user_slices_note(uint64_t unmatched, uint64_t deep, uint64_t many);

/* Find or add the writer of @record, number @record->writer; NULL: ENOMEM */
struct user_writer *user_writer_of(struct user_writers *writers,
				   const struct tb_user *record);

/* True if the writer has open slices, so that it must stay on its track */
static inline bool user_writer_draws(const struct user_writer *writer)
{
	return writer->depth;
}

/* A slice begins; false: too deep */
bool user_writer_open(struct user_writers *writers, struct user_writer *writer);

/* A slice ends; false: it has no beginning, or was too deep, so write no end */
bool user_writer_end(struct user_writers *writers, struct user_writer *writer);

/* Take a lane, from 0, for a slice in one record; -1: all are taken; -ENOMEM */
int user_writer_lane(struct user_writers *writers, struct user_writer *writer, uint64_t ns,
		     uint64_t end_ns);

/* End the slice without a known end in the next lane from @lane on; return the lane; -1: none */
int user_writer_lane_open(struct user_writer *writer, uint32_t lane, uint64_t ns);

/* End all open slices at a loss; return their number, without those in one record */
uint32_t user_writer_lost(struct user_writer *writer);

/* Write the names of causes TB_LOST_*: "no chunk was free, unknown cause"; "" if there are none */
void lost_causes(uint32_t cause, char *text, size_t size);

#endif /* TRACEBUF_USER_WRITERS_H */
