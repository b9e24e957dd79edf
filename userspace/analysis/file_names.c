// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of files, sockets, futexes and processes, each text once; see file_names.h.
 */
#include <inttypes.h>
#include <netinet/in.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "file_names.h"

#define NAMES_MAX (1u << 20)

struct file_name {
	uint32_t number;
	char text[];
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct file_name *)a)->text, ((const struct file_name *)b)->text);
}

uint32_t file_names_number(struct file_names *names, const char *text)
{
	uint32_t room = names->room ? 2 * names->room : 64;
	size_t bytes = strlen(text) + 1;
	struct file_name *name, **grown;
	void *node;

	if (names->count + 1 >= names->room) {
		grown = room <= NAMES_MAX ? reallocarray(names->list, room, sizeof(*grown)) : NULL;
		if (!grown)
			return 0;
		names->list = grown;
		names->room = room;
	}
	name = malloc(sizeof(*name) + bytes);
	if (!name)
		return 0;
	memcpy(name->text, text, bytes);
	node = tsearch(name, &names->tree, compare_names);
	if (!node || *(struct file_name **)node != name) {
		free(name);
		return node ? (*(struct file_name **)node)->number : 0;
	}
	name->number = ++names->count;
	names->list[name->number] = name;
	return name->number;
}

const char *file_names_text(const struct file_names *names, uint32_t number)
{
	return number && number <= names->count ? names->list[number]->text : NULL;
}

uint32_t file_names_join(struct file_names *names, const char *before, const char *path,
			 size_t length)
{
	size_t used = strnlen(before, NAME_BYTES), i;
	char text[NAME_BYTES];

	if (length && used > NAME_BYTES / 2)
		used = (size_t)snprintf(text, sizeof(text), "%.*s...", NAME_BYTES / 2 - 3, before);
	else
		memcpy(text, before, used);
	/* keep the end of a long path */
	if (length > sizeof(text) - 1 - used) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "...");
		path += length - (sizeof(text) - 1 - used);
		length = sizeof(text) - 1 - used;
	}
	for (i = 0; i < length; i++)
		text[used++] = path[i] >= 0x20 && path[i] < 0x7f ? path[i] : '?';
	text[used] = 0;
	return file_names_number(names, text);
}

uint32_t file_names_path(struct file_names *names, const struct tb_view *view, const char *before)
{
	const struct tb_format_field *field = tb_format_field(view->format, "path");
	const char *path;
	size_t length;

	if (!field || tb_field_str(view, field, &path, &length) || !length)
		return 0;
	return file_names_join(names, before, path, length);
}

uint32_t file_names_socket(struct file_names *names, const uint64_t *args)
{
	static const struct { int family, type, protocol; const char *name; } kinds[] = {
		{ AF_UNIX, 0, 0, "unix" },
		{ AF_INET, SOCK_STREAM, IPPROTO_TCP, "tcp" },
		{ AF_INET, SOCK_DGRAM, IPPROTO_UDP, "udp" },
		{ AF_INET, 0, 0, "AF_INET" },
		{ AF_INET6, SOCK_STREAM, IPPROTO_TCP, "tcp" },
		{ AF_INET6, SOCK_DGRAM, IPPROTO_UDP, "udp" },
		{ AF_INET6, 0, 0, "AF_INET6" },
		{ AF_NETLINK, 0, 0, "AF_NETLINK" }, { AF_PACKET, 0, 0, "AF_PACKET" },
		{ AF_VSOCK, 0, 0, "AF_VSOCK" },
	};
	int type = (int)args[1] & ~(SOCK_NONBLOCK | SOCK_CLOEXEC), protocol = (int)args[2];
	char text[48] = "of a socket";
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].family != (int)args[0] || (kinds[i].type && kinds[i].type != type) ||
		    (kinds[i].protocol && protocol && kinds[i].protocol != protocol))
			continue;
		snprintf(text, sizeof(text), "of a socket (%s)", kinds[i].name);
		break;
	}
	return file_names_number(names, text);
}

uint32_t file_names_address(struct file_names *names, uint32_t socket, bool connects,
			    const struct tb_view *view)
{
	const struct tb_format_field *field = tb_format_field(view->format, "path");
	const char *name = file_names_text(names, socket), *end, *address;
	const char *between = connects ? " -> " : " ";
	char kind[16], text[NAME_BYTES + 4];
	size_t length;
	int own;

	if (!name)
		name = "of a socket";
	end = strstr(name, " -> ");
	own = end ? (int)(end - name) : (int)strlen(name);
	if (!field || tb_field_str(view, field, &address, &length) || !length)
		return file_names_join(names, "", name, (size_t)own);
	if (sscanf(name, "of a socket (%15[^)])", kind) == 1)
		snprintf(text, sizeof(text), "of %s%s", kind, between);
	else if (own > NAME_BYTES / 2 - 4)
		snprintf(text, sizeof(text), "%.*s...%s", NAME_BYTES / 2 - 7, name, between);
	else
		snprintf(text, sizeof(text), "%.*s%s", own, name, between);
	return file_names_join(names, text, address, length);
}

uint32_t file_names_process(struct file_names *names, int64_t id, bool group)
{
	char text[48] = "of any child";

	if (id > 0)
		snprintf(text, sizeof(text), "of process%s %" PRId64, group ? " group" : "", id);
	else if (group)
		snprintf(text, sizeof(text), "of the caller's process group");
	return file_names_number(names, text);
}

uint32_t file_names_argument(struct file_names *names, enum file_call kind, const uint64_t *args)
{
	int64_t id = (int32_t)args[0];
	char text[48];

	switch (kind) {
	case FUTEX:
		snprintf(text, sizeof(text), "at 0x%" PRIx64, args[0]);
		return file_names_number(names, text);
	case SEMAPHORES:
		snprintf(text, sizeof(text), "of semaphore set %" PRId64, id);
		return file_names_number(names, text);
	case MESSAGES:
		snprintf(text, sizeof(text), "of message queue %" PRId64, id);
		return file_names_number(names, text);
	case WAIT:
		return file_names_process(names, id < -1 ? -id : id, id < -1 || !id);
	case WAIT_ID:
		if (id == P_ALL)
			return file_names_process(names, 0, false);
		if (id != P_PID && id != P_PGID)
			return 0;
		return file_names_process(names, (int32_t)args[1], id == P_PGID);
	default:
		return 0;
	}
}

void file_names_free(struct file_names *names)
{
	tdestroy(names->tree, free);
	free(names->list);
}
