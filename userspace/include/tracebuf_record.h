/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, recording: write events of a program into the trace of the machine.
 *
 * The shortest program:
 *
 *	TB_CATEGORY(work, "work");
 *
 *	tb_begin(tb_here(), &work, "load");
 *	tb_counter(tb_here(), &work, "bytes", bytes);
 *	tb_end(tb_here(), &work);
 *
 * "tracebuf record" enables categories.  While a category is disabled, or the module is not
 * loaded, each of these calls costs two loads and a branch that is not taken; tb_begin() and
 * tb_end() one more of each.  (Without the module: from the second event of a category on.)
 *
 * A *writer* puts records into chunks of memory shared with the kernel, without system calls; it
 * belongs to one thread.  An *arbiter* hands out chunks and commits complete ones; all threads
 * share it.  Most programs only use tb_here(): it returns the calling thread's writer of the
 * process's own arbiter, which is created at its first use and destroyed with its thread.
 *
 * A record is in the trace completely or not at all.  A writer that has no room for a record
 * counts it; the trace says where records are missing, how many, and why.  If more than 64 writers
 * end while no chunk is free, it has the losses of 64.
 *
 * Conventions: functions return 0 or a count, and -errno on failure.  None prints, changes errno
 * or is a cancellation point.  Any thread may call them, unless stated otherwise; signal handlers
 * may only call those with "Signals: yes", whatever they interrupted.  Such a handler cannot
 * record while it interrupts a record of its own thread: its record is lost and counted
 * (TB_LOST_SIGNAL).
 *
 * After fork() the child gets a channel of its own when it calls tb_here().  Arbiters and writers
 * that the program created belong to the parent: in the child they record nothing and may only be
 * destroyed.  A child created otherwise (clone(), _Fork()) must not record before exec.
 *
 * The layouts of linux/tracebuf_producer.h are used directly.
 */
#ifndef TRACEBUF_RECORD_H
#define TRACEBUF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/tracebuf_producer.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tb_arbiter;

/* ---- categories and names ---------------------------------------------- */

/**
 * struct tb_category - a switch that "tracebuf record" turns
 * @name: 1 to 63 characters except ':' ',' '*' '?' '!' and blanks
 *
 * The other members are private.  A category must exist until the program ends.  It belongs to the
 * arbiter of the first writer that uses it.
 */
struct tb_category {
	const char *name;
	const uint32_t *gate;
	const uint32_t *wanted;
	struct tb_category *next;
	struct tb_arbiter *arbiter;
	uint32_t id;
	uint32_t begun;
};

/* gate of a category that the kernel has not been asked about: open, so that the writer asks */
extern const uint32_t tb_category_unknown;

#define TB_CATEGORY_INIT(text) \
	{ (text), &tb_category_unknown, &tb_category_unknown, NULL, NULL, 0, 0 }

/** TB_CATEGORY - define the category @symbol, called @text */
#define TB_CATEGORY(symbol, text) \
	static struct tb_category symbol = TB_CATEGORY_INIT(text)

/**
 * struct tb_name - a text and its number; records contain the number
 * @text: the first 255 bytes are recorded, 40 in the smallest chunks; must not change or be freed
 * @category: category of events with this name; NULL: they are always recorded
 * @id: 0 until the first use
 * @kind: enum tb_name_kind
 *
 * A writer records the text once in a sequence of chunks, or in each chunk if the target
 * overwrites.
 */
struct tb_name {
	const char *text;
	struct tb_category *category;
	uint32_t id;
	uint32_t kind;
};

#define TB_NAME_INIT(text, category) { (text), (category), 0, TB_NAME_EVENT }

/**
 * tb_name_of - the name with the text of @place and with @category
 *
 * @place keeps the category of its first use; for other categories its text is interned.
 * Signals: yes.  Return: never NULL.
 */
struct tb_name *tb_name_of(struct tb_name *place, struct tb_category *category);

static inline struct tb_name *tb_name_in(struct tb_name *place, struct tb_category *category)
{
	return __builtin_expect(__atomic_load_n(&place->category, __ATOMIC_RELAXED) == category, 1) ?
	       place : tb_name_of(place, category);
}

/* the name of this place in the program; @category_ may differ from call to call */
#define TB_NAME_HERE(text_, category_) \
	(__extension__ ({ \
		static struct tb_name tb_name_ = TB_NAME_INIT(text_, NULL); \
		tb_name_in(&tb_name_, category_); \
	}))

/**
 * tb_intern - the one name with this @text, @category and @kind
 * @text: copied, so that it may be made at run time
 * @category: as in struct tb_name
 *
 * Signals: yes.  Return: never NULL; after TB_INTERN_MAX texts, the name "(too many names)".
 */
struct tb_name *tb_intern(const char *text, struct tb_category *category,
			  enum tb_name_kind kind);

