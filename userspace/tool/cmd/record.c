// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf record - record into a file until a command ends, a time is over or a signal comes.
 *
 * This file parses options, and sets up and starts the recording; record/loop.c writes blocks and
 * ends it.  However the recording ends (time, Ctrl-C, a full disk), record_finish() stops it,
 * writes the remaining blocks and prints the table, and the file is valid.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmd.h"
#include "tool/choose/setup.h"
#include "tool/choose/sizes.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/command/option_value.h"
#include "tool/device/device.h"
#include "tool/record/history.h"
#include "tool/record/open_files.h"
#include "tool/record/record.h"
#include "tool/record/output_file.h"
#include "tool/command/signals.h"

static int record_run(int argc, char **argv);

const struct command cmd_record = {
	.name  = "record",
	.run   = record_run,
	.brief = "record events into a file",
	.help  =
	"usage: tracebuf record [OPTIONS] [-- COMMAND ARGUMENTS...]\n"
	"\n"
	"Records events into a file until COMMAND ends, the time is over, or Ctrl-C is\n"
	"pressed. Then it shows for each CPU how many events were recorded and lost.\n"
	"\n"
	"  -o, --output FILE     write to FILE (" DEFAULT_FILE "); '-': standard output\n"
	"  -d, --duration TIME   stop after TIME: seconds, or with ms, s, m, h\n"
	"  -e, --events LIST     record these events:\n"
	CHOICE_HELP
	"                        'tracebuf list -v' shows events and fields. Default:\n"
	"                        " DEFAULT_SCHED "\n"
	"                        " DEFAULT_OTHER "\n"
	WHO_HELP
	WHO_SELF_HELP
	SETUP_MODE_HELP
	"  -q, --quiet           show neither progress nor table\n"
	"  -v, --verbose         show how the file is written, and the recorder's CPU time\n"
	ROTATION_HELP
	"      --compress ALGO   write the packed form: zstd, or zstd:LEVEL, 1..19 (1). All\n"
	"                        commands read it; 'tracebuf unpack' makes a plain file\n"
	HELP_ENDS
	WHO_MORE_HELP
	"      --exclude-self    record all but this program itself\n"
	WIDE_HELP
	PROVIDER_HELP
	"                        as it is configured, with the events that it has, unless\n"
	"                        other options change that\n"
	WRITERS_HELP
	SETUP_MACHINE_HELP
	SETUP_REST_HELP
	"      --no-state        do not list the threads that exist at the start\n"
	SERVICE_HELP
	"      --threads N       compress with N threads, 1..64 (the CPUs, at most 4)\n"
	"      --buffered        write through the page cache, even if the file system has\n"
	"                        O_DIRECT\n"
	"      --backlog SIZE    let up to SIZE wait in memory, beyond the buffers, when the\n"
	"                        disk is late (1/16 of the available memory, 16M to 1G; 0:\n"
	"                        nothing)\n"
	"      --fifo            take blocks from the save channel of each CPU: one at a\n"
	"                        time, given back when it is written\n"
	"\n"
	"The file is a trace up to any block: if the recorder is killed, or the reader of\n"
	"standard output ends, what was written can be read.\n"
	"\n"
	"With a COMMAND the exit status is that of COMMAND if the recording went well. A\n"
	"COMMAND that still runs at the end gets SIGTERM; a second Ctrl-C kills it.\n"
	"SIGUSR1 takes a snapshot in circular mode (see 'tracebuf snapshot'); SIGUSR2\n"
	"begins a new file with --rotate.\n",
};

/* ---- setting up ---- */

static int catch_signals(struct record *record)
{
	static const int numbers[] = {
		SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2,
	};

	record->signals = signals_open(numbers, sizeof(numbers) / sizeof(numbers[0]));
	return record->signals < 0 ? record->signals : 0;
}

