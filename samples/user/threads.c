// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that records what it does: threads that hand work to each other.
 *
 *	make -C userspace samples
 *	tracebuf record -d 3 &
 *	build/user/samples/threads
 *
 * Each thread has a track of slices; a counter says how much waits; a flow follows each piece
 * of work from where it was made to where it was done.  Readers choose by category: "queue" and
 * "work".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include "tracebuf_record.h"

#define WORKERS	3
#define PIECES	300
#define ROOM	16

TB_CATEGORY(queue, "queue");
TB_CATEGORY(work, "work");

static uint64_t waiting[ROOM];
static unsigned int head, tail;
static int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void busy_for(long us)
{
	struct timespec time = { .tv_nsec = us * 1000 };

	nanosleep(&time, NULL);
}

static void put(uint64_t piece)
{
	tb_begin_flow(tb_here(), &queue, "put", piece);
	pthread_mutex_lock(&lock);
	while (head - tail == ROOM)
		pthread_cond_wait(&changed, &lock);
	waiting[head++ % ROOM] = piece;
	tb_counter(tb_here(), &queue, "waiting", head - tail);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	tb_end(tb_here(), &queue);
}

/* 0: there is nothing any more */
static uint64_t get(void)
{
	uint64_t piece = 0;

	pthread_mutex_lock(&lock);
	while (head == tail && !done)
		pthread_cond_wait(&changed, &lock);
	if (head != tail) {
		piece = waiting[tail++ % ROOM];
		tb_counter(tb_here(), &queue, "waiting", head - tail);
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return piece;
}

static void *worker(void *unused)
{
	uint64_t piece;

	(void)unused;
	while ((piece = get())) {
		tb_begin_flow(tb_here(), &work, "piece", piece);
		busy_for(200);
		tb_instant_args(tb_here(), &work, "half way", TB_U64("piece", piece),
				TB_TEXT("kind", piece % 2 ? "odd" : "even"));
		busy_for(200);
		tb_instant_flow(tb_here(), &work, "done", piece, true);
		tb_end(tb_here(), &work);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];
	uint64_t piece;
	int i;

	if (tb_default_open(NULL, NULL) < 0)
		fprintf(stderr, "threads: nothing can be recorded: is the module loaded?\n");
	tb_write_mark("the sample begins");
	for (i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			return 1;
	for (piece = 1; piece <= PIECES; piece++) {
		busy_for(100);
		put(piece);
	}
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	tb_write_mark("the sample ends");
	return 0;
}
