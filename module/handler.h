/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of other modules that see events before they are recorded.
 */
#ifndef TB_HANDLER_H
#define TB_HANDLER_H

#include "capture/capture.h"

static inline bool tb_handlers_any(const struct tb_event *e)
{
	return false;
}

static inline bool tb_handlers_want(const struct tb_event *e, const void *payload, u32 bytes)
{
	return true;
}

#endif /* TB_HANDLER_H */
