/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording from its start to its end, for record, stream and recorders in the background.
 */
#ifndef TRACEBUF_RECORD_H
#define TRACEBUF_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include "output_file.h"
#include "tracebuf.h"
#include "tool/choose/choose.h"
#include "rotation.h"
#include "service.h"
#include "workload.h"
#include "tool/choose/setup.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

#define DEFAULT_SCHED "sched_switch,sched_wak*,sched_migrate_task,sched_process_*,"
#define DEFAULT_OTHER "irq,task,signal,power,block_rq_*,raw_syscalls,user"
#define DEFAULT_EVENTS DEFAULT_SCHED DEFAULT_OTHER

/* The help of record and stream: RECORD_MORE_HELP appears with --help-all only */
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
	"  -v, --verbose         show how the file is written, and the recorder's CPU time\n"
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
 * @device: session that controls the recording
 * @reader: session that acquires blocks: @device, or with several files a new one for each
 */
struct record {
	const char *output;
	bool fifo;			/* through save/saved channels */
	struct choice choice;
	struct target_threads target;
	bool defaults;			/* the events are DEFAULT_EVENTS */
	bool chosen;			/* @choice names all events to record */
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
	bool stream;			/* write each block as soon as possible */
	struct rotation rotation;
	struct service service;
	char **command;

	struct tb_device *device, *reader;
	struct tb_query query;
	struct channels *channels;	/* or NULL */
	struct output_file out;
	struct workload workload;
	int signals;
	struct tb_stats *each;
	uint64_t started, shown;	/* ns */
	uint64_t next_file;		/* time for the next file, ns; UINT64_MAX: never */
	uint64_t shown_recorded;
	bool progress, progress_used;
	int caught;
	bool rotate;			/* SIGUSR2 came */
};

/* Write blocks until the recording ends, or a signal ends it (loop.c).  0; -EIO: the file failed;
 * other -errno */
int record_loop(struct record *record);
/* Open another session for the provider, which shares the mapping of @record->device; NULL after
 * complaining */
struct tb_device *record_reader(struct record *record);
/* Stop, write the rest, print the table and warnings; @result: of record_loop().  EXIT_* */
int record_finish(struct record *record, int result);

/* Record as @record says.  Returns the exit status: at the end of the recording, or with --daemon
 * once the recording has begun */
int record_service(const struct command *command, struct record *record);

/* Run @command, record or stream; @output: the default of -o; @stream: also take the options of
 * stream.  Returns the exit status. */
int record_main(const struct command *command, const char *output, bool stream,
		int argc, char **argv);

/* ---- save/saved channels (channels.c) ---- */

struct channels;

/* Open a channel for every ring; NULL after complaining */
struct channels *channels_open(struct tb_device *device,
			       const struct tb_query *query);
void channels_close(struct channels *channels);

/* File for poll(): POLLIN when channels_move() has something to do */
int channels_fd(const struct channels *channels);

/* Save the blocks that are offered now.  Returns how many; 0: none; -ENODATA: the recording has
 * stopped and all blocks are saved; -EIO: a write failed; other -errno */
int channels_move(struct channels *channels, struct output_file *out);

/* Save all blocks of a recording that has stopped */
int channels_drain(struct channels *channels, struct output_file *out);

#endif /* TRACEBUF_RECORD_H */
