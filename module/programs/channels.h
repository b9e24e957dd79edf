/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a provider accepts from user-space writers: channels, quotas, categories.
 * Callers: recording/, reader/, devices/tracebuf.c, in process context.
 */
#ifndef TB_PROGRAMS_CHANNELS_H
#define TB_PROGRAMS_CHANNELS_H

#include <linux/atomic.h>
#include <linux/percpu-defs.h>
#include <linux/tracebuf_producer.h>
#include <linux/types.h>

struct tb_provider;

#define TB_PATTERNS_MAX	64	/* patterns of categories of a provider */

/**
 * struct tb_category_pattern - enables or disables the categories that match
 * @enable: true to enable them
 * @text: pattern with '*' and '?'
 */
struct tb_category_pattern {
	bool enable;
	char text[TB_NAME_MAX];
};

/**
 * struct tb_channels - a provider's side of the channels
 * @recording: a recording runs, and tb_channels_notify() has announced it
 * @removed: the provider is off the list, so no channel may add it as a target
 * @producers: number of channels with this target
 * @quota: quotas as set by user space
 * @nr_patterns: number of patterns
 * @pattern: which categories the provider wants: the last pattern that matches decides
 * @ring_rate: quota of each ring, bytes per second; 0: unlimited
 * @ring_burst: the bytes that a ring takes at once, as the nanoseconds that they take at @ring_rate
 * @ring_paid: per CPU: time up to which the quota of its ring is used up, nanoseconds
 * @kept_pieces: see struct tb_intake_info
 * @kept_records: see struct tb_intake_info
 * @kept_bytes: see struct tb_intake_info
 *
 * tb_channels_lock (channels.c) protects all fields but @removed.  chunk.c reads @ring_rate and
 * @ring_burst, and changes @ring_paid to @kept_bytes, without it.
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

void tb_channels_notify(struct tb_provider *p, bool recording);
void tb_channels_clock(struct tb_provider *p);
void tb_channels_scrape(struct tb_provider *p, bool end);
int tb_channels_flush(struct tb_provider *p, u32 timeout_ms);
void tb_channels_forget_provider(struct tb_provider *p);
int tb_channels_set_quota(struct tb_provider *p, const struct tb_quota *quota);
int tb_channels_info(struct tb_provider *p, struct tb_producer_info *info);
void tb_channels_query(struct tb_provider *p, struct tb_intake_info *info);
int tb_channels_set_categories(struct tb_provider *p, u32 op, const char *pattern);

#endif /* TB_PROGRAMS_CHANNELS_H */
