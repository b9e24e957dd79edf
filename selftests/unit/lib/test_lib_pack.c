// SPDX-License-Identifier: GPL-2.0-only
/*
 * A packed trace unpacks to the same bytes, and damage costs one frame and is reported. If this
 * fails, a packed archive has lost events, or an attacker's frame makes a reader crash or write
 * outside of its buffers.
 */
#include <errno.h>
#include "test_lib_pack.h"

static uint64_t seed = 1;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % below;
}

/* ---- traces of all sorts ---- */

static void random_bytes(unsigned char *to, size_t size)
{
	while (size--)
		*to++ = (unsigned char)any(256);
}

static void random_event(struct fx *fx, unsigned int cpu, uint64_t time)
{
	static const char *const names[] = { "bash", "cc", "a name of 16 b", "swapper/0" };
	static const unsigned int ids[] = { FX_SWITCH, FX_ODD, FX_NEWTASK, TB_EV_STACK, TB_EV_MARK,
					    TB_EV_CHUNK, TB_EV_CLOCK, TB_EV_USER, 3000, 16383 };
	uint32_t a = any(4), b = any(4);
	struct fx_switch to = fx_switch(names[a], (int)a * 1000, any(3), names[b], (int)b * 1000);
	unsigned char payload[300];

	switch (any(7)) {
	case 6:		/* longer than its payload needs */
		memset(payload, 0, 64);
		random_bytes(payload, 20);
		if (fx_composite(fx, cpu, TB_EV_MARK, time, 1, payload, 64)) {
			unsigned char *end = (unsigned char *)fx_block(fx, &fx->rings[cpu]) +
					     fx->rings[cpu].used;

			((struct tb_composite *)(void *)(end - 80))->length = 20;
		}
		break;
	case 0:
		fx_composite(fx, cpu, FX_SWITCH, time, a * 1000, &to, sizeof(to));
		break;
	case 1:
		fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, time, (uint64_t)b << 16 | 1 << 12 | any(300));
		break;
	case 2:
		fx_simple(fx, cpu, any(2) ? FX_SOFTIRQ : 64 + any(16000), time, any(10));
		break;
	case 3:
		fx_time(fx, cpu, time);
		break;
	default:
		random_bytes(payload, sizeof(payload));
		/* bytes that zstd can compress, or not */
		if (any(4))
			memset(payload + 16, (int)any(3), sizeof(payload) - 16);
		fx_composite(fx, cpu, ids[any(10)], time - any(2), any(5), payload,
			     any(3) ? any(300) : any(60));
	}
}

/* Make a block irregular, in a way that columns cannot express */
static void random_oddity(struct tb_block *block)
{
	struct tb_element *elements = (void *)block;
	uint32_t at = 8 + any(20), size = 1u << block->size_log2;

	switch (any(12)) {
	case 0:		/* an event that was not committed */
		elements[8].head &= ~3u;
		break;
	case 1:		/* a damaged event */
		elements[at].head = any(1u << 31);
		break;
	case 2:
		block->flags &= (uint8_t)~TB_BLOCK_COMPLETE;
		break;
	case 3:
		block->kind = TB_BLOCK_NOTE;
		break;
	case 4:		/* bytes after the data and its padding */
		if (block->data + 16 < size)
			random_bytes((unsigned char *)block + block->data + 16,
				     size - block->data - 16);
		break;
	case 5:		/* bytes in the padding */
		if (block->data < size)
			random_bytes((unsigned char *)block + block->data + 4, 12);
		break;
	case 6:
		block->provider = (uint16_t)any(3);
		block->dropped = any(1000000);
		break;
	}
}

static void random_trace(struct fx *fx, unsigned int blocks, bool odd)
{
	uint64_t time = 1ull << 40;
	unsigned int cpu, events;

	fx_init(fx, 10 + any(4), 1000);
	fx_durable_end(fx);
	while (blocks--) {
		cpu = any(FX_CPUS);
		fx_open(fx, cpu, time, any(4) * 1000, NULL);
		for (events = any(200); events; events--)
			random_event(fx, cpu, time += any(1000));
		fx_close(fx, cpu);
		if (odd)
			random_oddity(fx_block(fx, &fx->rings[cpu]));
	}
}

/* ---- pack and unpack ---- */

