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
 * docs/library.md tells how all this goes together, samples/read/ has programs.
 *
 * Conventions: functions return 0 or a count, and -errno on failure; none
 * prints, none keeps global state.  Times are ticks of the trace clock unless a
 * name says ns (nanoseconds; of CLOCK_MONOTONIC unless said otherwise) or ms; offsets
 * are bytes from the start of the file; thread ids are those of the initial pid
 * namespace.  Pointers into a trace are good until it is closed, or as long as
 * said where they are given.  The layouts in linux/tracebuf.h (struct
 * tb_block, tb_gap, tb_init, ...) are used as they are.
 *
 * Threads: objects are not locked: one object, one thread at a time.  A trace that
 * is open may be shared by cursors of several threads, and asked by all of them, as
 * long as nobody selects or closes; one that is followed belongs to one thread.
 *
 * Errors: whatever is in a trace, nothing outside of it is read.  What is wrong is told with its
 * offset, and all before it is shown.
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
 * struct tb_error - what went wrong, for a human
 * @code: -errno, the same as the function returned
 * @offset: where in the file, in bytes; TB_OFFSET_NONE if that says nothing
 * @text: one sentence without a newline, without the file's name
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
 * @path: the file; one that can be mapped is, a pipe is read into memory
 * @trace: out: the trace, NULL on failure
 * @error: out, may be NULL
 *
 * A file that starts as a trace and breaks off later (truncated, foreign
 * bytes) opens: what is whole can be read, then tb_cursor_next() returns -EBADMSG instead
 * of 0, and tb_trace_fault() tells of the rest.  Of one that is packed or compressed, frames are
 * unpacked when they are needed, and given up again; offsets count unpacked bytes.
 * Errors: -EINVAL not a trace at all, -ENODATA empty, -EPROTO unknown
 * version, -ENOMEM, and those of open() and read().
 */
int tb_trace_open(const char *path, struct tb_trace **trace,
		  struct tb_error *error);

/* tb_trace_open_with() flags */
#define TB_OPEN_HEADERS	0x01u	/* do not pass over all events */

/**
 * tb_trace_open_with - the same with @flags, TB_OPEN_*
 *
 * Opening passes over the heads of all events once: what programs have written has to be known before
 * the first of it is shown, and there may be clock records.  With TB_OPEN_HEADERS only the headers of blocks
 * and the durable blocks are read: the time this takes does not depend on what is in the rest.  No records of
 * programs come by then (TB_VIEW_USER), and tb_trace_syncs() has durable ones alone.
 */
int tb_trace_open_with(const char *path, uint32_t flags,
		       struct tb_trace **trace, struct tb_error *error);

/** tb_trace_open_fd - the same for an open descriptor, which stays the caller's */
int tb_trace_open_fd(int fd, struct tb_trace **trace, struct tb_error *error);

/** tb_trace_open_memory - the same for @size bytes at @data (8-byte aligned),
 *  which must stay as they are until the trace is closed */
int tb_trace_open_memory(const void *data, size_t size,
			 struct tb_trace **trace, struct tb_error *error);

/** tb_trace_close - free everything; NULL is fine.  Close cursors first. */
void tb_trace_close(struct tb_trace *trace);

/** tb_trace_fault - the first thing wrong with the file's structure (offset
 *  and text), NULL if nothing is.  What precedes the offset is readable.  Where a
 *  packed or compressed file is damaged the offset is that of the frame in the file; all other frames
 *  are readable, too. */
const struct tb_error *tb_trace_fault(const struct tb_trace *trace);

/** tb_trace_size - bytes of the file; of one that is packed: when unpacked */
uint64_t tb_trace_size(const struct tb_trace *trace);

/**
 * tb_trace_recordings - how many recordings the file holds, at least 1
 *
 * Files may be concatenated: every TB_EV_INIT of another recording starts
 * one.  All functions below, cursors included, speak of the one selected,
 * which is the first after opening.
 */
unsigned int tb_trace_recordings(const struct tb_trace *trace);

/**
 * tb_trace_next_recording - select the one after the one selected
 *
 * Of a trace that is followed the only way: tb_cursor_next() returns 0 where a recording ends, and
 * this tells whether another one has begun.  No cursor may be open.
 * Return: 1; 0 there is none (a device: it has not been started yet); -EBUSY a cursor is open.
 */
int tb_trace_next_recording(struct tb_trace *trace);

/** tb_trace_select - select recording @index; -ERANGE.  No cursor may be open. */
int tb_trace_select(struct tb_trace *trace, unsigned int index);

/** tb_trace_selected - the number of the recording that is selected, from 0 */
unsigned int tb_trace_selected(const struct tb_trace *trace);

/** tb_trace_init - the initialisation record, NULL if the file has none (cut) */
const struct tb_init *tb_trace_init(const struct tb_trace *trace);

/** tb_trace_nr_cpus - 1 + the highest CPU number with a block or totals */
unsigned int tb_trace_nr_cpus(const struct tb_trace *trace);

/** tb_trace_totals - the counts of @cpu at stop, NULL if not recorded */
const struct tb_totals *tb_trace_totals(const struct tb_trace *trace,
					unsigned int cpu);

/** tb_trace_snapshot - the counts of @cpu when the last snapshot in the file began, NULL if there
 *  are none.  They are those of its ring in this file if @blocks is that of its last block + 1 */
const struct tb_totals *tb_trace_snapshot(const struct tb_trace *trace,
					  unsigned int cpu);

/**
 * tb_trace_tail - what is missing after the last block of @cpu, by its totals
 * @last: the block's header, NULL if there is no block
 * @lost: out: how many events, and in which span nothing is known of this CPU
 * @ticks: out: the end of that span
 *
 * Return: 1; 0 if nothing is missing there, as far as the trace tells.
 */
int tb_trace_tail(const struct tb_trace *trace, unsigned int cpu,
		  const struct tb_block *last, struct tb_gap *lost,
		  uint64_t *ticks);

/** tb_trace_string - name for a number (TB_STRING_*), NULL if none; system
 *  calls and softirqs fall back to the built-in tables */
const char *tb_trace_string(const struct tb_trace *trace, uint32_t kind,
			    uint32_t key);

/**
 * tb_trace_selection - when the events changed that are recorded
 * @index: which of these changes, from 0, in order of time; the first is the start, from which on
 *	nothing is recorded yet
 * @ticks: out: when: just before all that it enables is recorded, and all that it disables is not
 *	any more
 *
 * Return: 0; -ENOENT there is no such change, or recordings of that kernel module do not say.
 */