static int record_set_up(struct record *record)
{
	struct tb_device *device = record->device;
	const struct tb_query *query = &record->query;
	bool keeps = record->provider && record->defaults && query->nr_enabled &&
		     !record->choice.nr_filters;

	if (query->state == TB_STATE_RUNNING)
		return recording_already(device);
	if (keeps && record->choice.form == TB_FORM_WIDE)
		return complain("'%s' keeps its events and their forms: --wide needs -e",
				record->provider);
	/* buffers that are configured anew lose the events in them, so find mistakes before */
	if (!keeps && choice_check(device, &record->choice))
		return EXIT_WRONG;
	/* a named provider that has buffers keeps its configuration, unless options change it */
	if (!record->provider || record->setup.given || !query->map_bytes) {
		setup_size(device, &record->setup, (struct sizes_for){
			.live = record->fifo || !strcmp(record->output, "-"),
			.file_bytes = record->rotation.bytes,
		});
		if (setup_apply(device, &record->setup))
			return EXIT_WRONG;
	}
	/* choice.reads: this program reads blocks as they come, so programs overwrite no events */
	if (tb_device_query(device, &record->query) < 0)
		return complain("cannot read the state");
	record->choice.reads = !query->map_bytes || query->mode == TB_MODE_STREAMING;
	if (keeps)
		return record->choice.quota_given || record->choice.open ?
		       choice_quota(device, &record->choice, false) : EXIT_FINE;
	record->chosen = true;
	return choice_set(device, &record->choice);
}

static unsigned int compress_threads(const struct record *record)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (record->threads)
		return record->threads;
	return cpus < 1 ? 1 : cpus > 4 ? 4 : (unsigned int)cpus;
}

static void open_perf(struct record *record)
{
	bool mappings = record->chosen && choice_user_stacks(&record->choice);
	int result = output_file_perf_open(&record->out, mappings);

	if (result && mappings)
		note("warning: no perf events (%s): user stacks have addresses without names for programs that start and end during the recording",
		     strerror(-result));
}

/* Open the output file, and the reader of its blocks; EXIT_* */
static int record_open(struct record *record)
{
	struct output_file *out = &record->out;
	const char *output = record->output;
	struct output_file_options options = {
		/* not standard output: other programs share its file and offset */
		.direct = !record->buffered && !record->channels &&
			  strcmp(output, "-"),
		.buffered = record->buffered,
		.rotated = record->rotation.given,
		.compress = record->compress,
		.level = record->level,
		.threads = compress_threads(record),
		.ring_blocks = record->query.mode == TB_MODE_STREAMING ? record->query.buffers : 0,
		.block_bytes = record->query.buffer_bytes,
		.most = record->rotation.bytes,
		.backlog = record->query.mode == TB_MODE_STREAMING ? &record->backlog : NULL,
		.rotation = record->rotation.given ? &record->rotation : NULL,
	};
	int result;

	record->backlog.rings = record->query.nr_cpus;
	record->backlog.ring_blocks = record->query.buffers;
	if (!record->backlog_given)
		record->backlog.limit = sizes_backlog_here();

	if (record->rotation.given) {
		if (record->query.mode != TB_MODE_STREAMING)
			return complain("--rotate and --history need streaming mode: in %s mode one file gets all events at the end",
					tb_mode_name(record->query.mode));
		record->reader = record_reader(record);
		if (!record->reader || rotation_next(&record->rotation, output))
			return EXIT_WRONG;
		output = record->rotation.name;
	}
	if (output_file_open(out, output))
		return EXIT_WRONG;
	/*
	 * After opening: Ctrl-C must interrupt open() while a FIFO has no reader.  Before there are
	 * threads, which inherit the signal mask.
	 */
	result = catch_signals(record);
	if (result < 0)
		return complain("signals: %s", strerror(-result));
	out->options = options;
	if (output_file_use(out, &options))
		return EXIT_WRONG;
	out->no_stacks = record->chosen && !choice_stacks(&record->choice);
	open_perf(record);
	if (record->verbose)
		output_file_describe(out);
	return EXIT_FINE;
}

/* Is /proc of the initial PID namespace (PROC_PID_INIT_INO), whose PIDs the trace has? */
static bool proc_has_same_pids(void)
{
	struct stat status;

	return !stat("/proc/self/ns/pid", &status) && status.st_ino == 0xeffffffc;
}

