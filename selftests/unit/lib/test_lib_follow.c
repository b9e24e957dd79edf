// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live view of a recording (print --follow, a pipe) shows all events in order while the file
 * grows, the same as in the finished file, and soon. If this fails, live output lacks events, or
 * hangs.
 */
#include "test_lib_follow.h"

/* A trace with everything that a cursor can show, except records of programs */
static void make_all(struct fx *fx)
{
	struct fx_switch to = fx_switch("bash", 100, 1, "cc", 200);
	struct tb_gap gap = { 12, 3, 1, 20000, 20500, 0 };
	uint64_t time = 1000;
	unsigned int i, cpu;

	fx_init(fx, 10, 1000);
	fx_sync(fx, 1000, 5000);
	fx_sync(fx, 500000, 504000);
	fx_thread(fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	fx_durable_end(fx);
	for (i = 0; i < 300; i++) {
		cpu = i % 4;
		gap.first = gap.last = time;
		fx_open(fx, cpu, time + cpu, 100, i == 150 ? &gap : NULL);
		fx_composite(fx, cpu, FX_SWITCH, time + cpu, 100, &to, sizeof(to));
		fx_simple(fx, cpu, FX_SOFTIRQ, time + 50, i);
		fx_simple(fx, cpu, FX_SYS_ENTER_COMPACT, time + 60 + i % 5, 1);
		fx_close(fx, cpu);
		if (cpu == 3)
			time += 100;
	}
	fx->rings[2].dropped += 9;
	for (i = 0; i < 4; i++)
		fx_totals(fx, i);
	fx_durable_end(fx);
}

struct shown {
	uint64_t ticks, ns, offset, sequence, lost;
	uint32_t kind, cpu, tid;
	char     comm[20];
	char     text[200];
};

static struct shown shown_of(struct tb_trace *of, const struct tb_view *view)
{
	struct shown shown;

	memset(&shown, 0, sizeof(shown));
	shown.ticks = view->ticks;
	shown.ns = view->ns;
	shown.offset = view->offset;
	shown.sequence = view->sequence;
	shown.kind = view->kind;
	shown.cpu = view->cpu;
	shown.tid = view->tid;
	if (view->kind == TB_VIEW_LOST)
		shown.lost = view->lost.overwritten + view->lost.dropped;
	snprintf(shown.comm, sizeof(shown.comm), "%s", view->comm);
	tb_view_print(of, view, shown.text, sizeof(shown.text));
	return shown;
}

struct writer {
	int fd;
	const struct fx *fx;
	size_t step;
};

/* Write pieces of random size, then close the pipe */
static void *write_all(void *data)
{
	struct writer *writer = data;
	size_t at, size;

	for (at = 0; at < writer->fx->size; at += size) {
		size = writer->fx->size - at;
		if (size > writer->step)
			size = writer->step;
		put(writer->fd, writer->fx->data + at, size);
	}
	close(writer->fd);
	return NULL;
}

/* A cursor on a pipe shows all that a cursor on the file shows, in the same order */
static void same_as_file(void)
{
	struct tb_trace *whole;
	struct tb_cursor *long_way;
	struct tb_view view, other;
	struct shown a, b;
	struct writer writer;
	pthread_t thread;
	unsigned int count = 0;
	int ends[2], result;
	struct fx fx;

	make_all(&fx);
	assert(!pipe(ends));
	writer = (struct writer){ ends[1], &fx, 777 };
	assert(!pthread_create(&thread, NULL, write_all, &writer));
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &whole, NULL));
	CHECK(!tb_cursor_open(whole, &long_way));
	follow(ends[0], &holding);
	while (tb_cursor_next(long_way, &view) == 1) {
		result = next(&other);
		CHECK_NUMBER(result, 1);
		if (result != 1)
			break;
		a = shown_of(whole, &view);
		b = shown_of(trace, &other);
		if (memcmp(&a, &b, sizeof(a))) {
			printf("# file: %llu %s\n# pipe: %llu %s\n",
			       (unsigned long long)a.ticks, a.text,
			       (unsigned long long)b.ticks, b.text);
			CHECK(!"the same");
			break;
		}
		count++;
	}
	CHECK_NUMBER(next(&other), 0);
	CHECK_NUMBER(next(&other), 0);
	CHECK_NUMBER(count, 300 * 3 + 4);
	CHECK_NUMBER(tb_cursor_late(cursor), 0);
	CHECK(tb_trace_totals(trace, 2) && tb_trace_nr_cpus(trace) == FX_CPUS);
	CHECK(!tb_trace_fault(trace));
	pthread_join(thread, NULL);
	unfollow();
	tb_cursor_close(long_way);
	tb_trace_close(whole);
	close(ends[0]);
	fx_free(&fx);
}

