// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The process's own arbiter, opened at its first use, each thread's writer of it, and recording by
 * texts.
 *
 * A thread's writer is a variable of the initial-exec TLS model.  Reading it is one load without a
 * call that could allocate, so signal handlers may read it.  Creating the writer takes no lock of
 * the C library either.
 *
 * fork(): parent and child share the memory of a channel.  The thread that forks sets its writer
 * busy, so no signal handler records in the child before the child has dropped the channels.
 */
#include <errno.h>
#include <pthread.h>
#include "arbiter.h"

#define DEFAULT_PERIOD_MS 100

__thread struct tb_writer *tb_thread_writer __attribute__((tls_model("initial-exec")));

/* this thread is creating its writer: a signal handler must not start that again */
static __thread bool attaching __attribute__((tls_model("initial-exec")));

enum { STATE_CLOSED, STATE_OPEN, STATE_FAILED };

static struct tb_arbiter *arbiter;
static uint32_t state, target;
static struct tb_futex_lock lock;
static pthread_key_t key;
static uint32_t has_key;
/* state of a thread that forks: several may prepare at the same time */
static __thread bool gate_entered __attribute__((tls_model("initial-exec")));
static __thread bool writer_was_busy __attribute__((tls_model("initial-exec")));

static const struct tb_arbiter_options defaults = {
	.chunk_bytes = 4096,
	.chunks = 64,
	.period_ms = DEFAULT_PERIOD_MS,
};

/* Create an arbiter; returns the number of its target, or -errno */
static int open_with(const struct tb_arbiter_options *options, struct tb_arbiter **made)
{
	int result = tb_arbiter_create(options, made);

	if (result)
		return result;
	result = tb_arbiter_target(*made, "kernel");
	if (result < 0)
		tb_arbiter_destroy(*made);
	return result;
}

/* Create an arbiter with chunks that fit into the buffers of the recording */
static int open_fitting(struct tb_arbiter **made)
{
	struct tb_arbiter_options options = defaults;
	int result = open_with(&options, made);

	while (result == -EMSGSIZE && options.chunk_bytes > TB_CHUNK_BYTES_MIN) {
		options.chunk_bytes /= 2;
		options.chunks *= 2;
		result = open_with(&options, made);
	}
	return result;
}

/* @lock is held */
static int open_default(const struct tb_arbiter_options *options)
{
	struct tb_arbiter *made;
	int result = options ? open_with(options, &made) : open_fitting(&made);

	if (result < 0) {
		shared_set(&state, STATE_FAILED);
		return result;
	}
	arbiter = made;
	target = (uint32_t)result;
	/* release: both, to a thread that sees the state */
	shared_set_release(&state, STATE_OPEN);
	return 0;
}

int tb_default_open(const struct tb_arbiter_options *options, struct tb_arbiter **out)
{
	int result = 0;

	if (!tb_futex_lock_acquire(&lock))
		return -EDEADLK;
	if (state == STATE_OPEN)
		result = options ? -EBUSY : 0;
	else
		result = open_default(options);
	if (out)
		*out = result ? NULL : arbiter;
	tb_futex_lock_release(&lock);
	return result;
}

/* Create the calling thread's writer */
static struct tb_writer *create_writer(void)
{
	struct tb_writer *writer;

	if (shared_get_acquire(&state) == STATE_CLOSED && tb_futex_lock_acquire(&lock)) {
		if (state == STATE_CLOSED)
			open_default(NULL);
		tb_futex_lock_release(&lock);
	}
	if (shared_get_acquire(&state) != STATE_OPEN)
		return tb_writer_null();
	writer = tb_writer_create(arbiter, target, TB_FULL_DROP);
	tb_thread_writer = writer;
	if (has_key)
		pthread_setspecific(key, writer);
	return writer;
}

struct tb_writer *tb_thread_attach(void)
{
	struct tb_writer *writer;

	/* not stored as the thread's writer: tb_default_open() may succeed later */
	if (attaching || shared_get(&state) == STATE_FAILED)
		return tb_writer_null();
	attaching = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* a handler may have created it after tb_here() had looked */
	writer = tb_thread_writer ? tb_thread_writer : create_writer();
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	attaching = false;
	return writer;
}

void tb_category_refuse(struct tb_category *category, const struct tb_writer *writer)
{
	if (tb_writer_is_null(writer) && shared_get(&state) == STATE_FAILED)
		tb_category_close(category);
}

/* ---- threads and processes ---- */

static void thread_ends(void *writer)
{
	tb_thread_writer = NULL;
	tb_writer_destroy(writer);
}

static void fork_prepare(void)
{
	struct tb_writer *writer = tb_thread_writer;

	attaching = true;
	writer_was_busy = !writer || writer->busy;
	if (!writer_was_busy)
		shared_set(&writer->busy, 1);
	gate_entered = tb_futex_lock_acquire(&lock);
	tb_arbiters_fork(FORK_PREPARE);
}

