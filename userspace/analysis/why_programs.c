// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices of programs: a slice is one record, or a record of its beginning and one of its end.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "why_programs.h"

/* Beginnings of open slices of a program's writer, by depth; UINT64_MAX: not known */
#define DEPTH_MAX 64
struct writer {
	uint64_t begun[DEPTH_MAX];
};

void why_programs_free(struct why_programs *programs)
{
	map_free(&programs->writers, free);
}

static struct writer *writer_of(struct why_programs *programs, uint32_t number)
{
	void **slot = map_at(&programs->writers, number);

	if (slot && !*slot) {
		*slot = malloc(sizeof(struct writer));
		if (*slot)
			memset(*slot, 0xff, sizeof(struct writer));
	}
	return slot ? *slot : NULL;
}

int why_programs_take(struct why_programs *programs, const struct tb_view *view, uint64_t ns,
		      uint64_t *begin, uint64_t *end)
{
	const struct tb_user *user = view->user;
	struct writer *writer;

	if (!programs->name)
		return 0;
	writer = writer_of(programs, user->writer);
	if (!writer)
		return -ENOMEM;
	if (view->kind == TB_VIEW_USER_LOST) {
		/* ends may be among the lost records */
		memset(writer, 0xff, sizeof(*writer));
		return 0;
	}
	if (user->type == TB_REC_SLICE && !(user->flags & TB_USER_OPEN)) {
		*begin = ns;
		*end = ns + user->duration_ns;
		return !fnmatch(programs->name, user->name, 0);
	}
	if ((user->type != TB_REC_BEGIN && user->type != TB_REC_END) || user->depth >= DEPTH_MAX)
		return 0;
	*begin = writer->begun[user->depth];
	*end = ns;
	writer->begun[user->depth] = user->type == TB_REC_BEGIN ? ns : UINT64_MAX;
	return user->type == TB_REC_END && !(user->flags & TB_USER_UNMATCHED) &&
	       *begin < UINT64_MAX && !fnmatch(programs->name, user->name, 0);
}

/* Inner slices end before outer ones */
int why_programs_add(struct why_list *slices, uint32_t thread, uint64_t begin, uint64_t end)
{
	struct why_run *slice = slices->at;
	size_t i, kept;

	if (begin >= end)
		return 0;
	for (i = slices->count; i && slice[i - 1].end > begin; i--)
		if (slice[i - 1].other == thread && slice[i - 1].begin < begin)
			return 0;
	for (kept = i; i < slices->count; i++)
		if (slice[i].other != thread)
			slice[kept++] = slice[i];
	slices->count = kept;
	slice = why_list_add(slices, sizeof(*slice));
	if (!slice)
		return -ENOMEM;
	*slice = (struct why_run){ begin, end, thread };
	return 0;
}