int tb_trace_selection(const struct tb_trace *trace, unsigned int index, uint64_t *ticks);

/** tb_trace_selects - is event @id recorded from change number @index to the next?  1 also if there
 *  is no such change */
int tb_trace_selects(const struct tb_trace *trace, unsigned int index, uint16_t id);

/**
 * tb_trace_threads_lost - may threads be without a name, or under an old one?
 * @lost: out: records of threads that were lost, and what was removed; all zero if nothing was
 *
 * Return: 1 if so, else 0.
 */
int tb_trace_threads_lost(const struct tb_trace *trace, struct tb_threads_lost *lost);

/** tb_trace_suppressed - what rules kept out, per event and by thread (id 0), as told
 *  at stop; @count out, NULL if none */
const struct tb_suppressed *tb_trace_suppressed(const struct tb_trace *trace,
						size_t *count);

/**
 * tb_trace_symbol - the kernel's function that @address is in
 * @name, @length: out: its name, not NUL-terminated, with " [module]"
 * @offset: out: bytes from its start
 *
 * Of a stack's return addresses the byte before is in the function that called.
 * Return: 0; -ENOENT the trace does not tell.
 */
int tb_trace_symbol(const struct tb_trace *trace, uint64_t address,
		    const char **name, size_t *length, uint64_t *offset);

/**
 * struct tb_code - where in a file the code of a program is
 * @path, @length: the file's name in the program's mount namespace, not NUL-terminated; "[vdso]",
 *	"//anon" and the like where it is not a file
 * @build_id, @build_id_bytes: the file's build ID; 0 bytes: not known
 * @offset: bytes from the start of the file
 * @start, @size: the addresses at which this part of the file is mapped
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
 * tb_trace_code - the file that an address of a program is in
 * @pid: the process: tb_task.tgid
 * @ns: CLOCK_MONOTONIC: tb_view.ns
 * @code: out; its pointers are into the trace
 *
 * Of a stack all addresses but the first are return addresses: the byte before is in the call.
 * Return: 0; -ENOENT the trace does not tell, or nothing is known of that time.
 */
int tb_trace_code(const struct tb_trace *trace, uint32_t pid, uint64_t ns, uint64_t address,
		  struct tb_code *code);

/* ---- clock ------------------------------------------------------------ */

enum tb_timebase {
	TB_TIME_MONOTONIC = 0,
	TB_TIME_BOOTTIME  = 1,
	TB_TIME_REALTIME  = 2,
};

/**
 * tb_trace_ns - @ticks of the trace clock as ns of @base
 *
 * Straight lines between the clock records; outside of them, and where there
 * is only one, by the slope next to it or the recorded frequency.  Without
 * any record, ticks / frequency; without a frequency, ticks.
 */
uint64_t tb_trace_ns(const struct tb_trace *trace, uint64_t ticks,
		     enum tb_timebase base);

/** tb_trace_ticks - the trace clock when CLOCK_MONOTONIC was @ns: the other way round, to within
 *  rounding */
uint64_t tb_trace_ticks(const struct tb_trace *trace, uint64_t ns);

/** tb_trace_syncs - the clock records by time, durable and rolling ones,
 *  without those that took far longer to read than the others; CLOCK_BOOTTIME is ahead of
 *  CLOCK_MONOTONIC by the same in all between two sleeps; @count out, NULL if none */
const struct tb_clock_sync *tb_trace_syncs(const struct tb_trace *trace,
					   size_t *count);

/* ---- formats ---------------------------------------------------------- */

/**
 * enum tb_show - what a field is, for those who show it
 * TB_SHOW_SIGNED, TB_SHOW_UNSIGNED, TB_SHOW_HEX: a number
 * TB_SHOW_TEXT: tb_field_str()
 * TB_SHOW_ARRAY: numbers: tb_field_count(), tb_field_item()
 * TB_SHOW_MASK: a set of CPUs; the lowest bit of the first byte is CPU 0
 * TB_SHOW_BYTES: anything else: tb_field_data()
 * TB_SHOW_STATE: a number that tb_task_state() knows
 * TB_SHOW_SYSCALL, TB_SHOW_SOFTIRQ: a number for which tb_trace_string() has a name
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
};

/**
 * struct tb_format_field - one field of an event
 * @name: its name
 * @type: its C type as the kernel spells it
 * @offset: bytes from the start of the payload
 * @size: bytes in all; 4 for DATA_LOC and REL_LOC
 * @count: elements of an array, else 0
 * @flags: TB_FIELD_*
 * @bit: first bit, if TB_FIELD_BITS
 * @bits: bits, if TB_FIELD_BITS
 * @width: bytes of one element: 1, 2, 4, 8, or 0 where it is not a number
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
 * struct tb_format - what an event id means
 * @id: the id in the trace
 * @flags: TB_EVENT_*
 * @index: dense number of the format in its recording, from 0
 * @nr_fields: how many @fields
 * @context: of simple events without a TB_FIELD_CONTEXT: TB_CONTEXT_*
 * @system: "sched"
 * @name: "sched_switch"; the same for the wide and the compact form
 * @print: the kernel's print format, "" if none
 * @fields: in the order of the description
 *
 * Texts are as they are in the trace, with '?' for each byte that a terminal would obey; but not
 * @print, in which the kernel itself has tabs and lines.
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

/** tb_trace_format - the format of @id, NULL if it is not described */
const struct tb_format *tb_trace_format(const struct tb_trace *trace,
					uint16_t id);

/** tb_trace_formats - how many formats the recording has */
unsigned int tb_trace_formats(const struct tb_trace *trace);

/** tb_trace_format_at - format number @index, NULL beyond the last */
const struct tb_format *tb_trace_format_at(const struct tb_trace *trace,
					   unsigned int index);

/**
 * tb_trace_format_named - the format of an event
 * @name: "system:event", as "sched:sched_switch"
 * @after: NULL: the first format of that name; a format of that name: the next one.  An event that
 *	was recorded in both forms has two
 *
 * Return: NULL if there is none.  Threads: as for the trace.
 */
const struct tb_format *tb_trace_format_named(const struct tb_trace *trace, const char *name,
					      const struct tb_format *after);

/** tb_format_field - the field called @name, NULL if there is none */
const struct tb_format_field *tb_format_field(const struct tb_format *format,
					      const char *name);

