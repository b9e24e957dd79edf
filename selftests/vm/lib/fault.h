/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes allocations fail: one at a time, each in turn, or all of the page allocator from some point
 * on.
 *
 * A sweep repeats an operation, failing another allocation each time, until the operation succeeds
 * without having met a failure.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

enum fault_mode {
	FAULT_NTH,	/* the nth allocation of any kind; those after it succeed */
	FAULT_PAGES,	/* all pages after the nth: no fallback helps */
};

/* The operation to sweep; all functions get the same @ctx. */
struct fault_step {
	const char *name;
	int (*op)(void *ctx);		/* >= 0, or -errno */
	void (*undo)(void *ctx);	/* undoes a success */
	bool (*same)(void *ctx);	/* after a failure: is all as before it? */
	int least;			/* a sweep with fewer failures fails */
	int other;			/* a legal errno besides ENOMEM, or 0 */
	bool slow;			/* the next attempt shows that it still works */
};

/* False, with the reason in *@why, if this kernel has no fault injection. */
bool fault_init(const char **why);

/* Returns false after it has printed the error as a comment. */
bool fault_sweep(const struct fault_step *step, enum fault_mode mode, void *ctx);

#endif /* FAULT_H */
