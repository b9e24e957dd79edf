// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sources of a followed trace, and how far its events can be shown.
 *
 * An event can be shown when no earlier one can arrive.  From a device: events recorded before a
 * flush are in blocks that can be acquired after it.  So this file flushes the rings once in the
 * time for which events may be held back; after it has acquired all blocks it shows everything up
 * to the latest time known before the flush.  A pipe cannot be flushed: events of a block wait as
 * long as they may, in case another ring is late.  An event that arrives later still is shown when
 * it arrives, and counted (tb_cursor_late()).
 *
 * Functions return 1 if there was something, 0 if there is nothing now.
 */
#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>
#include "follow.h"

#define BATCH	32
#define LOOK_MS	20		/* how often tb_cursor_wait() looks at a file that grows */

uint64_t tb_follow_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

static void end_trace(struct tb_follow *follow)
{
	follow->ended = follow->over = true;
}

/*
 * True if no ring has complete blocks.  The kernel may keep one back until it has written the
 * durable records that the block needs.
 */
static bool rings_are_drained(const struct tb_follow *follow)
{
	const struct tb_recording *recording = follow->trace->recordings;
	struct tb_stats stats;
	uint32_t cpu;

	for (cpu = 0; recording->has_init && cpu < recording->init.nr_cpus; cpu++)
		if (!tb_device_stats(follow->device, cpu, &stats) && stats.ready)
			return false;
	return true;
}

/* Return the time between two flushes, ns.  At the limit of memory it is shorter; but it is not 0
 * while pieces of programs wait for a missing one, because each flush interrupts CPUs */
static uint64_t until_flush(const struct tb_follow *follow)
{
	if (follow->held >= follow->room)
		return 0;
	return tb_follow_is_full(follow) ? follow->hold / TB_FOLLOW_STEPS : follow->hold;
}

static int from_device(struct tb_follow *follow)
{
	struct tb_ref refs[BATCH];
	int count, i, result = 0;

	count = tb_device_acquire(follow->device, refs, BATCH, 0);
	if (count == -ENODATA) {
		end_trace(follow);
		return 1;
	}
	if (count < 0)
		return count;
	for (i = 0; i < count; i++) {
		const struct tb_block *block = tb_device_block(follow->device,
							       &refs[i]);

		if (!result && tb_block_check(block, refs[i].bytes, NULL) < 0)
			result = -EBADMSG;
		if (!result)
			result = tb_follow_take(follow, block);
	}
	if (count) {
		i = tb_device_release(follow->device, refs, (unsigned int)count);
		return result < 0 ? result : i < 0 ? i : 1;
	}
	if (follow->flushing) {
		if (!rings_are_drained(follow))
			return 0;
		/* all blocks from before the flush have been taken */
		follow->flushing = false;
		follow->shown = follow->asked;
		if (follow->finish)
			end_trace(follow);
		return 1;
	}
	if (!follow->finish && tb_follow_now() - follow->flushed < until_flush(follow))
		return 0;
	follow->asked = follow->newest;
	follow->flushed = tb_follow_now();
	follow->flushing = true;
	result = tb_device_flush(follow->device, -1);
	/* a program did not answer; all else was flushed */
	return result < 0 && result != -ETIMEDOUT ? result : 1;
}

/* Take the whole blocks of the buffer; a fault ends the trace */
static int from_buffer(struct tb_follow *follow)
{
	struct tb_error fault;
	unsigned char *at;
	int result = 0, some = 0;
	size_t rest;
	int64_t size;

	while ((rest = follow->used - follow->start) && !follow->following &&
	       !result) {
		at = follow->buffer + follow->start;
		size = tb_block_check(at, rest, &fault);
		if (size == -ENODATA && !follow->over)
			break;
		if (size < 0) {
			fault.offset += follow->offset;
			tb_trace_set_fault(follow->trace, &fault);
			follow->start = follow->used;
			follow->broken = true;
			end_trace(follow);
			return 1;
		}
		result = tb_follow_take(follow, (const void *)at);
		follow->start += (size_t)size;
		some = 1;
	}
	return result < 0 ? result : some;
}

static void show_what_waited(struct tb_follow *follow)
{
	unsigned int gone = 0;
	uint64_t time = tb_follow_now();

	while (gone < follow->nr_arrivals &&
	       time - follow->arrivals[gone].last >= follow->hold)
		follow->shown = follow->arrivals[gone++].newest;
	follow->nr_arrivals -= gone;
	memmove(follow->arrivals, follow->arrivals + gone,
		follow->nr_arrivals * sizeof(follow->arrivals[0]));
}

static int from_fd(struct tb_follow *follow)
{
	struct pollfd wait = { .fd = follow->fd, .events = POLLIN };
	uint64_t shown = follow->shown;
	ssize_t got;
	int result;

	show_what_waited(follow);
	if (tb_follow_is_full(follow)) {
		/* in a damaged block an event may be later than the block says */
		if (!follow->nr_arrivals && follow->cursor->nr_heap &&
		    follow->cursor->heap[0]->ticks > follow->shown)
			follow->shown = follow->cursor->heap[0]->ticks;
		return shown != follow->shown;
	}
	/* the blocks after those of the recording before this one */
	result = from_buffer(follow);
	if (result)
		return result;
	if (!follow->regular && poll(&wait, 1, 0) <= 0 && !follow->finish)
		return shown != follow->shown;
	if (follow->start) {
		memmove(follow->buffer, follow->buffer + follow->start,
			follow->used - follow->start);
		follow->used -= follow->start;
		follow->start = 0;
	}
	got = follow->finish && !follow->regular && !wait.revents ? 0 :
	      read(follow->fd, follow->buffer + follow->used, TB_FOLLOW_READ - follow->used);
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ?
		       shown != follow->shown : -errno;
	follow->used += (size_t)got;
	if (!got) {
		if (follow->regular && follow->flags & TB_FOLLOW_GROWS &&
		    !follow->finish)
			return shown != follow->shown;
		follow->over = true;
	}
	result = from_buffer(follow);
	if (!got && !follow->following)
		end_trace(follow);
	return result < 0 ? result : 1;
}

int tb_follow_take_in(struct tb_follow *follow)
{
	return follow->again ? tb_follow_take_again(follow) :
	       follow->device ? from_device(follow) : from_fd(follow);
}

int tb_cursor_wait(struct tb_cursor *cursor, int timeout_ms)
{
	struct tb_follow *follow = cursor->trace->follow;
	struct pollfd wait = { .events = POLLIN };
	uint64_t time, due = UINT64_MAX, ms;
	int result;

	if (!follow || follow->ended)
		return 1;
	time = tb_follow_now();
	if (follow->device)
		due = follow->flushed + follow->hold;
	else if (follow->nr_arrivals)
		due = follow->arrivals[0].last + follow->hold;
	ms = due == UINT64_MAX ? UINT64_MAX :
	     due > time ? (due - time) / 1000000 + 1 : 0;
	wait.fd = follow->device ? tb_device_fd(follow->device) : follow->fd;
	/* a file is always readable, and at the limit of memory nothing is read */
	if (follow->regular || tb_follow_is_full(follow)) {
		wait.fd = -1;
		ms = ms > LOOK_MS ? LOOK_MS : ms;
	}
	if (follow->flushing && ms > LOOK_MS)
		ms = LOOK_MS;
	if (timeout_ms >= 0 && (uint64_t)timeout_ms < ms) {
		result = poll(&wait, 1, timeout_ms);
		return result < 0 ? -errno : result > 0;
	}
	result = poll(&wait, 1, ms > INT32_MAX ? -1 : (int)ms);
	return result < 0 ? -errno : 1;
}
