// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf verify --analysis - check that the conclusions of "why" and "report" add up, and agree.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "verify.h"
#include "analysis/check.h"
#include "tool/command/command.h"

#define MESSAGES_MAX 10
#define DOUBTS_MAX 5

struct telling {
	const char *file;
	bool quiet;
	unsigned int violated, doubts;
};

static void tell(void *context, const struct check_found *found)
{
	struct telling *telling = context;
	char text[512], thread[40] = "", other[160] = "";
	unsigned int *count = found->doubt ? &telling->doubts : &telling->violated;

	if (++*count > (found->doubt ? DOUBTS_MAX : MESSAGES_MAX) ||
	    (found->doubt && telling->quiet))
		return;
	if (found->tid)
		snprintf(thread, sizeof(thread), " while thread %u waits for it", found->tid);
	if (found->other)
		snprintf(other, sizeof(other), ", %s: %" PRIu64 " ns", found->other,
			 found->expected);
	snprintf(text, sizeof(text), "%s %u, from %" PRIu64 ".%09" PRIu64 " to %" PRIu64 ".%09"
		 PRIu64 "%s: %s: %" PRIu64 " ns%s", found->of_cpu ? "CPU" : "thread",
		 found->number, found->from / 1000000000, found->from % 1000000000,
		 found->to / 1000000000, found->to % 1000000000, thread, found->one, found->ns,
		 other);
	if (found->doubt)
		printf("doubt: %s\n", text);
	else
		complain("%s: %s", telling->file, text);
}

int verify_analysis(const char *file, struct tb_trace *trace, bool quiet)
{
	struct telling telling = { .file = file, .quiet = quiet };
	struct check_counts counts;
	int result = check_analyses(trace, tell, &telling, &counts);

	if (result)
		return complain("%s: the analyses cannot be checked: %s", file, strerror(-result));
	if (telling.violated > MESSAGES_MAX)
		note("and %u more", telling.violated - MESSAGES_MAX);
	if (quiet)
		return telling.violated ? EXIT_WRONG : EXIT_FINE;
	if (telling.doubts > DOUBTS_MAX)
		printf("doubt: %u more\n", telling.doubts - DOUBTS_MAX);
	if (!counts.switches) {
		printf("analyses: none, because the trace has no sched_switch\n");
		return EXIT_FINE;
	}
	printf("analyses: %u thread%s, %u CPU%s: %" PRIu64 " invariant%s violated, %" PRIu64
	       " doubt%s\n", counts.threads, plural(counts.threads), counts.cpus,
	       plural(counts.cpus), counts.violated, counts.violated == 1 ? "" : "s",
	       counts.doubts, counts.doubts == 1 ? "" : "s");
	if (counts.unchecked)
		printf("analyses: the causes of %u thread%s were not checked: too many stretches of time\n",
		       counts.unchecked, plural(counts.unchecked));
	if (counts.uncompared)
		printf("analyses: 'why' and 'report' were not compared: "
		       "the file is damaged, or time goes back in it\n");
	return telling.violated ? EXIT_WRONG : EXIT_FINE;
}
