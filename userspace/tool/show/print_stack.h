/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TRACEBUF_PRINT_STACK_H
#define TRACEBUF_PRINT_STACK_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"

/* Print the counters of an event in a line, then its stacks with a line for each address */
void print_stack(FILE *out, const struct tb_trace *trace,
		 const struct tb_view *view);

/* Room for a name with its offset and module; longer ones are cut off */
#define STACK_SYMBOL_MAX 1024

/* Write "name+0x12 [module]" of a return address; like snprintf(), or -ENOENT */
int stack_symbol(const struct tb_trace *trace, uint64_t ip, char *text,
		 size_t size);

#endif /* TRACEBUF_PRINT_STACK_H */
