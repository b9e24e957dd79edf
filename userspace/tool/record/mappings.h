/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which files' code is mapped where in which process: what names the addresses of user stacks
 * later.  At the end of a file the mappings that contain a recorded address go into notes
 * (TB_EV_MAPPING).
 */
#ifndef TRACEBUF_MAPPINGS_H
#define TRACEBUF_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>
#include "notes.h"

struct mappings;
struct perf_event_header;

/* With what processes have mapped now; NULL: no memory */
struct mappings *mappings_open(void);

/* There are no records of perf: at the end processes are looked at once more */
void mappings_unfollowed(struct mappings *mappings);

/* A record of perf; @time: its time; @before: that of the one before on its CPU */
void mappings_record(struct mappings *mappings, const struct perf_event_header *header,
		     uint64_t time, uint64_t before);
/* After some of them */
void mappings_records_done(struct mappings *mappings);

/**
 * mappings_notes - add what the readers of these addresses need
 * @addresses: of user stacks, sorted; @count of them
 *
 * May be called again, for another file of the same recording.  Return: 0 or -ENOMEM.
 */
int mappings_notes(struct mappings *mappings, const uint64_t *addresses, size_t count,
		   struct notes *notes);

void mappings_close(struct mappings *mappings);

#endif /* TRACEBUF_MAPPINGS_H */
