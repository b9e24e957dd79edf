// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections about interrupts, softirqs, system calls and block devices.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "requests.h"
#include "sections.h"

/* ---- handlers ---- */

static const void *get_irq(struct report_builder *m, size_t index)
{
	return analysis_handler(m->a, ANALYSIS_IRQS, (unsigned int)index);
}

static const void *get_softirq(struct report_builder *m, size_t index)
{
	return analysis_handler(m->a, ANALYSIS_SOFTIRQS, (unsigned int)index);
}

static const void *get_call(struct report_builder *m, size_t index)
{
	return analysis_handler(m->a, ANALYSIS_CALLS, (unsigned int)index);
}

/* By total time, longest first; then by number and name */
static int by_sum(const void *one, const void *other)
{
	const struct analysis_handler *a = *(const struct analysis_handler *const *)one;
	const struct analysis_handler *b = *(const struct analysis_handler *const *)other;

	if (a->stat.sum != b->stat.sum)
		return a->stat.sum > b->stat.sum ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void handler_rows(struct report_builder *m, const void **list, size_t count, bool calls,
			 const char *what)
{
	const struct analysis_handler *handler;
	struct analysis_stat sum = { 0 };
	size_t i;

	for (i = 0; i < count; i++) {
		handler = list[i];
		sum.uncertain += handler->stat.uncertain;
		sum.open += handler->stat.open;
	}
	remark_uncertain(m, &sum, what);
	count = rows_of(m, count, calls ? "calls" : "handlers");
	for (i = 0; i < count; i++) {
		handler = list[i];
		report_signed(m->report, m->section, handler->number);
		text(m, handler->name);
		if (calls)
			number(m, handler->failed);
		cells_stat(m, &handler->stat, &handler->histogram);
	}
}

static void section_handlers(struct report_builder *m, enum analysis_kind kind)
{
	static const struct column list[] = {
		COLUMN_NUMBER("number", "nr", REPORT_PLAIN),
		COLUMN_TEXT("name", "name"),
		COLUMNS_STAT,
	};
	static const struct column calls[] = {
		COLUMN_NUMBER("number", "nr", REPORT_PLAIN),
		COLUMN_TEXT("name", "name"),
		COLUMN_NUMBER("failed", "failed", REPORT_COUNT),
		COLUMNS_STAT,
	};
	const void **handlers;
	size_t count;

	if (kind == ANALYSIS_CALLS)
		COLUMNS(m, calls);
	else
		COLUMNS(m, list);
	if (kind == ANALYSIS_IRQS ?
	    !needs(m, "irq time", ANALYSIS_IRQ, ANALYSIS_IRQ_EXIT, ANALYSIS_NEEDS) :
	    kind == ANALYSIS_SOFTIRQS ?
	    !needs(m, "softirq time", ANALYSIS_SOFTIRQ, ANALYSIS_SOFTIRQ_EXIT, ANALYSIS_NEEDS) :
	    !needs(m, "system calls", ANALYSIS_CALL, ANALYSIS_CALL_EXIT, ANALYSIS_NEEDS))
		return;
	handlers = sorted(m, kind == ANALYSIS_IRQS ? get_irq :
			  kind == ANALYSIS_SOFTIRQS ? get_softirq : get_call, &count, by_sum);
	if (!handlers)
		return;
	handler_rows(m, handlers, count, kind == ANALYSIS_CALLS,
		     kind == ANALYSIS_CALLS ? "calls" :
		     kind == ANALYSIS_IRQS ? "interrupts" : "softirqs");
	free(handlers);
}

/* ---- errors ---- */

/* The name of an error; its number in @spare if it has none */
static const char *error_text(int64_t code, char spare[24])
{
	const char *name = tb_error_name(code);

	if (!name)
		snprintf(spare, 24, "%" PRId64, code);
	return name ? name : spare;
}

struct failure {
	const struct analysis_handler *call;
	const struct analysis_error *error;
};

static int by_count(const void *one, const void *other)
{
	const struct failure *a = one, *b = other;

	if (a->error->count != b->error->count)
		return a->error->count > b->error->count ? -1 : 1;
	if (a->call->number != b->call->number)
		return a->call->number < b->call->number ? -1 : 1;
	return a->error->code < b->error->code ? -1 : a->error->code > b->error->code;
}

static struct failure *all_failures(struct report_builder *m, size_t *count)
{
	const struct analysis_handler *call;
	struct failure *list;
	unsigned int i, k;

	*count = 0;
	for (i = 0; (call = analysis_handler(m->a, ANALYSIS_CALLS, i)); i++)
		*count += call->nr_errors;
	list = *count ? malloc(*count * sizeof(*list)) : NULL;
	if (!list) {
		m->report->failed |= *count;
		return NULL;
	}
	*count = 0;
	for (i = 0; (call = analysis_handler(m->a, ANALYSIS_CALLS, i)); i++)
		for (k = 0; k < call->nr_errors; k++)
			list[(*count)++] = (struct failure){ call, &call->errors[k] };
	qsort(list, *count, sizeof(*list), by_count);
	return list;
}

static void section_errors(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_NUMBER("number", "nr", REPORT_PLAIN),
		COLUMN_TEXT("name", "call"),
		COLUMN_NUMBER("errno", "errno", REPORT_PLAIN),
		COLUMN_TEXT("error", "error"),
		COLUMN_NUMBER("count", "count", REPORT_COUNT),
	};
	struct failure *failures;
	size_t count, i;
	char spare[24];

	section(m, "syscall-errors", "System calls that failed", REPORT_TABLE);
	COLUMNS(m, list);
	if (!needs(m, "errors of system calls", ANALYSIS_CALL, ANALYSIS_CALL_EXIT,
		   ANALYSIS_NEEDS))
		return;
	failures = all_failures(m, &count);
	if (!failures)
		return;
	count = rows_of(m, count, "kinds of failures");
	for (i = 0; i < count; i++) {
		report_signed(m->report, m->section, failures[i].call->number);
		text(m, failures[i].call->name);
		report_signed(m->report, m->section, failures[i].error->code);
		text(m, error_text(failures[i].error->code, spare));
		number(m, failures[i].error->count);
	}
	free(failures);
}