static struct tb_packer *packer;
static struct tb_unpacker *unpacker;

/* Clear what packing does not keep: see docs/abi.md */
static void without_stale(unsigned char *data, size_t size)
{
	struct tb_block *block = (void *)data;
	int64_t bytes;
	struct tb_walk walk;
	int step;

	for (; size && (bytes = tb_block_check(data, size, NULL)) > 0; size -= (size_t)bytes) {
		block = (void *)data;
		data += bytes;
		if (block->kind != TB_BLOCK_ROLLING || !(block->flags & TB_BLOCK_COMPLETE))
			continue;
		tb_walk_start(&walk, block);
		while ((step = tb_walk_next(&walk)) == 1)
			;
		if (!step && block->data + 16 < bytes)
			memset((unsigned char *)block + block->data + 16, 0,
			       (size_t)bytes - block->data - 16);
	}
}

/* Pack @size bytes at @data as one frame, which the caller frees */
static unsigned char *frame_of(const void *data, size_t size, size_t *bytes)
{
	unsigned char *copy;
	const void *frame;

	CHECK(tb_packer_frame(packer, data, size, &frame, bytes) == 0);
	copy = malloc(*bytes);
	assert(copy);
	memcpy(copy, frame, *bytes);
	return copy;
}

/* Decode a frame without its events; the caller frees the result */
static unsigned char *headers_from(const unsigned char *frame, uint32_t *columns, int *result)
{
	struct tb_pack_frame header;
	unsigned char *part;

	memcpy(&header, frame, sizeof(header));
	part = malloc(header.content);
	assert(part);
	memset(part, 0xee, header.content);
	*result = tb_unpacker_headers(unpacker, frame, &header, part, columns);
	return part;
}

/* Decoded without events, a frame has the headers of the @size bytes at @whole */
static void check_headers(const unsigned char *frame, const unsigned char *whole, size_t size)
{
	uint32_t columns, partly = 0;
	unsigned char *part;
	int64_t bytes;
	size_t at;
	int result;

	part = headers_from(frame, &columns, &result);
	CHECK_NUMBER(result, 0);
	for (at = 0; at < size; at += (size_t)bytes) {
		bytes = tb_block_check(whole + at, size - at, NULL);
		if (bytes < 0) {
			CHECK(!memcmp(part + at, whole + at, size - at));
			break;
		}
		CHECK(!memcmp(part + at, whole + at, 64));
		partly += memcmp(part + at, whole + at, (size_t)bytes) != 0;
	}
	CHECK_NUMBER(partly, columns);
	free(part);
}

/* Unpack a frame, which the caller frees; NULL: it is damaged */
static unsigned char *back_from(const unsigned char *frame, size_t bytes, int *result)
{
	struct tb_pack_frame header;
	unsigned char *back = NULL;

	*result = tb_pack_header(frame, bytes, &header, NULL);
	if (*result)
		return NULL;
	back = malloc(header.content);
	assert(back);
	*result = tb_unpacker_frame(unpacker, frame, &header, back);
	if (!*result)
		return back;
	free(back);
	return NULL;
}

static size_t there_and_back(const unsigned char *data, size_t size)
{
	unsigned char *want = malloc(size), *frame, *back;
	size_t bytes;
	int result;

	assert(want);
	memcpy(want, data, size);
	without_stale(want, size);
	frame = frame_of(data, size, &bytes);
	back = back_from(frame, bytes, &result);
	CHECK_NUMBER(result, 0);
	CHECK(back && !memcmp(back, want, size));
	if (back)
		check_headers(frame, back, size);
	free(want);
	free(frame);
	free(back);
	return bytes;
}

static void random_blocks(void)
{
	struct fx fx;
	int i;

	for (i = 0; i < FULL(150, 50) && !test_failures; i++) {
		random_trace(&fx, 1 + any(60), i % 3);
		there_and_back(fx.data, fx.size);
		fx_free(&fx);
	}
}

