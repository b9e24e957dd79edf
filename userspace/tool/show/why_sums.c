// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of the causes of 'tracebuf why'; see why_sums.h.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "tool/show/causes.h"
#include "tool/show/why_sums.h"

static int compare_sums(const void *a, const void *b)
{
	const struct why_sum *one = a, *other = b;

	return one->ns > other->ns ? -1 : one->ns < other->ns;
}

static int compare_causes(const void *a, const void *b)
{
	const struct why_sum *one = a, *other = b;

	if (one->cause != other->cause)
		return one->cause < other->cause ? -1 : 1;
	if (one->who != other->who)
		return one->who < other->who ? -1 : 1;
	return one->call < other->call ? -1 : one->call > other->call;
}

/* Merge sums of the same cause and sort them, the longest first; return the number left */
static size_t merge_sums(struct why_sum *sums, size_t count)
{
	size_t i, kept = 0;

	qsort(sums, count, sizeof(*sums), compare_causes);
	for (i = 0; i < count; i++) {
		if (!kept || compare_causes(&sums[kept - 1], &sums[i])) {
			sums[kept++] = sums[i];
			continue;
		}
		sums[kept - 1].ns += sums[i].ns;
		if (sums[i].longest > sums[kept - 1].longest) {
			sums[kept - 1].longest = sums[i].longest;
			sums[kept - 1].longest_at = sums[i].longest_at;
		}
	}
	qsort(sums, kept, sizeof(*sums), compare_sums);
	return kept;
}

/* True if this ended the time in which a thread was blocked */
static bool is_end(enum why_cause cause)
{
	return cause == WHY_UNTIL || cause == WHY_REQUEST || cause == WHY_TIMEOUT;
}

#define NO_WORK (-2)		/* struct why_sum.call: the thread had no work */

/* The system call in which a thread was blocked until node @index */
static int64_t call_above(const struct why_node *nodes, size_t index)
{
	const struct why_node *above = &nodes[nodes[index].parent];

	if (above->cause == WHY_NO_WORK)
		return NO_WORK;
	return above->cause == WHY_OBJECT ? nodes[above->parent].who : above->who;
}

struct why_sum *why_sums(const struct why *why, size_t *count)
{
	size_t all, i, used = 0;
	const struct why_node *nodes = why_nodes(why, &all);
	struct why_sum *sums = malloc(all * sizeof(*sums));

	for (i = 1; sums && i < all; i++) {
		if (nodes[i].child)
			continue;
		sums[used++] = (struct why_sum){
			.cause = nodes[i].cause, .who = nodes[i].who,
			.call = is_end(nodes[i].cause) ? call_above(nodes, i) : -1,
			.ns = nodes[i].ns, .longest = nodes[i].longest,
			.longest_at = nodes[i].longest_at,
		};
	}
	*count = sums ? merge_sums(sums, used) : 0;
	return sums;
}

const char *why_sum_text(const struct why *why, const struct why_sum *sum, char *text, size_t size)
{
	const struct why_node node = { .cause = sum->cause, .who = sum->who };
	char part[128], call[64];

	if (!is_end(sum->cause))
		return cause_text(why, &node, text, size);
	snprintf(text, size, "%s, for a thread that %s%s",
		 sum->cause == WHY_TIMEOUT ? "a timeout" :
		 sum->cause == WHY_REQUEST ? cause_request(why, sum->who, part, sizeof(part)) :
					     cause_irq(why, sum->who, part, sizeof(part)),
		 sum->call == NO_WORK ? "had no work" : "was blocked ",
		 sum->call == NO_WORK ? "" : cause_call(sum->call, call, sizeof(call)));
	return text;
}
