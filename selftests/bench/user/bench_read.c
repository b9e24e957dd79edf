// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_read.c - measures time and memory of reading a trace.
 *
 *	make -C userspace bench-read
 *
 *	bench_read make FILE BYTES [LOG2]   write a trace of about BYTES with 4 CPUs, in blocks of
 *	                                    2^LOG2 (14) bytes; half of the events are simple
 *	bench_read HOW FILE                 read it:
 *	   events    decoded, in order of time; looks at two fields of each
 *	   elements  raw
 *	   blocks    raw: their headers
 *	   headers   the same, after opening only the headers (TB_OPEN_HEADERS)
 *	   seek      1000 seeks, and one event at each; after opening only the headers
 *
 * Prints what it read, the processor time, and the most memory that the program had resident
 * meanwhile.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include "test_lib_fixture.h"

#define CPUS	4
#define SEEKS	1000

enum { EV_EXIT_COMPACT = 85, EV_SOFTIRQ_EXIT = 87 };

/* ---- write a trace ---- */

static FILE *out;
static uint64_t written;

static void put(struct fx *fx)
{
	assert(fwrite(fx->data, 1, fx->size, out) == fx->size);
	written += fx->size;
	fx->size = 0;
}

/* Two threads of each CPU */
static int thread(unsigned int cpu, unsigned int which)
{
	return (int)(100 + 2 * cpu + which);
}

/* The thread that runs before event number @number of @cpu: see put_event() */
static uint32_t runs_at(unsigned int cpu, uint64_t number)
{
	return (uint32_t)thread(cpu, number % 8 == 5 || number % 8 == 6);
}

/*
 * Add the next event of a CPU: a thread calls the kernel, is interrupted, and returns; then another
 * one runs, and wakes it.  False: the block is full.
 */
static bool put_event(struct fx *fx, unsigned int cpu, uint64_t time, uint64_t number)
{
	int one = thread(cpu, 0), other = thread(cpu, 1);
	struct fx_switch there = fx_switch("bash", one, 1, "cc", other);
	struct fx_switch back = fx_switch("cc", other, 1, "bash", one);
	uint32_t tid = runs_at(cpu, number);
	uint64_t call = number / 8 % 300;

	switch (number % 8) {
	case 0:
		return fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, time,
				 100ull << 16 | 1 << 12 | call);
	case 1:
		return fx_simple(fx, cpu, FX_SOFTIRQ, time, number / 8 % 10);
	case 2:
		return fx_simple(fx, cpu, EV_SOFTIRQ_EXIT, time, number / 8 % 10);
	case 3:
		return fx_simple(fx, cpu, EV_EXIT_COMPACT, time, call);
	case 4:
		return fx_composite(fx, cpu, FX_SWITCH, time, tid, &there, sizeof(there));
	case 5:		/* the event begins as a switch does, with the thread that is woken */
		return fx_composite(fx, cpu, FX_WAKEUP, time, tid, &there, 20);
	case 6:
		return fx_composite(fx, cpu, FX_SWITCH, time, tid, &back, sizeof(back));
	default:
		return fx_composite(fx, cpu, FX_WAKEUP, time, tid, &back, 20);
	}
}

static int make(const char *path, uint64_t bytes, unsigned int log2)
{
	uint64_t time = 1000000, last = time, number = 0, numbers[CPUS] = { 0 };
	unsigned int cpu;
	struct fx fx;

	out = fopen(path, "wb");
	assert(out);
	fx_init(&fx, log2, time);
	fx_describe(&fx, EV_EXIT_COMPACT - 1, 0, "raw_syscalls", "sys_exit", fx_exit_fields, 2);
	fx_describe(&fx, EV_EXIT_COMPACT, TB_EVENT_SIMPLE, "raw_syscalls", "sys_exit",
		    fx_exit_compact, 2);
	fx_describe(&fx, EV_SOFTIRQ_EXIT, TB_EVENT_SIMPLE, "irq", "softirq_exit",
		    fx_softirq_fields, 1);
	fx_sync(&fx, time, time);
	fx_durable_end(&fx);
	put(&fx);
	/* the CPUs take turns, as rings fill at different times */
	while (written < bytes)
		for (cpu = 0; cpu < CPUS; cpu++) {
			uint64_t at = time + cpu * 13;

			fx_open(&fx, cpu, at, runs_at(cpu, numbers[cpu]), NULL);
			while (put_event(&fx, cpu, at, numbers[cpu])) {
				numbers[cpu]++;
				number++;
				at += 100;
			}
			fx_close(&fx, cpu);
			put(&fx);
			last = at > last ? at : last;
			if (cpu == CPUS - 1)
				time = last;
		}
	for (cpu = 0; cpu < CPUS; cpu++)
		fx_totals(&fx, cpu);
	fx_durable_end(&fx);
	put(&fx);
	fx_free(&fx);
	printf("%s: %" PRIu64 " bytes, %" PRIu64 " events\n", path, written, number);
	return fclose(out) != 0;
}

