// SPDX-License-Identifier: GPL-2.0-only
/* The events of <trace/events/timer.h>. */
#include <linux/tick.h>

#define TB_UNIT_NAME	timer
#define TB_HEADER	"trace/events/timer.h"
#define TB_EXTRA	"timer_extra.h"
#include "stage.h"
