/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorder that runs in the background: detached or under a service manager, and with
 * which priority.
 */
#ifndef TRACEBUF_SERVICE_H
#define TRACEBUF_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "tool/command/command.h"

#define SERVICE_LONG \
	{ "daemon",   no_argument,       NULL, OPTION_DAEMON }, \
	{ "pid-file", required_argument, NULL, OPTION_PID_FILE }, \
	{ "nice",     required_argument, NULL, OPTION_NICE }, \
	{ "rt",       required_argument, NULL, OPTION_RT }
#define SERVICE_HELP \
	"      --daemon          go to the background when recording has begun; messages go\n" \
	"                        to the system's log\n" \
	"      --pid-file FILE   write the recorder's process id to FILE while it runs\n" \
	"      --nice N          niceness of the recorder, -20..19; COMMAND keeps its own\n" \
	"                        (-20 if the user may set it, the niceness was 0, and\n" \
	"                        nothing is compressed; 0 leaves it as it was)\n" \
	"      --rt PRIORITY     run the recorder in real time (SCHED_FIFO), 1..99\n"

/**
 * struct service - as the command line has it
 * @daemon: detach
 * @pid_file: or NULL
 * @nice_given, @nice: --nice
 * @rt: --rt, 0: none
 * @hurry: with neither, before others of priority 0
 * @pid_fd: the pid file, locked, or -1
 * @parent: where the parent waits to be told that all is well, or -1
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

/* Returns 1 if @option was one of these, 0 if not, -1 after complaining */
int service_option(const struct command *command, int option, const char *value,
		   struct service *service);

/* Detach, if that is asked for: only the child returns -1, the parent EXIT_*; the pid file */
int service_begin(struct service *service);
/* The priorities; complains, EXIT_* */
int service_priority(const struct service *service);
/* It records: tell whoever waits for that */
void service_ready(struct service *service);
/* It is going to end */
void service_stopping(void);
void service_end(struct service *service);

/* What a service manager is to know (sd_notify(3)); nothing happens without one */
__attribute__((format(printf, 1, 2))) void service_notify(const char *text, ...);

#endif /* TRACEBUF_SERVICE_H */
