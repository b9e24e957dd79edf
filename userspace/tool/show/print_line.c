// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event as a line of 'tracebuf print'.
 */
#include <inttypes.h>
#include <string.h>
#include "call.h"
#include "out.h"
#include "print_line.h"
#include "print_stack.h"
#include "analysis/cgroup_names.h"

/* Bytes of a container's name that are shown */
#define CONTAINER_MAX 100

static char *add_decimal(char *at, uint64_t value, unsigned int width)
{
	char digits[20];
	size_t count = (size_t)(put_decimal(digits, value) - digits);

	for (; width > count; width--)
		*at++ = '0';
	memcpy(at, digits, count);
	return at + count;
}

static char *add_text(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

/* "comm-tid", right-aligned in 23 columns; bytes that are not printable ASCII become '?' */
static char *add_task(char *at, const struct tb_view *view)
{
	char text[48], *end = text;
	const char *from;
	size_t length;

	for (from = view->comm; *from && end - text < 20; from++)
		*end++ = *from >= 0x20 && *from < 0x7f ? *from : '?';
	*end++ = '-';
	end = add_decimal(end, view->tid, 1);
	length = (size_t)(end - text);
	for (; length < 23; length++)
		*at++ = ' ';
	memcpy(at, text, (size_t)(end - text));
	return at + (end - text);
}

/* " container", left-aligned in 20 columns; blank if the thread is in none, or it is not known */
static char *add_container(char *at, const struct tb_trace *trace, const struct tb_view *view)
{
	char name[CGROUP_NAME_MAX], *start = at;
	const char *from = view->task ? cgroup_container(trace, view->task->cgroup, name) : NULL;

	*at++ = ' ';
	for (; from && *from && at - start < CONTAINER_MAX; from++)
		*at++ = *from > 0x20 && *from < 0x7f ? *from : '?';
	while (at - start < 21)
		*at++ = ' ';
	return at;
}

char *add_context(char *at, unsigned int context)
{
	unsigned int depth = context & TB_CONTEXT_PREEMPT_MASK;
	char where = '.';

	if (context & TB_CONTEXT_NMI)
		where = 'z';
	else if (context & TB_CONTEXT_HARDIRQ)
		where = context & TB_CONTEXT_SOFTIRQ ? 'H' : 'h';
	else if (context & TB_CONTEXT_SOFTIRQ)
		where = 's';
	*at++ = where;
	*at++ = !depth ? '.' : depth > 9 ? '+' : (char)('0' + depth);
	return at;
}

static char *add_time(char *at, const struct print_line *print,
		      const struct tb_view *view)
{
	uint64_t ns;

	if (print->ticks)
		return add_decimal(at, view->ticks, 1);
	ns = tb_ns_in(print->trace, print->base, view->ticks, view->ns);
	at = add_decimal(at, ns / 1000000000, 1);
	*at++ = '.';
	return add_decimal(at, ns % 1000000000, 9);
}

/*
 * Add names to the numbers that begin the kernel's text of an event: "sig=17 (SIGCHLD) errno=0
 * code=1 (CLD_EXITED) ...".  @length: of the text, as snprintf() returns it.  Returns the new
 * length.
 */
static int add_signal_names(const struct tb_view *view, char *buffer, size_t size, int length)
{
	static const char *const names[] = { "sig", "errno", "code" };
	char plain[96], named[160], spare[24];
	size_t old = 0, new = 0, i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct tb_format_field *field = tb_format_field(view->format, names[i]);
		const char *name = NULL;
		int64_t number;

		if (!field || tb_field_s64(view, field, &number))
			return length;
		if (field->show == TB_SHOW_SIGNAL)
			name = tb_signal_name(number, spare);
		else if (field->show == TB_SHOW_SIGNAL_CODE)
			name = tb_signal_code_name(view, number);
		old += (size_t)snprintf(plain + old, sizeof(plain) - old, "%s=%" PRId64 " ",
					names[i], number);
		new += (size_t)snprintf(named + new, sizeof(named) - new,
					name ? "%s=%" PRId64 " (%s) " : "%s=%" PRId64 " ",
					names[i], number, name);
	}
	if (strncmp(buffer, plain, old) || (size_t)length + new - old >= size)
		return length;
	memmove(buffer + new, buffer + old, (size_t)length + 1 - old);
	memcpy(buffer, named, new);
	return length + (int)(new - old);
}

