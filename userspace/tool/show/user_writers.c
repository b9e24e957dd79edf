// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open slices of programs; see user_writers.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "user_writers.h"
#include "lib/array.h"

static void free_writer(void *at)
{
	struct user_writer *writer = at;

	free(writer->lanes);
	free(writer);
}

void user_writers_free(struct user_writers *writers)
{
	slots_free(&writers->slots, free_writer);
	memset(writers, 0, sizeof(*writers));
}

void user_slices_note(uint64_t unmatched, uint64_t deep, uint64_t many)
{
	if (unmatched)
		fprintf(stderr, "%" PRIu64 " ends of slices had no beginning: left out\n",
			unmatched);
	if (deep)
		fprintf(stderr, "%" PRIu64 " slices were nested in more than %d others: exported as events without ends\n",
			deep, SLICE_DEPTH_MAX);
	if (many)
		fprintf(stderr, "%" PRIu64 " slices overlapped %d others of their writer: exported as events without ends\n",
			many, USER_LANES_MAX);
}

struct user_writer *user_writer_of(struct user_writers *writers,
				   const struct tb_user *record)
{
	return slots_get(&writers->slots, record->writer,
			   sizeof(struct user_writer));
}

bool user_writer_open(struct user_writers *writers, struct user_writer *writer)
{
	if (writer->depth == SLICE_DEPTH_MAX) {
		writer->beyond++;
		writers->deep++;
		return false;
	}
	writer->depth++;
	return true;
}

bool user_writer_end(struct user_writers *writers, struct user_writer *writer)
{
	if (writer->beyond) {
		writer->beyond--;
		return false;
	}
	if (!writer->depth) {
		writers->unmatched++;
		return false;
	}
	writer->depth--;
	return true;
}

int user_writer_lane(struct user_writers *writers, struct user_writer *writer, uint64_t ns,
		     uint64_t end_ns)
{
	uint32_t lane = 0;

	while (lane < writer->nr_lanes && writer->lanes[lane] > ns)
		lane++;
	if (lane == USER_LANES_MAX) {
		writers->many++;
		return -1;
	}
	if (tb_array_reach(&writer->lanes, &writer->nr_lanes, lane, sizeof(*writer->lanes)))
		return -ENOMEM;
	writer->lanes[lane] = end_ns;
	return (int)lane;
}

int user_writer_lane_open(struct user_writer *writer, uint32_t lane, uint64_t ns)
{
	for (; lane < writer->nr_lanes; lane++) {
		if (writer->lanes[lane] == USER_LANE_OPEN) {
			writer->lanes[lane] = ns;
			return (int)lane;
		}
	}
	return -1;
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
