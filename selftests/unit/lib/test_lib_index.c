// SPDX-License-Identifier: GPL-2.0-only
/*
 * A jump to a time in a large trace shows the same events as reading from the start, and reading
 * takes little memory for any size of trace. If this fails, a tool with --from shows other events,
 * or runs out of memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "test_lib_chunk.h"

#define SEEN_MOST 400000

/* What a cursor has shown of an event, for comparison with another cursor */
struct seen {
	uint64_t ticks, offset, value;
	uint32_t kind, cpu, tid, depth;
};

static struct seen *seen, *again;

static struct seen seen_of(const struct tb_view *view)
{
	struct seen what = {
		.ticks = view->ticks, .offset = view->offset,
		.kind = view->kind, .cpu = view->cpu, .tid = view->tid,
	};

	if (view->kind == TB_VIEW_EVENT)
		memcpy(&what.value, view->payload, view->length < 8 ? view->length : 8);
	else if (view->user)
		what.depth = view->user->depth;
	else
		what.value = view->lost.overwritten + view->lost.dropped;
	return what;
}

static size_t see(struct tb_cursor *cursor, struct seen *to, size_t most)
{
	struct tb_view view;
	size_t count;

	for (count = 0; count < most && tb_cursor_next(cursor, &view) == 1; count++)
		to[count] = seen_of(&view);
	return count;
}

