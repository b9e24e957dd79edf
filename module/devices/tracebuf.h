/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device /dev/tracebuf, for module/main.c.
 */
#ifndef TB_DEVICES_TRACEBUF_H
#define TB_DEVICES_TRACEBUF_H

int tb_device_init(void);
void tb_device_exit(void);

#endif /* TB_DEVICES_TRACEBUF_H */
