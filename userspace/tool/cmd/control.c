// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf start, stop, flush, enable, disable, save - control a recording that runs in the kernel,
 * without 'tracebuf record'.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "cmd.h"
#include "tool/choose/choose.h"
#include "tool/choose/setup.h"
#include "tool/choose/sizes.h"
#include "tool/command/command.h"
#include "tool/command/number.h"
#include "tool/command/signals.h"
#include "tool/device/device.h"
#include "tool/record/history.h"
#include "tool/record/record.h"
#include "tool/record/output_file.h"

static int start_run(int argc, char **argv);
static int stop_run(int argc, char **argv);
static int flush_run(int argc, char **argv);
static int enable_run(int argc, char **argv);
static int disable_run(int argc, char **argv);
static int save_run(int argc, char **argv);

const struct command cmd_start = {
	.name  = "start",
	.run   = start_run,
	.brief = "start a recording in the kernel and return",
	.help  =
	"usage: tracebuf start [OPTIONS]\n"
	"\n"
	"Starts a recording in the kernel and returns. With '-m circular' it is a flight\n"
	"recorder: it keeps the last events in memory until someone wants them. To get\n"
	"them, see 'tracebuf snapshot' and 'tracebuf save'.\n"
	"Without options for the buffers the configuration stays as it is.\n"
	"\n"
	"  -e, --events LIST     record only these (default: the enabled events):\n"
	CHOICE_HELP
	WHO_HELP
	SETUP_MODE_HELP
	PROVIDER_HELP
	"      --history TIME    keep the events of the last TIME (10m, 1h), packed, in memory:\n"
	"                        a recorder in the background takes them out of the buffers.\n"
	"                        Without -e and -p, it records the events that 'tracebuf\n"
	"                        record' does\n"
	"      --memory SIZE     with --history, take at most SIZE (64M) for that, at least\n"
	"                        1M; the oldest events go first\n"
	HELP_ENDS
	WHO_MORE_HELP
	WIDE_HELP
	WRITERS_HELP
	SETUP_MACHINE_HELP
	SETUP_REST_HELP
	"      --no-state        do not list the threads that exist at the start\n",
};

const struct command cmd_stop = {
	.name  = "stop",
	.run   = stop_run,
	.brief = "stop the recording; its events stay in the buffers",
	.help  =
	"usage: tracebuf stop [-p NAME]\n"
	"\n"
	"Stops the recording. Events that nobody has read stay in the buffers; 'tracebuf\n"
	"save' writes them to a file. It ends the recorder of 'tracebuf start --history', too.\n"
	"\n"
	PROVIDER_HELP
	"  -h, --help            show this text\n",
};

const struct command cmd_flush = {
	.name  = "flush",
	.run   = flush_run,
	.brief = "hand over buffers that are not full yet to the reader",
	.help  =
	"usage: tracebuf flush [-p NAME] [-C CPU]\n"
	"\n"
	"Hands over to the reader what programs have written up to now, and all buffers\n"
	"that hold events, though they are not full.\n"
	"\n"
	PROVIDER_HELP
	"  -C, --cpu N           only buffers of this CPU, and nothing of programs\n"
	"  -h, --help            show this text\n",
};

const struct command cmd_enable = {
	.name  = "enable",
	.run   = enable_run,
	.brief = "enable events, also while a recording runs",
	.help  =
	"usage: tracebuf enable [-p NAME] [-W] [-e] EVENTS... [-f FILTER]\n"
	"\n"
	"Enables these events in addition to those that are enabled. For an event that is\n"
	"enabled already, its filter and all that is recorded with it are replaced.\n"
	"\n"
	"  -e, --events LIST     separated by commas or spaces:\n"
	CHOICE_HELP
	PROVIDER_HELP
	WIDE_HELP
	WRITERS_HELP
	"  -h, --help            show this text\n",
};

const struct command cmd_disable = {
	.name  = "disable",
	.run   = disable_run,
	.brief = "disable events, also while a recording runs",
	.help  =
	"usage: tracebuf disable [-p NAME] [-e] EVENTS...\n"
	"\n"
	"  -e, --events LIST     system, system:event, event, all; with * and ?,\n"
	"                        separated by commas or spaces\n"
	PROVIDER_HELP
	"  -h, --help            show this text\n",
};

const struct command cmd_save = {
	.name  = "save",
	.run   = save_run,
	.brief = "write the events of a stopped recording to a file",
	.help  =
	"usage: tracebuf save [-p NAME] [-s] [-o FILE]\n"
	"\n"
	"Writes the events of a stopped recording from the buffers to a file, and empties\n"
	"the buffers. For a recording that runs, see 'tracebuf snapshot'.\n"
	"The events of 'tracebuf start --history' come first; they stay in memory until the\n"
	"next start.\n"
	"\n"
	PROVIDER_HELP
	"  -o, --output FILE     write to FILE (" DEFAULT_FILE "); '-': standard output\n"
	"  -s, --stop            stop the recording first\n"
	"  -h, --help            show this text\n",
};