/* ---- read a trace ---- */

static struct tb_trace *trace;
static uint64_t sum;

static uint64_t read_events(void)
{
	const struct tb_format_field *field, *fields[2][128] = { 0 };
	struct tb_cursor *cursor;
	struct tb_view view;
	uint64_t value, count = 0;
	unsigned int i, j;

	/* look up the fields once, not for each event */
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

static uint64_t read_elements(void)
{
	struct tb_cursor *cursor;
	struct tb_walk element;
	uint64_t count = 0;

	assert(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next_element(cursor, &element, NULL) == 1) {
		sum += element.id;
		count++;
	}
	tb_cursor_close(cursor);
	return count;
}

static uint64_t read_blocks(void)
{
	const struct tb_block *block;
	struct tb_cursor *cursor;
	uint64_t count = 0;

	assert(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next_block(cursor, &block, NULL) == 1) {
		sum += block->events;
		count++;
	}
	tb_cursor_close(cursor);
	return count;
}

static uint64_t read_seek(void)
{
	size_t blocks = tb_trace_blocks(trace), i;
	struct tb_cursor *cursor;
	struct tb_view view;
	uint64_t first = 0, last;

	assert(blocks > 2);
	first = tb_trace_block(trace, 1, NULL, NULL)->time_start;
	last = tb_trace_block(trace, blocks - 2, NULL, NULL)->time_start;
	assert(!tb_cursor_open(trace, &cursor));
	for (i = 0; i < SEEKS; i++) {
		/* the times are spread over the trace */
		assert(!tb_cursor_seek(cursor, first + (last - first) / SEEKS *
				       (i * 617 % SEEKS)));
		assert(tb_cursor_next(cursor, &view) == 1);
		sum += view.ticks;
	}
	tb_cursor_close(cursor);
	return SEEKS;
}

static const struct {
	const char *name;
	const char *what;
	uint32_t flags;			/* for tb_trace_open_with() */
	uint64_t (*read)(void);
} ways[] = {
	{ "events", "events", 0, read_events },
	{ "elements", "elements", 0, read_elements },
	{ "blocks", "blocks", 0, read_blocks },
	{ "headers", "blocks", TB_OPEN_HEADERS, read_blocks },
	{ "seek", "times gone to", TB_OPEN_HEADERS, read_seek },
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int read_by(size_t way, const char *path)
{
	double start = now(), opened, done;
	struct tb_error error;
	struct rusage usage;
	uint64_t count;

	if (tb_trace_open_with(path, ways[way].flags, &trace, &error) < 0) {
		fprintf(stderr, "%s: %s\n", path, error.text);
		return 1;
	}
	opened = now();
	count = ways[way].read();
	done = now();
	getrusage(RUSAGE_SELF, &usage);
	printf("%-9s opened in %6.3f s; %10" PRIu64 " %s in %6.3f s: %8.1f ns each, %5.1f million/s; %ld KiB resident\n",
	       ways[way].name, opened - start, count, ways[way].what, done - opened,
	       (done - opened) * 1e9 / (double)count,
	       (double)count / (done - opened) / 1e6, usage.ru_maxrss);
	tb_trace_close(trace);
	return sum == 0;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc >= 4 && !strcmp(argv[1], "make"))
		return make(argv[2], strtoull(argv[3], NULL, 0),
			    argc > 4 ? (unsigned int)atoi(argv[4]) : 14);
	for (i = 0; argc == 3 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			return read_by(i, argv[2]);
	fprintf(stderr, "usage: see the top of %s\n", __FILE__);
	return 2;
}
