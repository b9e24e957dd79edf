// SPDX-License-Identifier: GPL-2.0-only
/* The events of <trace/events/task.h>. */
#define TB_UNIT_NAME	task
#define TB_HEADER	"trace/events/task.h"
#include "stage.h"