/**
 * tb_format_text - @format as the text of a tracefs "format" file, with @id
 *
 * For parsers that know the kernel's records: 8 bytes (struct trace_entry, of
 * which the first two are @id) and then the payload.  Only wide forms have such records.
 * Return: like snprintf().
 */
int tb_format_text(const struct tb_format *format, unsigned int id,
		   char *buffer, size_t size);

/** tb_field_declare - a field as there: "char comm[16]", "__data_loc char[] name";
 *  like snprintf() */
int tb_field_declare(const struct tb_format_field *field, char *buffer,
		     size_t size);

/* ---- threads ---------------------------------------------------------- */

/**
 * struct tb_task - a thread as known at a point of the trace
 * @tgid: its process, 0 if unknown
 * @parent: the parent process, 0 if unknown
 * @uid: real user id, meaningful if TB_TASK_LISTED
 * @flags: TB_THREAD_* of the last record about it, and TB_TASK_*
 * @prio: kernel priority
 * @comm: its name, NUL-terminated, "" if unknown
 * @cgroup: its cgroup in the unified hierarchy, 0 if unknown; tb_trace_string(TB_STRING_CGROUP) has
 *	the path, as it was when the recorder saw the cgroup
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

#define TB_TASK_LISTED 0x8000	/* there was a TB_EV_THREAD record about it */

/* ---- following: a trace while it is made ------------------------------ */

/* tb_follow_options.flags */
#define TB_FOLLOW_GROWS	0x01u	/* a file: at its end wait for more */

/**
 * struct tb_follow_options - zero: the default
 * @flags: TB_FOLLOW_*
 * @hold_ms: how long events may be held back so that those of other CPUs come before them (500)
 * @room: bytes of blocks that may wait for it (64 MiB).  From a pipe no more is read then; of a device
 *	the buffers are flushed at once.  Besides, as many bytes of notes are kept: symbols
 *	of more are not known, and tb_trace_fault() tells
 */
struct tb_follow_options {
	uint32_t flags;
	uint32_t hold_ms;
	uint64_t room;
};

/**
 * tb_trace_follow_device - read a recording while it is made
 * @device: open, attached to its provider, configured; stays the caller's, and must be open for as long as
 *	the trace.  The trace is its reader: nobody else may take blocks
 * @options: NULL: the default
 *
 * One cursor at a time, the same calls as for a file.  tb_cursor_next() gives events in order of time over
 * all CPUs; where nothing is to be shown yet it returns -EAGAIN at once, and tb_cursor_wait() waits.  Rings are
 * flushed once in @hold_ms, and what was there before is shown.  0: the recording was stopped and all
 * of it has been shown.
 *
 * What is told of the trace (formats, strings, totals ...) is what has come so far; it stays where it is
 * until the recording ends, but for tb_trace_syncs() and tb_trace_suppressed().  @payload of a view, and
 * whatever points into it, is valid until the next call of tb_cursor_next() only.  What programs
 * write comes by as TB_EV_CHUNK, not as TB_VIEW_USER: names and ends are told later than they are needed.
 */
int tb_trace_follow_device(struct tb_device *device,
			   const struct tb_follow_options *options,
			   struct tb_trace **trace, struct tb_error *error);

/**
 * tb_trace_follow_fd - the same from a pipe, a socket or a file
 * @fd: stays the caller's; read as it becomes readable, from where it stands
 *
 * A pipe cannot be asked for what is still in the buffers: whoever records should flush more often than
 * @hold_ms ("tracebuf stream --flush-ms 200").  What comes later than that is shown when it comes.
 * The end of the file is the end, but with TB_FOLLOW_GROWS: then tb_cursor_finish() says so.
 */
int tb_trace_follow_fd(int fd, const struct tb_follow_options *options,
		       struct tb_trace **trace, struct tb_error *error);

/**
 * tb_cursor_wait - wait until there may be more to show
 * @timeout_ms: -1: for as long as it takes
 * Return: 1; 0 the time is over; -EINTR.  A trace that is not followed: 1.
 */
int tb_cursor_wait(struct tb_cursor *cursor, int timeout_ms);

/** tb_cursor_finish - no more is to be waited for: what is there is shown, then comes the end */
void tb_cursor_finish(struct tb_cursor *cursor);

/** tb_cursor_late - events so far that were shown after later ones: they came when their time was over */
uint64_t tb_cursor_late(const struct tb_cursor *cursor);

/* ---- cursor: all events of all CPUs, in time order -------------------- */

enum tb_view_kind {
	TB_VIEW_EVENT = 0,	/* an event */
	TB_VIEW_LOST  = 1,	/* events are missing here */
	TB_VIEW_USER  = 2,	/* a record of a program; see struct tb_user */
	TB_VIEW_USER_LOST = 3,	/* records of one of its writers are missing here */
};

/* tb_view.cpu of TB_VIEW_USER and TB_VIEW_USER_LOST: records do not say where they were made */
#define TB_RING_USER	0xfffffffeu

/**
 * struct tb_view - one event, or one loss, as the cursor comes by
 * @kind: enum tb_view_kind
 * @cpu: the ring, TB_RING_DURABLE for what came in a durable block
 * @ticks: time; a loss: that of the block after it
 * @ns: the same as CLOCK_MONOTONIC in ns
 * @tid: the thread: of a composite event as recorded, of a simple one as
 *	followed through block headers and sched_switch; 0: idle
 * @id: event id; below TB_EV_FIRST a control event (TB_EV_*)
 * @structure: TB_STRUCT_SIMPLE or TB_STRUCT_COMPOSITE; events that were recorded in the compact form
 *	are shown in the wide form, as if they had been recorded so
 * @context: TB_CONTEXT_*; zero for events that are always simple
 * @length: bytes of @payload
 * @payload: valid until the next call
 * @format: NULL for control events and undescribed ids
 * @task: what is known of @tid, NULL if nothing; valid until the next call
 * @comm: its name, "<idle>" for 0, "<...>" if unknown; never NULL
 * @lost: a loss: how many, why, the span of time; events of zero loss do not
 *	come by
 * @offset: of the event's first element (a loss: of the block) in the file
 * @sequence: of its block
 * @stack: the kernel's stack, @nr_stack return addresses, innermost first
 * @user_stack: that of the program, @nr_user_stack
 * @counters: values of counters; see tb_view_counter()
 * @nr_stack, @nr_user_stack, @counter_mask: 0: there is none
 * @user: TB_VIEW_USER and TB_VIEW_USER_LOST, else NULL; valid until the next call.  @payload is
 *	the record then, @sequence its number, @id TB_EV_CHUNK, and @lost.first and @lost.last
 *	are the span of time of a loss.  @tid is the process where the thread is not known
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
	uint16_t reserved;
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
 * tb_cursor_open - a cursor before the first event of the recording
 *
 * Threads of the state dump are known from the start; the table then follows
 * TB_EV_THREAD, task_newtask, task_rename, sched_switch and the like as they
 * go by.  Durable events other than TB_EV_INIT, EVENT, STRING, TOTALS, SUPPRESSED and
 * the state dump's TB_EV_THREAD come by as events, too.  Errors: -ENOMEM.
 */
