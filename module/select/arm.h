/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm, disarm and query the trigger of a provider, in process context.
 */
#ifndef TB_SELECT_ARM_H
#define TB_SELECT_ARM_H

#include <linux/poll.h>
#include <linux/tracebuf.h>

struct tb_provider;
struct tb_session;

int tb_trigger_arm(struct tb_provider *p, struct tb_session *s, char *patterns,
		   struct tb_rule *rules, u32 nr_rules, u32 percent, u32 ms, u32 *matched,
		   u32 *bad);
void tb_trigger_refresh(struct tb_provider *p);
int tb_trigger_disarm(struct tb_provider *p, struct tb_session *s);
void tb_trigger_stop(struct tb_provider *p);
void tb_trigger_query(struct tb_provider *p, struct tb_trigger_info *info);
__poll_t tb_trigger_poll(struct tb_provider *p);

#endif /* TB_SELECT_ARM_H */