/* Texts of TB_TEXT() may use half of it; further ones are recorded with each use */
#define TB_INTERN_MAX	8192

/* ---- arbiter ------------------------------------------------------------ */

/* what a writer does when no chunk is free */
enum tb_full {
	TB_FULL_DROP			= 0,	/* lose the record */
	/*
	 * Sleep 0, 8, 72, 584, 4680, 37448 us, then 100 ms each time.  Lose the record after 30 s.
	 */
	TB_FULL_STALL			= 1,
	/* as TB_FULL_STALL; after a lost record, drop at once until a chunk is free again */
	TB_FULL_STALL_THEN_DROP		= 2,
};

/**
 * struct tb_arbiter_options - options of an arbiter; zero: the defaults
 * @chunk_bytes: power of two, TB_CHUNK_BYTES_MIN..MAX; 0: 4096
 * @chunks: TB_CHUNKS_MIN..MAX; 0: 64
 * @period_ms: a thread that completes a chunk commits if the last commit was this long ago, or if
 *	half of the chunks wait; 0: always
 * @flags: TB_ARBITER_*
 */
struct tb_arbiter_options {
	uint32_t chunk_bytes;
	uint32_t chunks;
	uint32_t period_ms;
	uint32_t flags;
};

#define TB_ARBITER_NO_SHARED	0x01	/* the kernel copies chunks from private memory */

/**
 * tb_arbiter_create - create an arbiter with a channel to the kernel
 * @options: NULL: the defaults
 * @arbiter: out: for tb_arbiter_destroy(); NULL on failure
 * Errors: those of opening TB_PRODUCER_PATH and of TB_PIOC_SETUP, -EINVAL, -ENOMEM, -EPROTO another
 * ABI version.
 */
int tb_arbiter_create(const struct tb_arbiter_options *options, struct tb_arbiter **arbiter);

#define TB_PRODUCER_PATH	"/dev/tracebuf_producer"

/**
 * tb_arbiter_create_unbound - create an arbiter without a channel
 *
 * Startup writers record into private memory of the size of all chunks.  When it is full they lose
 * records (TB_LOST_UNBOUND).  Errors: -EINVAL, -ENOMEM.
 */
int tb_arbiter_create_unbound(const struct tb_arbiter_options *options,
			      struct tb_arbiter **arbiter);

/**
 * tb_arbiter_bind - open the channel of an unbound arbiter
 *
 * Commits what startup writers of bound reservations have recorded, then calls the functions that
 * tb_arbiter_flush() has queued.  Errors: as tb_arbiter_create(); -EALREADY; those of
 * tb_arbiter_flush().
 */
int tb_arbiter_bind(struct tb_arbiter *arbiter);

/** tb_arbiter_target - number of @provider, for tb_writer_create().  Errors: -ENOTCONN unbound,
 *  -EINVAL the name is too long, -EMSGSIZE its buffers are smaller than a chunk, others of
 *  TB_PIOC_TARGET. */
int tb_arbiter_target(struct tb_arbiter *arbiter, const char *provider);

/** tb_arbiter_closed - true if @target accepts nothing from programs now.  It may be opened later,
 *  and accepts what is recorded from then on.  Signals: yes. */
bool tb_arbiter_closed(const struct tb_arbiter *arbiter, unsigned int target);

/** tb_arbiter_category - ask the kernel whether @category is wanted; the first event does so, too.
 *  Errors: those of TB_PIOC_CATEGORY: the category stays disabled.  -EDEADLK as for
 *  tb_arbiter_flush(). */
int tb_arbiter_category(struct tb_arbiter *arbiter, struct tb_category *category);

/**
 * tb_arbiter_flush - commit all complete chunks, then call @done(@data)
 * @done: may be NULL; not called on failure
 *
 * Also commits the published records of incomplete chunks in private memory; in shared memory the
 * kernel takes them itself.  While the arbiter is unbound, this function returns 0 at once, and
 * tb_arbiter_bind() calls @done; tb_arbiter_destroy() does not.
 * Errors: as TB_PIOC_COMMIT; -ENOMEM; -EDEADLK a signal handler has interrupted a commit.
 */
int tb_arbiter_flush(struct tb_arbiter *arbiter, void (*done)(void *data), void *data);

/**
 * tb_arbiter_serve - wait until the kernel wants a flush, and flush
 * @timeout_ms: -1: no limit
 *
 * For a thread or an event loop of the program.  Optional with shared memory: readers then get
 * what is published without it.
 * Return: 1 after a flush, else 0.  Errors: -ENOTCONN unbound, -EIO, those of tb_arbiter_flush().
 */
int tb_arbiter_serve(struct tb_arbiter *arbiter, int timeout_ms);

/** tb_arbiter_start_thread - start a thread that calls tb_arbiter_serve() until
 *  tb_arbiter_destroy(), with all signals blocked.  Errors: -ENOTCONN unbound, -EALREADY, those of
 *  pthread_create(). */
