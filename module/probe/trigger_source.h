/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a trigger: select/arm.c makes them, trigger.c gets them when they occur.
 */
#ifndef TB_TRIGGER_SOURCE_H
#define TB_TRIGGER_SOURCE_H

#include "probe/event.h"

#define TB_TRIGGER_TEXT		(2 * TB_NAME_MAX + 16)

/**
 * struct tb_trigger_source - an event that is to trigger
 * @probe: attached to its tracepoint; its rule has nothing but tests
 * @text: the mark, not NUL-terminated
 * @bytes: of @text
 */
struct tb_trigger_source {
	struct tb_probe probe;
	char text[TB_TRIGGER_TEXT];
	u32 bytes;
};

#endif /* TB_TRIGGER_SOURCE_H */
