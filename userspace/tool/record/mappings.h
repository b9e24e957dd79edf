/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings of code in all processes, over time: readers need them to name the addresses of user
 * stacks.  At the end of a file the mappings that contain recorded addresses go into notes
 * (TB_EV_MAPPING).
 */
#ifndef TRACEBUF_MAPPINGS_H
#define TRACEBUF_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>
#include "notes.h"

struct mappings;
struct perf_event_header;

/* Open, and read the mappings that exist now; NULL: no memory */
struct mappings *mappings_open(void);

/* perf reports no changes: mappings_notes() then reads the mappings of all processes again */
void mappings_unfollowed(struct mappings *mappings);

/* Add a record of perf; @time: its time; @before: time of the record before it on its CPU */
void mappings_record(struct mappings *mappings, const struct perf_event_header *header,
		     uint64_t time, uint64_t before);
/* After a batch of records: if some were lost, read the mappings again */
void mappings_records_done(struct mappings *mappings);

/**
 * mappings_notes - add the mappings that contain @addresses, forks and execs of the processes, and
 *	names of generated code (perf_map.h)
 * @addresses: sorted addresses of user stacks, @count of them
 *
 * The caller may call this for each file of a recording.  Return: 0 or -ENOMEM.
 */
int mappings_notes(struct mappings *mappings, const uint64_t *addresses, size_t count,
		   struct notes *notes);

void mappings_close(struct mappings *mappings);

#endif /* TRACEBUF_MAPPINGS_H */
