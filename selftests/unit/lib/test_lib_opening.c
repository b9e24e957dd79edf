// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf recover gets all events of a machine that stopped while a writer was replacing the
 * header of a block, also those of interrupts that came in between. If this fails, the last events
 * before a crash are missing, or old events appear as new ones.
 */
#include "test_lib_image.h"

/*
 * Turn @block into one with a half-written header. At the place of the opener's event there is
 * one of 64 blocks ago.
 */
static void opening(struct tb_block *block, uint32_t elements)
{
	uint32_t i;

	for (i = 0; i < elements; i++)
		put_simple(block, TB_BLOCK_FIRST_ELEMENT + i, block->sequence, 4001, 66);
	block->sequence = TB_BLOCK_OPENING_WORD(block->sequence, elements);
	block->flags = TB_BLOCK_COMPLETE;
	block->dropped = 50;
	memset(block + 1, 0, sizeof(struct tb_composite));
	gap_of(block)->overwritten = 7;
}

/* An interrupt recorded events before the header was whole, and the machine stopped in it */
static void header_half_written(void)
{
	uint32_t at = TB_BLOCK_FIRST_ELEMENT;
	struct tb_block *block, *other;
	struct fx fx;

	image_new();
	block = half_written(&fx, 66);
	opening(block, 3);
	put_simple(block, at + 3, 66, 4010, 6);
	put_simple(block, at + 4, 66, 4011, 7);
	/* a claimed buffer to which head has not moved */
	other = image_room(1 << LOG2, 1 << LOG2);
	memcpy(other, block, 1 << LOG2);
	other->sequence = TB_BLOCK_OPENING_WORD(67, 3);
	image_ring(ID_A, 0, 66, at + 5, 100, 0);
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("         1\n");
	CHECK_RECOVERED("1 2 3 6 7 ");
	CHECK_HAS("exact");
	fx_free(&fx);
}

static void put_time(struct tb_block *block, uint32_t at, uint64_t sequence, uint64_t time)
{
	*element(block, at) = (struct tb_element) {
		.head = TB_HEAD(TB_STRUCT_SIMPLE, TB_EV_TIME, 1, sequence),
		.time = (uint32_t)time, .payload = time,
	};
}

/* The interrupted writer was away for long: the clock's upper half has changed */
static void header_for_long(void)
{
	uint32_t at = TB_BLOCK_FIRST_ELEMENT;
	struct tb_block *block;
	struct fx fx;

	image_new();
	block = half_written(&fx, 66);
	block->time_start = 0x300000100;
	opening(block, 1);
	put_simple(block, at + 1, 66, 0xf0000000, 6);
	put_time(block, at + 2, 66, 0x700001000);
	put_simple(block, at + 3, 66, 0x1000, 7);
	put_time(block, at + 4, 66, 0xe00000800);
	put_simple(block, at + 5, 66, 0x800, 8);
	image_ring(ID_A, 0, 66, at + 6, 100, 0)->head |= 14ull << 43;
	CHECK_NUMBER(recover(""), 0);
	CHECK_TEXT(numbers(), "1 2 3 6 7 8 ");
	CHECK_NUMBER(on_trace("print --raw-ticks"), 0);
	CHECK_HAS(" 16911433728");
	CHECK_HAS("30064775168");
	CHECK_HAS("60129544192");
	CHECK_NUMBER(on_trace("verify"), 0);
	CHECK_HAS("exact");
	fx_free(&fx);
}

