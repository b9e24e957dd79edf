/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subcommands, and functions that several of them share.
 */
#ifndef TRACEBUF_CMD_H
#define TRACEBUF_CMD_H

#include <stdbool.h>
#include "tracebuf.h"
#include "tool/command/command.h"

struct record;
struct rotation;

extern const struct command cmd_record, cmd_print, cmd_list, cmd_status,
	cmd_start, cmd_stop, cmd_flush, cmd_enable, cmd_disable, cmd_verify,
	cmd_save, cmd_export, cmd_provider, cmd_snapshot,
	cmd_arm, cmd_mark, cmd_report, cmd_diff, cmd_query, cmd_recover,
	cmd_flamegraph, cmd_top, cmd_why, cmd_pack, cmd_unpack;

/* Write the events of a stopped recording to a file (cmd/control.c); with @stop, stop it first.
 * Complains, EXIT_* */
int save_device(struct tb_device *device, const char *provider, const char *output, bool stop);

/* Parse --history and --memory of start (cmd/start_history.c).  Returns 1; 0: another option; -1
 * after complaining */
int history_option(const struct command *command, int option, const char *value,
		   struct rotation *rotation);
/* Check that --history, --memory and the mode fit together.  Complains; EXIT_FINE or EXIT_USAGE */
int history_check(const struct command *command, const struct record *record);
/* Start the recorder of a history; @record has the options.  Complains, EXIT_* */
int start_history(const struct command *command, struct record *record);

/* Parse -p, -o, -h, and -s unless @stop is NULL, for commands that write a provider's events to a
 * file.  Returns -1: go on; else the exit status */
int output_options(const struct command *command, int argc, char **argv,
		   const char **provider, const char **output, bool *stop);

#endif /* TRACEBUF_CMD_H */
