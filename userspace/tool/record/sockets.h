/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of sockets, for links in /proc/PID/fd, which have only inode numbers.  A name is the
 * address in /proc/net, so only sockets in the recorder's network namespace get one.
 */
#ifndef TRACEBUF_SOCKETS_H
#define TRACEBUF_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* Call @take for each line about a socket; @name: its address, or "".  A socket with several lines
 * has no certain address.  Stop early when @ends(@context) is true */
void sockets_each(void (*take)(uint64_t inode, const char *name, void *context),
		  bool (*ends)(const void *context), void *context);

#endif /* TRACEBUF_SOCKETS_H */
