// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of sockets; see sockets.h.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sockets.h"

#define LINES 64		/* lines between two calls of ends() */

struct reader {
	void (*take)(uint64_t inode, const char *name, void *context);
	bool (*ends)(const void *context);
	void *context;
};

/* Write address and port into @text.  @hex: "0100007F", for IPv6 four such words, in the byte order
 * of the machine; false: not an address */
static bool address_text(const char *hex, unsigned int port, char *text, size_t size)
{
	struct in6_addr address = { 0 };
	char plain[INET6_ADDRSTRLEN];
	size_t words = strlen(hex) / 8, i;

	if (words != 1 && words != 4)
		return false;
	for (i = 0; i < words; i++)
		if (sscanf(hex + 8 * i, "%8x", &address.s6_addr32[i]) != 1)
			return false;
	if (words == 4 && IN6_IS_ADDR_V4MAPPED(&address)) {
		address.s6_addr32[0] = address.s6_addr32[3];
		words = 1;
	}
	inet_ntop(words == 1 ? AF_INET : AF_INET6, &address, plain, sizeof(plain));
	snprintf(text, size, words == 1 ? "%s:%u" : "[%s]:%u", plain, port);
	return true;
}

/* "0: 0100007F:1F90 0200007F:C350 01 00000000:00000000 00:00000000 00000000 1000 0 4711 ..." */
static void internet_line(const struct reader *reader, const char *protocol, const char *line)
{
	char hex[2][33], local[64], remote[64], name[160];
	unsigned int ports[2];
	unsigned long long inode;

	if (sscanf(line, "%*d: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x"
			 " %*x %*x:%*x %*x:%*x %*x %*u %*u %llu", hex[0], &ports[0], hex[1], &ports[1],
		   &inode) != 5 || !inode ||
	    !address_text(hex[0], ports[0], local, sizeof(local)) ||
	    !address_text(hex[1], ports[1], remote, sizeof(remote)))
		return;
	if (ports[1])
		snprintf(name, sizeof(name), "%s %s -> %s", protocol, local, remote);
	else
		snprintf(name, sizeof(name), "%s %s", protocol, local);
	reader->take(inode, name, reader->context);
}

/*
 * "ffff8880: 00000002 00000000 00010000 0001 01 4711 /run/x.sock".  An abstract name may contain a
 * newline, and after it what looks like the line of another socket: that has a line of its own,
 * too, even without a name.
 */
static void unix_line(const struct reader *reader, const char *protocol, const char *line)
{
	unsigned long long inode;
	char name[160];
	int at = 0;

	if (sscanf(line, "%*[^:]: %*x %*x %*x %*x %*x %llu %n", &inode, &at) != 1 || !at)
		return;
	snprintf(name, sizeof(name), line[at] ? "%s %s" : "", protocol, line + at);
	reader->take(inode, name, reader->context);
}

static void read_table(const struct reader *reader, const char *path, const char *protocol,
		       void (*take_line)(const struct reader *, const char *, const char *))
{
	FILE *file = fopen(path, "re");
	unsigned int lines = 0;
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return;		/* the kernel has no such sockets, or denies access */
	while ((lines++ % LINES || !reader->ends(reader->context)) &&
	       getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = 0;
		take_line(reader, protocol, line);
	}
	free(line);
	fclose(file);
}

void sockets_each(void (*take)(uint64_t inode, const char *name, void *context),
		  bool (*ends)(const void *context), void *context)
{
	const struct reader reader = { take, ends, context };

	read_table(&reader, "/proc/net/unix", "unix", unix_line);
	read_table(&reader, "/proc/net/tcp", "tcp", internet_line);
	read_table(&reader, "/proc/net/tcp6", "tcp", internet_line);
	read_table(&reader, "/proc/net/udp", "udp", internet_line);
	read_table(&reader, "/proc/net/udp6", "udp", internet_line);
}
