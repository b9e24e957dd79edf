// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder writes all blocks in order and returns them to the device, whatever the output is:
 * a file past or through the page cache, compressed, several files, a full disk, or a pipe with a
 * reader that is slow or stops. If this fails, recordings lack blocks, or the recorder hangs.
 */
#include <sched.h>
#include <sys/mount.h>
#include "test_lib_blocks.h"

static void one_file(void)
{
	struct sink_way way = { .block_bytes = 4096 };
	struct sink sink;
	unsigned int n;
	struct fx fx;
	char text[256];

	for (n = 0; n < 2; n++) {
		way.direct = n;
		fill_ring(&fx, 3000);
		CHECK(!sink_open(&sink, file));
		CHECK(!sink_use(&sink, &way));
		if (sink.direct)
			printf("# %s\n", direct_way(sink.direct, text));
		CHECK(!sink_drain(&sink, device));
		CHECK(!sink_close(&sink));
		CHECK_NUMBER(held, 0);
		CHECK_NUMBER(sink.rolling, 3000);
		CHECK_NUMBER(sink.bytes, ring_bytes);
		CHECK(same_file(file, blocks_at, ring_bytes));
		empty_ring(&fx);
	}
}

static void compressed_file(void)
{
	struct sink_way way = { .block_bytes = 4096, .compress = true };
	struct sink sink;
	struct fx fx;

	for (way.threads = 1; way.threads < 5; way.threads++) {
		fill_ring(&fx, 1000);
		CHECK(!sink_open(&sink, file));
		CHECK(!sink_use(&sink, &way));
		CHECK(!sink_drain(&sink, device));
		CHECK(!sink_close(&sink));
		CHECK_NUMBER(held, 0);
		CHECK_NUMBER(file_size(file), sink.bytes);
		CHECK(sink.bytes < ring_bytes);
		CHECK_NUMBER(run_on("verify", ""), 0);
		CHECK_HAS("        45000            0          0        45000      0  exact\n");
		empty_ring(&fx);
	}
}

static bool has_plain_block(void)
{
	unsigned char *bytes = malloc(ring_bytes);
	FILE *in = fopen(file, "rb");
	size_t size = in ? fread(bytes, 1, ring_bytes, in) : 0, at;
	const struct tb_block *block;
	bool found = false;

	for (at = 0; at + 4096 <= size && !found; at++) {
		block = (const void *)(bytes + at);
		found = !memcmp(block, "TBUF", 4) && !memcmp(block, blocks_at + 4096 * 300, 40);
	}
	if (in)
		fclose(in);
	free(bytes);
	return found;
}

/* While packing is too slow, so that events would be lost, the recorder writes plain blocks */
static void late_file(void)
{
	struct sink_way way = { .block_bytes = 4096, .compress = true, .threads = 2 };
	struct sink sink;
	unsigned int n;
	struct fx fx;
	int moved;

	for (n = 0; n < 4; n++) {
		/* no limit; too many blocks of all; too many of one CPU; few enough */
		way.ring_blocks = n == 0 ? 0 : n == 1 ? 100000 : n == 2 ? 30 : 64;
		way.most = n < 2 ? 0 : 4096 * 40;
		fill_ring(&fx, 1000);
		CHECK(!sink_open(&sink, file));
		CHECK(!sink_use(&sink, &way));
		do {
			/* each batch is the start of a file */
			sink.way.most = way.most ? sink.bytes + way.most : 0;
			moved = sink_move(&sink, device, 0);
		} while (moved > 0);
		CHECK_NUMBER(moved, -ENODATA);
		CHECK(!sink_close(&sink));
		CHECK_NUMBER(held, 0);
		CHECK_NUMBER(file_size(file), sink.bytes);
		CHECK(has_plain_block() == (n == 1 || n == 2));
		CHECK_NUMBER(run_on("verify", ""), 0);
		CHECK_HAS("        45000            0          0        45000      0  exact\n");
		empty_ring(&fx);
	}
	/* at the end nothing can be lost any more */
	way.ring_blocks = 30;
	way.most = 0;
	fill_ring(&fx, 1000);
	CHECK(!sink_open(&sink, file));
	CHECK(!sink_use(&sink, &way));
	CHECK(!sink_drain(&sink, device));
	CHECK(!sink_close(&sink));
	CHECK(!has_plain_block());
	empty_ring(&fx);
}

