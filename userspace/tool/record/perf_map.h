/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of code that a program generates (JIT).  Such programs list their functions in
 * /tmp/perf-PID.map for perf(1): node --perf-basic-prof, python -X perf, java with
 * -XX:+DumpPerfMapAtExit.
 */
#ifndef TRACEBUF_PERF_MAP_H
#define TRACEBUF_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_NAME_MAX 512

/**
 * struct perf_map_function - the function at an address
 * @offset: bytes from the start of the function to @address
 * @name: at most PERF_MAP_NAME_MAX bytes; not checked; "": there were several functions
 */
struct perf_map_function {
	uint64_t address, offset;
	const char *name;
};

/**
 * struct perf_map_limits - what may still be read, for all processes
 * @bytes: of files
 * @steps: pairs of a function in a file and an address in it
 * @functions: with such an address, and addresses that are found
 */
struct perf_map_limits {
	size_t bytes, steps, functions;
};

/**
 * perf_map_read - read the functions that @pid has listed, if they contain @addresses
 * @since: CLOCK_MONOTONIC in ns of its latest exec or fork; 0: it started before the recording
 * @opened: CLOCK_MONOTONIC in ns of the start of the recording
 * @addresses: sorted, @count of them; each may be a return address
 * @limits: what is read is subtracted
 * @found: called for each of @addresses, and each address before one, that is in a function; if it
 *	does not return 0, the reading ends
 *
 * The file is looked up in the root directory of the process, by the PID that it has there.  It
 * must belong to the process's user, and must have been written to since the process started, or
 * since @since.  If the process has ended: in the caller's root directory, by @pid; it must belong
 * to root or the caller, and have been written to since @since or @opened, whichever is later.
 * Links are not followed.  An address that is in two functions with different names has none: the
 * code there was replaced.
 *
 * Return: 0; what @found returned; -ENOMEM; -E2BIG a limit was reached: some are missing.
 */
int perf_map_read(uint32_t pid, uint64_t since, uint64_t opened, const uint64_t *addresses,
		  size_t count, struct perf_map_limits *limits,
		  int (*found)(const struct perf_map_function *function, void *to), void *to);

#endif /* TRACEBUF_PERF_MAP_H */
