/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The handlers of new and freed events.  Caller: main.c sets the hooks of events/catalog.c, which
 * calls these functions in process context.
 */
#ifndef TB_SELECT_HANDLER_H
#define TB_SELECT_HANDLER_H

#include "probe/event.h"

int tb_handlers_new_event(struct tb_event *e);
void tb_handlers_free(struct tb_event *e);

#endif /* TB_SELECT_HANDLER_H */
