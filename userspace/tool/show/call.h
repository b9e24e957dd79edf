/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls with their arguments as text.
 */
#ifndef TRACEBUF_SHOW_CALL_H
#define TRACEBUF_SHOW_CALL_H

#include <stddef.h>
#include <stdint.h>
#include "analysis/files.h"
#include "tracebuf.h"

/* How an argument is shown, as module/events/calls.tab has it */
enum call_class {
	CALL_INT, CALL_UINT, CALL_LONG, CALL_ULONG, CALL_HEX, CALL_OCTAL, CALL_PTR, CALL_PATH,
	CALL_TEXT, CALL_ADDRESS, CALL_POLLED, CALL_READABLE, CALL_WRITABLE, CALL_EXCEPTED,
	/* call_values.c: numbers with names */
	CALL_FD, CALL_DFD, CALL_OPEN, CALL_CREATE, CALL_CLOEXEC, CALL_PROT, CALL_MAP, CALL_SIGNAL,
	CALL_CLOCK, CALL_WHENCE, CALL_FUTEX, CALL_FCNTL, CALL_EPOLL, CALL_ADVICE, CALL_WAIT,
	CALL_CLONE, CALL_ACCESS, CALL_SHUT, CALL_SIGMASK, CALL_FLOCK, CALL_FAMILY, CALL_SOCKTYPE,
	CALL_PRCTL, CALL_POLICY, CALL_RESOURCE, CALL_TIMER, CALL_RENAME, CALL_MSG, CALL_AT,
	CALL_SOCK, CALL_EVENTFD, CALL_CLOSERANGE, CALL_RANDOM, CALL_MEMFD, CALL_REMAP, CALL_MSYNC,
	CALL_MLOCKALL, CALL_MOUNT, CALL_UMOUNT, CALL_FALLOCATE, CALL_SPLICE, CALL_RWF, CALL_WATCH,
	CALL_URING, CALL_ARCH, CALL_BARRIER, CALL_ITIMER, CALL_IDTYPE, CALL_FADVICE, CALL_USAGE,
	CALL_PRIORITY, CALL_BPF, CALL_SECCOMP, CALL_PTRACE, CALL_LEVEL, CALL_SOCKOPT, CALL_IOCTL,
};

/**
 * call_print - write the beginning or the end of a system call as text
 *
 * "NR 257 openat (dfd=AT_FDCWD, filename="/etc/passwd", flags=O_RDONLY|O_CLOEXEC)",
 * "NR 257 openat = -2 (ENOENT)", "NR 9 mmap = 0x7f5e6c3a1000"; with @files, which may be NULL,
 * "NR 0 read (fd=3</etc/passwd>, ...".
 * Return: like snprintf(); -ENOTSUP: @view is another event, or a compact form.
 */
int call_print(const struct tb_trace *trace, const struct files *files, const struct tb_view *view,
	       char *buffer, size_t size);

/**
 * call_value - write an argument as names
 * @class: CALL_FD or later
 * @before: the argument before it, which says of CALL_SOCKOPT what @value means
 *
 * Names are those of the architecture that the tool was compiled for.  Return: like snprintf().
 */
int call_value(enum call_class class, uint64_t before, uint64_t value, char *buffer, size_t size);

#endif /* TRACEBUF_SHOW_CALL_H */
