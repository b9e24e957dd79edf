// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths for cgroups; see cgroups.h.
 *
 * If a block has an unknown ID, the whole tree of cgroups is read again, but at most once in
 * SCAN_NS: a machine that creates cgroups all the time has thousands of them.
 */
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cgroups.h"
#include "notes.h"
#include "tool/choose/cgroup.h"
#include "tool/choose/container.h"
#include "tool/command/command.h"

#define SCAN_NS 1000000000ull
#define TRIES 3			/* to find the name of a container, a second apart */
#define CGROUPS_MAX 65536	/* known at a time; more have no path */
#define PATH_BYTES_MAX 3500	/* an event of a note has room for it */

struct group {
	uint32_t id;
	bool     wanted;		/* a thread in the current file is in this cgroup */
	char    *path;			/* NULL: not known yet */
	char    *quota;			/* text of cgroup_quota(), or NULL */
	char    *container;		/* its name; NULL: none, or not known */
	unsigned int tries;		/* to find that name */
};

struct cgroups {
	void  *tree;			/* of struct group */
	size_t count;
	bool   missing;			/* some have no path, or containers no name */
	uint64_t scanned;		/* time of the last scan, CLOCK_MONOTONIC in ns */
	int    result;			/* of cgroups_notes() */
	struct notes *notes;
};

static int compare(const void *a, const void *b)
{
	const struct group *first = a, *second = b;

	return first->id < second->id ? -1 : first->id > second->id;
}

static void free_group(void *group)
{
	free(((struct group *)group)->path);
	free(((struct group *)group)->quota);
	free(((struct group *)group)->container);
	free(group);
}

struct unwanted {
	struct group **list;
	size_t count;
};

static void add_unwanted(const void *node, VISIT when, void *context)
{
	struct unwanted *unwanted = context;

	if ((when == preorder || when == leaf) && !(*(struct group *const *)node)->wanted)
		unwanted->list[unwanted->count++] = *(struct group *const *)node;
}

/* Forget the groups without a thread in the current file: a long recording sees many end */
static void drop_unwanted(struct cgroups *cgroups)
{
	struct unwanted unwanted = { .list = calloc(cgroups->count, sizeof(*unwanted.list)) };
	struct group *group;

	if (!unwanted.list)
		return;
	twalk_r(cgroups->tree, add_unwanted, &unwanted);
	while (unwanted.count) {
		group = unwanted.list[--unwanted.count];
		tdelete(group, &cgroups->tree, compare);
		free_group(group);
		cgroups->count--;
	}
	free(unwanted.list);
}

static struct group *get_group(struct cgroups *cgroups, uint32_t id)
{
	struct group key = { .id = id }, *group;
	void *node = tfind(&key, &cgroups->tree, compare);

	if (node)
		return *(struct group **)node;
	if (cgroups->count >= CGROUPS_MAX)
		drop_unwanted(cgroups);
	group = cgroups->count < CGROUPS_MAX ? calloc(1, sizeof(*group)) : NULL;
	if (!group)
		return NULL;
	group->id = id;
	if (!tsearch(group, &cgroups->tree, compare)) {
		free(group);
		return NULL;
	}
	cgroups->count++;
	return group;
}

/* ---- the folders ---- */

/* Read the quota of the cgroup; keep the old one if the cgroup is gone */
static void take_quota(struct group *group)
{
	char text[PATH_BYTES_MAX];

	if (!group->path || !cgroup_quota(group->path, text, sizeof(text)))
		return;
	free(group->quota);
	group->quota = strdup(text);
}

/* The cgroup is of a container without a name that may still be found */
static bool is_nameless(const struct group *group)
{
	return group->path && !group->container && group->tries < TRIES &&
	       container_id(group->path);
}

/* The files with its name may be written only some time after the cgroup was made */
static void take_container(struct group *group)
{
	char name[CONTAINER_NAME_MAX];

	if (!is_nameless(group))
		return;
	group->tries++;
	if (container_name("", group->path, name))
		group->container = strdup(name);
}

static int take_path(uint32_t id, const char *path, const char *folder, void *context)
{
	struct cgroups *cgroups = context;
	struct group key = { .id = id };
	void *node = tfind(&key, &cgroups->tree, compare);

	(void)folder;
	if (node && !(*(struct group **)node)->path) {
		(*(struct group **)node)->path = strdup(path);
		take_quota(*(struct group **)node);
	}
	return 0;
}

