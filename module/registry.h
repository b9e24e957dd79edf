/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which providers there are.
 */
#ifndef TB_REGISTRY_H
#define TB_REGISTRY_H

#include "provider.h"

extern struct tb_provider tb_kernel_provider;

int tb_registry_init(void);
void tb_registry_exit(void);

int tb_registry_create(const char *name, u32 flags, struct tb_provider **created);
int tb_registry_destroy(const char *name, struct tb_provider *own);
void tb_registry_abandon(struct tb_provider *p);
int tb_registry_info(struct tb_provider_info *info);

void tb_registry_each(void (*what)(struct tb_provider *p));
void tb_registry_look(void (*what)(struct tb_provider *p, void *data), void *data);
struct tb_provider *tb_registry_find(const char *name);
void tb_registry_unfind(struct tb_provider *p);
struct tb_provider *tb_registry_get(const char *name);
void tb_registry_put(struct tb_provider *p);
struct tb_provider *tb_registry_open(const char *name);
void tb_registry_close(struct tb_provider *p);

#endif /* TB_REGISTRY_H */
