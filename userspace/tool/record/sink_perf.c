// SPDX-License-Identifier: GPL-2.0-only
/*
 * Process perf's records while blocks go into a file: new cgroups, and mappings of code.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include "cgroups.h"
#include "mappings.h"
#include "perf_records.h"
#include "sink.h"

struct record_cgroup {
	struct perf_event_header header;
	uint64_t id;
	char path[];
};

static void take_record(const struct perf_event_header *header, uint64_t time, uint64_t before,
			void *context)
{
	const struct record_cgroup *cgroup = (const void *)header;
	struct sink *sink = context;

	if (header->type == PERF_RECORD_CGROUP)
		cgroups_name(&sink->cgroups, (uint32_t)cgroup->id, cgroup->path);
	else if (sink->mappings)
		mappings_record(sink->mappings, header, time, before);
}

int sink_perf_open(struct sink *sink, bool mappings)
{
	int result = perf_records_open(&sink->perf, mappings, take_record, sink);

	if (mappings)
		sink->mappings = mappings_open();
	if (mappings && !sink->mappings)
		return -ENOMEM;
	if (mappings && result)
		mappings_unfollowed(sink->mappings);
	return result;
}

void sink_perf_step(struct sink *sink)
{
	perf_records_step(sink->perf);
	if (sink->mappings)
		mappings_records_done(sink->mappings);
}
