// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event descriptions of a trace, for the tests: their form, and the values of fields. Written from
 * the ABI header alone, like stream.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

static const struct tb_field *fields(const struct tb_event_desc *d)
{
	return (const void *)(d + 1);
}

static const char *strings(const struct tb_event_desc *d)
{
	return (const char *)(fields(d) + d->nr_fields);
}

const char *desc_string(const struct tb_event_desc *d, uint16_t offset)
{
	return strings(d) + offset;
}

static const char *field_check(const struct tb_event_desc *d, const struct tb_field *f)
{
	if (f->name >= d->strings || f->type >= d->strings)
		return "field: name or type outside the strings";
	if (!*desc_string(d, f->name) || !*desc_string(d, f->type))
		return "field without name or type";
	if (strlen(desc_string(d, f->name)) >= TB_NAME_MAX)
		return "field name too long";
	if (f->reserved || f->flags & ~(2 * TB_FIELD_COUNT - 1))
		return "field: reserved not zero";
	if (f->flags & TB_FIELD_BITS) {
		if (!f->bits || f->bit + f->bits > 8 * f->size)
			return "field: bits outside the word";
	} else if (f->bit || f->bits) {
		return "field: bits without TB_FIELD_BITS";
	}
	if (f->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC) && f->size != 4)
		return "field: location that is not 4 bytes";
	if (!(f->flags & TB_FIELD_ARRAY) != !f->count)
		return "field: count without array";
	if (f->count && f->size % f->count)
		return "field: size is not a multiple of count";
	return NULL;
}

const char *desc_check(const struct tb_event_desc *d, size_t size)
{
	const char *wrong;
	int i;

	if (size < sizeof(*d) ||
	    size != sizeof(*d) + d->nr_fields * sizeof(struct tb_field) + d->strings)
		return "size";
	if (d->id < TB_EV_FIRST || d->id >= STREAM_IDS)
		return "id";
	if (!(d->flags & TB_EVENT_SIMPLE) != !(d->id & 1))
		return "simple form without an odd id, or an odd id without it";
	if (d->flags & ~(TB_EVENT_SIMPLE | TB_EVENT_SYSCALL | TB_EVENT_SHORT) ||
	    (d->context && !(d->flags & TB_EVENT_SIMPLE)))
		return "flags or context";
	if (!d->strings || strings(d)[0] || strings(d)[d->strings - 1])
		return "strings";
	if (d->system >= d->strings || d->name >= d->strings || d->print >= d->strings)
		return "name outside the strings";
	if (!*desc_string(d, d->system) || !*desc_string(d, d->name))
		return "no name";
	for (i = 0; i < d->nr_fields; i++) {
		wrong = field_check(d, &fields(d)[i]);
		if (wrong)
			return wrong;
	}
	return NULL;
}

const struct tb_field *desc_field(const struct tb_event_desc *d, const char *name)
{
	int i;

	for (i = 0; i < d->nr_fields; i++)
		if (!strcmp(desc_string(d, fields(d)[i].name), name))
			return &fields(d)[i];
	return NULL;
}

int64_t desc_value(const struct tb_event_desc *d, const char *name, const uint8_t *payload)
{
	const struct tb_field *f = desc_field(d, name);
	uint64_t v = 0;
	int bits;

	if (!f || f->size > 8) {
		fprintf(stderr, "# %s has no integer field %s\n", desc_string(d, d->name), name);
		abort();
	}
	memcpy(&v, payload + f->offset, f->size);
	bits = 8 * f->size;
	if (f->flags & TB_FIELD_BITS) {
		v >>= f->bit;
		bits = f->bits;
	}
	if (bits == 64)
		return v;
	v &= (1ull << bits) - 1;
	if (f->flags & TB_FIELD_SIGNED && v >> (bits - 1))
		v |= ~0ull << bits;
	return v;
}

bool stream_selects(const struct stream *s, const char *name)
{
	uint32_t id;

	for (id = TB_EV_FIRST; id < STREAM_IDS; id++) {
		const struct tb_event_desc *d = s->desc[id].desc;

		if (d && s->selection[id / 8] >> id % 8 & 1 &&
		    !strcmp(desc_string(d, d->name), name))
			return true;
	}
	return false;
}

bool stream_is(const struct stream *s, const struct stream_event *e, const char *name)
{
	const struct tb_event_desc *d = s->desc[e->id].desc;

	return e->id >= TB_EV_FIRST && d && !strcmp(desc_string(d, d->name), name);
}

int64_t stream_value(const struct stream *s, const struct stream_event *e, const char *name)
{
	return desc_value(s->desc[e->id].desc, name, e->payload);
}