/* Events are shown while the pipe is open, merged with another CPU's; no call waits for the end */
static void while_it_is_made(void)
{
	struct tb_view view;
	uint64_t last = 0;
	unsigned int i;
	int ends[2];
	struct fx fx;

	assert(!pipe(ends));
	follow(ends[0], &quick);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	CHECK(!tb_trace_init(trace));
	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	block(&fx, 0, 1000, 10);
	block(&fx, 1, 1005, 10);
	put_new(ends[1], &fx);
	for (i = 0; i < 20; i++) {
		CHECK(next(&view) == 1);
		CHECK(view.ticks > last && view.cpu == i % 2);
		CHECK(view.format && !strcmp(view.format->name, "softirq_entry"));
		last = view.ticks;
	}
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	CHECK(tb_trace_init(trace) && !strcmp(tb_trace_init(trace)->nodename, "fixture"));
	block(&fx, 2, 2000, 1);
	put_new(ends[1], &fx);
	CHECK(next(&view) == 1 && view.cpu == 2);
	close(ends[1]);
	CHECK_NUMBER(next(&view), 0);
	unfollow();
	close(ends[0]);
	fx_free(&fx);
}

/* Blocks without anything to show (a thread of the state dump) are not taken for the end */
static void hidden_alone(void)
{
	struct tb_view view;
	int ends[2];
	struct fx fx;

	assert(!pipe(ends));
	follow(ends[0], &quick);
	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	block(&fx, 0, 2000, 5);
	put_new(ends[1], &fx);
	while (next(&view) == 1 && view.ticks < 2040)
		;
	fx.start = 3000;
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "bash");
	put_new(ends[1], &fx);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	/* wait longer than events are held back */
	usleep(20000);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	block(&fx, 0, 4000, 1);
	put_new(ends[1], &fx);
	CHECK(next(&view) == 1 && view.ticks == 4000);
	close(ends[1]);
	CHECK_NUMBER(next(&view), 0);
	unfollow();
	close(ends[0]);
	fx_free(&fx);
}

/* An event is held back while another CPU may still deliver an earlier one, and does */
static void held_back(void)
{
	struct tb_view view;
	unsigned int i;
	int ends[2];
	struct fx fx;

	assert(!pipe(ends));
	follow(ends[0], &holding);
	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	block(&fx, 0, 2000, 5);
	put_new(ends[1], &fx);
	for (i = 0; i < 5; i++) {
		CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
		CHECK_NUMBER(tb_cursor_wait(cursor, 1), 0);
	}
	block(&fx, 1, 1500, 5);
	put_new(ends[1], &fx);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	tb_cursor_finish(cursor);
	for (i = 0; i < 10; i++)
		CHECK(next(&view) == 1 && view.cpu == (i < 5));
	CHECK_NUMBER(next(&view), 0);
	CHECK_NUMBER(tb_cursor_late(cursor), 0);
	unfollow();
	close(ends[0]);
	close(ends[1]);
	fx_free(&fx);
}

