// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compressing blocks; see pack.h.
 *
 * Frames are independent of each other, so each thread takes the next that nobody has.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "pack.h"

#define FRAME_BYTES (256u << 10)	/* of blocks, or one if that is larger */
#define SEEK_MAGIC 0x184d2a5eu		/* of the skippable frame */
#define SEEKABLE_MAGIC 0x8f92eab1u	/* at its end */

struct worker {
	struct pack *pack;
	pthread_t thread;
	ZSTD_CCtx *context;
};

struct pack {
	int level;
	unsigned int nr_workers;	/* the caller is the first */
	struct worker *workers;
	unsigned char *room[PACK_FRAMES];
	size_t room_bytes[PACK_FRAMES];

	pthread_mutex_t lock;
	pthread_cond_t  more, done;
	struct frame *frames;
	unsigned int nr_frames, next, busy;
	bool over;

	uint32_t *seek;			/* compressed and other size of each frame */
	size_t nr_seek, room_seek;
	bool no_seek;			/* one is missing there */
};

/* ---- one frame ---- */

static size_t compress(ZSTD_CCtx *context, const struct frame *frame, void *to, size_t room)
{
	ZSTD_outBuffer out = { .dst = to, .size = room };
	unsigned int i;
	size_t left = 0;

	ZSTD_CCtx_reset(context, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(context, frame->content);
	for (i = 0; i < frame->count; i++) {
		ZSTD_inBuffer in = {
			.src = frame->blocks[i],
			.size = (size_t)1 << frame->blocks[i]->size_log2,
		};

		left = ZSTD_compressStream2(context, &out, &in, i + 1 == frame->count ?
					    ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left) || in.pos < in.size)
			return 0;
	}
	return left ? 0 : out.pos;
}

/* As many as there are for this thread; with the lock held */
static void work(struct pack *pack, ZSTD_CCtx *context)
{
	struct frame *frame;
	unsigned int at;

	while (pack->next < pack->nr_frames) {
		at = pack->next++;
		frame = &pack->frames[at];
		pthread_mutex_unlock(&pack->lock);
		frame->bytes = compress(context, frame, pack->room[at], pack->room_bytes[at]);
		frame->data = pack->room[at];
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
		work(pack, worker->context);
		if (!pack->over)
			pthread_cond_wait(&pack->more, &pack->lock);
	}
	pthread_mutex_unlock(&pack->lock);
	return NULL;
}

/* ---- all of them ---- */

static bool worker_open(struct pack *pack, struct worker *worker)
{
	worker->pack = pack;
	worker->context = ZSTD_createCCtx();
	if (!worker->context)
		return false;
	ZSTD_CCtx_setParameter(worker->context, ZSTD_c_compressionLevel, pack->level);
	ZSTD_CCtx_setParameter(worker->context, ZSTD_c_checksumFlag, 1);
	return worker == pack->workers ||
	       !pthread_create(&worker->thread, NULL, worker_run, worker);
}

struct pack *pack_open(int level, unsigned int threads)
{
	struct pack *pack = calloc(1, sizeof(*pack));

	if (!pack)
		return NULL;
	pthread_mutex_init(&pack->lock, NULL);
	pthread_cond_init(&pack->more, NULL);
	pthread_cond_init(&pack->done, NULL);
	pack->level = level;
	pack->workers = calloc(threads, sizeof(*pack->workers));
	while (pack->workers && pack->nr_workers < threads) {
		if (!worker_open(pack, &pack->workers[pack->nr_workers])) {
			ZSTD_freeCCtx(pack->workers[pack->nr_workers].context);
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
		ZSTD_freeCCtx(pack->workers[i].context);
	}
	for (i = 0; i < PACK_FRAMES; i++)
		free(pack->room[i]);
	pthread_mutex_destroy(&pack->lock);
	pthread_cond_destroy(&pack->more);
	pthread_cond_destroy(&pack->done);
	free(pack->workers);
	free(pack->seek);
	free(pack);
}

/* Without room the frame cannot be compressed, and says so */
static void make_room(struct pack *pack, unsigned int at, size_t content)
{
	size_t bytes = ZSTD_compressBound(content);
	unsigned char *room;

	if (bytes <= pack->room_bytes[at])
		return;
	room = realloc(pack->room[at], bytes);
	if (!room)
		return;
	pack->room[at] = room;
	pack->room_bytes[at] = bytes;
}

unsigned int pack_blocks(struct pack *pack, const struct tb_block *const *blocks,
			 unsigned int count, struct frame frames[PACK_FRAMES])
{
	unsigned int n = 0;
	size_t bytes;

	memset(frames, 0, PACK_FRAMES * sizeof(*frames));
	while (count && n < PACK_FRAMES) {
		struct frame *frame = &frames[n];

		frame->blocks = blocks;
		do {
			bytes = (size_t)1 << (*blocks)->size_log2;
			if (frame->count && frame->content + bytes > FRAME_BYTES)
				break;
			frame->content += bytes;
			frame->count++;
			blocks++;
		} while (--count);
		make_room(pack, n++, frame->content);
	}
	pthread_mutex_lock(&pack->lock);
	pack->frames = frames;
	pack->nr_frames = pack->busy = n;
	pack->next = 0;
	if (n > 1)
		pthread_cond_broadcast(&pack->more);
	work(pack, pack->workers[0].context);
	while (pack->busy)
		pthread_cond_wait(&pack->done, &pack->lock);
	pack->nr_frames = 0;
	pthread_mutex_unlock(&pack->lock);
	return n;
}

/* ---- the table ---- */

void pack_written(struct pack *pack, const struct frame *frame)
{
	uint32_t *grown;

	if (pack->nr_seek == pack->room_seek) {
		grown = realloc(pack->seek, (pack->room_seek + 1024) * 2 * sizeof(*grown));
		if (!grown) {
			pack->no_seek = true;
			return;
		}
		pack->seek = grown;
		pack->room_seek += 1024;
	}
	pack->seek[2 * pack->nr_seek] = (uint32_t)frame->bytes;
	pack->seek[2 * pack->nr_seek++ + 1] = (uint32_t)frame->content;
}

void *pack_table(struct pack *pack, size_t *bytes)
{
	uint32_t head[2] = { SEEK_MAGIC }, magic = SEEKABLE_MAGIC, count = (uint32_t)pack->nr_seek;
	size_t table = pack->nr_seek * 2 * sizeof(*pack->seek);
	unsigned char *data = count && !pack->no_seek ? malloc(table + 17) : NULL;

	*bytes = 0;
	pack->nr_seek = 0;
	pack->no_seek = false;
	if (!data)
		return NULL;
	*bytes = table + 17;
	head[1] = (uint32_t)(table + 9);
	memcpy(data, head, 8);
	memcpy(data + 8, pack->seek, table);
	memcpy(data + 8 + table, &count, 4);
	data[12 + table] = 0;		/* no checksums: they are in the frames */
	memcpy(data + 13 + table, &magic, 4);
	return data;
}
