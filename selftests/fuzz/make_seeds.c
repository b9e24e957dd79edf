// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_seeds.c - makes the first seeds of the corpus: small traces with all kinds of records.
 *
 *	make -C userspace fuzz-seeds
 *
 * The seeds are in the tree: a changed fixture does not change the inputs of the tests.
 */
#define FX_DURABLE_LOG2 12
#include "test_lib_chunk.h"

#define TIME 1000000ull

static void save(struct fx *fx, const char *folder, const char *name, size_t bytes)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "wb");
	assert(out && fwrite(fx->data, 1, bytes, out) == bytes);
	assert(!fclose(out));
}

/* Add some of each kind of event that the kernel records. */
static void kernel_events(struct fx *fx)
{
	struct tb_gap gap = { 12, 3, 1, TIME + 400, TIME + 500, 0 };
	struct fx_switch to = fx_switch("bash", 100, 1, "cc", 200);
	struct { struct tb_stack head; uint64_t ip[3]; } stack = {
		.head = { .kind = TB_STACK_KERNEL, .count = 3 },
		.ip = { 0xffffffff81000010ull, 0xffffffff81000020ull, 3 },
	};
	struct { struct tb_counters head; uint64_t value[2]; } counters = {
		.head = { .mask = 5 }, .value = { 7, 9 },
	};
	struct fx_newtask newtask = { .pid = 300, .comm = "child" };
	struct fx_odd odd = {
		.loc = 4u << 16 | (8 + 48), .rel = 4u << 16 | (52 - 8),
		.array_loc = 12u << 16 | (8 + 56), .small = { -1, 2, 3 },
		.bits = 0x155, .pointer = 0xffff888000000000ull, .tiny = -3,
		.text = "loc\0rel\0\1\0\0\0\2\0\0\0\3\0\0",
	};

	fx_sync(fx, TIME, 2 * TIME);
	fx_sync(fx, TIME + 1000000, 2 * TIME + 1000100);
	fx_thread(fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	fx_thread(fx, 200, 100, 1, TB_THREAD_FORK, "cc");
	fx_durable_end(fx);
	fx_open(fx, 0, TIME, 100, NULL);
	fx_composite(fx, 0, FX_SWITCH, TIME + 10, 100, &to, sizeof(to));
	fx_composite(fx, 0, TB_EV_STACK, TIME + 10, 100, &stack, sizeof(stack));
	fx_composite(fx, 0, TB_EV_COUNTERS, TIME + 10, 100, &counters, sizeof(counters));
	fx_simple(fx, 0, FX_SOFTIRQ, TIME + 20, 3);
	fx_composite(fx, 0, FX_ODD, TIME + 30, 200, &odd, sizeof(odd));
	fx_composite(fx, 0, TB_EV_MARK, TIME + 40, 200, "here", 4);
	fx_close(fx, 0);
	fx_open(fx, 1, TIME, 0, NULL);
	fx_composite(fx, 1, FX_NEWTASK, TIME + 15, 100, &newtask, sizeof(newtask));
	fx_simple(fx, 1, FX_SYS_ENTER_COMPACT, TIME + 25, 200ull << 16 | 1 << 12 | 3);
	fx_time(fx, 1, 0x100000000ull);
	fx_simple(fx, 1, FX_SWITCH_COMPACT, 0x100000005ull,
		  fx_switch_compact(100, 300, 1, 120, 98));
	fx_close(fx, 1);
	fx_open(fx, 0, TIME + 500, 200, &gap);
	fx_simple(fx, 0, FX_SOFTIRQ, TIME + 600, 1);
	fx_close(fx, 0);
	fx->rings[0].dropped += 2;
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
}

/* Add some of each kind of event that programs write. */
static void user_events(struct fx *fx)
{
	struct fx_chunk chunk;
	uint32_t slice;

	fx_durable_end(fx);
	fx_open(fx, 0, TIME, 100, NULL);
	fx_chunk(&chunk, 1, 1, 0, 0);
	fx_name(&chunk, 1, TB_NAME_CATEGORY, 0, "work");
	fx_name(&chunk, 2, TB_NAME_EVENT, 1, "load");
	fx_record(&chunk, TB_REC_BEGIN, TB_REC_FLOW | TB_REC_ARGS, 2, TIME + 5,
		  FX_WORDS(77, fx_arg(2, TB_ARG_U64), 5, fx_arg(2, TB_ARG_TEXT), 1));
	fx_record(&chunk, TB_REC_COUNTER, 0, 2, TIME + 6, FX_WORDS(42));
	slice = fx_record(&chunk, TB_REC_SLICE, 0, 2, TIME + 7, FX_WORDS(0));
	fx_record(&chunk, TB_REC_EVENT, 0, 2, TIME + 8, FX_WORDS(8, 0x6f6c6c6568ull));
	fx_record(&chunk, TB_REC_END, 0, 0, TIME + 9, FX_NO_WORDS);
	fx_take(fx, 0, TIME + 20, &chunk);
	fx_patch(fx, 0, TIME + 30, &chunk, slice + 16, 1000);
	fx_close(fx, 0);
	fx_open(fx, 1, TIME + 10, 100, NULL);
	fx_chunk(&chunk, 1, 1, 1, 20);
	chunk.head.cause = TB_LOST_NO_CHUNK;
	fx_mark(&chunk, TIME + 35, "after a loss");
	fx_take(fx, 1, TIME + 40, &chunk);
	fx_close(fx, 1);
	fx_totals(fx, 0);
	fx_totals(fx, 1);
	fx_durable_end(fx);
}

/*
 * Turn a trace into an image of memory: the blocks name their recording, one block is open or the
 * recorder replaces its header, and the rings follow the blocks.
 */
static void as_image(struct fx *fx, bool opening)
{
	struct tb_composite *slot;
	struct tb_block *block, *last = NULL;
	struct tb_ring_image *ring;
	uint64_t head;
	uint32_t cpu;
	size_t at;

	for (at = 0; at < fx->size; at += 1u << block->size_log2) {
		block = (struct tb_block *)(fx->data + at);
		slot = (struct tb_composite *)(block + 1);
		if (block->kind == TB_BLOCK_DURABLE) {
			block->overwritten = 77;
			continue;
		}
		((struct tb_gap *)(slot + 1))->recording = 77;
		last = block;
	}
	last->flags = 0;
	at = last->data / TB_ELEMENT_SIZE;
	last->data = last->events = 0;
	last->time_end = 0;
	head = last->sequence << 29 | at;
	cpu = last->cpu;
	if (opening)
		last->sequence = TB_BLOCK_OPENING_WORD(last->sequence, 1);
	at = fx_extend(fx, 512);
	ring = (struct tb_ring_image *)(fx->data + at);
	ring->head = head;
	ring->elements = 64;
	ring->buffers = 32;
	ring->cpu = cpu;
	ring->magic = TB_RING_IMAGE_MAGIC;
	ring->recording = 77;
	ring->recorded = 100;
}

int main(int argc, char **argv)
{
	size_t first;
	struct fx fx;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	fx_init(&fx, 10, TIME);
	kernel_events(&fx);
	save(&fx, argv[1], "kernel", fx.size);
	save(&fx, argv[1], "cut", fx.size - 1500);
	first = fx.size;
	/* append another recording; then save that alone */
	fx_start_recording(&fx, 2);
	user_events(&fx);
	save(&fx, argv[1], "two", fx.size);
	memmove(fx.data, fx.data + first, fx.size - first);
	save(&fx, argv[1], "user", fx.size - first);
	fx_free(&fx);
	fx_init(&fx, 10, TIME);
	kernel_events(&fx);
	as_image(&fx, false);
	save(&fx, argv[1], "image", fx.size);
	fx_free(&fx);
	fx_init(&fx, 10, TIME);
	kernel_events(&fx);
	as_image(&fx, true);
	save(&fx, argv[1], "opening", fx.size);
	fx_free(&fx);
	return 0;
}
