/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The FXT exporter - what its parts share.
 *
 *   fxt.c                 the walk through the trace; threads of the trace
 *   event.c               events of the kernel
 *   plan.c                how to write them, found out once for each format
 *   sched.c               context switches and wake-ups
 *   user.c                what programs write
 *   record.c              records, arguments, the table of strings
 *   thread.c              threads and CPUs as kernel objects, and what is open on their tracks
 *
 * FXT is Fuchsia's trace format: records of 64-bit words.  Everything is drawn on threads; what
 * belongs to a CPU is put on threads that stand for CPUs.
 */
#ifndef TRACEBUF_TOOL_EXPORT_FXT_H
#define TRACEBUF_TOOL_EXPORT_FXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"
#include "tool/export/export.h"
#include "tool/export/common.h"

/* The importers that are known take no more CPUs */
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
 * struct fxt_name - a text that is told once and is a number from then on
 * @index: that number; 0: not told yet
 * @length: bytes of @text, which is UTF-8
 */
struct fxt_name {
	uint16_t index;
	uint16_t length;
	char     text[];
};

/**
 * struct fxt_out - where records go
 * @record, @used: the record at hand
 * @limit: arguments that fit one by one; what is beyond is told in @more, as text
 * @arg_shift: where the header counts arguments
 */
struct fxt_out {
	FILE *file;
	int   error;			/* -errno of the first failure */
	bool  cut;			/* something of the record was too long */
	uint32_t used;
	uint32_t nr_args, limit, arg_shift;
	uint32_t nr_strings;		/* names, told or not */
	uint16_t last_string;		/* number of the one told last */
	uint64_t beyond;		/* names that were not told once: there are too many */
	void  *names;			/* tree of all names */
	struct fxt_name *name_more, *name_nameless;
	size_t more_used, filled;
	char   more[EXPORT_TEXT_MAX + 1];
	uint64_t record[FXT_WORDS_MAX];
	uint64_t buffer[4 * FXT_WORDS_MAX];
};

/** fxt_out_open - magic, provider, clock; -errno */
int fxt_out_open(struct fxt_out *out, FILE *file);
/** fxt_out_flush - what is still here; errors are in @out->error */
void fxt_out_flush(struct fxt_out *out);
void fxt_out_close(struct fxt_out *out);

/** fxt_name - the name with this text, any bytes; never NULL: there may be no memory or
 *  no number for it, then it is another one that says so */
struct fxt_name *fxt_name(struct fxt_out *out, const char *text, size_t length);

/** fxt_record - start a record; @args is how many arguments it will have */
void fxt_record(struct fxt_out *out, enum fxt_record_type type, uint64_t header,
		uint32_t args, uint32_t arg_shift);
void fxt_word(struct fxt_out *out, uint64_t word);
/** fxt_record_end - write it; @last: a word behind the arguments, or NULL */
void fxt_record_end(struct fxt_out *out, const uint64_t *last);

/** fxt_ref - the number of @name, which is told before if need be; for a header */
uint64_t fxt_ref(struct fxt_out *out, struct fxt_name *name);

/* Arguments.  A number is written in 32 bits if it fits. */
void fxt_arg_signed(struct fxt_out *out, struct fxt_name *name, int64_t value);
void fxt_arg_unsigned(struct fxt_out *out, struct fxt_name *name, uint64_t value);
void fxt_arg_double(struct fxt_out *out, struct fxt_name *name, double value);
void fxt_arg_pointer(struct fxt_out *out, struct fxt_name *name, uint64_t value);
void fxt_arg_koid(struct fxt_out *out, struct fxt_name *name, uint64_t value);
void fxt_arg_text(struct fxt_out *out, struct fxt_name *name, const char *text,
		  size_t length);
/** fxt_arg_name - a text that is the same many times */
void fxt_arg_name(struct fxt_out *out, struct fxt_name *name, struct fxt_name *value);

