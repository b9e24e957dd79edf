// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf_events.ko: the events of all headers that tracebuf.ko has not.
 *
 * They are many, and most of them nobody ever records.  So they are a module
 * of their own, that comes after tracebuf.ko and can be left out.
 */
#include <linux/module.h>

#include "catalog.h"

/* as many bytes as there are units */
#define TB_UNIT(name)	u8 unit_##name
struct tb_unit_count {
#include "units/units_events.h"
};

#undef TB_UNIT
#define TB_UNIT(name)	TB_UNIT_INIT(name)
#include "units/units_events.h"
#undef TB_UNIT

static struct tb_unit tb_event_units[sizeof(struct tb_unit_count)];

static int __init tb_units_init(void)
{
	struct tb_unit *unit;

	for (unit = tb_event_units; unit < tb_event_units + ARRAY_SIZE(tb_event_units); unit++) {
		INIT_LIST_HEAD(&unit->events);
		INIT_LIST_HEAD(&unit->evals);
	}
	unit = tb_event_units;
#define TB_UNIT(name)	tb_unit_init_##name(unit++)
#include "units/units_events.h"
#undef TB_UNIT

	return tb_units_register(tb_event_units, ARRAY_SIZE(tb_event_units), THIS_MODULE);
}
module_init(tb_units_init);

static void __exit tb_units_exit(void)
{
	tb_units_unregister(tb_event_units, ARRAY_SIZE(tb_event_units));
}
module_exit(tb_units_exit);

MODULE_DESCRIPTION("More events for tracebuf");
MODULE_LICENSE("GPL");
