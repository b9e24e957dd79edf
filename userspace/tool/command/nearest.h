/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names nearest to a wrong one, for messages.
 */
#ifndef TRACEBUF_NEAREST_H
#define TRACEBUF_NEAREST_H

#include <stddef.h>
#include "tracebuf.h"

/* "did you mean" for @wanted over the names a callback yields */
struct nearest {
	const char *wanted;
	struct { char name[2 * TB_NAME_MAX]; size_t distance; } best[4];
};

void nearest_start(struct nearest *nearest, const char *wanted);
void nearest_offer(struct nearest *nearest, const char *system,
		   const char *name);
/* The message's tail: "; did you mean a, b or c?", "" if nothing is near */
const char *nearest_text(const struct nearest *nearest, char *text, size_t size);

#endif /* TRACEBUF_NEAREST_H */
