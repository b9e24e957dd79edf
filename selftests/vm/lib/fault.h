/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Making allocations fail, for test_fault.c: one at a time, each in turn, or
 * all of the page allocator from some point on.
 *
 * A sweep does something over and over, with another allocation failing each
 * time, until it succeeds without having met a failure.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

enum fault_mode {
	FAULT_NTH,	/* the nth allocation of any kind; those after it succeed */
	FAULT_PAGES,	/* all pages after the nth: no fallback helps */
};

/* What is swept; all called with the same @ctx. */
struct fault_step {
	const char *name;
	int (*op)(void *ctx);		/* >= 0, or -errno */
	void (*undo)(void *ctx);	/* after a success: as before it */
	bool (*same)(void *ctx);	/* after a failure: is all as before it? */
	int least;			/* so many attempts have to fail */
	int other;			/* an errno that is as good as ENOMEM, or 0 */
	bool slow;			/* that it still works shows in the next attempt */
};

/* False, and the reason in *@why, if this kernel cannot do it. */
bool fault_init(const char **why);

/* False, with what is wrong on stdout as a comment. */
bool fault_sweep(const struct fault_step *step, enum fault_mode mode, void *ctx);

/* Writes @text to the file @path. */
bool fault_put(const char *path, const char *text);

#endif /* FAULT_H */
