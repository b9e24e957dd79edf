/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf - read trace files, decode events, drive /dev/tracebuf.
 *
 * The shortest program that prints a trace:
 *
 *	struct tb_trace *trace;
 *	struct tb_cursor *cursor;
 *	struct tb_error error;
 *	struct tb_view view;
 *	char text[512];
 *	int result;
 *
 *	if (tb_trace_open("trace.tbuf", &trace, &error) < 0)
 *		errx(1, "%s", error.text);
 *	if (tb_cursor_open(trace, &cursor) < 0)
 *		errx(1, "out of memory");
 *	while ((result = tb_cursor_next(cursor, &view)) > 0)
 *		if (tb_view_print(trace, &view, text, sizeof(text)) > 0)
 *			puts(text);
 *	if (tb_cursor_error(cursor, result, &error) < 0)
 *		errx(1, "this is not all: %s", error.text);
 *	tb_cursor_close(cursor);
 *	tb_trace_close(trace);
 *
 * docs/library.md explains how the parts fit together; samples/read/ has complete programs.
 *
 * Conventions: functions return 0 or a count, and -errno on failure.  None prints; none keeps
 * global state.  Times are ticks of the trace clock, unless a name says ns (nanoseconds of
 * CLOCK_MONOTONIC, unless stated otherwise) or ms.  Offsets are bytes from the start of the file.
 * Thread ids are those of the initial pid namespace.  Returned pointers belong to the trace and
 * are valid until it is closed, unless stated otherwise.  The layouts of linux/tracebuf.h (struct
 * tb_block, tb_gap, tb_init, ...) are used directly.
 *
 * Threads: use each object from one thread at a time.  Exception: several threads may query an
 * open trace, and read it with a cursor each, as long as no thread selects a recording or closes
 * the trace.  A followed trace belongs to one thread.
 *
 * Errors: the library never reads outside of a trace, whatever the trace contains.  It reports
 * damage with its offset, and shows everything before it.
 */
#ifndef TRACEBUF_H
#define TRACEBUF_H

#include <stddef.h>
#include <stdint.h>
#include <linux/tracebuf.h>
#include <linux/tracebuf_producer.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tb_trace;
struct tb_cursor;
struct tb_device;
struct tb_channel;
struct tb_walk;

/**
 * struct tb_error - a failure, described for a person
 * @code: -errno, as the function returned it
 * @offset: byte in the file at which it occurred; TB_OFFSET_NONE if there is no such place
 * @text: one sentence without a newline and without the file's name
 */
struct tb_error {
	int      code;
	uint64_t offset;
	char     text[256];
};

#define TB_OFFSET_NONE UINT64_MAX

/** tb_version - version of the library, "major.minor.patch" */
const char *tb_version(void);

/* ---- trace ------------------------------------------------------------ */

/**
 * tb_trace_open - open a trace file ("-": standard input) and index it
 * @path: the file; a regular file is mapped, anything else is read into memory
 * @trace: out: the trace, for tb_trace_close(); NULL on failure
 * @error: out, may be NULL
 *
 * A file that starts as a trace but is truncated or damaged later opens: the cursor shows all
 * whole blocks, then tb_cursor_next() returns -EBADMSG instead of 0, and tb_trace_fault()
 * describes the damage.  Frames of a packed or compressed file are unpacked when they are needed
 * and dropped later; offsets count unpacked bytes.
 * Errors: -EINVAL not a trace, -ENODATA empty or shorter than its first block, -EPROTO unknown
 * version, -EISDIR, -ENOMEM, and those of open(), fstat() and read().
 */
int tb_trace_open(const char *path, struct tb_trace **trace,
		  struct tb_error *error);

/* tb_trace_open_with() flags */
#define TB_OPEN_HEADERS	0x01u	/* read block headers only */

/**
 * tb_trace_open_with - tb_trace_open() with @flags, TB_OPEN_*
 *
 * By default opening reads the heads of all events once, to find clock records and what programs
 * have written.  With TB_OPEN_HEADERS it reads the headers of blocks and the durable blocks only,
 * so opening takes less time; then cursors show no records of programs (TB_VIEW_USER), and
 * tb_trace_syncs() has durable records only.  Errors: also -EINVAL for unknown flags.
 */
int tb_trace_open_with(const char *path, uint32_t flags,
		       struct tb_trace **trace, struct tb_error *error);

/** tb_trace_open_fd - tb_trace_open() for a descriptor, which the caller may close afterwards */
int tb_trace_open_fd(int fd, struct tb_trace **trace, struct tb_error *error);

/** tb_trace_open_memory - tb_trace_open() for @size bytes at @data (8-byte aligned), which the
 *  caller must neither change nor free until the trace is closed */
int tb_trace_open_memory(const void *data, size_t size,
			 struct tb_trace **trace, struct tb_error *error);

/** tb_trace_close - free a trace; NULL is allowed.  Close its cursors first. */
void tb_trace_close(struct tb_trace *trace);

/** tb_trace_fault - the first fault in the structure of the file, NULL if there is none
 *
 * Everything before the offset is readable.  In a packed or compressed file the offset is that of
 * the damaged frame in the file; frames after it are readable, too. */
const struct tb_error *tb_trace_fault(const struct tb_trace *trace);

/** tb_trace_size - size of the (unpacked) file in bytes */
uint64_t tb_trace_size(const struct tb_trace *trace);

/**
 * tb_trace_recordings - how many recordings the file holds, at least 1
 *
 * A file may be several traces concatenated: a TB_EV_INIT of another recording starts the next
 * one.  All functions below, and cursors, work on the selected recording: at first number 0.
 */
unsigned int tb_trace_recordings(const struct tb_trace *trace);

/**
 * tb_trace_next_recording - select the recording after the selected one
 *
 * The only way to select in a followed trace: tb_cursor_next() returns 0 where a recording ends,
 * and this function finds out whether another one has begun.  No cursor may be open.
 * Return: 1; 0 there is none (device: it has not been started again yet); -EBUSY a cursor of a
 * followed trace is open.
 */
int tb_trace_next_recording(struct tb_trace *trace);

/** tb_trace_select - select recording @index, from 0; -ERANGE.  No cursor may be open. */
int tb_trace_select(struct tb_trace *trace, unsigned int index);

/** tb_trace_selected - number of the selected recording, from 0 */
unsigned int tb_trace_selected(const struct tb_trace *trace);

/** tb_trace_init - the initialisation record; NULL if the file has none (its start was cut off) */
const struct tb_init *tb_trace_init(const struct tb_trace *trace);

/** tb_trace_nr_cpus - 1 + the highest CPU number with a block or totals */
unsigned int tb_trace_nr_cpus(const struct tb_trace *trace);

/** tb_trace_totals - the counts of @cpu when the recording stopped, NULL if the trace has none */
const struct tb_totals *tb_trace_totals(const struct tb_trace *trace,
					unsigned int cpu);

/** tb_trace_snapshot - the counts of @cpu when the last snapshot in the file began, NULL if there
 *  are none.  They match the blocks in this file if @blocks is the last sequence number + 1. */
const struct tb_totals *tb_trace_snapshot(const struct tb_trace *trace,
					  unsigned int cpu);

/**
 * tb_trace_tail - what is missing after the last block of @cpu, according to its totals
 * @last: the header of that block, NULL if there is no block
 * @lost: out: the number of lost events, and the span of time that they are from
 * @ticks: out: the end of that span
 *
 * Return: 1; 0 if the trace does not show that anything is missing.
 */
int tb_trace_tail(const struct tb_trace *trace, unsigned int cpu,
		  const struct tb_block *last, struct tb_gap *lost,
		  uint64_t *ticks);

/** tb_trace_string - name of number @key of @kind (TB_STRING_*), NULL if unknown; system calls
 *  and softirqs fall back to built-in tables.  Valid until a followed trace renames @key. */
const char *tb_trace_string(const struct tb_trace *trace, uint32_t kind,
			    uint32_t key);

