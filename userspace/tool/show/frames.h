/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the addresses of user stacks: from the files that were mapped there, by elfutils.
 *
 * One resolver for the whole process: what it has learned of a file is kept until the end.
 */
#ifndef TRACEBUF_FRAMES_H
#define TRACEBUF_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tracebuf.h"

/**
 * struct frame - one function of a stack
 * @name: demangled; "libc.so.6+0x2a1f0" where the file has no symbol there; "0x7f..." where the
 *	trace does not say which file it is
 * @file: path of the file; NULL: not known
 * @offset: bytes from the start of the function; 0 if @inlined
 * @named: @name is that of a function
 * @inlined: into the function of the next frame, which is of the same address
 */
struct frame {
	const char *name;
	const char *file;
	uint64_t offset;
	bool named, inlined;
};

/* Also look for files and their debug information in @folder, as its /.build-id/ or path says */
void frames_debug_dir(const char *folder);

/**
 * frames_of - the functions at address @index of the user stack of @view
 * @frames: out: innermost first; names are valid until the process ends, the list until the next
 *	call
 *
 * Return: how many, at least 1.
 */
unsigned int frames_of(const struct tb_trace *trace, const struct tb_view *view, uint32_t index,
		       const struct frame **frames);

/* Say on @out which files there were no names for, and why; nothing if all had */
void frames_remarks(FILE *out);

#define DEBUG_DIR_HELP \
	"      --debug-dir DIR   also look for programs and their debug information in DIR, by\n" \
	"                        build ID (DIR/.build-id) or path; user stacks need them\n"
#define DEBUG_DIR_LONG \
	{ "debug-dir", required_argument, NULL, OPTION_DEBUG_DIR }

#endif /* TRACEBUF_FRAMES_H */
