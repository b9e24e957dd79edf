// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf record - record into a file until a command ends, a time is over
 * or a signal comes.
 *
 * Signals come through a descriptor, so that one poll() waits for all there
 * is to wait for: blocks, signals, the time.  However it ends - by itself,
 * by Ctrl-C, with a full disk - the recording is stopped, what is in the
 * buffers is fetched, the table is shown, and the file is valid.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "record.h"
#include "workload.h"

#define PROGRESS_NS 250000000ull
#define OPTION_FIFO 0x200

struct record {
	const char *output;
	bool fifo;			/* through save/saved channels */
	struct choice choice;
	struct who who;
	bool defaults;			/* the events are DEFAULT_EVENTS */
	bool chosen;			/* they, and no others, are recorded */
	const char *provider;
	struct setup setup;
	uint32_t start_flags;
	double seconds;
	bool quiet;
	char **command;

	struct tb_device *device;
	struct tb_query query;
	struct channels *channels;	/* or NULL */
	struct sink sink;
	struct workload workload;
	int signals;
	struct tb_stats *each;
	uint64_t started, shown;	/* ns */
	uint64_t shown_recorded;
	bool progress, progress_used;
	int caught;
};

static int record_run(int argc, char **argv);

const struct command cmd_record = {
	.name  = "record",
	.run   = record_run,
	.brief = "record into a file",
	.help  =
	"usage: tracebuf record [OPTIONS] [-- COMMAND ARGUMENTS...]\n"
	"\n"
	"Records into a file until COMMAND ends, the time is over, or Ctrl-C; then\n"
	"shows per CPU what was recorded and what was lost.  With a COMMAND the exit\n"
	"status is that of the command, if the recording went well.  In circular mode\n"
	"SIGUSR1 takes a snapshot of what the buffers hold (see 'snapshot').\n"
	"\n"
	RECORD_HELP(DEFAULT_FILE),
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* ---- progress ---- */

static void progress_show(struct record *record)
{
	struct tb_stats sum;
	uint64_t now = now_ns();
	double span, rate;

	if (!record->progress || now - record->shown < PROGRESS_NS ||
	    read_stats(record->device, record->query.nr_cpus, NULL, &sum) < 0)
		return;
	span = (double)(now - record->shown) / 1e9;
	rate = (double)(sum.recorded - record->shown_recorded) / span;
	fprintf(stderr, "\r\033[K%6.1f s  %10.0f events/s  %10" PRIu64
		" events  %8.1f MB  %" PRIu64 " lost",
		(double)(now - record->started) / 1e9, rate,
		(uint64_t)sum.recorded, (double)record->sink.bytes / 1e6,
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

/* ---- before ---- */

static int catch_signals(struct record *record)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	record->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return record->signals < 0 ? -errno : 0;
}

/* Configuration and events; EXIT_* */
static int record_set_up(struct record *record)
{
	struct tb_device *device = record->device;
	const struct tb_query *query = &record->query;
	char stop[64];

	if (query->state == TB_STATE_RUNNING)
		return complain("a recording is running already: end it with '%s' first",
				stop_command(device, stop));
	/* a provider somebody has set up stays as it is */
	if ((!record->provider || record->setup.given || !query->map_bytes) &&
	    setup_apply(device, &record->setup))
		return EXIT_WRONG;
	if (record->provider && record->defaults && query->nr_enabled &&
	    !record->choice.nr_filters)
		return EXIT_FINE;
	record->chosen = true;
	return choice_set(device, &record->choice);
}

/* Everything up to the running recording; EXIT_* */
static int record_prepare(struct record *record)
{
	struct tb_device *device = record->device;
	int result;

	result = tb_device_query(device, &record->query);
	if (result < 0)
		return complain("cannot read the state: %s", strerror(-result));
	result = record_set_up(record);
	if (result)
		return result;
	result = tb_device_map(device, NULL, NULL);
	if (result < 0)
		return complain("cannot map the buffers: %s", strerror(-result));
	result = tb_device_query(device, &record->query);
	if (result < 0)
		return complain("cannot read the state: %s", strerror(-result));
	record->each = calloc(record->query.nr_cpus + 1, sizeof(*record->each));
	if (!record->each)
		return complain("out of memory");
	if (!record->query.nr_enabled && !choice_users(&record->choice))
		note("warning: no event is enabled");
	result = catch_signals(record);
	if (result < 0)
		return complain("signals: %s", strerror(-result));
	if (record->fifo) {
		record->channels = channels_open(device, &record->query);
		if (!record->channels)
			return EXIT_WRONG;
	}
	if (sink_open(&record->sink, record->output))
		return EXIT_WRONG;
	record->sink.no_stacks = record->chosen &&
				 !choice_stacks(&record->choice);
	if (record->command) {
		result = workload_prepare(&record->workload, record->command);
		if (result < 0)
			return complain("cannot fork: %s", strerror(-result));
	}
	if ((record->chosen || record->who.given) &&
	    who_apply(device, &record->who, (uint32_t)record->workload.pid))
		return EXIT_WRONG;
	result = tb_device_start(device, record->start_flags |
				 TB_START_STOP_ON_CLOSE);
	return result < 0 ? start_failed(device, result) : EXIT_FINE;
}

/* ---- while it runs ---- */

static int wait_ms(const struct record *record, uint64_t end)
{
	uint64_t now = now_ns(), left, most = 1000000000ull;

	if (record->progress)
		most = PROGRESS_NS;
	left = end > now ? end - now : 0;
	if (left > most)
		left = most;
	return (int)((left + 999999) / 1000000);
}

/* By a session of its own: this one's is for the end */
static void take_one(struct record *record)
{
	struct tb_device *device;
	char name[STAMPED_NAME];

	if (record->query.mode != TB_MODE_CIRCULAR) {
		note("SIGUSR1 takes a snapshot in circular mode (-m circular); this is %s mode, everything gets into the file",
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

/* True when it is to end */
static bool take_signals(struct record *record)
{
	struct signalfd_siginfo info;

	while (read(record->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			take_one(record);
		else if (info.ssi_signo != SIGCHLD)
			record->caught = (int)info.ssi_signo;
	}
	return record->caught || workload_ended(&record->workload);
}

static int record_move(struct record *record)
{
	if (record->channels)
		return channels_move(record->channels, &record->sink);
	return sink_move(&record->sink, record->device, 0);
}

static int record_drain(struct record *record)
{
	if (record->channels)
		return channels_drain(record->channels, &record->sink);
	return sink_drain(&record->sink, record->device);
}

static int record_loop(struct record *record)
{
	bool streaming = record->query.mode == TB_MODE_STREAMING;
	struct pollfd wait[2] = {
		{ .fd = record->signals, .events = POLLIN },
		{ .fd = record->channels ? channels_fd(record->channels) :
					   tb_device_fd(record->device),
		  .events = streaming ? POLLIN : 0 },
	};
	uint64_t end = UINT64_MAX;
	unsigned int passes;
	int moved;

	record->started = record->shown = now_ns();
	if (record->seconds > 0)
		end = record->started + (uint64_t)(record->seconds * 1e9);
	for (;;) {
		if (poll(wait, 2, wait_ms(record, end)) < 0 && errno != EINTR)
			return -errno;
		if ((wait[0].revents && take_signals(record)) || now_ns() >= end)
			return 0;
		if (wait[1].revents & (POLLHUP | POLLERR))
			return 0;	/* stopped by someone else, or full */
		/*
		 * As few system calls as possible: where those are recorded,
		 * these are, too, and with small buffers they would fill one
		 * while they empty one.
		 */
		for (passes = 0; streaming && wait[1].revents & POLLIN &&
				 passes < 64; passes++) {
			moved = record_move(record);
			if (moved == -ENODATA)
				return 0;
			if (moved < 0)
				return moved;
			if (!moved)
				break;
		}
		progress_show(record);
	}
}

/* ---- after ---- */

static int record_finish(struct record *record, int result)
{
	double span = (double)(now_ns() - record->started) / 1e9;
	struct tb_stats sum;
	int status = EXIT_FINE, stopped, drained;

	stopped = tb_device_stop(record->device);
	if (stopped < 0 && stopped != -EINVAL && stopped != -EALREADY)
		status = complain("cannot stop: %s", strerror(-stopped));
	drained = record->sink.failed || result == -EPROTO ? 0 :
		  record_drain(record);
	progress_end(record);
	if (sink_close(&record->sink))
		status = EXIT_WRONG;
	else if (result < 0)
		status = complain("recording ended early: %s", strerror(-result));
	else if (drained < 0)
		status = complain("the last blocks could not be fetched: %s",
				  strerror(-drained));
	if (tb_device_query(record->device, &record->query) < 0 ||
	    read_stats(record->device, record->query.nr_cpus, record->each,
		       &sum) < 0)
		return complain("cannot read the statistics");
	if (!record->quiet) {
		print_table(stderr, record->each, record->query.nr_cpus, &sum,
			    false);
		fprintf(stderr, "%s: %.2f MB in %.2f s\n", record->sink.name,
			(double)record->sink.bytes / 1e6, span);
	}
	if (!record->quiet)
		note_suppressed(record->device, &record->query);
	if (record->sink.unwritten)
		note("warning: %" PRIu64 " of the events delivered could not be written",
		     record->sink.unwritten);
	warn_stopped(&record->query);
	warn_lost(&sum);
	return status;
}

static int record_go(struct record *record)
{
	int status, result = 0;

	record->device = open_device(record->provider, TB_DEVICE_NONBLOCK);
	if (!record->device)
		return EXIT_WRONG;
	record->sink.fd = -1;
	status = record_prepare(record);
	if (status == EXIT_FINE) {
		record->progress = !record->quiet && isatty(STDERR_FILENO);
		record->started = now_ns();
		if (record->command)
			result = workload_go(&record->workload);
		if (result < 0) {
			complain("%s: cannot be run: %s", record->command[0],
				 strerror(-result));
			record->quiet = true;
			record_finish(record, 0);	/* a valid file */
			status = result == -ENOENT ? 127 : 126;
		} else {
			result = record_loop(record);
			status = record_finish(record,
					       result == -EIO ? 0 : result);
		}
	}
	workload_end(&record->workload);
	if (status == EXIT_FINE && !record->caught && !record->seconds)
		status = workload_status(&record->workload);
	free(record->each);
	channels_close(record->channels);
	tb_device_close(record->device);
	return status;
}

static int record_with(const struct command *command, bool stream, int argc,
		       char **argv, struct record *record)
{
	static const struct option long_options[] = {
		PROVIDER_LONG,
		SETUP_LONG,
		CHOICE_LONG,
		WHO_LONG,
		WHO_SELF_LONG,
		{ "output",   required_argument, NULL, 'o' },
		{ "duration", required_argument, NULL, 'd' },
		{ "no-state", no_argument,       NULL, 'N' },
		{ "quiet",    no_argument,       NULL, 'q' },
		{ "help",     no_argument,       NULL, 'h' },
		{ "fifo",     no_argument,       NULL, OPTION_FIFO },
		{ 0 }
	};
	int option, status;

	while ((option = getopt_long(argc, argv, "+" SETUP_SHORT CHOICE_SHORT
				     "p:o:d:qh",
				     long_options, NULL)) >= 0) {
		status = setup_option(command, option, optarg,
				      &record->setup);
		if (!status)
			status = choice_option(command, option, optarg,
					       &record->choice);
		if (!status)
			status = who_option(command, option, optarg,
					    &record->who);
		if (status < 0)
			return EXIT_USAGE;
		if (status)
			continue;
		switch (option) {
		case 'p':
			record->provider = optarg;
			break;
		case 'o':
			record->output = optarg;
			break;
		case 'd':
			if (parse_seconds(optarg, &record->seconds))
				return misused(command, "'%s' is not a time",
					       optarg);
			break;
		case 'N':
			record->start_flags |= TB_START_NO_STATE;
			break;
		case 'q':
			record->quiet = true;
			break;
		case OPTION_FIFO:
			if (!stream)
				return misused(command, "--fifo is for 'tracebuf stream'");
			record->fifo = true;
			break;
		default:
			return show_help(command, option);
		}
	}
	if (optind < argc)
		record->command = argv + optind;
	if (setup_check(command, &record->setup) ||
	    who_check(command, &record->who, record->command))
		return EXIT_USAGE;
	if (!record->choice.form)
		record->choice.form = TB_FORM_WIDE;
	if (!record->choice.count) {
		record->defaults = true;
		if (choice_add(command, &record->choice, DEFAULT_EVENTS, true))
			return EXIT_USAGE;
	}
	return record_go(record);
}

int record_main(const struct command *command, const char *output, bool stream,
		int argc, char **argv)
{
	struct record record = { .output = output };
	int status = record_with(command, stream, argc, argv, &record);

	choice_free(&record.choice);
	return status;
}

static int record_run(int argc, char **argv)
{
	return record_main(&cmd_record, DEFAULT_FILE, false, argc, argv);
}
