// SPDX-License-Identifier: GPL-2.0-only
/*
 * Babeltrace shows each event of a growing recording (source.tracebuf.live) once, in order, as in
 * the finished file. If this fails, events are missing or doubled depending on when the reader got
 * its blocks. There is no device here: the test hands the blocks of a file to the code of the
 * source in portions of each size.
 */
#include <errno.h>
#include "test_lib_chunk.h"
#include "test_bt_read.h"
#include "live.h"

/**
 * struct portions - a source that gives the blocks of a file in portions
 * @whole: the file; @next: its next block
 * @size: blocks in a portion
 * @kept: most blocks that the source kept at once
 * @passes: how many portions it loaded and passed on
 */
struct portions {
	struct tb_trace *whole;
	size_t next, size, kept, passes;
	struct live_recording live;
	struct bs_messages *messages;
	struct tb_trace *part;
	bool ended;
};

/* The time up to which all events are in the blocks before the next portion */
static uint64_t complete_until(const struct portions *portions)
{
	uint64_t until = UINT64_MAX;
	const struct tb_block *block;
	size_t i;

	for (i = portions->next; i < tb_trace_blocks(portions->whole); i++) {
		block = tb_trace_block(portions->whole, i, NULL, NULL);
		if (block->time_start - 1 < until)
			until = block->time_start - 1;
	}
	return until;
}

static void load_portion(struct portions *portions)
{
	struct live_recording *live = &portions->live;
	const struct tb_block *block;
	size_t i;

	for (i = 0; i < portions->size; i++) {
		block = tb_trace_block(portions->whole, portions->next, NULL, NULL);
		if (!block)
			break;
		assert(!live_add_block(live, block));
		portions->next++;
	}
	if (live->nr_blocks > portions->kept)
		portions->kept = live->nr_blocks;
	portions->ended = portions->next == tb_trace_blocks(portions->whole);
	live->until = complete_until(portions);
	assert(!tb_trace_open_memory(live->image, live->used, &portions->part,
				     NULL));
	assert(!bs_messages_load(portions->messages, portions->part, live_read_event,
				 live));
	if (portions->ended)
		bs_messages_finish(portions->messages);
}

static bt_message_iterator_class_next_method_status
portions_next(bt_self_message_iterator *self, bt_message_array_const array,
	      uint64_t capacity, uint64_t *count)
{
	struct portions *portions = bt_self_message_iterator_get_data(self);
	int result;

	for (;;) {
		if (portions->part) {
			if (bs_messages_next(portions->messages, array, capacity,
					     count) > 0)
				return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
			result = live_add_inactivity(&portions->live, portions->messages,
						     portions->part);
			assert(result >= 0);
			if (result)
				continue;
			portions->passes++;
			bs_messages_unload(portions->messages);
			tb_trace_close(portions->part);
			portions->part = NULL;
			live_end_pass(&portions->live);
		}
		if (portions->ended)
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
		load_portion(portions);
	}
}

