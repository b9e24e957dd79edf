/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tool tracebuf, inside: what its subcommands share.
 */
#ifndef TRACEBUF_TOOL_H
#define TRACEBUF_TOOL_H

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "tool/record/pack.h"
#include "tool/record/parts.h"
#include "tracebuf.h"

#define DEFAULT_FILE "trace.tbuf"

/* Exit statuses */
enum {
	EXIT_FINE  = 0,
	EXIT_WRONG = 1,		/* it did not work, or what was checked is bad */
	EXIT_USAGE = 2,		/* the command line is wrong */
};

/**
 * struct command - a subcommand
 * @name: as typed
 * @run: argv[0] is the name; returns the exit status
 * @brief: one line for the overview
 * @help: what -h shows
 * @more_help: shows what else it shows, or NULL
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *brief;
	const char *help;
	void (*more_help)(void);
};

extern const struct command cmd_record, cmd_print, cmd_list, cmd_status,
	cmd_start, cmd_stop, cmd_flush, cmd_enable, cmd_disable, cmd_verify,
	cmd_save, cmd_export, cmd_provider, cmd_stream, cmd_snapshot,
	cmd_arm, cmd_mark, cmd_report, cmd_diff, cmd_query, cmd_recover,
	cmd_flamegraph, cmd_top;

/* ---- messages (message.c) ---- */

/* "tracebuf: text" on standard error; the first returns EXIT_WRONG, the
 * second adds how to get help and returns EXIT_USAGE */
__attribute__((format(printf, 1, 2))) int complain(const char *text, ...);
__attribute__((format(printf, 2, 3)))
int misused(const struct command *command, const char *text, ...);
__attribute__((format(printf, 1, 2))) void note(const char *text, ...);

/* From here on they go to the system's log */
void messages_to_log(void);

/* What is wrong with @file, where; returns EXIT_WRONG */
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

/* The next event of a file.  Damage ends it as its end does: who reads on tells of that by
 * tb_cursor_fault() and tb_trace_fault() */
static inline int next_event(struct tb_cursor *cursor, struct tb_view *view)
{
	int result = tb_cursor_next(cursor, view);

	return result == -EBADMSG ? 0 : result;
}

/* Help for -h (EXIT_FINE), or after a wrong option (EXIT_USAGE) */
int show_help(const struct command *command, int option);

/* ---- option values (number.c, options.c) ---- */

/*
 * All numbers of options come through these: decimal digits alone, no leading blank or '+'.
 * The functions that return int want nothing behind the number and return -EINVAL.
 */

/* Digits of @base, 16 at most, with a value up to @max.  Return where they end, NULL if there
 * is no such number. */
const char *parse_number(const char *text, unsigned int base, uint64_t max, uint64_t *value);
int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value);
int parse_s32(const char *text, int32_t min, int32_t max, int32_t *value);
/* Digits with an optional fraction.  Return where they end, or NULL. */
const char *parse_decimal(const char *text, double *value);
/* A time: "5", "0.5s", "200ms", "10m", "1h" */
int parse_seconds(const char *text, double *seconds);

/* A bit for each CPU */
#define CPUS_MAX 8192u
struct cpu_bits {
	uint8_t bits[CPUS_MAX / 8];
};

static inline bool has_cpu(const struct cpu_bits *cpus, unsigned int cpu)
{
	return cpus->bits[cpu / 8] >> cpu % 8 & 1;
}

/* "0-3,7" into bits; -EINVAL.  @rest: where it ends, or NULL: at the end of @text */
int parse_cpus(const char *text, const char **rest, struct cpu_bits *cpus);

/* ---- sizes (sizes.c) ---- */

/**
 * struct sizes_for - what a recording is for, and where
 * @cpus: how many have a ring
 * @streaming: there is a reader while it records
 * @live: who gets the blocks wants them soon
 * @file_bytes: files are to have this size; 0: any
 * @total, @available: memory of the machine, bytes; 0: unknown
 */
struct sizes_for {
	unsigned int cpus;
	bool     streaming;
	bool     live;
	uint64_t file_bytes;
	uint64_t total, available;
};

/**
 * struct sizes - of the rings
 * @cpu: bytes for each CPU
 * @buffer: bytes of each buffer
 */
struct sizes {
	uint64_t cpu, buffer;
};

/* Bytes for each CPU, where there is memory enough */
#define SIZES_CPU_MOST (4u << 20)

struct sizes sizes_choose(const struct sizes_for *purpose);
/* The same for this machine, whose memory is filled in */
struct sizes sizes_here(struct sizes_for *purpose);
/* What to try when there was no memory for @sizes; false: nothing smaller is of use */
bool sizes_smaller(struct sizes *sizes);
/* Bytes of blocks that may wait for a late file beyond the rings, if so many are available (0:
 * unknown); and here and now */
