// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print events with the kernel's own print formats.
 *
 * libtraceevent interprets these formats.  It needs the text of a tracefs "format" file for each
 * event, which tb_format_text() writes, and records of ftrace: a header of 8 bytes, the first two
 * of which are the id of the event, and the payload.  So an event is copied behind such a header.
 * The zeros behind it are longer than what formats that pass print_check() can read.
 *
 * This is not in libtracebuf, so that programs that do not print events need no libtraceevent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>
#include "print_format.h"
#include "lib/bounded_text.h"
#include "tool/command/command.h"

#define HEADER	8		/* struct trace_entry */
#define PAYLOAD	65536		/* more than an event can have */
#define RECORD	(HEADER + 2 * PAYLOAD + PRINT_LENGTH_MAX * PRINT_FACTOR_MAX)

enum state { UNKNOWN = 0, READY, UNUSABLE, NONE };

/* A format, prepared at its first event */
struct shape {
	enum state state;
	struct tep_event *event;
	uint32_t need;			/* least bytes of a payload with all fields */
	bool dynamic;			/* has fields that point to their data */
	bool lacks;			/* words of the print format are left out */
	struct print_lengths lengths;
};

struct print_format {
	const struct tb_trace *trace;
	struct tep_handle *tep;
	struct trace_seq text;
	struct shape *shapes;		/* by index of the format */
	unsigned char *record;
	uint32_t used;			/* bytes of the record's last payload */
	struct symbols *symbols;	/* those that the user names */
	char function[512];		/* the last name that resolve() found in the trace */
};

/* ---- functions that libtraceevent calls ---- */

/* Print an array as the kernel's __print_array() does; libtraceevent's is decimal.  @args: address
 * of the array, number of items, bytes of an item */
static unsigned long long print_array(struct trace_seq *text,
				      unsigned long long *args)
{
	const unsigned char *item = (const void *)(uintptr_t)args[0];
	unsigned long long i;
	uint64_t value;

	trace_seq_putc(text, '{');
	for (i = 0; i < args[1]; i++, item += args[2]) {
		value = 0;
		memcpy(&value, item, args[2] > 8 ? 8 : args[2]);
		trace_seq_printf(text, i ? ",0x%llx" : "0x%llx",
				 (unsigned long long)value);
	}
	trace_seq_putc(text, '}');
	return 0;
}

#define PRINT_ARRAY "tb_array"

static int add_functions(struct tep_handle *tep)
{
	static char name[] = PRINT_ARRAY;

	return tep_register_print_function(tep, print_array,
					   TEP_FUNC_ARG_STRING, name,
					   TEP_FUNC_ARG_PTR, TEP_FUNC_ARG_LONG,
					   TEP_FUNC_ARG_LONG, TEP_FUNC_ARG_VOID);
}

/* Find the function that contains @address, and its start: by the user's list, else by the trace */
static char *resolve(void *context, unsigned long long *address, char **module)
{
	struct print_format *print = context;
	uint64_t start, offset;
	const char *name;
	size_t length;

	(void)module;
	name = symbols_find(print->symbols, *address, &start);
	if (name) {
		*address = start;
	} else if (!tb_trace_symbol(print->trace, *address, &name, &length, &offset)) {
		snprintf(print->function, sizeof(print->function), "%.*s", (int)length, name);
		*address -= offset;
		name = print->function;
	}
	/* libtraceevent does not write to the name */
	return (char *)(uintptr_t)name;
}

/* ---- open and close ---- */

struct print_format *print_format_open(const struct tb_trace *trace,
				       struct symbols *symbols)
{
	struct print_format *print = calloc(1, sizeof(*print));

	if (!print)
		return NULL;
	print->trace = trace;
	print->symbols = symbols;
	print->record = calloc(1, RECORD);
	print->shapes = calloc(tb_trace_formats(trace) + 1,
			       sizeof(*print->shapes));
	print->tep = tep_alloc();
	trace_seq_init(&print->text);
	if (!print->record || !print->shapes || !print->tep ||
	    print->text.state != TRACE_SEQ__GOOD ||
	    tep_set_function_resolver(print->tep, resolve, print) ||
	    add_functions(print->tep)) {
		print_format_close(print);
		return NULL;
	}
	/* events that it cannot parse are shown as their fields */
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(print->tep, 8);
	tep_set_file_bigendian(print->tep, TEP_LITTLE_ENDIAN);
	return print;
}