/**
 * tb_trace_selection - time at which the set of recorded events changed
 * @index: number of the change, from 0, in order of time; number 0 is the start of the recording
 * @ticks: out: events that this change enables are recorded from here on, events that it disables
 *	are recorded up to here
 *
 * Return: 0; -ENOENT there is no such change, or the kernel module did not record changes.
 */
int tb_trace_selection(const struct tb_trace *trace, unsigned int index, uint64_t *ticks);

/** tb_trace_selects - 1 if event @id is recorded between change @index and the next change, or if
 *  there is no such change; else 0 */
int tb_trace_selects(const struct tb_trace *trace, unsigned int index, uint16_t id);

/**
 * tb_trace_threads_lost - tell whether threads may have no name, or an old one
 * @lost: out: counts of lost records of threads; all zero if none was lost
 *
 * Return: 1 if so, else 0.
 */
int tb_trace_threads_lost(const struct tb_trace *trace, struct tb_threads_lost *lost);

/** tb_trace_suppressed - counts of events that rules (by id) and the choice of threads (id 0) kept
 *  out, as written at the stop; @count out, NULL if there are none */
const struct tb_suppressed *tb_trace_suppressed(const struct tb_trace *trace,
						size_t *count);

/**
 * tb_trace_symbol - find the function of the kernel that contains @address
 * @name, @length: out: its name, not NUL-terminated, with " [module]" if it is in a module
 * @offset: out: bytes from the function's start
 *
 * Subtract 1 from return addresses (all but the first of a stack) to find the calling function.
 * Return: 0; -ENOENT the trace does not have it.
 */
int tb_trace_symbol(const struct tb_trace *trace, uint64_t address,
		    const char **name, size_t *length, uint64_t *offset);

/**
 * struct tb_code - place of a program's code in a file
 * @path, @length: the file's name in the mount namespace of the program, not NUL-terminated;
 *	"[vdso]", "//anon" and the like if there is no file
 * @build_id, @build_id_bytes: the file's build ID; 0 bytes if unknown
 * @offset: bytes from the start of the file
 * @start, @size: addresses at which this part of the file is mapped
 */
struct tb_code {
	const char *path;
	size_t      length;
	const unsigned char *build_id;
	size_t      build_id_bytes;
	uint64_t    offset;
	uint64_t    start;
	uint64_t    size;
};

/**
 * tb_trace_code - find the file that contains the code at an address of a program
 * @pid: the process: tb_task.tgid
 * @ns: time, CLOCK_MONOTONIC: tb_view.ns
 * @code: out; its pointers point into the trace
 *
 * Subtract 1 from return addresses, as for tb_trace_symbol().
 * Return: 0; -ENOENT the trace does not have it, or does not cover that time.
 */
int tb_trace_code(const struct tb_trace *trace, uint32_t pid, uint64_t ns, uint64_t address,
		  struct tb_code *code);

/**
 * tb_trace_generated - find the function that a program has generated at an address (JIT)
 * @pid, @ns, @address: as for tb_trace_code()
 * @name, @length: out: its name from the program's /tmp/perf-PID.map, not NUL-terminated
 * @offset: out: bytes from the function's start
 *
 * Return: 0; -ENOENT the address is in a file, or the trace has no name for it.
 */
int tb_trace_generated(const struct tb_trace *trace, uint32_t pid, uint64_t ns, uint64_t address,
		       const char **name, size_t *length, uint64_t *offset);

/**
 * tb_trace_open_file - what the recorder found open after the start of the recording
 * @index: which of these files, from 0, in any order
 * @file: out: which process had it, under which number, when
 * @name, @length: out: its name, not NUL-terminated, into the trace
 *
 * Return: 0; -ENOENT there are no more.
 */
int tb_trace_open_file(const struct tb_trace *trace, size_t index, struct tb_open_file *file,
		       const char **name, size_t *length);

/* ---- clock ------------------------------------------------------------ */

enum tb_timebase {
	TB_TIME_MONOTONIC = 0,
	TB_TIME_BOOTTIME  = 1,
	TB_TIME_REALTIME  = 2,
};

/**
 * tb_trace_ns - convert @ticks of the trace clock to ns of @base
 *
 * Interpolates linearly between clock records.  Outside of them it continues the nearest segment;
 * with a single record it uses the recorded frequency.  Without records the result is ticks
 * divided by the frequency; without a frequency, ticks.
 */
uint64_t tb_trace_ns(const struct tb_trace *trace, uint64_t ticks,
		     enum tb_timebase base);

/** tb_ns_in - as tb_trace_ns(), but fast if @base is TB_TIME_MONOTONIC: @monotonic is the result
 *  for that base */
static inline uint64_t tb_ns_in(const struct tb_trace *trace, enum tb_timebase base,
				uint64_t ticks, uint64_t monotonic)
{
	return base == TB_TIME_MONOTONIC ? monotonic : tb_trace_ns(trace, ticks, base);
}

/** tb_trace_ticks - convert @ns of CLOCK_MONOTONIC to ticks: inverse of tb_trace_ns(), but for
 *  rounding */
uint64_t tb_trace_ticks(const struct tb_trace *trace, uint64_t ns);

/** tb_trace_syncs - the clock records by time, from durable and rolling blocks; @count out, NULL
 *  if there are none.  Records that took far longer to read than others are left out.  Between
 *  two sleeps of the machine, CLOCK_BOOTTIME - CLOCK_MONOTONIC is the same in all records. */
const struct tb_clock_sync *tb_trace_syncs(const struct tb_trace *trace,
					   size_t *count);

/* ---- formats ---------------------------------------------------------- */

/**
 * enum tb_show - how to show a field
 * TB_SHOW_SIGNED, TB_SHOW_UNSIGNED, TB_SHOW_HEX: as a number
 * TB_SHOW_TEXT: with tb_field_str()
 * TB_SHOW_ARRAY: as numbers: tb_field_count(), tb_field_item()
 * TB_SHOW_MASK: as a set of CPUs; the lowest bit of the first byte is CPU 0
 * TB_SHOW_BYTES: as bytes, with tb_field_data()
 * TB_SHOW_STATE: with tb_task_state()
 * TB_SHOW_SYSCALL, TB_SHOW_SOFTIRQ: as a number that tb_trace_string() has a name for
 * TB_SHOW_SIGNAL: as a number that tb_signal_name() has a name for
 * TB_SHOW_SIGNAL_CODE: as a number that tb_signal_code_name() has a name for
 * TB_SHOW_RESULT: as a number; if it is negative, tb_error_name() may have a name for its absolute
 *	value
 * TB_SHOW_FUNCTION: as a number, an address that tb_trace_symbol() may have a name for
 */
enum tb_show {
	TB_SHOW_SIGNED = 0,
	TB_SHOW_UNSIGNED,
	TB_SHOW_HEX,
	TB_SHOW_TEXT,
	TB_SHOW_ARRAY,
	TB_SHOW_MASK,
	TB_SHOW_BYTES,
	TB_SHOW_STATE,
	TB_SHOW_SYSCALL,
	TB_SHOW_SOFTIRQ,
	TB_SHOW_SIGNAL,
	TB_SHOW_SIGNAL_CODE,
	TB_SHOW_RESULT,
	TB_SHOW_FUNCTION,
};

/**
 * struct tb_format_field - one field of an event
 * @name: its name
 * @type: its C type as the kernel spells it
 * @offset: bytes from the start of the payload
 * @size: size in bytes; 4 for DATA_LOC and REL_LOC
 * @count: number of elements of an array, else 0
 * @flags: TB_FIELD_*
 * @bit: first bit, if TB_FIELD_BITS
 * @bits: number of bits, if TB_FIELD_BITS
 * @width: size of one element in bytes: 1, 2, 4, 8; 0 if it is not a number
 * @show: enum tb_show
 */
struct tb_format_field {
	const char *name;
	const char *type;
	uint16_t offset;
	uint16_t size;
	uint16_t count;
	uint16_t flags;
	uint8_t  bit;
	uint8_t  bits;
	uint8_t  width;
	uint8_t  show;
};

