// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user's history (record --history) keeps the last events within its memory or time, in files
 * that together are one trace, also after the recorder was killed. Commands find the recorder, and
 * never wait for one that has ended. If this fails, a recorder takes too much memory, or a snapshot
 * lacks events.
 */
#include <sys/wait.h>
#include "test_lib_blocks.h"
#include "../../../userspace/tool/record/history.c"
#include "../../../userspace/tool/record/history_parts.c"

#define MOST 50000u
#define S 1000000000ull

static char place[64];
static struct history history;

/* Make an empty folder for the history */
static void set_up(const char *under)
{
	snprintf(place, sizeof(place), "%s/test_lib_history.XXXXXX", under);
	assert(mkdtemp(place));
	CHECK(!history_find(&history, place, "some"));
	CHECK(!make_folder(&history));
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", place);
	assert(!system(command));
}

static void make_file(const char *name)
{
	FILE *out = fopen(name, "w");

	assert(out && !fclose(out));
}

/* ---- which files stay ---- */

/* The total bytes of the files; their lowest and highest number */
static uint64_t look(unsigned int *first, unsigned int *last)
{
	unsigned int *numbers;
	struct rotation rotation;
	struct stat status;
	char name[PATH_MAX];
	uint64_t sum = 0;
	size_t count, i;

	name_files(&rotation, &history);
	CHECK(!rotation_numbers(&rotation, &numbers, &count));
	for (i = 0; i < count; i++) {
		CHECK(!rotation_file_name(&rotation, numbers[i], name) && !stat(name, &status));
		CHECK(numbers[i] == numbers[0] + i);
		sum += (uint64_t)status.st_blocks * 512;
	}
	*first = count ? numbers[0] : 0;
	*last = count ? numbers[count - 1] : 0;
	free(numbers);
	return sum;
}

/* Record all blocks into files of MOST bytes, as the loop of the recorder does */
static void record_all(struct rotation *rotation, struct output_file *out, bool close_it)
{
	struct output_file_options options = {
		.block_bytes = 4096, .rotated = true, .compress = true, .threads = 1,
		.most = MOST, .rotation = rotation,
	};
	unsigned int first, last;
	int moved;

	CHECK(!rotation_next(rotation, history.output));
	CHECK(!output_file_open(out, rotation->name));
	rotation_trim(rotation, 1);
	CHECK(!output_file_use(out, &options));
	while ((moved = output_file_move(out, device, 0)) >= 0) {
		CHECK(!rotation->memory || look(&first, &last) <= rotation->memory);
		if (output_file_size(out) < MOST || taken == ring_bytes)
			continue;
		CHECK(!rotation_next(rotation, history.output));
		CHECK(!output_file_next(out, rotation->name));
		rotation_trim(rotation, 1);
		again = true;
	}
	if (close_it)
		CHECK(!output_file_close(out));
}

/* Concatenate all files and @rest; verify's output must have @wanted */
static void put_together(const void *rest, size_t bytes, const char *wanted)
{
	struct history_parts parts;
	struct history_sum sum;
	struct output_file out;

	CHECK(!history_open(&history, true, &parts));
	CHECK(!history_add_up(&parts, &sum));
	CHECK(!output_file_open(&out, file));
	CHECK(!history_write(&parts, &out));
	if (bytes)
		CHECK(!output_file_blocks(&out, rest, bytes));
	CHECK(!output_file_close(&out));
	history_close(&parts);
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK(!strstr(output, "recording 1") && !strstr(output, "open"));
	CHECK_HAS(wanted);
}

