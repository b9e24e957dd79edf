/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TRACEBUF_PRINT_STACK_H
#define TRACEBUF_PRINT_STACK_H

#include "tool.h"

/* What belongs to an event, in lines of their own below it: its counters, then
 * its stacks with a line for each address */
void print_stack(FILE *out, const struct tb_trace *trace,
		 const struct tb_view *view);

#endif /* TRACEBUF_PRINT_STACK_H */
