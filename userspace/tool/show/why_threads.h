/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choose the threads to explain (analysis/why.h): those of an option --why, or of a selection.
 */
#ifndef TRACEBUF_WHY_THREADS_H
#define TRACEBUF_WHY_THREADS_H

#include "analysis/why.h"
#include "tool/show/selection.h"

#define WHY_THREADS_MAX 16

/**
 * struct why_threads - the chosen threads
 * @why: the analysis of all threads
 * @list: the chosen threads, and the interval of each
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
 * Analyse @trace, with times on clock @base, and choose the threads of @text: TIDs and names, with
 * * and ?, a comma between two.  @selection, which is started, sets the interval (--from, --to);
 * the default is the time in which the recording knows the thread.  Complains, EXIT_*; also of more
 * than WHY_THREADS_MAX threads.  The caller calls why_threads_close() in any case
 */
int why_threads_open(struct why_threads *threads, struct tb_trace *trace, const char *file,
		     const struct selection *selection, enum tb_timebase base, const char *text);
void why_threads_close(struct why_threads *threads);

/* Limit [@from, @to) to the time in which @selection, which is started, selects @thread: by its
 * numbers, its last cgroup, and its names, see why_named().  false: nothing is left */
bool why_threads_wanted(const struct selection *selection, const struct why *why, uint32_t thread,
			uint64_t *from, uint64_t *to);

/* Get the time of @thread to explain: that of @selection in which something is known, or all of the
 * thread.  @base: of @why.  false: there is none */
bool why_threads_time(const struct selection *selection, const struct why *why,
		      enum tb_timebase base, uint32_t thread, uint64_t *from, uint64_t *to);

#endif /* TRACEBUF_WHY_THREADS_H */