uint64_t sizes_backlog(uint64_t available);
uint64_t sizes_backlog_here(void);

/**
 * struct setup - a provider's configuration as the command line gives it
 * @config: zero: the default
 * @cpus: a bit for each CPU to record, where @cpu_list is given
 * @cpu_list: as typed, or NULL: all
 * @given: any of it was
 * @sized: the machine decides on the sizes
 * @purpose: for what
 * @sizes: what it gives, once applied; @wanted: what was tried first
 * @rings: how many the device has, with this configuration; 0: it has not been applied
 */
struct setup {
	struct tb_config config;
	struct cpu_bits cpus;
	const char *cpu_list;
	bool        given;
	bool        sized;
	struct sizes_for purpose;
	struct sizes sizes, wanted;
	unsigned int rings;
};

/* Options for struct setup that record, start and provider create share */
#define SETUP_SHORT "b:B:m:w:c:"
#define SETUP_LONG \
	{ "buffers",   required_argument, NULL, 'b' }, \
	{ "elements",  required_argument, NULL, 'B' }, \
	{ "mode",      required_argument, NULL, 'm' }, \
	{ "watermark", required_argument, NULL, 'w' }, \
	{ "cpu",       required_argument, NULL, 'c' }, \
	{ "policy",    required_argument, NULL, 0x100 }, \
	{ "clock",     required_argument, NULL, 0x101 }, \
	{ "durable",   required_argument, NULL, 0x102 }, \
	{ "flush-ms",  required_argument, NULL, 0x103 }, \
	{ "durable-max",  required_argument, NULL, 0x104 }, \
	{ "durable-stop", no_argument,       NULL, 0x105 }
#define SETUP_SIZES_HELP \
	"  -b, --buffers N       buffers per CPU, 2..4096 (32); oneshot: from 1 on\n" \
	"  -B, --elements N      elements of 16 bytes per buffer, a power of two,\n" \
	"                        64..65536 (1024)\n"
#define SETUP_MARK_HELP \
	"  -w, --watermark N     wake the reader at this fill level, percent (70)\n"
#define SETUP_MODE_HELP \
	"  -m, --mode MODE       streaming (default); circular: overwrite until it is\n" \
	"                        stopped; oneshot: until the buffers are full\n" \
	"      --policy POLICY   when the reader is behind: overwrite the oldest\n" \
	"                        (default) or drop the newest\n"
#define SETUP_REST_HELP \
	"  -c, --cpu LIST        record on these CPUs, as in 0-3,7 (all)\n" \
	"      --clock CLOCK     auto (default), tsc, arch, mono\n" \
	"      --durable KIB     size of the durable buffer, 64..65536 (1024)\n" \
	"      --durable-max KIB it may grow to this (16 times its size)\n" \
	"      --durable-stop    stop when it is full instead\n" \
	"      --flush-ms N      hand over half-full buffers this often (never)\n"
#define SETUP_HELP SETUP_SIZES_HELP SETUP_MODE_HELP SETUP_MARK_HELP SETUP_REST_HELP
/* Of commands that call setup_size() */
#define SETUP_SIZED_HELP \
	"                        (without -b, -B and -w: 4 MiB per CPU, less if all of it\n" \
	"                        were more than 1/64 of the memory, in buffers of up to\n" \
	"                        128 KiB, and the reader is woken when one is full; with\n" \
	"                        any of them the others are what is said here)\n"
#define SETUP_MACHINE_HELP \
	SETUP_SIZES_HELP SETUP_MODE_HELP SETUP_MARK_HELP SETUP_SIZED_HELP SETUP_REST_HELP

/* Returns 1 if @option was one of these, 0 if not, -1 after complaining */
int setup_option(const struct command *command, int option, const char *value,
		 struct setup *setup);

/* Do they go together?  Complains; EXIT_FINE or EXIT_USAGE */
int setup_check(const struct command *command, const struct setup *setup);

/* Unless the command line has any of them, sizes and mark are what the machine gives for
 * @purpose, of which streaming and CPUs are filled in */
void setup_size(struct tb_device *device, struct setup *setup, struct sizes_for purpose);

/* Configure the device's provider, or complain; EXIT_* */
int setup_apply(struct tb_device *device, struct setup *setup);

/* How much memory the rings take, and why not more */
void setup_show(const struct setup *setup, const struct tb_query *query);

/* Options of commands that write what is in a provider's buffers to a file: -p, -o, -h, and -s
 * unless @stop is NULL.  -1 to go on, or the exit status */
int output_options(const struct command *command, int argc, char **argv,
		   const char **provider, const char **output, bool *stop);

/* ---- events by name (events.c) ---- */

struct patterns {
	char   **list;
	size_t   count;
};

