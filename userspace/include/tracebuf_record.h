/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, recording - put events of a program into the trace of the machine.
 *
 * The shortest program that does:
 *
 *	TB_CATEGORY(work, "work");
 *
 *	tb_begin(tb_here(), &work, "load");
 *	tb_counter(tb_here(), &work, "bytes", bytes);
 *	tb_end(tb_here(), &work);
 *
 * Who wants to see it: tracebuf record with the category enabled.  Until then each of these costs
 * two loads and a branch that is not taken; the beginning and the end of a slice cost one more of
 * each.  Without the module it is the same, from the second event of a category on.
 *
 * A *writer* puts records into chunks of memory that the kernel can see, without system calls; it
 * belongs to one thread.  An *arbiter* hands out chunks and commits those that are complete; it
 * belongs to all threads.  Most programs have one arbiter and do not see it: tb_here() is the
 * calling thread's writer of it, made when it is first asked for and gone with its thread.
 *
 * What is recorded is complete or not there; what a writer had no room for is counted, and the
 * trace tells where it is missing, how much it is, and why.
 *
 * Conventions: functions return 0 or a count, and -errno on failure; none prints.  "Signals: yes"
 * means that a signal handler may call it, whatever it interrupted.  A handler that interrupts its
 * thread in the middle of a record cannot record: its record is lost and counted
 * (TB_LOST_SIGNAL).  Where nothing is said: any thread, no signal handlers.  None changes errno, and
 * recording is no cancellation point.
 *
 * After fork() the child has a channel of its own as soon as it records by tb_here(); arbiters
 * and writers that were made by hand are its parent's, record nothing in it, and may only be
 * destroyed there.  Children made by other means than fork() (clone(), _Fork()) and not followed by
 * exec must not record.
 *
 * The layouts of linux/tracebuf_producer.h are used as they are.
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
 * struct tb_category - a switch that readers turn
 * @name: 1 to 63 characters but ':' ',' '*' '?' '!' and blanks
 * The rest is the library's.  It must stay where it is for as long as the program runs.  It
 * belongs to the arbiter of the writer that it is first used with.
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

/* what the gate of a category is that nobody has asked the kernel about: open, so that it is */
extern const uint32_t tb_category_unknown;

#define TB_CATEGORY_INIT(text) \
	{ (text), &tb_category_unknown, &tb_category_unknown, NULL, NULL, 0, 0 }

/** TB_CATEGORY - define the category @symbol, called @text */
#define TB_CATEGORY(symbol, text) \
	static struct tb_category symbol = TB_CATEGORY_INIT(text)

/**
 * struct tb_name - a text with a number, of which the trace has the number
 * @text: at most 255 bytes of it are recorded, 40 in the smallest chunks; must stay
 * @category: what events of this name belong to, or NULL: they are always recorded
 * @id: 0 until it is first used
 * @kind: enum tb_name_kind
 * A text is told once in a sequence of chunks, or in each chunk if the target overwrites.
 */
struct tb_name {
	const char *text;
	struct tb_category *category;
	uint32_t id;
	uint32_t kind;
};

#define TB_NAME_INIT(text, category) { (text), (category), 0, TB_NAME_EVENT }

/**
 * tb_name_of - the name with the text of @place and of @category
 *
 * A place has the category that it is first used with; with any other one its text is interned.
 * Signals: yes.  Return: never NULL.
 */
struct tb_name *tb_name_of(struct tb_name *place, struct tb_category *category);

static inline struct tb_name *tb_name_in(struct tb_name *place, struct tb_category *category)
{
	return __builtin_expect(__atomic_load_n(&place->category, __ATOMIC_RELAXED) == category, 1) ?
	       place : tb_name_of(place, category);
}

/* a name of this place in the program; @category_ may be another one each time */
#define TB_NAME_HERE(text_, category_) \
	(__extension__ ({ \
		static struct tb_name tb_name_ = TB_NAME_INIT(text_, NULL); \
		tb_name_in(&tb_name_, category_); \
	}))

