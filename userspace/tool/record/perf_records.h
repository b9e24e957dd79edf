/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's perf events report beside samples, of the whole machine: mappings, exec and fork,
 * new cgroups.  Nothing is counted or sampled.
 */
#ifndef TRACEBUF_PERF_RECORDS_H
#define TRACEBUF_PERF_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_header;
struct perf_records;

/**
 * perf_records_open - begin
 * @mappings: report MMAP2, COMM and FORK, too, not only CGROUP
 * @take: called by perf_records_step(): @time of the record, and of the one @before on its CPU, both
 *	CLOCK_MONOTONIC in ns; LOST: records between the two are missing
 *
 * Return: 0; -EACCES and -EPERM: no right to it; other -errno.
 */
int perf_records_open(struct perf_records **records, bool mappings,
		      void (*take)(const struct perf_event_header *header, uint64_t time,
				   uint64_t before, void *context), void *context);

/* For poll(): POLLIN when perf_records_step() has something to do; @records may be NULL: -1 */
int perf_records_fd(const struct perf_records *records);
void perf_records_step(struct perf_records *records);
void perf_records_close(struct perf_records *records);

#endif /* TRACEBUF_PERF_RECORDS_H */
