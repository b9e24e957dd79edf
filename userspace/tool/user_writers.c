// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which slices of programs are open.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "user_writers.h"

void user_writers_free(struct user_writers *writers)
{
	export_slots_free(&writers->slots, free);
	memset(writers, 0, sizeof(*writers));
}

void user_slices_say(uint64_t unmatched, uint64_t deep)
{
	if (unmatched)
		fprintf(stderr, "%" PRIu64 " ends of slices had no beginning: left out\n",
			unmatched);
	if (deep)
		fprintf(stderr, "%" PRIu64 " slices were in more than %d others: they are events, without their ends\n",
			deep, EXPORT_DEPTH_MAX);
}

struct user_writer *user_writer_of(struct user_writers *writers,
				   const struct tb_user *record)
{
	return export_slot(&writers->slots, record->writer,
			   sizeof(struct user_writer));
}

bool user_writer_open(struct user_writers *writers, struct user_writer *writer,
		      const struct tb_user *record)
{
	if (writer->depth == EXPORT_DEPTH_MAX) {
		writer->beyond += record->type == TB_REC_BEGIN;
		writers->deep++;
		return false;
	}
	writer->open[writer->depth++] = record->type == TB_REC_BEGIN;
	return true;
}

void user_writer_until(struct user_writer *writer, uint64_t ns)
{
	if (ns > writer->until)
		writer->until = ns;
}

uint32_t user_writer_end(struct user_writers *writers,
			 struct user_writer *writer)
{
	uint32_t to = writer->depth, ended;

	if (writer->beyond) {
		writer->beyond--;
		return 0;
	}
	while (to && !writer->open[to - 1])
		to--;
	if (!to) {
		writers->unmatched++;
		return 0;
	}
	ended = writer->depth - (to - 1);
	writer->depth = to - 1;
	return ended;
}

uint32_t user_writer_lost(struct user_writer *writer)
{
	uint32_t ended = writer->depth;

	writer->depth = writer->beyond = 0;
	return ended;
}

void lost_causes(uint32_t cause, char *text, size_t size)
{
	unsigned int bit;
	size_t used = 0;

	*text = 0;
	for (bit = 0; bit < 32 && used < size; bit++)
		if (cause & 1u << bit)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 used ? ", " : "",
						 tb_lost_cause_name(bit));
}
