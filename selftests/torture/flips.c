// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flips one bit of the recorder's memory in each of many recordings, while the torture module
 * records and this program reads. The kernel must survive. A recording must be as without the flip,
 * or the recorder or `tracebuf verify` must report the damage. The next recording must be exact.
 *
 *   flips [-s SEED] [-n FLIPS] [-w WHAT] [-v]
 *
 * -s  seed of all random choices (default 1)
 * -n  number of flips in each kind of memory (default 100)
 * -w  only this kind
 * -v  print each flip
 *
 * Output: KTAP, a test for each kind of memory, and "# WHAT: NUMBER OUTCOME, ...". Outcomes:
 *
 *	harmless	each event is there, or counted as lost before the right block
 *	contents	contents of events are wrong, which nothing can detect; or losses are
 *			counted at the wrong block, or too many are counted
 *	reported	`tracebuf verify` or the recorder reports an error
 *	silent		events are missing or wrong, and nothing reports it
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../vm/lib/device.h"
#include "accounting.h"
#include "torture.h"

#define FILE_NAME	"/tmp/flips.tbuf"
#define STUCK_SECONDS	120
#define ROOM		(16u << 20)

static const char *const whats[TT_DAMAGED] = {
	[TT_BLOCK] = "block", [TT_EVENTS] = "events", [TT_RING_HEADER] = "ring-header",
	[TT_DURABLE] = "durable", [TT_HEAD] = "head", [TT_BUF] = "buffer", [TT_RING] = "ring",
};

enum outcome { HARMLESS, CONTENTS, REPORTED, SILENT, OUTCOMES };

static const char *const outcomes[OUTCOMES] = { "harmless", "contents", "reported", "silent" };

static const struct {
	uint32_t mode, policy, buffers;
} ways[] = {
	{ TB_MODE_STREAMING, TB_POLICY_OVERWRITE, 4 },
	{ TB_MODE_STREAMING, TB_POLICY_DROP, 4 },
	{ TB_MODE_STREAMING, TB_POLICY_OVERWRITE, 16 },
	{ TB_MODE_CIRCULAR, TB_POLICY_OVERWRITE, 8 },
};

static struct flips {
	uint64_t seed;
	uint32_t count;
	uint32_t cpus;
	bool verbose;
	int control;			/* /dev/tracebuf */
	int fd;				/* /dev/tb_torture */
	uint8_t *data;			/* the recording as it was read */
	size_t bytes;
	struct stream stream;
	struct accounting accounting;
	bool legal;			/* each block is right, and follows the one before */
	char error[256];		/* an error that ends the test */
} f = { .seed = 1, .count = 100 };

static bool fail(const char *what, long number)
{
	if (!f.error[0])
		snprintf(f.error, sizeof(f.error), "%s: %ld", what, number);
	return false;
}

static uint64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static uint64_t next(void)
{
	f.seed = tt_mix(f.seed + 0x9e3779b97f4a7c15ull);
	return f.seed;
}

/* ---- a recording ------------------------------------------------------ */

/* Reads all available data. Returns false at the end of the recording. */
static bool read_some(void)
{
	ssize_t n;

	while (f.bytes < ROOM) {
		n = read(f.control, f.data + f.bytes, ROOM - f.bytes);
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0)
			fail("read", errno);
		if (n <= 0)
			return false;
		f.bytes += n;
	}
	return fail("more was read than there can be", f.bytes);
}

