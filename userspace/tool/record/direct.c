// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write blocks while the reader goes on; see direct.h.
 *
 * One write runs at a time.  It has all blocks that were queued when it began, so blocks are in the
 * file in order, and a file that breaks off has whole blocks up to some point.  The slower the
 * device, the more blocks a write has; the kernel sends their requests to the device together.
 *
 * Without io_uring the recorder waits in pwritev(); without O_DIRECT the page cache takes the
 * blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <liburing.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include "direct.h"
#include "output_file.h"
#include "tool/command/command.h"

#define QUEUE 1024u			/* blocks, a power of two; with a backlog it grows */
/* the queue grows before it has less room than this */
#define QUEUE_ROOM (2u * OUTPUT_FILE_BATCH)
#define WRITE_MOST 1024u		/* blocks in one write: IOV_MAX */
#define RELEASE_MOST 1024u		/* blocks released at once */
#define COPY_ALIGN 4096u		/* alignment of copies: O_DIRECT needs no more */
#define STEP_MIN (16ull << 20)		/* bytes of the file to allocate at once */
#define STEP_MAX (256ull << 20)

struct entry {
	struct tb_device *device;	/* @ref is released to it; NULL: nothing to release */
	struct tb_ref ref;
	void    *owned;
	bool     copied;		/* @owned is in the backlog */
	size_t   bytes;
	uint32_t events;		/* missing events if the block is not written */
	bool     rolling;
};

struct direct {
	struct output_file *out;
	struct io_uring ring;
	bool     has_ring;
	bool     past_cache;		/* O_DIRECT */
	const char *no_ring, *no_direct;	/* reasons */
	uint32_t align;
	/* [head, going) is being written, [going, tail) waits */
	struct entry *queue;
	struct iovec *vectors;		/* for each entry */
	unsigned int size;		/* of both, a power of two */
	unsigned int head, going, tail;
	struct backlog *backlog;	/* or NULL */
	uint32_t *ring_held;		/* blocks of each ring in the queue that are not copies */
	unsigned int eased;		/* the entries before this one need no copy any more */
	size_t   part;			/* bytes of the first entry that are written */
	uint64_t waiting;		/* bytes in the queue */
	uint64_t allocated;		/* end of the allocated space */
	uint64_t step;			/* bytes to allocate next; 0: the file system cannot */
};

/* ---- O_DIRECT and io_uring, if available -------------------------------- */

/* A file in memory has no space to allocate ahead, and no O_DIRECT */
static bool in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 || fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
}

/*
 * The alignment that O_DIRECT needs for offsets, lengths and addresses; 0: @why it is not
 * available.  Blocks are powers of two, and aligned to their size, up to a page.
 */
static uint32_t wanted_align(int fd, const char **why)
{
	struct statx status;
	uint32_t align;

	if (in_memory(fd)) {
		*why = "the file system has no device";
		return 0;
	}
	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) < 0 ||
	    !(status.stx_mask & STATX_DIOALIGN))
		return 4096;	/* unknown: use the largest that devices need */
	align = status.stx_dio_offset_align > status.stx_dio_mem_align ?
		status.stx_dio_offset_align : status.stx_dio_mem_align;
	if (!align)
		*why = "the file system does not support it for this file";
	return align;
}

static void try_direct(struct direct *direct, size_t least)
{
	int fd = direct->out->fd, flags = fcntl(fd, F_GETFL);

	direct->align = wanted_align(fd, &direct->no_direct);
	if (!direct->align)
		return;
	if (direct->align > least || direct->out->bytes % direct->align)
		direct->no_direct = "blocks are smaller than the units in which the device writes";
	else if (fcntl(fd, F_SETFL, flags | O_DIRECT) < 0)
		direct->no_direct = "the file system does not support it";
	else
		direct->past_cache = true;
}

static void leave_direct(struct direct *direct, const char *why)
{
	int flags = fcntl(direct->out->fd, F_GETFL);

	fcntl(direct->out->fd, F_SETFL, flags & ~O_DIRECT);
	direct->past_cache = false;
	direct->no_direct = why;
}

static void leave_ring(struct direct *direct, const char *why)
{
	io_uring_queue_exit(&direct->ring);
	direct->has_ring = false;
	direct->no_ring = why;
}

const char *direct_way(const struct direct *direct, char text[256])
{
	int used = snprintf(text, 256, "%s", direct->has_ring ? "io_uring" : "pwritev()");

	if (!direct->has_ring)
		used += snprintf(text + used, 256 - (size_t)used, " (no io_uring: %s)",
				 direct->no_ring);
	if (direct->past_cache)
		snprintf(text + used, 256 - (size_t)used, ", O_DIRECT, multiples of %u bytes",
			 direct->align);
	else
		snprintf(text + used, 256 - (size_t)used, ", through the page cache (no O_DIRECT: %s)",
			 direct->no_direct);
	return text;
}

