// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf stream - a recording as a stream of blocks, each behind all that
 * is needed to read it: cut anywhere between two blocks it is a trace.
 *
 * That is what record does, too; here the stream goes to standard output
 * unless told otherwise, and can be saved through channels.
 */
#include "cmd.h"
#include "tool/command/command.h"
#include "tool/record/record.h"

static int stream_run(int argc, char **argv)
{
	return record_main(&cmd_stream, "-", true, argc, argv);
}

const struct command cmd_stream = {
	.name  = "stream",
	.run   = stream_run,
	.brief = "record into a pipe or file that may end anywhere",
	.help  =
	"usage: tracebuf stream [--fifo] [OPTIONS] [-- COMMAND ARGUMENTS...]\n"
	"\n"
	"Records as 'tracebuf record' does, but to standard output: blocks as they come,\n"
	"each after what is needed to read it.  Wherever the stream breaks off (kill -9,\n"
	"power loss, a closed pipe), what is there can be read to the last whole block.\n"
	"\n"
	"      --fifo            through the save/saved channel of each CPU: blocks are\n"
	"                        offered one at a time, and given back when they have\n"
	"                        been written; streaming mode only\n"
	RECORD_HELP("standard output"),
};
