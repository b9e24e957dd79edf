/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices of programs, as times that why.h can explain.
 */
#ifndef TRACEBUF_WHY_PROGRAMS_H
#define TRACEBUF_WHY_PROGRAMS_H

#include "map.h"
#include "why_lines.h"

/**
 * struct why_programs - slices of programs that have begun
 * @name: pattern for names of slices; NULL: none is wanted
 */
struct why_programs {
	const char *name;
	struct map writers;
};

void why_programs_free(struct why_programs *programs);

/*
 * Take a record of a program, or a loss of records, at @ns.  1: a wanted slice ends, which lasted
 * from @begin to @end (out); 0, -ENOMEM
 */
int why_programs_take(struct why_programs *programs, const struct tb_view *view, uint64_t ns,
		      uint64_t *begin, uint64_t *end);

/* Add a slice of thread number @thread to @slices, struct why_run; it replaces those within it.
 * 0, -ENOMEM */
int why_programs_add(struct why_list *slices, uint32_t thread, uint64_t begin, uint64_t end);

#endif /* TRACEBUF_WHY_PROGRAMS_H */