/**
 * struct tb_format - description of an event
 * @id: event id in the trace
 * @flags: TB_EVENT_*
 * @index: number of the format in its recording, from 0 without holes
 * @nr_fields: number of @fields
 * @context: TB_CONTEXT_* of simple events without a TB_FIELD_CONTEXT
 * @system: "sched"
 * @name: "sched_switch"; the same for the wide and the compact form
 * @print: the kernel's print format, "" if none
 * @fields: fields in the order of the description
 *
 * '?' replaces each byte of the texts that is not UTF-8 or that a terminal would interpret, except
 * in @print, which may contain tabs and newlines.
 */
struct tb_format {
	uint16_t id;
	uint16_t flags;
	uint32_t index;
	uint32_t nr_fields;
	uint16_t known;		/* private to the library */
	uint16_t context;
	const char *system;
	const char *name;
	const char *print;
	const struct tb_format_field *fields;
	const struct tb_format_field *telling[4];	/* private to the library */
};

/** tb_trace_format - the format of event @id, NULL if the trace has none */
const struct tb_format *tb_trace_format(const struct tb_trace *trace,
					uint16_t id);

/** tb_trace_formats - how many formats the recording has */
unsigned int tb_trace_formats(const struct tb_trace *trace);

/** tb_trace_format_at - format number @index, NULL beyond the last */
const struct tb_format *tb_trace_format_at(const struct tb_trace *trace,
					   unsigned int index);

/**
 * tb_trace_format_named - find the format of an event by name
 * @name: "system:event", for instance "sched:sched_switch"
 * @after: NULL: find the first format with that name; else the one after @after.  An event that
 *	was recorded in both forms has two formats.
 *
 * Return: NULL if there is none.
 */
const struct tb_format *tb_trace_format_named(const struct tb_trace *trace, const char *name,
					      const struct tb_format *after);

/** tb_format_field - the field called @name, NULL if there is none */
const struct tb_format_field *tb_format_field(const struct tb_format *format,
					      const char *name);

/**
 * tb_format_text - write @format as the text of a tracefs "format" file, with @id
 *
 * For parsers of the kernel's records: 8 bytes (struct trace_entry, which begins with @id), then
 * the payload.  Only events in their wide form have such records.
 * Return: as snprintf().
 */
int tb_format_text(const struct tb_format *format, unsigned int id,
		   char *buffer, size_t size);

/** tb_field_declare - write the declaration of a field, "char comm[16]" or
 *  "__data_loc char[] name", as tb_format_text() does; returns as snprintf() */
int tb_field_declare(const struct tb_format_field *field, char *buffer,
		     size_t size);

/* ---- threads ---------------------------------------------------------- */

/**
 * struct tb_task - what is known of a thread at one point of the trace
 * @tid: the thread
 * @tgid: its process, 0 if unknown
 * @parent: the parent process, 0 if unknown
 * @uid: real user id, valid if TB_TASK_LISTED
 * @flags: TB_THREAD_* of the last record about it, and TB_TASK_*
 * @prio: kernel priority
 * @comm: its name, NUL-terminated, "" if unknown
 * @cgroup: its cgroup in the unified hierarchy, 0 if unknown; tb_trace_string(TB_STRING_CGROUP)
 *	has the path, as it was when the recorder saw the cgroup
 */
struct tb_task {
	uint32_t tid;
	uint32_t tgid;
	uint32_t parent;
	uint32_t uid;
	uint16_t flags;
	uint16_t prio;
	char     comm[TB_COMM_LEN + 4];
	uint32_t cgroup;
};

#define TB_TASK_LISTED 0x8000	/* a TB_EV_THREAD record described the thread or its creator */

/* ---- following: read a trace while it is written ---------------------- */

/* tb_follow_options.flags */
#define TB_FOLLOW_GROWS	0x01u	/* wait for more at the end of a file */

/**
 * struct tb_follow_options - zero: the default
 * @flags: TB_FOLLOW_*
 * @hold_ms: how long events are held back, in case other CPUs deliver earlier ones (default: 500)
 * @room: limit of memory in bytes for blocks and records of programs that wait (default: 64 MiB).
 *	At the limit the trace stops reading from a pipe, and flushes a device at once.  The same
 *	limit applies to notes; the trace skips notes beyond it, and tb_trace_fault() says so.
 */
struct tb_follow_options {
	uint32_t flags;
	uint32_t hold_ms;
	uint64_t room;
};

/**
 * tb_trace_follow_device - read a recording while it is written
 * @device: open, attached to its provider, configured; the caller closes it after the trace.  The
 *	trace becomes its reader: nothing else may acquire its blocks
 * @options: NULL: the default
 * @trace: out: for tb_trace_close(); NULL on failure
 *
 * One cursor at a time, with the calls for files.  tb_cursor_next() returns events in order of
 * time over all CPUs, and -EAGAIN while none can be shown yet; tb_cursor_wait() waits.  The trace
 * flushes the rings once in @hold_ms, then shows what was recorded before.  The cursor returns 0
 * after the last event of a recording that was stopped.
 *
 * Formats, strings, totals and so on are those received so far.  They stay valid until the
 * recording ends, except tb_trace_syncs() and tb_trace_suppressed().  The @payload of a view is
 * valid until the next call of tb_cursor_next() only.  Records of programs are shown as
 * TB_VIEW_USER; a name that arrives after a record that uses it is missing in that record.
 * Errors: -EINVAL for flags, -ENOMEM, those of tb_device_map().
 */
int tb_trace_follow_device(struct tb_device *device,
			   const struct tb_follow_options *options,
			   struct tb_trace **trace, struct tb_error *error);

/**
 * tb_trace_follow_fd - tb_trace_follow_device() for a pipe, a socket or a file
 * @fd: read from its current position, as data arrives; the caller closes it after the trace
 *
 * The trace cannot flush the buffers at the other end of a pipe: the recorder should flush more
 * often than @hold_ms ("tracebuf record -o - --flush-ms 200").  An event that arrives later is
 * shown when it arrives (tb_cursor_late()).  The trace ends at the end of the file; with
 * TB_FOLLOW_GROWS, only after tb_cursor_finish().
 */
int tb_trace_follow_fd(int fd, const struct tb_follow_options *options,
		       struct tb_trace **trace, struct tb_error *error);

/**
 * tb_cursor_wait - wait until tb_cursor_next() may have more to show
 * @timeout_ms: -1: no limit
 * Return: 1; 0 timeout; -EINTR and other errors of poll().  1 at once if the trace is not followed.
 */
int tb_cursor_wait(struct tb_cursor *cursor, int timeout_ms);

/** tb_cursor_finish - do not wait for more: show what has arrived, then end */
void tb_cursor_finish(struct tb_cursor *cursor);

/** tb_cursor_late - number of events shown after later ones, because they arrived too late */
uint64_t tb_cursor_late(const struct tb_cursor *cursor);

/* ---- cursor: all events of all CPUs, in time order -------------------- */

enum tb_view_kind {
	TB_VIEW_EVENT = 0,	/* an event */
	TB_VIEW_LOST  = 1,	/* events are missing here */
	TB_VIEW_USER  = 2,	/* a record of a program; see struct tb_user */
	TB_VIEW_USER_LOST = 3,	/* records of one of its writers are missing here */
};

/* tb_view.cpu of TB_VIEW_USER and TB_VIEW_USER_LOST: these records have no CPU */
#define TB_RING_USER	0xfffffffeu

