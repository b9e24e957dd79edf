// SPDX-License-Identifier: GPL-2.0-only
/*
 * Categories of programs, as the parts "user:..." of a list of events choose them: what to
 * record of programs that write.
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
		return complain("these are too many patterns of categories: fewer, with * and ?, do the same");
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
		/* who did not ask for them by name can do without */
		if (result == -ENOTTY && (all || item->optional || item->exclude))
			continue;
		if (result < 0)
			return category_failed(item, result);
		/* none of any program: nor what has no category */
		if (!enable && (all || !strcmp(item->pattern, "*")) && quota_close(device))
			return EXIT_WRONG;
	}
	return EXIT_FINE;
}
