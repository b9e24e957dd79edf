/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that softirqs and interrupts call for timers and tasklets: from when to when each ran.
 */
#ifndef TRACEBUF_FUNCTIONS_H
#define TRACEBUF_FUNCTIONS_H

#include "roles.h"

#define FUNCTIONS_NESTED 4

/* The functions that a CPU runs, the innermost last.  All zero: none */
struct functions {
	unsigned int count;
	struct {
		uint64_t begin, object, address;
	} open[FUNCTIONS_NESTED];
};

/* Take an event, with its plan, or a loss (@plan NULL) of the CPU, at @ns.  True: a function ended;
 * @begin: when it began, @address: its address */
bool functions_take(struct functions *functions, const struct plan *plan,
		    const struct tb_view *view, uint64_t ns, uint64_t *begin, uint64_t *address);

#endif /* TRACEBUF_FUNCTIONS_H */
