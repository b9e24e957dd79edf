/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The FXT exporter - the interface between its parts.
 *
 *   fxt.c                 read the trace, pass events to the parts below
 *   event.c               events of the kernel
 *   plan.c                for each format: how to write its events
 *   sched.c               context switches and wake-ups
 *   user.c                records of programs
 *   record.c              records, arguments, the table of strings
 *   thread.c              threads and CPUs as kernel objects, and open slices on their tracks
 *
 * FXT is Fuchsia's trace format: records of 64-bit words.  All events are drawn on threads, so each
 * CPU has a thread that stands for it.
 */
#ifndef TRACEBUF_TOOL_EXPORT_FXT_H
#define TRACEBUF_TOOL_EXPORT_FXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"
#include "tool/export/export.h"
#include "tool/export/common.h"

/* Known importers accept no more CPUs */
#define FXT_CPUS_MAX	4096

/* ---- records (record.c) ---- */

#define FXT_WORDS_MAX	4095	/* of a record */
#define FXT_ARGS_MAX	15

enum fxt_record_type {
	FXT_METADATA = 0,
	FXT_INITIALIZATION = 1,
	FXT_STRING = 2,
	FXT_THREAD = 3,
	FXT_EVENT = 4,
	FXT_OBJECT = 7,
	FXT_SCHEDULING = 8,
};

enum fxt_event_type {
	FXT_INSTANT = 0,
	FXT_COUNTER = 1,
	FXT_BEGIN = 2,
	FXT_END = 3,
	FXT_COMPLETE = 4,
	FXT_ASYNC_BEGIN = 5,
	FXT_ASYNC_INSTANT = 6,
	FXT_ASYNC_END = 7,
	FXT_FLOW_BEGIN = 8,
	FXT_FLOW_STEP = 9,
	FXT_FLOW_END = 10,
};

/**
 * struct fxt_name - a text that is written once and then referred to by number
 * @index: its number; 0: not written yet
 * @length: bytes of @text, which is UTF-8
 */
struct fxt_name {
	uint16_t index;
	uint16_t length;
	char     text[];
};

/**
 * struct fxt_out - the file, and the record that is being built
 * @record, @used: words of the record
 * @limit: arguments that fit; further ones are written as text into @more, the last argument
 * @arg_shift: position in the header of the number of arguments
 */
struct fxt_out {
	FILE *file;
	int   error;			/* -errno of the first failure */
	bool  cut;			/* a text was shortened, or an argument left out */
	uint32_t used;
	uint32_t nr_args, limit, arg_shift;
	uint32_t nr_strings;		/* names, written or not */
	uint16_t last_string;		/* number of the last string that was written */
	uint64_t beyond;		/* requests for names that got none: there were too many */
	void  *names;			/* tree of all names */
	struct fxt_name *name_more, *name_nameless;
	size_t more_used, filled;
	char   more[EXPORT_TEXT_MAX + 1];
	uint64_t record[FXT_WORDS_MAX];
	uint64_t buffer[4 * FXT_WORDS_MAX];
};

/** fxt_out_open - write magic number, provider and clock; -ENOMEM */
int fxt_out_open(struct fxt_out *out, FILE *file);
/** fxt_out_flush - write buffered records; errors are in @out->error */
void fxt_out_flush(struct fxt_out *out);
void fxt_out_close(struct fxt_out *out);

/** fxt_name - find or add the name of any bytes @text; without memory or a free number it returns
 *  the name "(one name too many)", never NULL */
struct fxt_name *fxt_name(struct fxt_out *out, const char *text, size_t length);

/** fxt_record - start a record that will have @args arguments */
void fxt_record(struct fxt_out *out, enum fxt_record_type type, uint64_t header,
		uint32_t args, uint32_t arg_shift);
void fxt_word(struct fxt_out *out, uint64_t word);
/** fxt_record_end - write the record; @last: a word behind the arguments, or NULL */
void fxt_record_end(struct fxt_out *out, const uint64_t *last);

/** fxt_ref - return the number of @name for a header; write the name if it has none */
uint64_t fxt_ref(struct fxt_out *out, struct fxt_name *name);

/* Arguments.  A number is written in 32 bits if it fits. */
void fxt_arg_signed(struct fxt_out *out, struct fxt_name *name, int64_t value);
void fxt_arg_unsigned(struct fxt_out *out, struct fxt_name *name, uint64_t value);
void fxt_arg_double(struct fxt_out *out, struct fxt_name *name, double value);
void fxt_arg_pointer(struct fxt_out *out, struct fxt_name *name, uint64_t value);
void fxt_arg_koid(struct fxt_out *out, struct fxt_name *name, uint64_t value);
void fxt_arg_text(struct fxt_out *out, struct fxt_name *name, const char *text,
		  size_t length);
/** fxt_arg_name - a text that is used many times */
void fxt_arg_name(struct fxt_out *out, struct fxt_name *name, struct fxt_name *value);

/** fxt_lost_mark - write the format's own record of missing records */
void fxt_lost_mark(struct fxt_out *out);

/* ---- threads (thread.c) ---- */

enum fxt_open_kind {
	FXT_OPEN_IRQ, FXT_OPEN_SOFTIRQ, FXT_OPEN_CALL, FXT_OPEN_BEGIN,
};

/**
 * struct fxt_open - an open slice
 * @id: number of the interrupt, softirq, call or writer; put_slice(): of the slice
 * @ns: its beginning
 */
struct fxt_open {
	enum fxt_open_kind kind;
	uint64_t id, ns;
	struct fxt_name *category, *name;
};

struct fxt_opens {
	struct fxt_open *list;
	size_t   room;
	uint32_t count;
};

