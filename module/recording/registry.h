/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Create and remove providers.  Callers: devices/, api.c and main.c, in process context.
 */
#ifndef TB_RECORDING_REGISTRY_H
#define TB_RECORDING_REGISTRY_H

#include "provider/provider.h"

extern struct tb_provider tb_kernel_provider;

int tb_registry_init(void);
void tb_registry_exit(void);

int tb_registry_create(const char *name, u32 flags, struct tb_provider **created);
int tb_registry_destroy(const char *name, struct tb_provider *own);
void tb_registry_abandon(struct tb_provider *p);

#endif /* TB_RECORDING_REGISTRY_H */
