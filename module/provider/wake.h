/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wait for blocks of a provider, and wake the waiters: readers, poll(), save channels.
 */
#ifndef TB_PROVIDER_WAKE_H
#define TB_PROVIDER_WAKE_H

#include <linux/types.h>

struct tb_provider;

void tb_wake_init(struct tb_provider *p);
void tb_wake_flush(struct tb_provider *p);
void tb_wake_waiters(struct tb_provider *p);
void tb_wake_waiters_irq(struct tb_provider *p);
void tb_wake_arm(struct tb_provider *p);
int tb_wake_wait(struct tb_provider *p, bool (*ready)(void *arg), void *arg);

#endif /* TB_PROVIDER_WAKE_H */