/*
 * Record the files that processes have open, because the calls that opened them are not in the
 * recording.  Do this only if the recording has all later calls: else names would become wrong.
 */
static void start_open_files(struct record *record)
{
	const struct target_threads *target = &record->target;
	bool some = !(target->flags & TB_PIDS_EXCLUDE);

	if (record->chosen && choice_all_calls(&record->choice) && !target->threads &&
	    proc_has_same_pids())
		record->out.open_files = open_files_start(target->pids, some ? target->count : 0);
}

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
	if (!record->quiet)
		setup_show(&record->setup, &record->query);
	record->each = calloc(record->query.nr_cpus + 1, sizeof(*record->each));
	if (!record->each)
		return complain("out of memory");
	if (!record->query.nr_enabled && !choice_users(&record->choice))
		note("warning: no event is enabled");
	if (record->fifo) {
		record->channels = channels_open(device, &record->query);
		if (!record->channels)
			return EXIT_WRONG;
	}
	if (record->command) {
		result = workload_prepare(&record->workload, record->command);
		if (result < 0)
			return complain("cannot fork: %s", strerror(-result));
	}
	/*
	 * after the fork: COMMAND keeps its priority.  A recorder that compresses uses too much
	 * time
	 */
	record->service.hurry = !record->compress;
	if (service_priority(&record->service))
		return EXIT_WRONG;
	result = record_open(record);
	if (result)
		return result;
	if ((record->chosen || record->target.given) &&
	    target_threads_apply(device, &record->target, (uint32_t)record->workload.pid)) {
		if (record->chosen)
			choice_clear(device);
		return EXIT_WRONG;
	}
	result = tb_device_start(device, record->start_flags |
				 TB_START_STOP_ON_CLOSE);
	if (result < 0)
		return start_failed(device, result);
	start_open_files(record);
	/* the new recording has started: delete the old history and the file's old contents */
	if (!record->rotation.memory)
		forget_history(record->provider);
	output_file_begin(&record->out);
	rotation_trim(&record->rotation, monotonic_ns());
	return EXIT_FINE;
}

static int record_go(struct record *record)
{
	int status, result = 0;
	bool ended;

	record->device = open_device(record->provider, TB_DEVICE_NONBLOCK);
	if (!record->device)
		return EXIT_WRONG;
	/* the recording of the previous boot has ended: just save it */
	if (record->provider && is_previous(record->device, record->provider)) {
		status = record->command || record->seconds || record->rotation.given ||
			 record->compress ?
			 complain("'%s' has ended: it takes no command, -d, --rotate or --compress",
				  record->provider) :
			 save_device(record->device, record->provider, record->output, false);
		tb_device_close(record->device);
		return status;
	}
	record->reader = record->device;
	record->out.fd = -1;
	status = record_prepare(record);
	if (status == EXIT_FINE) {
		service_ready(&record->service);
		record->progress = !record->quiet && isatty(STDERR_FILENO);
		record->started = monotonic_ns();
		if (record->command)
			result = workload_go(&record->workload);
		if (result < 0) {
			complain("%s: cannot be run: %s", record->command[0],
				 strerror(-result));
			record->quiet = true;
			record_finish(record, 0);	/* the file is valid */
			status = result == -ENOENT ? 127 : 126;
		} else {
			result = record_loop(record);
			status = record_finish(record,
					       result == -EIO ? 0 : result);
		}
	} else {
		output_file_close(&record->out);
	}
	ended = workload_ended(&record->workload);
	workload_end(&record->workload, record->signals);
	if (status == EXIT_FINE && ended && !record->caught)
		status = workload_status(&record->workload);
	free(record->each);
	channels_close(record->channels);
	if (record->reader != record->device)
		tb_device_close(record->reader);
	tb_device_close(record->device);
	return status;
}

static int compress_option(const char *value, struct record *record)
{
	uint32_t level = 0;

	if (strncmp(value, "zstd", 4) ||
	    (value[4] && (value[4] != ':' || parse_u32(value + 5, 1, 19, &level))))
		return -EINVAL;
	record->compress = true;
	record->level = (int)level;
	return 0;
}

