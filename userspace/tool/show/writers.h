/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that write: of a trace, or to a provider now.
 */
#ifndef TRACEBUF_SHOW_WRITERS_H
#define TRACEBUF_SHOW_WRITERS_H

#include "tracebuf.h"
#include "tool/choose/choose.h"

/* Are the counts of their writers in order?  Complains; how many problems there are */
unsigned int writers_check(const struct tb_trace *trace, const char *file);
/* A table of them, nothing if there are none */
void writers_show(const struct tb_trace *trace);
/* What they call their events; @shown goes up.  Complains, EXIT_* */
int writers_list(const struct tb_trace *trace, const struct patterns *patterns,
		 unsigned int *shown);
/* Those that write to the device's provider now; 0 or -errno */
int writers_status(struct tb_device *device);

#endif /* TRACEBUF_SHOW_WRITERS_H */
