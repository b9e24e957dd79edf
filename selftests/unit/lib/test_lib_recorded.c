// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user can read what record writes: compressed traces show what was compressed, also when cut
 * off, damaged or concatenated, and each file of a rotated recording has exact counts. If this
 * fails, a recording cannot be read, or a missing file goes unnoticed.
 */
#include <errno.h>
#include <unistd.h>
#include <zstd.h>
#include "lib/read/internal.h"
#include "test_lib_run.h"
#include "../../../userspace/tool/record/notes.c"
#include "../../../userspace/tool/record/continuation.c"

/* Two CPUs, many blocks */
static void long_trace(struct fx *fx)
{
	unsigned int i;

	fx_init(fx, 10, 1000);
	fx_durable_end(fx);
	for (i = 0; i < 20; i++) {
		fx_open(fx, i % 2, 2000 + 10 * i, 5, NULL);
		fx_simple(fx, i % 2, FX_SOFTIRQ, 2001 + 10 * i, 1);
		fx_simple(fx, i % 2, FX_SOFTIRQ, 2002 + 10 * i, 2);
		fx_close(fx, i % 2);
	}
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
}

/* A compressed file, and the offsets of its frames: at most one for each block */
struct packed {
	unsigned char *data;
	size_t size;
	size_t at[64];
	size_t content[64];	/* bytes of all frames before it */
	size_t nr;
};

static void add_frame(struct packed *packed, const void *data, size_t bytes)
{
	size_t room = ZSTD_compressBound(bytes);
	ZSTD_CCtx *context = ZSTD_createCCtx();

	packed->data = realloc(packed->data, packed->size + room);
	assert(packed->data && context && packed->nr + 1 < 64);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	packed->at[packed->nr] = packed->size;
	packed->content[packed->nr + 1] = packed->content[packed->nr] + bytes;
	packed->nr++;
	packed->size += ZSTD_compress2(context, packed->data + packed->size, room, data, bytes);
	ZSTD_freeCCtx(context);
}

/* Compress @blocks into each frame; end with a frame that readers skip */
static void pack(struct packed *packed, const struct fx *fx, unsigned int blocks)
{
	static const unsigned char skipped[] = { 0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3 };
	const struct tb_block *block;
	size_t at = 0, bytes;
	unsigned int n;

	memset(packed, 0, sizeof(*packed));
	while (at < fx->size) {
		for (bytes = n = 0; n < blocks && at + bytes < fx->size; n++) {
			block = (const void *)(fx->data + at + bytes);
			bytes += (size_t)1 << block->size_log2;
		}
		add_frame(packed, fx->data + at, bytes);
		at += bytes;
	}
	packed->data = realloc(packed->data, packed->size + sizeof(skipped));
	memcpy(packed->data + packed->size, skipped, sizeof(skipped));
	packed->at[packed->nr] = packed->size;
	packed->size += sizeof(skipped);
}

static bool same_blocks(const struct tb_trace *one, const struct tb_trace *two)
{
	const struct tb_block *a, *b;
	size_t i;

	if (tb_trace_blocks(one) != tb_trace_blocks(two) ||
	    tb_trace_size(one) != tb_trace_size(two))
		return false;
	for (i = 0; i < tb_trace_blocks(one); i++) {
		a = tb_trace_block(one, i, NULL, NULL);
		b = tb_trace_block(two, i, NULL, NULL);
		if (a->size_log2 != b->size_log2 || memcmp(a, b, (size_t)1 << a->size_log2))
			return false;
	}
	return true;
}

static void whole(void)
{
	struct tb_trace *plain, *trace;
	struct packed packed;
	struct tb_error error;
	unsigned int blocks;
	struct fx fx;

	long_trace(&fx);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &plain, &error));
	for (blocks = 1; blocks <= 30; blocks++) {
		pack(&packed, &fx, blocks);
		CHECK(!tb_trace_open_memory(packed.data, packed.size, &trace, &error));
		CHECK(!tb_trace_fault(trace));
		CHECK(same_blocks(plain, trace));
		tb_trace_close(trace);
		free(packed.data);
	}
	tb_trace_close(plain);
	fx_free(&fx);
}

/* The tool reads compressed files and pipes */
static void by_the_tool(void)
{
	static char plain[sizeof(output)];
	struct packed packed;
	struct fx fx;

	long_trace(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("print", "--fields"), 0);
	CHECK(lines() >= 40);
	strcpy(plain, output);
	pack(&packed, &fx, 3);
	save(packed.data, packed.size);
	CHECK_NUMBER(run_on("print", "--fields"), 0);
	CHECK_TEXT(output, plain);
	CHECK_NUMBER(run_on("print", "--fields - <"), 0);
	CHECK_TEXT(output, plain);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("exact");
	free(packed.data);
	fx_free(&fx);
}

