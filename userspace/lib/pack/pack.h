/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtracebuf, private: packed traces: blocks cut into columns, in frames (docs/abi.md, "Packed
 * files").
 *
 * The encoder turns consecutive blocks into one frame; the decoder turns a frame into the same
 * blocks.  A frame does not depend on others.  Callers: the commands pack and unpack, and
 * lib/read/frames.c for all that reads files.  There is no global state that changes.  Use each
 * encoder or decoder from one thread at a time.
 */
#ifndef TB_PACK_H
#define TB_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tracebuf.h"

#define TB_PACK_MAGIC	0x4b504254u	/* "TBPK" in memory */
#define TB_PACK_VERSION	1
#define TB_PACK_CONTENT	(8u << 20)	/* largest content of a frame, in bytes */
#define TB_PACK_RATIO	4096u		/* a frame has at least 1/4096 of its content's size */

/**
 * struct tb_pack_frame - the header of a frame, 80 bytes
 * @magic: TB_PACK_MAGIC
 * @version: TB_PACK_VERSION
 * @bytes: size of the frame with this header
 * @content: size of the unpacked content, 1..TB_PACK_CONTENT
 * @units: number of units: blocks, and runs of other bytes
 * @events: sum of tb_block.events of all blocks in columns
 * @cpus: number of CPUs in the index
 * @ids: number of event ids in the index
 * @start: the lowest tb_block.time_start of the rolling blocks in columns, 0 without any
 * @end: the highest tb_block.time_end of them
 * @overwritten, @dropped: sums over the gap slots of these blocks
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
 * struct tb_pack_count - entry of a frame's index for one event id
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
 * tb_packer_open - create an encoder
 * @level: compression level of zstd, 1..19
 * Return: for tb_packer_close(); NULL: out of memory.
 */
struct tb_packer *tb_packer_open(int level);
void tb_packer_close(struct tb_packer *packer);

/**
 * tb_packer_frame - encode bytes into one frame
 * @data: 8-byte aligned, @size 1..TB_PACK_CONTENT bytes.  Blocks at their start go into columns;
 *	from the first place without a whole block on, bytes go into the frame unchanged
 * @frame: out: the frame, valid until the next call
 * @bytes: out: its size
 *
 * The encoder learns the layout of events from durable blocks.  So encode the frames of a file in
 * order, or call tb_packer_learn() for blocks that another encoder encodes.
 * Return: 0; -EINVAL wrong size; -ENOMEM
 */
int tb_packer_frame(struct tb_packer *packer, const void *data, size_t size, const void **frame,
		    size_t *bytes);

/**
 * tb_packer_learn - learn the layout of events from a whole @block, if it is durable
 * Return: 0; -ENOMEM
 */
int tb_packer_learn(struct tb_packer *packer, const struct tb_block *block);

/** tb_packed - true if @size bytes at @data start like a packed trace */
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
 * tb_pack_find - find the next frame after damage
 * @data: any alignment, @size bytes
 * Return: offset of the first frame with an undamaged header; @size: there is none
 */
size_t tb_pack_find(const void *data, size_t size);

/** tb_unpacker_open - create a decoder, for tb_unpacker_close(); NULL: out of memory */
struct tb_unpacker *tb_unpacker_open(void);
void tb_unpacker_close(struct tb_unpacker *unpacker);

/**
 * tb_unpacker_frame - decode a frame
 * @frame: any alignment, with header->bytes bytes
 * @header: from tb_pack_header() of this frame
 * @to: 16-byte aligned, room for header->content bytes, all of which are written
 *
 * Return: 0; -EBADMSG damaged: the contents of @to are undefined; -ENOMEM
 */
int tb_unpacker_frame(struct tb_unpacker *unpacker, const void *frame,
		      const struct tb_pack_frame *header, void *to);

/**
 * tb_unpacker_headers - decode the headers of blocks in columns, and all other bytes of a frame
 * @to: as for tb_unpacker_frame(); for blocks in columns only the first 64 bytes are written
 * @columns: out: number of blocks in columns
 *
 * Takes a fraction of the work of tb_unpacker_frame().
 * Return: as tb_unpacker_frame(), which may find damaged events later
 */
int tb_unpacker_headers(struct tb_unpacker *unpacker, const void *frame,
			const struct tb_pack_frame *header, void *to, uint32_t *columns);

/** tb_pack_has - true if a frame's index has event @id in its columns.  tb_unpacker_headers() has
 * found the frame undamaged. */
bool tb_pack_has(const void *frame, const struct tb_pack_frame *header, uint32_t id);

#endif /* TB_PACK_H */
