/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last events of each CPU in the kernel's log when the machine panics.
 */
#ifndef TB_LAST_H
#define TB_LAST_H

#include <linux/types.h>

struct tb_element;
struct tb_block_walk;

int tb_panic_init(void);
void tb_panic_exit(void);

/* panic_text.c */
void tb_panic_text(char *text, size_t size, const struct tb_block_walk *w,
		   const struct tb_element *e);

#endif /* TB_LAST_H */
