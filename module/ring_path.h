/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rare ways through the ring, named, so that a test can tell that it took them.
 *
 * TB_PATH() is nothing unless TB_RING_PATHS is defined, which only tests do: then
 * tb_ring_path(), theirs, is called at each of these places.
 */
#ifndef TB_RING_PATH_H
#define TB_RING_PATH_H

#define TB_RING_PATH_LIST(X)						\
	X(RETRY_RESERVE, "retry-reserve", "a nested context recorded first: reserve again") \
	X(RETRY_CLOSE, "retry-close", "a nested context recorded or closed first") \
	X(RETRY_OPEN, "retry-open", "a nested context opened a buffer first") \
	X(HELP_LEAVE, "help-leave", "left a buffer for an opener that was interrupted") \
	X(HELP_CLAIM, "help-claim", "used the claim of an interrupted context") \
	X(CLAIM_RENEW, "claim-renew", "used a claim left from an earlier block") \
	X(CLAIM_RACED, "claim-raced", "the reader or a nested context changed the buffer first") \
	X(CLAIM_STALE, "claim-stale", "head moved before an overwriting") \
	X(CLAIM_AGAIN, "claim-again", "no buffer found, and head has moved") \
	X(CLAIM_PASS_HELD, "claim-pass-held", "passed by a buffer the reader has") \
	X(CLAIM_PASS_WRITING, "claim-pass-writing", "passed by a buffer not complete") \
	X(CLAIM_NONE, "claim-none", "no buffer to be had") \
	X(CLAIM_FULL, "claim-full", "none given back since the last time") \
	X(OVERWRITE, "overwrite", "a block was overwritten") \
	X(COMPLETE_OUTER, "complete-outer", "an interrupted context completed a buffer left meanwhile") \
	X(OPEN_DROPS, "open-drops", "nested contexts dropped events before the header") \
	X(TIME, "time", "the clock's upper half moved") \
	X(ACQUIRE_EARLIER, "acquire-earlier", "the reader waits for an earlier block") \
	X(ACQUIRE_RESCAN, "acquire-rescan", "the reader found an earlier block at the second look") \
	X(ACQUIRE_UNSETTLED, "acquire-unsettled", "an overwriting was under way") \
	X(ACQUIRE_LOST, "acquire-lost", "a writer claimed the block first") \
	X(TELL_LATER, "tell-later", "the next block tells the rest of what was overwritten") \
	X(TELL_AGAIN, "tell-again", "a block that was put back")

#define TB_RING_PATH_ENUM(id, name, what)	TB_PATH_##id,
enum tb_ring_path {
	TB_RING_PATH_LIST(TB_RING_PATH_ENUM)
	TB_PATHS
};

#undef TB_RING_PATH_ENUM

#ifdef TB_RING_PATHS
void tb_ring_path(enum tb_ring_path path);
#define TB_PATH(id)		tb_ring_path(TB_PATH_##id)
#define TB_PATH_IF(id, cond)						\
	do {								\
		if (cond)						\
			TB_PATH(id);					\
	} while (0)
#else
#define TB_PATH(id)		do { } while (0)
#define TB_PATH_IF(id, cond)	do { } while (0)
#endif

#endif /* TB_RING_PATH_H */
