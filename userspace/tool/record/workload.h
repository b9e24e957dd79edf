/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command of 'tracebuf record -- COMMAND': its process is created before the recording starts,
 * and executes COMMAND once the recording runs.
 */
#ifndef TRACEBUF_WORKLOAD_H
#define TRACEBUF_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct workload - the process of COMMAND
 * @pid: process; 0: none
 * @gate: write end of the pipe on which the child waits for its start
 * @answer: read end of the pipe in which the child puts the errno of a failed exec
 * @status: of wait(), valid if @ended
 */
struct workload {
	pid_t pid;
	int   gate;
	int   answer;
	int   status;
	bool  ended;
};

/* Fork; the child waits for workload_go().  0 or -errno */
int workload_prepare(struct workload *workload, char **argv);
/* Let the child execute COMMAND; 0, or -errno of its exec */
int workload_go(struct workload *workload);
/* Has the child ended?  Does not wait. */
bool workload_ended(struct workload *workload);
/*
 * Send SIGTERM to the child if it still runs, and wait for its end.  @signals: file of
 * signals_open(), with SIGCHLD: SIGINT, SIGTERM or SIGHUP now kill the child.  -1: no signals.
 */
void workload_end(struct workload *workload, int signals);
/* The child's exit status, as a shell reports it; 0 if it has not ended */
int workload_status(const struct workload *workload);

#endif /* TRACEBUF_WORKLOAD_H */