static void other_bytes(void)
{
	unsigned char *data = calloc(1, TB_PACK_CONTENT);
	const void *frame;
	struct fx fx;
	size_t bytes;

	random_bytes(data, 5000);
	there_and_back(data, 1);
	there_and_back(data, 5000);
	/* zeros: a frame has a least size for its content */
	memset(data, 0, 5000);
	bytes = there_and_back(data, TB_PACK_CONTENT);
	CHECK_NUMBER(bytes, TB_PACK_CONTENT / TB_PACK_RATIO);
	/* a trace that breaks off inside a block */
	random_trace(&fx, 10, false);
	there_and_back(fx.data, fx.size - 700);
	fx_free(&fx);
	CHECK_NUMBER(-tb_packer_frame(packer, data, 0, &frame, &bytes), EINVAL);
	CHECK_NUMBER(-tb_packer_frame(packer, data, TB_PACK_CONTENT + 1, &frame, &bytes), EINVAL);
	free(data);
}

/* More shapes than one byte can number; each frame describes its shapes again */
static void many_shapes(void)
{
	struct fx fx;
	unsigned int i, round;
	size_t at;

	fx_init(&fx, 12, 1000);
	fx_durable_end(&fx);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 600; i += 200) {
			unsigned int id;

			fx_open(&fx, 0, 2000 + i, 1, NULL);
			for (id = i; id < i + 200; id++)
				fx_simple(&fx, 0, 1000 + id, 2000 + id, id * 77);
			fx_close(&fx, 0);
		}
		fx_start_recording(&fx, round + 2);
		fx_durable_end(&fx);
	}
	there_and_back(fx.data, fx.size);
	for (at = 0; at < fx.size; at += 4096)
		there_and_back(fx.data + at, fx.size - at < 4096 ? fx.size - at : 4096);
	fx_free(&fx);
}

/* An encoder that has learned from blocks packs as if it had packed them itself */
static void learned(void)
{
	struct tb_packer *learns = tb_packer_open(1), *knows_nothing = tb_packer_open(1);
	size_t first, learnt, plain;
	const void *frame;
	struct fx fx;
	unsigned int i;

	fx_init(&fx, 15, 1000);
	fx_durable_end(&fx);
	first = fx.size;
	fx_open(&fx, 0, 2000, 1, NULL);
	for (i = 0; i < 300; i++) {
		struct fx_switch to = fx_switch("one", (int)any(3000), any(3), "two", (int)any(3000));

		fx_composite(&fx, 0, FX_SWITCH, 2001 + i, 1, &to, sizeof(to));
	}
	fx_close(&fx, 0);
	CHECK(!tb_packer_learn(learns, (const void *)fx.data));
	CHECK(!tb_packer_learn(learns, (const void *)(fx.data + first)));
	CHECK(!tb_packer_frame(learns, fx.data + first, fx.size - first, &frame, &learnt));
	CHECK(!tb_packer_frame(knows_nothing, fx.data + first, fx.size - first, &frame, &plain));
	printf("# %zu bytes, and %zu\n", learnt, plain);
	CHECK(learnt < plain);
	tb_packer_close(learns);
	tb_packer_close(knows_nothing);
	fx_free(&fx);
}

/* The header and the index describe the content of the frame */
static void index_says(void)
{
	struct tb_gap gap = { 12, 3, 1, 1400, 1500, 0 };
	struct tb_pack_count counts[2];
	struct tb_pack_frame header;
	unsigned char *frame;
	uint32_t cpus[2];
	struct fx fx;
	size_t bytes;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	fx_open(&fx, 5, 2000, 1, &gap);
	fx_simple(&fx, 5, FX_SOFTIRQ, 2500, 1);
	fx_simple(&fx, 5, FX_SOFTIRQ, 2600, 1);
	fx_close(&fx, 5);
	fx_open(&fx, 2, 1900, 1, NULL);
	fx_simple(&fx, 2, FX_SOFTIRQ, 2100, 1);
	fx_close(&fx, 2);
	frame = frame_of(fx.data, fx.size, &bytes);
	CHECK(tb_pack_header(frame, bytes, &header, NULL) == 0);
	CHECK_NUMBER(header.bytes, bytes);
	CHECK_NUMBER(header.content, fx.size);
	CHECK_NUMBER(header.events, 3);
	CHECK_NUMBER(header.start, 1900);
	CHECK_NUMBER(header.end, 2600);
	CHECK_NUMBER(header.overwritten, 12);
	CHECK_NUMBER(header.dropped, 3);
	CHECK_NUMBER(header.cpus, 2);
	CHECK_NUMBER(header.ids, 2);
	memcpy(cpus, frame + sizeof(header), sizeof(cpus));
	memcpy(counts, frame + sizeof(header) + sizeof(cpus), sizeof(counts));
	CHECK_NUMBER(cpus[0], 2);
	CHECK_NUMBER(cpus[1], 5);
	CHECK_NUMBER(counts[0].id, TB_EV_GAP);
	CHECK_NUMBER(counts[0].events, 2);
	CHECK_NUMBER(counts[1].id, FX_SOFTIRQ);
	CHECK_NUMBER(counts[1].events, 3);
	CHECK(tb_pack_has(frame, &header, TB_EV_GAP) && !tb_pack_has(frame, &header, TB_EV_CLOCK));
	free(frame);
	fx_free(&fx);
}

