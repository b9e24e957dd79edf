/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Set, find and remove the rules of events.  Callers: devices/, select/, recording/, in process
 * context.
 */
#ifndef TB_SELECT_RULE_H
#define TB_SELECT_RULE_H

#include "probe/rule.h"

struct tb_probe;
struct tb_provider;

int tb_rule_set(struct tb_provider *p, struct tb_rule *rule);
void tb_rule_forget(struct tb_probe *probe);
int tb_rule_count(struct tb_probe *probe);
bool tb_rule_wants_switches(const struct tb_provider *p);
void tb_rule_begin(struct tb_provider *p);
void tb_rule_route(struct tb_probe *probe);
void tb_rule_reset(struct tb_provider *p);
int tb_rule_suppressed(struct tb_provider *p, u32 index, struct tb_suppressed *sum);
struct tb_rule_active *tb_rule_for_trigger(struct tb_provider *p, struct tb_rule *rule);
void tb_rule_unused(struct tb_rule_active *active);
void tb_rule_exit(struct tb_provider *p);
int tb_rule_set_pids(struct tb_provider *p, struct tb_pids *pids);

#endif /* TB_SELECT_RULE_H */