/**
 * tb_intern - the name with this text, the same for the same text
 * @category: as in struct tb_name; what it was at the first call for this text stays
 *
 * For texts that are made at run time; the text is copied.  There is room for TB_INTERN_MAX.
 * Signals: yes.  Return: never NULL; when there is no room, the name "(too many names)".
 */
struct tb_name *tb_intern(const char *text, struct tb_category *category,
			  enum tb_name_kind kind);

/* Values of TB_TEXT() take no more than half of it; further ones are told each time */
#define TB_INTERN_MAX	8192

/* ---- arbiter ------------------------------------------------------------ */

/* what a writer does when no chunk is free */
enum tb_full {
	TB_FULL_DROP			= 0,	/* the record is lost */
	/*
	 * It sleeps 0, 8, 72, 584, 4680, 37448 us, then 100 ms each, and gives up after 30 s:
	 * then the record is lost.
	 */
	TB_FULL_STALL			= 1,
	/* after it has given up once it drops until it gets a chunk */
	TB_FULL_STALL_THEN_DROP		= 2,
};

/**
 * struct tb_arbiter_options - what an arbiter is made with; zero: the defaults
 * @chunk_bytes: power of two, TB_CHUNK_BYTES_MIN..MAX; 0: 4096
 * @chunks: TB_CHUNKS_MIN..MAX; 0: 64
 * @period_ms: complete chunks are committed this long after the last commit at the latest, when
 *	another is complete; 0: each at once
 * @flags: TB_ARBITER_*
 */
struct tb_arbiter_options {
	uint32_t chunk_bytes;
	uint32_t chunks;
	uint32_t period_ms;
	uint32_t flags;
};

#define TB_ARBITER_NO_SHARED	0x01	/* chunks go to the kernel by copy */

/**
 * tb_arbiter_create - an arbiter with a channel to the kernel
 * @options: NULL: the defaults
 * @arbiter: out; NULL on failure
 * Errors: those of opening TB_PRODUCER_PATH and of TB_PIOC_SETUP, -ENOMEM, -EINVAL.
 */
int tb_arbiter_create(const struct tb_arbiter_options *options, struct tb_arbiter **arbiter);

#define TB_PRODUCER_PATH	"/dev/tracebuf_producer"

/**
 * tb_arbiter_create_unbound - an arbiter without a channel
 *
 * Startup writers record into memory of its own, of the size that @options say; when that is
 * full records are lost (TB_LOST_UNBOUND).
 */
int tb_arbiter_create_unbound(const struct tb_arbiter_options *options,
			      struct tb_arbiter **arbiter);

/**
 * tb_arbiter_bind - give it a channel, now
 *
 * What startup writers recorded goes to the kernel for reservations that are bound.
 * Errors: as tb_arbiter_create(); -EALREADY.
 */
int tb_arbiter_bind(struct tb_arbiter *arbiter);

/** tb_arbiter_target - the number of @provider for tb_writer_create().  Errors: -ENOTCONN
 *  unbound, -EMSGSIZE its buffers are smaller than the arbiter's chunks, others of
 *  TB_PIOC_TARGET. */
int tb_arbiter_target(struct tb_arbiter *arbiter, const char *provider);

/** tb_arbiter_closed - does @target take nothing from programs now?  It may be opened later: what
 *  is recorded then is taken.  Signals: yes. */
bool tb_arbiter_closed(const struct tb_arbiter *arbiter, unsigned int target);

/** tb_arbiter_category - have the kernel say whether it is wanted.  It happens by itself at the
 *  first event.  Errors: those of TB_PIOC_CATEGORY: nobody will want it then. */
int tb_arbiter_category(struct tb_arbiter *arbiter, struct tb_category *category);

/**
 * tb_arbiter_flush - commit all complete chunks, then call @done(@data)
 *
 * In shared memory the kernel takes what is published of incomplete chunks by itself, without it
 * they are scraped here.  @done, which may be NULL, is called before this returns; while the
 * arbiter is unbound, when it has been bound.  It is not called if this fails.  Errors: as
 * TB_PIOC_COMMIT; -ENOMEM; -EDEADLK by a signal handler that interrupted a commit.
 */
