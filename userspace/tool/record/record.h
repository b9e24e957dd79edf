/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording from its start to its end, for record and recorders in the background.
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