int tb_cursor_open(struct tb_trace *trace, struct tb_cursor **cursor);
void tb_cursor_close(struct tb_cursor *cursor);

/**
 * tb_cursor_next - the next event or loss
 *
 * Order: by time; on the same tick by CPU, within a CPU as recorded.  Losses
 * after the last block of a CPU (from the totals) come at the time until which
 * its counts go: when the recording was stopped, or the snapshot began.
 *
 * What a program has written comes by twice: as TB_EV_CHUNK, when the kernel took
 * it, and as TB_VIEW_USER one record after the other, each at its own time, those of
 * one writer in the order in which it wrote them.
 * Return: 1; 0 at the end; -EBADMSG at the end, if that was not all: the file breaks off (the last recording
 * of it), or blocks were damaged; -EAGAIN a trace that is followed has nothing to show yet (tb_cursor_wait());
 * -ENOMEM; of a trace that is followed, errors of read() and of the device.  Damage inside a block ends that block
 * (see tb_cursor_fault()) and the cursor goes on with the next one.
 * The fields of @view that it does not use for @kind are undefined.
 */
int tb_cursor_next(struct tb_cursor *cursor, struct tb_view *view);

/**
 * tb_cursor_seek - before the first event or loss of time @ticks or later
 *
 * Any time, before or behind.  The way there is through headers: of each CPU at most one block is
 * looked into.  Threads are known by the state dump and what durable blocks tell of them until then; names
 * that only events between tell are not.  Of what programs have written all before is passed over,
 * so slices that have begun are known.  For blocks and elements: before the first that was not
 * complete by then.
 * Return: 0; -ENOMEM; -ESPIPE a trace that is followed.
 */
int tb_cursor_seek(struct tb_cursor *cursor, uint64_t ticks);

/* tb_choice.flags */
#define TB_CHOICE_NO_TASKS   0x01u	/* threads are not followed: @task and @comm say nothing */
#define TB_CHOICE_NO_CONTROL 0x02u	/* no events without a format */
#define TB_CHOICE_NO_USER    0x04u	/* no records of programs, nor losses of them */

/**
 * struct tb_choice - what a cursor shows; zero: all
 * @formats: those whose byte, by the format's index, is not 0; NULL: all
 * @cpus: likewise of CPUs, by number, @nr_cpus bytes; NULL: all
 * @flags: TB_CHOICE_*
 * @until: ticks: what is of that time or later does not come by; 0: all does
 */
struct tb_choice {
	const unsigned char *formats;
	const unsigned char *cpus;
	uint32_t nr_cpus;
	uint32_t flags;
	uint64_t until;
};

/**
 * tb_cursor_choose - of events, let come by only some; before the first call of another function
 * @choice: not needed any more after it
 *
 * Blocks of CPUs that are not wanted are not looked into, so what is in them tells nothing of threads
 * either.  Other events do that, whether they are shown or not.  Losses of the CPUs wanted are always shown.
 * Return: 0; -EBUSY it is too late, -ESPIPE a trace that is followed, -ENOMEM.
 */
int tb_cursor_choose(struct tb_cursor *cursor, const struct tb_choice *choice);

/**
 * struct tb_passed - what a cursor has gone through, shown or not
 * @blocks: blocks that it has looked into
 * @events: events in them
 */
struct tb_passed {
	uint64_t blocks;
	uint64_t events;
};

/** tb_cursor_passed - so far */
void tb_cursor_passed(const struct tb_cursor *cursor, struct tb_passed *passed);

/**
 * tb_cursor_next_block - the next block as it is, in the file's order or as it comes
 * @offset: out, may be NULL: where it is among all bytes
 *
 * A cursor that has been asked for blocks gives nothing else, and likewise for elements and
 * events: -EINVAL.
 * Return: 1; 0 at the end; -EAGAIN and others as tb_cursor_next().
 */
int tb_cursor_next_block(struct tb_cursor *cursor,
			 const struct tb_block **block, uint64_t *offset);

/**
 * tb_cursor_next_element - the next event of any block as it is, structural ones included
 * @element: out: a copy; see struct tb_walk, @block says where it is
 */
int tb_cursor_next_element(struct tb_cursor *cursor, struct tb_walk *element,
			   uint64_t *offset);

/**
 * tb_cursor_error - what a @result of tb_cursor_next() means
 * @error: out: in words, with the place in the file; "" for 0 and 1
 * Return: @result.
 */
int tb_cursor_error(const struct tb_cursor *cursor, int result, struct tb_error *error);

/** tb_cursor_fault - the first damaged block met so far, NULL if none */
const struct tb_error *tb_cursor_fault(const struct tb_cursor *cursor);

/** tb_cursor_uncommitted - elements met so far that were reserved but never
 *  committed (stepped over) */
uint64_t tb_cursor_uncommitted(const struct tb_cursor *cursor);

/** tb_cursor_task - what is known of @tid at this point, NULL if nothing */
const struct tb_task *tb_cursor_task(const struct tb_cursor *cursor,
				     uint32_t tid);

/**
 * tb_cursor_each_task - call @each for every thread known at this point, in
 * no particular order; stops and returns what it returned if not 0
 */
int tb_cursor_each_task(const struct tb_cursor *cursor,
			int (*each)(const struct tb_task *task, void *context),
			void *context);

/**
 * tb_view_counter - counter number @index of those of the event
 * @number: out: which; tb_trace_string() with TB_STRING_COUNTER names it
 * Return: 1; 0 beyond the last.
 */
int tb_view_counter(const struct tb_view *view, unsigned int index,
		    uint32_t *number, uint64_t *value);

/* ---- what programs write ---------------------------------------------- */

/* causes beyond those of tracebuf_producer.h: the reader of the trace says so */
#define TB_LOST_OVERWRITTEN	0x00010000u	/* overwritten in the ring */
#define TB_LOST_UNKNOWN		0x00020000u	/* nobody says why */
#define TB_LOST_DAMAGED		0x00040000u	/* what is there is no record */
#define TB_LOST_BITS		19

