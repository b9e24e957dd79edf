/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/tracebuf for the tests: its ioctls as functions, waiting for a
 * condition, and events made to measure.
 *
 * What returns int returns -errno on failure.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/tracebuf.h>

#include "stream.h"

/* Seconds after which a test gives up on what ought to happen at once: guests are slow. */
#define PATIENCE	60

/* Once round every millisecond, until PATIENCE is over: for (WAIT(c)) if (...) break; */
struct waiting {
	uint64_t until;
	bool over;
};
bool waiting(struct waiting *w);
#define WAIT(cond) \
	struct waiting w_ = { 0 }; !(cond) && waiting(&w_);
bool wait_asleep(pid_t tid);	/* until thread @tid of this process sleeps */

int tb_open(int flags);
int tb_query(int fd, struct tb_query *q);
int tb_attach(int fd, const char *name);
int tb_provider(int fd, uint32_t op, const char *name);	/* its id */
int tb_provider_at(int fd, uint32_t index, struct tb_provider_info *info);
int tb_open_as(const char *name, int flags);	/* made if it is not there; open to writers */
int tb_destroy_all(int fd);				/* but "kernel" */
uint32_t tb_state(int fd);
int tb_configure(int fd, uint32_t mode, uint32_t policy, uint32_t buffers, uint32_t elements);
int tb_start(int fd, uint32_t flags);
int tb_stop(int fd);
int tb_flush(int fd, int cpu);
int tb_select(int fd, uint32_t op, const char *pattern, uint32_t form);
int tb_enable(int fd, const char *pattern);		/* wide */
int tb_stats(int fd, uint32_t cpu, struct tb_stats *st);
int tb_acquire(int fd, struct tb_ref *refs, uint32_t room, uint32_t flags);
int tb_release(int fd, const struct tb_ref *refs, uint32_t count);

/* Programs may write whatever they like: a new provider takes nothing from them. */
int tb_open_to_writers(int fd);

/* Stopped, nothing enabled, no rules, default sizes, open to writers; -EBUSY if someone holds
 * blocks. */
int tb_fresh(int fd);

/* poll() at once */
int tb_poll(int fd);

/* All that can be read, to the end of a stopped recording; false: s->error. */
bool tb_drain(int fd, struct stream *s);

/* The mapping, or MAP_FAILED. */
void *tb_map(int fd, size_t *bytes);

/* Takes and releases all durable blocks; how many. */
int tb_skip_durable(int fd);

int pin(int cpu);
bool set_online(int cpu, bool on);

/* A process with @threads threads, all asleep; its pid.  To be killed. */
pid_t crowd(int threads);

/*
 * Events that nobody else makes: signal:signal_generate of an ignored
 * signal, numbered in the field "errno".  In wide form each takes
 * FIRE_ELEMENTS.
 */
#define FIRE_EVENT	"signal:signal_generate"
#define FIRE_ELEMENTS	4
void fire(uint32_t first, uint32_t count);
bool is_fired(const struct stream *s, const struct stream_event *e, uint32_t *number);

/* A system call that does not exist: for raw_syscalls events that nobody else makes. */
#define NR_NOWHERE	600

#endif /* DEVICE_H */
