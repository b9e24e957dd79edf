/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What record and stream have in common: a recording from its start to its
 * end, and where its blocks come from.
 */
#ifndef TRACEBUF_RECORD_H
#define TRACEBUF_RECORD_H

#include "choose.h"

#define DEFAULT_EVENTS "sched_switch,sched_wak*,sched_migrate_task,sched_process_*," \
	"irq,task,signal,power,raw_syscalls,user"

/* What can be said of a recording, for the help of both */
#define RECORD_HELP(output) \
	"  -e, --events LIST     what to record (" DEFAULT_EVENTS "):\n" \
	CHOICE_HELP \
	"                        ('tracebuf list -v' shows events and fields)\n" \
	WHO_HELP \
	WHO_SELF_HELP \
	"  -F, --fast            the one-element forms where there are any\n" \
	"  -o, --output FILE     (" output "); '-': standard output\n" \
	"  -d, --duration TIME   seconds, or with ms, s, m, h\n" \
	PROVIDER_HELP \
	"                        as it is configured, with the events it has, as far\n" \
	"                        as nothing else is asked for\n" \
	SETUP_HELP \
	"      --no-state        do not list the existing threads first\n" \
	"  -q, --quiet           neither progress nor table\n" \
	"  -h, --help\n"

/* A whole recording, as @command's line says, into @output unless that says
 * otherwise; @stream: the options of stream, too.  Returns the exit status. */
int record_main(const struct command *command, const char *output, bool stream,
		int argc, char **argv);

/* ---- save/saved channels (channels.c) ---- */

struct channels;

/* One for every ring; complains, NULL */
struct channels *channels_open(struct tb_device *device,
			       const struct tb_query *query);
void channels_close(struct channels *channels);

/* For poll(): POLLIN when there is something to do */
int channels_fd(const struct channels *channels);

/* Save what is offered now.  Returns how many blocks, 0 nothing, -ENODATA
 * the recording has stopped and all is saved, -EIO the sink failed, others */
int channels_move(struct channels *channels, struct sink *sink);

/* Until all is saved (the recording has stopped) */
int channels_drain(struct channels *channels, struct sink *sink);

#endif /* TRACEBUF_RECORD_H */
