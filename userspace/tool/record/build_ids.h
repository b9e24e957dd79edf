/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the build IDs of files that processes have mapped.
 *
 * A user may have mapped a file of his own file system (FUSE) that never answers.  So a child
 * process opens and reads the files, and the recorder waits at most a second for each answer.
 */
#ifndef TRACEBUF_BUILD_IDS_H
#define TRACEBUF_BUILD_IDS_H

#include <stddef.h>

#define BUILD_ID_MAX 20
#define MAPPED_PATH_MAX 2048

struct build_ids {
	int pid, socket;	/* of the child; pid 0: none */
	int late;		/* children that did not answer in time */
};

/**
 * build_ids_read - read the build ID of one file
 * @range: the mapping, as in /proc/@pid/map_files
 * @path: name of the file in the root directory of @pid, used if map_files may not be read
 * @build_id: room for BUILD_ID_MAX bytes
 *
 * The caller clears @ids before the first call.  Return: bytes of the ID; 0: the file has none,
 * cannot be read, or was not read within a second.
 */
size_t build_ids_read(struct build_ids *ids, unsigned int pid, const char *range, const char *path,
		      unsigned char *build_id);

void build_ids_close(struct build_ids *ids);

#endif /* TRACEBUF_BUILD_IDS_H */
