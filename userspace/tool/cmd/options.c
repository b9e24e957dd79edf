// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that several subcommands share.
 */
#include <getopt.h>
#include <stddef.h>
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

int output_options(const struct command *command, int argc, char **argv,
		   const char **provider, const char **output, bool *stop)
{
	/* commands without --stop skip the first entry */
	static const struct option long_options[] = {
		{ "stop",   no_argument,       NULL, 's' },
		PROVIDER_LONG,
		{ "output", required_argument, NULL, 'o' },
		{ "help",   no_argument,       NULL, 'h' },
		{ 0 }
	};
	int option;

	while ((option = getopt_long(argc, argv, stop ? "p:o:hs" : "p:o:h",
				     long_options + !stop, NULL)) >= 0) {
		if (option == 'p')
			*provider = optarg;
		else if (option == 'o')
			*output = optarg;
		else if (option == 's')
			*stop = true;
		else
			return show_help(command, option);
	}
	if (optind < argc)
		return misused(command, "'%s' is too much", argv[optind]);
	return -1;
}
