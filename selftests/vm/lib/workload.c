// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload [-f] [-c CPU] N: makes a known number of events, on CPU 0 or another: N calls of a
 * system call that does not exist, and N numbered signals (device.h). With -f it repeats this until
 * it is killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"

int main(int argc, char **argv)
{
	bool forever = false;
	int option, cpu = 0;
	uint32_t n, i;

	while ((option = getopt(argc, argv, "fc:")) > 0 && option != '?') {
		if (option == 'c')
			cpu = atoi(optarg);
		else
			forever = true;
	}
	if (option > 0 || optind + 1 != argc) {
		fprintf(stderr, "usage: workload [-f] [-c CPU] N\n");
		return 2;
	}
	n = atoi(argv[optind]);
	pin(cpu);
	do {
		for (i = 0; i < n; i++)
			syscall(NR_NOWHERE, i);
		fire(0, n);
	} while (forever);
	return 0;
}
