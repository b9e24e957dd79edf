// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace file that a command reads; see input.h.
 */
#include <stdlib.h>
#include "input.h"

int input_choose(const struct command *command, int argc, char **argv, const char **file)
{
	if (argc - optind > (*file ? 0 : 1))
		return misused(command, "one file at a time; 'tracebuf diff' compares two");
	if (optind < argc)
		*file = argv[optind];
	if (!*file)
		*file = DEFAULT_FILE;
	return EXIT_FINE;
}

int input_open(const char *file, struct tb_trace **trace)
{
	struct tb_error error;

	return tb_trace_open(file, trace, &error) < 0 ? complain_file(file, &error) : EXIT_FINE;
}

int input_close(const char *file, struct tb_trace *trace, int status)
{
	const struct tb_error *fault = trace && status != EXIT_USAGE ? tb_trace_fault(trace) : NULL;

	if (fault)
		status = complain_file(file, fault);
	tb_trace_close(trace);
	return status;
}

char *file_with_ending(const char *path, const char *ending)
{
	size_t stem = file_stem(path);
	char *name = malloc(stem + strlen(ending) + 1);

	if (name) {
		memcpy(name, path, stem);
		strcpy(name + stem, ending);
	}
	return name;
}
