// SPDX-License-Identifier: GPL-2.0-only
/* The events of <trace/events/signal.h>. */
#define TB_UNIT_NAME	signal
#define TB_HEADER	"trace/events/signal.h"
#include "stage.h"