/* An event that comes after its hold time is still shown, and counted as late */
static void late(void)
{
	struct tb_view view;
	unsigned int i;
	int ends[2];
	struct fx fx;

	assert(!pipe(ends));
	follow(ends[0], &quick);
	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	block(&fx, 0, 2000, 5);
	put_new(ends[1], &fx);
	for (i = 0; i < 5; i++)
		CHECK(next(&view) == 1 && view.cpu == 0);
	block(&fx, 1, 1500, 4);
	put_new(ends[1], &fx);
	for (i = 0; i < 4; i++)
		CHECK(next(&view) == 1 && view.cpu == 1 && view.ticks == 1500 + i * 10);
	CHECK_NUMBER(tb_cursor_late(cursor), 4);
	close(ends[1]);
	CHECK_NUMBER(next(&view), 0);
	unfollow();
	close(ends[0]);
	fx_free(&fx);
}

static void growing_file(void)
{
	struct tb_follow_options options = { .flags = TB_FOLLOW_GROWS, .hold_ms = SHORT_MS };
	int fd = memfd_create("growing", 0), reader;
	struct tb_view view;
	char name[32];
	size_t half;
	struct fx fx;

	assert(fd >= 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	reader = open(name, O_RDONLY);
	assert(reader >= 0);
	follow(reader, &options);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	block(&fx, 0, 1000, 1);
	half = fx.size - 500;
	put(fd, fx.data, half);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	CHECK(tb_trace_init(trace));
	put(fd, fx.data + half, fx.size - half);
	CHECK(next(&view) == 1 && view.ticks == 1000);
	CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EAGAIN);
	tb_cursor_finish(cursor);
	CHECK_NUMBER(next(&view), 0);
	CHECK(!tb_trace_fault(trace));
	unfollow();
	close(reader);
	close(fd);
	fx_free(&fx);
}

/* After a cut or foreign bytes the reader has everything before, and the place of the damage */
static void broken(void)
{
	const struct tb_error *fault;
	struct tb_view view;
	unsigned int i, way;
	size_t whole;
	struct fx fx;
	int fd;

	for (way = 0; way < 2; way++) {
		fx_init(&fx, 10, 1000);
		fx_durable_end(&fx);
		block(&fx, 0, 1000, 3);
		whole = fx.size;
		block(&fx, 0, 2000, 3);
		if (way)
			memset(fx.data + whole, 'x', 64);
		fd = follow_bytes(fx.data, fx.size - (way ? 0 : 300), &holding);
		for (i = 0; i < 3; i++)
			CHECK(next(&view) == 1 && view.ticks == 1000 + i * 10);
		CHECK_NUMBER(next(&view), (unsigned long long)-EBADMSG);
		fault = tb_trace_fault(trace);
		CHECK(fault && fault->offset == (way ? whole : fx.size - 300));
		CHECK(fault && strstr(fault->text, way ? "no block" : "cut off"));
		unfollow();
		close(fd);
		fx_free(&fx);
	}
}

static void damaged_event(void)
{
	const struct tb_error *fault;
	struct tb_view view;
	struct fx fx;
	size_t at;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	fx_open(&fx, 3, 1000, 1, NULL);
	fx_simple(&fx, 3, FX_SOFTIRQ, 1000, 1);
	at = fx.rings[3].block + fx.rings[3].used;
	fx_simple(&fx, 3, FX_SOFTIRQ, 1001, 1);
	fx_close(&fx, 3);
	block(&fx, 3, 2000, 1);
	memset(fx.data + at, 0xff, 4);
	fd = follow_bytes(fx.data, fx.size, NULL);
	CHECK(next(&view) == 1 && view.ticks == 1000);
	CHECK(next(&view) == 1 && view.ticks == 2000);
	CHECK_NUMBER(next(&view), (unsigned long long)-EBADMSG);
	fault = tb_cursor_fault(cursor);
	CHECK(fault && fault->offset == at);
	unfollow();
	close(fd);
	fx_free(&fx);
}

