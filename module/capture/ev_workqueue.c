// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of <trace/events/workqueue.h>.
 *
 * workqueue_queue_work looks into structures that are private to the kernel's
 * workqueue.c; workqueue_extra.h has what can be said without them.
 */
#define TB_UNIT_NAME	workqueue
#define TB_HEADER	"trace/events/workqueue.h"
#define TB_EXTRA	"workqueue_extra.h"
#define TB_SKIP_workqueue_queue_work 1
#include "stage.h"
