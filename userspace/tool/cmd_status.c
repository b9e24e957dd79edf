// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf status - what the recorder does now, and its books per CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

static int status_run(int argc, char **argv);

const struct command cmd_status = {
	.name  = "status",
	.run   = status_run,
	.brief = "what the recorder does now, per CPU",
	.help  =
	"usage: tracebuf status [-e]\n"
	"\n"
	"Shows state, configuration and the live books of every CPU.  At any moment\n"
	"attempted = delivered + overwritten + dropped + pending.\n"
	"\n"
	"  -e, --events          list the enabled events, too\n"
	"  -h, --help\n",
};

static void show_query(const struct tb_query *query)
{
	printf("state      %s, recording %" PRIu64 "%s\n",
	       tb_state_name(query->state), (uint64_t)query->generation,
	       query->reader ? ", a reader is attached" : "");
	printf("mode       %s, policy %s, watermark %u %%\n",
	       tb_mode_name(query->mode), tb_policy_name(query->policy),
	       query->watermark);
	printf("buffers    %u per CPU of %u elements (%.1f MiB on %u CPUs), durable %" PRIu64 " KiB\n",
	       query->buffers, query->elements,
	       (double)query->buffer_bytes * query->buffers * query->nr_cpus /
	       (1 << 20), query->nr_cpus, (uint64_t)query->durable_bytes / 1024);
	printf("clock      %s, %.3f MHz\n", tb_clock_name(query->clock),
	       (double)query->frequency / 1e6);
	if (query->flush_ms)
		printf("flush      every %u ms\n", query->flush_ms);
	printf("events     %u of %u enabled\n", query->nr_enabled,
	       query->nr_events);
}

static void show_enabled(struct tb_device *device)
{
	struct tb_event_info info;
	unsigned int i;

	for (i = 0; !tb_device_event(device, i, &info); i++)
		if (info.flags & TB_INFO_ENABLED)
			printf("           %s:%s%s\n", info.system, info.name,
			       info.flags & TB_INFO_FAST ? " (fast)" : "");
}

static int status_run(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "events", no_argument, NULL, 'e' },
		{ "help",   no_argument, NULL, 'h' },
		{ 0 }
	};
	struct tb_device *device;
	struct tb_stats *each = NULL, sum;
	struct tb_query query;
	bool events = false;
	int option, result;

	while ((option = getopt_long(argc, argv, "eh", long_options, NULL)) >= 0) {
		if (option != 'e')
			return show_help(&cmd_status, option);
		events = true;
	}
	if (optind < argc)
		return misused(&cmd_status, "'%s' is too much", argv[optind]);
	device = open_device(NULL, 0);
	if (!device)
		return EXIT_WRONG;
	result = tb_device_query(device, &query);
	if (!result) {
		show_query(&query);
		if (events)
			show_enabled(device);
		each = calloc(query.nr_cpus + 1, sizeof(*each));
		result = each ? read_stats(device, query.nr_cpus, each, &sum) :
				-ENOMEM;
	}
	if (!result)
		print_table(stdout, each, query.nr_cpus, &sum, true);
	free(each);
	tb_device_close(device);
	return result < 0 ? complain("cannot read the state: %s",
				     strerror(-result)) : EXIT_FINE;
}
