// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks as text, a line for each, as flamegraph.pl and others read them; and remarks about them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "flame.h"

static void put_stack(const struct flame_tree *tree, uint32_t node, FILE *out)
{
	uint32_t parent = tree->nodes[node].parent;

	/* as deep as the stack, with inlined functions */
	if (parent) {
		put_stack(tree, parent, out);
		fputc(';', out);
	}
	fputs(flame_frame_of(tree, node)->name, out);
}

/* Put the stacks that end at @node, then those of its children */
static void put_below(const struct flame_tree *tree, uint32_t node, FILE *out)
{
	uint32_t child;

	if (tree->nodes[node].self) {
		put_stack(tree, node, out);
		fprintf(out, " %" PRIu64 "\n", tree->nodes[node].self);
	}
	for (child = tree->nodes[node].first; child; child = tree->nodes[child].next)
		put_below(tree, child, out);
}

int flame_collapsed(const struct flame *flame, FILE *out)
{
	put_below(&flame->tree, 0, out);
	return ferror(out) ? -EIO : 0;
}

/* ---- amounts ---- */

static const char *time_text(uint64_t ns, char text[48])
{
	if (ns >= 1000000000)
		snprintf(text, 48, "%.3f s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(text, 48, "%.3f ms", (double)ns / 1e6);
	else
		snprintf(text, 48, "%.3f us", (double)ns / 1e3);
	return text;
}

const char *flame_amount(const struct flame *flame, uint64_t weight, char text[48])
{
	switch (flame->weight) {
	case FLAME_OFF_CPU:
	case FLAME_ON_CPU:
		return time_text(weight, text);
	case FLAME_FIELD:
		snprintf(text, 48, "%" PRIu64, weight);
		return text;
	default:
		snprintf(text, 48, "%" PRIu64 " event%s", weight,
			 weight == 1 ? "" : "s");
	}
	return text;
}

/* ---- remarks ---- */

int flame_remark(const struct flame *flame, unsigned int index, char *text,
		 size_t size)
{
	char time[48], torn[48];

	time_text(flame->pending_time, time);
	time_text(flame->torn_time, torn);
#define REMARK(condition, ...) \
	do { \
		if ((condition) && !index--) { \
			snprintf(text, size, __VA_ARGS__); \
			return 1; \
		} \
	} while (0)

	REMARK(flame->lost, "%" PRIu64 " events were lost while it was recorded: their stacks are missing",
	       flame->lost);
	REMARK(flame->uncommitted, "%" PRIu64 " events had not been written completely and are left out",
	       flame->uncommitted);
	REMARK(flame->torn, "%" PRIu64 " stretches of time, %s, are left out: events are missing in them, so the thread may have run meanwhile",
	       flame->torn, torn);
	REMARK(flame->stackless, "%" PRIu64 " events have no stack and are left out",
	       flame->stackless);
	REMARK(flame->negative, "%" PRIu64 " events have no such field, or one below 0, and are left out",
	       flame->negative);
	REMARK(flame->beyond, "%" PRIu64 " events are left out: the sum would be 2^64 or more",
	       flame->beyond);
	REMARK(flame->unknown, "%" PRIu64 " switches are left out: the trace does not tell when the thread began to run",
	       flame->unknown);
	REMARK(flame->pending && flame->unfinished,
	       "%" PRIu64 " threads had not run again at the end: they count until then, %s",
	       flame->pending, time);
	REMARK(flame->pending && !flame->unfinished,
	       "%" PRIu64 " threads had not run again at the end and are left out, %s so far (--unfinished)",
	       flame->pending, time);
	REMARK(flame->full, "%" PRIu64 " stacks have %d frames, the most that are recorded: outer callers are unknown",
	       flame->full, TB_STACK_MAX);
	REMARK(flame->unnamed, "%" PRIu64 " addresses of the kernel have no name in the trace (-k reads names from a file)",
	       flame->unnamed);
	REMARK(flame->user, "%" PRIu64 " addresses of programs have no name: the trace does not say which file was mapped there",
	       flame->user);
#undef REMARK
	return 0;
}
