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
	struct output_file_options options = { .block_bytes = 4096 };
	struct output_file out;
	unsigned int n;
	struct fx fx;
	char text[256];

	for (n = 0; n < 2; n++) {
		options.direct = n;
		fill_ring(&fx, 3000);
		CHECK(!output_file_open(&out, file));
		CHECK(!output_file_use(&out, &options));
		if (out.direct)
			printf("# %s\n", direct_way(out.direct, text));
		CHECK(!output_file_drain(&out, device));
		CHECK(!output_file_close(&out));
		CHECK_NUMBER(held, 0);
		CHECK_NUMBER(out.rolling, 3000);
		CHECK_NUMBER(out.bytes, ring_bytes);
		CHECK(same_file(file, blocks_at, ring_bytes));
		empty_ring(&fx);
	}
}

static void compressed_file(void)
{
	struct output_file_options options = { .block_bytes = 4096, .compress = true };
	struct output_file out;
	struct fx fx;

	for (options.threads = 1; options.threads < 5; options.threads++) {
		fill_ring(&fx, 1000);
		CHECK(!output_file_open(&out, file));
		CHECK(!output_file_use(&out, &options));
		CHECK(!output_file_drain(&out, device));
		CHECK(!output_file_close(&out));
		CHECK_NUMBER(held, 0);
		CHECK_NUMBER(file_size(file), out.bytes);
		CHECK(out.bytes < ring_bytes);
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
	struct output_file_options options = {
		.block_bytes = 4096, .compress = true, .threads = 2
	};
	struct output_file out;
	unsigned int n;
	struct fx fx;
	int moved;

	for (n = 0; n < 4; n++) {
		/* no limit; too many blocks of all; too many of one CPU; few enough */
		options.ring_blocks = n == 0 ? 0 : n == 1 ? 100000 : n == 2 ? 30 : 64;
		options.most = n < 2 ? 0 : 4096 * 40;
		fill_ring(&fx, 1000);
		CHECK(!output_file_open(&out, file));
		CHECK(!output_file_use(&out, &options));
		do {
			/* each batch is the start of a file */
			out.options.most = options.most ? out.bytes + options.most : 0;
			moved = output_file_move(&out, device, 0);
		} while (moved > 0);
		CHECK_NUMBER(moved, -ENODATA);
		CHECK(!output_file_close(&out));
		CHECK_NUMBER(held, 0);
		CHECK_NUMBER(file_size(file), out.bytes);
		CHECK(has_plain_block() == (n == 1 || n == 2));
		CHECK_NUMBER(run_on("verify", ""), 0);
		CHECK_HAS("        45000            0          0        45000      0  exact\n");
		empty_ring(&fx);
	}
	/* at the end nothing can be lost any more */
	options.ring_blocks = 30;
	options.most = 0;
	fill_ring(&fx, 1000);
	CHECK(!output_file_open(&out, file));
	CHECK(!output_file_use(&out, &options));
	CHECK(!output_file_drain(&out, device));
	CHECK(!output_file_close(&out));
	CHECK(!has_plain_block());
	empty_ring(&fx);
}

/* A limit for the size of files acts as a full disk */
static void no_room(void)
{
	struct rlimit before, limit;
	struct output_file_options options = { .block_bytes = 4096 };
	struct output_file out;
	unsigned int n;
	struct fx fx;

	signal(SIGXFSZ, SIG_IGN);
	assert(!getrlimit(RLIMIT_FSIZE, &before));
	limit = before;
	for (n = 0; n < 3; n++) {
		options.direct = n == 1;
		options.compress = n == 2;
		options.threads = 2;
		/* the limit is in the middle of a block */
		limit.rlim_cur = n == 2 ? 200000 : 1000000;
		fill_ring(&fx, 1000);
		CHECK(!output_file_open(&out, file));
		CHECK(!output_file_use(&out, &options));
		assert(!setrlimit(RLIMIT_FSIZE, &limit));
		CHECK_NUMBER(output_file_drain(&out, device), -EIO);
		CHECK_NUMBER(output_file_close(&out), EXIT_WRONG);
		assert(!setrlimit(RLIMIT_FSIZE, &before));
		CHECK_NUMBER(out.failed, -EFBIG);
		CHECK_NUMBER(held, 0);
		CHECK(out.bytes > 0);
		CHECK_NUMBER(file_size(file), out.bytes);
		/* each block is in the file, or counted as missing */
		CHECK(out.rolling < 1000);
		CHECK(n == 2 || same_file(file, blocks_at, out.bytes));
		CHECK(out.rolling * 90 + out.unwritten >= 90 && out.unwritten % 90 == 0);
		CHECK_NUMBER(run_on("verify", "-q"), 0);
		empty_ring(&fx);
	}
}

/* With @keep the output file does not release blocks that had no room: the device still has them */
static void kept(void)
{
	struct rlimit before, limit;
	struct output_file out;
	struct fx fx;

	assert(!getrlimit(RLIMIT_FSIZE, &before));
	limit = before;
	limit.rlim_cur = 1000000;
	fill_ring(&fx, 1000);
	CHECK(!output_file_open(&out, file));
	out.keep = true;
	assert(!setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_NUMBER(output_file_drain(&out, device), -EIO);
	CHECK_NUMBER(output_file_close(&out), EXIT_WRONG);
	assert(!setrlimit(RLIMIT_FSIZE, &before));
	CHECK(same_file(file, blocks_at, out.bytes));
	CHECK(held > 0);
	CHECK_NUMBER(held, rolling_taken - out.rolling);
	empty_ring(&fx);
}

/* An old file stays until there is something to replace it with */
static void nothing_lost(void)
{
	struct output_file out;
	struct fx fx;

	save("what was there", 14);
	CHECK(!output_file_open(&out, file));
	CHECK(!output_file_close(&out));
	CHECK_NUMBER(file_size(file), 14);
	fill_ring(&fx, 300);
	CHECK(!output_file_open(&out, file));
	CHECK_NUMBER(file_size(file), 14);
	CHECK(!output_file_drain(&out, device));
	CHECK(!output_file_close(&out));
	CHECK(same_file(file, blocks_at, ring_bytes));
	/* without any block there is no file */
	assert(!unlink(file));
	CHECK(!output_file_open(&out, file));
	CHECK(!output_file_close(&out));
	CHECK(access(file, F_OK) < 0);
	empty_ring(&fx);
}

/* If io_uring refuses waits, buffers in the kernel's hands stay unchanged, and get into the file */
static void no_waiting(void)
{
	struct output_file_options options = { .block_bytes = 4096, .direct = true };
	struct output_file out;
	struct fx fx;

	fill_ring(&fx, 3000);
	CHECK(!output_file_open(&out, file));
	CHECK(!output_file_use(&out, &options));
	refuse_waits = out.direct->has_ring ? 5 : 1;
	CHECK(!output_file_drain(&out, device));
	CHECK(!output_file_close(&out));
	CHECK_NUMBER(refuse_waits, 1);
	refuse_waits = 0;
	CHECK_NUMBER(held, 0);
	CHECK_NUMBER(out.failed, 0);
	CHECK_NUMBER(out.unwritten, 0);
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
	struct output_file_options options = { .block_bytes = 4096, .rotated = true, .threads = 2 };
	uint32_t pid = (uint32_t)getpid();
	unsigned int n, files;
	char names[16][64];
	struct output_file out;
	struct fx fx;
	int moved;

	for (n = 0; n < 3; n++) {
		options.direct = n == 1;
		options.compress = n == 2;
		options.most = options.compress ? 20000 : 300000;
		fill_ring(&fx, 500);
		files = 0;
		snprintf(names[0], sizeof(names[0]), "%s.0", file);
		CHECK(!output_file_open(&out, names[0]));
		CHECK(!output_file_use(&out, &options));
		out.open_files = open_files_start(&pid, 1);
		open_files_wait(out.open_files);
		while ((moved = output_file_move(&out, device, 0)) >= 0) {
			/* no new file after the end */
			if (output_file_size(&out) < options.most || files == 15 ||
			    taken == ring_bytes)
				continue;
			files++;
			snprintf(names[files], sizeof(names[0]), "%s.%u", file, files);
			CHECK(!output_file_next(&out, names[files]));
			again = true;
		}
		CHECK_NUMBER(moved, -ENODATA);
		CHECK(!output_file_close(&out));
		CHECK_NUMBER(held, 0);
		CHECK(files > 2);
		/* the first file has the files that were open at the start */
		CHECK(count_open_files(names[0]) >= 3);
		CHECK_NUMBER(count_open_files(names[1]), 0);
		CHECK_NUMBER(count_open_files(names[files]), 0);
		check_files(names, files, 22500, options.compress ? 0 : options.most);
		empty_ring(&fx);
	}
}

/* Does verify accept this record of an open file? */
static int verify_open_file(const struct tb_open_file *record, size_t bytes)
{
	struct output_file_options options = { .block_bytes = 4096 };
	struct notes notes = { 0 };
	char payload[64] = "";
	struct output_file out;
	struct fx fx;

	memcpy(payload, record, sizeof(*record));
	assert(bytes <= sizeof(payload) && !notes_add(&notes, TB_EV_OPEN_FILE, payload, bytes));
	fill_ring(&fx, 10);
	CHECK(!output_file_open(&out, file));
	CHECK(!output_file_use(&out, &options));
	CHECK(!output_file_drain(&out, device));
	CHECK(!output_file_blocks(&out, notes.data, notes_bytes(&notes)));
	CHECK(!output_file_close(&out));
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

/* Record 4 MB to a disk of 1 MB, in files of 200 KB (@options.most) */
static void record_files(struct output_file_options options, struct rotation *rotation,
			 struct output_file *out)
{
	static char base[64];
	int moved;

	snprintf(base, sizeof(base), "%s/x.tbuf", disk);
	CHECK(!rotation_next(rotation, base));
	CHECK(!output_file_open(out, rotation->name));
	options.rotation = rotation;
	CHECK(!output_file_use(out, &options));
	while ((moved = output_file_move(out, device, 0)) >= 0) {
		if (output_file_size(out) < options.most || taken == ring_bytes)
			continue;
		CHECK(!rotation_next(rotation, base));
		CHECK(!output_file_next(out, rotation->name));
		again = true;
	}
	output_file_close(out);
	CHECK_NUMBER(held, 0);
}

/* With --keep the oldest files are deleted, and no file of this recording's end */
static void oldest_go(void)
{
	struct output_file_options options = { .block_bytes = 4096, .rotated = true };
	char name[PATH_MAX], command[512];
	unsigned int n, number;
	struct output_file out;
	struct fx fx;

	if (!mount_disk()) {
		printf("# skipped: this user cannot mount a file system\n");
		return;
	}
	for (n = 0; n < 3; n++) {
		struct rotation rotation = { .given = true, .keep = 1000 };

		options.direct = n == 1;
		options.compress = n == 2;
		options.threads = 2;
		options.most = options.compress ? 50000 : 200000;
		fill_ring(&fx, options.compress ? 5000 : 1000);
		record_files(options, &rotation, &out);
		CHECK_NUMBER(out.failed, 0);
		CHECK_NUMBER(out.unwritten, 0);
		CHECK(rotation.number > 4);
		for (number = rotation.number; !rotation_file_name(&rotation, number, name) &&
		     !access(name, F_OK); number--) {
			snprintf(command, sizeof(command), "verify -q %.400s", name);
			CHECK_NUMBER(run(command), 0);
			assert(!unlink(name));
		}
		/* the files that are left are the last ones, without a hole */
		CHECK(number > 1 && rotation.number - number >= 3);
		for (; number; number--)
			CHECK(!rotation_file_name(&rotation, number, name) &&
			      access(name, F_OK) < 0);
		empty_ring(&fx);
	}
}

/* Without --keep no file is deleted: the recording ends */
static void none_goes(void)
{
	struct output_file_options options = {
		.block_bytes = 4096, .rotated = true, .most = 200000
	};
	struct rotation rotation = { .given = true };
	char name[PATH_MAX];
	struct output_file out;
	struct fx fx;

	fill_ring(&fx, 1000);
	record_files(options, &rotation, &out);
	CHECK_NUMBER(out.failed, -ENOSPC);
	CHECK(!rotation_file_name(&rotation, 1, name) && !access(name, F_OK));
	empty_ring(&fx);
	umount2(disk, MNT_DETACH);
	rmdir(disk);
}

/* ---- a pipe ---- */

static int open_fifo(struct output_file *out)
{
	int reader;

	unlink(file);
	assert(!mkfifo(file, 0600));
	reader = open(file, O_RDONLY | O_NONBLOCK);
	assert(reader >= 0);
	CHECK(!output_file_open(out, file));
	return reader;
}

/* A second signal ends the wait for a reader that does not read */
static void stuck_pipe(void)
{
	sigset_t term, before;
	struct output_file out;
	struct fx fx;
	int reader;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert(!sigprocmask(SIG_BLOCK, &term, &before));
	fill_ring(&fx, 1000);
	reader = open_fifo(&out);
	out.stopping = true;
	assert(!raise(SIGTERM));
	CHECK_NUMBER(output_file_drain(&out, device), -EIO);
	CHECK_NUMBER(output_file_close(&out), EXIT_WRONG);
	CHECK_NUMBER(out.failed, -ETIMEDOUT);
	CHECK(out.bytes > 0 && out.unwritten > 0);
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
	struct output_file out;
	int reader, status;
	struct fx fx;
	ssize_t size;
	pid_t child;

	fill_ring(&fx, 1000);
	reader = open_fifo(&out);
	child = fork();
	assert(child >= 0);
	if (!child) {
		output_file_close(&out);
		fcntl(reader, F_SETFL, 0);
		while ((size = read(reader, got, sizeof(got))) > 0) {
			if (memcmp(got, blocks_at + bytes, (size_t)size))
				_exit(1);
			bytes += (size_t)size;
			usleep(1000);
		}
		_exit(bytes != ring_bytes);
	}
	out.stopping = true;
	CHECK(!output_file_drain(&out, device));
	CHECK(!output_file_close(&out));
	CHECK_NUMBER(out.bytes, ring_bytes);
	assert(waitpid(child, &status, 0) == child);
	CHECK_NUMBER(status, 0);
	close(reader);
	unlink(file);
	empty_ring(&fx);
}

static const struct test tests[] = {
	{ "output file: all blocks in order, and returned", one_file },
	{ "output file: compressed", compressed_file },
	{ "output file: packing is too slow", late_file },
	{ "output file: several files", several_files },
	{ "output file: records of open files are verified", open_files_verified },
	{ "output file: no room", no_room },
	{ "output file: blocks that had no room stay with the device", kept },
	{ "output file: an old file stays until it is replaced", nothing_lost },
	{ "output file: io_uring refuses waits", no_waiting },
	{ "output file: a reader that is slow", slow_pipe },
	{ "output file: a reader that does not read", stuck_pipe },
	{ "output file: a full disk, the oldest files are deleted", oldest_go },
	{ "output file: a full disk, no file may be deleted", none_goes },
};

RUN_MAIN(tests)
