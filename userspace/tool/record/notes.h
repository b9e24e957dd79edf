/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes: blocks that the recorder, not the kernel, writes into the file.
 */
#ifndef TRACEBUF_NOTES_H
#define TRACEBUF_NOTES_H

#include <stddef.h>
#include <stdint.h>

/* Block size of notes: a multiple of the alignment that O_DIRECT needs */
#define NOTE_LOG2 12

/**
 * struct notes - blocks of notes
 * @data: the blocks, aligned to the size of a block; the owner frees it; NULL: none
 * @blocks: number of blocks
 * @first: sequence number of the first block: the file may have earlier notes
 * @provider: provider of the recording
 */
struct notes {
	unsigned char *data;
	size_t   blocks;
	uint64_t first;
	uint16_t provider;
};

/* Append an event; 0 or -ENOMEM.  After -ENOMEM the earlier events are still valid. */
int notes_add(struct notes *notes, uint16_t id, const void *payload, size_t bytes);

static inline size_t notes_bytes(const struct notes *notes)
{
	return notes->blocks << NOTE_LOG2;
}

#endif /* TRACEBUF_NOTES_H */
