/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening a file whose name someone else chose.
 */
#ifndef TRACEBUF_PLAIN_FILE_H
#define TRACEBUF_PLAIN_FILE_H

#include <stdint.h>

/**
 * plain_file_open - open a regular file for reading
 * @at, @path: as of openat(2)
 * @resolve: RESOLVE_* of openat2(2)
 *
 * Refuses everything that does something when it is opened or read: devices, pipes, and all files
 * of /proc, /sys and other file systems that the kernel makes up.  May wait for as long as the file
 * system of @path does.
 *
 * Return: a file descriptor, -1 if there is no such file or it is refused.
 */
int plain_file_open(int at, const char *path, uint64_t resolve);

#endif /* TRACEBUF_PLAIN_FILE_H */