int tb_arbiter_flush(struct tb_arbiter *arbiter, void (*done)(void *data), void *data);

/**
 * tb_arbiter_serve - wait for what the kernel wants, and do it
 * @timeout_ms: at most so long; -1: for ever
 * For a thread of the program's, or its event loop.  Nothing depends on it: readers get
 * what is published without it, if memory is shared.  Return: 1 a flush was answered, 0 not.
 */
int tb_arbiter_serve(struct tb_arbiter *arbiter, int timeout_ms);

/** tb_arbiter_start_thread - a thread that serves, until tb_arbiter_destroy().  All signals
 *  are blocked there.  Errors: -EALREADY, those of pthread_create(). */
int tb_arbiter_start_thread(struct tb_arbiter *arbiter);

/**
 * tb_arbiter_try_shutdown - no new writers from now on; are all gone?
 * Return: 0 they are; -EBUSY some are not: try again.  Writers asked for after the first call are
 * null writers.
 */
int tb_arbiter_try_shutdown(struct tb_arbiter *arbiter);

/**
 * tb_arbiter_destroy - commit what is complete, close the channel, free all
 *
 * No thread may use it, its writers or its categories meanwhile or later, and none of its writers
 * is to be destroyed afterwards.  NULL is fine.
 */
void tb_arbiter_destroy(struct tb_arbiter *arbiter);

/* ---- writer ------------------------------------------------------------- */

#define TB_WRITER_TOLD	256
/* slices that may be in each other and still be known one by one */
#define TB_WRITER_OPEN	64

/**
 * struct tb_writer - a writer, for the functions below
 * All of it is the library's.
 * @busy: in the middle of a record, or a null writer
 * @published: TB_PUBLISHED() of @chunk
 * @room: bytes of data there; 0: the next record needs another chunk
 * @generation: that of @changes when the chunk was begun
 * @changes: a word that changes when this chunk is not to go on
 * @chunk: current one
 * @epoch: upper half of @told if it is of now
 * @clock: enum tb_clock_id
 * @wants: bit of the target in the words of categories
 * @always: what is taken to be wanted anyway
 * @told: by the low bits of their ids, the names that need not be told
 * @depth: how many slices of the thread's track have begun and not ended
 * @open: their categories, outermost first; TB_SLICE_SILENT: the beginning is not in the trace
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
	uint64_t told[TB_WRITER_TOLD];
	uint32_t depth;
	uint32_t reserved2;
	uintptr_t open[TB_WRITER_OPEN];
};

#define TB_SLICE_SILENT	((uintptr_t)1)

/**
 * struct tb_writer_stats - counts of a writer, in records; names that it told are records too
 * @attempted: all
 * @lost: by the writer, for want of a chunk and the like
 * @refused: in chunks that the kernel refused, had no room for, or did not record
 * attempted - lost - refused is what the kernel took or will take.
 */
struct tb_writer_stats {
	uint64_t attempted;
	uint64_t lost;
	uint64_t refused;
};

/**
 * tb_writer_create - a writer for the calling thread
 * @target: see tb_arbiter_target()
 * @full: enum tb_full; an arbiter that ever was unbound has only TB_FULL_DROP
 * Return: never NULL.  A null writer, which takes all calls and records nothing, if there are no
 * ids any more, after tb_arbiter_try_shutdown(), without memory, or if the kernel or these
 * rules do not let it.  Signals: yes.
 */
struct tb_writer *tb_writer_create(struct tb_arbiter *arbiter, unsigned int target,
				   enum tb_full full);

/**
 * tb_writer_create_startup - a writer whose target is not known yet
 * @reservation: any number; what belongs together is bound together
 * It records into memory of the arbiter's own until the reservation and the arbiter are bound, all
 * categories. Policy drop.  At most TB_TARGETS_MAX reservations: else a null writer.
 */
struct tb_writer *tb_writer_create_startup(struct tb_arbiter *arbiter, uint32_t reservation);

/**
 * tb_arbiter_bind_reservation - the target of a reservation is @provider
 * May come before tb_arbiter_bind() or after it.
 * Errors: -EALREADY bound or aborted before; -ENOSPC; those of TB_PIOC_TARGET, after
 * which it can be tried again.
 */
