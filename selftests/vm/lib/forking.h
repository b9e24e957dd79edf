/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that come and go by the thousand.
 */
#ifndef FORKING_H
#define FORKING_H

#include <stdbool.h>
#include <stdint.h>

#define WORKERS		4

/*
 * Several processes fork @n times, on the first @cpus processors.  Each child makes a few
 * system calls; one of 16 takes the name "kid" and its number.
 */
bool begin_forking_on(uint32_t n, int cpus);
bool begin_forking(uint32_t n);		/* on all of them */
/* Has it come to its end? */
bool forking_done(void);
/* Waits for the end; @now: does not let them go on. */
void end_forking(bool now);

#endif /* FORKING_H */
