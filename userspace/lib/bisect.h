/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binary search in a sorted array.
 */
#ifndef TRACEBUF_BISECT_H
#define TRACEBUF_BISECT_H

/*
 * Raise @low to the first index from @low to before @high that is not @before, or to @high.
 * @before is an expression of @index, a name for the index: true for low ones, false for high ones.
 */
#define BISECT(low, high, index, before)					\
	for (__typeof__(low) index, bisect_end = (high); (low) < bisect_end;) {	\
		index = (low) + (bisect_end - (low)) / 2;			\
		if (before)							\
			(low) = index + 1;					\
		else								\
			bisect_end = index;					\
	}

#endif /* TRACEBUF_BISECT_H */