/**
 * struct tb_view - one event or loss that the cursor shows
 * @kind: enum tb_view_kind
 * @cpu: the CPU; TB_RING_DURABLE for an event in a durable block
 * @ticks: time; of a loss: time of the first event after it
 * @ns: @ticks as ns of CLOCK_MONOTONIC
 * @tid: the thread; 0: idle.  Composite events record it; for simple ones the cursor derives it
 *	from block headers and sched_switch
 * @id: event id; below TB_EV_FIRST a control event (TB_EV_*)
 * @structure: TB_STRUCT_SIMPLE or TB_STRUCT_COMPOSITE; events recorded in the compact form are
 *	shown in the wide form, as if they had been recorded in it
 * @compact: 1: it was recorded in the compact form, so no rule or choice of threads applied to it
 * @context: TB_CONTEXT_*; zero for events that are always simple
 * @length: size of @payload in bytes
 * @payload: valid until the next call
 * @format: NULL for control events and events without a description
 * @task: the thread @tid, NULL if unknown; valid until the next call
 * @comm: name of the thread, "<idle>" for 0, "<...>" if unknown; never NULL
 * @lost: of a loss: counts by cause, and its span of time; a loss has at least one event
 * @offset: place of the event's first element (loss: of the block) in the file
 * @sequence: sequence number of the block
 * @stack: stack of the kernel: @nr_stack return addresses, innermost first
 * @user_stack: stack of the program: @nr_user_stack return addresses
 * @counters: values of performance counters; see tb_view_counter()
 * @nr_stack, @nr_user_stack, @counter_mask: 0 if the event has none
 * @user: of TB_VIEW_USER and TB_VIEW_USER_LOST, else NULL; valid until the next call.  In these
 *	views @payload is the record, @sequence its number, @id TB_EV_CHUNK, @tid the process if
 *	the thread is unknown, and @lost.first and @lost.last are the span of time of a loss
 */
struct tb_view {
	uint32_t kind;
	uint32_t cpu;
	uint64_t ticks;
	uint64_t ns;
	uint32_t tid;
	uint16_t id;
	uint16_t structure;
	uint16_t context;
	uint16_t compact;
	uint32_t length;
	const void *payload;
	const struct tb_format *format;
	const struct tb_task *task;
	const char *comm;
	struct tb_gap lost;
	uint64_t offset;
	uint64_t sequence;
	uint32_t nr_stack;
	uint32_t nr_user_stack;
	uint32_t counter_mask;
	uint32_t reserved32;
	const uint64_t *stack;
	const uint64_t *user_stack;
	const uint64_t *counters;
	const struct tb_user *user;
};

/**
 * tb_cursor_open - open a cursor before the first event of the selected recording
 * @cursor: out: for tb_cursor_close(), before the trace is closed; NULL on failure
 *
 * The cursor knows the threads of the state dump from the start.  It updates its table from
 * TB_EV_THREAD, task_newtask, task_rename, sched_switch and similar events when it shows them.
 * It shows no TB_EV_INIT, EVENT, STRING, TOTALS, SUPPRESSED, SELECTION and THREADS_LOST, and no
 * TB_EV_THREAD of a state dump; all other durable events are shown.
 * Errors: -ENOMEM; -EBUSY a followed trace has a cursor.
 */
int tb_cursor_open(struct tb_trace *trace, struct tb_cursor **cursor);
void tb_cursor_close(struct tb_cursor *cursor);

/**
 * tb_cursor_next - show the next event or loss
 *
 * Order: by time; at the same tick by CPU; within a CPU as recorded.  A loss after the last block
 * of a CPU (known from the totals) has the time at which its counts were taken: when the recording
 * stopped, or the snapshot began.
 *
 * What a program has written appears twice: as TB_EV_CHUNK, when the kernel copied it, and as
 * TB_VIEW_USER, one view for each record at its own time, in the order of its writer.
 *
 * Damage inside a block ends that block (see tb_cursor_fault()); the cursor continues with the
 * next one.  Members of @view that its @kind does not use are undefined.
 * Return: 1; 0 at the end; -EBADMSG at the end if the trace breaks off (in its last recording) or
 * blocks were damaged; -EAGAIN a followed trace has nothing to show yet (tb_cursor_wait()); -EINVAL
 * this cursor returns blocks or elements; -ENOMEM, again and again until a seek succeeds; of a
 * followed trace, errors of read() and of the device.
 */
int tb_cursor_next(struct tb_cursor *cursor, struct tb_view *view);

/**
 * tb_cursor_seek - move to before the first event or loss at @ticks or later
 *
 * Forwards or backwards.  It reads headers, and the contents of at most one block of each CPU.  It
 * knows threads from the state dump and from durable blocks up to @ticks, but not names that only
 * skipped events tell.  It reads all earlier records of programs, so it knows open slices.  If
 * the cursor returns blocks or elements it moves to the first block that was not complete by then.
 * Return: 0; -ENOMEM; -ESPIPE the trace is followed.
 */
int tb_cursor_seek(struct tb_cursor *cursor, uint64_t ticks);

/* tb_choice.flags */
#define TB_CHOICE_NO_TASKS   0x01u	/* do not track threads: @task and @comm are undefined */
#define TB_CHOICE_NO_CONTROL 0x02u	/* no events without a format */
#define TB_CHOICE_NO_USER    0x04u	/* no records of programs, and no losses of them */

/**
 * struct tb_choice - what a cursor shows; zero: everything
 * @formats: one byte for each format, by index: not 0: show its events; NULL: all
 * @cpus: one byte for each CPU, by number, @nr_cpus bytes: not 0: show it; NULL: all
 * @flags: TB_CHOICE_*
 * @until: ticks: show only what is earlier; 0: no limit
 */
struct tb_choice {
	const unsigned char *formats;
	const unsigned char *cpus;
	uint32_t nr_cpus;
	uint32_t flags;
	uint64_t until;
};

/**
 * tb_cursor_choose - show only some events; to be called before all other functions of a cursor
 * @choice: not used after the call
 *
 * The cursor does not read blocks of other CPUs, so it learns nothing of threads from them.  It
 * does learn from events that it reads and does not show.  It always shows losses of chosen CPUs.
 * Return: 0; -EBUSY it is too late, -ESPIPE the trace is followed, -ENOMEM.
 */
int tb_cursor_choose(struct tb_cursor *cursor, const struct tb_choice *choice);

/**
 * struct tb_passed - what a cursor has read, shown or not
 * @blocks: blocks whose contents it has read
 * @events: events in them
 */
struct tb_passed {
	uint64_t blocks;
	uint64_t events;
};

/** tb_cursor_passed - get the counts so far */
void tb_cursor_passed(const struct tb_cursor *cursor, struct tb_passed *passed);

/**
 * tb_cursor_next_block - return the next block unchanged, in the order of the file or of arrival
 * @block: out: valid until the next call
 * @offset: out, may be NULL: its place in the trace
 *
 * A cursor returns either events, or blocks, or elements, as the first call asks: -EINVAL.
 * Return: 1; 0 at the end; -EAGAIN and others as tb_cursor_next().
 */
int tb_cursor_next_block(struct tb_cursor *cursor,
			 const struct tb_block **block, uint64_t *offset);

/**
 * tb_cursor_next_element - return the next event of any block unchanged, structural ones included
 * @element: out: a copy, valid until the next call; see struct tb_walk
 * @offset: out, may be NULL: its place in the trace
 *
 * Return: as tb_cursor_next_block().
 */
int tb_cursor_next_element(struct tb_cursor *cursor, struct tb_walk *element,
			   uint64_t *offset);

/**
 * tb_cursor_error - describe a @result of tb_cursor_next()
 * @error: out: text, and the place in the file; "" for 0 and 1
 * Return: @result.
 */
int tb_cursor_error(const struct tb_cursor *cursor, int result, struct tb_error *error);

/** tb_cursor_fault - the first damaged block so far, NULL if none; valid as long as the cursor */
const struct tb_error *tb_cursor_fault(const struct tb_cursor *cursor);

/** tb_cursor_uncommitted - number of elements skipped so far because they were reserved but never
 *  committed */
uint64_t tb_cursor_uncommitted(const struct tb_cursor *cursor);

/** tb_cursor_task - thread @tid at this point of the trace, NULL if unknown; valid until a seek */
const struct tb_task *tb_cursor_task(const struct tb_cursor *cursor,
				     uint32_t tid);

/**
 * tb_cursor_each_task - call @each for every thread known at this point, in no particular order
 * Return: 0; or the first result of @each that is not 0, which ends the loop.
 */
int tb_cursor_each_task(const struct tb_cursor *cursor,
			int (*each)(const struct tb_task *task, void *context),
			void *context);

/**
 * tb_view_counter - get value number @index of the event's performance counters
 * @number: out: number of the counter; tb_trace_string() with TB_STRING_COUNTER names it
 * Return: 1; 0 beyond the last.
 */