void print_format_close(struct print_format *print)
{
	if (!print)
		return;
	if (print->tep)
		tep_free(print->tep);
	trace_seq_destroy(&print->text);
	free(print->shapes);
	free(print->record);
	free(print);
}

/* ---- formats ---- */

/* Replace @from in @text by @to, which is not longer, and blanks */
static void replace(char *text, const char *from, const char *to)
{
	size_t length = strlen(from);

	while ((text = strstr(text, from))) {
		memset(text, ' ', length);
		memcpy(text, to, strlen(to));
		text += length;
	}
}

/* The next comma between arguments, or the parenthesis behind the last one; NULL: neither */
static char *argument_end(char *text)
{
	int depth = 0;

	for (; *text; text++) {
		if (!depth && (*text == ',' || *text == ')'))
			return text;
		depth += (*text == '(') - (*text == ')');
	}
	return NULL;
}

/* Replace __print_array(a, b, c) by our function (a,(b),c): libtraceevent understands expressions
 * as arguments only in parentheses */
static void replace_arrays(char *text)
{
	static const char name[] = "__print_array(", ours[] = "   " PRINT_ARRAY;
	const size_t skip = sizeof(name) - 1;
	char *first, *second;

	while ((text = strstr(text, name))) {
		first = argument_end(text + skip);
		second = first ? argument_end(first + 1) : NULL;
		if (!second || *first != ',' || *second != ',')
			return;
		memcpy(text, ours, sizeof(ours) - 1);
		memmove(text + skip - 3, text + skip - 1,
			(size_t)(first - text) - skip + 2);
		first[-1] = '(';
		memmove(first, first + 1, (size_t)(second - first) - 1);
		second[-1] = ')';
		text = second;
	}
}

/* Replace texts that libtraceevent does not understand, or prints in another way than the kernel */
static void replace_all(char *text)
{
	static const char *const sizes[][2] = {
		{ "sizeof(u8)", "1" }, { "sizeof(char)", "1" },
		{ "sizeof(u16)", "2" }, { "sizeof(__u16)", "2" },
		{ "sizeof(u32)", "4" }, { "sizeof(__u32)", "4" },
		{ "sizeof(int)", "4" }, { "sizeof(unsigned int)", "4" },
		{ "sizeof(u64)", "8" }, { "sizeof(__u64)", "8" },
		{ "sizeof(long)", "8" }, { "sizeof(unsigned long)", "8" },
	};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		replace(text, sizes[i][0], sizes[i][1]);
	replace_arrays(text);
}

/* True if the text up to the closing parenthesis is more than a type or one operand */
static bool is_expression(const char *text)
{
	int depth = 0;

	for (; *text && depth >= 0; text++) {
		depth += (*text == '(') - (*text == ')');
		if (*text == '-' && text[1] == '>')
			text++;
		else if (strchr("&|+-*/%<>=^", *text) && !(*text == '*' &&
			 strspn(text, "* ") == strcspn(text, ")")))
			return true;
	}
	return false;
}

/*
 * Return a copy with casts before right operands in parentheses, as in a & (u64)(b | c); NULL: no
 * memory.  Without a cast libtraceevent drops the parentheses: a & (b | c) becomes (a & b) | c.
 */
static char *protect_operands(const char *text)
{
	static const char cast[] = "(u64)";
	char *copy = malloc(strlen(text) * sizeof(cast) + 1), *to = copy;
	bool quoted = false, after_operator = false;

	if (!copy)
		return NULL;
	for (; *text; *to++ = *text++) {
		if (quoted && *text == '\\' && text[1]) {
			*to++ = *text++;
		} else if (*text == '"') {
			quoted = !quoted;
		} else if (!quoted && *text == '(' && after_operator &&
			   is_expression(text + 1)) {
			memcpy(to, cast, sizeof(cast) - 1);
			to += sizeof(cast) - 1;
		}
		if (*text != ' ')
			after_operator = !quoted && strchr("&|+-*/%<>=^", *text) &&
					 !(*text == '>' && text[-1] == '-');
	}
	*to = 0;
	return copy;
}

