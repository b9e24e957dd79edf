// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The arbiter: create, bind, flush, shut down and destroy it; reservations; fork().  arbiter.h
 * explains how chunks move.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include "arbiter.h"

/* all arbiters, for fork(); enter this lock before those of an arbiter */
static struct tb_arbiter *arbiters;
static struct tb_futex_lock arbiters_lock;

/* The clock that a recording will probably use, until the kernel says so */
static uint32_t local_clock(void)
{
#if defined(__x86_64__)
	uint32_t a, b, c, d;

	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0x80000000u), "c"(0));
	if (a >= 0x80000007u) {
		__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0x80000007u), "c"(0));
		if (d & 1u << 8)	/* invariant */
			return TB_CLOCK_TSC;
	}
	return TB_CLOCK_MONO;
#elif defined(__aarch64__)
	return TB_CLOCK_ARCH;
#else
	return TB_CLOCK_MONO;
#endif
}

static int check_options(const struct tb_arbiter_options *options)
{
	if (options->chunk_bytes < TB_CHUNK_BYTES_MIN ||
	    options->chunk_bytes > TB_CHUNK_BYTES_MAX ||
	    options->chunk_bytes & (options->chunk_bytes - 1) ||
	    options->chunks < TB_CHUNKS_MIN || options->chunks > TB_CHUNKS_MAX ||
	    (uint64_t)options->chunk_bytes * options->chunks > TB_CHUNKS_BYTES_MAX ||
	    options->flags & ~TB_ARBITER_NO_SHARED)
		return -EINVAL;
	return 0;
}

static size_t own_bytes(const struct tb_arbiter *arbiter)
{
	return (size_t)arbiter->chunk_bytes * arbiter->nr_chunks;
}

/* Create private memory, if there is none; @control is held, or the arbiter is not shared yet */
static int create_own_pool(struct tb_arbiter *arbiter)
{
	void *chunks;

	if (arbiter->pools[POOL_OWN].chunks)
		return 0;
	chunks = tb_map(own_bytes(arbiter));
	if (chunks && !tb_pool_make(arbiter, POOL_OWN, chunks, arbiter->nr_chunks))
		return 0;
	tb_unmap(chunks, own_bytes(arbiter));
	return -ENOMEM;
}

static void free_pool(struct tb_arbiter *arbiter, unsigned int pool)
{
	tb_unmap(arbiter->pools[pool].notes,
		 arbiter->pools[pool].count * sizeof(struct tb_chunk_note));
}

/* The lowest used id from @id on; WRITERS: none */
static uint32_t used_id(const struct tb_arbiter *arbiter, uint32_t id)
{
	uint32_t bits;

	for (; id < WRITERS; id = (id | 31) + 1) {
		bits = shared_get(&arbiter->ids[id / 32]) >> id % 32;
		if (bits)
			return id + (uint32_t)__builtin_ctz(bits);
	}
	return WRITERS;
}

static void free_arbiter(struct tb_arbiter *arbiter)
{
	uint32_t id;

	for (id = used_id(arbiter, 1); id < WRITERS; id = used_id(arbiter, id + 1))
		tb_unmap(arbiter->writers[id], sizeof(struct writer));
	free_pool(arbiter, POOL_SHARED);
	free_pool(arbiter, POOL_OWN);
	tb_unmap(arbiter->pools[POOL_OWN].chunks, own_bytes(arbiter));
	tb_unmap(arbiter->writers, WRITERS * sizeof(*arbiter->writers));
	tb_unmap(arbiter->batch, 2 * arbiter->nr_chunks * sizeof(*arbiter->batch));
	tb_unmap(arbiter->stage, arbiter->chunk_bytes);
	tb_unmap(arbiter, sizeof(*arbiter));
}

