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
#include "output_file.h"

struct record_cgroup {
	struct perf_event_header header;
	uint64_t id;
	char path[];
};

static void take_record(const struct perf_event_header *header, uint64_t time, uint64_t before,
			void *context)
{
	const struct record_cgroup *cgroup = (const void *)header;
	struct output_file *out = context;

	if (header->type == PERF_RECORD_CGROUP)
		cgroups_name(&out->cgroups, (uint32_t)cgroup->id, cgroup->path);
	else if (out->mappings)
		mappings_record(out->mappings, header, time, before);
}

int output_file_perf_open(struct output_file *out, bool mappings)
{
	int result = perf_records_open(&out->perf, mappings, take_record, out);

	if (mappings)
		out->mappings = mappings_open();
	if (mappings && !out->mappings)
		return -ENOMEM;
	if (mappings && result)
		mappings_unfollowed(out->mappings);
	return result;
}

void output_file_perf_step(struct output_file *out)
{
	perf_records_step(out->perf);
	if (out->mappings)
		mappings_records_done(out->mappings);
}
