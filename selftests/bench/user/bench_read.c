// SPDX-License-Identifier: GPL-2.0-only
/*
 * What reading a trace takes: time for an event, and memory.
 *
 *	make -C userspace bench-read
 *
 *	bench_read make FILE BYTES [LOG2]   a trace of about so many bytes, blocks of 2^LOG2 (14) bytes:
 *	                                    4 CPUs, half of the events simple, half composite
 *	bench_read HOW FILE                 read it:
 *	   events    decoded, in order of time, two fields of each looked at
 *	   elements  raw
 *	   blocks    raw: their headers
 *	   seek      to 1000 times, and one event at each
 *
 * Each line: what was read, how long it took (processor time), and the most memory that the program has
 * had resident meanwhile.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include "test_lib_fixture.h"

#define CPUS 4

/* ---- making one ---- */

static FILE *out;
static uint64_t written;

static void put(struct fx *fx)
{
	assert(fwrite(fx->data, 1, fx->size, out) == fx->size);
	written += fx->size;
	fx->size = 0;
}

/* One event of every kind after the other; false: the block is full */
static bool put_event(struct fx *fx, unsigned int cpu, uint64_t time, uint64_t number)
{
	struct fx_switch to = fx_switch("bash", 100, 1, "cc", 200);

	switch (number % 4) {
	case 0:
		return fx_simple(fx, cpu, FX_SYS_ENTER_FAST, time, 100ull << 32 | number % 300);
	case 1:
		return fx_simple(fx, cpu, FX_SOFTIRQ_FAST, time, number % 10);
	case 2:
		return fx_composite(fx, cpu, FX_SWITCH, time, 100, &to, sizeof(to));
	default:
		to.next_pid = 100;
		return fx_composite(fx, cpu, FX_WAKEUP, time, 200, &to, 20);
	}
}

static int make(const char *path, uint64_t bytes, unsigned int log2)
{
	uint64_t time = 1000000, number = 0;
	unsigned int cpu;
	struct fx fx;

	out = fopen(path, "wb");
	assert(out);
	fx_init(&fx, log2, time);
	fx_sync(&fx, time, time);
	fx_durable_end(&fx);
	put(&fx);
	/* in turns, as rings are full at different times */
	while (written < bytes)
		for (cpu = 0; cpu < CPUS; cpu++) {
			uint64_t at = time + cpu * 13;

			fx_open(&fx, cpu, at, 100, NULL);
			while (put_event(&fx, cpu, at, number)) {
				number++;
				at += 100;
			}
			fx_close(&fx, cpu);
			put(&fx);
			if (cpu == CPUS - 1)
				time = at;
		}
	for (cpu = 0; cpu < CPUS; cpu++)
		fx_totals(&fx, cpu);
	fx_durable_end(&fx);
	put(&fx);
	fx_free(&fx);
	printf("%s: %" PRIu64 " bytes, %" PRIu64 " events\n", path, written, number);
	return fclose(out) != 0;
}

/* ---- reading it ---- */

static struct tb_trace *trace;
static uint64_t sum;

static uint64_t read_events(void)
{
	const struct tb_format_field *field, *fields[2][128] = { 0 };
	struct tb_cursor *cursor;
	struct tb_view view;
	uint64_t value, count = 0;
	unsigned int i, j;

	/* which fields is looked up once, not for each event */
	for (i = 0; i < tb_trace_formats(trace); i++)
		for (j = 0; j < 2; j++)
			if (j < tb_trace_format_at(trace, i)->nr_fields)
				fields[j][i] = &tb_trace_format_at(trace, i)->fields[
					tb_trace_format_at(trace, i)->nr_fields - 1 - j];
	assert(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) > 0) {
		if (view.kind != TB_VIEW_EVENT || !view.format)
			continue;
		for (j = 0; j < 2; j++) {
			field = fields[j][view.format->index];
			if (field && !tb_field_u64(&view, field, &value))
				sum += value;
		}
		count++;
	}
	assert(!tb_cursor_fault(cursor));
	tb_cursor_close(cursor);
	return count;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double start = now(), opened;
	struct tb_error error;
	struct rusage usage;
	uint64_t count;

	if (argc >= 4 && !strcmp(argv[1], "make"))
		return make(argv[2], strtoull(argv[3], NULL, 0),
			    argc > 4 ? (unsigned int)atoi(argv[4]) : 14);
	if (argc != 3 || strcmp(argv[1], "events"))
		return 2;
	if (tb_trace_open(argv[2], &trace, &error) < 0)
		return 1;
	opened = now();
	count = read_events();
	getrusage(RUSAGE_SELF, &usage);
	printf("open %.3f s; %" PRIu64 " events in %.3f s: %.1f million/s, %.1f ns; %ld KiB\n", opened - start, count, now() - opened,
	       (double)count / (now() - opened) / 1e6, (now() - opened) * 1e9 / (double)count, usage.ru_maxrss);
	tb_trace_close(trace);
	return sum == 0;
}
