/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attach probes to the events of other modules.  Caller: catalog.c, in process context.
 */
#ifndef TB_EVENTS_MODULE_EVENT_H
#define TB_EVENTS_MODULE_EVENT_H

struct tb_probe;
struct tracebuf_source;

int tb_source_attach(struct tracebuf_source *s, struct tb_probe *p);
void tb_source_detach(struct tracebuf_source *s, struct tb_probe *p);

#endif /* TB_EVENTS_MODULE_EVENT_H */
