/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracebuf for other modules: recording into a provider from any context.
 *
 *	p = tracebuf_get("kernel");
 *	...
 *	tracebuf_simple(p, TB_EV_USER, value);
 *	...
 *	tracebuf_put(p);
 *
 * A module that uses this is built with KBUILD_EXTRA_SYMBOLS naming the
 * Module.symvers of tracebuf.
 */
#ifndef _LINUX_TRACEBUF_H
#define _LINUX_TRACEBUF_H

#include <linux/jump_label.h>
#include <linux/types.h>
#include <uapi/linux/tracebuf.h>

struct tb_provider;

/**
 * struct tracebuf_event - a composite event between begin and end
 *
 * On the caller's stack; what is in it is none of the caller's business.
 */
struct tracebuf_event {
	u64 opaque[5];
};

struct tracebuf_sinks;

/**
 * struct tracebuf_source - where events of one kind come from
 * @wanted: somebody records them
 * @sinks: who
 */
struct tracebuf_source {
	struct static_key_false wanted;
	struct tracebuf_sinks *sinks;
};

struct tb_provider *tracebuf_get(const char *name);
void tracebuf_put(struct tb_provider *p);
struct tb_provider *tracebuf_create(const char *name, const struct tb_config *config);
void tracebuf_destroy(struct tb_provider *p);
int tracebuf_start(struct tb_provider *p);
int tracebuf_stop(struct tb_provider *p);
bool tracebuf_simple(struct tb_provider *p, u32 id, u64 payload);
void *tracebuf_begin(struct tb_provider *p, struct tracebuf_event *event, u32 id, u32 bytes);
void tracebuf_end(struct tracebuf_event *event);
bool tracebuf_flush(struct tb_provider *p);

#endif /* _LINUX_TRACEBUF_H */
