// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lanes; see lane.h.
 *
 * A lane that writes blocks as they are has a struct sink of its own, with what it alone has
 * written, and a struct direct.  Should a write fail the file ends before the first block that is
 * missing.  What others have written behind that by then is missing as well, so each lane remembers
 * where its blocks were until all before them are in the file.
 *
 * Durable blocks are copied when they are taken: of these the kernel only counts how many were
 * given back, and lanes would do that in any order.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "addresses.h"
#include "direct.h"
#include "lane.h"
#include "notes.h"
#include "pack.h"
#include "parts.h"
#include "sink.h"
#include "tool/command/command.h"

#define ALIGN 4096u
#define STEP (64ull << 20)		/* bytes of file to have allocated at once */
#define NOTES_MOST SINK_BATCH		/* blocks that go into a file where it begins */

struct span {
	uint64_t at;
	uint32_t events;
};

struct lane {
	struct lanes *lanes;
	struct sink sink;		/* what this lane has written */
	struct direct_lane told;
	struct pack *pack;		/* or NULL */
	_Atomic uint64_t first;		/* not written yet from here on */
	struct span *spans;		/* written, maybe not all before them */
	size_t nr_spans, room;
};

struct lanes {
	struct sink *sink;
	pthread_mutex_t order;		/* taking blocks and having a place for them */
	pthread_cond_t turned;
	uint64_t tickets, turn;		/* of lanes that compress */
	_Atomic uint64_t end;		/* of the file when all is written */
	uint64_t allocated, step;
	uint64_t cut;			/* the first block that is missing */
	uint64_t shown;			/* who follows the file may read it up to here */
	bool failed;
	bool live;			/* between begin and settle */
	unsigned int count;
	struct lane list[];
};

/* ---- what has been written ---------------------------------------------- */

/* All before it is in the file.  With the lock held */
static uint64_t frontier(const struct lanes *lanes)
{
	uint64_t least = lanes->end, first;
	unsigned int i;

	for (i = 0; i < lanes->count; i++) {
		first = lanes->list[i].first;
		if (first < least)
			least = first;
	}
	return least;
}

/*
 * Who follows a file reads it in order, and not where it has holes: a lock is on all behind the
 * first that is not written yet (lib/follow_source.c)
 */
static bool lock_file(int fd, short type, uint64_t from, uint64_t bytes)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET,
		.l_start = (off_t)from, .l_len = (off_t)bytes,
	};

	return !fcntl(fd, F_OFD_SETLK, &lock);
}

/* With the lock held */
static void show(struct lanes *lanes)
{
	uint64_t end = frontier(lanes);

	if (end > lanes->cut)
		end = lanes->cut;
	/* a file system may have no locks: then nobody is told */
	if (end > lanes->shown &&
	    lock_file(lanes->sink->fd, F_UNLCK, lanes->shown, end - lanes->shown))
		lanes->shown = end;
}

/* What is on its way has been looked at */
static void stepped(struct lane *lane)
{
	uint64_t first = direct_first(lane->sink.direct);

	if (first == lane->first)
		return;
	lane->first = first;
	pthread_mutex_lock(&lane->lanes->order);
	show(lane->lanes);
	pthread_mutex_unlock(&lane->lanes->order);
}

/* Forget what no failure can reach; more room if that is not enough */
static bool make_span_room(struct lane *lane)
{
	struct span *grown;
	size_t i, kept = 0;
	uint64_t least;

	pthread_mutex_lock(&lane->lanes->order);
	least = frontier(lane->lanes);
	pthread_mutex_unlock(&lane->lanes->order);
	for (i = 0; i < lane->nr_spans; i++)
		if (lane->spans[i].at >= least)
			lane->spans[kept++] = lane->spans[i];
	lane->nr_spans = kept;
	if (2 * kept < lane->room)
		return true;
	grown = realloc(lane->spans, (2 * lane->room + 1024) * sizeof(*grown));
	if (!grown)
		return kept < lane->room;
	lane->spans = grown;
	lane->room = 2 * lane->room + 1024;
	return true;
}

static void block_written(void *context, uint64_t at, uint32_t events)
{
	struct lane *lane = context;

	if (lane->nr_spans == lane->room && !make_span_room(lane))
		return;		/* if the file is cut, the count of what is missing is too low */
	lane->spans[lane->nr_spans++] = (struct span) { at, events };
}

static void block_failed(void *context, uint64_t at)
{
	struct lanes *lanes = ((struct lane *)context)->lanes;

	pthread_mutex_lock(&lanes->order);
	lanes->failed = true;
	if (at < lanes->cut)
		lanes->cut = at;
	pthread_mutex_unlock(&lanes->order);
}

