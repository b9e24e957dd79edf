/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The handlers of new events.  Caller: events/catalog.c, by the hook that main.c sets, in process
 * context.
 */
#ifndef TB_SELECT_HANDLER_H
#define TB_SELECT_HANDLER_H

#include "probe/event.h"

int tb_handlers_new_event(struct tb_event *e);

#endif /* TB_SELECT_HANDLER_H */
