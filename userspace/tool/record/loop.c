// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording while it runs, and its end.  One poll() waits for blocks, signals, finished writes,
 * perf's records and the time.
 *
 * Each file of a rotation gets a reader of its own, an open file of the device.  The kernel gives
 * each reader the durable blocks from the oldest complete state that events still in the rings
 * need.  So every file can be read by itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "perf_records.h"
#include "record.h"
#include "output_file.h"
#include "snapshot.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/device/device.h"

#define PROGRESS_NS 250000000ull
#define RETRY_NS 10000000000ull		/* after the next file could not be opened */

/* ---- progress ---- */

static void progress_show(struct record *record)
{
	struct tb_stats sum;
	uint64_t now = monotonic_ns();
	double span, rate;

	if (!record->progress || now - record->shown < PROGRESS_NS ||
	    read_stats(record->device, record->query.nr_cpus, NULL, &sum) < 0)
		return;
	span = (double)(now - record->shown) / 1e9;
	rate = (double)(sum.recorded - record->shown_recorded) / span;
	fprintf(stderr, "\r\033[K%6.1f s  %10.0f events/s  %10" PRIu64
		" events  %8.1f MB  %" PRIu64 " lost",
		(double)(now - record->started) / 1e9, rate,
		(uint64_t)sum.recorded,
		(double)(record->out.total + output_file_size(&record->out)) / 1e6,
		(uint64_t)(sum.overwritten + sum.dropped));
	fflush(stderr);
	record->progress_used = true;
	record->shown = now;
	record->shown_recorded = sum.recorded;
}

static void progress_clear(struct record *record)
{
	if (record->progress_used)
		fputs("\r\033[K", stderr);
	record->progress_used = false;
}

static void progress_end(struct record *record)
{
	progress_clear(record);
	record->progress = false;
}

/* ---- while it runs ---- */

static int wait_ms(const struct record *record, uint64_t end)
{
	uint64_t now = monotonic_ns(), left, most = 1000000000ull;

	if (record->progress)
		most = PROGRESS_NS;
	left = end > now ? end - now : 0;
	if (left > most)
		left = most;
	return (int)((left + 999999) / 1000000);
}

/* Use a new session: the recorder's session reads the blocks at the end */
static void take_signal_snapshot(struct record *record)
{
	struct tb_device *device;
	char name[STAMPED_NAME];

	if (record->query.mode != TB_MODE_CIRCULAR) {
		note("SIGUSR1 takes a snapshot only in circular mode (-m circular); this recording is in %s mode, and writes all events to the file",
		     tb_mode_name(record->query.mode));
		return;
	}
	progress_clear(record);
	device = open_device(record->provider, TB_DEVICE_NONBLOCK);
	stamped_name(name);
	if (device)
		take_snapshot(device, name);
	tb_device_close(device);
}

static void request_rotation(struct record *record)
{
	if (record->rotation.given)
		record->rotate = true;
	else
		note("SIGUSR2 begins the next file only with --rotate; this recording has one file");
}

