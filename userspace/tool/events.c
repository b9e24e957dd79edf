// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events by name: lists of patterns, and what was probably meant by one that
 * matches nothing.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

int patterns_add(struct patterns *patterns, const char *text)
{
	const char *end;
	char **grown;
	size_t length;

	if (!*text)
		return -EINVAL;
	for (; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, ", ");
		length = (size_t)(end - text);
		if (!length)
			continue;
		grown = realloc(patterns->list,
				(patterns->count + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		patterns->list = grown;
		grown[patterns->count] = strndup(text, length);
		if (!grown[patterns->count])
			return -ENOMEM;
		patterns->count++;
	}
	return 0;
}

void patterns_free(struct patterns *patterns)
{
	size_t i;

	for (i = 0; i < patterns->count; i++)
		free(patterns->list[i]);
	free(patterns->list);
	memset(patterns, 0, sizeof(*patterns));
}

static bool pattern_match(const char *pattern, const char *system,
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
	size_t i;

	for (i = 0; i < patterns->count; i++)
		if (pattern_match(patterns->list[i], system, name))
			return true;
	return false;
}

/* ---- nearest names ---- */

#define FAR 1000

/* Edit distance with transpositions, FAR if one of them is absurdly long */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][2 * TB_NAME_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2], *swap;
	size_t length_a = strlen(a), length_b = strlen(b), i, j, best;

	if (length_a > 2 * TB_NAME_MAX || length_b > 2 * TB_NAME_MAX)
		return FAR;
	memset(rows, 0, sizeof(rows));
	for (j = 0; j <= length_b; j++)
		last[j] = j;
	for (i = 1; i <= length_a; i++) {
		now[0] = i;
		for (j = 1; j <= length_b; j++) {
			best = last[j - 1] + (a[i - 1] != b[j - 1]);
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		swap = before;
		before = last;
		last = now;
		now = swap;
	}
	return last[length_b];
}

void nearest_start(struct nearest *nearest, const char *wanted)
{
	size_t i;

	memset(nearest, 0, sizeof(*nearest));
	nearest->wanted = wanted;
	for (i = 0; i < 4; i++)
		nearest->best[i].distance = FAR;
}

static void offer(struct nearest *nearest, const char *shown, size_t far)
{
	size_t i, at = 4;

	for (i = 0; i < 4; i++)
		if (!strcmp(nearest->best[i].name, shown))
			return;
	while (at && nearest->best[at - 1].distance > far)
		at--;
	if (at == 4)
		return;
	memmove(&nearest->best[at + 1], &nearest->best[at],
		(3 - at) * sizeof(nearest->best[0]));
	snprintf(nearest->best[at].name, sizeof(nearest->best[at].name), "%s",
		 shown);
	nearest->best[at].distance = far;
}

void nearest_offer(struct nearest *nearest, const char *system,
		   const char *name)
{
	char full[2 * TB_NAME_MAX + 2];
	const char *wanted = nearest->wanted;
	size_t limit = strlen(wanted) / 3 + 1, far;

	if (!system) {
		far = distance(wanted, name);
		if (far <= limit)
			offer(nearest, name, far);
		return;
	}
	snprintf(full, sizeof(full), "%s:%s", system, name);
	far = distance(wanted, strchr(wanted, ':') ? full : name);
	/* a part of the name is near, too */
	if (far > limit && strlen(wanted) > 3 && strstr(name, wanted))
		far = limit;
	if (far <= limit)
		offer(nearest, full, far);
	far = distance(wanted, system);
	if (far <= limit)
		offer(nearest, system, far);
}

const char *nearest_text(const struct nearest *nearest, char *text, size_t size)
{
	size_t i, used = 0, count = 0;

	while (count < 4 && nearest->best[count].distance < FAR)
		count++;
	if (size)
		text[0] = 0;
	for (i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 !i ? "; did you mean " :
					 i + 1 == count ? " or " : ", ",
					 nearest->best[i].name);
	if (count && used + 1 < size)
		snprintf(text + used, size - used, "?");
	return text;
}

/* ---- selecting on the device ---- */

static int unknown_event(struct tb_device *device, const char *pattern)
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
	fputs("'tracebuf list' shows what there is\n", stderr);
	return EXIT_WRONG;
}

int patterns_known(struct tb_device *device, const struct patterns *patterns)
{
	struct tb_event_info info;
	unsigned int event;
	bool known;
	size_t i;

	for (i = 0; i < patterns->count; i++) {
		known = false;
		for (event = 0; !known && !tb_device_event(device, event, &info);
		     event++)
			known = !(info.flags & TB_INFO_ABSENT) &&
				pattern_match(patterns->list[i], info.system,
					      info.name);
		if (!known)
			return unknown_event(device, patterns->list[i]);
	}
	return EXIT_FINE;
}

int patterns_select(struct tb_device *device, const struct patterns *patterns,
		    enum tb_select_op op, enum tb_form form, bool optional)
{
	size_t i;
	int result;

	for (i = 0; i < patterns->count; i++) {
		const char *pattern = patterns->list[i];

		result = tb_device_select(device, op, form, pattern);
		if (result > 0 || (optional && (result == -ENOENT || !result)))
			continue;
		switch (-result) {
		case 0:
		case ENOENT:
			return unknown_event(device, pattern);
		case EPERM:
		case EACCES:
			return complain("selecting kernel events needs root or the capability CAP_PERFMON (or CAP_SYS_ADMIN)");
		case ENOSPC:
			return complain("the durable buffer has no room for the description of '%s': make it larger (--durable)",
					pattern);
		}
		return complain("cannot %s '%s': %s",
				op == TB_SELECT_ENABLE ? "enable" : "disable",
				pattern, strerror(-result));
	}
	return EXIT_FINE;
}