/* tb_user.flags */
#define TB_USER_FLOW	 0x01	/* @flow is one */
#define TB_USER_FLOW_END 0x02	/* it ends here */
#define TB_USER_DOUBLE	 0x04	/* a counter: value.f64, else value.s64 */
#define TB_USER_OPEN	 0x08	/* a slice whose end is not known */
#define TB_USER_UNMATCHED 0x10	/* an end without a beginning */
#define TB_USER_CLAMPED	 0x20	/* its time cannot be: it is shown at the nearest that can */
#define TB_USER_NO_TIME	 0x40	/* of a clock the trace does not tell of: when it was taken */
#define TB_USER_CUT	 0x80	/* it is shorter than what it should have */
#define TB_USER_AT_MOST	 0x100	/* a loss: some may have been before the recording */

union tb_user_value {
	int64_t  s64;
	uint64_t u64;
	double   f64;
};

/**
 * struct tb_user_arg - an argument
 * @name: what it is called
 * @text: TB_ARG_TEXT: the text, else NULL
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
 * struct tb_user - a record that a program has written, or a loss of some
 * @type: enum tb_record_type; never TB_REC_NAME
 * @flags: TB_USER_*
 * @writer: which writer, for tb_trace_user_writer()
 * @producer, @writer_id: id of its channel, and its own there
 * @pid, @tid, @uid: as struct tb_chunk_event has them
 * @depth: how many slices of the writer have begun and not ended, this one not
 *	counted (TB_REC_SLICE do not count)
 * @name: NUL-terminated; "#17" if the trace does not tell; of an end that of its beginning, or
 *	""; of a mark ""
 * @category: likewise; "-" if there is none
 * @name_id, @category_id: their numbers, 0: none; the same number is the same name in
 *	all records of @producer
 * @value: TB_REC_COUNTER, TB_REC_SIMPLE (u64)
 * @duration, @duration_ns: TB_REC_SLICE: ticks of the trace clock, and ns
 * @flow: its id, meaningful in all of the trace
 * @data, @data_bytes: TB_REC_EVENT, and the text of TB_REC_MARK
 * @args, @nr_args: arguments
 * @lost: a loss: how many records
 * @cause: a loss: TB_LOST_*
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
 * @producer, @writer: its ids; a program may give an id again to another writer, which then has
 *	its own counts
 * @pid, @tid, @uid: of its first piece
 * @chunks: how many, as far as they are in the trace
 * @pieces: how many they are in
 * @bytes: of records
 * @patches: words that were filled in later
 * @before: records before the first one that is in the trace, where it is not known
 *	whether they belong to this recording
 * @attempted: records from then on: @delivered + @missing
 * @delivered: are in the trace
 * @missing: are not
 * @lost: why: those missing for the one cause 1 << n; a loss with several causes
 *	is in the last
 * @names: of @delivered: those that only tell a name
 * @unknown: of a kind that this library does not know
 * @wrong: pieces that are not what the format promises: they have not as many records as they
 *	say, or numbers that were there before
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

/** tb_trace_user_writer - writer number @index, by producer and id; NULL beyond the last */
const struct tb_user_writer *tb_trace_user_writer(const struct tb_trace *trace,
						  unsigned int index);

/** tb_trace_user_malformed - chunks and patches that are too short to be any */
uint64_t tb_trace_user_malformed(const struct tb_trace *trace);

/**
 * struct tb_user_name - a name that a program has told
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

/** tb_trace_user_name - name number @index; NULL beyond the last */
const struct tb_user_name *tb_trace_user_name(const struct tb_trace *trace,
					      unsigned int index);

/** tb_trace_user_category - the category of a name, as tb_user.category has it; NULL if
 *  the trace does not tell its name */
const char *tb_trace_user_category(const struct tb_trace *trace,
				   const struct tb_user_name *name);

/** tb_record_type_name - "begin", "counter", ...; "?" for others */
const char *tb_record_type_name(uint32_t type);

/** tb_lost_cause_name - of cause 1 << @bit: "no chunk was free", ...; "?" for others */
const char *tb_lost_cause_name(unsigned int bit);

/* ---- fields of an event ----------------------------------------------- */

/*
 * All return -ERANGE where the payload is too short for the field and -EINVAL
 * where the field is of another kind; nothing outside of the payload is read.
 */

/** tb_field_u64 - a number, zero-extended (sign-extended if TB_FIELD_SIGNED) */
int tb_field_u64(const struct tb_view *view,
		 const struct tb_format_field *field, uint64_t *value);

/** tb_field_s64 - the same as signed */
int tb_field_s64(const struct tb_view *view,
		 const struct tb_format_field *field, int64_t *value);

/** tb_field_str - text of a char array or of DATA_LOC/REL_LOC text: not
 *  copied, not NUL-terminated; @length without the NUL */
int tb_field_str(const struct tb_view *view,
		 const struct tb_format_field *field,
		 const char **text, size_t *length);

/** tb_field_data - the bytes of any field, DATA_LOC and REL_LOC followed: none where a
 *  DATA_LOC is 0 */
int tb_field_data(const struct tb_view *view,
		  const struct tb_format_field *field,
		  const void **data, size_t *length);

/** tb_field_count - elements: of an array or of dynamic data; 1 for numbers */
int tb_field_count(const struct tb_view *view,
		   const struct tb_format_field *field);

/** tb_field_item - element @index of an array of numbers, fixed or dynamic */
int tb_field_item(const struct tb_view *view,
		  const struct tb_format_field *field, unsigned int index,
		  uint64_t *value);

/** tb_field_is_text - 1 if tb_field_str() is the way to read it */
int tb_field_is_text(const struct tb_format_field *field);

/* ---- text ------------------------------------------------------------- */

/**
 * tb_view_print - "name=value name=value" of an event's fields (or the text
 * of a loss or control event), NUL-terminated
 * Return: like snprintf(): the length wanted, more than @size - 1 if cut.
 * Unprintable bytes of texts are shown as \xNN.
 */
int tb_view_print(const struct tb_trace *trace, const struct tb_view *view,
		  char *buffer, size_t size);

/**
 * tb_field_print - what tb_view_print() shows behind the "=" of one field
 * Return: like snprintf(); -ERANGE the payload is too short for the field.
 */