/* Returns true if the recording is to end */
static bool handle_signals(struct record *record)
{
	struct signalfd_siginfo info;

	while (read(record->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			take_signal_snapshot(record);
		else if (info.ssi_signo == SIGUSR2)
			request_rotation(record);
		else if (info.ssi_signo != SIGCHLD)
			record->caught = (int)info.ssi_signo;
		record->out.stopping = record->caught;
	}
	return record->caught || workload_ended(&record->workload);
}

static int record_move(struct record *record)
{
	if (record->channels)
		return channels_move(record->channels, &record->out);
	return output_file_move(&record->out, record->reader, 0);
}

static int record_drain(struct record *record)
{
	/* the recording has stopped, so the rings need no room: make no more copies */
	record->backlog.limit = 0;
	if (record->channels)
		return channels_drain(record->channels, &record->out);
	return output_file_drain(&record->out, record->reader);
}

/* ---- the next file ---- */

struct tb_device *record_reader(struct record *record)
{
	struct tb_device *reader = open_device(record->provider, TB_DEVICE_NONBLOCK);
	int result;

	if (!reader)
		return NULL;
	result = tb_device_share_map(reader, record->device);
	if (!result)
		return reader;
	complain("the next file's reader cannot use the mapping of the rings: %s",
		 strerror(-result));
	tb_device_close(reader);
	return NULL;
}

static void set_next_file_time(struct record *record, uint64_t now)
{
	record->next_file = record->rotation.seconds > 0 ?
			    now + (uint64_t)(record->rotation.seconds * 1e9) : UINT64_MAX;
}

static int next_file(struct record *record)
{
	struct tb_query query;
	int failed;

	/* stopped: no more files, because each new reader would get the end of the recording */
	if (tb_device_query(record->device, &query) < 0 || query.state != TB_STATE_RUNNING) {
		record->out.options.most = 0;
		record->next_file = UINT64_MAX;
		return 0;
	}
	progress_clear(record);
	failed = rotation_next(&record->rotation, record->output);
	if (!failed && output_file_next(&record->out, record->rotation.name)) {
		rotation_back(&record->rotation);
		failed = EXIT_WRONG;
	}
	if (failed) {
		note("%s goes on", record->out.name);
		record->out.options.most = 0;
		record->next_file = monotonic_ns() + RETRY_NS;
		return 0;
	}
	set_next_file_time(record, monotonic_ns());
	record->out.options.most = record->rotation.bytes;
	rotation_trim(&record->rotation, monotonic_ns());
	if (record->out.failed)
		return -EIO;
	if (record->verbose)
		output_file_describe(&record->out);
	service_notify("STATUS=Recording into %s", record->out.name);
	/* a provider has one reader at a time */
	tb_device_close(record->reader);
	record->reader = record_reader(record);
	return record->reader ? 0 : -EPROTO;
}

static bool file_full(const struct record *record)
{
	const struct output_file *out = &record->out;

	return out->options.most && output_file_size(out) >= out->options.most;
}

/*
 * Write all events recorded up to now; with @next, begin the next file whenever one is full.  Stop
 * after as many blocks as the rings have: by then all blocks are newer than the call.
 */
static int empty_rings(struct record *record, bool next)
{
	uint64_t left = (uint64_t)record->query.nr_cpus * record->query.buffers;
	uint32_t flags = TB_ACQUIRE_FLUSH;
	int moved;

	for (;;) {
		moved = output_file_move(&record->out, record->reader, flags);
		if (!moved && !output_file_ready(&record->out)) {
			output_file_wait(&record->out);
			continue;
		}
		if (moved <= 0 || (uint64_t)moved >= left)
			return moved < 0 ? moved : 0;
		left -= (uint64_t)moved;
		flags = 0;
		if (next && file_full(record))
			moved = next_file(record);
		if (moved < 0)
			return moved;
	}
}

/*
 * End this file and begin the next.  For SIGUSR2, or at the end of the file's time, first write all
 * events up to now: into this file, or with --memory into as many files as they need.
 */
static int record_next(struct record *record)
{
	bool asked = record->rotate;
	unsigned int number;
	int result = 0;

	record->rotate = false;
	if (asked || monotonic_ns() >= record->next_file)
		result = empty_rings(record, record->rotation.memory);
	if (result < 0)
		return result;
	number = record->rotation.number;
	result = next_file(record);
	if (asked && record->rotation.request && record->rotation.number != number)
		unlink(record->rotation.request);
	return result;
}

static bool next_due(const struct record *record)
{
	return record->rotation.given && (record->rotate || monotonic_ns() >= record->next_file ||
					  file_full(record));
}

/* ---- waiting ---- */

/* Move blocks for a limited time; 0; -ENODATA: the recording has ended; other -errno */
static int move_some(struct record *record)
{
	unsigned int passes;
	int moved;

	/*
	 * Make few system calls: they may be recorded themselves, and with small buffers they could
	 * fill one buffer while they empty another.
	 */
	for (passes = 0; passes < 64; passes++) {
		moved = record_move(record);
		if (moved < 0)
			return moved;
		if (!moved)
			return 0;
		if (record->rotation.given && next_due(record))
			return 0;
	}
	return 0;
}

/* The entry of poll() that waits for blocks, if the output file has room */
static struct pollfd wait_blocks(const struct record *record)
{
	bool streaming = record->query.mode == TB_MODE_STREAMING;
	struct pollfd wait = { .events = POLLIN };

	wait.fd = record->channels ? channels_fd(record->channels) : tb_device_fd(record->reader);
	if (!streaming || !output_file_ready(&record->out))
		wait.events = 0;
	return wait;
}

int record_loop(struct record *record)
{
	bool streaming = record->query.mode == TB_MODE_STREAMING;
	uint64_t end = UINT64_MAX;
	int result;

	record->started = record->shown = monotonic_ns();
	set_next_file_time(record, record->started);
	if (record->seconds > 0)
		end = record->started + (uint64_t)(record->seconds * 1e9);
	for (;;) {
		struct pollfd wait[4] = {
			{ .fd = record->signals, .events = POLLIN },
			wait_blocks(record),
			{ .fd = output_file_fd(&record->out), .events = POLLIN },
			{ .fd = perf_records_fd(record->out.perf), .events = POLLIN },
		};

		if (poll(wait, 4, wait_ms(record, end < record->next_file ?
					  end : record->next_file)) < 0 && errno != EINTR)
			return -errno;
		if ((wait[0].revents && handle_signals(record)) || monotonic_ns() >= end)
			return 0;
		if (wait[1].revents & (POLLHUP | POLLERR))
			return 0;	/* another program stopped the recording, or it is full */
		if ((streaming && wait[1].revents & POLLIN) || wait[2].revents) {
			result = move_some(record);
			if (result < 0)
				return result == -ENODATA ? 0 : result;
		}
		if (wait[3].revents)
			output_file_perf_step(&record->out);
		if (next_due(record)) {
			result = record_next(record);
			if (result < 0)
				return result == -ENODATA ? 0 : result;
		}
		progress_show(record);
	}
}

/* ---- after ---- */

static void note_backlog(const struct record *record)
{
	if (record->backlog.most)
		note("writing was late: up to %.1f MB waited for the file in memory, beyond the buffers%s",
		     (double)record->backlog.most / 1e6, record->backlog.full ?
		     "; there was no room for more (--backlog)" : "");
}

/* Show the processor time of the recorder, without COMMAND */
static void show_usage(const struct tb_stats *sum)
{
	struct rusage usage;
	double user, system;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return;
	user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
	system = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
	note("the recorder used %.3f s of processor time, %.3f s of it in the kernel: %.3f s for a million events",
	     user + system, system, sum->delivered ?
	     (user + system) / (double)sum->delivered * 1e6 : 0.0);
}

int record_finish(struct record *record, int result)
{
	double span = (double)(monotonic_ns() - record->started) / 1e9;
	struct tb_stats sum;
	int status = EXIT_FINE, stopped, drained;

	service_stopping();
	/* begin further files while the recording runs: next_file() makes none after the stop */
	if (!result && record->rotation.bytes && !record->out.failed)
		result = empty_rings(record, true);
	if (result == -ENODATA || result == -EIO)
		result = 0;
	stopped = tb_device_stop(record->device);
	if (stopped < 0 && stopped != -EINVAL && stopped != -EALREADY)
		status = complain("cannot stop: %s", strerror(-stopped));
	drained = record->out.failed || result == -EPROTO || !record->reader ? 0 :
		  record_drain(record);
	progress_end(record);
	if (output_file_close(&record->out))
		status = EXIT_WRONG;
	else if (result < 0)
		status = complain("recording ended early: %s", strerror(-result));
	else if (drained < 0)
		status = complain("the last blocks could not be read: %s",
				  strerror(-drained));
	if (tb_device_query(record->device, &record->query) < 0 ||
	    read_stats(record->device, record->query.nr_cpus, record->each,
		       &sum) < 0)
		return complain("cannot read the statistics");
	if (!record->quiet) {
		print_table(stderr, record->each, record->query.nr_cpus, &sum,
			    false);
		fprintf(stderr, "%s: %.2f MB in %.2f s\n", record->rotation.given ?
			record->output : record->out.name,
			(double)record->out.total / 1e6, span);
		note_suppressed(record->device, &record->query);
		note_backlog(record);
	}
	quota_note(record->device);
	if (record->chosen || record->choice.open)
		choice_quota_read(record->device, &record->choice);
	if (record->verbose)
		show_usage(&sum);
	if (record->verbose && record->out.files_left_out)
		note("files that %u processes had open at the start have no names: they could not be read, or not in time",
		     record->out.files_left_out);
	if (record->out.unwritten)
		note("warning: %" PRIu64 " delivered events could not be written",
		     record->out.unwritten);
	if (warn_stopped(&record->query) && status == EXIT_FINE)
		status = EXIT_WRONG;
	warn_missing(&record->query);
	warn_lost(&sum);
	return status;
}

