// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Event descriptions as the text of a tracefs "format" file, for parsers of the kernel's format.
 *
 * The kernel's records begin with 8 bytes of struct trace_entry, ours with the payload: so the text
 * adds the common fields, and 8 to all offsets.
 */
#include "internal.h"
#include "lib/bounded_text.h"

#define TRACE_ENTRY_SIZE 8

int tb_field_declare(const struct tb_format_field *field, char *buffer,
		     size_t size)
{
	bool bracket = strchr(field->type, '['), loc = strstr(field->type, "_loc ");
	struct tb_text text = { .buffer = buffer, .size = size };

	/* a type that already says "__data_loc" stays as it is */
	if (field->flags & TB_FIELD_DATA_LOC && !loc)
		tb_text_printf(&text, "__data_loc ");
	else if (field->flags & TB_FIELD_REL_LOC && !loc)
		tb_text_printf(&text, "__rel_loc ");
	if (field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC)) {
		tb_text_printf(&text, "%s%s %s", field->type,
			       bracket || field->flags & TB_FIELD_CPUMASK ? "" : "[]",
			       field->name);
	} else if (field->count) {
		tb_text_printf(&text, "%.*s %s[%u]", (int)strcspn(field->type, "["),
			       field->type, field->name, field->count);
	} else {
		tb_text_printf(&text, "%s %s", field->type, field->name);
	}
	return (int)text.used;
}

int tb_format_text(const struct tb_format *format, unsigned int id,
		   char *buffer, size_t size)
{
	static const char common[] =
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
	struct tb_text text = { .buffer = buffer, .size = size };
	const struct tb_format_field *field;
	char declaration[2 * TB_NAME_MAX + 256];
	uint32_t i;

	tb_text_printf(&text, "name: %s\nID: %u\nformat:\n%s", format->name, id, common);
	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		tb_field_declare(field, declaration, sizeof(declaration));
		tb_text_printf(&text, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n",
			       declaration, field->offset + TRACE_ENTRY_SIZE, field->size,
			       !!(field->flags & TB_FIELD_SIGNED));
	}
	tb_text_printf(&text, "\nprint fmt: %s\n", format->print);
	return (int)text.used;
}
