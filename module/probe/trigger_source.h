/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a trigger: select/arm.c makes them; when one occurs, pending.c fires the trigger.
 */
#ifndef TB_PROBE_TRIGGER_SOURCE_H
#define TB_PROBE_TRIGGER_SOURCE_H

#include "probe/event.h"

#define TB_TRIGGER_TEXT		(2 * TB_NAME_MAX + 16)

/**
 * struct tb_trigger_source - an event of a trigger
 * @probe: attached to the tracepoint; its rule has only tests
 * @text: payload of the mark that is recorded, not NUL-terminated
 * @bytes: size of @text
 */
struct tb_trigger_source {
	struct tb_probe probe;
	char text[TB_TRIGGER_TEXT];
	u32 bytes;
};

#endif /* TB_PROBE_TRIGGER_SOURCE_H */
