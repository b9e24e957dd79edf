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
 * Events with names and fields, which users choose and filter as they do tracepoints, are
 * declared with <linux/tracebuf_event.h>.
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
struct tracebuf_list;

/**
 * struct tracebuf_slot - an event between reserving and committing it
 *
 * On the caller's stack; its members are private.
 */
struct tracebuf_slot {
	u64 opaque[5];
	const struct tracebuf_list *sinks;
	void *payload;
	u32 sink;
	u32 used;
	u32 bytes;
};

/**
 * struct tracebuf_source - where events of one kind come from
 * @wanted: a provider records them
 * @sinks: the probes of these providers
 */
struct tracebuf_source {
	struct static_key_false wanted;
	struct tracebuf_list __rcu *sinks;
};

struct tracebuf_handler;

/**
 * struct tracebuf_view - an event as a handler sees it
 * @provider: that is about to record it
 * @system: subsystem
 * @name: name
 * @payload: its fields, laid out as its description says; no more than @bytes may be read
 * @bytes: of @payload
 * @id: event id, of the wide form if the event has one
 *
 * All of it is gone when the handler returns.  The thread is current.
 */
struct tracebuf_view {
	struct tb_provider *provider;
	const char *system;
	const char *name;
	const void *payload;
	u32 bytes;
	u32 id;
};

/**
 * struct tracebuf_place - where in the payload a field is
 * @offset: from its start
 * @size: bytes in all
 * @count: elements of a fixed array, else 0
 * @flags: TB_FIELD_*
 */
struct tracebuf_place {
	u16 offset;
	u16 size;
	u16 count;
	u16 flags;
};

struct tb_provider *tracebuf_get(const char *name);
void tracebuf_put(struct tb_provider *p);
struct tb_provider *tracebuf_create(const char *name, const struct tb_config *config);
void tracebuf_destroy(struct tb_provider *p);
int tracebuf_start(struct tb_provider *p);
int tracebuf_stop(struct tb_provider *p);
bool tracebuf_simple(struct tb_provider *p, u32 id, u64 payload);
bool tracebuf_write(struct tb_provider *p, u32 id, const void *data, u32 bytes);
void *tracebuf_begin(struct tb_provider *p, struct tracebuf_slot *slot, u32 id, u32 bytes);
void tracebuf_end(struct tracebuf_slot *slot);
bool tracebuf_flush(struct tb_provider *p);
void tracebuf_query(struct tb_provider *p, struct tb_query *q);
int tracebuf_stats(struct tb_provider *p, unsigned int cpu, struct tb_stats *st);

struct tracebuf_handler *tracebuf_handle(const char *pattern,
					 bool (*fn)(const struct tracebuf_view *view, void *data),
					 void *data);
void tracebuf_unhandle(struct tracebuf_handler *h);
int tracebuf_find(const char *system, const char *name, const char *field,
		  struct tracebuf_place *place);

#endif /* _LINUX_TRACEBUF_H */