static void by_size(void)
{
	static struct rotation rotation;
	struct history_parts parts;
	struct history_sum sum;
	unsigned int first, last;
	struct output_file out;
	struct fx fx;

	set_up("/tmp");
	memset(&rotation, 0, sizeof(rotation));
	rotation.given = true;
	rotation.bytes = MOST;
	rotation.memory = 8 * MOST;
	fill_ring(&fx, 4000);
	record_all(&rotation, &out, true);
	CHECK(look(&first, &last) <= rotation.memory);
	CHECK(look(&first, &last) > rotation.memory / 2);
	CHECK(first > 3 && last == rotation.number);
	CHECK_NUMBER(rotation.nr_files, last - first);
	put_together(NULL, 0, "exact, continued\n");
	CHECK(!history_open(&history, true, &parts));
	CHECK_NUMBER(parts.count, last - first + 1);
	CHECK(!history_add_up(&parts, &sum));
	CHECK_NUMBER(sum.bytes, look(&first, &last));
	CHECK(sum.events > 20000 && sum.events < 4000 * 90);
	history_close(&parts);
	/* the next recording removes the files of the last one */
	memset(&rotation, 0, sizeof(rotation));
	rotation.bytes = MOST;
	rotation.memory = 8 * MOST;
	CHECK(!rotation_next(&rotation, history.output));
	CHECK(!output_file_open(&out, rotation.name));
	rotation_trim(&rotation, 1);
	look(&first, &last);
	CHECK(first == last && first == rotation.number);
	CHECK(!output_file_close(&out));
	empty_ring(&fx);
	tear_down();
}

/* One file a second, each kept for 5 s */
static void by_time(void)
{
	static struct rotation rotation;
	unsigned int first, last, i;

	set_up("/tmp");
	memset(&rotation, 0, sizeof(rotation));
	rotation.given = true;
	rotation.bytes = MOST;
	rotation.memory = 100 * MOST;
	rotation.age = 5;
	for (i = 1; i <= 20; i++) {
		CHECK(!rotation_next(&rotation, history.output));
		make_file(rotation.name);
		rotation_trim(&rotation, i * S);
		look(&first, &last);
		CHECK_NUMBER(last, i);
		/* the first file ends when the second begins */
		CHECK_NUMBER(first, i > 7 ? i - 6 : 1);
	}
	/* after a pause all files are too old but the last */
	CHECK(!rotation_next(&rotation, history.output));
	make_file(rotation.name);
	rotation_trim(&rotation, 100 * S);
	look(&first, &last);
	CHECK_NUMBER(first, 20);
	history_forget(&history);
	look(&first, &last);
	CHECK_NUMBER(last, 0);
	tear_down();
}

/* ---- a recorder that is killed ---- */

/* The recorder dies within a write, before it has returned blocks: the kernel still has these */
static void torn(void)
{
	static struct rotation rotation;
	size_t kept = 4096 * 200, half;
	struct output_file out;
	struct fx fx;
	FILE *end;

	for (half = 0; half < 3; half++) {
		set_up("/tmp");
		memset(&rotation, 0, sizeof(rotation));
		fill_ring(&fx, 1000);
		ring_bytes -= kept;
		record_all(&rotation, &out, false);
		ring_bytes += kept;
		/* the rest is left to the kernel, as after a kill */
		CHECK(!close(out.fd));
		end = fopen(rotation.name, "a");
		assert(end);
		if (half == 1)
			assert(fwrite("TBPK\1\0\0\0\0\1\0\0\0\0\1\0", 1, 16, end) == 16);
		else if (half == 2)
			assert(fwrite(blocks_at + 4096 * 300, 1, 4000, end) == 4000);
		assert(!fclose(end));
		put_together(blocks_at + ring_bytes - kept - 4096 * 10, kept + 4096 * 10,
			     "45000            0          0        45000      0  exact\n");
		pack_close(out.pack);
		continuation_free(&out.continuation);
		addresses_free(out.addresses);
		cgroups_free(out.cgroups);
		empty_ring(&fx);
		tear_down();
	}
}

/* ---- the recorder and other commands ---- */

/* A process that acts as the recorder: it locks the pid file and answers @answers requests */
static pid_t begin_recorder(unsigned int answers)
{
	sigset_t set;
	int number, fd, ends[2];
	pid_t child;
	char byte;

	assert(!pipe(ends));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGTERM);
	child = fork();
	assert(child >= 0);
	if (!child) {
		sigprocmask(SIG_BLOCK, &set, NULL);
		fd = open(history.pid_file, O_RDWR | O_CREAT, 0644);
		if (fd < 0 || flock(fd, LOCK_EX) || dprintf(fd, "%d\n", getpid()) < 0 ||
		    write(ends[1], "", 1) != 1)
			_exit(1);
		while (!sigwait(&set, &number) && number == SIGUSR2 && answers--)
			unlink(history.request);
		if (number == SIGTERM)
			unlink(history.pid_file);
		_exit(0);
	}
	assert(read(ends[0], &byte, 1) == 1);
	close(ends[0]);
	close(ends[1]);
	return child;
}