/* A limit for the size of files acts as a full disk */
static void no_room(void)
{
	struct rlimit before, limit;
	struct sink_way way = { .block_bytes = 4096 };
	struct sink sink;
	unsigned int n;
	struct fx fx;

	signal(SIGXFSZ, SIG_IGN);
	assert(!getrlimit(RLIMIT_FSIZE, &before));
	limit = before;
	for (n = 0; n < 3; n++) {
		way.direct = n == 1;
		way.compress = n == 2;
		way.threads = 2;
		/* the limit is in the middle of a block */
		limit.rlim_cur = n == 2 ? 200000 : 1000000;
		fill_ring(&fx, 1000);
		CHECK(!sink_open(&sink, file));
		CHECK(!sink_use(&sink, &way));
		assert(!setrlimit(RLIMIT_FSIZE, &limit));
		CHECK_NUMBER(sink_drain(&sink, device), -EIO);
		CHECK_NUMBER(sink_close(&sink), EXIT_WRONG);
		assert(!setrlimit(RLIMIT_FSIZE, &before));
		CHECK_NUMBER(sink.failed, -EFBIG);
		CHECK_NUMBER(held, 0);
		CHECK(sink.bytes > 0);
		CHECK_NUMBER(file_size(file), sink.bytes);
		/* each block is in the file, or counted as missing */
		CHECK(sink.rolling < 1000);
		CHECK(n == 2 || same_file(file, blocks_at, sink.bytes));
		CHECK(sink.rolling * 90 + sink.unwritten >= 90 && sink.unwritten % 90 == 0);
		CHECK_NUMBER(run_on("verify", "-q"), 0);
		empty_ring(&fx);
	}
}

