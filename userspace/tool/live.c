// SPDX-License-Identifier: GPL-2.0-only
/*
 * The running recorder: opening the device, reading the books, showing them.
 */
#include <inttypes.h>
#include <string.h>
#include "tool.h"

struct tb_device *open_device(const char *path, unsigned int flags)
{
	struct tb_device *device;
	struct tb_error error;

	if (tb_device_open(path, flags, &device, &error) < 0) {
		complain("%s", error.text);
		return NULL;
	}
	return device;
}

int read_stats(struct tb_device *device, unsigned int nr_cpus,
	       struct tb_stats *each, struct tb_stats *sum)
{
	struct tb_stats stats;
	unsigned int cpu;
	int result;

	memset(sum, 0, sizeof(*sum));
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		result = tb_device_stats(device, cpu, &stats);
		if (result < 0)
			return result;
		if (each)
			each[cpu] = stats;
		sum->attempted += stats.attempted;
		sum->recorded += stats.recorded;
		sum->delivered += stats.delivered;
		sum->overwritten += stats.overwritten;
		sum->dropped += stats.dropped;
		sum->oversize += stats.oversize;
		sum->pending += stats.pending;
		sum->bytes += stats.bytes;
		sum->blocks += stats.blocks;
		sum->marks += stats.marks;
		sum->retries += stats.retries;
		sum->ready += stats.ready;
		sum->held += stats.held;
	}
	return 0;
}

static void table_row(FILE *out, const char *name,
		      const struct tb_stats *stats, bool full)
{
	fprintf(out, "%5s %12" PRIu64 " %12" PRIu64 " %12" PRIu64
		" %10" PRIu64 " %14" PRIu64, name, (uint64_t)stats->recorded,
		(uint64_t)stats->delivered, (uint64_t)stats->overwritten,
		(uint64_t)stats->dropped, (uint64_t)stats->bytes);
	if (full)
		fprintf(out, " %10" PRIu64 " %8" PRIu64 " %6u %5u %8" PRIu64
			" %8" PRIu64, (uint64_t)stats->pending,
			(uint64_t)stats->blocks, stats->ready, stats->held,
			(uint64_t)stats->marks, (uint64_t)stats->retries);
	fputc('\n', out);
}

void print_table(FILE *out, const struct tb_stats *each, unsigned int nr_cpus,
		 const struct tb_stats *sum, bool full)
{
	unsigned int cpu;
	char name[16];

	fprintf(out, "%5s %12s %12s %12s %10s %14s", "CPU", "recorded",
		"delivered", "overwritten", "dropped", "bytes");
	if (full)
		fprintf(out, " %10s %8s %6s %5s %8s %8s", "pending", "blocks",
			"ready", "held", "marks", "retries");
	fputc('\n', out);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		snprintf(name, sizeof(name), "%u", cpu);
		table_row(out, name, &each[cpu], full);
	}
	table_row(out, "all", sum, full);
}

void warn_lost(const struct tb_stats *sum)
{
	uint64_t lost = sum->overwritten + sum->dropped;

	if (!lost)
		return;
	note("warning: %" PRIu64 " of %" PRIu64 " events were lost (%.2f %%: %"
	     PRIu64 " overwritten, %" PRIu64 " dropped); more buffers (-b) or fewer events (-e) help",
	     lost, (uint64_t)sum->attempted,
	     100.0 * (double)lost / (double)(sum->attempted ? sum->attempted : 1),
	     (uint64_t)sum->overwritten, (uint64_t)sum->dropped);
	if (sum->oversize)
		note("%" PRIu64 " of the dropped were larger than a buffer holds; larger buffers (-B) help",
		     (uint64_t)sum->oversize);
}
