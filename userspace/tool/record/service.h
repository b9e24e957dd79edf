/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorder in the background, detached or under a service manager, and its priority.
 */
#ifndef TRACEBUF_SERVICE_H
#define TRACEBUF_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "tool/command/command.h"

#define SERVICE_HELP \
	"      --daemon          go to the background when recording has begun; messages go\n" \
	"                        to the system's log\n" \
	"      --pid-file FILE   write the recorder's process id to FILE while it runs\n" \
	"      --nice N          niceness of the recorder, -20..19; COMMAND keeps its own\n" \
	"                        (-20 if the user may set it, the niceness was 0, and\n" \
	"                        nothing is compressed; 0 leaves it as it was)\n" \
	"      --rt PRIORITY     run the recorder in real time (SCHED_FIFO), 1..99\n"

/**
 * struct service - options of a recorder in the background, and its state
 * @daemon: detach
 * @pid_file: --pid-file, or NULL
 * @nice_given, @nice: --nice
 * @rt: --rt, or 0
 * @hurry: without --nice and --rt, raise the priority
 * @pid_fd: the pid file, locked, or -1
 * @parent: pipe on which the parent waits for a byte once the recording has begun, or -1
 */
struct service {
	bool        daemon;
	const char *pid_file;
	bool        nice_given;
	int32_t     nice;
	uint32_t    rt;
	bool        hurry;
	int         pid_fd;
	int         parent;
};

/* Parse an option of SERVICE_HELP.  Returns 1; 0: another option; -1 after complaining */
int service_option(const struct command *command, int option, const char *value,
		   struct service *service);

/* With --daemon detach; with --pid-file write the file.  Returns -1: go on and record; EXIT_*:
 * exit, as the parent or after a failure */
int service_begin(struct service *service);
/* Set the priority of this process; complains, EXIT_* */
int service_priority(const struct service *service);
/* The recording has begun: tell the service manager and the parent */
void service_ready(struct service *service);
/* The recording ends: tell the service manager */
void service_stopping(void);
/* Delete the pid file */
void service_end(struct service *service);

/* Send a message to the service manager, if there is one (sd_notify(3)) */
__attribute__((format(printf, 1, 2))) void service_notify(const char *text, ...);

#endif /* TRACEBUF_SERVICE_H */
