// SPDX-License-Identifier: GPL-2.0-only
/*
 * libtracebuf: traces that are compressed - whole, cut off, damaged, put together - are read as
 * what was compressed; and what the tool says of parts of a recording.
 */
#include <errno.h>
#include <unistd.h>
#include <zstd.h>
#include "test_lib_run.h"

/* Two CPUs, many blocks */
static void long_trace(struct fx *fx)
{
	unsigned int i;

	fx_init(fx, 10, 1000);
	fx_durable_end(fx);
	for (i = 0; i < 20; i++) {
		fx_open(fx, i % 2, 2000 + 10 * i, 5, NULL);
		fx_simple(fx, i % 2, FX_SOFTIRQ_FAST, 2001 + 10 * i, 1);
		fx_simple(fx, i % 2, FX_SOFTIRQ_FAST, 2002 + 10 * i, 2);
		fx_close(fx, i % 2);
	}
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
}

/* Where frames begin in it: room for as many as there are blocks */
struct packed {
	unsigned char *data;
	size_t size;
	size_t at[64];
	size_t content[64];	/* of all before it */
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

/* @blocks in each frame, and a frame to be skipped at the end */
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

/* Through files and pipes, by the tool; no room for a file */
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
	setenv("TMPDIR", "/no/such/folder", 1);
	CHECK_NUMBER(run_on("print", "--fields"), 0);
	CHECK_TEXT(output, plain);
	unsetenv("TMPDIR");
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("exact");
	free(packed.data);
	fx_free(&fx);
}

/* Cut at every byte: the frames before it, and where it breaks off */
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

/* Any byte of a frame may be another: then it is told, or makes no difference */
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

/* A frame that claims to have much in it, one that does not say */
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

/* Frames and blocks in turn */
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

static const struct test tests[] = {
	{ "compressed: as what was compressed", whole },
	{ "compressed: by the tool", by_the_tool },
	{ "compressed: cut off", cut_off },
	{ "compressed: damaged", damaged },
	{ "compressed: frames that cannot be", bad_frames },
	{ "compressed: blocks in between", mixed },
};

RUN_MAIN(tests)