int tb_view_counter(const struct tb_view *view, unsigned int index,
		    uint32_t *number, uint64_t *value);

/* ---- what programs write ---------------------------------------------- */

/* causes that the library adds to those of tracebuf_producer.h */
#define TB_LOST_OVERWRITTEN	0x00010000u	/* overwritten in the ring */
#define TB_LOST_UNKNOWN		0x00020000u	/* the trace does not say */
#define TB_LOST_DAMAGED		0x00040000u	/* the data do not form a record */
#define TB_LOST_BITS		19

/* tb_user.flags */
#define TB_USER_FLOW	 0x01	/* @flow is valid */
#define TB_USER_FLOW_END 0x02	/* the flow ends here */
#define TB_USER_DOUBLE	 0x04	/* a counter in value.f64; else it is in value.s64 */
#define TB_USER_OPEN	 0x08	/* a slice without a known end */
#define TB_USER_UNMATCHED 0x10	/* an end without a beginning */
#define TB_USER_CLAMPED	 0x20	/* impossible time: moved to the nearest possible one */
#define TB_USER_NO_TIME	 0x40	/* unknown clock: shown at the time the kernel took it */
#define TB_USER_CUT	 0x80	/* shorter than its type requires */
#define TB_USER_AT_MOST	 0x100	/* a loss: some may precede the recording */

union tb_user_value {
	int64_t  s64;
	uint64_t u64;
	double   f64;
};

/**
 * struct tb_user_arg - an argument of a record
 * @name: its name
 * @text: the text of TB_ARG_TEXT, else NULL
 * @type: enum tb_arg_type, or any other number
 * @name_id: number of the name
 */
struct tb_user_arg {
	const char *name;
	const char *text;
	union tb_user_value value;
	uint32_t type;
	uint32_t name_id;
};

/**
 * struct tb_user - a record that a program has written, or a loss of records
 * @type: enum tb_record_type; never TB_REC_NAME
 * @flags: TB_USER_*
 * @writer: index for tb_trace_user_writer()
 * @producer, @writer_id: id of the channel, and id of the writer in that channel
 * @pid, @tid, @uid: as in struct tb_chunk_event
 * @depth: number of open slices of the writer around this record (TB_REC_SLICE do not count)
 * @name: NUL-terminated; "#17" if the trace does not have the text; of an end, the name of its
 *	beginning or ""; of a mark ""
 * @category: the same; "-" if there is none
 * @name_id, @category_id: their numbers, 0: none; a number means the same name in all records
 *	of a @producer
 * @value: of TB_REC_COUNTER, and of TB_REC_SIMPLE (u64)
 * @duration, @duration_ns: of TB_REC_SLICE: ticks of the trace clock, and ns
 * @flow: id of the flow, the same number for the same flow in all of the trace
 * @data, @data_bytes: the data of TB_REC_EVENT, or the text of TB_REC_MARK
 * @args, @nr_args: arguments
 * @lost: of a loss: number of records
 * @cause: of a loss: TB_LOST_*
 */
struct tb_user {
	uint32_t type;
	uint32_t flags;
	uint32_t writer;
	uint32_t producer;
	uint32_t pid;
	uint32_t tid;
	uint32_t uid;
	uint32_t depth;
	const char *name;
	const char *category;
	uint32_t name_id;
	uint32_t category_id;
	union tb_user_value value;
	uint64_t duration;
	uint64_t duration_ns;
	uint64_t flow;
	const void *data;
	uint32_t data_bytes;
	uint32_t nr_args;
	const struct tb_user_arg *args;
	uint64_t lost;
	uint32_t cause;
	uint32_t writer_id;
};

/**
 * struct tb_user_writer - the counts of one writer
 * @producer, @writer: ids of the channel and of the writer; a later writer may have the same id,
 *	with counts of its own
 * @pid, @tid, @uid: as in its first piece
 * @chunks: number of chunks in the trace
 * @pieces: number of pieces in which the kernel took these chunks
 * @bytes: bytes of records
 * @patches: words that the program filled in later
 * @before: records before the first one in the trace; it is unknown whether they belong to this
 *	recording
 * @attempted: all later records: @delivered + @missing
 * @delivered: records in the trace
 * @missing: records not in the trace
 * @lost: @missing by cause: index n is cause 1 << n; a loss with several causes counts in the last
 * @names: of @delivered: those that only tell a name
 * @unknown: of @delivered: those of a type that this library does not know
 * @wrong: pieces that break the format: they have fewer records than they say, or record numbers
 *	that were there before
 */
struct tb_user_writer {
	uint32_t producer;
	uint32_t writer;
	uint32_t pid;
	uint32_t tid;
	uint32_t uid;
	uint32_t reserved;
	uint64_t chunks;
	uint64_t pieces;
	uint64_t bytes;
	uint64_t patches;
	uint64_t before;
	uint64_t attempted;
	uint64_t delivered;
	uint64_t missing;
	uint64_t lost[TB_LOST_BITS + 1];
	uint64_t names;
	uint64_t unknown;
	uint64_t wrong;
};

/** tb_trace_user_writer - counts of writer number @index, NULL beyond the last */
const struct tb_user_writer *tb_trace_user_writer(const struct tb_trace *trace,
						  unsigned int index);

/** tb_trace_user_malformed - number of TB_EV_CHUNK and TB_EV_PATCH that are too short */
uint64_t tb_trace_user_malformed(const struct tb_trace *trace);

/**
 * struct tb_user_name - a name that a program has recorded
 * @producer: id of the channel
 * @id: number of the name in records of that channel
 * @kind: enum tb_name_kind
 * @category: number of the category that events of this name belong to, 0: none
 * @text: NUL-terminated
 */
struct tb_user_name {
	uint32_t producer;
	uint32_t id;
	uint32_t kind;
	uint32_t category;
	const char *text;
};

/** tb_trace_user_name - name number @index, NULL beyond the last */
const struct tb_user_name *tb_trace_user_name(const struct tb_trace *trace,
					      unsigned int index);

/** tb_trace_user_category - text of the name's category; "-" if it has none, NULL if the trace
 *  does not have the text */
const char *tb_trace_user_category(const struct tb_trace *trace,
				   const struct tb_user_name *name);

/** tb_record_type_name - name of an enum tb_record_type: "begin", "counter", ...; else "?" */
const char *tb_record_type_name(uint32_t type);

/** tb_lost_cause_name - text for cause 1 << @bit: "no chunk was free", ...; else "?" */
const char *tb_lost_cause_name(unsigned int bit);

/* ---- fields of an event ----------------------------------------------- */

/*
 * All return 0, -ERANGE if the payload is too short for the field, or -EINVAL if the field is of
 * another kind.  None reads outside of the payload.
 */

/** tb_field_u64 - get a number, zero-extended (sign-extended if TB_FIELD_SIGNED) */
int tb_field_u64(const struct tb_view *view,
		 const struct tb_format_field *field, uint64_t *value);

/** tb_field_s64 - get the number of tb_field_u64() as signed */
int tb_field_s64(const struct tb_view *view,
		 const struct tb_format_field *field, int64_t *value);

/** tb_field_str - get the text of a char array or of DATA_LOC/REL_LOC text, neither copied nor
 *  NUL-terminated; @length: without the NUL; both valid as long as the payload */
int tb_field_str(const struct tb_view *view,
		 const struct tb_format_field *field,
		 const char **text, size_t *length);

/** tb_field_data - get the bytes of any field; for DATA_LOC and REL_LOC, those that it points to
 *  (none if a DATA_LOC is 0) */
int tb_field_data(const struct tb_view *view,
		  const struct tb_format_field *field,
		  const void **data, size_t *length);

/** tb_field_count - number of elements of an array or of dynamic data; 1 for a number */
int tb_field_count(const struct tb_view *view,
		   const struct tb_format_field *field);

/** tb_field_item - get element @index of an array of numbers, fixed or dynamic */
int tb_field_item(const struct tb_view *view,
		  const struct tb_format_field *field, unsigned int index,
		  uint64_t *value);

