// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blocks of a trace, from their headers alone.
 *
 *	make -C userspace samples
 *	build/user/samples/read/blocks trace.tbuf
 */
#include <inttypes.h>
#include <stdio.h>
#include "tracebuf.h"

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "?", "durable", "rolling", "note" };
	const struct tb_block *block;
	struct tb_cursor *cursor;
	struct tb_trace *trace;
	struct tb_error error;
	uint64_t offset;

	if (argc != 2) {
		fprintf(stderr, "usage: blocks FILE\n");
		return 2;
	}
	/* what is in the blocks is of no concern: opening takes no longer for it */
	if (tb_trace_open_with(argv[1], TB_OPEN_HEADERS, &trace, &error) < 0) {
		fprintf(stderr, "blocks: %s: %s\n", argv[1], error.text);
		return 1;
	}
	if (tb_cursor_open(trace, &cursor) < 0)
		return 1;
	while (tb_cursor_next_block(cursor, &block, &offset) == 1)
		printf("%10" PRIu64 " %-7s cpu %u number %" PRIu64 ": %u events, %" PRIu64 " us\n",
		       offset, kinds[block->kind], block->cpu, (uint64_t)block->sequence,
		       block->events,
		       (tb_trace_ns(trace, block->time_end, TB_TIME_MONOTONIC) -
			tb_trace_ns(trace, block->time_start, TB_TIME_MONOTONIC)) / 1000);
	tb_cursor_close(cursor);
	if (tb_trace_fault(trace))
		fprintf(stderr, "blocks: %s: at byte %" PRIu64 ": %s\n", argv[1],
			tb_trace_fault(trace)->offset, tb_trace_fault(trace)->text);
	tb_trace_close(trace);
	return 0;
}
