// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that read for one recording: held and let go at any time, at the end of files, to
 * empty rings and to drain them; each block is in a file once, and in order.
 */
#include "test_lib_blocks.h"
#include <sys/eventfd.h>

#define tb_device_join(device, reader, cpus, bytes) ((void)(device), (void)(reader), 0)
#define tb_device_close(device) ((void)(device))
#undef tb_device_fd
#define tb_device_fd(device) ((void)(device), always)
static int always;		/* a descriptor that is readable */
#include "../../userspace/tool/record/readers.c"

int service_priority(const struct service *service)
{
	(void)service;
	return EXIT_FINE;
}

struct tb_device *record_reader(struct record *record)
{
	(void)record;
	return device;
}

#define READERS 3

static struct cpu_bits sets[READERS];

static void open_readers(struct record *record, const struct sink_way *way, const char *name)
{
	unsigned int i;

	memset(record, 0, sizeof(*record));
	/* wherever they may run */
	for (i = 0; i < READERS; i++)
		memset(&sets[i], 0xff, sizeof(sets[i]));
	record->reader = device;
	record->reader_sets = (struct reader_sets) { "3", READERS, sets };
	record->query.buffers = 4;
	CHECK(!sink_open(&record->sink, name));
	record->sink.way = *way;
	record->readers = readers_open(record);
	assert(record->readers);
	CHECK(!sink_use(&record->sink, way));
	CHECK_NUMBER((unsigned long long)readers_begin(record->readers), 0);
}

static void close_readers(struct record *record)
{
	readers_settle(record->readers);
	CHECK(!sink_close(&record->sink));
	readers_close(record->readers);
	CHECK_NUMBER(held, 0);
}

static struct sink_way way_of(unsigned int n)
{
	return (struct sink_way) {
		.block_bytes = 4096, .parts = true, .threads = 3,
		.direct = n != 2, .buffered = n == 1, .compress = n == 2,
	};
}

static void held_and_let_go(void)
{
	struct sink_way way;
	struct record record;
	unsigned int n, i;
	struct fx fx;

	for (n = 0; n < 3; n++) {
		way = way_of(n);
		fill_ring(&fx, 3000);
		running = true;
		open_readers(&record, &way, file);
		for (i = 0; i < 50; i++) {
			readers_go(record.readers);
			usleep(20 * i);
			CHECK_NUMBER((unsigned long long)readers_hold(record.readers), 0);
			/* nothing is on its way */
			CHECK_NUMBER(held, 0);
			if (i % 10)
				continue;
			readers_settle(record.readers);
			CHECK_NUMBER(file_size(file), record.sink.bytes);
			CHECK(!readers_begin(record.readers));
		}
		running = false;
		CHECK_NUMBER((unsigned long long)readers_drain(record.readers), 0);
		close_readers(&record);
		CHECK_NUMBER(record.sink.rolling, 3000);
		CHECK(n == 2 || same_file(file, blocks_at, ring_bytes));
		CHECK_NUMBER(run_on("verify", ""), 0);
		CHECK_HAS("       135000            0          0       135000      0  exact\n");
		empty_ring(&fx);
	}
}

/* They stop by themselves, and that is told */
static void files_in_a_row(void)
{
	unsigned int n, files;
	struct sink_way way;
	struct record record;
	char names[32][64];
	struct fx fx;
	int result;

	for (n = 0; n < 3; n++) {
		struct pollfd told = { .events = POLLIN };

		way = way_of(n);
		way.most = way.compress ? 60000 : 1500000;
		fill_ring(&fx, 2000);
		running = true;
		snprintf(names[0], sizeof(names[0]), "%s.0", file);
		open_readers(&record, &way, names[0]);
		told.fd = readers_fd(record.readers);
		for (files = 0; files < 30; ) {
			readers_go(record.readers);
			while (!poll(&told, 1, 10) && !all_taken())
				;
			result = readers_hold(record.readers);
			if (all_taken())
				break;
			CHECK_NUMBER((unsigned long long)result, (unsigned long long)-EFBIG);
			readers_settle(record.readers);
			files++;
			snprintf(names[files], sizeof(names[0]), "%s.%u", file, files);
			CHECK(!sink_next(&record.sink, names[files]));
			again = true;
			CHECK(!readers_begin(record.readers));
		}
		running = false;
		CHECK_NUMBER((unsigned long long)readers_drain(record.readers), 0);
		close_readers(&record);
		CHECK(files > 2);
		check_files(names, files, 90000, 0);
		empty_ring(&fx);
	}
}

/* As many blocks as there can be in the rings, and when the file is full they go on in the next */
static void emptied(void)
{
	struct sink_way way = way_of(0);
	struct record record;
	struct fx fx;

	fill_ring(&fx, 500);
	running = true;
	open_readers(&record, &way, file);
	CHECK_NUMBER((unsigned long long)readers_empty(record.readers, true, false), 0);
	CHECK_NUMBER(taken, ring_bytes);
	CHECK_NUMBER(held, 0);
	record.sink.way.most = 4096;
	CHECK_NUMBER((unsigned long long)readers_empty(record.readers, false, false),
		     (unsigned long long)-EFBIG);
	record.sink.way.most = 0;
	CHECK_NUMBER((unsigned long long)readers_empty(record.readers, false, true), 0);
	running = false;
	CHECK_NUMBER((unsigned long long)readers_drain(record.readers), 0);
	close_readers(&record);
	CHECK(same_file(file, blocks_at, ring_bytes));
	empty_ring(&fx);
}

static const struct test tests[] = {
	{ "readers: held and let go", held_and_let_go },
	{ "readers: several files", files_in_a_row },
	{ "readers: rings are emptied", emptied },
};

int main(void)
{
	always = eventfd(1, EFD_CLOEXEC);
	assert(always >= 0);
	return run_main(tests, sizeof(tests) / sizeof(tests[0]));
}