/* ---- opening -------------------------------------------------------------- */

static unsigned int threads_each(const struct lanes *lanes)
{
	unsigned int each = lanes->sink->way.threads / lanes->count;

	return each ? each : 1;
}

struct lanes *lanes_open(struct sink *sink, unsigned int count)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes) + count * sizeof(lanes->list[0]));
	struct lane *lane;
	unsigned int i;

	if (!lanes)
		return NULL;
	pthread_mutex_init(&lanes->order, NULL);
	pthread_cond_init(&lanes->turned, NULL);
	lanes->sink = sink;
	lanes->count = count;
	for (i = 0; i < count; i++) {
		lane = &lanes->list[i];
		lane->lanes = lanes;
		lane->told = (struct direct_lane) { block_written, block_failed, lane };
		if (!sink->way.compress)
			continue;
		lane->pack = pack_open(sink->way.level, threads_each(lanes));
		if (!lane->pack) {
			lanes_close(lanes);
			return NULL;
		}
	}
	return lanes;
}

void lanes_close(struct lanes *lanes)
{
	unsigned int i;

	if (!lanes)
		return;
	for (i = 0; i < lanes->count; i++) {
		pack_close(lanes->list[i].pack);
		free(lanes->list[i].spans);
	}
	pthread_mutex_destroy(&lanes->order);
	pthread_cond_destroy(&lanes->turned);
	free(lanes);
}

struct lane *lanes_at(struct lanes *lanes, unsigned int index)
{
	return &lanes->list[index];
}

int lanes_begin(struct lanes *lanes)
{
	struct sink *sink = lanes->sink;
	struct lane *lane;
	unsigned int i;

	sink_begin(sink);
	lanes->end = lanes->allocated = lanes->shown = sink->bytes;
	lanes->cut = UINT64_MAX;
	lanes->live = true;
	if (sink->way.compress)
		return EXIT_FINE;
	lanes->step = direct_in_memory(sink->fd) ? 0 : STEP;
	lock_file(sink->fd, F_WRLCK, lanes->shown, 0);
	for (i = 0; i < lanes->count; i++) {
		lane = &lanes->list[i];
		lane->first = UINT64_MAX;
		lane->sink = (struct sink) {
			.fd = sink->fd, .name = sink->name, .regular = sink->regular,
			.bytes = sink->bytes, .way = sink->way,
		};
		lane->sink.direct = direct_open(&lane->sink, sink->way.block_bytes, &lane->told);
		if (!lane->sink.direct)
			return complain(sink->regular ? "%s: out of memory" :
					"%s: is not a regular file: several readers cannot write into it",
					sink->name);
		lane->sink.bytes = 0;
	}
	return EXIT_FINE;
}

/* ---- the end ---------------------------------------------------------------- */

static void settle_lane(struct lane *lane)
{
	struct sink *sink = lane->lanes->sink, *own = &lane->sink;
	size_t i;

	addresses_merge(&sink->addresses, own->addresses);
	own->addresses = NULL;
	direct_close(own->direct);
	own->direct = NULL;
	if (own->failed && !sink->failed)
		sink->failed = own->failed;
	if (own->refused && !sink->refused)
		sink->refused = own->refused;
	sink->rolling += own->rolling;
	sink->unwritten += own->unwritten;
	for (i = 0; i < lane->nr_spans; i++)
		if (lane->spans[i].at >= lane->lanes->cut)
			sink->unwritten += lane->spans[i].events;
	lane->nr_spans = 0;
	own->failed = own->refused = 0;
	own->rolling = own->unwritten = 0;
}

void lanes_settle(struct lanes *lanes)
{
	struct sink *sink = lanes->sink;
	unsigned int i;
	int flags;

	if (!lanes->live)
		return;
	lanes->live = false;
	for (i = 0; i < lanes->count; i++)
		settle_lane(&lanes->list[i]);
	if (sink->way.compress)
		return;
	sink->bytes = lanes->cut < lanes->end ? lanes->cut : lanes->end;
	/* what the sink has to say comes with write() */
	flags = fcntl(sink->fd, F_GETFL);
	fcntl(sink->fd, F_SETFL, flags & ~O_DIRECT);
	if ((ftruncate(sink->fd, (off_t)sink->bytes) < 0 ||
	     lseek(sink->fd, (off_t)sink->bytes, SEEK_SET) < 0) && !sink->failed)
		sink->failed = -errno;
	lock_file(sink->fd, F_UNLCK, 0, 0);
}

uint64_t lanes_size(const struct lanes *lanes)
{
	return lanes->live ? lanes->end : lanes->sink->bytes;
}