/* True if the event has a number of a signal */
static bool has_signal(const struct tb_view *view)
{
	return view->format && view->format->nr_fields &&
	       view->format->fields[0].show == TB_SHOW_SIGNAL;
}

/* Write the contents of an event, like snprintf() */
static int put_text(const struct print_line *print, const struct tb_view *view,
		    char *buffer, size_t size)
{
	int length = -1;

	if (print->formats)
		length = call_print(print->trace, print->files, view, buffer, size);
	if (length < 0 && print->formats)
		length = print_format_event(print->formats, view, buffer, size);
	if (length >= 0 && has_signal(view))
		length = add_signal_names(view, buffer, size, length);
	return length >= 0 ? length : tb_view_print(print->trace, view, buffer, size);
}

/* "system:event"; the name of a record is any bytes of a program */
static char *add_name(char *at, const struct tb_view *view)
{
	char spare[24];
	const char *from = tb_view_name(view, spare);
	size_t length = 0;

	at = add_text(at, tb_view_system(view));	/* each < TB_NAME_MAX */
	*at++ = ':';
	if (!view->user)
		return add_text(at, from);
	for (; *from && length < TB_NAME_MAX; from++, length++)
		*at++ = *from > 0x20 && *from < 0x7f ? *from : '?';
	return at;
}

static char *add_lost_source(char *at, const struct tb_view *view)
{
	if (view->kind == TB_VIEW_LOST) {
		at = add_text(at, "-- CPU ");
		at = add_decimal(at, view->cpu, 1);
	} else {
		at = add_text(at, "-- writer ");
		at = add_decimal(at, view->user->producer, 1);
		*at++ = '/';
		at = add_decimal(at, view->user->writer_id, 1);
		at = add_text(at, " of thread ");
		at = add_decimal(at, view->tid, 1);
	}
	return add_text(at, ": ");
}

void print_line(FILE *out, const struct print_line *print,
		const struct tb_view *view)
{
	char line[4096 + 512 + CONTAINER_MAX], *at = line;
	int length;

	if (view->kind == TB_VIEW_LOST || view->kind == TB_VIEW_USER_LOST) {
		at = add_lost_source(at, view);
		length = tb_view_print(print->trace, view, at, 4096);
		at += length < 4096 ? length : 4095;
		at = add_text(at, " --\n");
		fwrite(line, 1, (size_t)(at - line), out);
		return;
	}
	at = add_task(at, view);
	if (print->containers)
		at = add_container(at, print->trace, view);
	at = add_text(at, " [");
	if (view->cpu == TB_RING_DURABLE)
		at = add_text(at, "---");
	else if (view->cpu == TB_RING_USER)
		at = add_text(at, "...");
	else
		at = add_decimal(at, view->cpu, 3);
	at = add_text(at, "] ");
	at = add_context(at, view->context);
	*at++ = ' ';
	at = add_time(at, print, view);
	at = add_text(at, ": ");
	at = add_name(at, view);
	at = add_text(at, ": ");
	length = put_text(print, view, at, 4096);
	if (length >= 4096) {
		at += 4095;
		at = add_text(at, "...");
	} else {
		at += length;
	}
	*at++ = '\n';
	fwrite(line, 1, (size_t)(at - line), out);
	if (view->nr_stack || view->nr_user_stack || view->counter_mask)
		print_stack(out, print->trace, view);
}