int tb_arbiter_start_thread(struct tb_arbiter *arbiter);

/**
 * tb_arbiter_try_shutdown - refuse new writers, and check whether all writers are destroyed
 *
 * From the first call on, new writers are null writers.
 * Return: 0 all are destroyed; -EBUSY some are not: try again.
 */
int tb_arbiter_try_shutdown(struct tb_arbiter *arbiter);

/**
 * tb_arbiter_destroy - commit complete chunks, close the channel, free everything
 *
 * No thread may use the arbiter, its writers or its categories during the call or afterwards; not
 * even tb_writer_destroy() afterwards.  NULL is allowed.
 */
void tb_arbiter_destroy(struct tb_arbiter *arbiter);

/* ---- writer ------------------------------------------------------------- */

#define TB_WRITER_NAMES	256
/* nested slices that a writer tracks one by one; deeper ones it only counts */
#define TB_WRITER_OPEN	64

/**
 * struct tb_writer - a writer, for the inline functions below; all members are private
 * @busy: the thread is in the middle of a record, or this is a null writer
 * @published: TB_PUBLISHED() of @chunk
 * @room: bytes of data in @chunk; 0: the next record needs another chunk
 * @generation: value of @changes when the chunk was begun
 * @changes: a word that changes when the writer must begin another chunk
 * @chunk: current chunk
 * @epoch: upper half of valid entries of @recorded
 * @clock: enum tb_clock_id
 * @wants: bit of the target in the words of categories
 * @always: bits of targets that want all categories
 * @recorded: names that are already in the trace, by the low bits of their ids
 * @depth: number of open slices of the thread
 * @open: their categories, outermost first; TB_SLICE_SILENT: the beginning was not recorded
 */
struct tb_writer {
	uint32_t busy;
	uint32_t published;
	uint32_t room;
	uint32_t generation;
	const uint32_t *changes;
	struct tb_chunk *chunk;
	uint64_t epoch;
	uint32_t clock;
	uint32_t wants;
	uint32_t always;
	uint32_t reserved;
	uint64_t recorded[TB_WRITER_NAMES];
	uint32_t depth;
	uint32_t reserved2;
	uintptr_t open[TB_WRITER_OPEN];
};

#define TB_SLICE_SILENT	((uintptr_t)1)

/**
 * struct tb_writer_stats - counts of a writer, in records, including those that only tell a name
 * @attempted: all records
 * @lost: records that the writer lost, for want of a chunk and the like
 * @refused: records in chunks that the kernel refused, had no room for, or did not record
 *
 * attempted - lost - refused is what the kernel took or will take.
 */
struct tb_writer_stats {
	uint64_t attempted;
	uint64_t lost;
	uint64_t refused;
};

/**
 * tb_writer_create - create a writer for the calling thread
 * @target: from tb_arbiter_target()
 * @full: enum tb_full; TB_FULL_DROP if the arbiter was created unbound
 *
 * Signals: yes.  Return: never NULL.  A null writer, which records nothing, if the arbiter is
 * unbound or shut down, there is no memory or no unused id (65535), @target or @full is not
 * allowed, or the kernel refuses.
 */
struct tb_writer *tb_writer_create(struct tb_arbiter *arbiter, unsigned int target,
				   enum tb_full full);

/**
 * tb_writer_create_startup - create a writer before its target is known
 * @reservation: any number; all writers with the same number get the same target
 *
 * It records all categories into private memory of the arbiter until the arbiter and the
 * reservation are bound.  It drops records when that is full.
 * Return: never NULL; a null writer as for tb_writer_create(), or after TB_TARGETS_MAX
 * reservations.
 */
struct tb_writer *tb_writer_create_startup(struct tb_arbiter *arbiter, uint32_t reservation);

/**
 * tb_arbiter_bind_reservation - set the target of a reservation to @provider
 *
 * Before or after tb_arbiter_bind().  Errors: -EALREADY bound or aborted before; -ENOSPC too many
 * reservations; -EINVAL the name is too long; those of TB_PIOC_TARGET, after which the caller may
 * try again; those of tb_arbiter_flush(), after which the reservation is bound.
 */
int tb_arbiter_bind_reservation(struct tb_arbiter *arbiter, uint32_t reservation,
				const char *provider);

/** tb_arbiter_abort_reservation - discard what its writers have recorded and will record.
 *  Errors: -EALREADY, -ENOSPC as for tb_arbiter_bind_reservation(). */
int tb_arbiter_abort_reservation(struct tb_arbiter *arbiter, uint32_t reservation);

/** tb_writer_destroy - publish its records and counts of losses, and free it.  Only by its thread.
 *  NULL and null writers are allowed. */
void tb_writer_destroy(struct tb_writer *writer);

