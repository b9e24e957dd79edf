// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A trace that is compressed: zstd frames, each of whole blocks, or frames of a packed trace
 * (lib/pack/, docs/abi.md).
 *
 * Everything behind looks at a trace as one row of bytes.  They are unpacked, frame by frame,
 * into a file without a name, so the kernel can take the memory away and bring it back; where
 * such a file cannot be made they stay in memory.
 *
 * A frame may claim any size: the file grows by what a frame really had in it.  Unpacking ends at
 * the first bytes that are no block, behind which nothing is read anyway.  A damaged frame of a
 * packed trace is left out, and unpacking goes on with the next one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>
#include "internal.h"
#include "lib/pack/pack.h"

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
	       (magic_at(data) == ZSTD_MAGICNUMBER || skippable(magic_at(data)) ||
		tb_packed(data, size));
}

/* ---- what is there ---- */

/**
 * struct piece - a frame, or a block between frames (files may be put one behind the other)
 * @bytes: of the file
 * @content: when unpacked; 0: nothing to be read
 * @kind: PIECE_ZSTD, PIECE_PACKED: a frame
 * @header: PIECE_PACKED
 */
struct piece {
	size_t bytes;
	size_t content;
	enum { PIECE_PLAIN, PIECE_ZSTD, PIECE_PACKED } kind;
	struct tb_pack_frame header;
};

/* The piece at the start of @data; -errno with @error, offset from there */
static int piece_at(const unsigned char *data, size_t size, struct piece *piece,
		    struct tb_error *error)
{
	unsigned long long content;
	struct tb_block header;
	int64_t block;
	int result;

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
	if (tb_packed(data, size)) {
		result = tb_pack_header(data, size, &piece->header, error);
		if (result)
			return result;
		piece->bytes = piece->header.bytes;
		piece->content = piece->header.content;
		piece->kind = PIECE_PACKED;
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
	piece->kind = PIECE_ZSTD;
	return 0;
}

/* ---- room ---- */

/* A file without a name, in memory where the file system has none; -errno */
static int open_room(void)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	fd = open(folder && *folder ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && errno != ENOSPC && errno != EDQUOT)
		fd = memfd_create("tracebuf", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/**
 * struct unpacking
 * @fd: where the bytes go, @size of them so far
 * @next: the next block begins there
 * @frame: room for what is in a frame
 * @blocks: so far there are blocks alone
 */
struct unpacking {
	ZSTD_DCtx *context;
	struct tb_unpacker *unpacker;	/* NULL: there has been no packed frame */
	int      fd;
	uint64_t size, next;
	unsigned char *frame;
	size_t   room;
	bool     blocks;
};

static int no_room(struct tb_error *error, int code)
{
	return tb_error_set(error, code, TB_OFFSET_NONE,
			    "no room in $TMPDIR (/var/tmp) for what is compressed in it: %s",
			    strerror(-code));
}

/* What a piece had in it; -errno where there is no room, and then without an offset */
static int append(struct unpacking *unpacking, const unsigned char *data, size_t size,
		  struct tb_error *error)
{
	uint64_t start = unpacking->size, end = start + size;
	ssize_t done;

	while (unpacking->blocks && unpacking->next < end) {
		int64_t bytes = -EINVAL;

		/* a block may go on in the next frame, but not in the middle of its header */
		if (end - unpacking->next >= sizeof(struct tb_block))
			bytes = tb_block_check(data + (unpacking->next - start),
					       1u << TB_BLOCK_LOG2_MAX, NULL);
		unpacking->blocks = bytes > 0;
		unpacking->next += unpacking->blocks ? (uint64_t)bytes : 0;
	}
	for (; size; data += done, size -= (size_t)done) {
		done = pwrite(unpacking->fd, data, size, (off_t)unpacking->size);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done <= 0)
			return no_room(error, done < 0 ? -errno : -ENOSPC);
		unpacking->size += (uint64_t)done;
	}
	return 0;
}

/* ---- unpacking ---- */

static int unpack_packed(struct unpacking *unpacking, const unsigned char *from,
			 const struct piece *piece, struct tb_error *error)
{
	int result;

	if (!unpacking->unpacker)
		unpacking->unpacker = tb_unpacker_open();
	result = unpacking->unpacker ?
		 tb_unpacker_frame(unpacking->unpacker, from, &piece->header, unpacking->frame) :
		 -ENOMEM;
	if (result == -ENOMEM)
		return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE, "out of memory");
	if (result)
		return tb_error_set(error, result, 0,
				    "a damaged frame: %zu bytes of blocks are missing",
				    piece->content);
	return append(unpacking, unpacking->frame, piece->content, error);
}

