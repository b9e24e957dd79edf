/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rare ways through the ring, named, so that a test can tell that it took them.
 *
 * tb_ring_path() does nothing unless TB_RING_PATHS is defined: then it is the test's.
 */
#ifndef TB_RING_PATH_H
#define TB_RING_PATH_H

enum tb_ring_path {
	TB_PATH_RETRY_RESERVE,		/* a nested context recorded first: reserve again */
	TB_PATH_RETRY_CLOSE,		/* a nested context recorded or closed first */
	TB_PATH_RETRY_OPEN,		/* a nested context opened a buffer first */
	TB_PATH_HELP_LEAVE,		/* left a buffer for an opener that was interrupted */
	TB_PATH_HELP_CLAIM,		/* used the claim of an interrupted context */
	TB_PATH_CLAIM_RENEW,		/* used a claim left from an earlier block */
	TB_PATH_CLAIM_RACED,		/* someone else changed the buffer first */
	TB_PATH_CLAIM_STALE,		/* head moved before a claim */
	TB_PATH_CLAIM_AGAIN,		/* no buffer found, and head has moved */
	TB_PATH_CLAIM_PASS_HELD,	/* passed by a buffer the reader has */
	TB_PATH_CLAIM_PASS_WRITING,	/* passed by a buffer not complete */
	TB_PATH_CLAIM_NONE,		/* no buffer to be had */
	TB_PATH_CLAIM_FULL,		/* none given back since the last time */
	TB_PATH_OVERWRITE,		/* a block was overwritten */
	TB_PATH_OVERWRITE_LATER,	/* but not one that comes before it */
	TB_PATH_COMPLETE_OUTER,		/* the last commit to a buffer left meanwhile */
	TB_PATH_COMPLETE_DROPS,		/* events were dropped while the block was open */
	TB_PATH_OPEN_DROPS,		/* nested contexts dropped events before the header */
	TB_PATH_TIME,			/* the clock's upper half moved */
	TB_PATH_ACQUIRE_EARLIER,	/* the reader waits for an earlier block */
	TB_PATH_ACQUIRE_RESCAN,		/* the reader found an earlier block at the second look */
	TB_PATH_ACQUIRE_UNSETTLED,	/* an overwriting was under way */
	TB_PATH_ACQUIRE_LOST,		/* a writer claimed the block first */
	TB_PATH_TELL_LATER,		/* the next block tells the rest of what was overwritten */
	TB_PATH_TELL_SAME,		/* a block put back when later ones were delivered */
	TB_PATH_TELL_AGAIN,		/* a block that was put back */
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

#endif /* TB_RING_PATH_H */