/* Bytes of most events of the scheduler, system calls and interrupts: compact, wide */
static const struct {
	unsigned int least, most;
} event_bytes[] = { { 16, 48 }, { 32, 80 } };

/* Show the memory of the buffers; in circular mode, how many events they hold */
static void show_start(struct tb_device *device, const struct choice *choice,
		       const struct setup *setup)
{
	struct tb_query query;
	unsigned int least, most;
	uint64_t bytes;

	if (tb_device_query(device, &query) < 0)
		return;
	setup_show(setup, &query);
	if (query.mode != TB_MODE_CIRCULAR)
		return;
	bytes = (uint64_t)query.buffers * query.buffer_bytes;
	least = event_bytes[choice->form == TB_FORM_WIDE].least;
	most = event_bytes[choice->form == TB_FORM_WIDE].most;
	note("circular: the buffers keep about the last %" PRIu64 " to %" PRIu64 " events of each CPU (%u to %u bytes an event); 'tracebuf snapshot' writes them to a file",
	     bytes / most / 1000 * 1000, bytes / least / 1000 * 1000, least, most);
}

static int start_device(struct tb_device *device, struct record *record)
{
	struct choice *choice = &record->choice;
	struct setup *setup = &record->setup;
	struct target_threads *target = &record->target;
	struct tb_query query;
	int result;

	result = tb_device_query(device, &query);
	if (result < 0 || query.state == TB_STATE_RUNNING)
		return start_failed(device, result < 0 ? result : -EBUSY);
	/* buffers that are configured anew lose the events in them, so find mistakes before */
	if (setup->given && choice->count && choice_check(device, choice))
		return EXIT_WRONG;
	if (setup->given) {
		setup_size(device, setup, (struct sizes_for){ .live = true });
		if (setup_apply(device, setup))
			return EXIT_WRONG;
	}
	if (choice->count ? choice_set(device, choice) : choice_quota(device, choice, false))
		return EXIT_WRONG;
	if ((choice->count || target->given) && target_threads_apply(device, target, 0)) {
		if (choice->count)
			choice_clear(device);
		return EXIT_WRONG;
	}
	result = tb_device_start(device, record->start_flags);
	if (result < 0)
		return start_failed(device, result);
	forget_history(record->provider);
	show_start(device, choice, setup);
	return EXIT_FINE;
}

static int start_with(int argc, char **argv, struct record *record)
{
	struct choice *choice = &record->choice;
	struct tb_device *device;
	int option, status;

	while ((option = next_option(&cmd_start, "", argc, argv)) >= 0) {
		status = setup_option(&cmd_start, option, optarg,
				      &record->setup);
		if (!status)
			status = choice_option(&cmd_start, option, optarg,
					       choice);
		if (!status)
			status = target_threads_option(&cmd_start, option, optarg, &record->target);
		if (!status)
			status = history_option(&cmd_start, option, optarg, &record->rotation);
		if (status < 0)
			return EXIT_USAGE;
		if (status)
			continue;
		switch (option) {
		case 'p':
			record->provider = optarg;
			break;
		case OPTION_NO_STATE:
			record->start_flags |= TB_START_NO_STATE;
			break;
		default:
			return show_help(&cmd_start, option);
		}
	}
	if (optind < argc)
		return misused(&cmd_start, "'%s' is too much (a command to run belongs to 'record')",
			       argv[optind]);
	if (!choice->count && (choice->form || choice->nr_filters))
		return misused(&cmd_start, "--wide and --filter go with events (-e)");
	if (setup_check(&cmd_start, &record->setup) ||
	    target_threads_check(&cmd_start, &record->target, false) ||
	    history_check(&cmd_start, record))
		return EXIT_USAGE;
	if (record->rotation.age > 0)
		return start_history(&cmd_start, record);
	if (!choice->form)
		choice->form = TB_FORM_COMPACT;
	device = open_device(record->provider, 0);
	status = device ? start_device(device, record) : EXIT_WRONG;
	tb_device_close(device);
	return status;
}

/* Call @with with an empty choice, and free the choice afterwards */
static int run_with_choice(int argc, char **argv,
			   int (*with)(int, char **, struct choice *))
{
	struct choice choice = { 0 };
	int status = with(argc, argv, &choice);

	choice_free(&choice);
	return status;
}

static int start_run(int argc, char **argv)
{
	struct record record = { 0 };
	int status = start_with(argc, argv, &record);

	choice_free(&record.choice);
	return status;
}

