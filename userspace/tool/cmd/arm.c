// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf arm - write a snapshot when an event occurs.
 *
 * The kernel waits for the event and freezes the rings (TB_IOC_ARM).  This program waits for that,
 * and writes the snapshot with another session before the rings go on.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cmd.h"
#include "tool/choose/choose.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/device/device.h"
#include "tool/record/output_file.h"
#include "tool/record/snapshot.h"
#include "tool/command/signals.h"
#include "lib/utf8.h"

#define PATTERN_ROOM 256	/* the kernel takes 255 bytes */

struct arm {
	const char *provider;
	const char *output;
	struct choice choice;
	uint32_t post;
	uint32_t post_ms;
	uint32_t count;

	struct tb_device *device;
	char text[PATTERN_ROOM];	/* the patterns, in the kernel's form */
	struct compiled_rules compiled;		/* the compiled filters */
	int signals;
	uint32_t taken;
};

static int arm_run(int argc, char **argv);

const struct command cmd_arm = {
	.name  = "arm",
	.run   = arm_run,
	.brief = "write a snapshot when an event occurs",
	.help  =
	"usage: tracebuf arm [-p NAME] --on EVENTS [-f FILTER] [--post PERCENT]\n"
	"                    [--post-time SECONDS] [-o FILE] [-n N]\n"
	"\n"
	"Waits for one of EVENTS during a circular recording ('tracebuf start -m\n"
	"circular'), and writes a snapshot when it occurs. Recording goes on until what\n"
	"came after the event fills PERCENT of that CPU's buffers, or for SECONDS,\n"
	"whichever comes first. From then until the snapshot is written nothing is\n"
	"overwritten, so it has the events that led to EVENTS. EVENTS need not be\n"
	"recorded themselves. Ctrl-C after the event writes the snapshot at once.\n"
	"\n"
	"  -e, --on EVENTS       system, system:event, event; with * and ?; '!' before one\n"
	"                        leaves it out; syscalls:open*,read\n"
	"  -f, --filter FILTER   wait only for events for which FILTER is true. Belongs to\n"
	"                        the --on before it: 'sig == 11 && comm ~ \"my*\"'\n"
	"  -P, --post PERCENT    0..100 (50)\n"
	"      --post-time SECONDS\n"
	"                        (2); 'none': only PERCENT counts, however long it takes on a\n"
	"                        CPU that records little\n"
	PROVIDER_HELP
	"  -o, --output FILE     write to FILE (snapshot-DATE-TIME.tbuf); '-': standard output\n"
	"  -n, --count N         write N snapshots (1): FILE, FILE.2, FILE.3 ...\n"
	"  -h, --help            show this text\n",
};

/* ---- arming ---- */

static int arm_failed(const struct arm *arm, int result, uint32_t bad)
{
	struct tb_query query;

	switch (-result) {
	case ENOTTY:
		return complain("the module has no filters for triggers: install module and tools of the same release");
	case EBUSY:
		return complain("another program has armed a trigger already");
	case E2BIG:
		if (arm->post_ms && tb_device_arm_within(arm->device, arm->text, arm->post, 0,
							 arm->compiled.rules,
							 (unsigned int)arm->compiled.count,
							 NULL) >= 0) {
			tb_device_disarm(arm->device);
			return complain("the module has no --post-time: install module and tools of the same release, or use --post-time none");
		}
		return complain("these are more than 64 events: name them more exactly");
	case EINVAL:
		if (arm->compiled.count && bad < arm->compiled.count &&
		    tb_device_query(arm->device, &query) >= 0 &&
		    query.state == TB_STATE_RUNNING &&
		    query.mode == TB_MODE_CIRCULAR)
			return complain("the module does not take test %u of filter %u",
					arm->compiled.rules[bad].bad + 1, bad + 1);
		return complain("no circular recording is running: 'tracebuf start -m circular' starts one");
	}
	return complain("cannot arm: %s", strerror(-result));
}

static int catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	return signals_open(numbers, sizeof(numbers) / sizeof(numbers[0]));
}

/* ---- waiting, and the snapshot ---- */

static void tell(const struct tb_trigger_info *info)
{
	time_t seconds = (time_t)(info->realtime / 1000000000ull);
	char date[64], comm[TB_COMM_LEN + 1] = "";
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	/* programs choose their names: replace what a terminal would obey */
	memcpy(comm, info->comm, TB_COMM_LEN);
	utf8_plain_string(comm, sizeof(comm));
	note("%.*s:%.*s at %s.%09" PRIu64 " on CPU %u, thread %u (%s)",
	     TB_NAME_MAX, info->system, TB_NAME_MAX, info->name, date,
	     (uint64_t)(info->realtime % 1000000000ull), info->cpu, info->tid, comm);
}

/* The name of the next snapshot's file; @room has @size bytes for it */
static const char *output_name(const struct arm *arm, char *room, size_t size)
{
	if (!arm->output) {
		stamped_name(room);
		return room;
	}
	if (!arm->taken || !strcmp(arm->output, "-"))
		return arm->output;
	snprintf(room, size, "%s.%u", arm->output, arm->taken + 1);
	return room;
}

/* Open the next snapshot's file, and remove it again if it is new: an error after the event would
 * be too late.  A FIFO has no reader yet.  EXIT_* */
static int check_output(const char *name)
{
	struct output_file out;
	struct stat status;

	if (!stat(name, &status) && S_ISFIFO(status.st_mode))
		return EXIT_FINE;
	return output_file_open(&out, name) || output_file_close(&out) ? EXIT_WRONG : EXIT_FINE;
}