/* ---- damage ---- */

/* Change one number of a shape or of its columns; everything else stays readable */
static void harm_shape(unsigned char *frame, size_t bytes)
{
	struct tb_pack_frame header;
	struct pack_shape shape;
	uint32_t count, chosen;
	size_t at;

	memcpy(&header, frame, sizeof(header));
	if (!any(8)) {
		/* claim less room than the blocks need */
		header.content -= any(header.content < 2000 ? header.content : 2000);
		memcpy(frame, &header, sizeof(header));
		return;
	}
	at = sizeof(header) + header.cpus * 4 + header.ids * 8;
	memcpy(&count, frame + at, 4);
	if (!count)
		return;
	for (at += 4, chosen = any(count); ; at += sizeof(shape) + shape.columns * 8u) {
		assert(at + sizeof(shape) <= bytes);
		memcpy(&shape, frame + at, sizeof(shape));
		if (!chosen--)
			break;
	}
	if (any(3) == 0) {
		shape.rows += any(2) ? any(9) - 4 : any(1000);
		shape.fixed = (uint16_t)(shape.fixed + (any(3) ? 0 : any(33) - 16));
		shape.next = any(4) ? shape.next : (uint8_t)any(70);
		memcpy(frame + at, &shape, sizeof(shape));
		return;
	}
	/* the first columns have lengths and threads */
	at += sizeof(shape) + 8 * any(any(2) && shape.columns > 5 ? 5 : shape.columns);
	at += any(8);
	frame[at] = (unsigned char)(any(2) ? any(9) : any(2) ? frame[at] + any(9) - 4 : any(256));
}

static void harm(unsigned char *frame, size_t bytes)
{
	size_t from = sizeof(struct tb_pack_frame), at;
	unsigned int count = 1 + any(4);
	uint32_t all = (uint32_t)(bytes - from);

	while (count--) {
		/* most checks concern bytes at the start; back_from() needs the right size */
		at = any(3) ? from + any(all < 3000 ? all : 3000) :
		     any(2) ? 16 + any(64) : from + any(all);
		frame[at] = (unsigned char)(any(2) ? any(256) : frame[at] ^ 1u << any(8));
	}
}

/* The stream at @at: its size, which takes *number bytes; its data, of the returned length */
static size_t stream_parts(const unsigned char *frame, size_t at, size_t *number, uint32_t *size,
			   size_t *data)
{
	uint32_t stored = 0;
	size_t end = at + 1, i;

	for (*size = 0; frame[end] & 0x80; end++)
		;
	*number = ++end - at - 1;
	for (i = *number; i-- > 0; )
		*size = *size << 7 | (frame[at + 1 + i] & 0x7f);
	stored = frame[at] == STREAM_PLAIN ? *size : 1;
	if (frame[at] == STREAM_ZSTD) {
		for (stored = 0, i = 0; ; i += 7) {
			stored |= (uint32_t)(frame[end] & 0x7f) << i;
			if (!(frame[end++] & 0x80))
				break;
		}
	}
	*data = end;
	return stored;
}