/* Add the comma-separated patterns of @text; -ENOMEM, -EINVAL if empty */
int patterns_add(struct patterns *patterns, const char *text);
void patterns_free(struct patterns *patterns);

/* Does "system:event" match one, as the kernel would say it? */
bool patterns_match(const struct patterns *patterns, const char *system,
		    const char *name);

/* Does "system:event" match this one? */
bool pattern_match(const char *pattern, const char *system, const char *name);

/* Enable or disable what matches; @optional: nothing need.  Complains, EXIT_* */
int pattern_select(struct tb_device *device, const char *pattern,
		   enum tb_select_op op, enum tb_form form, bool optional);

/* Nothing does: complain, with what was probably meant; EXIT_WRONG */
int unknown_event(struct tb_device *device, const char *pattern);

/* ---- nearest names (nearest.c) ---- */

/* "did you mean" for @wanted over the names a callback yields */
struct nearest {
	const char *wanted;
	struct { char name[2 * TB_NAME_MAX]; size_t distance; } best[4];
};

void nearest_start(struct nearest *nearest, const char *wanted);
void nearest_offer(struct nearest *nearest, const char *system,
		   const char *name);
/* The message's tail: "; did you mean a, b or c?", "" if nothing is near */
const char *nearest_text(const struct nearest *nearest, char *text, size_t size);

/* ---- device (live.c) ---- */

/* What commands that talk to the device have in common; NULL: "kernel" */
#define PROVIDER_LONG { "provider", required_argument, NULL, 'p' }
#define PROVIDER_HELP \
	"  -p, --provider NAME   another provider than 'kernel' (see 'tracebuf provider')\n"

/* Open for @provider (NULL: "kernel") or complain; NULL */
struct tb_device *open_device(const char *provider, unsigned int flags);

/* "tracebuf stop -p NAME", for this device */
const char *stop_command(struct tb_device *device, char text[64]);

/* Somebody's recording is running: complain, and do not advise to end it.  EXIT_WRONG */
int recording_already(struct tb_device *device);

/* Why it did not start; returns EXIT_WRONG */
int start_failed(struct tb_device *device, int result);

/* "there are kernel, x and y", for messages */
const char *provider_names(struct tb_device *device, char *text, size_t size);

/* Is provider @name what reserved memory held when the module was loaded? */
bool is_previous(struct tb_device *device, const char *name);

/* What the buffers of a recording that does not run hold goes to a file (cmd/control.c); with
 * @stop it is stopped before.  Complains, EXIT_* */
int save_device(struct tb_device *device, const char *provider, const char *output, bool stop);

/* What a provider is and does */
void show_query(const struct tb_query *query);
void show_enabled(struct tb_device *device);

/* Warns if the recording ended by itself, and says why; then returns true. Warns if names of threads
 * were lost */
bool warn_stopped(const struct tb_query *query);

/* Sum of the books of all CPUs; @each may be NULL, room for nr_cpus */
int read_stats(struct tb_device *device, unsigned int nr_cpus,
	       struct tb_stats *each, struct tb_stats *sum);

/* Table per CPU; @full: all columns */
void print_table(FILE *out, const struct tb_stats *each, unsigned int nr_cpus,
		 const struct tb_stats *sum, bool full);

/* Warn when events are missing */
void warn_lost(const struct tb_stats *sum);

/* ---- programs that write (writers.c) ---- */

/* Are the books of their writers in order?  Complains; how many problems there are */
unsigned int writers_check(const struct tb_trace *trace, const char *file);
/* A table of them, nothing if there are none */
void writers_show(const struct tb_trace *trace);
/* What they call their events; @shown goes up.  Complains, EXIT_* */
int writers_list(const struct tb_trace *trace, const struct patterns *patterns,
		 unsigned int *shown);
/* Those that write to the device's provider now; 0 or -errno */
int writers_status(struct tb_device *device);

/* ---- what programs may write (quota.c) ---- */

/* A line of what they may, and what was kept out; the latter as a warning, if there is any */
void quota_show(struct tb_device *device);
void quota_note(struct tb_device *device);

/* ---- blocks into a file (sink.c) ---- */

#define SINK_BATCH 256

/**
 * struct backlog - copies of blocks that wait for a late file, so that the rings need not (direct.h)
 * @rings: those that there may be
 * @ring_blocks: blocks that each of them has
 * @limit: bytes of copies at most; 0: none are made
 * @bytes: of the copies that there are now
 * @most: of those that there were at once
 * @full: there was no room for more
 * By the threads of all lanes.
 */
struct backlog {
	unsigned int rings;
	unsigned int ring_blocks;
	_Atomic uint64_t limit;
	_Atomic uint64_t bytes;
	_Atomic uint64_t most;
	_Atomic bool full;
};

