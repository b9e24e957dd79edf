// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf stream - write a recording as a stream of blocks.  All that is needed to read a block
 * comes before it, so the stream is a valid trace up to any block.
 *
 * 'tracebuf record' writes such files, too.  'stream' writes to standard output by default, and can
 * use save channels (--fifo).
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
	.brief = "record to a pipe, or to a file that may end anywhere",
	.help  =
	"usage: tracebuf stream [--fifo] [OPTIONS] [-- COMMAND ARGUMENTS...]\n"
	"\n"
	"Records as 'tracebuf record' does, but writes to standard output, and writes each\n"
	"block after all that is needed to read it. If the stream breaks off (kill -9,\n"
	"power loss, a closed pipe), it can be read up to the last whole block.\n"
	"\n"
	RECORD_HELP("standard output")
	HELP_ENDS
	RECORD_MORE_HELP
	"      --fifo            take blocks from the save channel of each CPU: one at a\n"
	"                        time, given back when it is written; streaming mode only\n",
};
