// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of <trace/events/sched.h>.
 *
 * Those of NUMA balancing ask for the NUMA group of a thread, by a function
 * that is not for modules; sched_extra.h has the rest of them.
 */
#define TB_UNIT_NAME	sched
#define TB_HEADER	"trace/events/sched.h"
#define TB_EXTRA	"sched_extra.h"
#define TB_SKIP_sched_move_numa 1
#define TB_SKIP_sched_numa_pair_template 1
#include "stage.h"
