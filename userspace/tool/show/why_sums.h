/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The causes of analysis/why.h, summed over all leaves of the tree with the same cause.
 */
#ifndef TRACEBUF_WHY_SUMS_H
#define TRACEBUF_WHY_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include "analysis/why.h"

/**
 * struct why_sum - all leaves with the same cause
 * @call: if an interrupt or a request is the cause: the call in which the thread above was blocked;
 *	else -1
 * @longest, @longest_at: the longest stretch, and when it began
 */
struct why_sum {
	enum why_cause cause;
	int64_t who, call;
	uint64_t ns, longest, longest_at;
};

/* Return @count sums of the tree of @why, the longest first; free() them.  NULL: ENOMEM */
struct why_sum *why_sums(const struct why *why, size_t *count);

/* Writes to @text, of @size bytes, and returns it, or returns a constant */
const char *why_sum_text(const struct why *why, const struct why_sum *sum, char *text, size_t size);

#endif /* TRACEBUF_WHY_SUMS_H */
