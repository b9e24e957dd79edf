// SPDX-License-Identifier: GPL-2.0-only
/*
 * Torture: all sources of the torture module record on all CPUs at once, while the worst of readers
 * reads, buffers are flushed, CPUs come and go, and recordings end and begin. Then each delivered
 * event is checked, and the counts. If a case fails, some context can tear or lose events.
 *
 *   torture [-s SEED] [-n EVENTS] [-g NS] [-l] [NAME...]
 *
 * -s  seed of all random numbers (default 1)      -n  events to offer in a case (default 30000)
 * -g  mean ns between two interrupts of a kind (default 300000)
 * -l  list the cases                              NAME  only these cases
 *
 * Output: KTAP; "# path NAME NUMBER": how often each rare path of the ring was taken; "# case NAME
 * NUMBER...": the numbers of a case. Exits 1 if anything failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../../module/ring/paths.h"
#include "../vm/lib/device.h"
#include "accounting.h"
#include "reader.h"
#include "torture.h"

/* Seconds of the guest without progress that count as an error. */
#define STUCK_SECONDS	120
#define ROUNDS		5

static const char *const path_names[TB_PATHS] = {
	[TB_PATH_RETRY_RESERVE] = "retry-reserve",
	[TB_PATH_RETRY_CLOSE] = "retry-close",
	[TB_PATH_RETRY_OPEN] = "retry-open",
	[TB_PATH_HELP_LEAVE] = "help-leave",
	[TB_PATH_HELP_CLAIM] = "help-claim",
	[TB_PATH_CLAIM_RENEW] = "claim-renew",
	[TB_PATH_CLAIM_RACED] = "claim-raced",
	[TB_PATH_CLAIM_STALE] = "claim-stale",
	[TB_PATH_CLAIM_AGAIN] = "claim-again",
	[TB_PATH_CLAIM_PASS_HELD] = "claim-pass-held",
	[TB_PATH_CLAIM_PASS_WRITING] = "claim-pass-writing",
	[TB_PATH_CLAIM_NONE] = "claim-none",
	[TB_PATH_CLAIM_FULL] = "claim-full",
	[TB_PATH_OVERWRITE] = "overwrite",
	[TB_PATH_OVERWRITE_LATER] = "overwrite-later",
	[TB_PATH_COMPLETE_OUTER] = "complete-outer",
	[TB_PATH_COMPLETE_DROPS] = "complete-drops",
	[TB_PATH_OPEN_DROPS] = "open-drops",
	[TB_PATH_TIME] = "time",
	[TB_PATH_ACQUIRE_EARLIER] = "acquire-earlier",
	[TB_PATH_ACQUIRE_RESCAN] = "acquire-rescan",
	[TB_PATH_ACQUIRE_UNSETTLED] = "acquire-unsettled",
	[TB_PATH_ACQUIRE_LOST] = "acquire-lost",
	[TB_PATH_TELL_LATER] = "tell-later",
	[TB_PATH_TELL_SAME] = "tell-same",
	[TB_PATH_TELL_AGAIN] = "tell-again",
};

struct testcase {
	uint32_t mode;
	uint32_t policy;
	uint32_t elements;
	uint32_t buffers;
	bool hotplug;
	bool restarts;
	char name[64];
};

static struct options {
	uint64_t seed;
	uint64_t events;
	uint32_t gap_ns;
} options = { 1, 30000, 300000 };

/* A running case. */
struct torture {
	const struct testcase *test;
	uint64_t seed;
	uint32_t cpus;
	int control;			/* /dev/tracebuf */
	int fd;				/* /dev/tb_torture */
	struct stream stream;
	struct accounting accounting;
	struct reader reader;
	pthread_t reading, meddling;
	bool going;			/* meddle() may go on */
	uint64_t flushes, hotplugs;
	/* sums over the recordings of a case that has several */
	uint64_t attempted[ACCOUNTING_CPUS], recorded[ACCOUNTING_CPUS];
	char error[256];
};