static int stop_run(int argc, char **argv)
{
	const char *provider = NULL;
	struct tb_device *device;
	struct history history;
	int option, result;

	while ((option = next_option(&cmd_stop, "", argc, argv)) >= 0) {
		if (option != 'p')
			return show_help(&cmd_stop, option);
		provider = optarg;
	}
	if (optind < argc)
		return misused(&cmd_stop, "'%s' is too much", argv[optind]);
	if (!history_find(&history, HISTORY_FOLDER, provider) && history_recorder(&history) > 0)
		return history_stop(&history);
	device = open_device(provider, 0);
	if (!device)
		return EXIT_WRONG;
	result = tb_device_stop(device);
	tb_device_close(device);
	if (result == -EINVAL || result == -EALREADY)
		return complain("nothing is running");
	return result < 0 ? complain("cannot stop: %s", strerror(-result)) :
			    EXIT_FINE;
}

static int flush_run(int argc, char **argv)
{
	const char *provider = NULL;
	struct tb_device *device;
	uint32_t number;
	int option, cpu = -1, result;

	while ((option = next_option(&cmd_flush, "", argc, argv)) >= 0) {
		if (option == 'p') {
			provider = optarg;
			continue;
		}
		if (option != 'C')
			return show_help(&cmd_flush, option);
		if (parse_u32(optarg, 0, 65535, &number))
			return misused(&cmd_flush, "'%s' is not a CPU number",
				       optarg);
		cpu = (int)number;
	}
	if (optind < argc)
		return misused(&cmd_flush, "'%s' is too much", argv[optind]);
	device = open_device(provider, 0);
	if (!device)
		return EXIT_WRONG;
	result = tb_device_flush(device, cpu);
	tb_device_close(device);
	if (result == -EINVAL && cpu >= 0)
		return complain("there is no CPU %d, or it is not recorded on", cpu);
	if (result == -ETIMEDOUT)
		return complain("a program has not answered within a second: the reader lacks events that the program has not handed over; it has all others");
	return result < 0 ? complain("cannot flush: %s", strerror(-result)) :
			    EXIT_FINE;
}

static int enable_with(int argc, char **argv, struct choice *choice)
{
	const char *provider = NULL;
	struct tb_device *device;
	int option, status;
	bool word = false;

	while ((option = next_option(&cmd_enable, "-", argc, argv)) >= 0) {
		/* words without an option (1) are events, too; one after another they are a list */
		choice->options -= word && option == 1;
		word = option == 1;
		status = choice_option(&cmd_enable, option == 1 ? 'e' : option,
				       optarg, choice);
		if (status < 0)
			return EXIT_USAGE;
		if (status)
			continue;
		if (option == 'p')
			provider = optarg;
		else
			return show_help(&cmd_enable, option);
	}
	for (; optind < argc; optind++)
		if (choice_add(&cmd_enable, choice, argv[optind], false))
			return EXIT_USAGE;
	if (!choice->count)
		return misused(&cmd_enable, "name the events to enable");
	device = open_device(provider, 0);
	status = device ? choice_enable(device, choice) : EXIT_WRONG;
	tb_device_close(device);
	return status;
}

static int enable_run(int argc, char **argv)
{
	return run_with_choice(argc, argv, enable_with);
}

/* Has the choice names of events only, without filters, sampling, stacks ...? */
/* Does @choice leave out categories of programs? */
static bool leaves_out_users(const struct choice *choice)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (choice->items[i].users && choice->items[i].exclude)
			return true;
	return false;
}

static bool has_only_names(const struct choice *choice)
{
	const struct item *item;
	size_t i;

	for (i = 0; i < choice->count; i++) {
		item = &choice->items[i];
		if (item->flags || item->sample || item->rate || item->form ||
		    item->nr_counters || item->calls)
			return false;
	}
	return true;
}

static int disable_with(int argc, char **argv, struct choice *choice)
{
	const char *provider = NULL;
	struct tb_device *device;
	int option, status;

	while ((option = next_option(&cmd_disable, "", argc, argv)) >= 0) {
		if (option == 'p')
			provider = optarg;
		else if (option != 'e')
			return show_help(&cmd_disable, option);
		else if (choice_add(&cmd_disable, choice, optarg, false))
			return EXIT_USAGE;
	}
	for (; optind < argc; optind++)
		if (choice_add(&cmd_disable, choice, argv[optind], false))
			return EXIT_USAGE;
	if (!choice->count)
		return misused(&cmd_disable, "name the events to disable");
	if (!has_only_names(choice))
		return misused(&cmd_disable, "give only the names of events; 'tracebuf enable' changes what is recorded with an event");
	if (leaves_out_users(choice))
		return misused(&cmd_disable, "name the categories to disable, without '!'");
	device = open_device(provider, 0);
	status = device ? choice_disable(device, choice) : EXIT_WRONG;
	tb_device_close(device);
	return status;
}