/* With @keep the sink does not release blocks that had no room: the device still has them */
static void kept(void)
{
	struct rlimit before, limit;
	struct sink sink;
	struct fx fx;

	assert(!getrlimit(RLIMIT_FSIZE, &before));
	limit = before;
	limit.rlim_cur = 1000000;
	fill_ring(&fx, 1000);
	CHECK(!sink_open(&sink, file));
	sink.keep = true;
	assert(!setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_NUMBER(sink_drain(&sink, device), -EIO);
	CHECK_NUMBER(sink_close(&sink), EXIT_WRONG);
	assert(!setrlimit(RLIMIT_FSIZE, &before));
	CHECK(same_file(file, blocks_at, sink.bytes));
	CHECK(held > 0);
	CHECK_NUMBER(held, rolling_taken - sink.rolling);
	empty_ring(&fx);
}

/* An old file stays until there is something to replace it with */
static void nothing_lost(void)
{
	struct sink sink;
	struct fx fx;

	save("what was there", 14);
	CHECK(!sink_open(&sink, file));
	CHECK(!sink_close(&sink));
	CHECK_NUMBER(file_size(file), 14);
	fill_ring(&fx, 300);
	CHECK(!sink_open(&sink, file));
	CHECK_NUMBER(file_size(file), 14);
	CHECK(!sink_drain(&sink, device));
	CHECK(!sink_close(&sink));
	CHECK(same_file(file, blocks_at, ring_bytes));
	/* without any block there is no file */
	assert(!unlink(file));
	CHECK(!sink_open(&sink, file));
	CHECK(!sink_close(&sink));
	CHECK(access(file, F_OK) < 0);
	empty_ring(&fx);
}

/* If io_uring refuses waits, buffers in the kernel's hands stay unchanged, and get into the file */
static void no_waiting(void)
{
	struct sink_way way = { .block_bytes = 4096, .direct = true };
	struct sink sink;
	struct fx fx;

	fill_ring(&fx, 3000);
	CHECK(!sink_open(&sink, file));
	CHECK(!sink_use(&sink, &way));
	refuse_waits = sink.direct->has_ring ? 5 : 1;
	CHECK(!sink_drain(&sink, device));
	CHECK(!sink_close(&sink));
	CHECK_NUMBER(refuse_waits, 1);
	refuse_waits = 0;
	CHECK_NUMBER(held, 0);
	CHECK_NUMBER(sink.failed, 0);
	CHECK_NUMBER(sink.unwritten, 0);
	CHECK(same_file(file, blocks_at, ring_bytes));
	empty_ring(&fx);
}

static unsigned int count_open_files(const char *name)
{
	struct tb_open_file record;
	unsigned int count = 0;
	struct tb_trace *trace;
	const char *text;
	size_t length;

	assert(!tb_trace_open(name, &trace, NULL));
	for (; !tb_trace_open_file(trace, count, &record, &text, &length); count++)
		CHECK(record.pid == (uint32_t)getpid() && length);
	tb_trace_close(trace);
	return count;
}

static void several_files(void)
{
	struct sink_way way = { .block_bytes = 4096, .parts = true, .threads = 2 };
	uint32_t pid = (uint32_t)getpid();
	unsigned int n, files;
	char names[16][64];
	struct sink sink;
	struct fx fx;
	int moved;

	for (n = 0; n < 3; n++) {
		way.direct = n == 1;
		way.compress = n == 2;
		way.most = way.compress ? 20000 : 300000;
		fill_ring(&fx, 500);
		files = 0;
		snprintf(names[0], sizeof(names[0]), "%s.0", file);
		CHECK(!sink_open(&sink, names[0]));
		CHECK(!sink_use(&sink, &way));
		sink.open_files = open_files_start(&pid, 1);
		open_files_wait(sink.open_files);
		while ((moved = sink_move(&sink, device, 0)) >= 0) {
			/* no new file after the end */
			if (sink_size(&sink) < way.most || files == 15 || taken == ring_bytes)
				continue;
			files++;
			snprintf(names[files], sizeof(names[0]), "%s.%u", file, files);
			CHECK(!sink_next(&sink, names[files]));
			again = true;
		}
		CHECK_NUMBER(moved, -ENODATA);
		CHECK(!sink_close(&sink));
		CHECK_NUMBER(held, 0);
		CHECK(files > 2);
		/* the first file has the files that were open at the start */
		CHECK(count_open_files(names[0]) >= 3);
		CHECK_NUMBER(count_open_files(names[1]), 0);
		CHECK_NUMBER(count_open_files(names[files]), 0);
		check_files(names, files, 22500, way.compress ? 0 : way.most);
		empty_ring(&fx);
	}
}

/* Does verify accept this record of an open file? */
static int verify_open_file(const struct tb_open_file *record, size_t bytes)
{
	struct sink_way way = { .block_bytes = 4096 };
	struct notes notes = { 0 };
	char payload[64] = "";
	struct sink sink;
	struct fx fx;

	memcpy(payload, record, sizeof(*record));
	assert(bytes <= sizeof(payload) && !notes_add(&notes, TB_EV_OPEN_FILE, payload, bytes));
	fill_ring(&fx, 10);
	CHECK(!sink_open(&sink, file));
	CHECK(!sink_use(&sink, &way));
	CHECK(!sink_drain(&sink, device));
	CHECK(!sink_blocks(&sink, notes.data, notes_bytes(&notes)));
	CHECK(!sink_close(&sink));
	free(notes.data);
	empty_ring(&fx);
	return run_on("verify", "-q");
}

static void open_files_verified(void)
{
	struct tb_open_file record = { .since = 1, .pid = 1, .flags = TB_OPEN_FILE_EXEC };

	CHECK_NUMBER(verify_open_file(&record, sizeof(record) + 1), 0);
	CHECK_NUMBER(verify_open_file(&record, sizeof(record)), 1);
	CHECK_NUMBER(verify_open_file(&record, sizeof(record) - 1), 1);
	record.flags = 2;
	CHECK_NUMBER(verify_open_file(&record, sizeof(record) + 1), 1);
	record.flags = 0;
	record.reserved = 1;
	CHECK_NUMBER(verify_open_file(&record, sizeof(record) + 1), 1);
	record.reserved = 0;
	record.pid = 0;
	CHECK_NUMBER(verify_open_file(&record, sizeof(record) + 1), 1);
}

/* ---- a full disk ---- */

static char disk[] = "/tmp/test_lib_disk.XXXXXX";

/* Mount a small file system that only this process sees; false: this user may not */
static bool mount_disk(void)
{
	assert(mkdtemp(disk));
	return !unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) &&
	       !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", disk, "tmpfs", 0, "size=1M");
}

/* Record 4 MB to a disk of 1 MB, in files of 200 KB (@way.most) */
static void record_files(struct sink_way way, struct series *series, struct sink *sink)
{
	static char base[64];
	int moved;

	snprintf(base, sizeof(base), "%s/x.tbuf", disk);
	CHECK(!series_next(series, base));
	CHECK(!sink_open(sink, series->name));
	way.series = series;
	CHECK(!sink_use(sink, &way));
	while ((moved = sink_move(sink, device, 0)) >= 0) {
		if (sink_size(sink) < way.most || taken == ring_bytes)
			continue;
		CHECK(!series_next(series, base));
		CHECK(!sink_next(sink, series->name));
		again = true;
	}
	sink_close(sink);
	CHECK_NUMBER(held, 0);
}

