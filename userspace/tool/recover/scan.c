// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scan an image for blocks, and for the kernel's states of rings.
 *
 * Both are aligned in physical memory: rolling blocks to their size, durable blocks to 4096 bytes,
 * states of rings to TB_RING_IMAGE_ALIGN.  So the scan compares a few words in every 512 bytes with
 * magic numbers, and reads the rest only where one is found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "recover.h"
#include "lib/array.h"

#define WINDOW	(1u << 20)
#define STEP	TB_RING_IMAGE_ALIGN
#define BLOCKS	1024u		/* size of the smallest */

/* Append an entry of @size bytes to @list; NULL: no memory */
static void *append(void **list, size_t *count, size_t *room, size_t size)
{
	if (tb_array_grow(list, room, *count, size))
		return NULL;
	return (char *)*list + (*count)++ * size;
}

/* ---- finding ---- */

static int add_ring(struct recover *recover, const struct tb_ring_image *ring)
{
	struct tb_ring_image *kept;

	if (!ring->recording || ring->cpu > UINT16_MAX ||
	    ring->elements < TB_BUFFER_ELEMENTS_MIN || ring->elements > TB_BUFFER_ELEMENTS_MAX ||
	    ring->elements & (ring->elements - 1) ||
	    !ring->buffers || ring->buffers > TB_BUFFERS_MAX ||
	    TB_RING_IMAGE_USED(ring->head) > ring->elements ||
	    TB_RING_IMAGE_BUFFER(ring->head) >= ring->buffers)
		return 0;
	kept = append((void **)&recover->rings, &recover->nr_rings, &recover->room_rings,
			sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = *ring;
	return 0;
}

static int add_block(struct recover *recover, const struct image *image, size_t part,
		       uint64_t at, const void *header, void *buffer)
{
	const struct image_part *here = &image->parts[part];
	int64_t size = recover_header(header, RECOVER_BLOCK_MAX, here->address + at);
	struct recover_block found, *kept;

	if (size < 0) {
		recover->refused++;
		return 0;
	}
	if (image_read(image, part, at, buffer, (size_t)size) != (size_t)size) {
		recover->cut++;
		return 0;
	}
	/* the buffer has not been used yet */
	if (((const struct tb_block *)buffer)->kind == TB_BLOCK_ROLLING &&
	    ((const struct tb_block *)buffer)->sequence == TB_BLOCK_UNUSED)
		return 0;
	/* check the header again: a machine that runs may have changed it since the first read */
	if (recover_header(buffer, (size_t)size, here->address + at) != size ||
	    !recover_check(buffer, &found)) {
		recover->refused++;
		return 0;
	}
	if (!found.recording) {
		recover->unknown++;
		return 0;
	}
	kept = append((void **)&recover->blocks, &recover->nr_blocks, &recover->room_blocks,
			sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = found;
	kept->part = (uint32_t)part;
	kept->at = at;
	return 0;
}

static int scan_window(struct recover *recover, const struct image *image, size_t part, uint64_t at,
		const unsigned char *window, size_t bytes, void *buffer)
{
	uint64_t address = image->parts[part].address + at;
	size_t i = (size_t)(-address % STEP);
	struct tb_ring_image ring;
	uint32_t magic;
	uint64_t word;
	int result = 0;

	for (; !result && i < bytes && bytes - i >= sizeof(ring); i += STEP) {
		memcpy(&magic, window + i, sizeof(magic));
		if (magic == TB_BLOCK_MAGIC && (address + i) % BLOCKS == 0) {
			result = add_block(recover, image, part, at + i, window + i, buffer);
			continue;
		}
		memcpy(&word, window + i + offsetof(struct tb_ring_image, magic), sizeof(word));
		if (word == TB_RING_IMAGE_MAGIC) {
			memcpy(&ring, window + i, sizeof(ring));
			result = add_ring(recover, &ring);
		}
	}
	return result;
}

/* ---- sorting ---- */

#define ORDER(a, b) do { if ((a) != (b)) return (a) < (b) ? -1 : 1; } while (0)

static int compare_blocks(const void *a, const void *b)
{
	const struct recover_block *first = a, *second = b;

	ORDER(first->recording, second->recording);
	ORDER(first->kind, second->kind);
	ORDER(first->cpu, second->cpu);
	ORDER(first->sequence, second->sequence);
	ORDER(!!first->opening, !!second->opening);
	/* of two writers that opened the block, the later one has moved the ring's head */
	if (first->opening)
		ORDER(second->start, first->start);
	ORDER(first->state, second->state);
	ORDER(second->events, first->events);
	ORDER(first->part, second->part);
	ORDER(first->at, second->at);
	return 0;
}

static int compare_rings(const void *a, const void *b)
{
	const struct tb_ring_image *first = a, *second = b;

	ORDER(first->recording, second->recording);
	ORDER(first->cpu, second->cpu);
	/* the newest first: a copy of the state may be older */
	ORDER(second->recorded, first->recorded);
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct recover_block *first = a, *second = b;

	ORDER(first->recording, second->recording);
	ORDER(first->part, second->part);
	ORDER(first->at, second->at);
	return 0;
}

/*
 * Leave out blocks that are inside an event of another block: a program may have recorded any
 * contents.  But only if both have the same recording number: a program that does not know the
 * number cannot hide a block in a forged one.
 */
static void drop_inside(struct recover *recover)
{
	struct recover_block *blocks = recover->blocks;
	size_t outer = 0, kept = 0, i;

	qsort(blocks, recover->nr_blocks, sizeof(*blocks), compare_places);
	for (i = 0; i < recover->nr_blocks; i++) {
		if (kept && blocks[i].recording == blocks[outer].recording &&
		    blocks[i].part == blocks[outer].part &&
		    blocks[i].at < blocks[outer].at + blocks[outer].data) {
			recover->inside++;
			continue;
		}
		blocks[kept] = blocks[i];
		if (blocks[kept].data)
			outer = kept;
		kept++;
	}
	recover->nr_blocks = kept;
}

int recover_scan(struct recover *recover, struct image *image,
		 void (*tick)(uint64_t bytes, uint64_t of))
{
	unsigned char *window = malloc(WINDOW);
	void *buffer = aligned_alloc(64, RECOVER_BLOCK_MAX);
	uint64_t at, rest, done = 0;
	int result = window && buffer ? 0 : -ENOMEM;
	size_t part, bytes;

	for (part = 0; !result && part < image->nr_parts; part++) {
		at = 0;
		while (!result && (bytes = image_next(image, part, &at, window, WINDOW))) {
			result = scan_window(recover, image, part, at, window, bytes, buffer);
			/* begin the next window at a multiple of STEP, to get whole what was cut */
			rest = (image->parts[part].address + at + bytes) % STEP;
			if (rest < bytes && bytes < image->parts[part].bytes - at)
				bytes -= rest;
			at += bytes;
			if (tick)
				tick(done + at, image->bytes);
		}
		done += image->parts[part].bytes;
	}
	free(window);
	free(buffer);
	if (recover->nr_blocks) {
		drop_inside(recover);
		qsort(recover->blocks, recover->nr_blocks, sizeof(*recover->blocks), compare_blocks);
	}
	if (recover->nr_rings)
		qsort(recover->rings, recover->nr_rings, sizeof(*recover->rings), compare_rings);
	return result;
}

void recover_free(struct recover *recover)
{
	free(recover->blocks);
	free(recover->rings);
	memset(recover, 0, sizeof(*recover));
}
