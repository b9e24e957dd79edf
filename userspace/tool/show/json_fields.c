// SPDX-License-Identifier: GPL-2.0-only
/*
 * The values of an event as a JSON object.  The keys of an event of the kernel are always the same,
 * so make_keys() formats them once, at the first event of a format.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "json_fields.h"
#include "frames.h"
#include "print_stack.h"

/* Values of a record that write_value() compares the names of */
#define NAMES_MAX 1024

/* Places of "name": and "name_name": of one field in keys.text */
struct key {
	uint32_t at, length;
	uint32_t meaning_at, meaning_length;
};

struct keys {
	char *text;
	struct key list[];
};

struct json_fields {
	const struct tb_trace *trace;
	enum tb_timebase base;
	struct out *out;
	uint32_t count;			/* values of this event so far */
	bool comma;			/* write a comma before the first */
	const char *names[NAMES_MAX];
	struct out scratch;
	struct keys *keys[];		/* by format index */
};

struct json_fields *json_fields_open(const struct tb_trace *trace,
				     enum tb_timebase base)
{
	size_t count = tb_trace_formats(trace);
	struct json_fields *fields;

	fields = calloc(1, sizeof(*fields) + count * sizeof(fields->keys[0]));
	if (fields) {
		fields->trace = trace;
		fields->base = base;
	}
	return fields;
}

void json_fields_close(struct json_fields *fields)
{
	size_t i;

	if (!fields)
		return;
	for (i = 0; i < tb_trace_formats(fields->trace); i++) {
		if (fields->keys[i])
			free(fields->keys[i]->text);
		free(fields->keys[i]);
	}
	free(fields);
}

/* ---- events of the kernel ---- */

/* NULL: no memory */
static struct keys *make_keys(struct json_fields *fields,
			      const struct tb_format *format)
{
	struct out *out = &fields->scratch;
	struct keys *keys;
	char *text = NULL;
	size_t length;
	uint32_t i;

	keys = calloc(1, sizeof(*keys) +
			 format->nr_fields * sizeof(keys->list[0]));
	out->file = keys ? open_memstream(&text, &length) : NULL;
	if (!out->file) {
		free(keys);
		return NULL;
	}
	for (i = 0; i < format->nr_fields; i++) {
		struct key *key = &keys->list[i];
		char name[TB_NAME_MAX + 8];

		key->at = (uint32_t)(ftell(out->file));
		if (i)
			out_char(out, ',');
		out_json_string(out, format->fields[i].name);
		out_char(out, ':');
		out_write(out);
		key->meaning_at = (uint32_t)ftell(out->file);
		key->length = key->meaning_at - key->at;
		snprintf(name, sizeof(name), VALUE_NAME, format->fields[i].name);
		out_char(out, ',');
		out_json_string(out, name);
		out_char(out, ':');
		out_write(out);
		key->meaning_length = (uint32_t)ftell(out->file) - key->meaning_at;
	}
	if (fclose(out->file) || out->error) {
		free(text);
		free(keys);
		return NULL;
	}
	keys->text = text;
	return keys;
}

static void write_fields(struct json_fields *fields, struct out *out,
			 const struct tb_view *view)
{
	const struct tb_format *format = view->format;
	struct keys *keys = fields->keys[format->index];
	struct value value;
	uint32_t i;

	if (!keys) {
		keys = fields->keys[format->index] = make_keys(fields, format);
		if (!keys) {
			out->error = -ENOMEM;
			return;
		}
	}
	for (i = 0; i < format->nr_fields; i++) {
		const struct key *key = &keys->list[i];

		out_data(out, keys->text + key->at, key->length);
		value_of(fields->trace, view, &format->fields[i], &value);
		value_json(out, &value);
		if (!value.meaning)
			continue;
		out_data(out, keys->text + key->meaning_at, key->meaning_length);
		out_json_string(out, value.meaning);
	}
}

/* ---- all others ---- */

/* Return the number of earlier values with this name */
static uint32_t same_names(const struct json_fields *fields, const char *name)
{
	uint32_t i, same = 0;

	for (i = 0; i < fields->count && i < NAMES_MAX; i++)
		same += !strcmp(fields->names[i], name);
	return same;
}

