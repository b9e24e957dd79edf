// SPDX-License-Identifier: GPL-2.0-only
/*
 * See fault.h.
 *
 * A number written to fail-nth makes the kernel fail that allocation of the task. Afterwards the
 * file reads 0 if an allocation failed. The count does not depend on time or other tasks, so a
 * sweep meets the same allocations each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "fault.h"

#define SLAB	"/sys/kernel/debug/failslab/"
#define PAGES	"/sys/kernel/debug/fail_page_alloc/"

/* A sweep with this many attempts meets ever new allocations. */
#define FAULT_MOST	20000

/* So many faults are allowed; fewer are left afterwards if any happened. */
#define FAULT_TIMES	1000000

static int nth_fd, task_fd;

static void put_number(const char *path, unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (!write_file(path, text)) {
		perror(path);
		abort();
	}
}

static unsigned int get_number(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0) {
		perror("# fault injection");
		abort();
	}
	return strtoul(text, NULL, 10);
}

static void put_fd(int fd, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fd, text, len, 0) != len) {
		perror("# fault injection");
		abort();
	}
}

static unsigned int times_left(void)
{
	int fd = open(PAGES "times", O_RDONLY | O_CLOEXEC);
	char text[16] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0) {
		perror(PAGES "times");
		abort();
	}
	close(fd);
	return strtoul(text, NULL, 10);
}

bool fault_init(const char **why)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	task_fd = open("/proc/thread-self/make-it-fail", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0 || task_fd < 0) {
		*why = "the kernel has no fault injection";
		return false;
	}
	/* Allocations that may sleep fail, too; the kernel logs nothing about it. */
	if (!write_file(SLAB "ignore-gfp-wait", "N") || !write_file(SLAB "verbose", "0") ||
	    !write_file(PAGES "ignore-gfp-wait", "N") || !write_file(PAGES "verbose", "0") ||
	    !write_file(PAGES "ignore-gfp-highmem", "N") || !write_file(PAGES "min-order", "0") ||
	    !write_file(PAGES "task-filter", "Y") || !write_file(PAGES "interval", "1") ||
	    !write_file(PAGES "probability", "100") || !write_file(SLAB "probability", "0")) {
		*why = "failslab or fail_page_alloc is not in debugfs";
		return false;
	}
	/* the test's own page faults must not fail */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	return true;
}

static void arm(enum fault_mode mode, unsigned int n)
{
	if (mode == FAULT_NTH) {
		put_fd(nth_fd, n);
		return;
	}
	put_number(PAGES "times", FAULT_TIMES);
	/* the pages that may be allocated before requests fail */
	put_number(PAGES "space", n);
	put_fd(task_fd, 1);
}

/* Did an allocation fail? */
static bool disarm(enum fault_mode mode)
{
	unsigned int left;

	if (mode == FAULT_PAGES) {
		put_fd(task_fd, 0);
		return times_left() != FAULT_TIMES;
	}
	left = get_number(nth_fd);
	put_fd(nth_fd, 0);
	return !left;
}

static bool must_succeed(const struct fault_step *step, void *ctx, const char *when)
{
	int ret = step->op(ctx);

	if (ret < 0) {
		printf("# %s %s: %s\n", step->name, when, strerror(-ret));
		return false;
	}
	if (step->undo)
		step->undo(ctx);
	return true;
}

/* Did the attempt fail as it should: by injection, with the right error, and without a change? */
static bool failed_well(const struct fault_step *step, unsigned int n, int ret, bool injected,
			void *ctx)
{
	if (!injected)
		printf("# %s: attempt %u failed of itself: %s\n", step->name, n, strerror(-ret));
	else if (ret != -ENOMEM && ret != -step->other)
		printf("# %s: allocation %u failed, but the error is: %s\n", step->name, n,
		       strerror(-ret));
	else if (step->same && !step->same(ctx))
		printf("# %s: allocation %u failed, but the state has changed\n", step->name, n);
	else
		return step->slow || must_succeed(step, ctx, "after a failure");
	return false;
}

bool fault_sweep(const struct fault_step *step, enum fault_mode mode, void *ctx)
{
	unsigned int n, failures = 0;
	bool injected = true;
	int ret;

	/* Do first what the kernel does only the first time. */
	if (!must_succeed(step, ctx, "without failures"))
		return false;
	for (n = mode == FAULT_NTH; injected && n < FAULT_MOST; n++) {
		if (n && !(n % 500))
			printf("# %s: at %u\n", step->name, n);
		arm(mode, n);
		ret = step->op(ctx);
		injected = disarm(mode);
		if (ret < 0) {
			failures++;
			if (!failed_well(step, n, ret, injected, ctx))
				return false;
			injected = true;
		} else if (step->undo) {
			step->undo(ctx);
		}
	}
	printf("# %s: of %u attempts %u failed\n", step->name, n, failures);
	if (n == FAULT_MOST || failures < (unsigned int)step->least) {
		printf("# at least %d were to fail, of less than %u\n", step->least, FAULT_MOST);
		return false;
	}
	return true;
}
