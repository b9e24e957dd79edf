// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the description of an event: struct tb_event_desc, its fields and strings.
 *
 * Print formats use names of enumerators, which mean nothing outside the kernel.  As ftrace does,
 * replace names that the header announces with TRACE_DEFINE_ENUM() or TRACE_DEFINE_SIZEOF() by
 * their values.
 *
 * Callers: catalog.c and select/, in process context, without locks, while the definition is valid.
 */
#include <linux/ctype.h>

#include "../provider/durable.h"
#include "catalog.h"

/* Beyond @size the writer only counts, so that the same code computes the size and writes. */
struct tb_desc_writer {
	char *buf;
	size_t size;
	size_t len;
};

static void tb_desc_put(struct tb_desc_writer *w, const void *data, size_t bytes)
{
	if (bytes <= w->size && w->len <= w->size - bytes)
		memcpy(w->buf + w->len, data, bytes);
	w->len += bytes;
}

static bool tb_is_ident(char c)
{
	return isalnum(c) || c == '_';
}

/* Return the name of @unit that the text at @p starts with, if the identifier ends there. */
static const struct tb_eval *tb_eval_at(const struct tb_unit *unit, const char *p)
{
	const struct tb_eval *e;

	list_for_each_entry(e, &unit->evals, list) {
		size_t len;

		if (*e->name != *p)
			continue;
		len = strlen(e->name);
		if (!strncmp(p, e->name, len) &&
		    !(tb_is_ident(p[len - 1]) && tb_is_ident(p[len])))
			return e;
	}
	return NULL;
}

/* Write the print format with names replaced, but not in strings or member names. */
static void tb_desc_put_print(struct tb_desc_writer *w, const struct tb_event_def *def)
{
	const char *p = def->print;
	bool quoted = false;

	while (*p) {
		const char *start = p;

		if (quoted || !tb_is_ident(*p)) {
			if (*p == '"')
				quoted = !quoted;
			else if (*p == '\\' && p[1])
				p++;
			else if (!quoted && *p == '-' && p[1] == '>')
				for (p++; tb_is_ident(p[1]); p++)
					;
			else if (!quoted && *p == '.')
				for (; tb_is_ident(p[1]); p++)
					;
			p++;
		} else {
			const struct tb_eval *e = NULL;

			if (!isdigit(*p))
				e = tb_eval_at(def->unit, p);
			if (e) {
				char value[24];

				tb_desc_put(w, value, scnprintf(value, sizeof(value),
								"%ld", e->value));
				p += strlen(e->name);
				continue;
			}
			while (tb_is_ident(*p))
				p++;
		}
		tb_desc_put(w, start, p - start);
	}
	tb_desc_put(w, "", 1);
}

/* Write a string.  Return its offset among the strings. */
static u16 tb_desc_put_string(struct tb_desc_writer *w, size_t strings, const char *s)
{
	size_t at = w->len - strings;

	tb_desc_put(w, s, strlen(s) + 1);
	return at;
}

static bool tb_ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);

	return len >= n && !strcmp(s + len - n, end);
}

/* Return the flags of the table, and those that follow from the field's type and name. */
static u16 tb_field_flags(const struct tb_field_def *f)
{
	static const char *const hex[] = {
		"ip", "addr", "address", "args", "caller", "call_site",
		"callsite", "flags", "function", "handler", "ptr",
	};
	u16 flags = f->flags;
	size_t i;

	if (flags & (TB_FIELD_ARRAY | TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC) &&
	    !strcmp(f->type, "char")) {
		flags |= TB_FIELD_STRING;
	} else if (strchr(f->type, '*')) {
		flags |= TB_FIELD_HEX;
		flags &= ~TB_FIELD_SIGNED;
	} else if (!(flags & TB_FIELD_SIGNED)) {
		for (i = 0; i < ARRAY_SIZE(hex); i++)
			if (tb_ends_with(f->name, hex[i]))
				flags |= TB_FIELD_HEX;
	}
	return flags;
}

/**
 * tb_event_describe() - write the description of an event
 * @def: the event
 * @compact: the compact form to describe; NULL: the form of @def
 * @id: the id that the form is recorded with
 * @buf: out: the description; may be NULL if @size is 0
 * @size: bytes of @buf
 *
 * Leaves out a print format that would make the description larger than a durable block can hold.
 * Simple events have no print format.
 *
 * Context: any, while @def is valid.
 * Return: bytes of the description; @buf has all of it if that is at most @size.
 */
size_t tb_event_describe(const struct tb_event_def *def, const struct tb_compact_def *compact,
			 u16 id, void *buf, size_t size)
{
	const struct tb_field_def *f, *fields = compact ? compact->fields : def->fields;
	struct tb_event_desc desc = { .id = id };
	struct tb_desc_writer w = { .buf = buf, .size = size };
	size_t strings;
	unsigned int i;

	if (compact || def->simple)
		desc.flags |= TB_EVENT_SIMPLE;
	if (compact)
		desc.context = compact->context;
	if (!strcmp(def->system, "raw_syscalls"))
		desc.flags |= TB_EVENT_SYSCALL;
	if (def->cut)
		desc.flags |= TB_EVENT_SHORT;
	for (f = fields; f->name; f++)
		desc.nr_fields++;

	/* write the strings first: the rest has their offsets */
	strings = sizeof(desc) + desc.nr_fields * sizeof(struct tb_field);
	w.len = strings;
	tb_desc_put(&w, "", 1);
	desc.system = tb_desc_put_string(&w, strings, def->system);
	desc.name = tb_desc_put_string(&w, strings, def->name);

	for (i = 0; i < desc.nr_fields; i++) {
		struct tb_desc_writer at = {
			.buf = buf, .size = size,
			.len = sizeof(desc) + i * sizeof(struct tb_field),
		};
		struct tb_field field = {
			.offset = fields[i].offset,
			.size = fields[i].size,
			.count = fields[i].count,
			.flags = tb_field_flags(&fields[i]),
			.bit = fields[i].bit,
			.bits = fields[i].bits,
		};

		field.name = tb_desc_put_string(&w, strings, fields[i].name);
		field.type = tb_desc_put_string(&w, strings, fields[i].type);
		tb_desc_put(&at, &field, sizeof(field));
	}

	if (!(desc.flags & TB_EVENT_SIMPLE) && def->print) {
		size_t before = w.len;

		tb_desc_put_print(&w, def);
		if (w.len <= TB_DURABLE_PAYLOAD)
			desc.print = before - strings;
		else
			w.len = before;
	}

	desc.strings = w.len - strings;
	if (size >= sizeof(desc))
		memcpy(buf, &desc, sizeof(desc));
	return w.len;
}