/** tb_field_is_text - 1 if tb_field_str() can read the field, else 0 */
int tb_field_is_text(const struct tb_format_field *field);

/* ---- text ------------------------------------------------------------- */

/**
 * tb_view_print - write the fields of an event as "name=value name=value", or the text of a loss
 * or control event, NUL-terminated
 *
 * Unprintable bytes of texts are written as \xNN.
 * Return: as snprintf(): the full length; at least @size if the text was cut.
 */
int tb_view_print(const struct tb_trace *trace, const struct tb_view *view,
		  char *buffer, size_t size);

/**
 * tb_field_print - write the value of one field as tb_view_print() does
 * Return: as snprintf(); -ERANGE the payload is too short for the field.
 */
int tb_field_print(const struct tb_trace *trace, const struct tb_view *view,
		   const struct tb_format_field *field, char *buffer,
		   size_t size);

/** tb_view_system, tb_view_name - names of the system and of the event, never NULL
 *
 * Events without a description are "unknown" and "event_ID".  For a record of a program they are
 * "user" and its category; that text is the program's: it may be long and contain any bytes.
 * @spare: room for a name that the function makes */
const char *tb_view_system(const struct tb_view *view);
const char *tb_view_name(const struct tb_view *view, char spare[24]);

/** tb_syscall_name - name on the architecture that the library was built for, NULL if unknown;
 *  "compat_openat" for the number of a 32-bit program plus TB_CALL_COMPAT */
const char *tb_syscall_name(uint64_t nr);

/** tb_softirq_name - "TIMER", ...; NULL if unknown */
const char *tb_softirq_name(uint64_t vector);

/** tb_signal_name - "SIGCHLD", or "SIGRTMIN+2" with the kernel's SIGRTMIN, 32; NULL if unknown
 * @spare: room for a name that the function makes */
const char *tb_signal_name(int64_t number, char spare[24]);

/** tb_error_name - "ENOENT" for 2, and those that only the kernel uses, "ERESTARTSYS" for 512; NULL
 *  if unknown */
const char *tb_error_name(int64_t number);

/* The highest number of an error */
#define TB_ERROR_MAX 4095

/** tb_signal_code_name - "SI_USER", "CLD_EXITED", ... of @code, the si_code in @view, whose field
 *  "sig" is the signal; NULL if unknown */
const char *tb_signal_code_name(const struct tb_view *view, int64_t code);

/** tb_task_state - sched_switch's prev_state as "S", "D", "R+"; returns @buffer, @size >= 24 */
const char *tb_task_state(uint64_t state, char *buffer, size_t size);

/** tb_clock_name, tb_mode_name, tb_policy_name, tb_state_name, tb_reason_name - names of enum
 *  tb_clock_id, tb_mode, tb_policy, tb_state, tb_reason; "?" for other numbers */
const char *tb_clock_name(uint32_t clock);
const char *tb_mode_name(uint32_t mode);
const char *tb_policy_name(uint32_t policy);
const char *tb_state_name(uint32_t state);
const char *tb_reason_name(uint32_t reason);

/* ---- blocks and elements, raw ----------------------------------------- */

/** tb_trace_blocks - number of whole blocks in the file, of all recordings */
size_t tb_trace_blocks(const struct tb_trace *trace);

/**
 * tb_trace_range - find the blocks of a recording among those of other recordings
 * @recording: less than tb_trace_recordings()
 * @from: a block number
 * @end: out: number of the recording's last block + 1
 * Return: number of its first block at or after @from; @end: there is none.
 */
size_t tb_trace_range(const struct tb_trace *trace, unsigned int recording, size_t from,
		      size_t *end);

/**
 * tb_trace_header - get the header of block number @index of the file, without unpacking
 * @offset, @recording: out, may be NULL, as for tb_trace_block()
 *
 * Return: 64 bytes, valid until the trace is closed; NULL beyond the last.
 */
const struct tb_block *tb_trace_header(const struct tb_trace *trace, size_t index,
				       uint64_t *offset, unsigned int *recording);

/**
 * tb_trace_block - get block number @index of the file
 * @offset: out, may be NULL: its place in the trace
 * @recording: out, may be NULL: number of its recording
 * Return: the block, 1 << size_log2 bytes; NULL beyond the last.  It is valid until the trace is
 * closed.  Exception: in a packed or compressed trace, a complete block of a CPU is valid until
 * this function has been called for blocks of four other frames.
 */
const struct tb_block *tb_trace_block(const struct tb_trace *trace,
				      size_t index, uint64_t *offset,
				      unsigned int *recording);

/**
 * tb_block_check - check whether a block with a valid header is at @data
 * @room: bytes at @data
 * @error: out, may be NULL: text, and offset relative to @data
 * Return: size of the block in bytes; -EINVAL no block, -EPROTO unknown version, -ENODATA the
 * block ends after @room bytes.
 */
int64_t tb_block_check(const void *data, size_t room, struct tb_error *error);

/**
 * struct tb_walk - a walk over the elements of one block
 * @block: the block
 * @position: element index of the next event
 * @end: element index after the last event
 * @time: latest known time, for the upper half of times
 * @index: element index of the current event; all members below describe that event
 * @id, @structure: its id and TB_STRUCT_*
 * @length: its length in elements
 * @ticks: its full time (RESERVED: unknown, that of the event before)
 * @tid, @context: of composite events
 * @payload, @bytes: its payload, and the size in bytes
 * @wrong: what is damaged, after tb_walk_next() has returned -EBADMSG
 */
struct tb_walk {
	const struct tb_block *block;
	uint32_t position;
	uint32_t end;
	uint64_t time;
	uint32_t index;
	uint16_t id;
	uint16_t structure;
	uint32_t length;
	uint32_t tid;
	uint16_t context;
	uint16_t reserved;
	uint32_t bytes;
	uint64_t ticks;
	const void *payload;
	const char *wrong;
};

/**
 * tb_walk_start - start a walk over a block in memory that no other program can change
 * @block: accepted by tb_block_check(); must stay until the walk ends
 */
void tb_walk_start(struct tb_walk *walk, const struct tb_block *block);

/**
 * tb_walk_trace - start a walk over a block of a trace
 * @block: from tb_trace_block() or tb_cursor_next_block() of @trace
 *
 * Another program may change a mapped file during the walk.  The walk stays within the trace,
 * whatever the block contains then.
 */
void tb_walk_trace(struct tb_walk *walk, const struct tb_trace *trace,
		   const struct tb_block *block);

/**
 * tb_walk_next - step to the next event, structural ones included (TB_EV_TIME sets the time)
 * Return: 1 an event; 0 end of the block, or PAD; -EAGAIN an element that was reserved but not
 * committed (call again to skip it); -EBADMSG damage: @wrong describes it, @index is its place,
 * and the walk ends.
 */
int tb_walk_next(struct tb_walk *walk);

/* ---- filters ---------------------------------------------------------- */

enum tb_filter_verdict {
	TB_FILTER_DEPENDS = 0,
	TB_FILTER_ALWAYS,	/* all events pass */
	TB_FILTER_NEVER,	/* no event passes */
};

/**
 * struct tb_filter_code - a compiled expression, for struct tb_rule
 * @nr_tests: number of @tests; 0: all events pass
 * @data_bytes: bytes used of @data
 * @verdict: enum tb_filter_verdict
 */
struct tb_filter_code {
	struct tb_test tests[TB_TESTS_MAX];
	uint32_t nr_tests;
	uint32_t data_bytes;
	uint32_t verdict;
	unsigned char data[TB_TEST_DATA_MAX];
};

/**
 * tb_filter_compile - compile an expression over the fields of an event to tests
 * @text: as in docs/filters.md: "prev_prio < 100 && next_comm ~ 'ff*'"
 * @format: the form in which the event is recorded
 * @code: out
 * @error: out, may be NULL: the text begins with "column N:", @offset is N - 1
 *
 * Return: 0; -ENOENT there is no such field (its name is at the offset), -EINVAL the expression
 * is wrong, -E2BIG it is too long, -ENOMEM.
 */
int tb_filter_compile(const char *text, const struct tb_format *format,
		      struct tb_filter_code *code, struct tb_error *error);

