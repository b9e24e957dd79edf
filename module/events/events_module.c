// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf_events.ko: the events of all headers that are not in tracebuf.ko.
 *
 * Most of these events are never recorded, so users can leave this module out.  Runs at module init
 * and exit, after tracebuf.ko is loaded.
 */
#include <linux/module.h>

#include "catalog.h"

/* one byte for each unit, so that sizeof() is the number of units */
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
