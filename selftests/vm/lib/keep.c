// SPDX-License-Identifier: GPL-2.0-only
/*
 * keep - copies new recordings in a folder and below it to $TRACEBUF_RECORDINGS (recordings.h).
 * ktap.sh calls it after each check.
 *
 *	keep FOLDER
 *
 * A file is a recording if it begins like one. Of a file above RECORDING_MAX the first whole blocks
 * are copied, as a killed recorder would leave them; nothing if the file is compressed.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/tracebuf.h>

#include "recordings.h"

#define ZSTD_MAGIC	0xfd2fb528u
#define ZSTD_SKIPPABLE	0x184d2a50u	/* the last four bits are anything */

static FILE *seen;		/* a line for each state of a file that was visited */
static char data[RECORDING_MAX];

/* Was this state of a file visited before? If not, note it. */
static bool was_seen(const struct stat *st)
{
	char line[128], old[128];

	snprintf(line, sizeof(line), "%llx %llx %llx %lld.%09ld\n", (unsigned long long)st->st_dev,
		 (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
		 (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
	rewind(seen);
	while (fgets(old, sizeof(old), seen))
		if (!strcmp(line, old))
			return true;
	fseek(seen, 0, SEEK_END);
	fputs(line, seen);
	return false;
}

/* Returns the size of the whole blocks at the start of data. */
static size_t whole_blocks(size_t bytes)
{
	const struct tb_block *b;
	size_t at = 0;

	while (bytes - at >= sizeof(*b)) {
		b = (const void *)(data + at);
		if (b->magic != TB_BLOCK_MAGIC || b->size_log2 > 31 ||
		    bytes - at < 1ul << b->size_log2)
			break;
		at += 1ul << b->size_log2;
	}
	return at;
}

static size_t read_start(const char *path)
{
	size_t bytes = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return 0;	/* it was removed meanwhile */
	while (bytes < sizeof(data) && (n = read(fd, data + bytes, sizeof(data) - bytes)) > 0)
		bytes += n;
	close(fd);
	return bytes;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t bytes;
	uint32_t magic;
	int fd;

	(void)ftw;
	if (type != FTW_F || !S_ISREG(st->st_mode) || st->st_size < (off_t)sizeof(struct tb_block) ||
	    was_seen(st))
		return 0;
	bytes = read_start(path);
	if (bytes < sizeof(magic))
		return 0;
	memcpy(&magic, data, sizeof(magic));
	if (magic != TB_BLOCK_MAGIC && magic != ZSTD_MAGIC && (magic & ~0xfu) != ZSTD_SKIPPABLE)
		return 0;
	if (bytes == sizeof(data))
		bytes = magic == TB_BLOCK_MAGIC ? whole_blocks(bytes) : 0;
	fd = bytes ? recording_new() : -1;
	if (fd >= 0) {
		recording_write(fd, data, bytes);
		close(fd);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *folder = getenv("TRACEBUF_RECORDINGS");
	char path[4096];

	if (argc != 2 || !folder) {
		fprintf(stderr, "usage: TRACEBUF_RECORDINGS=TO keep FOLDER\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/.seen", folder);
	seen = fopen(path, "a+");
	if (!seen || nftw(argv[1], visit, 16, FTW_PHYS) || fclose(seen)) {
		perror(path);
		return 1;
	}
	return 0;
}