/**
 * struct sink_way - how the blocks get into the file
 * @direct: while the reader goes on, past the page cache if possible (direct.h)
 * @buffered: not past it
 * @parts: there will be several files
 * @compress: zstd, of this @level (0: the usual one), by @threads
 * @block_bytes: size of a ring's blocks
 * @most: bytes that a file should not have more of; 0: any number
 * @backlog: what may wait for it beyond the rings, or NULL: nothing
 */
struct sink_way {
	bool     direct;
	bool     buffered;
	bool     parts;
	bool     compress;
	int      level;
	unsigned int threads;
	size_t   block_bytes;
	uint64_t most;
	struct backlog *backlog;
};

/**
 * struct sink - where the blocks go
 * @fd: the file
 * @name: for messages
 * @regular: it can be truncated to whole blocks
 * @made: it was not there before
 * @old: it was, with whatever is in it
 * @begun: that is gone, what is written comes
 * @keep: what could not be written stays with the device, for another try
 * @bytes: written, whole blocks
 * @total: bytes of the files before this one
 * @rolling: of the blocks written, those with events of a CPU
 * @unwritten: events taken from the buffers that could not be written
 * @no_stacks: there are none in the blocks, which is not looked for
 * @addresses: addresses of the stacks in them, or NULL
 * @way: how
 * @direct: what writes, or NULL: write()
 * @pack: what compresses, or NULL
 * @lanes: several threads that write into it (lane.h), or NULL
 * @parts: the books of all files
 * @continued: there is a file before this one, which is still to be said
 * @notes: blocks of notes in this file
 * @failed: -errno of the first failure, 0
 * @refused: -errno of giving blocks back, 0
 */
struct sink {
	int         fd;
	const char *name;
	bool        regular;
	bool        made, old, begun, keep;
	uint64_t    bytes;
	uint64_t    total;
	uint64_t    rolling;
	uint64_t    unwritten;
	bool        no_stacks;
	struct addresses *addresses;
	struct sink_way way;
	struct direct *direct;
	struct pack *pack;
	struct lanes *lanes;
	struct parts parts;
	bool        continued;
	uint64_t    notes;
	int         failed;
	int         refused;
};

/* "-" is standard output; what is in a file stays until something is written; EXIT_* */
int sink_open(struct sink *sink, const char *path);
/* There will be something to write; what was in the file goes */
void sink_begin(struct sink *sink);
/* How, if not with write(); once, before anything is written */
int sink_use(struct sink *sink, const struct sink_way *way);
/* End the file and go on in another one.  The reader must be another one from here on, which
 * gets the durable blocks anew.  If the next cannot be opened this one goes on: complains */
int sink_next(struct sink *sink, const char *path);
/* Names for the addresses of stacks go behind the blocks; a file that was made for nothing
 * goes; complains about what failed
 * earlier or now; EXIT_* */
int sink_close(struct sink *sink);
/* Take what there is, SINK_BATCH at most, write it, give it back.  Returns how many blocks, 0
 * when there is nothing now, -ENODATA drained, -EIO the sink failed, others */
int sink_move(struct sink *sink, struct tb_device *device, uint32_t flags);
/* Write one block that somebody else gives back; -EIO the sink failed */
int sink_put(struct sink *sink, struct tb_device *device,
	     const struct tb_ref *ref);
/* Is there room for what sink_move() takes?  If not, sink_fd() tells when there is */
bool sink_ready(const struct sink *sink);
/* For poll(): POLLIN when sink_move() has something to finish; -1: never */
int sink_fd(const struct sink *sink);
/* Until there is more room */
void sink_wait(struct sink *sink);
/* How many blocks at once, so that a file is not much longer than it is to be */
unsigned int sink_batch(const struct sink *sink);
/* How it is written, as a message */
void sink_describe(const struct sink *sink);
/* Bytes that the file has or will have of what was moved */
uint64_t sink_size(const struct sink *sink);
/* Until it is drained (the recording has stopped) */
int sink_drain(struct sink *sink, struct tb_device *device);
/* Blocks in memory, one after the other; 0, -EIO the sink failed */
int sink_blocks(struct sink *sink, const void *data, size_t bytes);

/* ---- snapshots (cmd/snapshot.c) ---- */

/* Room for a name of a file that carries the time */
#define STAMPED_NAME 64

/* "snapshot-DATE-TIME.tbuf", one that does not exist yet */
void stamped_name(char *name);

/* Is there anything to take a snapshot of?  Complains, EXIT_* */
int snapshot_possible(const struct tb_query *query);

/* What a circular recording holds goes to a file; complains, EXIT_*.  The device must not
 * have been used for reading, and is of no use for that afterwards. */
int take_snapshot(struct tb_device *device, const char *output);

#endif /* TRACEBUF_TOOL_H */