int tb_field_print(const struct tb_trace *trace, const struct tb_view *view,
		   const struct tb_format_field *field, char *buffer,
		   size_t size);

/** tb_view_name - "system" and "event" of an event, control events included;
 *  undescribed ones are "unknown" and "event_ID".  Of a record of a program they are
 *  "user" and its category, which is the program's text: it may be long and have any
 *  bytes in it.  Both never NULL. */
const char *tb_view_system(const struct tb_view *view);
const char *tb_view_name(const struct tb_view *view, char spare[24]);

/** tb_syscall_name - of the architecture the library was built for; NULL */
const char *tb_syscall_name(uint64_t nr);

/** tb_softirq_name - "TIMER", ...; NULL */
const char *tb_softirq_name(uint64_t vector);

/** tb_task_state - "S", "D", "R+" of sched_switch's prev_state; @buffer >= 24 */
const char *tb_task_state(uint64_t state, char *buffer, size_t size);

/** tb_clock_name, tb_mode_name, tb_policy_name, tb_state_name, tb_reason_name -
 *  of enum tb_clock_id, tb_mode, tb_policy, tb_state, tb_reason; "?" for others */
const char *tb_clock_name(uint32_t clock);
const char *tb_mode_name(uint32_t mode);
const char *tb_policy_name(uint32_t policy);
const char *tb_state_name(uint32_t state);
const char *tb_reason_name(uint32_t reason);

/* ---- blocks and elements, raw ----------------------------------------- */

/** tb_trace_blocks - whole blocks in the file, of all recordings */
size_t tb_trace_blocks(const struct tb_trace *trace);

/**
 * tb_trace_range - the numbers of the blocks of a recording in the file
 * @recording: less than tb_trace_recordings()
 * @end: out: the number after its last block
 * Return: the number of its first block.  Blocks of other recordings may be between them.
 */
size_t tb_trace_range(const struct tb_trace *trace, unsigned int recording, size_t *end);

/**
 * tb_trace_header - the header of block number @index of the file
 * @offset, @recording: out, as of tb_trace_block()
 *
 * Nothing is unpacked for it.
 * Return: its 64 bytes alone, until the trace is closed; NULL beyond the last.
 */
const struct tb_block *tb_trace_header(const struct tb_trace *trace, size_t index,
				       uint64_t *offset, unsigned int *recording);

/**
 * tb_trace_block - block number @index of the file
 * @offset: out, may be NULL: where it starts
 * @recording: out, may be NULL: the recording it belongs to
 * Return: the block, 1 << size_log2 bytes; NULL beyond the last.  It stays until the trace is
 * closed; in a packed or compressed trace a block with events of a CPU stays until this function
 * has been called for blocks of four other frames.
 */
const struct tb_block *tb_trace_block(const struct tb_trace *trace,
				      size_t index, uint64_t *offset,
				      unsigned int *recording);

/**
 * tb_block_check - is there a valid block header at @data?
 * @room: bytes from @data on, 64 at least
 * @error: out, may be NULL: text, and offset relative to @data
 * Return: the block's size in bytes; -EINVAL no block, -EPROTO a version
 * this library does not know, -ENODATA it is cut off after @room bytes.
 */
int64_t tb_block_check(const void *data, size_t room, struct tb_error *error);

/**
 * struct tb_walk - a walk over the elements of one block
 * @block: the block
 * @position: element index of the next event
 * @end: first element index not used
 * @time: the clock as far as known, for the upper half
 * @index: element index of the current event, as the following
 * @id, @structure, @length: of the current event, @length in elements
 * @ticks: its full time (of a RESERVED one: unknown, that before it)
 * @tid, @context: composite events
 * @payload: its payload; @bytes: of it
 * @wrong: what is wrong where tb_walk_next() returned -EBADMSG
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
 * tb_walk_start - start a walk over a block in memory that only the caller can change
 * @block: checked with tb_block_check() before
 */
void tb_walk_start(struct tb_walk *walk, const struct tb_block *block);

/**
 * tb_walk_trace - start a walk over a block of a trace
 * @block: from tb_trace_block() or tb_cursor_next_block() of @trace
 *
 * Another program may change a mapped file while it is read.  The walk stays within the trace
 * whatever the block says by then.
 */
void tb_walk_trace(struct tb_walk *walk, const struct tb_trace *trace,
		   const struct tb_block *block);

/**
 * tb_walk_next - step to the next event, structural ones included (their
 * effect on time is applied); PAD ends the walk
 * Return: 1 an event; 0 end of the block; -EAGAIN an element reserved but
 * not committed (call again to step over it); -EBADMSG damage: @wrong says
 * what and @index where, the walk is over.
 */
int tb_walk_next(struct tb_walk *walk);

/* ---- filters ---------------------------------------------------------- */

enum tb_filter_verdict {
	TB_FILTER_DEPENDS = 0,
	TB_FILTER_ALWAYS,	/* all events pass, whatever is in them */
	TB_FILTER_NEVER,	/* none does */
};

/**
 * struct tb_filter_code - an expression as the kernel takes it (struct tb_rule)
 * @nr_tests: 0: all pass
 * @data_bytes: of @data
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
 * tb_filter_compile - make the tests of an expression over an event's fields
 * @text: as in docs/filters.md: "prev_prio < 100 && next_comm ~ 'ff*'"
 * @format: the form of the event in which it is recorded
 * @error: out, may be NULL: the text begins with "column N:", @offset is N - 1
 *
 * Return: 0; -ENOENT there is no such field (its name is at the offset),
 * -EINVAL the expression is wrong, -E2BIG it is too long, -ENOMEM.
 */
int tb_filter_compile(const char *text, const struct tb_format *format,
		      struct tb_filter_code *code, struct tb_error *error);

/**
 * tb_filter_one_of - and, before all else: number @name is one of those
 * @bits: bit n of byte n / 8 for number n
 * Return: 0; -ENOENT no such number in the event, -E2BIG.
 */
int tb_filter_one_of(struct tb_filter_code *code,
		     const struct tb_format *format, const char *name,
		     const void *bits, size_t bytes, struct tb_error *error);

/** tb_filter_common - what can be asked of any event: name number @index, NULL
 *  beyond the last */
const char *tb_filter_common(unsigned int index);

/* ---- device ----------------------------------------------------------- */

#define TB_DEVICE_PATH "/dev/tracebuf"

/* tb_device_open() flags */
#define TB_DEVICE_NONBLOCK 0x01