static void free_memory(struct direct *direct)
{
	free(direct->queue);
	free(direct->vectors);
	free(direct->ring_held);
	free(direct);
}

struct direct *direct_open(struct output_file *out, size_t least)
{
	struct direct *direct;
	int result;

	if (!out->regular)
		return NULL;
	direct = calloc(1, sizeof(*direct));
	if (!direct)
		return NULL;
	direct->size = QUEUE;
	direct->queue = calloc(QUEUE, sizeof(*direct->queue));
	direct->vectors = calloc(QUEUE, sizeof(*direct->vectors));
	direct->backlog = out->options.backlog;
	if (direct->backlog)
		direct->ring_held = calloc(direct->backlog->rings, sizeof(*direct->ring_held));
	if (!direct->queue || !direct->vectors || (direct->backlog && !direct->ring_held)) {
		free_memory(direct);
		return NULL;
	}
	direct->out = out;
	direct->step = in_memory(out->fd) ? 0 : STEP_MIN;
	if (out->options.buffered)
		direct->no_direct = "--buffered";
	else
		try_direct(direct, least);
	/*
	 * Writing to a file in memory is a copy, without a device to wait for.  With io_uring a
	 * kernel thread would make the copy, which costs two context switches a write.
	 */
	if (!direct->past_cache && in_memory(out->fd)) {
		direct->no_ring = "the file is in memory";
		return direct;
	}
	result = io_uring_queue_init(4, &direct->ring, 0);
	direct->has_ring = !result;
	if (result)
		direct->no_ring = strerror(-result);
	return direct;
}

/* ---- after a write ------------------------------------------------------ */

static struct entry *entry_at(struct direct *direct, unsigned int index)
{
	return &direct->queue[index % direct->size];
}

/* The count of blocks that the queue holds of the entry's ring; NULL: a copy, or a durable block */
static uint32_t *ring_held_count(struct direct *direct, const struct entry *entry)
{
	return direct->backlog && entry->device && entry->ref.ring < direct->backlog->rings ?
	       &direct->ring_held[entry->ref.ring] : NULL;
}

/* Bytes of memory that a copy takes */
static size_t copy_bytes(const struct entry *entry)
{
	return (entry->bytes + COPY_ALIGN - 1) / COPY_ALIGN * COPY_ALIGN;
}

static void keep_release_error(struct output_file *out, int result)
{
	if (result < 0 && !out->refused)
		out->refused = result;
}

/* Remove the first @count entries, and release their blocks */
static void remove_entries(struct direct *direct, unsigned int count)
{
	struct tb_ref refs[RELEASE_MOST];
	struct tb_device *device = NULL;
	unsigned int given = 0;
	struct entry *entry;

	for (; count; count--) {
		entry = entry_at(direct, direct->head++);
		free(entry->owned);
		if (entry->copied)
			direct->backlog->bytes -= copy_bytes(entry);
		direct->waiting -= entry->bytes;
		if (!entry->device)
			continue;
		if (ring_held_count(direct, entry))
			--*ring_held_count(direct, entry);
		device = entry->device;
		refs[given++] = entry->ref;
		if (given == RELEASE_MOST) {
			keep_release_error(direct->out, tb_device_release(device, refs, given));
			given = 0;
		}
	}
	if (given)
		keep_release_error(direct->out, tb_device_release(device, refs, given));
}

/* ---- copies, so that rings get blocks back early ------------------------- */

/* Replace the block by a copy; false: no memory, or the limit is reached */
static bool copy_entry(struct direct *direct, unsigned int index)
{
	struct iovec *vector = &direct->vectors[index % direct->size];
	struct entry *entry = entry_at(direct, index);
	struct backlog *backlog = direct->backlog;
	size_t bytes = copy_bytes(entry);
	void *copy = backlog->bytes + bytes > backlog->limit ? NULL :
		     aligned_alloc(COPY_ALIGN, bytes);

	if (!copy) {
		if (backlog->limit)
			backlog->full = true;
		return false;
	}
	backlog->bytes += bytes;
	if (backlog->bytes > backlog->most)
		backlog->most = backlog->bytes;
	memcpy(copy, vector->iov_base, entry->bytes);
	vector->iov_base = copy;
	entry->owned = copy;
	entry->copied = true;
	entry->device = NULL;
	return true;
}

/*
 * A slow file must not fill the rings.  Half of a ring's blocks may be in the queue; the other half
 * is for new events.  Copy the oldest blocks beyond that, and release them.  So copies cost nothing
 * unless half of a ring comes at once, or during one write.  Durable blocks are not copied: they
 * are few, and the kernel needs them back in order.
 *
 * If a copy fails, the next call goes on at that block: finished writes make room.
 */
