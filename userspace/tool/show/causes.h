/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The causes of 'tracebuf why' as text and as JSON.
 */
#ifndef TRACEBUF_CAUSES_H
#define TRACEBUF_CAUSES_H

#include <stddef.h>
#include <stdint.h>
#include "analysis/why.h"
#include "tool/show/out.h"

/* Each writes to @text, of @size bytes, and returns it, or returns a constant: "make-12"; "in
 * read"; "interrupt 27 virtio1"; "a request (WS) to disk 8:0"; a line of the tree without figures */
const char *cause_thread(const struct why *why, int64_t thread, char *text, size_t size);
const char *cause_call(int64_t call, char *text, size_t size);
const char *cause_irq(const struct why *why, int64_t who, char *text, size_t size);
const char *cause_request(const struct why *why, int64_t who, char *text, size_t size);
const char *cause_text(const struct why *why, const struct why_node *node, char *text, size_t size);

/* The cause in JSON, for example "woken" */
const char *cause_name(enum why_cause cause);

/* Write node @index and all below it, as docs/why.md describes them */
void cause_json(const struct why *why, const struct why_node *nodes, uint32_t index,
		struct out *out);

#endif /* TRACEBUF_CAUSES_H */
