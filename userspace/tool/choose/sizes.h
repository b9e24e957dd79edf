/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sizes of rings and buffers that suit a machine.
 */
#ifndef TRACEBUF_SIZES_H
#define TRACEBUF_SIZES_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct sizes_for - what a recording is for, and where
 * @cpus: how many have a ring
 * @streaming: there is a reader while it records
 * @live: who gets the blocks wants them soon
 * @file_bytes: files are to have this size; 0: any
 * @total, @available: memory of the machine, bytes; 0: unknown
 */
struct sizes_for {
	unsigned int cpus;
	bool     streaming;
	bool     live;
	uint64_t file_bytes;
	uint64_t total, available;
};

/**
 * struct sizes - of the rings
 * @cpu: bytes for each CPU
 * @buffer: bytes of each buffer
 */
struct sizes {
	uint64_t cpu, buffer;
};

/* Bytes for each CPU, where there is memory enough */
#define SIZES_CPU_MOST (4u << 20)

struct sizes sizes_choose(const struct sizes_for *purpose);
/* The same for this machine, whose memory is filled in */
struct sizes sizes_here(struct sizes_for *purpose);
/* What to try when there was no memory for @sizes; false: nothing smaller is of use */
bool sizes_smaller(struct sizes *sizes);
/* Bytes of blocks that may wait for a late file beyond the rings, if so many are available (0:
 * unknown); and here and now */
uint64_t sizes_backlog(uint64_t available);
uint64_t sizes_backlog_here(void);

#endif /* TRACEBUF_SIZES_H */