static void ease_rings(struct direct *direct)
{
	struct tb_ref refs[RELEASE_MOST];
	struct tb_device *device = NULL;
	unsigned int given = 0;
	struct entry *entry;
	uint32_t *count;

	/* without io_uring the reader waits for each write: a copy would gain nothing */
	if (!direct->backlog || !direct->has_ring)
		return;
	/* never copy blocks that a write has had, even if it wrote only part of them */
	if ((int)(direct->eased - direct->going) < 0)
		direct->eased = direct->going;
	for (; direct->eased != direct->tail && given < RELEASE_MOST; direct->eased++) {
		entry = entry_at(direct, direct->eased);
		count = ring_held_count(direct, entry);
		if (!count || *count <= direct->backlog->ring_blocks / 2)
			continue;
		device = entry->device;
		if (!copy_entry(direct, direct->eased))
			break;
		refs[given++] = entry->ref;
		--*count;
	}
	if (given)
		keep_release_error(direct->out, tb_device_release(device, refs, given));
}

/* Double the queue if it is nearly full while copies are still allowed */
static void grow_queue(struct direct *direct)
{
	unsigned int size = 2 * direct->size, i;
	struct iovec *vectors;
	struct entry *queue;

	if (!direct->backlog || !direct->has_ring || direct_room(direct) >= QUEUE_ROOM ||
	    direct->backlog->bytes >= direct->backlog->limit)
		return;
	queue = calloc(size, sizeof(*queue));
	vectors = calloc(size, sizeof(*vectors));
	if (!queue || !vectors) {
		free(queue);
		free(vectors);
		return;
	}
	for (i = direct->head; i != direct->tail; i++) {
		queue[i % size] = *entry_at(direct, i);
		vectors[i % size] = direct->vectors[i % direct->size];
	}
	/* the kernel has its own copy of the running write's vectors (IORING_FEAT_SUBMIT_STABLE) */
	free(direct->queue);
	free(direct->vectors);
	direct->queue = queue;
	direct->vectors = vectors;
	direct->size = size;
}

/* Drop the queue, and truncate the file to its whole blocks */
static void fail(struct direct *direct, int code)
{
	struct output_file *out = direct->out;
	unsigned int i;

	if (!out->failed)
		out->failed = code;
	for (i = direct->head; i != direct->tail; i++)
		out->unwritten += entry_at(direct, i)->events;
	remove_entries(direct, direct->tail - direct->head);
	direct->going = direct->tail;
	direct->part = 0;
	if (ftruncate(out->fd, (off_t)out->bytes) < 0)
		return;		/* then the file ends in part of a block, and readers report that */
}

static void remove_written(struct direct *direct, size_t bytes)
{
	unsigned int count = 0;
	struct entry *entry;

	bytes += direct->part;
	while (direct->head + count != direct->going) {
		entry = entry_at(direct, direct->head + count);
		if (bytes < entry->bytes)
			break;
		bytes -= entry->bytes;
		direct->out->bytes += entry->bytes;
		direct->out->rolling += entry->rolling;
		count++;
	}
	direct->part = bytes;
	remove_entries(direct, count);
}

/* Process the @result of a write: bytes, or -errno */
static void process_result(struct direct *direct, ssize_t result)
{
	if (result > 0) {
		remove_written(direct, (size_t)result);
	} else if (result == -EINVAL && direct->past_cache) {
		leave_direct(direct, "the file system refused a write");
	} else if (result == -EFAULT && direct->past_cache) {
		/* reserved memory has no pages that the kernel could give the device */
		leave_direct(direct, "the buffers are in reserved memory");
	} else if (result == -EOPNOTSUPP && direct->has_ring) {
		leave_ring(direct, "io_uring does not write to this file");
	} else if (result != -EINTR && result != -EAGAIN &&
		   !output_file_make_room(direct->out, result ? (int)result : -ENOSPC)) {
		fail(direct, result ? (int)result : -ENOSPC);
		return;
	}
	/* the next write begins with the rest of this one */
	direct->going = direct->head;
}

/* ---- writing ----------------------------------------------------------- */

/* Allocate space ahead, so that the file is contiguous and writes need not allocate */
static void allocate(struct direct *direct, uint64_t offset, uint64_t end)
{
	if (!direct->step || end <= direct->allocated)
		return;
	if (direct->allocated < offset)
		direct->allocated = offset;
	while (direct->allocated + direct->step < end)
		direct->step *= 2;
	if (fallocate(direct->out->fd, FALLOC_FL_KEEP_SIZE, (off_t)direct->allocated,
		      (off_t)direct->step) < 0) {
		direct->step = 0;
		return;
	}
	direct->allocated += direct->step;
	if (direct->step < STEP_MAX)
		direct->step *= 2;
}

