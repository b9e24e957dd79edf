// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Event descriptions: from struct tb_event_desc to struct tb_format.
 *
 * A format is one allocation with its fields and a copy of its strings.  So free() frees all of it,
 * and it does not depend on the block that it came from.
 */
#include <errno.h>
#include <stdlib.h>
#include "internal.h"
#include "lib/function_field.h"
#include "lib/utf8.h"

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Bytes of one item of dynamic data, by the kernel's name of its type */
static unsigned int item_width(const char *type)
{
	static const struct {
		const char *word;
		unsigned int width;
	} widths[] = {
		{ "char", 1 }, { "u8", 1 }, { "s8", 1 }, { "bool", 1 },
		{ "int8_t", 1 }, { "short", 2 }, { "u16", 2 }, { "s16", 2 },
		{ "int16_t", 2 }, { "long", 8 }, { "u64", 8 }, { "s64", 8 },
		{ "int64_t", 8 }, { "size_t", 8 }, { "*", 8 }, { "u32", 4 },
		{ "s32", 4 }, { "int32_t", 4 }, { "int", 4 }, { "pid_t", 4 },
	};
	size_t i;

	for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (strstr(type, widths[i].word))
			return widths[i].width;
	return 1;
}

static uint8_t field_width(const struct tb_format_field *field)
{
	unsigned int width = field->size;

	if (field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC))
		width = item_width(field->type);
	else if ((field->flags & (TB_FIELD_ARRAY | TB_FIELD_STRING |
				  TB_FIELD_CPUMASK)) && field->count)
		width = field->size / field->count;
	else if (field->flags & TB_FIELD_STRING)
		width = 1;
	return width == 1 || width == 2 || width == 4 || width == 8 ?
	       (uint8_t)width : 0;
}

int tb_field_is_text(const struct tb_format_field *field)
{
	if (field->flags & TB_FIELD_CPUMASK)
		return 0;
	if (field->flags & TB_FIELD_STRING)
		return 1;
	return (field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC)) &&
	       strstr(field->type, "char[") && !strstr(field->type, "unsigned char");
}

static uint8_t field_show(const struct tb_format *format,
			  const struct tb_format_field *field)
{
	if (field->flags & TB_FIELD_CPUMASK)
		return TB_SHOW_MASK;
	if (tb_field_is_text(field))
		return TB_SHOW_TEXT;
	if (field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC |
			    TB_FIELD_ARRAY))
		return field->width ? TB_SHOW_ARRAY : TB_SHOW_BYTES;
	if (!field->width)
		return TB_SHOW_BYTES;
	if (!strcmp(field->name, "prev_state") &&
	    !strcmp(format->name, "sched_switch"))
		return TB_SHOW_STATE;
	if (!strcmp(format->system, "raw_syscalls") &&
	    (!strcmp(field->name, "id") || !strcmp(field->name, "nr")))
		return TB_SHOW_SYSCALL;
	if (!strcmp(field->name, "vec") && starts_with(format->name, "softirq_"))
		return TB_SHOW_SOFTIRQ;
	if (field->width == sizeof(uint64_t) && !(field->flags & TB_FIELD_SIGNED) &&
	    is_function_field(format->print, field->name))
		return TB_SHOW_FUNCTION;
	if (field->flags & TB_FIELD_HEX || strchr(field->type, '*'))
		return TB_SHOW_HEX;
	if (field->flags & TB_FIELD_SIGNED && !strcmp(format->system, "signal")) {
		if (!strcmp(field->name, "sig"))
			return TB_SHOW_SIGNAL;
		if (!strcmp(field->name, "code"))
			return TB_SHOW_SIGNAL_CODE;
	}
	if (!(field->flags & TB_FIELD_SIGNED))
		return TB_SHOW_UNSIGNED;
	return !strcmp(field->name, "ret") && (!strcmp(format->system, "raw_syscalls") ||
					       !strcmp(format->system, "syscalls")) ?
	       TB_SHOW_RESULT : TB_SHOW_SIGNED;
}

/* Note which fields tell something of threads */
static void format_known(struct tb_format *format)
{
	static const struct {
		const char *system, *name;
		uint32_t known;
		const char *fields[4];	/* tid, name; then another tid and name, or flags */
	} events[] = {
		{ "sched", "sched_switch", TB_KNOWN_SWITCH,
		  { "prev_pid", "prev_comm", "next_pid", "next_comm" } },
		{ "sched", "sched_wakeup", TB_KNOWN_WAKEUP, { "pid", "comm" } },
		{ "sched", "sched_wakeup_new", TB_KNOWN_WAKEUP, { "pid", "comm" } },
		{ "sched", "sched_waking", TB_KNOWN_WAKEUP, { "pid", "comm" } },
		{ "sched", "sched_process_fork", TB_KNOWN_FORK,
		  { "child_pid", "child_comm" } },
		{ "sched", "sched_process_exit", TB_KNOWN_WAKEUP, { "pid", "comm" } },
		{ "task", "task_newtask", TB_KNOWN_NEWTASK,
		  { "pid", "comm", "clone_flags" } },
		{ "task", "task_rename", TB_KNOWN_RENAME, { "pid", "newcomm" } },
	};
	size_t i, j;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (strcmp(format->system, events[i].system) ||
		    strcmp(format->name, events[i].name))
			continue;
		format->known = events[i].known;
		for (j = 0; j < 4 && events[i].fields[j]; j++)
			format->telling[j] = tb_format_field(format,
							     events[i].fields[j]);
	}
}

