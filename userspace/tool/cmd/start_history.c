// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf start --history - start a recorder that keeps packed files in memory.
 */
#include <unistd.h>
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/record/history.h"
#include "tool/record/record.h"

int history_option(const struct command *command, int option, const char *value,
		   struct rotation *rotation)
{
	switch (option) {
	case OPTION_HISTORY:
		if (!parse_seconds(value, &rotation->age) && rotation->age >= 1)
			return 1;
		misused(command, "--history: '%s' is not a time of at least 1 s (s, m, h: 1h)", value);
		return -1;
	case OPTION_MEMORY:
		rotation->memory = parse_size(value);
		if (rotation->memory >= 4 * HISTORY_PART_LEAST)
			return 1;
		misused(command, "--memory: '%s' is not a size of at least 1M (K, M, G: 100M)", value);
		return -1;
	}
	return 0;
}

int history_check(const struct command *command, const struct record *record)
{
	const struct rotation *rotation = &record->rotation;
	uint32_t mode = record->setup.config.mode;

	if (rotation->memory && !(rotation->age > 0))
		return misused(command, "--memory needs --history");
	if (rotation->age > 0 && mode && mode != TB_MODE_STREAMING)
		return misused(command, "--history records in streaming mode, not in %s mode",
			       tb_mode_name(mode));
	return EXIT_FINE;
}

/* Limit each file to a share of memory and time, so that deleting one loses little of either */
static void divide_into_files(struct rotation *rotation)
{
	rotation->given = true;
	rotation->bytes = rotation->memory / HISTORY_PARTS;
	if (rotation->bytes < HISTORY_PART_LEAST)
		rotation->bytes = HISTORY_PART_LEAST;
	rotation->seconds = rotation->age / HISTORY_PARTS;
	if (rotation->seconds < 1)
		rotation->seconds = 1;
}

int start_history(const struct command *command, struct record *record)
{
	struct rotation *rotation = &record->rotation;
	struct history history;
	pid_t self = getpid();
	int status;

	if (history_find(&history, HISTORY_FOLDER, record->provider))
		return complain("'%s' is not the name of a provider", record->provider);
	if (!rotation->memory)
		rotation->memory = HISTORY_MEMORY;
	divide_into_files(rotation);
	rotation->request = history.request;
	record->output = history.output;
	record->signals = -1;
	record->quiet = true;
	record->compress = true;
	record->threads = 1;
	record->setup.given = true;
	record->service = (struct service){
		.daemon = true, .pid_file = history.pid_file, .nice_given = true,
		.nice = HISTORY_NICE,
	};
	status = history_prepare(&history, rotation->memory);
	if (status == EXIT_FINE)
		status = record_service(command, record);
	/* only the parent: the recorder comes here, too, at its end */
	if (status == EXIT_FINE && getpid() == self)
		note("history: keeps the events of the last %g s, if they fit packed into %.1f MiB; 'tracebuf snapshot' writes them to a file",
		     rotation->age, (double)rotation->memory / (1 << 20));
	return status;
}
