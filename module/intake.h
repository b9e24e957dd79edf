/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a provider takes from user-space writers: from whom, how much, which
 * categories of it.
 */
#ifndef TB_INTAKE_H
#define TB_INTAKE_H

#include <linux/tracebuf_producer.h>
#include <linux/types.h>

struct tb_provider;

#define TB_PATTERNS_MAX	64	/* of categories */

/**
 * struct tb_category_pattern - categories that are wanted, or are not
 * @enable: they are
 * @text: which, with '*' and '?'
 */
struct tb_category_pattern {
	bool enable;
	char text[TB_NAME_MAX];
};

/**
 * struct tb_intake - a provider's side of producers
 * @recording: what producers are told: it records
 * @removed: it is off the list of providers, so nobody is to find it any more
 * @producers: channels that have it as a target
 * @quota: what they may do
 * @nr_patterns: of @pattern
 * @pattern: which categories it wants: the last one that matches decides
 *
 * All under the lock of producers (intake.c) but @removed.
 */
struct tb_intake {
	bool recording;
	bool removed;
	u32 producers;
	struct tb_quota quota;
	u32 nr_patterns;
	struct tb_category_pattern pattern[TB_PATTERNS_MAX];
};

void tb_intake_tell(struct tb_provider *p, bool recording);
void tb_intake_scrape(struct tb_provider *p, bool end);
int tb_intake_ask(struct tb_provider *p, u32 timeout_ms);
void tb_intake_forget(struct tb_provider *p);
int tb_intake_quota(struct tb_provider *p, const struct tb_quota *quota);
int tb_intake_info(struct tb_provider *p, struct tb_producer_info *info);
/* category.c */
int tb_intake_categories(struct tb_provider *p, u32 op, const char *pattern);

#endif /* TB_INTAKE_H */
