// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload [-f] N: something of which it is known how many events it gives:
 * N calls of a system call that does not exist, N numbered signals (see
 * device.h), on CPU 0.  With -f, until it is killed, N at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"

int main(int argc, char **argv)
{
	bool forever = argc > 2 && !strcmp(argv[1], "-f");
	uint32_t n, i;

	if (argc != 2 + forever) {
		fprintf(stderr, "usage: workload [-f] N\n");
		return 2;
	}
	n = atoi(argv[1 + forever]);
	pin(0);
	do {
		for (i = 0; i < n; i++)
			syscall(NR_NOWHERE, i);
		fire(0, n);
	} while (forever);
	return 0;
}
