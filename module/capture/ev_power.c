// SPDX-License-Identifier: GPL-2.0-only
/* The events of <trace/events/power.h>. */
#define TB_UNIT_NAME	power
#define TB_HEADER	"trace/events/power.h"
#define TB_EXTRA	"power_extra.h"
#include "stage.h"