/* @blocks rolling blocks on 4 CPUs; the last CPU has one in 300; some gaps, a few switches */
static void make_long(struct fx *fx, unsigned int blocks)
{
	struct fx_switch to = fx_switch("bash", 100, 1, "cc", 200);
	struct tb_gap gap = { 5, 2, 0, 0, 0, 0 };
	uint64_t time[4] = { 1000, 1000, 1000, 1000 }, number = 0;
	unsigned int i, cpu;

	fx_init(fx, 10, 1000);
	fx_thread(fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	fx_durable_end(fx);
	srandom(7);
	for (i = 0; i < blocks; i++) {
		cpu = i % 300 == 299 ? 3 : (unsigned int)random() % 3;
		if (cpu == 3 && time[3] < time[0])
			time[3] = time[0];
		gap.first = time[cpu];
		time[cpu] += (uint64_t)random() % 50;
		gap.last = time[cpu];
		if (i % 37 == 0)
			fx->rings[cpu].sequence++;
		fx_open(fx, cpu, time[cpu], 100, i % 37 ? NULL : &gap);
		fx_composite(fx, cpu, FX_SWITCH, time[cpu], 100, &to, sizeof(to));
		while (fx_simple(fx, cpu, FX_SOFTIRQ, time[cpu], number++))
			time[cpu] += (uint64_t)random() % 4;
		fx_close(fx, cpu);
	}
	fx->rings[1].dropped += 3;
	for (cpu = 0; cpu < 4; cpu++)
		fx_totals(fx, cpu);
	fx_durable_end(fx);
}

static struct tb_trace *open_it(struct fx *fx)
{
	struct tb_error error = { 0 };
	struct tb_trace *trace;

	fx_durable_end(fx);
	if (tb_trace_open_memory(fx->data, fx->size, &trace, &error)) {
		printf("Bail out! %s\n", error.text);
		exit(1);
	}
	CHECK(!tb_trace_fault(trace));
	return trace;
}

/* More blocks than the index has marks: each is found, in any order of requests */
static void blocks_by_number(void)
{
	const struct tb_block *block;
	struct tb_trace *trace;
	uint64_t *where, offset, end = 0;
	size_t count, i, j;
	struct fx fx;

	make_long(&fx, 20000);
	trace = open_it(&fx);
	count = tb_trace_blocks(trace);
	CHECK(count > 20000);
	where = calloc(count, sizeof(*where));
	for (i = 0; (block = tb_trace_block(trace, i, &offset, NULL)); i++) {
		CHECK(offset == end && i < count);
		CHECK((const unsigned char *)block == fx.data + offset);
		where[i] = offset;
		end += 1u << block->size_log2;
	}
	CHECK_NUMBER(i, count);
	CHECK_NUMBER(end, fx.size);
	for (i = 0; i < 3000; i++) {
		j = (size_t)random() % count;
		CHECK(tb_trace_block(trace, j, &offset, NULL) && offset == where[j]);
	}
	for (i = count; i-- > count - 300; )
		CHECK(tb_trace_block(trace, i, &offset, NULL) && offset == where[i]);
	free(where);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* Events are in the order of time, each once, though blocks of a CPU lie far apart in the file */
static void rings_far_apart(void)
{
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	uint64_t last[4] = { 0 };
	size_t count, i, events = 0;
	struct fx fx;

	make_long(&fx, 7000);
	trace = open_it(&fx);
	CHECK(!tb_cursor_open(trace, &cursor));
	count = see(cursor, seen, SEEN_MOST);
	for (i = 0; i < count; i++) {
		CHECK(!i || seen[i].ticks >= seen[i - 1].ticks);
		if (seen[i].kind != TB_VIEW_EVENT)
			continue;
		CHECK(seen[i].offset > last[seen[i].cpu]);
		last[seen[i].cpu] = seen[i].offset;
		events++;
	}
	CHECK_NUMBER(events, fx.rings[0].events + fx.rings[1].events +
		     fx.rings[2].events + fx.rings[3].events);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* After a seek the cursor shows what it would show on the way from the start */
static void compare_seeks(struct tb_trace *trace, unsigned int times)
{
	struct tb_cursor *cursor;
	size_t count, first, i, rest;
	unsigned int t;
	uint64_t ticks;

	CHECK(!tb_cursor_open(trace, &cursor));
	count = see(cursor, seen, SEEN_MOST);
	CHECK(count > 100 && count < SEEN_MOST);
	for (t = 0; t < times; t++) {
		ticks = t == 0 ? 0 : t == 1 ? seen[count - 1].ticks :
			t == 2 ? seen[count - 1].ticks + 1 :
			t == 3 ? UINT64_MAX : t == 4 ? seen[0].ticks :
			seen[(size_t)random() % count].ticks + (t % 3) - 1;
		CHECK(!tb_cursor_seek(cursor, ticks));
		for (first = 0; first < count && seen[first].ticks < ticks; first++)
			;
		rest = see(cursor, again, 200);
		CHECK_NUMBER(rest, count - first < 200 ? count - first : 200);
		for (i = 0; i < rest; i++)
			if (memcmp(&again[i], &seen[first + i], sizeof(again[i])))
				break;
		if (i < rest) {
			printf("# time %llu: number %zu is at %llu, offset %llu, not at %llu, offset %llu\n",
			       (unsigned long long)ticks, i,
			       (unsigned long long)again[i].ticks,
			       (unsigned long long)again[i].offset,
			       (unsigned long long)seen[first + i].ticks,
			       (unsigned long long)seen[first + i].offset);
			test_failures++;
		}
		if (test_failures)
			break;
	}
	tb_cursor_close(cursor);
}

static void seek_kernel(void)
{
	struct tb_trace *trace;
	struct fx fx;

	make_long(&fx, 5000);
	trace = open_it(&fx);
	compare_seeks(trace, 200);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* The second half of the file comes first: the reader lists rings, and ignores repeated blocks */
static void seek_disordered(void)
{
	struct tb_trace *trace, *plain;
	struct tb_cursor *cursor;
	size_t blocks, half, count;
	uint64_t middle;
	unsigned char *turned;
	struct fx fx;

	make_long(&fx, 600);
	plain = open_it(&fx);
	blocks = tb_trace_blocks(plain);
	CHECK(tb_trace_block(plain, blocks / 2, &middle, NULL));
	CHECK(!tb_cursor_open(plain, &cursor));
	count = see(cursor, again, SEEN_MOST);
	tb_cursor_close(cursor);
	tb_trace_close(plain);

	half = fx.size - middle;
	turned = malloc(fx.size + 8192);
	/* the durable block first, then the second half, then the first */
	memcpy(turned, fx.data, 16384);
	memcpy(turned + 16384, fx.data + middle, half);
	memcpy(turned + 16384 + half, fx.data + 16384, middle - 16384);
	CHECK(!tb_trace_open_memory(turned, fx.size, &trace, NULL));
	CHECK(!tb_cursor_open(trace, &cursor));
	CHECK_NUMBER(see(cursor, seen, SEEN_MOST), count);
	tb_cursor_close(cursor);
	compare_seeks(trace, 60);
	tb_trace_close(trace);
	free(turned);
	fx_free(&fx);
}

/* After a seek earlier slices are open, and records appear from that time on */
static void seek_user(void)
{
	struct fx_chunk chunk;
	struct tb_trace *trace;
	struct fx fx;
	uint32_t id;

	fx_init(&fx, 14, 1000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1000, 100, NULL);
	for (id = 0; id < 20; id++) {
		fx_chunk(&chunk, 1, 1, id, id * 5);
		fx_record(&chunk, TB_REC_BEGIN, 0, 2, 1000 + id * 100 + 10, FX_NO_WORDS);
		fx_record(&chunk, TB_REC_BEGIN, 0, 3, 1000 + id * 100 + 20, FX_NO_WORDS);
		fx_record(&chunk, TB_REC_INSTANT, 0, 4, 1000 + id * 100 + 30, FX_NO_WORDS);
		fx_record(&chunk, TB_REC_END, 0, 0, 1000 + id * 100 + 40, FX_NO_WORDS);
		fx_record(&chunk, TB_REC_INSTANT, 0, 4, 1000 + id * 100 + 50, FX_NO_WORDS);
		CHECK(fx_take(&fx, 0, 1000 + id * 100 + 60, &chunk));
	}
	fx_close(&fx, 0);
	trace = open_it(&fx);
	compare_seeks(trace, 100);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* After a seek threads have the last names before that time, of rings or of durable blocks */
static void seek_threads(void)
{
	struct fx_switch event = fx_switch("swapper", 0, 0, "bash", 100);
	const struct tb_task *task;
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct tb_view view;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	fx_durable_end(&fx);
	fx.start = 5000;
	fx_thread(&fx, 100, 100, 1, 0, "make");
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_composite(&fx, 0, FX_SWITCH, 2002, 0, &event, sizeof(event));
	fx_simple(&fx, 0, FX_SOFTIRQ, 6001, 2);
	fx_close(&fx, 0);
	trace = open_it(&fx);
	CHECK(!tb_cursor_open(trace, &cursor));
	CHECK(!tb_cursor_seek(cursor, 6000));
	task = tb_cursor_task(cursor, 100);
	CHECK(task && !strcmp(task->comm, "make"));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 6001);
	CHECK_TEXT(view.comm, "make");
	CHECK(!tb_cursor_seek(cursor, 1500));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 2001);
	CHECK_TEXT(view.comm, "bash");
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* A piece of the first recording after the second belongs to the first again */
static void recordings_in_turns(void)
{
	unsigned int recording, i, wanted[] = { 0, 0, 1, 1, 0, 0 };
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	struct tb_view view;
	size_t init, found, end;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	init = fx.size;
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 1001, 1);
	fx_close(&fx, 0);
	fx_start_recording(&fx, 2);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 3000, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 3001, 1);
	fx_close(&fx, 0);
	fx_extend(&fx, init);
	memcpy(fx.data + fx.size - init, fx.data, init);
	memset(fx.rings, 0, sizeof(fx.rings));
	fx.rings[0].sequence = 1;
	fx_open(&fx, 0, 2000, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_close(&fx, 0);
	trace = open_it(&fx);
	CHECK_NUMBER(tb_trace_recordings(trace), 2);
	for (i = 0; tb_trace_block(trace, i, NULL, &recording); i++)
		CHECK(i < 6 && recording == wanted[i]);
	for (i = 0; i < 8; i++) {
		found = tb_trace_range(trace, 0, i, &end);
		CHECK_NUMBER(found, i < 2 || i == 5 ? i : i < 5 ? 4 : 6);
		CHECK_NUMBER(end, 6);
		found = tb_trace_range(trace, 1, i, &end);
		CHECK_NUMBER(found, i < 2 ? 2 : i < 4 ? i : 4);
		CHECK_NUMBER(end, 4);
	}
	CHECK(!tb_cursor_open(trace, &cursor));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 1001);
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 2001);
	CHECK(tb_cursor_next(cursor, &view) == 0);
	tb_cursor_close(cursor);
	CHECK(tb_trace_next_recording(trace) == 1);
	CHECK(!tb_cursor_open(trace, &cursor));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.ticks == 3001);
	CHECK(tb_cursor_next(cursor, &view) == 0);
	tb_cursor_close(cursor);
	CHECK(tb_trace_next_recording(trace) == 0);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* Blocks of each recording are found; two of the recordings have more blocks than marks */
static void recordings_mixed(void)
{
	unsigned int of, recording;
	size_t i, end, next, last, found;
	struct tb_trace *trace;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	for (i = 0; i < 9000; i++) {
		fx_open(&fx, 0, 1000 + i, 1, NULL);
		fx_block(&fx, &fx.rings[0])->provider = i % 100 ? i / 1500 % 2 : 2;
		fx_close(&fx, 0);
	}
	trace = open_it(&fx);
	CHECK_NUMBER(tb_trace_recordings(trace), 3);
	for (recording = 0; recording < 3; recording++) {
		next = SIZE_MAX;
		last = 0;
		for (i = tb_trace_blocks(trace); i-- > 0; ) {
			CHECK(tb_trace_header(trace, i, NULL, &of));
			if (of == recording)
				next = i;
			if (!last && of == recording)
				last = i;
			if (i % 7)
				continue;
			found = tb_trace_range(trace, recording, i, &end);
			CHECK_NUMBER(found, next == SIZE_MAX ? end : next);
			CHECK(!last || end == last + 1);
		}
	}
	tb_trace_close(trace);
	fx_free(&fx);
}

static void raw(void)
{
	const struct tb_block *block;
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	struct tb_walk walk;
	uint64_t offset, at, ids[2] = { 0 };
	size_t i;
	struct fx fx;

	make_long(&fx, 100);
	trace = open_it(&fx);
	CHECK(!tb_cursor_open(trace, &cursor));
	for (i = 0; tb_trace_block(trace, i, &at, NULL); i++)
		CHECK(tb_cursor_next_block(cursor, &block, &offset) == 1 && offset == at);
	CHECK(tb_cursor_next_block(cursor, &block, &offset) == 0);
	/* a cursor reads either events, or blocks, or elements */
	CHECK(tb_cursor_next(cursor, &view) == -EINVAL);
	CHECK(tb_cursor_next_element(cursor, &walk, NULL) == -EINVAL);
	/* blocks that ended before the time are skipped */
	CHECK(!tb_cursor_seek(cursor, 1300));
	while (tb_cursor_next_block(cursor, &block, NULL) == 1)
		CHECK(block->kind != TB_BLOCK_ROLLING || block->time_end >= 1300);
	tb_cursor_close(cursor);

	CHECK(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next_element(cursor, &walk, &offset) == 1) {
		CHECK((const unsigned char *)walk.block + walk.index * 16 ==
		      fx.data + offset);
		ids[0] += walk.id == FX_SOFTIRQ;
		ids[1] += walk.id == TB_EV_GAP;
	}
	CHECK_NUMBER(ids[1], 100);
	CHECK_NUMBER(ids[0] + 100, fx.rings[0].events + fx.rings[1].events +
		     fx.rings[2].events + fx.rings[3].events);
	CHECK(tb_cursor_next_block(cursor, &block, NULL) == -EINVAL);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

/* Damage ends its block; the next block follows, also when reading elements */
static void raw_damage(void)
{
	const struct tb_error *fault;
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_walk walk;
	unsigned int count = 0;
	size_t at;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1000, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 1001, 1);
	at = fx.rings[0].block + fx.rings[0].used;
	fx_simple(&fx, 0, FX_SOFTIRQ, 1002, 1);
	fx_close(&fx, 0);
	fx_open(&fx, 0, 2000, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2001, 1);
	fx_close(&fx, 0);
	memset(fx.data + at, 0xff, 4);
	trace = open_it(&fx);
	CHECK(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next_element(cursor, &walk, NULL) == 1)
		count += walk.id == FX_SOFTIRQ;
	CHECK_NUMBER(count, 2);
	fault = tb_cursor_fault(cursor);
	CHECK(fault && fault->offset == at);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	fx_free(&fx);
}

static char path[] = "/tmp/test_lib_index.XXXXXX";

static int file_of(const struct fx *fx)
{
	int fd = mkstemp(path);

	assert(fd >= 0 && write(fd, fx->data, fx->size) == (ssize_t)fx->size);
	return fd;
}

static void file_gone(int fd)
{
	close(fd);
	unlink(path);
	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
}

static void headers_alone(void)
{
	struct tb_error error = { 0 };
	struct fx_chunk chunk;
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_view view;
	struct fx fx;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1000, 100, NULL);
	fx_chunk(&chunk, 1, 1, 0, 0);
	fx_mark(&chunk, 1001, "here");
	fx_take(&fx, 0, 1002, &chunk);
	fx_close(&fx, 0);
	fd = file_of(&fx);
	CHECK(!tb_trace_open_with(path, TB_OPEN_HEADERS, &trace, &error));
	CHECK(!tb_trace_user_writer(trace, 0));
	CHECK(!tb_cursor_open(trace, &cursor));
	CHECK(tb_cursor_next(cursor, &view) == 1 && view.id == TB_EV_CHUNK &&
	      view.kind == TB_VIEW_EVENT);
	CHECK(tb_cursor_next(cursor, &view) == 0);
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	CHECK(tb_trace_open_with(path, 0x80, &trace, &error) == -EINVAL);
	CHECK(strstr(error.text, "flags"));
	CHECK(!tb_trace_open_with(path, 0, &trace, &error));
	CHECK(tb_trace_user_writer(trace, 0));
	tb_trace_close(trace);
	file_gone(fd);
	fx_free(&fx);
}