static void find_container(const void *node, VISIT when, void *cgroups)
{
	struct group *group = *(struct group *const *)node;

	if (when != preorder && when != leaf)
		return;
	take_container(group);
	((struct cgroups *)cgroups)->missing |= !group->path || is_nameless(group);
}

/* Look up the paths of groups and the names of containers that are not known yet */
static void scan(struct cgroups *cgroups)
{
	cgroups->missing = false;
	if (!cgroups_each(take_path, cgroups))
		twalk_r(cgroups->tree, find_container, cgroups);
}

void cgroups_name(struct cgroups **cgroups, uint32_t id, const char *path)
{
	struct group *group;

	if (!*cgroups)
		*cgroups = calloc(1, sizeof(**cgroups));
	group = *cgroups ? get_group(*cgroups, id) : NULL;
	if (!group)
		return;
	/* a new cgroup may reuse the ID of an old one */
	free(group->path);
	free(group->quota);
	free(group->container);
	group->path = strdup(path);
	group->quota = group->container = NULL;
	group->tries = 0;
}

/* ---- blocks ---- */

static void take_thread(struct cgroups *cgroups, const struct tb_thread *thread)
{
	struct group *group = thread->cgroup ? get_group(cgroups, thread->cgroup) : NULL;

	if (!group)
		return;
	group->wanted = true;
	cgroups->missing |= !group->path || is_nameless(group);
}

void cgroups_block(struct cgroups **cgroups, const struct tb_block *block)
{
	struct tb_walk walk;
	uint64_t now;
	int step;

	if (block->kind != TB_BLOCK_DURABLE)
		return;
	if (!*cgroups)
		*cgroups = calloc(1, sizeof(**cgroups));
	if (!*cgroups)
		return;
	tb_walk_start(&walk, block);
	while ((step = tb_walk_next(&walk)) == 1 || step == -EAGAIN)
		if (step == 1 && walk.structure == TB_STRUCT_COMPOSITE &&
		    walk.id == TB_EV_THREAD && walk.bytes >= sizeof(struct tb_thread))
			take_thread(*cgroups, walk.payload);
	now = (*cgroups)->missing ? monotonic_ns() : 0;
	if (now && (!(*cgroups)->scanned || now - (*cgroups)->scanned >= SCAN_NS)) {
		scan(*cgroups);
		(*cgroups)->scanned = now;
	}
}

/* ---- notes ---- */

static void put_string(struct cgroups *cgroups, enum tb_string_kind kind, uint32_t id,
		       const char *text)
{
	struct {
		struct tb_string string;
		char text[PATH_BYTES_MAX];
	} payload = { .string = { .kind = kind, .key = id } };
	size_t bytes = text ? strlen(text) : 0;

	if (!bytes || bytes > PATH_BYTES_MAX || cgroups->result)
		return;
	memcpy(payload.text, text, bytes);
	cgroups->result = notes_add(cgroups->notes, TB_EV_STRING, &payload,
				    sizeof(payload.string) + bytes);
}

static void put(const void *node, VISIT when, void *context)
{
	struct group *group = *(struct group *const *)node;

	if ((when != preorder && when != leaf) || !group->wanted)
		return;
	take_quota(group);
	take_container(group);
	put_string(context, TB_STRING_CGROUP, group->id, group->path);
	put_string(context, TB_STRING_QUOTA, group->id, group->quota);
	put_string(context, TB_STRING_CONTAINER, group->id, group->container);
}

static void forget(const void *node, VISIT when, void *context)
{
	(void)context;
	if (when == preorder || when == leaf)
		(*(struct group *const *)node)->wanted = false;
}

int cgroups_notes(struct cgroups *cgroups, struct notes *notes)
{
	if (!cgroups)
		return 0;
	if (cgroups->missing)
		scan(cgroups);
	cgroups->notes = notes;
	cgroups->result = 0;
	twalk_r(cgroups->tree, put, cgroups);
	twalk_r(cgroups->tree, forget, NULL);
	return cgroups->result;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	tdestroy(cgroups->tree, free_group);
	free(cgroups);
}
