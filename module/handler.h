/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of other modules that see events before they are recorded.
 */
#ifndef TB_HANDLER_H
#define TB_HANDLER_H

#include "capture/capture.h"

struct tb_handlers;

/* Does any handler want to see it?  Any context. */
static inline bool tb_handlers_any(const struct tb_event *e)
{
	return READ_ONCE(e->handlers);
}

bool tb_handlers_want(const struct tb_probe *p, bool fast, const void *payload, u32 bytes);
int tb_handlers_new_event(struct tb_event *e);
void tb_handlers_free(struct tb_event *e);

#endif /* TB_HANDLER_H */
