/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAP output for the tests of the ring. */
#ifndef RING_KTAP_H
#define RING_KTAP_H

#include <stdio.h>

static int ktap_count, ktap_failed;

static inline void ktap_start(int plan)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%d\n", plan);
}

/* @why: the error; NULL: the test passed */
static inline void ktap_result(const char *name, const char *why)
{
	ktap_count++;
	if (why) {
		ktap_failed++;
		printf("# %s\nnot ok %d %s\n", why, ktap_count, name);
	} else {
		printf("ok %d %s\n", ktap_count, name);
	}
}

static inline int ktap_end(void)
{
	printf("# %d of %d failed\n", ktap_failed, ktap_count);
	return ktap_failed ? 1 : 0;
}

#endif /* RING_KTAP_H */