/**
 * tb_filter_one_of - add a first test: the number in field @name must be in the set @bits
 * @bits: bit n % 8 of byte n / 8 is set if n is in the set
 * Return: 0; -ENOENT the event has no such number, -E2BIG.
 */
int tb_filter_one_of(struct tb_filter_code *code,
		     const struct tb_format *format, const char *name,
		     const void *bits, size_t bytes, struct tb_error *error);

/**
 * tb_filter_matches - run a compiled expression on an event of a trace
 * @code: from tb_filter_compile() for the format of @view
 * @view: a TB_VIEW_EVENT
 *
 * The thread's process, user ID and name are those that the cursor knows.  An event does not pass if
 * the expression needs one that the cursor does not know, whatever it is compared with.
 * Return: 1 the event passes, else 0.
 */
int tb_filter_matches(const struct tb_filter_code *code, const struct tb_view *view);

/** tb_filter_common - name number @index that every event's filter can use, NULL beyond the last */
const char *tb_filter_common(unsigned int index);

/* ---- device ----------------------------------------------------------- */

#define TB_DEVICE_PATH "/dev/tracebuf"

/* tb_device_open() flags */
#define TB_DEVICE_NONBLOCK 0x01

/**
 * tb_device_open - open the device
 * @path: NULL: TB_DEVICE_PATH
 * @flags: TB_DEVICE_*
 * @device: out: for tb_device_close(); NULL on failure
 * @error: out, may be NULL: says what is missing: the module, a permission
 * Errors: -ENOENT/-ENXIO/-ENODEV no module, -ENOTTY another device, -EACCES/-EPERM, -EPROTO
 * another ABI version, -EBUSY, -ENOMEM.
 */
int tb_device_open(const char *path, unsigned int flags,
		   struct tb_device **device, struct tb_error *error);
/** tb_device_close - close it and unmap its buffers; NULL is allowed */
void tb_device_close(struct tb_device *device);

/** tb_device_fd - its descriptor, for poll(): POLLIN there are blocks to acquire, POLLHUP
 *  stopped and drained */
int tb_device_fd(const struct tb_device *device);

/**
 * tb_device_attach - use provider @name instead of "kernel"
 *
 * To be called once, before anything is mapped, read or started.
 * Errors: -ENOENT, -EBUSY, -EINVAL not a valid name.
 */
int tb_device_attach(struct tb_device *device, const char *name);

/**
 * tb_device_create - create a provider
 * Errors: -EINVAL not a valid name, -EEXIST, -ENOSPC TB_PROVIDERS_MAX, -ENOMEM.
 */
int tb_device_create(struct tb_device *device, const char *name);

/**
 * tb_device_destroy - remove a provider; @device may be attached to it
 * Errors: -ENOENT, -EPERM "kernel", -EBUSY another file or a module uses it.
 */
int tb_device_destroy(struct tb_device *device, const char *name);

/** tb_device_provider - describe provider number @index, 0 is "kernel"; -ENOENT beyond the last */
int tb_device_provider(struct tb_device *device, unsigned int index,
		       struct tb_provider_info *info);

/* The ioctls of linux/tracebuf.h, with the errors documented there */
int tb_device_query(struct tb_device *device, struct tb_query *query);
/** tb_device_configure - -E2BIG @config has a member that this library does not know */
int tb_device_configure(struct tb_device *device, const struct tb_config *config);
int tb_device_start(struct tb_device *device, uint32_t flags);
int tb_device_stop(struct tb_device *device);
/**
 * tb_device_flush - close the buffers of @cpu that hold events
 * @cpu: -1: all CPUs; this also asks programs without shared memory for what they have written.
 *
 * Errors: -ETIMEDOUT some programs have not answered within a second; all else was flushed.
 */
int tb_device_flush(struct tb_device *device, int cpu);
int tb_device_stats(struct tb_device *device, unsigned int cpu,
		    struct tb_stats *stats);

/**
 * tb_device_select - enable or disable the events that match @pattern, 1 to 255 bytes
 * Return: number of events that match; -ENOENT none does, -EINVAL.
 */
int tb_device_select(struct tb_device *device, enum tb_select_op op,
		     enum tb_form form, const char *pattern);

/** tb_device_event - describe event number @index; -ENOENT beyond the last */
int tb_device_event(struct tb_device *device, unsigned int index,
		    struct tb_event_info *info);

/**
 * tb_device_format - get the wide form of event number @index with its fields
 * @format: out: one allocation, for free(); NULL on failure
 */
int tb_device_format(struct tb_device *device, unsigned int index,
		     struct tb_format **format);

/**
 * tb_device_rule - set the rule of an event; a rule that is zero but for @index removes it
 * @rule: in, and out: @bad is the number of the wrong test or counter
 */
int tb_device_rule(struct tb_device *device, struct tb_rule *rule);

/** tb_device_no_rules - remove all rules */
int tb_device_no_rules(struct tb_device *device);

/** tb_device_suppressed - count what the rule of event number @index has kept out; TB_RULE_ALL:
 *  what the choice of threads has kept out */
int tb_device_suppressed(struct tb_device *device, uint32_t index,
			 struct tb_suppressed *suppressed);

/**
 * tb_device_pids - record the events of these threads only
 * @count: 0 without @flags: record all threads
 * @bad: out, may be NULL: the thread that does not exist (-ESRCH)
 */
int tb_device_pids(struct tb_device *device, const uint32_t *pids,
		   unsigned int count, uint32_t flags, uint32_t *bad);

/**
 * tb_device_category - record the categories of programs that match @pattern (TB_CATEGORY_ENABLE),
 * or do not record them (TB_CATEGORY_DISABLE); the last pattern that matches decides.
 * TB_CATEGORY_CLEAR, with @pattern NULL, removes all patterns.
 * Errors: -EINVAL, -ENOSPC too many patterns, -ENOTTY the module does not support programs.
 */
int tb_device_category(struct tb_device *device, enum tb_category_op op,
		       const char *pattern);

/** tb_device_producer - describe program number @index of those that write to this provider;
 *  -ENOENT beyond the last, -ENOTTY as for tb_device_category() */
int tb_device_producer(struct tb_device *device, unsigned int index,
		       struct tb_producer_info *info);

/**
 * tb_device_quota - set whether, and how much, programs may write to this provider
 * @quota: see linux/tracebuf_producer.h; a new provider is closed (TB_QUOTA_CLOSED)
 * Errors: -EINVAL, -ENOTTY as for tb_device_category().
 */
int tb_device_quota(struct tb_device *device, const struct tb_quota *quota);

/** tb_device_intake - get the quota, and the counts of events that it kept out of this recording;
 *  -ENOTTY as for tb_device_category() */
int tb_device_intake(struct tb_device *device, struct tb_intake_info *info);

/**
 * tb_device_map - map all buffers, read-only
 * @data, @size: out, may be NULL
 *
 * The mapping stays until the device is closed; later calls return the same mapping.
 * Errors: -EINVAL the provider is not configured, -ENOMEM.
 */
int tb_device_map(struct tb_device *device, const void **data, size_t *size);

/**
 * tb_device_share_map - use the mapping of @other, which is attached to the same provider
 * Close @other after @device.  Errors: -EINVAL @other has no mapping, or @device has one.
 */
int tb_device_share_map(struct tb_device *device, const struct tb_device *other);

/**
 * tb_device_header - copy the header of a CPU's ring as it is now
 * @header: out: with rolling_data_end[] of all buffers; for free(); NULL on failure
 *
 * Maps the device if need be.  Errors: -EINVAL no such CPU, -ENODATA this CPU is not recorded,
 * -EPROTO unknown version, -ENOMEM, and those of tb_device_map().
 */
int tb_device_header(struct tb_device *device, unsigned int cpu,
		     struct tb_ring_header **header);

/**
 * tb_device_acquire - acquire complete blocks (after tb_device_map())
 * @refs: out: up to @room references, for tb_device_block() and tb_device_release()
 * @flags: TB_ACQUIRE_*
 * Return: their number, 0 if there are none now; -ENODATA stopped and drained, or the snapshot
 * (TB_ACQUIRE_SNAPSHOT) is complete; -EBUSY another session is the reader; -EINVAL not mapped.
 */
