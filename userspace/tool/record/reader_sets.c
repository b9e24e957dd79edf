// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which CPUs each reader reads: by node, so many, or as they are listed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "readers.h"
#include "tool/command/command.h"
#include "tool/command/number.h"

#ifndef DEVICES
#define DEVICES "/sys/devices/system"	/* another one in tests */
#endif

int readers_option(const struct command *command, int option, const char *value,
		   struct reader_sets *sets)
{
	const char *rest = value;
	struct cpu_bits ignored;
	uint32_t count;

	if (option != OPTION_READERS)
		return 0;
	sets->text = value;
	if (!strcmp(value, "node") || !parse_u32(value, 1, READERS_MAX, &count))
		return 1;
	while (strchr(value, ':') && !parse_cpus(rest, &rest, &ignored)) {
		if (!*rest)
			return 1;
		if (*rest++ != ':')
			break;
	}
	misused(command, "--readers: '%s' is neither 'node' nor a number from 1 to %u nor sets of CPUs (0-3:4-7)",
		value, READERS_MAX);
	return -1;
}

static void set_cpu(struct cpu_bits *cpus, unsigned int cpu)
{
	cpus->bits[cpu / 8] |= (uint8_t)(1 << cpu % 8);
}

/* A list of CPUs in a file; -errno */
static int read_cpus(const char *path, struct cpu_bits *cpus)
{
	int result = -EINVAL;
	char text[4096];
	FILE *file;

	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = 0;
		result = parse_cpus(text, NULL, cpus);
	}
	fclose(file);
	return result;
}

/* Those that are there now, neighbours together */
static int sets_of_number(struct reader_sets *sets, unsigned int count, unsigned int nr_cpus)
{
	unsigned int cpu, online = 0, nth = 0;
	struct cpu_bits there;

	if (read_cpus(DEVICES "/cpu/online", &there))
		memset(&there, 0xff, sizeof(there));
	for (cpu = 0; cpu < nr_cpus; cpu++)
		online += has_cpu(&there, cpu);
	if (count > online)
		return complain("--readers %u: there are %u CPUs", count, online);
	sets->count = count;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (has_cpu(&there, cpu))
			set_cpu(&sets->list[(uint64_t)nth++ * count / online], cpu);
	return EXIT_FINE;
}

static int sets_of_list(struct reader_sets *sets, unsigned int nr_cpus)
{
	const char *rest = sets->text;
	unsigned int i, cpu;

	for (;; rest++) {
		if (sets->count == READERS_MAX)
			return complain("--readers: more than %u sets", READERS_MAX);
		if (parse_cpus(rest, &rest, &sets->list[sets->count]))
			return complain("--readers: '%s' is no set of CPUs", rest);
		for (cpu = 0; cpu < CPUS_MAX; cpu++) {
			if (!has_cpu(&sets->list[sets->count], cpu))
				continue;
			if (cpu >= nr_cpus)
				return complain("--readers %s: there is no CPU %u here, only 0 to %u",
						sets->text, cpu, nr_cpus - 1);
			for (i = 0; i < sets->count; i++)
				if (has_cpu(&sets->list[i], cpu))
					return complain("--readers %s: CPU %u is in two sets",
							sets->text, cpu);
		}
		sets->count++;
		if (!*rest)
			return EXIT_FINE;
	}
}

/* Their numbers may have gaps, and some have memory only */
static void sets_of_nodes(struct reader_sets *sets)
{
	char path[sizeof(DEVICES) + 64];
	unsigned int node;

	for (node = 0; node < 1024 && sets->count < READERS_MAX; node++) {
		snprintf(path, sizeof(path), DEVICES "/node/node%u/cpulist", node);
		if (!read_cpus(path, &sets->list[sets->count]))
			sets->count++;
		else
			memset(&sets->list[sets->count], 0, sizeof(sets->list[0]));
	}
}

int reader_sets_make(struct reader_sets *sets, unsigned int nr_cpus)
{
	unsigned int cpu, i;
	int status = EXIT_FINE;
	uint32_t count;

	sets->list = calloc(READERS_MAX, sizeof(*sets->list));
	if (!sets->list)
		return complain("out of memory");
	if (!strcmp(sets->text, "node"))
		sets_of_nodes(sets);
	else if (!parse_u32(sets->text, 1, READERS_MAX, &count))
		status = sets_of_number(sets, count, nr_cpus);
	else
		status = sets_of_list(sets, nr_cpus);
	if (!sets->count)
		sets->count = 1;	/* no nodes are told of: one */
	/* those that are in none - listed or not yet there - are the first's */
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		for (i = 0; i < sets->count && !has_cpu(&sets->list[i], cpu); i++)
			;
		if (i == sets->count)
			set_cpu(&sets->list[0], cpu);
	}
	return status;
}