/* Find the vectors of the next write: from the head, at most to the end of the array */
static unsigned int gather(struct direct *direct, struct iovec **vectors, uint64_t *offset)
{
	unsigned int first = direct->head % direct->size, count = direct->tail - direct->head, i;
	uint64_t end = direct->out->bytes;

	if (count > direct->size - first)
		count = direct->size - first;
	if (count > WRITE_MOST)
		count = WRITE_MOST;
	*vectors = &direct->vectors[first];
	if (direct->part) {
		struct iovec *at = *vectors;
		size_t left = direct->queue[first].bytes - direct->part;

		at->iov_base = (char *)at->iov_base + (at->iov_len - left);
		at->iov_len = left;
	}
	*offset = end + direct->part;
	for (i = 0; i < count; i++)
		end += direct->queue[first + i].bytes;
	allocate(direct, *offset, end);
	return count;
}

/*
 * Start the next write.  The kernel reads ring memory, so a block is released only when it is
 * written.  If the recorder is killed, its pages stay until the write ends, but may change: then at
 * most the blocks of that write are damaged, at the end of the file.
 */
static void submit(struct direct *direct)
{
	struct io_uring_sqe *sqe;
	struct iovec *vectors;
	unsigned int count;
	uint64_t offset;
	ssize_t done;
	int result;

	while (direct->going == direct->head && direct->head != direct->tail) {
		count = gather(direct, &vectors, &offset);
		direct->going = direct->head + count;
		if (direct->has_ring) {
			sqe = io_uring_get_sqe(&direct->ring);
			io_uring_prep_writev(sqe, direct->out->fd, vectors, count, offset);
			result = io_uring_submit(&direct->ring);
			if (result >= 0)
				return;
			leave_ring(direct, strerror(-result));
		}
		done = pwritev(direct->out->fd, vectors, (int)count, (off_t)offset);
		process_result(direct, done < 0 ? -errno : done);
	}
}

/*
 * Wait for the running write: until it ends the kernel reads its blocks, so they must stay.  If the
 * kernel refuses to wait, poll the completion queue, which is in shared memory.
 */
static void wait_for(struct direct *direct, struct io_uring_cqe **cqe)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int result;

	do {
		result = io_uring_wait_cqe(&direct->ring, cqe);
	} while (result == -EINTR);
	while (result < 0) {
		nanosleep(&pause, NULL);
		result = io_uring_peek_cqe(&direct->ring, cqe);
	}
}

void direct_step(struct direct *direct, bool wait)
{
	struct io_uring_cqe *cqe = NULL;
	int result;

	ease_rings(direct);
	grow_queue(direct);
	if (direct->has_ring && direct->going != direct->head) {
		if (wait)
			wait_for(direct, &cqe);
		else if (io_uring_peek_cqe(&direct->ring, &cqe) < 0)
			return;
		result = cqe->res;
		io_uring_cqe_seen(&direct->ring, cqe);
		process_result(direct, result);
		ease_rings(direct);
		grow_queue(direct);
	}
	submit(direct);
}

void direct_finish(struct direct *direct)
{
	while (direct->head != direct->tail)
		direct_step(direct, true);
}

unsigned int direct_room(const struct direct *direct)
{
	return direct->size - (direct->tail - direct->head);
}

uint64_t direct_waiting(const struct direct *direct)
{
	return direct->waiting;
}

void direct_add(struct direct *direct, const struct tb_block *block, struct tb_device *device,
		const struct tb_ref *ref, void *owned)
{
	unsigned int index = direct->tail++ % direct->size;
	struct entry *entry = &direct->queue[index];

	entry->device = device;
	if (device)
		entry->ref = *ref;
	if (ring_held_count(direct, entry))
		++*ring_held_count(direct, entry);
	entry->owned = owned;
	entry->copied = false;
	direct->waiting += (uint64_t)1 << block->size_log2;
	entry->bytes = (size_t)1 << block->size_log2;
	entry->rolling = block->kind == TB_BLOCK_ROLLING;
	entry->events = entry->rolling ? block->events : 0;
	direct->vectors[index].iov_base = (void *)(uintptr_t)block;
	direct->vectors[index].iov_len = entry->bytes;
}

int direct_fd(const struct direct *direct)
{
	return direct->has_ring && direct->going != direct->head ? direct->ring.ring_fd : -1;
}

void direct_close(struct direct *direct)
{
	if (!direct)
		return;
	direct_finish(direct);
	if (direct->has_ring)
		io_uring_queue_exit(&direct->ring);
	if (direct->allocated > direct->out->bytes &&
	    ftruncate(direct->out->fd, (off_t)direct->out->bytes) < 0)
		note("%s: the space allocated beyond its end stays allocated: %s", direct->out->name,
		     strerror(errno));
	free_memory(direct);
}