int tb_device_acquire(struct tb_device *device, struct tb_ref *refs,
		      unsigned int room, uint32_t flags);

/** tb_device_release - release @count acquired blocks; returns how many, or -EINVAL */
int tb_device_release(struct tb_device *device, const struct tb_ref *refs,
		      unsigned int count);

/**
 * tb_write_blocks - write @bytes of whole blocks, which go into a trace file one after the other
 * Return: 0, or -errno, which ends the call that wants them written
 */
typedef int tb_write_blocks(void *context, const void *blocks, size_t bytes);

/** tb_write_fd - a tb_write_blocks for a file descriptor: @context is an int * */
int tb_write_fd(void *context, const void *blocks, size_t bytes);

/**
 * tb_device_snapshot - write the blocks of a circular recording, which goes on meanwhile
 * @write: gets copies of the blocks: the module has their buffers back before it is called
 *
 * Takes memory for all buffers, or half of what is free.  The device is its provider's reader until
 * it is closed, and takes one snapshot only.
 * Return: 0; -EINVAL no circular recording is running; -EBUSY there is another reader; -ETIMEDOUT a
 * block was not complete in 5 s: those before it were written; -ENOMEM; what @write returned.
 */
int tb_device_snapshot(struct tb_device *device, tb_write_blocks *write, void *context);

/**
 * tb_device_transfer - write the blocks of a recording until it has stopped
 * @stop_fd: when it becomes readable, this function stops the recording; -1: another program does
 * @write: gets blocks in the mapping: until it returns, writers cannot use their buffers
 *
 * Blocks the caller.  The recording runs, or has stopped and is in the buffers.
 * Return: 0; -EBUSY there is another reader; -EPERM the caller may not stop it; what @write
 * returned.
 * After an error, another reader gets the blocks that were not written, once @device is closed.
 */
int tb_device_transfer(struct tb_device *device, int stop_fd, tb_write_blocks *write,
		       void *context);

/**
 * tb_device_arm - arm a trigger: an event that matches @patterns freezes a circular recording
 * after @post percent of a ring have been filled
 * Return: number of events that match; -errno as TB_IOC_ARM.  poll() reports POLLPRI.
 */
int tb_device_arm(struct tb_device *device, const char *patterns, uint32_t post);
/** tb_device_arm_rules - tb_device_arm(), with @rules for some of the events
 *  @bad: out, may be NULL: number of the wrong rule (-EINVAL) */
int tb_device_arm_rules(struct tb_device *device, const char *patterns,
			uint32_t post, const struct tb_rule *rules,
			unsigned int count, uint32_t *bad);
/** tb_device_arm_within - tb_device_arm_rules(), freezing @post_ms after the event at the latest;
 *  0: no such limit.  Errors: also -E2BIG the module does not support limits. */
int tb_device_arm_within(struct tb_device *device, const char *patterns,
			 uint32_t post, uint32_t post_ms,
			 const struct tb_rule *rules, unsigned int count,
			 uint32_t *bad);
int tb_device_disarm(struct tb_device *device);
/** tb_device_trigger - get the state of the trigger */
int tb_device_trigger(struct tb_device *device, struct tb_trigger_info *info);

/** tb_device_block - the block of an acquired @ref, in the mapping; valid until it is released */
const struct tb_block *tb_device_block(const struct tb_device *device,
				       const struct tb_ref *ref);

/*
 * Structures of linux/tracebuf.h grow at their ends, and a program and the library may have been
 * compiled with different versions.  So these functions take the size of the caller's structure:
 * they write no more than @size bytes, and zero the members that the library does not know.  The
 * names without _sized are macros that pass sizeof; the functions of these names use the sizes of
 * the first release.  The library's own structures do not grow, nor do elements of arrays (struct
 * tb_ref, and struct tb_rule of tb_device_arm_rules()).
 */
int tb_device_query_sized(struct tb_device *device, struct tb_query *query, size_t size);
int tb_device_provider_sized(struct tb_device *device, unsigned int index,
			     struct tb_provider_info *info, size_t size);
int tb_device_stats_sized(struct tb_device *device, unsigned int cpu, struct tb_stats *stats,
			  size_t size);
int tb_device_event_sized(struct tb_device *device, unsigned int index,
			  struct tb_event_info *info, size_t size);
int tb_device_producer_sized(struct tb_device *device, unsigned int index,
			     struct tb_producer_info *info, size_t size);
int tb_device_suppressed_sized(struct tb_device *device, uint32_t index,
			       struct tb_suppressed *suppressed, size_t size);
int tb_device_trigger_sized(struct tb_device *device, struct tb_trigger_info *info, size_t size);
int tb_device_configure_sized(struct tb_device *device, const struct tb_config *config,
			      size_t size);
int tb_device_rule_sized(struct tb_device *device, struct tb_rule *rule, size_t size);

#ifndef TB_NO_SIZED
#define tb_device_query(device, query) \
	tb_device_query_sized(device, query, sizeof(*(query)))
#define tb_device_provider(device, index, info) \
	tb_device_provider_sized(device, index, info, sizeof(*(info)))
#define tb_device_stats(device, cpu, stats) \
	tb_device_stats_sized(device, cpu, stats, sizeof(*(stats)))
#define tb_device_event(device, index, info) \
	tb_device_event_sized(device, index, info, sizeof(*(info)))
#define tb_device_producer(device, index, info) \
	tb_device_producer_sized(device, index, info, sizeof(*(info)))
#define tb_device_suppressed(device, index, suppressed) \
	tb_device_suppressed_sized(device, index, suppressed, sizeof(*(suppressed)))
#define tb_device_trigger(device, info) \
	tb_device_trigger_sized(device, info, sizeof(*(info)))
#define tb_device_configure(device, config) \
	tb_device_configure_sized(device, config, sizeof(*(config)))
#define tb_device_rule(device, rule) \
	tb_device_rule_sized(device, rule, sizeof(*(rule)))
#endif

/* ---- save/saved channels ---------------------------------------------- */

/**
 * tb_channel_open - open the save/saved channel of a ring
 * @cpu: CPU of the ring; while the channel is open, only the channel offers its blocks
 * @flags: TB_DEVICE_NONBLOCK: for tb_channel_read()
 * @channel: out: for tb_channel_close(), before the device is closed; NULL on failure
 *
 * Maps the device.  Errors: -EINVAL not in streaming mode, or no such ring; -EBUSY the ring has a
 * channel, or another program reads; -EPROTONOSUPPORT the module speaks another version; -ENOMEM;
 * those of tb_device_map().
 */
int tb_channel_open(struct tb_device *device, unsigned int cpu,
		    unsigned int flags, struct tb_channel **channel);
/** tb_channel_close - close it; blocks that were offered but not saved go back into the ring */
void tb_channel_close(struct tb_channel *channel);

/** tb_channel_fd - its descriptor, for poll(): POLLIN a packet, POLLHUP stopped and all saved */
int tb_channel_fd(const struct tb_channel *channel);

/**
 * tb_channel_read - read the next packet
 * Return: 1; 0 stopped: nothing more until the next start; -EAGAIN nothing now; -EPROTO/-EPIPE
 * closed.
 */
int tb_channel_read(struct tb_channel *channel, struct tb_packet *packet);

/**
 * tb_channel_block - find the block that a TB_FIFO_SAVE_BUFFER offers
 * @ref: out: for tb_device_block(), not for tb_device_release()
 *
 * Acquire and save all durable blocks first (tb_device_acquire()).
 * Return: 0; -EBADMSG there is no such block.
 */
int tb_channel_block(const struct tb_channel *channel,
		     const struct tb_packet *offer, struct tb_ref *ref);

/** tb_channel_saved - give back the block of @offer after saving it; -EINVAL it was not offered,
 *  -EPROTO/-EPIPE closed */
int tb_channel_saved(struct tb_channel *channel, const struct tb_packet *offer);

#ifdef __cplusplus
}
#endif

#endif /* TRACEBUF_H */
