/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixture and helpers of tests that give rules to the ioctls: illegal ones (test_rule_ioctl.c)
 * and random ones (test_rule_random.c).
 */
#ifndef RULE_IOCTL_H
#define RULE_IOCTL_H

#include "tbtest.h"

#include <linux/perf_event.h>

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

FIXTURE(rule_ioctl) {
	int fd;
	struct stream s;
	struct stream other;
};

static inline int set_rule(int fd, struct tb_rule *r)
{
	return ioctl(fd, TB_IOC_RULE, r) ? -errno : 0;
}

static inline int no_rules(int fd)
{
	struct tb_rule r = { .index = TB_RULE_ALL };

	return set_rule(fd, &r);
}

static inline int set_pids(int fd, const void *pids, uint32_t count, uint32_t flags, uint32_t *bad)
{
	struct tb_pids p = { .pids = (uintptr_t)pids, .count = count, .flags = flags };
	int ret = ioctl(fd, TB_IOC_PIDS, &p) ? -errno : 0;

	if (bad)
		*bad = p.bad;
	return ret;
}

static inline uint64_t suppressed(int fd, uint32_t index)
{
	struct tb_suppressed_info i = { .index = index };
	const struct tb_suppressed *s = &i.suppressed;

	if (ioctl(fd, TB_IOC_SUPPRESSED, &i))
		return ~0ull;
	return s->filtered + s->sampled + s->limited + s->vetoed + s->nested;
}

FIXTURE_SETUP(rule_ioctl)
{
	self->fd = tb_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tb_fresh(self->fd));
	ASSERT_EQ(0, pin(0));
	stream_init(&self->s);
	stream_init(&self->other);
}

FIXTURE_TEARDOWN(rule_ioctl)
{
	tb_stop(self->fd);
	no_rules(self->fd);
	set_pids(self->fd, NULL, 0, 0, NULL);
	tb_select(self->fd, TB_SELECT_DISABLE, "all", 0);
	tb_destroy_all(self->fd);
	close(self->fd);
	stream_free(&self->s);
	stream_free(&self->other);
}

/* ---- events ----------------------------------------------------------- */

struct event {
	struct tb_event_info info;
	union {
		struct tb_event_desc d;
		char room[16384];
	};
};

static inline int describe(int fd, uint32_t index, struct event *e)
{
	memset(&e->info, 0, sizeof(e->info));
	e->info.index = index;
	e->info.desc = (uintptr_t)e->room;
	e->info.desc_size = sizeof(e->room);
	return ioctl(fd, TB_IOC_EVENT, &e->info) ? -errno : 0;
}

static inline int find_event(int fd, const char *name, struct event *e)
{
	uint32_t index;
	int ret;

	for (index = 0; !(ret = describe(fd, index, e)); index++)
		if (!strcmp(e->info.name, name))
			break;
	return ret;
}

static inline const struct tb_field *fields(const struct event *e)
{
	return (const void *)(&e->d + 1);
}

/* ---- programs --------------------------------------------------------- */

struct program {
	struct tb_rule rule;
	struct tb_test tests[TB_TESTS_MAX + 1];
	uint8_t data[TB_TEST_DATA_MAX + 1];
};

static inline void point(struct program *p)
{
	p->rule.tests = (uintptr_t)p->tests;
	p->rule.data = (uintptr_t)p->data;
}

static inline struct tb_test test_of(uint8_t op, const struct tb_field *f)
{
	return (struct tb_test){ .op = op, .offset = f->offset, .size = f->size,
				 .yes = TB_TEST_PASS, .no = TB_TEST_REJECT };
}

static inline struct tb_counter software(uint32_t n)
{
	struct tb_counter c = { .type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_CONTEXT_SWITCHES };

	snprintf(c.name, sizeof(c.name), "switches %u", n);
	return c;
}

#endif /* RULE_IOCTL_H */
