// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the probes of tracebuf_events.ko call: the slow paths of what record.h has inline.
 * Here and not beside the functions because ring.c is compiled in user space, too.
 */
#include <linux/export.h>

#include "ring.h"
#include "stage.h"

EXPORT_SYMBOL_GPL(tb_ring_reserve_slow);
EXPORT_SYMBOL_GPL(tb_ring_simple_slow);
EXPORT_SYMBOL_GPL(tb_ring_simple_last);
EXPORT_SYMBOL_GPL(tb_ring_mark);
EXPORT_SYMBOL_GPL(tb_ring_complete);
EXPORT_SYMBOL_GPL(tb_stage_begin);
