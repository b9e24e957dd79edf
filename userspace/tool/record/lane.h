/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several threads that write into one file, each in a lane of its own: all take blocks from a
 * device of their own and write or compress them beside each other.
 *
 * Where blocks are in the file is decided when they are taken, under one lock, so they are there
 * in the order in which they were taken: what a block needs is before it.  Writes end in any order;
 * while they are on their way the file has holes.  Frames, whose length is not known before they
 * are compressed, are written in turn.
 */
#ifndef TRACEBUF_LANE_H
#define TRACEBUF_LANE_H

#include <stdbool.h>
#include <stdint.h>
#include "pack.h"
#include "sink.h"
#include "tracebuf.h"

struct lanes;
struct lane;

/* For @sink, which has a way to be written but nothing in it; NULL: out of memory */
struct lanes *lanes_open(struct sink *sink, unsigned int count);
void lanes_close(struct lanes *lanes);
struct lane *lanes_at(struct lanes *lanes, unsigned int index);

/* From here on the lanes write the sink's file, behind what there is; complains, EXIT_* */
int lanes_begin(struct lanes *lanes);
/* They have all finished: what they wrote is in the sink, which can be used as others again */
void lanes_settle(struct lanes *lanes);
/* Bytes the file has or will have */
uint64_t lanes_size(const struct lanes *lanes);
/* How it is written, as a message */
void lanes_describe(struct lanes *lanes);

/* As sink_move(), for the thread of the lane; -EFBIG the file has its size, unless @any */
int lane_move(struct lane *lane, struct tb_device *device, uint32_t flags, bool any);
/* As sink_ready(), sink_fd(), sink_wait() */
bool lane_ready(const struct lane *lane);
int lane_fd(const struct lane *lane);
void lane_wait(struct lane *lane);
/* Until what it has taken is written */
void lane_finish(struct lane *lane);

/* ---- what a lane needs of the sink (sink.c) ---- */

/* Blocks to the file as others, given back; 0 or the first error */
int sink_write(struct sink *sink, const struct tb_block *const *blocks, unsigned int count,
	       struct tb_device *device, const struct tb_ref *refs);
/* Frames that were compressed to the file; what fails is in the sink */
void sink_frames(struct sink *sink, const struct frame *frames, unsigned int count);

#endif /* TRACEBUF_LANE_H */