/**
 * struct fxt_thread - a thread of Linux, or one that stands for a CPU, its idle or unknown thread
 * @process, @koid: its numbers in FXT
 * @slot: index in FXT's table of threads; 0: not in it
 * @named, @process_named: the objects have been written, with @comm
 * @owner: the writer that draws here, plus 1
 */
struct fxt_thread {
	uint64_t process, koid;
	uint8_t  slot;
	bool     named, process_named;
	char     comm[TB_COMM_LEN + 4];
	struct fxt_opens opens;
	uint32_t owner;
};

struct fxt_threads {
	struct fxt_out *out;
	const struct tb_cursor *cursor;
	void    *tree;
	struct fxt_thread *last;		/* the last one that was looked up */
	struct fxt_thread **cpus, **idles, **losts;	/* by CPU */
	uint32_t nr_cpus;
	struct fxt_thread *slots[256];
	uint8_t  next_slot;
	struct fxt_name *name_process, *name_cpus, *name_idle, *name_lost;
	bool     cpus_named, idles_named, losts_named;
};

int fxt_threads_open(struct fxt_threads *threads, struct fxt_out *out,
		     const struct tb_cursor *cursor, uint32_t nr_cpus);
void fxt_threads_close(struct fxt_threads *threads);

/* The next four return a thread, and write its objects at the first call; NULL: ENOMEM */
/** fxt_thread - thread @tid, which ran on @cpu; @tid 0 is the idle thread of @cpu */
struct fxt_thread *fxt_thread(struct fxt_threads *threads, uint32_t cpu, uint32_t tid);
/** fxt_thread_cpu - the thread that stands for @cpu */
struct fxt_thread *fxt_thread_cpu(struct fxt_threads *threads, uint32_t cpu);
/** fxt_thread_lost - the thread that @cpu runs while the trace does not tell which it is */
struct fxt_thread *fxt_thread_lost(struct fxt_threads *threads, uint32_t cpu);
/** fxt_thread_of - thread @tid of process @pid, as a program says */
struct fxt_thread *fxt_thread_of(struct fxt_threads *threads, uint32_t pid, uint32_t tid);

/** fxt_thread_renamed - write the objects of @task if its process or name is new; -ENOMEM */
int fxt_thread_renamed(struct fxt_threads *threads, const struct tb_task *task);

/**
 * fxt_event - start an event on the track of @thread
 * Arguments and fxt_record_end() follow.
 */
void fxt_event(struct fxt_threads *threads, struct fxt_thread *thread,
	       enum fxt_event_type type, uint64_t ns, struct fxt_name *category,
	       struct fxt_name *name, uint32_t args);

/** fxt_push - remember that a slice has begun; -ENOMEM */
int fxt_push(struct fxt_opens *opens, const struct fxt_open *open);

/** fxt_find - return 1 + index of the innermost slice of @kind and @id (UINT64_MAX: any), or 0 */
uint32_t fxt_find(const struct fxt_opens *opens, enum fxt_open_kind kind, uint64_t id);

/* fxt_close_to() calls it for each slice that it has ended; may be NULL */
typedef void fxt_popped(void *context, const struct fxt_open *open);

/** fxt_close_to - end slices of @thread until @count are open */
void fxt_close_to(struct fxt_threads *threads, struct fxt_thread *thread,
		  uint32_t count, uint64_t ns, fxt_popped *popped, void *context);

/* ---- events of the kernel (event.c) ---- */

struct fxt_user;
struct fxt_plans;

struct fxt_events {
	const struct tb_trace *trace;
	const unsigned char *wanted;	/* by index of formats; NULL: all */
	const struct tb_cursor *cursor;
	struct fxt_out *out;
	struct fxt_threads *threads;
	struct fxt_plans *plans;
	fxt_popped *popped;		/* for slices of programs */
	void *context;
	uint64_t cut;
};

int fxt_events_open(struct fxt_events *events);
void fxt_events_close(struct fxt_events *events);
/** fxt_events_write - write @view, an event with or without a format; -errno */
int fxt_events_write(struct fxt_events *events, const struct tb_view *view, uint64_t ns);
/** fxt_events_mark - write a text from user space */
int fxt_events_mark(struct fxt_events *events, const struct tb_view *view, uint64_t ns);
/** fxt_events_lost - write a loss between @first and @last */
int fxt_events_lost(struct fxt_events *events, const struct tb_view *view, uint64_t ns,
		    uint64_t first, uint64_t last);

/** fxt_events_runs - @tid has been on @cpu since before the first event, at @ns; -ENOMEM */
int fxt_events_runs(struct fxt_events *events, uint32_t cpu, uint32_t tid, uint64_t ns);

/** fxt_events_hidden - from @ns on @cpu may run threads that are not recorded; -ENOMEM */
int fxt_events_hidden(struct fxt_events *events, uint32_t cpu, uint64_t ns);

/**
 * fxt_events_unknown - from @ns on the trace does not tell what @cpu runs; -ENOMEM
 * Ends the open slices of the CPU.
 */
int fxt_events_unknown(struct fxt_events *events, uint32_t cpu, uint64_t ns);

/* ---- records of programs (user.c) ---- */

/* NULL: ENOMEM */
struct fxt_user *fxt_user_open(struct fxt_threads *threads);
void fxt_user_close(struct fxt_user *user);
/** fxt_user_write - write @view, a record of a program or a loss of records; -errno */
int fxt_user_write(struct fxt_user *user, const struct tb_view *view, uint64_t ns,
		   uint64_t end_ns);
/** fxt_user_popped - fxt_popped, with the struct fxt_user as context */
void fxt_user_popped(void *context, const struct fxt_open *open);
/** fxt_user_note - report on standard error what was shown differently */
void fxt_user_note(const struct fxt_user *user);

#endif /* TRACEBUF_TOOL_EXPORT_FXT_H */
