/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The devices, which main.c creates at module init and removes at exit.
 */
#ifndef TB_DEVICES_TRACEBUF_H
#define TB_DEVICES_TRACEBUF_H

#include <linux/miscdevice.h>

extern struct miscdevice tb_misc;

/* tracebuf_producer.c */
extern struct miscdevice tb_producer_misc;
int tb_producer_init(umode_t mode, u32 per_user);
void tb_producer_allow(void);

#endif /* TB_DEVICES_TRACEBUF_H */