/** tb_writer_flush - complete its chunk and commit, losses included.  Only by its thread.
 *  Errors: those of TB_PIOC_COMMIT, -EDEADLK as for tb_arbiter_flush(). */
int tb_writer_flush(struct tb_writer *writer);

/** tb_writer_is_null - true if it records nothing.  Signals: yes. */
bool tb_writer_is_null(const struct tb_writer *writer);

/** tb_writer_id - 1..65535; 0: a null writer.  Signals: yes. */
unsigned int tb_writer_id(const struct tb_writer *writer);

/** tb_writer_read_stats - get its counts.  Only by its thread. */
void tb_writer_read_stats(const struct tb_writer *writer, struct tb_writer_stats *stats);

/* ---- the process's own arbiter ------------------------------------------ */

/* the calling thread's writer, NULL before the first use; see tb_here() */
extern __thread struct tb_writer *tb_thread_writer __attribute__((tls_model("initial-exec")));

/**
 * tb_thread_attach - create the calling thread's writer, for the provider "kernel"
 *
 * tb_here() calls it while the thread has none.  If there is no device it returns a null writer,
 * until tb_default_open() succeeds.  Signals: yes, but it may open the device.  Return: never NULL.
 */
struct tb_writer *tb_thread_attach(void);

/** tb_here - the calling thread's writer of the process's own arbiter.  Signals: yes. */
static inline struct tb_writer *tb_here(void)
{
	struct tb_writer *writer = tb_thread_writer;

	return __builtin_expect(writer != NULL, 1) ? writer : tb_thread_attach();
}

/**
 * tb_default_open - open the process's own arbiter, if it is not open
 * @options: NULL: the defaults with a period of 100 ms, and smaller chunks if the buffers of the
 *	recording are too small
 * @arbiter: out, may be NULL: the arbiter, which belongs to the library: do not destroy it
 *
 * Call it to find out whether recording works, to choose @options before the first event, or to try
 * again after the module was loaded.
 * Errors: as tb_arbiter_create() and tb_arbiter_target(); -EBUSY it is open and @options were
 * given, -EDEADLK a signal handler has interrupted another call.
 */
int tb_default_open(const struct tb_arbiter_options *options, struct tb_arbiter **arbiter);

/* ---- recording, without macros ------------------------------------------ */

/*
 * For programs in other languages: names are texts, and the writer is tb_here().  The library
 * interns a text at its first use.  @category NULL or "": always record; else record if it is
 * enabled.  Signals: yes.
 */
/** tb_write_enabled - true if an event of @category would be recorded now */
bool tb_write_enabled(const char *category);
/** tb_write_begin - begin a slice on the thread's track */
void tb_write_begin(const char *category, const char *name);
/** tb_write_begin_flow - begin a slice that is part of @flow, any number but 0 */
void tb_write_begin_flow(const char *category, const char *name, uint64_t flow);
/** tb_write_end - end the innermost slice of @category, and slices in it that were not ended */
void tb_write_end(const char *category);
/** tb_write_instant - record an instant */
void tb_write_instant(const char *category, const char *name);
/** tb_write_instant_flow - record an instant that is part of @flow; @last: the flow ends here */
void tb_write_instant_flow(const char *category, const char *name, uint64_t flow, bool last);
/** tb_write_counter - record the value of a counter */
void tb_write_counter(const char *category, const char *name, int64_t value);
/** tb_write_counter_double - record the value of a counter */
void tb_write_counter_double(const char *category, const char *name, double value);
/** tb_write_event - record an event with @data, at most TB_EVENT_BYTES_MAX bytes */
void tb_write_event(const char *category, const char *name, const void *data, size_t bytes);
/** tb_write_mark - record a text for people */
void tb_write_mark(const char *text);
/** tb_write_flush - tb_writer_flush() for the calling thread; not for signal handlers */
int tb_write_flush(void);

/* data that fits into the largest chunk, with header and names; smaller chunks take less */
#define TB_EVENT_BYTES_MAX	(TB_CHUNK_BYTES_MAX - 512)

/* ---- records, one by one ------------------------------------------------ */

/* private: called by the functions below */
struct tb_record *tb_writer_nested(struct tb_writer *writer);
struct tb_record *tb_writer_prepare(struct tb_writer *writer, struct tb_name *name,
				    uint32_t bytes);
uint64_t tb_clock_monotonic(void);

/** tb_clock_read - read clock @clock, enum tb_clock_id, in ticks (tb_producer_target.frequency).
 *  Signals: yes. */
static inline __attribute__((always_inline)) uint64_t tb_clock_read(uint32_t clock)
{
#if defined(__x86_64__)
	if (__builtin_expect(clock == TB_CLOCK_TSC, 1))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (__builtin_expect(clock == TB_CLOCK_ARCH, 1)) {
		uint64_t ticks;

		/* as the kernel reads it: after the preceding instructions */
		__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
		return ticks;
	}
#endif
	(void)clock;
	return tb_clock_monotonic();
}