static bool fail(struct torture *t, const char *what, long number)
{
	if (!t->error[0])
		snprintf(t->error, sizeof(t->error), "%s: %ld", what, number);
	return false;
}

static void pause_ms(uint32_t ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000l };

	nanosleep(&ts, NULL);
}

/* ---- flushes and hotplug ---------------------------------------------- */

static bool going(struct torture *t)
{
	return __atomic_load_n(&t->going, __ATOMIC_ACQUIRE);
}

/* A thread that flushes, and takes CPUs offline and back. */
static void *meddle(void *arg)
{
	struct torture *t = arg;
	uint64_t random = tt_mix(t->seed) | 1;
	uint32_t cpu;

	while (going(t)) {
		uint64_t x = random_next(&random);

		pause_ms(1);
		if (__atomic_load_n(&t->reader.quiet, __ATOMIC_ACQUIRE))
			continue;
		if (tb_flush(t->control, (int)((x >> 8) % (t->cpus + 1)) - 1))
			fail(t, "flush", errno);
		t->flushes++;
		if (!t->test->hotplug || x & 3)
			continue;
		cpu = 1 + (x >> 16) % (t->cpus - 1);
		if (set_online(cpu, false)) {
			t->hotplugs++;
			/* events of the offline CPU can be flushed */
			if (tb_flush(t->control, cpu))
				fail(t, "flush of a CPU that is offline", errno);
			pause_ms(1);
			if (!set_online(cpu, true))
				fail(t, "a CPU does not come back", cpu);
		}
	}
	return NULL;
}

static void meddle_end(struct torture *t)
{
	if (!t->going)
		return;
	__atomic_store_n(&t->going, false, __ATOMIC_RELEASE);
	pthread_join(t->meddling, NULL);
}

/* ---- a recording ------------------------------------------------------ */

static uint64_t attempts(struct torture *t)
{
	uint64_t n = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < t->cpus; cpu++)
		n += counts_of(t->fd, cpu).attempted;
	return n;
}

static uint64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Waits until the sources have offered @events. */
static bool wait_for(struct torture *t, uint64_t events)
{
	uint64_t now, last = 0, since = seconds();

	while ((now = attempts(t)) < events && !t->error[0] && !t->reader.error[0]) {
		if (now != last)
			since = seconds();
		else if (seconds() > since + STUCK_SECONDS)
			return fail(t, "nothing moves any more", now);
		last = now;
		pause_ms(5);
	}
	return !t->error[0];
}

static bool sources_start(struct torture *t, bool go_on)
{
	struct tb_query q;
	struct tt_run run = { .seed = t->seed, .gap_ns = options.gap_ns, .go_on = go_on };

	if (tb_query(t->control, &q))
		return fail(t, "query", errno);
	run.max_event = q.max_event;
	return !ioctl(t->fd, TT_IOC_START, &run) || fail(t, "sources", errno);
}

static bool sources_stop(struct torture *t)
{
	return !ioctl(t->fd, TT_IOC_STOP) || fail(t, "sources", errno);
}

static uint64_t clock_upper(void)
{
	return __builtin_ia32_rdtsc() >> 32;
}

/*
 * Waits until the upper half of the clock changes, with all buffers as they are. A guest that
 * counts instructions skips the time, because it is idle.
 */
static bool wait_epoch(struct torture *t)
{
	uint64_t before = clock_upper();

	if (!sources_stop(t))
		return false;
	__atomic_store_n(&t->reader.quiet, true, __ATOMIC_RELEASE);
	while (clock_upper() == before)
		pause_ms(50);
	__atomic_store_n(&t->reader.quiet, false, __ATOMIC_RELEASE);
	return sources_start(t, true);
}

