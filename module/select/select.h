/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Select the events that a provider records.
 * Callers: devices/, main.c, recording/, in process context.
 */
#ifndef TB_SELECT_SELECT_H
#define TB_SELECT_SELECT_H

#include "provider/provider.h"

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

#endif /* TB_SELECT_SELECT_H */
