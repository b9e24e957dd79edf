// SPDX-License-Identifier: GPL-2.0-only
/*
 * libtracebuf names the file that a program had mapped at an address at that time: not an earlier
 * or later mapping, nor another process's. If this fails, a stack names functions that never ran.
 *
 * The library answers random queries about thousands of random address spaces (mappings, exec,
 * fork, unknown spans); a simulation of each page gives the expected answers.
 */
#include <errno.h>
#include "test_lib_follow.h"

#define PIDS 5
#define PAGES 8
#define PAGE 0x1000ull
#define EVENTS 60
#define LAST 200		/* times go from 0 to there */
#define ROUNDS 400
#define QUERIES 200
#define FUNCTIONS 5000u

static struct fx fx;
static struct fx_ring notes;
static struct tb_mapping events[EVENTS];
static unsigned int seed = 1;

static unsigned int pick(unsigned int below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

static void put_mapping(const struct tb_mapping *mapping, const char *path)
{
	struct { struct tb_mapping head; char rest[64]; } payload = { .head = *mapping };
	size_t bytes = mapping->kind == TB_MAPPING_CODE || mapping->kind == TB_MAPPING_FUNCTION ?
		       strlen(path) : 0;

	payload.head.build_id = bytes && path[0] == '/' && path[1] != '/' ? 4 : 0;
	payload.head.path = (uint16_t)bytes;
	memcpy(payload.rest, "\1\2\3\4", payload.head.build_id);
	memcpy(payload.rest + payload.head.build_id, path, bytes);
	if (!notes.open)
		fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	bytes += sizeof(payload.head) + payload.head.build_id;
	if (fx_put_composite(&fx, &notes, TB_EV_MAPPING, 0, 0, 0, &payload, bytes))
		return;
	fx_end(&fx, &notes);
	fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	assert(fx_put_composite(&fx, &notes, TB_EV_MAPPING, 0, 0, 0, &payload, bytes));
}

static int by_time(const void *a, const void *b)
{
	const struct tb_mapping *first = a, *second = b;

	return first->since < second->since ? -1 : first->since > second->since;
}

static void make_events(void)
{
	unsigned int i, page;

	for (i = 0; i < EVENTS; i++) {
		struct tb_mapping *event = &events[i];

		page = pick(PAGES);
		*event = (struct tb_mapping){
			/* not two at one time: the file's order would decide between them */
			.since = i * (LAST / EVENTS) + pick(LAST / EVENTS),
			.pid = 1 + pick(PIDS),
			.kind = (uint16_t)(pick(8) ? TB_MAPPING_CODE : TB_MAPPING_EXEC + pick(3)),
		};
		if (event->kind == TB_MAPPING_CODE) {
			event->start = (16 + page) * PAGE;
			event->size = (1 + pick(PAGES - page)) * PAGE;
			event->offset = i * 0x100000ull;
		} else if (event->kind == TB_MAPPING_FORK) {
			event->parent = 1 + (event->pid + pick(PIDS - 1)) % PIDS;
		} else if (event->kind == TB_MAPPING_UNKNOWN) {
			event->pid = 0;
			event->size = pick(12);
		}
	}
}

/* Event number + 1 of the code at @page of @pid at @ns; 0: no code; -1: unknown */
static int truth(uint32_t pid, unsigned int page, uint64_t ns)
{
	int state[PIDS + 1][PAGES] = { 0 };
	uint64_t until = 0, end;
	unsigned int i, at;

	for (i = 0; i < EVENTS && events[i].since <= ns; i++) {
		const struct tb_mapping *event = &events[i];

		if (event->kind == TB_MAPPING_UNKNOWN) {
			end = event->since + event->size;
			until = end > until ? end : until;
			memset(state, 0, sizeof(state));
		}
		/* an event before the end of an unknown span does not count after it either */
		if (event->since < until || event->kind == TB_MAPPING_UNKNOWN)
			continue;
		for (at = 0; at < PAGES; at++)
			if (event->kind == TB_MAPPING_FORK)
				state[event->pid][at] = state[event->parent][at];
			else if (event->kind == TB_MAPPING_EXEC)
				state[event->pid][at] = 0;
			else if ((16 + at) * PAGE >= event->start &&
				 (16 + at) * PAGE < event->start + event->size)
				state[event->pid][at] = (int)i + 1;
	}
	return ns < until ? -1 : state[pid][page];
}

static unsigned int ask(const struct tb_trace *known)
{
	unsigned int i, wrong = 0, page;
	struct tb_code code;
	uint64_t ns, address;
	uint32_t pid;
	int is, got;

	for (i = 0; i < QUERIES; i++) {
		pid = 1 + pick(PIDS);
		page = pick(PAGES);
		ns = pick(LAST + 10);
		address = (16 + page) * PAGE + pick(PAGE);
		is = truth(pid, page, ns);
		got = !tb_trace_code(known, pid, ns, address, &code);
		if (got != (is > 0)) {
			wrong++;
			continue;
		}
		if (!got)
			continue;
		wrong += code.offset != address - events[is - 1].start + events[is - 1].offset ||
			 code.start != events[is - 1].start || code.size != events[is - 1].size ||
			 code.length != 7 || memcmp(code.path, "/lib/so", 7) ||
			 code.build_id_bytes != 4 || memcmp(code.build_id, "\1\2\3\4", 4);
	}
	return wrong;
}

/* Write the events in their order, or backwards */
static void make_trace(bool backwards)
{
	unsigned int i;

	fx_init(&fx, 12, 1000);
	fx_durable_end(&fx);
	memset(&notes, 0, sizeof(notes));
	for (i = 0; i < EVENTS; i++)
		put_mapping(&events[backwards ? EVENTS - 1 - i : i], "/lib/so");
	fx_end(&fx, &notes);
}

static void random_spaces(bool backwards)
{
	unsigned int round, wrong = 0;
	struct tb_trace *whole;

	for (round = 0; round < ROUNDS; round++) {
		make_events();
		qsort(events, EVENTS, sizeof(events[0]), by_time);
		make_trace(backwards);
		CHECK(!tb_trace_open_memory(fx.data, fx.size, &whole, NULL));
		CHECK(!tb_trace_fault(whole));
		wrong += ask(whole);
		tb_trace_close(whole);
		fx_free(&fx);
	}
	CHECK_NUMBER(wrong, 0);
}

static void as_recorded(void)
{
	random_spaces(false);
}

static void in_any_order(void)
{
	random_spaces(true);
}

/* Notes arrive one by one: each adds to what can be looked up */
static void followed(void)
{
	unsigned int round, wrong = 0;
	struct tb_view view;
	int ends[2];

	for (round = 0; round < 20; round++) {
		make_events();
		qsort(events, EVENTS, sizeof(events[0]), by_time);
		make_trace(round & 1);
		CHECK(!pipe(ends));
		put(ends[1], fx.data, fx.size);
		close(ends[1]);
		follow(ends[0], &quick);
		while (next(&view) == 1)
			;
		wrong += ask(trace);
		unfollow();
		close(ends[0]);
		fx_free(&fx);
	}
	CHECK_NUMBER(wrong, 0);
}

static void malformed(void)
{
	struct tb_mapping mapping = {
		.kind = TB_MAPPING_CODE, .pid = 1, .start = PAGE, .size = PAGE, .path = 9,
	};
	struct tb_trace *whole;
	struct tb_code code;

	fx_init(&fx, 12, 1000);
	fx_durable_end(&fx);
	memset(&notes, 0, sizeof(notes));
	fx_begin(&fx, &notes, TB_BLOCK_NOTE, 12, 0, 0, 0);
	/* the path is longer than the event */
	assert(fx_put_composite(&fx, &notes, TB_EV_MAPPING, 0, 0, 0, &mapping, sizeof(mapping)));
	assert(fx_put_composite(&fx, &notes, TB_EV_MAPPING, 0, 0, 0, &mapping, sizeof(mapping) - 1));
	fx_end(&fx, &notes);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &whole, NULL));
	CHECK(tb_trace_fault(whole) != NULL);
	CHECK_NUMBER(tb_trace_code(whole, 1, 100, PAGE, &code), -ENOENT);
	tb_trace_close(whole);
	fx_free(&fx);
}

