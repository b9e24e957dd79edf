/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts in the lists of CPUs that why_lines.c makes.
 */
#ifndef TRACEBUF_WHY_IRQS_H
#define TRACEBUF_WHY_IRQS_H

#include "slices.h"
#include "why_lines.h"

/* Add an interrupt or softirq of @cpu, when it ends.  @now: time of the last event, ns.  Return 0
 * or -ENOMEM */
int why_irqs_take(struct why_lines *lines, struct why_cpu *cpu, const struct slice *slice,
		  uint64_t now);

/* Add the function that the interrupt or softirq @around ran from @begin to @now.  @function has
 * its name, and the number -1.  Return 0 or -ENOMEM */
int why_irqs_take_function(struct why_lines *lines, struct why_cpu *cpu, const struct slice *around,
			   const struct slice *function, uint64_t begin, uint64_t now);

#endif /* TRACEBUF_WHY_IRQS_H */