static struct tep_event *parse(struct print_format *print,
			       const struct tb_format *format)
{
	struct tep_event *event = NULL;
	int size = tb_format_text(format, format->id, NULL, 0);
	char *text = malloc((size_t)size + 1), *safe;

	if (!text)
		return NULL;
	tb_format_text(format, format->id, text, (size_t)size + 1);
	safe = protect_operands(text);
	free(text);
	if (!safe)
		return NULL;
	/* not the event's own system: libtraceevent expects pointers to formats in records of a
	 * system "ftrace" */
	if (tep_parse_format(print->tep, &event, safe, strlen(safe),
			     "tracebuf"))
		event = NULL;
	free(safe);
	return event && !(event->flags & (int)TEP_EVENT_FL_FAILED) ? event : NULL;
}

static void prepare(struct print_format *print, const struct tb_format *format,
		    struct shape *shape)
{
	const struct tb_format_field *field;
	struct tb_format known = *format;
	char *text;
	uint32_t i;

	if (!*format->print || format->flags & TB_EVENT_SIMPLE) {
		shape->state = NONE;
		return;
	}
	shape->state = UNUSABLE;
	text = print_without_unknown(format);
	if (!text)
		return;
	shape->lacks = strcmp(text, format->print);
	replace_all(text);
	known.print = text;
	if (print_check_text(&known))
		shape->event = parse(print, &known);
	free(text);
	if (!shape->event ||
	    !print_check(&shape->event->print_fmt, format, &shape->lengths))
		return;
	for (i = 0; i < format->nr_fields; i++) {
		field = &format->fields[i];
		if (field->flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC))
			shape->dynamic = true;
		if (shape->need < (uint32_t)field->offset + field->size)
			shape->need = (uint32_t)field->offset + field->size;
	}
	shape->state = READY;
}

void print_format_complain(const struct print_format *print)
{
	const struct tb_format *format;
	unsigned int i;

	for (i = 0; (format = tb_trace_format_at(print->trace, i)); i++)
		if (print->shapes[i].state == UNUSABLE)
			note("%s:%s is shown by its fields: libtraceevent cannot use its print format",
			     format->system, format->name);
		else if (print->shapes[i].lacks)
			note("%s:%s is shown in part: its print format needs what the trace does not have",
			     format->system, format->name);
}

/* ---- events ---- */

/* True if the payload has all fields and their data, and no length is too large */
static bool is_whole(const struct shape *shape, const struct tb_view *view)
{
	const struct tb_format *format = view->format;
	const void *data;
	uint64_t value;
	size_t length;
	uint32_t i;

	if (view->length < shape->need || view->length > PAYLOAD)
		return false;
	for (i = 0; shape->dynamic && i < format->nr_fields; i++)
		if (format->fields[i].flags & (TB_FIELD_DATA_LOC | TB_FIELD_REL_LOC) &&
		    tb_field_data(view, &format->fields[i], &data, &length))
			return false;
	for (i = 0; i < shape->lengths.count; i++)
		if (tb_field_u64(view, shape->lengths.fields[i], &value) ||
		    value > PRINT_LENGTH_MAX)
			return false;
	return true;
}

static void render(struct print_format *print, const struct tb_view *view)
{
	struct tep_record record = {
		.data = print->record,
		.size = (int)(HEADER + view->length),
	};

	memcpy(print->record, &view->id, sizeof(view->id));
	memcpy(print->record + HEADER, view->payload, view->length);
	if (print->used > view->length)
		memset(print->record + HEADER + view->length, 0,
		       print->used - view->length);
	print->used = view->length;
	trace_seq_reset(&print->text);
	tep_print_event(print->tep, &print->text, &record, "%s", TEP_PRINT_INFO);
}

int print_format_event(struct print_format *print, const struct tb_view *view,
		       char *buffer, size_t size)
{
	const struct tb_format *format = view->format;
	struct tb_text plain = { .buffer = buffer, .size = size };
	const char *text;
	size_t length;
	struct shape *shape;

	if (view->kind != TB_VIEW_EVENT || !format)
		return -ENOTSUP;
	shape = &print->shapes[format->index];
	if (shape->state == UNKNOWN)
		prepare(print, format, shape);
	if (shape->state != READY)
		return -ENOTSUP;
	if (!is_whole(shape, view))
		return -ERANGE;
	render(print, view);
	text = print->text.buffer;
	length = print->text.len;
	if (print->text.state != TRACE_SEQ__GOOD)
		return -ENOTSUP;
	/* some formats end with newlines */
	while (length && text[length - 1] == '\n')
		length--;

	tb_text_escaped(&plain, text, length);
	return tb_text_end(&plain);
}