/* Two processes are each the other's parent, forked at one moment: the lookup must end */
static void circle(void)
{
	struct tb_mapping mapping = { .kind = TB_MAPPING_FORK, .since = 5, .pid = 1, .parent = 2 };
	struct tb_trace *whole;
	struct tb_code code;

	fx_init(&fx, 12, 1000);
	fx_durable_end(&fx);
	memset(&notes, 0, sizeof(notes));
	put_mapping(&mapping, "");
	mapping.pid = 2;
	mapping.parent = 1;
	put_mapping(&mapping, "");
	fx_end(&fx, &notes);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &whole, NULL));
	CHECK_NUMBER(tb_trace_code(whole, 1, 100, PAGE, &code), -ENOENT);
	tb_trace_close(whole);
	fx_free(&fx);
}

/* Name of the generated function, and the offset there */
static const char *function_at(const struct tb_trace *whole, uint32_t pid, uint64_t ns,
			       uint64_t address)
{
	static char text[40];
	const char *name;
	uint64_t offset;
	size_t length;

	if (tb_trace_generated(whole, pid, ns, address, &name, &length, &offset))
		return "none";
	snprintf(text, sizeof(text), "%.*s+%llu", (int)length, name, (unsigned long long)offset);
	return text;
}

/* Process 1 generates code at pages 1 to 8, and execs at 100; then it has a file at page 9, and
 * pages 1 to 8 again.  2 is its child.  Its list is read at 150, and at 170, with other code. */
