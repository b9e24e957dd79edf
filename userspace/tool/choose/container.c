// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of containers; see container.h.
 *
 *   Kubernetes  /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, a link that the kubelet makes
 *   Docker      /var/lib/docker/containers/ID/config.v2.json: ... "Name":"/NAME" ...
 *   Podman      /var/lib/containers/storage/overlay-containers/containers.json; containers that are
 *               removed when they end are in volatile-containers.json, there or below /run:
 *               [{"id":"ID","names":["NAME"], ...}, ...]
 *   of a user   the same files of Docker and Podman in ~/.local/share and /run/user/UID
 *
 * Docker and Podman write these files without blanks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "container.h"
#include "tool/command/plain_file.h"

#define STORAGE "containers/storage/overlay-containers/"
#define FILE_BYTES_MAX (8u << 20)
/* of Docker's and Podman's names */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

/* ---- Kubernetes ---- */

/* POD_NAMESPACE_CONTAINER: none of them contains a '_' */
static bool split_name(const char *file, size_t length, char name[CONTAINER_NAME_MAX])
{
	const char *space = memchr(file, '_', length), *container;
	size_t pod = space ? (size_t)(space - file) : 0, rest = length - pod - 1;

	if (!pod)
		return false;
	container = memchr(++space, '_', rest);
	if (!container || container == space)
		return false;
	rest -= (size_t)(container - space) + 1;
	return rest && !memchr(container + 1, '_', rest) &&
	       snprintf(name, CONTAINER_NAME_MAX, "%.*s/%.*s/%.*s", (int)(container - space),
			space, (int)pod, file, (int)rest, container + 1) < CONTAINER_NAME_MAX;
}

static bool of_kubernetes(const char *root, const char *id, char name[CONTAINER_NAME_MAX])
{
	static const size_t ending = 1 + CONTAINER_ID_DIGITS + sizeof(".log") - 1;
	char path[PATH_MAX];
	struct dirent *item;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/var/log/containers", root);
	folder = opendir(path);
	while (folder && !found && (item = readdir(folder))) {
		size_t length = strlen(item->d_name);
		const char *end = item->d_name + length - ending;

		found = length > ending && *end == '-' &&
			!memcmp(end + 1, id, CONTAINER_ID_DIGITS) &&
			!strcmp(end + 1 + CONTAINER_ID_DIGITS, ".log") &&
			split_name(item->d_name, length - ending, name);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* ---- files of JSON ---- */

/**
 * struct place - a folder with files of Docker or Podman
 * @fd: the folder; -1: there is none
 * @resolve: RESOLVE_*; users may have placed links and mounts in their folders
 */
struct place {
	int fd;
	uint64_t resolve;
};

/* Read a file, with a 0 at the end; NULL: it cannot be read, or is too long.  For free() */
static char *read_text(const struct place *place, const char *path)
{
	char *text = NULL, *longer;
	size_t used = 0, room = 0;
	int fd = plain_file_open(place->fd, path, place->resolve);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "re");

	if (!file && fd >= 0)
		close(fd);
	while (file) {
		if (room - used < 2) {
			room = room ? 2 * room : 65536;
			longer = room <= FILE_BYTES_MAX ? realloc(text, room) : NULL;
			if (!longer)
				break;
			text = longer;
		}
		used += fread(text + used, 1, room - used - 1, file);
		text[used] = 0;
		if (!feof(file) && !ferror(file))
			continue;
		if (ferror(file))
			break;
		fclose(file);
		return text;
	}
	if (file)
		fclose(file);
	free(text);
	return NULL;
}

/* Take the name at @text, up to the quotation mark */
static bool take_name(const char *text, char name[CONTAINER_NAME_MAX])
{
	size_t length = strspn(text, NAME_CHARACTERS);

	if (!length || length >= CONTAINER_NAME_MAX || text[length] != '"')
		return false;
	memcpy(name, text, length);
	name[length] = 0;
	return true;
}

/*
 * Find the value of @member in the object itself.  Objects within it do not count: a label may have
 * that name.
 */
static const char *member_of(const char *object, const char *member)
{
	size_t length = strlen(member);
	bool quoted = false;
	int depth = 0;

	for (; *object; object++) {
		if (!quoted && depth == 1 && !strncmp(object, member, length))
			return object + length;
		if (quoted && *object == '\\' && object[1])
			object++;
		else if (*object == '"')
			quoted = !quoted;
		else if (!quoted && (*object == '{' || *object == '['))
			depth++;
		else if (!quoted && (*object == '}' || *object == ']'))
			depth--;
	}
	return NULL;
}

static bool of_docker(const struct place *place, const char *folder, const char *id,
		      char name[CONTAINER_NAME_MAX])
{
	char path[PATH_MAX], *text;
	const char *at;
	bool found;

	snprintf(path, sizeof(path), "%s/%.*s/config.v2.json", folder, CONTAINER_ID_DIGITS, id);
	text = read_text(place, path);
	at = text ? member_of(text, "\"Name\":\"/") : NULL;
	found = at && take_name(at, name);
	free(text);
	return found;
}

static bool of_podman(const struct place *place, const char *file, const char *id,
		      char name[CONTAINER_NAME_MAX])
{
	char member[CONTAINER_ID_DIGITS + 32], *text, *at;
	bool found;

	snprintf(member, sizeof(member), "\"id\":\"%.*s\",\"names\":[\"", CONTAINER_ID_DIGITS, id);
	text = read_text(place, file);
	at = text ? strstr(text, member) : NULL;
	found = at && take_name(at + strlen(member), name);
	free(text);
	return found;
}

/* ---- places ---- */

/* Open the folder @root/@path */
static struct place place_open(const char *root, const char *path, uint64_t resolve)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%s", root, path);
	return (struct place){ open(name, O_PATH | O_DIRECTORY | O_CLOEXEC), resolve };
}

