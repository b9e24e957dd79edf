// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a large file takes time in proportion to its size, whatever is in it. If this fails, a
 * crafted or unusual file makes a tool run for hours.
 *
 * With TB_STEPS the library counts its steps: comparisons, and reads of headers of blocks.
 */
#include "lib/read/internal.h"
#include "test_lib_follow.h"

/* Limit of the steps for a file four times as long; n log n stays below it for all sizes here */
#define GROWS_AT_MOST 6

/* ---- traces ---- */

static void put_init(struct fx *fx, uint64_t generation, uint16_t provider)
{
	struct tb_init init = {
		.abi = TB_ABI_VERSION, .clock = TB_CLOCK_TSC, .frequency = 1000000000,
		.nr_cpus = FX_CPUS, .page_size = 4096, .generation = generation,
	};

	fx_durable_end(fx);
	memset(fx->rings, 0, sizeof(fx->rings));
	fx->durable.sequence = 0;
	fx_durable(fx, TB_EV_INIT, &init, sizeof(init));
	fx_block(fx, &fx->durable)->provider = provider;
}

static void put_rolling(struct fx *fx, uint64_t time, uint16_t provider)
{
	fx_durable_end(fx);
	fx_open(fx, 0, time, 1, NULL);
	fx_simple(fx, 0, FX_SOFTIRQ, time, 1);
	fx_block(fx, &fx->rings[0])->provider = provider;
	fx_close(fx, 0);
}

static void make_totals(struct fx *fx, unsigned int count)
{
	struct tb_totals totals = { .dropped = 1 };
	uint32_t cpu;

	for (totals.flags = 0; totals.flags <= TB_TOTALS_SNAPSHOT; totals.flags++)
		for (cpu = count; cpu-- > 0; ) {
			totals.cpu = cpu;
			fx_durable(fx, TB_EV_TOTALS, &totals, sizeof(totals));
		}
}

static void make_suppressed(struct fx *fx, unsigned int count)
{
	struct tb_suppressed suppressed = { .filtered = 1 };

	for (suppressed.id = 0; suppressed.id < count; suppressed.id++)
		fx_durable(fx, TB_EV_SUPPRESSED, &suppressed, sizeof(suppressed));
}

/* The latest first: the reader must insert each in front of all before it */
static void make_selections(struct fx *fx, unsigned int count)
{
	unsigned char payload[sizeof(struct tb_selection) + 1] = { 0 };
	struct tb_selection *selection = (void *)payload;
	uint64_t start = fx->start;
	unsigned int i;

	selection->count = 1;
	selection->bits[0] = 1;
	for (i = 0; i < count; i++) {
		fx->start = start + count - i;
		selection->first = TB_EV_FIRST + i % 2;
		fx_durable(fx, TB_EV_SELECTION, payload, sizeof(*selection) + 1);
	}
	fx->start = start;
}

static void make_names(struct fx *fx, unsigned int count)
{
	struct { struct tb_string string; char text[8]; } name = { { 1, 0 }, "name" };

	for (name.string.key = count; name.string.key-- > 0; )
		fx_durable(fx, TB_EV_STRING, &name, sizeof(name.string) + 4);
}

static void make_recordings(struct fx *fx, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count / 16; i++) {
		put_init(fx, 2 + i, 0);
		put_rolling(fx, 1000, 0);
	}
}

/* Blocks of one provider after the recordings of another */
static void make_providers(struct fx *fx, unsigned int count)
{
	unsigned int i;

	put_init(fx, 1, 1);
	make_recordings(fx, count / 2);
	for (i = 0; i < count / 2; i++)
		put_rolling(fx, 1000 + i, 1);
}

/* Recordings that begin one after another, and end one after another */
static void make_apart(struct fx *fx, unsigned int count)
{
	uint16_t i;

	for (i = 0; i < count / 16; i++) {
		put_init(fx, 1, i);
		put_rolling(fx, 1000, i);
	}
	for (i = 0; i < count / 16; i++)
		put_rolling(fx, 2000, i);
}

/* ---- reading ---- */

static void read_all(struct tb_trace *open, uint64_t *events)
{
	const struct tb_block *block;
	struct tb_cursor *look;
	struct tb_view view;
	size_t end, i;
	unsigned int cpu;

	do {
		for (i = 0; (i = tb_trace_range(open, tb_trace_selected(open), i, &end)) < end; i++)
			CHECK(tb_trace_header(open, i, NULL, NULL));
		for (cpu = 0; cpu < tb_trace_nr_cpus(open); cpu++)
			tb_trace_totals(open, cpu);
		CHECK(!tb_cursor_open(open, &look));
		while (tb_cursor_next(look, &view) == 1)
			++*events;
		tb_cursor_close(look);
		CHECK(!tb_cursor_open(open, &look));
		while (tb_cursor_next_block(look, &block, NULL) == 1)
			++*events;
		tb_cursor_close(look);
	} while (tb_trace_next_recording(open) == 1);
}

