/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the rare paths through the ring, so that a test can check that the ring took them.
 * tb_ring_path() does nothing, unless TB_RING_PATHS is defined: then the test defines the function.
 */
#ifndef TB_RING_PATHS_H
#define TB_RING_PATHS_H

enum tb_ring_path {
	TB_PATH_RETRY_RESERVE,		/* a nested context recorded first: reserve again */
	TB_PATH_RETRY_CLOSE,		/* a nested context recorded or closed first */
	TB_PATH_RETRY_OPEN,		/* a nested context opened a buffer first */
	TB_PATH_HELP_LEAVE,		/* set WRITING for an interrupted opener */
	TB_PATH_HELP_CLAIM,		/* used the claim of an interrupted context */
	TB_PATH_CLAIM_RENEW,		/* used a claim left from an earlier block */
	TB_PATH_CLAIM_RACED,		/* another context or the reader changed the buffer first */
	TB_PATH_CLAIM_STALE,		/* head moved before a claim */
	TB_PATH_CLAIM_AGAIN,		/* no buffer found, and head has moved */
	TB_PATH_CLAIM_PASS_HELD,	/* passed by a buffer that the reader holds */
	TB_PATH_CLAIM_PASS_WRITING,	/* passed by an incomplete buffer */
	TB_PATH_CLAIM_NONE,		/* found no buffer */
	TB_PATH_CLAIM_FULL,		/* the reader released no buffer since the last walk */
	TB_PATH_OVERWRITE,		/* a block was overwritten */
	TB_PATH_OVERWRITE_LATER,	/* a block was overwritten before an earlier one */
	TB_PATH_COMPLETE_OUTER,		/* completed a buffer that head had left already */
	TB_PATH_COMPLETE_DROPS,		/* events were dropped while the block was open */
	TB_PATH_OPEN_DROPS,		/* nested contexts dropped events before the header */
	TB_PATH_TIME,			/* the clock's upper half moved */
	TB_PATH_ACQUIRE_EARLIER,	/* the reader waits for an earlier block */
	TB_PATH_ACQUIRE_RESCAN,		/* the reader found an earlier block at the second look */
	TB_PATH_ACQUIRE_UNSETTLED,	/* an overwriting was under way */
	TB_PATH_ACQUIRE_LOST,		/* a writer claimed the block first */
	TB_PATH_TELL_LATER,		/* the next block tells the other overwritten events */
	TB_PATH_TELL_SAME,		/* acquired again, after later blocks were delivered */
	TB_PATH_TELL_AGAIN,		/* acquired again, with the same accounts */
	TB_PATHS
};

#ifdef TB_RING_PATHS
#define TB_PATHS_COUNTED	true
void tb_ring_path(enum tb_ring_path path);
/* ring_path.c */
u64 tb_ring_path_count(enum tb_ring_path path);
#else
#define TB_PATHS_COUNTED	false
#define tb_ring_path(path)	((void)(path))
#endif

#endif /* TB_RING_PATHS_H */
