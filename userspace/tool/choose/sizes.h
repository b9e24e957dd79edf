/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choose the sizes of rings and buffers for a machine.
 */
#ifndef TRACEBUF_SIZES_H
#define TRACEBUF_SIZES_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct sizes_for - the purpose of a recording, and its machine
 * @cpus: number of CPUs that get a ring at once
 * @streaming: a reader runs during the recording
 * @live: the reader needs blocks soon
 * @file_bytes: size of the files; 0: any
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
 * struct sizes - the sizes of rings
 * @cpu: bytes of a ring
 * @buffer: bytes of a buffer
 */
struct sizes {
	uint64_t cpu, buffer;
};

/* Bytes of a ring if the machine has enough memory */
#define SIZES_CPU_MOST (4u << 20)

struct sizes sizes_choose(const struct sizes_for *purpose);
/* The same for this machine; fills in its memory */
struct sizes sizes_here(struct sizes_for *purpose);
/* After the kernel had no memory for @sizes: make them smaller; false: they are the smallest */
bool sizes_smaller(struct sizes *sizes);
/* Bytes that copies of blocks may take while they wait for a slow file (direct.h), with @available
 * bytes of memory (0: unknown); sizes_backlog_here(): on this machine now */
uint64_t sizes_backlog(uint64_t available);
uint64_t sizes_backlog_here(void);

#endif /* TRACEBUF_SIZES_H */
