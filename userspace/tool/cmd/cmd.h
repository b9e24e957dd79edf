/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subcommands, and what several of them share.
 */
#ifndef TRACEBUF_CMD_H
#define TRACEBUF_CMD_H

#include <stdbool.h>
#include "tracebuf.h"
#include "tool/command/command.h"

struct record;
struct series;

extern const struct command cmd_record, cmd_print, cmd_list, cmd_status,
	cmd_start, cmd_stop, cmd_flush, cmd_enable, cmd_disable, cmd_verify,
	cmd_save, cmd_export, cmd_provider, cmd_stream, cmd_snapshot,
	cmd_arm, cmd_mark, cmd_report, cmd_diff, cmd_query, cmd_recover,
	cmd_flamegraph, cmd_top, cmd_why, cmd_pack, cmd_unpack;

/* What the buffers of a recording that does not run hold goes to a file (cmd/control.c); with
 * @stop it is stopped before.  Complains, EXIT_* */
int save_device(struct tb_device *device, const char *provider, const char *output, bool stop);

/* --history and --memory of start (cmd/start_history.c).  1 if @option was one of them, 0
 * if not, -1 after complaining */
int history_option(const struct command *command, int option, const char *value,
		   struct series *series);
/* Do they go together?  Complains; EXIT_FINE or EXIT_USAGE */
int history_check(const struct command *command, const struct record *record);
/* Start a recorder for them; @record has all that the command line says.  Complains, EXIT_* */
int start_history(const struct command *command, struct record *record);

/* Options of commands that write what is in a provider's buffers to a file: -p, -o, -h, and -s
 * unless @stop is NULL.  -1 to go on, or the exit status */
int output_options(const struct command *command, int argc, char **argv,
		   const char **provider, const char **output, bool *stop);

#endif /* TRACEBUF_CMD_H */