/* Programs that do not know the file show these names as they are */
static void make_plain(char *text)
{
	utf8_plain(text, strlen(text));
}

static int parse(const void *payload, size_t size, struct tb_format **out, const char **wrong)
{
	const struct tb_event_desc *desc = payload;
	const struct tb_field *raw;
	struct tb_format_field *fields;
	struct tb_format *format;
	const char *text;
	char *strings;
	unsigned int i;

	*wrong = "an event description is too short";
	if (size < sizeof(*desc) ||
	    size < sizeof(*desc) + desc->nr_fields * sizeof(*raw) + desc->strings)
		return -EBADMSG;
	raw = (const struct tb_field *)(desc + 1);
	*wrong = "an event description's id is out of range";
	if (desc->id < TB_EV_FIRST || desc->id >= TB_EVENT_IDS)
		return -EBADMSG;
	*wrong = "an event description's strings are not terminated";
	if (!desc->strings ||
	    ((const char *)(raw + desc->nr_fields))[desc->strings - 1])
		return -EBADMSG;
	*wrong = "an event description points outside of its strings";
	if (desc->system >= desc->strings || desc->name >= desc->strings ||
	    desc->print >= desc->strings)
		return -EBADMSG;
	for (i = 0; i < desc->nr_fields; i++)
		if (raw[i].name >= desc->strings || raw[i].type >= desc->strings)
			return -EBADMSG;
	*wrong = "an event description has a name that is too long";
	text = (const char *)(raw + desc->nr_fields);
	if (strlen(text + desc->system) >= TB_NAME_MAX ||
	    strlen(text + desc->name) >= TB_NAME_MAX)
		return -EBADMSG;
	for (i = 0; i < desc->nr_fields; i++)
		if (strlen(text + raw[i].name) >= TB_NAME_MAX)
			return -EBADMSG;

	format = calloc(1, sizeof(*format) + desc->nr_fields * sizeof(*fields) +
			desc->strings);
	if (!format)
		return -ENOMEM;
	fields = (struct tb_format_field *)(format + 1);
	strings = (char *)(fields + desc->nr_fields);
	memcpy(strings, raw + desc->nr_fields, desc->strings);
	make_plain(strings + desc->system);
	make_plain(strings + desc->name);
	for (i = 0; i < desc->nr_fields; i++) {
		make_plain(strings + raw[i].name);
		make_plain(strings + raw[i].type);
	}
	format->id = desc->id;
	format->flags = desc->flags;
	format->context = desc->context;
	format->nr_fields = desc->nr_fields;
	format->fields = fields;
	format->system = strings + desc->system;
	format->name = strings + desc->name;
	format->print = desc->print ? strings + desc->print : "";
	for (i = 0; i < desc->nr_fields; i++) {
		fields[i].name = strings + raw[i].name;
		fields[i].type = strings + raw[i].type;
		fields[i].offset = raw[i].offset;
		fields[i].size = raw[i].size;
		fields[i].count = raw[i].count;
		fields[i].flags = raw[i].flags;
		fields[i].bit = raw[i].bit;
		fields[i].bits = raw[i].bits;
		fields[i].width = field_width(&fields[i]);
		fields[i].show = field_show(format, &fields[i]);
	}
	format_known(format);
	*out = format;
	return 0;
}

int tb_format_parse(const void *payload, size_t size, struct tb_format **out,
		    const char **wrong)
{
	void *copy = malloc(size ? size : 1);
	int result;

	*wrong = "out of memory";
	if (!copy)
		return -ENOMEM;
	/* a mapped file may change between parse()'s checks and its use */
	memcpy(copy, payload, size);
	result = parse(copy, size, out, wrong);
	free(copy);
	return result;
}

const struct tb_format_field *tb_format_field(const struct tb_format *format,
					      const char *name)
{
	unsigned int i;

	if (!format)
		return NULL;
	for (i = 0; i < format->nr_fields; i++)
		if (!strcmp(format->fields[i].name, name))
			return &format->fields[i];
	return NULL;
}