static void reader_init(struct torture *t, uint64_t seed)
{
	memset(&t->reader, 0, sizeof(t->reader));
	t->reader.seed = tt_mix(seed);
	t->reader.loses = t->test->policy == TB_POLICY_OVERWRITE;
	t->reader.cpus = t->cpus;
	t->reader.torture = t->fd;
}

/* Starts a recording, with its reader. */
static bool recording_start(struct torture *t, uint64_t seed)
{
	int err;

	reader_init(t, seed);
	stream_free(&t->stream);
	t->stream.event = accounting_event;
	t->stream.block = accounting_block;
	t->stream.ctx = &t->accounting;
	accounting_begin(&t->accounting);
	err = tb_start(t->control, TB_START_NO_STATE);
	if (err)
		return fail(t, "start", err);
	/* after the start, because a new thread is an event */
	err = pthread_create(&t->reading, NULL, reader_thread, &t->reader);
	return !err || fail(t, "pthread_create", err);
}

/* Stops the recording, reads the rest, and checks it all. */
static bool recording_stop(struct torture *t)
{
	int err = tb_stop(t->control);

	__atomic_store_n(&t->reader.drain, true, __ATOMIC_RELEASE);
	pthread_join(t->reading, NULL);
	if (err)
		return fail(t, "stop", err);
	if (t->reader.error[0])
		snprintf(t->error, sizeof(t->error), "%s", t->reader.error);
	else if (!reader_check(&t->reader, &t->stream) || !stream_finish(&t->stream))
		snprintf(t->error, sizeof(t->error), "%s", t->stream.error);
	else if (t->accounting.error[0] || !accounting_cover(&t->accounting))
		snprintf(t->error, sizeof(t->error), "%s", t->accounting.error);
	reader_free(&t->reader);
	return !t->error[0];
}

/* ---- cases ------------------------------------------------------------ */

/* One recording from before the sources start until after they stop: exact. */
static bool run_whole(struct torture *t)
{
	uint32_t cpu;
	bool ok;

	if (!recording_start(t, t->seed))
		return false;
	ok = sources_start(t, false) && wait_for(t, options.events / 2) && wait_epoch(t) &&
	     wait_for(t, options.events);
	meddle_end(t);
	sources_stop(t);
	if (!recording_stop(t) || !ok)
		return false;
	for (cpu = 0; cpu < t->cpus; cpu++) {
		if (!accounting_close(&t->accounting, &t->stream, t->fd, t->control, cpu)) {
			snprintf(t->error, sizeof(t->error), "%s", t->accounting.error);
			return false;
		}
	}
	return true;
}

/*
 * Recordings end and begin while the sources are active. Events in between are in no counts, but
 * each recorded event is in the counts of one recording.
 */
static bool run_rounds(struct torture *t)
{
	struct tt_counts ours;
	uint32_t round, cpu;
	bool ok = true;

	for (round = 0; ok && round < ROUNDS; round++) {
		ok = recording_start(t, t->seed + round);
		if (ok && !round)
			ok = sources_start(t, false);
		if (ok)
			wait_for(t, attempts(t) + options.events / ROUNDS);
		if (ok)
			ok = recording_stop(t);
		for (cpu = 0; cpu < t->cpus; cpu++) {
			t->attempted[cpu] += t->stream.ring[cpu].totals.attempted;
			t->recorded[cpu] += t->stream.ring[cpu].totals.recorded;
		}
	}
	meddle_end(t);
	sources_stop(t);
	for (cpu = 0; ok && cpu < t->cpus; cpu++) {
		ours = counts_of(t->fd, cpu);
		/* other events are recorded, too */
		if (t->recorded[cpu] < ours.recorded ||
		    t->recorded[cpu] > ours.recorded + ROUNDS * OTHERS_MAX)
			ok = fail(t, "recorded more or less than it was told",
				  t->recorded[cpu] - ours.recorded);
		if (t->attempted[cpu] > ours.attempted + ROUNDS * OTHERS_MAX)
			ok = fail(t, "more attempts than there were",
				  t->attempted[cpu] - ours.attempted);
	}
	return ok;
}