/* Cut at every byte, the frames before it are readable, and the place is reported */
static void cut_off(void)
{
	const struct tb_error *fault;
	struct tb_trace *trace;
	struct packed packed;
	struct tb_error error;
	size_t cut, frame;
	struct fx fx;

	long_trace(&fx);
	pack(&packed, &fx, 2);
	for (cut = 0; cut < packed.size; cut++) {
		for (frame = 0; frame < packed.nr && packed.at[frame + 1] <= cut; frame++)
			;
		if (tb_trace_open_memory(packed.data, cut, &trace, &error)) {
			CHECK(!frame);
			continue;
		}
		CHECK_NUMBER(tb_trace_size(trace), packed.content[frame]);
		fault = tb_trace_fault(trace);
		CHECK(!fault == (cut == packed.at[frame]));
		CHECK(!fault || fault->offset == packed.at[frame]);
		tb_trace_close(trace);
	}
	free(packed.data);
	fx_free(&fx);
}

/* Any damaged byte of a frame is reported, or makes no difference */
static void damaged(void)
{
	struct tb_trace *trace, *plain;
	struct packed packed;
	struct tb_error error;
	size_t at;
	struct fx fx;

	long_trace(&fx);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &plain, &error));
	pack(&packed, &fx, 2);
	for (at = 0; at < packed.at[packed.nr]; at++) {
		packed.data[at] ^= 0x55;
		if (!tb_trace_open_memory(packed.data, packed.size, &trace, &error)) {
			CHECK(tb_trace_fault(trace) || same_blocks(plain, trace));
			tb_trace_close(trace);
		}
		packed.data[at] ^= 0x55;
	}
	tb_trace_close(plain);
	free(packed.data);
	fx_free(&fx);
}

/* A frame that claims an enormous content, and one that claims none */
static void bad_frames(void)
{
	static const unsigned char huge[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0,
	};
	static const unsigned char unknown[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 1, 0, 0,
	};
	struct tb_trace *trace;
	struct tb_error error;

	CHECK(tb_trace_open_memory(huge, sizeof(huge), &trace, &error) == -EINVAL);
	CHECK(strstr(error.text, "impossibly much"));
	CHECK(tb_trace_open_memory(unknown, sizeof(unknown), &trace, &error) == -EINVAL);
	CHECK(tb_trace_open_memory(huge, 4, &trace, &error) == -ENODATA);
}

/* Add a frame that claims @size bytes of content and has none */
static void add_claim(struct packed *packed, uint32_t size)
{
	unsigned char claim[12] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa0 };

	memcpy(claim + 5, &size, sizeof(size));
	claim[9] = 1;			/* the last block, raw, of no bytes */
	packed->data = realloc(packed->data, packed->size + sizeof(claim));
	memcpy(packed->data + packed->size, claim, sizeof(claim));
	packed->size += sizeof(claim);
}

/* The trace has the content that frames really have, whatever they claim */
static void claims(void)
{
	struct tb_trace *trace;
	struct packed packed;
	struct tb_error error;
	unsigned int i;
	struct fx fx;

	long_trace(&fx);
	memset(&packed, 0, sizeof(packed));
	add_frame(&packed, fx.data, fx.size);
	for (i = 0; i < 1600; i++)
		add_claim(&packed, 64 << 20);
	CHECK(!tb_trace_open_memory(packed.data, packed.size, &trace, &error));
	CHECK(tb_trace_fault(trace) && tb_trace_fault(trace)->offset == packed.at[0] +
	      packed.size - 1600 * 12);
	CHECK_NUMBER(tb_trace_size(trace), fx.size);
	tb_trace_close(trace);
	free(packed.data);
	fx_free(&fx);
}

/* The reader unpacks nothing after an invalid block: a few bytes may hide gigabytes of zeros */
static void zeros(void)
{
	size_t bytes = 8 << 20;
	unsigned char *nothing = calloc(1, bytes);
	struct tb_trace *trace;
	struct packed packed;
	struct tb_error error;
	unsigned int i;
	struct fx fx;

	assert(nothing);
	long_trace(&fx);
	memset(&packed, 0, sizeof(packed));
	add_frame(&packed, fx.data, fx.size);
	for (i = 0; i < 4; i++)
		add_frame(&packed, nothing, bytes);
	CHECK(!tb_trace_open_memory(packed.data, packed.size, &trace, &error));
	CHECK(tb_trace_fault(trace) && tb_trace_fault(trace)->offset == fx.size);
	CHECK_NUMBER(tb_trace_size(trace), fx.size + bytes);
	tb_trace_close(trace);
	free(packed.data);
	free(nothing);
	fx_free(&fx);
}