/* Write the snapshot, or with @check find out whether its file can be written; EXIT_* */
static int arm_snapshot(struct arm *arm, bool check)
{
	size_t size = STAMPED_NAME +
		      (arm->output ? strlen(arm->output) : 0);
	struct tb_device *device = NULL;
	char *room = malloc(size);
	int status = EXIT_WRONG;
	const char *name;

	if (!room)
		return complain("out of memory");
	name = output_name(arm, room, size);
	if (!check)
		device = open_device(arm->provider, TB_DEVICE_NONBLOCK);
	if (check)
		status = check_output(name);
	else if (device)
		status = take_snapshot(device, name);
	tb_device_close(device);
	free(room);
	arm->taken += !check;
	return status;
}

/* Wait for the trigger or a signal; 0: the trigger, 1: a signal, -errno */
static int arm_wait(struct arm *arm)
{
	struct pollfd wait[2] = {
		{ .fd = arm->signals, .events = POLLIN },
		{ .fd = tb_device_fd(arm->device), .events = POLLPRI },
	};

	while (poll(wait, 2, -1) < 0)
		if (errno != EINTR)
			return -errno;
	return wait[0].revents && !(wait[1].revents & POLLPRI);
}

/* Wait, and write the snapshot.  @ended: out: a signal came, so this is the last one */
static int arm_once(struct arm *arm, bool *ended)
{
	struct tb_trigger_info info;
	int waited = arm_wait(arm), result;

	if (waited < 0)
		return complain("cannot wait: %s", strerror(-waited));
	result = tb_device_trigger(arm->device, &info);
	if (result < 0)
		return complain("cannot ask for the trigger: %s",
				strerror(-result));
	*ended = waited == 1;
	if (info.fired)
		tell(&info);
	if (info.state == TB_TRIGGER_ENDED)
		return complain("the recording was stopped %s: 'tracebuf save' writes what is in the buffers",
				info.fired ? "after that" : "before the event occurred");
	if (!info.fired)
		return complain("the event has not occurred");
	if (waited)
		note("interrupted: the part of the snapshot after the event is not complete");
	return arm_snapshot(arm, false);
}

static int arm_go(struct arm *arm)
{
	struct tb_query query;
	bool ended = false;
	int status, result;
	uint32_t bad;

	result = tb_device_query(arm->device, &query);
	if (result < 0)
		return complain("cannot read the state: %s", strerror(-result));
	status = snapshot_possible(&query);
	if (!status)
		status = choice_trigger(arm->device, &cmd_arm, &arm->choice,
					arm->text, sizeof(arm->text),
					&arm->compiled);
	if (status)
		return status;
	arm->signals = catch_signals();
	if (arm->signals < 0)
		return complain("signals: %s", strerror(-arm->signals));
	while (!ended && arm->taken < arm->count) {
		status = arm_snapshot(arm, true);
		if (status)
			break;
		result = tb_device_arm_within(arm->device, arm->text, arm->post,
					      arm->post_ms, arm->compiled.rules,
					      (unsigned int)arm->compiled.count, &bad);
		if (result < 0)
			return arm_failed(arm, result, bad);
		note("armed%s, waiting for %d event%s", arm->taken ? " again" : "", result,
		     result == 1 ? "" : "s");
		status = arm_once(arm, &ended);
		tb_device_disarm(arm->device);
		if (status)
			break;
	}
	return status;
}

/* Parse --post-time into milliseconds; 'none' is 0: no limit */
static int parse_post_time(const char *text, uint32_t *ms)
{
	double seconds;

	*ms = 0;
	if (!strcmp(text, "none"))
		return 0;
	if (parse_seconds(text, &seconds) || seconds < 0.001 || seconds > 86400)
		return -1;
	*ms = (uint32_t)(seconds * 1000 + 0.5);
	return 0;
}

static int arm_with(int argc, char **argv, struct arm *arm)
{
	int option, status;

	while ((option = next_option(&cmd_arm, "", argc, argv)) >= 0) {
		switch (option) {
		case 'p':
			arm->provider = optarg;
			break;
		case 'e':
		case 'f':
			if (choice_option(&cmd_arm, option, optarg,
					  &arm->choice) < 0)
				return EXIT_USAGE;
			break;
		case 'P':
			if (parse_u32(optarg, 0, 100, &arm->post))
				return misused(&cmd_arm, "'%s' is not a percentage from 0 to 100",
					       optarg);
			break;
		case OPTION_POST_TIME:
			if (parse_post_time(optarg, &arm->post_ms))
				return misused(&cmd_arm, "'%s' is not a time from 0.001 to 86400 seconds, or 'none'",
					       optarg);
			break;
		case 'o':
			arm->output = optarg;
			break;
		case 'n':
			if (parse_u32(optarg, 1, UINT32_MAX, &arm->count))
				return misused(&cmd_arm, "'%s' is not a number of snapshots",
					       optarg);
			break;
		default:
			return show_help(&cmd_arm, option);
		}
	}
	if (optind < argc)
		return misused(&cmd_arm, "'%s' is too much", argv[optind]);
	if (!arm->choice.count)
		return misused(&cmd_arm, "on which event? (--on)");
	arm->device = open_device(arm->provider, TB_DEVICE_NONBLOCK);
	status = arm->device ? arm_go(arm) : EXIT_WRONG;
	tb_device_close(arm->device);
	if (arm->signals >= 0)
		close(arm->signals);
	return status;
}

static int arm_run(int argc, char **argv)
{
	struct arm arm = { .post = 50, .post_ms = 2000, .count = 1, .signals = -1 };
	int status = arm_with(argc, argv, &arm);

	compiled_rules_free(&arm.compiled);
	choice_free(&arm.choice);
	return status;
}