/**
 * tb_record_begin - reserve room for a record
 * @name: name to record before it if need be, or NULL
 * @bytes: size with header, a multiple of 8
 *
 * The caller fills in the record and calls tb_record_end(), without returning in between.  Until
 * then signal handlers cannot record.  Signals: yes.
 * Return: NULL: the record is not wanted, or is lost and counted.
 */
static inline __attribute__((always_inline)) struct tb_record *
tb_record_begin(struct tb_writer *writer, struct tb_name *name, uint32_t bytes)
{
	uint32_t id = name ? __atomic_load_n(&name->id, __ATOMIC_RELAXED) : 0;
	uint32_t room, now;
	bool recorded;

	/*
	 * Only this thread's signal handlers read busy, so the order matters to the compiler alone.
	 */
	if (__builtin_expect(__atomic_load_n(&writer->busy, __ATOMIC_RELAXED), 0))
		return tb_writer_nested(writer);
	__atomic_store_n(&writer->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	room = __atomic_load_n(&writer->room, __ATOMIC_RELAXED);
	now = __atomic_load_n(writer->changes, __ATOMIC_RELAXED);
	recorded = !name || writer->recorded[id % TB_WRITER_NAMES] == (writer->epoch | id);
	if (__builtin_expect(TB_PUBLISHED_BYTES(writer->published) + bytes > room ||
			     now != writer->generation || !recorded, 0))
		return tb_writer_prepare(writer, name, bytes);
	return (struct tb_record *)((unsigned char *)(writer->chunk + 1) +
				    TB_PUBLISHED_BYTES(writer->published));
}

/** tb_record_end - publish the record of tb_record_begin(), of the same @bytes.  Signals: yes. */
static inline __attribute__((always_inline)) void tb_record_end(struct tb_writer *writer,
								uint32_t bytes)
{
	writer->published += TB_PUBLISHED(bytes, 1);
	/* pairs with the acquire of the thread or kernel that reads published records */
	__atomic_store_n(&writer->chunk->published, writer->published, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&writer->busy, 0, __ATOMIC_RELAXED);
}

/* Record a header and up to two words.  All arguments but the pointers are compile-time constants.
 * Returns true if it was recorded. */
static inline __attribute__((always_inline)) bool
tb_record_words(struct tb_writer *writer, struct tb_name *name, enum tb_record_type type,
		uint8_t flags, uint32_t words, uint64_t first, uint64_t second)
{
	uint32_t bytes = (uint32_t)sizeof(struct tb_record) + 8 * words;
	struct tb_record *record = tb_record_begin(writer, name, bytes);
	uint64_t *more;

	if (__builtin_expect(!record, 0))
		return false;
	more = (uint64_t *)(record + 1);
	record->bytes = (uint16_t)bytes;
	record->type = type;
	record->flags = flags;
	record->id = name ? name->id : 0;
	record->time = tb_clock_read(writer->clock);
	if (words > 0)
		more[0] = first;
	if (words > 1)
		more[1] = second;
	tb_record_end(writer, bytes);
	return true;
}

/*
 * A TB_REC_END does not name its slice: it ends the innermost one.  So a writer must record an end
 * exactly if it has recorded the beginning, even if the category was switched in between; it keeps
 * a list of open slices for that.  A signal handler uses entries above @depth and restores @depth.
 */
static inline void tb_slice_push(struct tb_writer *writer, struct tb_category *category,
				 uintptr_t silent)
{
	uint32_t depth = __atomic_load_n(&writer->depth, __ATOMIC_RELAXED);

	__atomic_store_n(&writer->depth, depth + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (depth < TB_WRITER_OPEN)
		writer->open[depth] = (uintptr_t)category | silent;
	if (category && !__atomic_load_n(&category->begun, __ATOMIC_RELAXED))
		__atomic_store_n(&category->begun, 1, __ATOMIC_RELAXED);
}

/* A slice begins that is not recorded.  An outermost one need not be listed: its end finds none. */
static inline void tb_slice_unwanted(struct tb_writer *writer, struct tb_category *category)
{
	if (__atomic_load_n(&writer->depth, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&writer->busy, __ATOMIC_RELAXED))
		tb_slice_push(writer, category, TB_SLICE_SILENT);
}

static inline bool tb_category_wanted(const struct tb_category *category,
				      const struct tb_writer *writer);

/* A slice has begun; @recorded: its record is in the chunk */
static inline void tb_slice_began(struct tb_writer *writer, struct tb_category *category,
				  bool recorded)
{
	if (__builtin_expect(recorded, 1))
		tb_slice_push(writer, category, 0);
	else if (__atomic_load_n(&writer->busy, __ATOMIC_RELAXED))
		return;		/* the end will be lost, too, or this is a null writer */
	else if (!category || tb_category_wanted(category, writer))
		tb_slice_push(writer, category, TB_SLICE_SILENT);
	else
		tb_slice_unwanted(writer, category);
}

/** tb_put_begin - begin a slice on the thread's track.  Signals: yes, as all tb_put_*. */
static inline void tb_put_begin(struct tb_writer *writer, struct tb_name *name)
{
	tb_slice_began(writer, name->category,
		       tb_record_words(writer, name, TB_REC_BEGIN, 0, 0, 0, 0));
}

/** tb_put_begin_flow - begin a slice that is part of @flow, any number but 0 */
static inline void tb_put_begin_flow(struct tb_writer *writer, struct tb_name *name,
				     uint64_t flow)
{
	tb_slice_began(writer, name->category,
		       tb_record_words(writer, name, TB_REC_BEGIN, TB_REC_FLOW, 1, flow, 0));
}

/** tb_put_end - end the innermost slice of this writer; records it if the beginning was recorded */
static inline void tb_put_end(struct tb_writer *writer)
{
	uint32_t depth = __atomic_load_n(&writer->depth, __ATOMIC_RELAXED);
	bool silent = false;

	if (depth && !__atomic_load_n(&writer->busy, __ATOMIC_RELAXED)) {
		depth--;
		silent = depth < TB_WRITER_OPEN && writer->open[depth] & TB_SLICE_SILENT;
		__atomic_store_n(&writer->depth, depth, __ATOMIC_RELAXED);
	}
	if (!silent)
		tb_record_words(writer, NULL, TB_REC_END, 0, 0, 0, 0);
}

/** tb_writer_end - tb_put_end_of() if the innermost slice is of another category; private */
void tb_writer_end(struct tb_writer *writer, struct tb_category *category);

/**
 * tb_put_end_of - end the innermost slice of @category, and slices in it that were not ended
 *
 * Does nothing if no slice of @category is open.  Records ends of recorded beginnings only.
 */
static inline void tb_put_end_of(struct tb_writer *writer, struct tb_category *category)
{
	uint32_t depth = __atomic_load_n(&writer->depth, __ATOMIC_RELAXED);

	if (__builtin_expect(depth && (depth > TB_WRITER_OPEN ||
				       (writer->open[depth - 1] & ~TB_SLICE_SILENT) ==
				       (uintptr_t)category), 1))
		tb_put_end(writer);
	else
		tb_writer_end(writer, category);
}

/** tb_put_instant - record an instant */
static inline void tb_put_instant(struct tb_writer *writer, struct tb_name *name)
{
	tb_record_words(writer, name, TB_REC_INSTANT, 0, 0, 0, 0);
}

/** tb_put_instant_flow - record an instant that is part of @flow; @last: the flow ends here */
static inline void tb_put_instant_flow(struct tb_writer *writer, struct tb_name *name,
				       uint64_t flow, bool last)
{
	if (last)
		tb_record_words(writer, name, TB_REC_INSTANT, TB_REC_FLOW | TB_REC_FLOW_END, 1,
				flow, 0);
	else
		tb_record_words(writer, name, TB_REC_INSTANT, TB_REC_FLOW, 1, flow, 0);
}

/** tb_put_counter - record the value of a counter */
static inline void tb_put_counter(struct tb_writer *writer, struct tb_name *name, int64_t value)
{
	tb_record_words(writer, name, TB_REC_COUNTER, 0, 1, (uint64_t)value, 0);
}

static inline uint64_t tb_double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/** tb_put_counter_double - record the value of a counter */
static inline void tb_put_counter_double(struct tb_writer *writer, struct tb_name *name,
					 double value)
{
	tb_record_words(writer, name, TB_REC_COUNTER, TB_REC_DOUBLE, 1, tb_double_bits(value), 0);
}

/** tb_put_simple - record a simple event: 8 bytes */
static inline void tb_put_simple(struct tb_writer *writer, struct tb_name *name, uint64_t value)
{
	tb_record_words(writer, name, TB_REC_SIMPLE, 0, 1, value, 0);
}

/* Record a header, @length, and @length bytes of @data */
static inline __attribute__((always_inline)) void
tb_record_bytes(struct tb_writer *writer, struct tb_name *name, enum tb_record_type type,
		const void *data, size_t length)
{
	struct tb_record *record;
	uint64_t *more;
	uint32_t bytes;

	/* nothing longer fits into a chunk; this keeps @bytes from overflowing */
	if (length > TB_CHUNK_BYTES_MAX)
		length = TB_CHUNK_BYTES_MAX;
	bytes = (uint32_t)sizeof(*record) + 8 + (uint32_t)(length + 7) / 8 * 8;
	record = tb_record_begin(writer, name, bytes);
	if (__builtin_expect(!record, 0))
		return;
	more = (uint64_t *)(record + 1);
	record->bytes = (uint16_t)bytes;
	record->type = type;
	record->flags = 0;
	record->id = name ? name->id : 0;
	record->time = tb_clock_read(writer->clock);
	more[0] = length;
	if (length) {
		/* zero the unused bytes of the last word */
		more[(length + 7) / 8] = 0;
		memcpy(more + 1, data, length);
	}
	tb_record_end(writer, bytes);
}

/**
 * tb_put_event - record a composite event with @data, at most TB_EVENT_BYTES_MAX bytes and no more
 * than fits into a chunk
 */
static inline void tb_put_event(struct tb_writer *writer, struct tb_name *name, const void *data,
				size_t bytes)
{
	tb_record_bytes(writer, name, TB_REC_EVENT, data, bytes);
}

/** tb_put_mark - record a text for people, @length bytes */
static inline void tb_put_mark(struct tb_writer *writer, const char *text, size_t length)
{
	tb_record_bytes(writer, NULL, TB_REC_MARK, text, length);
}

/**
 * struct tb_argument - an argument of a slice or an instant
 * @name: its name
 * @type: enum tb_arg_type
 * @value: its value; of TB_ARG_TEXT: the address of a NUL-terminated text, which is copied
 */
struct tb_argument {
	struct tb_name *name;
	uint32_t type;
	uint64_t value;
};

#define TB_ARGUMENTS_MAX	16

/**
 * tb_put_args - begin a slice or record an instant, with arguments
 * @type: TB_REC_BEGIN or TB_REC_INSTANT
 * @flow: 0: none
 * @count: number of @arguments; those beyond TB_ARGUMENTS_MAX are left out
 */
void tb_put_args(struct tb_writer *writer, struct tb_name *name, enum tb_record_type type,
		 uint64_t flow, const struct tb_argument *arguments, unsigned int count);

/**
 * struct tb_slice - an open slice that is one record, from tb_slice_begin(), for tb_slice_end()
 *
 * tb_slice_end() fills in the duration.  Such slices may end in any order, and cost one record
 * instead of two.  A slice that does not end has no duration, and readers get later records of its
 * chunk only when the chunk is complete.
 */
struct tb_slice {
	struct tb_writer *writer;
	uint64_t began;
	uint64_t owner;
	uint32_t chunk;
	uint16_t offset;
	uint16_t clock;
};

/** tb_slice_begin - begin such a slice; @flow: 0: none */
struct tb_slice tb_slice_begin(struct tb_writer *writer, struct tb_name *name, uint64_t flow);

/** tb_slice_end - end it, once, by the writer's thread.  Does nothing if the beginning was not
 *  recorded. */
void tb_slice_end(struct tb_slice *slice);

/* ---- recording, by macros ----------------------------------------------- */

static inline __attribute__((always_inline)) bool
tb_category_open(const struct tb_category *category)
{
	const uint32_t *gate = __atomic_load_n(&category->gate, __ATOMIC_RELAXED);

	return __builtin_expect(__atomic_load_n(gate, __ATOMIC_RELAXED) != 0, 0);
}

/** tb_category_wanted - true if @writer's target wants it, or the kernel has not been asked yet.
 *  Signals: yes. */
static inline bool tb_category_wanted(const struct tb_category *category,
				      const struct tb_writer *writer)
{
	const uint32_t *wanted = __atomic_load_n(&category->wanted, __ATOMIC_RELAXED);

	return ((__atomic_load_n(wanted, __ATOMIC_RELAXED) | writer->always) & writer->wants) != 0;
}

/** tb_category_refuse - close the gate of @category until there is an arbiter, if @writer is a null
 *  writer because there is no module.  Signals: yes.  Private. */
void tb_category_refuse(struct tb_category *category, const struct tb_writer *writer);

/** tb_category_enabled - tb_category_wanted() behind an open gate.  Signals: yes. */
static inline bool tb_category_enabled(struct tb_category *category,
				       const struct tb_writer *writer)
{
	if (__builtin_expect(tb_category_wanted(category, writer), 1))
		return true;
	if (__atomic_load_n(&category->gate, __ATOMIC_RELAXED) == &tb_category_unknown)
		tb_category_refuse(category, writer);
	return false;
}

/* True if the category is wanted now, or was when one of its slices may have begun */
static inline __attribute__((always_inline)) bool
tb_category_followed(const struct tb_category *category)
{
	return tb_category_open(category) ||
	       __builtin_expect(__atomic_load_n(&category->begun, __ATOMIC_RELAXED) != 0, 0);
}

#define TB_IF_WANTED_(writer_, category_, ...) \
	do { \
		struct tb_category *tb_category_ = (category_); \
		if (tb_category_open(tb_category_)) { \
			struct tb_writer *tb_writer_ = (writer_); \
			if (tb_category_enabled(tb_category_, tb_writer_)) \
				__VA_ARGS__; \
		} \
	} while (0)

#define TB_BEGIN_(writer_, category_, ...) \
	do { \
		struct tb_category *tb_category_ = (category_); \
		if (tb_category_followed(tb_category_)) { \
			struct tb_writer *tb_writer_ = (writer_); \
			if (tb_category_enabled(tb_category_, tb_writer_)) { \
				__VA_ARGS__; \
			} else if (__atomic_load_n(&tb_category_->begun, __ATOMIC_RELAXED)) { \
				tb_slice_unwanted(tb_writer_, tb_category_); \
			} \
		} \
	} while (0)

/*
 * @category: a struct tb_category *; @text: a constant.  @writer is evaluated only if @category is
 * wanted or, for slices, was wanted before.
 */
#define tb_begin(writer, category, text) \
	TB_BEGIN_(writer, category, tb_put_begin(tb_writer_, TB_NAME_HERE(text, tb_category_)))
#define tb_begin_flow(writer, category, text, flow) \
	TB_BEGIN_(writer, category, \
		  tb_put_begin_flow(tb_writer_, TB_NAME_HERE(text, tb_category_), flow))
/* @category: as at the beginning.  The end is recorded if the beginning was. */
#define tb_end(writer, category) \
	do { \
		struct tb_category *tb_category_ = (category); \
		if (tb_category_followed(tb_category_)) \
			tb_put_end_of(writer, tb_category_); \
	} while (0)
#define tb_instant(writer, category, text) \
	TB_IF_WANTED_(writer, category, tb_put_instant(tb_writer_, TB_NAME_HERE(text, tb_category_)))
#define tb_instant_flow(writer, category, text, flow, last) \
	TB_IF_WANTED_(writer, category, \
		      tb_put_instant_flow(tb_writer_, TB_NAME_HERE(text, tb_category_), flow, last))
#define tb_counter(writer, category, text, value) \
	TB_IF_WANTED_(writer, category, \
		      tb_put_counter(tb_writer_, TB_NAME_HERE(text, tb_category_), value))
#define tb_counter_double(writer, category, text, value) \
	TB_IF_WANTED_(writer, category, \
		      tb_put_counter_double(tb_writer_, TB_NAME_HERE(text, tb_category_), value))

/* tb_event(writer, category, text, value) or tb_event(writer, category, text, data, bytes) */
#define tb_event(...) \
	TB_EVENT_PICK_(__VA_ARGS__, TB_EVENT_DATA_, TB_EVENT_VALUE_, 0, 0, 0)(__VA_ARGS__)
#define TB_EVENT_PICK_(a, b, c, d, e, pick, ...) pick
#define TB_EVENT_VALUE_(writer, category, text, value) \
	TB_IF_WANTED_(writer, category, \
		      tb_put_simple(tb_writer_, TB_NAME_HERE(text, tb_category_), value))
#define TB_EVENT_DATA_(writer, category, text, data, bytes) \
	TB_IF_WANTED_(writer, category, \
		      tb_put_event(tb_writer_, TB_NAME_HERE(text, tb_category_), data, bytes))

/* arguments: tb_instant_args(w, c, "read", TB_S64("bytes", n), TB_TEXT("file", path)) */
#define TB_ARGUMENT_(text, type_, value_) \
	{ TB_NAME_HERE(text, NULL), type_, (uint64_t)(value_) }
#define TB_S64(text, value)	TB_ARGUMENT_(text, TB_ARG_S64, (int64_t)(value))
#define TB_U64(text, value)	TB_ARGUMENT_(text, TB_ARG_U64, value)
#define TB_POINTER(text, value)	TB_ARGUMENT_(text, TB_ARG_POINTER, (uintptr_t)(value))
#define TB_TEXT(text, value)	TB_ARGUMENT_(text, TB_ARG_TEXT, (uintptr_t)(value))
#define TB_DOUBLE(text, value)	TB_ARGUMENT_(text, TB_ARG_DOUBLE, tb_double_bits(value))
#define tb_begin_args(writer, category, text, ...) \
	TB_ARGS_(TB_BEGIN_, writer, category, text, TB_REC_BEGIN, __VA_ARGS__)
#define tb_instant_args(writer, category, text, ...) \
	TB_ARGS_(TB_IF_WANTED_, writer, category, text, TB_REC_INSTANT, __VA_ARGS__)
#define TB_ARGS_(if_, writer, category, text, type, ...) \
	if_(writer, category, { \
		const struct tb_argument tb_args_[] = { __VA_ARGS__ }; \
		tb_put_args(tb_writer_, TB_NAME_HERE(text, tb_category_), type, 0, tb_args_, \
			    sizeof(tb_args_) / sizeof(tb_args_[0])); \
	})

#ifdef __cplusplus
}
#endif

#endif /* TRACEBUF_RECORD_H */
