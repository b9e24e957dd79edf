/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An image of a machine's memory: a file of pages, or an ELF core with a table of them.
 */
#ifndef TRACEBUF_IMAGE_H
#define TRACEBUF_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct image_part - memory that is in one piece in the file
 * @address: its physical address
 * @offset: where in the file it is
 * @bytes: how much
 */
struct image_part {
	uint64_t address;
	uint64_t offset;
	uint64_t bytes;
};

/**
 * struct image - an open image
 * @fd: the file
 * @parts: what it has, by address; some of it may be there twice
 * @nr_parts: how many
 * @bytes: of all of them
 * @holes: bytes of them that are holes of the file: zeroes that nobody wrote
 * @unreadable: bytes of them that could not be read
 * @error: of the last of those, -errno
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
 * struct image_range - what of a file is an image, where it does not say so itself
 * @start: first byte
 * @bytes: how many; 0: to the end
 * @base: the physical address of the first
 */
struct image_range {
	uint64_t start, bytes, base;
};

/* Complains; EXIT_* */
int image_open(struct image *image, const char *name, const struct image_range *range);
void image_close(struct image *image);

/* @bytes at @at of part @part, and of those that go on there; less where there is no more of it or
 * it cannot be read */
size_t image_read(const struct image *image, size_t part, uint64_t at, void *data, size_t bytes);

/* As much at @at of part @part as is to be looked at next, at most @bytes; *@at moves over holes.
 * 0: none is left */
size_t image_next(struct image *image, size_t part, uint64_t *at, void *data, size_t bytes);

#endif /* TRACEBUF_IMAGE_H */
