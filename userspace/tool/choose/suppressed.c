// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many events rules and thread sets kept out of the recording, and why.
 */
#include <inttypes.h>
#include <string.h>
#include "choose.h"
#include "tool/command/command.h"

static void add_up(struct tb_suppressed *sum, const struct tb_suppressed *one)
{
	sum->filtered += one->filtered;
	sum->sampled += one->sampled;
	sum->limited += one->limited;
	sum->vetoed += one->vetoed;
	sum->nested += one->nested;
}

uint64_t suppressed_total(const struct tb_suppressed *of)
{
	return of->filtered + of->sampled + of->limited + of->vetoed +
	       of->nested;
}

/* "12 by filters, 3 of other threads" */
static void reasons(char *text, size_t size, const struct tb_suppressed *of,
		    uint64_t threads)
{
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {
		{ of->filtered, "by filters" }, { of->sampled, "by sampling" },
		{ of->limited, "beyond the rate" },
		{ of->vetoed, "by a module" },
		{ of->nested, "nested too deep" },
		{ threads, "of other threads" },
	};
	size_t i, used = 0;

	text[0] = 0;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].count && used < size)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%" PRIu64 " %s",
						 used ? ", " : "",
						 parts[i].count, parts[i].what);
}

void suppressed_text(const struct tb_suppressed *of, char *text, size_t size)
{
	reasons(text, size, of, 0);
}

static void sum_suppressed(struct tb_device *device,
			   const struct tb_query *query,
			   struct tb_suppressed *sum, uint64_t *threads)
{
	struct tb_suppressed one;
	uint32_t i;

	memset(sum, 0, sizeof(*sum));
	*threads = 0;
	if (tb_device_suppressed(device, TB_RULE_ALL, &one) < 0)
		return;			/* a module without rules */
	*threads = one.filtered;
	sum->nested = one.nested;
	for (i = 0; i < query->nr_events; i++)
		if (tb_device_suppressed(device, i, &one) >= 0)
			add_up(sum, &one);
}

void note_suppressed(struct tb_device *device, const struct tb_query *query)
{
	struct tb_suppressed sum;
	uint64_t threads;
	char text[256];

	sum_suppressed(device, query, &sum, &threads);
	if (!suppressed_total(&sum) && !threads)
		return;
	reasons(text, sizeof(text), &sum, threads);
	note("%" PRIu64 " event%s %s not recorded, as asked for: %s",
	     suppressed_total(&sum) + threads, plural(suppressed_total(&sum) + threads),
	     was(suppressed_total(&sum) + threads), text);
}

void show_suppressed(struct tb_device *device, const struct tb_query *query,
		     bool each)
{
	struct tb_suppressed sum, one;
	struct tb_event_info info;
	uint64_t threads;
	char text[256];
	uint32_t i;

	sum_suppressed(device, query, &sum, &threads);
	if (!suppressed_total(&sum) && !threads)
		return;
	reasons(text, sizeof(text), &sum, threads);
	printf("kept out   %" PRIu64 " event%s: %s\n", suppressed_total(&sum) + threads,
	       plural(suppressed_total(&sum) + threads), text);
	for (i = 0; each && i < query->nr_events; i++) {
		if (tb_device_suppressed(device, i, &one) < 0 || !suppressed_total(&one) ||
		    tb_device_event(device, i, &info) < 0)
			continue;
		suppressed_text(&one, text, sizeof(text));
		printf("           %s:%s: %s\n", info.system, info.name, text);
	}
}