static bool run_case(struct torture *t)
{
	const struct testcase *c = t->test;
	bool ok;
	int err;

	t->control = tb_open(0);
	t->fd = open("/dev/tb_torture", O_RDWR);
	if (t->control < 0 || t->fd < 0)
		return fail(t, "open", errno);
	err = tb_fresh(t->control);
	if (!err)
		err = tb_configure(t->control, c->mode, c->policy, c->buffers, c->elements);
	if (err)
		return fail(t, "configure", err);
	t->going = true;
	err = pthread_create(&t->meddling, NULL, meddle, t);
	if (err) {
		t->going = false;
		return fail(t, "pthread_create", err);
	}
	ok = c->restarts ? run_rounds(t) : run_whole(t);
	meddle_end(t);
	return ok && !t->error[0];
}

static void tell(struct torture *t)
{
	uint64_t seen = 0, lost = 0, dropped = 0, others = 0;
	uint32_t cpu, source;

	for (cpu = 0; cpu < t->cpus; cpu++) {
		others += t->accounting.others[cpu];
		lost += t->stream.ring[cpu].totals.overwritten;
		dropped += t->stream.ring[cpu].totals.dropped;
		for (source = 0; source < TT_SOURCES; source++)
			seen += t->accounting.seen[cpu][source];
	}
	printf("# case %s: %llu offered, %llu delivered (%llu composite, up to %llu bytes), %llu overwritten, %llu dropped, %llu of others; %llu sessions of %llu steps, %llu died; %llu flushes, %llu CPUs away\n",
	       t->test->name, (unsigned long long)attempts(t), (unsigned long long)seen,
	       (unsigned long long)t->accounting.composites,
	       (unsigned long long)t->accounting.bytes,
	       (unsigned long long)lost, (unsigned long long)dropped, (unsigned long long)others,
	       (unsigned long long)t->reader.sessions, (unsigned long long)t->reader.steps,
	       (unsigned long long)t->reader.deaths,
	       (unsigned long long)t->flushes, (unsigned long long)t->hotplugs);
	printf("# of each source:");
	for (source = 0; source < TT_SOURCES; source++) {
		struct tt_counts n = { .source = source };
		uint64_t offered = 0, delivered = 0;

		for (cpu = 0; cpu < t->cpus; cpu++) {
			n.cpu = cpu;
			if (!ioctl(t->fd, TT_IOC_COUNTS, &n))
				offered += n.attempted;
			delivered += t->accounting.seen[cpu][source];
		}
		printf(" %llu/%llu", (unsigned long long)delivered, (unsigned long long)offered);
	}
	printf("\n");
}

static void explain(struct torture *t)
{
	struct tb_stats st;
	uint32_t cpu;

	printf("# %s\n", t->error);
	for (cpu = 0; cpu < t->cpus; cpu++) {
		if (tb_stats(t->control, cpu, &st))
			continue;
		printf("# cpu %u: %llu recorded, %llu delivered, %llu overwritten, %llu dropped, %llu pending, %u ready, %u held, fill %u, %llu blocks\n",
		       cpu, (unsigned long long)st.recorded, (unsigned long long)st.delivered,
		       (unsigned long long)st.overwritten, (unsigned long long)st.dropped,
		       (unsigned long long)st.pending, st.ready, st.held, st.fill,
		       (unsigned long long)st.blocks);
	}
}

/* Each source must have recorded something, or the case proves less than it says. */
static bool all_sources(struct torture *t)
{
	uint32_t cpu, source;

	for (cpu = 0; cpu < t->cpus; cpu++) {
		for (source = 0; source < TT_SOURCES; source++) {
			struct tt_counts n = { .cpu = cpu, .source = source };

			if (ioctl(t->fd, TT_IOC_COUNTS, &n) || !n.attempted)
				return fail(t, "a source did nothing: cpu * 10 + source",
					    cpu * 10 + source);
		}
	}
	return true;
}

