/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/tracebuf.
 */
#ifndef TB_DEVICE_H
#define TB_DEVICE_H

int tb_device_init(void);
void tb_device_exit(void);

#endif /* TB_DEVICE_H */
