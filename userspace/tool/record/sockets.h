/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of sockets, which links in /proc/PID/fd have only numbers for: their addresses, as
 * /proc/net tells them of the recorder's network namespace.
 */
#ifndef TRACEBUF_SOCKETS_H
#define TRACEBUF_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* Call @take for each socket that has an address, until @ends(@context) */
void sockets_each(void (*take)(uint64_t inode, const char *name, void *context),
		  bool (*ends)(const void *context), void *context);

#endif /* TRACEBUF_SOCKETS_H */