static int arbiter_new(const struct tb_arbiter_options *given, struct tb_arbiter **out)
{
	struct tb_arbiter_options options = { 0 };
	struct tb_arbiter *arbiter;
	int result;

	*out = NULL;
	if (given)
		options = *given;
	if (!options.chunk_bytes)
		options.chunk_bytes = 4096;
	if (!options.chunks)
		options.chunks = 64;
	result = check_options(&options);
	if (result)
		return result;
	arbiter = tb_map(sizeof(*arbiter));
	if (!arbiter)
		return -ENOMEM;
	arbiter->chunk_bytes = options.chunk_bytes;
	arbiter->nr_chunks = options.chunks;
	arbiter->period_ms = options.period_ms;
	arbiter->no_shared = !!(options.flags & TB_ARBITER_NO_SHARED);
	arbiter->clock = local_clock();
	arbiter->revision = 1;
	arbiter->ids[0] = 1;		/* TB_WRITER_NONE */
	arbiter->next_id = 1;
	tb_patches_make(arbiter);
	arbiter->writers = tb_map(WRITERS * sizeof(*arbiter->writers));
	arbiter->batch = tb_map(2 * arbiter->nr_chunks * sizeof(*arbiter->batch));
	arbiter->stage = tb_map(arbiter->chunk_bytes);
	if (!arbiter->writers || !arbiter->batch || !arbiter->stage) {
		free_arbiter(arbiter);
		return -ENOMEM;
	}
	*out = arbiter;
	return 0;
}