void lanes_describe(struct lanes *lanes)
{
	char text[256];

	if (lanes->sink->way.compress)
		note("%s: %u readers, write() in turn, compressed", lanes->sink->name,
		     lanes->count);
	else
		note("%s: %u readers, each with %s", lanes->sink->name, lanes->count,
		     direct_way(lanes->list[0].sink.direct, text));
}

/* ---- taking blocks ------------------------------------------------------------ */

/* With the lock held */
static int take(struct lane *lane, struct tb_device *device, struct tb_ref *refs,
		const struct tb_block **blocks, uint32_t flags, bool any)
{
	const struct lanes *lanes = lane->lanes;
	const struct sink *sink = lanes->sink;
	int count, i;

	if (lanes->failed)
		return -EIO;
	if (!any && sink->way.most && lanes->end >= sink->way.most)
		return -EFBIG;
	count = tb_device_acquire(device, refs, sink_batch(sink), flags);
	for (i = 0; i < count; i++)
		blocks[i] = tb_device_block(device, &refs[i]);
	return count;
}

static unsigned int nr_durable(const struct tb_block *const *blocks, unsigned int count)
{
	unsigned int i = 0;

	while (i < count && blocks[i]->kind != TB_BLOCK_ROLLING)
		i++;
	return i;
}

static size_t bytes_of(const struct tb_block *block)
{
	return (size_t)1 << block->size_log2;
}

/* ---- written as they are --------------------------------------------------------- */

/* A place in the file.  With the lock held, as all that follows up to move_direct() */
static void place(struct lane *lane, const struct tb_block *block, struct tb_device *device,
		  const struct tb_ref *ref, void *owned)
{
	struct lanes *lanes = lane->lanes;

	direct_add(lane->sink.direct, lanes->end, block, device, ref, owned);
	lanes->end += bytes_of(block);
}

/* @data is taken over */
static void place_owned(struct lane *lane, void *data, size_t bytes)
{
	const unsigned char *at = data, *end = at + bytes;
	const struct tb_block *block;

	while (at < end) {
		block = (const void *)at;
		at += bytes_of(block);
		place(lane, block, NULL, NULL, at == end ? data : NULL);
	}
	if (!bytes)
		free(data);
}

static int place_durable(struct lane *lane, const struct tb_block *const *blocks,
			 unsigned int count, struct tb_device *device, const struct tb_ref *refs)
{
	size_t bytes = 0, at = 0;
	unsigned char *copy;
	unsigned int i;
	int result;

	for (i = 0; i < count; i++)
		bytes += bytes_of(blocks[i]);
	copy = aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
	for (i = 0; copy && i < count; i++) {
		memcpy(copy + at, blocks[i], bytes_of(blocks[i]));
		at += bytes_of(blocks[i]);
	}
	result = tb_device_release(device, refs, count);
	if (!copy)
		return -ENOMEM;
	place_owned(lane, copy, bytes);
	return result < 0 ? result : 0;
}

static int place_beginning(struct lane *lane)
{
	struct sink *sink = lane->lanes->sink;
	size_t bytes;
	void *data;

	if (!sink->continued || !lane->lanes->end)
		return 0;
	sink->continued = false;
	if (parts_notes(&sink->parts, 0, sink->notes, &data, &bytes))
		return -ENOMEM;
	sink->notes += bytes >> NOTE_LOG2;
	place_owned(lane, data, bytes);
	return 0;
}

/* The file's blocks some way ahead, its length as well: then writes need not wait for each other */
static void allocate_ahead(struct lanes *lanes)
{
	uint64_t end = lanes->end;

	while (lanes->step && lanes->allocated < end) {
		if (fallocate(lanes->sink->fd, 0, (off_t)lanes->allocated, (off_t)lanes->step) < 0)
			lanes->step = 0;
		lanes->allocated += lanes->step;
	}
}

static int place_all(struct lane *lane, const struct tb_block *const *blocks, unsigned int count,
		     struct tb_device *device, const struct tb_ref *refs)
{
	unsigned int first = nr_durable(blocks, count), i;
	struct sink *sink = lane->lanes->sink;
	int result = first ? place_durable(lane, blocks, first, device, refs) : 0;

	if (first < count && !result)
		result = place_beginning(lane);
	for (i = first; i < count; i++) {
		if (sink->way.parts && parts_block(&sink->parts, blocks[i]) && !result)
			result = -ENOMEM;
		place(lane, blocks[i], device, &refs[i], NULL);
	}
	allocate_ahead(lane->lanes);
	lane->first = direct_first(lane->sink.direct);
	return result;
}

