/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was recorded before the machine was booted.
 */
#ifndef TB_PREVIOUS_H
#define TB_PREVIOUS_H

int tb_previous_init(void);

#endif /* TB_PREVIOUS_H */
