/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that record: in a trace, or for a provider now.
 */
#ifndef TRACEBUF_SHOW_WRITERS_H
#define TRACEBUF_SHOW_WRITERS_H

#include "tracebuf.h"
#include "tool/choose/choose.h"

/* Check the counts of all writers; complains; return the number of problems */
unsigned int writers_check(const struct tb_trace *trace, const char *file);
/* Print a table of all writers, or nothing if there are none */
void writers_show(const struct tb_trace *trace);
/* List names of events that match @patterns, and add their number to @shown.  Complains, EXIT_* */
int writers_list(const struct tb_trace *trace, const struct patterns *patterns,
		 unsigned int *shown);
/* Print a table of programs that record for the device's provider now; 0 or -errno */
int writers_status(struct tb_device *device);

#endif /* TRACEBUF_SHOW_WRITERS_H */
