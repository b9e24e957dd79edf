/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals of commands that go on until they are told to stop.
 */
#ifndef TRACEBUF_SIGNALS_H
#define TRACEBUF_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/* Has who started us had it ignored, as nohup(1) does with SIGHUP? */
bool signal_ignored(int number);

/*
 * From here on they are read from a file (signalfd), which does not block.  SIGHUP is not one of
 * them if it is ignored: it would come nevertheless.  The file, or -errno.
 */
int signals_open(const int *numbers, size_t count);

#endif /* TRACEBUF_SIGNALS_H */
