/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attach functions of other modules that see events before they are recorded.  Process context.
 */
#ifndef TB_SELECT_HANDLER_H
#define TB_SELECT_HANDLER_H

#include "probe/event.h"

int tb_handlers_new_event(struct tb_event *e);
void tb_handlers_free(struct tb_event *e);

#endif /* TB_SELECT_HANDLER_H */
