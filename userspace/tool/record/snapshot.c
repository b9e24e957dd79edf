// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a snapshot of a running circular recording into a file; see snapshot.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "output_file.h"
#include "snapshot.h"
#include "tool/command/command.h"
#include "tool/command/signals.h"

int snapshot_possible(const struct tb_query *query)
{
	if (query->state == TB_STATE_IDLE)
		return complain("no recording runs: 'tracebuf start -m circular' starts one");
	if (query->state == TB_STATE_STOPPED)
		return complain("the recording has stopped: 'tracebuf save' writes what is in the buffers");
	if (query->mode != TB_MODE_CIRCULAR)
		return complain("the recording is in %s mode, and snapshots need circular mode ('tracebuf start -m circular'): 'tracebuf save --stop' stops this recording and writes what is in the buffers",
				tb_mode_name(query->mode));
	return EXIT_FINE;
}

/* The snapshot has no events: complain, unless none have been recorded */
static int explain_empty(struct tb_device *device,
			 const struct tb_query *query, const char *name)
{
	uint64_t recorded = 0, dropped = 0;
	struct tb_stats stats;
	uint32_t cpu;

	for (cpu = 0; cpu < query->nr_cpus; cpu++) {
		if (tb_device_stats(device, cpu, &stats) < 0)
			continue;
		recorded += stats.recorded;
		dropped += stats.dropped;
	}
	if (!recorded && !dropped) {
		note("nothing has been recorded yet: no events are in %s", name);
		return EXIT_FINE;
	}
	return complain("%s has no events, although %" PRIu64 " were recorded (and %" PRIu64 " dropped): every block was overwritten before the snapshot could read it; more or larger buffers help ('tracebuf start -b')",
			name, recorded, dropped);
}

static int write_blocks(void *context, const void *blocks, size_t bytes)
{
	return output_file_blocks(context, blocks, bytes);
}

static int snapshot_write(struct tb_device *device,
			  const struct tb_query *query, const char *output)
{
	struct output_file out;
	int result;

	/* after opening: Ctrl-C must interrupt open() while a FIFO has no reader */
	if (output_file_open(&out, output) || signals_hold())
		return EXIT_WRONG;
	result = tb_device_snapshot(device, write_blocks, &out);
	if (output_file_close(&out))
		return EXIT_WRONG;
	if (result == -EBUSY)
		return complain("another program is reading the buffers");
	if (result == -EINVAL)
		return complain("the recording has just stopped: 'tracebuf save' writes what is in the buffers");
	if (result == -ETIMEDOUT)
		complain("a block stayed incomplete for seconds: it and the blocks after it are missing in %s",
			 out.name);
	else if (result < 0)
		return complain("cannot read the buffers: %s", strerror(-result));
	note("%s: %.2f MB", out.name, (double)out.bytes / 1e6);
	if (result >= 0 && !out.rolling)
		return explain_empty(device, query, out.name);
	return result < 0 ? EXIT_WRONG : EXIT_FINE;
}

int take_snapshot(struct tb_device *device, const char *output)
{
	struct tb_query query;
	int result;

	result = tb_device_query(device, &query);
	if (result < 0)
		return complain("cannot read the state: %s", strerror(-result));
	result = snapshot_possible(&query);
	if (result)
		return result;
	return snapshot_write(device, &query, output);
}

void stamped_name(char *name)
{
	time_t now = time(NULL);
	unsigned int number;
	struct tm tm;
	size_t used;

	localtime_r(&now, &tm);
	used = strftime(name, STAMPED_NAME, "snapshot-%Y%m%d-%H%M%S", &tm);
	strcpy(name + used, ".tbuf");
	for (number = 2; !access(name, F_OK) && number < 10000; number++)
		snprintf(name + used, STAMPED_NAME - used, "-%u.tbuf", number);
}
