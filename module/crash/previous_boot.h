/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording of the previous boot.  Caller: main.c, at module init.
 */
#ifndef TB_CRASH_PREVIOUS_BOOT_H
#define TB_CRASH_PREVIOUS_BOOT_H

int tb_previous_init(void);

#endif /* TB_CRASH_PREVIOUS_BOOT_H */
