// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choose categories of programs with the parts "user:..." of a list of events.
 */
#include <errno.h>
#include <string.h>
#include "choose.h"
#include "tool/command/command.h"

bool choice_users(const struct choice *choice)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (choice->items[i].users && !choice->items[i].exclude &&
		    !choice->items[i].optional)
			return true;
	return false;
}

static int category_failed(const struct item *item, int result)
{
	switch (-result) {
	case ENOTTY:
		return complain("this module takes nothing from programs, so 'user:%s' cannot be chosen: install module and tools of the same release",
				item->pattern);
	case ENOSPC:
		return complain("too many patterns of categories: use fewer, with * and ?");
	case EINVAL:
		return complain("'user:%s': categories have 1 to 63 characters", item->pattern);
	}
	return complain("cannot choose 'user:%s': %s", item->pattern,
			strerror(-result));
}

int choice_categories(struct tb_device *device, const struct choice *choice,
		      bool enable)
{
	const struct item *item;
	bool all;
	size_t i;
	int result;

	for (i = 0; i < choice->count; i++) {
		item = &choice->items[i];
		all = !item->users && !item->calls && !strcmp(item->pattern, "all");
		if ((!item->users && !all) || (item->exclude && !enable))
			continue;
		result = tb_device_category(device, enable && !item->exclude ?
					    TB_CATEGORY_ENABLE :
					    TB_CATEGORY_DISABLE,
					    all ? "*" : item->pattern);
		/* a module without categories is an error only if programs were named */
		if (result == -ENOTTY && (all || item->optional || item->exclude))
			continue;
		if (result < 0)
			return category_failed(item, result);
		/* all categories are disabled: also refuse events without a category */
		if (!enable && (all || !strcmp(item->pattern, "*")) && quota_close(device))
			return EXIT_WRONG;
	}
	return EXIT_FINE;
}
