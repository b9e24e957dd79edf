// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration of a provider: parse its options, check that they fit together, configure the
 * provider, and explain errors of the kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "setup.h"
#include "sizes.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/device/device.h"

/* The index of @value in a list of names; 0: not in the list */
static uint32_t find_name(const char *value, const char *const *names)
{
	uint32_t i;

	for (i = 1; names[i]; i++)
		if (!strcmp(value, names[i]))
			return i;
	return 0;
}

static const char *const modes[] = {
	"", "oneshot", "circular", "streaming", NULL,
};
static const char *const policies[] = { "", "overwrite", "drop", NULL };
static const char *const clocks[] = { "", "tsc", "arch", "mono", NULL };

static int parse_durable_kib(const struct command *command, const char *what,
			     const char *value, uint32_t *kib)
{
	if (!parse_u32(value, TB_DURABLE_KIB_MIN, TB_DURABLE_KIB_MAX, kib))
		return 0;
	return misused(command, "%s: '%s' is not a number of KiB from %d to %d",
		       what, value, TB_DURABLE_KIB_MIN, TB_DURABLE_KIB_MAX);
}

/* Returns EXIT_FINE; EXIT_USAGE after complaining; -1: another option */
static int setup_take(const struct command *command, int option,
		      const char *value, struct setup *setup)
{
	struct tb_config *config = &setup->config;

	switch (option) {
	case 'b':
		if (!parse_u32(value, 1, TB_BUFFERS_MAX, &config->buffers))
			return EXIT_FINE;
		return misused(command, "buffers per CPU: '%s' is not a number from %d to %d",
			       value, TB_BUFFERS_MIN, TB_BUFFERS_MAX);
	case 'B':
		if (!parse_u32(value, TB_BUFFER_ELEMENTS_MIN,
			       TB_BUFFER_ELEMENTS_MAX, &config->elements) &&
		    !(config->elements & (config->elements - 1)))
			return EXIT_FINE;
		return misused(command, "elements per buffer: '%s' is not a power of two from %d to %d",
			       value, TB_BUFFER_ELEMENTS_MIN,
			       TB_BUFFER_ELEMENTS_MAX);
	case 'm':
		config->mode = find_name(value, modes);
		return config->mode ? EXIT_FINE :
		       misused(command, "mode: '%s' is not streaming, circular or oneshot",
			       value);
	case 'w':
		return !parse_u32(value, 1, 100, &config->watermark) ? EXIT_FINE :
		       misused(command, "watermark: '%s' is not a percentage from 1 to 100",
			       value);
	case 'c':
		setup->cpu_list = value;
		return !parse_cpus(value, NULL, &setup->cpus) ? EXIT_FINE :
		       misused(command, "CPUs: '%s' is not a list of numbers and ranges up to %u, as in 0-3,7",
			       value, CPUS_MAX - 1);
	case OPTION_POLICY:
		config->policy = find_name(value, policies);
		return config->policy ? EXIT_FINE :
		       misused(command, "policy: '%s' is not overwrite or drop",
			       value);
	case OPTION_CLOCK:
		config->clock = find_name(value, clocks);
		return config->clock || !strcmp(value, "auto") ? EXIT_FINE :
		       misused(command, "clock: '%s' is not auto, tsc, arch or mono",
			       value);
	case OPTION_DURABLE:
		return parse_durable_kib(command, "durable buffer", value,
					 &config->durable_kib);
	case OPTION_FLUSH_MS:
		return !parse_u32(value, 0, 3600 * 1000, &config->flush_ms) ?
		       EXIT_FINE :
		       misused(command, "flush interval: '%s' is not a number of ms up to an hour",
			       value);
	case OPTION_DURABLE_MAX:
		return parse_durable_kib(command, "limit of the durable buffer",
					 value, &config->durable_max_kib);
	case OPTION_DURABLE_STOP:
		config->flags |= TB_CONFIG_DURABLE_STOP;
		return EXIT_FINE;
	}
	return -1;
}

int setup_option(const struct command *command, int option, const char *value,
		 struct setup *setup)
{
	int status = setup_take(command, option, value, setup);

	if (status < 0)
		return 0;
	setup->given = true;
	return status == EXIT_FINE ? 1 : -1;
}