/* Shorten each stream by a byte: its reader must not take a byte of another stream instead */
static void short_streams(void)
{
	unsigned int shortened = 0, i;
	struct tb_pack_frame header;
	unsigned char *frame, *copy;
	size_t bytes, left, at, number, data, stored;
	struct pack_shape shape;
	struct fx fx;
	uint32_t count, size;
	int result;

	random_trace(&fx, 12, true);
	frame = frame_of(fx.data, fx.size, &bytes);
	memcpy(&header, frame, sizeof(header));
	at = sizeof(header) + header.cpus * 4 + header.ids * 8;
	memcpy(&count, frame + at, 4);
	for (at += 4; count--; at += sizeof(shape) + shape.columns * 8u)
		memcpy(&shape, frame + at, sizeof(shape));
	for (; at < bytes; at = data + stored) {
		stored = stream_parts(frame, at, &number, &size, &data);
		if (frame[at] == STREAM_ZSTD || !size)
			continue;
		copy = malloc(bytes);
		memcpy(copy, frame, bytes);
		for (i = 0; i < number; i++)
			copy[at + 1 + i] = (unsigned char)((size - 1) >> 7 * i & 0x7f) |
					   (i + 1 < number ? 0x80 : 0);
		left = bytes;
		if (frame[at] == STREAM_PLAIN) {
			memmove(copy + data + size - 1, copy + data + size, bytes - data - size);
			left--;
		}
		header.bytes = (uint32_t)left;
		memcpy(copy, &header, sizeof(header));
		sign(copy, left);
		free(back_from(copy, left, &result));
		CHECK_NUMBER(result, -EBADMSG);
		shortened++;
		free(copy);
	}
	CHECK_NUMBER(at, bytes);
	CHECK(shortened > 20);
	free(frame);
	fx_free(&fx);
}

static void harmful_frames(void)
{
	unsigned char *frame, *copy, *back;
	unsigned int i, j, damaged = 0, fine = 0;
	struct fx fx;
	size_t bytes;
	int result;

	for (i = 0; i < FULL(40, 6); i++) {
		random_trace(&fx, 1 + any(12), i % 2);
		frame = frame_of(fx.data, fx.size, &bytes);
		/* allocated with the exact size, so that ASan sees reads beyond it */
		copy = malloc(bytes);
		for (j = 0; j < 250; j++) {
			memcpy(copy, frame, bytes);
			if (any(3))
				harm_shape(copy, bytes);
			else
				harm(copy, bytes);
			sign(copy, bytes);
			back = back_from(copy, bytes, &result);
			CHECK(back || result == -EBADMSG || result == -ENODATA);
			if (result != -ENODATA) {
				int partly;
				uint32_t columns;

				free(headers_from(copy, &columns, &partly));
				CHECK(partly ? result && partly == -EBADMSG : true);
			}
			fine += !result;
			damaged += result != 0;
			free(back);
		}
		free(copy);
		free(frame);
		fx_free(&fx);
	}
	/* both outcomes occur: the checksums refused neither */
	CHECK(fine > 100);
	CHECK(damaged > 1000);
}

/* The checksum does not depend on how many bytes a step processes */
static void checksums(void)
{
	unsigned char bytes[10007];
	size_t at, size, more;
	uint32_t crc;

	CHECK_NUMBER(pack_crc(0, "123456789", 9), 0xcbf43926u);
	random_bytes(bytes, sizeof(bytes));
	for (size = sizeof(bytes); size > 4090; size -= 1 + any(50)) {
		for (crc = 0, at = 0; at < size; at += more) {
			more = size - at < 1000 ? size - at : 1000;
			crc = pack_crc(crc, bytes + at, more);
		}
		CHECK_NUMBER(pack_crc(0, bytes, size), crc);
	}
}

static void changed_bits(void)
{
	unsigned char *frame, *back;
	struct fx fx;
	size_t bytes, at;
	int result;

	random_trace(&fx, 4, false);
	frame = frame_of(fx.data, fx.size, &bytes);
	for (at = 0; at < bytes; at++) {
		frame[at] ^= 1;
		back = back_from(frame, bytes, &result);
		CHECK(!back);
		frame[at] ^= 1;
		back = back_from(frame, at, &result);
		CHECK_NUMBER(-result, ENODATA);
	}
	free(frame);
	fx_free(&fx);
}

/* A file of @count frames of one block each; @starts: their offsets, and the file's size */
static unsigned char *file_of(const struct fx *fx, size_t block, size_t *starts,
			      unsigned int *count)
{
	unsigned char *file = NULL, *frame;
	size_t at, bytes, size = 0, content;

	for (at = 0, *count = 0; at < fx->size; at += content) {
		content = at ? block : 1u << ((const struct tb_block *)fx->data)->size_log2;
		frame = frame_of(fx->data + at, content, &bytes);
		file = realloc(file, size + bytes);
		assert(file);
		memcpy(file + size, frame, bytes);
		free(frame);
		starts[(*count)++] = size;
		size += bytes;
	}
	starts[*count] = size;
	return file;
}