static int disable_run(int argc, char **argv)
{
	return run_with_choice(argc, argv, disable_with);
}

/* If the recording runs, stop it; complain unless @stop; EXIT_* */
static int save_stop(struct tb_device *device, const struct tb_query *query,
		     const struct history *history, bool stop)
{
	char text[64];
	int result;

	if (query->state != TB_STATE_RUNNING)
		return EXIT_FINE;
	if (!stop)
		return complain("the recording is running: '%s' first, or save with --stop",
				stop_command(device, text));
	if (history_recorder(history) > 0)
		return history_stop(history);
	result = tb_device_stop(device);
	return result < 0 ? complain("cannot stop: %s", strerror(-result)) : EXIT_FINE;
}

/* Map the buffers, and check that they or @parts have events.  @some_read: out: other files may
 * have earlier events of this recording.  EXIT_* */
static int save_possible(struct tb_device *device, const struct tb_query *query,
			 const struct history_parts *parts, bool *some_read)
{
	struct tb_stats sum;
	int result;

	if (query->state == TB_STATE_IDLE)
		return parts->count ? EXIT_FINE :
		       complain("nothing has been recorded yet: 'tracebuf start' or 'tracebuf record' starts a recording");
	result = tb_device_map(device, NULL, NULL);
	if (result < 0)
		return complain("cannot map the buffers: %s", strerror(-result));
	result = read_stats(device, query->nr_cpus, NULL, &sum);
	if (result < 0)
		return complain("cannot read the statistics: %s", strerror(-result));
	/* do not replace an output file that may already have these events */
	if (!sum.pending && sum.delivered && !parts->count)
		return complain("there are no events in the buffers: they have been read before");
	*some_read = sum.delivered && !parts->count;
	return EXIT_FINE;
}

static int save_write(struct tb_device *device, const struct tb_query *query,
		      const struct history_parts *parts, bool other_boot, bool some_read,
		      const char *output)
{
	struct tb_stats sum;
	struct output_file out;
	int result;

	/* after opening: Ctrl-C must interrupt open() while a FIFO has no reader */
	if (output_file_open(&out, output) || signals_hold())
		return EXIT_WRONG;
	if (some_read && output_file_has_data(&out)) {
		output_file_close(&out);
		return complain("%s may have earlier events of this recording: name another file",
				output);
	}
	out.keep = true;
	out.other_boot = other_boot;
	result = history_write(parts, &out);
	/* blocks that a killed recorder has left in the buffers, and the totals */
	if (!result && query->state != TB_STATE_IDLE)
		result = output_file_drain(&out, device);
	if (output_file_close(&out)) {
		if (!read_stats(device, query->nr_cpus, NULL, &sum) && sum.pending)
			note("%llu event%s left in the buffers: save them to another file; 'cat' joins both files into one trace",
			     (unsigned long long)sum.pending, plural(sum.pending));
		return EXIT_WRONG;
	}
	if (result == -EBUSY)
		return complain("another program is reading the buffers");
	if (result < 0)
		return complain("cannot read the buffers: %s", strerror(-result));
	note("%s: %.2f MB", out.name, (double)out.bytes / 1e6);
	if (!out.rolling)
		return complain("there were no events in the buffers");
	return EXIT_FINE;
}

int save_device(struct tb_device *device, const char *provider, const char *output, bool stop)
{
	struct history_parts parts;
	struct history history;
	bool some_read = false;
	struct tb_query query;
	int result, status;

	result = tb_device_query(device, &query);
	if (result < 0)
		return complain("cannot read the state: %s", strerror(-result));
	if (history_find(&history, HISTORY_FOLDER, provider))
		return complain("'%s' is not the name of a provider", provider);
	if (save_stop(device, &query, &history, stop))
		return EXIT_WRONG;
	warn_stopped(&query);
	result = history_open(&history, false, &parts);
	if (result == -EACCES)
		note("%s belongs to another user: the file has only the events in the buffers",
		     history.folder);
	else if (result)
		return complain("%s: cannot be read: %s", history.folder, strerror(-result));
	status = save_possible(device, &query, &parts, &some_read);
	/* addresses and cgroups of another boot have no names in this kernel */
	if (status == EXIT_FINE)
		status = save_write(device, &query, &parts,
				    provider && is_previous(device, provider), some_read, output);
	history_close(&parts);
	return status;
}

static int save_run(int argc, char **argv)
{
	const char *output = DEFAULT_FILE, *provider = NULL;
	struct tb_device *device;
	bool stop = false;
	int status;

	status = output_options(&cmd_save, argc, argv, &provider, &output, &stop);
	if (status >= 0)
		return status;
	device = open_device(provider, TB_DEVICE_NONBLOCK);
	status = device ? save_device(device, provider, output, stop) : EXIT_WRONG;
	tb_device_close(device);
	return status;
}
