// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several threads of a program can read at the same time, each its own trace or all the same one:
 * without a data race (ThreadSanitizer), each thread gets all events. If this fails, a program that
 * reads in parallel crashes or shows wrong events, on some machines, at times.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include "test_lib_chunk.h"

#define THREADS 4
#define ROUNDS	FULL(4, 1)
#define BLOCKS	4000

static char path[] = "/tmp/stress_lib_read.XXXXXX";
static uint64_t expected;

/* More blocks than stay resident, so that a thread releases pages that other threads read */
static void make(void)
{
	uint64_t time = 1000, number = 0;
	struct fx_chunk chunk;
	unsigned int i, cpu;
	struct fx fx;
	int fd;

	fx_init(&fx, 11, 1000);
	fx_sync(&fx, 1000, 5000);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	fx_durable_end(&fx);
	for (i = 0; i < BLOCKS; i++) {
		cpu = i % 5 % 3;
		fx_open(&fx, cpu, time, 100, NULL);
		if (i % 50 == 0) {
			fx_chunk(&chunk, 1, 1, i / 50, i / 50);
			fx_mark(&chunk, time, "here");
			fx_take(&fx, cpu, time, &chunk);
		}
		while (fx_simple(&fx, cpu, FX_SOFTIRQ, time, number++))
			time++;
		fx_close(&fx, cpu);
	}
	expected = 1;		/* the clock record */
	for (cpu = 0; cpu < 3; cpu++)
		expected += fx.rings[cpu].events;
	fd = mkstemp(path);
	assert(fd >= 0 && write(fd, fx.data, fx.size) == (ssize_t)fx.size);
	close(fd);
	fx_free(&fx);
}

static struct tb_trace *open_trace(void)
{
	struct tb_trace *trace;

	assert(!tb_trace_open(path, &trace, NULL));
	return trace;
}

static uint64_t read_all(struct tb_trace *trace)
{
	struct tb_cursor *cursor;
	struct tb_view view;
	uint64_t count = 0, value;
	char text[256];

	assert(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) == 1) {
		count += view.kind == TB_VIEW_EVENT;
		if (view.format && !tb_field_u64(&view, &view.format->fields[0], &value) &&
		    count % 512 == 0)
			assert(tb_view_print(trace, &view, text, sizeof(text)) > 0);
	}
	tb_cursor_close(cursor);
	return count;
}

static void read_parts(struct tb_trace *trace, unsigned int seed)
{
	const struct tb_block *block;
	struct tb_cursor *cursor;
	struct tb_view view;
	uint64_t offset, at;
	unsigned int i;

	assert(!tb_cursor_open(trace, &cursor));
	for (i = 0; i < 300; i++) {
		block = tb_trace_block(trace, (seed + i * 7919u) % tb_trace_blocks(trace),
				       &offset, NULL);
		assert(block && block->magic == TB_BLOCK_MAGIC);
		assert(!tb_cursor_seek(cursor, block->time_start));
		assert(tb_cursor_next(cursor, &view) == 1 &&
		       view.ticks >= block->time_start);
		assert(!tb_trace_string(trace, TB_STRING_COUNTER, seed));
		tb_trace_ns(trace, view.ticks, TB_TIME_REALTIME);
	}
	tb_cursor_close(cursor);
	assert(!tb_cursor_open(trace, &cursor));
	for (i = 0, at = 0; tb_cursor_next_block(cursor, &block, &offset) == 1; i++) {
		assert(offset == at);
		at += 1u << block->size_log2;
	}
	assert(i == tb_trace_blocks(trace));
	tb_cursor_close(cursor);
}

struct worker {
	struct tb_trace *shared;
	unsigned int number;
	int failed;
};

static void *work(void *data)
{
	struct worker *worker = data;
	struct tb_trace *own;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		own = worker->shared ? worker->shared : open_trace();
		worker->failed |= read_all(own) != expected;
		read_parts(own, worker->number * 1000 + i);
		if (!worker->shared)
			tb_trace_close(own);
	}
	return NULL;
}

static int run(struct tb_trace *shared)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	int i, failed = 0;

	for (i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ shared, (unsigned int)i, 0 };
		assert(!pthread_create(&threads[i], NULL, work, &workers[i]));
	}
	for (i = 0; i < THREADS; i++) {
		assert(!pthread_join(threads[i], NULL));
		failed |= workers[i].failed;
	}
	return failed;
}

/* ThreadSanitizer changes the exit status when it has seen a race */
int main(void)
{
	struct tb_trace *shared;
	int failed;

	make();
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 14\n1..2\n");
	failed = run(NULL);
	printf("%sok 1 threads with traces of their own\n", failed ? "not " : "");
	shared = open_trace();
	failed |= run(shared);
	tb_trace_close(shared);
	printf("%sok 2 cursors of several threads on one trace\n", failed ? "not " : "");
	unlink(path);
	return failed;
}
