// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the description of an event, struct tb_event_desc with what follows
 * it, so that readers need to know nothing about the kernel it came from.
 *
 * Print formats use names of enumerators, which mean nothing outside of the
 * kernel.  As ftrace does, names that the header has announced with
 * TRACE_DEFINE_ENUM() or TRACE_DEFINE_SIZEOF() are replaced by their values.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "catalog.h"

/* what fits into a block of 16 KiB besides its header and the first element */
#define TB_DESC_MAX	(16384 - sizeof(struct tb_block) - TB_ELEMENT_SIZE)

/*
 * A place to write to: counts on, and writes nothing, once @size is used up,
 * so that one and the same code tells the size and does the work.
 */
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

/* does the text at @p start with a name of @unit, and not go on after it? */
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

/* The print format with names replaced, but not in strings, nor members. */
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

/* Puts a string and says where it is among the strings. */
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

/* What the type and the name say beyond the flags in the table. */
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
 * @fast: the fields of the one-element form, to describe that; or NULL
 * @id: the id it is recorded with
 * @buf: where to, may be NULL if @size is 0
 * @size: room there
 *
 * A print format that would make the description larger than a durable block
 * can hold is left out.  The one-element form has none.
 *
 * Return: the bytes that the description takes; @buf is valid if that is not
 * more than @size.
 */
size_t tb_event_describe(const struct tb_event_def *def, const struct tb_field_def *fast, u16 id,
			 void *buf, size_t size)
{
	const struct tb_field_def *f, *fields = fast ?: def->fields;
	struct tb_event_desc desc = { .id = id };
	struct tb_desc_writer w = { .buf = buf, .size = size };
	size_t strings;
	unsigned int i;

	if (fast)
		desc.flags |= TB_EVENT_FAST;
	if (!strcmp(def->system, "raw_syscalls"))
		desc.flags |= TB_EVENT_SYSCALL;
	for (f = fields; f->name; f++)
		desc.nr_fields++;

	/* the strings first: the rest says where they are */
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

	if (!fast && def->print) {
		size_t before = w.len;

		tb_desc_put_print(&w, def);
		if (w.len <= TB_DESC_MAX)
			desc.print = before - strings;
		else
			w.len = before;
	}

	desc.strings = w.len - strings;
	if (size >= sizeof(desc))
		memcpy(buf, &desc, sizeof(desc));
	return w.len;
}
