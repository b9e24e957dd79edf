/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes: blocks that a program which has read a recording puts into the file.
 */
#ifndef TRACEBUF_NOTES_H
#define TRACEBUF_NOTES_H

#include <stddef.h>
#include <stdint.h>

/* A note's size: what O_DIRECT wants is no larger */
#define NOTE_LOG2 12

/**
 * struct notes - blocks of notes, being filled
 * @data: memory, aligned to the size of a block; to be freed; NULL: none
 * @blocks: how many are in it
 * @first: sequence number of the first: there may be others in the file
 * @provider: whose recording they are of
 */
struct notes {
	unsigned char *data;
	size_t   blocks;
	uint64_t first;
	uint16_t provider;
};

/* One event more; -ENOMEM.  What was added before stays whole. */
int notes_add(struct notes *notes, uint16_t id, const void *payload, size_t bytes);

static inline size_t notes_bytes(const struct notes *notes)
{
	return notes->blocks << NOTE_LOG2;
}

#endif /* TRACEBUF_NOTES_H */
