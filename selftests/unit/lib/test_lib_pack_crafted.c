// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames that no encoder writes, with right checksums: the decoder refuses them, takes little
 * memory for them, and what it gives depends on the file alone. If this fails, a hostile file shows
 * memory of the reader as events, or takes all memory of the machine.
 */
#include <errno.h>
#include "test_lib_pack.h"

/* A frame that is being written */
struct crafted {
	struct bytes bytes;
	struct tb_pack_frame header;
	uint32_t shapes;
};

static void add(struct crafted *frame, const void *data, size_t size)
{
	bool fine = bytes_add(&frame->bytes, data, size);

	assert(fine);
}

static void add_byte(struct crafted *frame, unsigned int byte)
{
	const unsigned char stored = (unsigned char)byte;

	add(frame, &stored, 1);
}

static void craft(struct crafted *frame, uint32_t shapes)
{
	memset(frame, 0, sizeof(*frame));
	frame->header.magic = TB_PACK_MAGIC;
	frame->header.version = TB_PACK_VERSION;
	add(frame, &frame->header, sizeof(frame->header));
	add(frame, &shapes, sizeof(shapes));
	frame->shapes = shapes;
}

/* A stream of less than 2 MiB, as it is */
static void add_stream(struct crafted *frame, const void *data, size_t size)
{
	add_byte(frame, STREAM_PLAIN);
	add_byte(frame, (size & 0x7f) | 0x80);
	add_byte(frame, (size >> 7 & 0x7f) | 0x80);
	add_byte(frame, (unsigned int)(size >> 14));
	if (size)
		add(frame, data, size);
}

/* A shape with columns of @bits bits behind the first ones; @planes: bytes stored of each */
static void add_shape(struct crafted *frame, unsigned int structure, unsigned int fixed,
		      unsigned int columns, unsigned int bits, unsigned int predictor,
		      unsigned int planes)
{
	struct pack_shape shape = {
		.structure = (uint8_t)structure, .fixed = (uint16_t)fixed, .next = PACK_NONE,
		.columns = (uint8_t)columns, .rows = 1,
	};
	unsigned int i, first = first_column(structure);

	add(frame, &shape, sizeof(shape));
	for (i = 0; i < columns; i++) {
		struct pack_column column = {
			.bits = (uint8_t)(i < first ? 32 : bits), .key = PACK_NONE,
			.bit = (uint16_t)(i < first ? 0 : (i - first) * bits),
			.predictor = (uint8_t)(i < first ? PREDICT_ZERO : predictor),
			.planes = (uint8_t)planes,
		};

		add(frame, &column, sizeof(column));
	}
}

/* The streams of @units units, of which raw ones have @sizes; no symbols of events */
static void add_units(struct crafted *frame, const char *kinds, size_t units,
		      const uint32_t *sizes, size_t nr_sizes)
{
	add_stream(frame, kinds, units);
	add_stream(frame, sizes, 4 * nr_sizes);
	add_stream(frame, NULL, 0);
	if (frame->shapes >= 255)
		add_stream(frame, NULL, 0);
	frame->header.units = (uint32_t)units;
}

static void finish(struct crafted *frame, uint32_t content)
{
	struct tb_pack_frame *header = &frame->header;

	header->bytes = (uint32_t)frame->bytes.used;
	header->content = content;
	memcpy(frame->bytes.at, header, sizeof(*header));
	sign(frame->bytes.at, frame->bytes.used);
}

/* Unpack, or only the headers; the memory held @before in each byte.  The caller frees *@to */
static int unpack(const struct crafted *frame, bool headers, int before, unsigned char **to)
{
	struct tb_unpacker *unpacker = tb_unpacker_open();
	struct tb_pack_frame header;
	uint32_t columns;
	int result;

	assert(unpacker);
	*to = malloc(frame->header.content);
	assert(*to);
	memset(*to, before, frame->header.content);
	CHECK(!tb_pack_header(frame->bytes.at, frame->bytes.used, &header, NULL));
	result = headers ? tb_unpacker_headers(unpacker, frame->bytes.at, &header, *to, &columns) :
			   tb_unpacker_frame(unpacker, frame->bytes.at, &header, *to);
	tb_unpacker_close(unpacker);
	return result;
}

static int result_of(const struct crafted *frame, bool headers)
{
	unsigned char *to;
	int result = unpack(frame, headers, 0, &to);

	free(to);
	return result;
}

/* ---- blocks in columns ---- */

static struct tb_block block_of(unsigned int kind, unsigned int flags, uint32_t data)
{
	return (struct tb_block){
		.magic = TB_BLOCK_MAGIC, .version = TB_BLOCK_VERSION, .kind = (uint8_t)kind,
		.size_log2 = 10, .flags = (uint8_t)flags, .data = data,
	};
}

/* A frame of @before, and of a block of 1 KiB without events in columns, with this header */
static void craft_block(struct crafted *frame, const struct tb_block *block, const void *before,
			uint32_t bytes)
{
	const unsigned char *header = (const void *)block;
	const char kinds[] = { 0, 1 };
	unsigned int i, plane;

	craft(frame, 2);
	add_shape(frame, PACK_BLOCK, 64, 16, 32, PREDICT_ZERO, 4);
	add_shape(frame, PACK_TAIL, 16, 4, 32, PREDICT_ZERO, 0);
	add_units(frame, bytes ? kinds : kinds + 1, bytes ? 2 : 1, &bytes, bytes ? 1 : 0);
	for (i = 0; i < 16; i++)
		for (plane = 0; plane < 4; plane++)
			add_stream(frame, header + 4 * i + plane, 1);
	add_stream(frame, before, bytes);
	finish(frame, 1024 + bytes);
}

