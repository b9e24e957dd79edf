/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subcommand, its exit status, and its messages.
 */
#ifndef TRACEBUF_COMMAND_H
#define TRACEBUF_COMMAND_H

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"

#define DEFAULT_FILE "trace.tbuf"

/* Exit statuses */
enum {
	EXIT_FINE  = 0,
	EXIT_WRONG = 1,		/* the command failed, or found something wrong */
	EXIT_USAGE = 2,		/* the command line is wrong */
};

/* Long options of all commands that have no letter */
enum {
	OPTION_ANALYSIS = 0x100, OPTION_BACKLOG, OPTION_BASE, OPTION_BATCH, OPTION_BUFFERED,
	OPTION_BUFFERS, OPTION_CGROUP, OPTION_CHILDREN, OPTION_CLOCK, OPTION_COLLAPSED, OPTION_COMM,
	OPTION_COMPRESS, OPTION_CSV, OPTION_DAEMON, OPTION_DEBUG_DIR, OPTION_DELAY, OPTION_DURABLE,
	OPTION_DURABLE_MAX, OPTION_DURABLE_STOP, OPTION_ELEMENTS, OPTION_EVENTS, OPTION_EXCLUDE_PID,
	OPTION_EXCLUDE_SELF, OPTION_FIELDS, OPTION_FIFO, OPTION_FILE, OPTION_FILTER,
	OPTION_FLUSH_MS, OPTION_FOLLOW, OPTION_FORMAT, OPTION_FROM, OPTION_HEADER, OPTION_HELP_ALL,
	OPTION_HISTORY, OPTION_HTML, OPTION_INVERTED, OPTION_JSON, OPTION_JSONL, OPTION_KEEP, OPTION_KERNEL,
	OPTION_MAX_EVENTS, OPTION_MEMORY, OPTION_MIN_WIDTH, OPTION_NAME, OPTION_NICE, OPTION_NO_HEADER,
	OPTION_NO_STATE, OPTION_PID, OPTION_PID_FILE, OPTION_POLICY, OPTION_POST_TIME, OPTION_RANGE,
	OPTION_RAW, OPTION_REVERSE, OPTION_ROTATE, OPTION_RT, OPTION_SCHEMA, OPTION_SECTION,
	OPTION_SLICE, OPTION_SORT, OPTION_SYSCALLS, OPTION_THREADS, OPTION_TID, OPTION_TITLE,
	OPTION_TO, OPTION_TOP, OPTION_UNFINISHED, OPTION_USER, OPTION_VIEW, OPTION_WEIGHT,
	OPTION_WHY, OPTION_WIDTH, OPTION_WRITERS,
};

/* -h shows the help up to here, --help-all shows all of it */
#define HELP_ENDS \
	"  -h, --help            show this text\n" \
	"      --help-all        show all options\n" \
	"\f"

/**
 * struct command - a subcommand
 * @name: its name on the command line
 * @run: runs it; argv[0] is the name; returns the exit status
 * @brief: one line for the overview
 * @help: text of --help-all; -h shows it up to HELP_ENDS, if it has that
 * @more_help: prints the rest of the help, or NULL
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *brief;
	const char *help;
	void (*more_help)(void);
};

/* Print "tracebuf: text" on standard error.  complain() returns EXIT_WRONG; misused() adds how to
 * get help, and returns EXIT_USAGE */
__attribute__((format(printf, 1, 2))) int complain(const char *text, ...);
__attribute__((format(printf, 2, 3)))
int misused(const struct command *command, const char *text, ...);
__attribute__((format(printf, 1, 2))) void note(const char *text, ...);

/* From now on, send messages to the system's log */
void messages_to_log(void);

/* Complain about damage of @file, and where it is; returns EXIT_WRONG */
int complain_file(const char *file, const struct tb_error *error);

/* "1 event was", "2 events were" */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static inline const char *was(uint64_t count)
{
	return count == 1 ? "was" : "were";
}

/* Read the next event.  Damage returns 0, as the end does: afterwards callers check
 * tb_cursor_fault() and tb_trace_fault() */
static inline int next_event(struct tb_cursor *cursor, struct tb_view *view)
{
	int result = tb_cursor_next(cursor, view);

	return result == -EBADMSG ? 0 : result;
}

/* Print the help for 'h' and OPTION_HELP_ALL, and return EXIT_FINE.  For another (wrong) option,
 * print how to get help, and return EXIT_USAGE */
int show_help(const struct command *command, int option);

#endif /* TRACEBUF_COMMAND_H */