/* With --keep the oldest files are deleted, and no file of this recording's end */
static void oldest_go(void)
{
	struct sink_way way = { .block_bytes = 4096, .parts = true };
	char name[PATH_MAX], command[512];
	unsigned int n, number;
	struct sink sink;
	struct fx fx;

	if (!mount_disk()) {
		printf("# skipped: this user cannot mount a file system\n");
		return;
	}
	for (n = 0; n < 3; n++) {
		struct series series = { .given = true, .keep = 1000 };

		way.direct = n == 1;
		way.compress = n == 2;
		way.threads = 2;
		way.most = way.compress ? 50000 : 200000;
		fill_ring(&fx, way.compress ? 5000 : 1000);
		record_files(way, &series, &sink);
		CHECK_NUMBER(sink.failed, 0);
		CHECK_NUMBER(sink.unwritten, 0);
		CHECK(series.number > 4);
		for (number = series.number; !series_file_name(&series, number, name) &&
		     !access(name, F_OK); number--) {
			snprintf(command, sizeof(command), "verify -q %.400s", name);
			CHECK_NUMBER(run(command), 0);
			assert(!unlink(name));
		}
		/* the files that are left are the last ones, without a hole */
		CHECK(number > 1 && series.number - number >= 3);
		for (; number; number--)
			CHECK(!series_file_name(&series, number, name) && access(name, F_OK) < 0);
		empty_ring(&fx);
	}
}

/* Without --keep no file is deleted: the recording ends */
static void none_goes(void)
{
	struct sink_way way = { .block_bytes = 4096, .parts = true, .most = 200000 };
	struct series series = { .given = true };
	char name[PATH_MAX];
	struct sink sink;
	struct fx fx;

	fill_ring(&fx, 1000);
	record_files(way, &series, &sink);
	CHECK_NUMBER(sink.failed, -ENOSPC);
	CHECK(!series_file_name(&series, 1, name) && !access(name, F_OK));
	empty_ring(&fx);
}

/* ---- a pipe ---- */

static int open_fifo(struct sink *sink)
{
	int reader;

	unlink(file);
	assert(!mkfifo(file, 0600));
	reader = open(file, O_RDONLY | O_NONBLOCK);
	assert(reader >= 0);
	CHECK(!sink_open(sink, file));
	return reader;
}

/* A second signal ends the wait for a reader that does not read */
static void stuck_pipe(void)
{
	sigset_t term, before;
	struct sink sink;
	struct fx fx;
	int reader;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert(!sigprocmask(SIG_BLOCK, &term, &before));
	fill_ring(&fx, 1000);
	reader = open_fifo(&sink);
	sink.stopping = true;
	assert(!raise(SIGTERM));
	CHECK_NUMBER(sink_drain(&sink, device), -EIO);
	CHECK_NUMBER(sink_close(&sink), EXIT_WRONG);
	CHECK_NUMBER(sink.failed, -ETIMEDOUT);
	CHECK(sink.bytes > 0 && sink.unwritten > 0);
	close(reader);
	assert(sigwaitinfo(&term, NULL) == SIGTERM);
	assert(!sigprocmask(SIG_SETMASK, &before, NULL));
	empty_ring(&fx);
}

/* A reader that is slow gets everything, also after a signal */
static void slow_pipe(void)
{
	static char got[65536];
	size_t bytes = 0;
	struct sink sink;
	int reader, status;
	struct fx fx;
	ssize_t size;
	pid_t child;

	fill_ring(&fx, 1000);
	reader = open_fifo(&sink);
	child = fork();
	assert(child >= 0);
	if (!child) {
		sink_close(&sink);
		fcntl(reader, F_SETFL, 0);
		while ((size = read(reader, got, sizeof(got))) > 0) {
			if (memcmp(got, blocks_at + bytes, (size_t)size))
				_exit(1);
			bytes += (size_t)size;
			usleep(1000);
		}
		_exit(bytes != ring_bytes);
	}
	sink.stopping = true;
	CHECK(!sink_drain(&sink, device));
	CHECK(!sink_close(&sink));
	CHECK_NUMBER(sink.bytes, ring_bytes);
	assert(waitpid(child, &status, 0) == child);
	CHECK_NUMBER(status, 0);
	close(reader);
	unlink(file);
	empty_ring(&fx);
}

static const struct test tests[] = {
	{ "sink: all blocks in order, and returned", one_file },
	{ "sink: compressed", compressed_file },
	{ "sink: packing is too slow", late_file },
	{ "sink: several files", several_files },
	{ "sink: records of open files are verified", open_files_verified },
	{ "sink: no room", no_room },
	{ "sink: blocks that had no room stay with the device", kept },
	{ "sink: an old file stays until it is replaced", nothing_lost },
	{ "sink: io_uring refuses waits", no_waiting },
	{ "sink: a reader that is slow", slow_pipe },
	{ "sink: a reader that does not read", stuck_pipe },
	{ "sink: a full disk, the oldest files are deleted", oldest_go },
	{ "sink: a full disk, no file may be deleted", none_goes },
};

RUN_MAIN(tests)
