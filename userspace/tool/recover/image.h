/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An image of a machine's memory: plain memory, or an ELF core with a table of segments.
 */
#ifndef TRACEBUF_IMAGE_H
#define TRACEBUF_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct image_part - memory that is contiguous in the file
 * @address: physical address
 * @offset: offset in the file
 * @bytes: size
 */
struct image_part {
	uint64_t address;
	uint64_t offset;
	uint64_t bytes;
};

/**
 * struct image - an open image
 * @fd: the file
 * @parts, @nr_parts: its parts, sorted by address; they may overlap
 * @bytes: size of all parts
 * @holes: bytes in holes of the file, which read as zeroes
 * @unreadable: bytes that could not be read
 * @error: -errno of the last failed read
 */
struct image {
	int      fd;
	struct image_part *parts;
	size_t   nr_parts;
	uint64_t bytes;
	uint64_t holes;
	uint64_t unreadable;
	int      error;
};

/**
 * struct image_range - the part of a file that is plain memory
 * @start: offset of the first byte
 * @bytes: size; 0: to the end of the file
 * @base: physical address of the first byte
 */
struct image_range {
	uint64_t start, bytes, base;
};

/* Open an image; @range: plain memory, NULL: detect the format.  Complains; EXIT_*; the caller
 * calls image_close() in any case */
int image_open(struct image *image, const char *name, const struct image_range *range);
void image_close(struct image *image);

/* Read @bytes at @at of part @part, also from adjacent parts.  Returns how many bytes could be read
 * */
size_t image_read(const struct image *image, size_t part, uint64_t at, void *data, size_t bytes);

/* Read at most @bytes of part @part from *@at on; first move *@at over holes and unreadable pages.
 * Returns how many bytes; 0: the end of the part */
size_t image_next(struct image *image, size_t part, uint64_t *at, void *data, size_t bytes);

#endif /* TRACEBUF_IMAGE_H */
