// SPDX-License-Identifier: GPL-2.0-only
/*
 * No name in a trace can control a terminal: names that programs chose, or that an attacker wrote
 * into the file, cannot send escape sequences or rearrange the text around them. If this fails,
 * showing a foreign trace runs an attacker's sequences, or hides a process from its reader.
 */
#include <stddef.h>
#include "test_lib_chunk.h"
#include "test_lib_run.h"

#define BIDI "\xe2\x80\xae"		/* U+202E: right to left from here on */
#define CSI "\xc2\x9b"			/* U+009B, as "ESC [" */
#define UMLAUT "\xc3\xa4"

/* Threads with such names take turns; @spoil adds more to the trace */
static void make(void (*spoil)(struct fx *fx))
{
	struct fx_switch there = fx_switch("a" BIDI "gnp.x", 100, 1, CSI "2J" UMLAUT, 101),
			 back = fx_switch(CSI "2J" UMLAUT, 101, 1, "a" BIDI "gnp.x", 100);
	struct fx fx;
	int i;

	fx_init(&fx, 12, 1000);
	fx_thread(&fx, 100, 100, 1, TB_THREAD_DUMP, "a" BIDI "gnp.x");
	fx_thread(&fx, 101, 101, 1, TB_THREAD_DUMP, CSI "2J" UMLAUT);
	if (spoil)
		spoil(&fx);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 100, NULL);
	for (i = 0; i < 8; i++)
		fx_composite(&fx, 0, FX_SWITCH, (uint64_t)(3000 + 1000 * i),
			     i & 1 ? 101 : 100, i & 1 ? &back : &there, sizeof(there));
	fx_close(&fx, 0);
	fx_totals(&fx, 0);
	fx_durable_end(&fx);
	save(fx.data, fx.size);
	fx_free(&fx);
}

static bool is_harmless(void)
{
	return !strstr(output, BIDI) && !strstr(output, CSI) && !strchr(output, '\033') &&
	       !strchr(output, '\a');
}

static void names_of_threads(void)
{
	char arguments[128];

	make(NULL);
	CHECK_NUMBER(run_on("print", ""), 0);
	CHECK(is_harmless());
	CHECK_NUMBER(run_on("report", ""), 0);
	CHECK(is_harmless());
	CHECK_HAS("a???gnp.x");
	CHECK_HAS("??2J" UMLAUT);
	CHECK_NUMBER(run_on("why", ""), 0);
	CHECK(is_harmless());
	CHECK_HAS("a???gnp.x-100");
	CHECK_NUMBER(run_on("why --comm '*'", ""), 0);
	CHECK(is_harmless());
	CHECK_HAS("??2J" UMLAUT "-101 runs");
	/* a build without SQLite has no query */
	if (run("query -h"))
		return;
	snprintf(arguments, sizeof(arguments), "query %s 'SELECT comm FROM threads'", file);
	CHECK_NUMBER(run(arguments), 0);
	CHECK(is_harmless());
	CHECK_HAS("a???gnp.x");
}

/* An event that no kernel has, and a machine with an escape sequence as its name */
static void evil_names(struct fx *fx)
{
	static const struct fx_field fields[] = {
		{ "fie\033[2Jld", "int \033[2J", 0, 4, 0, 0, 0, 0 },
	};
	/* the first event of the first block */
	struct tb_init *init = (void *)(fx->data + 80);

	assert(!strcmp(init->nodename, "fixture"));
	strcpy(init->nodename, "no\033[2Jde");
	strcpy(init->release, "6\033]0;owned\a");
	strcpy(init->provider, "ker" CSI "2Jnel");
	fx_describe_print(fx, 90, 0, "sys\033[2Jtem", "x\033]0;owned\a", fields, 1,
			  "\"%d\033[2J\", REC->a");
}

