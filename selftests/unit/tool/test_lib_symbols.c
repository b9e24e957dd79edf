// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording names the functions of its stacks and events: the recorder collects the addresses,
 * looks them up in /proc/kallsyms and the mappings of processes, and writes notes. If this fails,
 * stacks have no names, or wrong ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <unistd.h>
#include "test_lib_fixture.h"
#include "tool/record/cgroups.h"

#define KALLSYMS kallsyms
#define USER_MAX 1000

static char kallsyms[] = "/tmp/test_lib_symbols.XXXXXX";

#include "../../../userspace/tool/record/addresses.c"
#include "../../../userspace/tool/record/notes.c"
#include "../../../userspace/tool/command/message.c"

static void put_kallsyms(const char *text)
{
	FILE *out = fopen(kallsyms, "w");

	assert(out && fputs(text, out) >= 0);
	assert(!fclose(out));
}

static void symbols_of_stacks(void)
{
	struct { uint32_t kind, count; uint64_t ip[4]; } stack = {
		TB_STACK_KERNEL, 4, { 0xffffffff81000110, 0xffffffff81000110,
				      0xffffffff81000300, 0xffffffffc0000020 },
	};
	struct addresses *symbols = NULL;
	const char *name;
	struct tb_trace *with;
	uint64_t offset;
	size_t length, bytes, at;
	void *data;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2, 1);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.rings[0].block), true);
	CHECK(!symbols);
	fx_composite(&fx, 0, TB_EV_STACK, 2, 0, &stack, sizeof(stack));
	fx_close(&fx, 0);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.rings[0].block), true);
	CHECK(symbols && symbols->kernel.used == 3);
	put_kallsyms("0000000000000000 A fixed\n"
		     "ffffffff81000000 T first\n"
		     "ffffffff81000100 T second\n"
		     "ffffffff81000100 t second_too\n"
		     "ffffffff81000200 t third\n"
		     "ffffffff81000300 T fourth\n"
		     "ffffffff81000380 d data\n"
		     "ffffffffc0000000 t in_module\t[one]\n"
		     "ffffffffc0000100 t behind\t[one]");
	CHECK(!addresses_notes(symbols, 0, &data, &bytes));
	CHECK_NUMBER(bytes, 4096);
	at = fx_extend(&fx, bytes);
	memcpy(fx.data + at, data, bytes);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &with, NULL));
	CHECK(!tb_trace_fault(with));
	CHECK(!tb_trace_symbol(with, 0xffffffff8100010f, &name, &length, &offset));
	CHECK(length == 6 && !memcmp(name, "second", 6) && offset == 0xf);
	/* a return address at the first byte of the fourth function: the third has called */
	CHECK(!tb_trace_symbol(with, 0xffffffff810002ff, &name, &length, &offset));
	CHECK(length == 5 && !memcmp(name, "third", 5));
	CHECK(tb_trace_symbol(with, 0xffffffff81000300, &name, &length, &offset) == -ENOENT);
	CHECK(!tb_trace_symbol(with, 0xffffffffc000001f, &name, &length, &offset));
	CHECK(length == 15 && !memcmp(name, "in_module [one]", 15));
	tb_trace_close(with);
	free(data);
	put_kallsyms("0000000000000000 T first\n0000000000000000 T second\n");
	CHECK(addresses_notes(symbols, 0, &data, &bytes) == -ENODATA);
	put_kallsyms("");
	CHECK(addresses_notes(symbols, 0, &data, &bytes) == -ENODATA);
	addresses_free(symbols);
	fx_free(&fx);
}

