/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which events a provider records.
 */
#ifndef TB_SELECT_H
#define TB_SELECT_H

#include "provider.h"

struct tb_event;

void tb_select_init(struct tb_provider *p);
void tb_select_exit(struct tb_provider *p);
struct tb_probe *tb_select_probe(struct tb_provider *p, struct tb_event *e);
void tb_select_forget(struct tb_provider *p);
int tb_select_describe(struct tb_provider *p);
int tb_select_attach(struct tb_provider *p);
void tb_select_detach(struct tb_provider *p);
void tb_select_refresh(struct tb_provider *p);
int tb_select_info(struct tb_provider *p, struct tb_event_info *info, void **desc);

#endif /* TB_SELECT_H */
