// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of disks; see disks.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "disks.h"
#include "lib/array.h"

#define EVENTS "block_rq_"	/* the names of all events of requests begin so */
#define DISKS_MAX 65536
#define NAME_MAX_BYTES 32		/* DISK_NAME_LEN of the kernel */

struct disk {
	struct tb_string string;
	char name[NAME_MAX_BYTES];
};

struct disks {
	struct disk *list;
	size_t count, room;
};

/* A device may get the number of one that has gone: the last name counts */
static void add(struct disks *disks, uint32_t number, const char *name)
{
	size_t i;

	for (i = 0; i < disks->count && disks->list[i].string.key != number; i++)
		;
	if (i == DISKS_MAX || (i == disks->count && tb_array_grow(&disks->list, &disks->room, i,
								  sizeof(*disks->list))))
		return;
	disks->count += i == disks->count;
	disks->list[i] = (struct disk){ .string = { TB_STRING_DISK, number } };
	memcpy(disks->list[i].name, name, strlen(name));
}

static void read_names(struct disks *disks)
{
	FILE *file = fopen("/proc/partitions", "re");
	unsigned int major, minor;
	char line[256], name[NAME_MAX_BYTES];

	while (file && fgets(line, sizeof(line), file))
		/* major minor #blocks name */
		if (sscanf(line, " %u %u %*u %31s", &major, &minor, name) == 3 &&
		    major < 1 << 12 && minor < 1 << 20)
			add(disks, major << 20 | minor, name);
	if (file)
		fclose(file);
}

void disks_block(struct disks **disks, const struct tb_block *block)
{
	struct tb_walk walk;
	int step;

	if (block->kind != TB_BLOCK_DURABLE)
		return;
	tb_walk_start(&walk, block);
	while (!*disks && ((step = tb_walk_next(&walk)) == 1 || step == -EAGAIN)) {
		if (step != 1 || walk.structure != TB_STRUCT_COMPOSITE ||
		    walk.id != TB_EV_EVENT ||
		    !memmem(walk.payload, walk.bytes, EVENTS, strlen(EVENTS)))
			continue;
		*disks = calloc(1, sizeof(**disks));
		if (!*disks)
			return;
		read_names(*disks);
	}
}

int disks_notes(struct disks *disks, struct notes *notes)
{
	const struct disk *disk;
	int result = 0;
	size_t i;

	if (!disks)
		return 0;
	read_names(disks);
	for (i = 0; !result && i < disks->count; i++) {
		disk = &disks->list[i];
		result = notes_add(notes, TB_EV_STRING, disk,
				   sizeof(disk->string) + strlen(disk->name));
	}
	return result;
}

void disks_free(struct disks *disks)
{
	if (disks)
		free(disks->list);
	free(disks);
}
