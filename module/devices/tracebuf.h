/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device /dev/tracebuf.  Caller: main.c, at module init and exit.
 */
#ifndef TB_DEVICES_TRACEBUF_H
#define TB_DEVICES_TRACEBUF_H

int tb_device_init(void);
void tb_device_exit(void);

#endif /* TB_DEVICES_TRACEBUF_H */
