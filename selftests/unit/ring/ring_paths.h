/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the ring's rare paths (module/ring/paths.h) in the output of its tests. */
#ifndef RING_PATHS_H
#define RING_PATHS_H

#include "../../../module/ring/paths.h"

static const char *const ring_path_names[TB_PATHS] = {
	[TB_PATH_RETRY_RESERVE] = "retry reserve",
	[TB_PATH_RETRY_CLOSE] = "retry close",
	[TB_PATH_RETRY_OPEN] = "retry open",
	[TB_PATH_HELP_LEAVE] = "help leave",
	[TB_PATH_HELP_CLAIM] = "help claim",
	[TB_PATH_CLAIM_RENEW] = "claim renewed",
	[TB_PATH_CLAIM_RACED] = "claim raced",
	[TB_PATH_CLAIM_STALE] = "claim stale",
	[TB_PATH_CLAIM_AGAIN] = "claim again",
	[TB_PATH_CLAIM_PASS_HELD] = "claim passed a held one",
	[TB_PATH_CLAIM_PASS_WRITING] = "claim passed an incomplete one",
	[TB_PATH_CLAIM_NONE] = "claim found none",
	[TB_PATH_CLAIM_FULL] = "claim remembered full",
	[TB_PATH_OVERWRITE] = "overwrite",
	[TB_PATH_OVERWRITE_LATER] = "overwrite a later block",
	[TB_PATH_COMPLETE_OUTER] = "complete a block left",
	[TB_PATH_COMPLETE_DROPS] = "drops while a block is open",
	[TB_PATH_OPEN_DROPS] = "drops while opening",
	[TB_PATH_TIME] = "TIME element",
	[TB_PATH_ACQUIRE_EARLIER] = "acquire waits for an earlier one",
	[TB_PATH_ACQUIRE_RESCAN] = "acquire scans again",
	[TB_PATH_ACQUIRE_UNSETTLED] = "acquire during an overwriting",
	[TB_PATH_ACQUIRE_LOST] = "acquire lost to a writer",
	[TB_PATH_TELL_LATER] = "reported by the next block",
	[TB_PATH_TELL_SAME] = "the same report again",
	[TB_PATH_TELL_AGAIN] = "reported again",
};

#endif /* RING_PATHS_H */