int setup_check(const struct command *command, const struct setup *setup)
{
	const struct tb_config *config = &setup->config;
	uint32_t durable = config->durable_kib ? config->durable_kib : 1024;

	if (config->buffers == 1 && config->mode != TB_MODE_ONESHOT)
		return misused(command, "one buffer per CPU is for -m oneshot: %s needs %d",
			       config->mode ? tb_mode_name(config->mode) :
			       "streaming", TB_BUFFERS_MIN);
	if (config->mode == TB_MODE_CIRCULAR && config->policy == TB_POLICY_DROP)
		return misused(command, "-m circular overwrites old events: --policy drop is for streaming or oneshot");
	if (config->mode == TB_MODE_ONESHOT &&
	    config->policy == TB_POLICY_OVERWRITE)
		return misused(command, "-m oneshot ends when the buffers are full: --policy overwrite is for streaming or circular");
	if (!config->durable_max_kib)
		return EXIT_FINE;
	if (config->durable_max_kib < durable)
		return misused(command, "the durable buffer cannot grow from %u KiB to %u: --durable-max must be at least --durable",
			       durable, config->durable_max_kib);
	if (config->flags & TB_CONFIG_DURABLE_STOP &&
	    config->durable_max_kib > durable)
		return misused(command, "with --durable-stop the durable buffer does not grow: leave out --durable-max");
	return EXIT_FINE;
}

/* ---- configuring ---- */

/* Read a list of CPUs: "possible", "online" */
static void read_cpus(const char *which, char *text, size_t size)
{
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "/sys/devices/system/cpu/%s", which);
	file = fopen(name, "re");
	if (!file || !fgets(text, (int)size, file))
		snprintf(text, size, "?");
	text[strcspn(text, "\n")] = 0;
	if (file)
		fclose(file);
}

/* Complain if a chosen CPU is not possible on this machine; EXIT_* */
static int check_possible_cpus(const struct setup *setup)
{
	struct cpu_bits possible;
	char text[256];
	unsigned int i;

	read_cpus("possible", text, sizeof(text));
	if (parse_cpus(text, NULL, &possible))
		return EXIT_FINE;
	for (i = 0; i < CPUS_MAX; i++)
		if (has_cpu(&setup->cpus, i) && !has_cpu(&possible, i))
			return complain("CPUs: '%s': there is no CPU %u here, only %s",
					setup->cpu_list, i, text);
	return EXIT_FINE;
}

static unsigned int count_chosen_cpus(const struct setup *setup, unsigned int all)
{
	unsigned int i, count = 0;

	for (i = 0; i < CPUS_MAX; i++)
		count += has_cpu(&setup->cpus, i);
	return setup->cpu_list ? count : all;
}

static int complain_memory(const struct setup *setup, const struct tb_query *query)
{
	const struct tb_config *config = &setup->config;
	uint32_t buffers = config->buffers ? config->buffers : 32;
	uint32_t bytes = (config->elements ? config->elements : 1024) *
			 TB_ELEMENT_SIZE;
	uint32_t durable = config->durable_kib ? config->durable_kib : 1024;
	unsigned int cpus = count_chosen_cpus(setup, query->nr_cpus);

	return complain("the kernel does not have that much memory: %.1f MiB (%u buffers of %u KiB for each of %u CPUs, %u KiB for the durable buffer); nothing has changed, the kernel log has details: take fewer (-b) or smaller ones (-B), or fewer CPUs (-c)",
			((double)bytes * buffers * cpus + durable * 1024.0) /
			(1 << 20), buffers, bytes / 1024, cpus, durable);
}

static int setup_failed(struct tb_device *device, const struct setup *setup,
			int result)
{
	const struct tb_config *config = &setup->config;
	struct tb_query query;
	char stop[64];
	int failed = tb_device_query(device, &query);

	switch (-result) {
	case EBUSY:
		if (!failed && query.state == TB_STATE_RUNNING)
			return complain("'%s' is recording, so its configuration cannot be changed: '%s' first",
					query.name, stop_command(device, stop));
		return complain("another program has the buffers mapped or holds some: end it first");
	case ENOMEM:
		if (!failed)
			return complain_memory(setup, &query);
		break;
	case EINVAL:
		if (setup->cpu_list && check_possible_cpus(setup))
			return EXIT_WRONG;
		if (config->clock != TB_CLOCK_AUTO)
			return complain("this machine has no clock '%s', or the clock is not reliable: leave out --clock",
					tb_clock_name(config->clock));
		return complain("the module does not accept this configuration (mode %s, policy %s, %u buffers of %u elements; 0: default)",
				config->mode ? tb_mode_name(config->mode) : "default",
				config->policy ? tb_policy_name(config->policy) : "default",
				config->buffers, config->elements);
	case EPERM:
		return complain("configuring needs root or the capability CAP_PERFMON (or CAP_SYS_ADMIN)");
	}
	return complain("cannot configure: %s", strerror(-result));
}