/* Threads with numbers that would collide in the table if its secret were a constant */
static void make_threads(struct fx *fx, unsigned int count)
{
	const uint64_t zero[2] = { 0 };
	const struct tb_secret none = tb_secret_of(zero);
	uint32_t tid;

	for (tid = 1; count > 0; tid++) {
		if (tb_hash_slot(&none, tid, 0x8000) >= 16)
			continue;
		fx_thread(fx, tid, tid, 1, TB_THREAD_DUMP, "many");
		count--;
	}
	fx_durable_end(fx);
	put_rolling(fx, 1000, 0);
}

static uint64_t steps_of(void (*make)(struct fx *fx, unsigned int count), unsigned int count)
{
	struct tb_trace *open = NULL;
	uint64_t events = 0;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	make(&fx, count);
	fx_durable_end(&fx);
	tb_steps = 0;
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &open, NULL));
	if (open) {
		CHECK(!tb_trace_fault(open));
		read_all(open, &events);
		tb_trace_close(open);
	}
	CHECK(events);
	fx_free(&fx);
	return tb_steps;
}

static void grows(const char *name,
		  uint64_t (*steps)(void (*make)(struct fx *fx, unsigned int count),
				    unsigned int count),
		  void (*make)(struct fx *fx, unsigned int count))
{
	uint64_t few = steps(make, 4000), many = steps(make, 16000);

	if (few && many <= GROWS_AT_MOST * few)
		return;
	printf("# %s: %llu steps, four times as many take %llu\n", name,
	       (unsigned long long)few, (unsigned long long)many);
	test_failures++;
}

static void durable_records(void)
{
	grows("totals", steps_of, make_totals);
	grows("suppressed", steps_of, make_suppressed);
	grows("selections", steps_of, make_selections);
	grows("names", steps_of, make_names);
	grows("threads", steps_of, make_threads);
}

static void many_recordings(void)
{
	grows("recordings", steps_of, make_recordings);
	grows("providers", steps_of, make_providers);
	grows("recordings apart", steps_of, make_apart);
}

/* ---- followed ---- */

static void put_note(struct fx *fx, unsigned int log2, uint64_t start)
{
	struct { struct tb_symbol symbol; char name[16]; } function = { { start, 16 }, "function" };
	static struct fx_ring notes;

	notes.open = false;
	fx_begin(fx, &notes, TB_BLOCK_NOTE, log2, 0, 0, 0);
	fx_put_composite(fx, &notes, TB_EV_SYMBOL, 0, 0, 0, &function, sizeof(function));
	fx_end(fx, &notes);
}

static void make_symbols(struct fx *fx, unsigned int count)
{
	fx_durable_end(fx);
	for (count /= 4; count-- > 0; )
		put_note(fx, 10, 0x1000 + 16 * count);
	put_rolling(fx, 1000, 0);
}

/* One name in each block */
static void make_followed_names(struct fx *fx, unsigned int count)
{
	struct { struct tb_string string; char text[8]; } name = { { 1, 0 }, "name" };

	for (name.string.key = count / 8; name.string.key-- > 0; ) {
		fx_durable(fx, TB_EV_STRING, &name, sizeof(name.string) + 4);
		fx_durable_end(fx);
	}
	put_rolling(fx, 1000, 0);
}

static int file_of(struct fx *fx)
{
	int fd = memfd_create("trace", 0);

	fx_durable_end(fx);
	assert(fd >= 0);
	put(fd, fx->data, fx->size);
	assert(!lseek(fd, 0, SEEK_SET));
	return fd;
}

/* The number of events shown; stop after many attempts without one */
static unsigned int show(void)
{
	unsigned int events = 0, attempts = 0;
	struct tb_view view;
	int result;

	while ((result = tb_cursor_next(cursor, &view)) == 1 ||
	       (result == -EAGAIN && ++attempts < 1000)) {
		if (result == -EAGAIN)
			tb_cursor_wait(cursor, 1);
		else
			events++;
	}
	CHECK_NUMBER(result, 0);
	return events;
}

static uint64_t steps_following(void (*make)(struct fx *fx, unsigned int count),
				unsigned int count)
{
	struct fx fx;
	int fd;

	fx_init(&fx, 10, 1000);
	make(&fx, count);
	fd = file_of(&fx);
	fx_free(&fx);
	tb_steps = 0;
	follow(fd, &quick);
	CHECK(show());
	CHECK(!tb_trace_fault(trace));
	unfollow();
	close(fd);
	return tb_steps;
}

static void followed(void)
{
	grows("symbols", steps_following, make_symbols);
	grows("names", steps_following, make_followed_names);
}