static void fork_parent(void)
{
	tb_arbiters_fork(FORK_PARENT);
	if (gate_entered)
		tb_futex_lock_release(&lock);
	if (!writer_was_busy)
		shared_set(&tb_thread_writer->busy, 0);
	attaching = false;
}

static void fork_child(void)
{
	tb_arbiters_fork(FORK_CHILD);
	lock.word = 0;
	arbiter = NULL;
	state = STATE_CLOSED;
	tb_thread_writer = NULL;
	if (has_key)
		pthread_setspecific(key, NULL);
	attaching = false;
}

static __attribute__((constructor)) void install_hooks(void)
{
	has_key = !pthread_key_create(&key, thread_ends);
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* When the process ends the kernel takes what is published, but only the writer knows its losses */
static __attribute__((destructor)) void flush_at_exit(void)
{
	if (tb_thread_writer)
		tb_writer_flush(tb_thread_writer);
}

/* ---- recording by texts ---- */

/* Return true if @interned is wanted, with the thread's writer in *@writer */
static bool is_wanted(struct tb_category *interned, struct tb_writer **writer)
{
	if (interned && !tb_category_open(interned))
		return false;
	*writer = tb_here();
	if (interned && !tb_category_enabled(interned, *writer))
		return false;
	/* ask the kernel about a category that it has not been asked about */
	if (interned && tb_category_is_unknown(interned)) {
		if (tb_writer_is_null(*writer))
			return false;
		tb_category_attach(writer_of(*writer)->arbiter, interned);
		if (!tb_category_wanted(interned, *writer))
			return false;
	}
	return true;
}

/* Return true if @category is wanted, with writer and name; @own: room for a name if need be */
static bool wanted(const char *category, const char *text, struct tb_writer **writer,
		   struct tb_name **name, struct tb_name *own)
{
	struct tb_category *interned = tb_category_intern(category);

	if (!is_wanted(interned, writer))
		return false;
	*name = tb_text_name(text, TB_NAME_EVENT, interned, own);
	return true;
}

/* wanted() for a slice that begins: tracks it if it is not wanted */
static bool wanted_slice(const char *category, const char *text, struct tb_writer **writer,
			 struct tb_name **name, struct tb_name *own)
{
	struct tb_category *interned;

	*name = own;
	if (wanted(category, text, writer, name, own))
		return true;
	interned = tb_category_intern(category);
	if (interned && shared_get(&interned->begun))
		tb_slice_unwanted(tb_here(), interned);
	return false;
}

bool tb_write_enabled(const char *category)
{
	struct tb_writer *writer;

	return is_wanted(tb_category_intern(category), &writer) && !tb_writer_is_null(writer);
}

void tb_write_begin(const char *category, const char *text)
{
	struct tb_writer *writer;
	struct tb_name *name, own;

	if (wanted_slice(category, text, &writer, &name, &own))
		tb_put_begin(writer, name);
}

void tb_write_begin_flow(const char *category, const char *text, uint64_t flow)
{
	struct tb_writer *writer;
	struct tb_name *name, own;

	if (wanted_slice(category, text, &writer, &name, &own))
		tb_put_begin_flow(writer, name, flow);
}

void tb_write_end(const char *category)
{
	struct tb_category *interned = tb_category_intern(category);

	if (!interned)
		tb_put_end(tb_here());
	else if (tb_category_followed(interned))
		tb_put_end_of(tb_here(), interned);
}

void tb_write_instant(const char *category, const char *text)
{
	struct tb_writer *writer;
	struct tb_name *name, own;

	if (wanted(category, text, &writer, &name, &own))
		tb_put_instant(writer, name);
}

void tb_write_instant_flow(const char *category, const char *text, uint64_t flow, bool last)
{
	struct tb_writer *writer;
	struct tb_name *name, own;

	if (wanted(category, text, &writer, &name, &own))
		tb_put_instant_flow(writer, name, flow, last);
}

void tb_write_counter(const char *category, const char *text, int64_t value)
{
	struct tb_writer *writer;
	struct tb_name *name, own;

	if (wanted(category, text, &writer, &name, &own))
		tb_put_counter(writer, name, value);
}

void tb_write_counter_double(const char *category, const char *text, double value)
{
	struct tb_writer *writer;
	struct tb_name *name, own;

	if (wanted(category, text, &writer, &name, &own))
		tb_put_counter_double(writer, name, value);
}

void tb_write_event(const char *category, const char *text, const void *data, size_t bytes)
{
	struct tb_writer *writer;
	struct tb_name *name, own;

	if (wanted(category, text, &writer, &name, &own))
		tb_put_event(writer, name, data, bytes);
}

void tb_write_mark(const char *text)
{
	tb_put_mark(tb_here(), text, strlen(text));
}

int tb_write_flush(void)
{
	return tb_writer_flush(tb_here());
}
