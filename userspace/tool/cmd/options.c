// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that several subcommands share.
 */
#include <stddef.h>
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

int output_options(const struct command *command, int argc, char **argv,
		   const char **provider, const char **output, bool *stop)
{
	/* commands without --stop skip the first entry */
	int option;

	while ((option = next_option(command, "", argc, argv)) >= 0) {
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
