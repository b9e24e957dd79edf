/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/tracebuf for the tests: its ioctls as functions, waiting for a condition, and numbered
 * events.
 *
 * Functions that return int return -errno on failure.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/tracebuf.h>

#include "stream.h"

/* Seconds after which a test gives up waiting: guests are slow. */
#define PATIENCE	60

/* Repeats the body every millisecond until @cond holds or PATIENCE is over: for (WAIT(c)) ...; */
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
int tb_provider(int fd, uint32_t op, const char *name);	/* returns its id */
int tb_provider_at(int fd, uint32_t index, struct tb_provider_info *info);
int tb_open_as(const char *name, int flags);	/* creates it if needed, open to writers */
int tb_destroy_all(int fd);				/* all but "kernel" */
uint32_t tb_state(int fd);
int tb_configure(int fd, uint32_t mode, uint32_t policy, uint32_t buffers, uint32_t elements);
int tb_start(int fd, uint32_t flags);
int tb_stop(int fd);
int tb_flush(int fd, int cpu);
int tb_select(int fd, uint32_t op, const char *pattern, uint32_t form);
int tb_enable(int fd, const char *pattern);		/* in wide form */
int tb_stats(int fd, uint32_t cpu, struct tb_stats *st);
int tb_acquire(int fd, struct tb_ref *refs, uint32_t room, uint32_t flags);
int tb_release(int fd, const struct tb_ref *refs, uint32_t count);

/* Lifts all limits for programs: a new provider takes nothing from them. */
int tb_open_to_writers(int fd);

/*
 * Makes the provider as new: stopped, no events, no rules, default sizes, open to writers. -EBUSY
 * if a session holds blocks.
 */
int tb_fresh(int fd);

/* Returns the events of a poll() that does not wait. */
int tb_poll(int fd);

/* Reads a stopped recording to its end; false: s->error. */
bool tb_drain(int fd, struct stream *s);

/* The mapping, or MAP_FAILED. */
void *tb_map(int fd, size_t *bytes);

/* Acquires and releases all durable blocks; returns how many. */
int tb_skip_durable(int fd);

int pin(int cpu);
bool write_file(const char *path, const char *text);
bool set_online(int cpu, bool on);
long available_kib(void);		/* MemAvailable, or -1 */

/* Forks a process with @threads sleeping threads; returns its pid. The caller kills it. */
pid_t crowd(int threads);

/*
 * Events that no other program makes: signal:signal_generate of an ignored signal, numbered in the
 * field "errno". In wide form each takes FIRE_ELEMENTS.
 */
#define FIRE_EVENT	"signal:signal_generate"
#define FIRE_ELEMENTS	4
void fire(uint32_t first, uint32_t count);
bool is_fired(const struct stream *s, const struct stream_event *e, uint32_t *number);

/*
 * A system call that does not exist: no other program makes raw_syscalls events with this number.
 */
#define NR_NOWHERE	600

#endif /* DEVICE_H */
