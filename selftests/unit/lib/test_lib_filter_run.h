/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compiles a filter for events of the fixture, and runs it: by the plain interpreter of
 * test_lib_filter.h and, in builds with KERNEL_FILTER, by the kernel's own code.
 */
#ifndef TEST_LIB_FILTER_RUN_H
#define TEST_LIB_FILTER_RUN_H

#include "test_lib_fixture.h"
#include "test_lib_filter.h"

#ifdef KERNEL_FILTER
#include <probe/filter.h>

struct filter_task filter_task;
int filter_fail = -1;
#endif

static struct fx fx;
static struct tb_trace *trace;
static struct tb_filter_code code;
static struct tb_error error;

static inline void begin(void)
{
	fx_init(&fx, 14, 0);
	fx_durable_end(&fx);
	if (tb_trace_open_memory(fx.data, fx.size, &trace, NULL)) {
		printf("Bail out! cannot open\n");
		exit(1);
	}
}

static inline void end(void)
{
	tb_trace_close(trace);
	fx_free(&fx);
}

static inline const struct tb_format *format(unsigned int id)
{
	return tb_trace_format(trace, (uint16_t)id);
}

static const struct where here = {
	.tid = 100, .tgid = 99, .uid = 1000, .cpu = 3,
	.context = TB_CONTEXT_HARDIRQ | 2, .comm = "bash",
};

#ifdef KERNEL_FILTER
/* Run the filter by the kernel's own code, which also checks the tests */
static inline bool kernel_run(const struct tb_format *form, const void *payload,
			      size_t bytes)
{
	struct tb_field_def fields[32] = { 0 };
	struct tb_filter *filter;
	bool passed;
	uint32_t i;
	u32 bad;

	filter_task = (struct filter_task){
		.tid = here.tid, .tgid = here.tgid, .uid = here.uid,
		.cpu = here.cpu, .context = here.context,
	};
	memcpy(filter_task.comm, here.comm, sizeof(filter_task.comm));
	for (i = 0; i < form->nr_fields; i++) {
		const struct tb_format_field *field = &form->fields[i];

		fields[i].name = field->name;
		fields[i].type = tb_field_is_text(field) ? "char" : field->type;
		fields[i].offset = field->offset;
		fields[i].size = field->size;
		fields[i].count = field->count;
		fields[i].flags = field->flags;
		/* the kernel calls a char array an array; only readers get STRING */
		if (field->flags & TB_FIELD_STRING && field->count)
			fields[i].flags |= TB_FIELD_ARRAY;
		fields[i].bit = field->bit;
		fields[i].bits = field->bits;
	}
	if (!code.nr_tests)
		return true;
	if (tb_filter_make(&filter, code.tests, code.nr_tests, code.data,
			   code.data_bytes, fields, &bad)) {
		printf("# the kernel does not take test %u\n", bad);
		test_failures++;
		return false;
	}
	passed = tb_filter_run(filter, payload, (u32)bytes);
	tb_filter_free(filter);
	return passed;
}
#endif

/* Run the filter as readers of a trace do */
static inline bool reader_run(const struct tb_format *form, const void *payload, size_t bytes)
{
	struct tb_task task = {
		.tid = here.tid, .tgid = here.tgid, .uid = here.uid, .flags = TB_TASK_LISTED,
	};
	struct tb_view view = {
		.kind = TB_VIEW_EVENT, .format = form, .payload = payload,
		.length = (uint32_t)bytes, .tid = here.tid, .cpu = here.cpu,
		.context = (uint16_t)here.context, .task = &task, .comm = here.comm,
	};

	memcpy(task.comm, here.comm, sizeof(here.comm));
	return tb_filter_matches(&code, &view);
}

/* Run the filter compiled last, for @form; by the kernel's own code, too, if it is built in */
static inline bool run_code(const struct tb_format *form, const void *payload,
			    size_t bytes)
{
	bool passed = reference_run(&code, payload, bytes, &here);

	if (code.nr_tests)
		CHECK(reader_run(form, payload, bytes) == passed);
#ifdef KERNEL_FILTER
	CHECK(kernel_run(form, payload, bytes) == passed);
#endif
	return passed;
}

#endif /* TEST_LIB_FILTER_RUN_H */
