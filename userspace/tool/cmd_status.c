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
	"usage: tracebuf status [-p NAME] [-e]\n"
	"\n"
	"Shows state, configuration and the live books of every CPU.  At any moment\n"
	"attempted = delivered + overwritten + dropped + pending.\n"
	"\n"
	PROVIDER_HELP
	"  -e, --events          list the enabled events, too\n"
	"  -h, --help\n",
};

static int status_run(int argc, char **argv)
{
	static const struct option long_options[] = {
		PROVIDER_LONG,
		{ "events", no_argument, NULL, 'e' },
		{ "help",   no_argument, NULL, 'h' },
		{ 0 }
	};
	struct tb_device *device;
	struct tb_stats *each = NULL, sum;
	struct tb_query query;
	const char *provider = NULL;
	bool events = false;
	int option, result;

	while ((option = getopt_long(argc, argv, "p:eh", long_options,
				     NULL)) >= 0) {
		switch (option) {
		case 'p':
			provider = optarg;
			break;
		case 'e':
			events = true;
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