void sections_handlers(struct report_builder *m)
{
	section(m, "irq", "Interrupts", REPORT_TABLE);
	section_handlers(m, ANALYSIS_IRQS);
	section(m, "softirq", "Softirqs", REPORT_TABLE);
	section_handlers(m, ANALYSIS_SOFTIRQS);
	section(m, "syscalls", "System calls", REPORT_TABLE);
	section_handlers(m, ANALYSIS_CALLS);
	section_errors(m);
}

/* ---- block devices ---- */

static const void *get_block(struct report_builder *m, size_t index)
{
	return analysis_block(m->a, (unsigned int)index);
}

static int by_device(const void *one, const void *other)
{
	const struct analysis_block *a = *(const struct analysis_block *const *)one;
	const struct analysis_block *b = *(const struct analysis_block *const *)other;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

static const char *op_name(char op)
{
	return op == 'R' ? "read" : op == 'W' ? "write" : op == 'D' ? "discard" :
	       op == 'F' ? "flush" : "other";
}

static void block_rows(struct report_builder *m, const void **list, size_t count)
{
	const struct analysis_block *block;
	struct analysis_stat sum = { 0 };
	char device[DISK_TEXT_MAX];
	size_t i;

	for (i = 0; i < count; i++) {
		block = list[i];
		text(m, disk_text(m->trace, block->dev, device));
		text(m, op_name(block->op));
		number(m, block->bytes);
		number(m, block->failed);
		cells_stat(m, &block->stat, &block->histogram);
		sum.uncertain += block->stat.uncertain;
		sum.open += block->stat.open;
	}
	remark_uncertain(m, &sum, "requests");
}

void sections_block(struct report_builder *m)
{
	static const struct column list[] = {
		COLUMN_TEXT("device", "device"),
		COLUMN_TEXT("op", "what"),
		COLUMN_NUMBER("bytes", "bytes", REPORT_BYTES),
		COLUMN_NUMBER("failed", "failed", REPORT_COUNT),
		COLUMNS_STAT,
	};
	const void **blocks;
	size_t count;
	bool has;

	section(m, "block", "Block devices: requests, from issue to completion", REPORT_TABLE);
	COLUMNS(m, list);
	has = needs(m, "block I/O latency", ANALYSIS_ISSUE, ANALYSIS_COMPLETE, ANALYSIS_NEEDS);
	if (has) {
		remark(m, "Devices that take no requests (brd, zram, device mapper) are not in here, those below them are.");
		blocks = sorted(m, get_block, &count, by_device);
		if (blocks)
			block_rows(m, blocks, count);
		free(blocks);
	}
	section(m, "block-histogram", "Block devices, how often", REPORT_HISTOGRAM);
	if (needs(m, "block I/O latency", ANALYSIS_ISSUE, ANALYSIS_COMPLETE, ANALYSIS_NEEDS))
		histogram(m, analysis_block_latency(m->a));
}