/**
 * tb_device_open - open the device
 * @path: NULL: TB_DEVICE_PATH
 * @flags: TB_DEVICE_*
 * @error: out, may be NULL: says what is missing: the module, a permission
 * Errors: -ENOENT/-ENXIO/-ENODEV no module, -EACCES/-EPERM, -EPROTO another
 * ABI version, -EBUSY.
 */
int tb_device_open(const char *path, unsigned int flags,
		   struct tb_device **device, struct tb_error *error);
void tb_device_close(struct tb_device *device);

/** tb_device_fd - its descriptor, for poll(): POLLIN blocks can be taken,
 *  POLLHUP stopped and drained */
int tb_device_fd(const struct tb_device *device);

/**
 * tb_device_attach - be for provider @name instead of "kernel"
 *
 * Once, and before anything is mapped, read or started.
 * Errors: -ENOENT, -EBUSY, -EINVAL no name that a provider can have.
 */
int tb_device_attach(struct tb_device *device, const char *name);

/**
 * tb_device_create - make a provider
 * Errors: -EINVAL illegal name, -EEXIST, -ENOSPC TB_PROVIDERS_MAX, -ENOMEM.
 */
int tb_device_create(struct tb_device *device, const char *name);

/**
 * tb_device_destroy - remove a provider; @device may be attached to it
 * Errors: -ENOENT, -EPERM "kernel", -EBUSY another file or a module has it.
 */
int tb_device_destroy(struct tb_device *device, const char *name);

/** tb_device_provider - provider number @index, 0 is "kernel"; -ENOENT beyond */
int tb_device_provider(struct tb_device *device, unsigned int index,
		       struct tb_provider_info *info);

/* The ioctls of linux/tracebuf.h, one to one; -errno as documented there. */
int tb_device_query(struct tb_device *device, struct tb_query *query);
/** tb_device_configure - -E2BIG @config has something that this library does not know */
int tb_device_configure(struct tb_device *device, const struct tb_config *config);
int tb_device_start(struct tb_device *device, uint32_t flags);
int tb_device_stop(struct tb_device *device);
/**
 * tb_device_flush - @cpu -1: all, and programs whose memory is not shared are asked for what they
 * have written.  -ETIMEDOUT: some have not answered within a second; all else was done.
 */
int tb_device_flush(struct tb_device *device, int cpu);
int tb_device_stats(struct tb_device *device, unsigned int cpu,
		    struct tb_stats *stats);

/**
 * tb_device_select - enable or disable the events that match @pattern
 * Return: how many matched; -ENOENT none does.
 */
int tb_device_select(struct tb_device *device, enum tb_select_op op,
		     enum tb_form form, const char *pattern);

/** tb_device_event - event number @index: names, flags, id; -ENOENT beyond */
int tb_device_event(struct tb_device *device, unsigned int index,
		    struct tb_event_info *info);

/**
 * tb_device_format - the wide form of event number @index with its fields
 * @format: out: to be freed with free(), everything it points to included
 */
int tb_device_format(struct tb_device *device, unsigned int index,
		     struct tb_format **format);

/**
 * tb_device_rule - give the event a rule, or (all zero but index) none
 * @rule: its @bad says which test or counter is wrong
 */
int tb_device_rule(struct tb_device *device, struct tb_rule *rule);

/** tb_device_no_rules - take all rules away */
int tb_device_no_rules(struct tb_device *device);

/** tb_device_suppressed - what the rule of event number @index has kept out;
 *  TB_RULE_ALL: what was kept out by the thread */
int tb_device_suppressed(struct tb_device *device, uint32_t index,
			 struct tb_suppressed *suppressed);

/**
 * tb_device_pids - whose events are recorded
 * @count: 0, with no @flags: everybody's
 * @bad: out, may be NULL: which of them there is not (-ESRCH)
 */
int tb_device_pids(struct tb_device *device, const uint32_t *pids,
		   unsigned int count, uint32_t flags, uint32_t *bad);

/**
 * tb_device_category - which categories of programs are recorded: those that match
 * @pattern (TB_CATEGORY_ENABLE), or not those (TB_CATEGORY_DISABLE); the last that matches
 * decides.  TB_CATEGORY_CLEAR, without a pattern: none
 * Errors: -EINVAL, -ENOSPC too many patterns, -ENOTTY the module takes nothing from programs.
 */
int tb_device_category(struct tb_device *device, enum tb_category_op op,
		       const char *pattern);

/** tb_device_producer - program number @index of those that write to this provider;
 *  -ENOENT beyond, -ENOTTY as above */
int tb_device_producer(struct tb_device *device, unsigned int index,
		       struct tb_producer_info *info);

/**
 * tb_device_quota - whether this provider takes anything from programs, and how much
 * @quota: see linux/tracebuf_producer.h; a new provider is closed (TB_QUOTA_CLOSED)
 * Errors: -EINVAL, -ENOTTY as above.
 */
int tb_device_quota(struct tb_device *device, const struct tb_quota *quota);

/** tb_device_intake - the quota, and what it kept out of this recording; -ENOTTY as above */
int tb_device_intake(struct tb_device *device, struct tb_intake_info *info);

/**
 * tb_device_map - map all buffers, read-only
 * @data, @size: out, may be NULL.  Mapping again gives the same; it goes with
 * the device.
 */
int tb_device_map(struct tb_device *device, const void **data, size_t *size);

/**
 * tb_device_share_map - use the mapping of @other, of the same provider, instead of one of its own
 * @other must be closed after @device.  Errors: -EINVAL it has none, or @device has one.
 */
int tb_device_share_map(struct tb_device *device, const struct tb_device *other);

/**
 * tb_device_header - the header of a CPU's ring as it is now, from the mapping
 * @header: out: a copy with rolling_data_end[] of all its buffers; to be freed
 * with free()
 * Maps as tb_device_map() does.  Errors: -ENXIO no buffers yet, -ENODATA this CPU is not
 * recorded, -EPROTO an unknown version, -EINVAL no such CPU.
 */
int tb_device_header(struct tb_device *device, unsigned int cpu,
		     struct tb_ring_header **header);

/**
 * tb_device_acquire - take blocks that are complete (needs tb_device_map())
 * @refs: room for @room references
 * @flags: TB_ACQUIRE_*
 * Return: how many, 0 when there is nothing now; -ENODATA stopped and
 * drained, or a snapshot (TB_ACQUIRE_SNAPSHOT) is complete; -EBUSY another
 * session is the reader.
 */
int tb_device_acquire(struct tb_device *device, struct tb_ref *refs,
		      unsigned int room, uint32_t flags);

