// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks and counters of an event as text, as perf script shows them.
 */
#include <inttypes.h>
#include <string.h>
#include "frames.h"
#include "print_stack.h"
#include "tool/command/command.h"

static void print_counters(FILE *out, const struct tb_trace *trace,
			   const struct tb_view *view)
{
	const char *name;
	uint64_t value;
	uint32_t number;
	unsigned int i;

	fputs("\tcounter{", out);
	for (i = 0; tb_view_counter(view, i, &number, &value); i++) {
		if (i)
			fputs(", ", out);
		name = tb_trace_string(trace, TB_STRING_COUNTER, number);
		if (name)
			print_plain(out, name, strlen(name));
		else
			fprintf(out, "%" PRIu32, number);
		fprintf(out, "=%" PRIu64, value);
	}
	fputs("}\n", out);
}

int stack_symbol(const struct tb_trace *trace, uint64_t ip, char *text,
		 size_t size)
{
	const char *name, *module;
	uint64_t offset;
	size_t length, plain;
	int result;

	/* a return address can be behind the end of the caller; the byte before it is not */
	result = tb_trace_symbol(trace, ip - 1, &name, &length, &offset);
	if (result < 0)
		return result;
	/* "name [module]": insert the offset behind the name */
	module = memchr(name, ' ', length);
	plain = module ? (size_t)(module - name) : length;
	return snprintf(text, size, "%.*s+0x%" PRIx64 "%.*s", (int)plain, name,
			offset + 1, (int)(length - plain), name + plain);
}

static void print_address(FILE *out, const struct tb_trace *trace, uint64_t ip)
{
	char text[STACK_SYMBOL_MAX];

	fprintf(out, "\t%16" PRIx64 " ", ip);
	if (stack_symbol(trace, ip, text, sizeof(text)) < 0)
		fputs("[unknown]", out);
	else
		print_plain(out, text, strlen(text));
	fputc('\n', out);
}

static void print_user(FILE *out, const struct tb_trace *trace, const struct tb_view *view,
		       uint32_t index)
{
	const struct frame *frames;
	uint32_t behind;
	unsigned int count = frames_of(trace, view, index, &frames, &behind), i;

	for (i = 0; i < count; i++) {
		if (!frames[i].file) {
			fprintf(out, "\t%16" PRIx64 " (user)\n", view->user_stack[index]);
			continue;
		}
		fprintf(out, "\t%16" PRIx64 " %s", view->user_stack[index], frames[i].name);
		if (frames[i].named && !frames[i].inlined)
			fprintf(out, "+0x%" PRIx64, frames[i].offset + behind);
		if (frames[i].inlined)
			fputs(" (inlined)\n", out);
		else
			fprintf(out, " (%s)\n", frames[i].file);
	}
}

void print_stack(FILE *out, const struct tb_trace *trace,
		 const struct tb_view *view)
{
	uint32_t i;

	if (view->counter_mask)
		print_counters(out, trace, view);
	for (i = 0; i < view->nr_stack; i++)
		print_address(out, trace, view->stack[i]);
	for (i = 0; i < view->nr_user_stack; i++)
		print_user(out, trace, view, i);
}