static void place_close(const struct place *place)
{
	if (place->fd >= 0)
		close(place->fd);
}

static bool of_system(const char *root, const char *id, char name[CONTAINER_NAME_MAX])
{
	struct place place = place_open(root, "", 0);
	bool found = of_docker(&place, "var/lib/docker/containers", id, name) ||
		     of_podman(&place, "var/lib/" STORAGE "containers.json", id, name) ||
		     of_podman(&place, "var/lib/" STORAGE "volatile-containers.json", id, name) ||
		     of_podman(&place, "run/" STORAGE "volatile-containers.json", id, name);

	place_close(&place);
	return found;
}

/* Open the user's home.  The name service is not asked: it may take long to answer */
static struct place home_of(const char *root, unsigned int uid, uint64_t resolve)
{
	struct place home = { -1, resolve };
	const struct passwd *user;
	char name[PATH_MAX];
	FILE *users;

	snprintf(name, sizeof(name), "%s/etc/passwd", root);
	users = fopen(name, "re");
	while (users && home.fd < 0 && (user = fgetpwent(users)))
		if (user->pw_uid == uid)
			home = place_open(root, user->pw_dir, resolve);
	if (users)
		fclose(users);
	return home;
}

/* Find the name of a container that a user runs without root.  Users can write these files, but
 * they can only name containers in their own cgroup, user@UID.service */
static bool of_user(const char *root, unsigned int uid, const char *id,
		    char name[CONTAINER_NAME_MAX])
{
	const uint64_t resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS;
	struct place home = home_of(root, uid, resolve), run;
	char folder[32];
	bool found;

	snprintf(folder, sizeof(folder), "run/user/%u", uid);
	run = place_open(root, folder, resolve);
	found = of_docker(&home, ".local/share/docker/containers", id, name) ||
		of_podman(&home, ".local/share/" STORAGE "containers.json", id, name) ||
		of_podman(&home, ".local/share/" STORAGE "volatile-containers.json", id, name) ||
		of_podman(&run, "containers/overlay-containers/volatile-containers.json", id, name);
	place_close(&home);
	place_close(&run);
	return found;
}

bool container_name(const char *root, const char *path, char name[CONTAINER_NAME_MAX])
{
	const char *id = container_id(path), *user = strstr(path, "/user@");
	unsigned int uid;

	if (!id)
		return false;
	if (user && user < id && sscanf(user, "/user@%u.service/", &uid) == 1)
		return of_user(root, uid, id, name);
	return of_kubernetes(root, id, name) || of_system(root, id, name);
}