static void check_file(const unsigned char *file, size_t size, unsigned int blocks, uint64_t fault)
{
	struct tb_trace *trace;
	struct tb_error error;
	unsigned char *copy = malloc(size);

	assert(copy);
	memcpy(copy, file, size);
	CHECK(tb_trace_open_memory(copy, size, &trace, &error) == 0);
	if (!trace) {
		printf("# %s\n", error.text);
	} else {
		CHECK_NUMBER(tb_trace_blocks(trace), blocks);
		if (fault == TB_OFFSET_NONE)
			CHECK(!tb_trace_fault(trace));
		else
			CHECK(tb_trace_fault(trace) && tb_trace_fault(trace)->offset == fault);
		tb_trace_close(trace);
	}
	free(copy);
}

static void damaged_files(void)
{
	unsigned int count, i;
	size_t starts[32], at;
	unsigned char *file;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	for (i = 0; i < 20; i++) {
		fx_open(&fx, i % 4, 2000 + i, 1, NULL);
		fx_simple(&fx, i % 4, FX_SOFTIRQ, 2500 + i, 1);
		fx_close(&fx, i % 4);
	}
	file = file_of(&fx, 1024, starts, &count);
	CHECK_NUMBER(count, 21);
	check_file(file, starts[count], count, TB_OFFSET_NONE);
	for (i = 1; i < count; i++) {
		/* damage in the header, so that the reader searches the next frame; and after it */
		for (at = 0; at < starts[i + 1] - starts[i]; at += 13) {
			file[starts[i] + at] ^= 0x10;
			check_file(file, starts[count], count - 1, starts[i]);
			file[starts[i] + at] ^= 0x10;
		}
		/* two frames are damaged: the reader reports the first */
		file[starts[i] + 90] ^= 1;
		file[starts[count - 1] + 90] ^= 1;
		check_file(file, starts[count], i + 1 == count ? count : count - 2,
			   i + 1 == count ? TB_OFFSET_NONE : starts[i]);
		file[starts[i] + 90] ^= 1;
		file[starts[count - 1] + 90] ^= 1;
		check_file(file, starts[i] + 50, i, starts[i]);
	}
	free(file);
	fx_free(&fx);
}

/* Frames, plain blocks, and frames of another file */
static void mixed_files(void)
{
	size_t starts[32], first;
	unsigned char *file, *mixed;
	unsigned int count;
	struct fx fx;

	random_trace(&fx, 6, false);
	first = 1u << ((struct tb_block *)fx.data)->size_log2;
	file = file_of(&fx, 1u << fx.log2, starts, &count);
	mixed = malloc(starts[count] * 2 + fx.size);
	assert(mixed);
	memcpy(mixed, file, starts[count]);
	memcpy(mixed + starts[count], fx.data + first, fx.size - first);
	memcpy(mixed + starts[count] + fx.size - first, file, starts[count]);
	check_file(mixed, starts[count] * 2 + fx.size - first, 3 * count - 1, TB_OFFSET_NONE);
	free(mixed);
	free(file);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "blocks of all sorts come back unchanged", random_blocks },
	{ "bytes that are no blocks come back unchanged", other_bytes },
	{ "hundreds of shapes in a frame", many_shapes },
	{ "an encoder learns from blocks of other frames", learned },
	{ "the header and the index describe the frame", index_says },
	{ "checksums of any length", checksums },
	{ "each changed bit is found", changed_bits },
	{ "a stream that is too short for its reader", short_streams },
	{ "thousands of frames with wrong contents and right checksums", harmful_frames },
	{ "a reader leaves out a damaged frame, and reports it", damaged_files },
	{ "concatenated files", mixed_files },
};

int main(void)
{
	int failed;

	packer = tb_packer_open(1);
	unpacker = tb_unpacker_open();
	assert(packer && unpacker);
	failed = test_main(tests, sizeof(tests) / sizeof(tests[0]));
	tb_packer_close(packer);
	tb_unpacker_close(unpacker);
	return failed;
}