int tb_arbiter_bind_reservation(struct tb_arbiter *arbiter, uint32_t reservation,
				const char *provider);

/** tb_arbiter_abort_reservation - forget what its writers recorded and will record.
 *  Errors: -EALREADY, -ENOSPC. */
int tb_arbiter_abort_reservation(struct tb_arbiter *arbiter, uint32_t reservation);

/** tb_writer_destroy - by its thread: publish what it has, tell what it lost, give up the id.
 *  NULL and null writers are fine.  */
void tb_writer_destroy(struct tb_writer *writer);

/** tb_writer_flush - by its thread: complete the chunk, tell what is lost, commit */
int tb_writer_flush(struct tb_writer *writer);

/** tb_writer_is_null - does it discard everything?  Signals: yes. */
bool tb_writer_is_null(const struct tb_writer *writer);

/** tb_writer_id - 1..65535; 0: a null writer.  Signals: yes. */
unsigned int tb_writer_id(const struct tb_writer *writer);

/** tb_writer_read_stats - its counts, by its thread */
void tb_writer_read_stats(const struct tb_writer *writer, struct tb_writer_stats *stats);

/* ---- the process's own arbiter ------------------------------------------ */

/* the calling thread's writer, NULL before the first use; see tb_here() */
extern __thread struct tb_writer *tb_thread_writer __attribute__((tls_model("initial-exec")));

/**
 * tb_thread_attach - make the calling thread's writer, of the provider "kernel"
 *
 * tb_here() calls it when there is none.  If there is no device, everything is discarded until
 * tb_default_open().  Signals: yes, but it takes a while.  Return: never NULL.
 */
struct tb_writer *tb_thread_attach(void);

/** tb_here - the calling thread's writer of the process's own arbiter.  Signals: yes. */
static inline struct tb_writer *tb_here(void)
{
	struct tb_writer *writer = tb_thread_writer;

	return __builtin_expect(writer != NULL, 1) ? writer : tb_thread_attach();
}

/**
 * tb_default_open - the process's own arbiter, to be opened if it is not
 *
 * To know whether it works, to choose @options (NULL: the defaults with a period of 100 ms, and
 * smaller chunks if the recording's buffers are too small for them) before the first event, or to
 * try again after the module was loaded.  Errors: as tb_arbiter_create() and tb_arbiter_target(),
 * -EBUSY it is open and @options were given.
 */
int tb_default_open(const struct tb_arbiter_options *options, struct tb_arbiter **arbiter);

/* ---- recording, without macros ------------------------------------------ */

/*
 * For programs in other languages: by texts, into tb_here().  Texts are interned when
 * they are first seen.  @category NULL or "": always recorded, else if a reader wants it.
 * Signals: yes.
 */
/** tb_write_enabled - would an event of @category be recorded now? */
bool tb_write_enabled(const char *category);
/** tb_write_begin - a slice of the thread's track begins */
void tb_write_begin(const char *category, const char *name);
/** tb_write_begin_flow - and a flow goes through it; @flow: any number but 0 */
void tb_write_begin_flow(const char *category, const char *name, uint64_t flow);
/** tb_write_end - the innermost slice ends */
void tb_write_end(const char *category);
/** tb_write_instant - something happened */
void tb_write_instant(const char *category, const char *name);
/** tb_write_instant_flow - in a flow; @last: which ends here */
void tb_write_instant_flow(const char *category, const char *name, uint64_t flow, bool last);
/** tb_write_counter - a counter has this value */
void tb_write_counter(const char *category, const char *name, int64_t value);
/** tb_write_counter_double - likewise */
void tb_write_counter_double(const char *category, const char *name, double value);
/** tb_write_event - an event with any data, at most TB_EVENT_BYTES_MAX bytes */
void tb_write_event(const char *category, const char *name, const void *data, size_t bytes);
/** tb_write_mark - a text for humans */
void tb_write_mark(const char *text);
/** tb_write_flush - complete and commit what this thread has recorded; as tb_writer_flush() */
int tb_write_flush(void);

