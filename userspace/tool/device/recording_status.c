// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open the device for a provider; show the provider's state and counts; explain why a
 * recording does not start or has stopped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "device.h"
#include "tool/command/command.h"

const char *provider_names(struct tb_device *device, char *text, size_t size)
{
	struct tb_provider_info info;
	unsigned int i, used = 0;

	text[0] = 0;
	for (i = 0; !tb_device_provider(device, i, &info) && used < size; i++)
		used += (unsigned int)snprintf(text + used, size - used, "%s%s",
					       i ? ", " : "", info.name);
	return text;
}

bool is_previous(struct tb_device *device, const char *name)
{
	struct tb_provider_info info;
	unsigned int i;

	for (i = 0; !tb_device_provider(device, i, &info); i++)
		if (!strcmp(info.name, name))
			return info.flags & TB_PROVIDER_PREVIOUS;
	return false;
}

struct tb_device *open_device(const char *provider, unsigned int flags)
{
	struct tb_device *device;
	struct tb_error error;
	char names[1024];
	int result;

	if (tb_device_open(NULL, flags, &device, &error) < 0) {
		complain("%s", error.text);
		return NULL;
	}
	result = provider ? tb_device_attach(device, provider) : 0;
	if (!result)
		return device;
	if (result == -ENOENT || result == -EINVAL)
		complain("there is no provider '%s'; existing: %s ('tracebuf provider create' makes one)",
			 provider, provider_names(device, names, sizeof(names)));
	else
		complain("provider '%s': %s", provider, strerror(-result));
	tb_device_close(device);
	return NULL;
}

const char *stop_command(struct tb_device *device, char text[64])
{
	struct tb_query query;

	if (tb_device_query(device, &query) < 0 || !query.provider)
		return "tracebuf stop";
	snprintf(text, 64, "tracebuf stop -p %s", query.name);
	return text;
}

int recording_already(struct tb_device *device)
{
	struct tb_query query;
	char stop[64];

	if (tb_device_query(device, &query) < 0)
		query = (struct tb_query){ .name = "kernel" };
	return complain("'%s' is recording already%s: to record beside it, create a provider ('tracebuf provider create NAME', then -p NAME); if the running recording is yours and you do not need it, '%s' stops it",
			query.name, query.reader ? ", and a program reads it" : "",
			stop_command(device, stop));
}

int start_failed(struct tb_device *device, int result)
{
	struct tb_query query;

	switch (-result) {
	case EBUSY:
		if (!tb_device_query(device, &query) &&
		    query.state == TB_STATE_RUNNING)
			return recording_already(device);
		return complain("another program still holds buffers of the last recording: end it first");
	case ENOSPC:
		return complain("the durable buffer is too small for the list of all threads: make it larger (--durable, --durable-max), or leave out the list (--no-state)");
	case ENOMEM:
		return complain("the kernel does not have the memory for the buffers; its log has details");
	case EPERM:
	case EACCES:
		return complain("recording kernel events needs root or the capability CAP_PERFMON (or CAP_SYS_ADMIN)");
	}
	return complain("cannot start: %s", strerror(-result));
}

/* ---- state ---- */

static const char *stop_reason(const struct tb_query *query)
{
	return query->reason > TB_REASON_REQUEST ? tb_reason_name(query->reason) : "";
}

void show_query(const struct tb_query *query)
{
	printf("provider   %s, id %u\n", query->name, query->provider);
	printf("state      %s%s%s, recording %" PRIu64 "%s\n",
	       tb_state_name(query->state), *stop_reason(query) ? ": " : "", stop_reason(query),
	       (uint64_t)query->generation,
	       query->reader ? ", a reader is attached" : "");
	if (query->map_bytes) {
		printf("mode       %s, policy %s, watermark %u %%\n",
		       tb_mode_name(query->mode), tb_policy_name(query->policy),
		       query->watermark);
		printf("buffers    %u per CPU of %u elements (%.1f MiB on %u CPUs)\n",
		       query->buffers, query->elements,
		       (double)query->buffer_bytes * query->buffers *
		       query->nr_rings / (1 << 20), query->nr_rings);
		printf("durable    %" PRIu64 " of %" PRIu64 " KiB used, may grow to %" PRIu64
		       " KiB, %" PRIu64 " records lost\n",
		       (uint64_t)query->durable_used / 1024,
		       (uint64_t)query->durable_size / 1024,
		       (uint64_t)query->durable_bytes / 1024,
		       (uint64_t)query->durable_lost);
		printf("clock      %s, %.3f MHz\n", tb_clock_name(query->clock),
		       (double)query->frequency / 1e6);
	} else {
		printf("mode       not configured, no memory yet\n");
	}
	if (query->flush_ms)
		printf("flush      every %u ms\n", query->flush_ms);
	printf("events     %u of %u enabled\n", query->nr_enabled,
	       query->nr_events);
}

void show_enabled(struct tb_device *device)
{
	struct tb_event_info info;
	unsigned int i;

	for (i = 0; !tb_device_event(device, i, &info); i++)
		if (info.flags & TB_INFO_ENABLED)
			printf("           %s:%s%s\n", info.system, info.name,
			       (info.flags & TB_INFO_HAS_COMPACT) && !(info.flags & TB_INFO_COMPACT) ?
			       " (wide)" : "");
}

bool warn_stopped(const struct tb_query *query)
{
	if (query->reason == TB_REASON_DAMAGED) {
		note("warning: recording stopped by itself: the recorder found its memory damaged; events may be missing or wrong, and the machine's memory may be faulty");
		return true;
	}
	if (query->reason == TB_REASON_HIBERNATION) {
		note("warning: recording stopped by itself: the machine was about to hibernate, which does not save reserved memory; unread blocks are lost");
		return true;
	}
	if (query->reason != TB_REASON_DURABLE_FULL) {
		if (query->durable_lost)
			note("warning: %" PRIu64 " records of threads were lost: some names may be missing or old; a larger --durable-max helps",
			     (uint64_t)query->durable_lost);
		return false;
	}
	note("warning: recording stopped by itself: the durable buffer of %" PRIu64
	     " KiB is full, %" PRIu64 " records were lost; a larger one (--durable, --durable-max) helps",
	     (uint64_t)query->durable_size / 1024,
	     (uint64_t)query->durable_lost);
	return true;
}

/* ---- counts ---- */

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
	fprintf(out, "%5s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
		" %10" PRIu64 " %14" PRIu64, name, (uint64_t)stats->attempted,
		(uint64_t)stats->recorded, (uint64_t)stats->delivered,
		(uint64_t)stats->overwritten, (uint64_t)stats->dropped,
		(uint64_t)stats->bytes);
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

	fprintf(out, "%5s %12s %12s %12s %12s %10s %14s", "CPU", "attempted",
		"recorded", "delivered", "overwritten", "dropped", "bytes");
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

void warn_missing(const struct tb_query *query)
{
	if (query->nr_missing)
		note("warning: there was no memory for the ring of a CPU that came online (%u times): its events are missing",
		     query->nr_missing);
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
		note("%" PRIu64 " of the dropped events were larger than a buffer; larger buffers (-B) help",
		     (uint64_t)sum->oversize);
}