static long peak(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* A file with @copies times the blocks of make_long() */
static void long_file(int fd, unsigned int copies)
{
	uint64_t time = 1000, number = 0;
	unsigned int i, j, cpu;
	struct fx fx;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	for (i = 0; i < copies; i++) {
		for (j = 0; j < 1024; j++) {
			cpu = j % 3;
			fx_open(&fx, cpu, time, 100, NULL);
			while (fx_simple(&fx, cpu, FX_SOFTIRQ, time, number++))
				;
			fx_close(&fx, cpu);
			time += j % 3;
		}
		assert(write(fd, fx.data, fx.size) == (ssize_t)fx.size);
		fx.size = 0;
	}
	fx_free(&fx);
}

static uint64_t read_file(void)
{
	struct tb_trace *trace;
	struct tb_cursor *cursor;
	const struct tb_block *block;
	struct tb_view view;
	uint64_t count = 0;

	CHECK(!tb_trace_open(path, &trace, NULL));
	CHECK(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next(cursor, &view) == 1)
		count += *(const unsigned char *)view.payload != 255;
	tb_cursor_close(cursor);
	CHECK(!tb_cursor_open(trace, &cursor));
	while (tb_cursor_next_block(cursor, &block, NULL) == 1)
		count += block->events != 0;
	tb_cursor_close(cursor);
	tb_trace_close(trace);
	return count;
}

/*
 * Resident memory does not grow with a trace that is 32 times as long. The kernel maps whole
 * folios of the page cache. Their size depends on the machine's load: some runs took 35 MiB more.
 */
static void memory(void)
{
	long small, large;
	uint64_t count;
	int fd;

	fd = mkstemp(path);
	assert(fd >= 0);
	long_file(fd, 8);
	count = read_file();
	small = peak();
	CHECK(count > 8 * 1024 * 50);
	/* both measurements include the memory for making the file */
	assert(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	long_file(fd, 256);
	count = read_file();
	large = peak();
	CHECK(count > 256 * 1024 * 50);
	printf("# most resident: %ld KiB after 8 MiB, %ld KiB after 256 MiB\n", small, large);
	/* the limit is a quarter of the growth of the file */
	CHECK(large - small < (256 - 8) * 1024 / 4);
	file_gone(fd);
}

static const struct test tests[] = {
	{ "memory: resident memory does not grow with the trace", memory },
	{ "blocks by number, more than the index has marks", blocks_by_number },
	{ "rings that lie far apart in the file are merged in order", rings_far_apart },
	{ "a seek shows what reading from the start shows", seek_kernel },
	{ "a seek where rings are not in order", seek_disordered },
	{ "a seek: records of programs, and open slices", seek_user },
	{ "a seek: names of threads", seek_threads },
	{ "alternating pieces of two recordings", recordings_in_turns },
	{ "blocks of each recording are found among those of others", recordings_mixed },
	{ "blocks and elements of a trace", raw },
	{ "a damaged block, element by element", raw_damage },
	{ "opening by headers alone", headers_alone },
};

int main(void)
{
	int result;

	seen = calloc(SEEN_MOST, sizeof(*seen));
	again = calloc(SEEN_MOST, sizeof(*again));
	assert(seen && again);
	result = test_main(tests, sizeof(tests) / sizeof(tests[0]));
	free(seen);
	free(again);
	return result;
}
