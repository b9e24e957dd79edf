/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history of a provider: a recorder in the background writes packed files into memory, and
 * deletes old ones.  Other commands read them.
 *
 * The files are those of `record --compress --rotate` (rotation.h), in a folder of a tmpfs for each
 * provider.  They stay after the recorder has ended or was killed, until the provider records
 * again.
 */
#ifndef TRACEBUF_HISTORY_H
#define TRACEBUF_HISTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_file;

#define HISTORY_FOLDER "/run/tracebuf/history"
#define HISTORY_MEMORY (64ull << 20)	/* default of --memory */
#define HISTORY_PART_LEAST (256u << 10)	/* bytes of a file: its list of threads is a small part */
#define HISTORY_PARTS 32u		/* files into which --memory and --history are divided */
#define HISTORY_NICE 10			/* of the recorder */

/**
 * struct history - the paths of a provider's history
 * @folder: folder of this provider
 * @output: name of which the files' names are made
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
 * struct history_parts - the open files of a history
 * @fds: @count files, oldest first
 */
struct history_parts {
	int   *fds;
	size_t count;
};

/**
 * struct history_sum - totals of the files
 * @bytes: memory of all files
 * @events: events in all files
 * @since: wall-clock time of the first event, ns; 0: not known
 */
struct history_sum {
	uint64_t bytes;
	uint64_t events;
	uint64_t since;
};

/* Fill in the paths for @provider (NULL: "kernel") below @folder; -EINVAL: invalid name */
int history_find(struct history *history, const char *folder, const char *provider);

/* Create the folder, and delete old files.  Refuse if the folder is not in memory or has no room
 * for @memory bytes, or a recorder runs.  Complains, EXIT_* */
int history_prepare(const struct history *history, uint64_t memory);

/* The process ID of the recorder; 0: none runs; -errno: not known */
int history_recorder(const struct history *history);

/* Let the recorder finish the files with all events up to now.  Complains, EXIT_* */
int history_flush(const struct history *history);

/* End the recorder, and wait until it has written all events.  Complains, EXIT_* */
int history_stop(const struct history *history);

/* Delete the files, unless a recorder runs; forget_history() takes the name of a provider */
void history_forget(const struct history *history);
void forget_history(const char *provider);

/*
 * Open the files; @finished: without the file that the recorder is writing.  If the recorder
 * deletes a file meanwhile, it and all older files are left out.  0 (also without files); -errno
 */
int history_open(const struct history *history, bool finished, struct history_parts *parts);
void history_close(struct history_parts *parts);

/* Write the whole frames and blocks of all files to @out, which is open.  0, -errno */
int history_write(const struct history_parts *parts, struct output_file *out);

/* 0, -errno */
int history_add_up(const struct history_parts *parts, struct history_sum *sum);

/* Write all events up to now into the file @path.  Complains, EXIT_* */
int history_snapshot(const struct history *history, const char *path);

/* Print a line for 'tracebuf status'; nothing if there are no files */
void history_show(const struct history *history);

#endif /* TRACEBUF_HISTORY_H */
