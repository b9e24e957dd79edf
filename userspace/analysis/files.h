/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of files, futexes, processes, semaphore sets and message queues that system calls use.
 *
 * A call has the number of a file.  The name comes from the call that opened or copied the file, or
 * from the list of open files that the recorder wrote at the start.  The arguments name the rest.
 *
 * A socket has the addresses of bind() and connect(), a copy those that it had when it was copied.
 * One from accept() has the address of the socket that accepted it: its peer's is not recorded.
 *
 * A file that was opened during the recording has the name that the program used, one from before
 * the recording the name that /proc showed.  The files of a child process are those of its parent.
 * After a loss of events on any CPU, and while system calls are not selected, no number is known,
 * because a close may be missing; if a rule kept system calls out, none in the whole recording.
 *
 * A name may be an old one if another thread of the process closed the file, and its calls were not
 * recorded ("record --tid"); or if such a rule is not known, because the recording has no end.
 */
#ifndef TRACEBUF_FILES_H
#define TRACEBUF_FILES_H

#include <stdint.h>
#include <string.h>
#include "tracebuf.h"

struct files;

struct files *files_open(struct tb_trace *trace);		/* NULL: no memory */
void files_close(struct files *files);

/* Take the next event or loss in order of time; @ns: its time.  0, -ENOMEM */
int files_take(struct files *files, const struct tb_view *view, uint64_t ns);

/* Take what changes before this event, to ask files_of_number() at its time.  0, -ENOMEM */
int files_reach(struct files *files, const struct tb_view *view);

/* The file with this number in process @pid: a number for files_name(); 0: not known, or none */
uint32_t files_of_number(const struct files *files, uint32_t pid, uint64_t number);

/**
 * files_of_call - what a system call uses: a file, a futex, processes...
 * @begin: time of the call as given to files_take(); it is the last call of @tid
 *
 * Return: a number for files_name(); 0: not known, or none.
 */
uint32_t files_of_call(const struct files *files, uint32_t tid, uint64_t begin);

/* "of /etc/passwd", "of tcp -> 10.0.0.1:443", "at 0x7f0012345678", "of process 17"; several files
 * of poll() as "of /dev/tty, 7" if that of number 7 is not known; printable ASCII only */
const char *files_name(const struct files *files, uint32_t number);

/* The same without "of" or "at": "/etc/passwd"; NULL for NULL */
static inline const char *files_plain(const char *name)
{
	const char *blank = name ? strchr(name, ' ') : NULL;

	return blank ? blank + 1 : NULL;
}

#endif /* TRACEBUF_FILES_H */
