/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scenarios of test_ring_weak, as those of ring_scenarios.h; the reader is on another CPU, and
 * it or the writer sees older values. The last column: how many in an execution.
 */
static const struct scenario scenarios[] = {
	/* name, buffers, overwrite, before, root, nested, reader, depth, budget, step, old */

	/* contents of a block, and room in it */
	{ "a block becomes ready, overwrite", 2, true, "7", "28", "", "ara", 0, 2, 0, 2 },
	{ "a block becomes ready, drop", 3, false, "7", "28", "", "ara", 0, 2, 0, 2 },
	{ "a block is flushed", 2, true, "83", "f1", "", "aar", 0, 2, 0, 2 },
	{ "simple events, overwrite", 2, true, "1111111", "11", "8", "ar", 1, 2, 0, 1 },
	{ "a block is given back, overwrite", 2, true, "88a", "8", "", "ra", 0, 2, 0, 2 },
	{ "a block is given back, drop", 2, false, "88a", "8", "", "ra", 0, 2, 0, 2 },
	{ "a block is put back", 2, true, "88a", "8", "", "ua", 0, 2, 0, 2 },
	{ "two are put back", 3, true, "888aa", "88", "", "uu", 0, 2, 0, 2 },
	{ "the last one is given back, the writer goes on", 2, false, "88aa", "81", "", "rr", 0, 2,
	  0, 2 },

	/* a writer that looks again */
	{ "given back while it is full", 2, false, "88a8", "81", "", "r", 0, 2, 0, 2 },
	{ "given back while it is full, twice", 3, false, "888aa8", "88", "", "rr", 0, 2, 0, 2 },

	/* order of blocks */
	{ "one is begun, and the next one complete", 3, false, "", "i8I", "", "aa", 0, 2, 0, 2 },
	{ "one is incomplete", 3, false, "i8", "I8", "", "aa", 0, 2, 0, 2 },
	{ "one is opened and completed in between", 3, true, "8", "38", "8", "aa", 1, 2, 0, 1 },

	/* the total of overwritten events */
	{ "overwriting", 2, true, "88", "8", "", "ara", 0, 2, 0, 2 },
	{ "overwriting, three buffers", 3, true, "888", "8", "", "ara", 0, 2, 0, 2 },
	{ "overwriting with one held", 3, true, "888a", "8", "", "ra", 0, 2, 0, 2 },
	{ "overwriting and a later one", 4, true, "88888i8888I", "8", "", "a", 0, 1, 0,
	  4 },
	{ "overwriting and statistics", 2, true, "87", "28", "", "s", 0, 2, 0, 2 },
	{ "statistics, drop", 3, false, "7", "28", "", "sars", 0, 2, 0, 1 },

	/* the end of the ring after the last block */
	{ "dropping", 1, false, "8", "81", "", "t", 0, 2, 0, 2 },
	{ "dropping when there was room", 2, false, "8", "888", "", "t", 0, 2, 0, 2 },
	{ "dropping, and the writer goes on", 2, false, "88a8r", "7", "", "t", 0, 3, 0, 1 },
	{ "overwriting up to the last block", 2, true, "88", "8", "", "t", 0, 2, 0, 2 },

	/* blocks that are being written */
	{ "looking at events", 2, false, "1", "13", "1", "m", 1, 2, 0, 2 },
	{ "looking at a flush", 2, false, "1", "f", "1", "m", 1, 2, 0, 2 },
	{ "looking at a block that is opened", 2, false, "8", "31", "", "m", 0, 2, 0, 2 },
	{ "looking at the clock's upper half", 2, false, "1", "e1e3", "", "m", 0, 2, 0, 2 },
};
