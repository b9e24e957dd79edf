/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that 'tracebuf record -- COMMAND' runs: made before the
 * recording starts, let go when it runs.
 */
#ifndef TRACEBUF_WORKLOAD_H
#define TRACEBUF_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct workload - a child that waits for its start
 * @pid: 0: none
 * @gate: write end of the pipe it waits on
 * @answer: read end of the pipe it tells its exec failure through
 * @status: of wait(), valid if @ended
 */
struct workload {
	pid_t pid;
	int   gate;
	int   answer;
	int   status;
	bool  ended;
};

/* Fork; the child waits.  -errno */
int workload_prepare(struct workload *workload, char **argv);
/* Let it go; 0, or -errno of its exec */
int workload_go(struct workload *workload);
/* Has it ended?  Does not wait. */
bool workload_ended(struct workload *workload);
/*
 * End it (it gets SIGTERM if it still runs) and wait.  @signals: of signals_open(), SIGCHLD among
 * them; SIGINT, SIGTERM or SIGHUP kill it meanwhile.  Or -1.
 */
void workload_end(struct workload *workload, int signals);
/* Its exit status as a shell would say it */
int workload_status(const struct workload *workload);

#endif /* TRACEBUF_WORKLOAD_H */