/* The first block of a ring, with two events */
static struct tb_block *first_block(struct fx *fx)
{
	begin(fx);
	fx_open(fx, 0, 2000, 100, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_simple(fx, 0, FX_SOFTIRQ, 2002, 2);
	return image_put(fx, ID_A);
}

/* A writer has claimed the buffer, but head has not moved, not even to the first block */
static void header_of_none(void)
{
	struct tb_block *block;
	struct fx fx;

	image_new();
	block = first_block(&fx);
	opening(block, 1);
	image_ring(ID_A, 0, 0x3fff, ELEMENTS, 0, 0);
	CHECK_NUMBER(recover(""), 0);
	CHECK_RECOVERED("");
	fx_free(&fx);
}

/* An interrupt took another free buffer, and was interrupted there itself */
static void header_twice(void)
{
	uint32_t at = TB_BLOCK_FIRST_ELEMENT;
	struct tb_block *block, *other;
	unsigned int n;
	struct fx fx;

	for (n = 0; n < 2; n++) {
		image_new();
		block = half_written(&fx, 66);
		opening(block, 1);
		other = image_room(1 << LOG2, 1 << LOG2);
		memcpy(other, block, 1 << LOG2);
		if (n)
			other->time_start++;
		else
			block->time_start++;
		put_simple(n ? other : block, at + 1, 66, 4010, 6);
		put_simple(n ? block : other, at + 1, 66, 4010, 99);
		image_ring(ID_A, 0, 66, at + 2, 100, 0);
		CHECK_NUMBER(recover(""), 0);
		CHECK_RECOVERED("1 2 3 6 ");
		fx_free(&fx);
	}
}

/* A ring without any event has no recording */
static void buffer_not_used(void)
{
	struct tb_block *block, *other;
	struct fx fx;

	image_new();
	block = half_written(&fx, 66);
	image_ring(ID_A, 0, 66, TB_BLOCK_FIRST_ELEMENT + 2, 3, 0);
	other = image_room(1 << LOG2, 1 << LOG2);
	memcpy(other, block, 1 << LOG2);
	other->sequence = TB_BLOCK_UNUSED;
	stamp(other, ID_B);
	CHECK_NUMBER(recover("--list"), 0);
	CHECK_HAS("recording 1111222233334441");
	CHECK(!strstr(output, "5555666677778885"));
	CHECK(!strstr(output, "places that look like a block"));
	fx_free(&fx);
}

/* Without the ring's head recover cannot know whether head had moved to the block */
static void header_without_ring(void)
{
	struct tb_block *block;
	struct fx fx;

	image_new();
	block = half_written(&fx, 66);
	opening(block, 1);
	put_simple(block, TB_BLOCK_FIRST_ELEMENT + 1, 66, 4010, 6);
	CHECK_NUMBER(recover(""), 0);
	CHECK_RECOVERED("1 2 3 ");
	fx_free(&fx);
}

/* A writer claimed one buffer, but the block with that number was opened in another buffer */
static void header_of_another(void)
{
	struct tb_block *block, *other;
	unsigned int n;
	struct fx fx;

	for (n = 0; n < 2; n++) {
		image_new();
		block = half_written(&fx, 66);
		other = image_room(1 << LOG2, 1 << LOG2);
		memcpy(other, block, 1 << LOG2);
		opening(n ? other : block, 1);
		image_ring(ID_A, 0, 66, TB_BLOCK_FIRST_ELEMENT + 2, 3, 0);
		CHECK_NUMBER(recover(""), 0);
		CHECK_RECOVERED("1 2 3 4 5 ");
		fx_free(&fx);
	}
}

/* No interrupt recorded an event after the half-written header */
static void header_half_written_alone(void)
{
	struct tb_block *block;
	struct fx fx;

	image_new();
	block = half_written(&fx, 66);
	opening(block, 2);
	image_ring(ID_A, 0, 66, TB_BLOCK_FIRST_ELEMENT + 2, 100, 0);
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("         1\n");
	CHECK_RECOVERED("1 2 3 ");
	CHECK_HAS("exact");
	fx_free(&fx);
}

/* The very first block of the ring */
static void header_of_the_first(void)
{
	struct tb_block *block;
	struct fx fx;

	image_new();
	block = first_block(&fx);
	CHECK_NUMBER(block->sequence, 0);
	opening(block, 1);
	memset(element(block, TB_BLOCK_FIRST_ELEMENT), 0, TB_ELEMENT_SIZE);
	image_ring(ID_A, 0, 0, TB_BLOCK_FIRST_ELEMENT + 2, 0, 0);
	CHECK_NUMBER(recover(""), 0);
	CHECK_RECOVERED("2 ");
	fx_free(&fx);
}

/* Interrupts filled the block, and one of them opened the next */
static void header_before_the_last(void)
{
	uint32_t at = TB_BLOCK_FIRST_ELEMENT, vec;
	struct tb_block *block;
	struct fx fx;

	image_new();
	begin(&fx);
	fx.rings[0].sequence = 64;
	fx_open(&fx, 0, 2000, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_close(&fx, 0);
	fx_open(&fx, 0, 3000, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 3000, 99);
	for (vec = 2; at + vec - 1 < ELEMENTS; vec++)
		fx_simple(&fx, 0, FX_SOFTIRQ, 3000 + vec, vec < 4 ? vec : 9);
	fx_close(&fx, 0);
	fx_open(&fx, 0, 4000, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 4001, 4);
	block = image_put(&fx, ID_A);
	do {
		block = (void *)((char *)block + (1 << LOG2));
	} while (block->magic != TB_BLOCK_MAGIC || block->sequence != 65);
	opening(block, 1);
	image_ring(ID_A, 0, 66, at + 1, 1, 0);
	CHECK_NUMBER(recover(""), 0);
	CHECK_RECOVERED("1 2 3 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 "
		   "9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 4 ");
	fx_free(&fx);
}

/* A program has recorded bytes that look like a half-written block */
static void header_forged(void)
{
	static const unsigned char payload[15 << 10];
	uint32_t at = TB_BLOCK_FIRST_ELEMENT;
	struct tb_block *block, *forged;
	struct fx fx;

	image_new();
	fx_init(&fx, 15, 1000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
	assert(fx_composite(&fx, 0, FX_SYS_ENTER, 2002, 1, payload, sizeof(payload)));
	fx_close(&fx, 0);
	block = image_put(&fx, ID_A);
	forged = (void *)((char *)block + 4096);
	memcpy(forged, block, at * TB_ELEMENT_SIZE);
	forged->size_log2 = 12;
	forged->sequence = TB_BLOCK_OPENING_WORD(1, 1);
	put_simple(forged, at + 1, 1, 2010, 8);
	image_ring(ID_A, 0, 1, at + 2, 2, 0)->elements = 256;
	CHECK_NUMBER(recover(""), 0);
	CHECK_HAS("1 blocks in the events of others, left out");
	CHECK_TEXT(numbers(), "1 ");
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "events after a half-written header", header_half_written },
	{ "a header that is half-written for long", header_for_long },
	{ "two half-written headers", header_twice },
	{ "a half-written header, and head elsewhere", header_of_none },
	{ "a buffer that was not used", buffer_not_used },
	{ "a half-written header without the ring's head", header_without_ring },
	{ "a block that was opened somewhere else", header_of_another },
	{ "a half-written header without events after it", header_half_written_alone },
	{ "the header of the first block", header_of_the_first },
	{ "a half-written header, and a block after it", header_before_the_last },
	{ "recorded bytes are not taken for such a block", header_forged },
};

int main(void)
{
	return image_main(tests, sizeof(tests) / sizeof(tests[0]));
}
