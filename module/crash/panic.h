/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print the last events of each CPU into the kernel's log when the machine panics or oopses; the
 * recording of the previous boot.  Caller: main.c, at module init and exit.
 */
#ifndef TB_CRASH_PANIC_H
#define TB_CRASH_PANIC_H

#include <linux/types.h>

struct tb_element;
struct tb_block_walk;

int tb_panic_init(void);
void tb_panic_exit(void);

/* panic_text.c */
void tb_panic_text(char *text, size_t size, const struct tb_block_walk *w,
		   const struct tb_element *e);

/* previous_boot.c */
int tb_previous_init(void);

#endif /* TB_CRASH_PANIC_H */