/** tb_device_release - give back @count blocks; returns how many or -EINVAL */
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
 * tb_device_snapshot - write what a running circular recording holds, while it goes on
 * @write: gets copies in memory: the buffers are free again by then
 *
 * Takes memory for all buffers, or half of what is free.  The device is its provider's reader until
 * it is closed, and takes one snapshot only.
 * Return: 0; -EINVAL no circular recording is running; -EBUSY there is another reader; -ETIMEDOUT a
 * block was not complete in 5 s: those before it were written; -ENOMEM; what @write returned.
 */
int tb_device_snapshot(struct tb_device *device, tb_write_blocks *write, void *context);

/**
 * tb_device_transfer - write the blocks of a recording until it has stopped
 * @stop_fd: when it becomes readable, the recording is stopped; -1: another program stops it
 * @write: gets blocks in the mapping: while it runs, these buffers are not free
 *
 * Blocks the caller.  The recording runs, or has stopped and is in the buffers.
 * Return: 0; -EBUSY there is another reader; -EPERM the caller may not stop it; what @write returned.
 * After an error, another reader gets the blocks that were not written, once @device is closed.
 */
int tb_device_transfer(struct tb_device *device, int stop_fd, tb_write_blocks *write,
		       void *context);

/**
 * tb_device_arm - let one of the events that match @patterns freeze a circular
 * recording when @post percent of a ring have been filled after it
 * Return: how many events; -errno as TB_IOC_ARM.  poll(): POLLPRI.
 */
int tb_device_arm(struct tb_device *device, const char *patterns, uint32_t post);
/** tb_device_arm_rules - with tests for some of them; @bad: out, may be NULL: which
 *  rule is wrong (-EINVAL) */
int tb_device_arm_rules(struct tb_device *device, const char *patterns,
			uint32_t post, const struct tb_rule *rules,
			unsigned int count, uint32_t *bad);
/** tb_device_arm_within - and freeze it at the latest @post_ms after the event; 0: without such
 *  a limit; -E2BIG also if the module knows none */
int tb_device_arm_within(struct tb_device *device, const char *patterns,
			 uint32_t post, uint32_t post_ms,
			 const struct tb_rule *rules, unsigned int count,
			 uint32_t *bad);
int tb_device_disarm(struct tb_device *device);
/** tb_device_trigger - what has become of it */
int tb_device_trigger(struct tb_device *device, struct tb_trigger_info *info);

/** tb_device_block - where the block of @ref is in the mapping */
const struct tb_block *tb_device_block(const struct tb_device *device,
				       const struct tb_ref *ref);

/*
 * Structures of linux/tracebuf.h grow at their ends.  A program and the library may have been made
 * with different versions of it: so these take the @size that the caller's structure has, write
 * nothing behind that, and fill what they do not know of it with zeros.  The names without _sized
 * are macros that pass sizeof; as functions they are for the sizes of the first release.  The
 * library's own structures do not grow, nor do elements of arrays (struct tb_ref, and struct
 * tb_rule for tb_device_arm_rules()).
 */

/** tb_device_query_sized - tb_device_query() for a structure of @size bytes */
int tb_device_query_sized(struct tb_device *device, struct tb_query *query, size_t size);
/** tb_device_provider_sized - tb_device_provider(), likewise */
int tb_device_provider_sized(struct tb_device *device, unsigned int index,
			     struct tb_provider_info *info, size_t size);
/** tb_device_stats_sized - tb_device_stats(), likewise */
int tb_device_stats_sized(struct tb_device *device, unsigned int cpu, struct tb_stats *stats,
			  size_t size);
/** tb_device_event_sized - tb_device_event(), likewise */
int tb_device_event_sized(struct tb_device *device, unsigned int index,
			  struct tb_event_info *info, size_t size);
/** tb_device_producer_sized - tb_device_producer(), likewise */
int tb_device_producer_sized(struct tb_device *device, unsigned int index,
			     struct tb_producer_info *info, size_t size);
/** tb_device_suppressed_sized - tb_device_suppressed(), likewise */
int tb_device_suppressed_sized(struct tb_device *device, uint32_t index,
			       struct tb_suppressed *suppressed, size_t size);
/** tb_device_trigger_sized - tb_device_trigger(), likewise */
int tb_device_trigger_sized(struct tb_device *device, struct tb_trigger_info *info, size_t size);
/** tb_device_configure_sized - tb_device_configure() for a structure of @size bytes */
int tb_device_configure_sized(struct tb_device *device, const struct tb_config *config,
			      size_t size);
/** tb_device_rule_sized - tb_device_rule(), likewise */
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
 * @cpu: which; its blocks come this way alone while the channel is open
 * @flags: TB_DEVICE_NONBLOCK: for tb_channel_read()
 *
 * Maps the device.  Errors: -EINVAL not in streaming mode, or no such ring; -EBUSY it
 * has a channel, or another program reads; -EPROTONOSUPPORT the module speaks another
 * version; -ENXIO not configured yet.
 */
int tb_channel_open(struct tb_device *device, unsigned int cpu,
		    unsigned int flags, struct tb_channel **channel);
/** tb_channel_close - what was offered and not answered goes back into the ring;
 *  close it before the device */
void tb_channel_close(struct tb_channel *channel);

/** tb_channel_fd - its descriptor, for poll(): POLLIN a packet, POLLHUP
 *  stopped and all saved */
int tb_channel_fd(const struct tb_channel *channel);

/**
 * tb_channel_read - the next packet
 * Return: 1; 0 stopped, nothing more until the next start; -EAGAIN nothing
 * now, -EPROTO/-EPIPE closed.
 */
int tb_channel_read(struct tb_channel *channel, struct tb_packet *packet);

/**
 * tb_channel_block - the block that a TB_FIFO_SAVE_BUFFER offers
 * @ref: out: where it is, for tb_device_block(); not to be released
 *
 * Take and save the durable blocks first (tb_device_acquire(), as long as there are any).
 * Return: 0; -EBADMSG there is no such block.
 */
int tb_channel_block(const struct tb_channel *channel,
		     const struct tb_packet *offer, struct tb_ref *ref);

/** tb_channel_saved - give it back: it has been saved; -EINVAL that was not
 *  offered, -EPROTO/-EPIPE closed */
int tb_channel_saved(struct tb_channel *channel, const struct tb_packet *offer);

#ifdef __cplusplus
}
#endif

#endif /* TRACEBUF_H */
