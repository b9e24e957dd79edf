/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What record and stream have in common: a recording from its start to its
 * end, and where its blocks come from.
 */
#ifndef TRACEBUF_RECORD_H
#define TRACEBUF_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include "sink.h"
#include "tracebuf.h"
#include "tool/choose/choose.h"
#include "series.h"
#include "service.h"
#include "workload.h"
#include "tool/choose/setup.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

#define DEFAULT_SCHED "sched_switch,sched_wak*,sched_migrate_task,sched_process_*,"
#define DEFAULT_OTHER "irq,task,signal,power,block_rq_*,raw_syscalls,user"
#define DEFAULT_EVENTS DEFAULT_SCHED DEFAULT_OTHER

/* The help of record and stream: options that a beginner wants, and those of --help-all */
#define RECORD_HELP(output) \
	"  -o, --output FILE     write to FILE (" output "); '-': standard output\n" \
	"  -d, --duration TIME   stop after TIME: seconds, or with ms, s, m, h\n" \
	"  -e, --events LIST     record these events:\n" \
	CHOICE_HELP \
	"                        'tracebuf list -v' shows events and fields. Default:\n" \
	"                        " DEFAULT_SCHED "\n" \
	"                        " DEFAULT_OTHER "\n" \
	WHO_HELP \
	WHO_SELF_HELP \
	SETUP_MODE_HELP \
	"  -q, --quiet           show neither progress nor table\n" \
	"  -v, --verbose         show how the file is written, and what the recorder took\n"
#define RECORD_MORE_HELP \
	WHO_MORE_HELP \
	"      --exclude-self    record all but this program itself\n" \
	WIDE_HELP \
	PROVIDER_HELP \
	"                        as it is configured, with the events that it has, unless\n" \
	"                        other options change that\n" \
	WRITERS_HELP \
	SETUP_MACHINE_HELP \
	SETUP_REST_HELP \
	"      --no-state        do not list the threads that exist at the start\n" \
	SERVICE_HELP

/**
 * struct record - a recording, from the command line to its end
 * @device: what controls it; @reader: what takes its blocks: the same, or when there are several
 *	files another one for each, which gets the durable buffer anew
 */
struct record {
	const char *output;
	bool fifo;			/* through save/saved channels */
	struct choice choice;
	struct who who;
	bool defaults;			/* the events are DEFAULT_EVENTS */
	bool chosen;			/* they, and no others, are recorded */
	const char *provider;
	struct setup setup;
	uint32_t start_flags;
	double seconds;
	bool quiet;
	bool verbose;
	bool compress;			/* write the packed form */
	int level;
	uint32_t threads;
	bool buffered;			/* through the page cache */
	bool backlog_given;
	struct backlog backlog;
	bool stream;			/* each block as it comes */
	struct series series;
	struct service service;
	char **command;

	struct tb_device *device, *reader;
	struct tb_query query;
	struct channels *channels;	/* or NULL */
	struct sink sink;
	struct workload workload;
	int signals;
	struct tb_stats *each;
	uint64_t started, shown;	/* ns */
	uint64_t next_file;		/* when a new one is due, ns; UINT64_MAX: never */
	uint64_t shown_recorded;
	bool progress, progress_used;
	int caught;
	bool rotate;			/* SIGUSR2 came */
};

uint64_t now_ns(void);

/* From its start to its end, or the signal for it; 0, -EIO the file failed, other -errno
 * (loop.c) */
int record_loop(struct record *record);
/* Another open file for the same provider, with the mapping of the first; complains, NULL */
struct tb_device *record_reader(struct record *record);
/* What is left, the table and the warnings; @result: of the loop.  EXIT_* */
int record_finish(struct record *record, int result);

/* Record as @record says; in the background, if it says that.  Returns the exit status, of a
 * recording in the background once it has begun */
int record_service(const struct command *command, struct record *record);

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
