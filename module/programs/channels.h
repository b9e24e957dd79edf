/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a provider takes from user-space writers: from whom, how much, which
 * categories of it.
 */
#ifndef TB_INTAKE_H
#define TB_INTAKE_H

#include <linux/atomic.h>
#include <linux/percpu-defs.h>
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
 * struct tb_channels - a provider's side of producers
 * @recording: what producers are told: it records
 * @removed: it is off the list of providers, so nobody is to find it any more
 * @producers: channels that have it as a target
 * @quota: what they may do
 * @nr_patterns: of @pattern
 * @pattern: which categories it wants: the last one that matches decides
 * @ring_rate: bytes a second that may be written into each ring; 0: any number
 * @ring_burst: what may be had at once, in nanoseconds at @ring_rate
 * @ring_paid: of each CPU's ring: the time up to which what was written has been paid for
 * @kept_pieces: as in struct tb_intake_info
 * @kept_records: likewise
 * @kept_bytes: likewise
 *
 * All under the lock of producers (channels.c) but @removed; @ring_rate and @ring_burst are read,
 * and what follows is changed, without it.
 */
struct tb_channels {
	bool recording;
	bool removed;
	u32 producers;
	struct tb_quota quota;
	u32 nr_patterns;
	struct tb_category_pattern pattern[TB_PATTERNS_MAX];
	u64 ring_rate;
	u64 ring_burst;
	u64 __percpu *ring_paid;
	atomic64_t kept_pieces;
	atomic64_t kept_records;
	atomic64_t kept_bytes;
};

int tb_channels_init(struct tb_provider *p);
void tb_channels_exit(struct tb_provider *p);

void tb_channels_notify(struct tb_provider *p, bool recording);
void tb_channels_scrape(struct tb_provider *p, bool end);
int tb_channels_flush(struct tb_provider *p, u32 timeout_ms);
void tb_channels_forget_provider(struct tb_provider *p);
int tb_channels_set_quota(struct tb_provider *p, const struct tb_quota *quota);
int tb_channels_info(struct tb_provider *p, struct tb_producer_info *info);
void tb_channels_query(struct tb_provider *p, struct tb_intake_info *info);
/* category.c */
int tb_channels_set_categories(struct tb_provider *p, u32 op, const char *pattern);

#endif /* TB_INTAKE_H */
