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
	size_t i;

	for (i = 0; i < writers->count; i++)
		free(writers->list[i]);
	free(writers->list);
	memset(writers, 0, sizeof(*writers));
}

void user_writers_say(const struct user_writers *writers)
{
	if (writers->unmatched)
		fprintf(stderr, "%" PRIu64 " ends of slices had no beginning: left out\n",
			writers->unmatched);
	if (writers->deep)
		fprintf(stderr, "%" PRIu64 " slices were in more than %d others: they are events, without their ends\n",
			writers->deep, USER_DEPTH_MAX);
}

struct user_writer *user_writer_of(struct user_writers *writers,
				   const struct tb_user *record)
{
	struct user_writer **grown;
	size_t room;

	if (record->writer >= writers->count) {
		room = (size_t)record->writer * 2 + 16;
		grown = realloc(writers->list, room * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + writers->count, 0,
		       (room - writers->count) * sizeof(*grown));
		writers->list = grown;
		writers->count = room;
	}
	if (!writers->list[record->writer])
		writers->list[record->writer] =
			calloc(1, sizeof(struct user_writer));
	return writers->list[record->writer];
}

bool user_writer_open(struct user_writers *writers, struct user_writer *writer,
		      const struct tb_user *record)
{
	if (writer->depth == USER_DEPTH_MAX) {
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