static void names_from_the_file(void)
{
	static const char *const commands[] = {
		"print", "print --fields", "verify", "list -v -i", "list --format -i", "report",
		"export --format text -o -", "export --format csv -o -", "print -e nosuch",
	};
	size_t i;

	make(evil_names);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		CHECK(run_on(commands[i], "") >= 0);
		CHECK(is_harmless());
		if (test_failures)
			printf("# %s: %.1000s\n", commands[i], output);
	}
	CHECK_NUMBER(run_on("list", "-v -i"), 0);
	CHECK_HAS("sys?[2Jtem:x?]0;owned?");
	CHECK_HAS("fie?[2Jld");
	CHECK_HAS("%d?[2J");
	CHECK_NUMBER(run_on("verify", ""), 0);
	CHECK_HAS("no?[2Jde");
}

/* A thread has the id that the export gives to the row of a writer */
static void writers_in_each_others_place(void)
{
	static const unsigned int ids[] = { 5, 0xffff };
	struct fx_chunk chunk;
	unsigned int i, n;
	struct fx fx;

	for (i = 0; i < 8; i++) {
		fx_init(&fx, 12, 1000);
		fx_durable_end(&fx);
		fx_open(&fx, 0, 2000, 1, NULL);
		fx_chunk(&chunk, 7, ids[i & 1], 0, 0);
		chunk.head.tid = 0;
		fx_name(&chunk, 1, TB_NAME_CATEGORY, 0, "net");
		fx_name(&chunk, 2, TB_NAME_EVENT, 1, "request");
		fx_record(&chunk, TB_REC_BEGIN, 0, 2, 2001, FX_NO_WORDS);
		fx_take(&fx, 0, 2100, &chunk);
		fx_chunk(&chunk, 7, 2, 1, 0);
		chunk.head.tid = (1u << 23) + i / 2;
		for (n = 0; n < 3; n++)
			fx_record(&chunk, TB_REC_BEGIN, 0, 2, 2200 + n, FX_NO_WORDS);
		fx_take(&fx, 0, 2300, &chunk);
		fx_close(&fx, 0);
		fx_durable_end(&fx);
		save(fx.data, fx.size);
		CHECK_NUMBER(run_on("export", "-q --format json -o /dev/null"), 0);
		CHECK_NUMBER(run_on("export", "-q --format perfetto -o /dev/null"), 0);
		CHECK_NUMBER(run_on("export", "-q --format fxt -o /dev/null"), 0);
		fx_free(&fx);
	}
}

/* A list with a text longer than any usual buffer */
static void long_list(void)
{
	static const struct fx_field fields[] = {
		{ "list", "__data_loc u32[]", 0, 4, 0, TB_FIELD_DATA_LOC, 0, 0 },
	};
	uint32_t event[1001] = { 4000u << 16 | 12 };
	struct fx fx;
	size_t i;

	for (i = 1; i < 1001; i++)
		event[i] = 4000000000u + (uint32_t)i;
	fx_init(&fx, 14, 1000);
	fx_describe_print(&fx, 90, 0, "test", "list", fields, 1, NULL);
	fx_durable_end(&fx);
	fx_open(&fx, 0, 2000, 1, NULL);
	fx_composite(&fx, 0, 90, 2001, 100, event, sizeof(event));
	fx_close(&fx, 0);
	fx_durable_end(&fx);
	save(fx.data, fx.size);
	CHECK_NUMBER(run_on("export", "-q --format csv -e test:list -o -"), 0);
	CHECK_HAS("4000000001");
	CHECK_HAS("4000001000");
	CHECK_NUMBER(run_on("export", "-q --format csv -o -"), 0);
	CHECK_HAS("4000001000");
	fx_free(&fx);
}

static const struct test tests[] = {
	{ "terminals do not obey names of threads", names_of_threads },
	{ "terminals do not obey names in the file", names_from_the_file },
	{ "export: a writer and a thread with the same number", writers_in_each_others_place },
	{ "export: a very long cell", long_list },
};

RUN_MAIN(tests)