static void with_recorder(void)
{
	struct history_parts parts;
	char name[PATH_MAX + 16];
	pid_t child;
	int status;

	set_up("/tmp");
	CHECK_NUMBER(history_recorder(&history), 0);
	child = begin_recorder(1);
	CHECK_NUMBER(history_recorder(&history), child);
	CHECK_NUMBER(history_flush(&history), EXIT_FINE);
	CHECK(access(history.request, F_OK) < 0);
	/* while the recorder runs, its last file is unfinished, and others delete no file */
	snprintf(name, sizeof(name), "%s/part-0001.tbuf", history.folder);
	make_file(name);
	snprintf(name, sizeof(name), "%s/part-0002.tbuf", history.folder);
	make_file(name);
	CHECK(!history_open(&history, true, &parts));
	CHECK_NUMBER(parts.count, 1);
	history_close(&parts);
	CHECK(!history_open(&history, false, &parts));
	CHECK_NUMBER(parts.count, 2);
	history_close(&parts);
	history_forget(&history);
	CHECK(!access(name, F_OK));
	/* the recorder ends instead of answering: the command must not wait for it */
	CHECK_NUMBER(history_flush(&history), EXIT_FINE);
	assert(waitpid(child, &status, 0) == child);
	CHECK_NUMBER(history_recorder(&history), 0);
	CHECK(!history_open(&history, true, &parts));
	CHECK_NUMBER(parts.count, 2);
	history_close(&parts);
	child = begin_recorder(0);
	CHECK_NUMBER(history_stop(&history), EXIT_FINE);
	CHECK(access(history.pid_file, F_OK) < 0);
	assert(waitpid(child, &status, 0) == child);
	tear_down();
}

static void prepared(void)
{
	struct statfs system;
	pid_t child;
	int status;

	CHECK_NUMBER(history_find(&history, "/x", "a/b"), -EINVAL);
	CHECK_NUMBER(history_find(&history, "/x", ".."), -EINVAL);
	CHECK_NUMBER(history_find(&history, "/x", ""), -EINVAL);
	CHECK(!history_find(&history, "/x", NULL));
	CHECK_TEXT(history.output, "/x/kernel/part.tbuf");
	if (statfs("/dev/shm", &system) < 0 || system.f_type != TMPFS_MAGIC) {
		printf("# skipped: /dev/shm is not in memory\n");
		return;
	}
	set_up("/dev/shm");
	CHECK_NUMBER(history_prepare(&history, 1 << 20), EXIT_FINE);
	CHECK_NUMBER(history_prepare(&history, 1ull << 60), EXIT_WRONG);
	assert(!chmod(history.folder, 0777));
	CHECK_NUMBER(history_prepare(&history, 1 << 20), EXIT_WRONG);
	assert(!chmod(history.folder, 0700));
	child = begin_recorder(0);
	CHECK_NUMBER(history_prepare(&history, 1 << 20), EXIT_WRONG);
	CHECK_NUMBER(history_stop(&history), EXIT_FINE);
	assert(waitpid(child, &status, 0) == child);
	tear_down();
	CHECK_NUMBER(history_find(&history, "/proc/self", "some"), 0);
	CHECK_NUMBER(history_prepare(&history, 1 << 20), EXIT_WRONG);
}

/* For another user `save` goes on without the history and says so: the error must tell why */
static void of_another_user(void)
{
	struct history_parts parts;

	if (geteuid()) {
		printf("# skipped: only root can become another user\n");
		return;
	}
	set_up("/tmp");
	assert(!chmod(place, 0755));
	assert(!seteuid(65534));
	CHECK_NUMBER(history_open(&history, false, &parts), -EACCES);
	CHECK_NUMBER(parts.count, 0);
	history_forget(&history);
	assert(!seteuid(0));
	tear_down();
}

static const struct test tests[] = {
	{ "history: files are kept within the memory", by_size },
	{ "history: files are kept for a time", by_time },
	{ "history: a recorder is killed", torn },
	{ "history: a folder in memory, with room", prepared },
	{ "history: a folder of another user", of_another_user },
	{ "history: the recorder answers, ends, or is stopped", with_recorder },
};

RUN_MAIN(tests)
