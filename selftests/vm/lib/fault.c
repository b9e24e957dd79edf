// SPDX-License-Identifier: GPL-2.0-only
/*
 * See fault.h.
 *
 * The kernel counts the allocations of one task down from what is written to
 * its fail-nth and fails that one; what is left can be read afterwards: 0 when
 * there was one to fail.  That knows nothing of time or of others' work, so a
 * sweep meets the same allocations each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"

#define SLAB	"/sys/kernel/debug/failslab/"
#define PAGES	"/sys/kernel/debug/fail_page_alloc/"

/* a sweep that does not end by then meets ever new allocations */
#define FAULT_MOST	20000

/* how many faults are to be had; less afterwards if there were any */
#define FAULT_TIMES	1000000

static int nth_fd, task_fd;

bool fault_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static void put_number(const char *path, unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (!fault_put(path, text)) {
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
	/* allocations that may sleep are ours; nothing in the log about it */
	if (!fault_put(SLAB "ignore-gfp-wait", "N") || !fault_put(SLAB "verbose", "0") ||
	    !fault_put(PAGES "ignore-gfp-wait", "N") || !fault_put(PAGES "verbose", "0") ||
	    !fault_put(PAGES "ignore-gfp-highmem", "N") || !fault_put(PAGES "min-order", "0") ||
	    !fault_put(PAGES "task-filter", "Y") || !fault_put(PAGES "interval", "1") ||
	    !fault_put(PAGES "probability", "100") || !fault_put(SLAB "probability", "0")) {
		*why = "failslab or fail_page_alloc is not in debugfs";
		return false;
	}
	/* our own page faults must not be what fails */
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
	/* the budget of pages; a request for more than is left of it fails */
	put_number(PAGES "space", n);
	put_fd(task_fd, 1);
}

/* Was there an allocation to fail? */
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

static bool without(const struct fault_step *step, void *ctx, const char *when)
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

/* One attempt has failed: as it should? */
static bool failed_well(const struct fault_step *step, unsigned int n, int ret, bool injected,
			void *ctx)
{
	if (!injected)
		printf("# %s: attempt %u failed of itself: %s\n", step->name, n, strerror(-ret));
	else if (ret != -ENOMEM && ret != -step->other)
		printf("# %s: allocation %u failed, and that was taken for: %s\n", step->name, n,
		       strerror(-ret));
	else if (step->same && !step->same(ctx))
		printf("# %s: allocation %u failed, and something has changed\n", step->name, n);
	else
		return step->slow || without(step, ctx, "after a failure");
	return false;
}

bool fault_sweep(const struct fault_step *step, enum fault_mode mode, void *ctx)
{
	unsigned int n, failures = 0;
	bool injected = true;
	int ret;

	/* what is done once, at the first time, is done */
	if (!without(step, ctx, "without failures"))
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
