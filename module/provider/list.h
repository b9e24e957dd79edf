/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of providers, and references to them.
 */
#ifndef TB_PROVIDER_LIST_H
#define TB_PROVIDER_LIST_H

#include "provider.h"

struct tb_provider *tb_provider_get(const char *name, enum tb_holder holder);
void tb_provider_put(struct tb_provider *p, enum tb_holder holder);

int tb_providers_add(struct tb_provider *p);
void tb_providers_remove(struct tb_provider *p);
int tb_providers_remove_unused(const char *name, struct tb_provider *own, struct tb_provider **p);
void tb_providers_forget(struct tb_provider *p);
struct tb_provider *tb_providers_last(void);
int tb_providers_info(struct tb_provider_info *info);
void tb_providers_each(void (*what)(struct tb_provider *p, void *data), void *data);
void tb_providers_look(void (*what)(struct tb_provider *p, void *data), void *data);

#endif /* TB_PROVIDER_LIST_H */