static bool run(const struct testcase *c, uint32_t cpus)
{
	struct torture *t = calloc(1, sizeof(*t));
	bool ok;

	if (!t)
		abort();
	t->test = c;
	t->cpus = cpus;
	/* from the name: independent of the other cases */
	t->seed = tt_mix(options.seed);
	for (const char *p = c->name; *p; p++)
		t->seed = tt_mix(t->seed ^ *p);
	stream_init(&t->stream);
	ok = run_case(t) && all_sources(t);
	tell(t);
	if (!ok)
		explain(t);
	stream_free(&t->stream);
	close(t->control);
	close(t->fd);
	free(t);
	return ok;
}

static size_t make_cases(struct testcase *cases, uint32_t cpus)
{
	static const struct {
		const char *name;
		uint32_t mode, policy;
	} ways[] = {
		{ "streaming-overwrite", TB_MODE_STREAMING, TB_POLICY_OVERWRITE },
		{ "streaming-drop", TB_MODE_STREAMING, TB_POLICY_DROP },
		{ "circular", TB_MODE_CIRCULAR, TB_POLICY_OVERWRITE },
	};
	static const uint32_t sizes[][2] = { { 64, 2 }, { 64, 32 }, { 1024, 2 }, { 1024, 32 } };
	static const char *const what[] = { "", "-restarts", "-hotplug" };
	size_t way, size, extra, n = 0;

	for (extra = 0; extra < (cpus > 1 ? 3 : 2); extra++) {
		for (way = 0; way < 3; way++) {
			for (size = 0; size < 4; size++) {
				struct testcase *c = &cases[n++];

				c->mode = ways[way].mode;
				c->policy = ways[way].policy;
				c->elements = sizes[size][0];
				c->buffers = sizes[size][1];
				c->restarts = extra == 1;
				c->hotplug = extra == 2;
				snprintf(c->name, sizeof(c->name), "%s-%ux%u%s", ways[way].name,
					 c->elements, c->buffers, what[extra]);
			}
		}
	}
	return n;
}

#define CASES_MAX	36

static bool wanted(const char *name, char **names, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !count;
}

static void tell_paths(void)
{
	struct tt_paths paths;
	int fd = open("/dev/tb_torture", O_RDWR), i;

	if (fd < 0 || ioctl(fd, TT_IOC_PATHS, &paths)) {
		perror("# TT_IOC_PATHS");
		exit(1);
	}
	for (i = 0; i < TB_PATHS; i++)
		printf("# path %s %llu\n", path_names[i], (unsigned long long)paths.count[i]);
	close(fd);
}

int main(int argc, char **argv)
{
	uint32_t cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct testcase cases[CASES_MAX] = { 0 };
	size_t n = make_cases(cases, cpus), i;
	int opt, planned = 0, done = 0;
	bool list = false, ok = true;

	while ((opt = getopt(argc, argv, "s:n:g:l")) != -1) {
		switch (opt) {
		case 's':
			options.seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			options.events = strtoull(optarg, NULL, 0);
			break;
		case 'g':
			options.gap_ns = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			list = true;
			break;
		default:
			return 2;
		}
	}
	for (i = 0; i < n; i++) {
		if (!wanted(cases[i].name, argv + optind, argc - optind))
			continue;
		planned++;
		if (list)
			puts(cases[i].name);
	}
	if (list)
		return 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%d\n# seed %llu, %u CPUs\n", planned,
	       (unsigned long long)options.seed, cpus);
	for (i = 0; i < n; i++) {
		bool passed;

		if (!wanted(cases[i].name, argv + optind, argc - optind))
			continue;
		passed = run(&cases[i], cpus);
		ok &= passed;
		printf("%sok %d %s\n", passed ? "" : "not ", ++done, cases[i].name);
	}
	tell_paths();
	return !ok;
}