/* beyond it does not fit into the largest chunk for certain; smaller chunks take less */
#define TB_EVENT_BYTES_MAX	(TB_CHUNK_BYTES_MAX - 512)

/* ---- records, one by one ------------------------------------------------ */

/* by the functions below */
struct tb_record *tb_writer_nested(struct tb_writer *writer);
struct tb_record *tb_writer_prepare(struct tb_writer *writer, struct tb_name *name,
				    uint32_t bytes);
uint64_t tb_clock_monotonic(void);

/** tb_clock_read - the clock of a target now; @clock: enum tb_clock_id.  Ticks, see
 *  tb_producer_target.frequency.  Signals: yes. */
static inline __attribute__((always_inline)) uint64_t tb_clock_read(uint32_t clock)
{
#if defined(__x86_64__)
	if (__builtin_expect(clock == TB_CLOCK_TSC, 1))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (__builtin_expect(clock == TB_CLOCK_ARCH, 1)) {
		uint64_t ticks;

		/* as the kernel reads it: not before what precedes it */
		__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
		return ticks;
	}
#endif
	(void)clock;
	return tb_clock_monotonic();
}

/**
 * tb_record_begin - room for a record of @bytes, a multiple of 8, header included
 * @name: what must be told before it, or NULL
 *
 * The caller fills it in and calls tb_record_end(), without returning in between.  In between
 * handlers of signals cannot record.  Signals: yes.  Return: NULL: it is not to be recorded, or
 * lost and counted.
 */
