/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of files, sockets, futexes and processes: texts such as "of /etc/passwd", by numbers.
 *
 * All functions that return a number return 0 if memory runs out, if there are too many names, or
 * if what they need for the name is not known.
 */
#ifndef TRACEBUF_FILE_NAMES_H
#define TRACEBUF_FILE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "file_calls.h"
#include "tracebuf.h"

#define NAME_BYTES 128

/* All zero: none */
struct file_names {
	void  *tree;			/* struct file_name by text */
	struct file_name **list;
	uint32_t count, room;
};

void file_names_free(struct file_names *names);

/* The text of a name; NULL for 0 */
const char *file_names_text(const struct file_names *names, uint32_t number);

/* The number of the name with this text */
uint32_t file_names_number(struct file_names *names, const char *text);

/*
 * The number of the name @before and @path, without control characters.  "..." is where a name is
 * cut: after the first half of NAME_BYTES, or before the end of @path.
 */
uint32_t file_names_join(struct file_names *names, const char *before, const char *path,
			 size_t length);

/* Of the text that argument number 0 or 1 of those with text points to, with @before */
uint32_t file_names_path(struct file_names *names, const struct tb_view *view, const char *before);

/* Of a socket without an address; @args: those of socket() */
uint32_t file_names_socket(struct file_names *names, const uint64_t *args);

/*
 * The name that @socket gets from the address in bind() or connect(): "of tcp 0.0.0.0:80",
 * "of tcp -> 10.0.0.1:443".  If the address is not known, the name has no peer.
 */
uint32_t file_names_address(struct file_names *names, uint32_t socket, bool connects,
			    const struct tb_view *view);

/* Of process @id, or of process group @id; if @id <= 0: of any child, or of the caller's group */
uint32_t file_names_process(struct file_names *names, int64_t id, bool group);

/* Of the futex, process, semaphores or queue in the arguments of a call */
uint32_t file_names_argument(struct file_names *names, enum file_call kind, const uint64_t *args);

#endif /* TRACEBUF_FILE_NAMES_H */
