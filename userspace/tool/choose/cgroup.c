// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cgroups of this machine; see cgroup.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include "cgroup.h"
#include "container.h"

bool cgroup_here_matches(const char *path, const char *pattern)
{
	char name[CONTAINER_NAME_MAX];

	return cgroup_path_matches(path, pattern) ||
	       (container_name("", path, name) && !fnmatch(pattern, name, 0));
}

/* ---- existing cgroups ---- */

static int find_mount(char path[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount = NULL;
	int result = -ENOENT;

	while (mounts && (mount = getmntent(mounts)) && strcmp(mount->mnt_type, "cgroup2"))
		;
	if (mount && strlen(mount->mnt_dir) < PATH_MAX) {
		strcpy(path, mount->mnt_dir);
		result = 0;
	}
	if (mounts)
		endmntent(mounts);
	return result;
}

/* Did the cgroup ever use up its quota?  "nr_throttled 12": in 12 periods it did */
static bool was_throttled(const char *folder)
{
	char name[2 * PATH_MAX + sizeof("/cpu.stat")], line[128];
	uint64_t count = 0;
	FILE *file;

	snprintf(name, sizeof(name), "%.*s/cpu.stat", 2 * PATH_MAX, folder);
	file = fopen(name, "re");
	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "nr_throttled %" SCNu64, &count) != 1)
		;
	if (file)
		fclose(file);
	return count > 0;
}

static bool read_quota(const char *folder, const char *path, char *text, size_t size)
{
	char name[2 * PATH_MAX + sizeof("/cpu.max")];
	unsigned int quota, period;
	FILE *file;
	int found;

	snprintf(name, sizeof(name), "%.*s/cpu.max", 2 * PATH_MAX, folder);
	file = fopen(name, "re");
	if (!file)
		return false;
	found = fscanf(file, "%u %u", &quota, &period);
	fclose(file);
	/* "max 100000": no quota */
	return found == 2 && snprintf(text, size, "%u %u %s", quota, period, path) < (int)size;
}

bool cgroup_quota(const char *path, char *text, size_t size)
{
	char folder[2 * PATH_MAX], *above;
	size_t root;

	if (find_mount(folder) || strlen(path) >= PATH_MAX)
		return false;
	root = strlen(folder);
	strcpy(folder + root, path);
	/* the root of the hierarchy has no quota */
	while ((above = strrchr(folder + root, '/')) && above[1]) {
		if (read_quota(folder, folder + root, text, size) && was_throttled(folder))
			return true;
		*above = 0;
	}
	return false;
}

struct walk {
	int (*visit)(uint32_t id, const char *path, const char *folder, void *context);
	void *context;
	char path[PATH_MAX];
	size_t root;			/* length of the mount's path */
};

/* Visit the cgroup at walk->path, which has @used bytes, and all below.  IDs are inode numbers */
static int walk_folder(struct walk *walk, size_t used)
{
	DIR *folder = opendir(walk->path);
	struct dirent *item;
	int result = 0;

	while (folder && !result && (item = readdir(folder))) {
		size_t length = strlen(item->d_name);

		if (item->d_type != DT_DIR || !strcmp(item->d_name, "..") ||
		    used + length + 2 > PATH_MAX)
			continue;
		if (!strcmp(item->d_name, ".")) {
			result = walk->visit((uint32_t)item->d_ino, used > walk->root ?
					     walk->path + walk->root : "/", walk->path, walk->context);
			continue;
		}
		walk->path[used] = '/';
		memcpy(walk->path + used + 1, item->d_name, length + 1);
		result = walk_folder(walk, used + 1 + length);
		walk->path[used] = 0;
	}
	if (folder)
		closedir(folder);
	return result;
}

int cgroups_each(int (*visit)(uint32_t id, const char *path, const char *folder, void *context),
		 void *context)
{
	struct walk walk = { .visit = visit, .context = context };
	int result = find_mount(walk.path);

	if (result)
		return result;
	walk.root = strlen(walk.path);
	return walk_folder(&walk, walk.root);
}
