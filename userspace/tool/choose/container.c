// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of containers; see container.h.
 *
 *   Kubernetes  /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, a link that the kubelet makes
 *   Docker      /var/lib/docker/containers/ID/config.v2.json: ... "Name":"/NAME" ...
 *   Podman      /var/lib/containers/storage/overlay-containers/containers.json; containers that are
 *               removed when they end are in volatile-containers.json, there or below /run:
 *               [{"id":"ID","names":["NAME"], ...}, ...]
 *
 * Docker and Podman write these files without blanks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "container.h"
#include "tool/command/plain_file.h"

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

/* Read a file, with a 0 at the end; NULL: it cannot be read, or is too long.  For free() */
static char *read_text(const char *path)
{
	char *text = NULL, *longer;
	size_t used = 0, room = 0;
	int fd = plain_file_open(AT_FDCWD, path, 0);
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

static bool of_docker(const char *root, const char *id, char name[CONTAINER_NAME_MAX])
{
	char path[PATH_MAX], *text;
	const char *at;
	bool found;

	snprintf(path, sizeof(path), "%s/var/lib/docker/containers/%.*s/config.v2.json", root,
		 CONTAINER_ID_DIGITS, id);
	text = read_text(path);
	at = text ? member_of(text, "\"Name\":\"/") : NULL;
	found = at && take_name(at, name);
	free(text);
	return found;
}

static bool of_podman(const char *root, const char *id, char name[CONTAINER_NAME_MAX])
{
	static const char *const files[] = {
		"/var/lib/containers/storage/overlay-containers/containers.json",
		"/var/lib/containers/storage/overlay-containers/volatile-containers.json",
		"/run/containers/storage/overlay-containers/volatile-containers.json",
	};
	char path[PATH_MAX], member[CONTAINER_ID_DIGITS + 32], *text, *at;
	bool found = false;
	size_t i;

	snprintf(member, sizeof(member), "\"id\":\"%.*s\",\"names\":[\"", CONTAINER_ID_DIGITS, id);
	for (i = 0; !found && i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, files[i]);
		text = read_text(path);
		at = text ? strstr(text, member) : NULL;
		found = at && take_name(at + strlen(member), name);
		free(text);
	}
	return found;
}

bool container_name(const char *root, const char *id, char name[CONTAINER_NAME_MAX])
{
	return of_kubernetes(root, id, name) || of_docker(root, id, name) ||
	       of_podman(root, id, name);
}
