/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which slices of programs are open, for formats in which an end ends the innermost slice of
 * a track, whichever was meant: so ends without a beginning are left out, an end also ends
 * slices in one record whose end nobody told, and where records are missing all that is open
 * ends, because nobody knows whether it still is.
 */
#ifndef TRACEBUF_USER_WRITERS_H
#define TRACEBUF_USER_WRITERS_H

#include <stdbool.h>
#include "export_common.h"

/**
 * struct user_writer - one that draws on a track
 * @track: the exporter's: where it draws while anything is open
 * @until: slices in one record end here
 * @depth: how many slices are open
 * @beyond: begun, but deeper than EXPORT_DEPTH_MAX
 * @open: which of them began with a record of their own
 */
struct user_writer {
	uint64_t track;
	uint64_t until;
	uint32_t depth;
	uint32_t beyond;
	bool     open[EXPORT_DEPTH_MAX];
};

/**
 * struct user_writers - all of them; zero: none
 * @slots: struct user_writer, by number
 * @unmatched: ends without a beginning
 * @deep: slices that are too deep
 */
struct user_writers {
	struct export_slots slots;
	uint64_t unmatched, deep;
};

void user_writers_free(struct user_writers *writers);

/* On standard error: what could not be shown as it is, as struct user_writers counts it */
void user_slices_say(uint64_t unmatched, uint64_t deep);

/* The writer of @record, in the list under @record->writer; NULL: ENOMEM */
struct user_writer *user_writer_of(struct user_writers *writers,
				   const struct tb_user *record);

/* Has it anything open at @ns, so that it must stay where it draws? */
static inline bool user_writer_draws(const struct user_writer *writer,
				     uint64_t ns)
{
	return writer->depth || writer->until > ns;
}

/* Does the slice begin, and end with another record or nobody knows when? */
static inline bool user_slice_is_open(const struct tb_user *record)
{
	return record->type == TB_REC_BEGIN || record->flags & TB_USER_OPEN;
}

/* Such a slice begins; false: too deep */
bool user_writer_open(struct user_writers *writers, struct user_writer *writer,
		      const struct tb_user *record);

/* One that is a record by itself, until @ns */
void user_writer_until(struct user_writer *writer, uint64_t ns);

/* How many end with an end */
uint32_t user_writer_end(struct user_writers *writers,
			 struct user_writer *writer);

/* How many end where records are missing */
uint32_t user_writer_lost(struct user_writer *writer);

/* "no chunk was free, unknown cause" of TB_LOST_*; "" if none */
void lost_causes(uint32_t cause, char *text, size_t size);

#endif /* TRACEBUF_USER_WRITERS_H */
