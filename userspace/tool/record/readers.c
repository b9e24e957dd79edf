// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that read; see readers.h.
 *
 * They do one thing at a time that the main thread tells them: go on as blocks come, empty the
 * rings, drain them.  When they are through, or told to, or something is wrong, they write what
 * they have taken and wait.  All that is the recording's - files, the session, the end - is
 * changed by the main thread while they wait.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "lane.h"
#include "record.h"
#include "tool/command/command.h"
#include "tool/command/number.h"

enum task { TASK_HOLD, TASK_GO, TASK_EMPTY, TASK_DRAIN, TASK_LEAVE };

struct reader {
	struct readers *all;
	struct lane *lane;
	const struct cpu_bits *cpus;
	struct tb_device *device;
	pthread_t thread;
	int wake;			/* eventfd: look at the task */
	uint64_t left;			/* blocks, at most, when emptying */
	uint32_t flags;			/* of the next acquire then */
	bool busy;
	int result;
};

struct readers {
	struct record *record;
	struct lanes *lanes;
	pthread_mutex_t lock;
	pthread_cond_t told, idle;
	_Atomic enum task task;
	bool any;			/* whatever size the file has */
	unsigned int busy;
	int event;			/* eventfd: one has gone idle */
	unsigned int count, started;
	struct reader list[];
};

/* ---- in the thread --------------------------------------------------------- */

static void pin(const struct reader *reader)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
	unsigned int cpu;

	if (!set)
		return;
	CPU_ZERO_S(bytes, set);
	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (has_cpu(reader->cpus, cpu))
			CPU_SET_S(cpu, bytes, set);
	/* none of them is there now, or we may not: then it runs where it may */
	if (sched_setaffinity(0, bytes, set) < 0)
		note("a reader cannot run on its CPUs: %s", strerror(errno));
	CPU_FREE(set);
}

static int go_on(struct reader *reader)
{
	unsigned int passes;
	int moved;

	for (;;) {
		struct pollfd wait[3] = {
			{ .fd = reader->wake, .events = POLLIN },
			{ .fd = tb_device_fd(reader->device),
			  .events = lane_ready(reader->lane) ? POLLIN : 0 },
			{ .fd = lane_fd(reader->lane), .events = POLLIN },
		};

		if (poll(wait, 3, -1) < 0 && errno != EINTR)
			return -errno;
		if (reader->all->task != TASK_GO)
			return 0;
		if (wait[1].revents & (POLLHUP | POLLERR))
			return -ENODATA;	/* stopped by someone else, or full */
		for (passes = 0; passes < 64; passes++) {
			moved = lane_move(reader->lane, reader->device, 0, false);
			if (moved < 0)
				return moved;
			if (!moved || reader->all->task != TASK_GO)
				break;
		}
	}
}

static int empty(struct reader *reader)
{
	int moved;

	while (reader->left && reader->all->task == TASK_EMPTY) {
		moved = lane_move(reader->lane, reader->device, reader->flags, reader->all->any);
		if (moved < 0)
			return moved;
		if (!moved && !lane_ready(reader->lane)) {
			lane_wait(reader->lane);
			continue;
		}
		reader->flags = 0;
		reader->left = (uint64_t)moved < reader->left && moved ?
			       reader->left - (uint64_t)moved : 0;
	}
	return 0;
}

static int drain(struct reader *reader)
{
	struct pollfd wait = { .fd = tb_device_fd(reader->device), .events = POLLIN };
	unsigned int idle = 0;
	int moved;

	while (reader->all->task == TASK_DRAIN) {
		moved = lane_move(reader->lane, reader->device, 0, true);
		if (moved < 0)
			return moved == -ENODATA ? 0 : moved;
		if (!moved && !lane_ready(reader->lane)) {
			lane_wait(reader->lane);
			continue;
		}
		if (moved) {
			idle = 0;
			continue;
		}
		if (++idle > 50)	/* 5 s without a block: it never comes */
			return -ETIMEDOUT;
		poll(&wait, 1, 100);
	}
	return 0;
}