/* More notes than fit into the reader's memory do not block it: notes do not wait to be shown */
static void many_notes(void)
{
	static const struct tb_follow_options little = { .hold_ms = SHORT_MS, .room = 1 << 20 };
	const char *name;
	uint64_t offset;
	unsigned int i;
	size_t length;
	struct fx fx;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	for (i = 0; i < 100; i++)
		put_note(&fx, 16, 0x1000 + 16 * i);
	for (i = 0; i < 10; i++)
		put_rolling(&fx, 1000 + i, 0);
	fd = file_of(&fx);
	follow(fd, &little);
	CHECK_NUMBER(show(), 10);
	CHECK(!tb_trace_symbol(trace, 0x1001, &name, &length, &offset));
	CHECK(tb_trace_symbol(trace, 0x1000 + 16 * 99, &name, &length, &offset) == -ENOENT);
	CHECK(tb_trace_fault(trace) && tb_trace_fault(trace)->code == -EFBIG);
	unfollow();
	close(fd);
	fx_free(&fx);
}

/* Each symbol is found, in any order of the blocks */
static void symbols_found(void)
{
	unsigned int i;
	uint64_t offset, address;
	const char *name;
	size_t length;
	struct fx fx;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	for (i = 0; i < 500; i++)
		put_note(&fx, 10, 0x1000 + 32 * (i * 7 % 500));
	put_rolling(&fx, 1000, 0);
	fd = file_of(&fx);
	follow(fd, &quick);
	CHECK_NUMBER(show(), 1);
	for (i = 0; i < 500; i++) {
		address = 0x1000 + 32 * i;
		CHECK(!tb_trace_symbol(trace, address + 5, &name, &length, &offset) &&
		      offset == 5);
		CHECK(tb_trace_symbol(trace, address + 16, &name, &length, &offset) == -ENOENT);
	}
	CHECK(tb_trace_symbol(trace, 0xfff, &name, &length, &offset) == -ENOENT);
	unfollow();
	close(fd);
	fx_free(&fx);
}

/* ---- what is found ---- */

/* Selections come out of order; one repeats an earlier one, but not the latest */
static void selections_in_order(void)
{
	static const struct { uint64_t time; uint32_t first; } told[] = {
		{ 2000, 64 }, { 1500, 65 }, { 3000, 65 }, { 3500, 65 }, { 1700, 66 },
	}, wanted[] = {
		{ 1500, 65 }, { 1700, 66 }, { 2000, 64 }, { 3000, 65 },
	};
	unsigned char payload[sizeof(struct tb_selection) + 1] = { 0 };
	struct tb_selection *selection = (void *)payload;
	struct tb_trace *open;
	uint64_t ticks;
	unsigned int i;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	selection->count = 1;
	selection->bits[0] = 1;
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		fx.start = told[i].time;
		selection->first = told[i].first;
		fx_durable(&fx, TB_EV_SELECTION, payload, sizeof(payload));
	}
	fx_durable_end(&fx);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &open, NULL));
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		CHECK(!tb_trace_selection(open, i, &ticks));
		CHECK_NUMBER(ticks, wanted[i].time);
		CHECK(tb_trace_selects(open, i, (uint16_t)wanted[i].first) == 1);
		CHECK(tb_trace_selects(open, i, (uint16_t)(wanted[i].first + 1)) == 0);
	}
	CHECK(tb_trace_selection(open, i, &ticks) == -ENOENT);
	tb_trace_close(open);
	fx_free(&fx);
}

/* Load ids that differ in their last byte belong to two recordings */
static void keys_whole(void)
{
	struct tb_init init = {
		.abi = TB_ABI_VERSION, .clock = TB_CLOCK_TSC, .frequency = 1000000000,
		.nr_cpus = 1, .page_size = 4096, .generation = 1,
	};
	struct tb_trace *open;
	unsigned int i;
	struct fx fx;

	memset(&fx, 0, sizeof(fx));
	fx.log2 = 10;
	for (i = 0; i < 4; i++) {
		init.load_id[sizeof(init.load_id) - 1] = (uint8_t)(i % 3);
		fx.durable.sequence = 0;
		fx_durable(&fx, TB_EV_INIT, &init, sizeof(init));
		fx_durable_end(&fx);
	}
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &open, NULL));
	CHECK_NUMBER(tb_trace_recordings(open), 3);
	tb_trace_close(open);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "records of durable blocks: steps grow with their number", durable_records },
	{ "many recordings in a file: steps grow with their number", many_recordings },
	{ "records of a trace that is followed: steps grow with their number", followed },
	{ "more notes than fit into memory do not block the reader", many_notes },
	{ "symbols of many blocks are found", symbols_found },
	{ "selections out of order", selections_in_order },
	{ "load ids that differ in their last byte", keys_whole },
};

TEST_MAIN(tests)
