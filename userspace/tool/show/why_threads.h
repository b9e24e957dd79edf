/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which threads' time is divided by causes (analysis/why.h): those of an option --why, or of a
 * selection.
 */
#ifndef TRACEBUF_WHY_THREADS_H
#define TRACEBUF_WHY_THREADS_H

#include "analysis/why.h"
#include "tool/show/selection.h"

#define WHY_THREADS_MAX 16

/**
 * struct why_threads - the threads that were chosen
 * @why: what all threads did
 * @list: the chosen ones, and the interval of each
 */
struct why_threads {
	struct why *why;
	unsigned int count;
	struct {
		uint32_t thread;
		uint64_t from, to;
	} list[WHY_THREADS_MAX];
};

/*
 * Read what the threads of @trace did, times of @base, and choose those of @text: TIDs and names,
 * with * and ?, a comma between two.  @selection is started and tells the interval (--from, --to);
 * without one it is the time in which the recording knows the thread.  Complains, EXIT_*; also if
 * there are more than WHY_THREADS_MAX.  why_threads_close() in any case
 */
int why_threads_open(struct why_threads *threads, struct tb_trace *trace, const char *file,
		     const struct selection *selection, enum tb_timebase base, const char *text);
void why_threads_close(struct why_threads *threads);

/* Does @selection, which is started, select @thread?  By the last name and cgroup that it has */
bool why_threads_wanted(const struct selection *selection, const struct why *why, uint32_t thread);

#endif /* TRACEBUF_WHY_THREADS_H */
