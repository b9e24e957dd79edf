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

/* For the recording of @trace that is selected; times of losses are of @base; NULL: ENOMEM */
struct json_fields *json_fields_open(const struct tb_trace *trace,
				     enum tb_timebase base);
void json_fields_close(struct json_fields *fields);

/*
 * {"name":value,...} of all values of @view.  Where a number stands for something, "NAME_name"
 * says for what; what a program calls the same as another is "NAME#2".
 */
void json_fields_write(struct json_fields *fields, struct out *out,
		       const struct tb_view *view);

/* The members of that object without its braces, a comma before each if @comma is true */
void json_members_write(struct json_fields *fields, struct out *out,
			const struct tb_view *view, bool comma);

/* What goes with an event, if it does: ["schedule+0x12",...], ["0x1234",...], {"cycles":1,...} */
void json_stack_write(const struct tb_trace *trace, struct out *out,
		      const struct tb_view *view);
void json_user_stack_write(const struct tb_trace *trace, struct out *out,
			   const struct tb_view *view);
void json_counters_write(const struct tb_trace *trace, struct out *out,
			 const struct tb_view *view);

/* ,"stack":[...],"user_stack":[...],"counters":{...}: those that there are */
void json_extras_write(const struct tb_trace *trace, struct out *out,
		       const struct tb_view *view);

#endif /* TRACEBUF_JSON_FIELDS_H */
