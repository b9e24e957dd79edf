/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Select the events that a provider records; their rules; the trigger; the handlers of new events.
 * Callers: devices/, main.c, recording/, reader/, and events/catalog.c by the hooks that main.c
 * sets, in process context.
 */
#ifndef TB_SELECT_SELECT_H
#define TB_SELECT_SELECT_H

#include "provider/provider.h"

struct tb_rule_active;
struct tb_session;

/* Return true if a probe records at @moment.  The caller holds lock or read_lock. */
static inline bool tb_select_open(const struct tb_probe *probe, u64 moment)
{
	lockdep_assert(lockdep_is_held(&probe->provider->lock) ||
		       lockdep_is_held(&probe->provider->read_lock));
	return READ_ONCE(probe->from) <= moment && moment < READ_ONCE(probe->until);
}

void tb_select_exit(struct tb_provider *p);
int tb_provider_select(struct tb_provider *p, const char *pattern, u32 op, u32 form, u32 *matched);
struct tb_probe *tb_select_probe(struct tb_provider *p, struct tb_event *e);
void tb_select_forget(struct tb_provider *p);
int tb_select_describe(struct tb_provider *p);
int tb_select_write_record(struct tb_provider *p, u64 time, u64 moment);
int tb_select_attach(struct tb_provider *p);
void tb_select_detach(struct tb_provider *p);
void tb_select_refresh(void);
int tb_select_info(struct tb_provider *p, struct tb_event_info *info, void **desc);

/* rule.c */
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
void tb_rule_remove_thread_set(struct tb_thread_set *set);
int tb_rule_set_pids(struct tb_provider *p, struct tb_pids *pids);

/* arm.c */
int tb_trigger_arm(struct tb_provider *p, struct tb_session *s, char *patterns,
		   struct tb_rule *rules, struct tb_arm *arm);
void tb_trigger_refresh(struct tb_provider *p);
int tb_trigger_disarm(struct tb_provider *p, struct tb_session *s);
void tb_trigger_stop(struct tb_provider *p);
void tb_trigger_query(struct tb_provider *p, struct tb_trigger_info *info);

/* handler.c */
int tb_handlers_new_event(struct tb_event *e);

#endif /* TB_SELECT_SELECT_H */
