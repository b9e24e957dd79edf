/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of the kernel and of other modules, their descriptions, and records of threads.
 * Callers: select/, recording/, crash/, other modules; in process context unless a function says
 * otherwise.
 */
#ifndef TB_EVENTS_CATALOG_H
#define TB_EVENTS_CATALOG_H

#include <linux/srcu.h>

#include "unit.h"

/**
 * struct tb_events_hooks - what catalog.c calls when events come and go; process context
 * @added: before an event comes or comes back, under tb_events_lock; returns 0 or -ENOMEM
 * @changed: after events have come or gone; on return no probe is attached to absent events
 */
struct tb_events_hooks {
	int (*added)(struct tb_event *e);
	void (*changed)(void);
};

/* catalog.c */
extern struct srcu_struct tb_events_srcu;	/* readers of definitions take it */
int tb_events_init(const struct tb_events_hooks *hooks);
void tb_events_exit(void);
int tb_units_register(struct tb_unit *units, unsigned int n, struct module *owner);
void tb_units_unregister(struct tb_unit *units, unsigned int n);
unsigned int tb_events_count(void);
struct tb_event *tb_event_by_index(unsigned int index);
struct tracepoint *tb_events_tracepoint(const char *name);
bool tb_event_matches(const struct tb_event *e, const char *pattern);
const void *tb_event_description(struct tb_event *e, bool compact, u32 *bytes);
int tb_event_attach(struct tb_probe *p, bool compact);
void tb_event_detach(struct tb_probe *p);

/* describe.c */
size_t tb_event_describe(const struct tb_event_def *def, const struct tb_compact_def *compact,
			 u16 id, void *buf, size_t size);

/* compact.c */
const struct tb_compact_def *tb_compact_find(const struct tb_event_def *def);

/* module_event.c: attach probes to the events of other modules */
int tb_source_attach(struct tracebuf_source *s, struct tb_probe *p);
void tb_source_detach(struct tracebuf_source *s, struct tb_probe *p);

/* threads.c */
int tb_threads_write(struct tb_provider *provider);
bool tb_thread_describe(u32 tid, u16 flags, struct tb_thread *t);
int tb_names_write(struct tb_provider *provider);
int tb_threads_attach(struct tb_provider *provider);
void tb_threads_detach(struct tb_provider *provider);

#endif /* TB_EVENTS_CATALOG_H */
