// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packing blocks; see pack.h.
 *
 * Frames are independent of each other, so several threads pack them: each takes the next frame
 * that no thread has.  Each thread has its own encoder, and all encoders learn from all durable
 * blocks.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/pack/pack.h"
#include "pack.h"

#define FRAME_BYTES (1u << 20)	/* bytes of blocks in a frame: larger frames save hardly more */
#define LEVEL 1			/* higher levels are slower, and save hardly more */

/* A thread; @blocks has room for FRAME_BYTES */
struct worker {
	struct pack *pack;
	pthread_t thread;
	struct tb_packer *packer;
	unsigned char *blocks;
};

struct pack {
	unsigned int nr_workers;	/* the caller is the first */
	struct worker *workers;
	unsigned char *room[PACK_FRAMES];
	size_t room_bytes[PACK_FRAMES];

	pthread_mutex_t lock;
	pthread_cond_t  more, done;
	struct frame *frames;
	unsigned int nr_frames, next, busy;
	bool over;
};

/* ---- one frame ---- */

static size_t block_size(const struct tb_block *block)
{
	return (size_t)1 << block->size_log2;
}

/* Copy the @bytes at @from into the memory of frame @at */
static void keep_frame(struct pack *pack, unsigned int at, const void *from, size_t bytes)
{
	unsigned char *room = pack->room[at];

	if (bytes > pack->room_bytes[at]) {
		room = realloc(room, bytes);
		if (!room)
			return;
		pack->room[at] = room;
		pack->room_bytes[at] = bytes;
	}
	memcpy(room, from, bytes);
	pack->frames[at].data = room;
	pack->frames[at].bytes = bytes;
}

static void pack_frame(struct worker *worker, unsigned int at)
{
	struct frame *frame = &worker->pack->frames[at];
	size_t used = 0, bytes;
	const void *packed;
	unsigned int i;

	for (i = 0; i < frame->count; i++) {
		memcpy(worker->blocks + used, frame->blocks[i], block_size(frame->blocks[i]));
		used += block_size(frame->blocks[i]);
	}
	if (!tb_packer_frame(worker->packer, worker->blocks, used, &packed, &bytes))
		keep_frame(worker->pack, at, packed, bytes);
}

/* Pack frames until none is left to take; the caller holds the lock */
static void pack_frames(struct worker *worker)
{
	struct pack *pack = worker->pack;
	unsigned int at;

	while (pack->next < pack->nr_frames) {
		at = pack->next++;
		pthread_mutex_unlock(&pack->lock);
		pack_frame(worker, at);
		pthread_mutex_lock(&pack->lock);
		if (!--pack->busy)
			pthread_cond_signal(&pack->done);
	}
}

static void *worker_run(void *argument)
{
	struct worker *worker = argument;
	struct pack *pack = worker->pack;

	pthread_mutex_lock(&pack->lock);
	while (!pack->over) {
		pack_frames(worker);
		if (!pack->over)
			pthread_cond_wait(&pack->more, &pack->lock);
	}
	pthread_mutex_unlock(&pack->lock);
	return NULL;
}

/* ---- all of them ---- */

static bool worker_open(struct pack *pack, struct worker *worker, int level)
{
	worker->pack = pack;
	worker->packer = tb_packer_open(level ? level : LEVEL);
	worker->blocks = aligned_alloc(16, FRAME_BYTES);
	return worker->packer && worker->blocks &&
	       (worker == pack->workers ||
		!pthread_create(&worker->thread, NULL, worker_run, worker));
}

static void worker_free(struct worker *worker)
{
	tb_packer_close(worker->packer);
	free(worker->blocks);
}

struct pack *pack_open(int level, unsigned int threads)
{
	struct pack *pack = calloc(1, sizeof(*pack));

	if (!pack)
		return NULL;
	pthread_mutex_init(&pack->lock, NULL);
	pthread_cond_init(&pack->more, NULL);
	pthread_cond_init(&pack->done, NULL);
	pack->workers = calloc(threads, sizeof(*pack->workers));
	while (pack->workers && pack->nr_workers < threads) {
		if (!worker_open(pack, &pack->workers[pack->nr_workers], level)) {
			worker_free(&pack->workers[pack->nr_workers]);
			break;
		}
		pack->nr_workers++;
	}
	if (pack->nr_workers)
		return pack;
	pack_close(pack);
	return NULL;
}

void pack_close(struct pack *pack)
{
	unsigned int i;

	if (!pack)
		return;
	pthread_mutex_lock(&pack->lock);
	pack->over = true;
	pthread_cond_broadcast(&pack->more);
	pthread_mutex_unlock(&pack->lock);
	for (i = 0; i < pack->nr_workers; i++) {
		if (i)
			pthread_join(pack->workers[i].thread, NULL);
		worker_free(&pack->workers[i]);
	}
	for (i = 0; i < PACK_FRAMES; i++)
		free(pack->room[i]);
	pthread_mutex_destroy(&pack->lock);
	pthread_cond_destroy(&pack->more);
	pthread_cond_destroy(&pack->done);
	free(pack->workers);
	free(pack);
}

/* Errors are ignored: an encoder without memory packs less well */
static void packers_learn(struct pack *pack, const struct tb_block *block)
{
	unsigned int i;

	for (i = 0; i < pack->nr_workers; i++)
		tb_packer_learn(pack->workers[i].packer, block);
}

unsigned int pack_blocks(struct pack *pack, const struct tb_block *const *blocks,
			 unsigned int count, struct frame frames[PACK_FRAMES])
{
	unsigned int n = 0;

	memset(frames, 0, PACK_FRAMES * sizeof(*frames));
	while (count && n < PACK_FRAMES) {
		struct frame *frame = &frames[n++];

		frame->blocks = blocks;
		do {
			if (frame->content + block_size(*blocks) > FRAME_BYTES)
				break;
			packers_learn(pack, *blocks);
			frame->content += block_size(*blocks);
			frame->count++;
			blocks++;
		} while (--count);
	}
	pthread_mutex_lock(&pack->lock);
	pack->frames = frames;
	pack->nr_frames = pack->busy = n;
	pack->next = 0;
	if (n > 1)
		pthread_cond_broadcast(&pack->more);
	pack_frames(&pack->workers[0]);
	while (pack->busy)
		pthread_cond_wait(&pack->done, &pack->lock);
	pack->nr_frames = 0;
	pthread_mutex_unlock(&pack->lock);
	return n;
}