/** fxt_lost_mark - say in the way of the format that records are missing */
void fxt_lost_mark(struct fxt_out *out);

/* ---- threads (thread.c) ---- */

enum fxt_open_kind {
	FXT_OPEN_IRQ, FXT_OPEN_SOFTIRQ, FXT_OPEN_CALL, FXT_OPEN_BEGIN,
};

/**
 * struct fxt_open - a slice that has begun
 * @id: which: interrupt, softirq, writer
 * @ns: when
 */
struct fxt_open {
	enum fxt_open_kind kind;
	uint64_t id, ns;
	struct fxt_name *category, *name;
};

struct fxt_opens {
	struct fxt_open *list;
	uint32_t count, room;
};

/**
 * struct fxt_thread - a thread, or what stands for a CPU, its idle thread or its unknown one
 * @process, @koid: its numbers in FXT
 * @slot: index in FXT's table of threads, 0: none now
 * @named, @process_named: the objects have been told, with @comm
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
	struct fxt_thread *last;		/* found last */
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

/* All four: its objects are told when it is first asked for; NULL: ENOMEM */
/** fxt_thread - thread @tid, which ran on @cpu: 0 is the idle thread there */
struct fxt_thread *fxt_thread(struct fxt_threads *threads, uint32_t cpu, uint32_t tid);
/** fxt_thread_cpu - what stands for @cpu */
struct fxt_thread *fxt_thread_cpu(struct fxt_threads *threads, uint32_t cpu);
/** fxt_thread_lost - what @cpu runs while the trace does not tell */
struct fxt_thread *fxt_thread_lost(struct fxt_threads *threads, uint32_t cpu);
/** fxt_thread_of - thread @tid of process @pid, as a program says */
struct fxt_thread *fxt_thread_of(struct fxt_threads *threads, uint32_t pid, uint32_t tid);

/** fxt_thread_renamed - tell of @task's process and name if they are new; -ENOMEM */
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

/** fxt_find - the innermost of @kind, any @id if that is UINT64_MAX: 1 + its place; 0: none */
uint32_t fxt_find(const struct fxt_opens *opens, enum fxt_open_kind kind, uint64_t id);

/* Slices of the writer that an entry is of have ended; may be NULL */
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
	fxt_popped *popped;		/* of slices of programs */
	void *context;
	uint64_t cut;
};

int fxt_events_open(struct fxt_events *events);
void fxt_events_close(struct fxt_events *events);
/** fxt_events_write - @view, an event with or without a format; -errno */
int fxt_events_write(struct fxt_events *events, const struct tb_view *view, uint64_t ns);
/** fxt_events_mark - a text from user space */
int fxt_events_mark(struct fxt_events *events, const struct tb_view *view, uint64_t ns);
/** fxt_events_lost - a loss, between @first and @last */
int fxt_events_lost(struct fxt_events *events, const struct tb_view *view, uint64_t ns,
		    uint64_t first, uint64_t last);

/**
 * fxt_events_unknown - from @ns on the trace does not tell what @cpu runs; -ENOMEM
 * What is open on the CPU ends then.
 */
int fxt_events_unknown(struct fxt_events *events, uint32_t cpu, uint64_t ns);

/* ---- what programs write (user.c) ---- */

/* NULL: ENOMEM */
struct fxt_user *fxt_user_open(struct fxt_threads *threads);
void fxt_user_close(struct fxt_user *user);
/** fxt_user_write - @view, a record of a program or a loss of some; -errno */
int fxt_user_write(struct fxt_user *user, const struct tb_view *view, uint64_t ns,
		   uint64_t end_ns);
/** fxt_user_popped - fxt_popped, with the struct fxt_user as context */
void fxt_user_popped(void *context, const struct fxt_open *open);
/** fxt_user_say - on standard error: what could not be shown as it is */
void fxt_user_say(const struct fxt_user *user);

#endif /* TRACEBUF_TOOL_EXPORT_FXT_H */
