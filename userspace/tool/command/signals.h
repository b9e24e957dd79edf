/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals of commands that run until a signal ends them.
 */
#ifndef TRACEBUF_SIGNALS_H
#define TRACEBUF_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/* Did the parent process leave this signal ignored, as nohup(1) does with SIGHUP? */
bool signal_ignored(int number);

/*
 * Block these signals, and open a non-blocking file to read them (signalfd).  Leave out SIGHUP if
 * it is ignored: the file would get it nevertheless.  Returns the file, or -errno.
 */
int signals_open(const int *numbers, size_t count);

/* Block SIGINT, SIGTERM and SIGHUP while a command writes a file: record/plain.h sees them pending
 * when it waits for a reader.  EXIT_* */
int signals_hold(void);

#endif /* TRACEBUF_SIGNALS_H */
