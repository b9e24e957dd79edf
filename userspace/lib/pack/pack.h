/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packed traces: blocks taken apart into columns, in frames (docs/abi.md, "Packed files").
 *
 * The encoder turns consecutive blocks into one frame; the decoder turns a frame into the same
 * blocks.  A frame needs nothing but itself.  Callers: the commands pack and unpack, and
 * lib/read/compressed.c for all that reads files.  Nothing here prints, or keeps global state that
 * changes.  One encoder or decoder may be used by one thread at a time.
 */
#ifndef TB_PACK_H
#define TB_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

#define TB_PACK_MAGIC	0x4b504254u	/* "TBPK" in memory */
#define TB_PACK_VERSION	1
#define TB_PACK_CONTENT	(8u << 20)	/* most unpacked bytes in a frame */
#define TB_PACK_RATIO	4096u		/* a frame has at least 1/4096 of its unpacked bytes */

/**
 * struct tb_pack_frame - the header of a frame, 80 bytes
 * @magic: TB_PACK_MAGIC
 * @version: TB_PACK_VERSION
 * @bytes: of the frame, this header included
 * @content: bytes when unpacked, 1..TB_PACK_CONTENT
 * @units: blocks and runs of other bytes
 * @events: tb_block.events of all rolling blocks that are in columns
 * @cpus: CPUs in the index
 * @ids: event ids in the index
 * @start: the lowest tb_block.time_start of the rolling blocks in columns, 0 without any
 * @end: the highest tb_block.time_end of them
 * @overwritten, @dropped: sums over their gap slots
 * @check: CRC-32 of all bytes behind the header
 * @header_check: CRC-32 of the header up to here
 */
struct tb_pack_frame {
	uint32_t magic;
	uint32_t version;
	uint32_t bytes;
	uint32_t content;
	uint32_t units;
	uint32_t events;
	uint32_t cpus;
	uint32_t ids;
	uint64_t start;
	uint64_t end;
	uint64_t overwritten;
	uint64_t dropped;
	uint32_t reserved[2];
	uint32_t check;
	uint32_t header_check;
};

/**
 * struct tb_pack_count - the index of a frame has one for each event id
 * @id: event id
 * @events: elements with this id in blocks that are in columns, structural ones included
 */
struct tb_pack_count {
	uint32_t id;
	uint32_t events;
};

struct tb_packer;
struct tb_unpacker;

/**
 * tb_packer_open - make an encoder
 * @level: of zstd, 1..19
 * Return: NULL: out of memory
 */
struct tb_packer *tb_packer_open(int level);
void tb_packer_close(struct tb_packer *packer);

/**
 * tb_packer_frame - encode bytes into one frame
 * @data: 8-byte aligned, 1..TB_PACK_CONTENT bytes, @size of them.  Blocks at their start go into
 *	columns; where no whole block starts, the rest goes into the frame as it is
 * @frame: out: the frame, good until the next call
 * @bytes: out: its size
 *
 * The encoder learns from durable blocks how events are laid out, so frames of a file are to be
 * encoded in order, or tb_packer_learn() is called for blocks that others encode.
 * Return: 0; -EINVAL wrong size; -ENOMEM
 */
int tb_packer_frame(struct tb_packer *packer, const void *data, size_t size, const void **frame,
		    size_t *bytes);

/**
 * tb_packer_learn - learn how events are laid out, if @block, which is whole, is a durable one
 * Return: 0; -ENOMEM
 */
int tb_packer_learn(struct tb_packer *packer, const struct tb_block *block);

/** tb_packed - do @size bytes at @data start as a packed trace does? */
bool tb_packed(const void *data, size_t size);

/**
 * tb_pack_header - read and check the header of a frame
 * @data: the frame, any alignment; @size bytes can be read
 * @header: out
 *
 * Return: 0; -ENODATA cut off; -EPROTO another version; -EBADMSG damaged.
 */
int tb_pack_header(const void *data, size_t size, struct tb_pack_frame *header,
		   struct tb_error *error);

/**
 * tb_pack_find - find the next frame behind damage
 * @data: any alignment, @size bytes
 * Return: where in @data the first frame with an undamaged header begins; @size: there is none
 */
size_t tb_pack_find(const void *data, size_t size);

/** tb_unpacker_open - make a decoder; NULL: out of memory */
struct tb_unpacker *tb_unpacker_open(void);
void tb_unpacker_close(struct tb_unpacker *unpacker);

/**
 * tb_unpacker_frame - decode a frame
 * @frame: any alignment; tb_pack_header() has given @header for it, and the size it says is there
 * @to: 16-byte aligned, room for header->content bytes, all of which are written
 *
 * Return: 0; -EBADMSG damaged: @to has anything; -ENOMEM
 */
int tb_unpacker_frame(struct tb_unpacker *unpacker, const void *frame,
		      const struct tb_pack_frame *header, void *to);

/**
 * tb_unpacker_headers - decode of a frame what is not in columns, and the headers of blocks that are
 * @to: as of tb_unpacker_frame(); of blocks in columns the first 64 bytes are written
 * @columns: out: how many blocks are in columns
 *
 * A fraction of the work of tb_unpacker_frame().
 * Return: as tb_unpacker_frame(), which may still find that events are damaged
 */
int tb_unpacker_headers(struct tb_unpacker *unpacker, const void *frame,
			const struct tb_pack_frame *header, void *to, uint32_t *columns);

/** tb_pack_has - are there events of id @id in the columns of a frame, as its index says?
 * tb_unpacker_headers() has found it undamaged */
bool tb_pack_has(const void *frame, const struct tb_pack_frame *header, uint32_t id);

#endif /* TB_PACK_H */