static int move_direct(struct lane *lane, struct tb_device *device, uint32_t flags, bool any)
{
	const struct tb_block *blocks[SINK_BATCH];
	struct lanes *lanes = lane->lanes;
	struct tb_ref refs[SINK_BATCH];
	int count, result = 0, i;

	direct_step(lane->sink.direct, false);
	stepped(lane);
	if (!lane_ready(lane))
		return 0;
	pthread_mutex_lock(&lanes->order);
	count = take(lane, device, refs, blocks, flags, any);
	if (count > 0)
		result = place_all(lane, blocks, (unsigned int)count, device, refs);
	pthread_mutex_unlock(&lanes->order);
	if (count <= 0)
		return count;
	for (i = 0; i < count && !lanes->sink->no_stacks; i++)
		if (refs[i].ring != TB_RING_DURABLE)
			addresses_block(&lane->sink.addresses, blocks[i]);
	direct_step(lane->sink.direct, false);
	stepped(lane);
	if (lane->sink.failed)
		return -EIO;
	return result ? result : lane->sink.refused ? lane->sink.refused : count;
}

/* ---- compressed ---------------------------------------------------------------------- */

static void wait_for_turn(struct lanes *lanes, uint64_t ticket)
{
	pthread_mutex_lock(&lanes->order);
	while (lanes->turn != ticket)
		pthread_cond_wait(&lanes->turned, &lanes->order);
	pthread_mutex_unlock(&lanes->order);
}

static void end_turn(struct lanes *lanes)
{
	pthread_mutex_lock(&lanes->order);
	lanes->turn++;
	lanes->end = lanes->sink->bytes;
	if (lanes->sink->failed)
		lanes->failed = true;
	pthread_cond_broadcast(&lanes->turned);
	pthread_mutex_unlock(&lanes->order);
}

/* In turn: the frames that there are, and whatever else the blocks need */
static void write_frames(struct lane *lane, const struct tb_block *const *blocks,
			 unsigned int count, struct frame *frames, unsigned int nr)
{
	struct sink *sink = lane->lanes->sink;
	unsigned int i;

	for (i = 0; i < count && sink->way.parts; i++)
		if (blocks[i]->kind == TB_BLOCK_ROLLING)
			parts_block(&sink->parts, blocks[i]);
	for (;;) {
		sink_frames(sink, frames, nr);
		for (i = 0; i < nr; i++) {
			blocks += frames[i].count;
			count -= frames[i].count;
		}
		if (!count)
			return;
		nr = pack_blocks(lane->pack, blocks, count, frames);
	}
}

static int move_packed(struct lane *lane, struct tb_device *device, uint32_t flags, bool any)
{
	const struct tb_block *blocks[SINK_BATCH];
	struct lanes *lanes = lane->lanes;
	struct frame frames[PACK_FRAMES];
	struct tb_ref refs[SINK_BATCH];
	unsigned int nr = 0;
	uint64_t ticket = 0;
	int count, i, result;

	pthread_mutex_lock(&lanes->order);
	count = take(lane, device, refs, blocks, flags, any);
	if (count > 0)
		ticket = lanes->tickets++;
	pthread_mutex_unlock(&lanes->order);
	if (count <= 0)
		return count;
	nr = pack_blocks(lane->pack, blocks, (unsigned int)count, frames);
	for (i = 0; i < count && !lanes->sink->no_stacks; i++)
		addresses_block(&lane->sink.addresses, blocks[i]);
	wait_for_turn(lanes, ticket);
	if (lanes->sink->continued) {
		/* once for a file: notes go in between */
		result = sink_write(lanes->sink, blocks, (unsigned int)count, device, refs);
	} else {
		write_frames(lane, blocks, (unsigned int)count, frames, nr);
		result = tb_device_release(device, refs, (unsigned int)count);
		if (lanes->sink->failed)
			result = -EIO;
	}
	end_turn(lanes);
	return result < 0 ? result : count;
}

/* ---- whichever it is --------------------------------------------------------------------- */

int lane_move(struct lane *lane, struct tb_device *device, uint32_t flags, bool any)
{
	return lane->pack ? move_packed(lane, device, flags, any) :
	       move_direct(lane, device, flags, any);
}

bool lane_ready(const struct lane *lane)
{
	return !lane->sink.direct ||
	       direct_room(lane->sink.direct) >= SINK_BATCH + NOTES_MOST;
}

int lane_fd(const struct lane *lane)
{
	return lane->sink.direct ? direct_fd(lane->sink.direct) : -1;
}

void lane_wait(struct lane *lane)
{
	if (!lane->sink.direct)
		return;
	direct_step(lane->sink.direct, true);
	stepped(lane);
}

void lane_finish(struct lane *lane)
{
	if (lane->sink.direct)
		direct_finish(lane->sink.direct);
	lane->first = UINT64_MAX;
}