static int perform(struct reader *reader, enum task task)
{
	switch (task) {
	case TASK_GO:
		return go_on(reader);
	case TASK_EMPTY:
		return empty(reader);
	case TASK_DRAIN:
		return drain(reader);
	default:
		return 0;
	}
}

static void *reader_run(void *argument)
{
	struct reader *reader = argument;
	struct readers *all = reader->all;
	uint64_t one = 1;
	enum task task;
	int result;

	pin(reader);
	service_priority(&all->record->service);
	pthread_mutex_lock(&all->lock);
	while (all->task != TASK_LEAVE) {
		if (!reader->busy) {
			pthread_cond_wait(&all->told, &all->lock);
			continue;
		}
		task = all->task;
		pthread_mutex_unlock(&all->lock);
		result = perform(reader, task);
		lane_finish(reader->lane);
		pthread_mutex_lock(&all->lock);
		reader->result = result;
		reader->busy = false;
		all->busy--;
		pthread_cond_signal(&all->idle);
		if (write(all->event, &one, sizeof(one)) < 0)
			errno = 0;	/* it says so already */
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/* ---- telling them ------------------------------------------------------------ */

/* With the lock held: they are to look */
static void wake_all(struct readers *readers)
{
	uint64_t one = 1;
	unsigned int i;

	for (i = 0; i < readers->started; i++)
		if (write(readers->list[i].wake, &one, sizeof(one)) < 0)
			errno = 0;
	pthread_cond_broadcast(&readers->told);
}

static void quiet(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		errno = 0;	/* it was */
}

static void tell(struct readers *readers, enum task task)
{
	unsigned int i;

	pthread_mutex_lock(&readers->lock);
	readers->task = task;
	quiet(readers->event);
	for (i = 0; i < readers->count; i++) {
		quiet(readers->list[i].wake);
		readers->list[i].busy = true;
		readers->list[i].result = 0;
	}
	readers->busy = readers->count;
	pthread_cond_broadcast(&readers->told);
	pthread_mutex_unlock(&readers->lock);
}

/* What matters most of what they say; the end only if there is nothing else.  With the lock held */
static int worst(const struct readers *readers)
{
	unsigned int i;
	int worst = 0, result;

	for (i = 0; i < readers->count; i++) {
		result = readers->list[i].busy ? 0 : readers->list[i].result;
		if (result < 0 && (!worst || worst == -ENODATA ||
				   (worst == -EFBIG && result != -ENODATA)))
			worst = result;
	}
	return worst;
}

static int wait_for_all(struct readers *readers)
{
	int result;

	pthread_mutex_lock(&readers->lock);
	while (readers->busy) {
		/* what one cannot do, others need not begin */
		if (worst(readers) < 0 && readers->task != TASK_HOLD) {
			readers->task = TASK_HOLD;
			wake_all(readers);
		}
		pthread_cond_wait(&readers->idle, &readers->lock);
	}
	readers->task = TASK_HOLD;
	result = worst(readers);
	pthread_mutex_unlock(&readers->lock);
	return result;
}

void readers_go(struct readers *readers)
{
	tell(readers, TASK_GO);
}

int readers_fd(const struct readers *readers)
{
	return readers->event;
}

int readers_hold(struct readers *readers)
{
	pthread_mutex_lock(&readers->lock);
	readers->task = TASK_HOLD;
	wake_all(readers);
	pthread_mutex_unlock(&readers->lock);
	return wait_for_all(readers);
}

static unsigned int nr_cpus(const struct cpu_bits *cpus)
{
	unsigned int cpu, count = 0;

	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		count += has_cpu(cpus, cpu);
	return count;
}

int readers_empty(struct readers *readers, bool any, bool more)
{
	struct reader *reader;
	unsigned int i;

	readers->any = any;
	for (i = 0; i < readers->count && !more; i++) {
		reader = &readers->list[i];
		reader->left = (uint64_t)nr_cpus(reader->cpus) * readers->record->query.buffers;
		reader->flags = TB_ACQUIRE_FLUSH;
	}
	tell(readers, TASK_EMPTY);
	return wait_for_all(readers);
}

int readers_drain(struct readers *readers)
{
	tell(readers, TASK_DRAIN);
	return wait_for_all(readers);
}

/* ---- devices and lanes --------------------------------------------------------- */

static void close_devices(struct readers *readers)
{
	unsigned int i;

	for (i = 0; i < readers->count; i++) {
		tb_device_close(readers->list[i].device);
		readers->list[i].device = NULL;
	}
}

int readers_begin(struct readers *readers)
{
	struct record *record = readers->record;
	struct reader *reader;
	unsigned int i;
	int result;

	for (i = 0; i < readers->count; i++) {
		reader = &readers->list[i];
		reader->device = record_reader(record);
		if (!reader->device)
			return -EPROTO;
		result = tb_device_join(reader->device, record->reader, reader->cpus->bits,
					sizeof(reader->cpus->bits));
		if (result == -ENOTTY)
			complain("the module has one reader at a time: leave out --readers, or load a newer one");
		if (result < 0)
			return result;
	}
	return lanes_begin(readers->lanes) ? -EPROTO : 0;
}

void readers_settle(struct readers *readers)
{
	lanes_settle(readers->lanes);
	close_devices(readers);
}

/* ---- making them ------------------------------------------------------------------ */

static int start(struct readers *readers, struct reader *reader, const struct cpu_bits *cpus,
		 unsigned int index)
{
	int result;

	reader->all = readers;
	reader->lane = lanes_at(readers->lanes, index);
	reader->cpus = cpus;
	reader->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->wake < 0)
		return -errno;
	result = pthread_create(&reader->thread, NULL, reader_run, reader);
	if (result)
		close(reader->wake);
	return -result;
}

struct readers *readers_open(struct record *record)
{
	const struct reader_sets *sets = &record->reader_sets;
	struct readers *readers = calloc(1, sizeof(*readers) +
					    sets->count * sizeof(readers->list[0]));
	int result = 0;

	if (readers)
		readers->lanes = lanes_open(&record->sink, sets->count);
	if (!readers || !readers->lanes) {
		free(readers);
		complain("out of memory");
		return NULL;
	}
	record->sink.lanes = readers->lanes;
	readers->record = record;
	readers->count = sets->count;
	pthread_mutex_init(&readers->lock, NULL);
	pthread_cond_init(&readers->told, NULL);
	pthread_cond_init(&readers->idle, NULL);
	readers->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (readers->event < 0)
		result = -errno;
	while (!result && readers->started < readers->count) {
		result = start(readers, &readers->list[readers->started],
			       &sets->list[readers->started], readers->started);
		readers->started += !result;
	}
	if (!result)
		return readers;
	complain("cannot start a reader: %s", strerror(-result));
	readers_close(readers);
	record->sink.lanes = NULL;
	return NULL;
}

void readers_close(struct readers *readers)
{
	unsigned int i;

	if (!readers)
		return;
	pthread_mutex_lock(&readers->lock);
	readers->task = TASK_LEAVE;
	wake_all(readers);
	pthread_mutex_unlock(&readers->lock);
	for (i = 0; i < readers->started; i++) {
		pthread_join(readers->list[i].thread, NULL);
		close(readers->list[i].wake);
	}
	close_devices(readers);
	if (readers->event >= 0)
		close(readers->event);
	lanes_close(readers->lanes);
	pthread_mutex_destroy(&readers->lock);
	pthread_cond_destroy(&readers->told);
	pthread_cond_destroy(&readers->idle);
	free(readers);
}
