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
#include <time.h>
#include "tracebuf.h"

#define DEFAULT_FILE "trace.tbuf"

/* Exit statuses */
enum {
	EXIT_FINE  = 0,
	EXIT_WRONG = 1,		/* the command failed, or found something wrong */
	EXIT_USAGE = 2,		/* the command line is wrong */
};

/* Options without a letter, of all commands: OPTION_FLUSH_MS is --flush-ms */
#define LONG_OPTIONS(X) \
	X(ANALYSIS) X(BACKLOG) X(BASE) X(BATCH) X(BUFFERED) X(BUFFERS) X(CALL) X(CGROUP) X(CHILDREN) \
	X(CLOCK) X(COLLAPSED) X(COMM) X(COMPRESS) X(CONTAINERS) X(CSV) X(DAEMON) X(DEBUG_DIR) X(DELAY) \
	X(DURABLE) X(DURABLE_MAX) X(DURABLE_STOP) X(ELEMENTS) X(EVENTS) X(EXCLUDE_PID) \
	X(EXCLUDE_SELF) X(FIELDS) X(FIFO) X(FILE) X(FILES) X(FILTER) X(FLUSH_MS) X(FOLLOW) \
	X(FORMAT) X(FROM) X(HEADER) X(HELP_ALL) X(HISTORY) X(HTML) X(INVERTED) X(JSON) X(JSONL) \
	X(KEEP) X(KERNEL) X(MAX_EVENTS) X(MEMORY) X(MIN_WIDTH) X(NAME) X(NICE) X(NO_HEADER) \
	X(NO_STATE) X(PID) X(PID_FILE) X(POLICY) X(POST_TIME) X(RANGE) X(RAW) X(RAW_TICKS) X(REVERSE) \
	X(ROTATE) X(RT) X(SCHEMA) X(SECTION) X(SLICE) X(SORT) X(SYSCALLS) X(THREADS) X(TID) \
	X(TITLE) X(TO) X(TOP) X(UNFINISHED) X(USER) X(VIEW) X(WEIGHT) X(WHY) X(WIDTH) \
	X(WRITERS)
enum {
	OPTION_LONG = 0x100,
#define NUMBER(option) OPTION_##option,
	LONG_OPTIONS(NUMBER)
#undef NUMBER
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
 * @whole: the message about an option that selects a part of a trace in other commands and that
 *	this one does not have; NULL: that of any unknown option
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *brief;
	const char *help;
	const char *whole;
};

/* Print "tracebuf: text" on standard error.  complain() returns EXIT_WRONG; misused() adds how to
 * get help, and returns EXIT_USAGE */
__attribute__((format(printf, 1, 2))) int complain(const char *text, ...);
__attribute__((format(printf, 2, 3)))
int misused(const struct command *command, const char *text, ...);
__attribute__((format(printf, 1, 2))) void note(const char *text, ...);

/* From now on, send messages to the system's log */
void messages_to_log(void);

/* Print @text with '?' for bytes that are not printable ASCII */
void print_plain(FILE *out, const char *text, size_t length);
/* Complain about damage of @file, and where it is; returns EXIT_WRONG */
int complain_file(const char *file, const struct tb_error *error);

/* The time in ns on CLOCK_MONOTONIC */
static inline uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

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

/**
 * next_option - get the next option of the command line
 * @command: its help is the table of its options
 * @order: "": options and operands in any order; "+": the first operand ends the options; "-": an
 *	operand is option 1
 *
 * Return: as getopt_long(): the option's letter, or OPTION_* if it has none, with its value in
 * optarg; '?' after a message; -1 at the end.
 */
int next_option(const struct command *command, const char *order, int argc, char **argv);

/* Print the help for 'h' and OPTION_HELP_ALL, and return EXIT_FINE.  For another (wrong) option,
 * print how to get help, and return EXIT_USAGE */
int show_help(const struct command *command, int option);

#endif /* TRACEBUF_COMMAND_H */
