/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the addresses of user stacks, from the files that were mapped there, by elfutils.
 *
 * All state is global: names and files are kept until the process ends.
 */
#ifndef TRACEBUF_FRAMES_H
#define TRACEBUF_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"

/**
 * struct frame - one function of a stack
 * @name: demangled; "libc.so.6+0x2a1f0" if the file has no symbol there; "0x7f..." if the trace
 *	does not have the file
 * @file: path of the file; NULL: unknown
 * @offset: bytes from the start of the function; 0 if @inlined
 * @named: @name is a function
 * @inlined: inlined into the function of the next frame, which has the same address
 */
struct frame {
	const char *name;
	const char *file;
	uint64_t offset;
	bool named, inlined;
};

/* Also search @folder for files and their debug information, by build ID or path */
void frames_debug_dir(const char *folder);

/**
 * frames_of - find the functions at address @index of the user stack of @view
 * @frames: out: innermost first; valid until the next call, names with @file for ever
 * @behind: out, may be NULL: bytes from the address that was looked up to that in the stack: 1 if
 *	that is where a call or a system call returns to
 *
 * Return: the number of functions, at least 1.
 */
unsigned int frames_of(const struct tb_trace *trace, const struct tb_view *view, uint32_t index,
		       const struct frame **frames, uint32_t *behind);

/* List on @out the files that have no names for some addresses, and why */
void frames_remarks(FILE *out);

#define DEBUG_DIR_HELP \
	"      --debug-dir DIR   also look for programs and their debug information in DIR, by\n" \
	"                        build ID (DIR/.build-id) or path; user stacks need them\n"

#endif /* TRACEBUF_FRAMES_H */
