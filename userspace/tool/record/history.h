/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history of a provider: packed files in memory that a recorder in the background writes and
 * throws away, and what other commands do with them.
 *
 * The files are those of `record --compress --rotate` (series.h), in a folder of a tmpfs for each
 * provider.  They stay when the recorder ends, however it ends, until the provider records again.
 */
#ifndef TRACEBUF_HISTORY_H
#define TRACEBUF_HISTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink;

#define HISTORY_FOLDER "/run/tracebuf/history"
#define HISTORY_MEMORY (64ull << 20)	/* unless --memory says otherwise */
#define HISTORY_PART_LEAST (256u << 10)	/* bytes of a file: so that its threads are a small share */
#define HISTORY_PARTS 32u		/* files that --memory and --history are divided into */
#define HISTORY_NICE 10			/* of the recorder */

/**
 * struct history - where the history of a provider is
 * @folder: for all providers
 * @output: the name that the files' names are made of
 * @pid_file: locked by the recorder
 * @request: present while a snapshot waits for the recorder
 */
struct history {
	char folder[PATH_MAX];
	char output[PATH_MAX];
	char pid_file[PATH_MAX];
	char request[PATH_MAX];
};

/**
 * struct history_parts - the files, oldest first, open
 * @fds: @count of them
 */
struct history_parts {
	int   *fds;
	size_t count;
};

/**
 * struct history_sum - what is in the files
 * @bytes: memory that they take
 * @events: in them
 * @since: wall-clock time of the first event, ns; 0: not known
 */
struct history_sum {
	uint64_t bytes;
	uint64_t events;
	uint64_t since;
};

/* The names for @provider (NULL: "kernel") in @folder; -EINVAL: no such name can be */
int history_find(struct history *history, const char *folder, const char *provider);

/* Make the folder; refuse if it is not in memory, has no room for @memory bytes, or a recorder
 * runs.  Complains, EXIT_* */
int history_prepare(const struct history *history, uint64_t memory);

/* The recorder's process, 0: none runs, -errno: not known */
int history_recorder(const struct history *history);

/* Let the recorder finish the files with all events up to now.  Complains, EXIT_* */
int history_flush(const struct history *history);

/* End the recorder, and wait until it has written all events.  Complains, EXIT_* */
int history_stop(const struct history *history);

/* Delete the files, if no recorder runs; and the same for a provider */
void history_forget(const struct history *history);
void forget_history(const char *provider);

/*
 * Open the files; with @finished not the one that the recorder is writing.  A file that the
 * recorder deletes meanwhile, and those before it, are left out.  0 (there may be none); -errno
 */
int history_open(const struct history *history, bool finished, struct history_parts *parts);
void history_close(struct history_parts *parts);

/* Write the whole frames and blocks of all files to @sink, which is open.  0, -errno */
int history_write(const struct history_parts *parts, struct sink *sink);

/* 0, -errno */
int history_add_up(const struct history_parts *parts, struct history_sum *sum);

/* All of it up to now into the file @path.  Complains, EXIT_* */
int history_snapshot(const struct history *history, const char *path);

/* What there is, as lines of 'tracebuf status'; nothing if there is none */
void history_show(const struct history *history);

#endif /* TRACEBUF_HISTORY_H */