static void generated(void)
{
	struct tb_mapping code = {
		.kind = TB_MAPPING_CODE, .pid = 1, .start = PAGE, .size = 8 * PAGE,
	};
	struct tb_mapping file = {
		.kind = TB_MAPPING_CODE, .pid = 1, .since = 101, .start = 9 * PAGE, .size = PAGE,
	};
	struct tb_mapping exec = { .kind = TB_MAPPING_EXEC, .pid = 1, .since = 100 };
	struct tb_mapping fork = { .kind = TB_MAPPING_FORK, .pid = 2, .since = 150, .parent = 1 };
	struct tb_mapping function = {
		.kind = TB_MAPPING_FUNCTION, .pid = 1, .since = 100, .size = 50, .offset = 2,
	};
	struct tb_trace *whole;
	unsigned int i;
	char name[20];

	fx_init(&fx, 12, 1000);
	fx_durable_end(&fx);
	memset(&notes, 0, sizeof(notes));
	put_mapping(&code, "//anon");
	code.start = 10 * PAGE;
	put_mapping(&code, "//anon");
	/* more than a lookup of mappings goes back */
	for (i = FUNCTIONS; i-- > 0; ) {
		function.start = PAGE + 6 * (uint64_t)i;
		snprintf(name, sizeof(name), "f%u", i);
		put_mapping(&function, name);
	}
	function.start = 9 * PAGE;
	put_mapping(&function, "not in a file");
	function.start = 10 * PAGE;
	put_mapping(&function, "not after exec");
	function.size = 70;
	function.start = PAGE;
	put_mapping(&function, "later");
	function.start = PAGE + 6;
	put_mapping(&function, "");
	function.start = PAGE + 1;
	put_mapping(&function, "only later");
	put_mapping(&exec, "");
	code.since = 101;
	code.start = PAGE;
	put_mapping(&code, "//anon");
	put_mapping(&file, "/lib/file");
	put_mapping(&fork, "");
	fx_end(&fx, &notes);
	CHECK(!tb_trace_open_memory(fx.data, fx.size, &whole, NULL));
	CHECK_TEXT(function_at(whole, 1, 120, PAGE), "f0+2");
	CHECK_TEXT(function_at(whole, 1, 150, PAGE), "f0+2");
	CHECK_TEXT(function_at(whole, 1, 151, PAGE), "later+2");
	CHECK_TEXT(function_at(whole, 1, 171, PAGE), "none");
	CHECK_TEXT(function_at(whole, 1, 150, PAGE + 6), "f1+2");
	CHECK_TEXT(function_at(whole, 1, 151, PAGE + 6), "none");
	CHECK_TEXT(function_at(whole, 1, 120, PAGE + 1), "only later+2");
	CHECK_TEXT(function_at(whole, 1, 120, PAGE + 2), "none");
	CHECK_TEXT(function_at(whole, 1, 120, PAGE + 6 * (FUNCTIONS - 1)), "f4999+2");
	CHECK_TEXT(function_at(whole, 1, 120, PAGE + 6 * FUNCTIONS), "none");
	CHECK_TEXT(function_at(whole, 1, 120, PAGE - 1), "none");
	CHECK_TEXT(function_at(whole, 1, 120, 9 * PAGE), "none");
	CHECK_TEXT(function_at(whole, 1, 120, 10 * PAGE), "none");
	/* before exec there was other code */
	CHECK_TEXT(function_at(whole, 1, 99, PAGE), "none");
	/* the child may have generated something else there */
	CHECK_TEXT(function_at(whole, 2, 160, PAGE), "none");
	tb_trace_close(whole);
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "mapping: an address belongs to what was mapped there at that time", as_recorded },
	{ "mapping: in any order of the notes", in_any_order },
	{ "mapping: in a trace that is followed", followed },
	{ "mapping: one that is too short is a fault", malformed },
	{ "mapping: functions that a process has generated", generated },
	{ "mapping: processes that descend from each other", circle },
};

TEST_MAIN(tests)