/* Two recordings follow each other in the file, which may still grow */
static void two_recordings(const struct tb_follow_options *options)
{
	struct tb_view view;
	struct fx fx;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	block(&fx, 0, 5000, 2);
	fx_start_recording(&fx, 2);
	fx_durable_end(&fx);
	block(&fx, 1, 1000, 3);
	fd = follow_bytes(fx.data, fx.size, options);
	CHECK(next(&view) == 1 && next(&view) == 1 && view.ticks == 5010);
	CHECK_NUMBER(next(&view), 0);
	CHECK_NUMBER(tb_trace_next_recording(trace), (unsigned long long)-EBUSY);
	tb_cursor_close(cursor);
	CHECK_NUMBER(tb_trace_next_recording(trace), 1);
	CHECK(!tb_cursor_open(trace, &cursor));
	CHECK(next(&view) == 1 && view.cpu == 1 && view.ticks == 1000);
	CHECK(tb_trace_init(trace)->generation == 2);
	CHECK(next(&view) == 1 && next(&view) == 1);
	tb_cursor_finish(cursor);
	CHECK_NUMBER(next(&view), 0);
	tb_cursor_close(cursor);
	CHECK_NUMBER(tb_trace_next_recording(trace), 0);
	tb_trace_close(trace);
	close(fd);
	fx_free(&fx);
}

static void recordings(void)
{
	struct tb_follow_options grows = { .flags = TB_FOLLOW_GROWS, .hold_ms = SHORT_MS };

	two_recordings(NULL);
	two_recordings(&grows);
}

/* Each part of a recording repeats durable blocks, and parts may overlap */
static void repeated(void)
{
	unsigned int i, marks = 0;
	struct tb_view view;
	size_t half;
	struct fx fx;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_at(&fx, 1000, TB_EV_MARK, "once", 4);
	fx_durable_end(&fx);
	block(&fx, 0, 1000, 3);
	block(&fx, 0, 2000, 3);
	half = fx.size;
	block(&fx, 0, 3000, 3);
	fd = memfd_create("repeated", 0);
	put(fd, fx.data, half);
	put(fd, fx.data, fx.size);
	assert(!lseek(fd, 0, SEEK_SET));
	follow(fd, &holding);
	for (i = 0; i < 9; i++) {
		CHECK_NUMBER(next(&view), 1);
		if (view.id == TB_EV_MARK) {
			marks++;
			i--;
			continue;
		}
		CHECK_NUMBER(view.ticks, 1000 * (1 + i / 3) + 10 * (i % 3));
	}
	CHECK_NUMBER(marks, 1);
	CHECK_NUMBER(next(&view), 0);
	unfollow();
	close(fd);
	fx_free(&fx);
}

/* All that a CPU recorded may be lost */
static void no_block(void)
{
	struct tb_view view;
	struct fx fx;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	block(&fx, 0, 1000, 1);
	fx.rings[2].dropped = 7;
	fx_totals_at(&fx, 0, 0, 5000, 0, 0);
	fx_totals_at(&fx, 2, 0, 5000, 2000, 4000);
	fx_durable_end(&fx);
	fd = follow_bytes(fx.data, fx.size, &holding);
	CHECK(next(&view) == 1 && view.ticks == 1000);
	CHECK_NUMBER(next(&view), 1);
	CHECK(view.kind == TB_VIEW_LOST && view.cpu == 2 && view.lost.dropped == 7);
	CHECK_NUMBER(next(&view), 0);
	unfollow();
	close(fd);
	fx_free(&fx);
}

/* A header that says less than the block has must not stop the reader at its limit of memory */
static void later_than_said(void)
{
	struct tb_follow_options options = {
		.flags = TB_FOLLOW_GROWS, .hold_ms = SHORT_MS, .room = 4096,
	};
	unsigned int i;
	struct tb_view view;
	struct fx fx;
	size_t at;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	for (i = 0; i < 20; i++) {
		at = fx.size;
		block(&fx, 0, 1000 + 100 * i, 2);
		((struct tb_block *)(fx.data + at))->time_end = 1000;
	}
	fd = follow_bytes(fx.data, fx.size, &options);
	for (i = 0; i < 40; i++) {
		/* so many are above the limit */
		if (i == 30)
			tb_cursor_finish(cursor);
		CHECK_NUMBER(next(&view), 1);
	}
	CHECK_NUMBER(next(&view), 0);
	unfollow();
	close(fd);
	fx_free(&fx);
}