/* Frames alternate with plain blocks */
static void mixed(void)
{
	struct tb_trace *trace, *plain;
	struct packed packed;
	struct tb_error error;
	size_t half = 0;
	unsigned int i;
	struct fx fx;

	long_trace(&fx);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &plain, &error));
	for (i = 0; i < 9; i++)
		half += (size_t)1 << ((const struct tb_block *)(fx.data + half))->size_log2;
	memset(&packed, 0, sizeof(packed));
	add_frame(&packed, fx.data, half);
	packed.data = realloc(packed.data, packed.size + fx.size - half);
	memcpy(packed.data + packed.size, fx.data + half, fx.size - half);
	packed.size += fx.size - half;
	CHECK(!tb_trace_open_memory(packed.data, packed.size, &trace, &error));
	CHECK(!tb_trace_fault(trace));
	CHECK(same_blocks(plain, trace));
	tb_trace_close(trace);
	tb_trace_close(plain);
	free(packed.data);
	fx_free(&fx);
}

/* ---- the files of a rotated recording ---- */

/* A file of blocks and notes */
struct part_file {
	unsigned char *data;
	size_t size;
};

static void part_add(struct part_file *part, const void *data, size_t bytes)
{
	part->data = realloc(part->data, part->size + bytes);
	assert(part->data);
	memcpy(part->data + part->size, data, bytes);
	part->size += bytes;
}

static void part_note(struct part_file *part, const struct continuation *parts, uint32_t flags,
		      uint64_t first)
{
	size_t bytes;
	void *data;

	assert(!continuation_notes(parts, flags, first, &data, &bytes));
	part_add(part, data, bytes);
	free(data);
}

static size_t block_at(const struct fx *fx, size_t at, const struct tb_block **block)
{
	*block = (const void *)(fx->data + at);
	return (size_t)1 << (*block)->size_log2;
}

/* Split a trace in two: @count blocks, and the rest without its first @leave blocks */
static void split(const struct fx *fx, struct part_file part[2], unsigned int count,
		  unsigned int leave, unsigned int lie)
{
	const struct tb_block *block, *durable;
	struct continuation parts = { 0 };
	size_t at, bytes;

	memset(part, 0, 2 * sizeof(*part));
	at = block_at(fx, 0, &durable);
	part_add(&part[0], durable, at);
	for (; count; count--, at += bytes) {
		bytes = block_at(fx, at, &block);
		part_add(&part[0], block, bytes);
		assert(!continuation_block(&parts, block));
	}
	if (lie)
		parts.cpus[0].events++;
	part_note(&part[0], &parts, TB_PART_END, 0);
	if (lie)
		parts.cpus[0].events--;
	part_add(&part[1], durable, block_at(fx, 0, &durable));
	part_note(&part[1], &parts, 0, 0);
	for (; at < fx->size; at += bytes) {
		bytes = block_at(fx, at, &block);
		if (leave && leave--)
			continue;
		part_add(&part[1], block, bytes);
	}
	continuation_free(&parts);
}

static int verify_part_file(const struct part_file *part)
{
	save(part->data, part->size);
	return run_on("verify", "");
}

static void parts_fine(void)
{
	struct part_file part[2];
	unsigned int count;
	struct fx fx;

	long_trace(&fx);
	for (count = 1; count <= 20; count++) {
		split(&fx, part, count, 0, 0);
		CHECK_NUMBER(verify_part_file(&part[0]), 0);
		CHECK_HAS("exact, goes on in another file");
		CHECK(!strstr(output, "open"));
		CHECK_NUMBER(verify_part_file(&part[1]), 0);
		CHECK_HAS("exact, continued");
		/* concatenated they are the whole, with the durable block twice */
		part_add(&part[0], part[1].data, part[1].size);
		CHECK_NUMBER(verify_part_file(&part[0]), 0);
		CHECK(!strstr(output, "another file"));
		CHECK_HAS("           20            0          0           20      0  exact\n");
		free(part[0].data);
		free(part[1].data);
	}
	fx_free(&fx);
}

static void parts_broken(void)
{
	struct part_file part[2];
	struct fx fx;

	long_trace(&fx);
	/* the second file begins later than it says */
	split(&fx, part, 6, 1, 0);
	CHECK_NUMBER(verify_part_file(&part[1]), 1);
	CHECK_HAS("the block before it is missing");
	free(part[0].data);
	free(part[1].data);
	/* the first file has not the events that it says */
	split(&fx, part, 6, 0, 1);
	CHECK_NUMBER(verify_part_file(&part[0]), 1);
	CHECK_HAS("a file is missing, or not complete");
	CHECK_HAS("7 events in blocks up to 2, but here are 6 up to 2");
	/* in the wrong order */
	part_add(&part[1], part[0].data, part[0].size);
	CHECK_NUMBER(verify_part_file(&part[1]), 1);
	free(part[0].data);
	free(part[1].data);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "compressed: shows what was compressed", whole },
	{ "compressed: the tool reads files and pipes", by_the_tool },
	{ "compressed: cut off", cut_off },
	{ "compressed: damaged", damaged },
	{ "compressed: invalid frames", bad_frames },
	{ "compressed: frames that claim much take no room", claims },
	{ "compressed: frames without blocks", zeros },
	{ "compressed: plain blocks between frames", mixed },
	{ "parts: each exact, and all together", parts_fine },
	{ "parts: missing blocks and files are reported", parts_broken },
};

RUN_MAIN(tests)