/* Count the chosen CPUs that are online: these get a ring at once */
static unsigned int count_online(struct tb_device *device, const struct setup *setup)
{
	struct cpu_bits online;
	struct tb_query query;
	unsigned int i, count = 0;
	char text[4096];

	read_cpus("online", text, sizeof(text));
	if (parse_cpus(text, NULL, &online))
		return tb_device_query(device, &query) < 0 ? 1 : query.nr_cpus;
	for (i = 0; i < CPUS_MAX; i++)
		count += has_cpu(&online, i) && (!setup->cpu_list || has_cpu(&setup->cpus, i));
	return count;
}

static void take_sizes(struct setup *setup)
{
	struct tb_config *config = &setup->config;

	config->buffers = (uint32_t)(setup->sizes.cpu / setup->sizes.buffer);
	config->elements = (uint32_t)(setup->sizes.buffer / TB_ELEMENT_SIZE);
}

void setup_size(struct tb_device *device, struct setup *setup, struct sizes_for purpose)
{
	struct tb_config *config = &setup->config;

	if (config->buffers || config->elements || config->watermark)
		return;
	purpose.cpus = count_online(device, setup);
	purpose.streaming = !config->mode || config->mode == TB_MODE_STREAMING;
	setup->sizes = setup->wanted = sizes_here(&purpose);
	setup->purpose = purpose;
	setup->sized = true;
	take_sizes(setup);
	if (purpose.streaming)
		config->watermark = 100;
}

int setup_apply(struct tb_device *device, struct setup *setup)
{
	struct tb_query query;
	int result;

	if (setup->cpu_list) {
		setup->config.cpus = (uint64_t)(uintptr_t)setup->cpus.bits;
		setup->config.cpus_bytes = sizeof(setup->cpus);
	}
	for (;;) {
		result = tb_device_configure(device, &setup->config);
		if (result != -ENOMEM || !setup->sized || !sizes_smaller(&setup->sizes))
			break;
		take_sizes(setup);
	}
	if (result < 0)
		return setup_failed(device, setup, result);
	setup->rings = tb_device_query(device, &query) < 0 ? 0 : query.nr_rings;
	if (setup->sized && (setup->sizes.cpu != setup->wanted.cpu ||
			     setup->sizes.buffer != setup->wanted.buffer))
		note("warning: the kernel does not have %" PRIu64 " KiB for each CPU in contiguous pieces of %" PRIu64 " KiB: each has %" PRIu64 " KiB in pieces of %" PRIu64 " KiB",
		     setup->wanted.cpu / 1024, setup->wanted.buffer / 1024,
		     setup->sizes.cpu / 1024, setup->sizes.buffer / 1024);
	return EXIT_FINE;
}

void setup_show(const struct setup *setup, const struct tb_query *query)
{
	double mib = 1 << 20;
	unsigned int rings = setup->rings;

	if (!rings) {
		note("memory: %u buffers of %.0f KiB for each CPU, %.1f MiB durable",
		     query->buffers, (double)query->buffer_bytes / 1024,
		     (double)query->durable_size / mib);
		return;
	}
	note("memory: %.1f MiB for each of %u CPUs (%u buffers of %g KiB), %.1f MiB durable, %.1f MiB in all",
	     (double)query->buffers * (double)query->buffer_bytes / mib, rings, query->buffers,
	     (double)query->buffer_bytes / 1024, (double)query->durable_size / mib,
	     ((double)query->ring_stride * rings + (double)query->durable_size) / mib);
	if (setup->sized && setup->wanted.cpu < SIZES_CPU_MOST)
		note("memory: %.1f MiB would be too much for this machine: it has %.0f MiB, %.0f MiB of it were available",
		     (double)SIZES_CPU_MOST * rings / mib, (double)setup->purpose.total / mib,
		     (double)setup->purpose.available / mib);
}
