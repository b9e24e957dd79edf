/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scenarios of test_ring_explore.c.  Rings of 16-element buffers: header
 * and gap slot take 8, so an event of 8 fills a buffer.
 */
static const struct scenario scenarios[] = {
	/* name, buffers, overwrite, before, root, nested, reader, depth, budget, step */

	/* writers alone */
	{ "first event, overwrite", 2, true, "", "1", "18", NULL, 2, 3, 0 },
	{ "first event, drop", 2, false, "", "1", "18f", NULL, 2, 2, 0 },
	{ "event that fits, overwrite", 2, true, "1", "1", "178f", NULL, 2, 2, 0 },
	{ "event that just fits, drop", 3, false, "7", "1", "138f", NULL, 2, 2, 0 },
	{ "switch with padding, overwrite", 2, true, "85", "5", "148f", NULL, 2, 2, 0 },
	{ "switch with padding, drop", 2, false, "5", "5", "148f", NULL, 2, 2, 0 },
	{ "switch, three deep, overwrite", 2, true, "85", "5", "8", NULL, 3, 3, 0 },
	{ "switch, three deep, drop", 3, false, "5", "5", "8", NULL, 3, 3, 0 },
	{ "switch, three buffers, overwrite", 3, true, "888", "8", "18f", NULL, 2, 2, 0 },
	{ "switch, four buffers, overwrite", 4, true, "8888", "8", "8", NULL, 3, 3, 0 },
	{ "full, drop", 2, false, "88", "11", "19", NULL, 2, 2, 0 },
	{ "two events, overwrite", 3, true, "86", "33", "8", NULL, 1, 3, 0 },
	{ "flush, overwrite", 2, true, "83", "f1", "18f", NULL, 2, 2, 0 },
	{ "oversize", 2, true, "8", "9", "189", NULL, 2, 2, 0 },
	{ "upper half of the clock, overwrite", 2, true, "83e", "2", "18e", NULL, 2, 2, 0 },
	{ "upper half of the clock, every time", 3, true, "83", "21", "18", NULL, 2, 2,
	  0x90000000ull },
	{ "buffers held, overwrite", 3, true, "88aa3", "6", "18f", NULL, 2, 2, 0 },
	{ "one held, overwrite", 3, true, "88a3", "6", "18f", NULL, 2, 2, 0 },

	/* and the reader */
	{ "reader, overwrite", 2, true, "88", "8", "8", "ar", 1, 3, 0 },
	{ "reader, three buffers, overwrite", 3, true, "888", "8", "8", "ar", 1, 3, 0 },
	{ "reader holds, overwrite", 3, true, "888a", "8", "8", "ra", 1, 3, 0 },
	{ "reader with a gap before, overwrite", 3, true, "88888", "8", "8", "aa", 1, 3, 0 },
	{ "reader, drop", 2, false, "88", "1", "18", "ar", 1, 3, 0 },
	{ "reader, three buffers, drop", 3, false, "888a", "11", "1", "ra", 1, 3, 0 },
	{ "reader gives back while it is full, drop", 2, false, "88a1", "18", "8", "rar", 1, 3, 0 },
	{ "reader, commits outstanding", 3, true, "83", "3", "58", "ara", 2, 3, 0 },
	{ "reader puts back, overwrite", 3, true, "888", "8", "8", "au", 1, 3, 0 },
	{ "reader puts two back, overwrite", 3, true, "8888aa", "8", "8", "uua", 1, 3, 0 },
	{ "reader puts back, drop", 2, false, "88a", "1", "1", "uar", 1, 3, 0 },
	{ "reader gives back out of order", 3, true, "888aa", "8", "8", "lr", 1, 3, 0 },
	{ "reader while the writer writes on", 2, true, "8", "1188", "", "ara", 0, 3, 0 },
	{ "reader while the writer writes on, drop", 2, false, "8", "1188", "", "arar", 0, 3, 0 },
};