/* More symbols than one block holds, some with long names */
static void many_symbols(void)
{
	struct { uint32_t kind, count; uint64_t ip[50]; } stack = { TB_STACK_KERNEL, 50, { 0 } };
	struct addresses *symbols = NULL;
	struct tb_trace *with;
	uint64_t offset, ip = 0xffffffff81000010;
	FILE *out = fopen(kallsyms, "w");
	const char *name;
	size_t length, bytes, at;
	unsigned int i, j;
	void *data;
	struct fx fx;

	assert(out);
	fx_init(&fx, 16, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1, 1, NULL);
	for (i = 0; i < 60; i++) {
		for (j = 0; j < 50; j++, ip += 0x100) {
			stack.ip[j] = ip;
			fprintf(out, "%llx T f%0*u\n", (unsigned long long)ip - 0x10,
				(int)(1 + (i * 50 + j) % 90), i * 50 + j);
		}
		fx_simple(&fx, 0, FX_SOFTIRQ, 2, 1);
		fx_composite(&fx, 0, TB_EV_STACK, 2, 0, &stack, sizeof(stack));
	}
	fclose(out);
	fx_close(&fx, 0);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.rings[0].block), true);
	CHECK(!addresses_notes(symbols, 0, &data, &bytes));
	CHECK(bytes > 16384);
	at = fx_extend(&fx, bytes);
	memcpy(fx.data + at, data, bytes);
	free(data);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &with, NULL));
	CHECK(!tb_trace_fault(with));
	for (i = 0; i < 3000; i++)
		CHECK(!tb_trace_symbol(with, 0xffffffff81000000 + i * 0x100ull + 0xf,
				       &name, &length, &offset) &&
		      strtoul(name + 1, NULL, 10) == i);
	tb_trace_close(with);
	addresses_free(symbols);
	fx_free(&fx);
}

/* An event that has the address of a function, in a recording without stacks */
static void symbols_of_functions(void)
{
	static const struct fx_field fields[] = {
		{ "timer", "void *", 0, 8, 0, 0, 0, 0 },
		{ "function", "void *", 8, 8, 0, 0, 0, 0 },
	};
	const uint64_t payload[2] = { 0xffffffff81000300, 0xffffffff81000100 };
	struct addresses *symbols = NULL;
	size_t length, bytes, at;
	struct tb_trace *with;
	const char *name;
	uint64_t offset;
	void *data;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_describe(&fx, 200, 0, "timer", "hrtimer_expire_entry", fields, 2);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1, 1, NULL);
	fx_composite(&fx, 0, 200, 2, 0, payload, 8);
	fx_close(&fx, 0);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.durable.block), false);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.rings[0].block), false);
	CHECK(!symbols);		/* this event ends before the function */
	fx_open(&fx, 0, 2, 2, NULL);
	fx_composite(&fx, 0, 200, 2, 0, payload, sizeof(payload));
	fx_close(&fx, 0);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.rings[0].block), false);
	CHECK(symbols && symbols->kernel.used == 1);
	put_kallsyms("ffffffff81000000 T first\nffffffff81000100 T second\n"
		     "ffffffff81000200 t third\n");
	CHECK(!addresses_notes(symbols, 0, &data, &bytes));
	at = fx_extend(&fx, bytes);
	memcpy(fx.data + at, data, bytes);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &with, NULL));
	CHECK(!tb_trace_symbol(with, 0xffffffff81000100, &name, &length, &offset));
	CHECK(length == 6 && !memcmp(name, "second", 6) && !offset);
	tb_trace_close(with);
	free(data);
	addresses_free(symbols);
	fx_free(&fx);
}

/*
 * Fields that the kernel shows with %pS and the like get names, whatever their name: several in an
 * event, but not addresses of programs. Readers show them by name.
 */
