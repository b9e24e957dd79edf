// SPDX-License-Identifier: GPL-2.0-only
/* The events of <trace/events/syscalls.h>. */
#define TB_UNIT_NAME	raw_syscalls
#define TB_HEADER	"trace/events/syscalls.h"
#include "stage.h"
