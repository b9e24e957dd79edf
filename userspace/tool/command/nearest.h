/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Existing names that are similar to an unknown one, for messages.
 */
#ifndef TRACEBUF_NEAREST_H
#define TRACEBUF_NEAREST_H

#include <stddef.h>
#include "tracebuf.h"

/* The best candidates for @wanted so far, nearest first */
struct nearest {
	const char *wanted;
	struct { char name[2 * TB_NAME_MAX]; size_t distance; } best[4];
};

void nearest_start(struct nearest *nearest, const char *wanted);
/* Offer an existing name; @system: of an event, else NULL */
void nearest_offer(struct nearest *nearest, const char *system,
		   const char *name);
/* The end of a message: "; did you mean a, b or c?", or "" without a candidate */
const char *nearest_text(const struct nearest *nearest, char *text, size_t size);

#endif /* TRACEBUF_NEAREST_H */