static void symbols_of_fields(void)
{
	static const struct fx_field fields[] = {
		{ "where", "unsigned long", 0, 8, 0, 0, 0, 0 },
		{ "size", "unsigned long", 8, 8, 0, 0, 0, 0 },
		{ "parent", "void *", 16, 8, 0, 0, 0, 0 },
		{ "ptr", "void *", 24, 8, 0, 0, 0, 0 },
		{ "moved", "unsigned long", 32, 8, 0, 0, 0, 0 },
		{ "node", "void *", 40, 8, 0, 0, 0, 0 },
	}, bare[] = {
		{ "call_site", "unsigned long", 0, 8, 0, TB_FIELD_HEX, 0, 0 },
		{ "ip", "unsigned long", 8, 8, 0, TB_FIELD_HEX, 0, 0 },
	};
	static const char print[] =
		"\"100%% of %-*lu, at %pS\" \" from %ps %p, (%pB) %pfwP %s\\\"%d\", 9, REC->size, "
		"(void *)(REC->where), (void *)REC->parent, REC->ptr, (void *)(REC->moved - 4), "
		"REC->node, __print_symbolic(REC->size, { 1, \"%pS,\" }), 3";
	const uint64_t payload[6] = {
		0xffffffff81000110, 1, 0xffffffff81000200, 0xffffffff81000300,
		0xffffffff81000400, 0xffffffff81000500,
	}, sites[2] = { 0xffffffff81000404, 0x55d012345678 };
	struct addresses *symbols = NULL;
	struct tb_cursor *cursor;
	struct tb_trace *with;
	struct tb_view view;
	size_t bytes, at;
	char text[512];
	void *data;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_describe_print(&fx, 200, 0, "test", "shown", fields, 6, print);
	fx_describe(&fx, 202, 0, "kmem", "kmalloc", bare, 2);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1, 1, NULL);
	fx_composite(&fx, 0, 200, 2, 0, payload, sizeof(payload));
	fx_composite(&fx, 0, 202, 2, 0, sites, sizeof(sites));
	fx_close(&fx, 0);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.durable.block), false);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.rings[0].block), false);
	/* not the pointer, nor what is computed, the node of the firmware, the program's address */
	CHECK(symbols && symbols->kernel.used == 3);
	put_kallsyms("ffffffff81000000 T first\nffffffff81000100 T second\n"
		     "ffffffff81000200 t third\nffffffff81000300 t fourth\n"
		     "ffffffff81000400 t fifth\nffffffff81000500 t sixth\n");
	CHECK(!addresses_notes(symbols, 0, &data, &bytes));
	at = fx_extend(&fx, bytes);
	memcpy(fx.data + at, data, bytes);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &with, NULL));
	CHECK(!tb_cursor_open(with, &cursor));
	CHECK(tb_cursor_next(cursor, &view) == 1);
	tb_view_print(with, &view, text, sizeof(text));
	CHECK(!strcmp(text, "where=0xffffffff81000110(second+0x10) size=1 "
			    "parent=0xffffffff81000200(third) ptr=0xffffffff81000300 "
			    "moved=18446744071578846208 node=0xffffffff81000500"));
	CHECK(tb_cursor_next(cursor, &view) == 1);
	tb_view_print(with, &view, text, sizeof(text));
	CHECK(!strcmp(text, "call_site=0xffffffff81000404(fifth+0x4) ip=0x55d012345678"));
	tb_cursor_close(cursor);
	tb_trace_close(with);
	free(data);
	addresses_free(symbols);
	fx_free(&fx);
}

/* The recorder finds the file that this process has mapped at the address of a function. */
static void mappings_of_stacks(void)
{
	struct { uint32_t kind, count; uint64_t ip[2]; } stack = {
		TB_STACK_USER, 2, { (uintptr_t)mappings_of_stacks, 0x1000 },
	};
	struct mappings *mappings = mappings_open();
	struct addresses *symbols = NULL;
	char self[PATH_MAX] = "";
	struct tb_trace *with;
	struct tb_code code;
	size_t bytes, at;
	void *data;
	struct fx fx;

	fx_init(&fx, 10, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1, 1, NULL);
	fx_simple(&fx, 0, FX_SOFTIRQ, 2, 1);
	fx_composite(&fx, 0, TB_EV_STACK, 2, 0, &stack, sizeof(stack));
	fx_close(&fx, 0);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.rings[0].block), true);
	CHECK(addresses_user(symbols) && mappings);
	CHECK(!addresses_mappings(symbols, mappings, 0, &data, &bytes));
	/* only mappings of processes that have code at these addresses */
	CHECK(bytes && bytes <= 2 * 4096);
	at = fx_extend(&fx, bytes);
	memcpy(fx.data + at, data, bytes);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &with, NULL));
	CHECK(!tb_trace_fault(with));
	CHECK(!tb_trace_code(with, (uint32_t)getpid(), 5, stack.ip[0], &code));
	assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	CHECK(code.length == strlen(self) && !memcmp(code.path, self, code.length));
	CHECK(code.start <= stack.ip[0] && stack.ip[0] - code.start < code.size);
	CHECK_NUMBER(tb_trace_code(with, (uint32_t)getpid(), 5, 0x1000, &code), -ENOENT);
	CHECK_NUMBER(tb_trace_code(with, 1u << 30, 5, stack.ip[0], &code), -ENOENT);
	tb_trace_close(with);
	free(data);
	mappings_close(mappings);
	addresses_free(symbols);
	fx_free(&fx);
}