static inline __attribute__((always_inline)) struct tb_record *
tb_record_begin(struct tb_writer *writer, struct tb_name *name, uint32_t bytes)
{
	uint32_t id = name ? __atomic_load_n(&name->id, __ATOMIC_RELAXED) : 0;
	uint32_t room, now;
	bool told;

	/*
	 * Others than this thread's signal handlers do not look at busy, so the compiler alone
	 * must keep the order.
	 */
	if (__builtin_expect(__atomic_load_n(&writer->busy, __ATOMIC_RELAXED), 0))
		return tb_writer_nested(writer);
	__atomic_store_n(&writer->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	room = __atomic_load_n(&writer->room, __ATOMIC_RELAXED);
	now = __atomic_load_n(writer->changes, __ATOMIC_RELAXED);
	told = !name || writer->told[id % TB_WRITER_TOLD] == (writer->epoch | id);
	if (__builtin_expect(TB_PUBLISHED_BYTES(writer->published) + bytes > room ||
			     now != writer->generation || !told, 0))
		return tb_writer_prepare(writer, name, bytes);
	return (struct tb_record *)((unsigned char *)(writer->chunk + 1) +
				    TB_PUBLISHED_BYTES(writer->published));
}

/** tb_record_end - publish the record that tb_record_begin() gave room for.  Signals: yes. */
static inline __attribute__((always_inline)) void tb_record_end(struct tb_writer *writer,
								uint32_t bytes)
{
	writer->published += TB_PUBLISHED(bytes, 1);
	/* pairs with the acquire of whoever takes what is published: the record is whole */
	__atomic_store_n(&writer->chunk->published, writer->published, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&writer->busy, 0, __ATOMIC_RELAXED);
}

/* A record with up to two words behind it; all but the pointers are constants at compile time.
 * Was it recorded? */
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
 * An end does not say of which slice it is: it ends the innermost one.  So the end of a slice is
 * recorded exactly if its beginning was, whatever became of the category meanwhile; to know that,
 * a writer keeps a list of its open slices.  A handler of a signal that comes in between uses what
 * is above @depth, and leaves that as it was.
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

/* A slice begins that is not recorded.  If there is none around it, its end is known as such. */
static inline void tb_slice_unwanted(struct tb_writer *writer, struct tb_category *category)
{
	if (__atomic_load_n(&writer->depth, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&writer->busy, __ATOMIC_RELAXED))
		tb_slice_push(writer, category, TB_SLICE_SILENT);
}

static inline bool tb_category_wanted(const struct tb_category *category,
				      const struct tb_writer *writer);

/* A slice has begun, and was @recorded or not */
static inline void tb_slice_began(struct tb_writer *writer, struct tb_category *category,
				  bool recorded)
{
	if (__builtin_expect(recorded, 1))
		tb_slice_push(writer, category, 0);
	else if (__atomic_load_n(&writer->busy, __ATOMIC_RELAXED))
		return;		/* its end will be lost, too, or nothing is recorded at all */
	else if (!category || tb_category_wanted(category, writer))
		tb_slice_push(writer, category, TB_SLICE_SILENT);
	else
		tb_slice_unwanted(writer, category);
}

/** tb_put_begin - a slice of the thread's track begins.  Signals: yes, as all tb_put_*. */
static inline void tb_put_begin(struct tb_writer *writer, struct tb_name *name)
{
	tb_slice_began(writer, name->category,
		       tb_record_words(writer, name, TB_REC_BEGIN, 0, 0, 0, 0));
}

/** tb_put_begin_flow - and a flow goes through it; @flow: not 0, the same wherever it goes */
static inline void tb_put_begin_flow(struct tb_writer *writer, struct tb_name *name,
				     uint64_t flow)
{
	tb_slice_began(writer, name->category,
		       tb_record_words(writer, name, TB_REC_BEGIN, TB_REC_FLOW, 1, flow, 0));
}

/** tb_put_end - the innermost slice of this writer ends; nothing if its beginning was not recorded */
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

/** tb_writer_end - tb_put_end_of() where the innermost slice is of another category */
void tb_writer_end(struct tb_writer *writer, struct tb_category *category);

/**
 * tb_put_end_of - the innermost slice of @category ends, and those in it whose ends were left out
 *
 * Nothing if none of @category has begun, or its beginning was not recorded.
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

/** tb_put_instant - something happened */
static inline void tb_put_instant(struct tb_writer *writer, struct tb_name *name)
{
	tb_record_words(writer, name, TB_REC_INSTANT, 0, 0, 0, 0);
}

/** tb_put_instant_flow - in a flow, which ends here if it is the @last */
static inline void tb_put_instant_flow(struct tb_writer *writer, struct tb_name *name,
				       uint64_t flow, bool last)
{
	if (last)
		tb_record_words(writer, name, TB_REC_INSTANT, TB_REC_FLOW | TB_REC_FLOW_END, 1,
				flow, 0);
	else
		tb_record_words(writer, name, TB_REC_INSTANT, TB_REC_FLOW, 1, flow, 0);
}

/** tb_put_counter - a counter has this value */
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

/** tb_put_counter_double - likewise */
static inline void tb_put_counter_double(struct tb_writer *writer, struct tb_name *name,
					 double value)
{
	tb_record_words(writer, name, TB_REC_COUNTER, TB_REC_DOUBLE, 1, tb_double_bits(value), 0);
}

/** tb_put_simple - a simple event: 8 bytes */
static inline void tb_put_simple(struct tb_writer *writer, struct tb_name *name, uint64_t value)
{
	tb_record_words(writer, name, TB_REC_SIMPLE, 0, 1, value, 0);
}

/* A record with @length bytes behind it, and how many these are before them. */
static inline __attribute__((always_inline)) void
tb_record_bytes(struct tb_writer *writer, struct tb_name *name, enum tb_record_type type,
		const void *data, size_t length)
{
	struct tb_record *record;
	uint64_t *more;
	uint32_t bytes;

	/* what cannot be said in its header is too large for any chunk: it is lost as such */
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
		/* what is behind the data in their last word is zero */
		more[(length + 7) / 8] = 0;
		memcpy(more + 1, data, length);
	}
	tb_record_end(writer, bytes);
}

/**
 * tb_put_event - a composite event: any @bytes of @data, at most TB_EVENT_BYTES_MAX and what fits
 * into a chunk
 */
static inline void tb_put_event(struct tb_writer *writer, struct tb_name *name, const void *data,
				size_t bytes)
{
	tb_record_bytes(writer, name, TB_REC_EVENT, data, bytes);
}