/* Blocks of another provider are skipped, and the cursor says so */
static void foreign_provider(void)
{
	struct tb_view view;
	struct fx fx;
	size_t at;
	int fd;

	fx_init(&fx, 10, 1000);
	fx_durable_end(&fx);
	block(&fx, 0, 1000, 1);
	at = fx.size;
	block(&fx, 0, 2000, 1);
	((struct tb_block *)(fx.data + at))->provider = 7;
	block(&fx, 0, 3000, 1);
	fd = follow_bytes(fx.data, fx.size, NULL);
	CHECK(next(&view) == 1 && view.ticks == 1000);
	CHECK(next(&view) == 1 && view.ticks == 3000);
	CHECK_NUMBER(next(&view), 0);
	CHECK(tb_trace_fault(trace) && tb_trace_fault(trace)->offset == at);
	unfollow();
	close(fd);
	fx_free(&fx);
}

/* With little memory the reader reads no more than fits, and still shows everything in order */
static void little_room(void)
{
	struct tb_follow_options options = { .hold_ms = SHORT_MS, .room = 20000 };
	unsigned int count = 0;
	struct tb_view view;
	uint64_t last = 0;
	struct fx fx;
	int fd;

	make_all(&fx);
	fd = follow_bytes(fx.data, fx.size, &options);
	while (next(&view) == 1) {
		/* a loss at the end of a CPU is known when the totals arrive */
		CHECK(view.ticks >= last || view.kind == TB_VIEW_LOST);
		last = view.ticks;
		count++;
	}
	CHECK_NUMBER(tb_cursor_late(cursor), 0);
	CHECK_NUMBER(count, 300 * 3 + 4);
	unfollow();
	close(fd);
	fx_free(&fx);
}

static void raw(void)
{
	const struct tb_block *one;
	unsigned int blocks = 0, elements = 0;
	struct tb_cursor *second;
	struct tb_walk walk;
	struct tb_view view;
	uint64_t offset, end = 0;
	struct fx fx;
	int fd, way, result;

	make_all(&fx);
	fd = memfd_create("raw", 0);
	put(fd, fx.data, fx.size);
	for (way = 0; way < 2; way++) {
		assert(!lseek(fd, 0, SEEK_SET));
		follow(fd, &holding);
		CHECK_NUMBER(tb_cursor_open(trace, &second), (unsigned long long)-EBUSY);
		CHECK_NUMBER(tb_cursor_seek(cursor, 0), (unsigned long long)-ESPIPE);
		while ((result = way ? tb_cursor_next_element(cursor, &walk, &offset) :
				 tb_cursor_next_block(cursor, &one, &offset)) == 1) {
			if (way) {
				elements += walk.id >= TB_EV_FIRST;
				continue;
			}
			CHECK(offset == end && !memcmp(one, fx.data + offset, 64));
			end = offset + (1u << one->size_log2);
			blocks++;
		}
		CHECK_NUMBER(result, 0);
		CHECK_NUMBER(tb_cursor_next(cursor, &view), (unsigned long long)-EINVAL);
		unfollow();
	}
	CHECK_NUMBER(end, fx.size);
	CHECK_NUMBER(elements, 900);
	CHECK(blocks > 300);
	close(fd);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "a pipe shows the same as the file", same_as_file },
	{ "events are shown while the pipe is open", while_it_is_made },
	{ "blocks without events to show are no end", hidden_alone },
	{ "events are held back for those of other CPUs", held_back },
	{ "late events are shown and counted", late },
	{ "a file that grows", growing_file },
	{ "a cut, and foreign bytes", broken },
	{ "a damaged event", damaged_event },
	{ "one recording after the other", recordings },
	{ "repeated blocks", repeated },
	{ "losses of a CPU without blocks", no_block },
	{ "events later than their block says", later_than_said },
	{ "blocks of another provider", foreign_provider },
	{ "little memory", little_room },
	{ "blocks and elements as they arrive", raw },
};

TEST_MAIN(tests)