/* The recorder's memory is bounded, whatever programs map: then the rest is marked as unknown */
static void many_mappings(void)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, size, offset;
		uint8_t id_size, reserved[3], id[20];
		uint32_t access, flags;
		char path[240];
	} record = { .header.type = PERF_RECORD_MMAP2, .pid = 1, .start = 0x1000, .size = 0x1000 };
	const uint64_t address = 0x1001;
	struct mappings *mappings = mappings_open();
	const struct tb_mapping *last = NULL;
	struct notes notes = { 0 };
	struct tb_walk walk;
	uint64_t time;
	size_t i;

	memset(record.path, 'x', sizeof(record.path) - 1);
	for (time = 1; time < 400000; time++) {
		snprintf(record.path, 16, "%015" PRIu64, time);
		record.path[15] = 'x';
		/* only the last ones contain the address */
		record.start = time < 200000 ? 0x10000 : 0x1000;
		mappings_record(mappings, &record.header, time, time);
	}
	CHECK(!mappings_notes(mappings, &address, 1, &notes));
	for (i = 0; i < notes.blocks; i++) {
		tb_walk_start(&walk, (const void *)(notes.data + (i << NOTE_LOG2)));
		while (tb_walk_next(&walk) == 1)
			if (walk.id == TB_EV_MAPPING)
				last = walk.payload;
	}
	CHECK(last && last->kind == TB_MAPPING_UNKNOWN && last->size == UINT64_MAX - last->since);
	/* 64 MB, and 312 bytes for each */
	CHECK(last && last->since > 200000 && last->since < 300000);
	free(notes.data);
	mappings_close(mappings);
}

/* A program can record stacks with any addresses */
static void many_addresses(void)
{
	struct { uint32_t kind, count; uint64_t ip[4]; } stack = { TB_STACK_USER, 4, { 0 } };
	struct addresses *symbols = NULL;
	struct fx fx;
	uint64_t i;

	fx_init(&fx, 16, 0);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 1, 1, NULL);
	for (i = 0; i < 600; i++) {
		stack.ip[0] = 0x1000;
		stack.ip[1] = 0x10000 + i;
		stack.ip[2] = 0x20000 + i;
		fx_composite(&fx, 0, TB_EV_STACK, 2, 0, &stack, sizeof(stack));
	}
	fx_close(&fx, 0);
	addresses_block(&symbols, (struct tb_block *)(fx.data + fx.rings[0].block), true);
	CHECK(symbols && symbols->user.used == USER_MAX);
	addresses_free(symbols);
	fx_free(&fx);
}

/* A long recording sees more cgroups than the recorder keeps */
static void many_cgroups(void)
{
	const struct tb_thread thread = { .tid = 7, .tgid = 7, .cgroup = 70001 };
	struct cgroups *cgroups = NULL;
	struct notes notes = { 0 };
	struct fx fx;
	uint32_t id;

	fx_init(&fx, 10, 0);
	fx_durable(&fx, TB_EV_THREAD, &thread, sizeof(thread));
	for (id = 1; id <= 70001; id++)
		cgroups_name(&cgroups, id, id == 70001 ? "/of/today" : "/old");
	cgroups_block(&cgroups, (struct tb_block *)(fx.data + fx.durable.block));
	CHECK(!cgroups_notes(cgroups, &notes));
	CHECK(notes.blocks == 1 && memmem(notes.data, notes_bytes(&notes), "/of/today", 9));
	free(notes.data);
	cgroups_free(cgroups);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "symbols: more mappings than there is room for", many_mappings },
	{ "symbols: more cgroups than there is room for", many_cgroups },
	{ "symbols: more addresses of programs than there is room for", many_addresses },
	{ "symbols: mappings of programs", mappings_of_stacks },
	{ "symbols: of stacks", symbols_of_stacks },
	{ "symbols: of functions in events", symbols_of_functions },
	{ "symbols: of fields with addresses of code", symbols_of_fields },
	{ "symbols: more than one block", many_symbols },
};

int main(void)
{
	int fd = mkstemp(kallsyms), result;

	assert(fd >= 0);
	close(fd);
	result = test_main(tests, sizeof(tests) / sizeof(tests[0]));
	unlink(kallsyms);
	return result;
}
