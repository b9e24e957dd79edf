/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that perf events of the kernel write besides samples, for all processes: mappings, exec,
 * fork and new cgroups.  Nothing is counted or sampled.
 */
#ifndef TRACEBUF_PERF_RECORDS_H
#define TRACEBUF_PERF_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_header;
struct perf_records;

/**
 * perf_records_open - open an event on each CPU
 * @mappings: report MMAP2, COMM and FORK besides CGROUP
 * @take: perf_records_step() calls this for each record; @time of the record, and of the record
 *	@before it on its CPU, are CLOCK_MONOTONIC in ns; LOST: records between the two are missing
 *
 * Return: 0; -EACCES or -EPERM: no permission; other -errno.
 */
int perf_records_open(struct perf_records **records, bool mappings,
		      void (*take)(const struct perf_event_header *header, uint64_t time,
				   uint64_t before, void *context), void *context);

/* File for poll(): POLLIN when perf_records_step() has something to do; -1 if @records is NULL */
int perf_records_fd(const struct perf_records *records);
/* Process all records; @records may be NULL */
void perf_records_step(struct perf_records *records);
void perf_records_close(struct perf_records *records);

#endif /* TRACEBUF_PERF_RECORDS_H */
