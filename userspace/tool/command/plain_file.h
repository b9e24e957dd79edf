/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open a file with a name that another user may have chosen.
 */
#ifndef TRACEBUF_PLAIN_FILE_H
#define TRACEBUF_PLAIN_FILE_H

#include <stdint.h>

/**
 * plain_file_open - open a regular file for reading
 * @at, @path: as of openat(2)
 * @resolve: RESOLVE_* of openat2(2)
 *
 * Refuses files that may act when they are opened or read: devices, pipes, and all files of /proc,
 * /sys, debugfs and tracefs.  May wait as long as the file system of @path does.
 *
 * Return: a file descriptor; -1: there is no such file, or it is refused.
 */
int plain_file_open(int at, const char *path, uint64_t resolve);

#endif /* TRACEBUF_PLAIN_FILE_H */
