/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build IDs of files that processes have mapped.
 *
 * Any user can map a file of a file system that he serves himself (FUSE) and that never answers.
 * So a child process opens and reads the files, and the recorder waits a second for an answer.
 */
#ifndef TRACEBUF_BUILD_IDS_H
#define TRACEBUF_BUILD_IDS_H

#include <stddef.h>

#define BUILD_ID_MAX 20
#define MAPPED_PATH_MAX 2048

struct build_ids {
	int pid, socket;	/* the child; pid 0: there is none */
	int late;		/* children that did not answer in time */
};

/**
 * build_ids_read - of one file
 * @range: its mapping, as in the name of a file in /proc/PID/map_files
 * @path: its name in the root directory of @pid: what is asked if map_files may not be opened
 * @build_id: room for BUILD_ID_MAX bytes
 *
 * @ids is zero before the first call.  Return: bytes of the ID; 0: the file has none, cannot be
 * read, or was not read within a second.
 */
size_t build_ids_read(struct build_ids *ids, unsigned int pid, const char *range, const char *path,
		      unsigned char *build_id);

void build_ids_close(struct build_ids *ids);

#endif /* TRACEBUF_BUILD_IDS_H */
