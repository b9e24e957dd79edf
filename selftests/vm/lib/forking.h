/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that fork children by the thousand. */
#ifndef FORKING_H
#define FORKING_H

#include <stdbool.h>
#include <stdint.h>

#define WORKERS		4

/*
 * Several processes fork @n children, on the first @cpus processors. Each child makes a few system
 * calls; one of 16 takes the name "kid" and its number.
 */
bool begin_forking_on(uint32_t n, int cpus);
bool begin_forking(uint32_t n);		/* on all processors */
/* Have all children been forked? */
bool forking_done(void);
/* Waits for the processes to end; @now: they fork no more. */
void end_forking(bool now);

#endif /* FORKING_H */