static void write_value(void *context, const struct value *value)
{
	struct json_fields *fields = context;
	struct out *out = fields->out;
	uint32_t same = same_names(fields, value->name);

	if (fields->count || fields->comma)
		out_char(out, ',');
	if (fields->count < NAMES_MAX)
		fields->names[fields->count] = value->name;
	fields->count++;
	out_json_string(out, value->name);
	if (same) {
		/* into the string, before its quote */
		out->used--;
		out_char(out, '#');
		out_unsigned(out, same + 1);
		out_char(out, '"');
	}
	out_char(out, ':');
	value_json(out, value);
}

void json_members_write(struct json_fields *fields, struct out *out,
			const struct tb_view *view, bool comma)
{
	if (view->kind == TB_VIEW_EVENT && view->format) {
		if (comma && view->format->nr_fields)
			out_char(out, ',');
		write_fields(fields, out, view);
		return;
	}
	fields->out = out;
	fields->count = 0;
	fields->comma = comma;
	values_each(fields->trace, view, fields->base, write_value, fields);
}

void json_fields_write(struct json_fields *fields, struct out *out,
		       const struct tb_view *view)
{
	out_char(out, '{');
	json_members_write(fields, out, view, false);
	out_char(out, '}');
}

/* ---- stacks and counters ---- */

static void write_address(const struct tb_trace *trace, struct out *out,
			  uint64_t ip)
{
	char text[STACK_SYMBOL_MAX];

	if (stack_symbol(trace, ip, text, sizeof(text)) < 0)
		snprintf(text, sizeof(text), "0x%" PRIx64, ip);
	out_json_string(out, text);
}

void json_counters_write(const struct tb_trace *trace, struct out *out,
			 const struct tb_view *view)
{
	char spare[16];
	const char *name;
	uint64_t value;
	uint32_t number;
	unsigned int i;

	out_char(out, '{');
	for (i = 0; tb_view_counter(view, i, &number, &value); i++) {
		if (i)
			out_char(out, ',');
		name = tb_trace_string(trace, TB_STRING_COUNTER, number);
		snprintf(spare, sizeof(spare), "%u", number);
		out_json_string(out, name ? name : spare);
		out_char(out, ':');
		out_json_unsigned(out, value);
	}
	out_char(out, '}');
}

void json_stack_write(const struct tb_trace *trace, struct out *out,
		      const struct tb_view *view)
{
	uint32_t i;

	out_char(out, '[');
	for (i = 0; i < view->nr_stack; i++) {
		if (i)
			out_char(out, ',');
		write_address(trace, out, view->stack[i]);
	}
	out_char(out, ']');
}

void json_user_stack_write(const struct tb_trace *trace, struct out *out,
			   const struct tb_view *view)
{
	char text[STACK_SYMBOL_MAX + 512];
	const struct frame *frames;
	unsigned int count, i;
	uint32_t index, behind;

	out_char(out, '[');
	for (index = 0; index < view->nr_user_stack; index++) {
		count = frames_of(trace, view, index, &frames, &behind);
		for (i = 0; i < count; i++) {
			if (index || i)
				out_char(out, ',');
			snprintf(text, sizeof(text), frames[i].named && !frames[i].inlined ?
				 "%s+0x%" PRIx64 : "%s", frames[i].name,
				 frames[i].offset + behind);
			out_json_string(out, text);
		}
	}
	out_char(out, ']');
}

void json_extras_write(const struct tb_trace *trace, struct out *out,
		       const struct tb_view *view)
{
	if (view->kind != TB_VIEW_EVENT)
		return;
	if (view->nr_stack) {
		out_text(out, ",\"stack\":");
		json_stack_write(trace, out, view);
	}
	if (view->nr_user_stack) {
		out_text(out, ",\"user_stack\":");
		json_user_stack_write(trace, out, view);
	}
	if (view->counter_mask) {
		out_text(out, ",\"counters\":");
		json_counters_write(trace, out, view);
	}
}