static bt_message_iterator_class_initialize_method_status
portions_begin(bt_self_message_iterator *self,
	       bt_self_message_iterator_configuration *configuration,
	       bt_self_component_port_output *port)
{
	struct portions *portions = bt_self_component_port_get_data(
		bt_self_component_port_output_as_self_component_port(port));

	(void)configuration;
	portions->messages = bs_messages_create(
		bt_self_message_iterator_borrow_component(self), self);
	assert(portions->messages);
	assert(!live_create_rings(&portions->live, FX_CPUS));
	bt_self_message_iterator_set_data(self, portions);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void portions_end(bt_self_message_iterator *self)
{
	struct portions *portions = bt_self_message_iterator_get_data(self);

	bs_messages_free(portions->messages);
	live_free(&portions->live);
}

static bt_component_class_initialize_method_status
source_begin(bt_self_component_source *self,
	     bt_self_component_source_configuration *configuration,
	     const bt_value *params, void *data)
{
	(void)configuration;
	(void)params;
	assert(!bt_self_component_source_add_output_port(self, "out", data, NULL));
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void read_portions(struct reading *reading, struct portions *portions)
{
	bt_message_iterator_class *iterator;
	bt_component_class_source *class;
	const bt_plugin *utils = find_plugin("utils");
	const bt_component_source *source;
	const bt_component_filter *muxer;
	const bt_component_sink *sink;
	bt_graph *graph = bt_graph_create(0);

	reading->last = INT64_MIN;
	iterator = bt_message_iterator_class_create(portions_next);
	bt_message_iterator_class_set_initialize_method(iterator, portions_begin);
	bt_message_iterator_class_set_finalize_method(iterator, portions_end);
	class = bt_component_class_source_create("portions", iterator);
	bt_component_class_source_set_initialize_method(class, source_begin);
	assert(!bt_graph_add_source_component_with_initialize_method_data(graph,
		class, "portions", NULL, portions, BT_LOGGING_LEVEL_NONE, &source));
	assert(!bt_graph_add_filter_component(graph,
		bt_plugin_borrow_filter_component_class_by_name_const(utils,
			"muxer"), "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer));
	assert(!bt_graph_add_simple_sink_component(graph, "sink", sink_begin,
						   sink_take, NULL, reading, &sink));
	connect_all(graph, source, muxer, sink);
	if (bt_graph_run(graph))
		remember_error(reading);
	CHECK_NUMBER((uint64_t)reading->packets, 0);
	bt_graph_put_ref(graph);
	bt_component_class_source_put_ref(class);
	bt_message_iterator_class_put_ref(iterator);
	bt_plugin_put_ref(utils);
}

/* Remove messages of losses: a live one cannot begin before events that were passed on earlier */
static void events_alone(struct reading *reading)
{
	char *from, *to = reading->text, *next;

	for (from = to; from && *from; from = next) {
		next = strchr(from, '\n') + 1;
		if (!strncmp(from, "LOST ", 5))
			continue;
		memmove(to, from, (size_t)(next - from));
		to += next - from;
	}
	*to = 0;
	reading->used = (size_t)(to - reading->text);
}

/* Portions of any size give what the whole file gives, and keep at most @most_kept blocks */
static void same(struct fx *fx, size_t most_kept)
{
	struct reading whole = { 0 };
	struct tb_trace *trace;
	size_t size, blocks;

	fx_durable_end(fx);
	save(fx->data, fx->size);
	read_with(&whole, "tracebuf", "input", file, NULL);
	CHECK_TEXT(whole.error, "");
	events_alone(&whole);
	assert(!tb_trace_open(file, &trace, NULL));
	blocks = tb_trace_blocks(trace);
	for (size = 1; size <= blocks; size += 1 + size / 4) {
		struct portions portions = { .whole = trace, .size = size };
		struct reading reading = { 0 };

		read_portions(&reading, &portions);
		CHECK_TEXT(reading.error, "");
		CHECK_NUMBER(reading.events, whole.events);
		CHECK_NUMBER(reading.lost, whole.lost);
			/* inactivity follows each portion but the last, which the end follows */
		CHECK_NUMBER(reading.idle, portions.passes - 1);
		events_alone(&reading);
		if (reading.used != whole.used ||
		    memcmp(reading.text, whole.text, whole.used)) {
			printf("# in portions of %zu:\n", size);
			if (whole.used < 20000)
				printf("# have:\n%s# want:\n%s", reading.text,
				       whole.text);
			test_failures++;
		}
		if (size == 1)
			CHECK(portions.kept <= most_kept);
		forget(&reading);
	}
	CHECK(blocks > 2 * most_kept);
	tb_trace_close(trace);
	forget(&whole);
	fx_free(fx);
}

/* Blocks of two CPUs alternate, with gaps; a thread is renamed in the middle */
static void kernel_events(void)
{
	struct tb_gap gap = { .overwritten = 3 };
	unsigned int cpu, block, i;
	uint64_t time = 1000;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_sync(&fx, 0, 1000000);
	fx_thread(&fx, 5, 5, 1, TB_THREAD_DUMP, "before");
	fx_durable_end(&fx);
	for (block = 0; block < 40; block++) {
		if (block == 20) {
			fx.start = time;
			fx_thread(&fx, 5, 5, 1, TB_THREAD_NAME, "behind");
			fx_durable_end(&fx);
		}
		gap.first = time - 20;
		gap.last = time - 10;
		for (cpu = 0; cpu < 2; cpu++)
			fx_open(&fx, cpu, time + cpu, 5,
				block % 7 == 3 && cpu ? &gap : NULL);
		for (i = 0; i < 20; i++)
			fx_simple(&fx, i % 2, FX_SOFTIRQ, time + 10 + i * 3,
				  i % 10);
		for (cpu = 0; cpu < 2; cpu++)
			fx_close(&fx, cpu);
		time += 100;
	}
	same(&fx, 8);
}

/* Events of CPU 0 wait for the block of CPU 1 that has earlier ones */
static void late_blocks(void)
{
	unsigned int block, i;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_sync(&fx, 0, 1000000);
	fx_durable_end(&fx);
	for (block = 0; block < 30; block++) {
		for (i = 0; i < 4; i++) {
			fx_open(&fx, 0, 1000 + block * 400 + i * 100, 1, NULL);
			fx_simple(&fx, 0, FX_SOFTIRQ,
				  1010 + block * 400 + i * 100, i);
			/* several at one tick, on both CPUs */
			fx_simple(&fx, 0, FX_SOFTIRQ,
				  1010 + block * 400 + i * 100, i + 1);
			fx_close(&fx, 0);
		}
		fx_open(&fx, 1, 1000 + block * 400, 2, NULL);
		for (i = 0; i < 4; i++)
			fx_simple(&fx, 1, FX_SOFTIRQ,
				  1010 + block * 400 + i * 100, i);
		fx_close(&fx, 1);
	}
	same(&fx, 12);
}

/* Names and open slices of earlier portions stay known; a new writer with an old id starts anew */
static void programs(void)
{
	struct fx_chunk chunk;
	uint64_t time = 1000, first = 0;
	uint32_t block, id = 0;
	struct fx fx;

	fx_init(&fx, 12, 0);
	fx_sync(&fx, 0, 1000000);
	fx_durable_end(&fx);
	for (block = 0; block < 24; block++, time += 1000) {
		if (block == 16) {	/* another writer with the same id */
			first = 0;
			id = 0;
		}
		fx_open(&fx, 0, time, 1, NULL);
		fx_chunk(&chunk, 7, 1, id++, first);
		if (!chunk.head.chunk) {
			fx_name(&chunk, 1, TB_NAME_CATEGORY, 0, "net");
			fx_name(&chunk, 2, TB_NAME_EVENT, 1, "request");
		}
		fx_record(&chunk, block % 2 ? TB_REC_END : TB_REC_BEGIN, 0,
			  block % 2 ? 0 : 2, time + 10, FX_NO_WORDS);
		fx_mark(&chunk, time + 20, "mark");
		fx_mark(&chunk, time + 20, "mark of the same time");
		first += chunk.head.records;
		if (block % 5 == 4) {	/* two are missing before the next */
			first += 2;
			chunk.head.cause = 0;
		}
		if (block % 5 == 0 && block)
			chunk.head.cause = TB_LOST_NO_CHUNK;
		assert(fx_take(&fx, 0, time + 30, &chunk));
		fx_simple(&fx, 0, FX_SOFTIRQ, time + 40, 1);
		fx_close(&fx, 0);
	}
	/* the source keeps all blocks with chunks */
	fx_durable_end(&fx);
	for (block = 0; block < 30; block++, time += 1000) {
		fx_open(&fx, 1, time, 1, NULL);
		fx_simple(&fx, 1, FX_SOFTIRQ, time + 40, 1);
		fx_close(&fx, 1);
	}
	same(&fx, 27);
}

static const struct test tests[] = {
	{ "events of the kernel in portions", kernel_events },
	{ "events wait for those before them", late_blocks },
	{ "what programs write, in portions", programs },
};

RUN_MAIN(tests)
