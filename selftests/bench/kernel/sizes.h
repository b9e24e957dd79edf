/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sizes.h - sizes for all tracers: a ring of 1 MiB, in sub-buffers of 64 KiB where there are any.
 */
#ifndef BENCH_SIZES_H
#define BENCH_SIZES_H

#define RING_BYTES	(1 << 20)
#define BUFFER_BYTES	(64 << 10)
#define BUFFERS		(RING_BYTES / BUFFER_BYTES)

#endif /* BENCH_SIZES_H */
