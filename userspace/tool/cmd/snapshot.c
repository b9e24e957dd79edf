// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf snapshot - write the events of a running circular recording to a file.
 */
#include <stddef.h>
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/device/device.h"
#include "tool/record/history.h"
#include "tool/record/snapshot.h"

static int snapshot_run(int argc, char **argv);

const struct command cmd_snapshot = {
	.name  = "snapshot",
	.run   = snapshot_run,
	.brief = "write the events of a running circular recording to a file",
	.help  =
	"usage: tracebuf snapshot [-p NAME] [-o FILE]\n"
	"\n"
	"Writes what is in the buffers of a circular recording ('tracebuf start -m\n"
	"circular') to a file. The recording goes on, and the events stay in the buffers:\n"
	"the next snapshot may have them again. Of 'tracebuf start --history' it writes what\n"
	"was kept up to now.\n"
	"\n"
	PROVIDER_HELP
	"  -o, --output FILE     write to FILE (snapshot-DATE-TIME.tbuf); '-': standard output\n"
	"  -h, --help            show this text\n",
};

static int snapshot_run(int argc, char **argv)
{
	const char *output = NULL, *provider = NULL;
	struct tb_device *device;
	char name[STAMPED_NAME];
	struct history history;
	int status;

	status = output_options(&cmd_snapshot, argc, argv, &provider, &output, NULL);
	if (status >= 0)
		return status;
	if (!output) {
		stamped_name(name);
		output = name;
	}
	if (!history_find(&history, HISTORY_FOLDER, provider) && history_recorder(&history) > 0)
		return history_snapshot(&history, output);
	device = open_device(provider, TB_DEVICE_NONBLOCK);
	status = device ? take_snapshot(device, output) : EXIT_WRONG;
	tb_device_close(device);
	return status;
}
