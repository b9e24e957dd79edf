// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf status - show the state of the recording, and its counts per CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/device/device.h"
#include "tool/record/history.h"
#include "tool/show/writers.h"

static int status_run(int argc, char **argv);

const struct command cmd_status = {
	.name  = "status",
	.run   = status_run,
	.brief = "show what is being recorded, and the counts of each CPU",
	.help  =
	"usage: tracebuf status [-p NAME] [--events] [--header]\n"
	"\n"
	"Shows state and configuration, and for each CPU the counts at this moment:\n"
	"attempted = delivered + overwritten + dropped + pending. Then it lists the\n"
	"programs that write, and how many of their chunks they use.\n"
	"\n"
	PROVIDER_HELP
	"      --events          list the enabled events, too, and how many events their\n"
	"                        rules kept out\n"
	"      --header          show the header of every ring, field by field\n"
	"  -h, --help            show this text\n",
};

/* Print the ends of the buffers, adjacent equal ones together */
static void show_ends(const struct tb_ring_header *header)
{
	uint32_t first, last;

	for (first = 0; first < header->nr; first = last + 1) {
		for (last = first; last + 1 < header->nr; last++)
			if (header->rolling_data_end[last + 1] !=
			    header->rolling_data_end[first])
				break;
		printf("  rolling_data_end  %" PRIu64 " in ",
		       (uint64_t)header->rolling_data_end[first]);
		if (last > first)
			printf("%u-%u\n", first, last);
		else
			printf("%u\n", first);
	}
}

static void show_header(const struct tb_ring_header *header)
{
	printf("ring %u\n", header->cpu);
	printf("  magic             %#" PRIx64 "\n", (uint64_t)header->magic);
	printf("  version           %u\n", header->version);
	printf("  buffering_mode    %u (%s)\n", header->buffering_mode,
	       tb_mode_name(header->buffering_mode));
	printf("  nr                %u\n", header->nr);
	printf("  current_buffer    %u\n", header->current_buffer);
	printf("  wrapped_count     %u\n", header->wrapped_count);
	printf("  total_size        %" PRIu64 "\n", (uint64_t)header->total_size);
	printf("  header_size       %" PRIu64 "\n", (uint64_t)header->header_size);
	printf("  durable_size      %" PRIu64 "\n", (uint64_t)header->durable_size);
	printf("  rolling_size      %" PRIu64 "\n", (uint64_t)header->rolling_size);
	printf("  durable_data_end  %" PRIu64 "\n",
	       (uint64_t)header->durable_data_end);
	printf("  records_dropped   %" PRIu64 "\n",
	       (uint64_t)header->records_dropped);
	printf("  cpu               %u\n", header->cpu);
	printf("  provider          %u\n", header->provider);
	show_ends(header);
}

static int show_headers(struct tb_device *device, unsigned int nr_cpus)
{
	struct tb_ring_header *header;
	unsigned int cpu;
	int result = 0;

	for (cpu = 0; cpu < nr_cpus && !result; cpu++) {
		result = tb_device_header(device, cpu, &header);
		if (!result)
			show_header(header);
		else if (result == -ENODATA)
			result = 0;	/* this CPU is not recorded */
		free(header);
	}
	if (result == -ENXIO)
		return complain("there are no rings yet: 'tracebuf start' creates them");
	return result < 0 ? complain("cannot read the headers of the rings: %s",
				     strerror(-result)) : EXIT_FINE;
}

static int status_run(int argc, char **argv)
{
	struct tb_device *device;
	struct tb_stats *each = NULL, sum;
	struct history history;
	struct tb_query query;
	const char *provider = NULL;
	bool events = false, headers = false;
	int option, result, status;

	while ((option = next_option(&cmd_status, "", argc, argv)) >= 0) {
		switch (option) {
		case 'p':
			provider = optarg;
			break;
		case OPTION_EVENTS:
			events = true;
			break;
		case OPTION_HEADER:
			headers = true;
			break;
		default:
			return show_help(&cmd_status, option);
		}
	}
	if (optind < argc)
		return misused(&cmd_status, "'%s' is too much", argv[optind]);
	device = open_device(provider, 0);
	if (!device)
		return EXIT_WRONG;
	result = tb_device_query(device, &query);
	if (!result) {
		show_query(&query);
		if (query.full)
			printf("full       %u of %u rings\n", query.full,
			       query.nr_rings);
		warn_missing(&query);
		if (events)
			show_enabled(device);
		show_suppressed(device, &query, events);
		quota_show(device);
		each = calloc(query.nr_cpus + 1, sizeof(*each));
		result = each ? read_stats(device, query.nr_cpus, each, &sum) :
				-ENOMEM;
	}
	if (!result)
		print_table(stdout, each, query.nr_cpus, &sum, true);
	if (!result && !history_find(&history, HISTORY_FOLDER, provider))
		history_show(&history);
	if (!result)
		result = writers_status(device);
	free(each);
	status = result < 0 ? complain("cannot read the state: %s",
				       strerror(-result)) : EXIT_FINE;
	if (headers && status == EXIT_FINE)
		status = show_headers(device, query.nr_cpus);
	tb_device_close(device);
	return status;
}
