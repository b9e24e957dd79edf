// SPDX-License-Identifier: GPL-2.0-only
/* The events of <trace/events/irq.h>. */
#define TB_UNIT_NAME	irq
#define TB_HEADER	"trace/events/irq.h"
#include "stage.h"
