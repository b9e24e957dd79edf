/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several threads that read one recording: each takes the blocks of some CPUs, runs on these, and
 * writes into its lane of the file.
 */
#ifndef TRACEBUF_READERS_H
#include <stdbool.h>
#include <stddef.h>
#include "tool/command/command.h"
#include "tool/command/number.h"
#define TRACEBUF_READERS_H


#define READERS_MAX 256u
#define OPTION_READERS 0x230
#define READERS_LONG { "readers", required_argument, NULL, OPTION_READERS }
#define READERS_HELP \
	"      --readers WHO     several threads that read, each on the CPUs whose rings it\n" \
	"                        reads: 'node' one for each NUMA node, N threads, or sets of\n" \
	"                        CPUs: 0-3:4-7 (one thread, anywhere)\n"

struct record;
struct readers;

/**
 * struct reader_sets - whose blocks each of them takes
 * @text: as on the command line; NULL: there are none
 * @count: how many
 * @list: room for READERS_MAX
 */
struct reader_sets {
	const char *text;
	unsigned int count;
	struct cpu_bits *list;
};

/* Returns 1 if @option was this one, 0 if not, -1 after complaining */
int readers_option(const struct command *command, int option, const char *value,
		   struct reader_sets *sets);
/* For this many CPUs; complains, EXIT_* */
int reader_sets_make(struct reader_sets *sets, unsigned int nr_cpus);

/* Threads for a recording whose sink is open; they wait.  Complains, NULL */
struct readers *readers_open(struct record *record);
void readers_close(struct readers *readers);

/* Their devices and lanes, for the reader and the file that the record has now; -errno, complains
 * if there is no other reason to */
int readers_begin(struct readers *readers);
/* The other way round; they hold */
void readers_settle(struct readers *readers);

/* Let them go on, as blocks come */
void readers_go(struct readers *readers);
/* POLLIN: one does not go on */
int readers_fd(const struct readers *readers);
/* Until all have stopped and what they have taken is written.  The first that was wrong: -EFBIG
 * the file has its size, -ENODATA the recording has ended, -EIO the sink failed, others; 0 */
int readers_hold(struct readers *readers);
/* What is in the rings now, flushed; -EFBIG, unless @any: go on with @more in the next file */
int readers_empty(struct readers *readers, bool any, bool more);
/* Until all is drained (the recording has stopped) */
int readers_drain(struct readers *readers);

#endif /* TRACEBUF_READERS_H */
