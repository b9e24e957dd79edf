/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of an event as a JSON object.
 */
#ifndef TRACEBUF_JSON_FIELDS_H
#define TRACEBUF_JSON_FIELDS_H

#include <stdbool.h>
#include "tracebuf.h"
#include "values.h"

struct json_fields;

/* For the selected recording of @trace; times of losses are on clock @base; NULL: ENOMEM */
struct json_fields *json_fields_open(const struct tb_trace *trace,
				     enum tb_timebase base);
void json_fields_close(struct json_fields *fields);

/*
 * Write {"name":value,...} with all values of @view.  If a number stands for a name, "NAME_name" is
 * that name.  The second value with the same name of a program is "NAME#2".
 */
void json_fields_write(struct json_fields *fields, struct out *out,
		       const struct tb_view *view);

/* Write the members of that object without its braces; @comma: and with a comma before the first */
void json_members_write(struct json_fields *fields, struct out *out,
			const struct tb_view *view, bool comma);

/* Stacks and counters of an event: ["schedule+0x12",...], ["0x1234",...], {"cycles":1,...} */
void json_stack_write(const struct tb_trace *trace, struct out *out,
		      const struct tb_view *view);
void json_user_stack_write(const struct tb_trace *trace, struct out *out,
			   const struct tb_view *view);
void json_counters_write(const struct tb_trace *trace, struct out *out,
			 const struct tb_view *view);

/* Write ,"stack":[...],"user_stack":[...],"counters":{...}; leave out those that the event lacks */
void json_extras_write(const struct tb_trace *trace, struct out *out,
		       const struct tb_view *view);

#endif /* TRACEBUF_JSON_FIELDS_H */
