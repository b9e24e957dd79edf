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

/* Does the part record only some of its events, or anything with them? */
static bool is_special(const struct item *item)
{
	return item->nr_filters || item->flags || item->sample || item->rate ||
	       item->nr_counters;
}

/* Apply a matching part: it replaces earlier parts, but sets of system calls add up.  0; -ENOMEM;
 * -EINVAL: the event has one rule for all system calls, and the parts need several */
static int target_choose(struct target *target, const struct item *item)
{
	bool some = target->item && target->calls;

	if (item->calls && !item->exclude && target->item && target->item->option != item->option &&
	    (is_special(target->item) || is_special(item)))
		return -EINVAL;
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

/* Drop targets that no system call is left of: a rule without tests would record all calls */
static void drop_empty_sets(struct targets *targets)
{
	const unsigned char *bits;
	struct target *target;
	size_t i;

	for (i = 0; i < targets->count; i++) {
		target = &targets->list[i];
		bits = call_bits(target->calls, &target->info);
		if (bits && !syscall_set_size(bits))
			target->item = NULL;
	}
}

int targets_choose(struct tb_device *device, struct targets *targets,
		   const struct choice *choice)
{
	const struct item *item;
	int result;
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
			result = target_choose(&targets->list[j], item);
			if (result == -EINVAL)
				return complain("choose all system calls with one -e if some have a filter or a ':'");
			if (result)
				return complain("out of memory");
		}
		if (!some)
			return no_match(device, targets, item);
	}
	drop_empty_sets(targets);
	return EXIT_FINE;
}