static int unpack_frame(struct unpacking *unpacking, const unsigned char *from,
			const struct piece *piece, struct tb_error *error)
{
	size_t got;

	if (piece->content > unpacking->room) {
		free(unpacking->frame);
		unpacking->frame = malloc(piece->content);
		unpacking->room = unpacking->frame ? piece->content : 0;
		if (!unpacking->frame)
			return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE, "out of memory");
	}
	if (piece->kind == PIECE_PACKED)
		return unpack_packed(unpacking, from, piece, error);
	got = ZSTD_decompressDCtx(unpacking->context, unpacking->frame, piece->content, from,
				  piece->bytes);
	if (ZSTD_isError(got))
		return tb_error_set(error, -EBADMSG, 0, "a damaged frame: %s",
				    ZSTD_getErrorName(got));
	if (got != piece->content)
		return tb_error_set(error, -EBADMSG, 0,
				    "a damaged frame: %zu bytes, not the %zu it says",
				    got, piece->content);
	return append(unpacking, unpacking->frame, got, error);
}

static int unpack_piece(struct unpacking *unpacking, const unsigned char *from, size_t size,
			size_t *bytes, struct tb_error *error)
{
	struct piece piece;
	int result = piece_at(from, size, &piece, error);

	if (result)
		return result;
	*bytes = piece.bytes;
	if (!piece.content)
		return 0;
	return piece.kind == PIECE_PLAIN ? append(unpacking, from, piece.content, error) :
	       unpack_frame(unpacking, from, &piece, error);
}

/* Where to go on behind damage at @from: with the next packed frame; @size: there is none */
static size_t next_packed(const unsigned char *from, size_t size)
{
	struct tb_pack_frame header;

	if (tb_packed(from, size) && !tb_pack_header(from, size, &header, NULL))
		return header.bytes;
	return 1 + tb_pack_find(from + 1, size - 1);
}

/* All that can be: 0, or -errno with the first @fault, which has no offset where nothing can be
 * read */
static int unpack_all(struct unpacking *unpacking, const unsigned char *from, size_t size,
		      struct tb_error *fault)
{
	struct tb_error error;
	size_t at = 0, bytes;
	int result, first = 0;

	while (at < size && unpacking->blocks) {
		result = unpack_piece(unpacking, from + at, size - at, &bytes, &error);
		if (result && error.offset == TB_OFFSET_NONE) {
			*fault = error;
			return result;
		}
		if (result && !first) {
			first = result;
			*fault = error;
			fault->offset += at;
		}
		/* what follows cannot be told from the rest of a block that is cut off */
		if (result && unpacking->next > unpacking->size)
			break;
		at += result ? next_packed(from + at, size - at) : bytes;
	}
	return first;
}

/* The file is mapped, and not needed otherwise */
static int map_all(const struct unpacking *unpacking, struct tb_unpacked *unpacked,
		   struct tb_error *error)
{
	void *map;

	if (!unpacking->size)
		return tb_error_set(error, -ENODATA, 0, "empty");
	map = unpacking->size > SIZE_MAX / 2 ? MAP_FAILED :
	      mmap(NULL, (size_t)unpacking->size, PROT_READ, MAP_SHARED, unpacking->fd, 0);
	if (map == MAP_FAILED)
		return tb_error_set(error, -ENOMEM, TB_OFFSET_NONE, "out of memory");
	unpacked->data = map;
	unpacked->size = (size_t)unpacking->size;
	return 0;
}

int tb_unpack(const void *data, size_t size, struct tb_unpacked *unpacked,
	      struct tb_error *error)
{
	struct unpacking unpacking = { .context = ZSTD_createDCtx(), .blocks = true };
	struct tb_error *fault = &unpacked->fault;
	int result;

	memset(unpacked, 0, sizeof(*unpacked));
	unpacking.fd = open_room();
	if (!unpacking.context)
		result = tb_error_set(fault, -ENOMEM, TB_OFFSET_NONE, "out of memory");
	else if (unpacking.fd < 0)
		result = no_room(fault, unpacking.fd);
	else
		result = unpack_all(&unpacking, data, size, fault);
	/* the caller reads what stands before the damage, and tells of the damage */
	unpacked->faulty = result && unpacking.size && fault->offset != TB_OFFSET_NONE;
	if (!result || unpacked->faulty)
		result = map_all(&unpacking, unpacked, fault);
	if (result && error)
		*error = *fault;
	if (unpacking.fd >= 0)
		close(unpacking.fd);
	free(unpacking.frame);
	tb_unpacker_close(unpacking.unpacker);
	ZSTD_freeDCtx(unpacking.context);
	return result;
}
