// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - each event as a line with a JSON object.
 *
 *   {"time":5000002001,"cpu":0,"pid":100,"tid":100,"comm":"bash","context":"..",
 *    "type":"event","system":"irq","name":"softirq_entry","fields":{"vec":1,"vec_name":"TIMER"}}
 *
 * Unknown members are left out, for example the CPU of records of programs.
 */
#include <errno.h>
#include <stdlib.h>
#include "export.h"
#include "tool/choose/cgroup.h"
#include "tool/show/json_fields.h"
#include "tool/show/print_line.h"

struct jsonl {
	const struct tb_trace *trace;
	enum tb_timebase base;
	struct json_fields *fields;
	struct out out;
};

struct jsonl *jsonl_open(const struct tb_trace *trace, FILE *out,
			 enum tb_timebase base)
{
	struct jsonl *jsonl = calloc(1, sizeof(*jsonl));

	if (!jsonl)
		return NULL;
	jsonl->trace = trace;
	jsonl->base = base;
	jsonl->out.file = out;
	jsonl->fields = json_fields_open(trace, base);
	if (!jsonl->fields) {
		free(jsonl);
		return NULL;
	}
	return jsonl;
}

int jsonl_close(struct jsonl *jsonl)
{
	int result = out_write(&jsonl->out);

	json_fields_close(jsonl->fields);
	free(jsonl);
	return result;
}

/* Two letters, none of which needs escaping */
static void write_context(struct out *out, const struct tb_view *view)
{
	char *at;

	out_text(out, ",\"context\":\"");
	at = add_context(out_room(out, 4), view->context);
	*at++ = '"';
	out_took(out, at);
}

static void write_what(struct jsonl *jsonl, const struct tb_view *view)
{
	struct out *out = &jsonl->out;
	char spare[24];

	out_text(out, ",\"type\":\"");
	if (view->kind == TB_VIEW_LOST || view->kind == TB_VIEW_USER_LOST)
		out_text(out, "lost");
	else
		out_text(out, view->user ? tb_record_type_name(view->user->type) :
					   "event");
	out_text(out, "\",\"system\":");
	out_json_string(out, tb_view_system(view));
	if (view->kind == TB_VIEW_USER) {
		out_text(out, ",\"category\":");
		out_json_string(out, view->user->category);
	}
	out_text(out, ",\"name\":");
	out_json_string(out, event_name(view, spare));
	out_text(out, ",\"fields\":");
	json_fields_write(jsonl->fields, out, view);
}

static void write_text(struct out *out, const char *member, const char *text)
{
	if (!text)
		return;
	out_text(out, member);
	out_json_string(out, text);
}

static void write_cgroup(struct jsonl *jsonl, const struct tb_view *view)
{
	uint32_t cgroup = view->task ? view->task->cgroup : 0;
	char name[CGROUP_NAME_MAX];

	write_text(&jsonl->out, ",\"cgroup\":", cgroup_path(jsonl->trace, cgroup));
	write_text(&jsonl->out, ",\"container\":", cgroup_container(jsonl->trace, cgroup, name));
}

void jsonl_event(struct jsonl *jsonl, const struct tb_view *view)
{
	struct out *out = &jsonl->out;

	out_text(out, "{\"time\":");
	out_unsigned(out, tb_ns_in(jsonl->trace, jsonl->base, view->ticks, view->ns));
	if (view->cpu != TB_RING_DURABLE && view->cpu != TB_RING_USER) {
		out_text(out, ",\"cpu\":");
		out_unsigned(out, view->cpu);
	}
	if (view->kind != TB_VIEW_LOST) {
		out_text(out, ",\"pid\":");
		out_unsigned(out, process_of(view));
		out_text(out, ",\"tid\":");
		out_unsigned(out, view->tid);
		out_text(out, ",\"comm\":");
		out_json_string(out, view->comm);
		write_cgroup(jsonl, view);
	}
	if (view->kind == TB_VIEW_EVENT)
		write_context(out, view);
	write_what(jsonl, view);
	json_extras_write(jsonl->trace, out, view);
	out_text(out, "}\n");
}

int tb_export_jsonl(struct tb_trace *trace, FILE *out,
		    const struct tb_export_options *options)
{
	struct jsonl *jsonl = jsonl_open(trace, out, options->base);
	struct tb_cursor *cursor;
	struct tb_view view;
	int result, written;

	if (!jsonl)
		return -ENOMEM;
	result = tb_cursor_open(trace, &cursor);
	if (!result) {
		while (!jsonl->out.error &&
		       (result = tb_export_next(options, cursor, &view)) > 0)
			jsonl_event(jsonl, &view);
		tb_cursor_close(cursor);
	}
	written = jsonl_close(jsonl);
	return written < 0 ? written : result;
}
