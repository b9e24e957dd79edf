// SPDX-License-Identifier: GPL-2.0-only
/*
 * marker.c - measures the whole cost of an event in a program, kernel included: for tracebuf's
 * writer with a channel to the module, and for write() to ftrace's trace_marker and
 * trace_marker_raw.
 *
 *	marker TRACEFS		while both record, and no reader runs
 *
 * It must run where each instruction takes the same time (scripts/bench, suite marker). It prints a
 * line "BENCH who|case|mean|median" for each case, in thousandths of an instruction, over chunks of
 * CHUNK operations. The mean includes rare work: commits, the timer.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tracebuf_record.h>

#define CHUNK	2000
#ifndef CHUNKS
#define CHUNKS	40
#endif
/* ticks of the time stamp counter for an instruction: scripts/vm -i */
#define TICKS	8

TB_CATEGORY(wanted, "wanted");
TB_CATEGORY(unwanted, "unwanted");

static const uint64_t six[6] = { 1, 2, 3, 4, 5, 6 };
static struct tb_writer *writer;
static int marker, marker_raw;
static volatile uint64_t sink;

static void put(int fd, const void *data, size_t bytes)
{
	if (write(fd, data, bytes) != (ssize_t)bytes) {
		perror("marker: trace_marker");
		exit(1);
	}
}

#define CASE(name, ...) \
	static void name(void) \
	{ \
		unsigned int i; \
		for (i = 0; i < CHUNK; i++) { \
			__VA_ARGS__; \
			__asm__ volatile("" : : : "memory"); \
		} \
	}

CASE(run_nothing, (void)0)
CASE(run_clock, sink = __builtin_ia32_rdtsc())
CASE(run_simple, tb_event(writer, &wanted, "simple", i))
CASE(run_composite, tb_event(writer, &wanted, "composite", six, sizeof(six)))
CASE(run_mark, tb_put_mark(writer, "1234567", 8))
CASE(run_off, tb_event(writer, &unwanted, "off", i))
CASE(run_marker_8, put(marker, "1234567\n", 8))
CASE(run_marker_48, put(marker, "12345678901234567890123456789012345678901234567\n", 48))
CASE(run_raw_8, put(marker_raw, six, 8))
CASE(run_raw_48, put(marker_raw, six, 48))

static const struct {
	const char *who, *name;
	void (*run)(void);
} cases[] = {
	{ "machine", "empty loop", run_nothing },
	{ "machine", "clock read", run_clock },
	{ "tracebuf", "simple event of 8 bytes", run_simple },
	{ "tracebuf", "composite of 48 bytes", run_composite },
	{ "tracebuf", "mark, a text of 8 bytes", run_mark },
	{ "tracebuf", "category off", run_off },
	{ "ftrace", "trace_marker, 8 bytes", run_marker_8 },
	{ "ftrace", "trace_marker, 48 bytes", run_marker_48 },
	{ "ftrace", "trace_marker_raw, 8 bytes", run_raw_8 },
	{ "ftrace", "trace_marker_raw, 48 bytes", run_raw_48 },
};

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int open_in(const char *folder, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

int main(int argc, char **argv)
{
	struct tb_writer_stats stats;
	uint64_t ticks[CHUNKS], sum;
	size_t i, k;

	if (argc != 2) {
		fprintf(stderr, "usage: marker TRACEFS\n");
		return 2;
	}
	marker = open_in(argv[1], "trace_marker");
	marker_raw = open_in(argv[1], "trace_marker_raw");
	writer = tb_here();
	if (tb_writer_is_null(writer)) {
		fprintf(stderr, "marker: tracebuf cannot be recorded into\n");
		return 1;
	}
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cases[i].run();		/* touch the memory, define the names */
		for (k = 0, sum = 0; k < CHUNKS; k++) {
			uint64_t start = __builtin_ia32_rdtsc();

			cases[i].run();
			ticks[k] = __builtin_ia32_rdtsc() - start;
			sum += ticks[k];
		}
		qsort(ticks, CHUNKS, sizeof(*ticks), compare);
		printf("BENCH %s|%s|%llu|%llu\n", cases[i].who, cases[i].name,
		       (unsigned long long)(sum * 1000 / TICKS / CHUNK / CHUNKS),
		       (unsigned long long)(ticks[CHUNKS / 2] * 1000 / TICKS / CHUNK));
	}
	tb_write_flush();
	tb_writer_read_stats(writer, &stats);
	printf("BENCH-NOTE %llu records by tracebuf, %llu lost, %llu refused\n",
	       (unsigned long long)stats.attempted, (unsigned long long)stats.lost,
	       (unsigned long long)stats.refused);
	return 0;
}