/* Check that the options of files fit together.  Complains; EXIT_FINE or EXIT_USAGE */
static int files_check(const struct command *command, const struct record *record)
{
	const struct rotation *rotation = &record->rotation;
	bool out = !strcmp(record->output, "-");

	if (rotation->keep && !rotation->given)
		return misused(command, "--keep needs --rotate, which says when the next file begins");
	if (rotation->given && out)
		return misused(command, "--rotate writes several files, but standard output is one: name a file (-o)");
	if (record->fifo && (rotation->given || record->compress || record->backlog_given))
		return misused(command, "--fifo excludes --rotate, --compress and --backlog");
	if (record->backlog_given && (out || record->buffered || record->compress))
		return misused(command, "--backlog needs writes to a file while the reader goes on: it excludes standard output, --buffered and --compress");
	if (record->threads && !record->compress)
		return misused(command, "--threads is the number of threads that compress: it needs --compress");
	if (record->service.daemon && out)
		return misused(command, "in the background there is no standard output: name a file (-o)");
	return EXIT_FINE;
}

int record_service(const struct command *command, struct record *record)
{
	int status;

	if (!record->choice.form)
		record->choice.form = TB_FORM_COMPACT;
	if (!record->choice.count) {
		record->defaults = true;
		if (choice_add(command, &record->choice, DEFAULT_EVENTS, true))
			return EXIT_USAGE;
	}
	status = service_begin(&record->service);
	if (status < 0)
		status = record_go(record);
	service_end(&record->service);
	return status;
}

static int record_with(const struct command *command, int argc, char **argv,
		       struct record *record)
{
	const struct option_value values[] = {
		{ 'p', .text = &record->provider }, { 'o', .text = &record->output },
		{ 'q', .flag = &record->quiet }, { 'v', .flag = &record->verbose },
		{ OPTION_BUFFERED, .flag = &record->buffered },
		{ OPTION_FIFO, .flag = &record->fifo }, { 0 },
	};
	int option, status;

	while ((option = next_option(command, "+", argc, argv)) >= 0) {
		status = setup_option(command, option, optarg,
				      &record->setup);
		if (!status)
			status = choice_option(command, option, optarg,
					       &record->choice);
		if (!status)
			status = target_threads_option(command, option, optarg,
						       &record->target);
		if (!status)
			status = rotation_option(command, option, optarg,
						 &record->rotation);
		if (!status)
			status = service_option(command, option, optarg,
						&record->service);
		if (status < 0)
			return EXIT_USAGE;
		if (status || take_value(values, option, optarg))
			continue;
		switch (option) {
		case 'd':
			if (parse_seconds(optarg, &record->seconds))
				return misused(command, "'%s' is not a time",
					       optarg);
			break;
		case OPTION_NO_STATE:
			record->start_flags |= TB_START_NO_STATE;
			break;
		case OPTION_COMPRESS:
			if (compress_option(optarg, record))
				return misused(command, "--compress: '%s' is not zstd or zstd:LEVEL, 1 to 19",
					       optarg);
			break;
		case OPTION_THREADS:
			if (parse_u32(optarg, 1, 64, &record->threads))
				return misused(command, "--threads: '%s' is not a number from 1 to 64",
					       optarg);
			break;
		case OPTION_BACKLOG:
			record->backlog_given = true;
			record->backlog.limit = parse_size(optarg);
			if (!record->backlog.limit && strcmp(optarg, "0"))
				return misused(command, "--backlog: '%s' is not a size (K, M, G, T: 100M) nor 0",
					       optarg);
			break;
		default:
			return show_help(command, option);
		}
	}
	if (optind < argc)
		record->command = argv + optind;
	if (files_check(command, record) ||
	    setup_check(command, &record->setup) ||
	    target_threads_check(command, &record->target, record->command))
		return EXIT_USAGE;
	return record_service(command, record);
}

static int record_run(int argc, char **argv)
{
	struct record record = { .output = DEFAULT_FILE, .signals = -1 };
	int status = record_with(&cmd_record, argc, argv, &record);

	choice_free(&record.choice);
	return status;
}
