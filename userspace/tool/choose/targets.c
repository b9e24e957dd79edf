// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the events that a choice means, and the part of the list that chooses each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "choose.h"
#include "targets.h"
#include "tool/command/command.h"
#include "lib/array.h"

static const char raw_syscalls[] = "raw_syscalls";

void targets_free(struct targets *targets)
{
	size_t i;

	for (i = 0; i < targets->count; i++)
		free(targets->list[i].calls);
	free(targets->list);
}

int targets_read(struct tb_device *device, struct targets *targets)
{
	struct target *target;
	size_t room = 0;
	uint32_t index;
	int result;

	memset(targets, 0, sizeof(*targets));
	for (index = 0; ; index++) {
		if (tb_array_grow(&targets->list, &room, targets->count, sizeof(*targets->list)))
			return complain("out of memory");
		target = &targets->list[targets->count];
		memset(target, 0, sizeof(*target));
		result = tb_device_event(device, index, &target->info);
		if (result == -ENOENT)
			return EXIT_FINE;
		if (result < 0)
			return complain("cannot list the events: %s",
					strerror(-result));
		target->index = index;
		targets->count += !(target->info.flags & TB_INFO_GONE);
	}
}

const unsigned char *call_bits(const struct syscall_set *calls,
			       const struct tb_event_info *info)
{
	if (!calls || strcmp(info->system, raw_syscalls))
		return NULL;
	if (!strcmp(info->name, "sys_enter"))
		return calls->enter;
	return strcmp(info->name, "sys_exit") ? NULL : calls->leave;
}

/*
 * Events of modules that are not loaded are recorded once the module is loaded.  Only their names
 * choose them, not patterns: most of these modules are never loaded.
 */
static bool item_matches(const struct item *item,
			 const struct tb_event_info *info)
{
	const unsigned char *bits = call_bits(item->calls, info);

	if (info->flags & TB_INFO_ABSENT && !item->exclude &&
	    (strpbrk(item->pattern, "*?[") || !strcmp(item->pattern, "all")))
		return false;
	if (item->calls)
		return bits && syscall_set_size(bits);
	return pattern_match(item->pattern, info->system, info->name);
}

/* Apply a matching part: it replaces earlier parts, but sets of system calls add up */
static int target_choose(struct target *target, const struct item *item)
{
	bool some = target->item && target->calls;

	if (!item->calls) {
		free(target->calls);
		target->calls = NULL;
		target->item = item->exclude ? NULL : item;
		return 0;
	}
	if (item->exclude && !target->item)
		return 0;
	if (!target->calls)
		target->calls = calloc(1, sizeof(*target->calls));
	if (!target->calls)
		return -ENOMEM;
	if (item->exclude) {
		if (!some)
			syscall_set_all(target->calls);
		syscall_set_remove(target->calls, item->calls);
		return 0;
	}
	if (target->item && !some)
		syscall_set_all(target->calls);
	syscall_set_join(target->calls, item->calls);
	target->item = item;
	return 0;
}

static int no_match(struct tb_device *device, const struct targets *targets,
		    const struct item *item)
{
	const char *colon = strchr(item->pattern, ':');
	size_t i;

	if (item->calls)
		return complain("this kernel lacks the events raw_syscalls:sys_enter and sys_exit, with which system calls are recorded");
	unknown_event(device, item->pattern);
	for (i = 0; colon && i < targets->count; i++)
		if (!strncmp(targets->list[i].info.name, item->pattern,
			     (size_t)(colon - item->pattern)) &&
		    !targets->list[i].info.name[colon - item->pattern]) {
			note("an event takes stack, ustack, counters=NAME+NAME, 1/N, rate=N and wide, not '%s'",
			     colon + 1);
			break;
		}
	return EXIT_WRONG;
}

int targets_choose(struct tb_device *device, struct targets *targets,
		   const struct choice *choice)
{
	const struct item *item;
	bool some;
	size_t i, j;

	for (i = 0; i < choice->count; i++) {
		item = &choice->items[i];
		if (item->users)
			continue;
		some = item->optional;
		for (j = 0; j < targets->count; j++) {
			if (!item_matches(item, &targets->list[j].info))
				continue;
			some = true;
			if (target_choose(&targets->list[j], item))
				return complain("out of memory");
		}
		if (!some)
			return no_match(device, targets, item);
	}
	return EXIT_FINE;
}