/* A signal handler may enlist another one at any instruction, also while its thread has the lock */
static void enlist(struct tb_arbiter *arbiter)
{
	bool entered = tb_futex_lock_acquire(&arbiters_lock);

	/* relaxed: the lock, which this thread has in any case, publishes the list */
	arbiter->next = arbiters;
	while (!__atomic_compare_exchange_n(&arbiters, &arbiter->next, arbiter, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (entered)
		tb_futex_lock_release(&arbiters_lock);
	tb_categories_open();
}

/* Remove an arbiter from the list; the caller has its lock.  A handler may put others before it */
static void delist(struct tb_arbiter *arbiter)
{
	struct tb_arbiter *before = arbiter;

	if (__atomic_compare_exchange_n(&arbiters, &before, arbiter->next, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	while (before && before->next != arbiter)
		before = before->next;
	if (before)
		before->next = arbiter->next;
}

int tb_arbiter_create_unbound(const struct tb_arbiter_options *options,
			      struct tb_arbiter **out)
{
	int result = arbiter_new(options, out);

	if (result)
		return result;
	(*out)->ever_unbound = 1;
	result = create_own_pool(*out);
	if (result) {
		free_arbiter(*out);
		*out = NULL;
		return result;
	}
	enlist(*out);
	return 0;
}

static int resolve_target(struct tb_arbiter *arbiter, struct reservation *reservation)
{
	int target = tb_arbiter_target(arbiter, reservation->provider);

	if (target < 0)
		return target;
	reservation->target = (uint32_t)target;
	/* release: a thread that sees the state sees the target; the revision, the state */
	shared_set_release(&reservation->state, RESERVATION_BOUND);
	__atomic_add_fetch(&arbiter->revision, 1, __ATOMIC_RELEASE);
	tb_categories_link(arbiter);
	return 0;
}

/* Give the arbiter its channel; closes it on failure.  No thread records by the channel yet. */
static int connect_to(struct tb_arbiter *arbiter, struct tb_endpoint *endpoint)
{
	struct tb_producer_setup setup = {
		.flags = arbiter->no_shared ? TB_SETUP_NO_SHARED : 0,
		.chunk_bytes = arbiter->chunk_bytes,
		.chunks = arbiter->nr_chunks,
	};
	void *chunks = NULL;
	int result;

	result = endpoint->ops->setup(endpoint, &setup, &arbiter->page, &chunks);
	if (result >= 0 && arbiter->no_shared)
		result = create_own_pool(arbiter);
	else if (result >= 0 && tb_pool_make(arbiter, POOL_SHARED, chunks, arbiter->nr_chunks))
		result = -ENOMEM;
	if (result < 0) {
		endpoint->ops->close(endpoint);
		return result;
	}
	arbiter->endpoint = endpoint;
	arbiter->direct_patch = !!(setup.features & TB_PRODUCER_DIRECT_PATCH);
	arbiter->last_commit = endpoint->ops->now_us(endpoint);
	/* release: a thread that sees @bound sees all of the above */
	shared_set_release(&arbiter->bound, 1);
	return 0;
}

int tb_arbiter_create_on(const struct tb_arbiter_options *options,
			 struct tb_endpoint *endpoint, struct tb_arbiter **out)
{
	int result = arbiter_new(options, out);

	if (result) {
		endpoint->ops->close(endpoint);
		return result;
	}
	result = connect_to(*out, endpoint);
	if (result) {
		free_arbiter(*out);
		*out = NULL;
		return result;
	}
	enlist(*out);
	return 0;
}

int tb_arbiter_create(const struct tb_arbiter_options *options, struct tb_arbiter **arbiter)
{
	struct tb_endpoint *endpoint;
	int result = tb_producer_open(&endpoint);

	*arbiter = NULL;
	return result ? result : tb_arbiter_create_on(options, endpoint, arbiter);
}

int tb_arbiter_bind_to(struct tb_arbiter *arbiter, struct tb_endpoint *endpoint)
{
	struct flush_wait *wait, *next;
	int result = 0;
	size_t i;

	if (!tb_futex_lock_acquire(&arbiter->control)) {
		endpoint->ops->close(endpoint);
		return -EDEADLK;
	}
	if (arbiter->bound) {
		endpoint->ops->close(endpoint);
		tb_futex_lock_release(&arbiter->control);
		return -EALREADY;
	}
	result = connect_to(arbiter, endpoint);
	if (result) {
		tb_futex_lock_release(&arbiter->control);
		return result;
	}
	/* a provider that does not exist leaves its reservation open, to be bound later */
	for (i = 0; i < TB_TARGETS_MAX; i++)
		if (arbiter->reservations[i].state == RESERVATION_NAMED &&
		    resolve_target(arbiter, &arbiter->reservations[i]) < 0)
			shared_set_release(&arbiter->reservations[i].state, RESERVATION_OPEN);
	tb_categories_link(arbiter);
	wait = arbiter->waiting;
	arbiter->waiting = NULL;
	tb_futex_lock_release(&arbiter->control);
	result = tb_arbiter_flush(arbiter, NULL, NULL);
	for (; wait; wait = next) {
		next = wait->next;
		wait->done(wait->data);
		tb_unmap(wait, sizeof(*wait));
	}
	return result;
}

int tb_arbiter_bind(struct tb_arbiter *arbiter)
{
	struct tb_endpoint *endpoint;
	int result = tb_producer_open(&endpoint);

	return result ? result : tb_arbiter_bind_to(arbiter, endpoint);
}

int tb_arbiter_target(struct tb_arbiter *arbiter, const char *provider)
{
	struct tb_target_req request = { .target = 0 };
	int result;

	if (!shared_get_acquire(&arbiter->bound))
		return -ENOTCONN;
	if (strlen(provider) >= sizeof(request.provider))
		return -EINVAL;
	strcpy(request.provider, provider);
	result = arbiter->endpoint->ops->target(arbiter->endpoint, &request);
	if (result >= 0 && request.target >= TB_TARGETS_MAX)
		result = -EPROTO;
	return result < 0 ? result : (int)request.target;
}

bool tb_arbiter_closed(const struct tb_arbiter *arbiter, unsigned int target)
{
	return target < TB_TARGETS_MAX && shared_get_acquire(&arbiter->bound) &&
	       shared_get(&arbiter->page->closed) >> target & 1;
}

static int commit_locked(struct tb_arbiter *arbiter, uint32_t flush, bool scrape)
{
	int result;

	/* the parent process commits what it has recorded */
	if (arbiter->forked)
		return 0;
	if (!tb_futex_lock_acquire(&arbiter->commit))
		return -EDEADLK;
	result = tb_commit_all(arbiter, flush, scrape);
	tb_futex_lock_release(&arbiter->commit);
	return result;
}

int tb_arbiter_commit(struct tb_arbiter *arbiter)
{
	return commit_locked(arbiter, 0, false);
}

uint32_t tb_arbiter_flush_wanted(const struct tb_arbiter *arbiter)
{
	if (!shared_get_acquire(&arbiter->bound))
		return 0;
	/* acquire: the commit after this has all that was recorded before the request */
	return shared_get_acquire(&arbiter->page->flush);
}

/* Queue @done until the arbiter is bound.  -EAGAIN: it is bound already; -EDEADLK, -ENOMEM */
static int wait_for_bind(struct tb_arbiter *arbiter, void (*done)(void *data), void *data)
{
	struct flush_wait *wait;
	int result = 0;

	if (!tb_futex_lock_acquire(&arbiter->control))
		return -EDEADLK;
	if (arbiter->bound) {
		result = -EAGAIN;
	} else if (done) {
		wait = tb_map(sizeof(*wait));
		if (wait) {
			*wait = (struct flush_wait){ arbiter->waiting, done, data };
			arbiter->waiting = wait;
		} else {
			result = -ENOMEM;
		}
	}
	tb_futex_lock_release(&arbiter->control);
	return result;
}

int tb_arbiter_flush(struct tb_arbiter *arbiter, void (*done)(void *data), void *data)
{
	int result;

	if (!shared_get_acquire(&arbiter->bound)) {
		result = wait_for_bind(arbiter, done, data);
		if (result != -EAGAIN)
			return result;
	}
	result = commit_locked(arbiter, tb_arbiter_flush_wanted(arbiter), true);
	if (!result && done)
		done(data);
	return result;
}

int tb_arbiter_serve(struct tb_arbiter *arbiter, int timeout_ms)
{
	int result;

	if (!shared_get_acquire(&arbiter->bound))
		return -ENOTCONN;
	result = arbiter->endpoint->ops->wait(arbiter->endpoint, timeout_ms);
	if (result < 0 || !(result & TB_WAIT_FLUSH))
		return result < 0 ? result : 0;
	result = tb_arbiter_flush(arbiter, NULL, NULL);
	return result < 0 ? result : 1;
}

/* How long the thread takes to see @stopping at most */
#define SERVE_MS 100

static void *serve(void *argument)
{
	struct tb_arbiter *arbiter = argument;

	while (!shared_get(&arbiter->stopping))
		if (tb_arbiter_serve(arbiter, SERVE_MS) < 0)
			arbiter->endpoint->ops->nap(arbiter->endpoint, SERVE_MS * 1000);
	return NULL;
}

int tb_arbiter_start_thread(struct tb_arbiter *arbiter)
{
	sigset_t all, before;
	pthread_t thread;
	int result;

	if (!shared_get_acquire(&arbiter->bound))
		return -ENOTCONN;
	if (!tb_futex_lock_acquire(&arbiter->control))
		return -EDEADLK;
	result = EALREADY;
	if (!arbiter->serving) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		result = pthread_create(&thread, NULL, serve, arbiter);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (!result) {
		arbiter->thread = (unsigned long)thread;
		arbiter->serving = 1;
	}
	tb_futex_lock_release(&arbiter->control);
	return -result;
}

void tb_arbiter_read_stats(const struct tb_arbiter *arbiter, struct tb_arbiter_stats *stats)
{
	const uint64_t *from = (const uint64_t *)&arbiter->stats;
	uint64_t *to = (uint64_t *)stats;
	size_t i;

	for (i = 0; i < sizeof(*stats) / sizeof(*to); i++)
		to[i] = shared_get(&from[i]);
}

int tb_arbiter_try_shutdown(struct tb_arbiter *arbiter)
{
	/* writers are counted in the same word, so none can be created unseen */
	TB_STEP(&arbiter->life);
	return __atomic_fetch_or(&arbiter->life, LIFE_SHUTDOWN, __ATOMIC_ACQ_REL) & ~LIFE_SHUTDOWN ?
	       -EBUSY : 0;
}

void tb_arbiter_destroy(struct tb_arbiter *arbiter)
{
	struct flush_wait *wait;
	int state;

	if (!arbiter)
		return;
	if (arbiter->serving) {
		shared_set(&arbiter->stopping, 1);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		pthread_join((pthread_t)arbiter->thread, NULL);
		pthread_setcancelstate(state, NULL);
	}
	tb_futex_lock_acquire(&arbiters_lock);
	delist(arbiter);
	tb_futex_lock_release(&arbiters_lock);
	tb_arbiter_commit(arbiter);
	tb_categories_drop(arbiter);
	if (arbiter->endpoint)
		arbiter->endpoint->ops->close(arbiter->endpoint);
	while ((wait = arbiter->waiting)) {
		arbiter->waiting = wait->next;
		tb_unmap(wait, sizeof(*wait));
	}
	free_arbiter(arbiter);
}

/* ---- reservations ---- */

/* The reservation with @number, created if there is none; NULL: no room.  @control is held */
static struct reservation *reservation_of(struct tb_arbiter *arbiter, uint32_t number)
{
	size_t i;

	for (i = 0; i < TB_TARGETS_MAX; i++) {
		struct reservation *reservation = &arbiter->reservations[i];

		if (reservation->state == RESERVATION_UNUSED) {
			reservation->number = number;
			shared_set_release(&reservation->state, RESERVATION_OPEN);
		}
		if (reservation->number == number)
			return reservation;
	}
	return NULL;
}

/* Create private memory and a reservation for a startup writer; returns its index, or -errno */
int tb_arbiter_reserve(struct tb_arbiter *arbiter, uint32_t number)
{
	struct reservation *reservation;
	int result;

	if (!tb_futex_lock_acquire(&arbiter->control))
		return -EDEADLK;
	/* scrape_own() uses the memory as soon as it exists */
	tb_futex_lock_acquire(&arbiter->commit);
	result = create_own_pool(arbiter);
	tb_futex_lock_release(&arbiter->commit);
	reservation = result ? NULL : reservation_of(arbiter, number);
	if (reservation) {
		result = (int)(reservation - arbiter->reservations);
		tb_categories_link(arbiter);
	} else if (!result) {
		result = -ENOSPC;
	}
	tb_futex_lock_release(&arbiter->control);
	return result;
}

/* Get the reservation, if it is neither bound nor aborted; @control is held */
static int find_undecided(struct tb_arbiter *arbiter, uint32_t number,
			  struct reservation **reservation)
{
	*reservation = reservation_of(arbiter, number);
	if (!*reservation)
		return -ENOSPC;
	return (*reservation)->state == RESERVATION_BOUND ||
	       (*reservation)->state == RESERVATION_ABORTED ? -EALREADY : 0;
}

int tb_arbiter_bind_reservation(struct tb_arbiter *arbiter, uint32_t number,
				const char *provider)
{
	struct reservation *reservation;
	int result;

	if (strlen(provider) >= TB_PROVIDER_NAME_MAX)
		return -EINVAL;
	if (!tb_futex_lock_acquire(&arbiter->control))
		return -EDEADLK;
	result = find_undecided(arbiter, number, &reservation);
	if (!result) {
		strcpy(reservation->provider, provider);
		if (arbiter->bound)
			result = resolve_target(arbiter, reservation);
		else
			shared_set_release(&reservation->state, RESERVATION_NAMED);
	}
	tb_futex_lock_release(&arbiter->control);
	return result ? result : tb_arbiter_flush(arbiter, NULL, NULL);
}

int tb_arbiter_abort_reservation(struct tb_arbiter *arbiter, uint32_t number)
{
	struct reservation *reservation;
	int result;

	if (!tb_futex_lock_acquire(&arbiter->control))
		return -EDEADLK;
	result = find_undecided(arbiter, number, &reservation);
	if (!result) {
		shared_set_release(&reservation->state, RESERVATION_ABORTED);
		/* release: a thread that sees the revision sees the state */
		__atomic_add_fetch(&arbiter->revision, 1, __ATOMIC_RELEASE);
		tb_categories_link(arbiter);
	}
	tb_futex_lock_release(&arbiter->control);
	/* this frees the chunks of its writers */
	return result ? result : tb_arbiter_commit(arbiter);
}

/* ---- fork ---- */

/*
 * The child must not touch its parent's channels: the memory is shared with the parent.  The child
 * has no other thread, and signal handlers find the lock taken until this is done.
 */
static void drop_parent_channel(struct tb_arbiter *arbiter)
{
	uint32_t id;

	shared_set(&arbiter->bound, 0);
	arbiter->forked = 1;
	arbiter->serving = 0;
	arbiter->control.word = 0;
	arbiter->commit.word = 0;
	for (id = used_id(arbiter, 1); id < WRITERS; id = used_id(arbiter, id + 1)) {
		struct writer *w = arbiter->writers[id];

		if (!w)
			continue;
		shared_set(&w->forked, 1);
		shared_set(&w->pub.room, 0);
		w->pub.chunk = NULL;
		w->pub.changes = &arbiter->revision;
	}
	tb_categories_drop(arbiter);
	if (arbiter->endpoint)
		arbiter->endpoint->ops->close_inherited(arbiter->endpoint);
	arbiter->endpoint = NULL;
	arbiter->page = NULL;
}

void tb_arbiters_fork(int where)
{
	static __thread bool entered __attribute__((tls_model("initial-exec")));
	struct tb_arbiter *arbiter;

	if (where == FORK_PREPARE) {
		/* false in a signal handler that interrupted the holder: then the holder leaves */
		entered = tb_futex_lock_acquire(&arbiters_lock);
		return;
	}
	if (where == FORK_CHILD) {
		/* the word is the thread id of the parent's thread */
		arbiters_lock.word = 0;
		tb_futex_lock_acquire(&arbiters_lock);
		for (arbiter = arbiters; arbiter; arbiter = arbiter->next)
			drop_parent_channel(arbiter);
	}
	if (entered || where == FORK_CHILD)
		tb_futex_lock_release(&arbiters_lock);
}
