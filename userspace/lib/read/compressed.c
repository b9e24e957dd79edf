// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A trace that is compressed: zstd frames, each of whole blocks (docs/abi.md).
 *
 * Everything behind looks at a trace as one row of bytes.  They are unpacked, frame by frame,
 * into a file without a name, so the kernel can take the memory away and bring it back; where
 * there is no room for one they stay in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>
#include "internal.h"

#define FRAME_MAX (64ull << 20)	/* bytes in a frame: a larger one is none of ours */

static uint32_t magic_at(const unsigned char *at)
{
	uint32_t magic;

	memcpy(&magic, at, sizeof(magic));
	return magic;
}

static bool skippable(uint32_t magic)
{
	return (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

bool tb_compressed(const void *data, size_t size)
{
	return size >= sizeof(uint32_t) &&
	       (magic_at(data) == ZSTD_MAGICNUMBER || skippable(magic_at(data)));
}

/* ---- what is there ---- */

/**
 * struct piece - a frame, or a block between frames (files may be put one behind the other)
 * @bytes: of the file
 * @content: when unpacked; 0: nothing to be read
 * @packed: it is a frame
 */
struct piece {
	size_t bytes;
	size_t content;
	bool   packed;
};

/* The piece at the start of @data; -errno with @error, offset from there */
static int piece_at(const unsigned char *data, size_t size, struct piece *piece,
		    struct tb_error *error)
{
	unsigned long long content;
	struct tb_block header;
	int64_t block;

	memset(piece, 0, sizeof(*piece));
	if (size >= sizeof(uint32_t) && magic_at(data) == TB_BLOCK_MAGIC) {
		/* it may be at any place behind a frame */
		memcpy(&header, data, size < sizeof(header) ? size : sizeof(header));
		block = tb_block_check(&header, size, error);
		if (block < 0)
			return (int)block;
		piece->bytes = piece->content = (size_t)block;
		return 0;
	}
	if (!tb_compressed(data, size))
		return tb_error_set(error, size < sizeof(uint32_t) ? -ENODATA : -EINVAL, 0,
				    "neither a compressed frame nor a block starts here");
	piece->bytes = ZSTD_findFrameCompressedSize(data, size);
	if (ZSTD_isError(piece->bytes))
		return tb_error_set(error, -ENODATA, 0, "cut off: a compressed frame that is not whole");
	if (skippable(magic_at(data)))
		return 0;
	content = ZSTD_getFrameContentSize(data, size);
	if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR ||
	    content > FRAME_MAX)
		return tb_error_set(error, -EINVAL, 0,
				    "a compressed frame that does not say how much is in it, or impossibly much");
	piece->content = (size_t)content;
	piece->packed = true;
	return 0;
}

/* Bytes when unpacked, as far as it is whole */
static uint64_t content_size(const unsigned char *data, size_t size)
{
	struct piece piece;
	uint64_t sum = 0;
	size_t at = 0;

	while (at < size && !piece_at(data + at, size - at, &piece, NULL)) {
		sum += piece.content;
		at += piece.bytes;
	}
	return sum;
}

/* ---- room ---- */

/* In a file without a name; NULL: there is no room in the file system */
static void *map_file(size_t size)
{
	const char *folder = getenv("TMPDIR");
	void *map = MAP_FAILED;
	int fd;

	fd = open(folder && *folder ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	/* all of it now: a page for which there is no room later would kill us */
	if (!fallocate(fd, 0, 0, (off_t)size))
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static void *map_room(size_t size)
{
	void *map = map_file(size);

	if (map)
		return map;
	/* shared: tb_trace_forget() must not lose what is in it */
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return map == MAP_FAILED ? NULL : map;
}

/* ---- unpacking ---- */

static int unpack_piece(ZSTD_DCtx *context, const unsigned char *from, const struct piece *piece,
			struct tb_unpacked *to)
{
	size_t got;

	if (piece->content > to->room - to->size)
		return tb_error_set(&to->fault, -EINVAL, 0, "the file has changed meanwhile");
	if (piece->packed) {
		got = ZSTD_decompressDCtx(context, to->data + to->size, piece->content, from,
					  piece->bytes);
		if (ZSTD_isError(got))
			return tb_error_set(&to->fault, -EBADMSG, 0, "a damaged frame: %s",
					    ZSTD_getErrorName(got));
		if (got != piece->content)
			return tb_error_set(&to->fault, -EBADMSG, 0,
					    "a damaged frame: %zu bytes, not the %zu it says",
					    got, piece->content);
	} else {
		memcpy(to->data + to->size, from, piece->content);
	}
	to->size += piece->content;
	return 0;
}

int tb_unpack(const void *data, size_t size, struct tb_unpacked *unpacked,
	      struct tb_error *error)
{
	const unsigned char *from = data;
	ZSTD_DCtx *context;
	struct piece piece;
	uint64_t room = content_size(data, size);
	size_t at = 0;
	int result = 0;

	memset(unpacked, 0, sizeof(*unpacked));
	if (!room) {
		/* nothing to read; why is what the first piece says */
		result = piece_at(from, size, &piece, error);
		return result ? result : tb_error_set(error, -ENODATA, 0, "empty");
	}
	if (room > SIZE_MAX / 2)
		return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE, "out of memory");
	context = ZSTD_createDCtx();
	unpacked->data = context ? map_room((size_t)room) : NULL;
	if (!unpacked->data) {
		ZSTD_freeDCtx(context);
		return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE,
				    "no room for the %" PRIu64 " MB that are compressed in it, neither in $TMPDIR (/var/tmp) nor in memory",
				    room / 1000000);
	}
	unpacked->room = (size_t)room;
	while (at < size && !result) {
		result = piece_at(from + at, size - at, &piece, &unpacked->fault);
		if (!result && piece.content)
			result = unpack_piece(context, from + at, &piece, unpacked);
		if (!result)
			at += piece.bytes;
	}
	ZSTD_freeDCtx(context);
	unpacked->faulty = result;
	unpacked->fault.offset += at;
	if (unpacked->size)
		return 0;
	munmap(unpacked->data, unpacked->room);
	if (error)
		*error = unpacked->fault;
	return result;
}