/** tb_put_mark - a text for humans, @length bytes */
static inline void tb_put_mark(struct tb_writer *writer, const char *text, size_t length)
{
	tb_record_bytes(writer, NULL, TB_REC_MARK, text, length);
}

/**
 * struct tb_argument - an argument of a slice or an instant
 * @name: what it is called
 * @type: enum tb_arg_type
 * @value: the value; of TB_ARG_TEXT the address of a text that ends with 0, which is interned
 */
struct tb_argument {
	struct tb_name *name;
	uint32_t type;
	uint64_t value;
};

#define TB_ARGUMENTS_MAX	16

/**
 * tb_put_args - a slice begins, or something happened, with arguments
 * @type: TB_REC_BEGIN or TB_REC_INSTANT
 * @flow: 0: none
 * @count: of @arguments; more than TB_ARGUMENTS_MAX are left out
 */
void tb_put_args(struct tb_writer *writer, struct tb_name *name, enum tb_record_type type,
		 uint64_t flow, const struct tb_argument *arguments, unsigned int count);

/**
 * struct tb_slice - a slice in one record, whose duration is filled in when it ends
 * Of tb_slice_begin(), for tb_slice_end().  Slices need not end in the order of their beginning,
 * and cost one record where tb_put_begin() and tb_put_end() are two; one that does not end has no
 * duration, and records behind it in its chunk are read only when the chunk is complete.
 */
struct tb_slice {
	struct tb_writer *writer;
	uint64_t began;
	uint64_t owner;
	uint32_t chunk;
	uint16_t offset;
	uint16_t clock;
};

/** tb_slice_begin - @flow: 0: none */
struct tb_slice tb_slice_begin(struct tb_writer *writer, struct tb_name *name, uint64_t flow);

/** tb_slice_end - by the writer's thread, once.  Nothing if the beginning was not recorded. */
void tb_slice_end(struct tb_slice *slice);

/* ---- recording, by macros ----------------------------------------------- */

static inline __attribute__((always_inline)) bool
tb_category_open(const struct tb_category *category)
{
	const uint32_t *gate = __atomic_load_n(&category->gate, __ATOMIC_RELAXED);

	return __builtin_expect(__atomic_load_n(gate, __ATOMIC_RELAXED) != 0, 0);
}

/** tb_category_wanted - does @writer's target want it?  True until the kernel has been asked.
 *  Signals: yes. */
static inline bool tb_category_wanted(const struct tb_category *category,
				      const struct tb_writer *writer)
{
	const uint32_t *wanted = __atomic_load_n(&category->wanted, __ATOMIC_RELAXED);

	return ((__atomic_load_n(wanted, __ATOMIC_RELAXED) | writer->always) & writer->wants) != 0;
}

/** tb_category_refuse - a category that nobody could be asked about is not wanted: if there is no
 *  module its gate is closed, until there is an arbiter.  Signals: yes. */
void tb_category_refuse(struct tb_category *category, const struct tb_writer *writer);

/** tb_category_enabled - behind an open gate: does @writer's target want it?  Signals: yes. */
static inline bool tb_category_enabled(struct tb_category *category,
				       const struct tb_writer *writer)
{
	if (__builtin_expect(tb_category_wanted(category, writer), 1))
		return true;
	if (__atomic_load_n(&category->gate, __ATOMIC_RELAXED) == &tb_category_unknown)
		tb_category_refuse(category, writer);
	return false;
}

/* Is it wanted, or may slices of it have begun when it was? */
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
 * @writer is not evaluated unless somebody wants @category, a struct tb_category *, or, of slices,
 * wanted it before.  @text is a constant.
 */
#define tb_begin(writer, category, text) \
	TB_BEGIN_(writer, category, tb_put_begin(tb_writer_, TB_NAME_HERE(text, tb_category_)))
#define tb_begin_flow(writer, category, text, flow) \
	TB_BEGIN_(writer, category, \
		  tb_put_begin_flow(tb_writer_, TB_NAME_HERE(text, tb_category_), flow))
/* @category: that of the beginning.  The end is recorded if the beginning was. */
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
