/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pause recordings while the machine sleeps.  Callers: main.c, recording.c, in process context.
 */
#ifndef TB_RECORDING_SLEEP_H
#define TB_RECORDING_SLEEP_H

#include <linux/types.h>

struct tb_provider;

int tb_sleep_init(void);
void tb_sleep_exit(void);
bool tb_sleep_pauses(const struct tb_provider *p);

#endif /* TB_RECORDING_SLEEP_H */