static void incomplete(void)
{
	struct tb_block block = block_of(TB_BLOCK_ROLLING, TB_BLOCK_COMPLETE, 64);
	struct crafted frame;
	int headers;

	for (headers = 0; headers < 2; headers++) {
		block.flags = TB_BLOCK_COMPLETE;
		craft_block(&frame, &block, NULL, 0);
		CHECK_NUMBER(result_of(&frame, headers), 0);
		free(frame.bytes.at);
		/* a reader would keep an open block, and never unpack its events */
		block.flags = 0;
		craft_block(&frame, &block, NULL, 0);
		CHECK_NUMBER(result_of(&frame, headers), -EBADMSG);
		free(frame.bytes.at);
	}
}

/*
 * The first 64 bytes of a note, then a block in columns, which the note's size includes.  A reader
 * copies the whole note when it opens the file.
 */
static void by_file_alone(void)
{
	struct tb_block block = block_of(TB_BLOCK_ROLLING, TB_BLOCK_COMPLETE, 64);
	struct tb_block note = block_of(TB_BLOCK_NOTE, TB_BLOCK_COMPLETE, 1024);
	unsigned char *one, *other;
	struct crafted frame;
	int headers;

	craft_block(&frame, &block, &note, sizeof(note));
	for (headers = 0; headers < 2; headers++) {
		CHECK_NUMBER(unpack(&frame, headers, 0x11, &one), 0);
		CHECK_NUMBER(unpack(&frame, headers, 0xee, &other), 0);
		CHECK(!memcmp(one, other, frame.header.content));
		free(one);
		free(other);
	}
	free(frame.bytes.at);
}

/* ---- memory ---- */

/* A frame of some bytes, with @shapes shapes, each with a table for 63 columns */
static void craft_tables(struct crafted *frame, uint32_t shapes)
{
	static const unsigned char raw[16];
	const uint32_t size = sizeof(raw);
	uint32_t i;

	craft(frame, shapes);
	for (i = 0; i < shapes; i++)
		add_shape(frame, TB_STRUCT_SIMPLE, 8, 64, 1, PREDICT_BY_THREAD, 0);
	add_units(frame, "", 1, &size, 1);
	add_stream(frame, raw, sizeof(raw));
	finish(frame, sizeof(raw));
}

static void tables(void)
{
	struct crafted frame;

	craft_tables(&frame, PACK_TABLES / 63);
	CHECK_NUMBER(result_of(&frame, false), 0);
	free(frame.bytes.at);
	craft_tables(&frame, PACK_TABLES / 63 + 1);
	CHECK_NUMBER(result_of(&frame, false), -EBADMSG);
	free(frame.bytes.at);
}

/* @frames frames, each of 8 MiB of notes of @size bytes: zeros, and at the end the byte @last */
static struct tb_trace *open_notes(unsigned char **file, unsigned int frames, uint32_t size,
				   unsigned char last)
{
	struct tb_block note = block_of(TB_BLOCK_NOTE, TB_BLOCK_COMPLETE, 64);
	struct tb_packer *packer = tb_packer_open(1);
	unsigned char *blocks = calloc(1, TB_PACK_CONTENT);
	struct tb_trace *trace = NULL;
	const void *frame;
	size_t at, bytes;

	assert(packer && blocks);
	note.size_log2 = size == 1024 ? 10 : 12;
	for (at = 0; at < TB_PACK_CONTENT; at += size) {
		memcpy(blocks + at, &note, sizeof(note));
		blocks[at + size - 1] = last;
	}
	CHECK(!tb_packer_frame(packer, blocks, TB_PACK_CONTENT, &frame, &bytes));
	*file = malloc(frames * bytes);
	assert(*file);
	for (at = 0; at < frames; at++)
		memcpy(*file + at * bytes, frame, bytes);
	CHECK(!tb_trace_open_memory(*file, frames * bytes, &trace, NULL));
	assert(trace);
	tb_packer_close(packer);
	free(blocks);
	return trace;
}

static void check_kept(uint32_t size, unsigned char last)
{
	unsigned char *file;
	struct tb_trace *trace = open_notes(&file, 1, size, last);

	CHECK_NUMBER(tb_trace_blocks(trace), TB_PACK_CONTENT / size);
	CHECK(!tb_trace_fault(trace));
	tb_trace_close(trace);
	free(file);
	trace = open_notes(&file, 30, size, last);
	CHECK(tb_trace_blocks(trace) < 10 * TB_PACK_CONTENT / size);
	CHECK(tb_trace_fault(trace) && tb_trace_fault(trace)->code == -EBADMSG);
	tb_trace_close(trace);
	free(file);
}

static void kept_blocks(void)
{
	check_kept(1024, 1);
	/* one byte that is not 0 takes a whole page */
	check_kept(4096, 0);
}

static const struct test tests[] = {
	{ "a block in columns is complete", incomplete },
	{ "what is unpacked depends on the file alone", by_file_alone },
	{ "tables of predictions have a limit", tables },
	{ "so have the blocks that stay in memory", kept_blocks },
};

int main(void)
{
	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
