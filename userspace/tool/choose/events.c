// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of patterns of events; enable and disable the events that match a pattern.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "choose.h"
#include "tool/command/command.h"
#include "lib/array.h"
#include "tool/command/nearest.h"

int patterns_add(struct patterns *patterns, const char *text)
{
	unsigned int at, before = patterns->count;
	const char *end;
	size_t length;

	for (; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, ", ");
		length = (size_t)(end - text);
		if (!length)
			continue;
		if (pattern_excludes(text) && (length == 1 || pattern_excludes(text + 1)))
			return -EINVAL;
		at = patterns->count;
		if (tb_array_reach(&patterns->list, &patterns->count, at, sizeof(*patterns->list)))
			return -ENOMEM;
		patterns->list[at] = strndup(text, length);
		if (!patterns->list[at])
			return -ENOMEM;
	}
	return patterns->count > before ? 0 : -EINVAL;
}

void patterns_free(struct patterns *patterns)
{
	size_t i;

	for (i = 0; i < patterns->count; i++)
		free(patterns->list[i]);
	free(patterns->list);
	memset(patterns, 0, sizeof(*patterns));
}

bool pattern_match(const char *pattern, const char *system,
		   const char *name)
{
	char full[2 * TB_NAME_MAX + 2];

	if (!strcmp(pattern, "all"))
		return true;
	if (strchr(pattern, ':')) {
		snprintf(full, sizeof(full), "%s:%s", system, name);
		return !fnmatch(pattern, full, 0);
	}
	return !fnmatch(pattern, system, 0) || !fnmatch(pattern, name, 0);
}

bool patterns_match(const struct patterns *patterns, const char *system,
		    const char *name)
{
	bool match = patterns->count && pattern_excludes(patterns->list[0]), excludes;
	size_t i;

	for (i = 0; i < patterns->count; i++) {
		excludes = pattern_excludes(patterns->list[i]);
		if (pattern_match(patterns->list[i] + excludes, system, name))
			match = !excludes;
	}
	return match;
}

/* ---- on the device ---- */

int unknown_event(struct tb_device *device, const char *pattern)
{
	struct tb_event_info info;
	struct nearest nearest;
	char text[512];
	unsigned int i;

	nearest_start(&nearest, pattern);
	for (i = 0; !tb_device_event(device, i, &info); i++)
		nearest_offer(&nearest, info.system, info.name);
	complain("no event matches '%s'%s", pattern,
		 nearest_text(&nearest, text, sizeof(text)));
	fputs("'tracebuf list' lists the events\n", stderr);
	return EXIT_WRONG;
}

int pattern_select(struct tb_device *device, const char *pattern,
		   enum tb_select_op op, enum tb_form form, bool optional)
{
	int result = tb_device_select(device, op, form, pattern);

	if (result > 0 || (optional && (result == -ENOENT || !result)))
		return EXIT_FINE;
	switch (-result) {
	case 0:
	case ENOENT:
		return unknown_event(device, pattern);
	case EPERM:
	case EACCES:
		return complain("selecting kernel events needs root or the capability CAP_PERFMON (or CAP_SYS_ADMIN)");
	case EBUSY:
		return complain("events of '%s' are recorded in the other form: disable them first",
				pattern);
	case ENOSPC:
		return complain("the durable buffer has no room for the description of '%s': make it larger (--durable)",
				pattern);
	}
	return complain("cannot %s '%s': %s",
			op == TB_SELECT_ENABLE ? "enable" : "disable",
			pattern, strerror(-result));
}