/* Waits until the sources have attempted @events more; reads meanwhile if @reads. */
static bool go_on(uint64_t events, bool reads)
{
	uint64_t since = seconds(), end = 0, now;
	uint32_t cpu;

	for (;;) {
		for (now = 0, cpu = 0; cpu < f.cpus; cpu++)
			now += counts_of(f.fd, cpu).attempted;
		if (!end)
			end = now + events;
		if (now >= end)
			return true;
		if (seconds() > since + STUCK_SECONDS)
			return fail("nothing moves any more", now);
		if (reads)
			read_some();
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

/* Makes a recording, and does @flip in the middle unless it is NULL. */
static bool record(uint32_t way, struct tt_flip *flip)
{
	struct tt_run run = { .seed = next(), .gap_ns = 300000 };
	bool reads = ways[way].mode == TB_MODE_STREAMING;
	uint64_t since;
	struct tb_query q;
	int err;

	f.bytes = 0;
	err = tb_fresh(f.control);
	if (!err)
		err = tb_configure(f.control, ways[way].mode, ways[way].policy, ways[way].buffers,
				   64);
	if (err)
		return fail("configure", err);
	err = tb_query(f.control, &q);
	if (!err)
		err = tb_start(f.control, TB_START_NO_STATE);
	if (err)
		return fail("start", err);
	run.max_event = q.max_event;
	if (ioctl(f.fd, TT_IOC_START, &run))
		return fail("sources", errno);
	go_on(next() % 400, reads);
	if (flip && ioctl(f.fd, TT_IOC_FLIP, flip))
		fail("flip", errno);
	go_on(300, reads);
	if (ioctl(f.fd, TT_IOC_STOP))
		fail("sources", errno);
	err = tb_stop(f.control);
	/* a damaged recording may have stopped by itself */
	if (err && (tb_query(f.control, &q) || q.reason != TB_REASON_DAMAGED))
		return fail("stop", err);
	for (since = seconds(); read_some();) {
		struct pollfd p = { .fd = f.control, .events = POLLIN };

		if (seconds() > since + STUCK_SECONDS)
			return fail("reading does not come to an end", f.bytes);
		poll(&p, 1, 10);
	}
	return !f.error[0];
}

/* ---- outcomes --------------------------------------------------------- */

/* Is each event there as it was recorded, or counted as lost?  If not, see why(). */
static bool exact(void)
{
	uint32_t cpu;

	stream_free(&f.stream);
	stream_init(&f.stream);
	f.stream.kept = -1;
	memset(&f.accounting, 0, sizeof(f.accounting));
	accounting_begin(&f.accounting);
	f.stream.event = accounting_event;
	f.stream.block = accounting_block;
	f.stream.ctx = &f.accounting;
	f.legal = stream_blocks(&f.stream, f.data, f.bytes);
	if (!f.legal || !stream_finish(&f.stream) || f.accounting.error[0] ||
	    !accounting_cover(&f.accounting))
		return false;
	for (cpu = 0; cpu < f.cpus; cpu++)
		if (!accounting_close(&f.accounting, &f.stream, f.fd, f.control, cpu))
			return false;
	return true;
}

static const char *why(void)
{
	return f.stream.error[0] ? f.stream.error : f.accounting.error;
}

/* Does `tracebuf verify` report an error? */
static bool verify_tells(void)
{
	int fd = open(FILE_NAME, O_CREAT | O_TRUNC | O_WRONLY, 0600), status;
	size_t at = 0;
	ssize_t n;

	while (fd >= 0 && at < f.bytes && (n = write(fd, f.data + at, f.bytes - at)) > 0)
		at += n;
	if (fd < 0 || at < f.bytes || close(fd))
		return fail("cannot write " FILE_NAME, errno);
	status = system("tracebuf verify " FILE_NAME " >/tmp/flips.said 2>&1");
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return fail("tracebuf verify", status);
	return WEXITSTATUS(status) == 1;
}

/* Was the flip in recorded data?  Or do the totals count all missing events? */
static bool contents(uint32_t what)
{
	uint32_t cpu;

	if (what == TT_EVENTS || what == TT_DURABLE || what == TT_BLOCK)
		return true;
	if (!f.legal)
		return false;
	for (cpu = 0; cpu < f.cpus; cpu++) {
		const struct stream_ring *r = &f.stream.ring[cpu];
		const struct tb_totals *t = &r->totals;

		if (t->attempted < counts_of(f.fd, cpu).attempted ||
		    t->attempted != r->events + t->overwritten + t->dropped)
			return false;
	}
	return true;
}

static enum outcome judge(const struct tt_flip *flip)
{
	struct tb_query q;

	if (exact())
		return HARMLESS;
	if (!tb_query(f.control, &q) && q.reason > TB_REASON_REQUEST)
		return REPORTED;
	if (verify_tells())
		return REPORTED;
	return contents(flip->what) ? CONTENTS : SILENT;
}

static bool damage(uint32_t what)
{
	uint32_t sums[OUTCOMES] = { 0 }, i;

	for (i = 0; i < f.count && !f.error[0]; i++) {
		struct tt_flip flip = { .what = what, .cpu = next() % f.cpus };
		uint32_t way = next() % (sizeof(ways) / sizeof(ways[0]));
		enum outcome outcome;

		flip.random = next();
		if (!record(way, &flip)) {
			printf("# %s: way %u, cpu %u, block %u, byte %u, bit %u: %s\n", whats[what],
			       way, flip.cpu, flip.block, flip.byte, flip.bit, f.error);
			break;
		}
		outcome = judge(&flip);
		sums[outcome]++;
		if (f.verbose || outcome == SILENT)
			printf("# %s: way %u, cpu %u, block %u, byte %u, bit %u: %s: %s\n",
			       whats[what], way, flip.cpu, flip.block, flip.byte, flip.bit,
			       outcomes[outcome], outcome == HARMLESS ? "exact" : why());
		/* the damage must not outlive the recording */
		if (outcome != HARMLESS && record(way, NULL) && !exact())
			fail("the next recording is not exact", i);
		if (f.error[0])
			printf("# %s: way %u, cpu %u, block %u, byte %u, bit %u: %s: then: %s\n",
			       whats[what], way, flip.cpu, flip.block, flip.byte, flip.bit,
			       outcomes[outcome], why());
	}
	printf("# %s: %u harmless, %u contents, %u reported, %u silent\n", whats[what],
	       sums[HARMLESS], sums[CONTENTS], sums[REPORTED], sums[SILENT]);
	return !f.error[0] && !sums[SILENT];
}

int main(int argc, char **argv)
{
	uint32_t what, number = 0;
	const char *only = NULL;
	bool ok = true;
	int opt;

	while ((opt = getopt(argc, argv, "s:n:w:v")) != -1) {
		switch (opt) {
		case 's':
			f.seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			f.count = strtoul(optarg, NULL, 0);
			break;
		case 'w':
			only = optarg;
			break;
		case 'v':
			f.verbose = true;
			break;
		default:
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	f.cpus = sysconf(_SC_NPROCESSORS_CONF);
	f.control = tb_open(O_NONBLOCK);
	f.fd = open("/dev/tb_torture", O_RDWR | O_CLOEXEC);
	f.data = malloc(ROOM);
	if (f.control < 0 || f.fd < 0 || !f.data)
		fail("open", errno);
	printf("KTAP version 1\n1..%d\n", only ? 1 : TT_DAMAGED);
	for (what = 0; what < TT_DAMAGED; what++) {
		bool passed;

		if (only && strcmp(only, whats[what]))
			continue;
		passed = !f.error[0] && damage(what);
		if (f.error[0])
			printf("# %s\n", f.error);
		ok &= passed;
		printf("%sok %u a bit of: %s\n", passed ? "" : "not ", ++number, whats[what]);
	}
	return !ok;
}
