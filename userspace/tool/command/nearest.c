// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find existing names that are similar to an unknown one.
 */
#include <stdio.h>
#include <string.h>
#include "nearest.h"

#define FAR 1000

/* Edit distance with transpositions; FAR if one of the names is too long */
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
		/* accept also names that begin with the wanted one */
		if (far > limit && wanted[0] && wanted[1] &&
		    !strncmp(name, wanted, strlen(wanted)))
			far = limit;
		if (far <= limit)
			offer(nearest, name, far);
		return;
	}
	snprintf(full, sizeof(full), "%s:%s", system, name);
	far = distance(wanted, strchr(wanted, ':') ? full : name);
	/* accept also names that contain the wanted one */
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
