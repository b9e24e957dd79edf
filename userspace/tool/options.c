// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of options, and the options that make up a configuration.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
	unsigned long long number;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || *end || number < min || number > max)
		return -EINVAL;
	*value = (uint32_t)number;
	return 0;
}

int parse_seconds(const char *text, double *seconds)
{
	char *end;

	errno = 0;
	*seconds = strtod(text, &end);
	if (errno || end == text || !(*seconds > 0) || *seconds > 1e9)
		return -EINVAL;
	if (!strcmp(end, "ms"))
		*seconds /= 1000;
	else if (!strcmp(end, "m"))
		*seconds *= 60;
	else if (!strcmp(end, "h"))
		*seconds *= 3600;
	else if (*end && strcmp(end, "s"))
		return -EINVAL;
	return 0;
}

/* The number of @value in a list of names, 0 if it is not there */
static uint32_t choice(const char *value, const char *const *names)
{
	uint32_t i;

	for (i = 1; names[i]; i++)
		if (!strcmp(value, names[i]))
			return i;
	return 0;
}

/* from TB_MODE_CIRCULAR on */
static const char *const modes[] = { "", "circular", "streaming", NULL };
static const char *const policies[] = { "", "overwrite", "drop", NULL };
static const char *const clocks[] = { "", "tsc", "arch", "mono", NULL };

int config_option(const struct command *command, int option, const char *value,
		  struct tb_config *config, bool *given)
{
	uint32_t number = 0;

	switch (option) {
	case 'b':
		if (parse_u32(value, TB_BUFFERS_MIN, TB_BUFFERS_MAX, &number)) {
			misused(command, "buffers per CPU: '%s' is not a number from %d to %d",
				value, TB_BUFFERS_MIN, TB_BUFFERS_MAX);
			return -1;
		}
		config->buffers = number;
		break;
	case 'B':
		if (parse_u32(value, TB_BUFFER_ELEMENTS_MIN,
			      TB_BUFFER_ELEMENTS_MAX, &number) ||
		    number & (number - 1)) {
			misused(command, "elements per buffer: '%s' is not a power of two from %d to %d",
				value, TB_BUFFER_ELEMENTS_MIN,
				TB_BUFFER_ELEMENTS_MAX);
			return -1;
		}
		config->elements = number;
		break;
	case 'm':
		config->mode = choice(value, modes);
		if (!config->mode) {
			misused(command, "mode: '%s' is neither streaming nor circular", value);
			return -1;
		}
		config->mode += TB_MODE_CIRCULAR - 1;
		break;
	case 'w':
		if (parse_u32(value, 1, 100, &number)) {
			misused(command, "watermark: '%s' is not a percentage from 1 to 100",
				value);
			return -1;
		}
		config->watermark = number;
		break;
	case 0x100:
		config->policy = choice(value, policies);
		if (!config->policy) {
			misused(command, "policy: '%s' is not overwrite or drop",
				value);
			return -1;
		}
		break;
	case 0x101:
		config->clock = choice(value, clocks);
		if (!config->clock && strcmp(value, "auto")) {
			misused(command, "clock: '%s' is not auto, tsc, arch or mono",
				value);
			return -1;
		}
		break;
	case 0x102:
		if (parse_u32(value, 16, 1 << 20, &number)) {
			misused(command, "durable buffer: '%s' is not a number of KiB from 16 to %d",
				value, 1 << 20);
			return -1;
		}
		config->durable_kib = number;
		break;
	case 0x103:
		if (parse_u32(value, 0, 3600 * 1000, &number)) {
			misused(command, "flush interval: '%s' is not a number of ms up to an hour",
				value);
			return -1;
		}
		config->flush_ms = number;
		break;
	default:
		return 0;
	}
	*given = true;
	return 1;
}

int config_failed(const struct tb_config *config, int result)
{
	switch (-result) {
	case EBUSY:
		return complain("a recording is running or its memory is in use: end it with 'tracebuf stop' first");
	case ENOMEM:
		return complain("the kernel does not have that much contiguous memory for buffers (the kernel log says how far it got): take fewer (-b) or smaller ones (-B)");
	case EINVAL:
		return complain("the module does not take this configuration (mode %s, policy %s, clock %s, %u buffers of %u elements; 0: default)",
				config->mode ? tb_mode_name(config->mode) : "default",
				config->policy ? tb_policy_name(config->policy) : "default",
				tb_clock_name(config->clock), config->buffers,
				config->elements);
	case EPERM:
		return complain("configuring needs root or the capability CAP_PERFMON (or CAP_SYS_ADMIN)");
	case EOPNOTSUPP:
		return complain("this machine cannot do what was asked for (clock %s)",
				tb_clock_name(config->clock));
	}
	return complain("cannot configure: %s", strerror(-result));
}
